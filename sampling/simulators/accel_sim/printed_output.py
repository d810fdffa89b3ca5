"""What GPGPU-Sim and Accel-Sim print of each launch: its name and grid, what a core holds, what it took.

Each launch has a header before it runs: ``-kernel name`` and ``-grid dim`` where traces are simulated,
``pushing kernel`` where a program is. What it took follows in a block of ``kernel_name``,
``kernel_launch_uid``, ``gpu_sim_cycle``, ``gpu_sim_insn`` and many counters. The simulator prints one block
for several launches where they follow each other too closely, and one without a name for a launch that was
printed before: kernels that ran at once, or one left over by a limit on thread blocks.

Counts of caches, DRAM and instructions run on from launch to launch: a launch's own is the difference to the
block before. Counts by kind of access (``..._stats_breakdown[...]``) run on within a stream, whose number the
block gives; a count printed once for each memory partition is their sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sampling.projection.interval_log import KernelFacts
from sampling.simulators.accel_sim.announced_launches import OF_HEADER, AnnouncedLaunches, PrintedLaunch
from sampling.simulators.accel_sim.printed_lines import (
    BREAK,
    CLUSTERS,
    CONCURRENT,
    CORES_PER_CLUSTER,
    CTA_LIMITS,
    CTAS_PER_CORE,
    CYCLES,
    EXIT,
    INSTRUCTIONS,
    NAME,
    SIMULATION_RATE,
    STREAM,
    TOTAL_CYCLES,
    TOTAL_OF_LIMIT,
    TOTALS,
    UID,
    Line,
)

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


# More digits are no number that 64 bits hold.
_NUMBER = re.compile(rb"(?<!\d)\d{1,18}(?!\d)")
# What another thread prints into a number does not begin with a blank.
_WHOLE_NUMBER = re.compile(rb"\d{1,18}(?=[\s,]|$)")
_STILL_RUNNING = "the output ends before it does: the run goes on, or was killed"
_LACKS_LINES = "lines of the output are missing before its end"
_BROKEN_OFF = "the simulator broke it off at its limit of cycles or instructions"


@dataclass(frozen=True, slots=True)
class SimulatedKernel:
    """What the output says of one launch, or of several that have one block.

    Attributes
    ----------
    facts : no cycles and instructions where it was not simulated to its end.
    uids : the launches' numbers in the run; none where the output does not say.
    trace_id : the number of its trace; None where a program is simulated.
    why_cut : why it was not simulated to its end; empty where it was.
    ran_cycles : how long it ran, to its end or not; None where the output does not say.
    launches : each launch, as it was announced; at least one.
    added : what it added to each counter that was asked for; None where that is not known.
    """

    name: str
    facts: KernelFacts
    uids: tuple[int, ...] = ()
    trace_id: int | None = None
    why_cut: str = ""
    ran_cycles: int | None = None
    launches: tuple[PrintedLaunch, ...] = ()
    added: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """The launches of an output, in the order in which they ended.

    Attributes
    ----------
    has_ended : whether the simulator says so; else it goes on, was killed, or is of a version that does not.
    together : why no record is of one kernel alone; empty where kernels ran one after the other.
    counters_seen : which of the counters that were asked for are printed.
    no_count : why a counter that was asked for cannot be told launch by launch; empty where all can.
    """

    kernels: tuple[SimulatedKernel, ...] = ()
    has_ended: bool = False
    together: str = ""
    counters_seen: frozenset[bytes] = frozenset()
    no_count: str = ""


@dataclass(slots=True)
class _Run:
    """A run while its lines are read.

    Attributes
    ----------
    announced : the launches that have not ended yet.
    cycles : of the last kernel; None where its line is missing.
    total_cycles : of all launches up to the last one.
    has_totals : whether the last block says how far the run's totals are.
    is_in_block : whether what is printed now is still of the last kernel.
    lacks_lines : whether the block that is read has lines of two launches.
    has_block_ended : whether its last line has been seen.
    """

    totals: RunningTotals
    kernels: list[SimulatedKernel] = field(default_factory=list)
    announced: AnnouncedLaunches = field(default_factory=AnnouncedLaunches)
    numbers: dict[bytes, int] = field(default_factory=dict)
    name: str = ""
    uids: tuple[int, ...] = ()
    cycles: int | None = None
    total_cycles: int = 0
    has_totals: bool = True
    is_in_block: bool = False
    lacks_lines: bool = False
    are_uids_printed: bool = False
    has_block_ended: bool = False
    is_broken_off: bool = False
    has_ended: bool = False
    together: str = ""

    @property
    def cores(self) -> int | None:
        """Cores of the GPU: clusters times the cores of each, which is one unless said otherwise."""
        clusters = self.numbers.get(CLUSTERS)
        return None if clusters is None else clusters * self.numbers.get(CORES_PER_CLUSTER, 1)

    def take(self, key: bytes, text: bytes) -> None:
        """Take one line."""
        if key in OF_HEADER:
            self.has_ended = False
            self.announced.take(key, text)
        elif key == NAME:
            self._close_block(is_whole=True)
            self.name, self.uids, self.lacks_lines = _text(text), (), False
            self.numbers.pop(CYCLES, None)
        elif key == UID:
            self._close_block(is_whole=True)
            self.uids = tuple(int(number) for number in _NUMBER.findall(text))
            self.are_uids_printed = True
        elif key == STREAM:
            self.totals.stream = text.strip()
        elif key == BREAK:
            self._break_off()
        elif key == EXIT:
            self.has_ended = self.has_block_ended = True
        elif number := _WHOLE_NUMBER.match(text):
            self._take_number(key, int(number[0]))
        if self.is_in_block:
            self.totals.take(key, text)

    def _take_number(self, key: bytes, number: int) -> None:
        if key == CYCLES and CYCLES in self.numbers:
            self.lacks_lines = True
        self.numbers[key] = number
        if key == CYCLES:
            self._close_block(is_whole=True)
        elif key == INSTRUCTIONS:
            self._finish()
        elif key == CONCURRENT and number == 1:
            self.together = "kernels ran concurrently (-gpgpu_concurrent_kernel_sm 1)"
        elif key == SIMULATION_RATE:
            self.has_block_ended = True
        elif key in TOTALS:
            self.has_totals = True
            if key == TOTAL_CYCLES:
                self._follow_on(number)
            self._cut_at_limit(key, number)

    def _follow_on(self, total_cycles: int) -> None:
        """Check that the run's total continues that of the block before: else counters do not either."""
        before = None if self.cycles is None else total_cycles - self.cycles
        if before != self.total_cycles or not self.is_in_block:
            self.totals.begin_anew(is_known=before == 0 and self.is_in_block)
            if self.is_in_block and len(self.kernels) > 1 and (before or 0) > self.total_cycles:
                # What was announced before the gap may be another launch than the one that ended after it.
                self._cut_last(_LACKS_LINES)
        self.total_cycles = total_cycles

    def _finish(self) -> None:
        """Add the kernel, or the kernels of one block, whose cycles and instructions have been read."""
        self._close_block(is_whole=True)
        has_limit = any(self.numbers.get(limit) for limit in CTA_LIMITS)
        if self.kernels and not self.name and not self.uids and not has_limit:
            self.together = "kernels ran concurrently (a block of the output has no kernel_name)"
        if any(after - uid != 1 for uid, after in zip(self.uids, self.uids[1:], strict=False)):
            shown = ", ".join(map(str, self.uids))
            self.together = f"kernels ran concurrently (launches {shown} have one block)"
        names = self.name.split() if len(self.uids) > 1 else [self.name]
        uids = self.uids if len(self.uids) == len(names) else (None,) * len(names)
        if self.name and not self.uids and self.are_uids_printed:
            launches: tuple[PrintedLaunch, ...] = (PrintedLaunch(self.name),)
        else:
            launches = tuple(
                self.announced.take_out(name, uid) for name, uid in zip(names, uids, strict=True)
            )
        ctas = [launch.ctas for launch in launches if launch.ctas is not None]
        first = launches[0]
        # A line may be missing from the next block: what this one says is not of it.
        self.cycles, self.name = self.numbers.pop(CYCLES, None), ""
        self.has_totals = self.has_block_ended = False
        self.is_in_block = True
        self._add(
            " + ".join(launch.name for launch in launches),
            launches,
            sum(ctas) if len(ctas) == len(names) else None,
            self.uids or (() if first.uid is None else (first.uid,)),
            _LACKS_LINES if self.lacks_lines else _BROKEN_OFF if self.is_broken_off else "",
        )
        self.uids = ()

    def _close_block(self, *, is_whole: bool) -> None:
        """Take what is printed from here on for no more of the last kernel."""
        if self.is_in_block:
            self.totals.close(is_whole=is_whole)
        self.is_in_block = False

    def _cut_at_limit(self, total: bytes, number: int) -> None:
        """Mark the last kernel as ended by a limit that the run's total has reached."""
        for limit, compared in TOTAL_OF_LIMIT.items():
            most = self.numbers.get(limit, 0)
            if compared == total and self.kernels and 0 < most <= number:
                self._cut_last(f"{limit.decode()} {most} ended it")

    def _break_off(self) -> None:
        """Mark the kernel that reached the simulator's own limit as not simulated to its end.

        Newer versions have already printed its cycles and instructions up to there; older ones print none, so
        that its header is still in the list.
        """
        if self.kernels and self.kernels[-1].why_cut:
            return
        if self.announced.launches:
            self.is_broken_off = True
        elif self.kernels:
            self._cut_last(_BROKEN_OFF)

    def _cut_last(self, why: str) -> None:
        last = self.kernels[-1]
        facts = replace(last.facts, cycles=None, instructions=None)
        self.kernels[-1] = replace(last, facts=facts, why_cut=why)

    def _add(
        self,
        name: str,
        launches: tuple[PrintedLaunch, ...],
        ctas: int | None,
        uids: tuple[int, ...],
        why_cut: str,
        *,
        has_run: bool = True,
    ) -> None:
        cycles = self.cycles if has_run else None
        facts = KernelFacts(
            cycles=None if why_cut else cycles,
            instructions=None if why_cut else self.numbers.get(INSTRUCTIONS),
            ctas=ctas,
            ctas_per_core=self.numbers.get(CTAS_PER_CORE),
            cores=self.cores,
        )
        trace_id = launches[0].trace_id if len(launches) == 1 else None
        self.kernels.append(SimulatedKernel(name, facts, uids, trace_id, why_cut, cycles, launches))

    def end(self) -> SimulatedRun:
        """Return all kernels; the first with nothing but a header was running when the output ended."""
        self._close_block(is_whole=self.has_block_ended)
        has_limit = any(self.numbers.get(limit) for limit in TOTAL_OF_LIMIT)
        if has_limit and not self.has_totals and not self.kernels[-1].why_cut:
            # Whether a limit ended it stands in the lines that are missing.
            self._cut_last(_STILL_RUNNING)
        for header in self.announced.launches[:1]:
            why = _BROKEN_OFF if self.is_broken_off else _STILL_RUNNING
            uids = () if header.uid is None else (header.uid,)
            self._add(header.name, (header,), header.ctas, uids, why, has_run=False)
        # The kernels that have a block come before the one that was running.
        for place, added in enumerate(self.totals.added()):
            self.kernels[place] = replace(self.kernels[place], added=added)
        return SimulatedRun(
            tuple(self.kernels), self.has_ended, self.together, self.totals.seen, self.totals.no_count
        )


def simulated_run(lines: Iterable[Line], counters: Sequence[bytes] = ()) -> SimulatedRun:
    """Return what an output says of its launches.

    ``CTA/core`` is printed where it changes, so that a kernel has the last one printed before its end.

    Parameters
    ----------
    lines : those of `printed_lines`; they are read once and not kept.
    counters : what else to return of each launch, by the name that is printed.
    """
    run = _Run(RunningTotals(counters))
    for key, text in lines:
        run.take(key, text)
    return run.end()


def _text(text: bytes) -> str:
    return text.strip().decode("utf-8", "replace")
