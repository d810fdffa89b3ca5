"""The miss-rate curve of an address trace: misses per thousand instructions at each cache capacity.

Source: GPU scale-model simulation, section V-A (docs/methods.md, 10 Scale model): the curve of the shared
last-level cache at the capacities of the scale models and of the targets, from stack distances (its
references [20] and [23]). The cache is taken to be fully associative with least-recently-used replacement.
Counted are the misses of the whole trace in its one order: no SM-private cache is in front, cold misses are
misses, nothing is flushed between kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from scalemodel.arrays import FloatArray, IntArray
from scalemodel.errors import AnalysisError, OptionError
from scalemodel.measurements import MpkiUnit
from scalemodel.miss_rate.shards import shards_misses
from scalemodel.miss_rate.stack_distance import MissCounts, exact_misses, stat_stack_misses
from scalemodel.traces.accesses import AddressTrace


class Method(StrEnum):
    """How the misses are counted: all, those of a sample of the lines, or expected from reuse distances."""

    EXACT = "exact"
    SHARDS = "shards"
    STAT_STACK = "statstack"


@dataclass(frozen=True, slots=True)
class MissRateCurve:
    """Misses by cache capacity.

    Attributes
    ----------
    capacity_bytes : (c,) int64, in the order asked for.
    misses : (c,) float64, cold ones included.
    misses_low, misses_high : (c,) float64, the misses' bounds; the misses themselves where they are exact,
        None where the method states no error.
    accesses : of the trace, each to one line.
    cold : accesses to a line for the first time, which miss at any capacity.
    instructions : those the trace was recorded over, in the unit; None where nothing says it.
    unit : what instructions are counted in: of threads or of warps.
    method : how the misses were counted.
    rate : the share of the lines that was looked at.
    confidence : of the bounds; None where the misses are exact or no error is stated.
    sampled_lines : distinct lines that were looked at; None where all were.
    line_bytes : bytes of a cache line.
    """

    capacity_bytes: IntArray
    misses: FloatArray
    misses_low: FloatArray | None
    misses_high: FloatArray | None
    accesses: int
    cold: float
    instructions: int | None
    unit: MpkiUnit
    method: Method
    rate: float
    confidence: float | None
    sampled_lines: int | None
    line_bytes: int

    @property
    def miss_ratio(self) -> FloatArray:
        """(c,) float64, the share of the accesses that miss."""
        return self.misses / self.accesses

    @property
    def mpki(self) -> FloatArray | None:
        """(c,) float64, misses per thousand instructions of the unit; None where these are not known."""
        return self._per_thousand(self.misses)

    @property
    def low(self) -> FloatArray | None:
        """(c,) float64, the lower bound of the MPKI; None where that or the bound is not known."""
        return self._per_thousand(self.misses_low)

    @property
    def high(self) -> FloatArray | None:
        """(c,) float64, the upper bound of the MPKI; None where that or the bound is not known."""
        return self._per_thousand(self.misses_high)

    def _per_thousand(self, misses: FloatArray | None) -> FloatArray | None:
        if misses is None or self.instructions is None:
            return None
        return 1000 * misses / self.instructions


@dataclass(frozen=True, slots=True)
class CurveOptions:
    """How to make a miss-rate curve.

    Attributes
    ----------
    method : how to count the misses.
    rate : of SHARDS, the share of the lines to look at; above 0 and at most 1.
    confidence : of SHARDS, of the bounds; between 0 and 1.
    unit : what to count instructions in.
    instructions : their number in that unit, where the trace does not say it.
    """

    method: Method = Method.EXACT
    rate: float = 0.01
    confidence: float = 0.95
    unit: MpkiUnit = MpkiUnit.THREAD
    instructions: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise OptionError(f"the sampling rate is above 0 and at most 1, not {self.rate:g}")
        if not 0 < self.confidence < 1:
            raise OptionError(f"the confidence is between 0 and 1, not {self.confidence:g}")
        if self.instructions is not None and self.instructions < 1:
            raise OptionError(f"the number of instructions is 1 or more, not {self.instructions:,}")


def miss_rate_curve(
    trace: AddressTrace,
    capacity_bytes: IntArray,
    options: CurveOptions,
    rng: np.random.Generator,
) -> MissRateCurve:
    """Return the misses of caches of the given capacities.

    Parameters
    ----------
    trace : the accesses.
    capacity_bytes : (c,) int64, each at least one line; a part of a line holds nothing.
    options : how to count them.
    rng : draws which lines are looked at, for SHARDS only.

    Raises
    ------
    OptionError : there is no capacity, or one of less than a line; SHARDS chooses no line; the trace is too
        long; the trace states another number of instructions.
    AnalysisError : the trace has no access.
    """
    capacities = np.asarray(capacity_bytes, dtype=np.int64)
    if not capacities.size:
        raise OptionError("no cache capacity is given", remedy="give one or more, in bytes")
    if capacities.min() < trace.line_bytes:
        raise OptionError(
            f"a cache holds at least one line of {trace.line_bytes} bytes, not {capacities.min():,} bytes"
        )
    if not trace.line.size:
        raise AnalysisError("the trace has no access to memory")
    instructions = _instructions(trace, options)
    counts = _counts(trace, capacities // trace.line_bytes, options, rng)
    is_sampled = options.method is Method.SHARDS
    return MissRateCurve(
        capacity_bytes=capacities,
        misses=counts.misses,
        misses_low=counts.low,
        misses_high=counts.high,
        accesses=trace.line.size,
        cold=counts.cold,
        instructions=instructions,
        unit=options.unit,
        method=options.method,
        rate=options.rate if is_sampled else 1.0,
        confidence=options.confidence if is_sampled else None,
        sampled_lines=counts.sampled_lines,
        line_bytes=trace.line_bytes,
    )


def _instructions(trace: AddressTrace, options: CurveOptions) -> int | None:
    is_thread = options.unit is MpkiUnit.THREAD
    stated = trace.thread_instructions if is_thread else trace.warp_instructions
    given = options.instructions
    if given is None or stated is None:
        return stated if given is None else given
    if given != stated:
        raise OptionError(
            f"{given:,} {options.unit} instructions are given, but the trace states {stated:,}",
            remedy="leave their number out",
        )
    return stated


def _counts(
    trace: AddressTrace, capacity_lines: IntArray, options: CurveOptions, rng: np.random.Generator
) -> MissCounts:
    if options.method is Method.SHARDS:
        return shards_misses(trace.line, capacity_lines, options.rate, rng, confidence=options.confidence)
    if options.method is Method.STAT_STACK:
        return stat_stack_misses(trace.line, capacity_lines)
    return exact_misses(trace.line, capacity_lines)
