"""Tables read from the pages of their file: what SQLite says, or a refusal."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.readers import nsys_sqlite, sqlite_file
from sampling.readers.cells import NULL
from sampling.readers.input_file import open_input
from sampling.readers.sqlite_file import NotPlainError, read_table
from tests.sampling.readers import random_databases

COLUMNS = ("one", "two", "three", "four")
EDGES = [
    edge + off for bits in (7, 15, 23, 31, 47, 63) for edge in (1 << bits, -(1 << bits)) for off in (-1, 0)
]
NUMBERS: Sequence[int | None] = [None, 0, 1, 2, -1, *(each for each in EDGES if NULL < each < 1 << 63)]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "LEAVES_AT_ONCE", 3)
    monkeypatch.setattr(sqlite_file, "LEAVES_OF_A_PART", 7)


def write(path: Path, rows: Sequence[Sequence[Any]], *before: str, after: Sequence[str] = ()) -> Path:
    """Write a table t of four columns with these rows."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in (*before, f"CREATE TABLE t ({', '.join(COLUMNS)})"):
            connection.execute(statement)
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        for statement in after:
            connection.execute(statement)
    return path


def read(path: Path, wanted: Sequence[int] = range(4)) -> list[tuple[int | None, ...]]:
    """Return the rows of the table as its pages say them."""
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 't'")
        columns = len(connection.execute("SELECT * FROM pragma_table_info('t')").fetchall())
    parts = list(read_table(path, root, columns, wanted))
    assert all(array.dtype == np.int64 for part in parts for array in part)
    rows = [row for part in parts for row in zip(*(array.tolist() for array in part), strict=True)]
    return [tuple(None if cell == NULL else cell for cell in row) for row in rows]


def numbers(rows: int) -> list[tuple[int | None, ...]]:
    rng = random.Random(0)
    return [tuple(rng.choice(NUMBERS) for _ in COLUMNS) for _ in range(rows)]


@pytest.mark.parametrize("page_bytes", [512, 1024, 4096, 65536])
def test_numbers_of_every_width(page_bytes: int, tmp_path: Path) -> None:
    rows = numbers(5000)
    path = write(tmp_path / "x", rows, f"PRAGMA page_size = {page_bytes}")
    assert read(path) == rows
    assert read(path, [2, 0]) == [(row[2], row[0]) for row in rows]


def test_columns_of_one_type(tmp_path: Path) -> None:
    rows = [(0, 1, None, 300)] * 1000
    assert read(write(tmp_path / "x", rows)) == rows


def test_a_table_without_rows(tmp_path: Path) -> None:
    assert read(write(tmp_path / "x", [])) == []


def test_rows_with_gaps_and_large_numbers(tmp_path: Path) -> None:
    rows = numbers(300)
    after = [
        "UPDATE t SET rowid = rowid + 9000000000000000000 WHERE rowid > 200",
        "UPDATE t SET rowid = -rowid WHERE rowid < 50",
        "DELETE FROM t WHERE rowid BETWEEN 100 AND 150",
    ]
    path = write(tmp_path / "x", rows, "PRAGMA page_size = 512", after=after)
    with closing(sqlite3.connect(path)) as connection:
        assert read(path) == connection.execute("SELECT * FROM t ORDER BY rowid").fetchall()


def test_texts_that_are_not_wanted_are_skipped(tmp_path: Path) -> None:
    rows = [(row[0], "a text", row[2], b"bytes" * 100) for row in numbers(500)]
    assert read(write(tmp_path / "x", [(*row[:3], "") for row in rows]), [0, 2]) == [
        (row[0], row[2]) for row in rows
    ]
    # A type of more than a byte makes the header longer.
    with pytest.raises(NotPlainError):
        read(write(tmp_path / "y", rows), [0, 2])


@pytest.mark.parametrize("odd", [1.5, "text", b"bytes", "", "x" * 5000])
def test_what_is_no_integer_is_refused(odd: object, tmp_path: Path) -> None:
    rows: list[tuple[Any, ...]] = [*numbers(2000), (0, odd, 0, 0)]
    with pytest.raises(NotPlainError):
        read(write(tmp_path / "x", rows))


def test_a_column_added_later_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x", numbers(10), after=["ALTER TABLE t ADD COLUMN five DEFAULT 5"])
    with pytest.raises(NotPlainError):
        read(path)


def test_changes_in_a_journal_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x", numbers(10))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        assert read(path) == numbers(10)
        connection.execute("DELETE FROM t")
        with pytest.raises(NotPlainError):
            read(path)


def test_damaged_pages_are_refused_or_read_but_never_crash(tmp_path: Path) -> None:
    whole = write(tmp_path / "x", numbers(2000), "PRAGMA page_size = 512").read_bytes()
    rng = random.Random(1)
    with closing(sqlite3.connect(tmp_path / "x")) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 't'")
    path = tmp_path / "y"
    refused = 0
    for _ in range(200):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 200)):
            content[rng.randrange(512, len(content))] = rng.choice(
                (0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256))
            )
        path.write_bytes(content[: rng.choice((len(content), rng.randrange(1024, len(content))))])
        try:
            list(read_table(path, root, 4, range(4)))
        except NotPlainError:
            refused += 1
    assert refused > 100


def as_integers(rows: Sequence[Sequence[Any]]) -> list[tuple[int, ...]] | None:
    """Return cells as columns of integers have them; None: one is no whole number."""

    def integer(cell: Any) -> int:
        if cell is None:
            return NULL
        if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1 << 63:
            return int(cell)
        if not isinstance(cell, int):
            raise TypeError
        return cell

    try:
        return [tuple(map(integer, row)) for row in rows]
    except TypeError:
        return None


def compared(seed: int, folder: Path) -> str:
    """Compare a random database as it is read with what SQLite says of it; return what became of it."""
    with random_databases.made(seed, folder) as made, open_input(str(made.path)) as file:
        rng = random.Random(seed)
        columns = rng.sample(made.columns, rng.randint(1, min(9, len(made.columns))))
        expected = as_integers(made.selected(columns))
        with nsys_sqlite.opened_tables(file) as tables:
            assert tables.has(random_databases.TABLE, *columns)
            parts = tables.integers(random_databases.TABLE, columns)
            if expected is None:
                with pytest.raises(ProfileError, match="something else than integers") as caught:
                    list(parts)
                assert caught.value.row, f"seed {seed}"
                return "refused"
            read = [row for part in parts for row in zip(*(array.tolist() for array in part), strict=True)]
        if not made.has_row_numbers:
            read, expected = sorted(read), sorted(expected)
        assert read == expected, f"seed {seed}"
        return "read" if read else "empty"


def test_random_databases_are_read_as_sqlite_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_pages = 0

    def counted(*arguments: Any) -> Any:
        nonlocal from_pages
        for part in read_table(*arguments):
            from_pages += 1
            yield part

    monkeypatch.setattr(nsys_sqlite, "read_table", counted)
    became = [compared(seed, tmp_path / str(seed)) for seed in range(200)]
    # What is never read from pages, never by SQLite, or never refused would not have been compared.
    assert from_pages > 50
    assert became.count("refused") > 5
    assert became.count("read") > 100
