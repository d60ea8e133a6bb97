"""Where attention maps lie that share one pair of axes: heads two by two, or three in a row.

In: how many maps of how many residues. Out: cells and pixels.
"""

import math
from dataclasses import dataclass

_GAP = 1
_CELLS_UP_TO = 30
# What a map's letters and the title of the one below need.
_BETWEEN_PX = 36


@dataclass(frozen=True, eq=False)
class Strip:
    """Where the maps lie, `across` beside one another: map m's first cell is at its left, top.

    Rows of maps are further apart than columns, for the letters below and the titles above.
    """

    maps: int
    length: int
    across: int

    @property
    def width(self) -> int:
        return self.across * (self.length + _GAP) - _GAP

    @property
    def rows_between(self) -> int:
        """Rows of cells that letters and a title need the height of."""
        return math.ceil(_BETWEEN_PX * self.length / map_height(self.length))

    @property
    def height(self) -> int:
        return self.top(self.maps - 1) + self.length

    @property
    def by_cell(self) -> bool:
        """Whether each cell can be clicked; in a long sequence each row can, as a whole."""
        return self.length <= _CELLS_UP_TO

    def left(self, which: int) -> int:
        """x of the first column of map `which`."""
        return which % self.across * (self.length + _GAP)

    def top(self, which: int) -> int:
        """y of the first row of map `which`, counted downwards."""
        return which // self.across * (self.length + self.rows_between)

    def at(self, point: int) -> tuple[int, int, int | None]:
        """Map, row and column of the clickable point number `point`; no column for a row."""
        if not self.by_cell:
            return *divmod(point, self.length), None
        which, cell = divmod(point, self.length**2)
        return which, *divmod(cell, self.length)


def heads_strip(heads: int, length: int) -> Strip:
    """Where the maps of `head_maps` lie: two beside each other, so that a phone has room."""
    return Strip(heads, length, across=2)


def map_height(length: int) -> int:
    """Pixels of one map: rows stay readable, and the default sequence fits a small screen."""
    return max(min(182, 50 * length), 120 + 4 * length)
