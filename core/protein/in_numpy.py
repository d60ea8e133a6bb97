"""ESM-2's forward pass in NumPy: the toy's block grown up, for TRB-mini's guesses.

In: the weight file that this app ships, and a chain. Out: probabilities at hidden residues, equal
to fair-esm's. PyTorch is not needed, so a first guess does not wait for it.
Source: Lin et al., Science 379 (2023).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from core.alphabet import AMINO_ACIDS
from core.protein.cards import TRB_MINI, ModelCard
from core.protein.chain import Chain
from core.protein.numbers_only import read_weights
from core.settings import ASSETS

# ESM-2's token ids are the places in this list.
TOKENS = ("<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null>", "<mask>")
START, END, MASK = TOKENS.index("<cls>"), TOKENS.index("<eos>"), TOKENS.index("<mask>")
RESIDUES = [TOKENS.index(letter) for letter in AMINO_ACIDS]
# Share of tokens that training replaced by the mask: 15 % chosen, 80 % of them masked.
MASKED_IN_TRAINING = 0.15 * 0.8
LAYER_NORM_EPS = 1e-5
Weights = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class NumpyModel:
    """A protein language model as named arrays (float32), under fair-esm's names."""

    card: ModelCard
    weights: Weights

    @property
    def label(self) -> str:
        return self.card.label

    def guess_hidden(
        self, chain: Chain, positions: Sequence[int]
    ) -> tuple[Float[np.ndarray, "n 20"], Float[np.ndarray, " n"]]:
        """Probabilities at each 1-based position with that residue, and only that, hidden.

        Softmax over the 20 residues in the order of AMINO_ACIDS; the second value is the mass
        that the softmax over all 33 tokens puts outside them.
        """
        rows = np.array([self._hidden_logits(chain, chain.token_index(p)) for p in positions])
        wide = softmax(rows.reshape(-1, len(TOKENS)).astype(float))
        inside = wide[:, RESIDUES].sum(axis=1)
        return wide[:, RESIDUES] / inside[:, None], np.maximum(1 - inside, 0)

    def _hidden_logits(self, chain: Chain, at: int) -> Float[np.ndarray, " V"]:
        tokens = np.array([START, *(TOKENS.index(letter) for letter in chain.sequence), END])
        tokens[at] = MASK
        return logits(self.weights, self.card, tokens)[at]


def trb_mini() -> NumpyModel:
    """TRB-mini from its shipped file. Raises WeightsError when the file is not the shipped one."""
    return NumpyModel(TRB_MINI, read_weights(ASSETS / TRB_MINI.file))


def logits(
    weights: Weights, card: ModelCard, tokens: Int[np.ndarray, " L"]
) -> Float[np.ndarray, "L V"]:
    """One score per place and token: embedding, the blocks, and the tied output layer."""
    x = embed(weights["embed_tokens.weight"], tokens)
    for i in range(card.layers):
        x = block(_under(weights, f"layers.{i}."), card.heads, x)
    x = layer_norm(_under(weights, "emb_layer_norm_after."), x)
    head = _under(weights, "lm_head.")
    x = layer_norm(_under(head, "layer_norm."), gelu(linear(_under(head, "dense."), x)))
    # Tied: the embedding of a token is also what scores it.
    return x @ weights["embed_tokens.weight"].T + head["bias"]


def embed(
    table: Float[np.ndarray, "V d_model"], tokens: Int[np.ndarray, " L"]
) -> Float[np.ndarray, "L d_model"]:
    """Rows of the table; the mask's is zero, and the others make up for its missing share."""
    masked = tokens == MASK
    scale = (1 - MASKED_IN_TRAINING) / (1 - float(masked.mean()))
    return np.where(masked[:, None], 0, table[tokens] * scale)


def block(
    weights: Weights, heads: int, x: Float[np.ndarray, "L d_model"]
) -> Float[np.ndarray, "L d_model"]:
    """x + attention(LN(x)), then x + feed-forward(LN(x)): pre-LayerNorm, as in the toy."""
    normed = layer_norm(_under(weights, "self_attn_layer_norm."), x)
    x = x + attention(_under(weights, "self_attn."), heads, normed)
    hidden = linear(_under(weights, "fc1."), layer_norm(_under(weights, "final_layer_norm."), x))
    return x + linear(_under(weights, "fc2."), gelu(hidden))


def attention(
    weights: Weights, heads: int, x: Float[np.ndarray, "L d_model"]
) -> Float[np.ndarray, "L d_model"]:
    """softmax(QK^T / sqrt(d_k)) V in every head, queries and keys turned by their places."""
    q, k, v = (
        linear(_under(weights, f"{name}_proj."), x).reshape(len(x), heads, -1).swapaxes(0, 1)
        for name in "qkv"
    )
    q, k = (rotate(one, weights["rot_emb.inv_freq"]) for one in (q, k))
    blended = softmax(q @ k.swapaxes(1, 2) / math.sqrt(q.shape[2])) @ v
    return linear(_under(weights, "out_proj."), blended.swapaxes(0, 1).reshape(x.shape))


def rotate(
    x: Float[np.ndarray, "h L d_k"], inverse_frequencies: Float[np.ndarray, " half"]
) -> Float[np.ndarray, "h L d_k"]:
    """Rotary positions (Su et al., 2021): each pair of numbers turned by place x frequency."""
    angles = np.outer(np.arange(x.shape[1], dtype=np.float32), inverse_frequencies)
    cosines, sines = np.cos(angles), np.sin(angles)
    first, second = np.split(x, 2, axis=2)
    turned = first * cosines - second * sines, second * cosines + first * sines
    return np.concatenate(turned, axis=2)


def layer_norm(weights: Weights, x: Float[np.ndarray, "L d"]) -> Float[np.ndarray, "L d"]:
    """Each row to mean 0 and variance 1, then scaled and shifted."""
    centred = x - x.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + LAYER_NORM_EPS)
    return centred / spread * weights["weight"] + weights["bias"]


def gelu(x: Float[np.ndarray, "L d"]) -> Float[np.ndarray, "L d"]:
    """x times the normal distribution function of x, to 2e-7: the exact GELU, not tanh's.

    erf by Abramowitz and Stegun, 7.1.26, because NumPy has none.
    """
    z = np.abs(x) * math.sqrt(0.5)
    t = 1 / (1 + 0.3275911 * z)
    series = np.zeros_like(t)
    for coefficient in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + coefficient) * t
    erf = np.copysign(1 - series * np.exp(-z * z), x)
    return x * (1 + erf) / 2


def softmax(scores: Float[np.ndarray, "... n"]) -> Float[np.ndarray, "... n"]:
    """Along the last axis; rows sum to 1."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def linear(weights: Weights, x: Float[np.ndarray, "L n"]) -> Float[np.ndarray, "L m"]:
    """x W^T + b."""
    return x @ weights["weight"].T + weights["bias"]


def _under(weights: Weights, prefix: str) -> dict[str, np.ndarray]:
    return {name[len(prefix) :]: w for name, w in weights.items() if name.startswith(prefix)}
