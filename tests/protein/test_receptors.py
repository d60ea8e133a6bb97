"""Receptor files: AIRR, VDJdb, 10x, FASTA, plain columns; each bad record keeps its own error."""

import gzip
import itertools

import pytest

from core.protein import receptors, stream
from core.protein.genes import ReceptorError
from core.protein.receptors import one_receptor, read_receptors
from core.protein.rows import PLAIN
from core.protein.stream import stream_receptors, text_of

CDR3 = "CASSIRSSYEQYF"


def table(*rows, sep="\t"):
    return "\n".join(sep.join(row) for row in rows)


def test_airr(published):
    file = read_receptors(
        table(
            (
                "sequence_id",
                "v_call",
                "j_call",
                "junction_aa",
                "cdr3_aa",
                "sequence_aa",
                "productive",
            ),
            ("a", "TRBV19*01,TRBV19*02", "TRBJ2-7*01", CDR3, "", "", "T"),
            ("b", "TRBV19*01", "TRBJ2-7*01", "", CDR3[1:-1], "", "T"),
            ("c", "TRBV19*01", "TRBJ2-7*01", CDR3, "", "", "F"),
            ("d", "", "", "", "", published.sequence[19:], "T"),
            ("e", "", "TRBJ2-7*01", CDR3, "", "", "T"),
        )
    )
    assert file.format == "AIRR"
    a, b, c, d, e = file.receptors
    assert [r.name for r in file.receptors] == list("abcde")
    assert a.chain.sequence == b.chain.sequence == published.sequence
    assert any("completed to CASSIRSSYEQYF" in note for note in b.notes)
    assert "Not productive" in c.error
    assert d.chain.cdr3_sequence == CDR3
    assert e.error == "No V gene in this row, and no whole chain either."
    assert file.good == (a, b, d)
    assert a.fields["productive"] == "T"


def test_airr_alignment_dots_are_left_out_aloud(published):
    dotted = published.sequence[19:45] + "...." + published.sequence[45:]
    file = read_receptors(table(("v_call", "j_call", "sequence_alignment_aa"), ("", "", dotted)))
    (receptor,) = file.receptors
    assert receptor.chain.sequence == published.sequence[19:]
    assert receptor.notes[0] == "4 gaps (. or -) were left out."


def test_vdjdb():
    header = ("complex.id", "gene", "cdr3", "v.segm", "j.segm", "species", "antigen.epitope")
    file = read_receptors(
        table(
            header,
            ("1", "TRB", CDR3, "TRBV19*01", "TRBJ2-7*01", "HomoSapiens", "GILGFVFTL"),
            ("1", "TRB", CDR3, "TRBV19*01", "TRBJ2-7*01", "MacacaMulatta", "X"),
            ("1", "TRB", CDR3[1:], "TRBV19*01", "TRBJ2-7*01", "HomoSapiens", "X"),
        )
    )
    assert file.format == "VDJdb"
    assert file.receptors[0].fields["antigen.epitope"] == "GILGFVFTL"
    assert "only human and mouse" in file.receptors[1].error
    assert "no C" in file.receptors[2].error


def test_10x():
    file = read_receptors(
        table(
            ("barcode", "contig_id", "chain", "v_gene", "d_gene", "j_gene", "productive", "cdr3"),
            ("AA-1", "AA-1_contig_1", "TRB", "TRBV19", "None", "TRBJ2-7", "True", CDR3),
            ("AA-1", "AA-1_contig_2", "TRA", "TRAV1-2", "", "TRAJ33", "true", "CAVRDSNYQLIW"),
            ("AA-1", "AA-1_contig_3", "TRB", "TRBV19", "None", "None", "None", "None"),
            sep=",",
        )
    )
    assert file.format == "10x"
    beta, alpha, none = file.receptors
    assert beta.name == "AA-1_contig_1"
    assert alpha.chain.v_gene == "TRAV1-2*01"
    assert none.error == "No CDR3 and no J gene in this row, and no whole chain either."


def test_fasta_of_several_with_one_bad(published):
    file = read_receptors(f">one x\n{published.sequence}\n\n>two\nACD1\n>three\nMKTAYIAK\nQRQ\n")
    assert file.format == "FASTA"
    one, two, three = file.receptors
    assert one.chain.sequence == published.sequence
    assert one.chain.name == "one x"
    assert "position 4" in two.error
    assert three.chain.sequence == "MKTAYIAKQRQ"


def test_lines_of_v_cdr3_j_and_plain_columns(published):
    lines = read_receptors(f"TRBV19 {CDR3} TRBJ2-7\nTRBV19,{CDR3},TRBJ2-7\n")
    assert [r.chain.sequence for r in lines.receptors] == [published.sequence] * 2
    columns = read_receptors(
        table(("name", "V", "CDR3", "J"), ("me", "TRBV19", CDR3, "TRBJ2-7"), sep=";")
    )
    assert columns.receptors[0].name == "me"
    assert columns.receptors[0].chain.sequence == published.sequence


@pytest.mark.parametrize("order", [*itertools.permutations(("TRGV9", "CALWEVQELGKKIKVF", "TRGJP"))])
def test_a_line_may_name_its_genes_in_any_order(order):
    file = read_receptors(" ".join(order))
    assert file.format == "V CDR3 J"
    chain = file.receptors[0].chain
    assert (chain.v_gene, chain.cdr3_sequence, chain.j_gene) == (
        "TRGV9*01",
        "CALWEVQELGKKIKVF",
        "TRGJP*01",
    )


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("v  cdr3    j", f"TRBV19  {CDR3}  TRBJ2-7"),
        ("count\tfreq\tCDR3nt\tCDR3aa\tV\tD\tJ", f"1\t.1\tTGT\t{CDR3}\tTRBV19\t.\tTRBJ2-7"),
        (
            "cloneId\tallVHitsWithScore\tallJHitsWithScore\taaSeqCDR3",
            f"0\tTRBV19*00(1200)\tTRBJ2-7*00(300)\t{CDR3}",
        ),
        ("aminoAcid\tvGeneName\tjGeneName", f"{CDR3}\tTCRBV19-01\tTCRBJ02-07"),
        ("amino_acid\tv_gene\tj_gene", f"{CDR3}\tTCRBV19-01\tTCRBJ02-07"),
    ],
    ids=["words", "vdjtools", "mixcr", "adaptive v1", "adaptive v2"],
)
def test_columns_of_other_tools(published, header, row):
    (receptor,) = read_receptors(f"{header}\n{row}\n").receptors
    assert receptor.chain.sequence == published.sequence


@pytest.mark.parametrize(
    "header",
    [
        "cdr3.alpha\tv.alpha\tj.alpha\tcdr3.beta\tv.beta\tj.beta\tspecies\tantigen.epitope",
        "CDR3.alpha.aa\tTRAV\tTRAJ\tCDR3.beta.aa\tTRBV\tTRBJ\tSpecies\tEpitope",
        "cdr3_a_aa\tv_a_gene\tj_a_gene\tcdr3_b_aa\tv_b_gene\tj_b_gene\torganism\tepitope",
    ],
    ids=["vdjdb full", "mcpas", "tcrdist"],
)
def test_both_chains_of_a_pair_are_read(header):
    alpha, beta = ("CAGAGSQGNLIF", "TRAV27", "TRAJ42"), (CDR3, "TRBV19", "TRBJ2-7")
    none, rest = ("", "", ""), ("human", "GILGFVFTL")
    rows = [(*alpha, *beta, *rest), (*none, *beta, *rest), (*alpha, *none, *rest),
            (*none, *none, *rest)]  # fmt: skip
    file = read_receptors(header + "\n" + table(*rows))
    assert file.format == "pairs"
    receptors = file.receptors
    found = [(r.number, r.chain and r.chain.cdr3_sequence) for r in receptors]
    assert found == [(1, CDR3), (1, alpha[0]), (2, CDR3), (3, alpha[0]), (4, None)]
    assert all(r.fields[header.split("\t")[-1]] == "GILGFVFTL" for r in receptors)


def test_a_line_of_very_many_words_is_refused_at_once():
    (receptor,) = read_receptors("V1 " * 400_000).receptors  # minutes if words were compared
    assert receptor.error.startswith("1,200,000 letters is outside")


def test_a_list_of_cdr3s_is_not_joined_to_one_chain():
    (receptor,) = read_receptors(f"{CDR3}\nCASSLAPGATNEKLFF\n").receptors
    assert receptor.error.startswith("These 2 lines look like CDR3s")


def test_columns_that_are_missing_are_named():
    with pytest.raises(ReceptorError, match="CDR3 column and none for V gene and J gene"):
        read_receptors(f"cdr3\n{CDR3}\n")
    with pytest.raises(ReceptorError, match="none for J gene"):
        read_receptors(f"cdr3,v,count\n{CDR3},TRBV19,3\n")


def test_one_receptor_in_any_form_is_a_chain(published):
    forms = [
        published.sequence,
        f">mine\n{published.sequence}",
        f"TRBV19 {CDR3} TRBJ2-7",
        f"v,cdr3,j\nTRBV19,{CDR3},TRBJ2-7",
    ]
    assert {one_receptor(text).sequence for text in forms} == {published.sequence}
    with pytest.raises(ReceptorError, match="names 2 receptors, and one fits here"):
        one_receptor(f"TRBV19 {CDR3} TRBJ2-7\n" * 2)
    with pytest.raises(ValueError, match="position 4"):
        one_receptor("CAS1")


def test_a_pasted_chain_wrapped_over_lines(published):
    text = f"\ufeff{published.sequence[:60]}\n{published.sequence[60:]}"
    (receptor,) = read_receptors(text).receptors
    assert receptor.chain.sequence == published.sequence


def test_a_lost_quotation_mark_costs_its_own_row_only():
    file = read_receptors(f'v,cdr3,j\nTRBV19,"{CDR3},TRBJ2-7\nTRBV19,"{CDR3}",TRBJ2-7\r\n')
    torn, whole = file.receptors
    assert torn.error == "No J gene in this row, and no whole chain either."
    assert whole.chain.cdr3_sequence == CDR3


def test_a_rows_own_sequence_beside_its_genes_is_not_used_and_that_is_said(published):
    own = published.sequence[19:]
    header = ("v_call", "j_call", "junction_aa", "sequence_aa")
    file = read_receptors(table(header, ("TRBV19*01", "TRBJ2-7*01", CDR3, own)))
    (receptor,) = file.receptors
    assert receptor.chain.sequence == published.sequence
    assert receptor.notes[-1].endswith("the row's own sequence was not used.")


def _packed(path, text):
    with gzip.open(path, "wt") as file:
        file.write(text)


@pytest.mark.parametrize(
    "write",
    [
        lambda path, text: path.write_text(text),
        lambda path, text: path.write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig")),
        lambda path, text: path.write_bytes(text.replace("\n", "\r").encode()),
        lambda path, text: path.write_text(text, encoding="utf-16"),
        _packed,
    ],
    ids=["plain", "windows with a mark", "old mac", "utf-16", "gzip"],
)
def test_every_way_to_store_a_table_gives_the_same_receptors(tmp_path, write):
    text = f"v\tcdr3\tj\n\nTRBV19\t{CDR3}\tTRBJ2-7\n\t\t\nTRBV99\t{CDR3}\tTRBJ2-7"
    write(tmp_path / "file", text)
    read = list(read_receptors(text).receptors)
    assert list(stream_receptors(tmp_path / "file", PLAIN)) == read
    assert list(read_receptors(text_of((tmp_path / "file").read_bytes())).receptors) == read


def test_a_species_for_rows_that_name_none():
    text = f"v\tcdr3\tj\tspecies\nTRBV19\t{CDR3}\tTRBJ2-7\t\nTRBV19\t{CDR3}\tTRBJ2-7\thuman"
    mouse, human = read_receptors(text, species="mouse").receptors
    assert mouse.chain.species == "musmusculus"
    assert human.chain.species == "homosapiens"
    assert mouse.chain.sequence != human.chain.sequence[-len(mouse.chain) :]
    with pytest.raises(ReceptorError, match="only human and mouse"):
        read_receptors(text, species="rat")


def test_one_bad_line_among_triples_keeps_its_own_error():
    good, bad = read_receptors(f"TRBV19 {CDR3} TRBJ2-7\nrubbish\n").receptors
    assert good.chain.cdr3_sequence == CDR3
    assert bad.error == "This line is not V gene, CDR3, J gene."


def test_a_spreadsheet_is_named_as_one(tmp_path):
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04...")
    with pytest.raises(ReceptorError, match="save it as CSV or TSV"):
        next(stream_receptors(tmp_path / "book.xlsx", PLAIN))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["v", "v cdr3 j\n", f"v\tcdr3\tj\nTRBV19\t{CDR3}\tTRBJ2-7\n" * 3])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_utf_16_without_a_mark_is_named(tmp_path, encoding, text, pack):
    data = pack(text.encode(encoding))
    (tmp_path / "file").write_bytes(data)
    says = "is UTF-16 without a mark at its start: save it as UTF-8"
    with pytest.raises(ReceptorError, match=f"file {says}"):
        next(stream_receptors(tmp_path / "file", PLAIN))
    with pytest.raises(ReceptorError, match=f"This {says}"):
        text_of(data)


@pytest.mark.parametrize("data", [b"", b"v", b"\0", b"\0\0\0\0", b"v\0\tj", b"\xef\xbb\xbfv"])
def test_other_short_texts_are_not_taken_for_utf_16(data):
    assert text_of(data) == data.decode("utf-8-sig")


def test_a_packed_file_that_breaks_off_is_named(tmp_path):
    text = "v\tcdr3\tj\n" + f"TRBV19\t{CDR3}\tTRBJ2-7\n" * 31
    (tmp_path / "file").write_bytes(gzip.compress(text.encode())[:-9])
    receptors = stream_receptors(tmp_path / "file", PLAIN)
    with pytest.raises(ReceptorError, match="cut short or damaged: pack it again"):
        list(receptors)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"v\tcdr3\tj\n\xe4\xff", r"byte 10 is not UTF-8"),
        (b"\x89PNG\r\n", "byte 1 is not UTF-8"),
        (b"PK\x03\x04", "This is a spreadsheet"),
        (gzip.compress(b"PK\x03\x04"), "This is a spreadsheet"),
        (gzip.compress(b"v\tcdr3\tj\n" * 99)[:-9], "cut short or damaged"),
        (gzip.compress(b"A" * 2000), "more than the 1,036 bytes"),
    ],
)
def test_bytes_that_are_no_text_are_named(data, says, monkeypatch):
    monkeypatch.setattr(stream, "MAX_CHARACTERS", 259)
    with pytest.raises(ReceptorError, match=says):
        text_of(data)


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "nothing to read"), ("  \n", "nothing to read"), ("a\tb\n1\t2", "columns .* not known")],
)
def test_unreadable_files(text, says):
    with pytest.raises(ReceptorError, match=says):
        read_receptors(text)


def test_limits_hold_in_core(monkeypatch):
    monkeypatch.setattr(receptors, "MAX_RECEPTORS", 53)
    with pytest.raises(ReceptorError, match="no such limit"):
        read_receptors("A" * 20_000_001)
    with pytest.raises(ReceptorError, match="scan-many"):
        read_receptors(">x\nMK\n" * 54)


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "12345", "C" * 10_000, "MK<pad>"])
def test_hostile_pastes_become_one_receptor_with_an_error(text):
    (receptor,) = read_receptors(text).receptors
    assert receptor.chain is None
    assert receptor.error
