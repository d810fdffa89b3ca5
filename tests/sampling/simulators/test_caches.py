"""How launches began, from the order of a run, its copies and the manifest, and what a total then says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sampling.estimation.caches import caches_of
from sampling.plan.plan_file import PlanFile
from sampling.simulators.exporting.run_order import LOADS_FROM
from sampling.simulators.measured_run import MeasuredRun, caches_of_run
from sampling.simulators.results import SimulatedLaunches, read_result_files
from tests.sampling.simulators.test_there_and_back import accel_sim


def run_of(numbers: list[int], *, filled: tuple[int, ...] = (), first: int | None = 1) -> MeasuredRun:
    return MeasuredRun("log", np.array(numbers), first, {}, filled=frozenset(filled))


@pytest.mark.parametrize(
    ("run", "states"),
    [
        (run_of([1, 2, 3]), ["whole"] * 3),
        (run_of([0, 1, 2], first=0), ["whole"] * 3),
        (run_of([3, 6, 9]), ["cold"] * 3),
        (run_of([3, 6, 9], filled=(0, 1, 2)), ["warm"] * 3),
        (run_of([1, 6, 7, 8, 20], filled=(4,)), ["whole", "cold", "after:1", "after:2", "warm"]),
        (run_of([-1, 3, -1]), ["unknown", "cold", "unknown"]),
        (run_of([9, 3, 4], filled=(2,)), ["cold", "cold", "warm"]),
        (run_of([4, 9], first=None), ["unknown"] * 2),
    ],
)
def test_the_order_of_a_run_tells_how_its_launches_began(run: MeasuredRun, states: list[str]) -> None:
    assert caches_of_run(run) == states


def seen(plan: PlanFile, *states: str) -> SimulatedLaunches:
    ids = np.array(sorted(launch.id for launch in plan.drawn))
    return SimulatedLaunches(ids, {"cycles": np.ones(len(ids))}, caches=states)


@pytest.mark.parametrize(
    ("states", "state", "is_cold", "words"),
    [
        (("cold",) * 5, "cold", True, "5 to 10 % too long, up to 40 %"),
        (("warm",) * 5, "warm", False, "within 1 %"),
        (("own",) * 5, "own", False, "a lower bound"),
        (("whole",) * 5, "whole", False, ""),
        (("unknown",) * 5, "unknown", False, "is not known"),
        ((), "unknown", False, ""),
        (("after:1",) * 5, "after:1", True, "only 1 launch ran before each"),
        (("after:16",) * 5, "after:16", False, "16 launches ran before each: such totals were within 1 %"),
        # Launch 5 has 5,000 of the 8,600 ns, launch 2 has 200 of them.
        (("warm", "warm", "cold", "warm", "warm"), "cold", True, "up to 40 %"),
        (("cold", "warm", "warm", "warm", "warm"), "warm", False, "within 1 %"),
    ],
)
def test_a_total_says_how_its_launches_began(
    ten: PlanFile, states: tuple[str, ...], state: str, is_cold: bool, words: str
) -> None:
    found = caches_of(ten, seen(ten, *states))
    assert (found.state, found.is_cold) == (state, is_cold)
    assert words in str(found)
    assert bool(str(found)) == bool(words)
    assert sum(found.shares.values()) == pytest.approx(1 if states else 0)


def test_the_manifest_tells_what_a_log_cannot(ten: PlanFile, tmp_path: Path) -> None:
    """A list of numbers alone says nothing; what the export wrote does, but of a run of all launches."""
    manifest, results = tmp_path / "manifest.csv", tmp_path / "results.csv"
    rows = [f"{launch.id},{launch.id + 1},own" for launch in ten.drawn]
    manifest.write_text("\n".join(["id,simulator_id,caches", *rows, ""]))
    results.write_text("\n".join(["id,cycles", *(f"{launch.id},7" for launch in ten.drawn), ""]))
    assert set(read_result_files(ten, [str(results)]).caches) == {"unknown"}
    told = read_result_files(ten, [str(results)], manifests=[str(manifest)])
    assert set(told.caches) == {"own"}


def test_copies_and_kernels_of_loads_fill_what_comes_after_them(ten: PlanFile, tmp_path: Path) -> None:
    """Of copies those whose addresses the simulator can keep; the kernel of loads is none of the program."""
    text = accel_sim([1, 3, 5, 6, 9, 10], 100)
    text = text.replace("kernel-1.traceg", f"kernel-{LOADS_FROM + 3}.traceg")
    text = text.replace("-kernel id = 1\n", f"-kernel id = {LOADS_FROM + 3}\n")
    low, high = "MemcpyHtoD,0x0000000000000040,32", "MemcpyHtoD,0x00007f1000000040,32"
    for number, copy in ((5, low), (9, high)):
        before = f"Processing kernel traces/kernel-{number}.traceg"
        assert before in text
        text = text.replace(before, f"launching memcpy command : {copy}\n{before}")
    log = tmp_path / "run.log"
    log.write_text(text)
    found = read_result_files(ten, [str(log)])
    assert found.ids.tolist() == [2, 4, 5, 8, 9]
    assert found.caches == ("warm", "warm", "after:1", "cold", "after:1")
