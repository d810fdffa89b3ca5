"""Where files can be written: the current folder, or where that takes none, a place that does."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def is_writable(folder: Path) -> bool:
    """Return whether the system lets files be made in a folder; a full disk is not told so."""
    return os.access(folder, os.W_OK | os.X_OK)


def home_expanded(text: str) -> Path:
    """Return a path with ~ as a shell replaces it; that of nobody stays as it is."""
    with suppress(RuntimeError):
        return Path(text).expanduser()
    return Path(text)


def is_there(path: Path) -> bool:
    """Return whether a file or folder is there; none is under a name that the system does not take."""
    try:
        return path.exists()
    except OSError:
        return False


def other_folders() -> Iterator[Path]:
    """Yield the folders to write to where the current one takes no file: home, the temporary one."""
    # An account may have no home.
    with suppress(RuntimeError):
        yield Path.home()
    yield Path(tempfile.gettempdir())


def place_for(name: str) -> str:
    """Return a name in the current folder, or the path in another one where that takes no file."""
    if is_writable(Path()):
        return name
    return next((str(folder / name) for folder in other_folders() if is_writable(folder)), name)
