"""Small plans written by hand, and scripts run by the shell, for all tests of exports."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sampling.plan.plan_file import PlanFile, PlannedLaunch, PlannedStratum
from sampling.simulators.export import ExportChoices
from sampling.simulators.registry import export_plan
from sampling.simulators.simulator import Exported
from tests.small_plans import options_of, plan_of_strata, stratum


def launch(ordinal: int, occurrence: int, name: str, **other: Any) -> PlannedLaunch:
    """A launch of process 0 on device 0, whose id is its ordinal, unless it is said otherwise."""
    given: dict[str, Any] = {
        "id": ordinal,
        "process": 0,
        "device": 0,
        "grid": (8, 1, 1),
        "block": (128, 1, 1),
        "weight": 1.0,
        "duration_ns": 100,
    } | other
    return PlannedLaunch(ordinal=ordinal, occurrence=occurrence, name=name, **given)


def plan_of(*strata: PlannedStratum, method: str = "pks", **options: Any) -> PlanFile:
    """A plan of these strata; launches picked by `pks` keep the order in which they are listed."""
    return plan_of_strata(strata, options_of(method, **options))


@pytest.fixture(scope="session")
def ten() -> PlanFile:
    """Ten launches ``a b a a b c a b a a``, of which ids 2, 8, 9 of a, 4 of b and 5 of c are drawn."""
    a = [
        launch(ordinal, occurrence, "a(int)", weight=2.0) for ordinal, occurrence in ((2, 1), (8, 4), (9, 5))
    ]
    return plan_of(
        stratum("a", 6, 100, 10, a),
        stratum("b", 3, 1000, 1, [launch(4, 1, "b", weight=3.0, duration_ns=1000, grid=(4, 1, 1))]),
        stratum("c", 1, 5000, 0, [launch(5, 0, "c", duration_ns=5000, grid=None, block=None)]),
    )


Write = Callable[..., dict[str, str]]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Export a plan into a folder ``out``; return the content of each file by its name."""

    def write(plan: PlanFile, target: str, **choices: Any) -> dict[str, str]:
        files: Exported = export_plan(plan, target, ExportChoices(**choices))
        for name, content in files:
            path = tmp_path / "out" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as stream:
                if isinstance(content, str):
                    stream.write(content.encode())
                else:
                    content(stream)
        assert len(dict(files)) == len(files)
        return {name: content for name, content in files if isinstance(content, str)}

    return write


def shell(
    script: Path, *words: object, at: Path | None = None, **environ: object
) -> subprocess.CompletedProcess[str]:
    """Run a script by the shell, with these variables more, in a folder."""
    return subprocess.run(
        ["sh", str(script), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"]} | {name: str(value) for name, value in environ.items()},
        timeout=60,
        cwd=at,
    )


def program(path: Path, body: str) -> Path:
    """Write a program for a script to run."""
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def printed(
    *launches: tuple[int, tuple[str, tuple[int, int, int]], int], threads: str = "32,8,1", end: bool = True
) -> str:
    """Output of Accel-Sim: of each launch its trace's number, name and grid, and cycles."""
    text, total = "Accel-Sim [build x]\n", 0
    for uid, (number, (name, grid), cycles) in enumerate(launches, start=1):
        total += cycles
        text += (
            f"Processing kernel traces/kernel-{number}.traceg\n-kernel name = {name}\n-kernel id = {number}\n"
            f"-grid dim = ({grid[0]},1,1)\n-block dim = ({threads})\n"
            f"launching kernel name: {name} uid: {uid} cuda_stream_id: 0\n"
            f"kernel_name = {name} \nkernel_launch_uid = {uid} \ngpu_sim_cycle = {cycles}\n"
            f"gpu_sim_insn = {cycles}\ngpu_tot_sim_cycle = {total}\ngpgpu_simulation_rate = 9 (inst/sec)\n"
        )
    return text + "GPGPU-Sim: *** exit detected ***\n" * end
