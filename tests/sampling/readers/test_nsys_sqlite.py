"""nsys SQLite exports: small ones of four versions, damage, and databases of others."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest
from nsys_files import VERSIONS

from sampling.errors import ProfileError
from sampling.profile.profile import KernelTable, Profile
from sampling.readers import nsys_sqlite, sqlite_file
from sampling.readers.input_file import open_input
from sampling.readers.registry import read_profile
from sampling.readers.sqlite_file import NotPlainError
from tests import small_recordings
from tests.sampling.readers import nsys_exports as exports


def read(path: Path) -> Profile:
    """Read an export, however little of it there is."""
    with open_input(str(path)) as file:
        assert nsys_sqlite.recognise(file)
        return nsys_sqlite.read(file, KernelTable(), None)


def read_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have exports read as those with something unusual in their pages are."""

    def refuse(*_: Any) -> NoReturn:
        raise NotPlainError

    monkeypatch.setattr(nsys_sqlite, "read_table", refuse)


def told_of(profile: Profile) -> tuple[int, int, int, list[tuple[int, int, int]]]:
    """Return launches, distinct names, total time, and the number of launches by PID and device."""
    places = [(each.process, each.device, each.launches) for each in profile.sequences]
    return (profile.launches, len(profile.kernels.names), sum(durations(profile)), places)


def durations(profile: Profile) -> list[int]:
    """Return the durations in launch order."""
    return profile.load(["duration_ns"])["duration_ns"].tolist()


def by_plain_sql(path: Path) -> tuple[int, int, int, list[tuple[int, int, int]]]:
    """Return what `told_of` tells, by plain SQL."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        totals = connection.execute(
            "SELECT COUNT(*), COUNT(DISTINCT value), SUM(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL "
            "JOIN StringIds ON id = demangledName"
        ).fetchone()
        places = connection.execute(
            "SELECT globalPid / 0x1000000 % 0x1000000 AS pid, deviceId, COUNT(*) "
            "FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1, 2 ORDER BY 1, 2"
        ).fetchall()
    return (*totals, places)


def api_order_by_plain_sql(path: Path) -> list[int]:
    """Return the durations in the order of the API calls."""
    query = """
        SELECT k.end - k.start FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
        ON r.correlationId = k.correlationId AND (r.globalTid & -16777216) = k.globalPid
        ORDER BY k.globalPid, k.deviceId, r.start, k.start
    """
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        return [duration for (duration,) in connection.execute(query)]


def ranges_told(profile: Profile, text: str) -> list[tuple[str, int, int, int]]:
    """Return name, PID, device and launches of every range of a name, sorted."""
    found = profile.named_ranges(text)
    assert found is not None
    return sorted(
        (
            each.text,
            profile.sequences[each.sequence].process,
            profile.sequences[each.sequence].device,
            each.stop_ordinal - each.first_ordinal,
        )
        for each in found
    )


def ranges_by_plain_sql(path: Path, pattern: str) -> list[tuple[str, int, int, int]]:
    """Return name, PID, device and launches of every range whose name is like a pattern and that has any."""
    query = """
        WITH call AS MATERIALIZED (
            SELECT globalTid & -16777216 AS process, correlationId, MIN(start) AS start
            FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY 1, 2
        ), launch AS MATERIALIZED (
            SELECT k.globalPid AS process, k.deviceId AS device, call.start AS start
            FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN call
            ON k.correlationId = call.correlationId AND k.globalPid = call.process
        )
        SELECT IFNULL(e.text, s.value), launch.process / 0x1000000 % 0x1000000, launch.device, COUNT(*)
        FROM NVTX_EVENTS AS e LEFT JOIN StringIds AS s ON s.id = e.textId
        JOIN launch ON launch.process = e.globalTid & -16777216
        AND launch.start >= e.start AND launch.start < e.end
        WHERE e.eventType IN (59, 60) AND IFNULL(e.text, s.value) LIKE ?
        GROUP BY e.rowid, launch.process, launch.device
    """
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        return sorted(connection.execute(query, (pattern,)))


@pytest.fixture(params=["from pages", "row by row"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "row by row":
        read_row_by_row(monkeypatch)


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


def test_a_database_of_nvprof_is_none_of_nsys(tmp_path: Path) -> None:
    path = tmp_path / "x.nvvp"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER, start INT)")
        connection.execute("CREATE TABLE StringTable (_id_ INTEGER, value TEXT)")
    with pytest.raises(ProfileError, match="a database of nvprof's") as caught:
        read(path)
    assert "nvprof --import-profile" in str(caught.value.remedy)


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
    monkeypatch.setattr(sqlite_file, "LEAVES_OF_A_PART", 1)

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


def test_what_is_unusual_far_on_in_a_table_is_read_by_sqlite(
    export_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "LEAVES_AT_ONCE", 1)
    monkeypatch.setattr(sqlite_file, "LEAVES_OF_A_PART", 1)
    before = durations(read(export_path))
    with closing(sqlite3.connect(export_path)) as connection, connection:
        # Its type takes two bytes, and so the header of the row is longer.
        connection.execute(
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET launchType = ? WHERE rowid = 2900", ("x" * 100,)
        )
    assert durations(read(export_path)) == before


# --- what SQL allows and nsys does not write; more of it in test_sqlite_file.py --------------------------

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"


def as_a_view(connection: sqlite3.Connection) -> None:
    connection.execute(f"ALTER TABLE {KERNELS} RENAME TO base")
    connection.execute(f"CREATE VIEW {KERNELS} AS SELECT * FROM base")


def in_lower_case(connection: sqlite3.Connection) -> None:
    for table in (KERNELS, "CUPTI_ACTIVITY_KIND_RUNTIME", "StringIds", "META_DATA_EXPORT"):
        connection.execute(f"ALTER TABLE {table} RENAME TO {table}_")
        connection.execute(f"ALTER TABLE {table}_ RENAME TO {table.lower()}")
    for column in ("correlationId", "deviceId", "gridX", "demangledName", "globalPid"):
        connection.execute(f"ALTER TABLE {KERNELS} RENAME COLUMN {column} TO {column}_")
        connection.execute(f"ALTER TABLE {KERNELS} RENAME COLUMN {column}_ TO {column.lower()}")


def without_row_numbers(connection: sqlite3.Connection) -> None:
    ((statement,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (KERNELS,))
    connection.execute(f"ALTER TABLE {KERNELS} RENAME TO base")
    connection.execute(f"{statement[:-1]}, PRIMARY KEY (start, correlationId)) WITHOUT ROWID")
    connection.execute(f"INSERT INTO {KERNELS} SELECT * FROM base")
    connection.execute("DROP TABLE base")


def with_an_index_of_all(connection: sqlite3.Connection) -> None:
    columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({KERNELS})")]
    connection.execute(f"CREATE INDEX i ON {KERNELS} ({', '.join(reversed(columns))})")


def with_whole_reals(connection: sqlite3.Connection) -> None:
    ((statement,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (KERNELS,))
    connection.execute(f"ALTER TABLE {KERNELS} RENAME TO base")
    connection.execute(statement.replace("INTEGER", "REAL"))
    connection.execute(f"INSERT INTO {KERNELS} SELECT * FROM base")


@pytest.mark.parametrize(
    "changed", [as_a_view, in_lower_case, without_row_numbers, with_an_index_of_all, with_whole_reals]
)
@pytest.mark.usefixtures("both_ways")
def test_tables_that_nsys_does_not_write_so_are_read(
    changed: Callable[[sqlite3.Connection], None], export_path: Path
) -> None:
    before = read(export_path)
    with closing(sqlite3.connect(export_path)) as connection, connection:
        changed(connection)
    after = read(export_path)
    assert durations(after) == durations(before)
    assert (after.facts, after.sequences) == (before.facts, before.sequences)
    assert after.kernels.signature(0) == before.kernels.signature(0)


@pytest.mark.parametrize("value", [0.4, 1e300, float("inf"), "12", "soon", b"12"])
@pytest.mark.usefixtures("both_ways")
def test_what_is_no_whole_number_is_refused(value: object, export_path: Path) -> None:
    with closing(sqlite3.connect(export_path)) as connection, connection:
        connection.execute(f"ALTER TABLE {KERNELS} RENAME COLUMN end TO old")
        connection.execute(f"ALTER TABLE {KERNELS} ADD COLUMN end")
        connection.execute(f"UPDATE {KERNELS} SET end = old")
        connection.execute(f"UPDATE {KERNELS} SET end = ? WHERE rowid = 2900", (value,))
    with pytest.raises(ProfileError, match=re.escape(f"something else than integers: {value!r}")) as caught:
        read(export_path)
    assert (caught.value.row, caught.value.column) == (2900, "end")


# --- what lies beside a database --------------------------------------------------------------------------


@pytest.fixture
def logged(export_path: Path) -> Path:
    """The export in write-ahead mode, half of whose launches lie in the log: what a copy of both files is."""
    other = export_path.with_name("other.sqlite")
    with closing(sqlite3.connect(export_path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"DELETE FROM {KERNELS} WHERE rowid > 1500")
        for end in ("", "-wal"):
            shutil.copy(f"{export_path}{end}", f"{other}{end}")
    return other


@pytest.mark.parametrize("links", [0, 1, 2])
@pytest.mark.usefixtures("both_ways")
def test_a_log_lies_beside_what_a_link_leads_to(links: int, logged: Path, tmp_path: Path) -> None:
    path = logged
    for number in range(links):
        (tmp_path / f"folder {number}").mkdir()
        (link := tmp_path / f"folder {number}" / "link.sqlite").symlink_to(path)
        path = link
    assert len(durations(read(path))) == 1500


@pytest.fixture
def read_only_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder is one that cannot be written to, which for root no folder is."""
    monkeypatch.setattr(sqlite_file.os, "access", lambda _, mode: mode != os.W_OK)


@pytest.mark.usefixtures("read_only_folder")
def test_a_log_in_a_folder_that_cannot_be_written_to(logged: Path) -> None:
    with pytest.raises(ProfileError, match=r"a part of the database lies in other\.sqlite-wal") as caught:
        read(logged)
    assert "copy both files" in str(caught.value.remedy)
    Path(f"{logged}-wal").write_bytes(b"")
    assert len(durations(read(logged))) == 3000


@pytest.fixture
def half_written(export_path: Path) -> Path:
    """The export as what changed it leaves it where it is killed."""
    program = f"""
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 5")
connection.execute("BEGIN")
connection.execute("UPDATE {KERNELS} SET end = end + 1000000")
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", program, str(export_path)], check=True)
    return export_path


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("writable", [True, False])
def test_a_database_of_a_program_that_was_killed(
    writable: bool, half_written: Path, request: pytest.FixtureRequest
) -> None:
    if not writable:
        request.getfixturevalue("read_only_folder")
    with pytest.raises(ProfileError, match="was stopped in the middle") as caught:
        read(half_written)
    assert "copy both files" in str(caught.value.remedy)


@pytest.mark.usefixtures("both_ways")
def test_a_journal_that_is_over_is_none(export_path: Path) -> None:
    with closing(sqlite3.connect(export_path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = PERSIST")
        connection.execute(f"DELETE FROM {KERNELS} WHERE rowid > 1500")
        assert Path(f"{export_path}-journal").stat().st_size
        assert len(durations(read(export_path))) == 1500


# --- what a stranger may have put into the schema -----------------------------------------------------------

ENDLESS = """
    WITH RECURSIVE n(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n)
    SELECT number AS {}, number AS {} FROM n
"""


@pytest.mark.parametrize(
    ("view", "columns"),
    [(KERNELS, ("start", "end")), ("StringIds", ("id", "value")), ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "xy")],
)
def test_a_view_without_an_end_is_left(
    view: str, columns: tuple[str, str], export_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "_STEPS_AT_ONCE", 10_000)
    monkeypatch.setattr(sqlite_file, "_FEWEST_STEPS", 100_000)
    monkeypatch.setattr(sqlite_file, "_STEPS_OF_A_BYTE", 1)
    with closing(sqlite3.connect(export_path)) as connection, connection:
        connection.execute(f"DROP TABLE IF EXISTS {view}")
        connection.execute(f"CREATE VIEW {view} AS {ENDLESS.format(*columns)}")
    with pytest.raises(ProfileError, match=r"more than [0-9,]+ steps, .* view in it may have no end"):
        read(export_path)


def test_a_view_may_not_call_what_writes_files(export_path: Path) -> None:
    with closing(sqlite3.connect(export_path)) as connection, connection:
        connection.execute("DROP TABLE META_DATA_EXPORT")
        connection.execute("CREATE VIEW META_DATA_EXPORT AS SELECT load_extension('x') AS name, 1 AS value")
    with pytest.raises(ProfileError, match=r"SQLite cannot read the database .*unsafe use"):
        read(export_path)
