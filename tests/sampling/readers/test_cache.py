"""What is kept of large files: found again, made again, never in the way."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import joblib
import pytest

from sampling.profile.identity import sha256_as_read
from sampling.profile.launch_table import LaunchTableBuilder
from sampling.profile.profile import Column, Profile
from sampling.readers import cache, registry
from sampling.readers.launch_tables import write_launch_parquet
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.reduction.timeline import device_times
from tests import small_recordings


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


def read(*paths: Path) -> Profile:
    return read_profile([str(path) for path in paths], cache=True)


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
    said = (facts, table, names, ranges, operator, kernels.operators()[0])
    return *said, kernels.signature_rows().tolist(), profile.to_pandas().to_dict()


WRITTEN: dict[str, Callable[[Path], Path]] = {
    "nsys-sqlite": lambda folder: small_recordings.nsys_sqlite(folder, "2023.4"),
    "nsys-folder": lambda folder: small_recordings.nsys_parquetdir(folder, "2023.4"),
    "nsys-csv": lambda folder: small_recordings.nsys_csv(folder, "2023.4"),
    "kineto": lambda folder: small_recordings.kineto(folder, "today"),
    "sample": lambda _: Path("sample_data/gpt2-like.json.gz"),
}


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
def test_what_is_kept_is_what_was_read(
    write: Callable[[Path], Path], tmp_path: Path, no_reader: Callable[[], None]
) -> None:
    path = write(tmp_path)
    first = told(read(path))
    looked = reduced(read_profile([str(path)]))
    no_reader()
    again = read(path)
    assert told(again) == first
    assert (reduced(again), {*again.found}) == (looked, {"reduction", "device times"})
    assert first[0][1][0].sha256 == sha256_as_read(read_profile([str(path)], cache=True).files[0])


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


def test_a_file_that_was_written_again_is_read_again(folder: Path, export: Path, tmp_path: Path) -> None:
    read(export)
    shorter = small_recordings.nsys_sqlite(tmp_path, "2022.4", small_recordings.batches())
    shutil.move(shorter, export)
    assert read(export).launches == read_profile([str(export)]).launches
    assert len([*folder.iterdir()]) == 2


@pytest.mark.parametrize("damage", ["emptied", "cut", "changed", "zeros", "text"])
def test_what_is_damaged_is_made_again(damage: str, folder: Path, export: Path) -> None:
    first = told(read(export))
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(
        {
            "emptied": b"",
            "cut": whole[: len(whole) // 2],
            "changed": whole[:-200] + bytes([whole[-200] ^ 1]) + whole[-199:],
            "zeros": bytes(len(whole)),
            "text": b"no profile at all, but text of sixty-four bytes and more" * 9,
        }[damage]
    )
    assert told(read(export)) == first
    assert kept.read_bytes() == whole


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
