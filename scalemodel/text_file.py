"""A small text file: plain or gzip, or standard input."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

from scalemodel.errors import InputError

_GZIP_MAGIC = b"\x1f\x8b"


def read_text(path: str) -> str:
    """Return the whole text of a file; "-" is standard input.

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
        raise InputError("not text in UTF-8", path=path, remedy="give a CSV or TOML") from error
    if not text.strip():
        raise InputError("the file is empty", path=path, remedy="give a CSV or TOML with measurements")
    return text
