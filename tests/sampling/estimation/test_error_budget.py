"""Projections and scale models in the interval: measured or declared, added up as independent errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sampling.errors import OptionError
from sampling.estimation.interval import Sample, estimate
from sampling.estimation.total import budgeted, with_projections
from sampling.simulators.results import SimulatedLaunches

Made = Callable[..., Sample]


def results(cycles: list[float], projected: list[float]) -> SimulatedLaunches:
    return SimulatedLaunches(
        np.arange(len(cycles)), {"cycles": np.array(cycles), "projected_cycles": np.array(projected)}
    )


NONE = float("nan")


def test_without_projections_nothing_changes() -> None:
    given = SimulatedLaunches(np.arange(2), {"cycles": np.array([1.0, 2.0])})
    found = with_projections(given, None)
    assert found.results is given
    assert not found.is_projected.any()
    assert found.error is None


def test_the_error_is_measured_where_launches_ran_both_ways() -> None:
    found = with_projections(results([100, 100, 200, NONE], [110, 90, 200, 300]), 0.5)
    assert found.results.metrics["cycles"].tolist() == [100, 100, 200, 300]
    assert found.is_projected.tolist() == [False, False, False, True]
    assert found.error == pytest.approx(np.sqrt((0.01 + 0.01 + 0) / 3))
    assert found.measured == 3


def test_with_fewer_it_must_be_declared() -> None:
    given = results([100, 100, NONE], [110, 90, 300])
    with pytest.raises(OptionError, match="1 launch is projected, and 2 simulated to the end"):
        with_projections(given, None)
    found = with_projections(given, 0.1)
    assert (found.error, found.measured) == (0.1, 0)


def test_squares_of_the_three_parts_add_up(sample: Made) -> None:
    """Groups 0 and 1 are projected, 60 % and 20 % of the cycles; alike within a group, not between."""
    made = sample(
        (10, 1.0, [(1.0, 30.0), (1.0, 30.0)]),
        (10, 1.0, [(1.0, 30.0), (1.0, 30.0)]),
        (10, 1.0, [(1.0, 20.0), (1.0, 20.0)]),
        (10, 1.0, [(1.0, 19.0), (1.0, 21.0)]),
        group=[0, 0, 1, 2],
    )
    total = estimate(made, "cycles", 0.95)
    projections = with_projections(results([NONE], [5.0]), 0.1)
    found, parts = budgeted(total, made, made.group[made.stratum] < 2, projections, 0.04)
    assert total.total == pytest.approx(1000)
    assert total.half_width is not None
    expected = 1.959964 * 0.1 * np.hypot(0.6, 0.2)
    assert parts.projection == pytest.approx(expected, rel=1e-6)
    assert parts.sampling == pytest.approx(total.half_width / 1000)
    assert parts.scale_model == 0.04
    assert found.half_width == pytest.approx(
        1000 * np.sqrt(expected**2 + (total.half_width / 1000) ** 2 + 0.04**2)
    )
    assert found.total == total.total
    assert parts.note == "declared"


def test_where_sampling_has_no_interval_the_budget_has_none(sample: Made) -> None:
    made = sample((10, 1.0, [(1.0, 30.0)]), (10, 1.0, [(1.0, 20.0)]))
    picked = replace(estimate(made, "cycles", 0.95), low=None, high=None)
    found, parts = budgeted(
        picked, made, np.array([True, False]), with_projections(results([NONE], [5.0]), 0.1), 0.0
    )
    assert found.low is None
    assert parts.sampling is None
    assert parts.projection > 0
