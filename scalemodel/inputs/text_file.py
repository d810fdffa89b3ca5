"""A small text file: plain or gzip, or standard input."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

from scalemodel.errors import InputError

_GZIP_MAGIC = b"\x1f\x8b"


def read_text(path: str, *, meant: str = "a CSV or TOML with measurements") -> str:
    """Return the whole text of a file, its line ends as they are; "-" is standard input.

    Parameters
    ----------
    meant : what the remedy tells to give instead of what is no text.

    Raises
    ------
    InputError : it cannot be read, is empty, damaged, or not text in UTF-8.
    """
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        if content.startswith(_GZIP_MAGIC):
            content = gzip.decompress(content)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"the gzip data is cut short or damaged ({error})", path=path, remedy="copy the file again"
        ) from error
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror or error})", path=path, remedy="check the path"
        ) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("not text in UTF-8", path=path, remedy=f"give {meant}") from error
    if not text.strip():
        raise InputError("the file is empty", path=path, remedy=f"give {meant}")
    return text


def written_name(path: str | Path, *, of_stdin: str) -> str:
    """Return the name, without folders, of a file that is made from the one read; it is plain text."""
    return of_stdin if str(path) == "-" else Path(path).name.removesuffix(".gz")
