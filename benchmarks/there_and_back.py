"""Plans of real simulated runs: one configuration's cycles are the profile, another's the simulation.

    python benchmarks/there_and_back.py FOLDER [--targets 0.05,0.02]

FOLDER holds ``NAME.gpu-trace.csv``, the cycles of a run as durations, ``NAME/run.log.gz``, what the
simulator printed, and ``NAME.launches.csv``, its cycles launch by launch. Each plan is simulated by reading
its launches from the log of another configuration, estimated, and topped up until the total is within the
target. Printed are the truth, the intervals, the rounds, and the share of launches and cycles simulated.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import sampling
from sampling.estimation.interval import Estimate
from sampling.estimation.top_up import top_up
from sampling.estimation.total import estimate_plan
from sampling.plan.plan_file import PlanFile
from sampling.simulators.results import read_result_files

PAIRS = (
    ("solver-8", "solver-16"),
    ("solver-16", "solver-8"),
    ("trace-8", "trace-16"),
    ("trace-16", "trace-8"),
)


def cycles_of(table: Path) -> np.ndarray:
    """Return (launches,) the cycles of every launch of a run."""
    with table.open(newline="") as rows:
        return np.array([float(row["cycles"]) for row in csv.DictReader(rows)])


def rounds_of(
    profile: Path, log: Path, target: float, folder: Path, seed: int
) -> Iterator[tuple[PlanFile, Estimate]]:
    """Yield the plan and the estimate of each round, until the total is within the target."""
    path = folder / "plan.json"
    made = sampling.make_plan(sampling.read_profile(profile), sampling.PlanRequest(epsilon=target, seed=seed))
    sampling.write_plan(made, path)
    while True:
        plan = sampling.read_plan(path)
        results = read_result_files(plan, [str(log)])
        found = estimate_plan(plan, results).main
        yield plan, found
        if found.is_within(target):
            return
        path.write_text(top_up(plan, results, found, target).text)


def main() -> None:
    """Print a row a pair of runs and target."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--targets", default="0.05,0.02")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    columns = ("profile", "simulated", "target", "truth", "first", "last", "rounds", "launches", "cycles")
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    for profile, simulated in PAIRS:
        cycles = cycles_of(asked.folder / f"{simulated}.launches.csv")
        for target in map(float, asked.targets.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                trace = asked.folder / f"{profile}.gpu-trace.csv"
                log = asked.folder / simulated / "run.log.gz"
                rounds = list(rounds_of(trace, log, target, Path(folder), asked.seed))
            (_, first), (plan, last) = rounds[0], rounds[-1]
            ids = [launch.id for launch in plan.drawn]
            held = "" if last.low is None or last.low <= cycles.sum() <= (last.high or 0) else " (missed)"
            print(
                f"| {profile} | {simulated} | {target:g} | {cycles.sum():,.0f} | {_shown(first)} "
                f"| {_shown(last)}{held} | {len(rounds) - 1} | {len(ids)} of {len(cycles)} "
                f"| {100 * cycles[ids].sum() / cycles.sum():.0f} % |",
                flush=True,
            )


def _shown(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return f"{found.total:,.0f}, none"
    return f"{found.total:,.0f} ({found.low:,.0f} to {found.high:,.0f})"


if __name__ == "__main__":
    main()
