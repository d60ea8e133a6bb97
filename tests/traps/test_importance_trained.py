"""Importance on the reverse model and on TRB-mini, recomputed by other routes."""

import numpy as np
import pytest
import torch

from core.alphabet import AMINO_ACIDS, BOS, EOS, PAD, RESIDUES
from core.protein.chain import DEFAULT_V, default_chain
from core.protein.weights import load
from core.transformer.model import Transformer
from core.transformer.trace import Trace
from core.traps.importance_protein import embedded, protein_importance
from core.traps.importance_reverse import reverse_importance

STRING = "CASSIRS"


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(11)
    return Transformer(23, 23, 16, 2, 29, 2, max_len=13).eval()


@pytest.fixture(scope="module")
def trb_mini():
    return load("trb-mini")


def log_p(model, src, tgt):
    with torch.no_grad():
        scores = model(src, tgt[:, :-1]).log_softmax(-1)
    return float(scores.gather(-1, tgt[:, 1:, None]).sum())


def test_hiding_a_letter_is_making_it_padding(model):
    src = torch.tensor([RESIDUES.encode(STRING)])
    tgt = torch.tensor([[BOS, *RESIDUES.encode(STRING[::-1]), EOS]])
    expected = []
    for j in range(len(STRING)):
        hidden = src.clone()
        hidden[0, j] = PAD
        expected.append(log_p(model, src, tgt) - log_p(model, hidden, tgt))
    assert reverse_importance(model, STRING).effect == pytest.approx(np.array(expected), abs=1e-5)


def test_cross_attention_of_each_head_is_shared_among_the_letters(model):
    result = reverse_importance(model, STRING)
    assert len(result.heads) == 4
    assert result.by_head.sum(axis=1) == pytest.approx(np.ones(4), abs=1e-6)
    trace = Trace()
    src = torch.tensor([RESIDUES.encode(STRING)])
    tgt = torch.tensor([[BOS, *RESIDUES.encode(STRING[::-1])]])
    with torch.no_grad():
        model(src, tgt, trace=trace)
    second = trace.weights["decoder.2.cross"][0, 1].mean(dim=0).numpy()
    assert result.received(result.heads.index("Layer 2, head 2")) == pytest.approx(second, abs=1e-6)


def test_mode_is_left_as_it_was(model):
    model.train()
    reverse_importance(model, STRING)
    assert model.training
    model.eval()


@pytest.mark.parametrize("text", ["C", "CASSIRSSYEQYF", ""])
def test_a_string_that_the_model_cannot_read_is_refused(model, text):
    with pytest.raises(ValueError, match="outside the 2 to 11"):
        reverse_importance(model, text)


def test_the_default_cdr3_makes_the_published_chain():
    assert embedded("CASSIRSSYEQYF").sequence == default_chain().sequence


def test_moved_probability_as_fair_esm_computes_it(trb_mini):
    result = protein_importance(trb_mini, "CASSIRSSYEQYF", hidden=6)
    ids = [trb_mini.alphabet.get_idx(letter) for letter in AMINO_ACIDS]

    def guess(*places):
        tokens = trb_mini.tokens(default_chain())[None].clone()
        for place in places:
            tokens[0, len(DEFAULT_V) + place] = trb_mini.alphabet.mask_idx
        with torch.no_grad(), trb_mini.lock:
            out = trb_mini.module(tokens, need_head_weights=True)
        at = len(DEFAULT_V) + 6
        attention = out["attentions"][0, :, :, at].flatten(0, 1)
        return out["logits"][0, at, ids].softmax(-1), attention

    alone, attention = guess(6)
    both, _ = guess(6, 7)
    seven = result.names.index("S7")
    assert result.effect[seven] == pytest.approx(float((alone - both).abs().sum() / 2), abs=1e-4)
    expected = attention[:, len(DEFAULT_V) + 7].numpy()
    assert result.by_head[:, seven] == pytest.approx(expected, abs=1e-5)


def test_all_residues_but_the_hidden_one_are_ranked(trb_mini):
    result = protein_importance(trb_mini, "CASS", hidden=2)
    assert result.names == ("C1", "S3", "S4")
    assert len(result.heads) == trb_mini.num_layers * trb_mini.num_heads


def test_a_hidden_place_outside_the_cdr3_is_refused(trb_mini):
    with pytest.raises(ValueError, match="choose 1 to 4"):
        protein_importance(trb_mini, "CASS", hidden=5)
