"""What tells the state of a file from another: every change that can be had without reading it."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.profile.identity import disk_state, refuse_changed
from sampling.readers.registry import read_profile
from tests import small_recordings


def _with_its_time(path: Path, change: Callable[[Path], object]) -> None:
    """Change a file and set its time back."""
    status = path.stat()
    # So long a tick of a file system's clock lasts, and longer.
    time.sleep(0.02)
    change(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _change_middle(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.seek(path.stat().st_size // 2)
        (byte,) = stream.read(1)
        stream.seek(-1, os.SEEK_CUR)
        stream.write(bytes([byte ^ 1]))


def _commit(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE StringIds SET value = value")


CHANGES: dict[str, Callable[[Path], object]] = {
    "in its middle, its time set back": lambda path: _with_its_time(path, _change_middle),
    "a transaction, its time set back": lambda path: _with_its_time(path, _commit),
    "a log beside it": lambda path: Path(f"{path}-wal").write_bytes(b"frames"),
    "a journal beside it": lambda path: Path(f"{path}-journal").write_bytes(b"pages"),
    "another file of its name": lambda path: (
        path.with_name("new").write_bytes(b"x") and path.with_name("new").rename(path)
    ),
}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return small_recordings.nsys_sqlite(tmp_path, "2023.4")


@pytest.mark.parametrize("through", ["itself", "a link", "its folder"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_another_state(
    through: str, change: Callable[[Path], object], export: Path, tmp_path: Path
) -> None:
    path = export if through == "itself" else tmp_path if through == "its folder" else tmp_path / "away" / "l"
    if through == "a link":
        path.parent.mkdir()
        path.symlink_to(export)
    before = disk_state(path)
    assert disk_state(path) == before
    change(export)
    assert not before <= disk_state(path)


def test_reading_is_no_change(export: Path) -> None:
    with closing(sqlite3.connect(export)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    before = disk_state(export)
    read_profile([str(export)])
    # As other readers leave one.
    Path(f"{export}-wal").touch()
    assert disk_state(export) == before


@pytest.mark.parametrize("change", list(CHANGES)[:3])
def test_what_has_changed_since_it_was_read_is_refused(change: str, export: Path) -> None:
    profile = read_profile([str(export)])
    CHANGES[change](export)
    with pytest.raises(ProfileError, match="has changed on disk since it was read"):
        refuse_changed(profile.files)


def test_a_file_that_cannot_be_read_has_a_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "locked"
    path.write_bytes(b"x")
    whole = disk_state(path)

    def refused(*_: object) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "open", refused)
    (state,) = disk_state(path)
    assert (state.name, state.size_bytes, state[:5]) == ("locked", 1, next(iter(whole))[:5])
