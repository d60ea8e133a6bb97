"""Names, meanings and snippets of the importance experiment, and what is said of a result."""

import numpy as np

from core.traps.ranking import Importance

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
        return f"ρ = {rho:+.2f}"
    return f"ρ = {rho:+.2f} for the mean, {np.nanmin(each):+.2f} to {np.nanmax(each):+.2f} by head"


def summary(result: Importance) -> dict[str, object]:
    """A line of the table that compares the three models."""
    each = result.head_correlations()
    known = each[~np.isnan(each)]
    return {
        "Model": result.model,
        "Most attended": result.names[int(np.argmax(result.received()))],
        "Matters most": result.names[int(np.argmax(result.effect))],
        "ρ, mean of heads": round(result.correlation(), 2),
        "ρ, worst head": round(float(known.min()), 2) if len(known) else None,
        "ρ, best head": round(float(known.max()), 2) if len(known) else None,
        "Heads that point the wrong way": f"{(known < 0).sum()} of {len(known)}",
    }
