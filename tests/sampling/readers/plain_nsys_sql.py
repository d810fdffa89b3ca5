"""What a SQLite export holds by plain SQL, and what is read of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sampling.profile.profile import KernelTable, Profile
from sampling.readers import nsys_sqlite
from sampling.readers.input_file import open_input


def read(path: Path) -> Profile:
    """Read an export, however little of it there is."""
    with open_input(str(path)) as file:
        assert nsys_sqlite.recognise(file)
        return nsys_sqlite.read(file, KernelTable(), None)


def read_by_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small exports read as those of many megabytes are, too."""
    monkeypatch.setattr(nsys_sqlite, "BY_SEVERAL_THREADS_FROM_BYTES", 0)
    monkeypatch.setattr(nsys_sqlite, "ROWS_OF_ONE_QUERY", 500)


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
