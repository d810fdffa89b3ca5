"""The cheapest of all ranges: against every way to cut a few durations, and never dearer than the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.methods.joint.exact_strata import MOST_BOUNDARIES, MOST_DURATIONS, ranges_of
from sampling.methods.joint.fixed_strata import FixedStrata
from sampling.methods.joint.priced_forest import PricedForest, priced_forest
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.forest import forest_of
from sampling.strata.strata import Clusters, measured_clusters
from tests.targets import spread_within

CountsOf = Callable[..., DurationCounts]
Mixture = Callable[..., dict[str, list[int]]]

GROUPS = st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=7), min_size=1, max_size=3).map(
    lambda groups: {f"k{index}": durations for index, durations in enumerate(groups)}
)


def forest(counts: DurationCounts, min_samples: int, noise_floor: float) -> PricedForest:
    """Return the trees down to single durations."""
    return priced_forest(
        forest_of(counts),
        counts.group_duration_ns.astype(np.float64),
        epsilon=1e-6,
        z=1.959964,
        min_samples=min_samples,
        cycles=spread_within(counts, noise_floor),
    )


def cost_of(launches: list[int], price: float, min_samples: int, noise_floor: float) -> float:
    """Return the least of m mu + price N^2 S^2 (1/m - 1/N) over every m, as written in the source."""
    size, mean = len(launches), sum(launches) / len(launches)
    if size == 1:
        return mean
    spread = sum((each - mean) ** 2 for each in launches) / (size - 1) + (noise_floor * mean) ** 2
    return min(
        m * mean + price * size**2 * spread * (1 / m - 1 / size)
        for m in range(min(min_samples, size), size + 1)
    )


def ways(durations: list[int]) -> Iterator[list[list[int]]]:
    """Yield every way to cut a group between distinct durations."""
    distinct = sorted(set(durations))
    for cuts in range(len(distinct)):
        for inner in combinations(range(1, len(distinct)), cuts):
            ends = [0, *inner, len(distinct)]
            yield [
                [each for each in durations if distinct[low] <= each <= distinct[high - 1]]
                for low, high in pairwise(ends)
            ]


def found(
    counts: DurationCounts, priced: PricedForest, price: float, min_samples: int, noise_floor: float
) -> Clusters:
    """Return the cheapest ranges of all groups that have any."""
    prices = np.full(priced.groups, price)
    chosen = np.ones(priced.groups, dtype=np.bool_)
    parts = [
        each.cheapest(prices[each.group], min_samples)
        for each in ranges_of(counts, priced, prices, chosen, spread_within(counts, noise_floor))
    ]
    group, start, stop = (
        np.concatenate([part[column] for part in parts]) if parts else np.zeros(0, dtype=np.int64)
        for column in range(3)
    )
    order = np.argsort(start)
    return measured_clusters(counts, group[order], start[order], stop[order])


@given(
    groups=GROUPS,
    price=st.floats(1e-4, 10),
    min_samples=st.integers(1, 3),
    noise_floor=st.sampled_from([0.0, 0.1]),
)
def test_no_way_to_cut_the_durations_costs_less(
    groups: dict[str, list[int]], price: float, min_samples: int, noise_floor: float, counts_of: CountsOf
) -> None:
    counts = counts_of(groups)
    clusters = found(counts, forest(counts, min_samples, noise_floor), price, min_samples, noise_floor)
    for index, group in enumerate(counts.groups):
        durations = sorted(groups[group.name])
        if len(set(durations)) == 1:
            assert index not in clusters.group
            continue
        here = np.flatnonzero(clusters.group == index)
        assert clusters.start[here[0]] == counts.offsets[index]
        assert clusters.stop[here[-1]] == counts.offsets[index + 1]
        assert (clusters.start[here[1:]] == clusters.stop[here[:-1]]).all()
        cost = sum(
            cost_of(
                np.repeat(counts.duration_ns[low:high], counts.count[low:high]).tolist(),
                price,
                min_samples,
                noise_floor,
            )
            for low, high in zip(clusters.start[here], clusters.stop[here], strict=True)
        )
        best = min(
            sum(cost_of(part, price, min_samples, noise_floor) for part in parts) for parts in ways(durations)
        )
        assert cost == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_never_dearer_than_the_tree_and_sometimes_cheaper(
    seed: int, counts_of: CountsOf, mixture: Mixture
) -> None:
    counts = counts_of(mixture(seed, groups=4, launches=900))
    priced = forest(counts, 1, 0.0)
    cheaper = 0
    for price in 10.0 ** np.arange(-9, -3):
        prices = np.full(priced.groups, price)
        tree = priced.decisions(prices).least[: priced.groups]
        fixed = FixedStrata.of(
            found(counts, priced, price, 1, 0.0), priced.groups, 1, spread_within(counts, 0.0)
        )
        cut = fixed.cut(prices)
        exact = fixed.time_ns(cut) + price * fixed.variance(cut)
        has = exact > 0
        if (np.diff(counts.offsets) <= MOST_DURATIONS).all():
            assert (exact[has] <= tree[has] * (1 + 1e-9)).all()
        cheaper += int((exact[has] < tree[has] * (1 - 1e-6)).sum())
    assert cheaper


def test_of_very_many_durations_the_trees_boundaries_are_looked_at(counts_of: CountsOf) -> None:
    rng = np.random.default_rng(0)
    counts = counts_of({"k": rng.integers(1000, 100_000, 3000).tolist()})
    assert len(counts.count) > MOST_DURATIONS
    priced = forest(counts, 1, 0.0)
    (ranges,) = ranges_of(
        counts, priced, np.array([1e-6]), np.ones(1, dtype=np.bool_), spread_within(counts, 0.0)
    )
    assert 3 <= ranges.boundary.shape[1] <= MOST_BOUNDARIES + 1
    tree_starts = set(priced.start.tolist()) | {len(counts.count)}
    assert set(ranges.boundary[0].tolist()) <= tree_starts
    # The range from the first boundary to the last.
    whole = -(ranges.boundary.shape[1] - 1)
    assert ranges.launches[0, whole] == 3000
    assert ranges.mean_ns[0, whole] == pytest.approx(counts.total_duration_ns / 3000)
    assert ranges.spread[0, whole] == pytest.approx(
        3000**2 * np.repeat(counts.duration_ns, counts.count).var(ddof=1), rel=1e-9
    )
