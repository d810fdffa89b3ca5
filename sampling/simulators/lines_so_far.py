"""The whole lines of a file that may still be written to, or whose writer was killed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile

_PIECE_BYTES = 1 << 22
_LONGEST_LINE_BYTES = 1 << 26


class LinesSoFar:
    """Pieces of whole lines of one file; a last line without an end is left out.

    Attributes
    ----------
    is_cut : whether the gzip data, once all is read, turned out to end before their end.
    """

    def __init__(self, file: InputFile) -> None:
        """Read a file, gzip or not."""
        self._file = file
        self.is_cut = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces.

        Raises
        ------
        ProfileError : the file cannot be read, its gzip data are damaged, or a line has no end.
        """
        left = b""
        with self._file.open() as stream:
            while piece := self._next(stream):
                text = left + piece
                end = text.rfind(b"\n") + 1
                if end:
                    yield text[:end]
                left = text[end:]
                if len(left) > _LONGEST_LINE_BYTES:
                    raise ProfileError(
                        f"holds a line of more than {_LONGEST_LINE_BYTES >> 20} MiB",
                        path=self._file.path,
                        remedy="give the log as the simulator wrote it",
                    )

    def _next(self, stream: IO[bytes]) -> bytes:
        """Return the next bytes, as many as are whole; none at the end."""
        parts: list[bytes] = []
        size = 0
        try:
            # One block of gzip data at a time: what comes before a cut is kept.
            while size < _PIECE_BYTES and (part := _read_some(stream)):
                parts.append(part)
                size += len(part)
        except EOFError:
            self.is_cut = True
        return b"".join(parts)


def _read_some(stream: IO[bytes]) -> bytes:
    read_one: bytes = getattr(stream, "read1", stream.read)(_PIECE_BYTES)
    return read_one
