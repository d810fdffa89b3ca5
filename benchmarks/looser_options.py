"""Does a looser option ever cost more? Every option of joint alone, from tight to loose.

    python -m benchmarks.looser_options [NAME ...]

prints each value at which a plan takes more than that of a tighter value, and the worst of each option. Made
workloads are mixtures of modes, and sixty kernels of which a few have most of the time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sampling.plan.design import make_design
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import KernelTable, ProfileFile, RecordingFacts
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.strata.target import Target

SAMPLE_DATA = Path(__file__).resolve().parents[1] / "sample_data"
LOOSER: dict[str, Sequence[Any]] = {
    "epsilon": (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.4),
    "group_epsilon": (0.05, 0.1, 0.25, 0.5, None),
    "noise_floor": (0.2, 0.1, 0.05, 0.025, 0.0),
    "kernel_spread": (0.9, 0.6, 0.3, 0.15, 0.0),
    "pool_below": (0.002, 0.01, 0.03, 0.1),
    "min_samples": (4, 3, 2, 1),
    "min_freedom": (30.0, 16.0, 8.0, 4.0, 0.0),
}
SEEDS = 8
# A difference of rounding is none.
_ROUNDING = 1e-9


def counted(groups: dict[str, list[int]]) -> DurationCounts:
    """Return the reduction of kernel groups given as name -> durations."""
    names = [name for name, durations in groups.items() for _ in durations]
    durations = [duration for group in groups.values() for duration in group]
    kernels = KernelTable()
    builder = LaunchTableBuilder("made", kernels)
    builder.append(LaunchColumns(kernels.names.intern(names), np.array(durations, dtype=np.int64)))
    file = ProfileFile("made", Path("made"), 0)
    table = builder.finish(format_name="made", file=file, facts=RecordingFacts())
    return count_durations(table, Grouping(GroupBy.NAME))


def mixture(seed: int) -> dict[str, list[int]]:
    """Return six kernels of one to three modes."""
    rng = np.random.default_rng(seed)
    made = {}
    for index in range(6):
        modes = rng.lognormal(10, 1.5, size=int(rng.integers(1, 4)))
        mode = rng.integers(0, len(modes), size=int(rng.integers(2, 400)))
        spread = rng.choice([0.01, 0.1, 0.6])
        made[f"kernel{index}"] = (
            np.rint(modes[mode] * rng.lognormal(0, spread, len(mode))).astype(int).tolist()
        )
    return made


def many_small(seed: int) -> dict[str, list[int]]:
    """Return sixty kernels, of which a few have most of the time."""
    rng = np.random.default_rng(1000 + seed)
    made = {}
    for index in range(60):
        mean_ns, launches = rng.lognormal(9, 1.8), int(rng.integers(1, 80))
        durations = np.rint(mean_ns * rng.lognormal(0, rng.choice([0.01, 0.1, 0.5]), launches)).astype(int)
        made[f"k{index}"] = np.maximum(durations, 1).tolist()
    return made


def workloads() -> Iterator[tuple[str, DurationCounts]]:
    """Yield the bundled profiles and the made ones by name."""
    for name in ("resnet50-like.sqlite", "gpt2-like.json.gz"):
        profile = read_profile([str(SAMPLE_DATA / name)])
        for by in (GroupBy.NAME, GroupBy.LAUNCH):
            yield f"{name} {by}", count_durations(profile, Grouping(by))
    for seed in range(SEEDS):
        yield f"mixture {seed}", counted(mixture(seed))
        yield f"small {seed}", counted(many_small(seed))


def main(wanted: Sequence[str]) -> None:
    """Print where a looser option costs more, of the workloads whose name has one of the texts."""
    worst = dict.fromkeys(LOOSER, 0.0)
    for name, counts in workloads():
        if wanted and not any(text in name for text in wanted):
            continue
        for option, values in LOOSER.items():
            targets = [replace(Target(), **{option: value}) for value in values]
            cost_ns = [make_design(counts, "joint", each, 0).sampled_duration_ns for each in targets]
            for index in range(1, len(values)):
                best = int(np.argmin(cost_ns[:index]))
                over = cost_ns[index] / cost_ns[best] - 1
                if over > _ROUNDING:
                    worst[option] = max(worst[option], over)
                    print(f"{name:28} {option:14} {values[best]} -> {values[index]}: +{over:.2%}", flush=True)
    for option, over in worst.items():
        print(f"{option:14} at worst +{over:.2%}")


if __name__ == "__main__":
    main(sys.argv[1:])
