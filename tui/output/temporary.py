"""Temporary files that do not stay behind: each is named after its process, whose death is then known.

A process that is killed cannot remove its own. The next one that writes to the same folder removes what is
surely stale: made on this machine since it was started, where process numbers mean the same, by a process
that is no longer there.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from tui.terminal import interruption

_NAME = re.compile(r"\.kernelpoint-(?P<process>[1-9]\d{0,9})-(?P<machine>[0-9a-f]{12})-[0-9a-f]{8}")
_UNKNOWN_MACHINE = "0" * 12
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PROCESS_NUMBERS = Path("/proc/self/ns/pid")

_open: set[Path] = set()


@contextmanager
def temporary_file(folder: Path) -> Iterator[Path]:
    """Give a new empty file of the user's alone, removed at the end if it is still there.

    Raises
    ------
    OSError : it cannot be made in that folder.
    """
    _remove_stale(folder)
    path = folder / f".kernelpoint-{os.getpid()}-{_machine()}-{secrets.token_hex(4)}"
    # Noted before it is there: a signal may come between the two.
    _open.add(path)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        yield path
    finally:
        _remove(path)


def remove_all() -> None:
    """Remove the temporary files of this process that are still there."""
    for path in tuple(_open):
        # The program ends, and has nobody to tell why one cannot be removed.
        with suppress(OSError):
            _remove(path)


interruption.at_the_end(remove_all)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    _open.discard(path)


@cache
def _machine() -> str:
    """Return which start of which machine and numbering of processes this is; zeros where nothing says it."""
    try:
        said = f"{_BOOT.read_text().strip()} {_PROCESS_NUMBERS.stat().st_ino}"
    except OSError:
        return _UNKNOWN_MACHINE
    return hashlib.sha256(said.encode()).hexdigest()[:12]


@cache
def _remove_stale(folder: Path) -> None:
    """Remove what dead processes left in a folder; it is looked through once a process."""
    # What may be in use, or cannot be looked at or removed, stays.
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found is not None and _is_stale(found["machine"], int(found["process"])):
                with suppress(OSError):
                    Path(entry.path).unlink()


def _is_stale(machine: str, process: int) -> bool:
    if machine != _machine() or machine == _UNKNOWN_MACHINE:
        return False
    try:
        # Signal 0 is none: it asks whether the process is there.
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
