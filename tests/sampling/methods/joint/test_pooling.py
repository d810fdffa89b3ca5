"""Pools of small kernel groups: what they keep, what they cost, and that a looser wish costs no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampling.plan.design import Design, make_design
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.splitting.groups import Overrides
from sampling.splitting.tree import Verdict
from sampling.strata.expected_freedom import ExpectedFreedom
from sampling.strata.target import Target

CountsOf = Callable[..., DurationCounts]
Mixture = Callable[..., dict[str, list[int]]]
Reduced = Callable[[str], DurationCounts]

DURATIONS = st.one_of(st.integers(0, 40), st.integers(1, 100_000))
GROUPS = st.lists(st.lists(DURATIONS, min_size=1, max_size=40), min_size=1, max_size=9).map(
    lambda groups: {f"k{index}": durations for index, durations in enumerate(groups)}
)
TARGETS = st.builds(
    Target,
    epsilon=st.floats(0.01, 0.5),
    confidence=st.sampled_from([0.8, 0.95]),
    group_epsilon=st.none() | st.floats(0.05, 0.6),
    min_samples=st.integers(1, 3),
    noise_floor=st.sampled_from([0.0, 0.05, 0.3]),
    kernel_spread=st.sampled_from([0.0, 0.3, 1.0]),
    pool_below=st.sampled_from([0.01, 0.2, 0.5]),
    min_freedom=st.sampled_from([0.0, 4.0, 8.0]),
)
KEEP, SPLIT = Verdict.KEEP, Verdict.SPLIT


def planned(counts: DurationCounts, target: Target, overrides: Overrides | None = None) -> Design:
    return make_design(counts, "joint", target, 0, overrides=overrides)


def many_small(seed: int) -> dict[str, list[int]]:
    """Return sixty kernels, of which a few have most of the time."""
    rng = np.random.default_rng(1000 + seed)
    made = {}
    for index in range(60):
        mean_ns, launches = rng.lognormal(9, 1.8), int(rng.integers(1, 80))
        spread = rng.choice([0.01, 0.1, 0.5])
        durations = np.rint(mean_ns * rng.lognormal(0, spread, launches)).astype(int)
        made[f"k{index}"] = np.maximum(durations, 1).tolist()
    return made


@pytest.fixture(scope="module")
def reduced(sample_data: Path, counts_of: CountsOf, mixture: Mixture) -> Reduced:
    """Return a bundled profile by file and grouping, or a made one by its seed."""

    @cache
    def found(name: str) -> DurationCounts:
        first, _, second = name.partition(" ")
        if first in ("mixture", "small"):
            return counts_of(mixture(int(second)) if first == "mixture" else many_small(int(second)))
        return count_durations(read_profile([str(sample_data / first)]), Grouping(GroupBy(second)))

    return found


BUNDLED = tuple(
    f"{name} {by}" for name in ("resnet50-like.sqlite", "gpt2-like.json.gz") for by in ("name", "launch")
)
MADE = ("mixture 3", "small 0", "small 5")
# More are looked at by `benchmarks/looser_options.py`.
SOME = (BUNDLED[0], BUNDLED[3], "small 5")


@given(groups=GROUPS, target=TARGETS)
@settings(max_examples=25)
def test_what_is_promised_is_kept_with_pools(
    groups: dict[str, list[int]], target: Target, counts_of: CountsOf
) -> None:
    counts = counts_of(groups)
    design = planned(counts, target)
    strata, plan_groups = design.strata, design.groups
    assert plan_groups is not None
    made = plan_groups.counts
    assert (strata.start[0], strata.stop[-1]) == (0, len(made.count))
    assert (strata.start[1:] == strata.stop[:-1]).all()
    assert strata.launches.sum() == counts.launches
    assert (strata.samples >= np.minimum(target.min_samples, strata.launches)).all()
    assert (strata.samples <= strata.launches).all()
    assert design.bound is not None
    assert design.bound_with_noise is not None
    assert design.bound <= design.bound_with_noise * (1 + 1e-12)
    assert design.bound_with_noise <= target.epsilon * (1 + 1e-9)
    if target.group_epsilon is not None and design.group_bound_with_noise is not None:
        assert design.group_bound_with_noise <= target.group_epsilon * (1 + 1e-9)
    # Only groups below the limit are pooled, and every larger one is on its own.
    small = counts.group_duration_ns < target.pool_below * counts.total_duration_ns
    assert not (plan_groups.pooled_kernels & ~small).any()
    if plan_groups.is_pool.any():
        assert strata.groups is plan_groups


def tells(design: Design) -> bool:
    """Return whether an interval of enough degrees of freedom follows, or all strata tell themselves."""
    assert design.cycles is not None
    strata = design.strata
    if (strata.samples >= np.minimum(2, strata.launches)).all():
        return True
    return float(ExpectedFreedom.of(strata, design.cycles)(strata.samples)) >= design.target.min_freedom


@pytest.mark.parametrize("name", [*BUNDLED, *MADE])
def test_an_interval_follows(name: str, reduced: Reduced) -> None:
    design = planned(reduced(name), Target())
    freedom = ExpectedFreedom.of(design.strata, design.cycles)  # type: ignore[arg-type]
    assert tells(design)
    assert float(freedom(design.strata.samples)) >= 2
    free = planned(reduced(name), Target(min_freedom=0))
    assert free.sampled_duration_ns <= design.sampled_duration_ns


def test_a_decision_on_a_small_group_keeps_it_on_its_own(reduced: Reduced) -> None:
    counts = reduced("small 0")
    before = planned(counts, Target())
    assert before.groups is not None
    pooled = np.flatnonzero(before.groups.pooled_kernels)
    splittable = [index for index in pooled if counts.offsets[index + 1] - counts.offsets[index] > 1]
    assert len(splittable) > 2
    for verdict in (KEEP, SPLIT):
        index = splittable[0]
        key = counts.groups[index].key
        design = planned(counts, Target(), {key: {"": verdict}})
        assert design.groups is not None
        assert not design.groups.pooled_kernels[index]
        assert design.groups.is_pool.any()
        own = int(design.groups.group_of[index])
        assert design.groups.counts.groups[own].key == key
        assert ((design.strata.group == own).sum() > 1) == (verdict is SPLIT)
        assert design.bound_with_noise is not None
        assert design.bound_with_noise <= 0.05 * (1 + 1e-9)


def test_a_decision_on_a_pool(reduced: Reduced) -> None:
    """It is found by its key; its halves may be decided on as those of any group."""
    counts = reduced("small 0")
    before = planned(counts, Target())
    assert before.groups is not None
    (pool,) = np.flatnonzero(before.groups.is_pool)
    key = before.groups.counts.groups[pool].key
    for decided, strata in (({"": KEEP}, 1), ({"": SPLIT, "L": KEEP, "R": KEEP}, 2)):
        design = planned(counts, Target(), {key: decided})
        assert design.groups is not None
        pools = np.flatnonzero(design.groups.is_pool)
        assert [design.groups.counts.groups[index].key for index in pools] == [key]
        assert (design.strata.group == pools[0]).sum() == strata
        assert design.bound_with_noise is not None
        assert design.bound_with_noise <= 0.05 * (1 + 1e-9)
    both: Overrides = {key: {"": SPLIT}, counts.groups[0].key: {"": KEEP}}
    design = planned(counts, Target(), both)
    assert design.groups is not None
    (pool,) = np.flatnonzero(design.groups.is_pool)
    assert (design.strata.group == pool).sum() > 1
    assert (design.strata.group == 0).sum() == 1


def cost(counts: DurationCounts, **asked: Any) -> float:
    """Return the sampled time, and for each launch a twentieth of the mean duration: to trace and load it."""
    design = planned(counts, Target(**asked))
    return design.sampled_duration_ns + 0.05 * counts.total_duration_ns / counts.launches * design.samples


@pytest.mark.parametrize("name", [*BUNDLED, *MADE])
def test_never_dearer_than_without_pools_or_than_two_samples_each(name: str, reduced: Reduced) -> None:
    """Without pools, but of kernels that differ as much: what pools nothing is not told that they do."""
    counts = reduced(name)
    default = cost(counts)
    assert default <= cost(counts, pool_below=1e-12) * (1 + 1e-9)
    assert default <= cost(counts, min_samples=2) * (1 + 1e-9)


@pytest.mark.parametrize("name", [*BUNDLED, *MADE])
@pytest.mark.parametrize("epsilon", [0.05, 0.2])
def test_never_dearer_than_root_where_its_promise_holds(name: str, epsilon: float, reduced: Reduced) -> None:
    """ROOT's plan as it is, and made for half of epsilon, where its promise of the simulated total holds."""
    counts, target = reduced(name), Target(epsilon, min_freedom=0)
    joint = planned(counts, target)
    for share in (1.0, 0.5, 0.25):
        root = make_design(counts, "root", replace(target, epsilon=share * epsilon), 0)
        assert root.bound_with_noise is not None
        assert root.group_bound_with_noise is not None
        if root.bound_with_noise <= epsilon and root.group_bound_with_noise <= 0.25:
            assert joint.sampled_duration_ns <= root.sampled_duration_ns * (1 + 1e-9)
            break
    else:
        pytest.fail("no plan of ROOT's to compare with")


LOOSER: dict[str, Sequence[Any]] = {
    "epsilon": (0.01, 0.02, 0.05, 0.2),
    "group_epsilon": (0.05, 0.25, None),
    "min_samples": (3, 2, 1),
    "min_freedom": (16.0, 8.0, 0.0),
    "noise_floor": (0.2, 0.05, 0.0),
    "kernel_spread": (0.9, 0.3, 0.0),
    "pool_below": (0.002, 0.01, 0.1),
}
# Where an interval asks for samples, what it asks for is not less where launches or kernels vary less: its
# degrees of freedom are those of shares of the variance.
OF_SHARES = ("noise_floor", "kernel_spread")


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("option", LOOSER)
def test_a_looser_option_costs_no_more(option: str, name: str, reduced: Reduced) -> None:
    """By two in a hundred at most: the choice of strata is not exact."""
    counts = reduced(name)
    fixed = {"min_freedom": 0.0} if option in OF_SHARES else {}
    costs = [cost(counts, **fixed, **{option: value}) for value in LOOSER[option]]
    least = np.minimum.accumulate(costs)
    assert (np.array(costs[1:]) <= least[:-1] * 1.02).all(), np.array(costs[1:]) / least[:-1]
