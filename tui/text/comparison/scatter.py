"""The comparison as a scatter a profile: mean error over speedup, a letter a method."""

from __future__ import annotations

from collections.abc import Sequence

from sampling.methods.registry import method_names
from tui.charts.glyphs import LETTERS, cluster_style
from tui.charts.grid import Grid
from tui.charts.scatter import Point, scatter
from tui.charts.sinks import ansi, plain
from tui.options.choices import OutputFormat
from tui.options.commands import CompareOptions
from tui.output.writer import Canvas
from tui.terminal.diagnostics import note
from tui.text.comparison.order import merged
from tui.text.comparison.rows import Row
from tui.text.comparison.table import by_profile, comparison_text

HEIGHT = 20
"""Rows of a scatter, where no others are asked for."""


def note_missing_in_scatter(rows: Sequence[Row], options: CompareOptions) -> None:
    """Say which methods do not apply, where a scatter is all that is shown."""
    if options.scatter and options.format is OutputFormat.TABLE:
        missing = dict.fromkeys(row["method"] for row in rows if not row["applicable"])
        if missing:
            note(f"not applicable, so not in the chart: {', '.join(missing)}", quiet=options.quiet)


def scatter_text(rows: Sequence[Row], canvas: Canvas, width: int, height: int) -> str:
    """Return a scatter a profile; methods that do not apply are in none."""

    def drawn(of_profile: list[Row]) -> str:
        grid = comparison_scatter(of_profile, width, height, ascii_only=canvas.ascii_only)
        return ansi(grid) if canvas.color else plain(grid)

    return by_profile(rows, canvas, drawn)


def comparison_scatter(
    rows: Sequence[Row], width: int, height: int, *, ascii_only: bool, selected: str | None = None
) -> Grid:
    """Return the scatter of one profile's methods; a method has the same letter and colour in all of them.

    Parameters
    ----------
    selected : the method to mark, the first of those whose plan is the same.
    """
    there = merged([row for row in rows if row["applicable"]])
    points = [
        Point(each.label, *method_mark(each.methods[0]), each.row["speedup"], each.row["error_mean"])
        for each in there
        if each.row["speedup"] is not None and each.row["error_mean"] is not None
    ]
    selected = next((each.label for each in there if each.methods[0] == selected), None)
    return scatter(points, width, height, ascii_only=ascii_only, selected=selected)


def method_mark(method: str) -> tuple[str, int]:
    """Return a method's letter and its style, by its place among all methods."""
    place = method_names().index(method)
    return LETTERS[place % len(LETTERS)], cluster_style(place)


def table_or_scatter(rows: Sequence[Row], options: CompareOptions, canvas: Canvas) -> str:
    """Return what `compare` prints with these options."""
    if options.scatter:
        return scatter_text(rows, canvas, options.width or canvas.width, options.height or HEIGHT)
    return comparison_text(rows, options, canvas)
