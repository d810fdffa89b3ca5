"""An input that tells how far it is read, for readers that do not tell it themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, cast

from sampling.progress import Progress
from sampling.readers.input_file import InputFile, place_on_disk


@dataclass(frozen=True)
class WatchedInput(InputFile):
    """An input file whose stream reports its progress, by which reading can also be cancelled.

    Attributes
    ----------
    progress : told the bytes of the file on disk that are read, before each further piece.
    """

    progress: Progress = field(default=lambda *_: None, repr=False, compare=False)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the decompressed bytes; as `InputFile.open`."""
        with super().open() as stream:
            yield cast("IO[bytes]", _WatchedStream(stream, self._tell))

    def _tell(self, done: int) -> None:
        self.progress(done, self.location.stat().st_size, f"reading {self.path}")


def watched(file: InputFile, progress: Progress) -> WatchedInput:
    """Return the same input, watched."""
    return WatchedInput(
        file.path, file.location, file.head, file.compressed, file.lasting, file.copy, file.columns, progress
    )


class _WatchedStream:
    """A stream of bytes that tells its place before each piece is read."""

    def __init__(self, stream: IO[bytes], tell: Callable[[int], None]) -> None:
        self._stream, self._tell = stream, tell

    def read(self, size: int = -1) -> bytes:
        self._tell(place_on_disk(self._stream))
        return self._stream.read(size)

    def read1(self, size: int = -1) -> bytes:
        self._tell(place_on_disk(self._stream))
        piece: bytes = getattr(self._stream, "read1", self._stream.read)(size)
        return piece

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
