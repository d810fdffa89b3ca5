"""Counts of instructions and basic blocks: what tools print, and which of them are every launch's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sampling.errors import NotApplicableError, ProfileError
from sampling.features.metric_names import instruction_counts, is_cost
from sampling.reduction.launch_list import Features, LaunchList
from tests.launch_lists import launches_of
from tests.sampling.features.test_tables import listed, read

COSTS = (
    *(("Duration", "ns"), ("Elapsed Cycles", "cycle"), ("Executed Ipc Active", "inst/cycle"), ("IPC", None)),
    *(("gpu__time_duration.sum", None), ("SM Frequency", "hertz"), ("Memory Throughput", "%"), ("x", "Gbps")),
    *(("dram__bytes.sum.per_second", "byte/s"), ("smsp__cycles_active.avg", None), ("time", None)),
    *((name, None) for name in ("latency", "runtime_us", "timestamp", "start_ns", "bandwidth_gbps", "GB/s")),
    *((name, None) for name in ("kernelTime", "cycle_count", "dram_utilization", "stall_memory")),
    *((name, "%") for name in ("Max Bandwidth", "One or More Eligible", "Memory [%]", "Achieved Occupancy")),
    *((name, None) for name in ("Issued Warp Per Scheduler", "Active Warps Per Scheduler")),
    ("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "inst"),
    ("smsp__pcsamp_sample_count", None),
)
OTHERS = (
    *(("life_time_count", None), ("timer_count", None), ("sector_hit_rate", "%"), ("L2 Hit Rate", "%")),
    *(("device__attribute_num_l2s", None), ("s", None), ("blocks", None), ("instructions", "inst")),
    *(("flops", None), ("Theoretical Active Warps per SM", "warp"), ("Theoretical Occupancy", "%")),
    *(("Avg. Active Threads Per Warp", None), ("Shared Memory Configuration Size", "byte")),
)


@pytest.mark.parametrize(("names", "costs"), [(COSTS, True), (OTHERS, False)])
def test_times_cycles_and_rates_by_them_are_costs(
    names: tuple[tuple[str, str | None], ...], costs: bool
) -> None:
    assert [name for name, unit in names if is_cost(name, unit) is not costs] == []


BANNER = "------------- NVBit (NVidia Binary Instrumentation Tool v1.5.5) Loaded --------------\n"


def line(number: int, name: str, blocks: int, instructions: int) -> str:
    """Return a line of instr_count."""
    return (
        f"kernel {number} - {name} - #thread-blocks {blocks},  kernel instructions {instructions}, "
        f"total instructions {instructions * 2}\n"
    )


def test_counts_are_found_among_the_programs_own_output(tmp_path: Path) -> None:
    text = (
        BANNER + "step 1\n" + line(0, "_Z1fPf", 64, 1000) + "done... " + line(1, "void g<a - b>(int)", 1, 5)
    )
    rows = read(tmp_path, text + "bye")
    assert rows.format == "nvbit-instr-count"
    assert rows.names == ("_Z1fPf", "void g<a - b>(int)")
    assert rows.features.metrics["instructions"].tolist() == [1000, 5]
    assert rows.features.units == {"instructions": "inst"}
    assert (listed(rows.thread_blocks), listed(rows.line)) == ([64, 1], [3, 4])
    assert (rows.id, rows.notes) == (None, ())


def test_launches_that_were_not_counted_or_overflowed_have_no_value(
    tmp_path: Path,
) -> None:
    rows = read(tmp_path, line(0, "f", 1, 0) + line(1, "f", 1, 7) + line(2, "f", 1, -2147483000))
    np.testing.assert_array_equal(rows.features.metrics["instructions"], [np.nan, 7, np.nan])
    (note,) = rows.notes
    assert note.startswith("2 launches not counted (0 instructions), or beyond the bits of the counter")


def test_the_log_of_two_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="row 3: kernel 0 follows kernel 1"):
        read(tmp_path, line(0, "f", 1, 1) + line(1, "f", 1, 1) + line(0, "f", 1, 1))


def vectors(*launches: tuple[str, int, list[int]]) -> str:
    """Return a file of basic-block vectors; a launch is (name, warps, counts)."""
    text = "Warp ID,Basic Block Counts\n"
    for number, (name, warps, counts) in enumerate(launches):
        text += f"Kernel{number},{len(counts)},{warps},{name}\n{','.join(map(str, counts))},\n"
    return text


def test_vectors_are_ragged_and_keep_their_warps(tmp_path: Path) -> None:
    rows = read(tmp_path, vectors(("_Z1fv", 8, [1, 2, 3]), ("_Z1gv", 4, [10]), ("_Z1fv", 16, [4, 5])))
    assert rows.format == "basic-block-vectors"
    assert (rows.names, listed(rows.name)) == (("_Z1fv", "_Z1gv"), [0, 1, 0])
    blocks = rows.features.block_vectors
    assert blocks is not None
    assert blocks.offsets.tolist() == [0, 3, 4, 6]
    assert blocks.counts.tolist() == [1, 2, 3, 10, 4, 5]
    assert blocks.warps.tolist() == [8, 4, 16]
    assert rows.line.tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("Warp ID,Basic Block Counts\n", None),
        (vectors(("f", 1, [1, 2])).replace("Kernel0,2", "Kernel0,3"), 3),
        (vectors(("f", 1, [1, 2])) + "Kernel1,2,1,f\n", 4),
        (vectors(("f", 1, [1, 2])) + "3,4,\n", 4),
        (vectors(("f", 1, [1, 2])) + "oops\n", 4),
        (vectors(("f", 1, [1, 2])) + "Kernel1,1,1,f\nKernel2,1,1,f\n1,\n2,\n", 5),
    ],
)
def test_a_damaged_file_of_vectors_is_refused(tmp_path: Path, text: str, row: int | None) -> None:
    with pytest.raises(ProfileError, match="no launch Kernel<id>") as caught:
        read(tmp_path, text)
    assert caught.value.row == row


HEADER = (
    "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, "
    "block_dimZ, #threads, total_insts, total_reported_insts\n"
)


def test_rows_are_launches_with_name_and_shape(tmp_path: Path) -> None:
    text = (
        HEADER
        + "kernel-1.trace, _Z1aPf, 4, 2, 1, 8, 128, 1, 1, 128, 100,100\n"
        + "kernel-2.trace, _Z1bPf, 1, 1, 1, 1, 32, 2, 1, 64, 0,0\n"
        + "kernel-4.trace, _Z1aPf, 4, 2, 1, 8, 128, 1, 1, 128, -7,-7\n"
    )
    rows = read(tmp_path, text)
    assert rows.format == "accel-sim-stats"
    assert (rows.names, listed(rows.name)) == (("_Z1aPf", "_Z1bPf"), [0, 1, 0])
    assert listed(rows.grid) == [[4, 2, 1], [1, 1, 1], [4, 2, 1]]
    assert listed(rows.block) == [[128, 1, 1], [32, 2, 1], [128, 1, 1]]
    assert listed(rows.launch_number) == [0, 1, 3]
    np.testing.assert_array_equal(rows.features.metrics["instructions"], [100, np.nan, np.nan])
    assert len(rows.notes) == 1
    with pytest.raises(ProfileError, match="several processes or runs") as caught:
        read(tmp_path, text + "kernel-1.trace, _Z1aPf, 4, 2, 1, 8, 128, 1, 1, 128, 9,9\n")
    assert caught.value.row == 5


def with_metrics(**metrics: Sequence[float]) -> LaunchList:
    """Return three launches with metrics; two underscores are a blank."""
    known = {name.replace("__", " "): np.array(values, float) for name, values in metrics.items()}
    return launches_of(["a", "b", "c"], features=Features(metrics=known))


def test_the_first_metric_that_all_launches_have_counts() -> None:
    counts = instruction_counts(
        with_metrics(instructions=[1, np.nan, 3], Executed__Instructions=[4, 5, 6]), "sieve"
    )
    assert (counts.metric, counts.unit) == ("Executed Instructions", "warp instructions")
    assert counts.executed.tolist() == [4, 5, 6]


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ({"insts": [1, 2, 3], "m": [1, 2, 3]}, r"3 of 3 have none \(there are insts, m\); give `features`"),
        # Where they are known for some launches, their name is not what is wrong.
        ({"instructions": [1, np.nan, 3], "m": [1, 2, 3]}, "1 of 3 have none; give"),
        ({"instructions": [np.inf, -3, 4]}, "2 of 3 have none; give"),
    ],
)
def test_counts_that_are_wanting_are_said(metrics: dict[str, list[float]], message: str) -> None:
    with pytest.raises(NotApplicableError, match=message):
        instruction_counts(with_metrics(**metrics), "sieve")
