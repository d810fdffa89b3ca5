"""How often the intervals of `difference` hold between two parts of one run, where every ratio is 1.

    python benchmarks/halves.py FILE_OR_FOLDER... [--blocks 3 4 5 6 8]

For each recording the kernel groups that have an interval, in how many of them it holds between the halves of
their launches, and the median half-width: by the formula that takes launches as independent, and by blocks;
then the interval of the total. Below, all recordings together by parts of runs and numbers of blocks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from sampling import mean_ratios as module
from sampling.arrays import IntArray
from sampling.errors import SamplingError
from sampling.mean_ratios import Durations, mean_ratios, total_interval
from sampling.readers.registry import read_profile

CONFIDENCE = 0.95
# In sixtieths of the launches, where two parts of a run begin and stop.
PARTS = {
    "halves": (0, 30, 30, 60),
    "first third, last": (0, 20, 40, 60),
    "second quarter, third": (15, 30, 30, 45),
    "first fifth, rest": (0, 12, 12, 60),
}
Sides = list[tuple[IntArray, IntArray]]
#: Of kernels that have an interval: whether it holds, and its half-width.
Held = list[tuple[bool, float]]


def groups_of(path: str) -> list[IntArray]:
    """Return the durations of each kernel group in the order of its launches."""
    profile = read_profile([path])
    launches = profile.load(("signature", "duration_ns"))
    sequence = np.concatenate([np.full(part.launches, part.sequence) for part in profile.parts])
    group = sequence * len(profile.kernels) + launches["signature"]
    order = np.argsort(group, kind="stable")
    edges = np.flatnonzero(np.diff(group[order])) + 1
    return np.split(launches["duration_ns"][order].astype(np.int64), edges)


def parted(groups: Iterable[IntArray], parts: tuple[int, int, int, int]) -> Sides:
    """Return two parts of each group that has launches in both."""
    edges = [(group, [len(group) * part // 60 for part in parts]) for group in groups]
    return [(group[a:b], group[c:d]) for group, (a, b, c, d) in edges if a < b and c < d]


def in_blocks(kernels: Iterable[IntArray]) -> Durations:
    """Return kernels, each the durations of its launches, as `difference` sees them."""
    each = [np.zeros(module.BLOCKS, dtype=np.int64) for _ in kernels]
    for block_ns, kernel in zip(each, kernels, strict=True):
        np.add.at(block_ns, np.arange(len(kernel)) * module.BLOCKS // len(kernel), kernel)
    return Durations(np.array([len(kernel) for kernel in kernels]), np.array(each))


def by_blocks(sides: Sides) -> Held:
    """Return whether the intervals of `difference` hold."""
    found = mean_ratios(*map(in_blocks, zip(*sides, strict=True)), CONFIDENCE)
    known = ~np.isnan(found.low)
    reach = np.log(found.high[known] / found.ratio[known])
    return list(zip((np.abs(np.log(found.ratio[known])) <= reach).tolist(), reach.tolist(), strict=True))


def as_independent(sides: Sides) -> Held:
    """Return whether intervals by Welch's formula hold, the larger relative variance for both sides."""
    found = []
    for x, y in sides:
        n, m = len(x), len(y)
        if min(n, m) >= module.LEAST_LAUNCHES and x.any() and y.any() and (x.std() or y.std()):
            larger = max(x.var(ddof=1) / x.mean() ** 2, y.var(ddof=1) / y.mean() ** 2)
            freedom = (1 / n + 1 / m) ** 2 / (1 / (n**2 * (n - 1)) + 1 / (m**2 * (m - 1)))
            reach = stdtrit(freedom, 0.5 + CONFIDENCE / 2) * np.sqrt(larger * (1 / n + 1 / m))
            found.append((bool(abs(np.log(y.mean() / x.mean())) <= reach), float(reach)))
    return found


def cells(found: Held) -> str:
    """Return how many kernels have an interval, how often it holds, and the median half-width."""
    held, reach = np.array(found).reshape(-1, 2).T
    return f"{len(held)} | {held.mean():.3f} | {np.median(reach):.4f}" if len(held) else "0 | - | -"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--blocks", type=int, nargs="*", default=[module.BLOCKS])
    asked = parser.parse_args()
    recorded: list[list[IntArray]] = []
    for file in [
        each for path in asked.paths for each in (sorted(path.iterdir()) if path.is_dir() else [path])
    ]:
        try:
            recorded.append(groups_of(str(file)))
        except SamplingError as error:
            print(f"{file.name}: {error}", file=sys.stderr)
            continue
        if sides := parted(recorded[-1], PARTS["halves"]):
            ends = total_interval(*map(in_blocks, zip(*sides, strict=True)), CONFIDENCE) or (np.nan, np.nan)
            # What the total would be if no mean had changed: of an odd number, one half has a launch more.
            same = sum(len(y) * x.mean() for x, y in sides) / sum(x.sum() for x, _ in sides)
            total = f"{ends[0] / same:.3f}-{ends[1] / same:.3f}"
            print(f"| {file.name} | {cells(as_independent(sides))} | {cells(by_blocks(sides))} | {total} |")
    for what, parts in PARTS.items():
        together = [pair for groups in recorded for pair in parted(groups, parts)]
        print(f"| {what} | independent | {cells(as_independent(together))} |")
        for module.BLOCKS in asked.blocks:
            print(f"| {what} | {module.BLOCKS} blocks | {cells(by_blocks(together))} |")


if __name__ == "__main__":
    main()
