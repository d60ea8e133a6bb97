"""“The code for this” under each figure of the traps page runs and prints the page's numbers."""

import io
from contextlib import redirect_stdout

import pytest

from core.traps.importance_toy import toy_importance
from core.traps.order_toy import shuffle_toy
from pages.parts.trained import RECORDED, readable
from pages.parts.traps import (
    alphabets,
    importance,
    measured,
    order,
    weights,
)


def printed(code: str) -> list[str]:
    output = io.StringIO()
    with redirect_stdout(output):
        exec(compile(code, "snippet", "exec"), {})
    return output.getvalue().splitlines()


@pytest.mark.parametrize("model", importance.CODE)
@pytest.mark.parametrize("head", ["", "0"])
def test_importance(model, head):
    code = importance.CODE[model].format(
        sequence="CASSIRSSYEQYF", hidden=6, file=readable(RECORDED)
    )
    lines = printed(code + importance.PRINT.format(head=head))
    assert -1 <= float(lines[0]) <= 1
    assert len(lines) == 1 + (12 if model == importance.PROTEIN else 13)
    if model == importance.TOY and not head:
        assert float(lines[0]) == toy_importance("CASSIRSSYEQYF").correlation()


@pytest.mark.parametrize("module", ["toy", "encoder"])
def test_order(module):
    code = order.CODE.format(
        module=f"order_{module}",
        function=f"shuffle_{module}",
        sequence="CASSIRS",
        seed=2,
        causal=False,
    )
    lines = printed(code)
    assert lines[0] == shuffle_toy("CASSIRS", 2).shuffled
    assert float(lines[1].split()[-1]) < 1e-12 < float(lines[2].split()[-1])


def test_weights():
    lines = printed(weights.CODE)
    assert lines[1].split("\t") == ["Toy block", "256", "512", "0", "0"]
    assert len(lines) == 5


def test_alphabets():
    assert printed(alphabets.CODE.format(letters="ACGT"))[1].startswith("Nucleotides 7 ")


def test_forgetting():
    lines = printed(measured.FORGETTING_CODE.format(lengths=(13,)))
    assert lines[0].startswith("RNN 2 0.3")
    assert lines[-1].startswith("{13: 0.4")


def test_cost():
    lines = printed(measured.COST_CODE)
    assert lines[0].startswith("64 4096 ")
    assert "4.0)" in lines[-1]
