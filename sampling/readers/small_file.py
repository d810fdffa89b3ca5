"""Small files that a person writes: their text, and a TOML as a record."""

from __future__ import annotations

import re
import tomllib
from typing import TypeVar

import msgspec

from sampling.errors import ProfileError
from sampling.readers.input_file import open_input

Document = TypeVar("Document", bound=msgspec.Struct)

# A table of many thousand benchmarks is smaller; what inflates to more is no input of ours.
_MOST_BYTES = 64 << 20
# What a person writes is far below; tomllib takes the square of the time for the parts of a key.
_MOST_TOML_CHARACTERS = 1 << 14
CORRECT = "correct it, or leave it out if it is not known"


def read_text(path: str, *, meant: str) -> str:
    """Return the whole text of a file, gzip, xz or neither, its line ends as they are; "-" is standard input.

    Raises ProfileError: it cannot be read, is empty, damaged, too large, or not text; ``meant`` is asked for.
    """
    with open_input(path) as file, file.open() as stream:
        content = stream.read(_MOST_BYTES + 1)
    wrong, text = None, ""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        wrong = "not text in UTF-8"
    if len(content) > _MOST_BYTES:
        wrong = f"more than {_MOST_BYTES:,} bytes, where a small file is meant"
    elif wrong is None and not text.strip():
        wrong = "the file is empty"
    if wrong is not None:
        raise ProfileError(wrong, path=path, remedy=f"give {meant}")
    return text


def parsed_toml(text: str, path: str, kind: type[Document], *, meant: str) -> Document:
    """Return the keys and values of a TOML as a record; else ProfileError, asking for ``meant``."""
    if len(text) > _MOST_TOML_CHARACTERS:
        message = f"{len(text):,} characters, where a TOML of at most {_MOST_TOML_CHARACTERS:,} is read"
        raise ProfileError(message, path=path, remedy="share it out over several files")
    try:
        return msgspec.convert(tomllib.loads(text), kind, str_keys=True)
    except msgspec.ValidationError as error:
        message, _, location = str(error).partition(" - at ")
        stray = re.search(r"unknown field `(.*)`", message, re.DOTALL)
        key = stray[1] if stray else re.sub(r"[`$]|\[[^\]]*\]", "", location).removeprefix(".")
        last = re.escape(key.rpartition(".")[2])
        line = re.search(rf"^[ \t]*\[?[ \t]*{last}[ \t]*[=\].]", text, re.MULTILINE) if key else None
        row = None if line is None else text.count("\n", 0, line.start()) + 1
        message = message.replace("`", "")
        raise ProfileError(message, path=path, row=row, key=key or None, remedy=CORRECT) from error
    except (ValueError, RecursionError) as error:  # numbers and nesting beyond Python's own limits too
        position = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
        row, remedy = None if position is None else int(position[1]), f"correct it, or give {meant}"
        raise ProfileError(f"not a TOML: {error}", path=path, row=row, remedy=remedy) from error
