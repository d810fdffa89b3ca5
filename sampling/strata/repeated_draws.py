"""A design drawn thousands of times at once: the errors of its strata's estimated totals."""

from __future__ import annotations

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.reduction.duration_counts import DurationCounts
from sampling.strata.strata import Strata

# Launches of a draw are found one after another up to so many, else all at once.
_FEW = 8
# Beyond this share of a stratum, too many launches drawn at once are drawn twice.
_SPARSE = 0.05
# Strata of so many launches together are written out, launch by launch.
_MOST_WRITTEN_OUT = 1 << 22
_MOST_NUMBERS_AT_ONCE = 1 << 21


def fewer_side(strata: Strata) -> IntArray:
    """Return (s,) how many launches a draw is known by: those drawn, or where they are fewer, those left."""
    if strata.with_replacement:
        return strata.samples
    return np.asarray(np.minimum(strata.samples, strata.launches - strata.samples))


def drawn_errors(
    counts: DurationCounts, strata: Strata, rows: IntArray, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Return (draws, rows) the errors of some strata's estimated totals in each of so many draws, ns.

    The error of a draw is N/m sum (x - mu) over the launches drawn, or minus that over those left.
    """
    side, launches, samples = fewer_side(strata)[rows], strata.launches[rows], strata.samples[rows]
    sums_ns = np.zeros((draws, len(rows)))
    for size in np.unique(side[side > 0]).tolist():
        columns = np.flatnonzero(side == size)
        pieces = -(-len(columns) * draws * size // _MOST_NUMBERS_AT_ONCE)
        for some in np.array_split(columns, min(pieces, len(columns))):
            sums_ns[:, some] = _sums(counts, strata, rows[some], size, draws, rng)
    sums_ns *= launches / samples * np.where(side == samples, 1.0, -1.0)
    return sums_ns


def _sums(
    counts: DurationCounts, strata: Strata, rows: IntArray, size: int, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Return (draws, rows) the sum of x - mu over so many launches of each stratum, drawn at random."""
    launches = strata.launches[rows]
    if strata.with_replacement:
        place = rng.integers(0, launches, (size, draws, len(rows)))
    elif size <= _FEW:
        place = _one_after_another(launches, size, draws, rng)
    else:
        place = np.stack([_all_at_once(each, size, draws, rng) for each in launches.tolist()], axis=2)
    first = counts.launches_before[strata.start[rows]]
    if launches.sum() <= _MOST_WRITTEN_OUT:
        pairs = np.concatenate([np.arange(strata.start[row], strata.stop[row]) for row in rows.tolist()])
        written_out = np.repeat(counts.duration_ns[pairs], counts.count[pairs])
        place += np.cumsum(launches) - launches
        duration_ns = written_out[place]
    else:
        place += first
        duration_ns = counts.duration_ns[np.searchsorted(counts.launches_before, place, side="right") - 1]
    return np.asarray(duration_ns.sum(axis=0) - size * strata.mean_ns[rows])


def _one_after_another(launches: IntArray, size: int, draws: int, rng: np.random.Generator) -> IntArray:
    """Return (size, draws, k) distinct places: each among those that are left, counted past those taken."""
    taken = np.empty((size, draws, len(launches)), dtype=np.int64)
    for number in range(size):
        place = rng.integers(0, launches - number, taken.shape[1:])
        for earlier in range(number):
            place += place >= taken[earlier]
        taken[number] = place
        # Those before stand in their order: the new one goes to its place, sooner than by a sort.
        for upper in range(number, 0, -1):
            lower = np.minimum(taken[upper - 1], taken[upper])
            np.maximum(taken[upper - 1], taken[upper], out=taken[upper])
            taken[upper - 1] = lower
    return taken


def _all_at_once(launches: int, size: int, draws: int, rng: np.random.Generator) -> IntArray:
    """Return (size, draws) distinct places of one stratum."""
    if size > _SPARSE * launches:
        step = max(_MOST_NUMBERS_AT_ONCE // launches, 1)
        keys = (rng.random((min(step, draws - first), launches)) for first in range(0, draws, step))
        return np.concatenate([np.argpartition(key, size - 1, axis=1)[:, :size] for key in keys]).T
    place = np.sort(rng.integers(0, launches, (draws, size)), axis=1)
    while True:
        again = np.zeros(place.shape, dtype=np.bool_)
        np.equal(place[:, 1:], place[:, :-1], out=again[:, 1:])
        twice = np.flatnonzero(again.any(axis=1))
        if not len(twice):
            return place.T
        few = place[twice]
        few[again[twice]] = rng.integers(0, launches, int(again.sum()))
        place[twice] = np.sort(few, axis=1)
