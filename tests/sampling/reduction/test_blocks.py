"""Blocks of launches that repeat: of made-up networks they are the layers, whatever lies around."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sampling.reduction.blocks import find_blocks

HEAD, TAIL, NOISE = range(100, 110), range(200, 210), 300
LAYER = st.lists(st.integers(0, 9), min_size=2, max_size=8, unique=True)
LAYERS = st.integers(3, 24)


def edges(codes: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Return the blocks of each family."""
    families = find_blocks(np.array(codes, dtype=np.int64))
    return [list(zip(of.first.tolist(), of.stop.tolist(), strict=True)) for of in families]


def longest_repetition(codes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the equal windows in a row that hold most launches, looked for one by one."""
    best: list[tuple[int, int]] = []
    for size in range(2, len(codes) // 3 + 1):
        for first in range(len(codes) - 3 * size + 1):
            count = 1
            while codes[first + count * size :][:size] == codes[first : first + size]:
                count += 1
            if count >= 3 and count * size > len(best) * (best[0][1] - best[0][0] if best else 0):
                best = [(first + size * number, first + size * (number + 1)) for number in range(count)]
    return best


@given(
    st.lists(st.sampled_from(HEAD), max_size=8, unique=True),
    LAYER,
    st.lists(st.integers(0, 9), max_size=2),
    LAYERS,
    st.lists(st.sampled_from(TAIL), max_size=8, unique=True),
)
def test_of_head_layers_and_tail_they_are_the_layers(
    head: list[int], layer: list[int], again: list[int], layers: int, tail: list[int]
) -> None:
    # Some launches come twice in a layer; one that comes once tells the layers apart.
    layer = [*layer, *(code for code in again if code in layer[1:-1])]
    expected = [
        (len(head) + len(layer) * each, len(head) + len(layer) * (each + 1)) for each in range(layers)
    ]
    codes = head + layer * layers + tail
    assert edges(codes) == [expected]
    assert longest_repetition(codes) == expected


@given(st.data(), LAYER, LAYERS, st.booleans())
def test_launches_that_differ_in_some_layers_do_not_hide_them(
    data: st.DataObject, layer: list[int], layers: int, replaces: bool
) -> None:
    assume(len(layer) > 3)
    touched = data.draw(st.sets(st.integers(0, layers - 1), max_size=(layers - 1) // 3), label="layers")
    codes, expected = [100, 101], []
    for number in range(layers):
        own = list(layer)
        if number in touched:
            place = data.draw(st.integers(1, len(layer) - 2), label="place")
            own[place : place + replaces] = [NOISE + number]
        expected.append((len(codes), len(codes) + len(own)))
        codes += own
    assert edges([*codes, 200]) == [expected]


@given(LAYER, LAYERS, st.permutations(range(10)))
def test_forward_and_backward_layers_are_two_families(
    forward: list[int], layers: int, backward: list[int]
) -> None:
    codes = [100, *forward * layers, 101, *[50 + code for code in backward] * layers, 102]
    middle = 2 + layers * len(forward)
    assume(layers * len(forward) > 0.1 * len(codes))
    assert edges(codes) == [
        [(1 + each * len(forward), 1 + (each + 1) * len(forward)) for each in range(layers)],
        [(middle + each * 10, middle + (each + 1) * 10) for each in range(layers)],
    ]


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        # One kernel over and over, all different ones, and two blocks are no layers.
        ([1] * 40, []),
        (list(range(40)), []),
        ([*range(10), *range(10)], []),
        # A layer is not parted into its halves, which share a launch.
        ([0, 1, 2, 0, 3, 4] * 5, [[(6 * each, 6 * each + 6) for each in range(5)]]),
        # Every second layer has another attention: they are layers all the same.
        (
            [*range(16), *range(7), 20, *range(8, 16)] * 4,
            [[(16 * each, 16 * each + 16) for each in range(8)]],
        ),
        # Between two steps lies what belongs to neither.
        (
            [*range(5)] * 4 + [20, 21, 22, 23] + [*range(5)] * 4,
            [
                [(5 * each, 5 * each + 5) for each in range(4)]
                + [(24 + 5 * each, 29 + 5 * each) for each in range(4)]
            ],
        ),
    ],
    ids=["one kernel", "different", "two", "halves", "two kinds", "two steps"],
)
def test_what_blocks_are(codes: list[int], expected: list[list[tuple[int, int]]]) -> None:
    assert edges(codes) == expected
