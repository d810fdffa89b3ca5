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
from sampling.plan.design import BinomialDesign, PickedDesign, SampledDesign
from sampling.plan.draft import Draft, draft_plan
from sampling.plan.plan import drawn_plan, locate, planned_strata
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
        sample = DURATIONS[rng.random(LAUNCHES) < PROBABILITY]
        if len(sample):
            errors.append(abs(sample.mean() * LAUNCHES / DURATIONS.sum() - 1))
    return np.array(errors)


def test_every_draw_of_the_method_has_its_own_number_of_launches(profile: Profile) -> None:
    expected = simulated_errors(6000)
    spread = expected.std() * np.sqrt(1 / 2000 + 1 / 6000)
    for seed in range(4):
        comparison = compared(profile, seed, 2000)
        assert comparison.judgement is not None
        assert abs(comparison.judgement.error_mean - expected.mean()) < 4 * spread
        assert comparison.judgement.error_p95 == pytest.approx(np.quantile(expected, 0.95), rel=0.12)


def test_the_figures_of_the_method_do_not_depend_on_the_seed(profile: Profile) -> None:
    first = compared(profile, 0, 1).design
    assert isinstance(first, BinomialDesign)
    assert first.promise is not None
    # The number of launches given that it is not 0: N p / (1 - (1 - p)^N).
    mean = LAUNCHES * PROBABILITY / (1 - (1 - PROBABILITY) ** LAUNCHES)
    assert first.samples == round(mean) == 4
    assert first.sampled_duration_ns == pytest.approx(mean * DURATIONS.mean())
    assert first.speedup == pytest.approx(LAUNCHES / mean)
    numbers = np.arange(1, LAUNCHES + 1)
    chances = binom.pmf(numbers, LAUNCHES, PROBABILITY) / binom.sf(0, LAUNCHES, PROBABILITY)
    variance = LAUNCHES**2 * DURATIONS.var(ddof=1) * (chances @ (1 / numbers) - 1 / LAUNCHES)
    assert first.promise.bound == pytest.approx(Target().z * np.sqrt(variance) / DURATIONS.sum())
    for seed in range(1, 5):
        design = compared(profile, seed, 1).design
        assert isinstance(design, BinomialDesign)
        assert design.promise is not None
        assert (design.samples, design.speedup) == (first.samples, first.speedup)
        assert design.promise.bound == first.promise.bound
    assert first.notes == (
        "random.probability 0.004 draws none of 1,000 launches in 1.8 % of the draws; these are made again",
    )


CLUSTERS = 5


@pytest.fixture(scope="module")
def embedding(
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


def draft(
    embedding: Any, target: Target | None = None, *settings: str, region: Region | None = None
) -> Draft:
    """Return the profile's draft with a random draw."""
    given = ("embedding.draw=random", "embedding.k=5", *settings)
    return draft_plan(
        embedding[0], request_of("embedding", None, region, target, set=given, features=(embedding[3],))
    )


def clustered_design(clustered_draft: Draft) -> SampledDesign:
    assert isinstance(clustered_draft.design, SampledDesign)
    return clustered_draft.design


def test_strata_are_the_clusters_with_their_own_figures(embedding: Any) -> None:
    clustered_draft = draft(embedding)
    design = clustered_design(clustered_draft)
    _, duration_ns, cluster, _ = embedding
    assert len(design.strata) == CLUSTERS
    assert design.clusters is not None
    assert design.promise is not None
    for index, facts in enumerate(planned_strata(drawn_plan(clustered_draft.counts, design, 0))):
        rows = np.flatnonzero(design.clusters.picks.stratum == index)
        (label,) = set(cluster[rows].tolist())
        assert facts.size == np.count_nonzero(cluster == label) == len(rows)
        assert facts.mean_ns == pytest.approx(duration_ns[rows].mean())
        assert facts.std_ns == pytest.approx(duration_ns[rows].std())
        assert (facts.low_ns, facts.high_ns) == (duration_ns[rows].min(), duration_ns[rows].max())
        assert 2 <= facts.samples <= facts.size
        assert facts.key == design.clusters.picks.labels[index]
    assert design.promise.group_bound is None
    assert clustered_draft.groups.clusters is None


@pytest.mark.parametrize("region", [Region(), Region(launches=(500, 2500))])
def test_drawn_launches_are_of_their_cluster_and_last_as_long_as_the_plan_says(
    embedding: Any, region: Region
) -> None:
    clustered_draft = draft(embedding, region=region)
    design = clustered_design(clustered_draft)
    plan = drawn_plan(clustered_draft.counts, design, 7)
    ids = locate(clustered_draft.profile, plan).id
    _, duration_ns, cluster, _ = embedding
    assert len(set(ids.tolist())) == len(ids) == design.samples
    assert duration_ns[ids].tolist() == plan.duration_ns.tolist()
    of_stratum = {
        int(stratum): set(cluster[ids[plan.stratum == stratum]].tolist()) for stratum in plan.stratum
    }
    assert all(len(clusters) == 1 for clusters in of_stratum.values())
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
        of_group = np.repeat(np.arange(len(groups)), [len(launches) for launches in groups.values()])
        cost = cost_of(of_group, durations)
        rows = [f"{name},{ns},{paid:.17g}" for name, ns, paid in zip(names, durations, cost, strict=True)]
        path = tmp_path / "run.csv"
        path.write_text("\n".join([f"name,duration_ns,{column}", *rows]) + "\n")
        return read_profile(str(path))

    return write


def by_kernel(group: np.ndarray, durations: np.ndarray) -> FloatArray:
    """What the same time costs differs by kernel, a thousandfold."""
    rate = np.random.default_rng(1).lognormal(0, 2, group.max() + 1)
    return np.asarray(np.rint(1 + rate[group] * durations))


def costed(profile: Profile, method: str = "joint", epsilon: float = 0.05, cost: str | None = None) -> Draft:
    return draft_plan(profile, request_of(method, Grouping(GroupBy.NAME), epsilon=epsilon, cost=cost))


def costs_of(profile: Profile) -> FloatArray:
    return profile.parts[0].metrics(("instructions",))["instructions"]


@pytest.mark.parametrize("method", ["joint", "root", "random", "sieve"])
def test_the_share_is_what_drawn_launches_cost_on_average(run: WriteRun, method: str) -> None:
    profile = run(by_kernel)
    costs, costed_draft = costs_of(profile), costed(profile, method)
    sampled_costs = [
        costs[locate(profile, drawn_plan(costed_draft.counts, costed_draft.design, seed)).id].sum()
        for seed in range(40 if costed_draft.design.random else 1)
    ]
    standard_error = np.std(sampled_costs) / np.sqrt(len(sampled_costs)) / costs.sum()
    assert costed_draft.design.cost_share == pytest.approx(
        np.mean(sampled_costs) / costs.sum(), abs=4 * standard_error + 1e-9
    )
    # It is told, and nothing is planned by it.
    assert costed_draft.design.speedup == pytest.approx(
        costed_draft.counts.total_duration_ns / costed_draft.design.sampled_duration_ns
    )


def test_picks_promise_nothing_and_do_not_go_by_the_seed(run: WriteRun) -> None:
    profile = run(by_kernel)
    design = costed(profile, "sieve").design
    assert isinstance(design, PickedDesign)
    assert design.promise is None
    picks, again = design.select(0), design.select(1)
    assert picks.duration_ns.tolist() == again.duration_ns.tolist()
    assert (picks.estimate_ns, picks.draw) == (again.estimate_ns, None)
    assert abs(picks.estimate_ns / design.total_duration_ns - 1) == pytest.approx(design.error)
    # In the order of their strata, each as often as its stratum is said to have it.
    assert (
        np.bincount(picks.stratum, minlength=design.strata_count).tolist() == design.strata.samples.tolist()
    )
    assert (np.diff(picks.stratum) >= 0).all()
    durations_ns = profile.load(["duration_ns"])["duration_ns"]
    assert durations_ns[design.ids(picks.draw)].tolist() == picks.duration_ns.tolist()


def test_a_plan_by_cost_costs_less_and_keeps_the_same_promise(run: WriteRun) -> None:
    profile = run(by_kernel)
    by_time, by_cost = costed(profile, epsilon=0.02), costed(profile, epsilon=0.02, cost="instructions")
    assert by_time.design.cost_share is not None
    assert by_cost.design.cost_share is not None
    assert by_cost.design.cost_share < 0.9 * by_time.design.cost_share
    assert by_cost.design.sampled_duration_ns > by_time.design.sampled_duration_ns
    assert by_cost.design.speedup == pytest.approx(1 / by_cost.design.cost_share)
    assert by_cost.design.promise is not None
    assert by_cost.design.promise.error <= 0.02
