"""A trace as its readers see it: its bytes in whole lines, gzip, xz or neither, and its accesses."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from scalemodel.errors import InputError, Place

AddressArray = NDArray[np.uint64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_GZIP_MAGIC, _XZ_MAGIC = b"\x1f\x8b", b"\xfd7zXZ\x00"
_HEAD_BYTES = 1 << 16
# Small enough that what is made of a piece stays near the processor.
PIECE_BYTES = 1 << 20


class TraceFile(NamedTuple):
    """An open trace."""

    #: As the user gave it ("-" for standard input); for messages.
    path: str
    #: Its first 64 KiB or less, decompressed; and its bytes from the first on, decompressed.
    head: bytes
    stream: IO[bytes]

    def line_pieces(self) -> Iterator[bytes]:
        """Yield the bytes in pieces of whole lines, about a MiB each; only the last may lack a line end."""
        rest: list[bytes] = []
        with damage_reported(self.path):
            while piece := self.stream.read(PIECE_BYTES):
                end = piece.rfind(b"\n") + 1
                if end:
                    yield b"".join([*rest, piece[:end]])
                    rest.clear()
                rest.append(piece[end:])
        if last := b"".join(rest):
            yield last


@contextmanager
def open_trace(path: str) -> Iterator[TraceFile]:
    """Open one trace; "-" is standard input; raise InputError if it does not exist or cannot be read."""
    with ExitStack() as opened:
        with damage_reported(path):
            stream: IO[bytes] = sys.stdin.buffer
            if path != "-":
                stream = opened.enter_context(Path(path).open("rb"))
            if not stream.seekable():
                # A pipe is kept: it cannot be read from the start again.
                stream = io.BytesIO(stream.read())
            first = stream.read(len(_XZ_MAGIC))
            stream.seek(0)
            if first.startswith(_GZIP_MAGIC):
                stream = cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
            elif first.startswith(_XZ_MAGIC):
                stream = lzma.open(stream)  # noqa: SIM115
            head = stream.read(_HEAD_BYTES)
            stream.seek(0)
        yield TraceFile(path, head, stream)


@contextmanager
def damage_reported(path: str) -> Iterator[None]:
    """Turn what decompression and the file system raise into this engine's error."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        what = f"the compressed data is cut short or damaged ({error})"
        raise InputError(what, Place(path), remedy="copy or record the file again") from error
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, Place(path), remedy="check the path") from error


# -- accesses to cache lines ------------------------------------------------------------------------------


class AddressTrace(NamedTuple):
    """The accesses of a program, in order."""

    #: (n,) the cache line of each access: its address over ``line_bytes``.
    line: AddressArray
    line_bytes: int
    #: Executed while it was recorded; None where nothing says it.
    thread_instructions: int | None = None
    warp_instructions: int | None = None


def lines_of(address: AddressArray, line_bytes: int) -> AddressArray:
    """Return the lines the addresses lie in."""
    return address >> np.uint64(line_bytes.bit_length() - 1)


def lines_touched(
    address: AddressArray, size: AddressArray, line_bytes: int
) -> tuple[AddressArray, IntArray]:
    """Return every line that each access touches, ascending, and the index of its access.

    Sizes, in bytes, are 1 or more and do not reach beyond the last address.
    """
    first = lines_of(address, line_bytes)
    more = (lines_of(address + (size - np.uint64(1)), line_bytes) - first).view(np.int64)
    access = np.arange(first.size)
    if not more.any():
        return first, access
    access = np.repeat(access, more + 1)
    start = np.cumsum(more + 1) - more - 1
    return first[access] + (np.arange(access.size) - start[access]).astype(np.uint64), access
