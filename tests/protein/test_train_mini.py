"""The recipe of TRB-mini with a tiny setting: what is hidden, what is learnt, what is written."""

import json
import math

import numpy as np
import pytest

from core.protein.__main__ import main
from core.protein.cards import ModelCard
from core.protein.chain import Chain
from core.protein.checkpoint import load_file
from core.protein.readout import p_true
from core.protein.scan import scan
from core.protein.simulated import simulated_chains
from core.protein.train_mini import MiniRecipe, hide, token_rows, train_mini

# As olga-generate_sequences writes them: nucleotides, CDR3, V, J, no header.
SIMULATED = """TGT\tCASSIRSSYEQYF\tTRBV19\tTRBJ2-7
TGT\tCASSLGQGYEQYF\tTRBV19\tTRBJ2-7
TGT\tCSARDRTGNGYTF\tTRBV20-1\tTRBJ1-2
TGT\tCASSVGGYEQYF\tTRBV9\tTRBJ2-7
TGT\tCASS*GGYEQYF\tTRBV9\tTRBJ2-7
TGT\tCASSVGGYEQYL\tTRBV9\tTRBJ2-7
TGT\tCAAAAAAAAAAAAAAAAAAAAAAAAAAAAF\tTRBV9\tTRBJ2-7
TGT\tCASSVF\tTRBV1\tTRBJ2-7
half a line
"""


@pytest.fixture
def simulated(tmp_path):
    path = tmp_path / "simulated.tsv"
    path.write_text(SIMULATED * 12)
    return path


def test_simulated_receptors_become_chains(simulated):
    chains = list(simulated_chains(simulated, seed=1))
    assert len(chains) == 4 * 12
    assert {c.cdr3_sequence for c in chains} == {
        "CASSIRSSYEQYF", "CASSLGQGYEQYF", "CSARDRTGNGYTF", "CASSVGGYEQYF"
    }  # fmt: skip
    leaders = sum(c.leader_end == 19 for c in chains)
    assert 4 < leaders < 20  # half of the 24 with TRBV19
    assert 3 < sum(c.v_lengths is None for c in chains) < 24  # cut in front
    assert [c.sequence for c in simulated_chains(simulated, seed=1)] == [c.sequence for c in chains]


def test_rows_are_padded_at_the_end(tiny):
    rows = token_rows(tiny.module, [Chain("MKTAY"), Chain("CA")])
    names = [[tiny.alphabet.get_tok(int(t)) for t in row] for row in rows]
    assert names == [
        ["<cls>", *"MKTAY", "<eos>"],
        ["<cls>", *"CA", "<eos>", "<pad>", "<pad>", "<pad>"],
    ]


def test_fifteen_per_cent_are_hidden_and_most_of_them_masked(tiny):
    tokens = token_rows(tiny.module, [Chain("MKTAYIAKQRQISFVKSHFSRQL" * 20)] * 40)
    seen, is_target = hide(tokens, tiny.module, np.random.default_rng(0))
    residues = int((tokens != tiny.module.padding_idx).sum()) - 2 * 40
    assert is_target.sum().item() / residues == pytest.approx(0.15, abs=0.01)
    masked = (seen == tiny.module.mask_idx).sum().item() / is_target.sum().item()
    assert masked == pytest.approx(0.8, abs=0.02)
    changed = (seen != tokens) & (seen != tiny.module.mask_idx)
    assert changed.sum().item() / is_target.sum().item() == pytest.approx(0.1 * 0.95, abs=0.02)
    assert (seen == tokens)[~is_target].all()
    assert not is_target[:, [0, -1]].any()


def test_the_learning_rate_warms_up_and_falls_to_nothing():
    recipe = MiniRecipe(steps=110, warmup=10)
    assert [recipe.rate(s) for s in (0, 9)] == pytest.approx([0.1, 1.0])
    assert recipe.rate(60) == pytest.approx(0.5)
    assert recipe.rate(110) == pytest.approx(0, abs=1e-12)


def test_a_tiny_training_learns_and_its_file_is_read_back(tmp_path):
    """One chain over and over: after 80 steps the model knows most of its letters."""
    chains = [Chain("CASSIRSSYEQYF")] * 40
    target = tmp_path / "mini.pt"
    recipe = MiniRecipe(
        layers=2, d_model=20, heads=5, batch=16, steps=120, warmup=10, learning_rate=2e-2,
        held_out=8, device="cpu",
    )  # fmt: skip
    *steps, last = train_mini(chains, recipe, target)
    assert steps[-1]["loss"] < steps[0]["loss"] < math.log(33)
    assert last["event"] == "finished"
    card = ModelCard("mini", "a tiny one", 2, 20, 5, target.name, "one chain", bytes_per_weight=2)
    model = load_file(card, target)
    table = scan(model, chains[0])
    assert p_true(table, chains[0]).mean() > 0.25  # chance: 0.05


def test_the_command(simulated, tmp_path, capsys):
    target = tmp_path / "mini.pt"
    tiny = {"layers": 1, "d-model": 12, "heads": 3, "batch": 4, "steps": 2, "held-out": 4}
    small = [word for name, value in tiny.items() for word in (f"--{name}", str(value))]
    assert main(["train-mini", str(simulated), str(target), *small]) == 0
    step, finished = map(json.loads, capsys.readouterr().out.splitlines())
    assert (step["event"], step["step"]) == ("step", 2)
    assert set(finished["accuracy"]) == {"V", "CDR3", "J"}
    assert target.stat().st_size > 0
    assert main(["train-mini", str(simulated), str(target), "--held-out", "4000"]) == 2
    assert main(["train-mini", str(simulated), str(target), "--d-model", "13"]) == 2
    assert "multiple of" in capsys.readouterr().err
    assert main(["train-mini", str(simulated), str(tmp_path / "no folder" / "mini.pt")]) == 2
    assert main(["train-mini", str(tmp_path / "no file"), str(target)]) == 2
    assert "There is no file" in capsys.readouterr().err


@pytest.mark.parametrize("data", [SIMULATED.encode("utf-16"), b"TGT\tCASSF\tTRBV\xe4\n"])
def test_a_file_that_is_not_utf_8_is_said_in_a_sentence(tmp_path, capsys, data):
    (tmp_path / "in.tsv").write_bytes(data)
    assert main(["train-mini", str(tmp_path / "in.tsv"), str(tmp_path / "out.pt")]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("Bad input: ")
    assert "in.tsv is not UTF-8 text: give what olga" in captured.err
    assert captured.out == ""
    assert not (tmp_path / "out.pt").exists()
