"""Input files: their bytes, from the first on, of gzip, xz or neither, and what is wrong with them."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from select import select
from typing import IO, Any, NamedTuple

from scalemodel.errors import InputError, Place

_GZIP_MAGIC, _XZ_MAGIC = b"\x1f\x8b", b"\xfd7zXZ\x00"
_HEAD_BYTES = 1 << 16
# A program that is to write to a pipe has opened it by then.
_WAITED_SECONDS = 10.0
# Small enough that what is made of a piece stays near the processor.
PIECE_BYTES = 1 << 20
# How many times their size each kind of data may inflate to, and what any may: as `sampling` has it.
_MOST_TIMES = {"gzip": 200, "xz": 4_000}
_HARMLESS_BYTES = 256 << 20


class InputFile(NamedTuple):
    """An open file."""

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


class _Inflated(io.RawIOBase):
    """What compressed data inflate to; reading it raises InputError where that has no end."""

    def __init__(self, packed: IO[bytes], path: str, kind: str) -> None:
        super().__init__()
        self._packed, self._path, self._kind = packed, path, kind
        self._stream = gzip.GzipFile(fileobj=packed) if kind == "gzip" else lzma.LZMAFile(packed)  # noqa: SIM115

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        size = self._stream.readinto1(memoryview(buffer)[: 1 << 17])
        most = _MOST_TIMES[self._kind]
        if self._stream.tell() > max(_HARMLESS_BYTES, most * self._packed.tell()):
            what = f"inflates without end: to more than {most:,} times the size of its {self._kind} data"
            remedy = "if that is right, unpack it and give the file itself"
            raise InputError(what, Place(self._path), remedy=remedy)
        return size


@contextmanager
def open_file(path: str) -> Iterator[InputFile]:
    """Open one file; "-" is standard input; raise InputError if it does not exist or cannot be read."""
    with ExitStack() as opened:
        with damage_reported(path):
            stream: IO[bytes] = sys.stdin.buffer
            first = b""
            if path != "-":
                if not Path(path).exists():
                    raise InputError("no such file or folder", Place(path), remedy="check the path")
                stream = opened.enter_context(open(path, "rb", opener=_at_once))
                first = _begun(stream.fileno())
            if _is_endless(stream):
                remedy = "give a file, a pipe or - for stdin"
                raise InputError("a device, which has no end", Place(path), remedy=remedy)
            if not stream.seekable():
                # A pipe is kept: it cannot be read from the start again.
                stream = io.BytesIO(first + stream.read())
            magic = stream.read(len(_XZ_MAGIC))
            stream.seek(0)
            if magic.startswith(_GZIP_MAGIC):
                stream = io.BufferedReader(_Inflated(stream, path, "gzip"))
            elif magic.startswith(_XZ_MAGIC):
                stream = io.BufferedReader(_Inflated(stream, path, "xz"))
            head = stream.read(_HEAD_BYTES)
            stream.seek(0)
        yield InputFile(path, head, stream)


def _is_endless(stream: IO[bytes]) -> bool:
    """Return whether this is a device other than a terminal and /dev/null."""
    # What stands for standard input may be no file.
    with suppress(OSError):
        found = os.fstat(stream.fileno())
        is_ending = stream.isatty() or found.st_rdev == Path(os.devnull).stat().st_rdev
        return stat.S_ISBLK(found.st_mode) or (stat.S_ISCHR(found.st_mode) and not is_ending)
    return False


def _at_once(path: str, flags: int) -> int:
    """Open without waiting until somebody writes to a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def _begun(handle: int) -> bytes:
    """Wait for a pipe that was opened without waiting, and return what was read of it meanwhile.

    Raises OSError: nobody writes to it.
    """
    first = b""
    # Who has opened it may take long until the first byte.
    with suppress(BlockingIOError):
        if not select([handle], [], [], _WAITED_SECONDS)[0] and not (first := os.read(handle, 1)):
            raise OSError(32, f"nobody has opened this pipe for writing within {_WAITED_SECONDS:g} s")
    os.set_blocking(handle, True)
    return first


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
