"""A split tree as rows: one decision each, the branches drawn, the numbers in columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.charts import grid as cells
from tui.charts.grid import LABEL, MARKER, PLAIN, PROPOSED, Grid, cluster_style, cluster_symbol, fitted, put
from tui.charts.quantities import UNKNOWN, count, duration

if TYPE_CHECKING:
    from sampling.splitting.tree import SplitNode

_GAP = 2
_BRANCH = 3
_CURSOR = "> "
_NOTES = {"!": "! decided by the user", "?": "? proposed, decided on next"}


@dataclass(slots=True)
class _Row:
    """One row of the drawn tree; without a node it stands for `hidden` nodes below the row before."""

    branches: str
    node: SplitNode | None
    cluster: int | None = None
    hidden: int = 0
    is_proposed: bool = False

    @property
    def name(self) -> str:
        if self.node is None:
            return f"... {count(self.hidden)} node{'s' if self.hidden != 1 else ''} below"
        return self.node.path or "root"

    @property
    def marks(self) -> str:
        return "" if self.node is None else "!" * self.node.overridden + "?" * self.is_proposed

    def decision(self, room: int = 0) -> str:
        """The verdict; its reason too where there is room for all of it, or where no numbers stand for it."""
        node = self.node
        if node is None:
            return ""
        is_split = node.verdict == "split" and node.threshold_ns is not None
        verdict = f"split at {duration(node.threshold_ns)}" if is_split else str(node.verdict)
        verdict = f"{self.marks} {verdict}".lstrip()
        explained = f"{verdict}: {node.reason}"
        has_room = room and (len(explained) <= room or node.tau_new_ns is None)
        return explained if node.reason and has_room else verdict


def _samples(node: SplitNode) -> str:
    """Samples of the whole and of its halves: ``"12 -> 3+2"``."""
    long_form = count(node.samples_old)
    return (
        long_form if node.samples_new is None else f"{long_form} -> {'+'.join(map(count, node.samples_new))}"
    )


_COLUMNS: dict[str, Callable[[SplitNode], str]] = {
    "launches": lambda node: count(node.launches),
    "mean": lambda node: duration(node.mean_ns),
    "CoV": lambda node: f"{node.std_ns / node.mean_ns:.2f}" if node.mean_ns > 0 else UNKNOWN,
    "samples": _samples,
    "tau old": lambda node: duration(node.tau_old_ns),
    "tau new": lambda node: duration(node.tau_new_ns),
}
# Which columns stay when there is no room for all.
_MOST_WANTED = ("mean", "launches", "tau old", "tau new", "CoV", "samples")


def tree(
    nodes: Sequence[SplitNode],
    width: int,
    *,
    proposed: SplitNode | None = None,
    marked: str | None = None,
    max_depth: int | None = None,
    rows: tuple[int, int] | None = None,
) -> Grid:
    """A grid of `width` columns: a heading, a row a node, and notes on what the marks of decisions mean.

    Leaves carry the symbol that their cluster has in the histogram. Columns without room are left out.

    `nodes`: in pre-order, or the first of them: the tree after as many decisions. `proposed`: the node that
    is decided on next, in a row of its own after the others. `marked`: the path of the node under the cursor,
    whose row starts with a mark. `max_depth`: nodes deeper than this (the root has depth 0) are counted, not
    drawn. `rows`: draw only the rows from the first of these numbers up to, not with, the second, without
    notes.
    """
    if not nodes and proposed is None:
        return cells.blank(width, 0)
    all_rows = _rows(nodes if proposed is None else [*nodes, proposed], max_depth)
    if proposed is not None and all_rows[-1].node is proposed:
        # Its cluster does not exist yet.
        all_rows[-1].cluster, all_rows[-1].is_proposed = None, True
    visible_rows = all_rows if rows is None else all_rows[slice(*rows)]
    marks = "".join(row.marks for row in visible_rows)
    notes = [note for mark, note in _NOTES.items() if mark in marks and rows is None]
    grid = cells.blank(width, 1 + len(visible_rows) + len(notes))
    left = 0 if marked is None else len(_CURSOR)
    room = width - left
    _narrow_branches(visible_rows, room // 3)
    widest = max((len(row.branches + row.name) for row in visible_rows if row.node is not None), default=0)
    symbol_column = left + min(widest + 1, room // 2)
    put(grid, 0, left, "node", cells.HEADING)
    for top, row in enumerate(visible_rows, start=1):
        is_marked = marked is not None and row.node is not None and row.node.path == marked
        label = fitted(row.branches + row.name, room if row.node is None else symbol_column - left - 1)
        put(grid, top, left, label, cells.SELECTED if is_marked else LABEL)
        put(grid, top, left, row.branches[: len(label)], cells.AXIS)
        if is_marked:
            put(grid, top, 0, _CURSOR, MARKER)
        if row.cluster is not None:
            put(grid, top, symbol_column, cluster_symbol(row.cluster), cluster_style(row.cluster))
    _draw_figures(grid, symbol_column + 1, visible_rows)
    for top, note in enumerate(notes, start=1 + len(visible_rows)):
        put(grid, top, left, fitted(note, room), MARKER)
    return grid


def _rows(nodes: Sequence[SplitNode], max_depth: int | None) -> list[_Row]:
    """Return a row a node, and one for the nodes below each that is as deep as may be."""
    is_last: list[bool] = []
    depths: set[int] = set()
    for node in reversed(nodes):
        is_last.append(node.depth not in depths)
        depths = {depth for depth in depths if depth < node.depth} | {node.depth}
    glyphs, rows, trunks, leaves = cells.glyph_set(), list[_Row](), list[str](), 0
    for node, last in zip(nodes, reversed(is_last), strict=True):
        cluster = leaves if node.verdict != "split" else None
        leaves += cluster is not None
        del trunks[max(node.depth - 1, 0) :]
        above = "".join(trunks)
        if max_depth is None or node.depth <= max_depth:
            branch = (glyphs.last_branch if last else glyphs.branch) if node.depth else ""
            rows.append(_Row(above + branch, node, cluster))
        elif rows[-1].node is None:
            rows[-1].hidden += 1
        else:
            rows.append(_Row(above + glyphs.last_branch, None, hidden=1))
        if node.depth:
            trunks.append(" " * _BRANCH if last else glyphs.trunk)
    return rows


def _narrow_branches(rows: Sequence[_Row], max_width: int) -> None:
    """Make a level of branches three columns wide, or two, one or none, so that the labels fit."""
    full_branches = [row.branches for row in rows]
    for step in range(_BRANCH, -1, -1):
        for row, branches in zip(rows, full_branches, strict=True):
            row.branches = "".join(
                branches[start : start + step] for start in range(0, len(branches), _BRANCH)
            )
        if all(len(row.branches + row.name) <= max_width for row in rows if row.node is not None):
            return


def _draw_figures(grid: Grid, left: int, rows: Sequence[_Row]) -> None:
    """Draw the columns that have room, aligned at their right, and the decisions behind them."""
    texts_of = {
        heading: ["" if row.node is None else cell(row.node) for row in rows]
        for heading, cell in _COLUMNS.items()
    }
    widths = {heading: max([len(heading), *map(len, texts)]) for heading, texts in texts_of.items()}
    room = grid.width - left - _GAP - max((len(row.decision()) for row in rows), default=0)
    visible = set()
    for heading in _MOST_WANTED:
        room -= _GAP + widths[heading]
        if room < 0:
            break
        visible.add(heading)
    for heading, texts in texts_of.items():
        if heading in visible:
            for top, text in enumerate([heading, *texts]):
                style = PLAIN if top else cells.HEADING
                put(grid, top, left + _GAP, text.rjust(widths[heading]) if text else "", style)
            left += _GAP + widths[heading]
    left += _GAP
    room = grid.width - left
    put(grid, 0, left, fitted("decision", room), cells.HEADING)
    for top, row in enumerate(rows, start=1):
        style = MARKER if "!" in row.marks else PROPOSED if row.is_proposed else LABEL
        put(grid, top, left, fitted(row.decision(room), room), style)
