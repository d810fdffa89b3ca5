"""Which ranges of a tree are open, and where the cursor is; no widget."""

from __future__ import annotations

from dataclasses import dataclass, field

from tui.text.ranges import RangeForest


@dataclass(slots=True, eq=False)
class TreeCursor:
    """A tree of ranges as it is looked at.

    Attributes
    ----------
    opened : the ranges whose insides are shown.
    rows : the paths shown, one below the other.
    place : the row of the cursor.
    first : the first row in sight.
    """

    forest: RangeForest
    opened: set[int]
    rows: list[int] = field(init=False)
    place: int = 0
    first: int = 0

    def __post_init__(self) -> None:
        self.rows = self.forest.walked(self.opened)

    @classmethod
    def of(cls, forest: RangeForest) -> TreeCursor:
        """Return it as it is before anybody opened anything."""
        return cls(forest, set(forest.opened_at_first()))

    @property
    def path(self) -> int:
        """The range at the cursor."""
        return self.rows[self.place]

    def put_on(self, place: int) -> None:
        """Put the cursor on a row, at most on the first or last."""
        self.place = min(max(place, 0), len(self.rows) - 1)

    def move(self, rows: int) -> None:
        """Move it down by so many rows, up if negative."""
        self.put_on(self.place + rows)

    def open(self) -> None:
        """Show what lies in the range; if that is shown, go to the first of it."""
        path = self.path
        if not self.forest.has_inside(path):
            return
        if path in self.opened:
            self.move(1)
        else:
            self.opened.add(path)
            self.rows = self.forest.walked(self.opened)

    def close(self) -> None:
        """Hide what lies in the range; if nothing is shown, go to the range that it lies in."""
        path = self.path
        if path in self.opened and self.forest.has_inside(path):
            self.opened.discard(path)
            self.rows = self.forest.walked(self.opened)
        elif (parent := self.forest.parent_of(path)) >= 0:
            self.place = self.rows.index(parent)

    def keep_in_sight(self, page: int) -> None:
        """Scroll so that the cursor is among so many rows."""
        last = max(len(self.rows) - page, 0)
        self.first = min(
            max(self.first, self.place - page + 1, 0), self.place, max(last, self.place - page + 1)
        )
