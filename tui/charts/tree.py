"""A split tree as rows: one decision each, the branches drawn, the numbers in columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tui.charts.glyphs import GlyphSet, cluster_style, cluster_symbol, glyph_set
from tui.charts.grid import AXIS, HEADING, LABEL, MARKER, PLAIN, Grid, blank, fitted, put
from tui.charts.quantities import UNKNOWN, count, duration

_GAP = 2
_SPLIT = "split"
_OVERRIDE_MARK = "!"


class TreeNode(Protocol):
    """What is drawn of a node. `overridden` is read too where there is one."""

    @property
    def depth(self) -> int: ...
    @property
    def path(self) -> str: ...
    @property
    def launches(self) -> int: ...
    @property
    def mean_ns(self) -> float: ...
    @property
    def std_ns(self) -> float: ...
    @property
    def threshold_ns(self) -> int | None: ...
    @property
    def samples_old(self) -> int | None: ...
    @property
    def tau_old_ns(self) -> float | None: ...
    @property
    def samples_new(self) -> Sequence[int] | None: ...
    @property
    def tau_new_ns(self) -> float | None: ...
    @property
    def verdict(self) -> str: ...
    @property
    def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of the drawn tree; without a node it stands for `hidden` nodes below the row before."""

    branches: str
    node: TreeNode | None
    cluster: int | None = None
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class _Column:
    heading: str
    cell: Callable[[TreeNode], str]


def _samples(node: TreeNode) -> str:
    """Samples of the whole and of its halves: ``"12 -> 3+2"``."""
    whole = UNKNOWN if node.samples_old is None else count(node.samples_old)
    return whole if node.samples_new is None else f"{whole} -> {'+'.join(map(count, node.samples_new))}"


def _duration_if_known(ns: float | None) -> str:
    return UNKNOWN if ns is None else duration(ns)


_COLUMNS = (
    _Column("launches", lambda node: count(node.launches)),
    _Column("mean", lambda node: duration(node.mean_ns)),
    _Column("CoV", lambda node: f"{node.std_ns / node.mean_ns:.2f}" if node.mean_ns > 0 else UNKNOWN),
    _Column("samples", _samples),
    _Column("tau old", lambda node: _duration_if_known(node.tau_old_ns)),
    _Column("tau new", lambda node: _duration_if_known(node.tau_new_ns)),
)
# Which columns stay when there is no room for all.
_MOST_WANTED = ("mean", "launches", "tau old", "tau new", "CoV", "samples")


def tree(
    nodes: Sequence[TreeNode], width: int, *, max_depth: int | None = None, ascii_only: bool = False
) -> Grid:
    """A grid of `width` columns: a heading, a row a node, and what an exclamation mark means if there is one.

    Leaves carry the symbol that their cluster has in the histogram. Columns without room are left out.

    Parameters
    ----------
    nodes : in pre-order, or the first of them: the tree after as many decisions.
    max_depth : nodes deeper than this (the root has depth 0) are only counted.
    """
    if not nodes:
        return blank(width, 0)
    glyphs = glyph_set(ascii_only=ascii_only)
    rows = _shortest_labels(_rows(nodes, max_depth, glyphs), width)
    drawn = [row.node for row in rows if row.node is not None]
    overridden = any(_is_overridden(node) for node in drawn)
    grid = blank(width, 1 + len(rows) + overridden)
    symbol_column = min(max(len(_label(row)) for row in rows if row.node is not None) + 1, width // 2)
    put(grid, 0, 0, "node", HEADING)
    for top, row in enumerate(rows, start=1):
        _draw_label(grid, top, row, symbol_column, ascii_only=ascii_only)
    left = symbol_column + 1
    for column in _columns_with_room(drawn, width - left):
        left += _GAP + _draw_column(grid, left + _GAP, column, rows)
    _draw_decisions(grid, left + _GAP, rows, ascii_only=ascii_only)
    if overridden:
        note = fitted(f"{_OVERRIDE_MARK} decided by the user", grid.width, ascii_only=ascii_only)
        put(grid, grid.height - 1, 0, note, MARKER)
    return grid


def _rows(nodes: Sequence[TreeNode], max_depth: int | None, glyphs: GlyphSet) -> list[_Row]:
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


def _are_last_children(nodes: Sequence[TreeNode]) -> list[bool]:
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
        narrowed = [_Row(_every(row.branches, step), row.node, row.cluster, row.hidden) for row in rows]
        if max(len(_label(row)) for row in narrowed if row.node is not None) <= width // 3:
            break
    return narrowed


def _every(branches: str, step: int) -> str:
    """The first `step` glyphs of every three."""
    return "".join(branches[level : level + step] for level in range(0, len(branches), 3))


def _label(row: _Row) -> str:
    if row.node is None:
        return f"{row.branches}... {count(row.hidden)} node{'s' if row.hidden != 1 else ''} below"
    return row.branches + (row.node.path or "root")


def _draw_label(grid: Grid, top: int, row: _Row, symbol_column: int, *, ascii_only: bool) -> None:
    room = grid.width if row.node is None else symbol_column - 1
    put(grid, top, 0, fitted(_label(row), room, ascii_only=ascii_only), LABEL)
    put(grid, top, 0, row.branches[:room], AXIS)
    if row.cluster is not None:
        symbol = cluster_symbol(row.cluster, ascii_only=ascii_only)
        put(grid, top, symbol_column, symbol, cluster_style(row.cluster))


def _columns_with_room(nodes: Sequence[TreeNode], width: int) -> list[_Column]:
    room = width - _GAP - max(len(_verdict(node)) for node in nodes)
    chosen = set()
    by_heading = {column.heading: column for column in _COLUMNS}
    for heading in _MOST_WANTED:
        room -= _GAP + _width(by_heading[heading], nodes)
        if room < 0:
            break
        chosen.add(heading)
    return [column for column in _COLUMNS if column.heading in chosen]


def _width(column: _Column, nodes: Sequence[TreeNode]) -> int:
    return max(len(column.heading), *(len(column.cell(node)) for node in nodes))


def _draw_column(grid: Grid, left: int, column: _Column, rows: Sequence[_Row]) -> int:
    """Draw a column's heading and cells, aligned at their right; its width."""
    width = _width(column, [row.node for row in rows if row.node is not None])
    put(grid, 0, left, column.heading.rjust(width), HEADING)
    for top, row in enumerate(rows, start=1):
        if row.node is not None:
            put(grid, top, left, column.cell(row.node).rjust(width), PLAIN)
    return width


def _draw_decisions(grid: Grid, left: int, rows: Sequence[_Row], *, ascii_only: bool) -> None:
    room = grid.width - left
    put(grid, 0, left, fitted("decision", room, ascii_only=ascii_only), HEADING)
    for top, row in enumerate(rows, start=1):
        if row.node is not None:
            decision = fitted(_decision(row.node, room), room, ascii_only=ascii_only)
            put(grid, top, left, decision, MARKER if _is_overridden(row.node) else LABEL)


def _decision(node: TreeNode, room: int) -> str:
    """The verdict; its reason too where there is room for all of it, or where no numbers stand for it."""
    verdict = _verdict(node)
    explained = f"{verdict}: {node.reason}"
    return explained if node.reason and (len(explained) <= room or node.tau_new_ns is None) else verdict


def _verdict(node: TreeNode) -> str:
    threshold = node.threshold_ns
    is_split = node.verdict == _SPLIT and threshold is not None
    verdict = f"split at {_duration_if_known(threshold)}" if is_split else str(node.verdict)
    return f"{_OVERRIDE_MARK} {verdict}" if _is_overridden(node) else verdict


def _is_overridden(node: TreeNode) -> bool:
    return bool(getattr(node, "overridden", False))
