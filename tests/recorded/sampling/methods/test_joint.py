"""Joint on profiles recorded by others: its promise by draws of its own, and ROOT beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sampling.plan.design import Design, make_design
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping
from sampling.strata.draw import draw, weights
from sampling.strata.target import Target

REAL = (
    "kineto/v100-resnet50-training.json.gz",
    "nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite",
    "nsys-sqlite/a100-nerf-nsys2021.5.sqlite",
    "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite",
    "nsys-csv/cloverleaf_gpu_trace.csv",
)
BY = [GroupBy.NAME, GroupBy.LAUNCH]
Reduced = Callable[[str, GroupBy], DurationCounts]
DRAWS = 1000
# Three standard errors of so many draws, two of the 4,000 by which a plan is judged, and its slack.
ENOUGH = 0.95 - 3 * np.sqrt(0.95 * 0.05 / DRAWS) - 2 * np.sqrt(0.95 * 0.05 / 4000) - 0.005


@pytest.fixture(scope="session")
def reduced(shared_data: Path) -> Callable[[str, GroupBy], DurationCounts]:
    """Return the reduction of a profile."""

    @cache
    def profile_of(name: str) -> Profile:
        return read_profile([str(shared_data / name)])

    @cache
    def counts_of(name: str, by: GroupBy) -> DurationCounts:
        return count_durations(profile_of(name), Grouping(by))

    return counts_of


def lognormal(rng: np.random.Generator, spread: float, size: int) -> NDArray[np.float64]:
    """Return factors of mean 1 and a coefficient of variation."""
    sigma = np.sqrt(np.log1p(spread**2))
    return np.asarray(np.exp(sigma * rng.standard_normal(size) - sigma**2 / 2))


def simulated_errors(counts: DurationCounts, design: Design, draws: int) -> NDArray[np.float64]:
    """Return (draws,) errors of simulated totals, cycles and draw new every time.

    Of the launches that are not drawn only the sum is needed, which is normal, for they are many.
    """
    rng, target, plan = np.random.default_rng(5), design.target, design.groups.counts
    kernel = np.repeat(np.repeat(np.arange(len(counts.groups)), np.diff(counts.offsets)), counts.count)
    duration_ns = np.repeat(counts.duration_ns, counts.count).astype(np.float64)
    order = np.lexsort((duration_ns, design.groups.group_of[kernel]))
    kernel, duration_ns = kernel[order], duration_ns[order]
    total_ns = np.bincount(kernel, duration_ns)
    squares = np.bincount(kernel, duration_ns**2)
    errors = np.empty(draws)
    for number in range(draws):
        cycles = lognormal(rng, target.kernel_spread, len(total_ns))
        drawn = draw(plan, design.strata, number)
        place = plan.launches_before[drawn.pair] + drawn.occurrence
        expected = cycles[kernel[place]] * duration_ns[place]
        simulated = expected * lognormal(rng, target.noise_floor, len(place))
        left = max(float(np.dot(cycles**2, squares) - (expected**2).sum()), 0.0)
        total = float(np.dot(cycles, total_ns) + (simulated - expected).sum())
        total += target.noise_floor * np.sqrt(left) * rng.standard_normal()
        errors[number] = abs(float(np.dot(weights(design.strata, drawn), simulated)) / total - 1)
    return errors


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("by", BY)
def test_simulated_totals_are_within_what_the_default_promises(
    name: str, by: GroupBy, reduced: Reduced
) -> None:
    counts = reduced(name, by)
    design = make_design(counts, "joint", Target(), 0)
    assert design.promise is not None
    assert design.promise.error <= 0.05 * (1 + 1e-9)
    errors = simulated_errors(counts, design, DRAWS)
    assert (errors <= design.promise.bound_with_noise * (1 + 1e-9)).mean() >= ENOUGH
    assert (errors <= 0.05).mean() >= ENOUGH


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("by", BY)
def test_it_is_no_dearer_than_root_or_than_tighter_plans_of_its_own(
    name: str, by: GroupBy, reduced: Reduced
) -> None:
    counts, costs = reduced(name, by), []
    for epsilon in (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.4):
        joint, root = (make_design(counts, method, Target(epsilon), 0) for method in ("joint", "root"))
        assert root.promise is not None
        # ROOT promises nothing of each kernel group; where it keeps what joint does, it is no cheaper.
        keeps_groups = (root.promise.group_bound_with_noise or 0.0) <= (root.target.group_epsilon or 1.0)
        if root.promise.error <= epsilon and keeps_groups:
            assert joint.sampled_duration_ns <= root.sampled_duration_ns * 1.01
        costs.append(joint.sampled_duration_ns)
    assert all(looser <= tighter * 1.01 for tighter, looser in pairwise(costs))
