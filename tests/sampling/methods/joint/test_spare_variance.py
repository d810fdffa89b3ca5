"""Sizes are lowered by the variance that the bounds leave to spare, and never by more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.methods.joint.spare_variance import smaller_sizes

STRATA = st.lists(
    st.tuples(
        st.integers(2, 40),  # N
        st.floats(1, 100),  # mu
        st.floats(0, 1e4),  # N^2 S^2
        st.integers(0, 2),  # group
    ),
    min_size=1,
    max_size=8,
)


def variance_of(samples: np.ndarray, spread: np.ndarray, launches: np.ndarray) -> np.ndarray:
    return np.asarray(spread * (1 / samples - 1 / launches))


@given(strata=STRATA, room=st.floats(0, 2), data=st.data())
def test_no_size_can_fall_any_further_and_no_budget_is_passed(
    strata: list[tuple[int, float, float, int]], room: float, data: st.DataObject
) -> None:
    launches, mean_ns, spread, group = map(np.array, zip(*strata, strict=True))
    samples = np.array([data.draw(st.integers(1, size)) for size in launches.tolist()])
    before = variance_of(samples, spread, launches)
    group_budget = np.bincount(group, before, minlength=3) * (1 + room) + room
    budget = float(before.sum()) * (1 + room / 2) + room
    found = smaller_sizes(
        samples, np.minimum(2, samples), mean_ns, spread, launches, group, group_budget, budget
    )
    assert (found <= samples).all()
    assert (found >= np.minimum(2, samples)).all()
    after = variance_of(found, spread, launches)
    assert (np.bincount(group, after, minlength=3) <= group_budget * (1 + 1e-9) + 1e-9).all()
    assert after.sum() <= budget * (1 + 1e-9) + 1e-9
    for row in np.flatnonzero(found > 2).tolist():
        fewer = found.copy()
        fewer[row] -= 1
        of_group = np.bincount(group, variance_of(fewer, spread, launches), minlength=3)
        over = of_group[group[row]] > group_budget[group[row]] * (1 - 1e-9) - 1e-9
        assert over or variance_of(fewer, spread, launches).sum() > budget * (1 - 1e-9) - 1e-9


def test_the_sample_that_saves_most_time_for_its_variance_goes_first() -> None:
    """Both may lose one sample, but not both: from 4 to 3 of 100 each adds 12 or 24 to the variance."""
    found = smaller_sizes(
        samples=np.array([4, 4]),
        least=np.array([1, 1]),
        mean_ns=np.array([10.0, 50.0]),
        spread=np.array([144.0, 288.0]),
        launches=np.array([100, 100]),
        group=np.array([0, 1]),
        group_budget=np.array([np.inf, np.inf]),
        budget=float((np.array([144, 288]) * (1 / 4 - 1 / 100)).sum()) + 25,
    )
    assert found.tolist() == [4, 3]


def test_a_large_group_does_not_hide_the_budget_of_a_small_one() -> None:
    """The small group affords one of its two decrements, whatever the other group's variances are."""
    found = smaller_sizes(
        samples=np.array([10, 4, 4]),
        least=np.array([1, 1, 1]),
        mean_ns=np.array([1e9, 1.0, 1.0]),
        spread=np.array([1e22, 144.0, 144.0]),
        launches=np.array([10, 100, 100]),
        group=np.array([0, 1, 1]),
        group_budget=np.array([1e22, 82.12]),
        budget=np.inf,
    )
    assert sorted(found[1:].tolist()) == [3, 4]
    assert found[0] == 1


def test_many_samples_are_let_go_at_once() -> None:
    """From ten million to the ten that the budget asks for."""
    found = smaller_sizes(
        samples=np.array([10_000_000]),
        least=np.array([1]),
        mean_ns=np.array([5.0]),
        spread=np.array([1000.0]),
        launches=np.array([20_000_000]),
        group=np.array([0]),
        group_budget=np.array([np.inf]),
        budget=1000 * (1 / 10 - 1 / 20_000_000),
    )
    assert found.tolist() == [10]


@pytest.mark.parametrize("mean", [0.0])
def test_launches_without_time_are_left_alone(mean: float) -> None:
    found = smaller_sizes(
        samples=np.array([3]),
        least=np.array([1]),
        mean_ns=np.array([mean]),
        spread=np.array([0.0]),
        launches=np.array([5]),
        group=np.array([0]),
        group_budget=np.array([1.0]),
        budget=1.0,
    )
    assert found.tolist() == [3]
