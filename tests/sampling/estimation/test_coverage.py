"""How often intervals hold: a fast part of `benchmarks/intervals.py`, on the bundled profile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.intervals import Cell, Population, made_cells, population
from sampling.reduction import GroupBy
from tests.small_plans import UNPOOLED

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
