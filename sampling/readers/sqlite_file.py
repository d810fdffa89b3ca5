"""A SQLite database that somebody recorded: opened for reading only, what is damaged in it said."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile

MAGIC = b"SQLite format 3\0"


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
