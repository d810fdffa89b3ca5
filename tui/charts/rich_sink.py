"""A grid in colour: as a Rich text, or as escape sequences for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui.charts.grid import Grid, runs
from tui.charts.palette import ansi_code, style_name

if TYPE_CHECKING:
    from rich.text import Text


def to_text(grid: Grid) -> Text:
    """The grid as a `rich.text.Text` that is neither wrapped nor shortened."""
    from rich.text import Text

    text = Text(no_wrap=True, overflow="crop", end="")
    for row in range(grid.height):
        if row:
            text.append("\n")
        for words, style in runs(grid, row):
            text.append(words, style_name(style))
    return text


def ansi(grid: Grid) -> str:
    """The grid as `plain` gives it, coloured by SGR escape sequences; every row ends in default colours."""
    return "\n".join("".join(_coloured(grid, row)) for row in range(grid.height))


def _coloured(grid: Grid, row: int) -> Iterator[str]:
    for words, style in runs(grid, row):
        code = ansi_code(style)
        yield f"\x1b[{code}m{words}\x1b[0m" if code else words
