"""That no test reads outside its own folders would be seen, and the folders of the user are none of them."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from sampling.readers.folders import files_in, matching
from tests.own_folders import PROJECT, READING


def connect(database: str, **more: Any) -> None:
    with closing(sqlite3.connect(database, **more)):
        pass


READS: dict[str, Callable[[Path], object]] = {
    "a file": lambda path: path.read_text(),
    "a file that is written": lambda path: path.write_text("x"),
    "a folder": lambda path: list(path.iterdir()),
    "a folder in bytes": lambda path: os.listdir(os.fsencode(path)),  # noqa: PTH208 - as a program may have it
    "a pattern": lambda path: matching(f"{path}/*"),
    "a search": lambda path: files_in(path, lambda _: False),
    "a database": lambda path: connect(str(path)),
    "a database by its address": lambda path: connect(f"{path.absolute().as_uri()}?mode=ro", uri=True),
}


# In folders that are not there, so that nothing is written.
@pytest.mark.parametrize("what", READS)
@pytest.mark.parametrize(
    "place", [Path("/nowhere/at all"), PROJECT.parent / "nowhere" / "else", PROJECT / ".." / "no" / "where"]
)
def test_a_read_outside_is_seen(what: str, place: Path) -> None:
    with suppress(OSError, sqlite3.OperationalError):
        READS[what](place)
    seen, READING.outside = READING.outside, []
    assert {*seen} == {Path(os.path.abspath(place))}  # noqa: PTH100 - links stay


@pytest.mark.parametrize("what", READS)
def test_a_read_within_is_none(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for place in (tmp_path / "a", Path("a"), PROJECT / "a" / "b"):
        with suppress(OSError, sqlite3.OperationalError):
            READS[what](place)
    assert READING.outside == []


def test_the_user_has_no_folder_here(tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.getbasetemp()
    for folder in (Path.home(), Path(os.environ["XDG_CACHE_HOME"]), Path(tempfile.gettempdir())):
        assert folder.is_relative_to(base)
