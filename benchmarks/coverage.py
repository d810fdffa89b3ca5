"""How often plans of joint stay within their epsilon, over a grid of settings on every profile of a folder.

    python benchmarks/coverage.py FOLDER [--settings default] [--draws 4000] [--again 40000] [--shortest 100]

By name and by launch x epsilon 1, 2, 5, 10 %; without a pool also x group bound none, 25 % x at least 1, 2
samples x noise floor 0, 5 %. What is judged is the error of the profile's own total. Each plan is drawn anew,
every stratum of it, with a seed that planning does not use. Printed are the settings with the least coverage
and, without a pool, what the calibration costs in sampled time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from root import profiles_in

from sampling.errors import SamplingError
from sampling.methods.joint.joint import solution_of, solve
from sampling.plan.design import Design, make_design
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.strata.repeated_draws import drawn_errors
from sampling.strata.target import Target

EPSILONS = (0.01, 0.02, 0.05, 0.1)


@dataclass(frozen=True, slots=True)
class Row:
    """One setting: the share of draws within epsilon, and sampled time over the uncalibrated plan's."""

    name: str
    within: float
    again: float
    over_uncalibrated: float
    seconds: float


def targets(asked: str) -> Iterator[Target]:
    """Yield the settings: of the default at each epsilon, or all of the method without a pool."""
    for epsilon in EPSILONS:
        if asked == "default":
            yield Target(epsilon)
            continue
        for group, least, noise in product((None, 0.25), (1, 2), (0.0, 0.05)):
            yield Target(
                epsilon,
                group_epsilon=group,
                min_samples=least,
                noise_floor=noise,
                pool_below=0.0,
                kernel_spread=0.0,
                min_freedom=0.0,
            )


def main() -> None:
    """Print a summary, and the settings that cover least."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--again", type=int, default=0, help="draw each so often once more")
    parser.add_argument("--settings", choices=("unpooled", "default"), default="unpooled")
    parser.add_argument("--shortest", type=int, default=100)
    asked = parser.parse_args()
    rows: list[Row] = []
    for name, paths in profiles_in(asked.folder):
        try:
            profile = read_profile(paths)
        except SamplingError:
            continue
        for by in (GroupBy.NAME, GroupBy.LAUNCH):
            counts = count_durations(profile, Grouping(by))
            if counts.launches >= asked.shortest:
                rows += [
                    _row(f"{name} {by}", counts, target, asked.draws, asked.again)
                    for target in targets(asked.settings)
                ]
    within = np.array([row.within for row in rows])
    mean, least = 100 * within.mean(), 100 * within.min()
    print(f"{len(rows)} settings; {mean:.2f} % of draws within epsilon, least {least:.2f} %")
    print(f"below 95 %: {(within < 0.95).sum()}; below 94.5 %: {(within < 0.945).sum()}")
    cost = np.array([row.over_uncalibrated for row in rows])
    if asked.settings == "unpooled":
        print(f"time over the uncalibrated plan's: mean {cost.mean():.4f}, most {cost.max():.3f}")
    seconds = np.array([row.seconds for row in rows])
    print(f"seconds to plan: median {np.median(seconds):.3f}, most {seconds.max():.2f}")
    for row in sorted(rows, key=lambda row: row.within)[:12]:
        print(f"  {row.within:.4f}  {row.again:.4f}  {row.over_uncalibrated:.3f}  {row.name}")


def _within(design: Design, draws: int) -> float:
    """Return the share of so many draws, of every stratum, whose error is at most epsilon."""
    rng = np.random.default_rng([2026, draws])
    assert design.counts is not None
    errors_ns = np.zeros(draws)
    rows = np.flatnonzero(design.strata.samples < design.strata.launches)
    for some in np.array_split(rows, max(len(rows) // 64, 1)):
        errors_ns += drawn_errors(design.counts, design.strata, some, draws, rng).sum(axis=1)
    limit_ns = design.target.epsilon * design.counts.total_duration_ns * (1 + 1e-12)
    return float((np.abs(errors_ns) <= limit_ns).mean())


def _row(name: str, counts: DurationCounts, target: Target, draws: int, again: int) -> Row:
    start = time.perf_counter()
    design = make_design(counts, "joint", target, 0)
    seconds = time.perf_counter() - start
    assert design.groups is not None
    found = solve(design.groups, design.target)
    uncalibrated_ns = solution_of(design.groups, found, design.target).sampled_ns
    within = _within(design, draws)
    setting = (
        f"{name} epsilon {target.epsilon:g} group {target.group_epsilon} "
        f"samples {target.min_samples} noise {target.noise_floor:g}"
    )
    sampled_ns = design.sampled_duration_ns
    return Row(
        setting,
        within,
        # Only what looks too low is worth ten times the draws.
        _within(design, again) if again and within < target.confidence else np.nan,
        sampled_ns / uncalibrated_ns,
        seconds,
    )


if __name__ == "__main__":
    main()
