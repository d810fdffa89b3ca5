"""A small input file: its text, plain or gzip or from standard input, and the checks of what is in it."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import tomllib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from scalemodel.errors import InputError, Place

# A table of many thousand benchmarks is smaller; what inflates to more is no input of ours.
_MOST_BYTES = 64 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")

# What GPGPU-Sim and Accel-Sim print, and their interval logs.
_SIMULATOR_LOG = re.compile(
    r"^(Accel-Sim \[build|[ \t]*\*\*\* GPGPU-Sim Simulator|GPGPU-Sim (PTX|uArch|version)"
    r"|(kernel_launch_uid|gpu_sim_cycle|gpu_tot_ipc) = |globalcyclecount:|(?i:CFLog)\d+[:_])",
    re.MULTILINE,
)
_LOG_HEAD = 1 << 20

# What a person writes is far below both; tomllib takes the square of the time for the parts of a key.
_MOST_TOML_CHARACTERS = 1 << 20
_MOST_KEY_PARTS = 64
_KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_KEY_PART}(?:[ \t]*+\.[ \t]*+{_KEY_PART}){{{_MOST_KEY_PARTS}}}")

Choice = TypeVar("Choice", bound=StrEnum)


def read_text(path: str, *, meant: str = "a CSV or TOML with measurements") -> str:
    """Return the whole text of a file, its line ends as they are; "-" is standard input.

    Parameters
    ----------
    meant : the kind of file that the remedy asks for where this one holds no text.

    Raises
    ------
    InputError : it cannot be read, is empty, damaged, too large, not text in UTF-8, or what a simulator
        wrote.
    """
    place = Place(path)
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        if content.startswith(_GZIP_MAGIC):
            with gzip.open(io.BytesIO(content)) as stream:
                content = stream.read(_MOST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = f"the gzip data is cut short or damaged ({error})"
        raise InputError(what, place, remedy="copy the file again") from error
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, place, remedy="check the path") from error
    if _SIMULATOR_LOG.search(content[:_LOG_HEAD].decode("utf-8", "replace")):
        what = "the log of a simulator, of which nothing is read here"
        remedy = f"its IPC is the last gpu_tot_ipc that was printed; give {meant}"
        raise InputError(what, place, remedy=remedy)
    if len(content) > _MOST_BYTES:
        what = f"more than {_MOST_BYTES:,} bytes, where a small file is meant"
        raise InputError(what, place, remedy=f"give {meant}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("not text in UTF-8", place, remedy=f"give {meant}") from error
    if not text.strip():
        raise InputError("the file is empty", place, remedy=f"give {meant}")
    return text


def written_name(path: str | Path, *, of_stdin: str) -> str:
    """Return the name, without folders, of a plain text file that is made from the one read.

    Parameters
    ----------
    of_stdin : the name where standard input was read.
    """
    return of_stdin if str(path) == "-" else Path(path).name.removesuffix(".gz")


def parsed_toml(text: str, path: str | Path, *, or_else: str, meant: str) -> dict[str, Any]:
    """Return the keys and values of a TOML.

    Parameters
    ----------
    or_else : the other kind of file this may be; named where the file's name does not end in ``.toml``.
    meant : what the remedy then asks for.

    Raises
    ------
    InputError : the text is no TOML, or larger or nested deeper than any that a person writes.
    """
    _check_extent(text, Place(path))
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers and nesting beyond Python's own limits too
        found = _TOML_PLACE.search(str(error))
        row = None if found is None else int(found[1])
        if not str(path).casefold().removesuffix(".gz").endswith(".toml"):
            what, remedy = f"neither {or_else} nor a TOML ({error})", f"give {meant}"
        else:
            reason = _TOML_PLACE.sub("", str(error))
            what = f"not a TOML: {reason[:1].casefold()}{reason[1:]}"
            what += "" if found is None else f" at column {found[2]} of the row"
            remedy = "correct it there" if found is not None else "correct it"
        raise InputError(what, Place(path, row), remedy=remedy) from error


def _check_extent(text: str, place: Place) -> None:
    """Refuse a TOML that would take minutes to read.

    Raises
    ------
    InputError : it is too long, or a key has too many parts.
    """
    if len(text) > _MOST_TOML_CHARACTERS:
        what = f"{len(text):,} characters, where a TOML of at most {_MOST_TOML_CHARACTERS:,} is read"
        raise InputError(what, place, remedy="give measurements as a CSV, or in several files")
    if (found := _LONG_KEY.search(text)) is not None:
        at = Place(place.path, text.count("\n", 0, found.start()) + 1)
        what = f"tables within tables, more than {_MOST_KEY_PARTS} deep"
        raise InputError(what, at, remedy="name a table in fewer parts")


@contextmanager
def csv_errors_placed(reader: Any, path: str) -> Iterator[None]:
    """Say in which row of the file a reader of the package `csv` failed."""
    try:
        yield
    except csv.Error as error:
        place = Place(path, reader.line_num)
        raise InputError(f"not a CSV ({error})", place, remedy="check the quotes there") from error


def require(wrong: str | None, place: Place, remedy: str) -> None:
    """Raise InputError where something is wrong; None where nothing is."""
    if wrong is not None:
        raise InputError(wrong, place, remedy=remedy)


def number_in(cell: str, place: Place, remedy: str) -> float:
    """Return the number in a cell of a table.

    Raises
    ------
    InputError : there is none.
    """
    try:
        return float(cell)
    except ValueError as error:
        what = f"{cell!r} is not a number" if cell.strip() else "nothing where a number is needed"
        raise InputError(what, place, remedy=remedy) from error


def choice_in(value: object, word: Any, choices: type[Choice], place: Place) -> Choice:
    """Return the choice that a word names.

    Parameters
    ----------
    value : what the file has; the message quotes it.
    word : the value as it is compared, in small letters where they do not matter.

    Raises
    ------
    InputError : it names none.
    """
    if word not in list(choices):
        raise InputError(f"{value!r} is not known", place, remedy=f"write one of {', '.join(choices)}")
    return choices(word)
