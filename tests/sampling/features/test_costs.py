"""Which metrics are what a launch costs: times, cycles, and rates by them."""

from __future__ import annotations

import pytest

from sampling.features.metric_names import is_cost

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
