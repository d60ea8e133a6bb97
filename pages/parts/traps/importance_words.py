"""Names, meanings and snippets of the importance experiment."""

TOY, REVERSE, PROTEIN = "Toy", "Reverse model", "TRB-mini"
ALL_HEADS = "Mean of all heads"
CODE = {
    TOY: """\
from core.traps.importance_toy import toy_importance

result = toy_importance({sequence!r})
""",
    REVERSE: """\
from core.settings import ASSETS
from core.training.checkpoint import load_model
from core.traps.importance_reverse import reverse_importance

model, recipe = load_model(ASSETS / "recorded_paper_run.pt")
result = reverse_importance(model, {sequence!r})
""",
    PROTEIN: """\
from core.protein.weights import load
from core.traps.importance_protein import protein_importance

result = protein_importance(load("trb-mini"), {sequence!r}, hidden={hidden})
""",
}
MEANING = {
    "Toy model": "Effect: how far the other residues' outputs move, on average, when nobody may "
    "look at this one.",
    "Trained reverse model": "Effect: by how many nats the reversed string becomes less likely "
    "when nobody may look at this letter. Attention: cross-attention, mean over what is written.",
    "TRB-mini, not ESM-2": "Effect: share of the guess's probability that moves when this residue "
    "is hidden too. Attention: from the hidden place. The CDR3 stands between TRBV19 and TRBJ2-7.",
}
PRINT = """\
print(result.correlation({head}))
for row in zip(result.names, result.received({head}), result.effect):
    print(*row)
"""
