"""The iterations of a loop, and the stretches that repeat, against a search by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.reduction.iterations import (
    BLOCKS,
    Iterations,
    Windows,
    find_iterations,
    stretches_within,
)

Codes = list[int]


@st.composite
def sequences(draw: st.DrawFn, most: int) -> Codes:
    """Codes with loops within loops, and anything between them."""
    some = st.lists(st.integers(0, 3), max_size=5)
    parts: Codes = []
    for _ in range(draw(st.integers(1, 4))):
        body = draw(some) + draw(some) * draw(st.integers(1, 4)) + draw(some)
        parts += body * draw(st.integers(1, 5)) + draw(some)
    return (parts or [0])[:most]


def repeats(codes: Codes, start: int, stop: int, period: int) -> bool:
    return stop - start >= 2 * period and all(
        codes[at] == codes[at + period] for at in range(start, stop - period)
    )


def by_hand(codes: Codes) -> set[tuple[int, int, int]]:
    """Return start, stop and period of every stretch, as long as can be, with the shortest period."""
    found = set()
    for period in range(1, len(codes) // 2 + 1):
        for start in range(len(codes) - 2 * period + 1):
            stop = start + period
            while stop < len(codes) and codes[stop] == codes[stop - period]:
                stop += 1
            is_longest = start == 0 or codes[start - 1] != codes[start - 1 + period]
            if is_longest and stop - start >= 2 * period:
                found.add((start, stop, period))
    return {
        (start, stop, period)
        for start, stop, period in found
        if not any(repeats(codes, start, stop, shorter) for shorter in range(1, period))
    }


def stretches_of(codes: Codes) -> set[tuple[int, int, int]]:
    array = np.array(codes)
    return {tuple(each) for each in stretches_within(array, Windows(array), 0, len(codes))}


@given(codes=sequences(most=200))
def test_no_stretch_that_covers_two_blocks_is_missed_and_none_is_made_up(codes: Codes) -> None:
    found, all_of_them = stretches_of(codes), by_hand(codes)
    assert found <= all_of_them
    # Whatever its place, so long a stretch covers two blocks.
    two_blocks = 3 * -(-len(codes) // BLOCKS)
    assert {each for each in all_of_them if each[1] - each[0] >= two_blocks} <= found


#: Launches that occur nowhere else.
PROLOGUE = list(range(100, 110))
EPILOGUE = list(range(200, 207))
LAYER = [1, 2, 3, 4, 2, 5]


def found_in(codes: Sequence[int]) -> Iterations:
    found = find_iterations(np.array(codes))
    assert found is not None
    return found


def figures(found: Iterations) -> tuple[int, int, int, int, int]:
    return found.launches, len(found.first), found.start, found.stop, found.in_a_row


def test_a_loop_that_is_repeated_twice_yields_to_one_within_it_that_is_most_of_it() -> None:
    """Two epochs of fifty steps each, with a few launches after each: a step is the iteration."""
    epoch = LAYER * 50 + EPILOGUE
    assert figures(found_in(epoch * 2)) == (6, 100, 0, 607, 50)
    assert found_in(epoch * 3).launches == len(epoch)


def test_iterations_with_a_launch_more_now_and_then_are_counted_apart() -> None:
    steps = [[*LAYER, 99] if number in (7, 20, 30) else LAYER for number in range(40)]
    found = found_in([*PROLOGUE, *(code for step in steps for code in step)])
    # With the launch more, the first six are as ever.
    assert figures(found) == (6, 40, 10, 10 + 240 + 3, 13)
    odd = [LAYER[:4] if number in (7, 20, 30) else LAYER for number in range(40)]
    found = found_in([code for step in odd for code in step])
    assert figures(found) == (6, 37, 0, 234, 12)
    assert np.diff(found.first).tolist().count(6 + 4) == 3


@pytest.mark.parametrize("codes", [[], [3], [1, 2], [1, 2, 3, 4, 5], list(range(500))])
def test_where_nothing_repeats_there_is_no_loop(codes: list[int]) -> None:
    assert find_iterations(np.array(codes, dtype=np.int64)) is None


@given(codes=sequences(most=400))
def test_what_is_found_is_a_loop(codes: list[int]) -> None:
    found = find_iterations(np.array(codes))
    if found is None:
        return
    one = codes[found.first[0] : found.first[0] + found.launches]
    assert all(codes[first : first + found.launches] == one for first in found.first.tolist())
    assert (np.diff(found.first) >= found.launches).all()
    assert 0 <= found.start <= found.first[0]
    assert found.first[-1] + found.launches <= found.stop <= len(codes)
    assert found.in_a_row >= 2
    assert found.in_a_row * found.launches <= found.repeated <= len(codes)


def chosen_by_hand(codes: list[int]) -> set[int]:
    """Return the lengths that the iteration may have by the rule, all stretches considered."""
    stretches = by_hand(codes)
    whole = {
        period for start, stop, period in stretches if stop - start >= max(2 / 3 * len(codes), 3 * period)
    }
    if whole:
        return whole
    loops: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for start, stop, period in stretches:
        one = codes[start : start + period]
        rotation = min(tuple(one[at:] + one[:at]) for at in range(period))
        loops.setdefault(rotation, []).append((start, stop))
    repeated = {
        one: len({at for start, stop in places for at in range(start, stop)}) for one, places in loops.items()
    }
    nearly = [one for one, launches in repeated.items() if launches >= 2 / 3 * max(repeated.values())]
    thrice = [one for one in nearly if any(stop - start >= 3 * len(one) for start, stop in loops[one])]
    return {max(len(one) for one in thrice or nearly)}


@given(codes=sequences(most=BLOCKS))
def test_the_iteration_is_the_one_of_the_rule(codes: list[int]) -> None:
    found = find_iterations(np.array(codes))
    if found is None:
        assert not by_hand(codes)
    else:
        assert found.launches in chosen_by_hand(codes)
