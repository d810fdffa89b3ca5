"""Real simulated cycles: one size of a GPU is the profile, another is what is simulated."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sampling
from sampling.arrays import FloatArray
from sampling.estimation.interval import Sample, estimate
from sampling.estimation.ratio import ratio_of_totals
from sampling.estimation.sizes import next_sizes
from sampling.estimation.total import estimate_plan
from sampling.plan.design import make_design
from sampling.plan.plan_file import read_plan
from sampling.readers.columns import column_map
from sampling.readers.input_file import ReadOptions
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import list_launches
from sampling.simulators.results import SimulatedLaunches
from sampling.strata.draw import draw
from sampling.strata.strata import Strata
from sampling.strata.target import Target

SEEDS = 300
# Four standard deviations of a share of 0.93.
LEAST = 0.93 - 4 * np.sqrt(0.93 * 0.07 / SEEDS)


class Runs:
    """The 120 launches of a solver on 8 SMs, its profile here, and on 16, what is simulated."""

    def __init__(self, folder: Path) -> None:
        profile = read_profile([str(folder / "solver-8.gpu-trace.csv")])
        self.counts = count_durations(profile, Grouping(GroupBy.LAUNCH))
        listed = list_launches(profile, self.counts)
        self.x = listed.duration_ns.astype(np.float64)
        launches = (folder / "solver-16.launches.csv").read_text().splitlines()[1:]
        self.y = np.array([line.split(",")[8:10] for line in launches], dtype=np.float64)
        # The launches in the reduction's order: by kernel group, then by duration.
        self.rows = np.lexsort((self.x, listed.group))

    def sample(self, strata: Strata, seed: int) -> Sample:
        """Draw and look the drawn launches' cycles up."""
        drawn = draw(self.counts, strata, seed)
        rows = self.rows[self.counts.launches_before[drawn.pair] + drawn.occurrence]
        return Sample(
            strata.launches,
            strata.mean_ns,
            strata.group,
            np.full(len(strata), Target().noise_floor ** 2),
            drawn.stratum,
            self.x[rows],
            self.y[rows],
            ("cycles", "instructions"),
            strata.samples,
        )


@pytest.fixture(scope="module")
def runs(shared_data: Path) -> Runs:
    return Runs(shared_data / "sim")


@pytest.fixture(scope="module")
def strata(runs: Runs) -> Strata:
    return make_design(runs.counts, "joint", Target(), 0).strata


def test_the_full_runs_total_is_within_the_interval(runs: Runs, strata: Strata) -> None:
    truth = runs.y[:, 0].sum()
    found = [estimate(runs.sample(strata, seed), "cycles") for seed in range(SEEDS)]
    held = [each.low is not None and each.low <= truth <= (each.high or 0) for each in found]
    assert np.mean(held) > LEAST
    assert abs(np.mean([each.total for each in found]) / truth - 1) < 0.01


def test_topping_up_ends_and_holds(runs: Runs, strata: Strata) -> None:
    truth = runs.y[:, 0].sum()
    errors, half_widths = [], []
    for seed in range(60):
        made = runs.sample(strata, seed)
        found = estimate(made, "cycles")
        for _ in range(40):
            if found.is_within(0.01):
                break
            sizes = next_sizes(made, "cycles", 0.01)
            assert (sizes >= made.samples).all()
            made = runs.sample(_resized(strata, sizes), seed)
            found = estimate(made, "cycles", topped_up_to=0.01)
        assert found.is_within(0.01)
        errors.append(abs(found.total / truth - 1))
        half_widths.append((found.half_width or 0.0) / truth)
    held: FloatArray = np.array(errors) <= np.array(half_widths)
    assert held.mean() > 0.93 - 4 * np.sqrt(0.93 * 0.07 / 60)


def test_ipc_is_within_both_of_its_intervals(runs: Runs, strata: Strata) -> None:
    cycles, instructions = runs.y.sum(axis=0)
    held, inside = [], []
    for seed in range(SEEDS):
        made = runs.sample(strata, seed)
        ratio = ratio_of_totals(made, "ipc", "instructions", "cycles", 0.95)
        found = estimate(made, "cycles")
        assert found.low is not None
        assert found.high is not None
        held.append(found.low <= cycles <= found.high)
        inside.append(ratio.low is not None and ratio.low <= instructions / cycles <= (ratio.high or 0))
    assert np.mean(held) > LEAST
    assert np.mean(inside) > LEAST


def test_instructions_of_a_program_are_by_expansion_in_every_draw(shared_data: Path, tmp_path: Path) -> None:
    """A kernel's are nearly the same in all its launches: by durations they were off by 1 % in most draws."""
    folder = shared_data / "sim"
    profile = read_profile(
        [str(folder / "torch-8.table.csv")],
        options=ReadOptions(column_map("name=name,duration_ns=duration_ns")),
    )
    rows = list(csv.DictReader((folder / "torch-32.table.csv").read_text().splitlines()))
    every = {name: np.array([float(row[name]) for row in rows]) for name in ("cycles", "instructions")}
    for seed in range(10):
        sampling.write_plan(
            sampling.make_plan(profile, sampling.PlanRequest(seed=seed)), tmp_path / f"{seed}.json"
        )
        plan = read_plan(str(tmp_path / f"{seed}.json"))
        ids = np.array(sorted(launch.id for launch in plan.drawn))
        results = SimulatedLaunches(ids, {name: values[ids] for name, values in every.items()})
        found = estimate_plan(plan, results)
        cycles, instructions = found.totals
        assert abs(instructions.total / every["instructions"].sum() - 1) < 0.001
        (ipc,) = found.ratios
        assert ipc.ratio == pytest.approx(instructions.total / cycles.total, rel=1e-12)
        assert ipc.low is not None
        assert ipc.high is not None
        assert ipc.low < every["instructions"].sum() / every["cycles"].sum() < ipc.high


def _resized(strata: Strata, samples: np.ndarray) -> Strata:
    return replace(strata, samples=samples)
