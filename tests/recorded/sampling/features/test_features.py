"""Features of launches in files that others recorded, and files that have none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.features.metric_names import is_cost
from sampling.features.reading import FeatureRows, read_features
from sampling.profile.names import demangled
from sampling.readers.registry import read_profile
from tests.sampling.features.test_join import equal, joined, raw_page
from tests.sampling.features.test_names import check_names_of_the_other_demangler
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


def test_all_columns_of_a_details_page_are_no_costs(ncu_page: Callable[[str], FeatureRows]) -> None:
    metrics = ncu_page("a100-details.csv").features
    used = {name for name in metrics.metrics if not is_cost(name, metrics.units.get(name))}
    assert used == {
        *("Maximum Buffer Size", "# Pass Groups", "Stack Size", "Threads", "# SMs", "# TPCs"),
        *("Local Memory Spilling Requests", "Local Memory Spilling Request Overhead", "L1/TEX Hit Rate"),
        *("L2 Persisting Size", "L2 Compression Success Rate", "L2 Compression Ratio", "L2 Hit Rate"),
        *("L2 Compression Input Sectors", "Avg. Active Threads Per Warp", "Executed Instructions"),
        *("Avg. Not Predicated Off Threads Per Warp", "Avg. Executed Instructions Per Scheduler"),
        *("Avg. Issued Instructions Per Scheduler", "Issued Instructions", "Block Size", "Grid Size"),
        *("Registers Per Thread", "Shared Memory Configuration Size", "Driver Shared Memory Per Block"),
        *("Dynamic Shared Memory Per Block", "Static Shared Memory Per Block", "Uses Green Context"),
        *("Waves Per SM", "Block Limit SM", "Block Limit Registers", "Block Limit Shared Mem"),
        *("Block Limit Warps", "Theoretical Active Warps per SM", "Theoretical Occupancy"),
        *("Branch Instructions Ratio", "Branch Instructions", "Branch Efficiency", "Avg. Divergent Branches"),
    }


@pytest.mark.parametrize(
    ("name", "kernels"),
    [
        ("a100-nerf-nsys2021.5.sqlite", 116),
        ("h100x2-transformer-nsys2026.2.sqlite", 41),
        ("h100x2-training-overlap-nsys2026.2.sqlite", 27),
    ],
)
def test_every_kernel_is_found_under_the_other_demanglers_name(
    shared_data: Path, name: str, kernels: int
) -> None:
    pytest.importorskip("cxxfilt")
    profile = read_profile([str(shared_data / "nsys-sqlite" / name)])
    check_names_of_the_other_demangler(profile, kernels, kernels // 2)


@pytest.mark.parametrize(
    "name",
    [
        "a100-nerf-nsys2021.5.sqlite",
        "h100x2-transformer-nsys2026.2.sqlite",
        "rtx3090-gaussian-nsys2022.4.sqlite",
    ],
)
def test_a_report_in_the_other_demanglers_spelling_matches_whole(
    shared_data: Path, tmp_path: Path, name: str
) -> None:
    pytest.importorskip("cxxfilt")
    profile = read_profile([str(shared_data / "nsys-sqlite" / name)])
    signature = profile.load(["signature"])["signature"]
    names = profile.kernels.names
    rows = []
    for sequence in profile.sequences:
        for launch in range(sequence.first_id, sequence.first_id + sequence.launches):
            known = profile.kernels.signature(int(signature[launch]))
            spelt = demangled(names.mangled(known.name) or "") or names.full(known.name)
            rows.append(
                (sequence.process + 5000, sequence.device, spelt, str(known.grid), str(known.block), launch)
            )
    features, (report,) = joined(profile, raw_page(tmp_path, rows))
    assert report.matched == len(rows)
    equal(features.metrics["m"], list(range(profile.launches)))


def test_neither_a_profile_nor_a_trace_without_launches_has_features(shared_data: Path) -> None:
    profiles = ("nsys-sqlite/p2000-sort-nsys2020.4.sqlite", "kineto/tiny-capital-K-category.json.gz")
    for path in [shared_data / name for name in profiles] + sorted((shared_data / "not-a-profile").iterdir()):
        with pytest.raises(ProfileError, match="no features of launches") as caught:
            read_features(str(path))
        assert caught.value.remedy
