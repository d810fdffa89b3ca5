"""Nsight Compute's CSV: its raw page has a row for a launch, its details page a row for each metric of one.

The header stands somewhere after ``==PROF==`` lines and what the program itself printed; such lines may stand
between the rows too. ``ID`` counts the launches that were profiled, so it is an order and never a launch id.
On the raw page units stand in the second row. On the details page each row has its own, rows of rules stand
between them with their metric empty, and one name may mean different things in two sections: "Memory
Throughput" is a share in one and bytes a second in the other. Older versions have no Block Size, Grid Size,
Device and CC there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray, dense_codes, to_arrow_texts
from sampling.errors import ProfileError
from sampling.features.reading import FeatureRows, NumberColumn, refuse_repeated
from sampling.parallel import Progress
from sampling.readers.input_file import InputFile, pieces
from sampling.readers.table import (
    WRITTEN,
    Layout,
    NumberLocale,
    Rows,
    header_cells,
    joined_lines,
    lines_of,
    numbers_of,
    parse,
    sizes_of,
    unified,
)
from sampling.reduction.launch_list import Features
from sampling.text import Wording

_HEADER = re.compile(rb'^(?:\xef\xbb\xbf)?"?ID"?,"?Process ID"?,[^\r\n]*', re.MULTILINE)
# A row starts with two whole numbers, the ID and the process; in quotes where the header's cells are.
_QUOTED_ROW = r'^"[\d.,]+","[\d.,]+",'
_BARE_ROW = r'^"?\d+"?,"?\d+"?,'
_CELL = r'(?:"(?:[^"]|"")*"|[^",]*)'
_REQUIRED = ("ID", "Process ID", "Kernel Name")
_IDENTITY = (*_REQUIRED, "Block Size", "Grid Size", "Device")
_NO_METRIC = {*_IDENTITY, "Process Name", "Host Name", "Kernel Time", "Context", "Stream", "CC"}
_SECTION, _METRIC, _UNIT, _VALUE = "Section Name", "Metric Name", "Metric Unit", "Metric Value"
_WRITE_AGAIN = "write it again with `ncu --import REPORT.ncu-rep --csv --page raw`"
_A_FILE_EACH = Wording("give each report as a file of its own: `features` may be repeated")


def recognise(file: InputFile) -> bool:
    """Return whether the file has the header of a page."""
    return _header(file) is not None


def _header(file: InputFile) -> bytes | None:
    """Return the line of the header, None where there is none.

    Nsight Compute prints a line for each launch before it, so it may be beyond the file's head.
    """
    if _HEADER.search(file.head) is None and b"==PROF==" not in file.head:
        return None
    return next((found[0] for _, text in pieces(file) if (found := _HEADER.search(text))), None)


def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their metrics in base units, by process and in the order of their IDs.

    Raises ProfileError: a column is missing, there is no row, a row is cut short, some values of a metric are
    numbers and others text, an ID repeats or stands for two kernels.
    """
    page = _Page(file, locale)
    return page.details(progress) if page.is_details else page.raw(progress)


class _Page:
    """A page, whose identifying cells are kept as its rows go by."""

    def __init__(self, file: InputFile, locale: NumberLocale) -> None:
        header = _header(file) or b""
        self.file = file
        self.locale: NumberLocale = locale
        self.titles = header_cells(header)
        self.is_details = {_METRIC, _VALUE} <= {*self.titles}
        self._is_row = _QUOTED_ROW if b'"ID"' in header else _BARE_ROW
        self._lines: list[IntArray] = []
        self._units: tuple[str, ...] = ()
        kept = (*_IDENTITY, *((_SECTION, _METRIC, _UNIT) if self.is_details else ()))
        self._texts: dict[str, list[Any]] = {name: [] for name in kept if name in self.titles}
        if lacking := [name for name in kept if name not in self.titles and name not in _IDENTITY[3:]]:
            message = f"an Nsight Compute CSV without a column {lacking[0]}"
            raise ProfileError(message, path=file.path, remedy=_WRITE_AGAIN)

    def rows(self, progress: Progress | None) -> Iterator[Rows]:
        """Yield the rows, all columns as texts.

        Raises ProfileError: another header follows; a row is cut short; there is none.
        """
        from pyarrow import compute

        # Of the details page the texts of rules are not read.
        titles = self.titles
        if self.is_details:
            titles = titles[: max(map(titles.index, (*self._texts, _VALUE))) + 1]
        first_cells = rf"^({_CELL}(?:,{_CELL}){{{len(titles) - 1}}})(?:,.*)?$"
        layout = Layout(
            titles, {title: (titles.index(title), "text") for title in titles}, remedy=_WRITE_AGAIN
        )
        line, is_past_header = 1, False
        for offset, text in pieces(self.file, progress):
            start, found = 0, _HEADER.search(text)
            if found is not None and not is_past_header:
                is_past_header = True
                start = text.find(b"\n", found.end()) + 1 or len(text)
                self._units = header_cells(text[start:].partition(b"\n")[0])
                found = _HEADER.search(text, start)
            if found is not None:
                message = "holds several Nsight Compute reports one after the other"
                raise ProfileError(message, path=self.file.path, remedy=_A_FILE_EACH)
            if is_past_header:
                # Lines that are no rows are made empty, so that the others keep their numbers.
                lines = lines_of(text[start:])
                is_row = compute.match_substring_regex(lines, self._is_row)
                lines = compute.if_else(is_row, lines, b"")
                if self.is_details:
                    lines = compute.replace_substring_regex(lines, first_cells, r"\1")
                if compute.any(is_row).as_py():
                    first = line + text.count(b"\n", 0, start)
                    rows = parse(self.file, layout, offset + start, joined_lines(lines), first)
                    for name, chunks in self._texts.items():
                        chunks.append(rows.table.column(name))
                    self._lines.append(rows.lines)
                    yield rows
            line += text.count(b"\n")
        if not self._lines:
            message = "an Nsight Compute CSV without a single launch"
            raise ProfileError(message, path=self.file.path, remedy=_WRITE_AGAIN)

    def raw(self, progress: Progress | None) -> FeatureRows:
        """Read a page with a row for a launch and a column for a metric."""
        columns = {
            name: NumberColumn(name, self.locale) for name in self.titles if name and name not in _NO_METRIC
        }
        for rows in self.rows(progress):
            for column in columns.values():
                column.take(rows)
        _, order = self._launches()
        keys = [self._whole("Process ID"), self._whole("ID")]
        refuse_repeated(keys, self.file.path, np.concatenate(self._lines), "this launch's ID")
        # The row of units names no launch.
        place = self.titles.index("Kernel Name")
        has_units = len(self._units) == len(self.titles) and not any(self._units[: place + 1])
        unit_of = dict(zip(self.titles, self._units, strict=True)) if has_units else {}
        metrics: dict[str, FloatArray] = {}
        units: dict[str, str] = {}
        for name, column in columns.items():
            values = column.values()
            if values is not None:
                factor, base = base_unit(unit_of.get(name, ""))
                metrics[name] = values[order] * factor
                units |= {name: base} if base else {}
        return self._features("ncu-raw", order, Features(metrics=metrics, units=units))

    def details(self, progress: Progress | None) -> FeatureRows:
        """Read a page with a row for each metric of a launch."""
        cells = NumberColumn(_VALUE, self.locale)
        values, is_text = map(
            np.concatenate, zip(*(cells.read(rows) for rows in self.rows(progress)), strict=True)
        )
        launch, first_rows = self._launches()
        (sections, section), (names, name), (printed, unit) = map(self._column, (_SECTION, _METRIC, _UNIT))
        known = [base_unit(text) for text in printed]
        bases = list(dict.fromkeys(base for _, base in known))
        base = np.array([bases.index(base) for _, base in known])[unit]
        values = values * np.array([factor for factor, _ in known])[unit]
        # What a name means in a section and unit is one series; rules have no name.
        places = np.flatnonzero(np.array([bool(text.strip()) for text in names])[name])
        codes, first = dense_codes([section[places], name[places], base[places]])
        order = places[np.argsort(codes, kind="stable")]
        series = np.split(order, np.cumsum(np.bincount(codes, minlength=len(first)))[:-1])
        metrics: dict[str, FloatArray] = {}
        units: dict[str, str] = {}
        for rows in [series[code] for code in np.argsort(first)]:
            title, its_unit = names[name[rows[0]]], bases[base[rows[0]]]
            if is_text[rows].any():
                if not np.isnan(values[rows]).all():
                    wrong = np.isin(np.arange(len(values)), rows) & is_text
                    raise self._error(wrong, _VALUE, f"a value of '{title}' is text, and others are numbers")
                continue
            column = np.full(len(first_rows), np.nan)
            # Backwards, so that of several rows for one launch the first stays.
            column[launch[rows[::-1]]] = values[rows[::-1]]
            if title in metrics:
                there = metrics[title]
                differ = (there != column) & ~np.isnan(there) & ~np.isnan(column)
                if units.get(title, "") == its_unit and not differ.any():
                    metrics[title] = np.where(np.isnan(there), column, there)
                    continue
                title = f"{sections[section[rows[0]]]}: {title}"
                title = f"{title} ({its_unit})" if title in metrics else title
            metrics[title] = column
            units |= {title: its_unit} if its_unit else {}
        return self._features("ncu-details", first_rows, Features(metrics=metrics, units=units))

    def _launches(self) -> tuple[IntArray, IntArray]:
        """Return the launch of every row, numbered by process and ID, and the first row of every launch."""
        process, number, (_, name) = self._whole("Process ID"), self._whole("ID"), self._column("Kernel Name")
        codes, first_rows = dense_codes([process, number])
        self._refuse(name != name[first_rows][codes], "ID", "an ID stands for two kernels", _A_FILE_EACH)
        order = np.lexsort((number[first_rows], process[first_rows]))
        return np.argsort(order)[codes], first_rows[order]

    def _features(self, format_name: str, rows: IntArray, features: Features) -> FeatureRows:
        """Return what is known of some of the rows, one for each launch."""
        names, name = self._column("Kernel Name")
        sizes: list[IntArray | None] = []
        for what in ("Grid Size", "Block Size"):
            cells, codes = self._column(what) if what in self._texts else ((), rows)
            found, bad = sizes_of(to_arrow_texts(cells))
            if bad >= 0:
                raise self._error(codes == bad, what, f"{cells[bad]!r} is not {WRITTEN}")
            sizes.append(found[codes][rows] if cells else None)
        return FeatureRows(
            path=self.file.path,
            format=format_name,
            line=np.concatenate(self._lines)[rows],
            features=features,
            names=names,
            name=name[rows],
            process=self._whole("Process ID")[rows],
            device=self._whole("Device")[rows] if "Device" in self._texts else None,
            grid=sizes[0],
            block=sizes[1],
        )

    def _column(self, name: str) -> tuple[tuple[str, ...], IntArray]:
        """Return the distinct texts of a column, and (n,) the index of each row's."""
        return unified(self._texts[name])

    def _whole(self, name: str) -> IntArray:
        """Return (n,) the whole numbers of a column."""
        cells, codes = self._column(name)
        numbers, _ = numbers_of(to_arrow_texts(cells), self.locale)
        is_whole = (numbers >= 0) & (numbers == np.rint(numbers))
        self._refuse(~is_whole[codes], name, "not a whole number")
        return numbers.astype(np.int64)[codes]

    def _refuse(self, wrong: BoolArray, column: str, message: str, remedy: str = _WRITE_AGAIN) -> None:
        """Raise ProfileError for the first row that is wrong, if there is one."""
        if wrong.any():
            raise self._error(wrong, column, message, remedy)

    def _error(self, wrong: BoolArray, column: str, message: str, remedy: str = _WRITE_AGAIN) -> ProfileError:
        row = int(np.concatenate(self._lines)[np.argmax(wrong)])
        return ProfileError(message, path=self.file.path, row=row, column=column, remedy=remedy)


_NANOSECONDS = {
    **dict.fromkeys(("second", "seconds", "sec", "s"), 1e9),
    **dict.fromkeys(("msecond", "ms"), 1e6),
    **dict.fromkeys(("usecond", "us"), 1e3),
    **dict.fromkeys(("nsecond", "ns"), 1.0),
    "minute": 60e9,
    "hour": 3600e9,
}
# Nsight Compute's prefixes are decimal: a shared memory of 8192 bytes is 8.192 Kbyte.
_PREFIXES = {"K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_PREFIXED = re.compile(
    r"([KkMGTP])(bytes?|bits?|hz|Hz|inst|cycles?|sectors?|requests?|threads?|warps?|blocks?|samples?)"
)


@lru_cache(maxsize=1024)
def base_unit(unit: str) -> tuple[float, str]:
    """Return how many base units one ``unit`` is, and the base unit; an unknown one is its own base.

    Base units are nanosecond, byte, cycle, inst and what else is counted one by one; rates are per second,
    and a frequency is in hertz. Spellings changed with the versions.

    >>> base_unit("usecond"), base_unit("Gbyte/s"), base_unit("cycle/nsecond")
    ((1000.0, 'ns'), (1000000000.0, 'byte/s'), (1000000000.0, 'hertz'))
    """
    counted, divided, per = unit.strip().partition("/")
    factor, base = _one(counted)
    if not divided:
        return factor, base
    if per in _NANOSECONDS:
        return factor * (1e9 / _NANOSECONDS[per]), "hertz" if base in {"cycle", "cycles"} else f"{base}/s"
    divisor, per = _one(per)
    return factor / divisor, f"{base}/{per}"


def _one(unit: str) -> tuple[float, str]:
    """Return the same for a unit without a divisor."""
    if unit in _NANOSECONDS:
        return _NANOSECONDS[unit], "ns"
    match = _PREFIXED.fullmatch(unit)
    factor, bare = (1.0, unit) if match is None else (_PREFIXES[match[1]], match[2])
    return factor, "hertz" if bare in {"hz", "Hz"} else bare
