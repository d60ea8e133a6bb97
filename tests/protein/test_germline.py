"""Genes in any usual spelling, receptors put together aloud, and chains taken apart again."""

import itertools

import pytest

from core.alphabet import SequenceError
from core.protein.genes import ReceptorError, alleles, j_gene, species_name, standard_allele, v_gene
from core.protein.germline import assemble, example
from core.protein.limits import leader_note, limits
from core.protein.parts import Region
from core.protein.receptors import read_receptors
from core.protein.recognise import from_sequence


@pytest.mark.parametrize(
    "spelling",
    [
        "TRBV19",
        "trbv19*01",
        "TCRBV19-01",
        "TCRBV19",
        "TRBV 19",
        "BV19",
        "TRBV19*01 F",
        "Homsap TRBV19*01 F",
    ],
)
def test_any_usual_spelling_of_a_gene(spelling):
    assert standard_allele(spelling, "V")[0] == "TRBV19*01"


def test_everything_assumed_about_a_gene_is_said():
    assert standard_allele("TRBV19*01", "V")[1] == []
    assert standard_allele("TRBV19", "V")[1] == [
        "TRBV19 was given without an allele; TRBV19*01 is assumed."
    ]
    assert "TRBV20 was read as TRBV20-1." in standard_allele("TRBV20", "V")[1]
    symbol, notes = standard_allele("TRBV6-2*01,TRBV6-3*01", "V")
    assert symbol == "TRBV6-2*01"
    assert "names 2 genes; the first was taken" in notes[0]
    for text in ("TRBV6-2/TRBV6-3", "TCRBV06-02/06-03"):
        assert standard_allele(text, "V")[0] == "TRBV6-2*01"
    assert standard_allele("TRAV14/DV4", "V")[0] == "TRAV14/DV4*01"


@pytest.mark.parametrize(
    ("text", "kind", "genes", "taken"),
    [
        ("TRBV6", "V", 8, "TRBV6-1*01"),
        ("TCRBV06", "V", 8, "TRBV6-1*01"),
        ("TRBV12*01", "V", 4, "TRBV12-2*02"),  # TRBV12-1 is a pseudogene
        ("TRBJ2", "J", 7, "TRBJ2-1*01"),
    ],
)
def test_a_family_is_not_read_as_a_gene_without_a_word(text, kind, genes, taken):
    symbol, notes = standard_allele(text, kind)
    gene = taken.partition("*")[0]
    assert symbol == taken
    assert notes[0] == f"{text} names a family of {genes} genes; {gene} was taken."
    assert notes[1] == f"{gene} was given without an allele; {taken} is assumed."


def test_scores_that_mixcr_writes_are_not_part_of_a_name():
    symbol, notes = standard_allele("TRBV6-2*00(1214.3),TRBV6-3*00(1214.3)", "V")
    assert symbol == "TRBV6-2*01"
    assert notes[0] == "TRBV6-2,TRBV6-3 names 2 genes; the first was taken."


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("", "V", "gene is missing"),
        ("TRBV99", "V", "near ones are TRBV9"),
        ("rubbish", "V", "write it like TRBV19[.]"),
        ("rubbish", "J", "write it like TRBJ2-7[.]"),
        ("TRBV19*99", "V", "this allele of it does not exist"),
        ("TRBJ2-7", "V", "is TRBJ2-7, and a V gene is wanted"),
        ("TRBV1", "V", "pseudogene"),
        ("<script>", "J", "is not a human T-cell receptor J gene"),
        ("IGHV1-2*02", "V", "an antibody's gene"),
    ],
)
def test_genes_that_cannot_be_used(text, kind, says):
    with pytest.raises(ReceptorError, match=says):
        standard_allele(text, kind)


def test_species_are_human_and_mouse():
    assert species_name("HomoSapiens") == species_name("") == "homosapiens"
    assert species_name("MusMusculus") == "musmusculus"
    with pytest.raises(ReceptorError, match="only human and mouse"):
        species_name("MacacaMulatta")
    mouse = assemble("TRBV19", "CASSIRSSYEQYF", "TRBJ2-7", species="musmusculus")
    assert mouse.leader_end == 0
    assert mouse.sequence != example().sequence


def test_the_default_receptor_from_its_genes_is_the_published_chain(published):
    built = assemble("TRBV19", "CASSIRSSYEQYF", "TRBJ2-7")
    assert built.sequence == published.sequence
    assert built.regions == published.regions
    assert (built.from_v, built.from_j) == (5, 6)
    assert any("L in the published chain and F in IMGT" in note for note in built.notes)
    mature = assemble("TRBV19", "CASSIRSSYEQYF", "TRBJ2-7", leader=False)
    assert mature.sequence == published.sequence[19:]
    assert "expects M at position 1" in leader_note(mature, "esm2-35m")
    assert "ESM-2" not in " ".join((*mature.notes, leader_note(mature, "trb-mini")))
    assert not leader_note(built, "esm2-35m")


def test_a_cdr3_without_its_anchors_is_never_completed_silently():
    with pytest.raises(ReceptorError, match=r"no C .* and no F .* give CASSIRSSYEQYF"):
        assemble("TRBV19", "ASSIRSSYEQY", "TRBJ2-7")
    with pytest.raises(ReceptorError, match="no F"):
        assemble("TRBV19", "CASSIRSSYEQY", "TRBJ2-7")
    completed = assemble("TRBV19", "ASSIRSSYEQY", "TRBJ2-7", complete=True)
    assert completed.cdr3_sequence == "CASSIRSSYEQYF"
    assert any("completed to CASSIRSSYEQYF" in note for note in completed.notes)


@pytest.mark.parametrize(
    ("cdr3", "j", "offered"),
    [
        ("CASSVAGTEAF", "TRBJ1-1", "CASSVAGTEAFF"),
        ("CASSVAGTEAFF", "TRBJ1-1", None),
        ("CASSEAF", "TRBJ1-1", "CASSEAFF"),
        ("CASSLGAF", "TRBJ1-1", None),  # two letters: chance
        ("CASSLGF", "TRBJ1-1", None),
        ("CASSGNNLF", "TRAJ36", "CASSGNNLFF"),
        ("CASSIRSSYEQYF", "TRBJ2-7", None),
        ("CAVRDSNYQLIW", "TRAJ33", None),
    ],
)
def test_a_cdr3_one_letter_short_of_its_j_is_read_as_it_is_and_said(cdr3, j, offered):
    chain = assemble("TRAV1-2" if j.startswith("TRA") else "TRBV9", cdr3, j)
    assert chain.cdr3_sequence == cdr3
    said = [note for note in chain.notes if "left out, give" in note]
    assert len(said) == (offered is not None)
    if offered:
        assert said[0].endswith(f"if the last F was left out, give {offered}.")


def test_no_j_loses_its_last_letter_without_a_word_and_no_whole_one_is_suspected():
    for allele in alleles("J"):
        j = j_gene(allele)
        v = {"TRA": "TRAV1-2", "TRB": "TRBV9", "TRG": "TRGV9", "TRD": "TRDV2"}[allele[:3]]
        whole = "CASS" + j.up_to_118[-5:]
        assert not any("left out, give" in note for note in assemble(v, whole, allele).notes)
        try:
            said = " ".join(assemble(v, whole[:-1], allele).notes)
        except ReceptorError as refused:
            said = str(refused)
        assert f"left out, give {whole}." in said, allele


@pytest.mark.parametrize(
    ("inner", "whole"),
    [("ASSVAGTEAF", "CASSVAGTEAFF"), ("ASSLGF", "CASSLGFF"), ("ASSVAGTEAFF", "CASSVAGTEAFF")],
)
def test_an_inner_cdr3_that_ends_in_f_still_lacks_the_f_of_118(inner, whole):
    assert assemble("TRBV9", inner, "TRBJ1-1", complete=True).cdr3_sequence == whole
    with pytest.raises(ReceptorError, match=f"give {whole}[.]"):
        assemble("TRBV9", inner, "TRBJ1-1")


def test_the_j_gene_decides_the_last_letter():
    assert [j_gene(a).anchor for a in ("TRBJ2-7*01", "TRAJ33*01", "TRAJ35*01")] == ["F", "W", "C"]
    with pytest.raises(ReceptorError, match=r"no W \(TRAJ33"):
        assemble("TRAV1-2", "CAVRDSNYQLIF", "TRAJ33")
    assert assemble("TRAV1-2", "CAVRDSNYQLIW", "TRAJ33").sequence.endswith("LIWGAGTKLIIKP")


def test_the_tail_of_j_in_a_cdr3_is_left_out_aloud(published):
    chain = assemble("TRBV19", "CASSIRSSYEQYFGPG", "TRBJ2-7")
    assert chain.sequence == published.sequence
    assert any("GPG after the F belongs to J" in note for note in chain.notes)


def test_wrong_letters_and_chains_are_refused():
    with pytest.raises(SequenceError, match="position 4"):
        assemble("TRBV19", "CAS*IRSSYEQYF", "TRBJ2-7")
    with pytest.raises(ReceptorError, match="different chains"):
        assemble("TRBV19", "CAVRDSNYQLIW", "TRAJ33")
    assert "read as upper case" in " ".join(assemble("TRBV19", "cassirssyeqyf", "TRBJ2-7").notes)


@pytest.mark.parametrize("species", ["human", "mouse"])
def test_alpha_and_delta_share_their_genes_and_no_others_join(species):
    v_of = {"A": "TRAV7", "B": "TRBV19", "D": "TRDV1", "G": "TRGV4"}
    j_of = {"A": "TRAJ42", "B": "TRBJ2-7", "D": "TRDJ1", "G": "TRGJ1"}
    if species == "human":
        j_of["A"], v_of["A"] = "TRAJ26", "TRAV12-1"
    for v, j in itertools.product("ABDG", repeat=2):
        line = f"{v_of[v]} CVVNRDNYGQNFVF {j_of[j]}"
        (receptor,) = read_receptors(line, species=species).receptors
        if v == j or v + j in {"AD", "DA"}:
            assert receptor.chain, (line, receptor.error)
            assert (receptor.chain.v_gene[2], receptor.chain.j_gene[2]) == (v, j)
        else:
            assert receptor.chain is None, line
            assert receptor.error.endswith("belong to different chains.")


def test_a_pasted_chain_gets_a_j_that_can_join_its_v():
    delta = assemble("TRAV29/DV5", "CAASGTGDKLIF", "TRDJ1")
    assert from_sequence(delta.sequence).j_gene == "TRDJ1*01"
    # Delta's V in front of beta's J is no receptor: the nearest of its own is named.
    foreign = delta.sequence[: delta.cdr3[0] - 1] + "CASSYEQYF" + "GPGTRLTVT"
    assert from_sequence(foreign).j_gene[:3] in {"TRA", "TRD"}


def test_letters_that_v_and_j_could_both_encode_count_once():
    chain = assemble("TRBV19", "CASSYEQYF", "TRBJ2-7")
    assert (chain.from_v, chain.from_j) == (4, 5)
    assert not any(chain.origin(p) == "junction" for p in chain.cdr3_positions)


def test_every_functional_human_gene_is_found_again_in_its_chain():
    j_of = {}
    for allele in alleles("J"):
        j_of.setdefault(allele[:3], j_gene(allele))
    checked = 0
    for allele in alleles("V")[::7]:
        try:
            gene = v_gene(allele)
        except ReceptorError:
            continue
        j = j_of[allele[:3]]
        built = assemble(allele, "CASGTG" + j.up_to_118, j.allele, leader=False)
        found = from_sequence(built.sequence)
        assert found.cdr3 == built.cdr3, allele
        assert v_gene(found.v_gene).framework.endswith(gene.framework[-40:]), allele
        checked += 1
    assert checked > 35


@pytest.mark.parametrize("cut", [0, 5, 19, 20, 30])
def test_a_chain_cut_in_front_keeps_its_imgt_numbers(published, cut):
    chain = from_sequence(published.sequence[cut:])
    assert chain.cdr3_sequence == "CASSIRSSYEQYF"
    for position in (31, 60, 112):
        assert chain.numbers(position - cut).imgt == published.numbers(position).imgt


def test_a_pasted_chain_says_what_was_recognised(published):
    chain = from_sequence(f">mine\n{published.sequence[19:].lower()}*")
    assert chain.name == "mine"
    assert (chain.v_gene, chain.j_gene) == ("TRBV19*01", "TRBJ2-7*01")
    said = " ".join(chain.notes)
    for words in ("FASTA header", "upper case", "final *", "91 of 91", "J was recognised"):
        assert words in said


CONSTANT = "EDLNKVFPPEVAVFEPSEAEISHTQKATLVCLATGFFPDHVELSWWVNGKEVHSG"


def test_what_follows_j_is_not_called_j(published):
    chain = from_sequence(published.sequence + CONSTANT)
    assert chain.j_end == len(published)
    assert chain.regions == (*published.regions, Region("after J", 132, 131 + len(CONSTANT)))
    assert chain.numbers(131).imgt == "127"
    assert chain.numbers(132).imgt == ""
    assert chain.origin(131) == "J germline"
    assert chain.origin(132) == ""
    assert "end with J, here at 131" in " ".join(limits(chain, "trb-mini"))
    assert not limits(chain, "esm2-35m")
    assert from_sequence(published.sequence[:-2]).j_end is None


def test_what_is_too_long_for_a_leader_is_not_called_one(published):
    chain = from_sequence("GSHM" * 12 + published.sequence[19:])
    assert [r.name for r in chain.regions] == ["before V", "V", "CDR3", "J"]


@pytest.mark.parametrize(
    "letters", ["ATGAGCAACCAGGTGCTCTGCTGTGTG" * 3, "augagcaaccaggugcucugcugugug"]
)
def test_dna_is_not_read_as_a_protein(letters):
    with pytest.raises(ReceptorError, match="look like DNA or RNA"):
        from_sequence(letters)
    assert len(from_sequence("GATTACA" * 2)) == 14  # short enough to be a peptide


def test_a_cdr3_in_dna_is_named():
    with pytest.raises(ReceptorError, match="look like DNA"):
        assemble("TRBV19", "TGTGCCAGCAGTATACGGAGCTCCTACGAGCAGTACTTC", "TRBJ2-7")


def test_other_proteins_are_chains_without_regions():
    chain = from_sequence(
        "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVVHSLAKWKR"
    )
    assert chain.cdr3 is None
    assert [r.name for r in chain.regions] == ["chain"]
    assert chain.numbers(5).imgt == ""
    assert chain.origin(5) == ""


def test_a_bare_cdr3_is_said_to_be_one():
    assert "CDR3 without its chain" in " ".join(from_sequence("CASSIRSSYEQYF").notes)


def test_ambiguous_letters_pass_with_a_warning_only():
    chain = from_sequence("MKTAYXAKQRUISFVK")
    assert any("U, X" in note for note in chain.notes)
    with pytest.raises(SequenceError, match="J stands for I or L"):
        from_sequence("MKJ")
