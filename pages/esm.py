"""Hide a residue and let a protein language model guess it. The sections live in parts/esm."""

from core.protein.chain import Chain
from pages.parts.esm.guess import guess_section
from pages.parts.esm.receptor import notes_of, receptor_and_model
from pages.parts.esm.weights import await_model, ready
from pages.parts.esm.words import MODEL_LABELS
from pages.parts.frame import open_page
from pages.parts.links import say_what_is_damaged, whole_number


def further(chain: Chain, model_name: str) -> None:
    """The sections below, which the first answer does not wait for."""
    if not ready():
        await_model(model_name)
        return
    from pages.parts.esm.further import look_further

    look_further(chain, model_name)


open_page("esm", "Click a letter of the chain: the bars say what the model expects there.")
say_what_is_damaged(
    {
        "e_model": ("model", lambda text: text in MODEL_LABELS.values()),
        "e_vote": ("vote", lambda text: text in {"true", "false"}),
    }
)
chain, model_name = receptor_and_model()
say_what_is_damaged({"e_at": ("residue", whole_number(1, len(chain)))})
guess_section(chain, model_name)
notes_of(chain, model_name)
further(chain, model_name)
