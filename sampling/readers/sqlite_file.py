"""A SQLite database, opened for reading only; and integers of its tables from the pages of its file.

Those take a third of the time that SQLite takes. A table is a tree of pages. Its leaves hold the rows by
their numbers: each is the length of its content, its number, a header with the type of every column, and the
values, one after the other (https://www.sqlite.org/fileformat2.html, sections 1.3, 1.6 and 2.1). The rows of
many leaves are taken apart at once here, column by column.

What programs that record write is enough for that. A table with texts among its first columns, rows that go
on in other pages, columns added later, changes that lie in a journal, or damage is refused by
`NotPlainError`: SQLite itself knows what to do about all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, IntArray, joined
from sampling.errors import ProfileError
from sampling.parallel import ordered_map
from sampling.readers.cells import NULL
from sampling.readers.input_file import InputFile

if TYPE_CHECKING:
    import sqlite3

SQLITE = b"SQLite format 3\0"
# What SQLite may do, in steps of its machine: all of an export takes half a step for each of its bytes.
_STEPS_AT_ONCE, _FEWEST_STEPS, _STEPS_OF_A_BYTE = 1_000_000, 20_000_000, 5

# Of fewer leaves at once the threads wait on Python's lock, and the arrays of more do not stay in a
# processor's cache. A part has some 500,000 rows.
LEAVES_AT_ONCE, LEAVES_OF_A_PART = 512, 12_288

_FILE_HEADER_BYTES = 100
_INTERIOR, _LEAF = 5, 13
_INTERIOR_HEADER_BYTES, _LEAF_HEADER_BYTES = 12, 8
_DEEPEST_TREE = 20
# How much shorter than a page, without what it reserves, the content of a row that lies in one page is
_NO_ROOM_FOR = 35
# Numbers are written in groups of seven bits, nine at most; all but the last have the highest bit.
_GOES_ON, _MOST_GROUPS = 0x80, 9
# Of more the length of a row's header is itself more than one group.
_MOST_COLUMNS = _GOES_ON - 2
# By a column's type: bytes of its value (of texts too, which are skipped), -1 for types that there are not
_TEXT_FROM = 12
_BYTES_OF_TYPE = np.array(
    [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, -1, -1, *((kind - _TEXT_FROM) // 2 for kind in range(_TEXT_FROM, 128))],
    dtype=np.int64,
)
_FLOAT = 7
# Of the eight bytes from a value on, how many bits are not its own; and the value of a type that has no bytes
_BITS_TO_DROP = np.array([63, 56, 48, 40, 32, 16, 0, 0, 63, 63], dtype=np.int64)
_VALUE_OF_TYPE = np.array([NULL, 0, 0, 0, 0, 0, 0, 0, 0, 1], dtype=np.int64)
_LONGEST_INTEGER = 8


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
                expected, available = pages * (1 << 16 if size == 1 else size), location.stat().st_size
                if file.head[24:28] == file.head[92:96] and available < expected:
                    raise _not_whole(file.path, f"{available:,} of {expected:,} bytes are there", remedy)
                steps = count(_STEPS_AT_ONCE, _STEPS_AT_ONCE)
                most_steps = _FEWEST_STEPS + _STEPS_OF_A_BYTE * available
                connection.set_progress_handler(lambda: next(steps) > most_steps, _STEPS_AT_ONCE)
                query = "SELECT name FROM sqlite_master WHERE type = 'table'"
                tables = tuple(name for (name,) in connection.execute(query))
                yield OpenDatabase(location, connection, tables)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
            if code == sqlite3.SQLITE_READONLY_ROLLBACK:
                raise _half_written(file.path, location) from error
            if code == sqlite3.SQLITE_INTERRUPT:
                message = (
                    f"reading the SQLite database takes more than {most_steps:,} steps, far more than its "
                    f"{available:,} bytes can need: a view in it may have no end"
                )
                raise ProfileError(message, path=file.path, remedy=remedy) from error
            # SQLite quotes the schema, line breaks and what is no text too.
            reason = " ".join(str(error).split())
            if code & 0xFF in {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY}:
                message = f"SQLite cannot read the database ({reason})"
                raise ProfileError(message, path=file.path, remedy=remedy) from error
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


class NotPlainError(Exception):
    """The table has something that only SQLite reads."""


@dataclass(frozen=True, slots=True)
class _Pages:
    """A database file, its pages numbered from 1."""

    location: Path
    page_bytes: int
    usable_bytes: int  #: of a page, without what is reserved at its end
    count: int

    def room(self, pages: int) -> NDArray[np.uint8]:
        """Return room for the bytes of so many pages, and one more value behind them."""
        return np.zeros(pages * self.page_bytes + _LONGEST_INTEGER, dtype=np.uint8)

    def read(self, file: BinaryIO, numbers: AnyIntArray, room: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the bytes of pages, one after the other, and of one more value, in some room."""
        if numbers.min() < 1 or numbers.max() > self.count:
            raise NotPlainError
        content = room[: len(numbers) * self.page_bytes + _LONGEST_INTEGER]
        # Pages that lie side by side are read at once.
        apart = np.flatnonzero(np.diff(numbers) != 1) + 1
        for first, stop in pairwise([0, *apart.tolist(), len(numbers)]):
            file.seek((int(numbers[first]) - 1) * self.page_bytes)
            part = memoryview(content.data)[first * self.page_bytes : stop * self.page_bytes]
            if file.readinto(part) != len(part):  # type: ignore[attr-defined]
                raise NotPlainError
        return content


def read_table(
    location: Path, root: int, columns: int, selected: Sequence[int]
) -> Iterator[Sequence[IntArray]]:
    """Yield the rows of a table in parts: one (n,) int64 array for each selected column, ``NULL`` for NULL.

    Parameters
    ----------
    root : the page at which the table begins, as `sqlite_master` says it.
    columns : how many a row has in the file, where generated columns that are not stored are none;
        ``selected`` are the places of some of them, none of them a primary key.

    Raises NotPlainError, perhaps after some parts; OSError.
    """
    if columns > _MOST_COLUMNS:
        raise NotPlainError
    pages = _pages(location)
    leaves = _leaves(pages, root)

    def part(first: int) -> list[IntArray]:
        # New room for every piece would have to be zeroed first, which takes a fifth of the time.
        room = pages.room(LEAVES_AT_ONCE)
        with location.open("rb", buffering=0) as file:
            pieces = [
                _parse_columns(pages, pages.read(file, leaves_at_once, room), columns, selected)
                for leaves_at_once in _pieces(leaves[first : first + LEAVES_OF_A_PART], LEAVES_AT_ONCE)
            ]
        return [joined(column) for column in zip(*pieces, strict=True)]

    for arrays in ordered_map(part, range(0, len(leaves), LEAVES_OF_A_PART)):
        if len(arrays[0]):
            yield arrays


def _pieces(numbers: IntArray, length: int) -> Iterator[IntArray]:
    for first in range(0, len(numbers), length):
        yield numbers[first : first + length]


def _pages(location: Path) -> _Pages:
    """Return how the file is divided; `NotPlainError` where a journal has changes to it.

    Journals lie beside the file that a link leads to.
    """
    location = location.resolve()
    for journal in ("-wal", "-journal"):
        path = location.with_name(location.name + journal)
        if path.exists() and path.stat().st_size:
            raise NotPlainError
    with location.open("rb") as file:
        header = file.read(_FILE_HEADER_BYTES)
    page_size, reserved = int.from_bytes(header[16:18], "big"), header[20]
    page_bytes = 1 << 16 if page_size == 1 else page_size
    if page_bytes < 1 << 9 or page_bytes & (page_bytes - 1):
        raise NotPlainError
    return _Pages(location, page_bytes, page_bytes - reserved, location.stat().st_size // page_bytes)


def _leaves(pages: _Pages, root: int) -> IntArray:
    """Return (leaves,) the numbers of the pages that hold a table's rows, in their order."""
    level, room = np.array([root]), pages.room(1)
    with pages.location.open("rb", buffering=0) as file:
        for _ in range(_DEEPEST_TREE):
            kind = int(pages.read(file, level[:1], room)[0])
            if kind == _LEAF:
                return level
            below = [_children(pages, pages.read(file, page, room)) for page in level.reshape(-1, 1)]
            level = np.concatenate(below)
            if len(level) > pages.count:
                raise NotPlainError
    raise NotPlainError


def _children(pages: _Pages, page: NDArray[np.uint8]) -> IntArray:
    """Return the numbers of the pages below one, in the order of their rows."""
    cells = int.from_bytes(page[3:5].tobytes(), "big")
    if page[0] != _INTERIOR or _INTERIOR_HEADER_BYTES + 2 * cells > pages.usable_bytes:
        raise NotPlainError
    places = np.frombuffer(page, dtype=">u2", count=cells, offset=_INTERIOR_HEADER_BYTES).astype(np.int64)
    # The last child stands in the page's header, the others each at the start of a cell.
    places = np.append(places, _LEAF_HEADER_BYTES)
    if places.max() + 4 > pages.usable_bytes:
        raise NotPlainError
    numbers = np.zeros(len(places), dtype=np.int64)
    for byte in range(4):
        numbers = numbers << 8 | page[places + byte]
    return numbers


def _parse_columns(
    pages: _Pages, content: NDArray[np.uint8], columns: int, selected: Sequence[int]
) -> list[IntArray]:
    """Return the wanted columns of the rows in some leaves, whose bytes stand one after the other."""
    try:
        place, stop = _contents(pages, content)
        if not len(place):
            return [place for _ in selected]
        # A header of as many bytes as there are columns, and its own length, has a byte for each type.
        if np.any(content.take(place) != columns + 1):
            raise NotPlainError
        return _values(content, place, stop, columns, selected)
    except IndexError as error:
        # Of damaged leaves the lengths lead anywhere.
        raise NotPlainError from error


def _contents(pages: _Pages, content: NDArray[np.uint8]) -> tuple[IntArray, IntArray]:
    """Return (n,) the places at which the rows' contents begin and end."""
    count = len(content) // pages.page_bytes
    leaves = content[: count * pages.page_bytes].reshape(count, pages.page_bytes)
    rows = leaves[:, 3].astype(np.int64) << 8 | leaves[:, 4]
    highest = int(rows.max())
    if np.any(leaves[:, 0] != _LEAF) or _LEAF_HEADER_BYTES + 2 * highest > pages.usable_bytes:
        raise NotPlainError
    pointers = leaves.view(">u2")[:, _LEAF_HEADER_BYTES // 2 : _LEAF_HEADER_BYTES // 2 + highest]
    pointer = pointers[np.arange(highest) < rows[:, np.newaxis]].astype(np.int64)
    page = np.repeat(np.arange(count) * pages.page_bytes, rows)
    place = page + pointer
    # The length of the content: one group or two, or it is longer than most pages.
    first, second = content.take(place).astype(np.int64), content.take(place + 1)
    has_two = first >= _GOES_ON
    length = np.where(has_two, (first - _GOES_ON) << 7 | second, first)
    place += 1 + has_two
    # The number of the row, which is not needed.
    goes_on = content.take(place) >= _GOES_ON
    for _ in range(_MOST_GROUPS - 1):
        if not goes_on.any():
            break
        place += goes_on
        goes_on &= content.take(place) >= _GOES_ON
    place += 1
    stop = place + length
    is_odd = (has_two & (second >= _GOES_ON)) | (length > pages.usable_bytes - _NO_ROOM_FOR)
    if np.any(is_odd | (pointer >= pages.usable_bytes) | (stop > page + pages.usable_bytes)):
        raise NotPlainError
    return place, stop


def _values(
    content: NDArray[np.uint8], header: IntArray, stop: IntArray, columns: int, selected: Sequence[int]
) -> list[IntArray]:
    """Return the wanted columns of rows whose headers and contents begin, and end, at places (n,).

    Eight bytes from a value on are one integer, of which the bits behind the value are shifted out.
    """
    eight_bytes = np.ndarray((len(content) - _LONGEST_INTEGER + 1,), ">i8", content, strides=(1,))
    values: dict[int, IntArray] = {}
    place, of_kind = header + columns + 1, header.copy()
    for column in range(max(selected) + 1):
        of_kind += 1
        kinds = content.take(of_kind)
        lowest, highest = int(kinds.min()), int(kinds.max())
        # Columns of which all rows have one type are the rule, and take less time.
        kind: AnyIntArray | int = lowest if lowest == highest else kinds
        size = _BYTES_OF_TYPE.take(kind)
        least_size = int(size.min())
        if least_size < 0:
            raise NotPlainError
        if column in selected:
            if highest >= _TEXT_FROM or (kinds == _FLOAT).any():
                raise NotPlainError
            if lowest == highest and least_size == 0:
                values[column] = np.full(len(place), _VALUE_OF_TYPE[lowest])
                continue
            value = eight_bytes[place].astype(np.int64)
            value >>= _BITS_TO_DROP.take(kind)
            if least_size == 0:
                value = np.where(size == 0, _VALUE_OF_TYPE.take(kind), value)
            values[column] = value
        place += size
    if (place > stop).any():
        raise NotPlainError
    return [values[column] for column in selected]
