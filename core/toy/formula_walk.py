"""One query, one key, five steps: the attention formula with the numbers of a run filled in.

In: AttentionSteps, the residue labels, a query and the key to follow. Out: LaTeX per step.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.toy.attention import AttentionSteps
from core.written import percent

_ROUNDING = 1e-15


@dataclass(frozen=True)
class WalkStep:
    """A step's name, its formula with numbers in LaTeX, and what it does in words."""

    name: str
    latex: str
    words: str


def number(value: float) -> str:
    """Three significant figures as a person would write them: 4, 2.83, 0.605, -0.0021."""
    if abs(value) < _ROUNDING:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    digits = 2 if abs(value) >= 1 else min(3 + max(0, -math.floor(math.log10(abs(value))) - 1), 9)
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    # Thirty digits of zero teach nothing; a power of ten does.
    return text if float(text) != 0 else f"{value:.1e}"


def tex(value: float) -> str:
    """`number`, with a power of ten written the LaTeX way."""
    mantissa, e, exponent = number(value).partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if e else mantissa


def formula_walk(
    steps: AttentionSteps, labels: list[str], query: int, key: int, *, scale: bool = True
) -> tuple[WalkStep, ...]:
    """Query and key, score, scaled, exponential, weight, blend; positions count from 0.

    Raises ValueError if `key` is hidden from `query` by the mask.
    """
    if not steps.may_attend[query, key]:
        raise ValueError(f"{labels[query]} may not look at {labels[key]}: the mask hides it.")
    return (
        _projections(steps, labels, query, key),
        _score(steps, labels, query, key),
        _scaled(steps, query, key, scale),
        _exponential(steps, labels, query, key),
        _weight(steps, labels, query, key),
        _blend(steps, labels, query),
    )


def _projections(steps: AttentionSteps, labels: list[str], query: int, key: int) -> WalkStep:
    return WalkStep(
        "Query and key",
        _lines(
            rf"q_{{{labels[query]}}} &= x_{{{labels[query]}}} W_q = {_row(steps.queries[query])}",
            rf"k_{{{labels[key]}}} &= x_{{{labels[key]}}} W_k = {_row(steps.keys[key])}",
            rf"v_{{{labels[key]}}} &= x_{{{labels[key]}}} W_v = {_row(steps.values[key])}",
        ),
        f"{labels[query]} asks, {labels[key]} answers, each with {steps.keys.shape[1]} numbers.",
    )


def _score(steps: AttentionSteps, labels: list[str], query: int, key: int) -> WalkStep:
    products = " + ".join(
        rf"{_bracket(q)}\cdot {_bracket(k)}"
        for q, k in zip(steps.queries[query], steps.keys[key], strict=True)
    )
    return WalkStep(
        "Score",
        rf"q_{{{labels[query]}}}\cdot k_{{{labels[key]}}} = {products} = "
        rf"{tex(steps.scores[query, key])}",
        f"How well {labels[query]}'s question fits {labels[key]}'s answer.",
    )


def _scaled(steps: AttentionSteps, query: int, key: int, scale: bool) -> WalkStep:
    score, scaled = tex(steps.scores[query, key]), tex(steps.scaled[query, key])
    if not scale:
        return WalkStep("Scaled", rf"{score} \;\text{{(division switched off)}}", "Left as it is.")
    d_k = steps.keys.shape[1]
    return WalkStep(
        "Scaled",
        rf"\frac{{{score}}}{{\sqrt{{{d_k}}}}} = {scaled}",
        f"Divided by the square root of d_k = {d_k}, so that softmax does not saturate.",
    )


def _exponential(steps: AttentionSteps, labels: list[str], query: int, key: int) -> WalkStep:
    row = steps.scaled[query][steps.may_attend[query]]
    power = steps.exponentials[query, key]
    return WalkStep(
        "Exponential",
        rf"e^{{{tex(steps.scaled[query, key])} - {_bracket(row.max())}}} = {tex(power)}",
        f"The row's largest, {number(row.max())}, is subtracted first: same weights, no overflow.",
    )


def _weight(steps: AttentionSteps, labels: list[str], query: int, key: int) -> WalkStep:
    powers, weight = steps.exponentials[query], steps.weights[query, key]
    return WalkStep(
        "Weight",
        rf"\frac{{{tex(powers[key])}}}{{{_sum(powers, key)}}} = {tex(weight)}",
        f"Divided by the row's sum: {labels[query]} gives {labels[key]} "
        f"{percent(weight, 1)}, and the row adds up to {percent(steps.weights[query].sum())}.",
    )


def _sum(powers: np.ndarray, key: int) -> str:
    """In more digits where three would make it look like the one that is divided by it."""
    total = float(powers.sum())
    same = number(total) == number(powers[key])
    return f"{total:.4f}".rstrip("0").rstrip(".") if same else tex(total)


def _blend(steps: AttentionSteps, labels: list[str], query: int, shown: int = 2) -> WalkStep:
    weights, values = steps.weights[query], steps.values
    order = np.argsort(-weights, kind="stable")
    order = order[steps.may_attend[query][order]]
    terms = [rf"{tex(weights[key])}\,{_column(values[key])}" for key in order[:shown]]
    rest = order[shown:]
    if len(rest):
        terms.append(_column(weights[rest] @ values[rest]))
    return WalkStep(
        "Blend",
        _lines("&" + " + ".join(terms), f"&= {_column(steps.blended[query])}"),
        f"Values of {_named([labels[key] for key in order], shown)}, each times its weight, "
        "added up.",
    )


def _named(names: list[str], shown: int) -> str:
    rest = len(names) - shown
    if rest <= 0:
        return " and ".join(names)
    return f"{', '.join(names[:shown])} and {rest} other{'s' * (rest > 1)}"


def _lines(*lines: str) -> str:
    # A phone is too narrow for one line.
    return r"\begin{aligned}" + r"\\".join(lines) + r"\end{aligned}"


def _row(vector: np.ndarray) -> str:
    return "(" + r",\,".join(tex(float(v)) for v in vector) + ")"


def _column(vector: np.ndarray) -> str:
    return r"\begin{pmatrix}" + r"\\".join(tex(float(v)) for v in vector) + r"\end{pmatrix}"


def _bracket(value: float) -> str:
    return f"({tex(value)})" if value < 0 else tex(value)
