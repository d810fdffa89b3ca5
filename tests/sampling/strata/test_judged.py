"""Judged draws, against the chance of every possible draw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import hypergeom, norm

from sampling.reduction.plan_groups import unpooled
from sampling.strata.draw import DRAWS, judged
from sampling.strata.strata import Strata, declared_spread, measured_clusters, total_variance
from sampling.strata.target import Target
from tests.sampling.methods.test_joint import reduced

# Four standard errors of a share of so many draws.
NEAR = 4 * np.sqrt(0.25 / DRAWS)
LOW, HIGH = 10_000, 11_290


def skewed(samples: int) -> tuple[object, Strata]:
    counts = reduced({"k": {LOW: 915, HIGH: 85}})
    clusters = measured_clusters(counts, np.array([0]), np.array([0]), np.array([2]))
    return counts, clusters.with_samples(np.array([samples]))


@pytest.mark.parametrize("samples", [1, 2, 3, 500, 998, 999])
def test_a_skewed_stratum_is_judged_as_it_is(samples: int) -> None:
    """One stratum with two durations: how many of the longer ones are drawn is hypergeometric."""
    counts, strata = skewed(samples)
    found = judged(counts, strata, None, np.random.default_rng(1))  # type: ignore[arg-type]
    longer = np.arange(min(samples, 85) + 1)
    chance = hypergeom(1000, 85, samples).pmf(longer)
    total = 915 * LOW + 85 * HIGH
    errors = np.abs(1000 * (LOW + (HIGH - LOW) * longer / samples) - total)
    limit = norm.ppf(0.975) * np.sqrt(total_variance(strata).sum())
    assert found.share_within(limit) == pytest.approx(chance[errors <= limit].sum(), abs=NEAR)
    reach = found.reach_ns(0.95)
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
    declared = total_variance(strata, cycles.of(strata)).sum()
    assert np.sqrt((noisy**2).mean()) == pytest.approx(np.sqrt(declared), rel=0.05)
    own = total_variance(strata, cycles.of_own_totals().of(strata))
    for group in (0, 1):
        errors = found.errors_ns(with_noise=True, group=group)
        assert np.sqrt((errors**2).mean()) == pytest.approx(np.sqrt(own[group]), rel=0.06)


def test_what_is_too_much_to_draw_is_normal() -> None:
    counts = reduced({"k": {1000 + 7 * step: 900 for step in range(2000)}})
    clusters = measured_clusters(counts, np.array([0]), np.array([0]), np.array([2000]))
    for samples, is_drawn in ((5, True), (300, False)):
        strata = clusters.with_samples(np.array([samples]))
        found = judged(counts, strata, None, np.random.default_rng(3))
        assert (len(found.drawn) == 1) is is_drawn
        limit = norm.ppf(0.975) * np.sqrt(total_variance(strata).sum())
        assert found.share_within(limit) == pytest.approx(0.95, abs=0.03)
    census = replace(strata, samples=strata.launches)
    assert judged(counts, census, None, np.random.default_rng(4)).reach_ns(0.99) == 0
