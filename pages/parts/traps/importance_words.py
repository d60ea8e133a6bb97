"""Names, meanings and snippets of the importance experiment, and what is said of a result."""

import numpy as np

from core.traps.ranking import Importance
from core.written import typeset

TOY, REVERSE, PROTEIN = "Toy", "Reverse model", "TRB-mini"
ALL_HEADS = "Mean of all heads"
CODE = {
    TOY: """\
from core.traps.importance_toy import toy_importance

result = toy_importance({sequence!r})
""",
    REVERSE: """\
from pathlib import Path
from core.alphabet import Vocabulary
from core.training.checkpoint import load_model
from core.traps.importance_reverse import reverse_importance

model, recipe = load_model(Path({file!r}))
result = reverse_importance(model, {sequence!r}, Vocabulary(recipe.letters))
""",
    PROTEIN: """\
from core.protein.weights import load
from core.traps.importance_protein import protein_importance

result = protein_importance(load("trb-mini"), {sequence!r}, hidden={hidden})
""",
}
MEANING = {
    TOY: "Effect: how far the other residues' outputs move, on average, when nobody may "
    "look at this one. Attention: from the other residues, not from itself.",
    REVERSE: "Effect: by how many nats the reversed string becomes less likely "
    "when nobody may look at this letter. Attention: cross-attention, mean over what is written.",
    PROTEIN: "Effect: share of the guess's probability that moves when this residue "
    "is hidden too. Attention: from the hidden place. The CDR3 stands between TRBV19 and TRBJ2-7.",
}
PRINT = """\
print(result.correlation({head}))
for row in zip(result.names, result.received({head}), result.effect):
    print(*row)
"""


def agreement(result: Importance, head: int | None) -> str:
    """The rank correlation; for the mean of all heads, also its range over single heads."""
    rho, each = result.correlation(head), result.head_correlations()
    if np.isnan(rho):
        return "cannot be ranked"
    if head is not None or np.isnan(each).all():
        return f"ρ = {signed(rho)}"
    return f"ρ = {signed(rho)} for the mean, {spread(each)} by head"


def signed(rho: float) -> str:
    """A correlation with its sign."""
    return typeset(rho, "+.2f")


def spread(each: np.ndarray) -> str:
    """From the lowest to the highest correlation that could be computed."""
    return f"{signed(np.nanmin(each))} to {signed(np.nanmax(each))}"


def summary(result: Importance) -> dict[str, object]:
    """A line of the table that compares the three models."""
    each = result.head_correlations()
    known = each[~np.isnan(each)]
    return {
        "Model": result.model,
        "Most attended": result.names[int(np.argmax(result.received()))],
        "Matters most": result.names[int(np.argmax(result.effect))],
        "ρ, mean of heads": signed(result.correlation()) if len(known) else "",
        "ρ, by head": spread(known) if len(known) else "",
        "Heads pointing the wrong way": f"{(known < 0).sum()} of {len(known)}",
    }
