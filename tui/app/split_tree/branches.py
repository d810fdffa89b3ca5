"""The branches of a kernel group's split tree, a row a node."""

from __future__ import annotations

from functools import partial

from tui.app.frame.chart import Chart
from tui.charts.grid import Grid, blank
from tui.charts.tree import tree
from tui.text.tree import TreeStop

_NO_NODE = "-"
"""No node's path: what is marked when a group is split to its end."""


class Branches(Chart):
    """As many rows as there is room for, that of the node in focus among them."""

    def __init__(self, *, ascii_only: bool, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._ascii_only = ascii_only

    def look_at(self, stop: TreeStop) -> None:
        """Show the tree so far, the node that is looked at marked."""
        self.show(partial(_draw, stop, ascii_only=self._ascii_only))


def _draw(stop: TreeStop, width: int, height: int, *, ascii_only: bool) -> Grid:
    if width < 1 or height < 2:
        return blank(width, height)
    taken = len(stop.nodes)
    all_rows, at = taken + (stop.ahead is not None), taken if stop.node is None else stop.node.index
    room = height - 1
    first = max(min(at - room // 2, all_rows - room), 0)
    return tree(
        stop.nodes,
        width,
        proposed=stop.ahead,
        marked=_NO_NODE if stop.node is None else stop.node.path,
        rows=(first, first + room),
        ascii_only=ascii_only,
    )
