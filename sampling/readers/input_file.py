"""An input as readers use it: its first bytes, a stream, or a file on disk, decompressed if it is gzip."""

from __future__ import annotations

import gzip
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from sampling.errors import ProfileError
from sampling.progress import Progress

if TYPE_CHECKING:
    from sampling.readers.tables.column_map import ColumnMap


GZIP_MAGIC = b"\x1f\x8b"
HEAD_BYTES = 1 << 16
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file or folder to be recognised and read.

    Attributes
    ----------
    path : as the user gave it ("-" for standard input); for messages.
    location : where its bytes lie.
    head : its first 64 KiB, decompressed; empty for a folder.
    compressed : whether the bytes on disk are gzip.
    lasting : whether the location still exists after reading; the copy of a pipe does not.
    copy : the temporary file with a pipe's bytes, which exists as long as this object.
    columns : which columns of a table hold what, as the user said it.
    """

    path: str
    location: Path
    head: bytes
    compressed: bool
    lasting: bool = True
    copy: object = field(default=None, repr=False, compare=False)
    columns: ColumnMap | None = None

    @property
    def is_directory(self) -> bool:
        """Whether this is a folder."""
        return self.location.is_dir()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the decompressed bytes.

        Raises
        ------
        ProfileError : the compressed bytes are cut short or damaged (raised while reading).
        """
        with self.damage_reported(), self.location.open("rb") as raw:
            if not self.compressed:
                yield raw
                return
            with gzip.open(raw) as stream:
                yield cast("IO[bytes]", stream)

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Give a path with the decompressed bytes: the file itself, or a temporary copy."""
        if not self.compressed:
            yield self.location
            return
        with self.decompressed_copy() as copy:
            yield Path(copy.name)

    def decompressed_copy(self) -> IO[bytes]:
        """Return a temporary file with the decompressed bytes, deleted once nothing holds it."""
        with self.open() as stream:
            return _temporary_copy(stream)

    @contextmanager
    def damage_reported(self) -> Iterator[None]:
        """Turn what gzip and the file system raise into this engine's error."""
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ProfileError(
                f"the gzip data is cut short or damaged ({error})",
                path=self.path,
                remedy="copy or record the file again",
            ) from error
        except OSError as error:
            raise ProfileError(f"cannot be read ({error.strerror or error})", path=self.path) from error


@contextmanager
def open_input(path: str) -> Iterator[InputFile]:
    """Open one path of the command line; "-" is standard input.

    Standard input and pipes, which can be read only once, are copied to a temporary file.

    Raises
    ------
    ProfileError : it does not exist, is a device or cannot be read.
    """
    location = Path(path)
    if path == "-":
        yield _copied(path, sys.stdin.buffer)
    elif location.is_file() or location.is_dir() or not location.exists():
        yield _input_file(path, location, lasting=True)
    elif location.is_char_device() or location.is_block_device():
        raise ProfileError(
            "a device, which has no end", path=path, remedy="give a file, a pipe or - for stdin"
        )
    else:
        with InputFile(path, location, b"", compressed=False).damage_reported():
            stream = location.open("rb")
        with stream:
            file = _copied(path, stream)
        yield file


def _copied(path: str, stream: IO[bytes]) -> InputFile:
    copy = _temporary_copy(stream)
    return replace(_input_file(path, Path(copy.name), lasting=False), copy=copy)


def _temporary_copy(stream: IO[bytes]) -> IO[bytes]:
    copy = tempfile.NamedTemporaryFile(prefix="kernelpoint-")  # noqa: SIM115 - its holder closes it
    shutil.copyfileobj(stream, copy, 1 << 20)
    copy.flush()
    return copy


def _input_file(path: str, location: Path, *, lasting: bool) -> InputFile:
    if not location.exists():
        raise ProfileError("no such file or folder", path=path, remedy="check the path")
    if location.is_dir():
        return InputFile(path, location, b"", compressed=False)
    bare = InputFile(path, location, b"", compressed=False)
    with bare.damage_reported():
        with location.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        compressed = head.startswith(GZIP_MAGIC)
        if compressed:
            with gzip.open(location) as stream:
                head = _head(stream)
    is_text = b"\0" not in head and not head.lstrip().startswith((b"{", b"["))
    if is_text and head.count(b"\r") > 1 and b"\n" not in head:
        raise ProfileError(
            "its lines end in a carriage return alone, so that all of it is one line",
            path=path,
            remedy=f"convert it: tr '\\r' '\\n' < {path}",
        )
    return InputFile(path, location, head, compressed, lasting)


def _head(stream: gzip.GzipFile) -> bytes:
    """Return the head, or what there is of it where the stream breaks off: enough to recognise a format."""
    head = bytearray()
    try:
        while len(head) < HEAD_BYTES and (chunk := stream.read1(4096)):
            head += chunk
    except (EOFError, zlib.error):
        if not head:
            raise
    return bytes(head)


def place_on_disk(stream: IO[bytes]) -> int:
    """Return how many bytes on disk an opened input has taken; of gzip data those are compressed."""
    raw: IO[bytes] = getattr(stream, "fileobj", None) or stream
    return raw.tell()


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


def is_binary(file: InputFile) -> bool:
    """Return whether the head holds bytes that text does not."""
    return any(byte < 32 and byte not in _TEXT_CONTROLS for byte in set(file.head))


def is_json(file: InputFile) -> bool:
    """Return whether this starts as a JSON object or a JSON list does."""
    return re.match(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*[\[{\]\"\d-])", file.head) is not None
