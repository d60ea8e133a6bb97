"""The task: read a string, write it backwards; one string per row, padded, to be looked at.

In: alphabet, lengths, a torch generator. Out: padded token ids. Knows nothing of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from core.alphabet import BOS, EOS, FIRST_LETTER_ID, PAD, Vocabulary
from core.training.recipe import Recipe


@dataclass(frozen=True)
class Batch:
    """Token ids: source (B, n_src), decoder input and labels (B, n_src + 1), padded with PAD.

    Row by row the decoder input is BOS, then the reversed string; the labels are the reversed
    string, then EOS: teacher forcing, one place apart.
    """

    src: Int[Tensor, "B n_src"]
    tgt: Int[Tensor, "B n_tgt"]
    labels: Int[Tensor, "B n_tgt"]

    def __len__(self) -> int:
        return len(self.src)


def draw_batch(recipe: Recipe, size: int, generator: torch.Generator) -> Batch:
    """`size` random strings, lengths and letters uniform, on the generator's device."""
    device, longest = generator.device, recipe.max_length
    lengths = torch.randint(
        recipe.min_length, longest + 1, (size, 1), generator=generator, device=device
    )
    letters = torch.randint(
        FIRST_LETTER_ID,
        FIRST_LETTER_ID + len(recipe.letters),
        (size, longest),
        generator=generator,
        device=device,
    )
    return reversed_batch(letters, lengths)


def reversed_batch(letters: Int[Tensor, "B longest"], lengths: Int[Tensor, "B 1"]) -> Batch:
    """The batch of the first `lengths` letters of each row; what stands after them is ignored."""
    place = torch.arange(letters.shape[1] + 1, device=letters.device)
    src = letters.masked_fill(place[:-1] >= lengths, PAD)
    backwards = src.gather(1, (lengths - 1 - place).clamp(min=0))
    labels = backwards.masked_fill(place == lengths, EOS).masked_fill(place > lengths, PAD)
    tgt = torch.cat([torch.full_like(lengths, BOS), backwards[:, :-1]], 1)
    return Batch(src, tgt.masked_fill(place > lengths, PAD), labels)


def encode_strings(
    strings: Sequence[str], letters: str, device: torch.device | str = "cpu"
) -> Batch:
    """The batch of these strings, padded to the longest of them.

    Raises ValueError naming a letter that is not in `letters`, or when there is no string.
    """
    if not strings or not all(strings):
        raise ValueError("There is no string to reverse: give at least one, none of them empty.")
    vocabulary = Vocabulary(letters)
    longest = max(map(len, strings))
    ids = [vocabulary.encode(text) + (PAD,) * (longest - len(text)) for text in strings]
    lengths = [[len(text)] for text in strings]
    return reversed_batch(torch.tensor(ids, device=device), torch.tensor(lengths, device=device))
