"""Which column of a receptor table means what: AIRR, VDJdb, 10x and plain names.

In: a header. Out: a Layout that finds V, J, CDR3 and the rest in a row. Knows no biology.
"""

import csv
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
            # After the plain names those of MiXCR, Adaptive, VDJtools, and of pairs: VDJdb's full
            # export, McPAS-TCR, tcrdist.
            "v": (
                "v", "v_gene", "v_call", "trbv", "v gene", "allvhitswithscore", "vgenename",
                "v.beta", "v_b_gene",
            ),
            "j": (
                "j", "j_gene", "j_call", "trbj", "j gene", "alljhitswithscore", "jgenename",
                "j.beta", "j_b_gene",
            ),
            "junction": (
                "cdr3", "junction", "junction_aa", "cdr3b", "cdr3_aa", "aaseqcdr3", "amino_acid",
                "aminoacid", "cdr3aa", "cdr3.beta", "cdr3.beta.aa", "cdr3_b_aa",
            ),
            "sequence": ("chain", "sequence", "sequence_aa", "seq"),
            "productive": ("productive",),
            "name": ("name", "id", "sequence_id", "receptor"),
            "species": ("species", "organism"),
        },
    ),
)  # fmt: skip
_ALPHA = {
    "v": ("v.alpha", "v_a_gene", "trav"),
    "j": ("j.alpha", "j_a_gene", "traj"),
    "junction": ("cdr3.alpha", "cdr3_a_aa", "cdr3.alpha.aa", "cdr3a"),
    "species": ("species", "organism"),
}
_EMPTY = {"", "none", "na", "nan", "null", "-"}


@dataclass(frozen=True)
class Layout:
    """The format, its header, and for each meaning the indices of its columns.

    `partner` finds the alpha chain in a table that has both chains of a receptor in a row.
    """

    format: str
    header: tuple[str, ...]
    columns: dict[str, tuple[int, ...]]
    partner: "Layout | None" = None

    def chains(self, row: list[str]) -> list["Layout"]:
        """Where this row holds a chain: at least one place, so that an empty row gets its error."""
        if self.partner is None or not value(self.partner, row, "junction"):
            return [self]
        return [self, self.partner] if value(self, row, "junction") else [self.partner]


def recognise_columns(header: list[str]) -> Layout | None:
    """The layout of a table with this header; None when its names say nothing."""
    title = tuple(name.strip().strip("\ufeff") for name in header)
    names = [name.lower() for name in title]
    for kind, signs, meanings in _FORMATS:
        if not all(sign in names for sign in signs):
            continue
        columns = _places(names, meanings)
        if columns.get("sequence") or _whole(columns):
            alpha = _places(names, _ALPHA) if kind == "columns" else {}
            partner = Layout(kind, title, alpha) if _whole(alpha) else None
            return Layout("pairs" if partner else kind, title, columns, partner)
    return None


def lacking(header: list[str]) -> list[str]:
    """What a header with a CDR3 column has no column for; empty where it has no CDR3 either."""
    columns = _places([name.strip().lower() for name in header], _FORMATS[-1][2])
    if not columns["junction"]:
        return []
    return [what for what, key in (("V gene", "v"), ("J gene", "j")) if not columns[key]]


def _places(names: list[str], meanings: dict[str, tuple[str, ...]]) -> dict[str, tuple[int, ...]]:
    return {
        meaning: tuple(names.index(name) for name in wanted if name in names)
        for meaning, wanted in meanings.items()
    }


def _whole(columns: dict[str, tuple[int, ...]]) -> bool:
    cdr3 = columns.get("junction") or columns.get("inner")
    return bool(columns.get("v") and columns.get("j") and cdr3)


def cells(line: str, delimiter: str | None) -> list[str]:
    """The cells of one line; without a delimiter its words.

    Lines are read alone: a lost quotation mark costs its own row only.
    """
    if delimiter is None:
        return line.split()
    return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])


def value(layout: Layout, row: list[str], meaning: str) -> str:
    """The first cell of this meaning that is not empty (None, NA, nan count as empty)."""
    for index in layout.columns.get(meaning, ()):
        if index < len(row) and row[index].strip().lower() not in _EMPTY:
            return row[index].strip()
    return ""
