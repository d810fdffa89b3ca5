"""Means over programs: figures that can be worked out by hand, and what must hold of all."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sampling.estimation.interval import Sample
from sampling.estimation.speedup import Speedup, speedup
from sampling.estimation.suite import means


def _program(rng: np.random.Generator, scale: float, gain: float, strata: int = 6) -> Sample:
    """Two launches of each stratum, of forty; the other configuration is faster by the gain, about."""
    x = rng.uniform(100, 200, 2 * strata)
    base = scale * x * rng.lognormal(0, 0.02, 2 * strata)
    return Sample(
        launches=np.full(strata, 40),
        mean_x=x.reshape(strata, 2).mean(axis=1),
        group=np.arange(strata),
        declared=np.full(strata, 0.05**2),
        stratum=np.repeat(np.arange(strata), 2),
        x=x,
        y=np.stack([base, base / gain * rng.lognormal(0, 0.01, 2 * strata)], axis=1),
        metrics=("base", "other"),
        planned=np.full(strata, 2),
    )


def _speedups(samples: list[Sample]) -> list[Speedup]:
    return [speedup(sample, "base", "other") for sample in samples]


def test_the_three_means_of_known_ratios() -> None:
    """Of 2 and 1/2 the geometric mean is 1, the harmonic 0.8; of 6 and 1 cycles the total is 7/5."""
    one = Speedup("base", "other", math.nan, 0.0, math.inf, 2.0, beside_sampling=0.01)
    rng = np.random.default_rng(0)
    samples = [_program(rng, scale, 1.0) for scale in (6.0, 1.0)]
    for sample, gain in zip(samples, (2.0, 0.5), strict=True):
        # A census, whose launches are all alike.
        sample.launches[:] = 2
        sample.y[:, 1] = sample.y[:, 0] / gain
        sample.y[:] = sample.y / sample.y[:, 0].sum() * {2.0: 6.0, 0.5: 1.0}[gain]
    found = means(samples, [replace(one, ratio=2.0), replace(one, ratio=0.5)], 0.95)
    assert found.geometric.ratio == pytest.approx(1.0)
    assert found.geometric.half_width == pytest.approx(0.01 * math.sqrt(2) / 2)
    assert found.harmonic.ratio == pytest.approx(0.8)
    assert found.harmonic.half_width == pytest.approx(0.01 * math.hypot(0.2, 0.8))
    # 6 + 1 over 3 + 2.
    assert found.total.ratio == pytest.approx(7 / 5)


def test_one_program_alone_has_its_own_interval() -> None:
    sample = _program(np.random.default_rng(1), 1.0, 1.1)
    [one] = _speedups([sample])
    found = means([sample], [one], 0.95)
    for mean in (found.geometric, found.harmonic, found.total):
        assert mean.ratio == pytest.approx(one.ratio)
        assert mean.half_width == pytest.approx(one.half_width)


def test_intervals_of_means_hold_and_are_narrower_than_a_programs() -> None:
    """Draws of six programs whose true speedups are known: 95 % intervals hold in no fewer than 93 %."""
    rng, held, widths = np.random.default_rng(3), [], []
    gains = rng.lognormal(0.01, 0.02, 6)
    truth = math.exp(np.log(gains).mean())
    for _ in range(120):
        samples = [_program(rng, 1.0 + number, gain) for number, gain in enumerate(gains.tolist())]
        one = _speedups(samples)
        found = means(samples, one, 0.95)
        held.append(found.geometric.low <= truth <= found.geometric.high)
        widths.append(found.geometric.half_width / min(each.half_width for each in one))
    assert np.mean(held) > 0.93
    assert np.mean(widths) < 0.6
