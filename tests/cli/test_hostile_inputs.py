"""What nobody writes on purpose, and what is rare and legal: a defined answer, never a traceback."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests import small_recordings
from tests.cli.conftest import JSON, PROJECT, Kernelpoint, environment, results

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
    assert column in kernelpoint("sample", path).failed(3)


@pytest.mark.parametrize("column", ["name", "process"])
def test_parquet_with_a_column_twice(kernelpoint: Kernelpoint, tmp_path: Path, column: str) -> None:
    columns = {"name": ["a", "b"], "duration_ns": [5, 6], "process": [0, 1]}
    table = pa.table(columns).append_column(column, pa.array(columns[column]))
    pq.write_table(table, tmp_path / "twice.parquet")
    assert f"column {column}: " in kernelpoint("info", tmp_path / "twice.parquet").failed(3)


def test_features_whose_footer_is_garbled(kernelpoint: Kernelpoint, tmp_path: Path, resnet: Path) -> None:
    """The decoder of the footer raises what Arrow's other decoders do not."""
    path = tmp_path / "features.parquet"
    pq.write_table(pa.table({"id": range(50), "instructions": range(50)}), path)
    data = bytearray(path.read_bytes())
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    data[footer : footer + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    run = kernelpoint("sample", resnet, "--features", path, "--method", "pks")
    assert "damaged or cut short" in run.failed(3)


def test_a_text_column_of_blobs(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = small_recordings.nsys_sqlite(tmp_path, "2023.4")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE StringIds SET value = CAST(value AS BLOB)")
    connection.close()
    assert "no kernel name" in kernelpoint("sample", path).failed(3)


_EVENT = {"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {"device": 0}}
_TRACE = json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [_EVENT]})
_NESTED = "[" * 2000 + "]" * 2000
_DOTTED = "a." * 100_000 + "a"
_DIGITS = "9" * 30

# The command with FILE, its text, and what is said of it.
TEXTS: dict[str, tuple[str, str, str]] = {
    "deep event": ("info FILE", _TRACE.replace('"device": 0', f'"device": {_NESTED}'), "cannot be"),
    "deep properties": ("info FILE", _TRACE.replace("[]", _NESTED), "cannot be"),
    "a warp's blocks beyond 64 bits": (
        "sample PROFILE --method first-instructions --features FILE",
        f"Warp ID,Basic Block Counts\nKernel{_DIGITS},1,4,k\n5,\n",
        "row 2: no launch",
    ),
    "instructions beyond 64 bits": (
        "sample PROFILE --method first-instructions --features FILE",
        f"kernel 0 - k - #thread-blocks 1, kernel instructions {2**63}, total instructions {2**63}\n",
        "without a whole line",
    ),
    "sums beyond 64 bits": (
        "project FILE",
        f"cycle,instructions,ctas\n500,{2**62},1\n1000,{2**62},1\n",
        "column instructions",
    ),
    "a cycle at the end of 64 bits": (
        "project FILE",
        f"cycle,instructions,ctas\n500,5,1\n{2**63 - 1},5,1\n",
        "column cycle",
    ),
    "a deep table": ("scale predict FILE", f"[{_DOTTED}]\n", "FILE"),
    "a deep key": ("scale derive FILE --factor 2", f"{_DOTTED} = 1\n", "FILE"),
    "a deep list of tables": ("scale predict FILE", f"[ipc]\n8 = 1\n[[{_DOTTED}]]\n", "FILE"),
    "a toml that nobody wrote": ("scale predict FILE", "# comment\n" * 200_000, "FILE"),
}


@pytest.mark.parametrize("what", TEXTS)
def test_texts_beyond_all_measure(kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, what: str) -> None:
    """They are refused in a short line, and soon."""
    line, text, said = TEXTS[what]
    path = tmp_path / ("file.toml" if line.startswith("scale") else "file")
    path.write_text(text)
    began = time.process_time()
    error = kernelpoint(*({"FILE": path, "PROFILE": resnet}.get(word, word) for word in line.split())).failed(
        3
    )
    assert time.process_time() - began < 5
    assert said.replace("FILE", path.name) in error
    assert len(error) < 500


@pytest.mark.parametrize("words", ["trade-off", "histogram", "compare --scatter", "scale predict", "project"])
def test_a_chart_is_no_larger_than_can_be_drawn(kernelpoint: Kernelpoint, words: str) -> None:
    for flag, most in (("--width", "10,000"), ("--height", "1,000")):
        said = kernelpoint(*words.split(), "missing", flag, "100000").failed(2)
        assert f"{flag} is at most {most}, not 100000" in said


@pytest.mark.parametrize("window", [2**63, 10**30])
def test_a_window_beyond_64_bits(kernelpoint: Kernelpoint, tmp_path: Path, window: int) -> None:
    (tmp_path / "log.csv").write_text("cycle,instructions,ctas\n500,5,1\n1000,5,1\n")
    assert "window" in kernelpoint("project", tmp_path / "log.csv", "--window", window).failed(2)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names themselves")
def test_a_file_name_that_is_no_text(tmp_path: Path) -> None:
    profile = os.fsencode(tmp_path) + b"/launches-\xff.parquet"
    pq.write_table(pa.table({"name": ["a"] * 4, "duration_ns": [5, 6, 7, 8]}), tmp_path / "x.parquet")
    (tmp_path / "x.parquet").rename(os.fsdecode(profile))
    plan, written = os.fsencode(tmp_path) + b"/plan-\xff.json", os.fsencode(tmp_path) + b"/results-\xff"
    for words in (
        (b"sample", profile, b"-o", plan),
        (b"judge", plan, profile, b"--format", b"json", b"-o", written),
        (b"convert", profile, b"-o", os.fsencode(tmp_path) + b"/copy-\xff.parquet"),
    ):
        run = subprocess.run(
            [sys.executable, "-m", "tui", *words], cwd=PROJECT, capture_output=True, check=False
        )
        assert run.returncode == 0, run.stderr
    document = json.loads(Path(os.fsdecode(plan)).read_text(encoding="utf-8"))
    assert os.fsencode(document["profile"]["files"][0]["path"]) == profile
    Path(os.fsdecode(written)).read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["table", "json"])
def test_an_encoding_without_the_letter_is_no_error(tmp_path: Path, form: str) -> None:
    path = parquet(tmp_path, ["µ-kernel"] * 4, [5, 6, 7, 8])
    run = subprocess.run(
        [sys.executable, "-m", "tui", "groups", str(path), "--format", form],
        capture_output=True,
        cwd=PROJECT,
        env=environment(PYTHONIOENCODING="ascii"),
        check=False,
    )
    assert run.returncode == 0
    assert b"-kernel" in run.stdout
    assert run.stdout.isascii()


def parquet(folder: Path, names: list[str], durations_ns: list[int]) -> Path:
    """Write a Parquet profile."""
    path = folder / "odd.parquet"
    pq.write_table(pa.table({"name": names, "duration_ns": durations_ns}), path)
    return path


def test_a_name_does_not_steer_the_terminal(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = parquet(tmp_path, ["a\x1b[31mred\nx"] * 4, [5, 6, 7, 8])
    for command in ("summary", "groups", "histogram", "tree"):
        run = kernelpoint(command, path, "--color", "never", COLUMNS="200")
        assert run.code == 0
        assert "\x1b" not in run.out
        assert "a\\x1b[31mred\\nx" in run.out or command == "summary"
    assert results(kernelpoint, "groups", path)[0]["name"] == "a\x1b[31mred\nx"


def test_several_includes_may_have_flags_of_their_own(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = parquet(tmp_path, ["SGEMM", "relu", "copy"], [5, 6, 7])
    rows = results(kernelpoint, "groups", path, "--include", "(?i)gemm", "--include", "relu")
    assert {row["name"] for row in rows} == {"SGEMM", "relu"}


def test_a_plan_that_samples_no_time_has_no_speedup(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = parquet(tmp_path, ["k"] * 8, [0, 0, 0, 0, 0, 10, 20, 30])
    words = ("sample", path, "--method", "random", "--set", "random.launches=1", "--quiet")
    seen = set()
    for seed in range(8):
        found = results(kernelpoint, *words, "--seed", seed)
        sampled_ns = found["sampled_duration_ns"]
        assert found["speedup"] == (60 / sampled_ns if sampled_ns else None)
        text = kernelpoint(*words, "--seed", seed).out
        assert ("Simulate 1 of 8 launches (0 ns of 60 ns)." in text) == (sampled_ns == 0)
        seen.add(sampled_ns == 0)
    assert seen == {True, False}


def test_where_all_launches_last_0_ns_there_is_no_speedup_and_nothing_to_judge(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    path, plan = parquet(tmp_path, ["k", "l"] * 4, [0] * 8), tmp_path / "plan.json"
    assert results(kernelpoint, "sample", path, "-o", plan)["speedup"] is None
    assert "Simulate 2 of 8 launches (0 ns of 0 ns)." in kernelpoint("sample", path).out
    compared = ("compare", path, "--repeats", "3")
    assert {row["speedup"] for row in results(kernelpoint, *compared)} == {None}
    for words in (compared, (*compared, "--scatter"), ("trade-off", path), ("summary", path)):
        assert kernelpoint(*words).code == 0
    assert "there is nothing to judge" in kernelpoint("judge", plan, path).failed(1)


def test_a_metric_of_any_magnitude_is_no_warning_of_a_library(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    path = tmp_path / "counts.csv"
    rows = [f"{number},{('1e308', '-1e308', '5')[number % 3]}" for number in range(5_600)]
    path.write_text("\n".join(["id,instructions", *rows]) + "\n")
    # Tests turn warnings into errors; a method that needs the number of every launch says that it lacks some.
    said = kernelpoint("sample", resnet, "--method", "sieve", "--features", path, *JSON)
    assert said.code == 1
    assert "internal error" not in said.err
    assert "beyond 1e+100 count as none: instructions" in said.err
