"""A chart before it is shown: one glyph and one style a cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tui.terminal.printable import printable

PLAIN = -1
"""No style. Styles 0, 1, ... are clusters or series in their order."""
MARKER = 100
"""What separates or stands out: split lines, an overridden decision."""
LABEL = 101
"""Words and numbers."""
AXIS = 102
"""Lines that only carry the chart: axes, tree branches."""
PROPOSED = 103
"""A threshold that is proposed, not decided."""
HEADING = 104
"""The names of columns."""
SELECTED = 105
"""What the cursor is on."""

GlyphArray = npt.NDArray[np.str_]
StyleArray = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Grid:
    """A drawn chart.

    Attributes
    ----------
    glyph : (height, width) '<U1' array, one glyph of one cell each.
    style : (height, width) int8 array: `PLAIN`, a cluster or series from 0 on, or a named style.
    """

    glyph: GlyphArray
    style: StyleArray

    @property
    def height(self) -> int:
        """Rows."""
        return int(self.glyph.shape[0])

    @property
    def width(self) -> int:
        """Cells in a row."""
        return int(self.glyph.shape[1])


def blank(width: int, height: int) -> Grid:
    """An empty grid, to be drawn on with `put`; a negative size counts as 0."""
    shape = (max(height, 0), max(width, 0))
    return Grid(np.full(shape, " ", dtype="<U1"), np.full(shape, PLAIN, dtype=np.int8))


def put(grid: Grid, row: int, column: int, text: str, style: int = LABEL) -> None:
    """Write `text` into a row of a grid under construction; what lies outside the grid is cut off."""
    if not 0 <= row < grid.height:
        return
    first = max(column, 0)
    last = min(column + len(text), grid.width)
    if first < last:
        grid.glyph[row, first:last] = list(text[first - column : last - column])
        grid.style[row, first:last] = style


def stack(grids: Sequence[Grid]) -> Grid:
    """The grids one below the other, narrower ones filled with blanks on the right."""
    result = blank(max((grid.width for grid in grids), default=0), sum(grid.height for grid in grids))
    top = 0
    for grid in grids:
        copy(grid, result, top, 0)
        top += grid.height
    return result


def copy(source: Grid, target: Grid, top: int, left: int) -> None:
    """Draw all of `source` on a grid under construction that has room for it there."""
    rows, columns = slice(top, top + source.height), slice(left, left + source.width)
    target.glyph[rows, columns] = source.glyph
    target.style[rows, columns] = source.style


def runs(grid: Grid, row: int) -> Iterator[tuple[str, int]]:
    """The (text, style) runs of equal style in a row, without the blanks at its end."""
    written = np.flatnonzero(grid.glyph[row] != " ")
    end = int(written[-1]) + 1 if written.size else 0
    glyphs, styles = grid.glyph[row, :end], grid.style[row, :end]
    starts = [0, *(np.flatnonzero(np.diff(styles)) + 1).tolist(), end] if end else []
    for first, last in pairwise(starts):
        yield "".join(glyphs[first:last].tolist()), int(styles[first])


def fitted(text: str, width: int, *, ascii_only: bool) -> str:
    """`text` in at most `width` cells, all of it printable; a shortened one ends in a mark that says so."""
    text = printable(text, ascii_only=ascii_only)
    if len(text) <= width:
        return text
    mark = "..." if ascii_only else "\N{HORIZONTAL ELLIPSIS}"
    return text[: width - len(mark)] + mark if width > len(mark) else text[: max(width, 0)]
