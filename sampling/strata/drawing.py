"""Random draws inside strata, all strata at once; which launches these are is found later."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.reduction.duration_counts import DurationCounts
from sampling.seeds import Stream, generator
from sampling.strata.launch_order import first_launches, stratum_keys
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

    Each stratum has one order in which its launches are drawn, see `sampling.strata.launch_order`.

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
