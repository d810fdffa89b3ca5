"""The default plan on every profile of a folder: beside the default without pools, and beside ROOT.

    python benchmarks/default_plan.py FOLDER [--epsilon 0.05] [--by launch] [--draws 2000]

Judged: the share of so many draws whose estimated SIMULATED total is within epsilon, where simulated time is
made up as it is declared: each kernel group has cycles per nanosecond with a coefficient of variation of
0.3, and each launch departs from that by 0.05, both lognormal and new in every draw.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from root import FEWEST_LAUNCHES, profiles_in

from sampling.errors import SamplingError
from sampling.plan.design import Design, make_design
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.strata.drawing import draw, weights
from sampling.strata.target import Target

_HEADINGS = (
    "profile",
    "launches",
    "before",
    "root",
    "root's promise",
    "default",
    "drawn: before, root, default",
    "pooled",
    "freedom",
    "promise",
    "judged",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One profile's plans: of the default before and now, and of ROOT."""

    name: str
    launches: int
    before: Design
    root: Design
    now: Design
    judged: float

    def cells(self) -> Iterator[str]:
        """Yield the cells of a table."""
        before, root, now = self.before, self.root, self.now
        groups = now.groups
        assert groups is not None
        yield self.name
        yield f"{self.launches:,}"
        yield f"{before.speedup:.2f}"
        yield f"{root.speedup:.2f}"
        yield f"{root.bound_with_noise:.4f}, {_freedom(root)}"
        yield f"{now.speedup:.2f}"
        yield f"{before.samples}, {root.samples}, {now.samples}"
        yield f"{int(groups.pooled_kernels.sum())} of {len(groups.group_of)}"
        yield _freedom(now)
        yield f"{now.bound_with_noise:.4f}"
        yield f"{self.judged:.4f}"


def _freedom(design: Design) -> str:
    return "-" if design.expected_freedom is None else f"{design.expected_freedom:.1f}"


def judged(counts: DurationCounts, design: Design, draws: int, seed: int = 1) -> float:
    """Return the share of draws whose estimated simulated total is within the design's epsilon."""
    rng = np.random.default_rng(seed)
    groups, target = design.groups, design.target
    assert groups is not None
    kernel = np.repeat(np.arange(len(counts.groups)), np.diff(counts.offsets))
    kernel, duration_ns = np.repeat(kernel, counts.count), np.repeat(counts.duration_ns, counts.count)
    order = np.lexsort((duration_ns, groups.group_of[kernel]))
    kernel, duration_ns = kernel[order], duration_ns[order].astype(np.float64)
    squares = np.bincount(kernel, duration_ns**2, minlength=len(counts.groups))
    within = 0
    for _ in range(draws):
        cycles = _lognormal(rng, target.kernel_spread, len(counts.groups))
        drawn = draw(groups.counts, design.strata, rng)
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


def rows(folder: Path, by: GroupBy, epsilon: float, draws: int) -> Iterator[Row]:
    """Yield a row for each profile with enough launches."""
    target = Target(epsilon=epsilon)
    for name, paths in profiles_in(folder):
        try:
            counts = count_durations(read_profile(paths), Grouping(by))
        except SamplingError:
            continue
        if counts.launches < FEWEST_LAUNCHES or not counts.total_duration_ns:
            continue
        before = make_design(counts, "joint", replace(target, pool_below=0.0, min_samples=2), 0)
        now = make_design(counts, "joint", target, 0)
        root = make_design(counts, "root", target, 0)
        yield Row(name, counts.launches, before, root, now, judged(counts, now, draws))


def main() -> None:
    """Print a table, and what it comes to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epsilon", type=float, default=0.05)
    parser.add_argument("--by", default="launch")
    parser.add_argument("--draws", type=int, default=2000)
    asked = parser.parse_args()
    print(f"| {' | '.join(_HEADINGS)} |")
    print("|---" * len(_HEADINGS) + "|")
    found = []
    for row in rows(asked.folder, GroupBy(asked.by), asked.epsilon, asked.draws):
        print(f"| {' | '.join(row.cells())} |", flush=True)
        found.append(row)
    for label, other in (("before", [row.before for row in found]), ("root", [row.root for row in found])):
        faster, drawn = (
            float(np.exp(np.mean(np.log([a / b for a, b in pairs]))))
            for pairs in (
                [(row.now.speedup or 1, each.speedup or 1) for row, each in zip(found, other, strict=True)],
                [(each.samples, row.now.samples) for row, each in zip(found, other, strict=True)],
            )
        )
        launches = sum(each.samples for each in other) / sum(row.now.samples for row in found)
        print(
            f"against {label}: {faster:.2f} times less time and {drawn:.2f} times fewer launches in the "
            f"geometric mean, {launches:.2f} times fewer launches in all"
        )


if __name__ == "__main__":
    main()
