"""Sample sizes and bounds: the figures of the papers, and an optimiser to hold the allocation against."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.strata.sizes import joint_sample_sizes, single_sample_size, water_filled_sample_sizes
from sampling.strata.strata import Strata, bound, sample_variance, total_variance
from sampling.strata.target import normal_quantile

Z = normal_quantile(0.95)
# The check of the methods: three clusters, epsilon 5 %.
LAUNCHES = np.array([100, 1000, 40])
MEAN = np.array([10.0, 100.0, 1000.0])
STD = np.array([5.0, 30.0, 800.0])

CLUSTER = st.tuples(
    st.integers(1, 400), st.floats(0.5, 1e4), st.one_of(st.just(0.0), st.floats(0.01, 2.0))
).map(lambda drawn: (drawn[0], drawn[1], drawn[1] * drawn[2] if drawn[0] > 1 else 0.0))
CLUSTERS = st.lists(CLUSTER, min_size=1, max_size=6)
EPSILON = st.floats(0.01, 0.5)


def columns(clusters: list[tuple[int, float, float]]) -> tuple[Any, Any, Any]:
    """Return size, mean and standard deviation as arrays."""
    launches, mean, std = zip(*clusters, strict=True)
    return np.array(launches), np.array(mean), np.array(std)


def water_filled(launches: Any, mean: Any, std: Any, epsilon: float) -> Any:
    """Allocate to one group."""
    return water_filled_sample_sizes(launches, mean, std, np.array([0, len(launches)]), epsilon, Z)


def strata_of(launches: Any, mean: Any, std: Any, samples: Any) -> Strata:
    """Return strata of one group."""
    zeros = np.zeros(len(launches), dtype=np.int64)
    return Strata(zeros, zeros, zeros + 1, launches, mean, std, samples)


def test_the_sizes_of_the_check() -> None:
    assert single_sample_size(np.array([100.0]), np.array([20.0]), 0.05, Z).tolist() == [62]
    # a b = 1 and 4, c = 1: sum of roots 3; the misprint gives sqrt 5 = 2.236, and sizes 3 and 5.
    ones = np.ones(2)
    assert joint_sample_sizes(np.array([1, 2]), ones, ones, epsilon=1 / 3, z=1.0).tolist() == [3, 6]
    assert joint_sample_sizes(LAUNCHES, MEAN, STD, 0.05, Z).tolist() == [17, 305, 103]
    sizes = water_filled(LAUNCHES, MEAN, STD, 0.05)
    assert sizes.tolist() == [6, 99, 34]
    assert sizes @ MEAN == 43_960
    assert bound(strata_of(LAUNCHES, MEAN, STD, sizes), 0.95) == pytest.approx(0.0499, abs=5e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_allocation_is_the_optimum_but_for_rounding(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from scipy.optimize import minimize
    rng = np.random.default_rng(seed)
    launches = rng.integers(2, 2000, 4)
    mean = rng.lognormal(3, 1, 4)
    std = mean * rng.uniform(0.05, 1, 4)
    epsilon = 0.05
    sizes = water_filled(launches, mean, std, epsilon)
    b = launches**2 * sample_variance(launches, std)
    budget = (epsilon * float(launches @ mean) / Z) ** 2
    total = float(launches @ mean)
    found = minimize(
        lambda share: float((share * launches) @ mean) / total,
        x0=np.full(4, 0.5),
        jac=lambda _: launches * mean / total,
        bounds=[(1 / float(size), 1) for size in launches],
        constraints={
            "type": "ineq",
            "fun": lambda share: 1 - float((b / launches * (1 / share - 1)).sum()) / budget,
            "jac": lambda share: b / launches / share**2 / budget,
        },
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-10},
    )
    assert found.success
    optimum = float(found.fun) * total
    assert sizes @ mean >= optimum * (1 - 1e-6)
    assert sizes @ mean <= optimum * (1 + 1e-6) + mean.sum()


@given(groups=st.lists(CLUSTERS, min_size=1, max_size=5), epsilon=EPSILON)
def test_many_groups_at_once_are_each_allocated_as_if_alone(
    groups: list[list[tuple[int, float, float]]], epsilon: float
) -> None:
    launches, mean, std = columns([cluster for group in groups for cluster in group])
    offsets = np.cumsum([0, *map(len, groups)])
    together = water_filled_sample_sizes(launches, mean, std, offsets, epsilon, Z)
    alone = np.concatenate([water_filled(*columns(group), epsilon) for group in groups])
    assert together.tolist() == alone.tolist()


def test_the_bound_is_the_variance_of_the_estimated_total() -> None:
    """Enumerate every draw of 2 of 4 and of 1 of 3: the variance is that of the estimates, exactly."""
    first, second = np.array([1.0, 2.0, 4.0, 9.0]), np.array([10.0, 20.0, 60.0])
    estimates = [
        2 * sum(drawn) + 3 * single for drawn in itertools.combinations(first, 2) for single in second
    ]
    strata = strata_of(
        np.array([4, 3]),
        np.array([first.mean(), second.mean()]),
        np.array([first.std(), second.std()]),
        np.array([2, 1]),
    )
    assert total_variance(strata).sum() == pytest.approx(np.var(estimates))
    assert np.mean(estimates) == pytest.approx(first.sum() + second.sum())
    total = first.sum() + second.sum()
    assert bound(strata, 0.95) == pytest.approx(Z * np.std(estimates) / total)


def test_a_census_has_bound_zero_and_so_has_no_time_at_all() -> None:
    assert bound(strata_of(LAUNCHES, MEAN, STD, LAUNCHES), 0.95) == 0
    nothing = np.zeros(2)
    assert bound(strata_of(np.array([5, 6]), nothing, nothing, np.array([1, 1])), 0.95) == 0
