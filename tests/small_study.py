"""A study of two small programs on three configurations, with a shell script for the simulator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from sampling.study.study_file import Study, read_study

LAUNCHES, KERNELS = 90, ("copy", "gemm", "reduce")
CONFIGURATIONS = ("base", "gto", "dram")
TARGET = 0.025
#: By how much a configuration is faster than the base, and how much that varies by launch.
GAINS = {"base": (1.0, 0.0), "gto": (1.04, 0.004), "dram": (0.97, 0.04)}
_SCRIPT = """\
#!/bin/sh
cell=${PWD%/launches/*}; program=${cell%/*}; program=${program##*/}
echo "$program $1 $2" >> FOLDER/calls
THEN
echo of launch "$2"
sed -n "$(($2 + 1))p" "FOLDER/$program-$1.cycles"
"""


@dataclass(frozen=True)
class Bench:
    """A folder with a study of two programs on three configurations, and what they take."""

    folder: Path
    cycles: dict[tuple[str, str], Any] = field(default_factory=dict)

    def study(self, then: str = "", path: str = "study.toml", **settings: Any) -> Study:
        """Return the study; ``then``: what the script does before it prints its cycles."""
        script = self.folder / "simulate"
        script.write_text(_SCRIPT.replace("FOLDER", str(self.folder)).replace("THEN", then))
        script.chmod(0o755)
        study = read_study(str(self.folder / path))
        return replace(study, settings=structs.replace(study.settings, **settings))

    def calls(self) -> list[tuple[str, str, int]]:
        """Return the program, configuration and launch of each call of the simulator, in their order."""
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(*line.split()[:2], int(line.split()[2])) for line in lines]  # type: ignore[misc]

    def ratio(self, program: str, configuration: str) -> float:
        """Return the speedup of the whole run."""
        return float(self.cycles[program, "base"].sum() / self.cycles[program, configuration].sum())


def make_bench(path: Path) -> Bench:
    """Write the study into a folder."""
    bench, lines = Bench(path), [f"[study]\ntarget = {TARGET}"]
    for number, program in enumerate(("bfs", "heat")):
        random = np.random.default_rng(number)
        duration_ns = random.integers(900, 1100, LAUNCHES) * (1 + np.arange(LAUNCHES) % 3 * 4)
        rows = (f"{KERNELS[place % 3]},{value}\n" for place, value in enumerate(duration_ns))
        (path / f"{program}.csv").write_text("name,duration_ns\n" + "".join(rows))
        base = duration_ns * random.uniform(2.8, 3.2, LAUNCHES)
        for configuration, (gain, spread) in GAINS.items():
            cycles = np.round(base / gain * random.lognormal(0, spread, LAUNCHES))
            bench.cycles[program, configuration] = cycles
            (path / f"{program}-{configuration}.cycles").write_text("".join(f"{one:.0f}\n" for one in cycles))
        lines.append(f'[programs.{program}]\nprofile = "{program}.csv"')
    for configuration in CONFIGURATIONS:
        command = f'simulator = "./simulate {configuration} {{id}}"'
        lines.append(f'[configurations.{configuration}]\n{command}\nto = "csv"')
    (path / "study.toml").write_text("\n".join([*lines, ""]))
    return bench
