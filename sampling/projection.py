"""Principal Kernel Projection: stop inside a kernel once its IPC is steady, and project its cycles.

The kernel's IPC, instructions over cycles since its start, is steady where its relative standard deviation
over the last 3000 cycles is below s = 0.25 per cent. The stop waits until as many thread blocks have
finished as fill the GPU, one wave; a grid smaller than a wave waits for 0.3 of its thread blocks, for the
paper's rule without that can project it far too long. [Principal Kernel Analysis, section 3.2;
docs/methods.md, 9 Projection]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import AnalysisError, OptionError
from sampling.record import Amount, Count, Index, Record

_ARTIFACT_SAMPLES = 6
# Cycles are counted in 64 bits: a window longer than this is longer than any log.
_MOST_CYCLES = 2**62
# Keeps a share that is a whole number of thread blocks from being rounded up for a product's last bit.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """What is known of a kernel besides its intervals; None where nothing says it."""

    #: Of the whole kernel, from its start to its true end.
    cycles: int | None = None
    instructions: int | None = None
    #: Thread blocks of its grid, and those that one core holds at once.
    ctas: int | None = None
    ctas_per_core: int | None = None
    #: Cores (SMs) of the simulated GPU.
    cores: int | None = None

    @property
    def wave_ctas(self) -> int | None:
        """The thread blocks that fill the GPU: those of one wave."""
        if self.ctas_per_core is None or self.cores is None:
            return None
        return self.ctas_per_core * self.cores


@dataclass(frozen=True, slots=True)
class IntervalLog:
    """One kernel's log, at least one interval long; (n,) int64 arrays have an entry an interval."""

    #: The kernel's, or "kernel 3" by its place in the log where none is known.
    name: str
    #: The cycle in which each interval ends, counted from the kernel's start, ascending.
    cycle: IntArray
    #: Executed, and thread blocks finished, within each interval.
    instructions: IntArray
    ctas: IntArray
    facts: KernelFacts = KernelFacts()
    #: Whether it is known that the kernel runs on after the last interval, and why, a clause.
    is_cut_short: bool = False
    why_cut: str = ""
    #: The launches' numbers in the run; several where the simulator tells them apart no more.
    launches: tuple[int, ...] = ()
    #: The number of the trace that was simulated.
    trace_id: int | None = None
    #: How many launches without an interval of their own ran since the log before, and after the run's last.
    unrecorded_before: int = 0
    unrecorded_after: int = 0
    #: Whether the first interval may count thread blocks of kernels that ran before.
    has_carried_ctas: bool = False

    def totals(self) -> KernelFacts:
        """Return the facts, completed by the log's own end where it is the kernel's end.

        A log is taken to run to the kernel's end unless it is known to be cut short, or has fewer
        instructions or thread blocks than the kernel is known to have. Raises AnalysisError: it has more than
        the kernel; thread blocks may be of other kernels, and are then the most that the grid can have.
        """
        facts = self.facts
        cycles, instructions, ctas = int(self.cycle[-1]), int(self.instructions.sum()), int(self.ctas.sum())
        logged = [(cycles, facts.cycles, "cycles"), (instructions, facts.instructions, "instructions")]
        if not self.has_carried_ctas:
            logged.append((ctas, facts.ctas, "thread blocks"))
        for logged_value, value, noun in logged:
            if value is not None and logged_value > value:
                raise AnalysisError(
                    f"{self.name}: its log has {logged_value:,} {noun}, the whole kernel {value:,}",
                    remedy="correct the number given for the kernel, or give the log of the same run",
                )
        is_short = (facts.instructions or 0) > instructions or (facts.ctas or 0) > ctas
        if facts.cycles != cycles and (facts.cycles is not None or self.is_cut_short or is_short):
            return facts
        instructions = instructions if facts.instructions is None else facts.instructions
        ctas = ctas if facts.ctas is None else facts.ctas
        return replace(facts, cycles=cycles, instructions=instructions, ctas=ctas)


class Lack(StrEnum):
    """What a log lacks for the method to work as it is meant."""

    WAVE = "wave-unknown"
    TOTAL = "total-unknown"
    CTAS = "no-finished-ctas"
    COARSE = "coarse-log"
    CARRIED = "carried-ctas"
    CUT = "cut-short"


@dataclass(frozen=True, slots=True)
class ProjectionRule:
    """When to stop, and how to project; OptionError where that cannot be."""

    #: s, the relative standard deviation of the IPC to come below, in per cent.
    stability_percent: float = 0.25
    #: How far back the standard deviation looks.
    window_cycles: int = 3000
    #: The share of a grid smaller than a wave that must be done; 0 is the paper's rule.
    small_grid_share: float = 0.3
    #: The rule of the published artifact: windows of six samples, steadiness and thread blocks may be reached
    #: at different times, the work left is counted in thread blocks.
    artifact: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.stability_percent < np.inf:
            raise OptionError(
                f"the stability is a number of per cent above 0, not {self.stability_percent:g}"
            )
        if not 1 <= self.window_cycles <= _MOST_CYCLES:
            raise OptionError(f"the window is from 1 to 2^62 cycles, not {self.window_cycles}")
        if not 0 <= self.small_grid_share <= 1:
            raise OptionError(f"the share of a small grid is from 0 to 1, not {self.small_grid_share:g}")


@dataclass(frozen=True, slots=True)
class Projection:
    """Where a kernel's simulation can stop, and what that says of the whole; unknown numbers are None."""

    #: Whether the rule stops it; else it runs to the log's end.
    stopped: bool
    cycle: int
    #: Of the whole kernel, as projected and as simulated.
    projected_cycles: float | None
    total_cycles: int | None
    #: Instructions over cycles, and thread blocks finished, up to the stop; thread blocks to wait for.
    ipc: float
    ctas_done: int
    ctas_needed: int | None
    #: What the work left is counted in: instructions, ctas, or end where it does not stop.
    basis: str
    #: The IPC's relative standard deviation at the stop; None where it does not stop.
    spread_percent: float | None
    #: Why it stops there, or does not stop.
    reason: str
    #: What is known of the whole kernel.
    totals: KernelFacts
    lacks: tuple[Lack, ...]

    @property
    def speedup(self) -> float | None:
        """Cycles of the whole kernel, as simulated or else as projected, for each one simulated."""
        if not self.stopped:
            return 1.0
        total = self.projected_cycles if self.total_cycles is None else self.total_cycles
        return None if total is None else total / self.cycle

    @property
    def error(self) -> float | None:
        """Relative error of the projected cycles, a fraction; None where the true ones are unknown."""
        if self.projected_cycles is None or self.total_cycles is None:
            return None
        return abs(self.projected_cycles - self.total_cycles) / self.total_cycles


class ProjectedKernel(Record, frozen=True):
    """Where a kernel's simulation can stop; see `Projection`."""

    kernel: str
    stopped: bool
    cycle: Index
    projected_cycles: Amount | None
    speedup: Amount | None
    reason: str
    #: Of its launch in the run, or its place among the kernels.
    number: Count
    cycles_logged: Index
    #: Of the whole kernel, and who says so: the simulator, or the log's end, taken for the kernel's.
    total_cycles: Index | None
    total_cycles_from: Literal["simulator", "log"] | None
    error: Amount | None
    ipc: Amount
    spread_percent: Amount | None
    ctas_done: Index
    ctas_needed: Index | None
    wave: Index | None
    total_ctas: Index | None
    launches: Count
    #: Why it is not whole.
    cut_short: str | None
    total_instructions: Index | None
    projected_by: str


def summarise_projection(number: int, log: IntervalLog, projection: Projection) -> ProjectedKernel:
    """Return what a kernel's log says, and what is projected from it."""
    totals = projection.totals
    end_from: Literal["simulator", "log"] | None = None
    if projection.total_cycles is not None:
        end_from = "log" if log.facts.cycles is None else "simulator"
    return ProjectedKernel.from_attributes(
        projection,
        kernel=log.name,
        reason=str(projection.reason),
        number=number,
        cycles_logged=int(log.cycle[-1]),
        total_cycles_from=end_from,
        wave=totals.wave_ctas,
        total_ctas=totals.ctas,
        launches=max(len(log.launches), 1),
        cut_short=(log.why_cut or "the log ends before it does") if log.is_cut_short else None,
        total_instructions=totals.instructions,
        projected_by=projection.basis,
    )


def project(log: IntervalLog, rule: ProjectionRule) -> Projection:
    """Apply the rule to a kernel's log; AnalysisError where the log has more than the kernel."""
    totals, ipc, ctas_done = log.totals(), cumulative_ipc(log), np.cumsum(log.ctas)
    spread = _window_spread_percent(log, ipc, rule)
    needed, what_is_needed = ctas_needed(totals, rule)
    stop = _first_stop(log, spread, needed, rule)
    last = log.cycle.size - 1 if stop is None else stop
    cycle = int(log.cycle[last])
    if stop is None:
        basis, projected = "end", None if totals.cycles is None else float(totals.cycles)
        cycle = cycle if totals.cycles is None else totals.cycles
        reason = _why_not(log, ipc, spread, needed, rule)
    else:
        basis, projected = _projected_cycles(log, totals, stop, float(ipc[stop]), rule)
        over = f"{_ARTIFACT_SAMPLES} records" if rule.artifact else f"{rule.window_cycles:,} cycles"
        # The artifact may have seen the steady IPC earlier than the stop.
        is_steady = spread[stop] < rule.stability_percent
        steadiness = f"IPC within {spread[stop]:.2g} % over {over}" if is_steady else "IPC steady before"
        reason = f"{steadiness}; {int(ctas_done[stop]):,} CTAs done, {what_is_needed}"
    is_long = log.cycle[-1] >= rule.window_cycles and log.instructions.any()
    lacks = {
        Lack.WAVE: totals.wave_ctas is None,
        Lack.TOTAL: stop is not None and projected is None,
        # Of a kernel known to end after its last record all may have finished since: no log would say more.
        Lack.CTAS: not log.ctas.any() and (log.facts.cycles or 0) <= int(log.cycle[-1]),
        Lack.COARSE: not rule.artifact and is_long and bool(np.isnan(spread).all()),
        Lack.CARRIED: log.has_carried_ctas,
        Lack.CUT: log.is_cut_short,
    }
    return Projection(
        stopped=stop is not None,
        cycle=cycle,
        projected_cycles=projected,
        total_cycles=totals.cycles,
        ipc=float(ipc[last]),
        ctas_done=int(ctas_done[last]),
        ctas_needed=needed,
        basis=basis,
        spread_percent=None if stop is None else float(spread[stop]),
        reason=reason,
        totals=totals,
        lacks=tuple(lack for lack, is_so in lacks.items() if is_so),
    )


def _window_spread_percent(log: IntervalLog, ipc: FloatArray, rule: ProjectionRule) -> FloatArray:
    """Return (n,) the relative spread of the IPC over the window that ends at a record; NaN: not full."""
    if rule.artifact:
        first = np.maximum(np.arange(ipc.size) - _ARTIFACT_SAMPLES + 1, 0)
        is_full = np.arange(ipc.size) >= _ARTIFACT_SAMPLES - 1
    else:
        # Before the kernel's start there is nothing: a window that reaches there is not full.
        first = np.searchsorted(log.cycle, log.cycle - rule.window_cycles, side="right")
        is_full = log.cycle >= rule.window_cycles
    return np.where(is_full, relative_spread_percent(ipc, first), np.nan)


def _first_stop(log: IntervalLog, spread: FloatArray, needed: int | None, rule: ProjectionRule) -> int | None:
    """Return the first record with a steady IPC and enough CTAs done; None where there is none.

    The artifact asks for both once, though not at the same record. Records of several launches are of no
    kernel: their IPC says nothing of any one.
    """
    if needed is None or len(log.launches) > 1:
        return None
    steady, enough = spread < rule.stability_percent, np.cumsum(log.ctas) >= needed
    conditions = [steady, enough] if rule.artifact else [steady & enough]
    if not all(condition.any() for condition in conditions):
        return None
    return max(int(np.argmax(condition)) for condition in conditions)


def _projected_cycles(
    log: IntervalLog, totals: KernelFacts, stop: int, ipc: float, rule: ProjectionRule
) -> tuple[str, float | None]:
    """Return by what the kernel's cycles are projected from a stop, and the cycles; None where unknown.

    cycle + (instructions left) / IPC, else CTAs / (CTAs done) * cycle.
    """
    cycle = float(log.cycle[stop])
    if totals.instructions is not None and not rule.artifact:
        left = totals.instructions - int(log.instructions[: stop + 1].sum())
        if left == 0 or ipc > 0:
            return "instructions", cycle + left / ipc if left else cycle
    if totals.ctas is None:
        return "ctas", None
    # The artifact counts one more than are done. No projection is below the cycles already simulated.
    ctas_done = int(log.ctas[: stop + 1].sum())
    worked = ctas_done + 1.0 if rule.artifact else _ctas_worked(log, stop, totals)
    return "ctas", max(totals.ctas / worked * cycle, cycle)


def cumulative_ipc(log: IntervalLog) -> FloatArray:
    """Return (n,) instructions over cycles from the kernel's start to the end of each interval."""
    return np.cumsum(log.instructions) / log.cycle


def ctas_needed(totals: KernelFacts, rule: ProjectionRule) -> tuple[int | None, str]:
    """Return how many thread blocks must be done, and why: a wave, or a share of a grid that is smaller.

    Where the wave is unknown it is the share of the grid; None where that is unknown too, or has none.
    """
    wave = totals.wave_ctas
    wave_text = "the wave is unknown" if wave is None else f"a wave is {wave:,}"
    if wave is not None and (totals.ctas is None or totals.ctas >= wave):
        return wave, wave_text
    if not totals.ctas:
        return None, wave_text
    share = int(np.ceil(rule.small_grid_share * totals.ctas - _ROUNDING))
    return share, f"{rule.small_grid_share:g} of the grid's {totals.ctas:,} needed as {wave_text}"


def _why_not(
    log: IntervalLog, ipc: FloatArray, spread: FloatArray, needed: int | None, rule: ProjectionRule
) -> str:
    """Return why a kernel is not stopped."""
    spreads = spread[~np.isnan(spread)]
    window = f"{rule.window_cycles:,} cycles"
    ctas_done = int(log.ctas.sum())
    if len(log.launches) > 1:
        numbers = ", ".join(map(str, log.launches))
        reason = f"the simulator printed launches {numbers} as one, so that no record is of one alone"
    elif needed is None:
        unknown = "neither the wave nor the grid is known" if ctas_done else "no CTA finishes in the log"
        reason = f"{unknown}, so it cannot be said when to stop"
    elif not spreads.size and not ipc.any():
        reason = "no instruction in the log"
    elif not spreads.size and rule.artifact:
        reason = f"{log.cycle.size} records, {_ARTIFACT_SAMPLES} needed"
    elif not spreads.size and log.cycle[-1] < rule.window_cycles:
        reason = f"the log is shorter than the window of {window}"
    elif not spreads.size:
        reason = f"no window of {window} holds 2 records"
    elif ctas_done < needed:
        reason = f"{ctas_done:,} CTAs done at the log's end, {needed:,} needed"
    elif spreads.min() < rule.stability_percent:
        reason = f"steady only before {needed:,} CTAs were done"
    else:
        limit = f"less than {rule.stability_percent:g} % is asked"
        reason = f"never steady: IPC stays within {spreads.min():.2g} % at best, {limit}"
    return reason


def _ctas_worked(log: IntervalLog, record: int, totals: KernelFacts) -> float:
    """Return the thread blocks finished up to a record, and those in flight by what they have done.

    A thread block starts when one before it finishes. Those in flight are then as old as the last wave of
    finished ones is long past, and what they have done are the instructions since. Where none has followed
    another yet, half of each is the middle. Without a wave to say how many are in flight, or without any
    finished, one more than are done, as published.
    """
    finished, executed = np.cumsum(log.ctas[: record + 1]), np.cumsum(log.instructions[: record + 1])
    ctas_done, wave = int(finished[-1]), totals.wave_ctas
    if wave is None or ctas_done == 0:
        return ctas_done + 1.0
    in_flight = wave if totals.ctas is None else min(wave, totals.ctas)
    if ctas_done < in_flight:
        return (ctas_done + in_flight) / 2
    before_last_wave = ctas_done - in_flight
    counted = np.diff(np.maximum(finished, before_last_wave), prepend=before_last_wave)
    # Thread blocks finish anywhere within a record.
    finished_at = float(np.average(executed - log.instructions[: record + 1] / 2, weights=counted))
    return ctas_done * float(executed[-1]) / finished_at if finished_at > 0 else ctas_done + 1.0


def relative_spread_percent(signal: FloatArray, first: IntArray) -> FloatArray:
    """Return (n,) 100 times the sample's standard deviation over mean of the window that ends at each sample.

    NaN for a window of one sample, and one of zeros alone. Blocks of 1, 2, 4, ... samples are merged by mean
    and sum of squared deviations (Chan, Golub and LeVeque), so nothing cancels however long the log and
    however small the deviations: only deviations are squared.

    Parameters
    ----------
    signal : (n,) float64.
    first : (n,) int64, the index of the first sample of each window.
    """
    samples = np.arange(signal.size) - first + 1
    mean, squares = np.zeros((2, signal.size))
    windows = np.zeros(signal.size, dtype=np.int64)
    block_mean, block_squares = signal.astype(np.float64), np.zeros(signal.size)
    size, largest = 1, int(samples.max(initial=0))
    while size <= largest:
        ends = np.flatnonzero(samples & size)
        block = ends - windows[ends]
        so_far = mean[ends], squares[ends], windows[ends]
        mean[ends], squares[ends] = _merged(so_far, (block_mean[block], block_squares[block], size))
        windows[ends] += size
        # Blocks that would begin before the log stay as they are: no window asks for them.
        later = block_mean[size:], block_squares[size:], size
        earlier = block_mean[:-size], block_squares[:-size], size
        block_mean[size:], block_squares[size:] = _merged(later, earlier)
        size *= 2
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = 100 * np.sqrt(squares / (samples - 1)) / np.abs(mean)
    return np.where(samples > 1, spread, np.nan)


_Moments = tuple[FloatArray, FloatArray, IntArray | int]


def _merged(left: _Moments, right: _Moments) -> tuple[FloatArray, FloatArray]:
    """Return mean and sum of squared deviations of two sets of samples, (mean, squares, count) each."""
    share = right[2] / (left[2] + right[2])
    apart = right[0] - left[0]
    return left[0] + apart * share, left[1] + right[1] + apart * apart * (left[2] * share)
