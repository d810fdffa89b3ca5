"""What can be read once only, and what becomes of several files."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import sqlite3
import tempfile
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Profile
from sampling.readers.input_file import open_input, pieces
from sampling.readers.registry import read_profile
from sampling.simulators.measured_run import LinesSoFar

PIPIT_HEADER = (
    "Name,streamId,type,bytes,Trace Type,Event Type,Timestamp (ns),_matching_event,_matching_timestamp,"
    "_depth,_parent,_children\n"
)


def through_a_pipe(tmp_path: Path, content: bytes) -> Profile:
    """Read a profile from a named pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    try:
        return read_profile([str(pipe)])
    finally:
        writer.join()


def test_a_device_is_not_read_without_end() -> None:
    with pytest.raises(ProfileError, match="/dev/zero: a device, which has no end"):
        read_profile(["/dev/zero"])


def test_a_pipe_loses_nothing(tmp_path: Path) -> None:
    """More than the 64 KiB that a file is recognised by."""
    rows = [
        f"kernel,7,kernel,,gpu_trace,Enter,{start},{start},{start + 10},0,,\n"
        for start in range(0, 300_000, 100)
    ]
    profile = through_a_pipe(tmp_path, (PIPIT_HEADER + "".join(rows)).encode())
    assert profile.launches == len(rows)
    assert profile.files[0].sha256 is not None


def test_ranges_come_through_a_pipe(
    tmp_path: Path, sample_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are read when they are asked for; the pipe's copy is there till then, and no longer."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    database = tmp_path / "annotated.sqlite"
    shutil.copy(sample_data / "resnet50-like.sqlite", database)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid)")
        connection.execute(
            "INSERT INTO NVTX_EVENTS SELECT MIN(start), MAX(start), 59, 'all but the last', globalTid "
            "FROM CUPTI_ACTIVITY_KIND_RUNTIME "
            "WHERE correlationId IN (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL)"
        )
    profile = through_a_pipe(tmp_path, database.read_bytes())
    (found,) = profile.named_ranges("all") or ()
    assert (found.first_ordinal, found.stop_ordinal) == (0, profile.launches - 1)
    assert len(list(tmp_path.glob("kernelpoint-*"))) == 1
    del profile
    assert not list(tmp_path.glob("kernelpoint-*"))


def test_each_file_names_its_own_devices(sample_data: Path) -> None:
    """Both files have a device 0, which need not be one GPU."""
    paths = [str(sample_data / name) for name in ("resnet50-like.sqlite", "gpt2-like.json.gz")]
    workload = read_profile(paths)
    assert {device.process for device in workload.facts.devices} == {4242, 0}


TEXT = "".join(f"{random.Random(line).random()},{line}\n" for line in range(400_000)).encode()


class CancelledError(Exception):
    """Of this test."""


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("read", [LinesSoFar, lambda file: (piece for _, piece in pieces(file))])
def test_the_bytes_are_the_same_and_the_place_is_told(tmp_path: Path, read: object, packed: bool) -> None:
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(TEXT, 1) if packed else TEXT)
    told: list[tuple[int, int, str]] = []
    with open_input(str(path)) as file:
        content = b"".join(read(replace(file, progress=lambda *given: told.append(given))))  # type: ignore[operator]
    assert content == TEXT
    places = [place for place, _, _ in told]
    assert places == sorted(places)
    assert len(set(places)) > 2
    assert places[-1] == path.stat().st_size
    assert {tuple(rest) for _, *rest in told} == {(path.stat().st_size, f"reading {path}")}


@pytest.mark.parametrize("packed", [False, True])
def test_what_tells_can_cancel(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(TEXT, 1) if packed else TEXT)

    def cancel(done: int, *_: object) -> None:
        if done:
            raise CancelledError

    with open_input(str(path)) as file, pytest.raises(CancelledError):
        list(LinesSoFar(replace(file, progress=cancel)))
