"""Designs drawn otherwise than by fixed sizes of ranges of durations, and plans made by another cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from sampling.api import read_profile
from sampling.arrays import FloatArray
from sampling.plan.comparison import Comparison, MethodComparison
from sampling.plan.design import Design
from sampling.plan.plan import drawn_plan, locate, planned_strata
from sampling.plan.study import Study, study
from sampling.profile.profile import Profile
from sampling.reduction import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.strata.target import Target
from tests.small_plans import request_of

LAUNCHES, PROBABILITY = 1000, 0.004
DURATIONS = np.random.default_rng(3).integers(1, 1000, LAUNCHES)


@pytest.fixture(scope="module")
def profile(launch_table: Callable[..., Profile]) -> Profile:
    return launch_table(["k"] * LAUNCHES, DURATIONS.tolist())


def compared(profile: Profile, seed: int, repeats: int) -> Comparison:
    """Return what `compare` says of random launches by probability."""
    asked = request_of(seed=seed, set=(f"random.probability={PROBABILITY}",))
    return MethodComparison(profile, asked, repeats=repeats).compare("random")


def simulated_errors(repeats: int) -> np.ndarray:
    """Return errors of draws made launch by launch, those of none again."""
    rng = np.random.default_rng(11)
    errors: list[float] = []
    while len(errors) < repeats:
        drawn = DURATIONS[rng.random(LAUNCHES) < PROBABILITY]
        if len(drawn):
            errors.append(abs(drawn.mean() * LAUNCHES / DURATIONS.sum() - 1))
    return np.array(errors)


def test_every_draw_of_the_method_has_its_own_number_of_launches(profile: Profile) -> None:
    expected = simulated_errors(6000)
    spread = expected.std() * np.sqrt(1 / 2000 + 1 / 6000)
    for seed in range(4):
        found = compared(profile, seed, 2000)
        assert found.judgement is not None
        assert abs(found.judgement.error_mean - expected.mean()) < 4 * spread
        assert found.judgement.error_p95 == pytest.approx(np.quantile(expected, 0.95), rel=0.12)


def test_the_figures_of_the_method_do_not_depend_on_the_seed(profile: Profile) -> None:
    first = compared(profile, 0, 1).design
    assert first is not None
    assert first.number is not None
    # The number of launches given that it is not 0: N p / (1 - (1 - p)^N).
    mean = LAUNCHES * PROBABILITY / (1 - (1 - PROBABILITY) ** LAUNCHES)
    assert first.samples == round(mean) == 4
    assert first.sampled_duration_ns == pytest.approx(mean * DURATIONS.mean())
    assert first.speedup == pytest.approx(LAUNCHES / mean)
    numbers = np.arange(1, LAUNCHES + 1)
    chances = binom.pmf(numbers, LAUNCHES, PROBABILITY) / binom.sf(0, LAUNCHES, PROBABILITY)
    variance = LAUNCHES**2 * DURATIONS.var(ddof=1) * (chances @ (1 / numbers) - 1 / LAUNCHES)
    assert first.bound == pytest.approx(Target().z * np.sqrt(variance) / DURATIONS.sum())
    for seed in range(1, 5):
        other = compared(profile, seed, 1).design
        assert other is not None
        assert (other.samples, other.speedup, other.bound) == (first.samples, first.speedup, first.bound)
    assert first.notes == (
        "random.probability 0.004 draws none of 1,000 launches in 1.8 % of the draws; these are made again",
    )


CLUSTERS = 5


@pytest.fixture(scope="module")
def made(
    launch_table: Callable[..., Profile], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Profile, NDArray[Any], NDArray[Any], str]:
    """3,000 launches of three kernels, their durations, clusters and vectors; clusters cross kernels."""
    rng = np.random.default_rng(0)
    cluster = rng.permutation(np.repeat(np.arange(CLUSTERS), [1500, 900, 500, 97, 3]))
    mean_ns = np.array([1_000, 5_000, 20_000, 300, 100_000])
    duration_ns = np.rint(mean_ns[cluster] * rng.lognormal(0, 0.3, 3000)).astype(int)
    names = [f"kernel{index % 3}" for index in range(3000)]
    path = tmp_path_factory.mktemp("vectors") / "vectors.npy"
    np.save(path, 10.0 * np.eye(CLUSTERS)[cluster] + rng.normal(0, 0.2, (3000, CLUSTERS)))
    return launch_table(names, duration_ns.tolist()), duration_ns, cluster, str(path)


def studied(made: Any, target: Target | None = None, *settings: str, region: Region | None = None) -> Study:
    """Return the profile's study with a random draw."""
    given = ("embedding.draw=random", "embedding.k=5", *settings)
    return study(made[0], request_of("embedding", None, region, target, set=given, features=(made[3],)))


def clusters_of(known: Study) -> Design:
    assert known.design.picks is not None
    assert known.design.random
    return known.design


def test_strata_are_the_clusters_with_their_own_figures(made: Any) -> None:
    known = studied(made)
    design = clusters_of(known)
    _, duration_ns, cluster, _ = made
    assert len(design.strata) == CLUSTERS
    for index, facts in enumerate(planned_strata(known.counts, drawn_plan(known.counts, design, 0))):
        here = np.flatnonzero(design.picks.stratum == index)
        (of,) = set(cluster[here].tolist())
        assert facts.size == np.count_nonzero(cluster == of) == len(here)
        assert facts.mean_ns == pytest.approx(duration_ns[here].mean())
        assert facts.std_ns == pytest.approx(duration_ns[here].std())
        assert (facts.low_ns, facts.high_ns) == (duration_ns[here].min(), duration_ns[here].max())
        assert 2 <= facts.samples <= facts.size
        assert facts.key == design.picks.labels[index]
    assert design.random
    assert design.group_bound is None
    assert known.groups.clusters is None


@pytest.mark.parametrize("region", [Region(), Region(launches=(500, 2500))])
def test_drawn_launches_are_of_their_cluster_and_last_as_long_as_the_plan_says(
    made: Any, region: Region
) -> None:
    known = studied(made, region=region)
    design = clusters_of(known)
    plan = drawn_plan(known.counts, design, 7)
    ids = locate(known.profile, known.counts, plan).id
    _, duration_ns, cluster, _ = made
    assert len(set(ids.tolist())) == len(ids) == design.samples
    assert duration_ns[ids].tolist() == plan.duration_ns.tolist()
    of_stratum = {
        int(stratum): set(cluster[ids[plan.stratum == stratum]].tolist()) for stratum in plan.stratum
    }
    assert all(len(of) == 1 for of in of_stratum.values())
    assert np.bincount(plan.stratum).tolist() == design.strata.samples.tolist()
    assert plan.estimate_ns == pytest.approx(float(np.dot(plan.weight, duration_ns[ids])))
    selected = slice(*(region.launches or (0, 3000)))
    assert plan.total_duration_ns == duration_ns[selected].sum()
    assert (ids >= (selected.start or 0)).all()


Mixture = Callable[..., dict[str, list[int]]]
WriteRun = Callable[..., Profile]


@pytest.fixture
def run(tmp_path: Path, mixture: Mixture) -> WriteRun:
    """Return a profile of twelve kernel groups of several modes, and what its launches cost."""

    def write(
        cost_of: Callable[[np.ndarray, np.ndarray], FloatArray], column: str = "instructions"
    ) -> Profile:
        groups = mixture(5, groups=12)
        names = [name for name, durations in groups.items() for _ in durations]
        durations = np.array([duration for group in groups.values() for duration in group])
        of_group = np.repeat(np.arange(len(groups)), [len(each) for each in groups.values()])
        cost = cost_of(of_group, durations)
        rows = [f"{each},{ns},{paid:.17g}" for each, ns, paid in zip(names, durations, cost, strict=True)]
        path = tmp_path / "run.csv"
        path.write_text("\n".join([f"name,duration_ns,{column}", *rows]) + "\n")
        return read_profile(str(path))

    return write


def by_kernel(group: np.ndarray, durations: np.ndarray) -> FloatArray:
    """What the same time costs differs by kernel, a thousandfold."""
    rate = np.random.default_rng(1).lognormal(0, 2, group.max() + 1)
    return np.asarray(np.rint(1 + rate[group] * durations))


def costed(profile: Profile, method: str = "joint", epsilon: float = 0.05, cost: str | None = None) -> Study:
    return study(profile, request_of(method, Grouping(GroupBy.NAME), epsilon=epsilon, cost=cost))


def costs_of(profile: Profile) -> FloatArray:
    return profile.parts[0].metrics(("instructions",))["instructions"]


@pytest.mark.parametrize("method", ["joint", "root", "random", "sieve"])
def test_the_share_is_what_drawn_launches_cost_on_average(run: WriteRun, method: str) -> None:
    profile = run(by_kernel)
    costs, found = costs_of(profile), costed(profile, method)
    drawn = [
        costs[locate(profile, found.counts, drawn_plan(found.counts, found.design, seed)).id].sum()
        for seed in range(40 if found.design.random else 1)
    ]
    standard_error = np.std(drawn) / np.sqrt(len(drawn)) / costs.sum()
    assert found.design.cost_share == pytest.approx(
        np.mean(drawn) / costs.sum(), abs=4 * standard_error + 1e-9
    )
    # It is told, and nothing is planned by it.
    assert found.design.speedup == pytest.approx(
        found.counts.total_duration_ns / found.design.sampled_duration_ns
    )


def test_a_plan_by_cost_costs_less_and_keeps_the_same_promise(run: WriteRun) -> None:
    profile = run(by_kernel)
    by_time, by_cost = costed(profile, epsilon=0.02), costed(profile, epsilon=0.02, cost="instructions")
    assert by_time.design.cost_share is not None
    assert by_cost.design.cost_share is not None
    assert by_cost.design.cost_share < 0.9 * by_time.design.cost_share
    assert by_cost.design.sampled_duration_ns > by_time.design.sampled_duration_ns
    assert by_cost.design.speedup == pytest.approx(1 / by_cost.design.cost_share)
    for promise in (by_cost.design.bound_with_noise, by_cost.design.expected_half_width):
        assert promise is not None
        assert promise <= 0.02
