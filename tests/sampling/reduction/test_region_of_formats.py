"""Every filter on every format: the launches it keeps, by their ids, and what is said where it keeps none."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sampling.errors import EmptySelectionError, NotApplicableError
from sampling.profile.profile import Profile
from sampling.readers.launch_parquet import write_launch_parquet
from sampling.readers.registry import read_profile
from sampling.reduction.region import Region
from tests import small_recordings
from tests.region_cases import (
    Launch,
    all_launches,
    filters_of,
    ids_of,
    kept_by,
    kineto_range,
    nsys_range,
)
from tests.sampling.readers import test_nvprof as nvprof
from tests.sampling.readers import test_pipit_csv
from tests.sampling.readers import test_rocm_csv as rocprof_csv
from tests.sampling.readers import test_rocprofv3 as rocprofv3
from tests.sampling.readers.rocpd_file import json_of, write_database, write_json

HALF = "half"
CALLS = (*rocprofv3.CALLS, *rocprofv3.MARKERS)


def _annotated(folder: Path) -> Path:
    path = small_recordings.nsys_sqlite(folder, "2023.4")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) "
            "SELECT MIN(start), (MIN(start) + MAX(start)) / 2, 59, ?, globalTid "
            "FROM CUPTI_ACTIVITY_KIND_RUNTIME",
            (HALF,),
        )
    return path


def _parquet(folder: Path) -> Path:
    path = folder / "whole.parquet"
    write_launch_parquet(read_profile([str(_annotated(folder))]), Region(), path)
    return path


def _bare_parquet(folder: Path) -> Path:
    path = folder / "bare.parquet"
    pq.write_table(pa.table({"name": list("abcab"), "duration_ns": [5, 9, 2, 7, 9]}), path)
    return path


FORMATS: dict[str, Callable[[Path], Path]] = {
    "nsys-sqlite": _annotated,
    "nsys-parquetdir": lambda folder: small_recordings.nsys_parquetdir(folder, "2023.4"),
    "nsys-csv": lambda folder: small_recordings.nsys_csv(folder, "2023.4"),
    "nsys-csv of executions": small_recordings.nsys_execution_csv,
    "kineto": lambda folder: small_recordings.kineto(folder, "2.4"),
    "rocpd": lambda folder: write_database(
        folder / "r.db", rocprofv3.DISPATCHES, (*rocprofv3.CALLS, *rocprofv3.MARKERS)
    ),
    "rocprofv3-json": lambda folder: write_json(
        folder / "r.json", json_of(rocprofv3.DISPATCHES, (*rocprofv3.CALLS, *rocprofv3.MARKERS))
    ),
    "rocprof-csv": lambda folder: rocprof_csv.written(folder, rocprof_csv.text_of(rocprof_csv.V3)),
    "nvprof": lambda folder: nvprof.written(folder, nvprof.BANNER, [nvprof.HEADER], nvprof.ROWS),
    "pipit-csv": lambda folder: test_pipit_csv.write(folder, test_pipit_csv.ROWS),
    "kernelpoint-parquet": _parquet,
    "kernelpoint-parquet without starts": _bare_parquet,
}
#: What a range of the program is called and which launches it holds, where the format has any.
RANGES: dict[str, tuple[str, Callable[[Path], list[int]]]] = {
    "nsys-sqlite": (HALF, lambda path: nsys_range(path, HALF)),
    "nsys-parquetdir": (
        small_recordings.RANGE,
        lambda _: list(range(small_recordings.LAUNCHES)),
    ),
    "kineto": ("ProfilerStep#1", lambda path: kineto_range(path, "ProfilerStep#1")),
    "rocpd": ("forward/layer 1", lambda _: [1]),
    "rocprofv3-json": ("layer 1", lambda _: [1]),
}
FILTERS = ("devices", "processes", "include", "exclude", "launches", "time_ns", "min_duration_ns")

Read = tuple[Path, Profile, list[Launch]]


@pytest.fixture(scope="module", params=FORMATS)
def recording(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Read]:
    """A small recording of one format, read once, and its launches one by one."""
    path = FORMATS[request.param](tmp_path_factory.mktemp("recording"))
    profile = read_profile([str(path)])
    return request.param, (path, profile, all_launches(profile))


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_keeps_what_it_says(recording: tuple[str, Read], name: str) -> None:
    _, (_, profile, rows) = recording
    filters = filters_of(rows)
    if name not in filters:
        with pytest.raises(NotApplicableError, match=f"`{name}` needs") as refused:
            ids_of(profile, Region(time_ns=(0, 5)))
        assert refused.value.remedy
        return
    some, none = filters[name]
    expected = kept_by(rows, some)
    assert expected
    assert ids_of(profile, some) == expected
    with pytest.raises(EmptySelectionError, match=f"^`{name}=[^`]*` leaves no launch") as empty:
        ids_of(profile, none)
    assert "\n" not in str(empty.value)
    assert kept_by(rows, none) == []


def test_a_named_range_keeps_what_was_called_in_it(recording: tuple[str, Read]) -> None:
    name, (path, profile, rows) = recording
    if name not in RANGES:
        with pytest.raises(NotApplicableError, match=f"`named_range` needs .* {profile.format} has none"):
            ids_of(profile, Region(named_range="x"))
        return
    text, held_by = RANGES[name]
    held = held_by(path)
    assert held
    assert ids_of(profile, Region(named_range=text)) == held
    both = Region(named_range=text, launches=(1, len(rows) - 1))
    assert ids_of(profile, both) == kept_by(rows, both, held)
    with pytest.raises(EmptySelectionError, match=r"^`named_range='no such range'` leaves no launch"):
        ids_of(profile, Region(named_range="no such range"))


def test_filters_hold_together(recording: tuple[str, Read]) -> None:
    _, (_, profile, rows) = recording
    durations = sorted(row.duration_ns for row in rows)
    region = Region(
        devices=(rows[0].device,),
        exclude=("no such kernel",),
        launches=(0, len(rows) - 1),
        min_duration_ns=max(durations[len(rows) // 3], 1),
    )
    assert ids_of(profile, region) == kept_by(rows, region)


def test_two_files_are_filtered_as_one_workload(tmp_path: Path) -> None:
    trace = small_recordings.kineto(tmp_path, "2.4")
    profile = read_profile([str(trace), str(_annotated(tmp_path))])
    rows = all_launches(profile)
    before = len(all_launches(read_profile([str(trace)])))
    for name, (some, none) in filters_of(rows).items():
        assert ids_of(profile, some) == kept_by(rows, some)
        with pytest.raises(EmptySelectionError, match=f"^`{name}="):
            ids_of(profile, none)
    held = nsys_range(tmp_path / "small-2023.4.sqlite", HALF)
    assert ids_of(profile, Region(named_range=HALF)) == [before + each for each in held]
