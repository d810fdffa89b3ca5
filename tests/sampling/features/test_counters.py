"""Which counters add up over launches, and by what the others are weighted."""

from __future__ import annotations

import pytest

from sampling.features.counters import Weight, adds_up, is_of_device, weight_of

SECTORS, TIME, RATE = "lts__t_sectors.sum", "gpu__time_duration.sum", "lts__t_sector_hit_rate.pct"


@pytest.mark.parametrize(
    ("name", "unit", "expected"),
    [
        ("gpu__time_duration.sum", "ns", True),
        ("sm__cycles_elapsed.max", "cycle", True),
        ("dram__bytes_read.sum.pct_of_peak_sustained_elapsed", "%", False),
        ("smsp__inst_executed.avg.per_cycle_active", "inst/cycle", False),
        ("smsp__thread_inst_executed_per_inst_executed.ratio", "", False),
        ("derived__memory_l2_theoretical_sectors_global_excessive", "byte", True),
        ("derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2", "thread", False),
        ("launch__grid_size", "", True),
        ("launch__registers_per_thread", "register/thread", False),
        ("launch__occupancy_limit_warps", "block", False),
        ("smsp__maximum_warps_avg_per_active_cycle", "warp", False),
        ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", "inst/cycle", False),
        ("Elapsed Cycles", "cycle", True),
        ("Memory Throughput", "byte/s", False),
        ("Warp Cycles Per Issued Instruction", "cycle", False),
        ("Theoretical Active Warps per SM", "warp", False),
        ("Shared Memory Configuration Size", "byte", False),
        ("SQ_INSTS_VALU", "", True),
        ("TCC_HIT_sum", "", True),
        ("L2CacheHit", "", False),
        ("VALUBusy", "", False),
        ("MeanOccupancyPerCU", "", False),
        ("l2_hits", "", True),
        ("L2_total_cache_miss_rate", "", False),
        ("instructions", "", True),
    ],
)
def test_counts_add_up_and_rates_do_not(name: str, unit: str, expected: bool) -> None:
    assert adds_up(name, unit) is expected


def test_a_rate_is_weighted_by_what_it_is_per_where_that_was_measured() -> None:
    there = {TIME, SECTORS, "smsp__inst_executed.sum", "sm__cycles_active.avg", "gpc__cycles_elapsed.max"}
    ratio = "smsp__thread_inst_executed_per_inst_executed.ratio"
    assert weight_of(ratio, there) == Weight("smsp__inst_executed.sum", True)
    assert weight_of(RATE, there) == Weight(SECTORS, True)
    assert weight_of("sm__warps_active.avg.pct_of_peak_sustained_active", there) == Weight(
        "sm__cycles_active.avg", True
    )
    assert weight_of("sm__throughput.avg.pct_of_peak_sustained_elapsed", there) == Weight(
        "gpc__cycles_elapsed.max", False
    )
    assert weight_of("dram__bytes.sum.per_second", there) == Weight(TIME, True)
    assert weight_of("dram__bytes.sum.per_second", set()) == Weight("", False)
    assert weight_of("Achieved Occupancy", {"Duration"}) == Weight("Duration", False)


def test_what_the_device_can_do_is_none_of_a_launch() -> None:
    assert is_of_device("sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained")
    assert not is_of_device("sm__throughput.avg.pct_of_peak_sustained_elapsed")
    assert not is_of_device(SECTORS)
