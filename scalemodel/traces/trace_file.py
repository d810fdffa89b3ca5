"""A trace as its readers see it: its first bytes, and its bytes in whole lines; gzip, xz, or neither."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from scalemodel.errors import InputError, Place

_GZIP_MAGIC = b"\x1f\x8b"
_XZ_MAGIC = b"\xfd7zXZ\x00"
_HEAD_BYTES = 1 << 16
# Small enough that what is made of a piece stays near the processor.
PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class TraceFile:
    """An open trace.

    Attributes
    ----------
    path : as the user gave it ("-" for standard input); for messages.
    head : its first 64 KiB or less, decompressed.
    stream : its bytes from the first on, decompressed.
    """

    path: str
    head: bytes
    stream: IO[bytes]

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes, some MiB at a time.

        Raises
        ------
        InputError : they cannot be read, or the compressed bytes are cut short or damaged.
        """
        with damage_reported(self.path):
            while piece := self.stream.read(PIECE_BYTES):
                yield piece

    def line_pieces(self) -> Iterator[bytes]:
        """Yield the bytes in pieces of whole lines; only the last may end without a line end.

        Raises
        ------
        InputError : as in ``pieces``.
        """
        rest: list[bytes] = []
        for piece in self.pieces():
            end = piece.rfind(b"\n") + 1
            if end:
                yield b"".join([*rest, piece[:end]])
                rest.clear()
            rest.append(piece[end:])
        if last := b"".join(rest):
            yield last


@contextmanager
def open_trace(path: str) -> Iterator[TraceFile]:
    """Open one trace; "-" is standard input.

    Raises
    ------
    InputError : it does not exist or cannot be read.
    """
    with ExitStack() as opened:
        with damage_reported(path):
            raw = sys.stdin.buffer if path == "-" else opened.enter_context(_opened(path))
            first = raw.read(len(_XZ_MAGIC))
            content = _decompressed(_joined(first, raw), first)
            head = content.read(_HEAD_BYTES)
        yield TraceFile(path, head, _joined(head, content))


def _opened(path: str) -> IO[bytes]:
    location = Path(path)
    if location.is_dir():
        raise InputError("is a folder", Place(path), remedy="give the files in it, in order")
    if not location.exists():
        raise InputError("no such file", Place(path), remedy="check the path")
    return location.open("rb")


def _decompressed(raw: IO[bytes], first: bytes) -> IO[bytes]:
    """Return the stream, decompressed if its first bytes say that it is compressed."""
    if first.startswith(_GZIP_MAGIC):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if first.startswith(_XZ_MAGIC):
        return cast("IO[bytes]", lzma.LZMAFile(raw))
    return raw


class _Joined(io.RawIOBase):
    """What was read of a stream, then the rest of it: a pipe cannot be read from the start again."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first = io.BytesIO(first)
        self._rest = rest

    def readable(self) -> bool:
        """Return that it is."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as one read goes."""
        read = self._first.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(read)] = read
        return len(read)


def _joined(first: bytes, rest: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", io.BufferedReader(_Joined(first, rest), _HEAD_BYTES))


@contextmanager
def damage_reported(path: str) -> Iterator[None]:
    """Turn what decompression and the file system raise into this engine's error."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise InputError(
            f"the compressed data is cut short or damaged ({error})",
            Place(path),
            remedy="copy or record the file again",
        ) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", Place(path)) from error
