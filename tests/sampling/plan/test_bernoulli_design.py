"""A method that draws how many launches it takes: judged over all of them, a plan by its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chisquare

from sampling.methods.random_launches import NumberDrawn
from sampling.plan.comparison import Comparison, MethodComparison
from sampling.plan.design import BernoulliDesign, design_of_method, make_design
from sampling.plan.judge import judge_design
from sampling.plan.plan import drawn_plan
from sampling.profile.launch_table import LaunchTable
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.strata.target import Target

CountsOf = Callable[..., DurationCounts]

LAUNCHES, PROBABILITY = 1000, 0.004
DURATIONS = np.random.default_rng(3).integers(1, 1000, LAUNCHES)


@pytest.fixture(scope="module")
def profile(launch_table: Callable[..., LaunchTable]) -> LaunchTable:
    return launch_table(["k"] * LAUNCHES, DURATIONS.tolist())


def compared(profile: LaunchTable, seed: int, repeats: int) -> Comparison:
    """Return what `compare` says of random launches by probability."""
    asked = (f"random.probability={PROBABILITY}",)
    comparison = MethodComparison(profile, Region(), Target(), repeats=repeats, seed=seed, settings=asked)
    return comparison.compare("random", Grouping())


def simulated_errors(repeats: int) -> np.ndarray:
    """Return errors of draws made launch by launch, those of none again."""
    rng = np.random.default_rng(11)
    errors: list[float] = []
    while len(errors) < repeats:
        drawn = DURATIONS[rng.random(LAUNCHES) < PROBABILITY]
        if len(drawn):
            errors.append(abs(drawn.mean() * LAUNCHES / DURATIONS.sum() - 1))
    return np.array(errors)


def test_every_draw_of_the_method_has_its_own_number_of_launches(profile: LaunchTable) -> None:
    expected = simulated_errors(6000)
    spread = expected.std() * np.sqrt(1 / 2000 + 1 / 6000)
    for seed in range(4):
        found = compared(profile, seed, 2000)
        assert found.judgement is not None
        assert abs(found.judgement.error_mean - expected.mean()) < 4 * spread
        assert found.judgement.error_p95 == pytest.approx(np.quantile(expected, 0.95), rel=0.12)


def test_the_figures_of_the_method_do_not_depend_on_the_seed(profile: LaunchTable) -> None:
    first = compared(profile, 0, 1).design
    assert isinstance(first, BernoulliDesign)
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


def test_a_plan_is_judged_by_its_own_number(counts_of: CountsOf) -> None:
    counts = counts_of({"k": DURATIONS.tolist()})
    design = make_design(counts, "random", Target(), 0, settings=(f"random.probability={PROBABILITY}",))
    plan = drawn_plan(counts, design, 0)
    number = int(design.strata.samples[0])
    assert plan.samples == design.samples == number
    assert design.notes[0].startswith(
        f"each launch is drawn with probability 0.004, {number} launches this time"
    )
    fixed = make_design(counts, "random", Target(), 0, settings=(f"random.launches={number}",))
    ours, theirs = (judge_design(counts, each, 50, 1).errors.tolist() for each in (design, fixed))
    assert ours == theirs
    assert design_of_method(fixed) is fixed


@given(launches=st.integers(1, 40), probability=st.floats(0.001, 1))
def test_numbers_are_binomial_without_none(launches: int, probability: float) -> None:
    numbers, chances = NumberDrawn(launches, probability).possible()
    assert numbers.tolist() == list(range(1, launches + 1))
    expected = binom.pmf(numbers, launches, probability) / binom.sf(0, launches, probability)
    assert chances == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("launches", [1, 5000, 50_000_000])
def test_large_numbers_keep_their_mean(launches: int) -> None:
    number = NumberDrawn(launches, 0.25)
    numbers, chances = number.possible()
    assert numbers @ chances == pytest.approx(launches / 4 / (1 - 0.75**launches), rel=1e-6)
    assert number.share_empty == pytest.approx(0.75**launches)


def test_drawn_numbers_come_as_often_as_they_should() -> None:
    number = NumberDrawn(30, 0.1)
    drawn = number.draw(20_000, np.random.default_rng(0))
    seen = np.bincount(np.minimum(drawn, 8), minlength=9)[1:]
    numbers, chances = number.possible()
    expected = 20_000 * np.bincount(np.minimum(numbers, 8), weights=chances, minlength=9)[1:]
    assert chisquare(seen, expected).pvalue > 1e-3
