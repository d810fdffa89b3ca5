"""What compressed data inflate to, stopped where that is endlessly more than they are.

A file made for that fills any memory or disk: a kilobyte of gzip may stand for a megabyte, of xz for seven.
Real profiles, logs and traces inflate 20 to 70 times as gzip, traces up to 1,100 times as xz.
"""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from sampling.errors import ProfileError

#: How many times their size each kind of data may inflate to, and what any may.
MOST_TIMES = {"gzip": 200, "xz": 4_000}
HARMLESS_BYTES = 256 << 20
#: The damage of data that are whole as far as they go
CUT_SHORT = "it ends before its data do"


_GZIP_WINDOW = 31
_PACKED_BYTES = 1 << 16
# Of one step: what is reused from step to step stays in memory.
_INFLATED_BYTES = 4 << 20


def inflated(packed: IO[bytes], path: str | Path, kind: str, *, whole: bool = False) -> IO[bytes]:
    """Return what gzip or xz data inflate to; closing it closes them too.

    Reading it raises ProfileError where they inflate without end; EOFError, gzip.BadGzipFile or
    lzma.LZMAError where they are cut short or damaged. With ``whole`` gzip data end there, and ``raw.damage``
    of what is returned says then what is wrong with them.
    """
    if whole:
        return io.BufferedReader(_InflatedWhole(packed, path), _PACKED_BYTES)
    return io.BufferedReader(_Inflated(packed, path, kind))


def _refuse_endless(inflated_bytes: int, packed: IO[bytes], path: str | Path, kind: str) -> None:
    most = MOST_TIMES[kind]
    if inflated_bytes > max(HARMLESS_BYTES, most * packed.tell()):
        what = f"inflates without end: to more than {most:,} times the size of its {kind} data"
        remedy = "if that is right, unpack it and give the file itself"
        raise ProfileError(what, path=path, remedy=remedy)


class _Inflated(io.RawIOBase):
    def __init__(self, packed: IO[bytes], path: str | Path, kind: str) -> None:
        super().__init__()
        self._packed, self._path, self._kind, self._bytes = packed, path, kind, 0
        self._stream = gzip.GzipFile(fileobj=packed) if kind == "gzip" else lzma.LZMAFile(packed)  # noqa: SIM115

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            # What comes before damage is given before it is told of.
            size = self._stream.readinto1(memoryview(buffer)[: 1 << 17])
        except zlib.error as error:
            raise gzip.BadGzipFile(str(error)) from error
        self._bytes += size
        _refuse_endless(self._bytes, self._packed, self._path, self._kind)
        return size

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._packed.close()
        super().close()


class _InflatedWhole(io.RawIOBase):
    """The bytes of gzip data up to where it is cut short or damaged, which is no error here."""

    def __init__(self, packed: IO[bytes], path: str | Path) -> None:
        super().__init__()
        self.damage: str | None = None  #: what is wrong with the data, once all before it is read
        self._packed, self._path, self._bytes = packed, path, 0
        self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        self._rest = b""
        self._waiting = memoryview(b"")
        self._has_ended = False

    def readable(self) -> bool:
        """Say so."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Put the next bytes into a buffer and return how many; 0 at the end."""
        while not self._waiting and not self._has_ended:
            self._waiting = memoryview(self._more())
        count = min(len(buffer), len(self._waiting))
        buffer[:count] = self._waiting[:count]
        self._waiting = self._waiting[count:]
        return count

    def _more(self) -> bytes:
        packed = self._rest or self._packed.read(_PACKED_BYTES)
        if self._inflater.eof:
            # Zeros may stand behind the data, or more data.
            packed = packed.lstrip(b"\0")
            self._inflater = zlib.decompressobj(_GZIP_WINDOW) if packed else self._inflater
        before = self._inflater.copy()
        try:
            made = self._inflater.decompress(packed, _INFLATED_BYTES)
        except zlib.error as error:
            self.damage, self._has_ended = str(error), True
            return b"".join(_before_the_damage(before, packed))
        self._bytes += len(made)
        _refuse_endless(self._bytes, self._packed, self._path, "gzip")
        self._rest = self._inflater.unconsumed_tail or self._inflater.unused_data
        if not packed:
            self._has_ended = True
            self.damage = None if self._inflater.eof else CUT_SHORT
        return made


def _before_the_damage(inflater: Any, packed: bytes) -> Iterator[bytes]:
    with suppress(zlib.error):
        for at in range(len(packed)):
            yield inflater.decompress(packed[at : at + 1])
