"""What nobody writes on purpose, and what is rare and legal: a defined answer, never a traceback."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests import small_recordings
from tests.cli.conftest import PROJECT, Kernelpoint, environment, results
from tests.sampling.readers.rocpd_file import Dispatched, json_of, write_database, write_json
from tests.sampling.readers.test_nvprof import TITLES, in_columns, kernel

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


_DOTTED = "a." * 100_000 + "a"
_DIGITS = "9" * 30

# The command with FILE, its text, and what is said of it.
TEXTS: dict[str, tuple[str, str, str]] = {
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


@pytest.mark.parametrize("levels", [50, 2_000, 200_000])
def test_a_deep_value_in_a_plan_is_refused_as_any_other_unknown_one(
    kernelpoint: Kernelpoint, plan_file: Path, resnet: Path, tmp_path: Path, levels: int
) -> None:
    """It is by every Python, however deep its decoder goes."""
    path = tmp_path / "plan.json"
    path.write_text(plan_file.read_text().replace("{", f'{{"notes": {"[" * levels}{"]" * levels},', 1))
    assert "unknown field `notes`" in kernelpoint("judge", path, resnet).failed(3)


@pytest.mark.parametrize("words", ["trade-off", "histogram", "compare --scatter", "scale predict", "project"])
def test_a_chart_is_no_larger_than_can_be_drawn(kernelpoint: Kernelpoint, words: str) -> None:
    for flag, most in (("--width", "10,000"), ("--height", "1,000")):
        said = kernelpoint(*words.split(), "missing", flag, "100000").failed(2)
        assert f"{flag} is at most {most}, not 100000" in said


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


def test_a_plan_that_samples_no_time_has_no_speedup(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = parquet(tmp_path, ["k"] * 8, [0, 0, 0, 0, 0, 10, 20, 30])
    words = ("sample", path, "--method", "random", "--set", "random.launches=1", "--quiet")
    seen = set()
    for seed in range(8):
        found = results(kernelpoint, *words, "--seed", seed)
        sampled_ns = found["sampled_duration_ns"]
        assert found["speedup"] == (60 / sampled_ns if sampled_ns else None)
        text = " ".join(kernelpoint(*words, "--seed", seed).out.split())
        assert (found["expected_speedup"], "8.00x less GPU time (7.50 ns of 60 ns; " in text) == (8, True)
        assert f"; this draw takes {sampled_ns} " in text
        seen.add(sampled_ns == 0)
    assert seen == {True, False}


# -- What profilers store of a user and a machine is in no output: environments, command lines, -------------


SECRET = "hunter2"
USER = f"/home/{SECRET}/work/train.py --token={SECRET}"
DISPATCHES = tuple(
    Dispatched(
        1, number, 1_000 * number, 1_000 * number + 300 + number, (512, 1, 1), (256, 1, 1), stack=number
    )
    for number in range(1, 9)
)


def nsys(folder: Path) -> Path:
    path = small_recordings.nsys_sqlite(folder, "2023.4")
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            """
            CREATE TABLE IF NOT EXISTS META_DATA_CAPTURE (name TEXT, value TEXT);
            CREATE TABLE IF NOT EXISTS TARGET_INFO_SYSTEM_ENV (
                globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT);
            CREATE TABLE IF NOT EXISTS PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
            CREATE TABLE IF NOT EXISTS DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER,
                source INTEGER, severity INTEGER, text TEXT, globalPid INTEGER);
            """
        )
        for name in ("LAUNCH:ENVIRONMENT_VARIABLES", "LAUNCH:COMMAND_LINE", "CAPTURE:HOST_NAME"):
            database.execute("INSERT INTO META_DATA_CAPTURE (name, value) VALUES (?, ?)", (name, USER))
        database.execute(
            "INSERT INTO TARGET_INFO_SYSTEM_ENV (devStateName, name, value) VALUES ('CPU', 'Hostname', ?)",
            (USER,),
        )
        database.execute("INSERT INTO PROCESSES VALUES (1, 1, ?)", (USER,))
        database.execute("INSERT INTO DIAGNOSTIC_EVENT (text) VALUES (?)", (f"{USER} was started",))
        database.commit()
    return path


def kineto(folder: Path) -> Path:
    trace = json.loads(
        gzip.decompress(small_recordings.kineto(folder, "today", small_recordings.images()).read_bytes())
    )
    events = trace["traceEvents"]
    events.append({"ph": "M", "name": "process_name", "pid": 77, "args": {"name": USER}})
    events.append({"ph": "M", "name": "process_labels", "pid": 0, "args": {"labels": USER}})
    more = {
        "distributedInfo": {"backend": "nccl", "rank": 0, "pg_config": USER},
        "hostname": USER,
        "user": USER,
    }
    path = folder / "trace.json.gz"
    path.write_bytes(
        gzip.compress(json.dumps({"env": {"TOKEN": USER}, **more, **trace, "traceName": USER}).encode())
    )
    return path


def rocpd(folder: Path) -> Path:
    path = write_database(folder / "results.db", DISPATCHES)
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "UPDATE rocpd_info_process_00003fdc_92cb SET command = ?, environment = ?", (USER, USER)
        )
        database.execute(
            "CREATE TABLE rocpd_info_node_00003fdc_92cb (id INTEGER, hostname TEXT, machine_id TEXT)"
        )
        database.execute("INSERT INTO rocpd_info_node_00003fdc_92cb VALUES (0, ?, ?)", (USER, USER))
        database.commit()
    return path


def rocprofv3(folder: Path) -> Path:
    recording = json_of(DISPATCHES)
    stored = {"command": [USER], "environment": {"TOKEN": USER}, "node": {"hostname": USER}}
    return write_json(folder / "results.json", recording | {"metadata": recording["metadata"] | stored})


def nvprof(folder: Path) -> Path:
    rows = [
        kernel(f"{number}.0ms", "3.2us", "(8 1 1)", "(64 1 1)", 7, f"f(int) [{number}]")
        for number in range(1, 9)
    ]
    lines = [
        f"reading {USER}",
        f"==18148== NVPROF is profiling process 18148, command: {USER}",
        f"==18148== Profiling application: {USER}",
        "==18148== Profiling result:",
        in_columns(*TITLES),
        *rows,
        "",
    ]
    path = folder / "trace.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


Writer = Callable[[Path], Path]
PROFILES: tuple[Writer, ...] = (nsys, kineto, rocpd, rocprofv3, nvprof)


@pytest.mark.parametrize("write", PROFILES, ids=lambda write: write.__name__)
def test_no_output_holds_what_a_profile_stores_of_the_user(
    kernelpoint: Kernelpoint, write: Writer, here: Path
) -> None:
    profile = write(here)
    assert SECRET.encode() in _content(profile)
    said = b""
    for line in (
        *("summary PROFILE --method root", "info PROFILE --format json", "groups PROFILE --format csv"),
        "sample PROFILE -o plan.json --judge 0 --format markdown",
        *("export plan.json --to csv -o exported --force", "convert PROFILE -o out/launches.parquet"),
        *(f"report PROFILE --method random -o out/report.{kind}" for kind in ("md", "html")),
        # Errors: nothing left, and a range that is not there.
        *("info PROFILE --include no-such-kernel", "info PROFILE --range no-such-range"),
    ):
        Path("out").mkdir(exist_ok=True)
        run = kernelpoint(*(profile if word == "PROFILE" else word for word in line.split()))
        assert run.code == 0 or "no-such" in line, run.err
        said += run.stdout + run.stderr
    for path in (Path("plan.json"), *Path("exported").iterdir(), *Path("out").iterdir()):
        said += _content(path)
    assert SECRET.encode() not in said


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


PREAMBLES = {
    "nvprof.txt": f"==1== NVPROF is profiling process 1, command: {USER}\n==1== Profiling result:\n",
    "ncu.txt": f"==PROF== Connected to process 1 ({USER})\n",
    "ncu.csv": f'==PROF== Connected to {USER}\n"ID","Process ID","Host Name"\n"0","1","{SECRET}"\n',
    "skipped.csv": f"SKIPPED: /home/{SECRET}/x.sqlite does not contain CUDA kernel data.\n",
    "shell.csv": f"python {USER}, again\nTOKEN={SECRET}, again\n",
    "log.txt": f"{USER}\n",
    "settings.json": json.dumps({"user": SECRET}),
    "cut.txt": "\n".join([f"==1== Profiling application: {USER}", in_columns(*TITLES), f"{SECRET} 1"]),
}


@pytest.mark.parametrize("name", PREAMBLES)
def test_no_error_quotes_what_stands_before_a_table(
    kernelpoint: Kernelpoint, name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(PREAMBLES[name], encoding="utf-8")
    assert SECRET not in kernelpoint("summary", path).failed(3)


def test_no_note_on_features_names_host_or_process(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    profile, features = nsys(tmp_path), tmp_path / "ncu.csv"
    text = gzip.decompress(small_recordings.ncu_raw(tmp_path).read_bytes()).decode()
    assert "127.0.0.1" in text
    features.write_text(
        text.replace("127.0.0.1", SECRET).replace("synthetic-resnet50", SECRET), encoding="utf-8"
    )
    for more in ((), ("--launches", "0:20")):
        run = kernelpoint(
            "sample", profile, "--method", "sieve", "--features", features, *more, "--format", "json"
        )
        assert run.code == 0, run.err
        assert SECRET not in run.out + run.err
    cut = tmp_path / "cut.csv"
    cut.write_text(features.read_text(encoding="utf-8")[:-400], encoding="utf-8")
    run = kernelpoint("sample", profile, "--method", "sieve", "--features", cut)
    assert SECRET not in run.out + run.err
