"""Folder exports that lie about their own bytes or shrink while they are read: an error, never a crash.

A crash would end the tests too, so each case runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

PROJECT = Path(__file__).resolve().parents[4]
KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
NAMES = [f"kernel{number:03}" for number in range(200)]

READ = """
import sys
from pathlib import Path
from sampling.errors import ProfileError
from sampling.readers.registry import read_profile
try:
    read_profile([sys.argv[1]])
except ProfileError as error:
    print(error)
"""

READ_WHILE_IT_SHRINKS = """
import os, sys
from pathlib import Path
from sampling.errors import ProfileError
from sampling.readers.nsys import directory
folder = Path(sys.argv[1])
files = directory._table_files(folder)
tables = directory._FolderTables(str(folder), files)
parts = tables.integers("CUPTI_ACTIVITY_KIND_KERNEL", ["start", "end"])
next(parts)
os.truncate(files["CUPTI_ACTIVITY_KIND_KERNEL"], 5000)
try:
    print(sum(int(start.sum()) for start, _ in parts))
except ProfileError as error:
    print(error)
"""


def run(script: str, folder: Path) -> str:
    """Return what a script says that another process runs on a folder."""
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr or f"ended by signal {-done.returncode}"
    return done.stdout


def write(path: Path, columns: dict[str, pa.Array], *, stream: bool, batch_rows: int = 1000) -> None:
    table = pa.table(columns)
    writer = (pa.ipc.new_stream if stream else pa.ipc.new_file)(str(path), table.schema)
    with writer as sink:
        for batch in table.to_batches(batch_rows):
            sink.write_batch(batch)


def write_folder(folder: Path, *, stream: bool, rows: int = 200) -> Path:
    """Write an export and return the file of its names."""
    folder.mkdir()
    suffix = ".arrows" if stream else ".arrow"
    numbers = pa.array(range(rows))
    columns = dict.fromkeys(("start", "end", "correlationId", "streamId"), numbers)
    columns["demangledName"] = pa.array([row % 200 for row in range(rows)])
    columns["deviceId"] = pa.array([0] * rows)
    write(folder / f"{KERNEL}{suffix}", columns, stream=stream)
    names = folder / f"StringIds{suffix}"
    write(names, {"id": pa.array(range(200)), "value": pa.array(NAMES)}, stream=stream)
    return names


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("offset", [2**31 - 1, -(2**31), 2**28])
def test_texts_beyond_their_bytes_are_damage(stream: bool, offset: int, tmp_path: Path) -> None:
    path = write_folder(tmp_path / "x", stream=stream)
    data = path.read_bytes()
    ends = b"".join((9 * number).to_bytes(4, "little") for number in range(90, 100))
    assert data.count(ends) == 1
    path.write_bytes(data.replace(ends, offset.to_bytes(4, "little", signed=True) + ends[4:]))
    assert "the table file StringIds" in run(READ, tmp_path / "x")


@pytest.mark.parametrize("stream", [True, False])
def test_a_table_that_shrinks_while_it_is_read_is_damage(stream: bool, tmp_path: Path) -> None:
    write_folder(tmp_path / "x", stream=stream, rows=200_000)
    assert f"the table file {KERNEL}" in run(READ_WHILE_IT_SHRINKS, tmp_path / "x")


def test_texts_that_are_no_utf8_are_no_damage(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "x", stream=True)
    path.write_bytes(path.read_bytes().replace(b"kernel007", b"kernel\xff07"))
    assert run(READ, tmp_path / "x") == ""


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view(), pa.large_string()])
def test_texts_may_be_stored_as_views(kind: pa.DataType, tmp_path: Path) -> None:
    path = write_folder(tmp_path / "x", stream=True)
    names = (
        pa.array(NAMES).cast(pa.binary()).cast(kind) if kind == pa.binary_view() else pa.array(NAMES, kind)
    )
    write(path, {"id": pa.array(range(200)), "value": names}, stream=True)
    assert run(READ, tmp_path / "x") == ""


def test_a_column_whose_name_is_no_text_is_damage(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "x", stream=True)
    path.write_bytes(path.read_bytes().replace(b"value", b"val\xffe"))
    assert "the table file StringIds" in run(READ, tmp_path / "x")


def test_two_columns_of_one_name_are_damage(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "x", stream=True)
    table = pa.table([pa.array(range(200)), pa.array(NAMES), pa.array(NAMES)], names=["id", "value", "value"])
    with pa.ipc.new_stream(str(path), table.schema) as sink:
        sink.write_table(table)
    assert "the table file StringIds" in run(READ, tmp_path / "x")
