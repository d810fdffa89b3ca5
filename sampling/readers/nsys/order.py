"""In which order the program issued its launches, from the API calls behind the kernels.

Kernels and API calls share a correlation id, which counts within one process only. A capture that begins
after a launch was queued has the kernel without its API call; within one process correlation ids rise in
API order too, so they give the order where a call is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.profile.named_ranges import NO_CALL
from sampling.profile.profile import LaunchOrder
from sampling.readers.nsys.tables import NULL, RUNTIME, NsysTables

_RUNTIME_COLUMNS = ("start", "globalTid", "correlationId")
_THREAD_BITS = 0xFFFFFF

# A table indexed by correlation id takes 8 bytes an id; with more ids a launch, a sorted list is searched.
_IDS_PER_LAUNCH = 4
_IDS_ALWAYS = 1 << 16


def process_id(global_id: int) -> int:
    """Return the PID inside nsys' globalPid or globalTid."""
    return (global_id >> 24) & 0xFFFFFF


def process_of_thread(global_tid: IntArray) -> IntArray:
    """Return the globalPid of each globalTid."""
    return global_tid & ~_THREAD_BITS


@dataclass(slots=True)
class _Process:
    """What is known of one process while its kernels are read."""

    launches: int = 0
    uncorrelated: int = 0
    lowest: int = NO_CALL
    highest: int = NULL
    devices: set[int] = field(default_factory=set)

    def note(self, correlation: IntArray, device: IntArray | None) -> None:
        known = correlation[correlation != NULL]
        self.launches += len(correlation)
        self.uncorrelated += len(correlation) - len(known)
        if len(known):
            self.lowest = min(self.lowest, int(known.min()))
            self.highest = max(self.highest, int(known.max()))
        self.devices.update([0] if device is None else np.unique(device).tolist())


@dataclass(frozen=True, slots=True)
class LaunchKeys:
    """What places the launches of one part, arrays of shape (n,), final once ``OrderOfLaunches.settle`` ran.

    Attributes
    ----------
    process : PID of each launch.
    order : what sorts the launches of one process into API order.
    start_ns : when the kernel started on the GPU.
    api_start_ns : when the API call behind each launch began, ``NO_CALL`` where there is none; None where
        nobody asked for it.
    """

    process: IntArray
    order: IntArray
    start_ns: IntArray
    api_start_ns: IntArray | None = None


class OrderOfLaunches:
    """Collects the keys of all launches, then decides for each process what its launches are ordered by.

    The arrays that ``add`` returns are filled in place at the end, so the launches are in memory only once.

    Attributes
    ----------
    api_rows_missing : launches without the API call that issued them.
    process_numbers : the process number of every globalPid, once settled.
    """

    def __init__(self, *, keep_api_starts: bool = False) -> None:
        self.api_rows_missing = 0
        self.process_numbers: dict[int, int] = {}
        self._keep_api_starts = keep_api_starts
        self._parts: list[LaunchKeys] = []
        self._processes: dict[int, _Process] = {}
        self._kinds: set[LaunchOrder] = set()

    def add(
        self,
        start_ns: IntArray,
        global_pid: IntArray | None,
        correlation: IntArray | None,
        device: IntArray | None,
    ) -> LaunchKeys:
        """Take note of a part and return its keys."""
        nothing = np.full(len(start_ns), NULL)
        # Copies: a column of an Arrow batch would keep the memory of all its other columns.
        keys = LaunchKeys(
            process=np.array(nothing if global_pid is None else global_pid),
            order=np.array(nothing if correlation is None else correlation),
            start_ns=np.array(start_ns),
            api_start_ns=np.full(len(start_ns), NO_CALL) if self._keep_api_starts else None,
        )
        for process, rows in _by_process(keys.process):
            facts = self._processes.setdefault(process, _Process())
            facts.note(keys.order[rows], None if device is None else device[rows])
        self._parts.append(keys)
        return keys

    @property
    def kind(self) -> LaunchOrder:
        """What the launches are ordered by, in the process where that is least reliable."""
        weakest_first: tuple[LaunchOrder, ...] = ("gpu-start", "correlation", "api-start")
        return next(kind for kind in weakest_first if kind in self._kinds)

    @property
    def places(self) -> list[tuple[int, int]]:
        """The (PID, device) pairs that launched kernels."""
        return [
            (process_id(process), device)
            for process, facts in sorted(self._processes.items())
            for device in sorted(facts.devices)
        ]

    def settle(self, tables: NsysTables, row_read: Callable[[int], None]) -> None:
        """Read the API calls, fill in the order and the process of every launch, and forget the keys."""
        starts = self._api_starts(tables, row_read)
        for process in self._processes:
            self._settle_process(process, starts.pop(process, None))
        self._number_processes()
        self._parts.clear()

    def _api_starts(self, tables: NsysTables, row_read: Callable[[int], None]) -> dict[int, _ApiStarts]:
        if not tables.has(RUNTIME, *_RUNTIME_COLUMNS):
            return {}
        starts = {
            process: _ApiStarts(facts, (part.order[part.process == process] for part in self._parts))
            for process, facts in self._processes.items()
            if process != NULL and facts.uncorrelated < facts.launches
        }
        for start_ns, global_tid, correlation in tables.integers(RUNTIME, _RUNTIME_COLUMNS):
            for process, rows in _by_process(process_of_thread(global_tid)):
                if process in starts:
                    starts[process].add(correlation[rows], start_ns[rows])
            row_read(len(start_ns))
        return starts

    def _settle_process(self, process: int, starts: _ApiStarts | None) -> None:
        parts = [(part, rows) for part in self._parts if (rows := part.process == process).any()]
        missing = sum(
            int(rows.sum()) if starts is None else starts.missing(part.order[rows]) for part, rows in parts
        )
        self.api_rows_missing += missing
        for part, rows in parts:
            if part.api_start_ns is not None and starts is not None:
                part.api_start_ns[rows] = starts.where_known(part.order[rows])
        if starts is not None and not missing:
            self._kinds.add("api-start")
            for part, rows in parts:
                part.order[rows] = starts.of(part.order[rows])
        elif not self._processes[process].uncorrelated:
            self._kinds.add("correlation")
        else:
            self._kinds.add("gpu-start")
            for part, rows in parts:
                part.order[rows] = part.start_ns[rows]

    def _number_processes(self) -> None:
        """Replace each globalPid by its PID, unless two of them have the same PID."""
        numbers = {process: 0 if process == NULL else process_id(process) for process in self._processes}
        if len(set(numbers.values())) < len(numbers):
            numbers = {process: max(process, 0) for process in numbers}
        self.process_numbers = numbers
        for part in self._parts:
            recorded = part.process.copy()
            for process, rows in _by_process(recorded):
                part.process[rows] = numbers[process]


def _by_process(process: IntArray) -> Iterator[tuple[int, BoolArray | slice]]:
    """Yield each process with the rows that are its own."""
    if len(process) and process.min() == process.max():
        yield int(process[0]), slice(None)
        return
    for value in np.unique(process).tolist():
        yield value, process == value


class _ApiStarts:
    """The earliest API start for every correlation id of one process.

    Ids that lie close together index the table directly; ids that lie far apart are looked up in their
    sorted list.
    """

    def __init__(self, facts: _Process, correlations: Iterator[IntArray]) -> None:
        self._lowest = facts.lowest
        self._highest = facts.highest
        ids = self._highest - self._lowest + 1
        self._sorted: IntArray | None = None
        if ids > max(_IDS_ALWAYS, _IDS_PER_LAUNCH * facts.launches):
            self._sorted = np.unique(np.concatenate(list(correlations)))
            ids = len(self._sorted)
        self._start_ns = np.full(ids, NO_CALL)

    def _slots(self, correlation: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the index of the start of each id that has one, and which ids do."""
        known = (correlation >= self._lowest) & (correlation <= self._highest)
        if self._sorted is None:
            return correlation[known] - self._lowest, known
        slots = np.searchsorted(self._sorted, correlation[known])
        found = self._sorted[slots] == correlation[known]
        known[known] = found
        return slots[found], known

    def add(self, correlation: IntArray, start_ns: IntArray) -> None:
        """Add the starts of API calls; calls that launched no kernel are ignored."""
        slots, known = self._slots(correlation)
        np.minimum.at(self._start_ns, slots, start_ns[known])

    def missing(self, correlation: IntArray) -> int:
        """Return how many of these launches have no API call."""
        slots, known = self._slots(correlation)
        return int(np.sum(self._start_ns[slots] == NO_CALL)) + int(np.sum(~known))

    def where_known(self, correlation: IntArray) -> IntArray:
        """Return the API start of every launch, ``NO_CALL`` where it has none."""
        slots, known = self._slots(correlation)
        starts = np.full(len(correlation), NO_CALL)
        starts[known] = self._start_ns[slots]
        return starts

    def of(self, correlation: IntArray) -> IntArray:
        """Return the API start of launches that all have one."""
        return self._start_ns[self._slots(correlation)[0]]
