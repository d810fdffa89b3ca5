"""Stretches that repeat: all of them, against a search by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sampling.arrays import IntArray
from sampling.reduction.iterations import BLOCKS, Windows, stretches_of_period, stretches_within

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


def found_in(codes: Codes) -> set[tuple[int, int, int]]:
    array = np.array(codes)
    return {tuple(each) for each in stretches_within(array, Windows(array), 0, len(codes))}


@given(codes=sequences(most=BLOCKS))
def test_every_stretch_is_found_where_each_launch_is_a_block(codes: Codes) -> None:
    assert found_in(codes) == by_hand(codes)


@given(codes=sequences(most=200))
def test_no_stretch_that_covers_two_blocks_is_missed_and_none_is_made_up(codes: Codes) -> None:
    found, all_of_them = found_in(codes), by_hand(codes)
    assert found <= all_of_them
    # Whatever its place, so long a stretch covers two blocks.
    two_blocks = 3 * -(-len(codes) // BLOCKS)
    assert {each for each in all_of_them if each[1] - each[0] >= two_blocks} <= found


@given(codes=sequences(most=60), period=st.integers(1, 12))
def test_stretches_of_one_period(codes: Codes, period: int) -> None:
    period = min(period, len(codes))
    start, stop = stretches_of_period(np.array(codes), period)
    longest = []
    for first in range(len(codes)):
        last = max(
            (end for end in range(first, len(codes) + 1) if repeats(codes, first, end, period)), default=0
        )
        if last and not (first and repeats(codes, first - 1, last, period)):
            longest.append((first, last))
    assert list(zip(start.tolist(), stop.tolist(), strict=True)) == longest


@given(codes=sequences(most=40), data=st.data())
def test_equal_windows_have_equal_codes_and_others_do_not(codes: Codes, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(codes)))
    windows = Windows(np.array(codes))
    every = windows.all_codes(size)
    places: IntArray = np.arange(len(every))
    assert windows.codes(places, np.full(len(every), size)).tolist() == every.tolist()
    texts = [tuple(codes[at : at + size]) for at in places]
    assert len(set(texts)) == len(set(every.tolist()))
    assert len(set(zip(texts, every.tolist(), strict=True))) == len(set(texts))
