"""A chart before it is shown: one glyph and one style a cell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tui.terminal.printable import beginning, cell_width, is_ascii, printable

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

SMALLEST_WIDTH = 20
"""The columns that a chart with axes needs."""

GlyphArray = npt.NDArray[np.str_]
StyleArray = npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Grid:
    """A drawn chart."""

    #: (height, width) '<U1' array, a glyph a cell; "" in the second cell of a letter that takes two.
    glyph: GlyphArray
    #: (height, width) int8 array: `PLAIN`, a cluster or series from 0 on, or a named style.
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
    """Write `text` into a row of a grid under construction; what lies outside the grid is cut off.

    Of a letter of two cells that is cut off or drawn over by half a blank is left.
    """
    if not 0 <= row < grid.height:
        return
    glyphs = list(text) if text.isascii() else [glyph for letter in text for glyph in _cells(letter)]
    first = max(column, 0)
    last = min(column + len(glyphs), grid.width)
    if first < last:
        is_cut = glyphs[last - column :][:1] == [""]
        visible = glyphs[first - column : last - column - is_cut] + [" "] * is_cut
        for edge in (first, last):
            if edge < grid.width and not grid.glyph[row, edge]:
                grid.glyph[row, edge - 1 : edge + 1] = " "
        grid.glyph[row, first:last] = [visible[0] or " ", *visible[1:]]
        grid.style[row, first:last] = style


def _cells(letter: str) -> tuple[str, ...]:
    """What stands in the cells of a letter: of one that has no width nothing."""
    return (letter, "")[: cell_width(letter)]


def copy(source: Grid, target: Grid, top: int, left: int) -> None:
    """Draw all of `source` on a grid under construction that has room for it there."""
    rows, columns = slice(top, top + source.height), slice(left, left + source.width)
    target.glyph[rows, columns] = source.glyph
    target.style[rows, columns] = source.style


def runs(grid: Grid, row: int) -> Iterator[tuple[str, int]]:
    """The (text, style) runs of equal style in a row, without the blanks at its end."""
    columns = np.flatnonzero(grid.glyph[row] != " ")
    end = int(columns[-1]) + 1 if columns.size else 0
    glyphs, styles = grid.glyph[row, :end], grid.style[row, :end]
    starts = [0, *(np.flatnonzero(np.diff(styles)) + 1).tolist(), end] if end else []
    for first, last in pairwise(starts):
        yield "".join(glyphs[first:last].tolist()), int(styles[first])


def fitted(text: str, width: int) -> str:
    """`text` in at most `width` cells, all of it printable; a shortened one ends in a mark that says so."""
    text = printable(text)
    if cell_width(text) <= width:
        return text
    mark = "..." if is_ascii() else "\N{HORIZONTAL ELLIPSIS}"
    return beginning(text, width - len(mark)) + mark if width > len(mark) else beginning(text, width)


def lines(rows: Sequence[str], width: int, height: int) -> Grid:
    """Rows of words: what stands for a chart that has nothing to show, or no room for axes."""
    grid = blank(width, height)
    for row, text in enumerate(rows):
        put(grid, row, 0, fitted(text, grid.width), LABEL)
    return grid


def too_small(width: int, height: int, least_height: int = 4) -> Grid | None:
    """The sentence that stands for a chart without room for axes; None where there is room."""
    if width >= SMALLEST_WIDTH and height >= least_height:
        return None
    return lines([f"needs {SMALLEST_WIDTH}x{least_height} cells"], width, height)


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ASCII_FILLS = "#o*x+%@=&$~^" + "ABCDEFGHIJKLMNPQRSTUVWYZ"


@dataclass(frozen=True, slots=True)
class GlyphSet:
    """One glyph for each part of a chart; `levels` are the partial heights of a bar's top cell, ascending."""

    levels: str
    shades: str
    vertical: str
    horizontal: str
    roof: str
    corner: str
    tick_left: str
    tick_down: str
    split: str
    split_foot: str
    proposed: str
    proposed_foot: str
    gap: str
    branch: str
    last_branch: str
    trunk: str


# In Unicode, and in ASCII.
_GLYPHS = {
    "levels": ("▁▂▃▄▅▆▇█", ""),
    "shades": ("▁▂▃▄▅▆▇█", ".:-=+*#@"),
    "vertical": ("│", "|"),
    "horizontal": ("─", "-"),
    "roof": ("═", "="),
    "corner": ("└", "+"),
    "tick_left": ("┤", "+"),
    "tick_down": ("┬", "+"),
    "split": ("│", "|"),
    "split_foot": ("┴", "|"),
    "proposed": ("┊", ":"),
    "proposed_foot": ("┴", ":"),
    "gap": ("╌", " "),
    "branch": ("├─ ", "|- "),
    "last_branch": ("└─ ", "`- "),
    "trunk": ("│  ", "|  "),
}
UNICODE, ASCII = (GlyphSet(**{part: pair[place] for part, pair in _GLYPHS.items()}) for place in (0, 1))


def glyph_set() -> GlyphSet:
    """The glyphs to draw with."""
    return ASCII if is_ascii() else UNICODE


def cluster_symbol(cluster: int) -> str:
    """A cluster's one-cell name, the same in every chart: a letter, or in ASCII what its bars are made of."""
    symbols = ASCII_FILLS if is_ascii() else LETTERS
    return symbols[cluster % len(symbols)]


def cluster_style(cluster: int) -> int:
    """The grid style of a cluster; they repeat after a hundred."""
    return cluster % MARKER


_EIGHTHS = "▏▎▍▌▋▊▉█"


def bar(share: float, cells: int) -> str:
    """A bar of at most `cells` cells, to an eighth of a cell; in ASCII to a whole one.

    `share`: of the cells, from 0 to 1; what lies beyond or is no number counts as the nearer end, or as 0.
    """
    if not share > 0 or cells <= 0:
        return ""
    share = min(share, 1.0)
    if is_ascii():
        return "#" * round(share * cells)
    eighths = math.floor(share * cells * len(_EIGHTHS) + 0.5)
    full, part = divmod(eighths, len(_EIGHTHS))
    return _EIGHTHS[-1] * full + (_EIGHTHS[part - 1] if part else "")


def sparkline(counts: npt.ArrayLike, width: int) -> str:
    """At most `width` glyphs, one a count, higher for more; a blank for none.

    `counts`: (n,) array, >= 0. More than `width` are joined by their maximum, so that no spike is lost.
    """
    values = np.asarray(counts, dtype=np.float64)
    if width <= 0 or values.size == 0:
        return ""
    if values.size > width:
        values = np.maximum.reduceat(values, np.arange(width) * values.size // width)
    shades = glyph_set().shades
    maximum = values.max()
    if maximum <= 0:
        return " " * values.size
    level = np.ceil(values / maximum * len(shades)).astype(int)
    return "".join((" " + shades)[step] for step in level.tolist())


# Neighbours in this order differ in hue and in lightness, also for colour-blind eyes.
CLUSTER_COLOURS = (
    ("cyan", "36"),
    ("yellow", "33"),
    ("magenta", "35"),
    ("green", "32"),
    ("blue", "34"),
    ("red", "31"),
)
# In Rich's and Textual's words, and as the parameter of an SGR escape sequence.
_NAMED = {
    MARKER: ("bold", "1"),
    AXIS: ("dim", "2"),
    PROPOSED: ("bold red", "1;31"),
    HEADING: ("bold", "1"),
    SELECTED: ("reverse", "7"),
}


def _style_looks(style: int) -> tuple[str, str]:
    if 0 <= style < MARKER:
        return CLUSTER_COLOURS[style % len(CLUSTER_COLOURS)]
    return _NAMED.get(style, ("", ""))


def style_name(style: int) -> str:
    """The style in Rich's and Textual's words, empty where it is the terminal's default."""
    return _style_looks(style)[0]


def ansi_code(style: int) -> str:
    """The style as the parameter of an SGR escape sequence, empty where it is the terminal's default."""
    return _style_looks(style)[1]


def plain(grid: Grid) -> str:
    """The rows of `grid`, without blanks at their ends, joined by newlines; no newline at the end."""
    return "\n".join("".join(row).rstrip() for row in grid.glyph.tolist())


def ansi(grid: Grid) -> str:
    """The grid as `plain` gives it, coloured by SGR escape sequences; every row ends in default colours."""
    rows = []
    for row in range(grid.height):
        coded = ((words, ansi_code(style)) for words, style in runs(grid, row))
        rows.append("".join(f"\x1b[{code}m{words}\x1b[0m" if code else words for words, code in coded))
    return "\n".join(rows)
