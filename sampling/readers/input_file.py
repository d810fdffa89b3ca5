"""An input as readers use it: its first bytes, a stream, or a file on disk, decompressed if it is gzip."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from sampling.errors import ProfileError
from sampling.parallel import Progress

if TYPE_CHECKING:
    import sqlite3

    from sampling.readers.columns import ColumnMap

HEAD_BYTES = 1 << 16
SQLITE = b"SQLite format 3\0"
# The memory of pieces this small is reused from piece to piece; larger ones get new pages each time.
PIECE_BYTES = 4 << 20
_LONGEST_LINE_BYTES = 4 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How profiles are read, as the user said it: a plan has it, so that its profile is read so again."""

    columns: ColumnMap | None = None  #: which columns of tables hold what
    #: its first group finds the ranks of several files in their paths; None: where their own names tell
    rank_regex: str | None = None
    partial: bool = False  #: whether of a file that is cut short what is whole is read
    keep_overlong: bool = False  #: whether launches that cannot last as long as recorded keep their durations


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
    # as in `ReadOptions`
    columns: ColumnMap | None = None
    partial: bool = False
    keep_overlong: bool = False
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
        with self.damage_reported(), io.BufferedReader(_WatchedFile(self)) as raw:
            yield cast("IO[bytes]", gzip.GzipFile(fileobj=raw) if self.compressed else raw)

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
            what = f"the gzip data is cut short or damaged ({error})"
            raise ProfileError(what, path=self.path, remedy="copy or record the file again") from error
        except OSError as error:
            raise ProfileError(f"cannot be read ({error.strerror or error})", path=self.path) from error


class _WatchedFile(io.FileIO):
    """A file that tells its place before more of it is read."""

    def __init__(self, file: InputFile) -> None:
        super().__init__(file.location)
        self._file = file

    def readinto(self, buffer: Any) -> int | None:
        if self._file.progress is not None:
            total = self._file.location.stat().st_size
            self._file.progress(self.tell(), total, f"reading {self._file.path}")
        return super().readinto(buffer)


_PLAIN = ReadOptions()


@contextmanager
def open_input(path: str, options: ReadOptions = _PLAIN) -> Iterator[InputFile]:
    """Open one path of the command line; "-" is standard input.

    Standard input and pipes, which can be read only once, are copied to a temporary file.

    Raises ProfileError: it does not exist, is a device or cannot be read.
    """
    location = Path(path)
    bare = InputFile(
        path,
        location,
        b"",
        compressed=False,
        columns=options.columns,
        partial=options.partial,
        keep_overlong=options.keep_overlong,
    )
    if path != "-" and not location.exists():
        raise ProfileError("no such file or folder", path=path, remedy="check the path")
    if location.is_char_device() or location.is_block_device():
        remedy = "give a file, a pipe or - for stdin"
        raise ProfileError("a device, which has no end", path=path, remedy=remedy)
    if path != "-" and (location.is_file() or location.is_dir()):
        yield bare if location.is_dir() else _with_head(bare)
        return
    with (
        bare.damage_reported(),
        nullcontext(sys.stdin.buffer) if path == "-" else location.open("rb") as stream,
    ):
        copy = _temporary_copy(stream)
    yield _with_head(replace(bare, location=Path(copy.name), lasting=False, copy=copy))


def _temporary_copy(stream: IO[bytes]) -> IO[bytes]:
    copy = tempfile.NamedTemporaryFile(prefix="kernelpoint-")  # noqa: SIM115 - its holder closes it
    shutil.copyfileobj(stream, copy, 1 << 20)
    copy.flush()
    return copy


def _with_head(file: InputFile) -> InputFile:
    with file.damage_reported():
        with file.location.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        if not head.startswith(_GZIP_MAGIC):
            return replace(file, head=head)
        head = b""
        with gzip.open(file.location) as stream:
            try:
                while len(head) < HEAD_BYTES and (chunk := stream.read1(4096)):
                    head += chunk
            except (EOFError, zlib.error):
                # What there is of it is enough to recognise a format.
                if not head:
                    raise
    return replace(file, head=head, compressed=True)


def pieces(file: InputFile, progress: Progress | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the file as (offset, whole lines); the next piece is read while one is worked on.

    Raises ProfileError: a line has no end, or the file cannot be read.
    """
    watched = file if progress is None else replace(file, progress=progress)
    with watched.open() as stream, ThreadPoolExecutor(1) as ahead:
        offset = 0
        coming = ahead.submit(_next_piece, stream, file.path)
        while piece := coming.result():
            coming = ahead.submit(_next_piece, stream, file.path)
            yield offset, piece
            offset += len(piece)


def _next_piece(stream: IO[bytes], path: str) -> bytes:
    start = stream.read(PIECE_BYTES)
    rest = b"" if start.endswith(b"\n") else stream.readline(_LONGEST_LINE_BYTES)
    if len(rest) == _LONGEST_LINE_BYTES:
        message = f"holds a line of more than {_LONGEST_LINE_BYTES >> 20} MiB"
        raise ProfileError(message, path=path, remedy="write the report again")
    return start + rest


def is_binary(file: InputFile) -> bool:
    """Return whether the head holds bytes that text does not."""
    return any(byte < 32 and byte not in _TEXT_CONTROLS for byte in set(file.head))


def is_json(file: InputFile) -> bool:
    """Return whether this starts as a JSON object or a JSON list does."""
    return re.match(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*[\[{\]\"\d-])", file.head) is not None


class OpenDatabase(NamedTuple):
    """A database that is open, its file on disk, decompressed, and the names of its tables."""

    location: Path
    connection: sqlite3.Connection
    tables: tuple[str, ...]


@contextmanager
def open_database(file: InputFile, remedy: str) -> Iterator[OpenDatabase]:
    """Open a database for reading only; its texts that are no UTF-8 are mended.

    Raises ProfileError: it is damaged or cut short, with this remedy; also from all that is done with it.
    """
    import sqlite3

    with file.on_disk() as location:
        try:
            with closing(sqlite3.connect(uri(location), uri=True)) as connection:
                connection.text_factory = lambda text: text.decode("utf-8", errors="replace")
                # The header has the size in pages; SQLite notices a missing one only when it reads it.
                size, pages = int.from_bytes(file.head[16:18]), int.from_bytes(file.head[28:32])
                expected, there = pages * (1 << 16 if size == 1 else size), location.stat().st_size
                if file.head[24:28] == file.head[92:96] and there < expected:
                    raise damaged(file.path, f"{there:,} of {expected:,} bytes are there", remedy)
                query = "SELECT name FROM sqlite_master WHERE type = 'table'"
                tables = tuple(name for (name,) in connection.execute(query))
                yield OpenDatabase(location, connection, tables)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            # SQLite quotes the schema, line breaks and what is no text too.
            raise damaged(file.path, " ".join(str(error).split()), remedy) from error


def uri(location: Path) -> str:
    """Return the address that opens a database for reading only, any character in its path."""
    location = location.resolve()
    # In a folder that cannot be written to, SQLite opens a database in write-ahead mode only as immutable.
    immutable = "" if os.access(location.parent, os.W_OK) else "&immutable=1"
    return f"{location.as_uri()}?mode=ro{immutable}"


def damaged(path: str, reason: str, remedy: str) -> ProfileError:
    """Return the error for a database that SQLite cannot read."""
    return ProfileError(f"the SQLite database is damaged or cut short ({reason})", path=path, remedy=remedy)
