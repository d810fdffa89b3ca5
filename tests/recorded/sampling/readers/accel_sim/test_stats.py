"""The stats.csv beside real traces: there and back through a plan, with a simulator's own cycles."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sampling import estimate_plan, make_plan, read_plan, read_profile, read_result_files, write_plan


@pytest.mark.parametrize("weights", ["launches", "instructions"])
def test_a_plan_by_instructions_is_estimated_by_its_weights(runs: Path, tmp_path: Path, weights: str) -> None:
    profile = read_profile(runs / "traces" / "stats.csv")
    assert (profile.launches, profile.has_durations) == (24, False)
    made = make_plan(profile, method="sieve", settings=[f"sieve.weights={weights}"])
    assert (made.launches, made.speedup, made.bound) == (24, None, None)
    path = tmp_path / "plan.json"
    write_plan(made, path)
    plan = read_plan(str(path))
    assert not plan.has_durations
    with (runs / "trace-8.launches.csv").open() as table:
        cycles = {int(row["launch"]) - 1: int(row["cycles"]) for row in csv.DictReader(table)}
    results = read_result_files(plan, [str(runs / "trace-8" / "run.log.gz")])
    (total,) = (each for each in estimate_plan(plan, results).totals if each.metric == "cycles")
    assert total.total == pytest.approx(sum(each.weight * cycles[each.id] for each in plan.drawn))
    assert (total.low, total.share_missing, total.is_incomplete) == (None, None, False)
    # Each of the 12 kernels and shapes ran twice, with other instructions the second time.
    assert sum(each.weight for each in plan.drawn) == pytest.approx(24) or weights == "instructions"
