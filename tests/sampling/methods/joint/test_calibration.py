"""Joint's bounds hold in the draws: the cases of the specification, by exact probabilities and by drawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import pytest

from sampling.methods.joint import candidates
from sampling.methods.joint.joint import budget_of, group_budgets, solve
from sampling.plan.design import Design, make_design
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.plan_groups import unpooled
from sampling.strata.repeated_draws import drawn_errors
from sampling.strata.target import Target
from sampling.strata.variance import total_variance
from tests.targets import LIKE_ROOT, UNPOOLED, spread_within

CountsOf = Callable[..., DurationCounts]
Mixture = Callable[..., dict[str, list[int]]]


def all_errors(counts: DurationCounts, design: Design, draws: int) -> np.ndarray:
    """Return (draws, groups) the errors of every group's total, all strata drawn, with another seed."""
    strata = design.strata
    errors = np.zeros((draws, len(counts.groups)))
    drawn = drawn_errors(counts, strata, np.arange(len(strata)), draws, np.random.default_rng(77))
    np.add.at(errors.T, strata.group, drawn.T)
    return errors


def test_one_skewed_stratum_keeps_its_bound(counts_of: CountsOf) -> None:
    """The probability is exact: of m launches of a stratum of both kinds, k are long."""
    counts = counts_of({"k": [10_000] * 915 + [11_290] * 85})
    target = replace(LIKE_ROOT, group_epsilon=None)
    design = make_design(counts, "joint", target, 0)
    total = counts.total_duration_ns
    if len(design.strata) == 2:
        assert design.bound == 0
        return
    (samples,) = design.strata.samples.tolist()
    within = sum(
        comb(85, long) * comb(915, samples - long)
        for long in range(samples + 1)
        if abs(1000 * (10_000 * (samples - long) + 11_290 * long) / samples - total) <= 0.05 * total
    ) / comb(1000, samples)
    assert within >= 0.95


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "target",
    [
        replace(LIKE_ROOT, group_epsilon=0.25),
        replace(LIKE_ROOT, epsilon=0.02, group_epsilon=None),
        replace(UNPOOLED, epsilon=0.1),
        replace(LIKE_ROOT, confidence=0.8, group_epsilon=0.1),
    ],
)
def test_the_stated_share_of_draws_is_within_each_bound(
    target: Target, seed: int, counts_of: CountsOf, mixture: Mixture
) -> None:
    counts = counts_of(mixture(seed, groups=6, launches=500))
    design = make_design(counts, "joint", target, 0)
    errors = all_errors(counts, design, 4000)
    # Two standard errors of 4,000 draws, and those of the draws that the plan was judged by.
    enough = target.confidence - 3 * np.sqrt(target.confidence * (1 - target.confidence) / 4000)
    total = np.abs(errors.sum(axis=1)) / counts.total_duration_ns
    assert (total <= target.epsilon * (1 + 1e-9)).mean() >= enough
    assert design.bound is not None
    assert (total <= design.bound * (1 + 1e-9)).mean() >= enough
    assert design.bound <= target.epsilon * (1 + 1e-9)
    of_groups = np.abs(errors) / counts.group_duration_ns
    if target.group_epsilon is not None:
        assert ((of_groups <= target.group_epsilon * (1 + 1e-9)).mean(axis=0) >= enough).all()
        assert design.group_bound is not None
        assert design.group_bound <= target.group_epsilon * (1 + 1e-9)
    assert ((of_groups <= (design.group_bound or 0) * (1 + 1e-9)).mean(axis=0) >= enough).all()


@pytest.mark.parametrize("seed", range(4))
def test_every_groups_own_bound_holds_in_its_draws(seed: int, counts_of: CountsOf, mixture: Mixture) -> None:
    counts = counts_of(mixture(seed, groups=6, launches=500))
    design = make_design(counts, "root", Target(0.05), 0)
    within = np.abs(all_errors(counts, design, 4000)) / counts.group_duration_ns
    enough = 0.95 - 3 * np.sqrt(0.95 * 0.05 / 2000)
    for group in range(len(counts.groups)):
        bound = design.bound_of_group(group)
        assert (within[:, group] <= bound * (1 + 1e-9)).mean() >= enough
        assert bound <= (design.group_bound or 0) * (1 + 1e-9)


def test_the_seed_of_a_plan_does_not_change_its_strata(counts_of: CountsOf, mixture: Mixture) -> None:
    counts = counts_of(mixture(3, groups=6, launches=500))
    target = replace(LIKE_ROOT, epsilon=0.02, group_epsilon=0.25)
    first, second = (make_design(counts, "joint", target, seed) for seed in (0, 12345))
    assert first.strata.samples.tolist() == second.strata.samples.tolist()
    assert first.bound == second.bound


@pytest.mark.parametrize("method", ["root", "stem", "allegro"])
def test_a_published_methods_bound_is_what_its_draws_reach(
    method: str, counts_of: CountsOf, mixture: Mixture
) -> None:
    counts = counts_of({"k": [10_000] * 915 + [11_290] * 85})
    design = make_design(counts, method, Target(0.05), 0)
    errors = np.abs(all_errors(counts, design, 8000).sum(axis=1)) / counts.total_duration_ns
    assert design.bound is not None
    assert (errors <= design.bound * (1 + 1e-9)).mean() >= 0.94


def test_what_is_printed_of_other_draws(sample_data: Path) -> None:
    profile = read_profile([str(sample_data / "resnet50-like.sqlite")])
    counts = count_durations(profile, Grouping(GroupBy.LAUNCH))
    design = make_design(counts, "joint", replace(LIKE_ROOT, epsilon=0.02, group_epsilon=0.25), 0)
    errors = np.abs(all_errors(counts, design, 8000).sum(axis=1))
    share = float((errors <= 0.02 * counts.total_duration_ns).mean())
    assert design.share_within_epsilon == pytest.approx(share, abs=0.02)


def test_of_very_many_groups_those_without_a_choice_follow_a_smaller_budget(
    counts_of: CountsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One skewed kernel makes the bound shrink; the others, of which few may choose, hold their part."""
    monkeypatch.setattr(candidates, "_MOST_GROUPS", 3)
    groups = {f"k{index}": [100, 140, 180] * 40 for index in range(40)}
    counts = counts_of({"skewed": [10_000] * 915 + [11_290] * 85, **groups})
    target = replace(LIKE_ROOT, epsilon=0.02, group_epsilon=None)
    design = make_design(counts, "joint", target, 0)
    errors = np.abs(all_errors(counts, design, 8000).sum(axis=1)) / counts.total_duration_ns
    assert (errors <= 0.02 * (1 + 1e-9)).mean() >= 0.94
    assert design.sampled_duration_ns < 0.5 * counts.total_duration_ns
    groups_of_plan = unpooled(counts)
    budgets = group_budgets(groups_of_plan, target, spread_within(counts, 0.0))
    closed = solve(groups_of_plan, target).solution(budgets, budget_of(counts, target) / 100)
    left = closed.clusters.launches - closed.samples
    variance = total_variance(closed.clusters.with_samples(closed.samples))
    assert variance.sum() <= budget_of(counts, target) / 100 * (1 + 1e-9)
    assert left.any()
