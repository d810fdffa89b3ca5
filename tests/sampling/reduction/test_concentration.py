"""How few kernel groups hold most of the time, against every choice of groups."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sampling.reduction.duration_counts import MOST, fewest_holding


def smallest_choice(durations_ns: list[int], share: float) -> int:
    """The size of the smallest choice of groups that holds the share, by trying them all."""
    total_ns = sum(durations_ns)
    sizes = range(1, len(durations_ns) + 1)
    return next(
        size
        for size in sizes
        if any(sum(chosen) >= share * total_ns for chosen in combinations(durations_ns, size))
    )


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=8).filter(any), st.sampled_from([0.5, 0.8, 1.0]))
def test_no_choice_of_fewer_groups_holds_as_much(durations_ns: list[int], share: float) -> None:
    assert fewest_holding(np.array(durations_ns), share) == smallest_choice(durations_ns, share)


def test_the_share_itself_is_enough() -> None:
    assert MOST == 0.8
    assert fewest_holding(np.array([1, 8, 1])) == 1
    assert fewest_holding(np.array([799, 201])) == 2


def test_where_no_group_takes_time_none_holds_any() -> None:
    assert fewest_holding(np.array([], dtype=np.int64)) == 0
    assert fewest_holding(np.array([0, 0])) == 0
