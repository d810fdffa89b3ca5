"""A grid as text, plain or coloured by escape sequences; and the names of its styles for Textual."""

from __future__ import annotations

from collections.abc import Iterator

from tui.charts.grid import AXIS, HEADING, MARKER, PROPOSED, SELECTED, Grid, runs

# Neighbours in this order differ in hue and in lightness, also for colour-blind eyes.
CLUSTER_COLOURS = (("cyan", 36), ("yellow", 33), ("magenta", 35), ("green", 32), ("blue", 34), ("red", 31))

_NAMED = {
    MARKER: ("bold", "1"),
    AXIS: ("dim", "2"),
    PROPOSED: ("bold red", "1;31"),
    HEADING: ("bold", "1"),
    SELECTED: ("reverse", "7"),
}


def style_name(style: int) -> str:
    """The style in Rich's and Textual's words, empty where it is the terminal's default."""
    if 0 <= style < MARKER:
        return CLUSTER_COLOURS[style % len(CLUSTER_COLOURS)][0]
    return _NAMED[style][0] if style in _NAMED else ""


def ansi_code(style: int) -> str:
    """The style as the parameter of an SGR escape sequence, empty where it is the terminal's default."""
    if 0 <= style < MARKER:
        return str(CLUSTER_COLOURS[style % len(CLUSTER_COLOURS)][1])
    return _NAMED[style][1] if style in _NAMED else ""


def plain(grid: Grid) -> str:
    """The rows of `grid`, without blanks at their ends, joined by newlines; no newline at the end."""
    return "\n".join("".join(row).rstrip() for row in grid.glyph.tolist())


def ansi(grid: Grid) -> str:
    """The grid as `plain` gives it, coloured by SGR escape sequences; every row ends in default colours."""
    return "\n".join("".join(_coloured(grid, row)) for row in range(grid.height))


def _coloured(grid: Grid, row: int) -> Iterator[str]:
    for words, style in runs(grid, row):
        code = ansi_code(style)
        yield f"\x1b[{code}m{words}\x1b[0m" if code else words
