"""What compressed data inflate to, stopped where that is endlessly more than they are.

A file made for that fills any memory or disk: a kilobyte of gzip may stand for a megabyte, of xz for seven.
Real profiles, logs and traces inflate 20 to 70 times as gzip, traces up to 1,100 times as xz.
"""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import IO, Any

from sampling.errors import ProfileError

#: How many times their size each kind of data may inflate to, and what any may.
MOST_TIMES = {"gzip": 200, "xz": 4_000}
HARMLESS_BYTES = 256 << 20


def inflated(packed: IO[bytes], path: str | Path, kind: str) -> IO[bytes]:
    """Return what gzip or xz data inflate to; closing it closes them too.

    Reading it raises ProfileError where they inflate without end; EOFError, gzip.BadGzipFile or
    lzma.LZMAError where they are cut short or damaged.
    """
    return io.BufferedReader(_Inflated(packed, path, kind))


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
        most = MOST_TIMES[self._kind]
        if self._bytes > max(HARMLESS_BYTES, most * self._packed.tell()):
            what = f"inflates without end: to more than {most:,} times the size of its {self._kind} data"
            remedy = "if that is right, unpack it and give the file itself"
            raise ProfileError(what, path=self._path, remedy=remedy)
        return size

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._packed.close()
        super().close()
