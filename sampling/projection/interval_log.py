"""What a simulator logs of one kernel while it runs: instructions and finished CTAs, interval by interval."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sampling.arrays import IntArray
from sampling.errors import AnalysisError


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """What is known of a kernel besides its intervals; None where nothing says it.

    Attributes
    ----------
    cycles, instructions : of the whole kernel, from its start to its true end.
    ctas : thread blocks of its grid.
    ctas_per_core : thread blocks that one core holds at once.
    cores : cores (SMs) of the simulated GPU.
    """

    cycles: int | None = None
    instructions: int | None = None
    ctas: int | None = None
    ctas_per_core: int | None = None
    cores: int | None = None

    @property
    def wave_ctas(self) -> int | None:
        """The thread blocks that fill the GPU: those of one wave."""
        if self.ctas_per_core is None or self.cores is None:
            return None
        return self.ctas_per_core * self.cores


@dataclass(frozen=True, slots=True)
class IntervalLog:
    """One kernel's log, at least one interval long.

    Attributes
    ----------
    name : the kernel's, or "kernel 3" by its place in the log where none is known.
    cycle : (n,) int64, the cycle in which each interval ends, counted from the kernel's start, ascending.
    instructions : (n,) int64, executed within each interval.
    ctas : (n,) int64, thread blocks finished within each interval.
    facts : what else is known of the kernel.
    is_cut_short : whether it is known that the kernel runs on after the last interval.
    why_cut : why the log ends before the kernel does, a clause; empty where nothing says it.
    launches : the launches' numbers in the run; several where the simulator tells them apart no more, none
        where it does not number them.
    trace_id : the number of the trace that was simulated; None where there is none.
    unrecorded_before, unrecorded_after : how many launches without an interval of their own ran between the
        log before and this one, and after this one, the last of its run.
    has_carried_ctas : whether the first interval may count thread blocks of kernels that ran before.
    """

    name: str
    cycle: IntArray
    instructions: IntArray
    ctas: IntArray
    facts: KernelFacts = KernelFacts()
    is_cut_short: bool = False
    why_cut: str = ""
    launches: tuple[int, ...] = ()
    trace_id: int | None = None
    unrecorded_before: int = 0
    unrecorded_after: int = 0
    has_carried_ctas: bool = False

    def totals(self) -> KernelFacts:
        """Return the facts, completed by the log's own end where it is the kernel's end.

        A log is taken to run to the kernel's end unless it is known to be cut short, or has fewer
        instructions or thread blocks than the kernel is known to have. Thread blocks taken from a log that
        may count those of other kernels are the most that the grid can have.

        Raises
        ------
        AnalysisError : the log has more instructions, thread blocks or cycles than the kernel; more thread
            blocks are no error where some of them may be of other kernels.
        """
        cycles, instructions = int(self.cycle[-1]), int(self.instructions.sum())
        ctas = int(self.ctas.sum())
        facts = self.facts
        logged = [(cycles, facts.cycles, "cycles"), (instructions, facts.instructions, "instructions")]
        if not self.has_carried_ctas:
            logged.append((ctas, facts.ctas, "thread blocks"))
        for seen, known, what in logged:
            if known is not None and seen > known:
                raise AnalysisError(
                    f"{self.name}: its log has {seen:,} {what}, the whole kernel {known:,}",
                    remedy="correct the number given for the kernel, or give the log of the same run",
                )
        is_short = (facts.instructions or 0) > instructions or (facts.ctas or 0) > ctas
        if facts.cycles != cycles and (facts.cycles is not None or self.is_cut_short or is_short):
            return facts
        return replace(
            facts,
            cycles=cycles,
            instructions=instructions if facts.instructions is None else facts.instructions,
            ctas=ctas if facts.ctas is None else facts.ctas,
        )
