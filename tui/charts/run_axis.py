"""Where launches and ranges stand along the run: the axis that a timeline and the bars above it share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sampling.arrays import IntArray
from sampling.reduction.timeline import By, GroupLaunches
from tui.charts.axis import Tick, linear_time_ticks, place
from tui.charts.quantities import count

_COLUMNS_A_TICK = 16
_BAR = ("━", "=")
_MARK = ("·", ".")

Places = npt.NDArray[np.int32]


# A cached property needs a dictionary, so no slots.
@dataclass(frozen=True, eq=False)
class RunAxis:
    """A kernel group's launches over so many columns, by their order or by their starts.

    Attributes
    ----------
    launches : at least one; with starts where it goes by time.
    """

    launches: GroupLaunches
    by: By
    columns: int

    @cached_property
    def times_ns(self) -> tuple[int, int]:
        """The first and the last start."""
        start_ns = self.launches.start_ns
        assert start_ns is not None
        return int(start_ns.min()), int(start_ns.max())

    def dots(self, per_column: int) -> Places:
        """Return (n,) the dot of each launch, so many dots a column."""
        dots, launches = self.columns * per_column, len(self.launches)
        if self.by == "launch":
            # The first launch of each dot: the launches stand in their order, so none is looked at.
            first = -(-np.arange(dots + 1) * launches // dots)
            return np.repeat(np.arange(dots, dtype=np.int32), np.diff(first))
        assert self.launches.start_ns is not None
        return self._of_times(self.launches.start_ns, dots)

    def of_places(self, places: IntArray) -> IntArray:
        """Return the columns of the launches at these places among the launches."""
        if self.by == "launch":
            return np.asarray(places * self.columns // len(self.launches))
        assert self.launches.start_ns is not None
        return self.of_times(self.launches.start_ns[places])

    def of_times(self, ns: IntArray) -> IntArray:
        """Return the columns of these times, cut off at both ends."""
        return self._of_times(ns, self.columns).astype(np.int64)

    def _of_times(self, ns: IntArray, dots: int) -> Places:
        low, high = self.times_ns
        # Single precision parts a thousand dots; over a span of centuries the last one rounds up.
        found = ((ns - low).astype(np.float32) * np.float32(dots / (high - low + 1))).astype(np.int32)
        return np.clip(found, 0, dots - 1)

    def stretches(self, begin_ns: IntArray, end_ns: IntArray) -> list[tuple[int, int]]:
        """Return the first column of each stretch of time and the one after its last: one column at least."""
        low, high = self.times_ns
        scale = self.columns / (high - low + 1)
        first = np.clip(np.rint((begin_ns - low) * scale), 0, self.columns - 1).astype(np.int64)
        stop = np.clip(np.rint((end_ns - low) * scale), first + 1, self.columns).astype(np.int64)
        return list(zip(first.tolist(), stop.tolist(), strict=True))

    def bar(self, first: IntArray, stop: IntArray, *, ascii_only: bool) -> str:
        """Return a range as a row of this axis: a bar where its launches of this group stand.

        Where none of them is here, a point says between which launches it lies, and an arrow that it lies
        before all of them or after.

        Parameters
        ----------
        first, stop : (r,) ids of the stretches of launches that it holds.
        """
        ids = self.launches.id
        low, high = np.searchsorted(ids, first), np.searchsorted(ids, stop)
        cells = np.full(self.columns, " ")
        inside = high > low
        if inside.any():
            ends = self.of_places(low[inside]), self.of_places(high[inside] - 1)
            change = np.zeros(self.columns + 1, dtype=np.int64)
            np.add.at(change, np.minimum(*ends), 1)
            np.add.at(change, np.maximum(*ends) + 1, -1)
            cells[np.cumsum(change[:-1]) > 0] = _BAR[ascii_only]
        elif (stop <= ids[0]).all():
            cells[0] = "<"
        elif (first > ids[-1]).all():
            cells[-1] = ">"
        else:
            cells[self.of_places(np.minimum(low, len(ids) - 1))] = _MARK[ascii_only]
        return "".join(cells.tolist())

    def ticks(self, left: int, right: int) -> list[Tick]:
        """Return the ticks below the axis, whose first column is `left`."""
        launches = self.launches
        if self.by == "time":
            low, high = self.times_ns
            step = max(high - low, 1)
            return linear_time_ticks(
                low, high, lambda ns: left + (ns - low) * (self.columns - 1) // step, left, right
            )
        # Whole launches from tick to tick: of a few launches not every tick would have its own.
        first, last = f"launch {count(int(launches.id[0]))}", count(int(launches.id[-1]))
        # The first label is the longest: the next one stands clear of it.
        apart = max(_COLUMNS_A_TICK, len(first) + 2 + len(last) // 2)
        step = max(-(-apart * len(launches) // self.columns), 1)
        shown = range(0, len(launches), step)
        at = [left - -row * self.columns // len(launches) for row in shown]
        labels = [first, *(count(int(launches.id[row])) for row in shown[1:])]
        return place(at, labels, left, right) or place(at[:1], labels[:1], left, right)
