"""An input as readers use it: its first bytes, a stream, or a file on disk, decompressed if it is gzip."""

from __future__ import annotations

import gzip
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from sampling.errors import ProfileError
from sampling.parallel import Progress

if TYPE_CHECKING:
    from sampling.readers.columns import ColumnMap

GZIP_MAGIC = b"\x1f\x8b"
HEAD_BYTES = 1 << 16
# The memory of pieces this small is reused from piece to piece; larger ones get new pages each time.
PIECE_BYTES = 4 << 20
LONGEST_LINE_BYTES = 4 << 20
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file or folder to be recognised and read."""

    path: str  #: as the user gave it ("-" for standard input); for messages
    location: Path  #: where its bytes lie
    head: bytes  #: its first 64 KiB, decompressed; empty for a folder
    compressed: bool  #: whether the bytes on disk are gzip
    lasting: bool = True  #: whether the location still exists after reading; the copy of a pipe does not
    #: the temporary file with a pipe's bytes, which exists as long as this object
    copy: object = field(default=None, repr=False, compare=False)
    columns: ColumnMap | None = None  #: which columns of a table hold what, as the user said it
    #: told the bytes on disk that are read before each further piece, by which reading is cancelled
    progress: Progress | None = field(default=None, repr=False, compare=False)

    @property
    def is_directory(self) -> bool:
        """Whether this is a folder."""
        return self.location.is_dir()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the decompressed bytes.

        Raises ProfileError: the compressed bytes are cut short or damaged (raised while reading).
        """
        with self.damage_reported(), self.location.open("rb") as raw:
            stream = cast("IO[bytes]", gzip.open(raw) if self.compressed else raw)  # noqa: SIM115
            yield stream if self.progress is None else cast("IO[bytes]", _WatchedStream(stream, self))

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


class _WatchedStream:
    """A stream of bytes that tells its place before each piece is read."""

    def __init__(self, stream: IO[bytes], file: InputFile) -> None:
        self._stream, self._file = stream, file

    def read(self, size: int = -1) -> bytes:
        self._tell()
        return self._stream.read(size)

    def read1(self, size: int = -1) -> bytes:
        self._tell()
        piece: bytes = getattr(self._stream, "read1", self._stream.read)(size)
        return piece

    def _tell(self) -> None:
        assert self._file.progress is not None
        total = self._file.location.stat().st_size
        self._file.progress(place_on_disk(self._stream), total, f"reading {self._file.path}")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def open_input(path: str) -> Iterator[InputFile]:
    """Open one path of the command line; "-" is standard input.

    Standard input and pipes, which can be read only once, are copied to a temporary file.

    Raises ProfileError: it does not exist, is a device or cannot be read.
    """
    location = Path(path)
    if path == "-":
        yield _copied(path, sys.stdin.buffer)
    elif location.is_file() or location.is_dir() or not location.exists():
        yield _input_file(path, location)
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
    return replace(_input_file(path, Path(copy.name)), lasting=False, copy=copy)


def _temporary_copy(stream: IO[bytes]) -> IO[bytes]:
    copy = tempfile.NamedTemporaryFile(prefix="kernelpoint-")  # noqa: SIM115 - its holder closes it
    shutil.copyfileobj(stream, copy, 1 << 20)
    copy.flush()
    return copy


def _input_file(path: str, location: Path) -> InputFile:
    if not location.exists():
        raise ProfileError("no such file or folder", path=path, remedy="check the path")
    bare = InputFile(path, location, b"", compressed=False)
    if location.is_dir():
        return bare
    with bare.damage_reported():
        with location.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        if compressed := head.startswith(GZIP_MAGIC):
            head = b""
            with gzip.open(location) as stream:
                try:
                    while len(head) < HEAD_BYTES and (chunk := stream.read1(4096)):
                        head += chunk
                except (EOFError, zlib.error):
                    # What there is of it is enough to recognise a format.
                    if not head:
                        raise
    is_text = b"\0" not in head and not head.lstrip().startswith((b"{", b"["))
    if is_text and head.count(b"\r") > 1 and b"\n" not in head:
        raise ProfileError(
            "its lines end in a carriage return alone, so that all of it is one line",
            path=path,
            remedy=f"convert it: tr '\\r' '\\n' < {path}",
        )
    return replace(bare, head=head, compressed=compressed)


def place_on_disk(stream: IO[bytes]) -> int:
    """Return how many bytes on disk an opened input has taken; of gzip data those are compressed."""
    raw: IO[bytes] = getattr(stream, "fileobj", None) or stream
    return raw.tell()


def pieces(file: InputFile, progress: Progress | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the file as (offset, whole lines); the next piece is read while one is worked on.

    Raises ProfileError: a line has no end, or the file cannot be read.
    """
    total = file.location.stat().st_size
    with file.open() as stream, ThreadPoolExecutor(1) as ahead:
        offset = 0
        coming = ahead.submit(_next_piece, stream, file.path)
        while piece := coming.result():
            coming = ahead.submit(_next_piece, stream, file.path)
            yield offset, piece
            offset += len(piece)
            if progress is not None:
                # Of gzip data the next piece is decompressed by now.
                progress(place_on_disk(stream) if file.compressed else offset, total, f"reading {file.path}")


def _next_piece(stream: IO[bytes], path: str) -> bytes:
    start = stream.read(PIECE_BYTES)
    rest = b"" if start.endswith(b"\n") else stream.readline(LONGEST_LINE_BYTES)
    if len(rest) == LONGEST_LINE_BYTES:
        message = f"holds a line of more than {LONGEST_LINE_BYTES >> 20} MiB"
        raise ProfileError(message, path=path, remedy="write the report again")
    return start + rest


def is_binary(file: InputFile) -> bool:
    """Return whether the head holds bytes that text does not."""
    return any(byte < 32 and byte not in _TEXT_CONTROLS for byte in set(file.head))


def is_json(file: InputFile) -> bool:
    """Return whether this starts as a JSON object or a JSON list does."""
    return re.match(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*[\[{\]\"\d-])", file.head) is not None
