"""The one order in which the launches of a stratum are drawn: a sample of m is its first m.

A counter is hashed to a position within the stratum, again and again: an endless sequence of independent,
uniform positions. The order in which distinct positions first appear in it is a uniformly random permutation,
of which only as much is made as is asked for. (docs/methods.md, 6 Drawing and judging)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import IntArray

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
