"""How far errors reach: against probabilities by hand, all samples enumerated, and draws of every stratum."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np
import pytest

from sampling.reduction.duration_counts import DurationCounts
from sampling.strata import coverage
from sampling.strata.coverage import DRAWS, Errors, group_reaches, workload_errors
from sampling.strata.repeated_draws import drawn_errors
from sampling.strata.strata import Strata, measured_clusters
from sampling.strata.variance import total_variance

CountsOf = Callable[..., DurationCounts]
Mixture = Callable[..., dict[str, list[int]]]


def groups_whole(counts: DurationCounts, samples: list[int]) -> Strata:
    """Return every group as one stratum."""
    groups = np.arange(len(counts.groups))
    return measured_clusters(counts, groups, counts.offsets[:-1], counts.offsets[1:]).with_samples(
        np.array(samples)
    )


def test_one_skewed_stratum_is_within_its_normal_bound_in_83_7_per_cent(counts_of: CountsOf) -> None:
    counts = counts_of({"k": [10_000] * 915 + [11_290] * 85})
    errors = workload_errors(counts, groups_whole(counts, [2]), np.random.default_rng(0))
    limit_ns = 0.0493 * counts.total_duration_ns
    # No long launch among two of a thousand.
    exact = 915 * 914 / (1000 * 999)
    assert errors.share_within(limit_ns) == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / DRAWS))
    assert not errors.keeps(limit_ns, 0.95)
    # One long launch of two: the error is (11,290 - 10,000) (1/2 - 85/1000) of the mean.
    one_long = 1290 * (0.5 - 0.085) * 1000
    assert errors.reach_ns(0.95) == pytest.approx(one_long)
    assert errors.keeps(one_long, 0.95)


def test_a_large_sample_is_normal_and_not_drawn(counts_of: CountsOf, monkeypatch: pytest.MonkeyPatch) -> None:
    # A sample too large to be drawn with the real limit would take long to write down.
    monkeypatch.setattr(coverage, "_STANDS_OUT", 0.003)
    counts = counts_of({"k": [99, 100, 101] * 200_000})
    strata = groups_whole(counts, [200_000])
    errors = workload_errors(counts, strata, np.random.default_rng(0))
    assert not errors.drawn_ns.any()
    deviation = np.sqrt(total_variance(strata).sum())
    assert errors.deviation_ns == pytest.approx(deviation)
    assert errors.reach_ns(0.95) == pytest.approx(1.959964 * deviation, rel=2e-3)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_taken_as_normal_changes_the_coverage_little(
    seed: int, counts_of: CountsOf, mixture: Mixture
) -> None:
    """The oracle draws every stratum, so often that its own error is small."""
    counts = counts_of(mixture(seed, groups=12, launches=200))
    strata = groups_whole(counts, [1 + index % 3 for index in range(len(counts.groups))])
    errors = workload_errors(counts, strata, np.random.default_rng(1), draws=40_000)
    drawn = drawn_errors(counts, strata, np.arange(len(strata)), 40_000, np.random.default_rng(2)).sum(axis=1)
    for confidence in (0.8, 0.95):
        limit_ns = float(np.quantile(np.abs(drawn), confidence))
        assert errors.share_within(limit_ns) == pytest.approx(confidence, abs=0.008)


def test_noise_adds_its_variance() -> None:
    scores = np.random.default_rng(0).permutation(np.linspace(-3, 3, 1001))
    errors = Errors(np.zeros(1001), scores, deviation_ns=3.0, noise_ns=4.0)
    assert errors.sizes_ns(with_noise=True) == pytest.approx(5 * np.abs(scores))
    assert errors.sizes_ns() == pytest.approx(3 * np.abs(scores))


def test_a_census_has_no_error(counts_of: CountsOf) -> None:
    counts = counts_of({"a": [10, 20, 30], "b": [5, 5]})
    errors = workload_errors(counts, groups_whole(counts, [3, 1]), np.random.default_rng(0))
    assert errors.reach_ns(0.99) == 0
    assert errors.keeps(0.0, 0.99)
    reaches = group_reaches(counts, groups_whole(counts, [3, 1]), 0.95, 0.0, np.random.default_rng(0))
    assert not reaches.drawn.any()
    assert not reaches.plain.any()


def exact_reach(durations: list[int], samples: int, confidence: float) -> float:
    """Return the least relative error that a share of all samples does not exceed."""
    total = sum(durations)
    errors = sorted(
        abs(len(durations) / samples * sum(sample) / total - 1) for sample in combinations(durations, samples)
    )
    return errors[int(np.ceil(confidence * comb(len(durations), samples) * (1 - 1e-12))) - 1]


@pytest.mark.parametrize("confidence", [0.8, 0.93])
def test_groups_reach_as_far_as_all_their_samples_say(confidence: float, counts_of: CountsOf) -> None:
    durations = {
        "a": [100, 101, 105, 400, 90, 95, 80, 300],
        "b": [7, 9, 30, 31, 60, 12],
        "c": [50, 50, 51, 52],
    }
    counts = counts_of(durations)
    names = [group.name for group in counts.groups]
    samples = {"a": 3, "b": 2, "c": 1}
    strata = groups_whole(counts, [samples[name] for name in names])
    reaches = group_reaches(counts, strata, confidence, 0.0, np.random.default_rng(3))
    # The draws may take the error before or after in the order: what they do not exceed is between these.
    for index, name in enumerate(names):
        low, high = (
            exact_reach(durations[name], samples[name], confidence + shift) for shift in (-0.03, 0.03)
        )
        assert low * (1 - 1e-9) <= reaches.plain[index] <= high * (1 + 1e-9)


def test_groups_that_cannot_reach_the_limit_are_not_drawn(counts_of: CountsOf) -> None:
    durations = {"wild": [1, 1000] * 10, "narrow": [100, 101, 99] * 10}
    counts = counts_of(durations)
    strata = groups_whole(counts, [2, 2])
    reaches = group_reaches(counts, strata, 0.95, 0.05, np.random.default_rng(0))
    names = [group.name for group in counts.groups]
    assert reaches.drawn.tolist() == [name == "wild" for name in names]
    narrow = names.index("narrow")
    # No sample of the narrow group is off by more than its farthest launch.
    assert 0.01 - 1e-9 <= reaches.plain[narrow] <= 0.0101
