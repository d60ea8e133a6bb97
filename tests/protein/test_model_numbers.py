"""The numbers: TRB-mini's card, fair-esm's own forward, Hugging Face's ESM, and many threads."""

import re
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from core.alphabet import AMINO_ACIDS
from core.protein import fast, forward
from core.protein.cards import MODELS, TRB_MINI
from core.protein.chain import Chain
from core.protein.checkpoint import empty_module
from core.protein.embeddings import (
    attention,
    cosine_similarity,
    mean_vector,
    residue_vectors_by_layer,
    same_letter,
)
from core.protein.guess import guess
from core.protein.readout import p_true
from core.protein.scan import BATCH, scan, scan_chains, scan_steps
from core.protein.weights import available_models, load
from tests.protein.conftest import TINY

CARD = (Path(__file__).parents[2] / "assets" / "trb_mini.md").read_text()


def oracle(model, chain, positions):
    """fair-esm's own forward, one masked copy at a time, full softmax cut to the 20 letters."""
    rows = []
    for position in positions:
        tokens = model.tokens(chain)[None]
        tokens[0, chain.token_index(position)] = model.alphabet.mask_idx
        with torch.no_grad(), model.lock:
            logits = model.module(tokens)["logits"][0, chain.token_index(position)]
        rows.append(logits[model.residue_ids].double().softmax(-1).numpy())
    return np.stack(rows)


def test_trb_mini_gives_the_numbers_of_its_card(mini, mini_table, published):
    truth = p_true(mini_table, published)
    printed = re.search(r"CASSIRSSYEQYF: (.*?); mean over the chain ([\d.]+)", CARD)
    values = [float(x) for x in re.findall(r"[A-Z] ([\d.]+)", printed[1])]
    assert len(values) == 13
    for position, value in zip(published.cdr3_positions, values, strict=True):
        assert truth[position - 1] == pytest.approx(value, abs=0.0051)
    assert truth.mean() == pytest.approx(float(printed[2]), abs=0.0006)
    assert f"{mini.parameters:,}" in CARD
    assert mini.fingerprint in CARD


@pytest.mark.parametrize("card", MODELS, ids=lambda card: card.name)
def test_parameter_counts_follow_from_the_shape(card):
    module, _ = empty_module(card)
    assert sum(p.numel() for p in module.parameters()) == card.parameters


@pytest.mark.parametrize("batch", [1, 3, 8, 131])
def test_the_scan_equals_fair_esm_one_mask_at_a_time(tiny, published, batch):
    positions = [1, 2, 13, 66, 110, 115, 130, 131]
    table = scan(tiny, published, positions=positions, batch=batch)
    ours = table[np.array(positions) - 1]
    assert np.abs(ours - oracle(tiny, published, positions)).max() < 1e-5
    assert np.isnan(np.delete(table, np.array(positions) - 1, axis=0)).all()


@pytest.mark.parametrize("with_onednn", [True, False])
def test_the_fast_path_equals_the_plain_one(tiny, published, monkeypatch, with_onednn):
    """Packed products, fused GELU and residuals, fused attention; and without oneDNN."""
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: with_onednn)
    packed = fast.pack(tiny.module, 100)
    assert (packed.layers[0].qkv.packed is not None) == with_onednn
    for length, batch in ((1, 1), (7, 3), (53, 8), (131, 5)):
        chain = Chain(published.sequence[:length])
        at = torch.arange(1, batch + 1).clamp(max=length)
        tokens = tiny.tokens(chain).repeat(batch, 1)
        tokens[torch.arange(batch), at] = tiny.alphabet.mask_idx
        want = forward.masked_logits(tiny.module, tokens, at)
        got = fast.masked_logits(packed, tiny.tokens(chain), at, tiny.alphabet.mask_idx)
        assert (got - want).abs().max() < 1e-5


def test_a_whole_scan_takes_the_fast_path_and_equals_fair_esm(tiny, published, monkeypatch):
    used = []
    real = fast.masked_logits
    monkeypatch.setattr(fast, "masked_logits", lambda *a: used.append(1) or real(*a))
    chain = Chain(published.sequence[:37])
    assert np.abs(scan(tiny, chain) - oracle(tiny, chain, range(1, 38))).max() < 1e-5
    assert used
    side_by_side = scan_chains(tiny, [chain, published, chain], threads=3)
    assert np.abs(side_by_side[2] - scan(tiny, chain)).max() < 1e-6
    assert np.abs(side_by_side[1] - scan(tiny, published)).max() < 1e-6


def test_scans_at_one_time_share_one_packed_copy_of_the_weights(tiny):
    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(tiny.packed, (100, 200, 300, 400))
    assert all(other is first for other in others)
    del others
    gone = weakref.ref(first)
    del first
    assert gone() is None  # nobody scans: no second copy stays
    assert tiny.packed(100) is not None


@pytest.mark.parametrize("length", [1, 2, 7, 53])
def test_short_chains_equal_fair_esm(tiny, length):
    chain = Chain("MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEK"[:length])
    positions = range(1, length + 1)
    assert np.abs(scan(tiny, chain) - oracle(tiny, chain, positions)).max() < 1e-5


def test_trb_mini_equals_fair_esm_too(mini, published):
    positions = [1, 20, 112, 115, 131]
    ours = scan(mini, published, positions=positions)[np.array(positions) - 1]
    assert np.abs(ours - oracle(mini, published, positions)).max() < 1e-4


def test_the_numbers_agree_with_hugging_face(tiny, published):
    """An independent implementation with the same weights: EsmForMaskedLM."""
    from transformers import EsmConfig, EsmForMaskedLM

    config = EsmConfig(
        vocab_size=33, mask_token_id=32, pad_token_id=1, hidden_size=TINY.d_model,
        num_hidden_layers=TINY.layers, num_attention_heads=TINY.heads,
        intermediate_size=4 * TINY.d_model, position_embedding_type="rotary", token_dropout=True,
        emb_layer_norm_before=False, layer_norm_eps=1e-5, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, attn_implementation="eager",
    )  # fmt: skip
    other = EsmForMaskedLM(config).eval()
    missing, unexpected = other.load_state_dict(_hugging_face_names(tiny.module), strict=False)
    assert not unexpected
    assert all("position" in name or "contact" in name or "inv_freq" in name for name in missing)
    positions = [1, 40, 115, 131]
    tokens = tiny.tokens(published).repeat(len(positions), 1)
    at = torch.tensor([published.token_index(p) for p in positions])
    tokens[torch.arange(len(at)), at] = tiny.alphabet.mask_idx
    with torch.no_grad():
        theirs = other(tokens, attention_mask=torch.ones_like(tokens)).logits
    ours = forward.masked_logits(tiny.module, tokens, at)
    assert (ours - theirs[torch.arange(len(at)), at]).abs().max() < 1e-4
    probabilities = scan(tiny, published, positions=positions)[np.array(positions) - 1]
    same = theirs[torch.arange(len(at)), at][:, tiny.residue_ids].softmax(-1).numpy()
    assert np.abs(probabilities - same).max() < 1e-4


def _hugging_face_names(module):
    names = {
        "self_attn.q_proj": "attention.self.query",
        "self_attn.k_proj": "attention.self.key",
        "self_attn.v_proj": "attention.self.value",
        "self_attn.out_proj": "attention.output.dense",
        "self_attn_layer_norm": "attention.LayerNorm",
        "fc1": "intermediate.dense",
        "fc2": "output.dense",
        "final_layer_norm": "LayerNorm",
    }
    state = {}
    for name, tensor in module.state_dict().items():
        if "inv_freq" in name or name.startswith("contact_head"):
            continue
        if match := re.match(r"layers\.(\d+)\.(.*)\.(weight|bias)$", name):
            state[f"esm.encoder.layer.{match[1]}.{names[match[2]]}.{match[3]}"] = tensor
        elif name.startswith("emb_layer_norm_after"):
            state[f"esm.encoder.{name}"] = tensor
        elif name == "embed_tokens.weight":
            state["esm.embeddings.word_embeddings.weight"] = tensor
        elif name == "lm_head.weight":
            state["lm_head.decoder.weight"] = tensor
        else:
            state[name] = tensor
    return state


def test_published_values_where_the_published_weights_are(golden, published):
    found = {model.name: model for model in available_models()}["esm2-35m"]
    if not found.found:
        pytest.skip(
            f"the published ESM-2 35M weights are not on this machine ({found.destination})"
        )
    model = load("esm2-35m")
    want = golden["esm"]["guesses"]
    cysteine, arginine = guess(model, published, 110), guess(model, published, 115)
    assert cysteine.p_true == pytest.approx(want["cdr3_position_1_C"]["p_true"], abs=0.0006)
    assert arginine.p_true == pytest.approx(want["cdr3_position_6_R"]["p_true"], abs=0.0006)
    for letter, p in want["cdr3_position_6_R"]["top"]:
        assert dict(arginine.top(6))[letter] == pytest.approx(p, abs=0.006)


def test_probabilities_sum_to_one_in_the_order_of_the_alphabet(mini, published):
    one = guess(mini, published, 110)
    assert one.probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert one.top(1)[0][0] == "C"
    assert one.probabilities[AMINO_ACIDS.index("C")] == one.p_true
    assert 0 <= one.outside < 1e-3


def test_the_mass_outside_reconciles_both_conventions(tiny, published):
    position = 77
    tokens = tiny.tokens(published)[None]
    tokens[0, published.token_index(position)] = tiny.alphabet.mask_idx
    with torch.no_grad(), tiny.lock:
        wide = tiny.module(tokens)["logits"][0, published.token_index(position)].softmax(-1)
    one = guess(tiny, published, position)
    inside = wide[tiny.residue_ids].sum().item()
    assert one.outside == pytest.approx(1 - inside, abs=1e-5)
    assert one.probabilities * (1 - one.outside) == pytest.approx(
        wide[tiny.residue_ids].numpy(), abs=1e-5
    )


def test_a_guess_is_of_the_hidden_residue_not_of_the_visible_one(tiny, published):
    """What stands at the hidden place must not matter: that is what hidden means."""
    other = published.mutated(115, "W")
    assert guess(tiny, published, 115).probabilities == pytest.approx(
        guess(tiny, other, 115).probabilities, abs=1e-12
    )
    assert guess(tiny, published, 60).probabilities != pytest.approx(
        guess(tiny, other, 60).probabilities, abs=1e-9
    )


def test_one_mask_per_copy_because_masks_rescale_everything(tiny, published):
    """Token dropout: 0.88 / (1 - share of masks) scales every embedding (esm2.py)."""
    plain = tiny.tokens(published)[None]
    one, all_ = plain.clone(), plain.clone()
    one[0, 5] = tiny.alphabet.mask_idx
    all_[0, published.residue_tokens] = tiny.alphabet.mask_idx
    scale = {
        name: (
            forward.embed(tiny.module, tokens)[0, 0] / tiny.module.embed_tokens.weight[tokens[0, 0]]
        )
        .mean()
        .item()
        for name, tokens in (("none", plain), ("one", one), ("all", all_))
    }
    assert scale["none"] == pytest.approx(0.88, abs=1e-5)
    assert scale["one"] == pytest.approx(0.88 / (1 - 1 / 133), abs=1e-5)
    assert scale["all"] == pytest.approx(0.88 / (2 / 133), rel=1e-4)


def test_eight_threads_on_one_model_of_several_lengths(tiny, published):
    """fair-esm's own forward fails here: its rotary tables live on the module."""
    chains = [published, Chain(published.sequence[:20]), Chain(published.sequence[30:77])]
    want = [guess(tiny, chain, 7).probabilities for chain in chains]
    problems = []

    def visit(seed):
        try:
            for i in range(30):
                which = (seed + i) % len(chains)
                got = guess(tiny, chains[which], 7).probabilities
                if np.abs(got - want[which]).max() > 1e-6:
                    problems.append((seed, i))
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=visit, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_no_state_is_left_on_the_module_and_gradients_still_work(tiny, published):
    before = [layer.self_attn.rot_emb._seq_len_cached for layer in tiny.module.layers]
    guess(tiny, published, 3)
    scan(tiny, Chain("MKTAYIA"))
    assert [layer.self_attn.rot_emb._seq_len_cached for layer in tiny.module.layers] == before
    assert not tiny.module.training
    tokens = tiny.tokens(published)[None]
    weight = torch.ones(1, requires_grad=True)
    logits = forward.masked_logits(tiny.module, tokens, torch.tensor([5])) * weight
    logits.sum().backward()
    assert weight.grad is not None


def test_numbers_that_are_not_finite_are_refused(mini, published):
    with pytest.raises(FloatingPointError, match="not finite"):
        mini.over_residues(torch.full((1, 33), float("nan")))


def test_batches_are_small_because_larger_ones_only_cost_memory():
    assert 8 <= BATCH <= 16


def test_steps_report_progress_and_can_be_dropped(tiny, published):
    steps = scan_steps(tiny, published, batch=50)
    first = next(steps)
    assert (first.done, first.total) == (50, 131)
    assert np.isnan(first.probabilities).any(axis=1).sum() == 81
    steps.close()
    assert [s.done for s in scan_steps(tiny, published, batch=50)] == [50, 100, 131]


def test_batches_side_by_side_give_the_same_in_order_and_stop_when_dropped(
    tiny, published, monkeypatch
):
    steps = list(scan_steps(tiny, published, batch=10, threads=3))
    assert [step.done for step in steps] == [*range(10, 131, 10), 131]
    assert np.isnan(steps[0].probabilities[10:]).all()
    assert np.abs(steps[-1].probabilities - scan(tiny, published)).max() < 1e-6
    asked, real = [], type(tiny).guess_hidden

    def slowly(*given):
        asked.append(given)
        time.sleep(0.01)
        return real(*given)

    monkeypatch.setattr(type(tiny), "guess_hidden", slowly)
    dropped = scan_steps(tiny, published, batch=1, threads=2)
    next(dropped)
    dropped.close()
    assert len(asked) < 100


def test_float32_on_the_cpu_in_evaluation_mode(mini, tiny):
    for model in (mini, tiny):
        kinds = {(p.dtype, p.device.type) for p in model.module.state_dict().values()}
        assert kinds == {(torch.float32, "cpu")}
        assert not any(p.requires_grad for p in model.module.parameters())
        assert not any(part.training for part in model.module.modules())


def test_gradients_can_still_flow_through_a_model_that_has_guessed(tiny, published):
    """fair-esm keeps its rotary tables: made under inference_mode they would stop all training."""
    guess(tiny, published, 5)
    scan(tiny, Chain(published.sequence[:30]))
    tokens = tiny.tokens(published)[None]
    weight = torch.nn.Parameter(tiny.module.embed_tokens.weight.clone())
    with tiny.lock:
        logits = torch.func.functional_call(
            tiny.module, {"embed_tokens.weight": weight, "lm_head.weight": weight}, (tokens,)
        )["logits"]
    logits.sum().backward()
    assert weight.grad.abs().sum() > 0


def test_attention_and_vectors_equal_fair_esm(tiny, published):
    with torch.no_grad(), tiny.lock:
        theirs = tiny.module(
            tiny.tokens(published)[None],
            repr_layers=range(tiny.num_layers + 1),
            need_head_weights=True,
        )
    for layer in range(1, tiny.num_layers + 1):
        ours = attention(tiny, published, layer)
        assert ours.shape == (11, 133, 133)
        assert np.abs(ours - theirs["attentions"][0, layer - 1].numpy()).max() < 1e-5
        assert ours.sum(-1) == pytest.approx(1, abs=1e-5)
    vectors = residue_vectors_by_layer(tiny, published)
    assert vectors.shape == (6, 131, 44)
    for layer in range(6):
        assert (
            np.abs(vectors[layer] - theirs["representations"][layer][0, 1:-1].numpy()).max() < 1e-4
        )


@pytest.mark.parametrize("layer", [0, -1, 7, 33])
def test_layers_come_from_the_model(mini, published, layer):
    with pytest.raises(ValueError, match="layers 1 to 6"):
        attention(mini, published, layer)


def test_the_four_serines_go_in_alike_and_come_out_different(mini, published, golden):
    serines = same_letter(mini, published, "S")
    offsets = [p - 109 for p in serines.positions]
    assert offsets == golden["toy"]["serine_positions_1based"]
    assert serines.mean_by_layer.shape == (7,)
    assert serines.cosines[0] == pytest.approx(1, abs=1e-6)
    assert serines.mean_by_layer[-1] < 0.99
    with pytest.raises(ValueError, match="stands 1 times"):
        same_letter(mini, published, "R")


def test_cosines_by_hand():
    vectors = np.array([[[1.0, 0.0], [1.0, 1.0], [-2.0, 0.0]]])
    assert cosine_similarity(vectors)[0] == pytest.approx(
        np.array([[1, 0.5**0.5, -1], [0.5**0.5, 1, -(0.5**0.5)], [-1, -(0.5**0.5), 1]])
    )


def test_mean_vectors_of_chain_and_cdr3(mini, published):
    vectors = residue_vectors_by_layer(mini, published)
    assert mean_vector(mini, published) == pytest.approx(vectors[-1].mean(0))
    assert mean_vector(mini, published, layer=2, cdr3_only=True) == pytest.approx(
        vectors[2][109:122].mean(0)
    )
    with pytest.raises(ValueError, match="no CDR3"):
        mean_vector(mini, Chain("MKTAYIA"), cdr3_only=True)


def test_what_follows_j_spoils_the_guesses_before_it(mini, mini_table, published):
    """What the sentence in limits.py says of TRB-mini."""
    longer = Chain(published.sequence + "EDLNKVFPPEVAVFEPSEAEISHTQKATLV")
    places = list(range(110, 132))
    rows = np.array(places) - 1
    spoilt = p_true(scan(mini, longer, positions=places), longer)[rows]
    assert spoilt.mean() < 0.8 * p_true(mini_table, published)[rows].mean()


def test_what_trb_mini_cannot_do(mini, published):
    """Its card: other proteins and a bare CDR3 are beyond it. A page must not hide that."""
    bare = Chain("CASSIRSSYEQYF")
    assert p_true(scan(mini, bare), bare).mean() < 0.2
    assert TRB_MINI.label == "TRB-mini, not ESM-2"
