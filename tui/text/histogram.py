"""A kernel group's histogram, as `histogram` answers it in every format and view 1 copies it."""

from __future__ import annotations

from typing import Any

from sampling.plan.study import Study
from tui.charts import quantities
from tui.charts.grid import Grid, blank, stack
from tui.charts.histogram import LEFT, histogram
from tui.charts.histogram_data import HistogramData
from tui.charts.sinks import ansi, plain
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.tables import Column
from tui.text import facts
from tui.text.group_strata import strata_grid
from tui.text.labels.rows import group_title


def group_histogram(
    study: Study, group: int, width: int, height: int, *, log: bool, ascii_only: bool
) -> Grid:
    """Return the histogram of a kernel group, its strata as clusters; a table of them where it has room."""
    durations_ns, launches = study.counts.group_pairs(group)
    clusters = facts.clusters_of_group(study, group)
    words = None
    # At most a third of the rows, with the headings and a blank row above.
    if len(clusters) + 2 <= height // 3:
        listed = strata_grid(study, group, width - LEFT, ascii_only=ascii_only)
        words = listed and stack([blank(width - LEFT, 1), listed])
    return histogram(
        durations_ns, launches, clusters, width, height, log=log, ascii_only=ascii_only, words=words
    )


def histogram_text(study: Study, group: int, canvas: Canvas, height: int, *, log: bool) -> str:
    """Return the group's rank and key in one line, below it its histogram, all as wide as the canvas.

    A key that is too long for the line is replaced by its label.
    """
    groups = study.counts.groups
    key = group_title(f"#{group + 1}", groups, group, canvas.width, ascii_only=canvas.ascii_only)
    grid = group_histogram(study, group, canvas.width, height, log=log, ascii_only=canvas.ascii_only)
    return f"{key}\n{ansi(grid) if canvas.color else plain(grid)}"


def histogram_blocks(study: Study, group: int, data: HistogramData) -> list[Block]:
    """Return the group's rank and key, and its bins."""
    low, high = data.edges_ns[:-1].tolist(), data.edges_ns[1:].tolist()
    columns = [
        Column("durations", [quantities.duration_range(*edges) for edges in zip(low, high, strict=True)]),
        Column("launches", [quantities.count(count) for count in data.counts.tolist()]),
    ]
    for number, counts in enumerate(data.cluster_counts if len(data.cluster_counts) > 1 else ()):
        columns.append(Column(f"cluster {number}", [quantities.count(count) for count in counts.tolist()]))
    return [facts.group_columns(f"#{group + 1}", study.counts.groups[group].key), columns]


def histogram_results(
    study: Study, group: int, clusters: list[tuple[int, int]], data: HistogramData
) -> dict[str, Any]:
    """Return the bins and clusters of a kernel group as the contract's `histogram` has them."""
    return {
        "key": study.counts.groups[group].key,
        "rank": group + 1,
        "edges_ns": data.edges_ns.tolist(),
        "counts": data.counts.tolist(),
        "clusters": [
            {"low_ns": low, "high_ns": high, "launches": int(counts.sum()), "counts": counts.tolist()}
            for (low, high), counts in zip(clusters, data.cluster_counts, strict=True)
        ],
    }


def histogram_rows(clusters: list[tuple[int, int]], data: HistogramData) -> list[dict[str, Any]]:
    """Return a row a bin, with the launches of each cluster."""
    return [
        {
            "low_ns": int(data.edges_ns[index]),
            "high_ns": int(data.edges_ns[index + 1]),
            "count": int(data.counts[index]),
            **{
                f"cluster_{number}": int(data.cluster_counts[number, index])
                for number in range(len(clusters))
            },
        }
        for index in range(len(data.counts))
    ]
