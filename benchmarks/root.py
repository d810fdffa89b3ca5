"""ROOT and joint on every profile of a folder, beside the rule of the script published with ROOT.

    python benchmarks/root.py FOLDER [--epsilon 0.05]

The rule is written here from its description (docs/methods.md, 4 ROOT), with nothing of the engine: tau_old
is what the decision above allocated, sizes of 0 count nothing, a cluster is kept only if tau_new > tau_old,
and the sizes of the decisions, at least 1, are drawn with replacement; every draw counts. Its k-means is
exact here and unseeded there, so the script's own figures scatter about these. Joint is asked for what ROOT
promises: one sample a stratum, no noise floor, every group within epsilon.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import SamplingError
from sampling.plan.design import Design, make_design
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping
from sampling.strata.target import Target

FEWEST_LAUNCHES = 100
_HEADINGS = ("profile", "group by", "launches", "script", "root", "joint", "joint/root")


def published_rule(durations_ns: FloatArray, launches: IntArray, epsilon: float) -> list[tuple[int, float]]:
    """Return (samples, mean) of the final clusters of one kernel group, given as sorted pairs."""
    z = NormalDist().inv_cdf(0.975)

    def measured(low: int, high: int) -> tuple[int, float, float]:
        size, of_pair = int(launches[low:high].sum()), launches[low:high]
        mean = float((of_pair * durations_ns[low:high]).sum()) / size
        return size, mean, math.sqrt(float((of_pair * (durations_ns[low:high] - mean) ** 2).sum()) / size)

    def cut(low: int, high: int) -> int:
        size, time = np.cumsum(launches[low:high]), np.cumsum((launches * durations_ns)[low:high])
        left, right = size[:-1], size[-1] - size[:-1]
        apart = (time[:-1] / left - (time[-1] - time[:-1]) / right) ** 2
        between = left * right * apart
        return low + 1 + int(np.argmax(between >= between.max() * (1 - 1e-12)))

    size, mean, std = measured(0, len(launches))
    clusters = [(0, len(launches), math.ceil((z * std / (epsilon * mean)) ** 2) if std else 0)]
    final = []
    while clusters:
        low, high, samples = clusters.pop()
        size, mean, std = measured(low, high)
        if std:
            middle = cut(low, high)
            parts = [measured(low, middle), measured(middle, high)]
            budget = (epsilon * size * mean / z) ** 2
            roots = sum(n * s * math.sqrt(mu) for n, mu, s in parts)
            sizes = [math.ceil(roots / budget * n * s / math.sqrt(mu)) if s else 0 for n, mu, s in parts]
            tau_new = sum(m * mu for m, (_, mu, _) in zip(sizes, parts, strict=True))
            if tau_new <= samples * mean * (1 + 1e-12):
                clusters += [(low, middle, sizes[0]), (middle, high, sizes[1])]
                continue
        final.append((max(samples, 1), mean))
    return final


def script_cost(counts: DurationCounts, epsilon: float) -> tuple[float, int]:
    """Return speedup and samples of the published rule."""
    time_ns, samples = 0.0, 0
    for group in range(len(counts.groups)):
        durations_ns, launches = counts.group_pairs(group)
        for size, mean in published_rule(durations_ns.astype(np.float64), launches, epsilon):
            time_ns, samples = time_ns + size * mean, samples + size
    return counts.total_duration_ns / time_ns, samples


def profiles_in(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield name and paths of what looks like a profile; a folder of tables is one."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not any(path.glob("*.parquet")) and not any(path.glob("*.arrow")):
            yield from profiles_in(path)
        elif not path.name.startswith("."):
            # Several folders may have a run.log.
            yield f"{path.parent.name}/{path.name}", [str(path)]


def planned(counts: DurationCounts, method: str, epsilon: float) -> Design:
    """Return a method's plan for the promise that ROOT makes."""
    target = Target(
        epsilon,
        group_epsilon=epsilon,
        min_samples=1,
        noise_floor=0.0,
        kernel_spread=0.0,
        pool=False,
    )
    return make_design(counts, method, target, 0)


def main() -> None:
    """Print one row a profile and grouping: speedup and samples of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epsilon", type=float, default=0.05)
    asked = parser.parse_args()
    print("| " + " | ".join(_HEADINGS) + " |")
    print("|" + "---|" * len(_HEADINGS))
    for name, paths in profiles_in(asked.folder):
        try:
            profile = read_profile(paths)
        except SamplingError:
            continue
        for by in (GroupBy.NAME, GroupBy.LAUNCH):
            counts = count_durations(profile, Grouping(by))
            if counts.group_launches.sum() < FEWEST_LAUNCHES:
                continue
            script, script_samples = script_cost(counts, asked.epsilon)
            root, joint = (planned(counts, method, asked.epsilon) for method in ("root", "joint"))
            ratio = joint.strata.sampled_duration_ns / root.strata.sampled_duration_ns
            print(
                f"| {name} | {by} | {counts.group_launches.sum():,} | {script:.4g}x, {script_samples:,} "
                f"| {root.speedup:.4g}x, {root.samples:,} | {joint.speedup:.4g}x, {joint.samples:,} "
                f"| {ratio:.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
