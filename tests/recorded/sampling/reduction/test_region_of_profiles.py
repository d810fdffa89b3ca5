"""Every filter on profiles that others recorded: the launches it keeps, launch by launch in plain Python.

And how long ranks wait for each other, by when they came.
"""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from sampling.errors import EmptySelectionError, NotApplicableError
from sampling.profile.names import readable_name
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import list_launches
from sampling.reduction.range_list import list_ranges
from sampling.reduction.ranks import rank_times
from sampling.reduction.region import Region


class Launch(NamedTuple):
    """A launch of a whole profile."""

    id: int
    process: int
    device: int
    name: str
    duration_ns: int
    start_ns: int | None


def all_launches(profile: Profile) -> list[Launch]:
    """Return every launch of a profile, starts counted from the first launch of its file."""
    timed = "start_ns" in profile.columns
    columns = ["name", "duration_ns", *(["start_ns"] if timed else [])]
    rows: list[Launch] = []
    clocks: list[int] = []
    for part in profile.parts:
        batch = part.load(columns)  # type: ignore[arg-type]
        sequence = profile.sequences[part.sequence]
        starts = batch["start_ns"].tolist() if timed else [None] * part.launches
        for code, duration, start in zip(
            batch["name"].tolist(), batch["duration_ns"].tolist(), starts, strict=True
        ):
            name = profile.kernels.names.full(code)
            rows.append(Launch(len(rows), sequence.process, sequence.device, name, duration, start))
            clocks.append(profile.clocks[part.sequence])
    if not timed:
        return rows
    first = {
        clock: min(row.start_ns or 0 for row, of in zip(rows, clocks, strict=True) if of == clock)
        for clock in set(clocks)
    }
    return [
        row._replace(start_ns=(row.start_ns or 0) - first[clock])
        for row, clock in zip(rows, clocks, strict=True)
    ]


def kept_by(rows: list[Launch], region: Region) -> list[int]:
    """Return the ids that every filter keeps, named ranges aside."""

    def has_any(name: str, patterns: tuple[str, ...]) -> bool:
        return any(re.search(each, form) for each in patterns for form in (name, readable_name(name)))

    def holds(row: Launch) -> bool:
        low, high = region.launches or (None, None)
        begin, end = region.time_ns or (None, None)
        return all(
            (
                not region.devices or row.device in region.devices,
                not region.processes or row.process in region.processes,
                not region.include or has_any(row.name, region.include),
                not has_any(row.name, region.exclude),
                (low or 0) <= row.id and (high is None or row.id < high),
                region.time_ns is None or (begin or 0) <= (row.start_ns or 0),
                end is None or (row.start_ns or 0) < end,
                region.min_duration_ns is None or row.duration_ns >= region.min_duration_ns,
            )
        )

    return [row.id for row in rows if holds(row)]


def ids_of(profile: Profile, region: Region) -> list[int]:
    """Return the ids of the launches that the engine counts."""
    found: list[int] = list_launches(profile, count_durations(profile, Grouping(), region)).id.tolist()
    return found


def filters_of(rows: list[Launch]) -> dict[str, tuple[Region, Region]]:
    """Return for each filter one that keeps some of these launches, and one that keeps none."""
    longest = max(row.duration_ns for row in rows)
    middle = sorted(row.duration_ns for row in rows)[len(rows) // 2]
    name, other = re.escape(rows[0].name), re.escape(rows[-1].name)
    found = {
        "devices": (Region(devices=(rows[0].device,)), Region(devices=(77,))),
        "processes": (Region(processes=(rows[0].process,)), Region(processes=(987_654_321,))),
        "include": (Region(include=(f"^{name}$",)), Region(include=("no such kernel",))),
        "exclude": (Region(exclude=(f"^{name}$",)), Region(exclude=(".",))),
        "launches": (Region(launches=(1, len(rows))), Region(launches=(len(rows), None))),
        "min_duration_ns": (
            Region(min_duration_ns=max(middle, 1), include=(f"^({name}|{other})$", "a")),
            Region(min_duration_ns=longest + 1),
        ),
    }
    starts = [row.start_ns for row in rows if row.start_ns is not None]
    if starts:
        window = (min(starts), sorted(starts)[len(starts) * 2 // 3])
        found["time_ns"] = (Region(time_ns=window), Region(time_ns=(max(starts) + 1, None)))
    return found


RangeIds = Callable[[Path, str], list[int]]


def kineto_range(path: Path, text: str) -> list[int]:
    """Return the ids of the launches called in annotations of one name, from the trace itself."""
    raw = path.read_bytes()
    events = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)["traceEvents"]
    calls = {
        event["args"]["correlation"]: event["ts"]
        for event in events
        if event.get("cat") in {"cuda_runtime", "cuda_driver"} and "correlation" in event["args"]
    }
    kernels = [event for event in events if event.get("cat") == "kernel"]
    order = sorted((kernel["args"]["device"], calls[kernel["args"]["correlation"]]) for kernel in kernels)
    ranges = [
        (event["ts"], event["ts"] + event["dur"])
        for event in events
        if event.get("cat") == "user_annotation" and event["name"] == text and event["ph"] == "X"
    ]
    return [
        place for place, (_, call) in enumerate(order) if any(start <= call < end for start, end in ranges)
    ]


def nsys_range(path: Path, text: str) -> list[int]:
    """Return the ids of the launches called in NVTX ranges of one name, from the tables of the export.

    Correlation numbers count the calls, of which some may not have been recorded.
    """
    pid = "/ 0x1000000 % 0x1000000"
    with closing(sqlite3.connect(path)) as connection:
        ranges = connection.execute(
            f"SELECT globalTid {pid}, start, end FROM NVTX_EVENTS WHERE eventType IN (59, 60) AND "
            "(text = :text OR textId IN (SELECT id FROM StringIds WHERE value = :text))",
            {"text": text},
        ).fetchall()
        launches = connection.execute(
            f"SELECT kernel.globalPid {pid}, call.start FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernel "
            "LEFT JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call ON call.correlationId = kernel.correlationId "
            f"AND call.globalTid {pid} = kernel.globalPid {pid} "
            f"ORDER BY kernel.globalPid {pid}, kernel.deviceId, kernel.correlationId"
        ).fetchall()
    return [
        place
        for place, (process, call) in enumerate(launches)
        if call is not None
        and any(of == process and start <= call and (end is None or call < end) for of, start, end in ranges)
    ]


#: Files, and for those with ranges of the program one of them.
FILES: dict[str, tuple[str, RangeIds] | None] = {
    "kineto/a100-recommendation-training.json.gz": ("ProfilerStep#1010", kineto_range),
    "kineto/v100-resnet50-training.json.gz": None,
    "nsys-sqlite/a100-nerf-nsys2021.5.sqlite": ("cublasSgemmEx", nsys_range),
    "nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite": ("aten::linear, op_id = 317825", nsys_range),
    "nsys-csv/rtx3090-gaussian-gputrace-nsys2022.4.csv": None,
    "rocm/mi300x-gemm-rocprofv3.db": None,
}


@pytest.fixture(scope="module", params=FILES)
def recorded(request: pytest.FixtureRequest, shared_data: Path) -> tuple[str, Profile, list[Launch]]:
    """A profile and its launches one by one."""
    profile = read_profile([str(shared_data / request.param)])
    return request.param, profile, all_launches(profile)


def test_every_filter_keeps_what_it_says(recorded: tuple[str, Profile, list[Launch]]) -> None:
    _, profile, rows = recorded
    for name, (some, none) in filters_of(rows).items():
        assert ids_of(profile, some) == kept_by(rows, some), name
        with pytest.raises(EmptySelectionError, match=f"^`{name}="):
            ids_of(profile, none)


def test_a_range_keeps_what_was_called_in_it(
    recorded: tuple[str, Profile, list[Launch]], shared_data: Path
) -> None:
    name, profile, _ = recorded
    known = FILES[name]
    if known is None:
        with pytest.raises((EmptySelectionError, NotApplicableError), match="`named_range"):
            ids_of(profile, Region(named_range="no such range"))
        return
    text, held_by = known
    held = held_by(shared_data / name, text)
    assert held
    assert ids_of(profile, Region(named_range=text)) == held


def test_a_range_that_lies_in_another_is_selected_by_its_path(
    recorded: tuple[str, Profile, list[Launch]],
) -> None:
    _, profile, _ = recorded
    listed = list_ranges(profile, Region())
    nested = [
        path
        for path in listed.select_paths(by_time=True, limit=200)
        if path < listed.found_from and listed.paths.depth[path] > 0
    ]
    for path in nested[:2]:
        ids = ids_of(profile, Region(named_range=listed.paths.written(path)))
        expected = (listed.launches[path], listed.first[path], listed.last[path])
        assert (len(ids), ids[0], ids[-1]) == expected


@pytest.mark.parametrize(
    ("name", "path", "times", "rows"),
    [
        ("nsys-sqlite/h100x2-training-overlap-nsys2026.2.sqlite", "FlashAttnFunc", 66, 39),
        ("nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite", "aten::linear/aten::matmul/aten::mm", 132, 55),
        ("kineto/v100-resnet50-training.json.gz", "ProfilerStep#*", 6, 3),
    ],
)
def test_calls_and_steps_are_one_row_that_selects_them_all(
    shared_data: Path, name: str, path: str, times: int, rows: int
) -> None:
    profile = read_profile([str(shared_data / name)])
    listed = list_ranges(profile, Region())
    paths = [place for place in listed.select_paths() if place < listed.found_from]
    named = {listed.paths.written(place): place for place in paths}
    assert (len(named), listed.times[named[path]]) == (rows, times)
    ids = ids_of(profile, Region(named_range=path))
    assert (len(ids), ids[0]) == (listed.launches[named[path]], listed.first[named[path]])


def test_ranks_wait_as_long_by_durations_as_by_starts_on_one_clock(shared_data: Path) -> None:
    """Two H100 of one recording exchange data: who comes first waits until the other one has come."""
    profile = read_profile([str(shared_data / "nsys-sqlite" / "h100x2-training-overlap-nsys2026.2.sqlite")])
    one, other = (
        [
            launch.start_ns or 0
            for launch in all_launches(profile)
            if launch.process == process and "nccl" in launch.name
        ]
        for process in (144, 145)
    )
    by_start_ns = [sum(max(pair) - pair[place] for pair in zip(one, other, strict=True)) for place in (0, 1)]
    waited_ns = [rank.waiting_ns for rank in rank_times(profile, Region()).ranks]
    assert waited_ns == pytest.approx(by_start_ns, rel=0.05)
