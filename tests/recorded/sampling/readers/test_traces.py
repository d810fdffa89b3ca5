"""Traces of many profilers, recorded by others, each as a plain reading of the file has it."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sqlite3
from collections import Counter
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from sampling.profile.profile import Device
from tests.fuzzing.reading import assert_read_or_refused
from tests.sampling.readers.launches_told import Told, by_the_csv_module, read, told
from tests.sampling.readers.test_input_file import refused


def test_the_database_is_read_as_its_own_view_lists_it(shared_data: Path) -> None:
    path = shared_data / "rocm" / "mi300x-gemm-rocprofv3.db"
    query = """
        SELECT K.pid, A.type_index, K.name, K.start, K."end" - K.start, K.queue_id,
               K.grid_x, K.grid_y, K.grid_z, K.workgroup_x, K.workgroup_y, K.workgroup_z
        FROM kernels K
        JOIN rocpd_kernel_dispatch D ON D.id = K.id
        JOIN rocpd_info_agent A ON A.id = D.agent_id
        JOIN regions R ON R.stack_id = K.stack_id ORDER BY R.start
    """
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        rows = connection.execute(query).fetchall()
    expected = [
        Told(*row[:6], (-(-row[6] // row[9]), -(-row[7] // row[10]), -(-row[8] // row[11])), row[9:])
        for row in rows
    ]
    profile = read(path)
    launches = told(profile)
    assert launches == expected
    assert (len(launches), sum(launch.duration_ns for launch in launches)) == (151, 2_604_546)
    assert (profile.facts.launch_order, profile.facts.api_rows_missing) == ("api-start", 0)
    assert [(device.device, device.name, device.sm_count) for device in profile.facts.devices] == [
        (0, "AMD Instinct MI300X", 304)
    ]
    # The matrix product: 512 x 128 work-items in groups of 256.
    assert launches[1].grid == (2, 128, 1)


def test_the_json_is_read_as_plain_json_has_it(shared_data: Path) -> None:
    path = shared_data / "rocm" / "mi350x-training-rocprofv3.json.gz"
    with gzip.open(path) as stream:
        (recording,) = json.load(stream)["rocprofiler-sdk-tool"]
    names = {each["kernel_id"]: each["formatted_kernel_name"] for each in recording["kernel_symbols"]}
    expected = []
    records = recording["buffer_records"]["kernel_dispatch"]
    for each in sorted(records, key=lambda each: each["dispatch_info"]["dispatch_id"]):
        info = each["dispatch_info"]
        group = tuple(info["workgroup_size"].values())
        grid = tuple(-(-items // size) for items, size in zip(info["grid_size"].values(), group, strict=True))
        start = each["start_timestamp"]
        name, queue = names[info["kernel_id"]], info["queue_id"]["handle"]
        expected.append(Told(908, 0, name, start, each["end_timestamp"] - start, queue, grid, group))  # type: ignore[arg-type]
    profile = read(path)
    launches = told(profile)
    assert launches == expected
    assert (len(launches), sum(launch.duration_ns for launch in launches)) == (43_915, 4_441_741_378)
    assert profile.facts.devices == (Device(0, "AMD Instinct MI350X", 256, 309_220_868_096),)
    communication = sum(launch.duration_ns for launch in launches if launch.name.startswith("ncclDevKernel"))
    assert round(communication / 4_441_741_378, 3) == 0.936


# --- the timestamps that Omniperf kept of a run on an MI100 ----------------------------------------------


def test_every_dispatch_is_a_launch(shared_data: Path) -> None:
    path = shared_data / "rocm" / "mi100-mixbench-timestamps.csv"
    with path.open(newline="") as stream:
        rows = sorted(csv.DictReader(stream), key=lambda row: int(row["Dispatch_ID"]))
    profile = read(path)
    assert told(profile) == [
        Told(
            int(row["pid"]),
            int(row["GPU_ID"]),
            row["Kernel_Name"].removesuffix(" [clone .kd]").removesuffix(".kd"),
            int(row["Start_Timestamp"]),
            int(row["End_Timestamp"]) - int(row["Start_Timestamp"]),
            int(row["queue-id"]),
            (-(-int(row["grd"]) // int(row["Workgroup_Size"])), 1, 1),
            (int(row["Workgroup_Size"]), 1, 1),
        )
        for row in rows
    ]
    assert (profile.launches, sum(launch.duration_ns for launch in told(profile))) == (167, 66_010_632)


# --- a training run on a P100 that nvprof recorded, with a unit in every cell ----------------------------


UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def nanoseconds(cell: str) -> int:
    number = cell.rstrip("nums")
    return int((Decimal(number) * UNITS[cell.removeprefix(number)]).to_integral_value())


def test_every_kernel_is_a_launch_in_the_order_of_the_calls(shared_data: Path) -> None:
    path = shared_data / "nvprof" / "p100-deepspeech-training.txt.gz"
    expected = []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            row = re.match(r" *([\d.]+\w+) +([\d.]+\w+) +\((\d+) (\d+) (\d+)\) +\((\d+) (\d+) (\d+)\) ", line)
            if row is None:
                continue
            stream, name = re.split(" +", line[line.index("Tesla P100-PCIE") :].rstrip("\n"), maxsplit=4)[3:]
            name, number = name.removesuffix("]").rsplit(" [", 1)
            sizes = tuple(map(int, row.groups()[2:]))
            expected.append(
                (
                    int(number),
                    Told(0, 0, name, *map(nanoseconds, row.groups()[:2]), int(stream), sizes[:3], sizes[3:]),  # type: ignore[arg-type]
                )
            )
    profile = read(path)
    launches = told(profile)
    assert launches == [launch for _, launch in sorted(expected)]
    assert len(launches) == 224_916
    assert profile.facts.launch_order == "correlation"


# --- the GPU trace that comes with pipit -----------------------------------------------------------------


def test_every_launch_is_one_of_the_rows(shared_data: Path) -> None:
    path = shared_data / "nsys-csv" / "cloverleaf_gpu_trace.csv"
    with path.open(newline="") as stream:
        events = [row for row in csv.DictReader(stream) if row["type"] == "kernel"]
    entered = [row for row in events if row["Event Type"] == "Enter"]
    left = [row for row in events if row["Event Type"] == "Leave"]
    found = [(launch.name, launch.start_ns, launch.duration_ns) for launch in told(read(path))]
    assert len(found) == len(entered) == 1312
    assert found == sorted(
        (
            (
                row["Name"],
                int(row["Timestamp (ns)"]),
                int(row["_matching_timestamp"]) - int(row["Timestamp (ns)"]),
            )
            for row in entered
        ),
        key=lambda launch: launch[1],
    )
    total = sum(int(row["Timestamp (ns)"]) for row in left) - sum(
        int(row["Timestamp (ns)"]) for row in entered
    )
    assert sum(duration for *_, duration in found) == total


# --- what `nsys stats` of three versions printed for others ----------------------------------------------


@pytest.mark.parametrize(
    ("file", "count"),
    [
        ("p2000-sort-gputrace-nsys2020.4.csv", 1700),
        ("rtx3090-gaussian-gputrace-nsys2022.4.csv", 8190),
        ("derived-h100-cuda_gpu_trace-greenctx.csv", 3442),
        ("a100-nerf-cuda_kern_exec_trace-nsys2023.4.csv", 1106),
    ],
)
def test_all_of_a_report_is_read(shared_data: Path, file: str, count: int) -> None:
    path = shared_data / "nsys-csv" / file
    launches = told(read(path))
    assert launches == by_the_csv_module(path)
    assert len(launches) == count


def test_the_csv_holds_what_the_database_holds(shared_data: Path) -> None:
    paths = (
        "nsys-csv/rtx3090-gaussian-gputrace-nsys2022.4.csv",
        "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite",
    )
    csv, sqlite = (
        Counter((each[2], each[4], *each[6:]) for each in told(read(shared_data / path))) for path in paths
    )
    assert csv == sqlite


# --- real profiles, broken: each is read or refused in one sentence, in bounded time and memory ----------


# The smaller of each format; the others are of the same programs, and only take longer.
_FILES = (
    "nsys-sqlite/a40-a100-cutlass-nsys2023.2.sqlite",
    "nsys-sqlite/cuda-graphs-nsys2023.4.sqlite",
    "nsys-parquetdir",
    "nsys-csv/cloverleaf_gpu_trace.csv",
    "nsys-csv/p2000-sort-gputrace-nsys2020.4.csv",
    "kineto/mi250-minitoy-no-grid.json.gz",
    "kineto/tiny-capital-K-category.json.gz",
)


def test_what_is_broken_is_read_or_refused(shared_data: Path) -> None:
    assert_read_or_refused((shared_data / name for name in _FILES), 20)


# --- what others recorded that is no profile is named ----------------------------------------------------


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("not-a-profile/nsys-nvtx-trace.csv", "an nsys report of something other"),
        ("not-a-profile/nsys-report-not-exported.qdrep", "an Nsight Systems report that was not exported"),
        ("not-a-profile/nsys-stats-skipped-report.csv", "an `nsys stats` output without a report in it"),
        ("turn4/cases/mgpusim-aes-metrics.csv.gz", "MGPUSim's metrics"),
        ("published/stem-ae-figure9-casio.csv", "a CSV with the columns 'label', 'name', 'xval', 'yval'"),
        ("published", "a folder in which nothing is a profile"),
    ],
)
def test_files_of_other_formats_are_named(shared_data: Path, file: str, sentence: str) -> None:
    error = refused(shared_data / file)
    assert sentence in error.message
    assert error.remedy
