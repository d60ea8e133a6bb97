"""The forward pass in NumPy against fair-esm's own, and what its reader refuses."""

import io
import os
import pickle
import threading
import zipfile

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from core.protein.cards import WeightsError
from core.protein.chain import Chain
from core.protein.guess import guess
from core.protein.in_numpy import MASK, TOKENS, NumpyModel, gelu, logits, trb_mini
from core.protein.numbers_only import read_weights
from core.settings import ASSETS
from tests.protein.conftest import TINY

SHIPPED = ASSETS / "trb_mini.pt"


def test_every_hidden_residue_gets_fair_esms_own_probabilities(mini, published):
    positions = list(range(1, len(published) + 1))
    at = torch.tensor([published.token_index(position) for position in positions])
    copies = mini.tokens(published).repeat(len(at), 1)
    copies[torch.arange(len(at)), at] = mini.alphabet.mask_idx
    with torch.no_grad(), mini.lock:
        wanted = mini.module(copies)["logits"][torch.arange(len(at)), at]
    probabilities, outside = mini.over_residues(wanted)
    ours, ours_outside = trb_mini().guess_hidden(published, positions)
    assert np.abs(ours - probabilities).max() < 1e-5
    assert np.abs(ours_outside - outside).max() < 1e-5


def test_the_logits_of_another_shape_are_fair_esms_too(tiny):
    weights = {name: tensor.numpy() for name, tensor in tiny.module.state_dict().items()}
    tokens = tiny.tokens(Chain("MKTAYIAKQRQISFVKSHFXR"))
    tokens[4] = tiny.alphabet.mask_idx
    with torch.no_grad(), tiny.lock:
        wanted = tiny.module(tokens[None])["logits"][0].numpy()
    assert np.abs(logits(weights, TINY, tokens.numpy()) - wanted).max() < 1e-4


def test_token_ids_are_fair_esms(mini):
    wanted = [mini.alphabet.get_tok(i) for i in range(len(mini.alphabet))]
    assert [t.replace("<null>", "<null_1>") for t in TOKENS] == wanted
    assert mini.alphabet.mask_idx == MASK


def test_the_exact_gelu():
    x = np.linspace(-6, 6, 1201, dtype=np.float32)[None]
    assert np.abs(gelu(x) - F.gelu(torch.from_numpy(x)).numpy()).max() < 1e-6


def test_a_guess_is_the_same_whichever_way_the_model_runs(mini, published):
    fast, slow = guess(trb_mini(), published, 115), guess(mini, published, 115)
    assert (fast.model, fast.residue, fast.top(1)[0][0]) == (slow.model, "R", slow.top(1)[0][0])
    assert fast.p_true == pytest.approx(slow.p_true, abs=1e-5)


def test_eight_threads_guess_the_same(published):
    model, chains = trb_mini(), [published, Chain(published.sequence[:20])]
    want = [guess(model, chain, 7).probabilities for chain in chains]
    problems: list[object] = []

    def visit(seed: int) -> None:
        try:
            for i in range(4):
                which = (seed + i) % 2
                if not np.array_equal(guess(model, chains[which], 7).probabilities, want[which]):
                    problems.append((seed, i))
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=visit, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_weights_are_the_ones_that_torch_reads():
    ours, wanted = read_weights(SHIPPED), torch.load(SHIPPED, weights_only=True)["model"]
    assert set(ours) == set(wanted)
    assert all(np.array_equal(ours[name], wanted[name].float().numpy()) for name in wanted)


class _Runs:
    """What a hostile file holds: a call instead of numbers."""

    def __reduce__(self):
        return os.mkdir, ("opened",)


def archive(path, content: bytes):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("m/data.pkl", content)
    return path


def test_a_file_that_would_run_code_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hostile = archive(tmp_path / "x.pt", pickle.dumps({"model": {"w": _Runs()}}))
    with pytest.raises(WeightsError, match="not a number"):
        read_weights(hostile)
    assert not (tmp_path / "opened").exists()


@pytest.mark.parametrize("name", ["torch.load", "collections.Counter", "torch._utils._rebuild"])
def test_other_names_are_refused(tmp_path, name):
    module, _, function = name.rpartition(".")
    content = f"c{module}\n{function}\n.".encode()
    with pytest.raises(WeightsError, match="not a number"):
        read_weights(archive(tmp_path / "x.pt", content))


def test_a_missing_or_damaged_file_is_named(tmp_path):
    whole = SHIPPED.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for number, content in enumerate([b"", whole[:5000], whole[:-9], bytes(flipped)]):
        path = tmp_path / f"{number}.pt"
        path.write_bytes(content)
        with pytest.raises(WeightsError, match="not the file this app ships"):
            read_weights(path)
    with pytest.raises(WeightsError, match="not the file"):
        read_weights(tmp_path / "absent.pt")


def test_an_array_stored_column_by_column_is_refused(tmp_path):
    stored = io.BytesIO()
    torch.save({"model": {"w": torch.zeros(3, 5, dtype=torch.float16).T}}, stored)
    path = tmp_path / "x.pt"
    path.write_bytes(stored.getvalue())
    with pytest.raises(WeightsError, match="row by row"):
        read_weights(path)


def test_the_model_is_named_by_its_card():
    assert isinstance(trb_mini(), NumpyModel)
    assert trb_mini().label == "TRB-mini, not ESM-2"
