"""Which files the tests read: their own, the project's, Python's and the system's; those of a user never."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

PROJECT = Path(__file__).resolve().parent.parent
#: Recorded by others; read by tests of `tests/recorded` alone
RECORDED = PROJECT.parent / "shared"

_READS = {"open", "os.listdir", "os.scandir", "sqlite3.connect"}
_OF_PYTHON = {PROJECT, *map(Path, (sys.prefix, sys.base_prefix, *filter(None, sys.path)))}
_OF_THE_SYSTEM = {*map(Path, ("/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sys", "/usr"))}


class Reading:
    """What is read outside the folders that may be read, from the moment on that these are said."""

    def __init__(self) -> None:
        self.outside: list[Path] = []
        self._roots: tuple[str, ...] = ()

    def allow(self, folder: Path) -> None:
        """Let the tests read this folder; the first time, begin to watch."""
        if not self._roots:
            sys.addaudithook(self._told)
        folders = {folder, *_OF_PYTHON, *_OF_THE_SYSTEM}
        self._roots = tuple({f"{each}{os.sep}" for one in folders for each in (one, one.resolve())})

    def _told(self, event: str, details: tuple[object, ...]) -> None:
        if event not in _READS or not isinstance(details[0], str | bytes | os.PathLike):
            return
        path = os.fsdecode(details[0])
        if event == "sqlite3.connect":
            path = unquote(urlsplit(path).path) if path.startswith("file:") else path
            if path in {"", ":memory:"}:
                return
        path = os.path.abspath(path)  # noqa: PTH100 - where a link leads is not looked up each time
        if not f"{path}{os.sep}".startswith(self._roots):
            self.outside.append(Path(path))


READING = Reading()
