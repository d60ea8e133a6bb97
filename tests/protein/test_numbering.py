"""IMGT's numbering by its rules: gaps in the middle of CDRs, insertions between 111 and 112."""

import pytest

from core.protein.genes import ReceptorError, alleles, j_gene, v_gene
from core.protein.germline import assemble
from core.protein.numbering import imgt_cdr3, imgt_v, unnumbered
from core.protein.recognise import from_sequence


@pytest.mark.parametrize(
    ("length", "middle"),
    [
        (7, "105 106 107 116 117"),
        (13, "105 106 107 108 109 110 113 114 115 116 117"),
        (14, "105 106 107 108 109 110 112 113 114 115 116 117"),
        (15, "105 106 107 108 109 110 111 112 113 114 115 116 117"),
        (16, "105 106 107 108 109 110 111 112.1 112 113 114 115 116 117"),
        (17, "105 106 107 108 109 110 111 111.1 112.1 112 113 114 115 116 117"),
        (18, "105 106 107 108 109 110 111 111.1 112.2 112.1 112 113 114 115 116 117"),
    ],
)
def test_cdr3_labels(length, middle):
    assert imgt_cdr3(length) == ("104", *middle.split(), "118")
    assert len(imgt_cdr3(length)) == length


@pytest.mark.parametrize("length", range(2, 41))
def test_cdr3_labels_are_unique(length):
    labels = imgt_cdr3(length)
    assert len(set(labels)) == len(labels) == length


def genes_and_labels(species):
    for allele in alleles("V", species):
        try:
            gene = v_gene(allele, species)
        except ReceptorError:
            continue
        labels = imgt_v(gene.lengths, allele)
        assert len(labels) == len(gene.framework)
        yield gene, dict(zip(labels, gene.framework, strict=True))


@pytest.mark.parametrize(("species", "at_least"), [("homosapiens", 260), ("musmusculus", 310)])
def test_conserved_residues_of_every_functional_v_gene(species, at_least):
    """C23, W41 and C104 are IMGT's own landmarks: a wrong gap would move them."""
    numbered = {"23": 0, "41": 0, "104": 0}
    for gene, at in genes_and_labels(species):
        if len(gene.parts[0]) < 22:
            continue  # an allele of which the start was never read, and not always in frame
        for label, letter in (("23", "C"), ("41", "W"), ("104", "C")):
            if label in at:
                assert at[label] == letter, gene.allele
                numbered[label] += 1
    assert min(numbered.values()) > at_least


@pytest.mark.parametrize("species", ["homosapiens", "musmusculus"])
def test_the_conserved_residue_of_every_functional_j_gene(species):
    checked = 0
    for allele in alleles("J", species):
        try:
            gene = j_gene(allele, species)
        except ReceptorError:
            continue
        assert gene.anchor in "FWC", allele
        assert gene.after_118[:3][::2] in {"GG", "AG", "GD", "GR"}, allele
        checked += 1
    assert checked > 60


@pytest.mark.parametrize(
    ("allele", "number", "letters"),
    [
        # Read off IMGT's gapped reference sequences, at the far side of every gap.
        ("TRAV1-2*01", 8, "PTEM"),
        ("TRAV5*01", 9, "LFLS"),
        ("TRAV30*01", 6, "QSPQ"),
        ("TRAV36/DV7*01", 51, "TFLF"),
        ("TRAV12-1*01", 67, "ED"),
        ("TRAV12-1*01", 74, "GRFT"),
        ("TRAV20*01", 85, "KESF"),
        ("TRBV6-8*01", 66, "TDK"),
        ("TRBV6-8*01", 70, "EVP"),
        ("TRBV6-8*01", 74, "NGYN"),
        ("TRBV6-8*01", 83, "NTED"),
        ("TRBV11-1*01", 72, "PKDRFSAERL"),
        ("TRBV11-1*01", 83, "KGVD"),
        ("TRDV1*01", 65, "SDEQNAKS"),
        ("TRDV1*01", 74, "GRYS"),
        ("TRDV2*02", 2, "IELV"),
        ("TRDV2*01", 74, "DNFQ"),
        ("TRDV3*02", 63, "SRSEGADFTQ"),
        ("TRDV3*02", 74, "GRFS"),
        ("TRGV2*01", 81, "S"),
        ("TRGV2*01", 83, "TRNN"),
        ("TRGV9*01", 80, "RIPE"),
    ],
)
def test_letters_beside_every_gap_are_where_imgt_has_them(allele, number, letters):
    gene = v_gene(allele)
    at = dict(zip(imgt_v(gene.lengths, allele), gene.framework, strict=True))
    got = "".join(at[str(n)] for n in range(number, number + len(letters)))
    assert got == letters


def test_what_cannot_be_numbered_is_said():
    odd = {gene.allele for gene, at in genes_and_labels("homosapiens") if "" in at}
    assert odd == {"TRAV12-3*03"}
    chain = assemble("TRAV12-3*03", "CAVRDSNYQLIW", "TRAJ33")
    assert "The residues of FR3 have no IMGT number here" in " ".join(chain.notes)
    assert chain.numbers(chain.cdr3_positions.start - 5).imgt == ""
    assert chain.numbers(chain.cdr3_positions.start).imgt == "104"
    assert unnumbered(v_gene("TRBV19*01").lengths, "TRBV19*01") == ()
    antibody = from_sequence(
        "EVQLVESGGGLVQPGGSLRLSCAASGFTFSSYAMSWVRQAPGKGLEWVSAISGSGGSTYYADSVKGRFTISRDNSKNTLYLQMNSLRAEDT"
        "AVYYCAKDYWGQGTLVTVSS"
    )
    assert "antibodies are not numbered here" in antibody.notes[-1]
    assert {antibody.numbers(p).imgt for p in range(1, len(antibody) + 1)} == {""}


def test_arginine_75_and_phenylalanine_76_line_up_in_a_long_and_a_short_third_framework():
    """TRBV7-2 and TRAV1-2 both read ..RF.. at 75 and 76; their FR3s have 38 and 34 residues."""
    for allele in ("TRBV7-2*01", "TRAV1-2*01"):
        gene = v_gene(allele)
        at = dict(zip(imgt_v(gene.lengths, allele), gene.framework, strict=True))
        assert at["75"] + at["76"] == "RF"
