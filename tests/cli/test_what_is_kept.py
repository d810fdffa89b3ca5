"""Who recorded, where and how is in recordings, and in nothing that is written: a path stays as typed."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Kernelpoint, cycles_of

SECRETS = ("frodo-workstation", "frodob", "/home/frodob", "--password=mellon")


def nsys_export(resnet: Path, path: Path) -> None:
    """The sample, with the tables in which nsys keeps the environment and the command line."""
    shutil.copy(resnet, path)
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, name TEXT, value TEXT)")
        rows = (("Hostname", SECRETS[0]), ("DeviceEnvironment", f"USER={SECRETS[1]};HOME={SECRETS[2]}"))
        database.executemany("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, ?, ?)", rows)
        database.execute("CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT)")
        database.execute("INSERT INTO META_DATA_CAPTURE VALUES ('COMMAND_LINE', ?)", (" ".join(SECRETS),))
        database.execute("UPDATE PROCESSES SET name = ?", (" ".join(SECRETS),))
    database.close()


def kineto_trace(gpt2: Path, path: Path) -> None:
    """The other sample, with what PyTorch and its users put at its head."""
    document = json.loads(gzip.decompress(gpt2.read_bytes()))
    document |= {"hostname": SECRETS[0], "user": SECRETS[1], "command": SECRETS[3], "traceName": SECRETS[2]}
    document["distributedInfo"] = {"rank": 0, "world_size": 1, "host": SECRETS[0]}
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("recording", ["run.sqlite", "run.json"])
def test_nothing_of_who_recorded_is_written(
    kernelpoint: Kernelpoint,
    resnet: Path,
    gpt2: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    recording: str,
) -> None:
    folder = tmp_path / "frodob"
    folder.mkdir()
    monkeypatch.chdir(folder)
    nsys_export(resnet, Path("run.sqlite"))
    kineto_trace(gpt2, Path("run.json"))
    quick = ("--method", "random", "--judge", "0")
    assert kernelpoint("sample", recording, *quick, "-o", "plan.json").code == 0
    table = cycles_of(Path("plan.json"), Path("cycles.csv"), spread=20)
    for words in (
        ("report", recording, *quick, "--charts", "0", "-o", "report.html"),
        ("report", recording, *quick, "--charts", "0", "-o", "report.md"),
        ("convert", recording, "-o", "run.parquet"),
        ("export", "plan.json", "--to", "csv", "-o", "exported"),
        *(
            (command, recording, "--format", "json", "-o", f"{command}.json")
            for command in ("info", "summary")
        ),
        ("judge", "plan.json", recording, "--format", "json", "-o", "judge.json"),
        ("estimate", "plan.json", table, "--format", "json", "-o", "estimate.json"),
    ):
        run = kernelpoint(*words)
        assert run.code == 0, run.err
        assert not [secret for secret in SECRETS if secret in run.out + run.err]
    for path in (path for path in folder.rglob("*") if path.is_file() and path.stem != "run"):
        content = path.read_bytes().decode("latin-1")
        assert not [secret for secret in (*SECRETS, str(tmp_path)) if secret in content], path
    assert not [secret for secret in SECRETS if secret.encode() in Path("run.parquet").read_bytes()]
    assert json.loads(Path("plan.json").read_text())["profile"]["files"][0]["path"] == recording
