"""Estimates as a command asks for them: what is missing, what is said, groups, and seen spreads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sampling.errors import AnalysisError, OptionError
from sampling.estimation.interval import Sample, estimate, estimate_groups
from sampling.estimation.top_up import next_sizes

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
    assert found.notes == ()
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
    found, expected = (estimate(each, "cycles") for each in (lost, kept))
    assert (found.total, found.low, found.high) == (expected.total, expected.low, expected.high)
    assert found.launches_missing == 1
    assert found.notes[-1] == "1 launch of the plan without a result; the others of their strata weigh more"


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


def test_what_was_seen_and_what_rests_on_the_declared(three: Sample, sample: Make) -> None:
    seen = estimate(three, "cycles").seen
    assert seen is not None
    # Three strata by their variance: 2 of 3, 1 of 2 and 1 of 2 degrees of freedom.
    v = np.array(
        [(1000 * 301 / 30) ** 2 * (1 / 3 - 0.01), (1000 * 450 / 41) ** 2 * 0.48, 1740**2 * (0.5 - 1 / 30)]
    )
    assert seen.share == 1
    assert seen.degrees_of_freedom == pytest.approx(v.sum() ** 2 / (v**2 / [2, 1, 1]).sum())
    assert seen.declared_share == pytest.approx(4 / (4 + seen.degrees_of_freedom))
    assert 1 < seen.variance_ratio < 2
    assert not seen.exceeds
    nothing = estimate(sample((100, 10, [(9, 95)])), "cycles")
    assert nothing.degrees_of_freedom == 2
    assert nothing.seen is not None
    assert (nothing.seen.share, nothing.seen.declared_share) == (0, 1)


def test_no_interval_is_said(sample: Make) -> None:
    found = estimate(sample((100, 10, [(9, 0)])), "cycles")
    assert (found.low, found.high, found.half_width, found.degrees_of_freedom) == (None, None, None, None)
    assert found.seen is None
    assert found.notes[0].startswith("no interval")
    assert not found.is_within(0.99)


def test_a_topped_up_interval_is_not_narrower_than_asked_for(three: Sample) -> None:
    found = estimate(three, "cycles", topped_up_to=0.5)
    assert found.half_width == pytest.approx(0.5 * found.total)
    assert found.is_within(0.5)
    census = replace(three, launches=three.samples)
    assert estimate(census, "cycles", topped_up_to=0.5).half_width == 0


def test_groups_add_up_and_lean_on_the_whole(three: Sample, sample: Make) -> None:
    whole, groups = estimate(three, "cycles"), estimate_groups(three, "cycles")
    assert list(groups) == [0, 1]
    assert sum(group.total for group in groups.values()) == pytest.approx(whole.total)
    assert groups[1].degrees_of_freedom == 2.5
    one = sample((100, 10, [(9, 95), (10, 100), (11, 106)]), (30, 5, [(5, 60)]))
    alone = estimate_groups(one, "cycles")[1]
    factor = estimate(one, "cycles").stratum_variance[1] / (360**2 * (1 - 1 / 30) * 0.05**2)
    assert alone.stratum_variance.tolist() == pytest.approx([factor * 360**2 * (1 - 1 / 30) * 0.05**2])


def test_unknown_metrics_are_refused(three: Sample) -> None:
    with pytest.raises(OptionError, match="no metric 'stalls'; there are cycles"):
        estimate(three, "stalls")
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
