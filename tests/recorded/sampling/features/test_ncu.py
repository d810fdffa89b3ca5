"""Nsight Compute's pages, recorded by others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sampling.features.reading import FeatureRows
from tests.sampling.features.test_tables import numbers_printed, values


def test_the_details_page_of_an_a100_reads_as_its_text_says(
    shared_data: Path, ncu_page: Callable[[str], FeatureRows]
) -> None:
    rows = ncu_page("a100-details.csv")
    assert rows.format == "ncu-details"
    assert len(rows) == 6
    # Looked up in the file by hand.
    assert values(rows, "Elapsed Cycles")[0] == 63_779
    assert values(rows, "Duration")[0] == pytest.approx(56_060)
    assert values(rows, "Duration")[5] == pytest.approx(30.86e6)
    assert rows.features.units["Duration"] == "ns"
    assert values(rows, "DRAM Frequency")[0] == pytest.approx(1.59e9)
    assert values(rows, "Memory Throughput")[:2] == [23.97, 24.46]
    assert rows.features.units["Memory Throughput"] == "%"
    assert values(rows, "Memory Workload Analysis: Memory Throughput")[0] == pytest.approx(488.17e9)
    assert rows.features.units["Memory Workload Analysis: Memory Throughput"] == "byte/s"
    assert values(rows, "SM Active Cycles")[0] == 58_748.42
    assert rows.grid is not None
    assert rows.grid[3].tolist() == [216, 1, 1]
    assert rows.block is not None
    assert rows.block[5].tolist() == [256, 1, 1]
    assert rows.names[0].endswith("jl_L992")
    # Every metric row of the file is a value of a launch, but for the two that are text.
    known = sum(int(np.isfinite(column).sum()) for column in rows.features.metrics.values())
    assert known == len(numbers_printed(shared_data / "ncu" / "a100-details.csv"))


def test_both_pages_of_one_launch_agree(ncu_page: Callable[[str], FeatureRows]) -> None:
    long = ncu_page("ncu2024.1-details.csv")
    wide = ncu_page("ncu2024.1-raw.csv")
    assert (long.format, wide.format) == ("ncu-details", "ncu-raw")
    assert long.names == wide.names == ("void Sobel<float>(uchar4 *, uchar4 *, int, int)",)
    assert values(long, "Elapsed Cycles") == [30_221]
    assert values(long, "Duration")[0] == pytest.approx(31_870)
    assert values(wide, "gpu__time_duration.sum")[0] == pytest.approx(31_872)
    assert wide.features.units["gpu__time_duration.sum"] == "ns"
    assert values(wide, "dram__bytes_read.sum")[0] == pytest.approx(4_195_712)
    assert values(wide, "launch__shared_mem_config_size")[0] == pytest.approx(8192)
    assert values(wide, "lts__t_sectors.sum.per_second")[0] == pytest.approx(9.357492e9)
    assert values(wide, "gpc__cycles_elapsed.avg.per_second")[0] == pytest.approx(941.629016e6)
    assert values(wide, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == [1_565_558]
    assert np.isnan(values(wide, "LTS.TriageSCG.lts__throughput.avg.pct_of_peak_sustained_elapsed")[0])
    assert "device__attribute_display_name" not in wide.features.metrics
    # 840 columns, of which 11 identify the launch and 3 are text.
    assert len(wide.features.metrics) == 826
    assert values(long, "Registers Per Thread") == values(wide, "launch__registers_per_thread")
    assert values(long, "Executed Instructions") == values(wide, "smsp__inst_executed.sum")
