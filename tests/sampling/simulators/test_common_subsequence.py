"""The longest common subsequence, against dynamic programming over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sampling.simulators import alignment as module
from sampling.simulators.alignment import common_subsequence

CODES = st.lists(st.integers(0, 4), max_size=40)


def longest(one: list[int], other: list[int]) -> int:
    row = [0] * (len(other) + 1)
    for value in one:
        before = row[:]
        for place, there in enumerate(other):
            row[place + 1] = before[place] + 1 if value == there else max(row[place], before[place + 1])
    return row[-1]


def check(one: list[int], other: list[int]) -> int:
    found = common_subsequence(np.array(one, dtype=np.int64), np.array(other, dtype=np.int64))
    assert found is not None
    first, second = found
    assert (np.diff(first) > 0).all()
    assert (np.diff(second) > 0).all()
    assert [one[place] for place in first] == [other[place] for place in second]
    return len(first)


@given(CODES, CODES)
@example([], [])
@example([1], [])
@example([1, 1, 1], [1])
def test_none_is_longer(one: list[int], other: list[int]) -> None:
    assert check(one, other) == longest(one, other)


@given(st.lists(st.integers(0, 3), max_size=200), st.data())
def test_lists_that_lack_a_few_entries(whole: list[int], data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.integers(0, max(len(whole) - 1, 0)), max_size=8))
    some = [value for place, value in enumerate(whole) if place not in gone]
    assert check(whole, some) == len(some)


@given(CODES, CODES)
def test_entries_that_the_other_list_lacks_cost_nothing(one: list[int], other: list[int]) -> None:
    apart = [value for each in one for value in (100, each, 101)]
    assert check(apart, other) == longest(one, other)


def test_lists_that_differ_too_much_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_STEPS", 20)
    one, other = np.tile([0, 1], 20), np.repeat([0, 1], 20)
    assert common_subsequence(one, other) is None
    assert common_subsequence(one, one[3:]) is not None


def test_a_million_launches_of_which_some_are_lacking() -> None:
    rng = np.random.default_rng(0)
    whole = np.tile(rng.integers(0, 40, 500), 2000)
    kept = np.sort(rng.choice(len(whole), len(whole) - 300, replace=False))
    for one, other in ((whole, whole[kept]), (whole[kept], whole), (whole, whole[kept][5:9000])):
        found = common_subsequence(one, other)
        assert found is not None
        assert len(found[0]) == min(len(one), len(other))
