"""Random draws inside strata, all strata at once; which launches these are is found later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.reduction.duration_counts import DurationCounts
from sampling.seeds import Stream, generator
from sampling.strata.strata import Strata


@dataclass(frozen=True, slots=True)
class Draw:
    """Drawn launches; all arrays (n,), in the order of the strata.

    Attributes
    ----------
    stratum : index into the strata.
    pair : index of the launch's (group, duration) pair in the reduction.
    occurrence : which launch of that pair it is, in id order, from 0.
    rank : how many launches of its stratum were drawn before it; None where the draw has no order.
    """

    stratum: IntArray
    pair: IntArray
    occurrence: IntArray
    rank: IntArray | None = None


def draw(counts: DurationCounts, strata: Strata, rng: np.random.Generator) -> Draw:
    """Draw ``strata.samples`` launches of each stratum, uniformly; the next draw is independent of it."""
    base = np.asarray(np.cumsum(strata.launches) - strata.launches)
    place = _distinct_places(strata.launches, strata.samples, base, rng)
    stratum = np.repeat(np.arange(len(base)), strata.samples)
    pair, occurrence = _launches(counts, place + (counts.launches_before[strata.start] - base)[stratum])
    return Draw(stratum, pair, occurrence)


def draw_nested(counts: DurationCounts, strata: Strata, seed: int) -> Draw:
    """Draw uniformly, so that the same seed with larger sizes draws the same launches and more.

    Each stratum has one order in which its launches are drawn, see `sampling.strata.drawing`.

    Raises
    ------
    OptionError : the seed is negative.
    """
    rng = generator(seed, Stream.DRAW)
    key = int(rng.integers(0, 2**64, dtype=np.uint64))
    identity = stratum_keys(key, (strata.group, strata.start, strata.launches))
    stratum, position, rank = first_launches(identity, strata.launches, strata.samples)
    pair, occurrence = _launches(counts, counts.launches_before[strata.start[stratum]] + position)
    return Draw(stratum, pair, occurrence, rank)


def _launches(counts: DurationCounts, place: IntArray) -> tuple[IntArray, IntArray]:
    """Return pair and occurrence of the launches at some places (n,) among all of the reduction's."""
    pair = np.searchsorted(counts.launches_before, place, side="right") - 1
    return pair, place - counts.launches_before[pair]


def estimate_total_ns(counts: DurationCounts, strata: Strata, drawn: Draw) -> float:
    """Return sum of N_i times the mean duration of the draw from stratum i. [Allegro section IV-C]"""
    weight = strata.launches / strata.samples
    return float(np.dot(weight[drawn.stratum], counts.duration_ns[drawn.pair]))


def weights(strata: Strata, drawn: Draw) -> FloatArray:
    """Return (n,) how many launches each drawn one stands for: N/m."""
    return np.asarray((strata.launches / strata.samples)[drawn.stratum])


def _uniform(below: IntArray, rng: np.random.Generator) -> IntArray:
    return rng.integers(0, below)


def _distinct_places(
    launches: IntArray, samples: IntArray, base: IntArray, rng: np.random.Generator
) -> IntArray:
    """Return ``samples[i]`` distinct places of each stratum, sorted.

    Where most places are drawn, those that are not are drawn instead.
    """
    by_rest = samples > launches // 2
    wanted = np.where(by_rest, launches - samples, samples)
    chosen = _rejection_sampled(launches, wanted, base, rng)
    if not by_rest.any():
        return chosen
    stratum = np.searchsorted(base, chosen, side="right") - 1
    rest = chosen[by_rest[stratum]]
    crowded = np.flatnonzero(by_rest)
    places = np.concatenate([np.arange(base[i], base[i] + launches[i]) for i in crowded.tolist()])
    drawn = places[~_is_in(places, rest)]
    return np.sort(np.concatenate([chosen[~by_rest[stratum]], drawn]))


def _rejection_sampled(
    launches: IntArray, wanted: IntArray, base: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draw uniformly, and again what fell on a taken place: all sets of that size stay equally likely."""
    taken = np.zeros(0, dtype=np.int64)
    missing = wanted
    while missing.any():
        stratum = np.repeat(np.arange(len(launches)), missing)
        places = np.concatenate([taken, base[stratum] + _uniform(launches[stratum], rng)])
        # Several times as fast as another sort, as most places stand in their order.
        places.sort(kind="stable")
        is_new = np.ones(len(places), dtype=np.bool_)
        np.not_equal(places[1:], places[:-1], out=is_new[1:])
        taken, again = places[is_new], places[~is_new]
        missing = np.bincount(np.searchsorted(base, again, side="right") - 1, minlength=len(launches))
    return taken


def _is_in(sorted_values: IntArray, sorted_subset: IntArray) -> BoolArray:
    found = np.zeros(len(sorted_values), dtype=np.bool_)
    found[np.searchsorted(sorted_values, sorted_subset)] = True
    return found


UIntArray = NDArray[np.uint64]

# The constants of SplitMix64 [Steele, Lea, Flood, OOPSLA 2014]: the golden ratio, and those of its mixing.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
# Standard deviations by which more positions are hashed than are needed on average.
_SLACK = 4.0


def mixed(state: UIntArray) -> UIntArray:
    """Return SplitMix64's mixing of each state: all bits depend on all bits. [Steele, Lea, Flood]"""
    state = (state ^ (state >> np.uint64(30))) * _FIRST_FACTOR
    state = (state ^ (state >> np.uint64(27))) * _SECOND_FACTOR
    return state ^ (state >> np.uint64(31))


def stratum_keys(seed: int, parts: Sequence[IntArray]) -> UIntArray:
    """Return (s,) a 64-bit key of each stratum, from the seed and the numbers (s,) that identify it.

    Parameters
    ----------
    seed : 0 to 2^64 - 1.
    """
    key = np.full(len(parts[0]), seed, dtype=np.uint64)
    for part in parts:
        key = mixed((key ^ part.astype(np.uint64)) + _STEP)
    return key


def first_launches(
    key: UIntArray, launches: IntArray, samples: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first ``samples[i]`` launches of each stratum's order.

    Parameters
    ----------
    key : (s,) of `stratum_keys`.
    launches, samples : (s,) how many the stratum has, and how many are drawn, at most as many.

    Returns
    -------
    stratum, position, rank : (n,) each, by stratum and position; rank is the place in the order of drawing.
        In a stratum that is drawn whole the order is that of the positions.
    """
    whole = np.flatnonzero(samples == launches)
    stratum = [np.repeat(whole, launches[whole])]
    position = [_counted(launches[whole])]
    rank = [position[0]]
    missing = np.flatnonzero(samples < launches)
    hashed = _numbers_needed(launches[missing], samples[missing])
    while len(missing):
        of_stratum, where, place = _distinct(key[missing], launches[missing], hashed)
        enough = np.bincount(of_stratum, minlength=len(missing)) >= samples[missing]
        taken = enough[of_stratum] & (place < samples[missing][of_stratum])
        stratum.append(missing[of_stratum[taken]])
        position.append(where[taken])
        rank.append(place[taken])
        missing, hashed = missing[~enough], 2 * hashed[~enough]
    strata, positions, ranks = (np.concatenate(parts) for parts in (stratum, position, rank))
    order = np.argsort((np.cumsum(launches) - launches)[strata] + positions)
    return strata[order], positions[order], ranks[order]


def _numbers_needed(launches: IntArray, samples: IntArray) -> IntArray:
    """Return (s,) how many positions to hash so that mostly enough are distinct: the coupon collector's."""
    left = launches - samples
    mean = launches * np.log1p(samples / np.maximum(left, 1))
    deviation = np.sqrt(launches * (samples / np.maximum(left, 1)))
    return np.ceil(np.where(samples == 1, 1, mean + _SLACK * np.minimum(deviation, mean))).astype(np.int64)


def _counted(sizes: IntArray) -> IntArray:
    """Return 0 .. size - 1 for each size, one after another."""
    return np.asarray(np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes))


def _distinct(key: UIntArray, launches: IntArray, hashed: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return stratum, position and rank of what is distinct among so many hashed positions of each."""
    stratum = np.repeat(np.arange(len(key)), hashed)
    number = mixed(key[stratum] + (_counted(hashed).astype(np.uint64) + np.uint64(1)) * _STEP)
    # 53 bits fill a double: a position's chance is off by less than N / 2^53 of itself.
    position = ((number >> np.uint64(11)) * 2.0**-53 * launches[stratum]).astype(np.int64)
    base = np.cumsum(launches) - launches
    # The numbers stand in the order of drawing, and the first of equal ones is found.
    _, first = np.unique(base[stratum] + position, return_index=True)
    first.sort()
    stratum, position = stratum[first], position[first]
    return stratum, position, np.arange(len(first)) - np.searchsorted(stratum, stratum)
