"""How often intervals hold: a fast part of `benchmarks/intervals.py`, on the bundled profile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.intervals import Cell, Draws, Population, made_cells, population
from sampling.estimation.interval import Sample, interval, moments
from sampling.reduction import GroupBy
from tests.targets import UNPOOLED

PROFILE = Path(__file__).resolve().parents[3] / "sample_data" / "resnet50-like.sqlite"
DRAWS = 400
# Four standard deviations of a share of 0.93 among so many draws.
SLACK = 4 * np.sqrt(0.93 * 0.07 / DRAWS)


@pytest.fixture(scope="module")
def made() -> Population:
    return population(PROFILE, GroupBy.NAME, UNPOOLED)


@pytest.fixture(scope="module")
def found(made: Population) -> list[Cell]:
    cases = ["declared", "by kernel", "wide", "modes"]
    return list(made_cells("bundled", GroupBy.NAME, made, DRAWS, cases, (0.02,)))


def test_the_interval_holds_first_and_after_topping_up(found: list[Cell]) -> None:
    assert [cell for cell in found if cell.coverage < 0.93 - SLACK] == []


def test_topping_up_reaches_its_target(found: list[Cell]) -> None:
    topped_up = [cell for cell in found if cell.stage == "to 0.02"]
    assert all(cell.half_width <= 0.0202 for cell in topped_up)
    assert any(cell.rounds > 1 for cell in topped_up)


def test_running_sums_give_the_moments_of_the_launches_themselves(made: Population) -> None:
    """The benchmark looks samples up in running sums; the engine adds the launches up."""
    rng = np.random.default_rng(8)
    draws = Draws(made, 3, rng)
    cycles = made.x * rng.lognormal(0, 0.3, (3, len(made.x)))
    draws.simulate(cycles)
    samples = np.broadcast_to(made.samples, (3, len(made.samples))).copy()
    together = draws.moments(samples, np.arange(3))
    totals, found = together.totals, interval(together)
    for draw in range(3):
        start = np.cumsum(made.launches) - made.launches
        rows = np.concatenate(
            [draws.order[draw, at : at + m] for at, m in zip(start, made.samples, strict=True)]
        )
        sample = Sample(
            made.launches,
            made.mean_x,
            made.group,
            made.declared,
            made.stratum[rows],
            made.x[rows],
            cycles[draw, rows][:, np.newaxis],
            ("cycles",),
            made.samples,
        )
        alone = moments(sample, sample.values("cycles"))
        expected = interval(alone)
        assert totals[draw] == pytest.approx(alone.totals)
        assert found.of_stratum[draw] == pytest.approx(expected.of_stratum)
        assert found.degrees_of_freedom[draw] == pytest.approx(float(expected.degrees_of_freedom))
