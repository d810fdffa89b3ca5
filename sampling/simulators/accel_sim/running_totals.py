"""What each launch added to the counters that GPGPU-Sim prints as totals of the run so far.

Counts of caches, DRAM and instructions run on from launch to launch: a launch's own is the difference to the
block before. Counts by kind of access (``..._stats_breakdown[...]``) run on within a stream, whose number the
block gives; a count printed once for each memory partition is their sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

# More counts may stand in the line; another thread's text that breaks it off does not begin with a blank.
_COUNT = re.compile(rb"(\d{1,18})(?=[\s,{]|$)")
_NO_COUNT = re.compile(rb"-?(?:nan|inf|\d+\.\d*|\d+[%x!]|\d+ ?\(|\d+ days)")
_BY_KIND = b"_stats_breakdown["


@dataclass(slots=True)
class _Block:
    """What one block says.

    Attributes
    ----------
    stream : of the launch, as it is printed.
    sums : the sum of the lines of each counter, and how many they are; None where one cannot be read.
    is_whole : whether all of the block has been printed.
    follows : whether it is known that the block before is that of the launch before.
    is_first : whether a run begins with it.
    """

    stream: bytes = b""
    sums: dict[bytes, tuple[int, int] | None] = field(default_factory=dict)
    is_whole: bool = False
    follows: bool = True
    is_first: bool = False


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
        self._blocks: list[_Block] = []
        self._here = _Block(is_first=True)
        self._lines: dict[bytes, int] = {}
        self.stream = b""
        self.no_count = ""

    @property
    def seen(self) -> frozenset[bytes]:
        """The counters that have been printed."""
        return frozenset(self._lines)

    def take(self, key: bytes, text: bytes) -> None:
        """Take a line of the block that is read."""
        if key not in self._wanted:
            return
        is_no_count = _NO_COUNT.match(text) is not None
        count = None if is_no_count else _COUNT.match(text)
        if is_no_count and not self.no_count:
            shown = text.strip().decode("utf-8", "replace")
            self.no_count = f"{key.decode()} is {shown!r} there, a ratio or a text and no count"
        so_far = self._here.sums.get(key, (0, 0))
        # Where it is no count another thread's text stands in the line.
        both = None if count is None or so_far is None else (so_far[0] + int(count[1]), so_far[1] + 1)
        self._here.sums[key] = both
        self._lines[key] = max(self._lines.get(key, 0), both[1] if both else 0)

    def begin_anew(self, *, is_known: bool) -> None:
        """Take what is read now for the beginning of a run; not `is_known`: blocks are missing before it."""
        self._here.follows, self._here.is_first = False, is_known

    def close(self, *, is_whole: bool) -> None:
        """Go on to the next block.

        Parameters
        ----------
        is_whole : whether all of this one has been printed.
        """
        self._here.stream, self._here.is_whole = self.stream, is_whole
        self._blocks.append(self._here)
        self._here = _Block()

    def added(self) -> list[tuple[int | None, ...]]:
        """Return what the launch of each block added to each counter; None where that is not known."""
        columns = [list(self._added_to(counter)) for counter in self._counters]
        return list(zip(*columns, strict=True)) if columns else [() for _ in self._blocks]

    def _added_to(self, counter: bytes) -> Iterator[int | None]:
        """Yield what each launch added; a sum is known where as many lines are printed as ever are."""
        before: dict[bytes, int | None] = {}
        start: int | None = None
        for block in self._blocks:
            if not block.follows or block.is_first:
                before.clear()
                start = 0 if block.is_first else None
            stream = block.stream if _BY_KIND in counter else b""
            total = self._sum_in(block, counter, stream in before)
            known = before.get(stream, start)
            before[stream] = total
            if known is not None and total is not None and total < known and not self.no_count:
                self.no_count = (
                    f"{counter.decode()} falls there from {known} to {total}: it is no total of the run"
                )
            yield None if known is None or total is None else total - known

    def _sum_in(self, block: _Block, counter: bytes, has_been_printed: bool) -> int | None:
        if not block.is_whole:
            return None
        if counter not in block.sums and _BY_KIND in counter and not has_been_printed:
            # Counts by kind of access are printed from the first launch on that they are not 0 of.
            return 0
        found = block.sums.get(counter)
        return found[0] if found is not None and found[1] == self._lines[counter] else None
