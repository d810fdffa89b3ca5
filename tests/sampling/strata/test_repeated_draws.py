"""Errors of designs drawn thousands of times: every sample equally likely, against all samples enumerated."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest

from sampling.reduction.duration_counts import DurationCounts
from sampling.strata.repeated_draws import drawn_errors
from sampling.strata.strata import Strata, measured_clusters

CountsOf = Callable[..., DurationCounts]

DRAWS = 20_000
# Distinct sums for distinct samples: every sample can be told by its error.
DURATIONS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]


def one_stratum(counts: DurationCounts, samples: int, *, with_replacement: bool = False) -> Strata:
    """Return all launches as one stratum."""
    ends = np.array([0]), np.array([len(counts.count)])
    return measured_clusters(counts, np.array([0]), *ends).with_samples(
        np.array([samples]), with_replacement=with_replacement
    )


def chi_square(found: np.ndarray, expected: dict[float, float]) -> float:
    """Return (chi^2 - degrees) / sqrt(2 degrees) of drawn values against their probabilities."""
    values, times = np.unique(np.round(found, 6), return_counts=True)
    keys = np.round(np.array(sorted(expected)), 6)
    assert np.isin(values, keys).all()
    observed = np.zeros(len(keys))
    observed[np.searchsorted(keys, values)] = times
    wanted = len(found) * np.array([expected[key] for key in sorted(expected)])
    degrees = len(keys) - 1
    return float((((observed - wanted) ** 2 / wanted).sum() - degrees) / np.sqrt(2 * max(degrees, 1)))


@pytest.mark.parametrize(
    ("launches", "samples"), [(2, 1), (4, 1), (4, 2), (5, 3), (6, 5), (8, 4), (10, 1), (11, 9), (12, 10)]
)
def test_every_sample_is_equally_likely(launches: int, samples: int, counts_of: CountsOf) -> None:
    counts = counts_of({"k": DURATIONS[:launches]})
    errors = drawn_errors(
        counts, one_stratum(counts, samples), np.array([0]), DRAWS, np.random.default_rng(1)
    )
    total = sum(DURATIONS[:launches])
    all_samples = list(combinations(DURATIONS[:launches], samples))
    expected = {
        round(launches / samples * sum(sample) - total, 6): 1 / len(all_samples) for sample in all_samples
    }
    assert len(expected) == len(all_samples)
    # Beyond four standard deviations only once in some ten thousand seeds.
    assert abs(chi_square(errors[:, 0], expected)) < 4


def test_every_draw_with_replacement_is_equally_likely(counts_of: CountsOf) -> None:
    counts = counts_of({"k": DURATIONS[:4]})
    strata = one_stratum(counts, 3, with_replacement=True)
    errors = drawn_errors(counts, strata, np.array([0]), DRAWS, np.random.default_rng(1))
    expected: dict[float, float] = {}
    for sample in product(DURATIONS[:4], repeat=3):
        key = round(4 / 3 * sum(sample) - 15, 6)
        expected[key] = expected.get(key, 0.0) + 1 / 64
    assert abs(chi_square(errors[:, 0], expected)) < 4


@pytest.mark.parametrize(("launches", "samples"), [(400, 12), (40, 15), (3000, 700), (5000, 4990), (100, 50)])
def test_mean_and_variance_of_larger_samples(launches: int, samples: int, counts_of: CountsOf) -> None:
    rng = np.random.default_rng(5)
    durations = np.round(rng.lognormal(8, 1, launches)).astype(int)
    counts = counts_of({"k": durations.tolist()})
    errors = drawn_errors(
        counts, one_stratum(counts, samples), np.array([0]), 4000, np.random.default_rng(2)
    )[:, 0]
    variance = launches**2 * (1 - samples / launches) * durations.var(ddof=1) / samples
    assert abs(errors.mean()) < 4 * np.sqrt(variance / 4000)
    assert errors.var() == pytest.approx(variance, rel=0.15)


def test_strata_are_drawn_from_their_own_launches(counts_of: CountsOf) -> None:
    counts = counts_of({"a": [1000, 1010], "b": [10, 20, 30], "c": [5] * 9})
    strata = measured_clusters(counts, np.arange(3), counts.offsets[:-1], counts.offsets[1:]).with_samples(
        np.array([1, 2, 3])
    )
    errors = drawn_errors(counts, strata, np.arange(3), 500, np.random.default_rng(0))
    assert set(np.round(errors[:, 0], 6)) == {-10.0, 10.0}
    assert set(np.round(errors[:, 1], 6)) == {-15.0, 0.0, 15.0}
    assert not errors[:, 2].any()
