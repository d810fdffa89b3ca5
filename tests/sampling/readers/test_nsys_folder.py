"""nsys folder exports: what counts as one, damage, and texts that are none.

Folders that lie about their own bytes or shrink while they are read end in an error, never in a crash, which
would end the tests too: each such case runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from nsys_files import VERSIONS

from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile
from sampling.readers import nsys_folder
from sampling.readers.input_file import open_input
from tests import small_recordings
from tests.sampling.readers import nsys_exports as exports
from tests.sampling.readers import test_nsys_sqlite as plain_sql


def read(path: Path) -> Profile:
    """Read a folder that nsys exported."""
    with open_input(str(path)) as file:
        assert nsys_folder.recognise(file)
        return nsys_folder.read(file, KernelTable(), None)


def columns(profile: Profile) -> list[list[int]]:
    """Return names, durations, starts and streams."""
    return [
        column.tolist() for column in profile.load(["name", "duration_ns", "start_ns", "stream"]).values()
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_small_parquetdir_is_the_same_as_the_sqlite_export(version: str, tmp_path: Path) -> None:
    profile = read(small_recordings.nsys_parquetdir(tmp_path, version))
    assert profile.format == "nsys-parquetdir"
    same = plain_sql.read(small_recordings.nsys_sqlite(tmp_path, version))
    assert profile.launches == small_recordings.LAUNCHES
    assert len(profile.kernels.names) == small_recordings.NAMES
    assert columns(profile) == columns(same)
    assert profile.sequences == same.sequences
    assert profile.facts == same.facts


@pytest.mark.parametrize("table", ["CUPTI_ACTIVITY_KIND_KERNEL", "StringIds", "CUPTI_ACTIVITY_KIND_RUNTIME"])
@pytest.mark.parametrize("kind", ["parquetdir", "arrow streams", "arrow files"])
@pytest.mark.parametrize("kept", [0.0, 0.6])
def test_a_truncated_table_is_named(table: str, kind: str, kept: float, tmp_path: Path) -> None:
    launches = [exports.Launch(i, i + 1, i, name=f"k{i}") for i in range(50)]
    export = exports.export("2023.4", launches, [exports.Call(i, i) for i in range(50)])
    folder = tmp_path / "x"
    if kind == "parquetdir":
        export.parquet_folder(folder)
    else:
        export.arrow_folder(folder, stream=kind == "arrow streams")
    (path,) = folder.glob(f"{table}.*")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(ProfileError, match=f"table file {path.name} is damaged or cut short") as caught:
        read(folder)
    assert f"nsys export --type {'parquetdir' if kind == 'parquetdir' else 'arrowdir'}" in str(
        caught.value.remedy
    )


@pytest.mark.parametrize("kind", ["parquetdir", "arrowdir"])
def test_text_that_is_no_valid_utf8(kind: str, tmp_path: Path) -> None:
    export = exports.export("2023.4", [exports.Launch(1, 2, 1, name="here")])
    export.strings = {
        (b"k\xe4" if text == "here" else text): number for text, number in export.strings.items()
    }
    export.add("TARGET_INFO_GPU", "id name smCount", (0, b"GPU \xff", 8), (1, b"other", 8))
    folder = tmp_path / "x"
    path = export.parquet_folder(folder) if kind == "parquetdir" else export.arrow_folder(folder, stream=True)
    profile = read(path)
    assert profile.kernels.names.full(0) == "k\ufffd"
    assert [device.name for device in profile.facts.devices] == ["GPU \ufffd"]


# --- files that lie ---

PROJECT = Path(__file__).resolve().parents[3]
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
