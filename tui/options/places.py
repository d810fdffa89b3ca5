"""Where files can be written: the current folder, or where that takes none, a place that does."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

_LAST_WORD = re.compile(r"""(?:[^\s'"\\]|\\.?|'[^']*'?|"(?:[^"\\]|\\.)*"?)*""")
"""A word as a shell takes it, its last quote perhaps still open; matched wherever one may begin."""


def is_writable(folder: Path) -> bool:
    """Return whether the system lets files be made in a folder; a full disk is not told so."""
    return os.access(folder, os.W_OK | os.X_OK)


def home_expanded(text: str) -> Path:
    """Return a path with ~ as a shell replaces it; that of nobody stays as it is."""
    with suppress(RuntimeError):
        return Path(text).expanduser()
    return Path(text)


def completed(text: str) -> tuple[str, list[str]]:
    """Return a path as far as the names that are there agree on how it goes on, and these names.

    As in a shell, ~ stays as it is typed, a folder ends in /, and a hidden name is meant by its point alone.
    """
    if re.fullmatch("~[^/]*", text) and home_expanded(text).is_dir():
        return f"{text}/", []
    folder, slash, begun = text.rpartition("/")
    names: list[str] = []
    with suppress(OSError, ValueError):
        names = sorted(
            f"{each.name}/" if each.is_dir() else each.name
            for each in home_expanded(folder + slash).iterdir()
            if each.name.startswith(begun)
            and each.name.isprintable()
            and (begun or not each.name.startswith("."))
        )
    agreed = takewhile(lambda letters: len({*letters}) == 1, zip(*names, strict=False))
    return folder + slash + ("".join(letter for letter, *_ in agreed) or begun), names


def last_completed(text: str) -> tuple[str, list[str]]:
    """Return a text of words quoted as in a shell, the last of them `completed`; of A=B it may be B."""
    word = next(found for found in _LAST_WORD.finditer(text) if found.end() == len(text))
    plain = ""
    for closing in ("", "'", '"'):
        with suppress(ValueError):
            plain = "".join(shlex.split(word[0] + closing))
            break
    given, equals, path = plain.rpartition("=")
    whole, names = completed(plain)
    if equals and not names:
        path, names = completed(path)
        whole = given + equals + path
    if whole == plain:
        return text, names
    home = "~/" if whole.startswith("~/") else ""
    rest = whole.removeprefix(home)
    return text[: word.start()] + home + (rest and shlex.quote(rest)), names


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
