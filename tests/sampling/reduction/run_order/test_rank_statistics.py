"""Trend and autocorrelation of ranks: against all orders of few values, and against scipy."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.reduction.run_order.drift import rank_statistics


@pytest.mark.parametrize("values", [[1, 2, 3, 4, 5, 6], [1, 1, 2, 5, 5, 5], [3, 3, 3, 3, 3, 9], [1, 2, 3, 4]])
def test_moments_are_those_of_all_orders(values: list[int]) -> None:
    orders = np.array(list(permutations(values)), dtype=np.float64)
    n = len(values)
    found = rank_statistics(orders.ravel(), np.arange(len(orders) + 1) * n)
    assert found.trend.mean() == pytest.approx(0, abs=1e-12)
    assert found.trend_deviations.std() == pytest.approx(1)
    assert found.lag_1_mean == pytest.approx(np.full(len(orders), found.lag_1.mean()))
    assert found.lag_1_std == pytest.approx(np.full(len(orders), found.lag_1.std()))


@given(st.lists(st.lists(st.integers(0, 8), min_size=4, max_size=30), min_size=1, max_size=4))
def test_the_trend_is_spearmans(series: list[list[int]]) -> None:
    edges = np.concatenate([[0], np.cumsum([len(values) for values in series])])
    found = rank_statistics(np.array([value for values in series for value in values], dtype=float), edges)
    for place, values in enumerate(series):
        ordered = np.sort(values)
        ranks = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
        if len(set(values)) == 1:
            assert (found.trend[place], found.lag_1[place]) == (0, 0)
            continue
        away = ranks - ranks.mean()
        assert found.trend[place] == pytest.approx(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1])
        assert found.lag_1[place] == pytest.approx((away[1:] * away[:-1]).sum() / (away**2).sum())
