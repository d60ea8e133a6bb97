"""The command line: the CSV contract, exit statuses, many receptors, going on after a stop."""

import csv
import io

import pytest

from core.alphabet import AMINO_ACIDS
from core.protein import many
from core.protein.__main__ import main
from core.protein.many import COLUMNS, scan_many
from core.protein.scan import scan

DEFAULT = ("--v", "TRBV19", "--cdr3", "CASSIRSSYEQYF", "--j", "TRBJ2-7", "--model", "trb-mini")


def test_scan_writes_the_contract(tmp_path, capsys, published):
    out = tmp_path / "out.csv"
    assert main(["scan", *DEFAULT, "--csv", str(out)]) == 0
    rows = list(csv.DictReader(out.open()))
    assert list(rows[0]) == [
        "position",
        "residue",
        "region",
        "p_true",
        "entropy_bits",
        *AMINO_ACIDS,
    ]
    assert "".join(row["residue"] for row in rows) == published.sequence
    printed = [f"{float(row['p_true']):.2f}" for row in rows if row["region"] == "CDR3"]
    assert " ".join(printed) == "1.00 1.00 0.98 0.74 0.37 0.12 0.08 0.37 0.86 1.00 1.00 1.00 1.00"
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "TRBV19*01 is assumed" in captured.err
    assert "No receptor was given" not in captured.err
    assert "mean p(true) 0.973" in captured.err


def test_guess_prints_one_row(capsys):
    assert main(["guess", "--cdr3-position", "6"]) == 0
    captured = capsys.readouterr()
    (row,) = csv.DictReader(io.StringIO(captured.out))
    assert (row["position"], row["residue"], row["region"]) == ("115", "R", "CDR3")
    assert float(row["p_true"]) == pytest.approx(0.12, abs=0.005)
    assert "TRB-mini, not ESM-2 at R115" in captured.err
    assert "No receptor was given: the default one is used, TRBV19 CASS" in captured.err
    assert main(["guess", "--position", "115", "--temperature", "5"]) == 0
    (warm,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert float(warm["entropy_bits"]) > float(row["entropy_bits"])


def test_a_pasted_chain(capsys):
    assert main(["guess", "--chain", "mktayiakqr", "--position", "3"]) == 0
    captured = capsys.readouterr()
    assert "\n3,T,chain," in captured.out
    assert "upper case" in captured.err
    assert "TRB-mini knows human beta chains only" in captured.err


def test_what_trb_mini_cannot_know_is_said(tmp_path, capsys):
    alpha = ("--v", "TRAV12-2", "--cdr3", "CAVNW", "--j", "TRAJ33", "--position", "1")
    assert main(["guess", *alpha]) == 0
    said = capsys.readouterr().err
    assert "TRB-mini knows human beta chains only" in said
    assert "TRB-mini learned from start there too" in said
    assert "ESM-2 saw" not in said
    assert main(["guess", "--position", "1"]) == 0
    assert "beta chains only" not in capsys.readouterr().err
    mouse = ("--v", "TRBV19", "--cdr3", "CASSF", "--j", "TRBJ2-7", "--species", "mouse")
    assert main(["guess", *mouse, "--position", "1"]) == 0
    assert "this one is of another species" in capsys.readouterr().err
    source, out = tmp_path / "in.tsv", tmp_path / "out.tsv"
    source.write_text("sequence\nMKTAYI\n")
    assert main(["scan-many", str(source), str(out)]) == 0
    assert "TRB-mini knows human beta chains only" in read(out)[0]["notes"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("guess", "--position", "132"),
        ("guess", "--position", "0"),
        ("guess", "--cdr3-position", "14"),
        ("guess",),
        ("guess", "--position", "3", "--model", "esm3"),
        ("guess", "--position", "3", "--temperature", "0"),
        ("scan", "--v", "TRBV19"),
        ("scan", "--v", "", "--cdr3", "", "--j", ""),
        ("scan", "--v", "TRBV19", "--cdr3", "", "--j", "TRBJ2-7"),
        ("scan", "--cdr3", ""),
        ("scan", "--chain", ""),
        ("scan", "--chain", "ACD", "--v", ""),
        ("scan", "--v", "TRBV99", "--cdr3", "CASSF", "--j", "TRBJ2-7"),
        ("scan", "--v", "TRBV19", "--cdr3", "ASSIRSSYEQY", "--j", "TRBJ2-7"),
        ("scan", "--chain", "ACD<pad>"),
        ("scan", "--chain", "ACD", "--v", "TRBV19"),
        ("scan", "--species", "rat", "--v", "TRBV19", "--cdr3", "CASSF", "--j", "TRBJ2-7"),
        ("scan-many", "no such file", "out.tsv"),
        ("scan-many", __file__, "out.tsv", "--species", "rat"),
        ("scan-many", __file__, "/no such folder/out.tsv"),
        ("scan", "--csv", "/no such folder/out.csv"),
        ("scan", "--csv", "/"),
        ("guess", "--position", "3", "--csv", ""),
        ("download", "esm3"),
    ],
)
def test_bad_input_is_status_2_with_a_sentence(arguments, capsys):
    assert main(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Bad input: " in captured.err
    assert "Traceback" not in captured.err


def test_missing_weights_and_the_offline_switch_are_status_1(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setenv("ONE_RECEPTOR_OFFLINE", "1")
    assert main(["guess", "--position", "3", "--model", "esm2-8m"]) == 1
    assert main(["download", "esm2-8m"]) == 1
    assert "ONE_RECEPTOR_OFFLINE is set" in capsys.readouterr().err
    assert main(["models"]) == 0
    assert (
        capsys.readouterr().out.splitlines()[1].startswith('trb-mini,"TRB-mini, not ESM-2",6,192,6')
    )


MANY = """name\tv\tcdr3\tj
a\tTRBV19\tCASSIRSSYEQYF\tTRBJ2-7
b\tTRBV99\tCASSF\tTRBJ2-7
c\tTRBV9\tCASSVGGYEQYF\tTRAJ33
d\tTRBV19*01\tCASSIRSSYEQYF\tTRBJ2-7*01
e\t\tCASSIRSSYEQYF
f\tTRBV19\tCAS<pad>F\tTRBJ2-7
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.tsv"
    path.write_text(MANY)
    return path


def read(path):
    return list(csv.DictReader(path.open(), delimiter="\t"))


def test_many_receptors_each_with_its_error(source, tmp_path, tiny, published):
    out = tmp_path / "out.tsv"
    *_, last = scan_many(tiny, source, out, threads=2)
    assert (last.done, last.failed) == (6, 4)
    rows = read(out)
    assert tuple(rows[0]) == COLUMNS
    assert [r["name"] for r in rows] == list("abcdef")
    assert [bool(r["error"]) for r in rows] == [False, True, True, False, True, True]
    assert "TRBV99" in rows[1]["error"]
    assert "different chains" in rows[2]["error"]
    assert rows[4]["error"] == "No V gene and no J gene in this row, and no whole chain either."
    assert "position 4" in rows[5]["error"]
    assert rows[0]["p_true"] == rows[3]["p_true"]
    table = scan(tiny, published)
    want = [table[i, AMINO_ACIDS.index(x)] for i, x in enumerate(published.sequence)]
    assert [float(p) for p in rows[0]["p_true"].split()] == pytest.approx(want, abs=6e-5)
    assert float(rows[0]["cdr3_mean_p_true"]) == pytest.approx(sum(want[109:122]) / 13, abs=1e-5)


@pytest.mark.parametrize("cut", [0, 1, 200, 500, -1])
def test_it_goes_on_where_it_stopped(tmp_path, tiny, cut, monkeypatch):
    source, out = tmp_path / "in.csv", tmp_path / "out.tsv"
    rows = [f"{name},{'MKTAYIAKQR'[i:]}" for i, name in enumerate("abcdefg")]
    rows[2], rows[5] = "c,MK1", "f,MK<pad>"
    source.write_text("\n".join(["id,sequence", *rows]))
    list(scan_many(tiny, source, out, block=2))
    whole = out.read_bytes()
    kept = whole[:cut]
    out.write_bytes(kept)
    scanned = []
    real = many.scan_chains
    monkeypatch.setattr(many, "scan_chains", lambda m, c, **k: scanned.extend(c) or real(m, c, **k))
    steps = list(scan_many(tiny, source, out, block=2))
    assert out.read_bytes() == whole
    assert steps[-1].done == 7
    assert steps[0].resumed == max(kept.count(b"\n") - 1, 0)
    assert len(scanned) <= 7 - steps[0].resumed
    (last,) = scan_many(tiny, source, out)
    assert (last.done, last.resumed, last.failed) == (7, 7, 2)


def test_the_cdr3_alone_gives_the_same_numbers_there(tmp_path, mini, published, capsys):
    source, out = tmp_path / "in.tsv", tmp_path / "out.tsv"
    source.write_text("v\tcdr3\tj\tsequence\nTRBV19\tCASSIRSSYEQYF\tTRBJ2-7\t\n\t\t\tMKTAYI\n")
    assert main(["scan-many", "--cdr3-only", str(source), str(out)]) == 0
    assert "2 receptors written" in capsys.readouterr().err
    receptor, other = read(out)
    whole = scan(mini, published, positions=list(published.cdr3_positions))
    want = [
        whole[p - 1, AMINO_ACIDS.index(published.sequence[p - 1])] for p in published.cdr3_positions
    ]
    assert [float(p) for p in receptor["p_true"].split()] == pytest.approx(want, abs=6e-5)
    assert float(receptor["cdr3_mean_p_true"]) == pytest.approx(sum(want) / 13, abs=1e-5)
    assert receptor["mean_p_true"] == receptor["cdr3_mean_p_true"]
    assert len(other["p_true"].split()) == 6
    assert main(["scan-many", str(source), str(out)]) == 2  # another choice than the file's


def test_output_of_another_file_or_model_is_not_touched(source, tmp_path, tiny, mini, capsys):
    out = tmp_path / "out.tsv"
    list(scan_many(tiny, source, out))
    before = out.read_bytes()
    assert main(["scan-many", str(source), str(out)]) == 2
    assert "another file, model or choice" in capsys.readouterr().err
    source.write_text(MANY.replace("\na\t", "\nz\t"))
    with pytest.raises(ValueError, match="another file, model or choice"):
        list(scan_many(tiny, source, out))
    source.write_text(MANY.replace("d\tTRBV19*01\tCASSI", "d\tTRBV19*01\tCASSL"))
    with pytest.raises(ValueError, match="another file, model or choice"):
        list(scan_many(tiny, source, out))
    assert out.read_bytes() == before
    for mine in ("my notes\n", "my notes, without an end of line", "row\tname\nmine"):
        out.write_text(mine)
        with pytest.raises(ValueError, match="not an output of this command"):
            list(scan_many(tiny, source, out))
        assert out.read_text() == mine


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (">one x\nMKTAYI\nAK\n>two\nMK1\n", ["one x", "two"]),
        ("TRBV19 CASSIRSSYEQYF TRBJ2-7\nrubbish\n", ["TRBV19 CASSIRSSYEQYF TRBJ2-7", "rubbish"]),
        ("sequence,id\nMKTAYIAK,p\n,q\n", ["p", "q"]),
    ],
)
def test_every_form_of_file(tmp_path, tiny, text, names):
    source, out = tmp_path / "in", tmp_path / "out.tsv"
    source.write_text(text)
    list(scan_many(tiny, source, out))
    rows = read(out)
    assert [r["name"] for r in rows] == names
    assert not rows[0]["error"]
    assert all(r["error"] for r in rows[1:])


def test_a_file_that_is_none_of_them(tmp_path, tiny):
    source = tmp_path / "in"
    source.write_text("hello world\n")
    with pytest.raises(ValueError, match="names no columns"):
        list(scan_many(tiny, source, tmp_path / "out.tsv"))
    source.write_text("")
    with pytest.raises(ValueError, match="nothing to read"):
        list(scan_many(tiny, source, tmp_path / "out.tsv"))
