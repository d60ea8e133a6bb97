"""What the model makes of each residue: vectors by layer, attention, and what they share.

In: a model and a chain, nothing hidden. Out: NumPy arrays over the residues. Knows nothing of
figures.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from core.protein import forward
from core.protein.chain import Chain
from core.protein.model import LanguageModel


@torch.no_grad()
def residue_vectors_by_layer(
    model: LanguageModel, chain: Chain
) -> Float[np.ndarray, "layers_and_embedding L d_model"]:
    """The vector of every residue going in (0) and after each layer (1 to the last).

    The last layer's vectors carry ESM-2's final layer norm. No residue is hidden.
    """
    states = forward.hidden_states(model.module, model.tokens(chain)[None])
    return states[:, 0, chain.residue_tokens].numpy()


@torch.no_grad()
def attention(
    model: LanguageModel, chain: Chain, layer: int
) -> Float[np.ndarray, "h n_query n_key"]:
    """Attention weights of one layer (from 1), start and end token included; rows sum to 1.

    `chain.residue_tokens` cuts out the residues. Raises ValueError for a layer the model lacks.
    """
    if not 1 <= layer <= model.num_layers:
        raise ValueError(f"{model.label} has layers 1 to {model.num_layers}, not {layer}.")
    return forward.attention_weights(model.module, model.tokens(chain)[None], layer)[0].numpy()


def mean_vector(
    model: LanguageModel, chain: Chain, *, layer: int | None = None, cdr3_only: bool = False
) -> Float[np.ndarray, " d_model"]:
    """Mean of the residues' vectors after `layer` (the last when None), of all or of the CDR3."""
    vectors = residue_vectors_by_layer(model, chain)[-1 if layer is None else layer]
    if cdr3_only:
        if chain.cdr3 is None:
            raise ValueError(f"{chain.name}: no CDR3 was found, so there is nothing to pool.")
        vectors = vectors[np.array(chain.cdr3_positions) - 1]
    return vectors.mean(axis=0)


@dataclass(frozen=True)
class SameLetter:
    """One letter at several places: cosine similarities of its vectors, layer by layer.

    `cosines` is (layers + 1, n, n) in the order of `positions` (1-based on the chain).
    """

    letter: str
    positions: tuple[int, ...]
    cosines: Float[np.ndarray, "layers_and_embedding n n"]

    @property
    def mean_by_layer(self) -> Float[np.ndarray, " layers_and_embedding"]:
        """Mean cosine over the pairs of different places: 1 going in, lower coming out."""
        rows, columns = np.triu_indices(len(self.positions), k=1)
        return self.cosines[:, rows, columns].mean(axis=1)


def same_letter(
    model: LanguageModel, chain: Chain, letter: str, *, within_cdr3: bool = True
) -> SameLetter:
    """How alike the same letter's vectors are at its places, from the embeddings to the end.

    Raises ValueError when the letter stands at fewer than two places.
    """
    places = chain.cdr3_positions if within_cdr3 and chain.cdr3 else range(1, len(chain) + 1)
    positions = tuple(p for p in places if chain.sequence[p - 1] == letter)
    if len(positions) < 2:
        where = "the CDR3" if within_cdr3 and chain.cdr3 else "the chain"
        raise ValueError(f"{letter} stands {len(positions)} times in {where}: at least 2 needed.")
    vectors = residue_vectors_by_layer(model, chain)[:, np.array(positions) - 1]
    return SameLetter(letter, positions, cosine_similarity(vectors))


def cosine_similarity(
    vectors: Float[np.ndarray, "layers n d_model"],
) -> Float[np.ndarray, "layers n n"]:
    """Cosine of the angle between every two vectors of each layer."""
    unit = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit @ unit.transpose(0, 2, 1)
