"""Which column of a receptor table means what: AIRR, VDJdb, 10x and plain names.

In: a header. Out: a Layout that finds V, J, CDR3 and the rest in a row. Knows no biology.
"""

from dataclasses import dataclass

# For each format: the columns that give it away, then meaning -> names in order of preference.
# "junction" counts C104 and F118; "inner" is the same stretch without them.
_FORMATS: tuple[tuple[str, tuple[str, ...], dict[str, tuple[str, ...]]], ...] = (
    (
        "AIRR",
        ("v_call", "j_call"),
        {
            "v": ("v_call",),
            "j": ("j_call",),
            "junction": ("junction_aa",),
            "inner": ("cdr3_aa",),
            "sequence": ("sequence_aa", "sequence_alignment_aa"),
            "productive": ("productive",),
            "name": ("sequence_id", "clone_id", "cell_id"),
            "species": ("species",),
        },
    ),
    (
        "VDJdb",
        ("v.segm", "j.segm", "cdr3"),
        {
            "v": ("v.segm",),
            "j": ("j.segm",),
            "junction": ("cdr3",),
            "species": ("species",),
            "name": (),
        },
    ),
    (
        "VDJdb",
        ("v", "j", "cdr3", "epitope"),
        {
            "v": ("v",),
            "j": ("j",),
            "junction": ("cdr3",),
            "species": ("species",),
            "name": (),
        },
    ),
    (
        "10x",
        ("v_gene", "j_gene", "cdr3"),
        {
            "v": ("v_gene",),
            "j": ("j_gene",),
            "junction": ("cdr3",),
            "productive": ("productive",),
            "name": ("contig_id", "barcode"),
        },
    ),
    (
        "columns",
        (),
        {
            "v": ("v", "v_gene", "v_call", "trbv", "v gene"),
            "j": ("j", "j_gene", "j_call", "trbj", "j gene"),
            "junction": ("cdr3", "junction", "junction_aa", "cdr3b", "cdr3_aa"),
            "sequence": ("chain", "sequence", "sequence_aa", "seq"),
            "productive": ("productive",),
            "name": ("name", "id", "sequence_id", "receptor"),
            "species": ("species", "organism"),
        },
    ),
)
_EMPTY = {"", "none", "na", "nan", "null", "-"}


@dataclass(frozen=True)
class Layout:
    """The format, its header, and for each meaning the indices of its columns."""

    format: str
    header: tuple[str, ...]
    columns: dict[str, tuple[int, ...]]


def recognise_columns(header: list[str]) -> Layout | None:
    """The layout of a table with this header; None when its names say nothing."""
    names = [name.strip().strip("\ufeff").lower() for name in header]
    for kind, signs, meanings in _FORMATS:
        if not all(sign in names for sign in signs):
            continue
        columns = {
            meaning: tuple(names.index(name) for name in wanted if name in names)
            for meaning, wanted in meanings.items()
        }
        if columns.get("sequence") or (
            columns["v"] and columns["j"] and (columns["junction"] or columns.get("inner"))
        ):
            return Layout(kind, tuple(name.strip() for name in header), columns)
    return None


def value(layout: Layout, row: list[str], meaning: str) -> str:
    """The first cell of this meaning that is not empty (None, NA, nan count as empty)."""
    for index in layout.columns.get(meaning, ()):
        if index < len(row) and row[index].strip().lower() not in _EMPTY:
            return row[index].strip()
    return ""
