"""How often the intervals of `difference` hold between two parts of one run, where every ratio is 1.

    python benchmarks/halves.py FILE_OR_FOLDER... [--blocks 3 4 5 6 8]

For each recording whether its iterations are halved, six at least, or the launches of each kernel; then the
kernels that have an interval, in how many of them it holds, the median half-width, and the interval of the
total. Below, by parts of runs and numbers of blocks: all kernels' launches together, of recordings with
iterations and without.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.difference import basis, intervals, recordings
from sampling.difference.intervals import Means, are_dependent, by_blocks, means_of, welch
from sampling.difference.recordings import ProfilePart, ReadRecording
from sampling.errors import SamplingError
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction.grouping import Grouping

CONFIDENCE = 0.95
# In sixtieths of the launches, where two parts of a run begin and stop.
PARTS = {
    "halves": (0, 30, 30, 60),
    "first third, last": (0, 20, 40, 60),
    "second quarter, third": (15, 30, 30, 45),
    "first fifth, rest": (0, 12, 12, 60),
}
FEWEST_ITERATIONS = 6
Sides = list[tuple[IntArray, IntArray]]
#: Of kernels that have an interval: whether it holds, and its half-width; and the interval of the total.
Held = list[tuple[bool, float]]


def groups_of(profile: Profile) -> list[IntArray]:
    """Return the durations of each kernel group in the order of its launches."""
    launches = profile.load(("signature", "duration_ns"))
    sequence = np.concatenate([np.full(part.launches, part.sequence) for part in profile.parts])
    group = sequence * len(profile.kernels) + launches["signature"]
    order = np.argsort(group, kind="stable")
    edges = np.flatnonzero(np.diff(group[order])) + 1
    return np.split(launches["duration_ns"][order].astype(np.int64), edges)


def parted(groups: Iterable[IntArray], parts: tuple[int, int, int, int]) -> Sides:
    """Return two parts of each group that has launches enough in both."""
    edges = [(group, [len(group) * part // 60 for part in parts]) for group in groups]
    least = basis.LEAST_LAUNCHES
    return [(group[a:b], group[c:d]) for group, (a, b, c, d) in edges if b - a >= least and d - c >= least]


def in_blocks(kernels: Iterable[IntArray]) -> Means:
    """Return the means of kernels, each the durations of its launches, as `difference` sees them."""
    blocks = [np.array_split(kernel, intervals.BLOCKS) for kernel in kernels]
    sums = np.array([[block.sum() for block in kernel] for kernel in blocks])
    return means_of(sums, np.array([[len(block) for block in kernel] for kernel in blocks]))


def held(before: Means, after: Means, interval: basis.Interval) -> Held:
    """Return whether the intervals hold, of those kernels that have one."""
    ratio, low, high = interval(before, after, CONFIDENCE)
    told = np.isfinite(low)
    holds, reach = (low <= 1) & (high >= 1), np.log(high / np.where(ratio > 0, ratio, 1))
    return list(zip(holds[told].tolist(), reach[told].tolist(), strict=True))


def by_launches(sides: Sides) -> Held:
    """Return whether intervals by blocks of launches hold."""
    return held(*map(in_blocks, zip(*sides, strict=True)), by_blocks) if sides else []


def by_iterations(recording: ReadRecording) -> tuple[Held, Held] | None:
    """Return whether intervals hold between halves of the iterations: of kernels, and of the total."""
    if (
        recording.facts is None
        or recording.iterations is None
        or recording.facts.iterations < FEWEST_ITERATIONS
    ):
        return None
    half = recording.facts.iterations // 2

    def halves(sums: FloatArray | IntArray) -> list[Means]:
        return [means_of(part, np.ones(part.shape[1])) for part in (sums[:, :half], sums[:, half:])]

    total = halves(recording.iterations.kernel_ns[np.newaxis])
    are_steps = recording.facts.source == "named" and not any(map(are_dependent, total))
    interval = welch if are_steps else by_blocks
    return held(*halves(recording.iteration_ns), interval), held(*total, interval)


def cells(found: Held) -> str:
    """Return how many kernels have an interval, how often it holds, and the median half-width."""
    holds, reach = np.array(found).reshape(-1, 2).T
    return f"{len(holds)} | {holds.mean():.3f} | {np.median(reach):.4f}" if len(holds) else "0 | - | -"


def read(paths: Iterable[Path]) -> Iterator[tuple[str, Profile]]:
    """Yield the profiles of files and folders with their names."""
    for path in paths:
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            try:
                yield file.name, read_profile([str(file)])
            except SamplingError as error:
                print(f"{file.name}: {error}", file=sys.stderr)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--blocks", type=int, nargs="*", default=[intervals.BLOCKS])
    options = parser.parse_args()
    # So that a half has whole iterations.
    recordings.MOST_STRETCHES = sys.maxsize
    groups: list[list[IntArray]] = []
    for name, profile in read(options.paths):
        groups.append(groups_of(profile))
        if (halves := by_iterations(ProfilePart(profile).recording(Grouping()))) is not None:
            print(f"| {name} | iterations | {cells(halves[0])} | {cells(halves[1])} |")
        elif sides := parted(groups[-1], PARTS["halves"]):
            print(f"| {name} | launches | {cells(by_launches(sides))} | |")
    for what, parts in PARTS.items():
        sides = [parted(of_recording, parts) for of_recording in groups]
        for intervals.BLOCKS in options.blocks:
            found = [kernel for of_recording in sides for kernel in by_launches(of_recording)]
            print(f"| {what} | {intervals.BLOCKS} blocks | {cells(found)} |")


if __name__ == "__main__":
    main()
