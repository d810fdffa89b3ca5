"""Draws: distinct, uniform, nested, each stratum's own; judged ones against the chance of every draw."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom, norm

from sampling.arrays import IntArray
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.plan_groups import unpooled
from sampling.strata.draw import DRAWS as JUDGED
from sampling.strata.draw import (
    draw,
    errors_of_draws,
    estimate_total_ns,
    first_launches,
    judged,
    mixed,
    stratum_keys,
    weights,
)
from sampling.strata.strata import Strata, declared_spread, measured_clusters, total_variance
from sampling.strata.target import Target
from tests.sampling.methods.test_joint import reduced

CountsOf = Callable[..., DurationCounts]

DRAWS = 6000


def cut(counts: DurationCounts, bounds: list[int], samples: list[int]) -> Strata:
    """Return strata of group 0 between the given pairs."""
    start, stop = np.array(bounds[:-1]), np.array(bounds[1:])
    group = np.zeros(len(start), dtype=np.int64)
    return measured_clusters(counts, group, start, stop).with_samples(np.array(samples))


@given(
    data=st.data(),
    durations=st.lists(st.integers(1, 12), min_size=1, max_size=60),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_draw_is_of_its_strata_and_part_of_a_larger_one(
    data: st.DataObject, durations: list[int], seed: int, counts_of: CountsOf
) -> None:
    counts = counts_of({"k": durations})
    pairs = len(counts.count)
    inner = data.draw(st.sets(st.integers(1, pairs - 1))) if pairs > 1 else set()
    bounds = [0, *sorted(inner), pairs]
    sizes = np.diff(counts.launches_before[bounds]).tolist()
    samples = [data.draw(st.integers(1, size)) for size in sizes]
    more = [data.draw(st.integers(least, size)) for least, size in zip(samples, sizes, strict=True)]
    strata = cut(counts, bounds, samples)
    drawn, larger, census = (draw(counts, cut(counts, bounds, m), seed) for m in (samples, more, sizes))
    launches, of_larger = (
        list(zip(each.pair.tolist(), each.occurrence.tolist(), strict=True)) for each in (drawn, larger)
    )
    assert launches == sorted(set(launches))
    assert set(launches) <= set(of_larger)
    assert np.bincount(drawn.stratum).tolist() == samples
    assert (drawn.pair >= strata.start[drawn.stratum]).all()
    assert (drawn.pair < strata.stop[drawn.stratum]).all()
    assert (drawn.occurrence >= 0).all()
    assert (drawn.occurrence < counts.count[drawn.pair]).all()
    assert np.bincount(drawn.stratum, weights(strata, drawn)) == pytest.approx(sizes)
    expected = weights(strata, drawn) @ counts.duration_ns[drawn.pair]
    assert estimate_total_ns(counts, strata, drawn) == pytest.approx(expected)
    assert estimate_total_ns(counts, cut(counts, bounds, sizes), census) == sum(durations)


# 2 of 6 are drawn as they are, 4 of 6 by what is left out, 3 of 6 at the border between them.
@pytest.mark.parametrize("samples", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("by_rank", [None, np.array([7, 1, 50, 3, 900, 20])])
def test_errors_of_draws_come_as_often_as_their_sets(
    samples: int, by_rank: IntArray | None, counts_of: CountsOf
) -> None:
    counts = counts_of({"k": [10, 10, 11, 20, 20, 300]})
    strata = cut(counts, [0, len(counts.count)], [samples])
    sizes = np.full((DRAWS, 1), samples)
    errors = errors_of_draws(counts, strata, sizes, np.random.default_rng(17), by_rank)
    values = np.repeat(counts.duration_ns, counts.count) if by_rank is None else by_rank
    expected = Counter(
        round(6 * float(np.mean(each)) - values.sum(), 6) for each in combinations(values.tolist(), samples)
    )
    seen = Counter(np.round(errors, 6).tolist())
    assert set(seen) == set(expected)
    for error, sets in expected.items():
        chance = sets / expected.total()
        assert abs(seen[error] - DRAWS * chance) <= 4.5 * math.sqrt(DRAWS * chance * (1 - chance))


def test_the_hash_is_splitmix64() -> None:
    # The published test vector of SplitMix64, seed 1234567.
    states = np.uint64(1234567) + np.arange(1, 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert mixed(states).tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def orders(launches: int, samples: int) -> list[tuple[int, ...]]:
    """Return the first ``samples`` launches of many strata of one size, in the order of drawing."""
    key, found = stratum_keys(2026, [np.arange(DRAWS)]), [list[int]() for _ in range(DRAWS)]
    for size in range(1, samples + 1):
        drawn = first_launches(key, np.full(DRAWS, launches), np.full(DRAWS, size))
        for stratum, position in zip(*(column.tolist() for column in drawn), strict=True):
            if position not in found[stratum]:
                found[stratum].append(position)
    return [tuple(order) for order in found]


def deviations(observed: Counter[object], kinds: int) -> float:
    """Return chi squared against equal frequencies, in standard deviations of its distribution."""
    expected = DRAWS / kinds
    statistic = sum((count - expected) ** 2 / expected for count in observed.values())
    statistic += (kinds - len(observed)) * expected
    return (statistic - (kinds - 1)) / math.sqrt(2 * (kinds - 1))


@pytest.mark.parametrize(("launches", "samples"), [(4, 2), (5, 3), (6, 3), (7, 2)])
def test_every_order_and_so_every_set_is_equally_likely(launches: int, samples: int) -> None:
    seen = orders(launches, samples)
    assert abs(deviations(Counter(seen), math.perm(launches, samples))) < 4
    sets = Counter[object](map(frozenset, seen))
    assert abs(deviations(sets, math.comb(launches, samples))) < 4


# Four standard errors of a share of so many draws.
NEAR = 4 * np.sqrt(0.25 / JUDGED)
LOW, HIGH = 10_000, 11_290


@pytest.mark.parametrize("samples", [1, 2, 3, 500, 998, 999])
def test_a_skewed_stratum_is_judged_as_it_is(samples: int) -> None:
    """One stratum with two durations: how many of the longer ones are drawn is hypergeometric."""
    counts = reduced({"k": {LOW: 915, HIGH: 85}})
    strata = cut(counts, [0, 2], [samples])
    found = judged(counts, strata, None, np.random.default_rng(1))
    longer = np.arange(min(samples, 85) + 1)
    chance = hypergeom(1000, 85, samples).pmf(longer)
    total = 915 * LOW + 85 * HIGH
    errors = np.abs(1000 * (LOW + (HIGH - LOW) * longer / samples) - total)
    limit = norm.ppf(0.975) * np.sqrt(total_variance(strata).sum())
    assert found.share_within(limit) == pytest.approx(chance[errors <= limit].sum(), abs=NEAR)
    reach = found.quantile_ns(0.95)
    assert chance[errors <= reach * (1 + 1e-9)].sum() >= 0.95 - NEAR
    assert chance[errors < reach * (1 - 1e-9)].sum() <= 0.95 + NEAR


def test_noise_and_groups_add_up() -> None:
    counts = reduced({"a": {10: 400, 14: 300}, "b": {70: 50, 90: 50}})
    ends = counts.offsets
    strata = measured_clusters(counts, np.array([0, 1]), ends[:-1], ends[1:]).with_samples(np.array([6, 3]))
    cycles = declared_spread(unpooled(counts), Target())
    found = judged(counts, strata, cycles, np.random.default_rng(2))
    plain, noisy = (found.errors_ns(with_noise=noise) for noise in (False, True))
    assert np.sqrt((plain**2).mean()) == pytest.approx(np.sqrt(total_variance(strata).sum()), rel=0.05)
    declared = total_variance(strata, cycles.variance(strata)).sum()
    assert np.sqrt((noisy**2).mean()) == pytest.approx(np.sqrt(declared), rel=0.05)
    own = total_variance(strata, cycles.of_own_totals().variance(strata))
    for group in (0, 1):
        errors = found.errors_ns(with_noise=True, group=group)
        assert np.sqrt((errors**2).mean()) == pytest.approx(np.sqrt(own[group]), rel=0.06)


@pytest.mark.parametrize(("samples", "is_drawn"), [(5, True), (300, False)])
def test_what_is_too_much_to_draw_is_normal(samples: int, is_drawn: bool) -> None:
    counts = reduced({"k": {1000 + 7 * step: 900 for step in range(2000)}})
    strata = cut(counts, [0, 2000], [samples])
    found = judged(counts, strata, None, np.random.default_rng(3))
    assert (len(found.drawn) == 1) is is_drawn
    limit = norm.ppf(0.975) * np.sqrt(total_variance(strata).sum())
    assert found.share_within(limit) == pytest.approx(0.95, abs=0.03)
    census = replace(strata, samples=strata.launches)
    assert judged(counts, census, None, np.random.default_rng(4)).quantile_ns(0.99) == 0
