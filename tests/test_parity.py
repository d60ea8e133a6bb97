"""Our modules against torch.nn: within rounding in both precisions, and the command."""

import json
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn

from core import parity
from core.transformer import into_torch
from core.transformer.attention import MultiHeadAttention
from core.transformer.masks import causal_mask


@pytest.mark.parametrize("seed", range(3))
def test_float64_differences_are_rounding(seed: int) -> None:
    found = parity.differences("float64", seed)
    assert len(found) == 7
    assert max(found.values()) < 1e-10
    assert min(found.values()) > 0  # exactly 0 would mean that both took the same path


def test_float32_differences_are_below_the_published_bounds(golden: dict[str, Any]) -> None:
    known, found = golden["transformer"], parity.differences("float32")
    assert found["layer_norm"] < known["layernorm_vs_torch_max_abs_diff_below"]
    assert found["multi_head_attention_causal"] < known["mha_vs_torch_causal_max_abs_diff_below"]
    assert max(found.values()) < 1e-5
    toy = golden["toy"]
    assert found["toy_block"] < toy["numpy_vs_torch_block_max_abs_diff_float32_below"]


def test_differences_are_repeatable_and_leave_the_global_generator_alone() -> None:
    state = torch.get_rng_state()
    first = parity.differences("float32", 5)
    torch.manual_seed(99)
    assert parity.differences("float32", 5) == first
    torch.set_rng_state(state)


def test_a_wrong_weight_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    original = into_torch.copy_norm

    def forgetful(ours: Any, theirs: nn.LayerNorm) -> None:
        original(ours, theirs)
        theirs.bias.data[0] += 0.01

    monkeypatch.setattr(into_torch, "copy_norm", forgetful)
    assert parity.differences("float64")["encoder_layer"] > 1e-3


@pytest.mark.parametrize("sequence", ["CASSIRSSYEQYF", "WW", "ACDEFGHIKLMNPQRSTVWY"])
def test_toy_block_in_both_precisions(sequence: str) -> None:
    assert parity.toy_block_difference("float64", sequence) < 1e-12
    assert parity.toy_block_difference("float32", sequence) < 1e-4


def test_multi_head_attention_shapes_match_torch(golden: dict[str, Any]) -> None:
    known = golden["transformer"]["torch_mha_64_8_heads_shapes"]
    theirs = nn.MultiheadAttention(64, 8, batch_first=True)
    x = torch.randn(2, 10, 64)
    output, weights = theirs(x, x, x)
    assert [*output.shape] == known["output"]
    assert [*weights.shape] == known["weights_averaged_over_heads"]
    ours = MultiHeadAttention(64, 8).eval()
    assert ours(x, may_attend=causal_mask(10)).shape == output.shape
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())


def test_the_command_prints_one_json_object() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "core.parity"], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("\n") == 1
    printed = json.loads(done.stdout)
    assert set(printed) == {"float32", "float64"}
    assert set(printed["float64"]) == set(parity.differences("float64"))


@pytest.mark.parametrize("value", [1e-9, float("nan")])
def test_a_difference_above_the_tolerance_is_status_1(
    value: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {"float32": {"a": 1e-9}, "float64": {"a": 0.0, "b": value}}
    monkeypatch.setattr(parity, "all_differences", lambda: found)
    assert parity.main([]) == 1
    captured = capsys.readouterr()
    assert set(json.loads(captured.out)) == {"float32", "float64"}
    assert captured.err == f"b differs by {value:.1e} in float64, more than 1e-10.\n"


@pytest.mark.parametrize(("argument", "status"), [("--bogus", 2), ("--help", 0)])
def test_arguments_are_parsed_before_anything_runs(
    argument: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parity, "all_differences", pytest.fail)
    with pytest.raises(SystemExit) as stopped:
        parity.main([argument])
    assert stopped.value.code == status
