"""What the pictures of the training page mean, with the numbers of the run that is shown."""

import streamlit as st

from core.alphabet import Vocabulary
from core.runs import published
from core.written import percent
from pages.parts.training.scene import Scene


def explained(scene: Scene) -> None:
    """A few sentences per picture; every number is computed or called published."""
    recipe, watched = scene.recipe, scene.watch.string
    floor, smoothed = scene.about.get("smoothing_floor"), recipe.label_smoothing
    vocabulary = len(Vocabulary(recipe.letters))
    st.markdown(
        f"**The task.** Random strings over {len(recipe.letters)} letters, {recipe.min_length} to "
        f"{recipe.max_length} long; the model must write each one backwards. "
        f"{_length_words(watched, recipe.min_length, recipe.max_length)}"
    )
    if floor is not None:
        st.markdown(
            f"**The dashed floor.** Label smoothing asks for {percent(1 - smoothed)} on "
            f"the right token and shares {percent(smoothed)} among all {vocabulary} "
            f"tokens. Even a perfect answer then costs {floor:.3f} nats per letter, so the loss "
            "levels off there and not at 0."
        )
    st.markdown(
        "**The maps.** Each tile is one head of one decoder layer: a row for each letter being "
        "written, a column for each letter of the source. To write backwards, the first row must "
        "look at the last column, so the bright cells turn into the diagonal that runs from top "
        "right to bottom left. The number is the weight there, averaged over the heads of the "
        f"last layer; published for the paper recipe: "
        f"{percent(published.ANTIDIAGONAL_OF_LAST_LAYER)}."
    )
    st.markdown(
        "**Exact.** Held-out strings are drawn afresh, and one counts only when every letter and "
        "the end are right. Letter by letter the share is higher, because one wrong letter spoils "
        "a whole string."
    )


def _length_words(watched: str, low: int, high: int) -> str:
    length = len(watched)
    if low <= length <= high:
        return (
            f"{watched} has {length} letters, and strings of {length} letters are among the "
            "training lengths: this shows that it learnt the task, not that it can go beyond it."
        )
    return (
        f"{watched} has {length} letters, and **no** training string is that long or short: what "
        "the model makes of it is extrapolation."
    )
