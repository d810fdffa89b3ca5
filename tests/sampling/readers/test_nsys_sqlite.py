"""nsys SQLite exports: small ones of four versions, damage, and databases of others."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from nsys_files import VERSIONS

from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable
from sampling.readers import nsys_sqlite
from sampling.readers.input_file import open_input
from sampling.readers.registry import read_profile
from tests import small_recordings
from tests.sampling.readers import nsys_exports as exports
from tests.sampling.readers.plain_nsys_sql import (
    by_plain_sql,
    ranges_by_plain_sql,
    ranges_told,
    read,
    read_by_several_threads,
    told_of,
)


@pytest.fixture(params=["row by row", "by several threads"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by several threads":
        read_by_several_threads(monkeypatch)


WHOLE = [(version, 0, "api-start") for version in VERSIONS]
CUT = [(version, 20, "correlation") for version in VERSIONS]


@pytest.mark.parametrize(("version", "calls_lost", "order"), [*WHOLE, *CUT])
@pytest.mark.usefixtures("both_ways")
def test_small_exports_agree_with_plain_sql(
    version: str, calls_lost: int, order: str, tmp_path: Path
) -> None:
    path = small_recordings.nsys_sqlite(tmp_path, version, calls_lost=calls_lost)
    profile = read(path)
    assert told_of(profile) == by_plain_sql(path)
    assert told_of(profile)[:2] == (small_recordings.LAUNCHES, small_recordings.NAMES)
    assert profile.facts.launch_order == order
    # Among the last 20 activities is the copy of the result.
    assert profile.facts.api_rows_missing == max(0, calls_lost - 1)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.usefixtures("both_ways")
def test_ranges_of_small_exports_agree_with_plain_sql(version: str, tmp_path: Path) -> None:
    path = small_recordings.nsys_sqlite(tmp_path, version)
    found = ranges_told(read(path), small_recordings.RANGE)
    assert found == ranges_by_plain_sql(path, f"{small_recordings.RANGE}%")
    assert [launches for *_, launches in found] == [56] * small_recordings.IMAGES


def test_a_database_of_others_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE orders (id INTEGER)")
    with pytest.raises(ProfileError, match="SQLite database of neither nsys nor rocprofv3") as caught:
        read(path)
    assert "nsys export --type sqlite" in str(caught.value.remedy)
    assert "rocprofv3 --kernel-trace --output-format rocpd" in str(caught.value.remedy)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return an export of 3,000 launches."""
    launches = [exports.Launch(10 * i, 10 * i + i % 7, i) for i in range(3000)]
    export = exports.export("2023.4", launches, [exports.Call(i, i) for i in range(3000)])
    content: bytes = export.sqlite(tmp_path_factory.mktemp("export") / "x.sqlite").read_bytes()
    return content


@pytest.fixture
def export_path(tmp_path: Path, exported: bytes) -> Path:
    """Return a copy of it to damage, under a name with characters that mean something in a URI."""
    path = tmp_path / "it is 100% odd?#.sqlite"
    path.write_bytes(exported)
    return path


@pytest.mark.usefixtures("both_ways")
def test_gzip_is_read_as_it_is(export_path: Path, tmp_path: Path) -> None:
    packed = tmp_path / "x.gz"
    packed.write_bytes(gzip.compress(export_path.read_bytes()))
    profile = read(packed)
    assert profile.launches == 3000
    assert [(file.path, file.location) for file in profile.files] == [(str(packed), packed)]


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("kept", [0.02, 0.5, 0.99])
def test_a_truncated_database(kept: float, export_path: Path) -> None:
    whole = export_path.read_bytes()
    export_path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(ProfileError, match="damaged or cut short") as caught:
        read(export_path)
    assert "nsys export --type sqlite" in str(caught.value.remedy)


@pytest.mark.usefixtures("both_ways")
def test_the_file_stays_as_it_was(export_path: Path) -> None:
    before = export_path.read_bytes()
    read(export_path)
    assert export_path.read_bytes() == before
    assert [path.name for path in export_path.parent.iterdir()] == [export_path.name]


def test_reading_ends_its_threads(export_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsys_sqlite, "BY_SEVERAL_THREADS_FROM_BYTES", 0)
    monkeypatch.setattr(nsys_sqlite, "ROWS_OF_ONE_QUERY", 100)
    monkeypatch.setattr(nsys_sqlite, "QUERIES_OF_ONE_PART", 1)

    def cancel(*_: Any) -> None:
        raise InterruptedError

    before = threading.active_count()
    with open_input(str(export_path)) as file, pytest.raises(InterruptedError):
        nsys_sqlite.read(file, KernelTable(), cancel)
    assert threading.active_count() == before


def test_rows_that_were_deleted_are_not_counted(tmp_path: Path, sample_data: Path) -> None:
    """Who trims an export by SQL leaves gaps between the numbers of its rows."""
    path = tmp_path / "trimmed.sqlite"
    shutil.copy(sample_data / "resnet50-like.sqlite", path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, graphId INT)")
        connection.executemany(
            "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (?, ?, 1)", [(n, n + 1) for n in range(10)]
        )
        connection.execute("DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE WHERE start BETWEEN 3 AND 6")
    assert read_profile([str(path)]).facts.hidden_graph_replays == 6
