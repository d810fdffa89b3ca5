"""What both pages of an Nsight Compute CSV share: the header, the rows, and what identifies the launches.

The header stands somewhere after ``==PROF==`` lines and what the program itself printed; such lines may stand
between the rows too. ``ID`` counts the launches that were profiled, so it is an order and never a launch id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.features.formats.ncu.units import unknown_units
from sampling.features.tables.columns import TextColumn
from sampling.features.tables.identity import sizes_of
from sampling.features.tables.number_cells import NumberLocale
from sampling.progress import Progress
from sampling.readers.csv_cells import Layout, Part, Table, header_cells, parse, pieces
from sampling.readers.input_file import InputFile
from sampling.readers.text_lines import only_lines, row_lines
from sampling.text import Wording

_HEADER = re.compile(rb'^(?:\xef\xbb\xbf)?"?ID"?,"?Process ID"?,[^\r\n]*', re.MULTILINE)
#: A row starts with two whole numbers, the ID and the process; in quotes where the header's cells are.
_QUOTED_ROW = r'^"[\d.,]+","[\d.,]+",'
_BARE_ROW = r'^"?\d+"?,"?\d+"?,'
_CELL = r'(?:"(?:[^"]|"")*"|[^",]*)'
_IDENTITY = ("ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "Device")
_REQUIRED = ("ID", "Process ID", "Kernel Name")

#: At most this many are named in one note.
_UNITS_NAMED = 3

WRITE_AGAIN = "write it again with `ncu --import REPORT.ncu-rep --csv --page raw`"


@dataclass(frozen=True, slots=True)
class Header:
    """A header line: its cells, where it starts, and where the line after it does."""

    cells: tuple[str, ...]
    start: int
    stop: int
    quoted: bool

    @property
    def is_details(self) -> bool:
        """Whether rows are single metrics."""
        return {"Metric Name", "Metric Value"} <= set(self.cells)


def unit_notes(units: Mapping[str, str]) -> tuple[str, ...]:
    """Return what to tell the user of unknown units.

    Parameters
    ----------
    units : the unit of each metric as printed.
    """
    unknown = unknown_units(units.values())
    if not unknown:
        return ()
    named = [
        f"{unit} ({next(metric for metric, its in units.items() if its == unit)})"
        for unit in unknown[:_UNITS_NAMED]
    ]
    more = f", ... ({len(unknown)} in all)" if len(unknown) > _UNITS_NAMED else ""
    return (f"units that are not known are left as they are: {', '.join(named)}{more}",)


def find_header(text: bytes) -> Header | None:
    """Return the first header of an Nsight Compute CSV in ``text``."""
    match = _HEADER.search(text)
    if match is None:
        return None
    line = match[0]
    stop = text.find(b"\n", match.end())
    cells = header_cells(line)
    return Header(
        cells, match.start(), len(text) if stop < 0 else stop + 1, b'"ID"' in line.split(b",", 1)[0]
    )


def report_header(file: InputFile) -> Header | None:
    """Return the header of a report, None where the file is none.

    Nsight Compute prints a line for each launch before it, so it may be beyond the file's head.
    """
    header = find_header(file.head)
    if header is not None and file.head.find(b"\n", header.start) >= 0:
        return header
    if header is None and b"==PROF==" not in file.head:
        return None
    return next((found for _, text in pieces(file) if (found := find_header(text)) is not None), None)


class Rows(NamedTuple):
    """Some rows of a report as columns of texts, and their 1-based lines in the file."""

    table: Table
    line: IntArray


def row_parts(file: InputFile, header: Header, cells: int, progress: Progress | None) -> Iterator[Rows]:
    """Yield the rows below the header, piece by piece, cut to their first ``cells`` cells.

    Raises
    ------
    ProfileError : another header follows with other columns; a row is cut short.
    """
    layout = Layout(header.cells[:cells], dict.fromkeys(range(cells), "text"))
    row = _QUOTED_ROW if header.quoted else _BARE_ROW
    kept = None if cells == len(header.cells) else rf"^({_CELL}(?:,{_CELL}){{{cells - 1}}})(?:,.*)?$"
    past_header = False
    lines_past = 0
    for offset, text in pieces(file, progress):
        start, first_line = 0, lines_past + 1
        lines_past += text.count(b"\n")
        if not past_header:
            own = find_header(text)
            if own is None:
                continue
            past_header, start = True, own.stop
            first_line += text.count(b"\n", 0, start)
        _refuse_other_header(file, header, text[start:])
        body = only_lines(text[start:], row, kept=kept)
        part = Part(file, layout, offset + start, body)
        if not body.strip():
            continue
        yield Rows(parse(part), row_lines(body) + first_line)


def _refuse_other_header(file: InputFile, header: Header, text: bytes) -> None:
    other = find_header(text)
    if other is not None and not (header.is_details and other.cells == header.cells):
        raise ProfileError(
            "holds several Nsight Compute reports one after the other",
            path=file.path,
            remedy=Wording("give each report as a file of its own: `features` may be repeated"),
        )


class LaunchIdentities:
    """Collects the identifying cells of rows, and numbers the distinct launches among them."""

    def __init__(self, file: InputFile, header: Header, locale: NumberLocale) -> None:
        missing = [name for name in _REQUIRED if name not in header.cells]
        if missing:
            raise ProfileError(
                f"an Nsight Compute CSV without a column {missing[0]}", path=file.path, remedy=WRITE_AGAIN
            )
        self._file = file
        self._columns = {
            name: TextColumn(header.cells.index(name)) for name in _IDENTITY if name in header.cells
        }
        self._locale = locale
        self._lines: list[IntArray] = []

    def take(self, table: Table, lines: IntArray) -> None:
        """Add the rows of a table; ``lines`` are their 1-based lines in the file."""
        for column in self._columns.values():
            column.take(table)
        self._lines.append(lines)

    def finish(self) -> Identities:
        """Return the identity of every row.

        Raises
        ------
        ProfileError : there is no row; an ID, a process or a device is no whole number.
        """
        line = np.concatenate([np.zeros(0, dtype=np.int64), *self._lines])
        if len(line) == 0:
            raise ProfileError(
                "an Nsight Compute CSV without a single launch", path=self._file.path, remedy=WRITE_AGAIN
            )
        numbers = {
            name: self._whole_numbers(name, line)
            for name in ("ID", "Process ID", "Device")
            if name in self._columns
        }
        return Identities(
            line=line,
            id=numbers["ID"],
            process=numbers["Process ID"],
            device=numbers.get("Device"),
            names=self._columns["Kernel Name"].distinct(),
            name=self._columns["Kernel Name"].codes(),
            grid=self._sizes("Grid Size", line),
            block=self._sizes("Block Size", line),
        )

    def _whole_numbers(self, name: str, line: IntArray) -> IntArray:
        column = self._columns[name]
        values = np.array([_whole(text) for text in column.distinct()], dtype=np.int64)[column.codes()]
        if values.min() < 0:
            row = int(np.argmax(values < 0))
            text = column.distinct()[int(column.codes()[row])]
            raise ProfileError(
                f"'{text}' is not a whole number",
                path=self._file.path,
                row=int(line[row]),
                column=name,
                remedy=WRITE_AGAIN,
            )
        return values

    def _sizes(self, name: str, line: IntArray) -> IntArray | None:
        if name not in self._columns:
            return None
        column = self._columns[name]
        return sizes_of(column.distinct(), column.codes(), path=self._file.path, line=line, name=name)


@dataclass(frozen=True, slots=True)
class Identities:
    """The identity of every row; all arrays (n,), sizes (n, 3) or None where the report has none."""

    line: IntArray
    id: IntArray
    process: IntArray
    device: IntArray | None
    names: Sequence[str]
    name: IntArray
    grid: IntArray | None
    block: IntArray | None

    def in_order(self) -> IntArray:
        """Return the places of the rows by process and, within it, in the order of their IDs."""
        return np.lexsort((self.id, self.process)).astype(np.int64)

    def rows(self, places: IntArray) -> dict[str, Any]:
        """Return the fields of `FeatureRows` for some of the rows."""
        return {
            "line": self.line[places],
            "names": tuple(self.names),
            "name": self.name[places],
            "process": self.process[places],
            "device": None if self.device is None else self.device[places],
            "grid": None if self.grid is None else self.grid[places],
            "block": None if self.block is None else self.block[places],
        }


def _whole(text: str) -> int:
    """Return a whole number, thousands separators left out; -1 for anything else."""
    digits = re.sub(r"(?<=\d)[.,](?=\d{3}(?:\D|$))", "", text.strip())
    return int(digits) if re.fullmatch(r"\d{1,18}", digits) else -1
