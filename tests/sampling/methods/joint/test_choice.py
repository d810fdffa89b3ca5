"""One set of strata a group: within the budget, no dearer than any start, near the optimum of brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.methods.joint.choice import Table, least_time


def table_of(seed: int, groups: int, choices: int) -> Table:
    """Return times that fall as variances rise, with noise: few choices are on the hull."""
    rng = np.random.default_rng(seed)
    variance = np.sort(rng.lognormal(0, 1.5, (groups, choices)), axis=1)
    time_ns = 1 / variance * rng.lognormal(0, 0.5, (groups, choices)) + rng.random((groups, 1))
    return Table(time_ns, variance)


def optimum(table: Table, budget: float) -> float:
    """Return the least time of all combinations within the budget."""
    rows = range(len(table.time_ns))
    return min(
        sum(table.time_ns[row, each] for row, each in zip(rows, combination, strict=True))
        for combination in product(*(range(table.time_ns.shape[1]) for _ in rows))
        if sum(table.variance[row, each] for row, each in zip(rows, combination, strict=True)) <= budget
    )


@given(seed=st.integers(0, 10_000), groups=st.integers(1, 5), choices=st.integers(1, 8), room=st.floats(0, 1))
def test_within_the_budget_and_no_dearer_than_a_start(
    seed: int, groups: int, choices: int, room: float
) -> None:
    table = table_of(seed, groups, choices)
    least, most = table.variance.min(axis=1).sum(), table.variance.max(axis=1).sum()
    budget = float(least + room * (most - least))
    start = np.random.default_rng(seed).integers(0, choices, groups)
    choice = least_time(table, budget, [start])
    time_ns, variance = table.of(choice)
    assert variance.sum() <= budget * (1 + 1e-9)
    if table.of(start)[1].sum() <= budget:
        assert time_ns.sum() <= table.of(start)[0].sum() * (1 + 1e-9)


def test_mostly_the_optimum() -> None:
    over = []
    for seed in range(200):
        table = table_of(seed, groups=4, choices=7)
        budget = float(np.quantile(table.variance, 0.4) * 4)
        best = optimum(table, max(budget, table.variance.min(axis=1).sum()))
        found = least_time(table, max(budget, float(table.variance.min(axis=1).sum())), [])
        over.append(table.of(found)[0].sum() / best)
    assert min(over) >= 1 - 1e-9
    assert np.mean(np.array(over) <= 1 + 1e-9) >= 0.9
    assert np.mean(over) <= 1.005


def test_a_group_alone_takes_the_least_time_that_fits() -> None:
    table = Table(np.array([[9.0, 5.0, 4.0, 1.0]]), np.array([[1.0, 2.0, 1.9, 3.0]]))
    assert least_time(table, 2.0, []).tolist() == [2]
    assert least_time(table, 1.5, []).tolist() == [0]
    assert least_time(table, 9.0, []).tolist() == [3]


def test_where_nothing_fits_variance_is_least() -> None:
    table = Table(np.array([[9.0, 5.0], [1.0, 2.0]]), np.array([[1.0, 2.0], [3.0, 2.5]]))
    assert least_time(table, 0.5, []).tolist() == [0, 1]


def test_what_a_groups_own_budget_forbids_is_not_taken() -> None:
    table = Table(np.array([[9.0, 5.0], [9.0, 1.0]]), np.array([[1.0, 2.0], [1.0, 9.0]]))
    allowed = table.within(np.array([2.0, 5.0]))
    assert least_time(allowed, 100.0, []).tolist() == [1, 0]
    assert np.isinf(allowed.time_ns).tolist() == [[False, False], [False, True]]


def test_two_groups_change_at_once_where_one_alone_cannot() -> None:
    # From (a, b) with nothing to spare: the first must cost more for the second to save much more.
    table = Table(np.array([[5.0, 6.0], [9.0, 1.0]]), np.array([[4.0, 1.0], [1.0, 4.0]]))
    assert least_time(table, 5.0, [np.array([0, 0])]).tolist() == [1, 1]
    assert optimum(table, 5.0) == pytest.approx(7.0)
