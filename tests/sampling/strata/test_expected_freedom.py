"""Expected degrees of freedom: those of the moderated interval where all spreads are as declared."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sampling.estimation.moderated import RelativeSpreads, moderated_uncertainty, relative_spreads
from sampling.strata.expected_freedom import ExpectedFreedom, with_freedom

from sampling.estimation.moments import Moments, moments
from sampling.estimation.sample import Sample
from sampling.strata.cycle_spread import CycleSpread, cycle_spread
from sampling.strata.strata import Clusters
from sampling.strata.target import Target

# N, mean, kernel group, samples; groups 3 and 4 are pools.
STRATA = st.lists(
    st.tuples(st.integers(1, 9), st.integers(1, 90), st.integers(0, 4), st.integers(1, 9)),
    min_size=1,
    max_size=7,
)
OWN_GROUPS = 3


def clusters_of(strata: list[tuple[int, int, int, int]]) -> tuple[Clusters, NDArray[np.int64]]:
    """Return strata of equal durations, in the order of their groups, and sizes of at most N."""
    columns = np.array(sorted(strata, key=lambda each: each[2]), dtype=np.int64).T
    size, mean_ns, group, samples = columns
    nowhere = np.zeros(len(size), dtype=np.int64)
    clusters = Clusters(group, nowhere, nowhere, size, mean_ns.astype(float), np.zeros(len(size)))
    return clusters, np.minimum(samples, size)


def spread(within: float, between: float) -> CycleSpread:
    is_pool = np.arange(OWN_GROUPS + 2) >= OWN_GROUPS
    target = Target(noise_floor=within, kernel_spread=between)
    return cycle_spread(target, np.full(5, 0.2), np.arange(5), is_pool)


def moments_of(clusters: Clusters, samples: NDArray[np.int64], pooled: NDArray[np.bool_]) -> Moments:
    """Return the moments of a sample with so many launches, of 1 cycle a nanosecond."""
    stratum = np.repeat(np.arange(len(samples)), samples)
    x = clusters.mean_ns[stratum]
    group = np.where(pooled, 99, clusters.group)
    sample = Sample(
        launches=clusters.launches,
        mean_x=clusters.mean_ns,
        group=np.unique(group, return_inverse=True)[1],
        pooled=pooled,
        stratum=stratum,
        x=x,
        y=x[:, np.newaxis],
        metrics=("cycles",),
    )
    return moments(sample, "cycles")


def moderated_freedom(
    clusters: Clusters, samples: NDArray[np.int64], cycles: CycleSpread
) -> tuple[float, bool]:
    """Return nu of the moderated interval where every spread is found to be exactly as declared."""
    pooled = clusters.group >= OWN_GROUPS
    seen = moments_of(clusters, samples, pooled)
    declared = np.where(pooled, cycles.within**2 + cycles.between**2, cycles.within**2)
    single = (samples == 1) & (clusters.launches > 1)
    compared = np.where(pooled, 99, clusters.group)
    singles = np.array([(single & (compared == each)).sum() for each in compared])
    squares = declared * (samples - 1) * seen.y**2
    between = declared * np.maximum(singles - 1, 0)
    spreads: RelativeSpreads = relative_spreads(seen, squares, seen.y, between)
    # What is common is as declared too, and told by all its degrees of freedom.
    common_freedom = np.zeros(len(samples))
    for members in (pooled, ~pooled):
        common_freedom[members] = (spreads.weight * spreads.freedom)[members].sum()
    exact = RelativeSpreads(
        spreads.own,
        spreads.freedom,
        spreads.weight,
        declared * (common_freedom > 0),
        common_freedom,
        np.minimum(4.0, common_freedom),
        declared * (spreads.freedom + spreads.lent > 0),
        np.zeros(len(samples), dtype=np.bool_),
    )
    found = moderated_uncertainty(seen, clusters.mean_ns, exact)
    return float(found.degrees_of_freedom), bool(found.known)


@given(strata=STRATA, within=st.sampled_from([0.05, 0.3]), between=st.sampled_from([0.0, 0.3]))
def test_it_is_that_of_the_moderated_interval(
    strata: list[tuple[int, int, int, int]], within: float, between: float
) -> None:
    clusters, samples = clusters_of(strata)
    cycles = spread(within, between)
    found = float(ExpectedFreedom.of(clusters, cycles)(samples))
    expected, known = moderated_freedom(clusters, samples, cycles)
    if (samples == clusters.launches).all():
        assert found == np.inf
    elif not known:
        assert found == 0
    else:
        assert found == pytest.approx(expected, rel=1e-9)


def test_by_hand() -> None:
    """Two strata of one kernel, 3 of 10 and 5 of 10: d 2 and 4, 4 of the common 6 lent to each."""
    clusters, samples = clusters_of([(10, 100, 0, 3), (10, 100, 0, 5)])
    parts = np.array([1 / 3 - 1 / 10, 1 / 5 - 1 / 10])
    freedom = np.array([6.0, 8.0])
    uncertainty = (parts**2 / freedom).sum() + 2 * (parts * 4 / freedom).sum() ** 2 / 6
    found = ExpectedFreedom.of(clusters, spread(0.05, 0.3))(samples)
    assert float(found) == pytest.approx(parts.sum() ** 2 / uncertainty)
    # Three of one launch each are compared with each other: 2 degrees of freedom among them.
    clusters, samples = clusters_of([(10, 100, 0, 1)] * 3)
    parts_of_all = 3 * (1 - 1 / 10)
    freedom_of_all = 2 + 2
    uncertainty_of_all = parts_of_all**2 / freedom_of_all + 2 * (parts_of_all / 2) ** 2 / 2
    found = ExpectedFreedom.of(clusters, spread(0.05, 0.3))(samples)
    assert float(found) == pytest.approx(parts_of_all**2 / uncertainty_of_all)


def test_what_nothing_is_compared_with_is_not_known() -> None:
    clusters, samples = clusters_of([(10, 100, 0, 1), (10, 100, 3, 4)])
    assert float(ExpectedFreedom.of(clusters, spread(0.05, 0.3))(samples)) == 0
    clusters, samples = clusters_of([(10, 100, 0, 2), (10, 100, 3, 4)])
    assert float(ExpectedFreedom.of(clusters, spread(0.05, 0.3))(samples)) > 0


@given(strata=STRATA, least=st.sampled_from([1.0, 8.0, 1000.0]))
@example(strata=[(2, 1, 0, 1), (4, 1, 0, 4)], least=1.0)
def test_sizes_tell_enough_and_are_never_smaller(
    strata: list[tuple[int, int, int, int]], least: float
) -> None:
    """Where nothing less does, all is simulated, and then nothing is uncertain."""
    clusters, samples = clusters_of(strata)
    freedom = ExpectedFreedom.of(clusters, spread(0.05, 0.3))
    given_samples = samples.copy()
    found = with_freedom(freedom, samples, clusters.mean_ns, least)
    assert samples.tolist() == given_samples.tolist(), "what is given is left alone"
    assert float(freedom(found)) >= least
    assert (found >= samples).all()
    assert (found <= clusters.launches).all()
    # Sizes are chosen more cautiously than the interval counts, so that is what has to be enough.
    if float(freedom.as_chosen_by()(samples)) >= least:
        assert found.tolist() == samples.tolist()


def test_a_lone_stratum_that_no_sample_tells_enough_of_is_simulated_whole() -> None:
    clusters, samples = clusters_of([(6, 100, 0, 1)])
    freedom = ExpectedFreedom.of(clusters, spread(0.05, 0.3))
    assert with_freedom(freedom, samples, clusters.mean_ns, 1000.0).tolist() == [6]


@pytest.mark.parametrize("least", [3.0, 8.0])
def test_near_the_cheapest_of_all_sizes(least: float) -> None:
    """Against every choice of sizes; one sample at a time is seldom the best, and never far from it."""
    rng = np.random.default_rng(5)
    over = []
    for _ in range(40):
        strata = [
            (int(rng.integers(2, 7)), int(rng.integers(1, 90)), int(rng.integers(0, 4)), 1) for _ in range(4)
        ]
        clusters, samples = clusters_of(strata)
        freedom = ExpectedFreedom.of(clusters, spread(0.05, 0.3))
        all_sizes = np.array(list(product(*(range(1, size + 1) for size in clusters.launches.tolist()))))
        enough = all_sizes[freedom(all_sizes) >= least]
        best = float((enough @ clusters.mean_ns).min())
        found = with_freedom(freedom, samples, clusters.mean_ns, least)
        over.append(float(found @ clusters.mean_ns) / best)
    assert min(over) >= 1 - 1e-12
    assert np.mean(over) <= 1.15, (np.mean(over), np.max(over))


@given(strata=STRATA)
def test_several_sizes_at_once_are_each_by_itself(strata: list[tuple[int, int, int, int]]) -> None:
    clusters, samples = clusters_of(strata)
    freedom = ExpectedFreedom.of(clusters, spread(0.05, 0.3))
    several = np.stack([samples, np.minimum(samples + 1, clusters.launches), clusters.launches])
    assert freedom(several).tolist() == [float(freedom(each)) for each in several]
