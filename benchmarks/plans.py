"""The default plan on every profile of a folder, at several epsilons, beside ROOT's and beside itself.

    python benchmarks/plans.py FOLDER [--epsilons 0.01,0.02,0.05,0.1,0.2] [--draws 1000] [--rows]

Of every plan: sampled time, launches, the promise, the interval expected of results, and the share of draws
whose estimated SIMULATED total is within epsilon, where simulated time is made up as it is declared: each
kernel group has cycles per nanosecond with a coefficient of variation of 0.3, and each launch departs from
that by 0.05, both lognormal and new in every draw. Counted over all: how often a looser epsilon costs more
than 1 % more, and how often ROOT is cheaper by more than 1 % although it keeps the promise and the interval.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from root import FEWEST_LAUNCHES, profiles_in

from sampling.errors import SamplingError
from sampling.plan.design import Design, make_design
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping
from sampling.strata.draw import draw, weights
from sampling.strata.target import Target

_HEADINGS = ("profile", "by", "epsilon", "time over ROOT's", "ROOT keeps", "drawn", "ROOT", "promise")


@dataclass(frozen=True, slots=True)
class Row:
    """One profile's plan and ROOT's at one epsilon; seconds of the processor that the plan took."""

    name: str
    by: GroupBy
    plan: Design
    root: Design
    judged: float
    seconds: float

    @property
    def epsilon(self) -> float:
        """What was asked of both."""
        return self.plan.target.epsilon

    @property
    def over_root(self) -> float:
        """The sampled time over that of ROOT's plan."""
        return self.plan.sampled_duration_ns / self.root.sampled_duration_ns

    @property
    def root_keeps(self) -> bool:
        """Whether ROOT's plan keeps the promise of the simulated total, of every group, and the interval."""
        if (promise := self.root.promise) is None:
            return True
        group, of_group = promise.group_bound_with_noise or 0.0, self.plan.target.group_epsilon
        return promise.error <= self.epsilon and (of_group is None or group <= of_group)

    def text(self) -> str:
        """Return a row of the table."""
        assert self.plan.promise is not None
        simulated, width = self.plan.promise.bound_with_noise, self.plan.promise.expected_half_width
        return (
            f"| {self.name} | {self.by} | {self.epsilon:g} | {self.over_root:.3f} "
            f"| {'yes' if self.root_keeps else 'no'} | {self.plan.samples} | {self.root.samples} "
            f"| {simulated:.4f} | {width:.4f} | {self.judged:.3f} "
            f"| {self.seconds:.2f} |"
        )


def judged(counts: DurationCounts, design: Design, draws: int, seed: int = 1) -> float:
    """Return the share of draws whose estimated simulated total is within the design's epsilon."""
    rng = np.random.default_rng(seed)
    groups, target = design.groups, design.target
    kernel = np.repeat(np.arange(len(counts.groups)), np.diff(counts.offsets))
    kernel, duration_ns = np.repeat(kernel, counts.count), np.repeat(counts.duration_ns, counts.count)
    order = np.lexsort((duration_ns, groups.group_of[kernel]))
    kernel, duration_ns = kernel[order], duration_ns[order].astype(np.float64)
    squares = np.bincount(kernel, duration_ns**2, minlength=len(counts.groups))
    within = 0
    for number in range(draws):
        cycles = _lognormal(rng, target.kernel_spread, len(counts.groups))
        drawn = draw(groups.counts, design.strata, seed + number)
        place = groups.counts.launches_before[drawn.pair] + drawn.occurrence
        simulated = cycles[kernel[place]] * duration_ns[place]
        noise = _lognormal(rng, target.noise_floor, len(place))
        # The launches that are not drawn are too many for their noise to be anything but normal.
        of_others = max(float(np.dot(cycles**2, squares) - (simulated**2).sum()), 0.0)
        others = target.noise_floor * np.sqrt(of_others) * rng.standard_normal()
        total = float(np.dot(cycles, counts.group_duration_ns) + (simulated * (noise - 1)).sum() + others)
        estimate = float(np.dot(weights(design.strata, drawn), simulated * noise))
        within += abs(estimate - total) <= target.epsilon * total
    return within / draws


def _lognormal(rng: np.random.Generator, spread: float, number: int) -> np.ndarray:
    sigma = np.sqrt(np.log1p(spread**2))
    return np.exp(sigma * rng.standard_normal(number) - sigma**2 / 2)


def rows(folder: Path, epsilons: list[float], draws: int) -> Iterator[Row]:
    """Yield a row for each profile with enough launches, grouping and epsilon."""
    for name, paths in profiles_in(folder):
        try:
            profile = read_profile(paths)
        except SamplingError:
            continue
        for by in (GroupBy.LAUNCH, GroupBy.NAME):
            counts = count_durations(profile, Grouping(by))
            if counts.launches < FEWEST_LAUNCHES or not counts.total_duration_ns:
                continue
            for epsilon in epsilons:
                started = time.process_time()
                plan = make_design(counts, "joint", Target(epsilon), 0)
                seconds = time.process_time() - started
                root = make_design(counts, "root", Target(epsilon), 0)
                share = judged(counts, plan, draws) if draws else float("nan")
                yield Row(name, by, plan, root, share, seconds)


def main() -> None:
    """Print the table, or a part of it, and what it comes to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epsilons", default="0.01,0.02,0.05,0.1,0.2")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--rows", action="store_true", help="print every plan, not only those at 5 %%")
    asked = parser.parse_args()
    epsilons = sorted(map(float, asked.epsilons.split(",")))
    print(f"| {' | '.join(_HEADINGS)} | interval | judged | seconds |")
    print("|---" * (len(_HEADINGS) + 3) + "|")
    found = []
    for row in rows(asked.folder, epsilons, asked.draws):
        found.append(row)
        if asked.rows or row.epsilon == 0.05:
            print(row.text(), flush=True)
    dearer, pairs = [], 0
    for first, row in enumerate(found):
        for other in found[first + 1 :]:
            if (other.name, other.by) == (row.name, row.by) and other.epsilon > row.epsilon:
                pairs += 1
                ratio = other.plan.sampled_duration_ns / row.plan.sampled_duration_ns
                if ratio > 1.01:
                    dearer.append((ratio, f"{row.name} by {row.by}, {row.epsilon:g} to {other.epsilon:g}"))
    keeps = [row for row in found if row.root_keeps]
    beaten = sorted((row for row in keeps if row.over_root > 1.01), key=lambda row: -row.over_root)
    mean = np.exp(np.mean(np.log([row.over_root for row in keeps]))) if keeps else float("nan")
    print(
        f"a looser epsilon is dearer by more than 1 %: {len(dearer)} of {pairs} pairs", *sorted(dearer)[-3:]
    )
    print(
        f"ROOT keeps as much in {len(keeps)} of {len(found)} cases; {mean:.3f} of its time there (geometric)"
    )
    print(f"  and is cheaper by more than 1 % in {len(beaten)}", *(row.text() for row in beaten[:3]))
    print(f"least judged share {min(row.judged for row in found):.4f}, of {asked.draws} draws")
    print(f"seconds of the processor: {sum(row.seconds for row in found):.1f} for {len(found)} plans")


if __name__ == "__main__":
    main()
