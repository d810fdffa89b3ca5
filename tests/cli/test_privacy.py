"""What profilers store of a user and a machine is in no output: environments, command lines, names, paths."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests import small_recordings
from tests.cli.conftest import Kernelpoint
from tests.sampling.readers.rocpd_file import Dispatched, json_of, write_database, write_json
from tests.sampling.readers.test_nvprof import TITLES, in_columns, kernel

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
