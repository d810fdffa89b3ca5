"""What GPGPU-Sim and Accel-Sim print of each launch: its name and grid, what a core holds, what it took.

Each launch has a header before it runs: ``-kernel name`` and ``-grid dim`` where traces are simulated,
``pushing kernel`` where a program is. What it took follows in a block of ``kernel_name``,
``kernel_launch_uid``, ``gpu_sim_cycle``, ``gpu_sim_insn`` and many counters. The simulator prints one block
for several launches where they follow each other too closely, and one without a name for a launch that was
printed before: kernels that ran at once, or one left over by a limit on thread blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
from sampling.simulators.accel_sim.running_totals import RunningTotals

_NUMBER = re.compile(rb"\d+")
_STILL_RUNNING = "the output ends before it does: the run goes on, or was killed"
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
    total_cycles : of all launches before the one whose block is read.
    has_totals : whether the last block says how far the run's totals are.
    is_in_block : whether what is printed now is still of the last kernel.
    has_block_ended : whether its last line has been seen.
    """

    totals: RunningTotals
    kernels: list[SimulatedKernel] = field(default_factory=list)
    announced: AnnouncedLaunches = field(default_factory=AnnouncedLaunches)
    numbers: dict[bytes, int] = field(default_factory=dict)
    name: str = ""
    uids: tuple[int, ...] = ()
    total_cycles: int = 0
    has_totals: bool = True
    is_in_block: bool = False
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
            self.name, self.uids = _text(text), ()
        elif key == UID:
            self.uids = tuple(int(number) for number in _NUMBER.findall(text))
        elif key == STREAM:
            self.totals.stream = text.strip()
        elif key == BREAK:
            self._break_off()
        elif key == EXIT:
            self.has_ended = self.has_block_ended = True
        elif number := _NUMBER.match(text):
            self._take_number(key, int(number[0]))
        if self.is_in_block:
            self.totals.take(key, text)

    def _take_number(self, key: bytes, number: int) -> None:
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
        before = total_cycles - self.numbers.get(CYCLES, 0)
        if before != self.total_cycles:
            self.totals.begin_anew(is_known=before == 0)
        self.total_cycles = total_cycles

    def _finish(self) -> None:
        """Add the kernel, or the kernels of one block, whose cycles and instructions have been read."""
        has_limit = any(self.numbers.get(limit) for limit in CTA_LIMITS)
        if self.kernels and not self.name and not self.uids and not has_limit:
            self.together = "kernels ran concurrently (a block of the output has no kernel_name)"
        if any(after - uid != 1 for uid, after in zip(self.uids, self.uids[1:], strict=False)):
            shown = ", ".join(map(str, self.uids))
            self.together = f"kernels ran concurrently (launches {shown} have one block)"
        names = self.name.split() if len(self.uids) > 1 else [self.name]
        uids = self.uids if len(self.uids) == len(names) else (None,) * len(names)
        launches = tuple(self.announced.take_out(name, uid) for name, uid in zip(names, uids, strict=True))
        ctas = [launch.ctas for launch in launches if launch.ctas is not None]
        first = launches[0]
        self.has_totals = self.has_block_ended = False
        self.is_in_block = True
        self._add(
            " + ".join(launch.name for launch in launches),
            launches,
            sum(ctas) if len(ctas) == len(names) else None,
            self.uids or (() if first.uid is None else (first.uid,)),
            _BROKEN_OFF if self.is_broken_off else "",
        )

    def _close_block(self, *, is_whole: bool) -> None:
        """Note what the last kernel added to the counters, once its block is over."""
        if self.is_in_block:
            self.kernels[-1] = replace(self.kernels[-1], added=self.totals.added(is_whole=is_whole))
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
        cycles = self.numbers.get(CYCLES) if has_run else None
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
