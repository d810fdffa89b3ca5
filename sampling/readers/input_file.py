"""An input as readers use it: its first bytes, a stream, or a file on disk; gzip and xz are decompressed."""

from __future__ import annotations

import gzip
import io
import lzma
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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from select import select
from typing import IO, TYPE_CHECKING, Any, Literal, cast

from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.readers import NumberLocale
from sampling.readers.tracez import PackedTrace, is_packed_trace
from sampling.text import Wording

if TYPE_CHECKING:
    from sampling.readers.columns import ColumnMap

Compression = Literal["gzip", "xz", "tracez"]

HEAD_BYTES = 1 << 16
# The memory of pieces this small is reused from piece to piece; larger ones get new pages each time.
PIECE_BYTES = 4 << 20
_LONGEST_LINE_BYTES = 4 << 20
# How compressed data begin
_MAGICS: dict[Compression, bytes] = {"gzip": b"\x1f\x8b", "xz": b"\xfd7zXZ\x00"}
# A file made for that inflates to more than any memory or disk holds: a kilobyte of gzip may stand for a
# megabyte, of xz for seven. Real profiles, logs and traces inflate 20 to 70 times, traces up to 1,100 as xz.
#: How many times their size each kind of data may inflate to, and what any may.
MOST_TIMES: dict[Compression, int] = {"gzip": 200, "xz": 4_000, "tracez": 4_000}
HARMLESS_BYTES = 256 << 20
#: The damage of data that are whole as far as they go
CUT_SHORT = "it ends before its data do"
_GZIP_WINDOW = 31
_PACKED_BYTES = 1 << 16
# Of one step: what is reused from step to step stays in memory.
_INFLATED_BYTES = 4 << 20
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
    profile_cycles: bool = False  #: whether cycles are the durations, also where there are times
    number_locale: NumberLocale = "C"  #: how a page of Nsight Compute writes numbers


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file or folder to be recognised and read."""

    path: str  #: as the user gave it ("-" for standard input); for messages
    location: Path  #: where its bytes lie
    head: bytes  #: its first 64 KiB, decompressed; empty for a folder
    compression: Compression | None = None  #: of the bytes on disk
    lasting: bool = True  #: whether the location still exists after reading; the copy of a pipe does not
    #: the temporary file with a pipe's bytes, which exists as long as this object
    copy: object = field(default=None, repr=False, compare=False)
    # as in `ReadOptions`
    columns: ColumnMap | None = None
    partial: bool = False
    keep_overlong: bool = False
    profile_cycles: bool = False
    number_locale: NumberLocale = "C"
    is_profile: bool = False  #: whether it is read as a profile, of which `partial` can be asked for
    #: told the bytes on disk that are read before each further piece, by which reading is cancelled
    progress: Progress | None = field(default=None, repr=False, compare=False)

    @property
    def compressed(self) -> bool:
        """Whether the bytes on disk are not those that are read."""
        return self.compression is not None

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
            if self.compression is None:
                yield packed
            else:
                tolerant = self.partial and self.compression == "gzip"
                yield inflated(packed, self.path, self.compression, tolerant=tolerant)

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
        """Turn what gzip, xz and the file system raise into this engine's error."""
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
            message = f"the {self.compression or 'gzip'} data is cut short or damaged ({error})"
            can_be_partial = self.is_profile and self.compression in (None, "gzip") and not is_binary(self)
            remedy = WHOLE if can_be_partial else COPY_AGAIN
            raise ProfileError(message, path=self.path, remedy=remedy) from error
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


def inflated(packed: IO[bytes], path: str | Path, kind: Compression, *, tolerant: bool = False) -> IO[bytes]:
    """Return what packed data inflate to; closing it closes them too.

    Reading it raises ProfileError where they inflate without end; EOFError, gzip.BadGzipFile or
    lzma.LZMAError where they are cut short or damaged. With ``tolerant`` gzip data end there, and
    ``raw.damage`` of what is returned says then what is wrong with them.
    """
    if tolerant:
        return io.BufferedReader(_InflatedWhole(packed, path), _PACKED_BYTES)
    if kind == "tracez":
        return io.BufferedReader(PackedTrace(packed))
    return io.BufferedReader(_Inflated(packed, path, kind))


def _refuse_endless(inflated_bytes: int, packed: IO[bytes], path: str | Path, kind: Compression) -> None:
    limit = MOST_TIMES[kind]
    if inflated_bytes > max(HARMLESS_BYTES, limit * packed.tell()):
        message = f"inflates without end: to more than {limit:,} times the size of its {kind} data"
        remedy = "if that is right, unpack it and give the file itself"
        raise ProfileError(message, path=path, remedy=remedy)


class _Inflated(io.RawIOBase):
    damage = None

    def __init__(self, packed: IO[bytes], path: str | Path, kind: Compression) -> None:
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
            content = self._inflater.decompress(packed, _INFLATED_BYTES)
        except zlib.error as error:
            self.damage, self._has_ended = str(error), True
            return b"".join(_before_the_damage(before, packed))
        self._bytes += len(content)
        _refuse_endless(self._bytes, self._packed, self._path, "gzip")
        self._rest = self._inflater.unconsumed_tail or self._inflater.unused_data
        if not packed:
            self._has_ended = True
            self.damage = None if self._inflater.eof else CUT_SHORT
        return content


def _before_the_damage(inflater: Any, packed: bytes) -> Iterator[bytes]:
    with suppress(zlib.error):
        for index in range(len(packed)):
            yield inflater.decompress(packed[index : index + 1])


_PLAIN = ReadOptions()


def damage_note(file: InputFile, unit: str, number: int) -> str:
    """Return what to say of a file of which only what is whole was read, up to this one of what it holds."""
    return f"{file.path}: cut short or damaged, read up to its {unit} {number:,}"


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
        columns=options.columns,
        partial=options.partial,
        keep_overlong=options.keep_overlong,
        profile_cycles=options.profile_cycles,
        number_locale=options.number_locale,
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
        status = Path(path).stat() if path != "-" else os.fstat(sys.stdin.fileno())
        is_ending = path == "-" and sys.stdin.isatty()
        is_ending |= status.st_rdev == Path(os.devnull).stat().st_rdev
        return stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not is_ending)
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
    with file.damage_reported(), file.location.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    compression = next((kind for kind, magic in _MAGICS.items() if head.startswith(magic)), None)
    if compression is None and is_packed_trace(head):
        compression = "tracez"
    if compression is None:
        return replace(file, head=head)
    # What there is of damaged gzip data is enough to recognise a format.
    with replace(file, compression=compression, partial=True).open() as stream:
        head = stream.read(HEAD_BYTES)
        if not head and (damage := stream.raw.damage) is not None:  # type: ignore[attr-defined]
            raise zlib.error(damage)
    return replace(file, head=head, compression=compression)


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


def find_line_damage(file: InputFile) -> str | None:
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
    return None if ends and damage is None else damage_note(file, "line", lines)


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
    parts, start, depth = [], 0, 0
    for token in _JSON_TOKEN.finditer(text):
        if token[0] in b"[{":
            depth += 1
            if depth == _DEEPEST_JSON + 1:
                parts += [text[start : token.start()], b"null"]
        elif token[0] in b"]}":
            if depth == _DEEPEST_JSON + 1:
                start = token.end()
            depth -= 1
    return b"".join([*parts, text[start:] if depth <= _DEEPEST_JSON else b""])
