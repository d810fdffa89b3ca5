"""A kernel group's histogram below its key, as `histogram` prints it and view 1 copies it."""

from __future__ import annotations

from sampling.plan.study import Study
from tui.charts.grid import Grid
from tui.charts.histogram import histogram
from tui.charts.sinks import ansi, plain
from tui.output.writer import Canvas
from tui.terminal.tables import shortened
from tui.text import facts


def group_histogram(
    study: Study, group: int, width: int, height: int, *, log: bool, ascii_only: bool
) -> Grid:
    """Return the histogram of a kernel group, its strata as clusters."""
    durations_ns, launches = study.counts.group_pairs(group)
    clusters = facts.clusters_of_group(study, group)
    return histogram(durations_ns, launches, clusters, width, height, log=log, ascii_only=ascii_only)


def histogram_text(study: Study, group: int, canvas: Canvas, height: int, *, log: bool) -> str:
    """Return the group's rank and key in one line, below it its histogram, all as wide as the canvas."""
    key = shortened(
        f"#{group + 1} {study.counts.groups[group].key}", canvas.width, ascii_only=canvas.ascii_only
    )
    grid = group_histogram(study, group, canvas.width, height, log=log, ascii_only=canvas.ascii_only)
    return f"{key}\n{ansi(grid) if canvas.color else plain(grid)}"
