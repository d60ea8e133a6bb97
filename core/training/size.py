"""How large a run may be, so that no recipe can fill a shared machine's memory or time.

In: a recipe's numbers. Out: nothing, or a ValueError with a sentence a visitor can read.
"""

from typing import TYPE_CHECKING

from core.training.limits import (
    MOST_LETTERS_IN_ALL,
    MOST_LETTERS_PER_STEP,
    MOST_NUMBERS_KEPT,
)

if TYPE_CHECKING:
    from core.training.recipe import Recipe


def numbers_kept(recipe: "Recipe") -> int:
    """About how many numbers a step keeps for its way back, weights not counted.

    Of each token in a packed row: every projection, the stream behind every addition and norm, the
    hidden units, and attention's weights; all of it twice, before and after dropout.
    """
    d, h, pairs = recipe.d_model, recipe.num_heads, (recipe.batch + 1) // 2
    source = recipe.min_length + recipe.max_length
    target = source + 2
    encoder = source * (8 * d + recipe.d_ff + h * source)
    decoder = target * (8 * d + recipe.d_ff + h * target)
    if recipe.cross_attention:
        decoder += target * (4 * d + h * source) + 2 * d * source
    return 2 * pairs * recipe.num_layers * (encoder + decoder)


def check_size(recipe: "Recipe") -> None:
    """Raises ValueError naming what is too much, how much it is, and what is allowed."""
    per_step = recipe.batch * recipe.max_length
    if per_step > MOST_LETTERS_PER_STEP:
        raise ValueError(
            f"A batch of {recipe.batch} strings of up to {recipe.max_length} letters is "
            f"{per_step:,} letters per step; {MOST_LETTERS_PER_STEP:,} is the most allowed."
        )
    if per_step * recipe.steps > MOST_LETTERS_IN_ALL:
        raise ValueError(
            f"{recipe.steps:,} steps of {per_step:,} letters is more than the "
            f"{MOST_LETTERS_IN_ALL:,} letters a run may read: use fewer steps."
        )
    kept = numbers_kept(recipe)
    if kept > MOST_NUMBERS_KEPT:
        raise ValueError(
            f"A step of this recipe keeps about {kept / 1e6:,.0f} million numbers in memory; "
            f"{MOST_NUMBERS_KEPT / 1e6:,.0f} million is the most allowed: choose a smaller batch, "
            "shorter strings, a smaller width or fewer layers."
        )
