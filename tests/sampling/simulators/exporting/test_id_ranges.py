"""Numbers merged into ranges, and ranges bridged until their text is short enough."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.simulators.export import bridged, in_pieces, merged, range_text


def numbers_of(text: str) -> list[int]:
    """The numbers that a tracer takes a text for: blank-separated N and A-B, both ends in it."""
    numbers: list[int] = []
    for token in text.split():
        first, _, last = token.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def text_of(numbers: list[int]) -> str:
    return " ".join(map(range_text, merged(numbers)))


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([5], "5"), ([5, 6], "5-6"), ([9, 1, 2, 3, 7, 2], "1-3 7 9"), ([0, 2, 4], "0 2 4"), ([], "")],
)
def test_ranges_by_hand(numbers: list[int], text: str) -> None:
    assert text_of(numbers) == text


@given(st.lists(st.integers(0, 60)))
def test_a_text_read_back_has_the_numbers(numbers: list[int]) -> None:
    assert numbers_of(text_of(numbers)) == sorted(set(numbers))
    ranges = merged(numbers)
    assert all(after[0] - before[1] > 1 for before, after in pairwise(ranges))


@given(st.sets(st.integers(0, 2000), min_size=1, max_size=200), st.integers(9, 200))
def test_bridges_keep_all_numbers_and_the_text_short(numbers: set[int], most: int) -> None:
    ranges = bridged(merged(numbers), most)
    text = " ".join(map(range_text, ranges))
    assert len(text) <= most
    assert numbers <= set(numbers_of(text))
    if len(text_of(sorted(numbers))) <= most:
        assert ranges == merged(numbers)


def test_the_smallest_gaps_are_bridged() -> None:
    ranges = merged([10, 11, 50, 51, 53, 54, 90, 91])
    assert bridged(ranges, 23) == ranges
    assert bridged(ranges, 22) == [(10, 11), (50, 54), (90, 91)]


def test_ten_thousand_ranges_are_bridged_soon() -> None:
    ranges = merged(range(0, 3_000_000, 30))
    made = bridged(ranges, 100_000)
    assert sum(len(range_text(each)) + 1 for each in made) - 1 <= 100_000
    assert made[0][0] == 0
    assert made[-1][1] == 2_999_970


def test_pieces() -> None:
    assert list(in_pieces([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]
