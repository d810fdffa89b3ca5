"""What lies in a folder that a person named, searched to a depth and a number: ``/`` is no long walk."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any

from sampling.errors import ProfileError

#: Files and folders in all, and levels of folders. In more it takes minutes to look for profiles.
MOST_ENTRIES, DEEPEST = 20_000, 16

_ANY_FOLDERS = "**"


def files_in(folder: str | Path, is_whole: Callable[[Path], bool]) -> list[Path]:
    """Return the files of a folder and of those within, as a person counts them; nothing is opened.

    What is hidden is left out, and links to folders are not followed. A folder that ``is_whole`` counts as a
    file.

    Raises ProfileError: there are more than `MOST_ENTRIES`, or folders below `DEEPEST`; OSError: one cannot
    be listed.
    """
    files: list[Path] = []
    entries_seen = 0

    def look_into(place: str | Path, depth: int) -> None:
        nonlocal entries_seen
        with os.scandir(place) as listing:
            visible = (entry for entry in listing if not entry.name.startswith("."))
            entries = list(islice(visible, MOST_ENTRIES + 1 - entries_seen))
        entries_seen += len(entries)
        if entries_seen > MOST_ENTRIES or depth > DEEPEST:
            amount = (
                f"{MOST_ENTRIES:,} files" if entries_seen > MOST_ENTRIES else f"{DEEPEST} levels of folders"
            )
            remedy = "name the profiles in it, or a folder further down"
            raise ProfileError(f"holds more than {amount}, too many to search", path=folder, remedy=remedy)
        for entry in sorted(entries, key=lambda entry: natural_order(entry.name)):
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False) and not is_whole(path):
                look_into(entry.path, depth + 1)
            else:
                files.append(path)

    look_into(folder, 0)
    return files


def matching(pattern: str) -> list[str]:
    """Return the files and folders that a pattern finds, as a person counts; ``**`` is any folders.

    Raises ProfileError: where it stands there is too much, see `files_in`, or a folder cannot be listed.
    """
    parts = Path(pattern).parts
    if _ANY_FOLDERS not in parts:
        return sorted(glob.glob(pattern), key=natural_order)  # noqa: PTH207 - it may be absolute
    start = parts.index(_ANY_FOLDERS)
    paths: list[str] = []
    for base in matching(str(Path(*parts[:start]))) if start else [""]:
        place = Path(base)

        def is_meant(path: Path, place: Path = place) -> bool:
            return _matches(path.relative_to(place).parts, parts[start:])

        try:
            paths += map(str, filter(is_meant, files_in(place, is_meant))) if place.is_dir() else ()
        except OSError as error:
            message = f"cannot be searched ({error})"
            raise ProfileError(message, path=place, remedy="name the profiles in it") from error
    return paths


def _matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern or not parts:
        return not parts and set(pattern) <= {_ANY_FOLDERS}
    if pattern[0] == _ANY_FOLDERS:
        return _matches(parts, pattern[1:]) or _matches(parts[1:], pattern)
    return fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def natural_order(name: str) -> tuple[Any, ...]:
    """Return a key by which names stand as a person counts: rank2 before rank10."""
    pieces = re.split(r"([0-9]+)", name.casefold())
    return tuple((int(piece), "") if place % 2 else (0, piece) for place, piece in enumerate(pieces)), name
