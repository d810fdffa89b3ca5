"""The miss-rate curve of an address trace: misses per thousand instructions at each cache capacity.

Source: GPU scale-model simulation, section V-A (docs/methods.md, 10 Scale model): the curve of the shared
last-level cache at the capacities of the scale models and of the targets, from stack distances (its
references [20] and [23]). The cache is taken to be fully associative with least-recently-used replacement.
Counted are the misses of the whole trace in its one order: no SM-private cache is in front, cold misses are
misses, nothing is flushed between kernels.

SHARDS: miss counts from the accesses to a fixed share of the lines, chosen by their hash.

Source: Waldspurger, Park, Garthwaite, Ahmad, "Efficient MRC construction with SHARDS", FAST 2015, section 3
(docs/methods.md, 10 Scale model): every access to a chosen line is kept, no other; among the kept accesses a
stack distance is the true one times the rate R, so a cache of C lines is one of C R lines to them. Between
whole numbers of lines the count is interpolated. SHARDS-adj: N R of the N accesses are expected to be kept;
what is more or less than that is taken from or added to the hits of distance 0. So the misses are those among
the kept accesses, over R.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import nextafter, sqrt
from statistics import NormalDist

import numpy as np

from scalemodel.arrays import FloatArray, IntArray
from scalemodel.errors import AnalysisError, OptionError
from scalemodel.measurements import MpkiUnit
from scalemodel.miss_rate.stack_distance import (
    COLD,
    LineArray,
    MissCounts,
    count_at_least,
    exact_misses,
    stack_distances,
    stat_stack_misses,
)
from scalemodel.traces.accesses import AddressTrace

_HASHED_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class LineSample:
    """The accesses to the chosen lines.

    Attributes
    ----------
    line : (s,) uint64, in the order of the accesses.
    rate : the share of lines that are chosen.
    accesses : of the whole trace.
    """

    line: LineArray
    rate: float
    accesses: int


def draw_lines(line: LineArray, rate: float, rng: np.random.Generator) -> LineSample:
    """Return the accesses to a share of the lines, chosen by a seeded hash.

    Raises
    ------
    OptionError : the rate is not above 0 and at most 1.
    """
    if not 0 < rate <= 1:
        raise OptionError(f"the sampling rate is above 0 and at most 1, not {rate:g}")
    seed = rng.integers(2**64, dtype=np.uint64)
    highest = np.uint64(max(int(rate * 2**64) - 1, 0))
    pieces = (line[start : start + _HASHED_AT_ONCE] for start in range(0, line.size, _HASHED_AT_ONCE))
    kept = [piece[_hashed(piece, seed) <= highest] for piece in pieces]
    return LineSample(np.concatenate([line[:0], *kept]), rate, line.size)


def _hashed(line: LineArray, seed: np.uint64) -> LineArray:
    """Return the lines mixed to 64 even bits (the finaliser of SplitMix64, by Stafford), seeded before."""
    mixed = line ^ seed
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def shards_misses(
    line: LineArray,
    capacity_lines: IntArray,
    rate: float,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
) -> MissCounts:
    """Return estimated misses of fully associative caches with least-recently-used replacement.

    Parameters
    ----------
    line : (n,) uint64, the cache line of each access, in the order of the accesses.
    capacity_lines : (c,) int64, > 0, lines that each cache holds.
    rate : R, the share of lines looked at, above 0; at 1 the result is exact.
    confidence : of the bounds, between 0 and 1.

    Raises
    ------
    OptionError : the rate or the confidence cannot be, no line is chosen, or there are too many accesses.

    Notes
    -----
    The bounds put two errors of sampling on top of each other, as they tend to go together. How far apart
    two uses seem: of C lines C R are chosen, give or take sqrt(C R (1 - R)), so the cache could as well be
    smaller or larger by sqrt(C (1 - R) / R) lines; at a cliff of the curve this is what counts. Which lines
    are chosen: where each of them has m misses (in the smaller cache for the upper bound, in the larger one
    for the lower), the standard error of their sum over R is sqrt((1 - R) sum m^2) / R. Each is taken times
    the normal quantile of the confidence. Where that leaves no cache at all, all accesses are the upper
    bound. The bounds say nothing of a few lines with most of the misses of which none is chosen.
    """
    if not 0 < confidence < 1:
        raise OptionError(f"the confidence is between 0 and 1, not {confidence:g}")
    sample = draw_lines(line, rate, rng)
    if not sample.line.size:
        raise OptionError(
            f"no line of the trace is chosen at a sampling rate of {rate:g}",
            remedy="raise the rate, or ask for the exact curve",
        )
    distance = stack_distances(sample.line)
    again = distance[distance != COLD]
    cold = distance.size - again.size
    # A confidence next to 1 is one of 1 when rounded, which has no quantile.
    quantile = NormalDist().inv_cdf(min(0.5 + confidence / 2, nextafter(1.0, 0.0)))
    capacity = capacity_lines.astype(np.float64)
    shift = quantile * np.sqrt(capacity * (1 - rate) / rate)
    larger, smaller = (capacity + shift) * rate, np.maximum(capacity - shift, 0.0) * rate
    misses = (cold + _beyond(again, capacity * rate)) / rate
    low = (cold + _beyond(again, larger)) / rate - quantile * _standard_error(sample, distance, larger)
    high = (cold + _beyond(again, smaller)) / rate + quantile * _standard_error(sample, distance, smaller)
    most = float(sample.accesses)
    return MissCounts(
        np.minimum(misses, most),
        np.clip(low, 0.0, most),
        np.where(shift < capacity, np.clip(high, 0.0, most), most),
        min(cold / rate, most),
        cold,
    )


def _beyond(distance: IntArray, capacity: FloatArray) -> FloatArray:
    """Return how many distances are beyond each capacity; interpolated between whole numbers of lines."""
    whole = np.floor(capacity).astype(np.int64)
    part = capacity - whole
    return (1 - part) * count_at_least(distance, whole) + part * count_at_least(distance, whole + 1)


def _standard_error(sample: LineSample, distance: IntArray, capacity: FloatArray) -> FloatArray:
    """Return the (c,) standard errors of the misses, over R, by which lines are chosen."""
    line_of_access = np.unique(sample.line, return_inverse=True)[1]
    is_cold = distance == COLD
    squares = []
    for lines_held in capacity.tolist():
        # Between 0 and 1 at the one distance that a part of a line is about, as where it is counted.
        missed = np.clip(distance + 1 - lines_held, 0.0, 1.0)
        missed[is_cold] = 1.0
        of_line = np.bincount(line_of_access, weights=missed)
        squares.append(float(of_line @ of_line))
    return sqrt(1 - sample.rate) / sample.rate * np.sqrt(squares)


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
