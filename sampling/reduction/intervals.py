"""The time that intervals cover together."""

from __future__ import annotations

import numpy as np

from sampling.arrays import IntArray

_FAR_NS = 1 << 62


class Covered:
    """Intervals (k,) as one: what several cover at once counts once."""

    def __init__(self, begin_ns: IntArray, end_ns: IntArray) -> None:
        order = np.argsort(begin_ns, kind="stable")
        self._reach = np.maximum.accumulate(end_ns[order])
        # What begins before all earlier ones have ended adds only what is beyond them.
        self._begin = np.maximum(begin_ns[order], np.append(begin_ns[order][:1], self._reach[:-1]))
        self._total = np.append(0, np.cumsum(np.maximum(self._reach - self._begin, 0)))
        self.total_ns = int(self._total[-1])

    def between(self, begin_ns: IntArray, end_ns: IntArray) -> IntArray:
        """Return (n,) how much of it lies between two times."""
        until = []
        for time_ns in (begin_ns, end_ns):
            place = np.searchsorted(self._begin, time_ns, side="right")
            beyond = np.append(-_FAR_NS, self._reach)[place] - time_ns
            until.append(self._total[place] - np.maximum(beyond, 0))
        covered: IntArray = until[1] - until[0]
        return covered
