"""An input as readers use it: its first bytes, a stream, or a file on disk, decompressed if it is gzip."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from select import select
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.readers.inflated import inflated
from sampling.text import Wording

if TYPE_CHECKING:
    import sqlite3

    from sampling.readers.columns import ColumnMap

HEAD_BYTES = 1 << 16
SQLITE = b"SQLite format 3\0"
# The memory of pieces this small is reused from piece to piece; larger ones get new pages each time.
PIECE_BYTES = 4 << 20
_LONGEST_LINE_BYTES = 4 << 20
_GZIP_MAGIC = b"\x1f\x8b"
# What SQLite may do, in steps of its machine: all of an export takes half a step for each of its bytes.
_STEPS_AT_ONCE, _FEWEST_STEPS, _STEPS_OF_A_BYTE = 1_000_000, 20_000_000, 5
# A program that is to write to a pipe has opened it by then.
_WAITED_SECONDS = 10.0
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")
#: What to do about a file that is cut short or damaged, and where it is a text.
COPY_AGAIN = "copy or record the file again"
WHOLE = Wording(f"{COPY_AGAIN}, or read what is whole of it with `partial`")
_DEEPEST_JSON = 64
_JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)


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
    is_profile: bool = False  #: whether it is read as a profile, of which `partial` can be asked for
    #: told the bytes on disk that are read before each further piece, by which reading is cancelled
    progress: Progress | None = field(default=None, repr=False, compare=False)

    @property
    def is_directory(self) -> bool:
        """Whether this is a folder."""
        return self.location.is_dir()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the decompressed bytes; where ``partial``, they end where gzip data is cut short or damaged.

        Raises ProfileError: the compressed bytes are cut short or damaged, or inflate without end (raised
        while reading).
        """
        with self.damage_reported(), io.BufferedReader(_WatchedFile(self)) as raw:
            packed = cast("IO[bytes]", raw)
            yield inflated(packed, self.path, "gzip", whole=self.partial) if self.compressed else packed

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Give a path with the decompressed bytes: the file itself, or a temporary copy."""
        if not self.compressed:
            yield self.location
            return
        copy = Path((holder := self.decompressed_copy()).name)
        try:
            yield copy
        finally:
            copy.unlink()
            del holder

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
            remedy = WHOLE if self.is_profile and not is_binary(self) else COPY_AGAIN
            raise ProfileError(what, path=self.path, remedy=remedy) from error
        except OSError as error:
            raise ProfileError(f"cannot be read ({error.strerror or error})", path=self.path) from error


class _WatchedFile(io.FileIO):
    """A file that tells its place before more of it is read."""

    damage = None

    def __init__(self, file: InputFile) -> None:
        super().__init__(file.location)
        self._file = file

    def readinto(self, buffer: Any) -> int | None:
        if self._file.progress is not None:
            total = self._file.location.stat().st_size
            self._file.progress(self.tell(), total, f"reading {self._file.path}")
        return super().readinto(buffer)


_PLAIN = ReadOptions()


def note_of_damage(file: InputFile, what: str, number: int) -> str:
    """Return what to say of a file of which only what is whole was read, up to this one of what it holds."""
    return f"{file.path}: cut short or damaged, read up to its {what} {number:,}"


@contextmanager
def open_input(path: str, options: ReadOptions = _PLAIN) -> Iterator[InputFile]:
    """Open one path of the command line; "-" is standard input.

    Standard input and pipes, which can be read only once, are copied to a temporary file.

    Raises ProfileError: it does not exist, is a device, a pipe that nobody writes to, or cannot be read.
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
    check_there(path)
    if path != "-" and (location.is_file() or location.is_dir()):
        yield bare if location.is_dir() else _with_head(bare)
        return
    with bare.damage_reported():
        if path == "-":
            copy = _temporary_copy(sys.stdin.buffer)
        else:
            with open(path, "rb", opener=_at_once) as stream:
                copy = _temporary_copy(stream, _begun(stream.fileno()))
    yield _with_head(replace(bare, location=Path(copy.name), lasting=False, copy=copy))


def check_there(path: str) -> None:
    """Raise ProfileError where a path of the command line names nothing, or a device."""
    if path != "-" and not Path(path).exists():
        raise ProfileError("no such file or folder", path=path, remedy="check the path")
    if _is_endless(path):
        remedy = "give a file, a pipe or - for stdin"
        raise ProfileError("a device, which has no end", path=path, remedy=remedy)


def _is_endless(path: str) -> bool:
    """Return whether this is a device; what is empty ends, and so does standard input from a terminal."""
    # Standard input may be closed, or no file.
    with suppress(OSError, ValueError):
        found = Path(path).stat() if path != "-" else os.fstat(sys.stdin.fileno())
        is_ending = path == "-" and sys.stdin.isatty()
        is_ending |= found.st_rdev == Path(os.devnull).stat().st_rdev
        return stat.S_ISBLK(found.st_mode) or (stat.S_ISCHR(found.st_mode) and not is_ending)
    return False


def _at_once(path: str, flags: int) -> int:
    """Open without waiting until somebody writes to a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def _begun(pipe: int) -> bytes:
    """Wait for a pipe that was opened without waiting, and return what was read of it meanwhile.

    Raises OSError: nobody writes to it.
    """
    first = b""
    # Who has opened it may take long until the first byte.
    with suppress(BlockingIOError):
        if not select([pipe], [], [], _WAITED_SECONDS)[0] and not (first := os.read(pipe, 1)):
            raise OSError(32, f"nobody has opened this pipe for writing within {_WAITED_SECONDS:g} s")
    os.set_blocking(pipe, True)
    return first


def _temporary_copy(stream: IO[bytes], first: bytes = b"") -> IO[bytes]:
    copy = tempfile.NamedTemporaryFile(prefix="kernelpoint-", delete=False)  # noqa: SIM115
    # Closed at once: of an open file in a cycle of objects Python warns when it collects them.
    weakref.finalize(copy, Path(copy.name).unlink, missing_ok=True)
    with copy:
        copy.write(first)
        shutil.copyfileobj(stream, copy, 1 << 20)
    return cast("IO[bytes]", copy)


def _with_head(file: InputFile) -> InputFile:
    with file.damage_reported():
        with file.location.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        if not head.startswith(_GZIP_MAGIC):
            return replace(file, head=head)
    # What there is of damaged data is enough to recognise a format.
    with replace(file, compressed=True, partial=True).open() as stream:
        head = stream.read(HEAD_BYTES)
        if not head and (damage := stream.raw.damage) is not None:  # type: ignore[attr-defined]
            raise zlib.error(damage)
    return replace(file, head=head, compressed=True)


def whole_lines(
    stream: IO[bytes], path: str | Path, remedy: str, longest_line_bytes: int = _LONGEST_LINE_BYTES
) -> Iterator[bytes]:
    """Yield a stream in pieces of whole lines, of which only the last may lack its end.

    The next piece is read, and inflated, by a thread while one is worked on.

    Raises ProfileError: a line is longer than the longest, with this remedy; what reading the stream raises.
    """

    def next_piece() -> bytes:
        start = stream.read(PIECE_BYTES)
        rest = b"" if start.endswith(b"\n") else stream.readline(longest_line_bytes)
        if len(rest) == longest_line_bytes:
            message = f"holds a line of more than {longest_line_bytes >> 20} MiB"
            raise ProfileError(message, path=path, remedy=remedy)
        return start + rest

    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next_piece)
        while piece := coming.result():
            coming = reader.submit(next_piece)
            yield piece


def pieces(file: InputFile, progress: Progress | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the file as (offset, whole lines); where ``partial``, without a last line that lacks its end.

    Raises ProfileError: a line has no end, or the file cannot be read.
    """
    watched, offset = file if progress is None else replace(file, progress=progress), 0
    with watched.open() as stream:
        for piece in whole_lines(stream, file.path, "write the report again"):
            lines = piece[: piece.rfind(b"\n") + 1] if file.partial else piece
            yield offset, lines
            offset += len(lines)


def damage_of_lines(file: InputFile) -> str | None:
    """Return the note on a text, of which only what is whole was read, where that is not all; None: it is.

    It reads the file again, and JSON is not looked at: who decodes it says that.
    """
    if file.is_directory or is_binary(file) or is_json(file):
        return None
    lines, ends = 0, True
    with file.open() as stream:
        while block := stream.read(PIECE_BYTES):
            lines, ends = lines + block.count(b"\n"), block.endswith(b"\n")
        damage = stream.raw.damage  # type: ignore[attr-defined]
    return None if ends and damage is None else note_of_damage(file, "line", lines)


def is_binary(file: InputFile) -> bool:
    """Return whether the head holds bytes that text does not."""
    return any(byte < 32 and byte not in _TEXT_CONTROLS for byte in set(file.head))


def is_json(file: InputFile) -> bool:
    """Return whether this starts as a JSON object or a JSON list does."""
    return re.match(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*[\[{\]\"\d-])", file.head) is not None


def decoded(decode: Callable[[Any], Any], text: bytes | memoryview) -> Any:
    """Return a JSON text as a function decodes it; nothing that is read lies deeper than `_DEEPEST_JSON`.

    How deep a decoder goes differs from Python to Python: what it cannot reach is null in all of them.
    """
    try:
        return decode(text)
    except RecursionError:
        return decode(_flattened(text))


def _flattened(text: bytes | memoryview) -> bytes:
    """Return a JSON text with null in place of the lists and objects that lie too deep in it."""
    kept, start, depth = [], 0, 0
    for token in _JSON_TOKEN.finditer(text):
        if token[0] in b"[{":
            depth += 1
            if depth == _DEEPEST_JSON + 1:
                kept += [text[start : token.start()], b"null"]
        elif token[0] in b"]}":
            if depth == _DEEPEST_JSON + 1:
                start = token.end()
            depth -= 1
    return b"".join([*kept, text[start:] if depth <= _DEEPEST_JSON else b""])


class OpenDatabase(NamedTuple):
    """A database that is open, its file on disk, decompressed, and the names of its tables."""

    location: Path
    connection: sqlite3.Connection
    tables: tuple[str, ...]


@contextmanager
def open_database(file: InputFile, remedy: str) -> Iterator[OpenDatabase]:
    """Open a database for reading only; its texts that are no UTF-8 are mended.

    Raises ProfileError: it is damaged or cut short, with this remedy; its changes lie in a file beside it
    that cannot be used; also from all that is done with it: its views have no end.
    """
    import sqlite3

    with file.on_disk() as copy:
        location = copy.resolve()
        try:
            with closing(sqlite3.connect(_uri(file, location), uri=True)) as connection:
                connection.text_factory = lambda text: text.decode("utf-8", errors="replace")
                # What a stranger wrote into the schema runs nothing, and no cell reaches beyond its page.
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("PRAGMA cell_size_check = ON")
                # The header has the size in pages; SQLite notices a missing one only when it reads it.
                size, pages = int.from_bytes(file.head[16:18]), int.from_bytes(file.head[28:32])
                expected, there = pages * (1 << 16 if size == 1 else size), location.stat().st_size
                if file.head[24:28] == file.head[92:96] and there < expected:
                    raise _not_whole(file.path, f"{there:,} of {expected:,} bytes are there", remedy)
                steps = count(_STEPS_AT_ONCE, _STEPS_AT_ONCE)
                most_steps = _FEWEST_STEPS + _STEPS_OF_A_BYTE * there
                connection.set_progress_handler(lambda: next(steps) > most_steps, _STEPS_AT_ONCE)
                query = "SELECT name FROM sqlite_master WHERE type = 'table'"
                tables = tuple(name for (name,) in connection.execute(query))
                yield OpenDatabase(location, connection, tables)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
            if code == sqlite3.SQLITE_READONLY_ROLLBACK:
                raise _half_written(file.path, location) from error
            if code == sqlite3.SQLITE_INTERRUPT:
                what = (
                    f"reading the SQLite database takes more than {most_steps:,} steps, far more than its "
                    f"{there:,} bytes can need: a view in it may have no end"
                )
                raise ProfileError(what, path=file.path, remedy=remedy) from error
            # SQLite quotes the schema, line breaks and what is no text too.
            reason = " ".join(str(error).split())
            if code & 0xFF in {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY}:
                what = f"SQLite cannot read the database ({reason})"
                raise ProfileError(what, path=file.path, remedy=remedy) from error
            raise _not_whole(file.path, reason, remedy) from error


def _uri(file: InputFile, location: Path) -> str:
    """Return the address that opens a database for reading only, any character in its path.

    In a folder that cannot be written to, SQLite opens a database in write-ahead mode only as one that
    nobody changes, and then leaves out what lies in the files beside it. Raises ProfileError: there is some.
    """
    address = f"{location.as_uri()}?mode=ro"
    if os.access(location.parent, os.W_OK):
        return address
    log, journal = (location.with_name(location.name + end) for end in ("-wal", "-journal"))
    if log.exists() and log.stat().st_size:
        raise ProfileError(
            f"a part of the database lies in {log.name}, which SQLite uses only where it may write",
            path=file.path,
            remedy="copy both files into a folder of yours and give the copy",
        )
    if _is_hot(journal):
        raise _half_written(file.path, location)
    return f"{address}&immutable=1"


def _is_hot(journal: Path) -> bool:
    """Return whether a rollback journal has what a program that was stopped had not changed yet."""
    if not journal.exists():
        return False
    with journal.open("rb") as stream:
        return stream.read(1) not in {b"", b"\0"}


def _half_written(path: str, location: Path) -> ProfileError:
    return ProfileError(
        f"what wrote the database was stopped in the middle: {location.name}-journal takes its changes back",
        path=path,
        remedy="copy both files into a folder of yours and run `sqlite3 COPY .tables`, which does it",
    )


def _not_whole(path: str, reason: str, remedy: str) -> ProfileError:
    return ProfileError(f"the SQLite database is damaged or cut short ({reason})", path=path, remedy=remedy)
