"""Files that were once read wrong or refused with a false reason, against the values that are right."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Profile
from tests.sampling.readers.kineto_traces import operators
from tests.sampling.readers.launches_told import Json, Told, read, shapes, told


@pytest.fixture(scope="module")
def cases(shared_data: Path) -> Path:
    return shared_data / "turn4" / "cases"


def _ns(microseconds: Any) -> int:
    return int(Decimal(str(microseconds)) * 1000)


def _total_ns(profile: Profile) -> int:
    return sum(launch.duration_ns for launch in told(profile))


# What is right besides the number of launches, and the total where it is said first.
_SAID_ONLY = {"merged-ranks.json", "impossible-durations.json", "ts0.json"}
_REFUSALS = {
    "mgpusim-aes-metrics.csv.gz": "MGPUSim",
    "nsys-driver-too-new-2025.1.sqlite": "CUDA driver version (13.3) is not supported",
    "nsys-no-cuda-events-2025.3.sqlite": "No CUDA events collected",
}


def _ranks_are_apart(profile: Profile) -> bool:
    totals, sizes = {}, {}
    for launch, size in zip(told(profile), shapes(profile), strict=True):
        totals[launch.process] = totals.get(launch.process, 0) + launch.duration_ns
        sizes[launch.process] = size
    assert totals == {0: 1_200_000, 1: 1_230_000}
    return sizes == {0: ((8, 1, 1), (64, 1, 1)), 1: ((108, 1, 1), (128, 1, 1))}


_MORE: dict[str, Callable[[Profile], bool]] = {
    "dropped-at-start.json": lambda p: (p.facts.calls_without_kernel, p.facts.launch_calls) == (20, 50),
    "sglang-capture-bs32.json.gz": lambda p: (
        (p.facts.calls_without_kernel, p.facts.launch_calls) == (544, 546)
    ),
    "empty-name.json": lambda p: sum(launch.name == "(no name)" for launch in told(p)) == 1,
    "negative-dur.json": lambda p: p.facts.rows_left_out == 1,
    "impossible-durations.json": lambda p: p.facts.overlong == 1 and _total_ns(p) <= 1_890_000,
    "ts0.json": lambda p: p.facts.without_start == 2,
    "merged-ranks.json": _ranks_are_apart,
    "jax-mi300-te.trace.json.gz": lambda p: len({launch.name for launch in told(p)}) == 19,
    "rocprofv3-decode-fetch-counters.csv": lambda p: len({launch.name for launch in told(p)}) == 17,
    "rocm-counters-with-times.csv": lambda p: {*shapes(p)} == {((256, 1, 1), (256, 1, 1))},
}


def _is_right(path: Path, right: Json) -> bool:
    if path.name in _REFUSALS:
        with pytest.raises(ProfileError) as caught:
            read(path)
        return _REFUSALS[path.name] in caught.value.message and bool(caught.value.remedy)
    profile = read(path)
    total = re.search(r"(?<!span of the rest )\b([\d,.]+) (ns|us|cycles)\b", right["right"])
    if total is not None and path.name not in _SAID_ONLY:
        number = total[1].replace(",", "")
        if _total_ns(profile) != (_ns(number) if total[2] == "us" else int(number)):
            return False
    return profile.launches == right["launches"] and _MORE.get(path.name, lambda _: True)(profile)


def test_none_of_them_is_wrong_now(cases: Path) -> None:
    right = json.loads((cases / "right.json").read_text())
    assert not (_MORE.keys() | _REFUSALS.keys()) - right.keys()
    assert [name for name in sorted(right) if not _is_right(cases / name, right[name])] == []


# --- the traces of other tools, by plain JSON ---------------------------------------------------------------


def _events(path: Path) -> list[Json]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    document = json.loads(text)
    return document if isinstance(document, list) else document["traceEvents"]


def test_the_trace_of_jax_is_read_as_plain_json_has_it(cases: Path) -> None:
    path = cases / "jax-mi300-te.trace.json.gz"
    events = [event for event in _events(path) if event.get("args", {}).get("kernel_details")]
    events.sort(key=lambda event: (int(event["args"]["correlation_id"]), event["ts"]))
    expected = []
    for event in events:
        sizes = re.findall(r"(?:grid|block):(\d+),(\d+),(\d+)", event["args"]["kernel_details"])
        grid, block = (tuple(map(int, size)) for size in sizes)
        name = event["name"].removesuffix(" [clone .kd]").removesuffix(".kd")
        expected.append(Told(0, 0, name, _ns(event["ts"]), _ns(event["dur"]), 2, grid, block))  # type: ignore[arg-type]
    profile = read(path)
    assert told(profile) == expected
    assert operators(profile) == [event["args"]["hlo_op"] for event in events]
    assert (len(expected), _total_ns(profile)) == (150, 12_133_585)


def test_the_traces_of_other_tools_are_read_as_plain_json_has_them(cases: Path) -> None:
    kernels = [event for event in _events(cases / "ort.json") if "grid_x" in event["args"]]
    assert told(read(cases / "ort.json")) == [
        Told(
            *(0, 0, event["name"], _ns(event["ts"]), _ns(event["dur"]), int(event["args"]["stream"])),
            *(tuple(int(event["args"][f"{unit}_{axis}"]) for axis in "xyz") for unit in ("grid", "block")),
        )
        for event in kernels
    ]
    path = cases / "proton-old-one-stream.chrome_trace"
    assert told(read(path)) == [
        Told(0, 0, event["name"], event["ts"], event["dur"], event["tid"], None, None)
        for event in _events(path)
    ]
    path = cases / "unitrace.json"
    assert told(read(path)) == [
        Told(0, 0, "GEMM", _ns(event["ts"]), _ns(event["dur"]), 0, (64, 1, 1), (256, 1, 1))
        for event in _events(path)
        if event.get("cat") == "gpu_op"
    ]


# --- ROCm's files, by sqlite3 and csv -----------------------------------------------------------------------


def test_the_files_of_rocm_are_read_as_plain_readers_have_them(cases: Path) -> None:
    path = cases / "rocprof-v1-mm-results.db"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        rows = connection.execute("SELECT BeginNs, EndNs FROM A").fetchall()
    spans = sorted((int(begin), int(end) - int(begin)) for begin, end in rows)
    for form in ("db", "json"):
        found = told(read(path.with_suffix(f".{form}")))
        assert sorted((launch.start_ns, launch.duration_ns) for launch in found) == spans
    path = cases / "rocprofv3-decode-fetch-counters.csv"
    with path.open(newline="") as stream:
        dispatches = {row["Dispatch_Id"]: row for row in csv.DictReader(stream)}
    profile = read(path)
    assert [(launch.name, launch.start_ns, launch.duration_ns) for launch in told(profile)] == [
        (
            row["Kernel_Name"].removesuffix(".kd").removesuffix(" [clone .kd]"),
            int(row["Start_Timestamp"]),
            int(row["End_Timestamp"]) - int(row["Start_Timestamp"]),
        )
        for row in dispatches.values()
    ]
    counters = [float(row["Counter_Value"]) for row in dispatches.values()]
    (part,) = profile.parts
    assert part.metrics(["FETCH_SIZE"])["FETCH_SIZE"].tolist() == counters
