"""Inputs that nobody writes on purpose: exit 3 (or 2 for an option) and one line, never an internal error."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests import small_recordings

PROJECT = Path(__file__).resolve().parents[2]
Kernelpoint = Callable[..., Any]


def one_line(run: Any, code: int) -> str:
    """Return the error of a run that failed as it should."""
    message: str = run.failed(code)
    assert "internal error" not in message
    return message


ODD_TYPES = {
    "decimals": pa.array([Decimal("1.5"), Decimal(10) ** 30], pa.decimal128(38, 2)),
    "lists": pa.array([[1], []]),
    "structs": pa.array([{"name": "a", "duration_ns": 1}] * 2),
    "maps": pa.array([[("a", 1)]] * 2, pa.map_(pa.string(), pa.int64())),
    "dictionaries of numbers": pa.array([1, 2]).dictionary_encode(),
    "infinities": pa.array([1.0, float("inf")]),
    "half infinities": pa.array([1.0, float("inf")]).cast(pa.float16()),
    "timestamps": pa.array([1, 2], pa.timestamp("us")),
    "unsigned beyond 2^63": pa.array([1, 2**64 - 1], pa.uint64()),
    "no utf-8": pa.array([b"\xff", b"b"]),
}


@pytest.mark.parametrize("column", ["name", "duration_ns"])
@pytest.mark.parametrize("kind", ODD_TYPES)
def test_parquet_of_odd_types(kernelpoint: Kernelpoint, tmp_path: Path, kind: str, column: str) -> None:
    if (kind, column) == ("dictionaries of numbers", "duration_ns"):
        return  # these are whole numbers, however they are stored
    columns = {"name": pa.array(["a", "b"]), "duration_ns": pa.array([5, 6])}
    path = tmp_path / "odd.parquet"
    pq.write_table(pa.table({**columns, column: ODD_TYPES[kind]}), path)
    message = one_line(kernelpoint("sample", path), 3)
    assert column in message


@pytest.mark.parametrize("column", ["name", "duration_ns", "process"])
def test_parquet_with_a_column_twice(kernelpoint: Kernelpoint, tmp_path: Path, column: str) -> None:
    columns = {"name": ["a", "b"], "duration_ns": [5, 6], "process": [0, 1]}
    table = pa.table(columns).append_column(column, pa.array(columns[column]))
    pq.write_table(table, tmp_path / "twice.parquet")
    assert f"several columns {column}" in one_line(kernelpoint("info", tmp_path / "twice.parquet"), 3)


def test_features_whose_footer_is_garbled(kernelpoint: Kernelpoint, tmp_path: Path, resnet: Path) -> None:
    """The decoder of the footer raises what Arrow's other decoders do not."""
    path = tmp_path / "features.parquet"
    pq.write_table(pa.table({"id": range(50), "instructions": range(50)}), path)
    data = bytearray(path.read_bytes())
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    data[footer : footer + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    run = kernelpoint("sample", resnet, "--features", path, "--method", "pks")
    assert "cut short or damaged" in one_line(run, 3)


@pytest.mark.parametrize("number", ["9223372036854775808", "9" * 30])
def test_counts_beyond_64_bits(kernelpoint: Kernelpoint, tmp_path: Path, resnet: Path, number: str) -> None:
    blocks = tmp_path / "blocks.csv"
    blocks.write_text(f"Warp ID,Basic Block Counts\nKernel{number},1,4,k\n5,\n")
    counted = tmp_path / "counts.txt"
    counted.write_text(
        f"kernel 0 - k - #thread-blocks 1, kernel instructions {number}, total instructions {number}\n"
    )
    for path in (blocks, counted):
        run = kernelpoint("sample", resnet, "--features", path, "--method", "first-instructions")
        assert "is too large for a count" in one_line(run, 3)


def test_a_text_column_of_blobs(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = small_recordings.nsys_sqlite(tmp_path, "2023.4")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE StringIds SET value = CAST(value AS BLOB)")
    connection.close()
    assert "column value" in one_line(kernelpoint("sample", path), 3)


@pytest.mark.parametrize("place", ["event", "properties"])
def test_deep_json(kernelpoint: Kernelpoint, tmp_path: Path, place: str) -> None:
    deep = "[" * 2000 + "]" * 2000
    event = {"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {"device": 0}}
    document = json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [event]})
    old, new = ('"device": 0', f'"device": {deep}') if place == "event" else ("[]", deep)
    (tmp_path / "deep.json").write_text(document.replace(old, new, 1))
    assert "nested too deeply" in one_line(kernelpoint("info", tmp_path / "deep.json"), 3)


@pytest.mark.parametrize(
    ("log", "column"),
    [
        (f"cycle,instructions,ctas\n500,{2**62},1\n1000,{2**62},1\n", "instructions"),
        (f"interval_cycles,instructions,ctas\n{2**61},5,1\n{2**61},5,1\n{2**61},5,1\n", "interval_cycles"),
        (f"cycle,instructions,ctas\n{2**61},5,1\n{2**61},5,1\n{2**61},5,1\n", "cycle"),
        (f"cycle,instructions,ctas\n500,5,1\n{2**63 - 1},5,1\n", "cycle"),
    ],
)
def test_an_interval_log_beyond_64_bits(
    kernelpoint: Kernelpoint, tmp_path: Path, log: str, column: str
) -> None:
    (tmp_path / "log.csv").write_text(log)
    assert f"column {column}" in one_line(kernelpoint("project", tmp_path / "log.csv"), 3)


@pytest.mark.parametrize("window", [2**63, 10**30])
def test_a_window_beyond_64_bits(kernelpoint: Kernelpoint, tmp_path: Path, window: int) -> None:
    (tmp_path / "log.csv").write_text("cycle,instructions,ctas\n500,5,1\n1000,5,1\n")
    assert "window" in one_line(kernelpoint("project", tmp_path / "log.csv", "--window", window), 2)


def test_a_negative_seed_of_the_miss_rate_curve(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    (tmp_path / "trace.txt").write_text("0x80\n0x100\n")
    run = kernelpoint("scale", "mrc", tmp_path / "trace.txt", "-c", "64KiB", "--seed=-1")
    assert "--seed is 0 or more, not -1" in one_line(run, 2)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names themselves")
def test_a_file_name_that_is_no_text(tmp_path: Path) -> None:
    profile = os.fsencode(tmp_path) + b"/launches-\xff.parquet"
    pq.write_table(pa.table({"name": ["a"] * 4, "duration_ns": [5, 6, 7, 8]}), tmp_path / "x.parquet")
    (tmp_path / "x.parquet").rename(os.fsdecode(profile))
    plan, results = os.fsencode(tmp_path) + b"/plan-\xff.json", os.fsencode(tmp_path) + b"/results-\xff"
    for words in (
        (b"sample", profile, b"-o", plan),
        (b"judge", plan, profile, b"--format", b"json", b"-o", results),
        (b"convert", profile, b"-o", os.fsencode(tmp_path) + b"/copy-\xff.parquet"),
        (b"compare", profile, b"--methods", b"root", b"--format", b"csv", b"-o", results),
    ):
        run = subprocess.run(
            [sys.executable, "-m", "tui", *words], cwd=PROJECT, capture_output=True, check=False
        )
        assert run.returncode == 0, run.stderr
    written = json.loads(Path(os.fsdecode(plan)).read_text(encoding="utf-8"))
    assert os.fsencode(written["profile"]["files"][0]["path"]) == profile
    Path(os.fsdecode(results)).read_text(encoding="utf-8")
