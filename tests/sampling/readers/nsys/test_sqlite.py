"""nsys SQLite exports: real files of eight nsys versions, damage, and databases of others."""

from __future__ import annotations

import gzip
import sqlite3
import threading
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sampling.errors import ProfileError
from sampling.profile.profile import Device, KernelTable, Profile
from sampling.readers.input_file import InputFile, open_input
from sampling.readers.nsys import nvtx as nsys_nvtx
from sampling.readers.nsys import sqlite as nsys_sqlite
from sampling.readers.nsys import sqlite_ranges as nsys_sqlite_ranges


def read(path: Path) -> Profile:
    with open_input(str(path)) as file:
        assert nsys_sqlite.recognise(file)
        return nsys_sqlite.read(file, KernelTable(), None)


@pytest.fixture(params=["row by row", "by several threads"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by several threads":
        monkeypatch.setattr(nsys_sqlite, "BY_SEVERAL_THREADS_FROM_BYTES", 0)
        monkeypatch.setattr(nsys_sqlite_ranges, "ROWS_OF_ONE_QUERY", 500)


REAL = {
    "p2000-sort-nsys2020.4": (1700, 6, 162093740, "api-start", 0),
    "rtx6000-dbquery-nsys2020": (12, 2, 6128761, "api-start", 0),
    "a100-nerf-nsys2021.5": (1106, 116, 67790352, "api-start", 0),
    "rtx3090-gaussian-nsys2022.4": (8190, 2, 2808273137, "api-start", 0),
    "a40-a100-cutlass-nsys2023.2": (6, 1, 162000609, "api-start", 0),
    "cuda-graphs-nsys2023.4": (24, 2, 3775788, "api-start", 0),
    "h100x2-training-overlap-nsys2026.2": (4010, 27, 535200650, "correlation", 24),
    "h100x2-transformer-nsys2026.2": (3442, 41, 44829522, "correlation", 1810),
}


def by_plain_sql(path: Path) -> tuple[int, int, int, list[tuple[int, int, int]]]:
    """Return launches, distinct names, total time, and the number of launches by PID and device."""
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


@pytest.mark.parametrize("name", REAL)
@pytest.mark.usefixtures("both_ways")
def test_real_exports_agree_with_plain_sql(name: str, shared_data: Path) -> None:
    path = shared_data / "nsys-sqlite" / f"{name}.sqlite"
    launches, names, total_ns, order, api_rows_missing = REAL[name]

    profile = read(path)

    durations = [batch["duration_ns"] for batch in profile.batches(["duration_ns"])]
    places = [(each.process, each.device, each.launches) for each in profile.sequences]
    told = (profile.launches, len(profile.kernels.names), int(sum(each.sum() for each in durations)), places)
    assert told == by_plain_sql(path)
    assert told[:3] == (launches, names, total_ns)
    assert profile.facts.launch_order == order
    assert profile.facts.api_rows_missing == api_rows_missing


def api_order_by_plain_sql(path: Path) -> list[int]:
    query = """
        SELECT k.end - k.start FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
        ON r.correlationId = k.correlationId AND (r.globalTid & -16777216) = k.globalPid
        ORDER BY k.globalPid, k.deviceId, r.start, k.start
    """
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        return [duration for (duration,) in connection.execute(query)]


@pytest.mark.parametrize("name", [name for name, facts in REAL.items() if facts[3] == "api-start"])
def test_real_exports_stand_in_api_order(name: str, shared_data: Path) -> None:
    path = shared_data / "nsys-sqlite" / f"{name}.sqlite"
    durations = [d for batch in read(path).batches(["duration_ns"]) for d in batch["duration_ns"].tolist()]
    assert durations == api_order_by_plain_sql(path)


def test_gpus_of_real_exports(shared_data: Path) -> None:
    folder = shared_data / "nsys-sqlite"
    assert read(folder / "p2000-sort-nsys2020.4.sqlite").facts.devices == (
        Device(0, "Quadro P2000", 8, 5057 << 20),
    )
    # Its table lists two A40 and two A100; CUDA's device 0 is not the one with id 3 that comes first.
    assert read(folder / "a40-a100-cutlass-nsys2023.2.sqlite").facts.devices == (
        Device(0, "NVIDIA A100-PCIE-40GB", 108, 42505273344),
    )
    assert read(folder / "h100x2-transformer-nsys2026.2.sqlite").facts.devices == ()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nsys-api-rows-but-no-kernels", "3 CUDA API calls but no kernel launches"),
        ("nsys-six-tables", "no CUDA tables at all"),
    ],
)
def test_real_exports_without_kernels(name: str, reason: str, shared_data: Path) -> None:
    with pytest.raises(ProfileError, match=reason) as caught:
        read(shared_data / "not-a-profile" / f"{name}.sqlite")
    assert "nsys profile --trace=cuda" in str(caught.value.remedy)


def test_rocprof_database_is_named(shared_data: Path) -> None:
    (path,) = (shared_data / "rocm").glob("*rocprofv3.db")
    with pytest.raises(ProfileError, match="rocprofv3 database"):
        read(path)


def test_database_of_others_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE orders (id INTEGER)")
    with pytest.raises(ProfileError, match="SQLite database, but not an nsys export") as caught:
        read(path)
    assert "nsys export --type sqlite" in str(caught.value.remedy)


@pytest.mark.parametrize("head", [b"", b"SQLite format 2\0", b'{"traceEvents": []}'])
def test_other_content_is_not_recognised(head: bytes) -> None:
    assert not nsys_sqlite.recognise(InputFile("x.sqlite", Path("x.sqlite"), head, compressed=False))


@pytest.fixture
def export_path(tmp_path: Path, exports: ModuleType) -> Path:
    launches = [exports.Launch(10 * i, 10 * i + i % 7, i) for i in range(3000)]
    path: Path = exports.export("2023.4", launches, [exports.Call(i, i) for i in range(3000)]).sqlite(
        tmp_path / "it is 100% odd?#.sqlite"
    )
    return path


@pytest.mark.usefixtures("both_ways")
def test_any_character_in_the_path(export_path: Path) -> None:
    assert read(export_path).launches == 3000


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
def test_a_damaged_database(export_path: Path) -> None:
    """The pages after the schema are overwritten: the damage shows only while rows are read."""
    whole = bytearray(export_path.read_bytes())
    whole[len(whole) // 8 : len(whole) // 2] = b"\xff" * (len(whole) // 2 - len(whole) // 8)
    export_path.write_bytes(whole)
    with pytest.raises(ProfileError, match="damaged or cut short"):
        read(export_path)


def test_truncated_gzip(export_path: Path, tmp_path: Path) -> None:
    packed = tmp_path / "x.gz"
    packed.write_bytes(gzip.compress(export_path.read_bytes())[:-2000])
    with pytest.raises(ProfileError, match="gzip data is cut short"):
        read(packed)


@pytest.mark.usefixtures("both_ways")
def test_deleted_rows_leave_no_trace(export_path: Path) -> None:
    with closing(sqlite3.connect(export_path)) as connection, connection:
        connection.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid % 1000 != 1")
        connection.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET rowid = 1000000000000 WHERE rowid = 2001")
    assert read(export_path).launches == 3


def test_row_ranges_cover_every_row_once() -> None:
    step = nsys_sqlite_ranges.ROWS_OF_ONE_QUERY
    for first, last in [(1, 0), (1, 1), (1, step), (1, step + 1), (-5, 10 * step), (7, 1 << 62)]:
        ranges = nsys_sqlite_ranges.row_ranges(first, last, 1 << 30)
        assert ranges[0][0] == first
        assert ranges[-1][1] == last + 1
        assert all(before[1] == after[0] for before, after in pairwise(ranges))
        assert len(ranges) <= 1 + (1 << 30) // (8 * step)


def test_text_that_is_no_valid_utf8(tmp_path: Path, exports: ModuleType) -> None:
    path: Path = exports.export("2023.4", [exports.Launch(1, 2, 1, name="k\xe4")]).sqlite(
        tmp_path / "x.sqlite"
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE StringIds SET value = CAST(x'6be4' AS TEXT) WHERE value = 'k\xe4'")
    assert read(path).kernels.names.full(0) == "k\ufffd"


def test_a_database_in_write_ahead_mode(export_path: Path) -> None:
    with closing(sqlite3.connect(export_path)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
    assert read(export_path).launches == 3000


@pytest.mark.usefixtures("both_ways")
def test_the_file_stays_as_it_was(export_path: Path) -> None:
    before = export_path.read_bytes()
    read(export_path)
    assert export_path.read_bytes() == before
    assert [path.name for path in export_path.parent.iterdir()] == [export_path.name]


def test_reading_ends_its_threads(export_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsys_sqlite, "BY_SEVERAL_THREADS_FROM_BYTES", 0)
    monkeypatch.setattr(nsys_sqlite_ranges, "ROWS_OF_ONE_QUERY", 100)
    monkeypatch.setattr(nsys_sqlite_ranges, "QUERIES_OF_ONE_PART", 1)

    def cancel(*_: Any) -> None:
        raise InterruptedError

    before = threading.active_count()
    with open_input(str(export_path)) as file, pytest.raises(InterruptedError):
        nsys_sqlite.read(file, KernelTable(), cancel)
    assert threading.active_count() == before


def ranges_by_plain_sql(path: Path, pattern: str) -> list[tuple[str, int, int, int]]:
    """Return name, PID, device and launches of every range whose name is like a pattern and that has any."""
    query = """
        SELECT IFNULL(e.text, s.value), k.globalPid / 0x1000000 % 0x1000000, k.deviceId, COUNT(*)
        FROM NVTX_EVENTS AS e LEFT JOIN StringIds AS s ON s.id = e.textId
        JOIN (SELECT globalTid & -16777216 AS process, correlationId, MIN(start) AS start
              FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY 1, 2) AS call
        ON call.process = e.globalTid & -16777216 AND call.start >= e.start AND call.start < e.end
        JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k
        ON k.correlationId = call.correlationId AND k.globalPid = call.process
        WHERE e.eventType IN (59, 60) AND IFNULL(e.text, s.value) LIKE ?
        GROUP BY e.rowid, k.globalPid, k.deviceId
    """
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        return sorted(connection.execute(query, (pattern,)))


RANGES = [
    ("a100-nerf-nsys2021.5", "cublas", 107, 143),
    ("cuda-graphs-nsys2023.4", "cudaGraph", 6, 48),
    ("h100x2-training-overlap-nsys2026.2", "aten::linear", 335, 335),
    ("h100x2-training-overlap-nsys2026.2", "nccl", 128, 128),
    ("h100x2-transformer-nsys2026.2", "aten::linear", 132, 244),
]


@pytest.mark.parametrize(("name", "text", "ranges", "launches"), RANGES)
@pytest.mark.usefixtures("both_ways")
def test_real_ranges_agree_with_plain_sql(
    name: str, text: str, ranges: int, launches: int, shared_data: Path
) -> None:
    path = shared_data / "nsys-sqlite" / f"{name}.sqlite"
    profile = read(path)
    found = profile.named_ranges(text)
    assert found is not None
    told = [
        (
            each.text,
            profile.sequences[each.sequence].process,
            profile.sequences[each.sequence].device,
            each.stop_ordinal - each.first_ordinal,
        )
        for each in found
    ]
    assert sorted(told) == ranges_by_plain_sql(path, f"{text}%")
    assert (len(told), sum(count for *_, count in told)) == (ranges, launches)


@pytest.fixture
def annotated(tmp_path: Path, exports: ModuleType) -> Path:
    """Return an export of three launches, the second in a range."""
    launches = [exports.Launch(100 + i, 200 + i, i) for i in range(3)]
    export = exports.export("2023.4", launches, [exports.Call(10 * i, i) for i in range(3)])
    event = (10, 20, 59, "x", None, exports.global_pid(100))
    export.add("NVTX_EVENTS", "start end? eventType text? textId? globalTid?", event)
    path: Path = export.sqlite(tmp_path / "annotated.sqlite")
    return path


def places(profile: Profile) -> list[tuple[int, int]]:
    return [(each.first_ordinal, each.stop_ordinal) for each in profile.named_ranges("x") or ()]


def test_ranges_of_a_compressed_export(annotated: Path, tmp_path: Path) -> None:
    packed = tmp_path / "x.gz"
    packed.write_bytes(gzip.compress(annotated.read_bytes()))
    assert places(read(packed)) == [(1, 2)]


def test_the_calls_are_read_once_for_all_names(annotated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = read(annotated)
    assert places(profile) == [(1, 2)]
    monkeypatch.setattr(nsys_nvtx, "OrderOfLaunches", None)
    assert len(profile.named_ranges("") or ()) == 1
    assert places(profile) == [(1, 2)]


def test_nobody_reads_ranges_that_nobody_asks_for(annotated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsys_nvtx, "OrderOfLaunches", None)
    monkeypatch.setattr(nsys_nvtx, "RangeEvents", None)
    assert read(annotated).launches == 3


def test_an_export_that_changed_meanwhile_is_noticed(annotated: Path) -> None:
    profile = read(annotated)
    with closing(sqlite3.connect(annotated)) as connection, connection:
        connection.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid = 1")
    with pytest.raises(ProfileError, match="changed while it was in use"):
        profile.named_ranges("x")


def test_an_export_that_is_gone_meanwhile_is_reported(annotated: Path) -> None:
    profile = read(annotated)
    annotated.unlink()
    with pytest.raises(ProfileError, match=str(annotated)):
        profile.named_ranges("x")
