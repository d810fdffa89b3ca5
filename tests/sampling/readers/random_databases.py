"""Databases made by random operations, with everything that SQLite keeps otherwise than a plain table."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What the readers call the table and its columns; SQL does not tell capitals apart.
TABLE = "CUPTI_ACTIVITY_KIND_KERNEL"
NAMES = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "gridX", "gridY", "gridZ")

_WIDTHS = (0, 1, 7, 8, 15, 23, 31, 47, 62)
_DEFAULTS = ("", "DEFAULT 7", "DEFAULT NULL", "DEFAULT -70000", "DEFAULT 'text'", "DEFAULT 1.0")


@dataclass(frozen=True)
class Database:
    """A database that was made, and how the table in it is asked for."""

    path: Path
    columns: Sequence[str]  #: as the readers call them
    has_row_numbers: bool

    def selected(self, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return what SQLite says of some columns, in the order of the rows where they have one."""
        what = ", ".join(f'"{name}"' for name in columns)
        order = " ORDER BY rowid" if self.has_row_numbers else ""
        with closing(sqlite3.connect(self.path)) as connection:
            return connection.execute(f"SELECT {what} FROM {TABLE}{order}").fetchall()


@contextmanager
def made(seed: int, folder: Path) -> Iterator[Database]:
    """Make one in a folder of its own; what lies in its log stays there until the end."""
    rng = random.Random(seed)
    folder.mkdir()
    path = folder / "it is 100% odd?#.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {rng.choice((512, 1024, 4096, 65536))}")
        connection.execute(f"PRAGMA encoding = '{rng.choice(('UTF-8', 'UTF-16le', 'UTF-16be'))}'")
        connection.execute(f"PRAGMA auto_vacuum = {rng.randrange(3)}")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        maker = _Maker(rng, connection)
        maker.create()
        if rng.random() < 0.4:
            connection.execute(f"PRAGMA journal_mode = {rng.choice(('WAL', 'PERSIST', 'TRUNCATE'))}")
        for _ in range(rng.randrange(4)):
            maker.change()
        if rng.random() < 0.3:
            (link := folder / "link.sqlite").symlink_to(path.name)
            path = link
        yield Database(path, [*maker.columns], maker.has_row_numbers)


class _Maker:
    """Changes the one table of a database."""

    def __init__(self, rng: random.Random, connection: sqlite3.Connection) -> None:
        self.rng, self.connection = rng, connection
        #: How often a value is none that a column of integers holds
        self.odd = rng.choice((0.0, 0.0, 0.0, 0.0, 0.001, 0.05))
        self.columns: dict[str, str] = {}  #: as they are called, and how they are declared
        self.table = self._in_some_case(TABLE)
        self.has_row_numbers = True

    def _in_some_case(self, name: str) -> str:
        is_known = name in {TABLE, *NAMES}
        return self.rng.choice((name, name, name, name.lower(), name.upper())) if is_known else name

    def create(self) -> None:
        """Make the table, or a view of another, with its first rows."""
        rng = self.rng
        names = [*NAMES, *(f"other{n}" for n in range(rng.choice((0, 3, 20, 117, 118, 119, 120))))]
        rng.shuffle(names)
        names = names[: rng.choice((3, 9, len(names)))]
        kinds = (
            "INTEGER",
            "INTEGER",
            "INTEGER",
            "INT NOT NULL DEFAULT 5",
            "BIGINT",
            "",
            "REAL",
            "NUMERIC",
            "BLOB",
        )
        self.columns = {name: rng.choice(kinds if rng.random() < 0.3 else kinds[:1]) for name in names}
        generated = None
        if rng.random() < 0.2:
            generated = rng.choice(names[1:])
            kind = rng.choice(("STORED", "VIRTUAL"))
            self.columns[generated] = f'INTEGER GENERATED ALWAYS AS ("{names[0]}" + 1) {kind}'
        form = rng.choice(("", "", "", "", "key", "without", "view"))
        if form in {"key", "without"}:
            self.columns["number"] = "INTEGER PRIMARY KEY"
        self.has_row_numbers = form in {"", "key"}
        declared = ", ".join(f'"{self._in_some_case(name)}" {kind}' for name, kind in self.columns.items())
        base = "base" if form == "view" else self.table
        self.connection.execute(f"CREATE TABLE {base} ({declared}) {'WITHOUT ROWID' * (form == 'without')}")
        table, self.table = self.table, base
        self.insert(rng.choice((0, 1, 50, 300, 300)))
        if form == "view":
            self.connection.execute(f"CREATE VIEW {table} AS SELECT * FROM base")

    def insert(self, rows: int) -> None:
        """Add rows."""
        names = [name for name, kind in self.columns.items() if "GENERATED" not in kind]
        columns, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
        width = {name: self.rng.choice(_WIDTHS) for name in names}
        self.connection.execute("BEGIN")
        self.connection.executemany(
            f"INSERT OR IGNORE INTO {self.table} ({columns}) VALUES ({marks})",
            (
                [self.rng.getrandbits(40) if name == "number" else self._value(width[name]) for name in names]
                for _ in range(rows)
            ),
        )
        self.connection.execute("COMMIT")

    def _value(self, width: int) -> object:
        rng = self.rng
        if self.odd and rng.random() < self.odd:
            texts = ("text", "", "12", "x" * 60, "x" * 5000)
            return rng.choice((*texts, b"bytes", 1.5, -0.25, 1e300, float("inf"), 3.0, 2.0**53))
        if rng.random() < 0.02:
            return None
        return rng.choice((1, -1)) * rng.getrandbits(width) if width else rng.randrange(2)

    def change(self) -> None:
        """Do something to the table."""
        rng, first = self.rng, next(iter(self.columns))
        plain = [name for name, kind in self.columns.items() if "GENERATED" not in kind and name != "number"]
        what = rng.randrange(7)
        if what == 0:
            self.insert(rng.choice((1, 100)))
        elif what == 1:
            self.connection.execute(f'DELETE FROM {self.table} WHERE "{first}" % 3 = 0')
        elif what == 2:
            self.connection.execute(f'UPDATE {self.table} SET "{rng.choice(plain)}" = 12345678')
        elif what == 3 and self.has_row_numbers:
            number = f"rowid + {rng.choice((1 << 20, 1 << 40))}"
            self.connection.execute(f"UPDATE {self.table} SET rowid = {number} WHERE rowid > 20")
        elif what == 4 and self.table != "base":
            name = f"added{len(self.columns)}"
            self.columns[name] = f"INTEGER {rng.choice(_DEFAULTS)}"
            self.connection.execute(f"ALTER TABLE {self.table} ADD COLUMN {name} {self.columns[name]}")
        elif what == 5:
            self.connection.execute(f'CREATE INDEX IF NOT EXISTS i{first} ON {self.table} ("{first}")')
            columns = ", ".join(f'"{name}"' for name in reversed([*self.columns][:3]))
            self.connection.execute(f"CREATE INDEX IF NOT EXISTS covering ON {self.table} ({columns})")
        else:
            self.connection.execute("VACUUM")
