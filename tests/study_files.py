"""Studies of a few programs on a few configurations, whose true speedups are known."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import numpy as np

import sampling

CONFIGURATIONS = ("base", "gto", "lat")
PROGRAMS = ("one", "two", "three")
#: True speedups, program by program.
GAINS = {"gto": (1.03, 1.05, 1.02), "lat": (0.9, 0.95, 0.97)}


def write_plans(folder: Path) -> Path:
    """Write profiles and plans of programs of different sizes, with two launches a stratum."""
    for number, name in enumerate(PROGRAMS):
        random = np.random.default_rng(number)
        durations = (random.lognormal(0.2 * number, 0.3, 400) * 10_000).astype(int)
        rows = [f"kernel_{launch % 4},{duration}" for launch, duration in enumerate(durations.tolist())]
        (folder / f"{name}.csv").write_text("\n".join(["name,duration_ns", *rows, ""]))
        profile = sampling.read_profile(folder / f"{name}.csv", columns="name=name,duration_ns=duration_ns")
        request = sampling.PlanRequest(min_samples=2, group_by="name")
        sampling.write_plan(sampling.make_plan(profile, request), folder / f"{name}.json")
    return folder


def write_study(
    plans: Path,
    folder: Path,
    left_out: Collection[tuple[str, str]] = (),
    head: str = "",
    caches: str = "warm",
    spread: float = 0.004,
) -> Path:
    """Write a study of all programs, and results of the cells that are not left out.

    ``caches``: how the first program's launches found theirs; ``spread``: of a launch's ratios.
    """
    lines = [head, *(f"[configurations.{name}]" for name in CONFIGURATIONS)]
    for number, name in enumerate(PROGRAMS):
        plan = json.loads((plans / f"{name}.json").read_text())
        launches = [launch for stratum in plan["strata"] for launch in stratum["launches"]]
        lines += [
            f"[programs.{name}]",
            f"plan = '{plans / name}.json'",
            "results = 'out/{configuration}/{program}.csv'",
        ]
        for configuration in CONFIGURATIONS:
            if (name, configuration) in left_out:
                continue
            gain = GAINS[configuration][number] if configuration in GAINS else 1.0
            random = np.random.default_rng((number, len(configuration)))
            rows = ["id,cycles,caches"]
            for launch in launches:
                cycles = 3 * launch["duration_ns"] / gain * random.lognormal(0, spread)
                rows.append(f"{launch['id']},{cycles!r},{caches if name == 'one' else 'warm'}")
            path = folder / "out" / configuration / f"{name}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join([*rows, ""]))
    path = folder / "study.toml"
    path.write_text("\n".join([*lines, ""]))
    return path
