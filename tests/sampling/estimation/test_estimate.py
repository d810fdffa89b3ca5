"""Estimates as a command asks for them: what is missing, what is said, groups, and seen spreads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sampling.errors import AnalysisError, OptionError
from sampling.estimation.estimate import estimate, estimate_groups, next_sizes
from sampling.estimation.moderated import moderated
from sampling.estimation.moments import moments
from sampling.estimation.sample import Sample
from sampling.estimation.seen_spread import seen_spread

Make = Callable[..., Sample]


@pytest.fixture
def three(sample: Make) -> Sample:
    return sample(
        (100, 10, [(9, 95), (10, 100), (11, 106)]),
        (50, 20, [(20, 230), (21, 220)]),
        (30, 5, [(5, 60), (5, 56)]),
        group=[0, 0, 1],
    )


def test_a_total_with_its_interval(three: Sample) -> None:
    found = estimate(three, "cycles")
    assert found.total == pytest.approx(1000 * 301 / 30 + 1000 * 450 / 41 + 150 * 11.6)
    assert found.stratum_total.sum() == pytest.approx(found.total)
    assert found.half_width is not None
    assert found.low == pytest.approx(found.total - found.half_width)
    assert found.notes == ("the interval rests on 2.7 degrees of freedom, fewer than 5",)
    assert not found.is_incomplete
    wider = estimate(three, "cycles", 0.99)
    assert wider.high is not None
    assert found.high is not None
    assert wider.high > found.high


def test_a_lost_launch_leaves_the_others_of_its_stratum(three: Sample, sample: Make) -> None:
    lost = replace(three, y=np.where(np.arange(7) == 1, np.nan, three.y[:, 0])[:, np.newaxis])
    kept = sample(
        (100, 10, [(9, 95), (11, 106)]),
        (50, 20, [(20, 230), (21, 220)]),
        (30, 5, [(5, 60), (5, 56)]),
        group=[0, 0, 1],
    )
    for interval in ("moderated", "plain"):
        found, expected = (estimate(each, "cycles", 0.95, interval) for each in (lost, kept))
        assert (found.total, found.low, found.high) == (expected.total, expected.low, expected.high)
        assert found.launches_missing == 1
        assert (
            found.notes[-1] == "1 launch of the plan without a result; the others of their strata weigh more"
        )


def test_an_emptied_stratum_makes_the_total_incomplete(three: Sample) -> None:
    lost = replace(three, y=np.where(three.stratum == 2, np.nan, three.y[:, 0])[:, np.newaxis])
    found = estimate(lost, "cycles")
    assert found.is_incomplete
    assert found.emptied.tolist() == [2]
    assert found.share_missing == pytest.approx(150 / 2150)
    assert np.isnan(found.stratum_total).tolist() == [False, False, True]
    assert found.notes[-1] == "incomplete: 1 stratum without any result, 6.98 % of the profile's time"
    assert not found.is_within(0.99)
    assert next_sizes(lost, "cycles", 0.001)[2] == 2


def test_few_degrees_of_freedom_are_said(sample: Make) -> None:
    found = estimate(sample((100, 10, [(9, 95), (10, 108)])), "cycles", 0.95, "plain")
    assert found.degrees_of_freedom == pytest.approx(1)
    assert found.notes == ("the interval rests on 1.0 degrees of freedom, fewer than 5",)


def test_no_interval_is_said(sample: Make) -> None:
    found = estimate(sample((100, 10, [(9, 95)])), "cycles")
    assert (found.low, found.high, found.half_width, found.degrees_of_freedom) == (None, None, None, None)
    assert found.notes[0].startswith("no interval")
    assert not found.is_within(0.99)


def test_a_topped_up_interval_is_not_narrower_than_asked_for(three: Sample) -> None:
    found = estimate(three, "cycles", topped_up_to=0.5)
    assert found.half_width == pytest.approx(0.5 * found.total)
    assert found.is_within(0.5)
    census = replace(three, launches=three.samples)
    assert estimate(census, "cycles", topped_up_to=0.5).half_width == 0


def test_groups_add_up_and_borrow_spreads(three: Sample) -> None:
    whole, groups = estimate(three, "cycles"), estimate_groups(three, "cycles")
    assert list(groups) == [0, 1]
    assert sum(group.total for group in groups.values()) == pytest.approx(whole.total)
    assert groups[1].stratum_variance.sum() == pytest.approx(whole.stratum_variance[2])
    assert groups[1].degrees_of_freedom is not None
    plain = estimate_groups(three, "cycles", 0.95, "plain")
    assert plain[1].degrees_of_freedom == pytest.approx(1)
    assert plain[1].degrees_of_freedom < groups[1].degrees_of_freedom


def test_a_group_of_one_launch_has_an_interval_by_the_others(sample: Make) -> None:
    made = sample((100, 10, [(9, 95), (10, 100), (11, 106)]), (30, 5, [(5, 60)]))
    assert estimate_groups(made, "cycles")[1].high is not None
    assert estimate_groups(made, "cycles", 0.95, "plain")[1].high is None


def test_unknown_metrics_and_intervals_are_refused(three: Sample) -> None:
    with pytest.raises(OptionError, match="no metric 'stalls'; there are cycles"):
        estimate(three, "stalls")
    with pytest.raises(OptionError, match="`interval` is moderated or plain, not bayes"):
        estimate(three, "cycles", 0.95, "bayes")  # type: ignore[arg-type]
    nothing = replace(three, y=np.full((7, 1), np.nan))
    with pytest.raises(AnalysisError, match="no simulated launch of the plan has the metric cycles"):
        estimate(nothing, "cycles")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("group", np.array([0]), "strata of a sample have columns of different lengths"),
        ("x", np.array([1.0]), "launches of a sample have columns of different lengths"),
        ("stratum", np.array([0, 0, 0, 1, 1, 2, 3]), "names a stratum that the sample does not have"),
        ("launches", np.array([2, 50, 30]), "more simulated launches than it has launches"),
    ],
)
def test_a_sample_that_does_not_fit_is_refused(
    field: str, value: np.ndarray, message: str, three: Sample
) -> None:
    with pytest.raises(OptionError, match=message):
        replace(three, **{field: value})


def test_seen_spreads_are_those_that_were_put_in() -> None:
    rng = np.random.default_rng(6)
    kernels, samples = 400, 6
    stratum = np.repeat(np.arange(kernels), samples)
    x = rng.uniform(90, 110, kernels * samples)
    y = x * rng.lognormal(0, 0.3, kernels)[stratum] * rng.lognormal(0, 0.05, len(x))
    made = Sample(
        np.full(kernels, 1000),
        np.full(kernels, 100.0),
        np.arange(kernels),
        np.zeros(kernels, dtype=np.bool_),
        stratum,
        x,
        y[:, np.newaxis],
        ("cycles",),
    )
    seen = seen_spread(moments(made, "cycles"))
    assert seen.within == pytest.approx(0.05, rel=0.05)
    assert seen.within_freedom == kernels * (samples - 1)
    assert seen.between == pytest.approx(np.sqrt(np.exp(0.09) - 1), rel=0.15)
    assert seen.kernel_groups == kernels


def test_what_sampling_adds_is_not_seen_as_a_spread_between_kernels() -> None:
    rng = np.random.default_rng(7)
    kernels = 2000
    stratum, x = np.repeat(np.arange(kernels), 2), np.full(2 * kernels, 100.0)
    y = x * rng.lognormal(0, 0.05, kernels)[stratum] * rng.lognormal(0, 0.2, len(x))
    made = Sample(
        np.full(kernels, 1000),
        np.full(kernels, 100.0),
        np.arange(kernels),
        np.zeros(kernels, dtype=np.bool_),
        stratum,
        x,
        y[:, np.newaxis],
        ("cycles",),
    )
    # Sampling alone adds 0.2 / sqrt(2) = 0.14.
    assert seen_spread(moments(made, "cycles")).between == pytest.approx(0.05, abs=0.03)


def test_no_spread_is_seen_where_there_is_none_to_see(sample: Make) -> None:
    seen = seen_spread(moments(sample((100, 10, [(9, 95)])), "cycles"))
    assert (seen.within, seen.within_freedom, seen.between, seen.kernel_groups) == (None, 0, None, 1)


def test_the_moderated_total_is_the_ratio_estimate(three: Sample) -> None:
    totals, _ = moderated(moments(three, "cycles"))
    assert totals[0] == pytest.approx(100 * 10 * 301 / 30)
