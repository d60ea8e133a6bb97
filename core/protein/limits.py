"""What a model's answer about a chain is worth, in sentences: it depends on what it learned from.

In: a chain and a model's name. Out: sentences to show beside the chain's own notes.
"""

from core.protein.cards import TRB_MINI
from core.protein.chain import Chain
from core.protein.germline import NO_LEADER


def limits(chain: Chain, model_name: str) -> tuple[str, ...]:
    """All that is to be said about this model on this chain."""
    sentences = (leader_note(chain, model_name), foreign_warning(chain, model_name))
    return tuple(sentence for sentence in sentences if sentence)


def leader_note(chain: Chain, model_name: str) -> str:
    """What a missing leader means for the model; "" when it is not missing."""
    if NO_LEADER not in chain.notes:
        return ""
    if model_name == TRB_MINI.name:
        return "Most of the chains that TRB-mini learned from start there too."
    return "ESM-2 saw whole proteins and expects M at position 1, so its guess there means little."


def foreign_warning(chain: Chain, model_name: str) -> str:
    """A warning when the model saw nothing like this chain, else ""."""
    if model_name != TRB_MINI.name:
        return ""
    if not (chain.v_gene or "").startswith("TRBV"):
        why = "no TRBV gene was found in this one"
    elif chain.species != "homosapiens":
        why = "this one is of another species"
    else:
        return ""
    return f"TRB-mini knows human beta chains only, and {why}: what it says here means little."
