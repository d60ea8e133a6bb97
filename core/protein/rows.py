"""One row of a receptor table as a chain: from V, CDR3 and J, or from its own sequence.

In: a row and the layout of its table. Out: a Chain whose notes say what was assumed, or a
ReceptorError saying what is missing. Knows nothing of files.
"""

from dataclasses import dataclass, replace

from core.protein.chain import Chain
from core.protein.columns import Layout, value
from core.protein.genes import ReceptorError, species_name
from core.protein.germline import assemble
from core.protein.recognise import from_sequence

_FALSE = {"f", "false", "no", "0", "n"}
_NOT_ITS_OWN = "The chain is put together from V, CDR3 and J; the row's own sequence was not used."


@dataclass(frozen=True)
class Reading:
    """How to read: may a missing C104 and F118 or W118 be added, and whose genes are they.

    `species` is for records that name none. Raises ReceptorError when it is not known here.
    """

    complete: bool = False
    species: str = "human"

    def __post_init__(self) -> None:
        species_name(self.species)


PLAIN = Reading()


def chain_of_row(layout: Layout, row: list[str], name: str, how: Reading) -> Chain:
    """The chain of a row; raises ReceptorError or SequenceError when it has none."""
    if value(layout, row, "productive").lower() in _FALSE:
        raise ReceptorError("Not productive: this rearrangement makes no receptor.")
    species = species_name(value(layout, row, "species") or how.species)
    sequence = value(layout, row, "sequence")
    v, j = value(layout, row, "v"), value(layout, row, "j")
    junction, inner = value(layout, row, "junction"), value(layout, row, "inner")
    if (junction or inner) and v and j:
        # AIRR defines cdr3_aa without its anchors, so adding them is reading, and still said.
        complete = how.complete or not junction
        made = assemble(v, junction or inner, j, species=species, complete=complete, name=name)
        return replace(made, notes=(*made.notes, _NOT_ITS_OWN)) if sequence else made
    if sequence:
        return _without_gaps(sequence, name, species)
    missing = [what for what, there in (("V gene", v), ("CDR3", junction or inner), ("J gene", j))
               if not there]  # fmt: skip
    raise ReceptorError(f"No {' and no '.join(missing)} in this row, and no whole chain either.")


def _without_gaps(sequence: str, name: str, species: str) -> Chain:
    gaps = sum(sequence.count(gap) for gap in ".-")
    made = from_sequence(sequence.translate({46: None, 45: None}), name=name, species=species)
    if gaps:
        return replace(made, notes=(f"{gaps} gaps (. or -) were left out.", *made.notes))
    return made
