"""What is declared of simulated time, against simulated time: variances, and the bounds made of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t

from sampling.plan.design import make_design
from sampling.plan.draft import draft_plan
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.plan_groups import PlanGroups, pooled, unpooled
from sampling.strata.satterthwaite import student_t
from sampling.strata.strata import (
    Strata,
    bound,
    declared_spread,
    expected_half_width,
    measured_clusters,
)
from sampling.strata.target import MOST_CONFIDENCE, Target
from tests.small_plans import UNPOOLED, request_of

CountsOf = Callable[..., DurationCounts]
Floats = NDArray[np.float64]


def launches_of(counts: DurationCounts, group_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Return (n,) kernel group and duration of every launch, by the plan's group and duration."""
    kernel = np.repeat(np.repeat(np.arange(len(counts.groups)), np.diff(counts.offsets)), counts.count)
    duration_ns = np.repeat(counts.duration_ns, counts.count)
    order = np.lexsort((duration_ns, group_of[kernel]))
    return kernel[order], duration_ns[order].astype(np.float64)


def lognormal(rng: np.random.Generator, spread: float, shape: tuple[int, ...]) -> Floats:
    """Return factors of mean 1 and a coefficient of variation."""
    sigma = np.sqrt(np.log1p(spread**2))
    return np.exp(sigma * rng.standard_normal(shape) - sigma**2 / 2)


def simulated_errors(
    strata: Strata, launches: tuple[NDArray[np.int64], Floats], draws: int, between: float, within: float
) -> Floats:
    """Return (draws,) relative errors of simulated totals: every time all cycles and draws are new.

    This is the declaration itself: each kernel group has cycles per nanosecond, and each launch its own.
    """
    rng, (kernel, duration_ns) = np.random.default_rng(8), launches
    cycles = lognormal(rng, between, (draws, int(kernel.max()) + 1))[:, kernel]
    cycles *= duration_ns
    cycles *= lognormal(rng, within, (draws, len(kernel)))
    estimate, ends = np.zeros(draws), np.cumsum(strata.launches)
    for end, size, samples in zip(ends, strata.launches, strata.samples, strict=True):
        here = cycles[:, end - size : end]
        if samples == size:
            estimate += here.sum(axis=1)
            continue
        drawn = np.argpartition(rng.random((draws, size), np.float32), samples, axis=1)[:, :samples]
        estimate += size * np.take_along_axis(here, drawn, axis=1).mean(axis=1)
    return np.asarray(estimate / cycles.sum(axis=1) - 1)


def plan_of(groups: PlanGroups, cut_at: list[int], samples: list[int]) -> Strata:
    """Return the ranges between some pairs as strata."""
    start, stop = np.array(cut_at[:-1]), np.array(cut_at[1:])
    group = np.searchsorted(groups.counts.offsets, start, side="right") - 1
    return measured_clusters(groups.counts, group, start, stop).with_samples(np.array(samples))


def check_variance(
    counts: DurationCounts,
    groups: PlanGroups,
    strata: Strata,
    *,
    between: float,
    within: float,
    rel: float,
    of_shapes: float = 0.0,
) -> float:
    """Hold the deviation of the estimated total against 4,000 simulated ones; return the declared one.

    ``of_shapes`` is what several signatures in all strata that are not simulated whole add to the spread.
    """
    target = Target(noise_floor=within, kernel_spread=between)
    launches, within = launches_of(counts, groups.group_of), float(np.hypot(within, of_shapes))
    errors = simulated_errors(strata, launches, 4000, between, within)
    declared = bound(strata, 0.95, declared_spread(groups, target).variance(strata)) / 1.959964
    assert declared == pytest.approx(float(np.sqrt((errors**2).mean())), rel=rel)
    return float(declared)


def spread_out(rng: np.random.Generator, mean_ns: float, spread: float, launches: int) -> list[int]:
    return np.rint(mean_ns * lognormal(rng, spread, (launches,))).astype(int).tolist()


@pytest.fixture(scope="module")
def many(counts_of: CountsOf) -> DurationCounts:
    """Four kernels of a tenth to a half of the time, and forty of a thousandth or two."""
    rng = np.random.default_rng(4)
    large = {f"l{each}": spread_out(rng, 5000.0 * (each + 2), 0.2, 100) for each in range(4)}
    return counts_of(large | {f"s{each}": spread_out(rng, 300.0 + 9 * each, 0.3, 10) for each in range(40)})


@pytest.mark.parametrize(("between", "within"), [(0.3, 0.05), (0.0, 0.3), (0.3, 0.0)])
def test_the_variance_of_own_strata(between: float, within: float, many: DurationCounts) -> None:
    groups = unpooled(many)
    samples = np.maximum(many.group_launches // 20, 1).tolist()
    strata = plan_of(groups, many.offsets.tolist(), samples)
    check_variance(many, groups, strata, between=between, within=within, rel=0.04)


@pytest.mark.parametrize(("between", "within"), [(0.3, 0.05), (0.6, 0.0), (0.0, 0.2)])
def test_the_variance_of_pools(between: float, within: float, many: DurationCounts) -> None:
    """Own groups are simulated whole, so that all variance is the pool's, in two strata."""
    groups = pooled(many, many.group_duration_ns < 0.01 * many.total_duration_ns)
    made = groups.counts
    assert groups.is_pool.tolist() == [False] * 4 + [True]
    middle = int(made.offsets[4] + made.offsets[5]) // 2
    cuts = [*made.offsets[:5].tolist(), middle, int(made.offsets[5])]
    whole = made.group_launches[:4].tolist()
    strata = plan_of(groups, cuts, [*whole, 6, 12])
    check_variance(many, groups, strata, between=between, within=within, rel=0.04, of_shapes=0.1)


def test_strata_of_several_signatures_declare_a_tenth_more(launch_table: Callable[..., Profile]) -> None:
    """By name: the first half of one kernel's durations are of one grid, those of the other half of two."""
    durations, grids = [*range(100, 120), *range(200, 220)], [1] * 20 + [1, 2] * 10
    groups = unpooled(
        count_durations(launch_table(["k"] * 40, durations, grid_x=grids), Grouping(GroupBy.NAME))
    )
    strata = plan_of(groups, [0, 20, 40], [1, 4])
    cycles = declared_spread(groups, Target(noise_floor=0.05, kernel_spread=0.3))
    s2 = np.array([np.var(durations[:20], ddof=1), np.var(durations[20:], ddof=1)])
    mean = np.array([np.mean(durations[:20]), np.mean(durations[20:])])
    assert cycles.variance(strata) == pytest.approx(s2 + [0.0025, 0.0125] * mean**2)
    # One launch of the first tells nothing, four of the second three degrees; both vary as declared.
    v = (20 * mean) ** 2 * [0.0025 * (1 - 1 / 20), 0.0125 * (1 / 4 - 1 / 20)]
    share = v[1] / v.sum()
    width = t.ppf(0.975, (4 + 3 * share) / 2) * np.sqrt(v.sum()) / (20 * mean.sum())
    assert expected_half_width(strata, cycles, 0.95) == pytest.approx(width)


def test_one_kernel_with_nearly_all_time_cancels_from_the_ratio(counts_of: CountsOf) -> None:
    """Its cycles are in the total as well, so that the spread between kernels does next to nothing."""
    rng = np.random.default_rng(1)
    counts = counts_of({"k": spread_out(rng, 9000, 0.4, 500), "small": spread_out(rng, 100, 0.4, 50)})
    groups = unpooled(counts)
    strata = plan_of(groups, counts.offsets.tolist(), [10, 3])
    found = check_variance(counts, groups, strata, between=0.5, within=0.1, rel=0.03)
    assert found == pytest.approx(
        bound(
            strata, 0.95, declared_spread(groups, Target(noise_floor=0.1, kernel_spread=0)).variance(strata)
        )
        / 1.959964,
        rel=0.02,
    )


DRAWS = 1500
# Three standard errors of 1,500 draws, two of the 4,000 draws that a bound is from, and its slack.
ENOUGH = 0.95 - 3 * np.sqrt(0.95 * 0.05 / DRAWS) - 2 * np.sqrt(0.95 * 0.05 / 4000) - 0.005


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("joint", Target()),
        ("joint", Target(0.1, kernel_spread=0.6)),
        ("joint", Target(0.02)),
        ("joint", UNPOOLED),
        ("root", Target()),
        ("stem", Target()),
        ("allegro", Target()),
        ("random", Target()),
    ],
)
def test_simulated_totals_are_within_the_bound(method: str, target: Target, many: DurationCounts) -> None:
    settings = ("random.launches=60",) if method == "random" else ()
    design = make_design(many, method, target, 0, settings=settings)
    assert design.promise is not None
    # A stratum of the whole workload has all its launches by kernel group.
    group_of = design.groups.group_of if design.strata.group[0] >= 0 else np.zeros(len(many.groups), np.int64)
    launches = launches_of(many, group_of)
    errors = simulated_errors(design.strata, launches, DRAWS, target.kernel_spread, target.noise_floor)
    assert (np.abs(errors) <= design.promise.bound_with_noise * (1 + 1e-9)).mean() >= ENOUGH


def test_simulated_totals_of_clusters_of_features_are_within_the_bound(
    launch_table: Callable[..., Profile], tmp_path: Path
) -> None:
    """Clusters by duration, kernels all through them."""
    rng = np.random.default_rng(6)
    names = [f"k{each % 30}" for each in range(900)]
    cluster = rng.integers(0, 3, 900)
    durations = np.rint(np.array([500, 3000, 8000])[cluster] * lognormal(rng, 0.2, (900,))).astype(int)
    np.save(tmp_path / "vectors.npy", 10.0 * np.eye(3)[cluster] + rng.normal(0, 0.1, (900, 3)))
    files, settings = (str(tmp_path / "vectors.npy"),), ("embedding.draw=random",)
    request = request_of("embedding", features=files, set=settings)
    design = draft_plan(launch_table(names, durations.tolist()), request).design
    assert design.clusters is not None
    order = np.argsort(design.clusters.picks.stratum, kind="stable")
    launches = (np.arange(900) % 30)[order], durations[order].astype(np.float64)
    errors = simulated_errors(design.strata, launches, DRAWS, 0.3, 0.05)
    assert design.promise is not None
    assert (np.abs(errors) <= design.promise.bound_with_noise).mean() >= ENOUGH
    assert design.promise is not None
    assert (np.abs(errors) <= design.promise.bound).mean() < 0.9, (
        "the bound of profile time does not hold of it"
    )


def test_quantiles_are_those_of_students_t() -> None:
    freedom = np.array([0.5, 1, 2, 2.7, 30, 1e4, 9e4, 1e7, np.inf])
    for confidence in (0.5, 0.95, 0.9999, MOST_CONFIDENCE):
        assert student_t(confidence, freedom) == pytest.approx(t.ppf(0.5 + confidence / 2, freedom), rel=1e-7)


def test_scipy_is_as_it_was_after_its_quantile_was_taken_alone() -> None:
    code = """
import sys
from sampling.strata.satterthwaite import student_t
found = float(student_t(0.95, 2))
assert "scipy.special" not in sys.modules
from scipy import stats
from scipy.special import chdtri, gamma
assert abs(stats.t.ppf(0.975, 2) - found) < 1e-9
print(gamma(5))
"""
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("24.0\n", "")


def test_threads_that_ask_first_together_have_the_quantile_each() -> None:
    code = """
import sys, threading
from sampling.strata.satterthwaite import student_t
sys.setswitchinterval(1e-6)
together, found = threading.Barrier(8), []
def ask():
    together.wait()
    found.append(round(float(student_t(0.95, 2)), 3))
threads = [threading.Thread(target=ask) for _ in range(8)]
for step in (threading.Thread.start, threading.Thread.join):
    for thread in threads:
        step(thread)
print(found)
"""
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == (f"{[4.303] * 8}\n", "")
