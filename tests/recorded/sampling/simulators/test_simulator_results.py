"""Whole runs of GPGPU-Sim, Accel-Sim and MacSim, read back: cycles of every launch exactly as listed."""

from __future__ import annotations

import csv
import gzip
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.readers.registry import read_profile
from sampling.simulators.alignment import align_launches
from sampling.simulators.registry import read_trace_list
from sampling.simulators.results import SimulatedLaunches, read_result_files
from tests.small_plans import options_of, plan_of_strata, stratum

LISTED = ("solver-8", "solver-16", "solver-32", "trace-8", "trace-16", "bigtrace-4", "bigtrace-8")
COUNTERS = (
    *("L2_total_cache_accesses", "L2_total_cache_misses", "total dram reads", "gpgpu_n_tot_w_icount"),
    *("L2_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS]", "gpgpu_n_load_insn", "gpu_tot_sim_insn"),
)
_TOTALS = ("INST", "CYC_")


def rows_of(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.launches.csv").open() as file:
        return list(csv.DictReader(file))


def plan_of(rows: list[dict[str, str]], ids: list[int] | None = None) -> PlanFile:
    """A plan that draws the launches of a run, all of them or those of some ids; launch 1 has id 0."""
    drawn = []
    for row in rows:
        launch_id = int(row["launch"]) - 1
        if row["grid_x"] == "None" or (ids is not None and launch_id not in ids):
            continue
        x, y, z, a, b, c = (int(row[f"{shape}_{axis}"]) for shape in ("grid", "block") for axis in "xyz")
        grid, block = (x, y, z), (a, b, c)
        drawn.append(PlannedLaunch(launch_id, 0, 0, launch_id, row["kernel"], grid, block, 0, 1.0, 1))
    of_all = stratum("k", len(drawn), 1.0, 0.0, drawn)
    return plan_of_strata([of_all], options_of(), total_duration_ns=len(drawn))


def read(plan: PlanFile, folder: Path, name: str, *metrics: str) -> SimulatedLaunches:
    return read_result_files(plan, [str(folder / name / "run.log.gz")], metrics=metrics)


@pytest.mark.parametrize("name", LISTED)
def test_every_launch_has_the_cycles_and_instructions_of_the_list(runs: Path, name: str) -> None:
    rows = rows_of(runs, name)
    found = read(plan_of(rows), runs, name)
    listed = {int(row["launch"]) - 1: row for row in rows if row["grid_x"] != "None"}
    assert found.ids.tolist() == sorted(listed)
    for metric in ("cycles", "instructions"):
        assert found.metrics[metric].tolist() == [int(listed[each][metric]) for each in sorted(listed)]
    # Of solver-32 one block is of two launches, which this plan does not draw.
    assert len(found.notes) == (name == "solver-32")


def test_two_launches_with_one_block_are_a_named_gap(runs: Path) -> None:
    """Launches 59 and 60 of the run, drawn by a plan that was made of another size's run."""
    found = read(plan_of(rows_of(runs, "solver-8")), runs, "solver-32")
    assert found.ids.tolist() == list(range(120))
    assert np.flatnonzero(np.isnan(found.metrics["cycles"])).tolist() == [58, 59]
    (note,) = found.notes
    assert "2 launches (58, 59): launches 59 and 60 are printed as one" in note


@pytest.mark.parametrize("name", [each for each in LISTED if each != "solver-32"])
def test_counters_add_up_to_the_last_total_of_the_run(runs: Path, name: str) -> None:
    text = gzip.decompress((runs / name / "run.log.gz").read_bytes()).decode("utf-8", "replace")
    found = read(plan_of(rows_of(runs, name)), runs, name, "cycles", *COUNTERS)
    for counter in COUNTERS:
        added = found.metrics[counter]
        assert (added >= 0).all()
        if "breakdown" not in counter:
            assert added.sum() == int(
                re.findall(rf"^\s*{re.escape(counter)}\s*= (\d+)", text, re.MULTILINE)[-1]
            )


def test_chosen_traces_are_known_by_their_numbers(runs: Path) -> None:
    rows = rows_of(runs, "trace-8")
    found = read(plan_of(rows, [0, 4, 5, 10, 17, 23]), runs, "trace-8-some")
    assert found.ids.tolist() == [0, 4, 5, 10, 17, 23]
    assert found.metrics["cycles"].sum() == 13834
    # Instructions do not depend on what ran before; cycles do, for caches are cold.
    whole = {int(row["launch"]) - 1: int(row["instructions"]) for row in rows}
    assert found.metrics["instructions"].tolist() == [whole[each] for each in found.ids.tolist()]
    assert found.notes == ()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("trace-8-maxcycle", "-gpgpu_max_cycle 6000 ended it"),
        ("trace-8-maxcta", "-gpgpu_max_completed_cta 40 ended it"),
        ("trace-8-maxinsn", "-gpgpu_max_insn 500000 ended it"),
    ],
)
def test_launches_that_the_simulator_cut_are_named(runs: Path, name: str, why: str) -> None:
    found = read(plan_of(rows_of(runs, "trace-8"), [2, 6]), runs, name)
    assert np.isnan(found.metrics["cycles"]).all()
    assert why in " ".join(found.notes)


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9])
def test_a_killed_run_is_a_partial_result(runs: Path, tmp_path: Path, kept: float) -> None:
    rows = rows_of(runs, "solver-8")
    content = gzip.decompress((runs / "solver-8" / "run.log.gz").read_bytes())
    path = tmp_path / "run.log"
    path.write_bytes(content[: int(kept * len(content))])
    found = read_result_files(plan_of(rows), [str(path)])
    listed = np.array([int(row["cycles"]) for row in rows])
    known = ~np.isnan(found.metrics["cycles"])
    assert (found.metrics["cycles"][known] == listed[found.ids[known]]).all()
    assert abs(np.count_nonzero(known) - kept * 120) < 12
    assert any("of the plan are not in the results" in note for note in found.notes)


@pytest.mark.parametrize(
    "name", ["benchmark_1_stream_tip", "benchmark_1_stream_tip_serialized", "l2_lat_4stream_tip"]
)
def test_concurrent_kernels_are_refused(runs: Path, name: str) -> None:
    with pytest.raises(ProfileError, match="ran concurrently"):
        read_result_files(plan_of(rows_of(runs, "trace-8")), [str(runs / "concurrent" / f"{name}.log.gz")])


def vectors(blocks: int, ids: list[int]) -> PlanFile:
    rows = [
        {"launch": str(each + 1), "kernel": "vecadd", "grid_x": str(blocks), "block_x": "256"}
        | {f"{shape}_{axis}": "1" for shape in ("grid", "block") for axis in "yz"}
        for each in ids
    ]
    return plan_of(rows)


@pytest.mark.parametrize(
    ("name", "blocks", "cycles"),
    [
        ("vmadd4096b", 16, [3519, 3102, 2886]),
        ("vmadd16384", 64, [3704, 3262, 2955]),
        ("vmadd65536", 256, None),
    ],
)
def test_macsim_has_cycles_of_each_kernel(
    runs: Path, name: str, blocks: int, cycles: list[int] | None
) -> None:
    """A kernel alone: 4,341 cycles for the third one of 16384, which takes 2,955 after the others."""
    found = read_result_files(vectors(blocks, [0, 1, 2]), [str(runs / "macsim" / name / "macsim.out.gz")])
    stats = (runs / "macsim" / name / "general.stat.out").read_text()
    totals = {
        line.split()[0]: int(line.split()[1]) for line in stats.splitlines() if line[:3] in {"INS", "CYC"}
    }
    assert found.metrics["instructions"].sum() == totals["INST_COUNT_TOT"]
    assert found.metrics["cycles"].sum() == totals["CYC_COUNT_TOT"]
    assert cycles is None or found.metrics["cycles"].tolist() == cycles


def test_a_kernel_of_macsim_alone(runs: Path) -> None:
    paths = [str(runs / "macsim" / name / "macsim.out.gz") for name in ("sel_one", "sel_twice")]
    assert read_result_files(vectors(64, [2]), paths[:1]).metrics["cycles"].tolist() == [4341]
    with pytest.raises(ProfileError, match="launch 2 is there twice"):
        read_result_files(vectors(64, [2]), paths[1:])
    with pytest.raises(ProfileError, match="a kernel of 512 warps"):
        read_result_files(vectors(65, [2]), paths[:1])
    with pytest.raises(ProfileError, match="no kernel is printed"):
        read_result_files(vectors(64, [2]), [str(runs / "macsim" / "sel_one" / "general.stat.out")])


@pytest.mark.parametrize(
    ("trace", "ids"),
    [
        ("", range(24)),
        ("kernelslist.g", range(24)),
        ("kernelslist-some.g", [0, 4, 5, 10, 17, 23]),
        ("kernelslist-crlf.g", [5]),
        ("kernelslist-noeol.g", [5]),
    ],
)
def test_the_traces_are_of_the_launches_of_the_run(runs: Path, trace: str, ids: Sequence[int]) -> None:
    """The profile is the cycles of the same traces; the heads of packed traces are read too."""
    profile = read_profile([str(runs / "trace-16.gpu-trace.csv")])
    listed = read_trace_list(str(runs / "traces" / trace))
    found = align_launches(profile, profile.sequences[0], listed, [])
    assert (found.by, found.ids.tolist()) == ("number", list(ids))
    assert (found.numbers == found.ids + 1).all()
    assert len(found.missing_in_profile) == 0
    assert len(found.missing_in_trace) == 24 - len(ids)


def test_metrics_of_mgpusim_are_those_of_a_launch(shared_data: Path, tmp_path: Path) -> None:
    """AES on 64 compute units at 1 GHz: 24.374 us, 3,511 instructions each."""
    path = tmp_path / "launch-1.csv.gz"
    shutil.copy(shared_data / "turn4" / "cases" / "mgpusim-aes-metrics.csv.gz", path)
    aes = PlannedLaunch(0, 0, 0, 0, "Encrypt", None, None, 0, 1.0, 1)
    plan = plan_of_strata([stratum("k", 1, 1.0, 0.0, [aes])], options_of(), total_duration_ns=1)
    results = read_result_files(plan, [str(path)])
    assert results.metrics["cycles"].tolist() == pytest.approx([24374])
    assert results.metrics["instructions"].tolist() == [64 * 3511]
    assert results.clock_hz == 1e9
