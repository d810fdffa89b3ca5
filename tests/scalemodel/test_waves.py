"""Cycles by waves of thread blocks: by hand, and what holds of every launch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemodel.errors import OptionError
from scalemodel.waves import Limit, predict_by_waves


def one(ctas: int, small: float, large: float, target: int) -> tuple[float, str]:
    found = predict_by_waves(np.array([ctas]), np.array([small]), np.array([large]), (8, 16), target)
    return float(found.cycles[0]), found.limit[0]


@pytest.mark.parametrize(
    ("ctas", "small", "large", "target", "cycles", "limit"),
    [
        # 128 blocks are 16, 8 and 4 waves: 100 + 50 m before, so 300 at 4.
        (128, 900, 500, 32, 300, Limit.NOTHING),
        # ... and 2 waves of 64 SMs.
        (128, 900, 500, 64, 200, Limit.NOTHING),
        # One wave at 8 SMs already.
        (8, 300, 280, 32, 280, Limit.FEW_BLOCKS),
        # Two waves at 8, one from 16 on.
        (16, 500, 300, 32, 300, Limit.FEW_BLOCKS),
        (128, 500, 510, 32, 510, Limit.NO_GAIN),
        # By the line -300 is left of 500: no launch gains more than its waves do.
        (128, 2100, 500, 32, 250, Limit.SUPERLINEAR),
    ],
)
def test_by_hand(ctas: int, small: float, large: float, target: int, cycles: float, limit: Limit) -> None:
    assert one(ctas, small, large, target) == (pytest.approx(cycles), limit)


@given(
    ctas=st.integers(1, 10**6),
    small=st.floats(1, 1e12),
    ratio=st.floats(0.1, 3),
    doublings=st.integers(1, 4),
)
def test_no_launch_gets_longer_or_gains_more_than_its_waves(
    ctas: int, small: float, ratio: float, doublings: int
) -> None:
    large, target = small * ratio, 16 << doublings
    cycles, _ = one(ctas, small, large, target)
    waves = [-(-ctas // size) for size in (16, target)]
    assert large * waves[1] / waves[0] * (1 - 1e-12) <= cycles <= large


def test_the_interval_is_ten_per_cent_a_doubling_as_far_as_was_measured() -> None:
    ones = np.ones(1)
    of = [predict_by_waves(np.array([9]), ones, ones, (8, 16), target) for target in (32, 64, 128)]
    assert [each.half_width for each in of] == [pytest.approx(0.1), pytest.approx(0.2), None]


@pytest.mark.parametrize(("sizes", "target"), [((16, 8), 32), ((8, 8), 32), ((8, 16), 16), ((0, 8), 32)])
def test_sizes_ascend_to_the_target(sizes: tuple[int, int], target: int) -> None:
    with pytest.raises(OptionError, match="are not predicted from"):
        predict_by_waves(np.array([1]), np.ones(1), np.ones(1), sizes, target)


def test_a_grid_must_be_known() -> None:
    with pytest.raises(OptionError, match="the grid of a launch is not known"):
        predict_by_waves(np.array([0]), np.ones(1), np.ones(1), (8, 16), 32)
