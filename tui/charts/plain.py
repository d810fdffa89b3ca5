"""A grid as text without colour."""

from __future__ import annotations

from tui.charts.grid import Grid


def plain(grid: Grid) -> str:
    """The rows of `grid`, without blanks at their ends, joined by newlines; no newline at the end."""
    return "\n".join("".join(row).rstrip() for row in grid.glyph.tolist())
