"""What a model's answer about a chain is worth, in sentences: it depends on what it learned from.

In: a chain and a model's name. Out: sentences to show beside the chain's own notes.
"""

from core.protein.cards import TRB_MINI
from core.protein.chain import Chain
from core.protein.germline import NO_LEADER


def limits(chain: Chain, model_name: str) -> tuple[str, ...]:
    """All that is to be said about this model on this chain."""
    return (*notes_on_ends(chain, model_name), *filter(None, [foreign_warning(chain, model_name)]))


def notes_on_ends(chain: Chain, model_name: str) -> tuple[str, ...]:
    """What it means for the model that a chain starts late or goes on after J."""
    notes = (leader_note(chain, model_name), _tail_note(chain, model_name))
    return tuple(note for note in notes if note)


def _tail_note(chain: Chain, model_name: str) -> str:
    if model_name != TRB_MINI.name or chain.j_end is None:
        return ""
    return (
        f"All chains that TRB-mini learned from end with J, here at {chain.j_end}. The residues "
        "after it spoil its guesses in the CDR3 and J as well: cut the chain there."
    )


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
