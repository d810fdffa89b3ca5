"""The files that a command reads: declared by the type of its options, and never written over.

An option or argument that names a file to read is annotated `InputFile` (or one of the others below); that is
all: the parser hands the paths to `reading`, and the one writer of files asks `is_read`.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

_STDIN = "-"

# One command runs in a process. The app's threads write too, so this is no context variable.
_being_read: list[str] = []


@dataclass(frozen=True, slots=True)
class Reads:
    """Marks the type of an option or argument whose value names a file to read.

    Attributes
    ----------
    after_equals : whether the file may follow an equals sign, as in NAME=FILE.
    before_at : whether a part of the file may be named behind an at sign, as in FILE@RANGE.
    """

    after_equals: bool = False
    before_at: bool = False

    def paths(self, text: str) -> Iterator[str]:
        """Yield what the file may be called."""
        yield text
        if self.after_equals:
            # The name and the path may both contain equals signs.
            yield from (text[place + 1 :] for place, letter in enumerate(text) if letter == "=")
        if self.before_at:
            yield from (text[:place] for place, letter in enumerate(text) if letter == "@")


InputFile = Annotated[str, Reads()]
FeatureFile = Annotated[str, Reads(after_equals=True)]
PartOfFile = Annotated[str, Reads(before_at=True)]


def input_files(options: Any) -> tuple[str, ...]:
    """Return the names of the files that the options ask to read, as typed; "-" is standard input."""
    hints = get_type_hints(type(options), include_extras=True)
    paths: list[str] = []
    for option in fields(options):
        mark, value = reads_of(hints[option.name]), getattr(options, option.name)
        if mark is not None and value is not None:
            paths += [
                path for text in ([value] if isinstance(value, str) else value) for path in mark.paths(text)
            ]
    return tuple(paths)


def reads_of(hint: Any) -> Reads | None:
    """Return the `Reads` mark of a type, of a tuple's items or of a union's members; None without one."""
    if get_origin(hint) is Annotated:
        return next((mark for mark in hint.__metadata__ if isinstance(mark, Reads)), None)
    return next(filter(None, map(reads_of, get_args(hint))), None)


@contextmanager
def reading(paths: Iterable[str]) -> Iterator[None]:
    """Keep these files from being written over for as long as this lasts."""
    before = len(_being_read)
    _being_read.extend(paths)
    try:
        yield
    finally:
        del _being_read[before:]


def is_read(path: Path) -> bool:
    """Return whether a file is being read now, under this name, another name or a link."""
    return why_not_written(path) is not None


def why_not_written(path: Path, inputs: Iterable[str] | None = None) -> str | None:
    """Return in words why a file must not be written, to follow its name in a message; None where it may be.

    Nothing is written into a folder that is read, neither over a file nor as a new one: a recording that is
    a folder consists of all files in it, so a new file could be read as one of its tables.

    Parameters
    ----------
    inputs : what is read; by default what is being read now.
    """
    there = _identity(path)
    for given in list(_being_read if inputs is None else inputs):
        if there is not None and there == _identity(given):
            return "is what the command reads"
        if given and Path(given).is_dir() and _is_within(path, there, Path(given)):
            return f"is in the folder {given}, which the command reads"
    return None


def _is_within(path: Path, there: tuple[int, int] | None, folder: Path) -> bool:
    """Return whether a file is or would be in a folder; `there` is the file's identity, if it exists."""
    resolved = folder.resolve()
    named, meant = path.parent.resolve() / path.name, path.resolve()
    if resolved in named.parents or resolved in meant.parents:
        return True
    # A link in the folder to a file elsewhere, or another name of the same file.
    return there is not None and there in map(_identity, folder.iterdir())


def _identity(path: str | Path) -> tuple[int, int] | None:
    """Return what identifies a file under any of its names, links followed; None if there is no such file."""
    try:
        found = os.fstat(sys.stdin.fileno()) if path == _STDIN else Path(path).stat()
    except (OSError, ValueError, AttributeError):
        # Standard input is closed or is no file, or the name cannot be that of a file.
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
