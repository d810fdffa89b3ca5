"""What is kept of large files: found again, made again, never in the way."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sampling.profile.identity import sha256_as_read
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import (
    Column,
    Device,
    KernelTable,
    Profile,
    ProfileFile,
    RecordingFacts,
    Reduced,
)
from sampling.readers import cache, cached_profile, nsys_export, registry
from sampling.readers.columns import column_map
from sampling.readers.input_file import ReadOptions
from sampling.readers.launch_parquet import write_launch_parquet
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations, reduce_parts
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.reduction.timeline import device_times
from tests import small_recordings
from tests.sampling.readers import (
    nsys_exports,
    rocpd_file,
    test_csv_table,
    test_kineto_ranks,
    test_ncu_profile,
    test_nvprof,
    test_pipit_csv,
    test_rocm_csv,
    test_rocprofv3,
    test_simulator_log,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, which keeps files of any size."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "LEAST_BYTES", 0)
    return tmp_path / "cache" / "kernelpoint"


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return small_recordings.nsys_sqlite(tmp_path, "2023.4")


@pytest.fixture
def no_reader(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """What keeps launches from being read from now on: only what is kept of them is found."""
    return lambda: monkeypatch.setattr(LaunchTableBuilder, "finish", None)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files that were read, and not found in the cache."""
    found: list[str] = []
    find_reader = registry.find_reader
    monkeypatch.setattr(registry, "find_reader", lambda file: (found.append(file.path), find_reader(file))[1])
    return found


def read(*paths: Path, columns: str | None = None) -> Profile:
    options = ReadOptions(None if columns is None else column_map(columns))
    return read_profile([str(path) for path in paths], options=options, needs_table=False, cache=True)


def reduced(profile: Profile) -> list[object]:
    """Return what looking at all launches finds, and at all but the first."""
    found: list[object] = [device_times(profile, profile.parts)]
    for by in (GroupBy.NAME, GroupBy.LAUNCH):
        for first in (0, 1):
            counts = count_durations(profile, Grouping(by), Region(launches=(first, None)))
            pairs = (counts.offsets, counts.duration_ns, counts.count)
            found += [[group.key for group in counts.groups], *(each.tolist() for each in pairs)]
    return found


def told(profile: Profile) -> tuple[object, ...]:
    """Return all that a profile says of its launches."""
    columns: list[Column] = sorted(profile.columns - {"name", "operator"})
    table = {name: values.tolist() for name, values in profile.load(columns).items()}
    kernels = profile.kernels
    names = [(kernels.names.full(code), kernels.names.short(code)) for code in range(len(kernels.names))]
    ranges = profile.named_ranges("")
    has_operators = "operator" in profile.columns
    operator = profile.load(("operator",))["operator"].tolist() if has_operators else []
    facts = (profile.format, profile.files, profile.sequences, profile.facts, profile.metric_names)
    activity = profile.activity and [np.asarray(column).tolist() for column in profile.activity]
    said = (facts, table, names, ranges, operator, kernels.operators()[0], activity)
    return *said, kernels.signature_rows().tolist(), profile.to_pandas().to_dict()


WRITTEN: dict[str, Callable[[Path], Path]] = {
    "nsys-sqlite": lambda folder: small_recordings.nsys_sqlite(folder, "2023.4"),
    "nsys-folder": lambda folder: small_recordings.nsys_parquetdir(folder, "2023.4"),
    "nsys-csv": lambda folder: small_recordings.nsys_csv(folder, "2023.4"),
    "kineto": lambda folder: small_recordings.kineto(folder, "today"),
    "sample": lambda _: Path("sample_data/gpt2-like.json.gz"),
}
_DISPATCHED = (test_rocprofv3.DISPATCHES, (*test_rocprofv3.CALLS, *test_rocprofv3.MARKERS))
WRITTEN_TOO: dict[str, Callable[[Path], Path]] = {
    "nsys-graph": lambda folder: graphs().sqlite(folder / "graphs.sqlite"),
    "nsys-execution-csv": small_recordings.nsys_execution_csv,
    "kineto-late": lambda folder: small_recordings.kineto(folder, "today", calls_lost=30),
    "kineto-ranks": lambda folder: merged_ranks(folder / "merged.json"),
    "rocpd": lambda folder: rocpd_file.write_database(folder / "results.db", *_DISPATCHED),
    "rocprofv3-json": lambda folder: rocpd_file.write_json(
        folder / "results.json", rocpd_file.json_of(*_DISPATCHED)
    ),
    "rocm-csv": lambda folder: test_rocm_csv.written(folder, test_rocm_csv.text_of(test_rocm_csv.V3)),
    "nvprof": lambda folder: test_nvprof.written(
        folder, test_nvprof.BANNER, [test_nvprof.HEADER], test_nvprof.ROWS
    ),
    "pipit-csv": lambda folder: test_pipit_csv.write(folder, test_pipit_csv.ROWS),
    "simulator-log": lambda folder: test_csv_table.written(folder, test_simulator_log.PROGRAM, "run.log"),
    "ncu": lambda folder: test_csv_table.written(folder, test_ncu_profile.PAGE, "page.csv"),
    "launch-csv": lambda folder: test_csv_table.written(folder, test_csv_table.THEIRS),
}


def merged_ranks(path: Path) -> Path:
    """A trace of two ranks, as SGLang merges them."""
    renamed = test_kineto_ranks.renamed("[TP{rank:02d}] {pid}")
    ranks = {rank: test_kineto_ranks.rank_trace(rank, [(2, 5), (1, 7), (3, 2)], rank) for rank in (0, 3)}
    merged = [renamed(event, rank) for rank, events in ranks.items() for event in events]
    path.write_text(json.dumps({"traceEvents": merged}))
    return path


def graphs() -> nsys_exports.Export:
    """An export whose launches replay nodes of a graph, which were captured within a range."""
    launches = [
        nsys_exports.Launch(1_000 * number, 1_000 * number + 300, number, node=1 + number % 3)
        for number in range(12)
    ]
    calls = [nsys_exports.Call(1_000 * number - 100, number) for number in range(12)]
    made = nsys_exports.export("2023.4", launches, calls)
    process = nsys_exports.global_pid(100)
    nodes = [(process + 1, node, 100 * node, 0) for node in (1, 2, 3)]
    made.add("CUDA_GRAPH_NODE_EVENTS", "globalTid graphNodeId start originalGraphNodeId", *nodes)
    ranges = [(59, "capture", None, process + 1, 90, 210), (59, "run", None, process + 1, 800, 20_000)]
    return made.add("NVTX_EVENTS", "eventType text textId? globalTid start end", *ranges)


@pytest.mark.parametrize("write", (WRITTEN | WRITTEN_TOO).values(), ids=WRITTEN | WRITTEN_TOO)
def test_what_is_kept_is_what_was_read(
    write: Callable[[Path], Path], tmp_path: Path, no_reader: Callable[[], None]
) -> None:
    path = write(tmp_path)
    columns = test_csv_table.COLUMNS if path.name == "table.csv" else None
    kept = read(path, columns=columns)
    fresh = read_profile(
        [str(path)],
        options=ReadOptions(None if columns is None else column_map(columns)),
        needs_table=False,
    )
    looked, first, files = reduced(fresh), told(fresh)[1:], kept.files
    assert files[0].sha256 == sha256_as_read(fresh.files[0])
    no_reader()
    again = read(path, columns=columns)
    assert told(again)[1:] == first
    other = {"kernels", "parts", "ranges", "activity", "activity_reader", "files", "reduced"}
    plain = [field for field in vars(fresh) if field not in other]
    assert [getattr(again, field) for field in plain] == [getattr(fresh, field) for field in plain]
    assert again.files == files
    assert again.reduced is not None
    assert reduced(again) == looked


_TEXT = st.text(st.characters(codec=None), min_size=1, max_size=9)
_DEVICE = st.builds(Device, st.integers(0, 9), _TEXT, *[st.none() | st.integers(0, 1 << 40)] * 3)


@given(
    names=st.lists(_TEXT, min_size=1, max_size=6),
    facts=st.builds(
        RecordingFacts,
        st.tuples(_DEVICE),
        st.sampled_from(["file", "gpu-start", "correlation", "api-start"]),
        api_rows_missing=st.integers(0, 1 << 70),
        product=st.none() | _TEXT,
        rank=st.none() | st.integers(0, 1 << 62),
    ),
    metrics=st.dictionaries(st.text(min_size=1, max_size=9), st.floats(), max_size=3),
    kind=st.sampled_from([np.int8, np.uint16, np.int32, np.int64]),
)
@example(names=["\ud800"], facts=RecordingFacts(), metrics={}, kind=np.int8)
def test_any_names_facts_and_metrics_are_kept(
    names: list[str], facts: RecordingFacts, metrics: dict[str, float], kind: type[np.integer[Any]]
) -> None:
    kernels, count = KernelTable(), len(names)
    builder = LaunchTableBuilder("any", kernels)
    builder.append(
        LaunchColumns(
            name=kernels.names.intern(names, names[::-1]),
            duration_ns=np.arange(count).astype(kind),
            process=np.arange(count) % 3,
            start_ns=np.arange(count),
        )
    )
    profile = builder.finish(
        format_name="any",
        file=ProfileFile("any", Path("any"), count),
        facts=facts,
        metrics={name: np.full(count, value) for name, value in metrics.items()},
    )
    reduction = reduce_parts(profile, "signature", profile.parts)
    profile.reduced = Reduced(reduction, device_times(profile, profile.parts))
    header, arrays = cached_profile.profile_sections(profile)
    content = b"".join(each.tobytes().ljust(cached_profile.padded(each.nbytes)) for each in arrays)
    again = cached_profile.profile_from(header, np.frombuffer(content, dtype=np.uint8))
    # NaN is nowhere equal to itself.
    assert repr(told(again)) == repr(told(profile))
    assert device_times(again, again.parts) == profile.reduced.device_times
    assert again.reduced is not None
    assert [each.tolist() for each in again.reduced.reduction] == [each.tolist() for each in reduction]


def test_what_is_not_data_is_not_kept(
    folder: Path, export: Path, readings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nsys_export, "CACHED_BY_NAME", ())
    first = told(read(export))[1:]
    assert told(read(export))[1:] == first
    assert len(readings) == 2
    assert not folder.exists()


def test_nothing_is_unpickled(folder: Path, export: Path, tmp_path: Path) -> None:
    first = told(read(export))
    (kept,) = folder.iterdir()
    pickled = pickle.dumps(_Touched(str(tmp_path / "ran")), protocol=5)
    padded = pickled.ljust(-(-len(pickled) // 64) * 64, b"\0")
    # As a profile was kept once: a sum, the number of sections, their sizes, and a pickle.
    words = np.frombuffer(np.array([0, 1, len(pickled), *[0] * 5]).tobytes() + padded, dtype=np.int64).copy()
    words[0] = words[1:].sum()
    for content in (pickled, words.tobytes()):
        kept.write_bytes(content)
        assert told(read(export)) == first
        assert not (tmp_path / "ran").exists()


class _Touched:
    def __init__(self, path: str) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.mkdir, (self._path,)


def _keep_unless_killed(
    mark: str, read: Callable[..., Profile], *given: object, **options: object
) -> Profile:
    """Read a file; the first process that does is killed."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return read(*given, **options)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


@pytest.mark.parametrize("ends", [False, True], ids=["", "one is killed"])
def test_files_that_are_large_together_are_kept_by_processes(
    ends: bool, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write(tmp_path) for form, write in WRITTEN.items() if form != "nsys-folder"]
    alone = told(read(*paths))
    shutil.rmtree(folder)
    monkeypatch.setattr(cache, "TOGETHER_BYTES", 1)
    monkeypatch.setattr(cache, "processes_for", lambda _: 2)
    mark = tmp_path / "killed"
    if ends:
        monkeypatch.setattr(
            registry, "read_file", partial(_keep_unless_killed, str(mark), registry.read_file)
        )
    assert told(read(*paths)) == alone
    assert mark.exists() == ends
    assert len([*folder.glob("launches-*")]) == len(paths)
    # Where all are there, no process is started.
    monkeypatch.setattr(cache, "Workers", None)
    assert told(read(*paths)) == alone


def test_there_are_as_many_processes_as_processors_and_memory() -> None:
    assert cache.processes_for(1) == joblib.cpu_count()
    assert cache.processes_for(1 << 60) == 0


def test_files_kept_apart_are_one_workload(tmp_path: Path, no_reader: Callable[[], None]) -> None:
    paths = [small_recordings.kineto(tmp_path, "today"), small_recordings.nsys_sqlite(tmp_path, "2023.4")]
    first = told(read_profile([str(path) for path in paths]))
    assert told(read(*paths))[1:] == first[1:]
    no_reader()
    assert told(read(*paths))[1:] == first[1:]
    # Codes of the second file are others where it comes first.
    assert read(*reversed(paths)).launches == len(first[1]["duration_ns"])


def test_without_a_cache_nothing_is_kept(folder: Path, export: Path) -> None:
    read_profile([str(export)])
    assert not folder.exists()


def test_what_is_small_is_not_kept(folder: Path, export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LEAST_BYTES", 64 << 20)
    read(export)
    assert not folder.exists()


def test_our_parquet_is_not_kept(folder: Path, export: Path, tmp_path: Path) -> None:
    written = tmp_path / "own.parquet"
    write_launch_parquet(read_profile([str(export)]), Region(), written)
    read(written)
    assert not folder.exists()


# --- which state of a file ----------------------------------------------------------------------------------


@pytest.fixture
def log_of(export: Path) -> Iterator[Callable[[str], None]]:
    """What changes the export by a program that goes on: the change lies in the log beside it."""
    with closing(sqlite3.connect(export, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("UPDATE StringIds SET value = value")
        yield lambda statement: (connection.execute(statement), None)[1]


@pytest.mark.parametrize("through", ["itself", "a link"])
def test_what_a_log_changes_is_read_again(
    through: str,
    folder: Path,
    export: Path,
    log_of: Callable[[str], None],
    tmp_path: Path,
    readings: list[str],
) -> None:
    path = export
    if through == "a link":
        path = tmp_path / "other" / "link.sqlite"
        path.parent.mkdir()
        path.symlink_to(export)
    read(path)
    state = export.stat()
    log_of("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid % 2 = 0")
    assert (export.stat().st_mtime_ns, export.stat().st_size) == (state.st_mtime_ns, state.st_size)
    again = read(path)
    assert readings == [str(path)] * 2
    assert again.launches == read_profile([str(path)]).launches
    if path == export:
        assert again.launches == small_recordings.LAUNCHES // 2


def test_a_log_without_a_change_is_none(
    export: Path, log_of: Callable[[str], None], readings: list[str], folder: Path
) -> None:
    log_of("SELECT 1")
    for _ in range(3):
        read(export)
    assert len(readings) == 1


def test_what_changed_in_the_middle_with_its_size_and_time_is_read_again(
    folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "launches.csv"
    rows = [f"k{number},{100 + number}" for number in range(20_000)]
    path.write_text("\n".join(["name,duration_ns", *rows]))
    state = path.stat()
    assert read(path).load(["duration_ns"])["duration_ns"][10_000] == 10_100
    with path.open("r+b") as stream:
        stream.seek(path.read_bytes().index(b"k10000,10100"))
        stream.write(b"k10000,77777")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (state.st_size, state.st_mtime_ns)
    assert read(path).load(["duration_ns"])["duration_ns"][10_000] == 77_777


def test_a_file_that_was_written_again_is_read_again(folder: Path, export: Path, tmp_path: Path) -> None:
    read(export)
    shorter = small_recordings.nsys_sqlite(tmp_path, "2022.4", small_recordings.batches())
    shutil.move(shorter, export)
    assert read(export).launches == read_profile([str(export)]).launches
    assert len([*folder.iterdir()]) == 2


@pytest.mark.parametrize("damage", ["emptied", "cut", "longer", "changed", "swapped", "zeros", "text"])
def test_what_is_damaged_is_made_again(damage: str, folder: Path, export: Path) -> None:
    first = told(read(export))
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(
        {
            "emptied": b"",
            "cut": whole[: len(whole) // 2],
            "longer": whole + bytes(64),
            "swapped": _with_words_swapped(whole),
            "changed": whole[:-200] + bytes([whole[-200] ^ 1]) + whole[-199:],
            "zeros": bytes(len(whole)),
            "text": b"no profile at all, but text of sixty-four bytes and more" * 9,
        }[damage]
    )
    assert told(read(export)) == first
    assert kept.read_bytes() == whole


@pytest.mark.parametrize(
    "header",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"{}",
        b'{"ranges":{"function":"sampling.readers.cache:user_cache","values":[]}}',
        b'{"ranges":{"function":"os:getcwd","values":[]}}',
    ],
)
def test_a_header_of_others_is_made_again(header: bytes, folder: Path, export: Path) -> None:
    first = told(read(export))
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    sign, _, size = cache._HEAD.unpack(whole[: cache._HEAD.size])
    if header.startswith(b'{"ranges"'):
        written = json.loads(whole[cache._HEAD.size : cache._HEAD.size + size])
        header = json.dumps(written | json.loads(header)).encode()
    begin = cached_profile.padded(cache._HEAD.size + size)
    content = header.ljust(cached_profile.padded(cache._HEAD.size + len(header)) - cache._HEAD.size, b"\0")
    rest = cache._HEAD.pack(sign, b"", len(header)) + content + whole[begin:]
    kept.write_bytes(
        cache._HEAD.pack(sign, cache._checksum(memoryview(rest)), len(header)) + content + whole[begin:]
    )
    assert told(read(export)) == first
    assert kept.read_bytes() == whole


def _with_words_swapped(whole: bytes) -> bytes:
    """Return the content with the last two words that differ in each other's place."""
    words = np.frombuffer(whole, dtype=np.int64, count=len(whole) // 8).copy()
    first, second = np.flatnonzero(words)[-1], np.flatnonzero(words[:-1] != words[1:])[-2]
    assert words[first] != words[second]
    words[[first, second]] = words[[second, first]]
    return words.tobytes() + whole[words.nbytes :]


# --- whose it is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ["a link", "a link to nothing", "a pipe", "a folder", "of another user"])
def test_only_a_file_of_ones_own_is_an_entry(
    entry: str, folder: Path, export: Path, tmp_path: Path, readings: list[str]
) -> None:
    first = told(read(export))[1:]
    (kept,) = folder.iterdir()
    if entry == "a link":
        kept.rename(tmp_path / "elsewhere")
        kept.symlink_to(tmp_path / "elsewhere")
    elif entry == "of another user":
        if os.geteuid():
            pytest.skip("only root gives files away")
        os.chown(kept, 12345, 12345)
    else:
        kept.unlink()
        makes: dict[str, Callable[[], object]] = {
            "a link to nothing": lambda: kept.symlink_to(tmp_path / "nowhere"),
            "a pipe": lambda: os.mkfifo(kept),
            "a folder": kept.mkdir,
        }
        makes[entry]()
    assert told(read(export))[1:] == first
    assert len(readings) == 2
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("kind", ["a link", "open to all", "open to a group", "a file", "of another user"])
def test_a_folder_that_is_not_ones_own_alone_is_not_used(
    kind: str, folder: Path, export: Path, tmp_path: Path, readings: list[str]
) -> None:
    first = told(read(export))[1:]
    if kind == "of another user":
        if os.geteuid():
            pytest.skip("only root gives folders away")
        os.chown(folder, 12345, 12345)
    elif kind.startswith("open"):
        folder.chmod(0o777 if kind == "open to all" else 0o750)
    else:
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere") if kind == "a link" else folder.touch()
    there = [*tmp_path.rglob("launches-*")]
    small_recordings.nsys_csv(tmp_path, "2023.4")
    assert told(read(export))[1:] == first
    read(export, tmp_path / "small-2023.4.csv")
    assert readings == [str(export)] * 3 + [str(tmp_path / "small-2023.4.csv")]
    assert [*tmp_path.rglob("launches-*")] == there


def test_what_is_kept_is_the_users_alone(folder: Path, export: Path) -> None:
    read(export)
    (kept,) = folder.iterdir()
    assert [path.stat().st_mode & 0o777 for path in (folder, kept)] == [0o700, 0o600]


def test_a_cache_that_cannot_be_written_is_no_error(
    export: Path, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a-file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a-file"))
    assert read(export).launches == small_recordings.LAUNCHES


def test_what_was_not_used_for_longest_goes_first(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [small_recordings.nsys_sqlite(tmp_path, version) for version in ("2020.4", "2022.4", "2023.4")]
    kept = []
    for age, path in enumerate(paths):
        read(path)
        (new,) = {*folder.iterdir()} - {*kept}
        os.utime(new, (1_000_000 + age, 1_000_000 + age))
        kept.append(new)
    read(paths[0])
    monkeypatch.setattr(cache, "MOST_BYTES", 3 * kept[0].stat().st_size)
    read(small_recordings.nsys_sqlite(tmp_path, "2026.2"))
    assert kept[0].exists()
    assert not kept[1].exists()
    assert sum(path.stat().st_size for path in folder.iterdir()) <= cache.MOST_BYTES


def test_many_at_once_find_and_write_the_same(folder: Path, export: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda _: told(read(export)), range(16))]
    assert all(each == found[0] for each in found)
    assert len([*folder.iterdir()]) == 1


def test_ranges_are_found_from_another_folder(
    folder: Path, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(export.parent)
    profile = read(Path(export.name))
    again = read(Path(export.name))
    monkeypatch.chdir("/")
    assert again.named_ranges(small_recordings.RANGE) == profile.named_ranges(small_recordings.RANGE) != ()
