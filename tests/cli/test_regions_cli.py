"""`--range` and `--time`: the launches they keep, the plans they make, and what cannot be asked for."""

from __future__ import annotations

import gzip
import json
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Run = Any
Kernelpoint = Callable[..., Run]
Json = dict[str, Any]

COUNTED = ("--format", "json")


@pytest.fixture(scope="module")
def events(gpt2: Path) -> list[Json]:
    """All events of the trace."""
    found: list[Json] = json.loads(gzip.decompress(gpt2.read_bytes()))["traceEvents"]
    return found


@pytest.fixture(scope="module")
def durations_of_steps(events: list[Json]) -> dict[str, list[int]]:
    """For each step the durations in ns of the launches called in it, in the order of the calls."""
    calls = {
        event["args"]["correlation"]: event["ts"] for event in events if event.get("cat") == "cuda_runtime"
    }
    kernels = [event for event in events if event.get("cat") == "kernel"]
    called = sorted((calls[event["args"]["correlation"]], round(event["dur"] * 1000)) for event in kernels)
    return {
        step["name"]: [duration for at, duration in called if step["ts"] <= at < step["ts"] + step["dur"]]
        for step in events
        if step.get("cat") == "user_annotation"
    }


@pytest.fixture(scope="module")
def starts(resnet: Path) -> list[tuple[int, int]]:
    """(start after the first, duration) in ns of every launch of the resnet sample."""
    with closing(sqlite3.connect(resnet)) as connection:
        rows = connection.execute("SELECT start, end - start FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchall()
    first = min(start for start, _ in rows)
    return [(start - first, duration) for start, duration in rows]


def test_steps_share_the_launches_out_among_them(
    kernelpoint: Kernelpoint, gpt2: Path, durations_of_steps: dict[str, list[int]]
) -> None:
    told = 0
    for step in ("ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#40"):
        results = kernelpoint("info", gpt2, "--range", step, *COUNTED).results
        assert results["launches"] == len(durations_of_steps[step]) > 0
        assert results["total_duration_ns"] == sum(durations_of_steps[step])
        told += results["launches"]
    together = kernelpoint("info", gpt2, "--range", "Step#", *COUNTED).results
    assert told < together["launches"] == sum(map(len, durations_of_steps.values())) <= 13_920


@pytest.mark.parametrize("window", ["0:1000000", "5000000:", ":123457", "20000000:21000000"])
def test_a_window_of_time_keeps_what_starts_in_it(
    kernelpoint: Kernelpoint, resnet: Path, starts: list[tuple[int, int]], window: str
) -> None:
    low, high = (int(bound) if bound else None for bound in window.split(":"))
    inside = [
        duration for start, duration in starts if (low or 0) <= start and (high is None or start < high)
    ]
    results = kernelpoint("info", resnet, "--time", window, *COUNTED).results
    assert (results["launches"], results["total_duration_ns"]) == (len(inside), sum(inside))


@pytest.mark.parametrize("words", [("--range", "ProfilerStep#7"), ("--time", "9000000:30000000")])
@pytest.mark.parametrize(
    "command",
    [
        *("open", "summary", "info", "groups", "ranges", "histogram", "timeline", "tree"),
        *("sample", "trade-off", "compare", "convert", "report"),
    ],
)
def test_every_command_that_reads_a_profile_takes_them(
    kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path, command: str, words: tuple[str, str]
) -> None:
    more = {
        "convert": ("-o", str(tmp_path / "x.parquet")),
        "compare": ("--methods", "root", "--repeats", "3"),
        "report": ("-o", str(tmp_path / "x.html"), "--method", "random"),
        "trade-off": ("--epsilons", "0.05"),
    }
    run = kernelpoint(command, gpt2, *words, *more.get(command, ()), *COUNTED)
    assert run.code == 0, run.err
    kept = kernelpoint("info", gpt2, *words, *COUNTED).results["launches"]
    if command in {"summary", "open", "convert", "sample"}:
        assert run.results["launches"] == kept
    if command == "groups":
        assert sum(row["launches"] for row in run.results) == kept


@pytest.mark.parametrize(
    "words",
    [
        ("--range", "ProfilerStep#7"),
        ("--range", "ProfilerStep#1", "--time", "900000:", "--exclude", "gemm"),
        ("--time", "9000000:30000000", "--launches", "1500:"),
    ],
)
def test_a_plan_is_judged_on_the_launches_it_was_made_of(
    kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = tmp_path / "plan.json"
    shown = kernelpoint("sample", gpt2, *words, "-o", path, *COUNTED)
    assert shown.code == 0, shown.err
    plan = json.loads(path.read_text())
    assert plan["options"]["range"] == (words[1] if words[0] == "--range" else None)
    assert plan["options"]["time"] == (words[words.index("--time") + 1] if "--time" in words else None)
    assert plan["profile"]["launches"] == shown.results["launches"] < plan["profile"]["files"][0]["launches"]
    judged = kernelpoint("judge", path, gpt2, "--repeats", "20", *COUNTED)
    assert judged.code == 0, judged.err
    assert judged.results["total_duration_ns"] == shown.results["total_duration_ns"]
    assert judged.results["error"] == pytest.approx(shown.results["error"])


def test_drawn_launches_keep_the_ids_of_the_whole_profile(
    kernelpoint: Kernelpoint, gpt2: Path, durations_of_steps: dict[str, list[int]], events: list[Json]
) -> None:
    text = "ProfilerStep#7"
    plan = kernelpoint("sample", gpt2, "--range", text, "--epsilon", "0.01", "--judge", "0", "-o", "-").json
    steps = list(durations_of_steps)
    first = sum(len(durations_of_steps[step]) for step in steps[: steps.index(text)])
    drawn = [launch for stratum in plan["strata"] for launch in stratum["launches"]]
    assert drawn
    for launch in drawn:
        assert durations_of_steps[text][launch["id"] - first] == launch["duration_ns"]


@pytest.mark.parametrize("garbled", [{"time": "soon"}, {"time": 3}, {"range": ""}, {"range": 3}])
def test_a_plan_with_garbled_options_is_3(
    kernelpoint: Kernelpoint, resnet: Path, plan_file: Path, tmp_path: Path, garbled: Json
) -> None:
    plan = json.loads(plan_file.read_text())
    plan["options"] |= garbled
    path = tmp_path / "garbled.json"
    path.write_text(json.dumps(plan))
    said = kernelpoint("judge", path, resnet).failed(3)
    name = next(iter(garbled))
    assert f"at `$.options.{name}`" in said or f"a plan with bad options (--{name} " in said


def test_a_range_of_a_profile_from_standard_input(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    path = tmp_path / "annotated.sqlite"
    path.write_bytes(resnet.read_bytes())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid)")
        connection.execute(
            "INSERT INTO NVTX_EVENTS SELECT MIN(start), (MIN(start) + MAX(start)) / 2, 59, 'half', globalTid "
            "FROM CUPTI_ACTIVITY_KIND_RUNTIME"
        )
        expected = connection.execute(
            "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call "
            "USING (correlationId) WHERE call.start < (SELECT end FROM NVTX_EVENTS)"
        ).fetchone()
    piped = kernelpoint("sample", "-", "--range", "half", *COUNTED, stdin=path.read_bytes())
    assert piped.code == 0, piped.err
    assert (piped.results["launches"],) == expected
    assert 0 < piped.results["launches"] < 5600


def test_what_next_names_the_range_ready_for_a_shell(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    chosen = ("--range", "ProfilerStep#7", "--time", "0:90000000")
    for line in kernelpoint("summary", gpt2, *chosen, *COUNTED).results["next"]:
        words = shlex.split(line)
        assert words[words.index("--range") + 1] == chosen[1]
        assert words[words.index("--time") + 1] == chosen[3]


@pytest.mark.parametrize("window", ["5", "a:b", "-1:5", "5:1", "1.5:3", ""])
def test_what_is_no_window_of_time_is_2(kernelpoint: Kernelpoint, resnet: Path, window: str) -> None:
    said = kernelpoint("info", resnet, f"--time={window}").failed(2)
    assert f"--time {window}: nanoseconds as A:B" in said


def test_a_range_without_a_name_is_2(kernelpoint: Kernelpoint, resnet: Path) -> None:
    assert "--range is empty" in kernelpoint("info", resnet, "--range=").failed(2)


def test_nothing_left_is_4_and_says_what_there_is(kernelpoint: Kernelpoint, gpt2: Path, resnet: Path) -> None:
    said = kernelpoint("summary", gpt2, "--range", "backward").failed(4)
    assert "--range 'backward'" in said
    assert "'ProfilerStep#0', 'ProfilerStep#1'" in said
    assert "no range in this profile" in kernelpoint("summary", resnet, "--range", "x").failed(4)
    assert "--time 999999999999:" in kernelpoint("summary", gpt2, "--time", "999999999999:").failed(4)


def test_what_the_profile_does_not_record_is_1_and_says_what_does(
    kernelpoint: Kernelpoint, resnet_csv: Path, gpt2: Path, tmp_path: Path
) -> None:
    said = kernelpoint("summary", resnet_csv, "--range", "x").failed(1)
    assert "nsys-csv" in said
    assert "Kineto" in said
    assert "nsys SQLite" in said
    assert "--range" in kernelpoint("summary", gpt2, resnet_csv, "--range", "Step").failed(1)
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"name": ["k"], "duration_ns": [5]}), path)
    assert "start_ns" in kernelpoint("summary", path, "--time", "0:5").failed(1)


def test_every_file_has_a_first_launch_of_its_own(kernelpoint: Kernelpoint, gpt2: Path, resnet: Path) -> None:
    alone = [
        kernelpoint("info", path, "--time", ":5000000", *COUNTED).results["launches"]
        for path in (gpt2, resnet)
    ]
    both = kernelpoint("info", gpt2, resnet, "--time", ":5000000", *COUNTED).results["launches"]
    assert both == sum(alone)
    assert min(alone) > 0
    step = kernelpoint("info", gpt2, resnet, "--range", "ProfilerStep#3", *COUNTED).results["launches"]
    assert step == kernelpoint("info", gpt2, "--range", "ProfilerStep#3", *COUNTED).results["launches"]
