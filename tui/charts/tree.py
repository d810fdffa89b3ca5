"""A split tree as rows: one decision each, the branches drawn, the numbers in columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui.charts.grid import (
    AXIS,
    HEADING,
    LABEL,
    MARKER,
    PLAIN,
    PROPOSED,
    SELECTED,
    GlyphSet,
    Grid,
    blank,
    cluster_style,
    cluster_symbol,
    copy,
    fitted,
    glyph_set,
    put,
)
from tui.charts.quantities import UNKNOWN, count, duration

if TYPE_CHECKING:
    from sampling.splitting.tree import SplitNode

_GAP = 2
_SPLIT = "split"
_OVERRIDE_MARK = "!"
_PROPOSAL_MARK = "?"
_CURSOR = "> "


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of the drawn tree; without a node it stands for `hidden` nodes below the row before."""

    branches: str
    node: SplitNode | None
    cluster: int | None = None
    hidden: int = 0
    is_proposed: bool = False


def _samples(node: SplitNode) -> str:
    """Samples of the whole and of its halves: ``"12 -> 3+2"``."""
    whole = count(node.samples_old)
    return whole if node.samples_new is None else f"{whole} -> {'+'.join(map(count, node.samples_new))}"


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

    Parameters
    ----------
    nodes : in pre-order, or the first of them: the tree after as many decisions.
    proposed : the node that is decided on next, in a row of its own after the others.
    marked : the path of the node under the cursor, whose row starts with a mark.
    max_depth : nodes deeper than this (the root has depth 0) are counted, not drawn.
    rows : draw only the rows from the first of these numbers up to, not with, the second, without notes.
    """
    if not nodes and proposed is None:
        return blank(width, 0)
    glyphs = glyph_set()
    all_rows = _rows(nodes if proposed is None else [*nodes, proposed], max_depth, glyphs)
    if proposed is not None and all_rows[-1].node is proposed:
        # Its cluster does not exist yet.
        all_rows[-1] = replace(all_rows[-1], cluster=None, is_proposed=True)
    left = 0 if marked is None else len(_CURSOR)
    drawn = _shortest_labels(all_rows if rows is None else all_rows[slice(*rows)], width - left)
    notes = _notes(drawn) if rows is None else []
    grid = _drawn(drawn, notes, marked, width - left)
    if marked is None:
        return grid
    with_margin = blank(width, grid.height)
    copy(grid, with_margin, 0, left)
    for top, row in enumerate(drawn, start=1):
        if row.node is not None and row.node.path == marked:
            put(with_margin, top, 0, _CURSOR, MARKER)
    return with_margin


def _drawn(rows: Sequence[_Row], notes: Sequence[str], marked: str | None, width: int) -> Grid:
    """The heading, the rows, the notes."""
    grid = blank(width, 1 + len(rows) + len(notes))
    widest = max((len(_label(row)) for row in rows if row.node is not None), default=0)
    symbol_column = min(widest + 1, width // 2)
    put(grid, 0, 0, "node", HEADING)
    for top, row in enumerate(rows, start=1):
        _draw_label(grid, top, row, marked, symbol_column)
    _draw_decisions(grid, _draw_columns(grid, symbol_column + 1, rows) + _GAP, rows)
    for top, note in enumerate(notes, start=1 + len(rows)):
        put(grid, top, 0, fitted(note, grid.width), MARKER)
    return grid


def _notes(rows: Sequence[_Row]) -> list[str]:
    """What the marks in these rows mean."""
    notes = []
    if any(row.node is not None and row.node.overridden for row in rows):
        notes.append(f"{_OVERRIDE_MARK} decided by the user")
    if any(row.is_proposed for row in rows):
        notes.append(f"{_PROPOSAL_MARK} proposed, decided on next")
    return notes


def _rows(nodes: Sequence[SplitNode], max_depth: int | None, glyphs: GlyphSet) -> list[_Row]:
    last = _are_last_children(nodes)
    rows: list[_Row] = []
    trunks: list[str] = []
    leaves = 0
    for node, is_last in zip(nodes, last, strict=True):
        cluster = leaves if node.verdict != _SPLIT else None
        leaves += cluster is not None
        del trunks[max(node.depth - 1, 0) :]
        above = "".join(trunks)
        if max_depth is None or node.depth <= max_depth:
            branch = (glyphs.last_branch if is_last else glyphs.branch) if node.depth else ""
            rows.append(_Row(above + branch, node, cluster))
        elif rows[-1].node is None:
            rows[-1] = _Row(rows[-1].branches, None, hidden=rows[-1].hidden + 1)
        else:
            rows.append(_Row(above + glyphs.last_branch, None, hidden=1))
        if node.depth:
            trunks.append(" " * len(glyphs.trunk) if is_last else glyphs.trunk)
    return rows


def _are_last_children(nodes: Sequence[SplitNode]) -> list[bool]:
    """Whether no later sibling of each node is there."""
    last = []
    seen: set[int] = set()
    for node in reversed(nodes):
        last.append(node.depth not in seen)
        seen = {depth for depth in seen if depth < node.depth} | {node.depth}
    return last[::-1]


def _shortest_labels(rows: Sequence[_Row], width: int) -> list[_Row]:
    """The rows, a level of branches three columns wide, or two, one or none to fit in a third of `width`."""
    narrowed = list(rows)
    for step in (3, 2, 1, 0):
        narrowed = [
            replace(
                row, branches="".join(row.branches[at : at + step] for at in range(0, len(row.branches), 3))
            )
            for row in rows
        ]
        labels = [len(_label(row)) for row in narrowed if row.node is not None]
        if max(labels, default=0) <= width // 3:
            break
    return narrowed


def _label(row: _Row) -> str:
    if row.node is None:
        return f"{row.branches}... {count(row.hidden)} node{'s' if row.hidden != 1 else ''} below"
    return row.branches + (row.node.path or "root")


def _draw_label(grid: Grid, top: int, row: _Row, marked: str | None, symbol_column: int) -> None:
    room = grid.width if row.node is None else symbol_column - 1
    is_marked = row.node is not None and row.node.path == marked
    label = fitted(_label(row), room)
    put(grid, top, 0, label, SELECTED if is_marked else LABEL)
    put(grid, top, 0, row.branches[:room], AXIS)
    if row.cluster is not None:
        symbol = cluster_symbol(row.cluster)
        put(grid, top, symbol_column, symbol, cluster_style(row.cluster))


def _draw_columns(grid: Grid, left: int, rows: Sequence[_Row]) -> int:
    """Draw the columns with room, aligned at their right; where the last one ends."""
    cells = {
        heading: ["" if row.node is None else cell(row.node) for row in rows]
        for heading, cell in _COLUMNS.items()
    }
    widths = {heading: max([len(heading), *map(len, texts)]) for heading, texts in cells.items()}
    room = grid.width - left - _GAP - max((len(_verdict(row)) for row in rows), default=0)
    chosen = set()
    for heading in _MOST_WANTED:
        room -= _GAP + widths[heading]
        if room < 0:
            break
        chosen.add(heading)
    for heading, texts in cells.items():
        if heading in chosen:
            put(grid, 0, left + _GAP, heading.rjust(widths[heading]), HEADING)
            for top, text in enumerate(texts, start=1):
                put(grid, top, left + _GAP, text.rjust(widths[heading]) if text else "", PLAIN)
            left += _GAP + widths[heading]
    return left


def _draw_decisions(grid: Grid, left: int, rows: Sequence[_Row]) -> None:
    room = grid.width - left
    put(grid, 0, left, fitted("decision", room), HEADING)
    for top, row in enumerate(rows, start=1):
        if row.node is not None:
            decision = fitted(_decision(row, room), room)
            style = MARKER if row.node.overridden else PROPOSED if row.is_proposed else LABEL
            put(grid, top, left, decision, style)


def _decision(row: _Row, room: int) -> str:
    """The verdict; its reason too where there is room for all of it, or where no numbers stand for it."""
    node, verdict = row.node, _verdict(row)
    if node is None:
        return ""
    explained = f"{verdict}: {node.reason}"
    return explained if node.reason and (len(explained) <= room or node.tau_new_ns is None) else verdict


def _verdict(row: _Row) -> str:
    node = row.node
    if node is None:
        return ""
    threshold = node.threshold_ns
    is_split = node.verdict == _SPLIT and threshold is not None
    verdict = f"split at {duration(threshold)}" if is_split else str(node.verdict)
    marks = _OVERRIDE_MARK * node.overridden + _PROPOSAL_MARK * row.is_proposed
    return f"{marks} {verdict}" if marks else verdict
