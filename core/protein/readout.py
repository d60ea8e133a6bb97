"""What a table of guesses says: entropy, surprise, log-odds, temperature, origin of letters.

In: probabilities (L, 20) in the order of AMINO_ACIDS and a chain. Out: plain arrays and values.
Never calls a model.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from core.alphabet import AMINO_ACIDS
from core.protein.chain import Chain


def at_temperature(
    probabilities: Float[np.ndarray, "L 20"], temperature: float
) -> Float[np.ndarray, "L 20"]:
    """softmax(logits / T), from softmax(logits) as p^(1/T) normalised.

    Raises ValueError unless T is above 0.
    """
    if not temperature > 0:
        raise ValueError(f"Temperature {temperature} must be above 0.")
    logs = np.log(np.maximum(probabilities, np.finfo(float).tiny)) / temperature
    powers = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def entropy_bits(probabilities: Float[np.ndarray, "L 20"]) -> Float[np.ndarray, " L"]:
    """Shannon entropy of each row in bits: 0 (sure) to log2(20) = 4.32 (no idea)."""
    p = np.maximum(probabilities, np.finfo(float).tiny)
    return np.maximum(-(probabilities * np.log2(p)).sum(axis=-1), 0.0)


def p_true(probabilities: Float[np.ndarray, "L 20"], chain: Chain) -> Float[np.ndarray, " L"]:
    """Probability of the chain's own letter at each position; NaN at X, B, Z, U, O."""
    return np.array(
        [
            row[AMINO_ACIDS.index(letter)] if letter in AMINO_ACIDS else np.nan
            for row, letter in zip(probabilities, chain.sequence, strict=True)
        ]
    )


def surprise(probabilities: Float[np.ndarray, "L 20"], chain: Chain) -> Float[np.ndarray, " L"]:
    """-log p(true residue | the rest) at each position, in nats."""
    return -np.log(np.maximum(p_true(probabilities, chain), np.finfo(float).tiny))


def pseudo_perplexity(probabilities: Float[np.ndarray, "L 20"], chain: Chain) -> float:
    """exp of the mean surprise: among how many equally likely residues the model chooses.

    Positions with X, B, Z, U or O, and rows of NaN (not scanned), are left out.
    """
    return float(np.exp(np.nanmean(surprise(probabilities, chain))))


def log_odds(probabilities: Float[np.ndarray, "L 20"], chain: Chain) -> Float[np.ndarray, "L 20"]:
    """log p(letter) - log p(true letter), in nats, each position hidden: masked marginals.

    0 at the true letter, above 0 where the model prefers another. Source: Meier et al.,
    NeurIPS 2021, equation 1.
    """
    logs = np.log(np.maximum(probabilities, np.finfo(float).tiny))
    return logs - np.log(np.maximum(p_true(probabilities, chain), np.finfo(float).tiny))[:, None]


@dataclass(frozen=True)
class OriginSummary:
    """Guesses of the residues that one source can have written."""

    origin: str
    count: int
    guessed_first: int
    mean_p_true: float
    mean_surprise: float


def by_origin(
    probabilities: Float[np.ndarray, "L 20"], chain: Chain, *, within: str | None = None
) -> tuple[OriginSummary, ...]:
    """V germline, junction and J germline compared; `within="CDR3"` looks at the CDR3 alone.

    Germline-encodable, not germline-encoded: amino acids cannot prove origin. Empty without a
    CDR3 whose genes are known.
    """
    truth, nats = p_true(probabilities, chain), surprise(probabilities, chain)
    first = probabilities.max(axis=-1) == truth
    summaries = []
    for origin in ("V germline", "junction", "J germline"):
        rows = [
            position - 1
            for position in range(1, len(chain) + 1)
            if chain.origin(position) == origin
            and within in {None, chain.region_at(position)}
            and not np.isnan(truth[position - 1])
        ]
        if rows:
            summaries.append(
                OriginSummary(
                    origin,
                    len(rows),
                    int(first[rows].sum()),
                    float(truth[rows].mean()),
                    float(nats[rows].mean()),
                )
            )
    return tuple(summaries)
