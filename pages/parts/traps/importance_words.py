"""Names, meanings and snippets of the importance experiment."""

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
    "look at this one.",
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
