"""Whether the values of a plan file agree with each other, as they do until somebody edits it by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sampling.arrays import BoolArray, FloatArray
from sampling.text import shortened

if TYPE_CHECKING:
    from sampling.plan.plan_file import PlanFile

# Means, spreads and weights are rounded to doubles; what a person changes is off by more.
_CLOSE = 1e-6


def what_disagrees(plan: PlanFile) -> str | None:
    """Return the first value that contradicts others, by its place, and why; None where all agree.

    Places are the number of a stratum, from 0, the id of a launch, and a field. Picks need not stand for
    every launch, and their weights may count instructions or iterations.
    """
    for check in (_of_strata, _of_launches, _of_both, _of_all):
        if (found := next(check(plan), None)) is not None:
            return found
    return None


def _of_strata(plan: PlanFile) -> Iterator[str]:
    size, mean, std, low, high, samples = (
        _column(plan.strata, name) for name in ("size", "mean_ns", "std_ns", "low_ns", "high_ns", "samples")
    )
    there = np.array([len(stratum.launches) for stratum in plan.strata], dtype=np.float64)
    yield from _wrong(plan, "low_ns", low > high, "is above its high_ns")
    yield from _wrong(plan, "mean_ns", ~_is_within(mean, low, high), "is not within its low_ns and high_ns")
    yield from _wrong(plan, "std_ns", std > (high - low) + _CLOSE * high, "is more than its durations differ")
    yield from _wrong(plan, "samples", (samples < 1) | (samples > size), "do not stand for its size")
    yield from _wrong(plan, "samples", samples != there, "do not stand for it as launches of their number")
    keys = Counter((stratum.key, stratum.low_ns) for stratum in plan.strata)
    twice = np.array([keys[stratum.key, stratum.low_ns] > 1 for stratum in plan.strata])
    yield from _wrong(plan, "key", twice, "stands there twice with this low_ns")


def _of_launches(plan: PlanFile) -> Iterator[str]:
    launches = [launch for stratum in plan.strata for launch in stratum.launches]
    numbers = np.repeat(np.arange(len(plan.strata)), [len(stratum.launches) for stratum in plan.strata])
    ids, duration, weight = (_column(launches, name) for name in ("id", "duration_ns", "weight"))
    strata = plan.strata

    def wrong(field: str, is_wrong: BoolArray, why: str) -> Iterator[str]:
        for row in np.flatnonzero(is_wrong)[:1].tolist():
            launch, stratum = launches[row], strata[numbers[row]]
            place = f"stratum {numbers[row]} ({shortened(stratum.key)}), launch {launch.id}, {field}"
            yield f"{place}: {getattr(launch, field)} {why}"

    # Two times in any two strata; the second is told.
    order = np.argsort(ids, kind="stable")
    twice = np.zeros(len(ids), dtype=np.bool_)
    twice[order[1:]] = ids[order[1:]] == ids[order[:-1]]
    yield from wrong("id", twice, "stands there twice")
    sequences = plan.profile.sequences
    ends = np.cumsum([sequence.launches for sequence in sequences])
    yield from wrong(
        "id", ids >= (ends[-1] if sequences else 0), "is beyond the last launch of its sequences"
    )
    place = np.searchsorted(ends, ids, side="right")
    first = np.concatenate([[0], ends[:-1]])[place]
    for field in ("process", "device"):
        of_sequence = np.array([getattr(sequence, field) for sequence in sequences], dtype=np.int64)[place]
        numbered = np.array([getattr(launch, field) for launch in launches], dtype=np.int64)
        yield from wrong(field, numbered != of_sequence, "is not where the sequences have this id")
    at = _column(launches, "ordinal")
    yield from wrong("ordinal", at != ids - first, "is not where the sequences have this id")
    low, high = (_column(strata, name)[numbers] for name in ("low_ns", "high_ns"))
    yield from wrong(
        "duration_ns", (duration < low) | (duration > high), "is not within those of its stratum"
    )
    stands_for = (_column(strata, "size") / _column(strata, "samples"))[numbers]
    is_other = plan.is_random & (np.abs(weight - stands_for) > _CLOSE * stands_for)
    yield from wrong(
        "weight", (weight <= 0) | is_other, "and the others do not stand for the size of their stratum"
    )


def _of_both(plan: PlanFile) -> Iterator[str]:
    """Yield where a stratum's mean is not possible with the launches that are drawn of it."""
    size, mean, low, high = (_column(plan.strata, name) for name in ("size", "mean_ns", "low_ns", "high_ns"))
    drawn_ns = np.array(
        [sum(launch.duration_ns for launch in stratum.launches) for stratum in plan.strata], dtype=np.float64
    )
    left = size - _column(plan.strata, "samples")
    least, most = (drawn_ns + left * end for end in (low, high))
    is_possible = _is_within(size * mean, least, most)
    yield from _wrong(plan, "mean_ns", ~is_possible, "is not possible with its launches' durations")


def _of_all(plan: PlanFile) -> Iterator[str]:
    size, mean, profile = _column(plan.strata, "size"), _column(plan.strata, "mean_ns"), plan.profile
    held, held_ns = size.sum(), float(size @ mean)
    of_all = " of all" if plan.is_random else ""
    if not len(size) or held > plan.launches or (plan.is_random and held != plan.launches):
        yield f"strata, size: {held:,.0f} together do not hold its {plan.launches:,} launches"
    whole_ns = plan.total_duration_ns
    is_whole = held == plan.launches
    if held_ns > whole_ns * (1 + _CLOSE) or (is_whole and held_ns < whole_ns * (1 - _CLOSE)):
        what = f"{held_ns:,.0f} ns by size and mean are not the {whole_ns:,} ns{of_all} that the profile has"
        yield f"strata, mean_ns: {what}"
    in_files, in_sequences = (
        sum(each.launches for each in several) for several in (profile.files, profile.sequences)
    )
    if in_files != in_sequences or in_sequences < plan.launches:
        has = f"{in_files:,} in its files, {in_sequences:,} in its sequences"
        yield f"profile, launches: {plan.launches:,} of them, {has}"
    if stray := set(plan.simulated) - {launch.id for launch in plan.drawn}:
        yield f"simulated: launch {min(stray)} is in no stratum"


def _column(of: Sequence[Any], name: str) -> FloatArray:
    """Return (n,) a field of each; all of them count exactly in a double, or need not."""
    return np.array([getattr(each, name) for each in of], dtype=np.float64)


def _is_within(value: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return (n,) whether values lie between two ends, but for rounding."""
    slack = _CLOSE * np.abs(high)
    return np.asarray((value >= low - slack) & (value <= high + slack))


def _wrong(plan: PlanFile, field: str, is_wrong: BoolArray, why: str) -> Iterator[str]:
    """Yield the first stratum of which a field is wrong."""
    for number in np.flatnonzero(is_wrong)[:1].tolist():
        stratum = plan.strata[number]
        place = f"stratum {number} ({shortened(stratum.key)}), {field}"
        yield f"{place}: {getattr(stratum, field)} {why}"
