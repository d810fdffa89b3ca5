"""Principal Kernel Projection: stop inside a kernel once its IPC is steady, and project its cycles.

Source: Principal Kernel Analysis, section 3.2 (docs/methods.md, 9 Projection). The kernel's IPC, instructions
over cycles since its start, is steady where its relative standard deviation over the last 3000 cycles is
below s = 0.25 per cent. The stop waits until as many thread blocks have finished as fill the GPU, one wave. A
grid smaller than a wave waits for 0.3 of its thread blocks; the paper drops the condition for it, which can
project a kernel far too long. The window is the last 3000 cycles whole: a kernel younger than that is not
steady yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import OptionError
from sampling.projection.interval_log import IntervalLog, KernelFacts

_ARTIFACT_SAMPLES = 6
# Cycles are counted in 64 bits: a window longer than this is longer than any log.
_MOST_CYCLES = 2**62
# Keeps a share that is a whole number of thread blocks from being rounded up for a product's last bit.
_ROUNDING = 1e-9


class Lack(StrEnum):
    """What a log lacks for the method to work as it is meant."""

    WAVE = "wave-unknown"
    TOTAL = "total-unknown"
    CTAS = "no-finished-ctas"
    COARSE = "coarse-log"
    CARRIED = "carried-ctas"
    CUT = "cut-short"


class Basis(StrEnum):
    """What the work left is counted in."""

    INSTRUCTIONS = "instructions"
    CTAS = "ctas"
    END = "end"


@dataclass(frozen=True, slots=True)
class ProjectionRule:
    """When to stop, and how to project.

    Attributes
    ----------
    stability_percent : s, the relative standard deviation of the IPC to come below, in per cent.
    window_cycles : how far back the standard deviation looks.
    small_grid_share : the share of a grid smaller than a wave that must be done; 0 is the paper's rule.
    artifact : the rule of the published artifact: windows of six samples, steadiness and thread blocks may be
        reached at different times, the work left is counted in thread blocks.
    """

    stability_percent: float = 0.25
    window_cycles: int = 3000
    small_grid_share: float = 0.3
    artifact: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.stability_percent < np.inf:
            raise OptionError(
                f"the stability is a number of per cent above 0, not {self.stability_percent:g}"
            )
        if self.window_cycles < 1:
            raise OptionError(f"the window is 1 cycle or more, not {self.window_cycles}")
        if self.window_cycles > _MOST_CYCLES:
            raise OptionError(f"the window is 2^62 cycles or fewer, not {self.window_cycles}")
        if not 0 <= self.small_grid_share <= 1:
            raise OptionError(f"the share of a small grid is from 0 to 1, not {self.small_grid_share:g}")


@dataclass(frozen=True, slots=True)
class Projection:
    """Where a kernel's simulation can stop, and what that says of the whole.

    Attributes
    ----------
    stopped : whether the rule stops it; else it runs to the log's end.
    cycle : where it stops.
    projected_cycles : of the whole kernel; None where nothing says how much work is left.
    total_cycles : of the whole kernel as simulated; None where the log does not say.
    ipc : instructions over cycles, up to the stop.
    ctas_done : thread blocks finished up to the stop.
    ctas_needed : those to wait for; None where unknown.
    basis : what the work left was counted in.
    spread_percent : the IPC's relative standard deviation at the stop; None where it does not stop.
    reason : why it stops there, or does not stop.
    totals : what is known of the whole kernel.
    lacks : what the log lacks.
    """

    stopped: bool
    cycle: int
    projected_cycles: float | None
    total_cycles: int | None
    ipc: float
    ctas_done: int
    ctas_needed: int | None
    basis: Basis
    spread_percent: float | None
    reason: str
    totals: KernelFacts
    lacks: tuple[Lack, ...]

    @property
    def speedup(self) -> float | None:
        """Cycles of the whole kernel, as simulated or else as projected, for each one simulated."""
        if not self.stopped:
            return 1.0
        whole = self.projected_cycles if self.total_cycles is None else self.total_cycles
        return None if whole is None else whole / self.cycle

    @property
    def error(self) -> float | None:
        """Relative error of the projected cycles, a fraction; None where the true ones are unknown."""
        if self.projected_cycles is None or self.total_cycles is None:
            return None
        return abs(self.projected_cycles - self.total_cycles) / self.total_cycles


@dataclass(frozen=True, slots=True)
class _Signal:
    """A log as the rule sees it, (n,) each: IPC so far, its spread, where that is steady, CTAs done."""

    ipc: FloatArray
    spread_percent: FloatArray
    steady: BoolArray
    ctas_done: IntArray


def project(log: IntervalLog, rule: ProjectionRule) -> Projection:
    """Apply the rule to a kernel's log.

    Raises
    ------
    AnalysisError : the log has more instructions, thread blocks or cycles than the kernel is known to have.
    """
    totals = log.totals()
    signal = _signal(log, rule)
    needed = ctas_needed(totals, rule)
    # Records of several launches are of no kernel: their IPC says nothing of any one.
    stop = None if len(log.launches) > 1 else _stop(signal, needed, artifact=rule.artifact)
    at = log.cycle.size - 1 if stop is None else stop
    basis, projected = _projected(log, signal, at, totals, rule)
    if stop is None:
        basis, projected = Basis.END, None if totals.cycles is None else float(totals.cycles)
    return Projection(
        stopped=stop is not None,
        cycle=int(log.cycle[at]) if stop is not None or totals.cycles is None else totals.cycles,
        projected_cycles=projected,
        total_cycles=totals.cycles,
        ipc=float(signal.ipc[at]),
        ctas_done=int(signal.ctas_done[at]),
        ctas_needed=needed,
        basis=basis,
        spread_percent=None if stop is None else float(signal.spread_percent[stop]),
        reason=_reason_to_run_on(log, signal, needed, rule)
        if stop is None
        else _reason(signal, at, totals, rule),
        totals=totals,
        lacks=_lacks(log, signal, totals, rule, is_total_missing=stop is not None and projected is None),
    )


def cumulative_ipc(log: IntervalLog) -> FloatArray:
    """Return (n,) instructions over cycles from the kernel's start to the end of each interval."""
    return np.cumsum(log.instructions) / log.cycle


def _signal(log: IntervalLog, rule: ProjectionRule) -> _Signal:
    ipc = cumulative_ipc(log)
    place = np.arange(ipc.size)
    if rule.artifact:
        first = np.maximum(place - _ARTIFACT_SAMPLES + 1, 0)
        is_full = place >= _ARTIFACT_SAMPLES - 1
    else:
        # Before the kernel's start there is nothing: a window that reaches there is not full.
        first = np.searchsorted(log.cycle, log.cycle - rule.window_cycles, side="right")
        is_full = log.cycle >= rule.window_cycles
    spread = np.where(is_full, relative_spread_percent(ipc, first), np.nan)
    return _Signal(ipc, spread, spread < rule.stability_percent, np.cumsum(log.ctas))


def ctas_needed(totals: KernelFacts, rule: ProjectionRule) -> int | None:
    """Return how many thread blocks must be done: a wave, or a share of a grid that is smaller.

    Where the wave is unknown it is the share of the grid; None where that is unknown too, or has none.
    """
    wave, grid = totals.wave_ctas, totals.ctas
    if wave is not None and (grid is None or grid >= wave):
        return wave
    if not grid:
        return None
    return int(np.ceil(rule.small_grid_share * grid - _ROUNDING))


def _stop(signal: _Signal, needed: int | None, *, artifact: bool) -> int | None:
    """Return the index of the sample to stop at, None where there is none."""
    if needed is None:
        return None
    done = signal.ctas_done >= needed
    if not artifact:
        return _first(signal.steady & done)
    steady_at, done_at = _first(signal.steady), _first(done)
    return None if steady_at is None or done_at is None else max(steady_at, done_at)


def _first(condition: BoolArray) -> int | None:
    found = np.flatnonzero(condition)
    return int(found[0]) if found.size else None


def _projected(
    log: IntervalLog, signal: _Signal, at: int, totals: KernelFacts, rule: ProjectionRule
) -> tuple[Basis, float | None]:
    """Return what the work left is counted in, and the cycles of the whole kernel.

    No projection is below the cycles already simulated, which the thread blocks' could be at the end.
    """
    cycle = int(log.cycle[at])
    if totals.instructions is not None and not rule.artifact:
        left = totals.instructions - int(log.instructions[: at + 1].sum())
        if left == 0:
            return Basis.INSTRUCTIONS, float(cycle)
        if signal.ipc[at] > 0:
            return Basis.INSTRUCTIONS, cycle + left / float(signal.ipc[at])
    if totals.ctas is None:
        return Basis.CTAS, None
    # The artifact counts one more than are done.
    worked = int(signal.ctas_done[at]) + 1.0 if rule.artifact else ctas_worked(log, at, totals)
    return Basis.CTAS, max(totals.ctas / worked * cycle, float(cycle))


def _lacks(
    log: IntervalLog, signal: _Signal, totals: KernelFacts, rule: ProjectionRule, *, is_total_missing: bool
) -> tuple[Lack, ...]:
    is_long = log.cycle[-1] >= rule.window_cycles and log.instructions.any()
    found = {
        Lack.WAVE: totals.wave_ctas is None,
        Lack.TOTAL: is_total_missing,
        # Of a kernel known to end after its last record all may have finished since: no log would say more.
        Lack.CTAS: not log.ctas.any() and (log.facts.cycles or 0) <= int(log.cycle[-1]),
        Lack.COARSE: not rule.artifact and is_long and bool(np.isnan(signal.spread_percent).all()),
        Lack.CARRIED: log.has_carried_ctas,
        Lack.CUT: log.is_cut_short,
    }
    return tuple(lack for lack, is_so in found.items() if is_so)


def _reason(signal: _Signal, at: int, totals: KernelFacts, rule: ProjectionRule) -> str:
    over = f"{_ARTIFACT_SAMPLES} records" if rule.artifact else f"{rule.window_cycles:,} cycles"
    spread = signal.spread_percent[at]
    # The artifact may have seen the steady IPC earlier than the stop.
    steady = (
        "IPC steady before"
        if not spread < rule.stability_percent
        else f"IPC within {spread:.2g} % over {over}"
    )
    return f"{steady}; {int(signal.ctas_done[at]):,} CTAs done, {_what_is_needed(totals, rule)}"


def _what_is_needed(totals: KernelFacts, rule: ProjectionRule) -> str:
    wave, grid = totals.wave_ctas, totals.ctas
    if wave is not None and (grid is None or grid >= wave):
        return f"a wave is {wave:,}"
    share = f"{rule.small_grid_share:g} of the grid's {grid:,}"
    why = "the wave is unknown" if wave is None else f"a wave is {wave:,}"
    return f"{share} needed as {why}"


def _reason_to_run_on(log: IntervalLog, signal: _Signal, needed: int | None, rule: ProjectionRule) -> str:
    if len(log.launches) > 1:
        numbers = ", ".join(map(str, log.launches))
        return f"the simulator printed launches {numbers} as one, so that no record is of one alone"
    return _reason_not_to_stop(log, signal, needed, rule)


def _reason_not_to_stop(log: IntervalLog, signal: _Signal, needed: int | None, rule: ProjectionRule) -> str:
    if needed is None and log.ctas.any():
        return "neither the wave nor the grid is known, so it cannot be said when to stop"
    if needed is None:
        return "no CTA finishes in the log, so it cannot be said when to stop"
    if np.isnan(signal.spread_percent).all():
        return _reason_without_window(log, rule)
    done = int(signal.ctas_done[-1])
    if done < needed:
        return f"{done:,} CTAs done at the log's end, {needed:,} needed"
    if not signal.steady.any():
        least = np.nanmin(signal.spread_percent)
        asked = f"less than {rule.stability_percent:g} % is asked"
        return f"never steady: IPC stays within {least:.2g} % at best, {asked}"
    return f"steady only before {needed:,} CTAs were done"


def _reason_without_window(log: IntervalLog, rule: ProjectionRule) -> str:
    if not np.any(cumulative_ipc(log)):
        return "no instruction in the log"
    if rule.artifact:
        return f"{log.cycle.size} records, {_ARTIFACT_SAMPLES} needed"
    if log.cycle[-1] < rule.window_cycles:
        return f"the log is shorter than the window of {rule.window_cycles:,} cycles"
    return f"no window of {rule.window_cycles:,} cycles holds {LEAST_SAMPLES} records"


def ctas_worked(log: IntervalLog, at: int, totals: KernelFacts) -> float:
    """Return the thread blocks finished up to a record, and those in flight by what they have done.

    A thread block starts when one before it finishes. Those in flight are then as old as the last wave of
    finished ones is long past, and what they have done are the instructions since. Where none has followed
    another yet, half of each is the middle. Without a wave to say how many are in flight, or without any
    finished, one more than are done, as published.

    Parameters
    ----------
    at : the index of the record.
    totals : what is known of the whole kernel.
    """
    finished = np.cumsum(log.ctas[: at + 1])
    executed = np.cumsum(log.instructions[: at + 1])
    done, wave = int(finished[-1]), totals.wave_ctas
    if wave is None or done == 0:
        return done + 1.0
    in_flight = wave if totals.ctas is None else min(wave, totals.ctas)
    if done < in_flight:
        return (done + in_flight) / 2
    before_last_wave = done - in_flight
    counted = np.diff(np.maximum(finished, before_last_wave), prepend=before_last_wave)
    # Thread blocks finish anywhere within a record.
    finished_at = float(np.average(executed - log.instructions[: at + 1] / 2, weights=counted))
    return done * float(executed[-1]) / finished_at if finished_at > 0 else done + 1.0


#: With fewer there is no standard deviation.
LEAST_SAMPLES = 2


def relative_spread_percent(signal: FloatArray, first: IntArray) -> FloatArray:
    """Return (n,) 100 times standard deviation over mean of the window that ends at each sample.

    NaN for a window of one sample, and one of zeros alone. The standard deviation is the sample's (n - 1).

    Blocks of 1, 2, 4, ... samples are merged by mean and sum of squared deviations (Chan, Golub and LeVeque),
    so nothing cancels however long the log and however small the deviations: only deviations are squared.

    Parameters
    ----------
    signal : (n,) float64.
    first : (n,) int64, the index of the first sample of each window.
    """
    samples = np.arange(signal.size) - first + 1
    mean, squares = _window_moments(signal, samples)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = 100 * np.sqrt(squares / (samples - 1)) / np.abs(mean)
    return np.where(samples >= LEAST_SAMPLES, spread, np.nan)


def _window_moments(signal: FloatArray, samples: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return (n,) mean and sum of squared deviations of the last ``samples`` samples at each sample."""
    mean, squares = np.zeros(signal.size), np.zeros(signal.size)
    taken = np.zeros(signal.size, dtype=np.int64)
    block_mean, block_squares = signal.astype(np.float64), np.zeros(signal.size)
    size, largest = 1, int(samples.max(initial=0))
    while size <= largest:
        at = np.flatnonzero(samples & size)
        block = at - taken[at]
        mean[at], squares[at] = _merged(
            mean[at], squares[at], taken[at], block_mean[block], block_squares[block], size
        )
        taken[at] += size
        # Blocks that would begin before the log stay as they are: no window asks for them.
        block_mean[size:], block_squares[size:] = _merged(
            block_mean[size:], block_squares[size:], size, block_mean[:-size], block_squares[:-size], size
        )
        size *= 2
    return mean, squares


def _merged(
    mean: FloatArray,
    squares: FloatArray,
    count: IntArray | int,
    other_mean: FloatArray,
    other_squares: FloatArray,
    other_count: int,
) -> tuple[FloatArray, FloatArray]:
    """Return mean and sum of squared deviations of two sets of samples together."""
    total = count + other_count
    apart = other_mean - mean
    return (
        mean + apart * (other_count / total),
        squares + other_squares + apart * apart * (count * (other_count / total)),
    )
