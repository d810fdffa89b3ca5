"""API calls and copies of the formats that record them, held against what stands in the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sampling.api import read_profile
from sampling.profile.profile import Profile
from tests import plain_idle
from tests.plain_idle import Events
from tests.sampling.readers import rocpd_file
from tests.sampling.readers.kineto_traces import call, kernel, trace
from tests.sampling.readers.nsys_exports import Call, Export, Launch, export, global_pid
from tests.sampling.readers.rocpd_file import Called, Copied, Dispatched

MEMCPY, MEMSET = (f"CUPTI_ACTIVITY_KIND_{name}" for name in ("MEMCPY", "MEMSET"))


def calls_of(profile: Profile) -> list[tuple[int, int, str]]:
    """Start, end and name of every API call, by their starts."""
    assert profile.activity is not None
    start, end, _, name, _ = profile.activity.calls.tolist()
    return [(*times, profile.activity.names[code]) for *times, code in zip(start, end, name, strict=True)]


def copies_of(profile: Profile) -> list[tuple[int, int, int, int, str]]:
    """Start, end, bytes, sequence and name of every copy, by their starts."""
    assert profile.activity is not None
    start, end, sequence, name, size = profile.activity.copies.tolist()
    names = [profile.activity.names[code] for code in name]
    return sorted(zip(start, end, size, sequence, names, strict=True))


def ends_of_calls(profile: Profile) -> list[int | None]:
    """When the call behind each launch ended."""
    assert profile.activity is not None
    ends = profile.activity.calls[1].tolist()
    return [None if place < 0 else ends[place] for place in profile.activity.launch_call.tolist()]


def hold_against(profile: Profile, events: Events) -> None:
    """Calls and copies are those that loops find in the file, whole ones alone."""
    calls = sorted((call.start, call.end, call.name) for call in events.calls if call.end >= call.start)
    assert sorted(calls_of(profile)) == calls
    copies = sorted((copy.start, copy.end, copy.bytes) for copy in events.copies if copy.end >= copy.start)
    assert [copy[:3] for copy in copies_of(profile)] == copies


# --- nsys -------------------------------------------------------------------------------------------------


def two_processes() -> Export:
    """Launches of two processes with one number each, one without a call; calls that are none; copies."""
    launches = [
        *(Launch(9_000, 9_500, 2), Launch(1_000, 2_000, 1), Launch(12_000, 12_500, 77)),
        Launch(5_000, 5_500, 1, pid=200, device=1),
    ]
    calls = [
        *(Call(700, 2, lasts=40), Call(500, 1, lasts=30)),
        Call(400, 1, pid=200, name="cuLaunchKernel", lasts=20),
        Call(8_000, 3, name="cudaDeviceSynchronize_v3020", lasts=900),
        # One number once more, a call that ends before it starts and one without an end.
        Call(900, 2, name="cudaLaunchKernelExC_v11060"),
        Call(3_000, 4, name="cudaFree_v3020", lasts=-10),
        Call(3_500, 5, name="cudaFree_v3020", lasts=None),
    ]
    made = export("2023.4", launches, calls)
    first, second = global_pid(100), global_pid(200)
    made.add(
        MEMCPY,
        "start? end? deviceId globalPid bytes copyKind",
        *(
            (2_500, 2_600, 0, first, 4096, 1),
            (5_600, 5_700, 1, second, 16, 2),
            (5_800, 5_900, 3, second, 8, 8),
        ),
        *((6_000, 5_000, 0, first, 1, 1), (None, 7_000, 0, first, 1, 1), (6_100, 6_200, 0, first, 5, 99)),
    )
    return made.add(MEMSET, "start? end? deviceId globalPid bytes value", (2_700, 2_710, 0, first, 64, 0))


WRITERS: dict[str, Callable[[Export, Path], Path]] = {
    "sqlite": lambda made, folder: made.sqlite(folder / "run.sqlite"),
    "parquetdir": lambda made, folder: made.parquet_folder(folder / "run"),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_nsys_calls_and_copies_belong_to_their_processes(
    write: Callable[[Export, Path], Path], tmp_path: Path
) -> None:
    made = two_processes()
    profile = read_profile(str(write(made, tmp_path)))
    hold_against(profile, plain_idle.nsys(made.sqlite(tmp_path / "plain.sqlite")))
    # In id order: of process 100 by their calls' numbers, then the one of process 200.
    assert profile.load(("start_ns",))["start_ns"].tolist() == [1_000, 9_000, 12_000, 5_000]
    assert ends_of_calls(profile) == [530, 740, None, 420]
    assert copies_of(profile) == [
        (2_500, 2_600, 4096, 0, "HtoD"),
        (2_700, 2_710, 64, 0, "set"),
        (5_600, 5_700, 16, 1, "DtoH"),
        (5_800, 5_900, 8, -1, "DtoD"),
        (6_100, 6_200, 5, 0, ""),
    ]


@pytest.mark.parametrize("missing", ["CUPTI_ACTIVITY_KIND_RUNTIME", MEMCPY, MEMSET])
def test_an_nsys_export_without_a_table_has_none_of_that(missing: str, tmp_path: Path) -> None:
    made = two_processes()
    del made.tables[missing]
    path = made.sqlite(tmp_path / "run.sqlite")
    profile = read_profile(str(path))
    hold_against(profile, plain_idle.nsys(path))
    assert (ends_of_calls(profile) == [None] * 4) == (missing == "CUPTI_ACTIVITY_KIND_RUNTIME")


def test_rows_of_nsys_that_are_no_launch_have_no_call(tmp_path: Path) -> None:
    launches = [Launch(1_000, 900, 1), *(Launch(1_000 * n, 1_000 * n + 9, n) for n in range(2, 15))]
    made = export("2026.2", launches, [Call(100 * n, n, lasts=n) for n in range(1, 15)])
    profile = read_profile(str(made.sqlite(tmp_path / "run.sqlite")))
    assert ends_of_calls(profile) == [101 * n for n in range(2, 15)]


def test_a_gpu_trace_of_nsys_stats_has_its_copies(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Bytes (MB),Device,Strm,Name\n"
        "1000,500,1,,,,,,,67.109,A100 (0),7,[CUDA memcpy Host-to-Device]\n"
        "2000,100,2,1,1,1,32,1,1,,A100 (0),7,k\n"
        "9000,100,3,1,1,1,32,1,1,,A100 (0),7,k\n"
        "3000,5000,4,,,,,,,0.008,A100 (0),7,[CUDA memset]\n"
        "4000,,5,,,,,,,0.008,A100 (0),7,[CUDA memset]\n"
    )
    profile = read_profile(str(path))
    assert copies_of(profile) == [
        (1_000, 1_500, 67_109_000, 0, "[CUDA memcpy Host-to-Device]"),
        (3_000, 8_000, 8_000, 0, "[CUDA memset]"),
    ]
    assert ends_of_calls(profile) == [None, None]


# --- Kineto -----------------------------------------------------------------------------------------------


def copy_event(name: str, ts: float, dur: float | None, **arguments: object) -> dict[str, object]:
    category = "gpu_memset" if "set" in name else "gpu_memcpy"
    times = {"ts": ts} if dur is None else {"ts": ts, "dur": dur}
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7, **times, "args": arguments}


def test_kineto_calls_and_copies_are_those_of_the_events(tmp_path: Path) -> None:
    events = [
        *(kernel(number, ts=1_000 + 100 * number) for number in (3, 1, 2)),
        *(call(number, 900 + 10 * number) for number in (1, 3)),
        call(1, 950.5, "cudaLaunchKernelExC"),
        {**call(7, 990, "cudaStreamSynchronize"), "dur": 300.25},
        {**call(2, 930), "dur": -4},
        copy_event("Memcpy HtoD (Pinned -> Device)", 1_150.125, 2.5, device=0, bytes=4096),
        copy_event("Memset (Device)", 1_160, 1, device=0),
        copy_event("Memcpy DtoH (Device -> Pageable)", 1_170, None, device=0, bytes=8),
        copy_event("Memcpy DtoD (Device -> Device)", 1_180, 3, device=4, bytes=8),
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(trace(*events)))
    profile = read_profile(str(path))
    hold_against(profile, plain_idle.kineto(path))
    # The call of the second has no duration: when it ended is not known.
    assert sorted(ends_of_calls(profile), key=str) == sorted([912_000, None, 932_000], key=str)
    assert [copy[2:] for copy in copies_of(profile)] == [
        (4096, 0, "Memcpy HtoD (Pinned -> Device)"),
        (0, 0, "Memset (Device)"),
        (8, -1, "Memcpy DtoD (Device -> Device)"),
    ]


# --- rocprofv3 --------------------------------------------------------------------------------------------

DISPATCHES = (
    Dispatched(1, 1, 5_000, 5_064, (64, 1, 1), (64, 1, 1), stack=10),
    Dispatched(1, 2, 9_000, 9_400, (64, 1, 1), (64, 1, 1), stack=30, agent=3),
    Dispatched(2, 3, 9_600, 9_500, (64, 1, 1), (64, 1, 1), stack=40),
)
CALLS = (
    *(Called(30, 2_000, 2_100), Called(10, 1_000, 1_150), Called(40, 2_200, 2_300)),
    *(Called(50, 6_000, 8_000, name="hipFree"), Called(51, 7_000, 6_000, name="hipFree")),
    Called(60, 900, 2_500, "forward"),
)
COPIES = (
    Copied(3_000, 3_500, 64, "MEMORY_COPY_HOST_TO_DEVICE", to=2, away=0),
    Copied(7_000, 7_100, 8, "MEMORY_COPY_DEVICE_TO_HOST", to=1, away=3),
    Copied(8_000, 7_900, 8, "MEMORY_COPY_NONE", to=1, away=3),
)


@pytest.mark.parametrize("is_database", [True, False], ids=["rocpd", "json"])
def test_rocprofv3_calls_and_copies(is_database: bool, tmp_path: Path) -> None:
    database = rocpd_file.write_database(tmp_path / "plain.db", DISPATCHES, CALLS, COPIES)
    recording = rocpd_file.json_of(DISPATCHES, CALLS, COPIES)
    profile = read_profile(
        str(database if is_database else rocpd_file.write_json(tmp_path / "r.json", recording))
    )
    hold_against(profile, plain_idle.rocpd(database))
    assert ends_of_calls(profile) == [1_150, 2_100]
    assert [copy[2:] for copy in copies_of(profile)] == [
        (64, 0, "MEMORY_COPY_HOST_TO_DEVICE"),
        (8, 1, "MEMORY_COPY_DEVICE_TO_HOST"),
    ]


def test_calls_of_two_recordings_in_one_database_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "two.db"
    rocpd_file.write_database(path, DISPATCHES[:1], CALLS, COPIES, pid=28, suffix="_a")
    rocpd_file.write_database(path, DISPATCHES[:1], CALLS[1:2], pid=29, suffix="_b")
    profile = read_profile(str(path))
    assert ends_of_calls(profile) == [1_150, 1_150]
    assert profile.activity is not None
    assert np.unique(profile.activity.calls[2]).tolist() == [0, 1]
    assert [copy[3] for copy in copies_of(profile)] == [0, -1]


def test_files_of_several_ranks_are_one_activity(tmp_path: Path) -> None:
    for rank in (0, 1):
        events = [kernel(1, ts=1_000), kernel(2, ts=1_100), call(1, 900 + rank), call(2, 950 + rank)]
        path = tmp_path / f"rank{rank}.json"
        path.write_text(json.dumps(trace(*events, distributedInfo={"rank": rank, "world_size": 2})))
    profile = read_profile(str(tmp_path))
    assert ends_of_calls(profile) == [902_000, 952_000, 903_000, 953_000]
    assert profile.activity is not None
    assert profile.activity.calls[2].tolist() == [0, 0, 1, 1]
