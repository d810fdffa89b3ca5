"""What each launch added to the counters that GPGPU-Sim prints as totals of the run so far.

Counts of caches, DRAM and instructions run on from launch to launch: a launch's own is the difference to the
block before. Counts by kind of access (``..._stats_breakdown[...]``) run on within a stream, whose number the
block gives; a count printed once for each memory partition is their sum.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# More counts may stand in the line; another thread's text that breaks it off does not begin with a blank.
_COUNT = re.compile(rb"(\d+)(?=[\s,{]|$)")
_NO_COUNT = re.compile(rb"-?(?:nan|inf|\d+\.\d*|\d+[%x!]|\d+ ?\(|\d+ days)")
_BY_KIND = b"_stats_breakdown["


class RunningTotals:
    """The totals of some counters as they are printed, block after block.

    Attributes
    ----------
    stream : what the block that is read says of its stream.
    no_count : why a counter cannot be told launch by launch; empty where all can.
    """

    def __init__(self, counters: Sequence[bytes]) -> None:
        """Follow these counters, by the names that are printed."""
        self._counters = tuple(counters)
        self._wanted = frozenset(counters)
        # Of each counter, and of each stream of those that streams have, its last sum and number of lines;
        # None where what was printed last is not known.
        self._before: dict[tuple[bytes, bytes], tuple[int, int] | None] = {}
        self._is_start_known = True
        self._here: dict[bytes, tuple[int, int] | None] = {}
        self._seen: set[bytes] = set()
        self.stream = b""
        self.no_count = ""

    @property
    def seen(self) -> frozenset[bytes]:
        """The counters that have been printed."""
        return frozenset(self._seen)

    def take(self, key: bytes, text: bytes) -> None:
        """Take a line of the block that is read."""
        if key not in self._wanted:
            return
        self._seen.add(key)
        is_no_count = _NO_COUNT.match(text) is not None
        count = None if is_no_count else _COUNT.match(text)
        if is_no_count and not self.no_count:
            shown = text.strip().decode("utf-8", "replace")
            self.no_count = f"{key.decode()} is {shown!r} there, a ratio or a text and no count"
        so_far = self._here.get(key, (0, 0))
        if count is None or so_far is None:
            # Another thread's text stands in the line.
            self._here[key] = None
        else:
            self._here[key] = (so_far[0] + int(count[1]), so_far[1] + 1)

    def begin_anew(self, *, is_known: bool) -> None:
        """Forget the totals: another run begins, or (not `is_known`) blocks are missing in between."""
        self._before.clear()
        self._is_start_known = is_known

    def added(self, *, is_whole: bool) -> tuple[int | None, ...]:
        """Return what the launch of this block added to each counter, and go on to the next block.

        Parameters
        ----------
        is_whole : whether all of the block has been printed.
        """
        added = tuple(self._added_to(counter, is_whole=is_whole) for counter in self._counters)
        self._here = {}
        return added

    def _added_to(self, counter: bytes, *, is_whole: bool) -> int | None:
        place = (counter, self.stream if _BY_KIND in counter else b"")
        if counter not in self._here:
            # Counts by kind of access are printed from the first launch on that they are not 0 of.
            if place not in self._before and is_whole and _BY_KIND in counter:
                return 0 if self._is_start_known else None
            self._before[place] = None
            return None
        here = self._here[counter] if is_whole else None
        before = self._before.get(place, (0, here[1]) if here and self._is_start_known else None)
        self._before[place] = here
        if here is None or before is None or here[1] != before[1]:
            return None
        if here[0] < before[0] and not self.no_count:
            self.no_count = (
                f"{counter.decode()} falls there from {before[0]} to {here[0]}: it is no total of the run"
            )
        return here[0] - before[0]
