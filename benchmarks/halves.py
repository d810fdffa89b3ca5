"""How often the intervals of `difference` hold between two parts of one run, where every ratio is 1.

    python benchmarks/halves.py FILE_OR_FOLDER... [--blocks 3 4 5 6 8 10]

For every recording: the kernel groups that have an interval, in how many of them it holds between the halves
of their launches, by the formula that takes launches as independent (Welch) and by batch means, whether that
of the total holds, and the median half-widths. Then both formulas over all recordings, for other parts of
runs too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from sampling import mean_ratios as module
from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import SamplingError
from sampling.mean_ratios import Durations, mean_ratios, total_interval
from sampling.readers.registry import read_profile

CONFIDENCE = 0.95
#: Of n launches, where the two parts begin and stop.
Parts = Callable[[int], tuple[int, int, int, int]]
PARTS: dict[str, Parts] = {
    "halves": lambda n: (0, n // 2, n // 2, 2 * (n // 2)),
    "first third, last": lambda n: (0, n // 3, n - n // 3, n),
    "second quarter, third": lambda n: (n // 4, n // 2, n // 2, n // 2 + n // 2 - n // 4),
    "first fifth, rest": lambda n: (0, n // 5, n // 5, n),
}


class Held(NamedTuple):
    """Of kernels with an interval: whether it holds, and its half-width; both (k,)."""

    held: BoolArray
    reach: FloatArray


def groups_of(path: str) -> list[IntArray]:
    """Return the durations of each kernel group in the order of its launches."""
    profile = read_profile([path])
    launches = profile.load(("signature", "duration_ns"))
    sequence = np.concatenate([np.full(part.launches, part.sequence) for part in profile.parts])
    group = sequence * len(profile.kernels) + launches["signature"]
    order = np.argsort(group, kind="stable")
    return np.split(
        launches["duration_ns"][order].astype(np.int64), np.flatnonzero(np.diff(group[order])) + 1
    )


def in_blocks(kernels: list[IntArray]) -> Durations:
    """Return kernels, each the durations of its launches, as `difference` sees them."""
    block_ns = np.zeros((len(kernels), module.BLOCKS), dtype=np.int64)
    for row, durations_ns in enumerate(kernels):
        np.add.at(
            block_ns[row], np.arange(len(durations_ns)) * module.BLOCKS // len(durations_ns), durations_ns
        )
    return Durations(np.array([len(kernel) for kernel in kernels]), block_ns)


def by_blocks(sides: list[list[IntArray]]) -> Held:
    """Whether the intervals of `difference` hold 1."""
    found = mean_ratios(*map(in_blocks, sides), CONFIDENCE)
    known = ~np.isnan(found.low)
    return Held(((found.low <= 1) & (found.high >= 1))[known], (np.log(found.high / found.ratio))[known])


def as_independent(sides: list[list[IntArray]]) -> Held:
    """Whether intervals by Welch's formula hold 1, the larger relative sample variance for both sides."""
    held, reaches = [], []
    for x, y in zip(*sides, strict=True):
        n, m = len(x), len(y)
        if min(n, m) < module.LEAST_LAUNCHES or not x.any() or not y.any():
            continue
        larger = max(x.var(ddof=1) / x.mean() ** 2, y.var(ddof=1) / y.mean() ** 2)
        variance = larger / n + larger / m
        if not variance:
            continue
        freedom = variance**2 / ((larger / n) ** 2 / (n - 1) + (larger / m) ** 2 / (m - 1))
        reaches.append(stdtrit(freedom, 0.5 + CONFIDENCE / 2) * np.sqrt(variance))
        held.append(abs(np.log(y.mean() / x.mean())) <= reaches[-1])
    return Held(np.array(held, dtype=np.bool_), np.array(reaches))


def parted(groups: list[IntArray], parts: Parts) -> list[list[IntArray]]:
    """Return two parts of each group that has launches in both."""
    sides: list[list[IntArray]] = [[], []]
    for group in groups:
        begin, stop, again, end = parts(len(group))
        if begin < stop and again < end:
            sides[0].append(group[begin:stop])
            sides[1].append(group[again:end])
    return sides


def of_total(sides: list[list[IntArray]]) -> str:
    """Return whether the interval of the total holds the ratio it has if no kernel's mean changed."""
    ends = total_interval(*map(in_blocks, sides), CONFIDENCE)
    if ends is None:
        return "none"
    expected = sum(len(y) * x.mean() for x, y in zip(*sides, strict=True)) / sum(x.sum() for x in sides[0])
    low, high = (end / expected for end in ends)
    return f"{'held' if low <= 1 <= high else 'NOT'} {low:.3f}-{high:.3f}"


def share(of: list[Held]) -> str:
    """Return how often intervals hold."""
    held = np.concatenate([each.held for each in of])
    return f"{held.mean():.3f}" if len(held) else "none"


def width(of: list[Held]) -> str:
    """Return the median half-width."""
    reach = np.concatenate([each.reach for each in of])
    return f"{np.median(reach):.4f}" if len(reach) else "none"


def main() -> None:
    """Print a row a recording, then the coverage of all by numbers of blocks and parts of runs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--blocks", type=int, nargs="*", default=[module.BLOCKS])
    asked = parser.parse_args()
    files = [file for path in asked.paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    recorded: dict[str, list[IntArray]] = {}
    for file in files:
        try:
            recorded[file.name] = groups_of(str(file))
        except SamplingError as error:
            print(f"{file.name}: {error}", file=sys.stderr)
    print("| recording | kernels | independent | batch means | half-widths | total |\n" + "|---" * 6 + "|")
    for name, groups in recorded.items():
        sides = parted(groups, PARTS["halves"])
        if not sides[0]:
            continue
        alone, blocks = [as_independent(sides)], [by_blocks(sides)]
        widths, number = f"{width(alone)}, {width(blocks)}", len(blocks[0].held)
        print(f"| {name} | {number} | {share(alone)} | {share(blocks)} | {widths} | {of_total(sides)} |")
    print("\n| parts | blocks | kernels | coverage | half-width |\n" + "|---" * 5 + "|")
    for what, parts in PARTS.items():
        sides_of = [parted(groups, parts) for groups in recorded.values()]
        alone = [as_independent(sides) for sides in sides_of if sides[0]]
        print(
            f"| {what} | independent | {sum(len(e.held) for e in alone)} | {share(alone)} | {width(alone)} |"
        )
        for module.BLOCKS in asked.blocks:
            blocks = [by_blocks(sides) for sides in sides_of if sides[0]]
            number = sum(len(each.held) for each in blocks)
            print(f"| {what} | {module.BLOCKS} | {number} | {share(blocks)} | {width(blocks)} |")


if __name__ == "__main__":
    main()
