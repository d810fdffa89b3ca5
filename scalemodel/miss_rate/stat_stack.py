"""StatStack: miss counts from reuse distances alone, which are cheaper to know than stack distances.

Source: Eklov, Hagersten, "StatStack: efficient modeling of LRU caches", ISPASS 2010. The stack distance of an
access of reuse distance r is expected to be the number of the r accesses between that are the last to their
line before it: the one k places before the end is, where its own next use is k accesses away or more, which
is as probable as it is among all accesses,

    expected(r) = sum over k = 1 .. r of P(reuse distance >= k).

Accesses whose line is not used again count as infinitely far. The expectation rises with r, so a cache of C
lines misses the accesses whose reuse distance is expected to be a stack distance of C or more. It is exact
where reuse distances do not depend on the place in the trace, and wrong by as much as they do: phases, and
lines that are used together. The method states no error.
"""

from __future__ import annotations

import numpy as np

from scalemodel.arrays import FloatArray, IntArray
from scalemodel.miss_rate.stack_distance import LineArray, MissCounts, count_at_least, find_reuses


def expected_stack_distances(reuse_distance: IntArray, accesses: int) -> FloatArray:
    """Return the expected stack distance for each reuse distance from 0 to the largest.

    Parameters
    ----------
    reuse_distance : (m,) int64, >= 0, of the accesses whose line is used again.
    accesses : n >= m, all of them; those beyond m are not used again.
    """
    counts = np.bincount(reuse_distance)
    # At index k - 1: the share of accesses with a reuse distance of k or more.
    at_least = 1.0 - np.cumsum(counts[:-1]) / max(accesses, 1)
    return np.concatenate([[0.0], np.cumsum(at_least)])


def stat_stack_misses(line: LineArray, capacity_lines: IntArray) -> MissCounts:
    """Return the expected misses of fully associative caches with least-recently-used replacement.

    Parameters
    ----------
    line : (n,) uint64, the cache line of each access, in the order of the accesses.
    capacity_lines : (c,) int64, > 0, lines that each cache holds.

    Raises
    ------
    OptionError : there are more than 2**31 accesses.
    """
    reuses = find_reuses(line)
    distance = reuses.distance
    expected = expected_stack_distances(distance, reuses.accesses)
    first_miss = np.searchsorted(expected, capacity_lines)
    misses = count_at_least(distance, first_miss) + reuses.cold
    return MissCounts(misses.astype(np.float64), None, None, float(reuses.cold))
