"""Nsight Compute's CSV: its raw page has a row for a launch, its details page a row for each metric of one.

The header stands somewhere after ``==PROF==`` lines and what the program itself printed; such lines may stand
between the rows too. ``ID`` counts the launches that were profiled, so it is an order and never a launch id.
On the raw page units stand in the second row. On the details page each row has its own, rows of rules stand
between them with their metric empty, and one name may mean different things in two sections: "Memory
Throughput" is a share in one and bytes a second in the other. Older versions have no Block Size, Grid Size,
Device and CC there.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray, dense_codes, to_arrow_texts
from sampling.errors import ProfileError
from sampling.features.reading import (
    FeatureRows,
    NumberColumn,
    infinite_notes,
    refuse_repeated,
    repeated_notes,
)
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
from sampling.text import Wording, listed

_HEADER = re.compile(rb'^(?:\xef\xbb\xbf)?"?ID"?,"?Process ID"?,[^\r\n]*', re.MULTILINE)
# A row starts with two whole numbers, the ID and the process; in quotes where the header's cells are.
_QUOTED_ROW = r'^"[\d.,]+","[\d.,]+",'
_BARE_ROW = r'^"?\d+"?,"?\d+"?,'
_CELL = r'(?:"(?:[^"]|"")*"|[^",]*)'
_REQUIRED = ("ID", "Process ID", "Kernel Name")
_IDENTITY = (*_REQUIRED, "Block Size", "Grid Size", "Device")
_NO_METRIC = {*_IDENTITY, "Process Name", "Host Name", "Kernel Time", "Context", "Stream", "CC"}
_SECTION, _METRIC, _UNIT, _VALUE = "Section Name", "Metric Name", "Metric Unit", "Metric Value"
_UNITS_NAMED = 3
_WRITE_AGAIN = "write it again with `ncu --import REPORT.ncu-rep --csv --page raw`"
_A_FILE_EACH = Wording("give each report as a file of its own: `features` may be repeated")
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
# What Nsight Compute counts one by one, in singular or plural, and its base of times.
_KNOWN = re.compile(
    r"(?:access|address|atom|bank|barrier|bit|block|branch|byte|cluster|conflict|cta|cycle|device|"
    r"event|flop|hertz|inst|instance|instruction|issue|launch|line|link|lookup|op|operation|packet|"
    r"page|pass|pixel|quad|record|register|request|sample|sector|slot|sm|stall|stream|tag|texel|"
    r"thread|tile|transaction|unit|warp|wavefront|%)(?:e?s)?|ns",
    re.IGNORECASE,
)


class _Header(NamedTuple):
    """A header line: its cells, where it starts, where the line after it does, whether it is in quotes."""

    cells: tuple[str, ...]
    start: int
    stop: int
    quoted: bool

    @property
    def is_details(self) -> bool:
        return {_METRIC, _VALUE} <= set(self.cells)


def recognise(file: InputFile) -> bool:
    """Return whether the head has the header of a page, or shows that it follows."""
    return _header(file) is not None


def _find_header(text: bytes) -> _Header | None:
    match = _HEADER.search(text)
    if match is None:
        return None
    end = text.find(b"\n", match.end())
    is_quoted = b'"ID"' in match[0].split(b",", 1)[0]
    return _Header(header_cells(match[0]), match.start(), len(text) if end < 0 else end + 1, is_quoted)


def _header(file: InputFile) -> _Header | None:
    """Return the header of a report, None where the file is none.

    Nsight Compute prints a line for each launch before it, so it may be beyond the file's head.
    """
    header = _find_header(file.head)
    if header is not None and file.head.find(b"\n", header.start) >= 0:
        return header
    if header is None and b"==PROF==" not in file.head:
        return None
    return next((found for _, text in pieces(file) if (found := _find_header(text)) is not None), None)


def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their metrics in base units, by process and in the order of their IDs.

    Raises ProfileError: there is no row, a row is cut short, some values of a metric are numbers and others
    text, an ID repeats or stands for two kernels.
    """
    header = _header(file)
    assert header is not None
    wanted = [*_REQUIRED, *((_SECTION, _METRIC, _UNIT) if header.is_details else ())]
    if missing := [name for name in wanted if name not in header.cells]:
        message = f"an Nsight Compute CSV without a column {missing[0]}"
        raise ProfileError(message, path=file.path, remedy=_WRITE_AGAIN)
    return (_details if header.is_details else _raw)(_Report(file, header, locale), progress)


class _Report:
    """The rows of a report, whose identifying cells are kept as they go by."""

    def __init__(self, file: InputFile, header: _Header, locale: NumberLocale) -> None:
        self.file, self.header = file, header
        self.locale: NumberLocale = locale
        self.line = np.zeros(0, dtype=np.int64)
        kept = (*_IDENTITY, *((_SECTION, _METRIC, _UNIT) if header.is_details else ()))
        self._texts: dict[str, list[Any]] = {name: [] for name in kept if name in header.cells}

    def rows(self, progress: Progress | None) -> Iterator[Rows]:
        """Yield the rows, all columns as texts.

        Raises ProfileError: another header follows with other columns; a row is cut short; there is none.
        """
        file, header = self.file, self.header
        # Of the details page the texts of rules are not read.
        cells = len(header.cells)
        if header.is_details:
            cells = max(header.cells.index(name) for name in (*self._texts, _VALUE)) + 1
        kept = None if cells == len(header.cells) else rf"^({_CELL}(?:,{_CELL}){{{cells - 1}}})(?:,.*)?$"
        is_row = _QUOTED_ROW if header.quoted else _BARE_ROW
        titles = header.cells[:cells]
        layout = Layout(
            titles, {title: (titles.index(title), "text") for title in titles}, remedy=_WRITE_AGAIN
        )
        lines = []
        line, is_past_header = 1, False
        for offset, text in pieces(file, progress):
            start, first = 0, line
            line += text.count(b"\n")
            found = _find_header(text)
            if not is_past_header:
                if found is None:
                    continue
                is_past_header, start = True, found.stop
                first += text.count(b"\n", 0, start)
                found = _find_header(text[start:])
            if found is not None and not (header.is_details and found.cells == header.cells):
                message = "holds several Nsight Compute reports one after the other"
                raise ProfileError(message, path=file.path, remedy=_A_FILE_EACH)
            body = _only_rows(text[start:], is_row, kept)
            if body.strip():
                rows = parse(file, layout, offset + start, body, first)
                for name, chunks in self._texts.items():
                    chunks.append(rows.table.column(name))
                lines.append(rows.lines)
                yield rows
        if not lines:
            message = "an Nsight Compute CSV without a single launch"
            raise ProfileError(message, path=file.path, remedy=_WRITE_AGAIN)
        self.line = np.concatenate(lines)

    def texts(self, name: str) -> tuple[tuple[str, ...], IntArray]:
        """Return the distinct texts of a column, and (n,) the index of each row's."""
        return unified(self._texts[name])

    def whole(self, name: str) -> IntArray:
        """Return (n,) the whole numbers of a column; -1 where the report lacks it."""
        if name not in self._texts:
            return np.full(len(self.line), -1, dtype=np.int64)
        cells, codes = self.texts(name)
        numbers, _ = numbers_of(to_arrow_texts(cells), self.locale)
        self._refuse(~((numbers >= 0) & (numbers == np.rint(numbers))), name, "not a whole number")
        return numbers.astype(np.int64)[codes]

    def _sizes(self, name: str, rows: IntArray) -> IntArray | None:
        """Return (n, 3) the grids or blocks of some rows; None where the report lacks the column."""
        if name not in self._texts:
            return None
        cells, codes = self.texts(name)
        sizes, bad = sizes_of(to_arrow_texts(cells))
        self._refuse(np.arange(len(cells)) == bad, name, f"not {WRITTEN}")
        return sizes[codes][rows]

    def _refuse(self, wrong: BoolArray, name: str, what: str) -> None:
        """Raise ProfileError where a column's distinct texts have a wrong one."""
        if wrong.any():
            cells, codes = self.texts(name)
            row = int(np.argmax(wrong[codes]))
            raise self.error(row, f"'{cells[codes[row]]}' is {what}", name)

    def error(self, row: int, message: str, column: str, remedy: str = _WRITE_AGAIN) -> ProfileError:
        """Return the error that points at a row and column."""
        line = int(self.line[row])
        return ProfileError(message, path=self.file.path, row=line, column=column, remedy=remedy)

    def features(self, format_name: str, rows: IntArray, features: Features, notes: list[str]) -> FeatureRows:
        """Return what is known of some of the rows, one for each launch."""
        names, name = self.texts("Kernel Name")
        return FeatureRows(
            path=self.file.path,
            format=format_name,
            line=self.line[rows],
            features=features,
            names=names,
            name=name[rows],
            process=self.whole("Process ID")[rows],
            device=self.whole("Device")[rows] if "Device" in self._texts else None,
            grid=self._sizes("Grid Size", rows),
            block=self._sizes("Block Size", rows),
            notes=tuple(notes),
        )


def _only_rows(text: bytes, pattern: str, kept: str | None) -> bytes:
    """Return the text with every line that is no row made empty, so that lines keep their numbers."""
    from pyarrow import compute

    lines = lines_of(text)
    fits = compute.match_substring_regex(lines, pattern)
    if kept is None and compute.all(fits).as_py():
        return text
    lines = compute.if_else(fits, lines, b"")
    if kept is not None:
        lines = compute.replace_substring_regex(lines, pattern=kept, replacement=r"\1")
    return joined_lines(lines)


def _raw(report: _Report, progress: Progress | None) -> FeatureRows:
    file, header = report.file, report.header
    columns = [
        NumberColumn(name, report.locale) for name in dict.fromkeys(header.cells) if name not in _NO_METRIC
    ]
    for rows in report.rows(progress):
        for column in columns:
            column.take(rows)
    process, number = report.whole("Process ID"), report.whole("ID")
    refuse_repeated([process, number], file.path, report.line, "this launch's ID")
    order = np.lexsort((number, process)).astype(np.int64)
    printed = _printed_units(file, header)
    unit_of = dict(zip(header.cells, printed or [""] * len(header.cells), strict=True))
    found = {column.name: column.values() for column in columns}
    metrics = {
        name: values[order] * base_unit(unit_of[name])[0]
        for name, values in found.items()
        if values is not None
    }
    units = {name: base for name in metrics if (base := base_unit(unit_of[name])[1])}
    notes = [*repeated_notes(header.cells)]
    if not any(printed or ()):
        row = "no row of units stands below the header" if printed is None else "the row of units is empty"
        notes.append(f"{row}: all values are taken to be in base units")
    notes += _unit_notes({name: unit_of[name] for name in metrics})
    if left_out := [name for name, values in found.items() if values is None]:
        notes.append(f"columns that hold text are left out: {listed(left_out)}")
    notes += infinite_notes(column.name for column in columns if column.has_infinite)
    return report.features("ncu-raw", order, Features(metrics=metrics, units=units), notes)


def _printed_units(file: InputFile, header: _Header) -> list[str] | None:
    """Return the cells of the row of units below the header; None where there is none."""
    for _, text in pieces(file):
        if found := _find_header(text):
            line = text[found.stop :].split(b"\n", 1)[0].decode("utf-8", "replace").strip("\r")
            cells = next(csv.reader([line]), [])
            identity = cells[: header.cells.index("Kernel Name") + 1]
            return cells if len(cells) == len(header.cells) and not any(identity) else None
    return None


def _details(report: _Report, progress: Progress | None) -> FeatureRows:
    cells = NumberColumn(_VALUE, report.locale)
    values, is_text = map(
        np.concatenate, zip(*(cells.read(rows) for rows in report.rows(progress)), strict=True)
    )
    launch, first_rows = _launches(report)
    (sections, section), (names, name), (unit_texts, unit) = map(report.texts, (_SECTION, _METRIC, _UNIT))
    bases = [base_unit(text) for text in unit_texts]
    base_names = [*dict.fromkeys(base for _, base in bases)]
    base = np.array([base_names.index(base) for _, base in bases])[unit]
    values = values * np.array([factor for factor, _ in bases])[unit]
    has_metric = np.array([bool(each.strip()) for each in names], dtype=np.bool_)
    places = np.flatnonzero(has_metric[name])
    codes, first = dense_codes([section[places], name[places], base[places]])
    order = places[np.argsort(codes, kind="stable")]
    series = np.split(order, np.cumsum(np.bincount(codes, minlength=len(first)))[:-1])
    metrics: dict[str, FloatArray] = {}
    units: dict[str, str] = {}
    noted: dict[str, dict[str, str]] = {"text": {}, "infinite": {}, "repeated": {}, "unknown": {}}
    for each in [series[code] for code in np.argsort(first)]:
        metric, its_unit = names[name[each[0]]], base_names[base[each[0]]]
        if is_text[each].any():
            if not np.isnan(values[each]).all():
                remedy = Wording(
                    "correct the cell, or say how the file writes numbers: `number_locale=de_DE`"
                )
                message = f"a value of '{metric}' is text, and others are numbers"
                raise report.error(each[np.argmax(is_text[each])], message, _VALUE, remedy)
            noted["text"][metric] = ""
            continue
        for what, is_so in (
            ("repeated", len(np.unique(launch[each])) < len(each)),
            ("infinite", np.isinf(values[each]).any()),
            ("unknown", not _is_known(its_unit)),
        ):
            if is_so:
                noted[what].setdefault(metric, its_unit)
        column = np.full(len(first_rows), np.nan)
        # Backwards, so that of several rows for one launch the first stays.
        column[launch[each[::-1]]] = np.where(np.isinf(values[each[::-1]]), np.nan, values[each[::-1]])
        _add(metrics, units, (metric, sections[section[each[0]]], its_unit), column)
    notes = [*_unit_notes(noted["unknown"])]
    if text := [*noted["text"]]:
        notes.append(f"metrics that are text are left out: {listed(text)}")
    if twice := [*noted["repeated"]]:
        notes.append(f"metrics with several rows for one launch, of which the first counts: {listed(twice)}")
    notes += infinite_notes(noted["infinite"])
    return report.features("ncu-details", first_rows, Features(metrics=metrics, units=units), notes)


def _add(
    metrics: dict[str, FloatArray], units: dict[str, str], called: tuple[str, str, str], column: FloatArray
) -> None:
    """Add (launches,) values under their name, with their section where it means something else there."""
    name, section, unit = called
    known = metrics.get(name)
    if known is not None:
        differ = (known != column) & ~np.isnan(known) & ~np.isnan(column)
        if units.get(name, "") == unit and not differ.any():
            metrics[name] = np.where(np.isnan(known), column, known)
            return
        name = f"{section}: {name}"
        name = f"{name} ({unit})" if name in metrics else name
    metrics[name] = column
    if unit:
        units[name] = unit


def _launches(report: _Report) -> tuple[IntArray, IntArray]:
    """Return the launch of every row, numbered by process and ID, and the first row of every launch."""
    process, number = report.whole("Process ID"), report.whole("ID")
    _, name = report.texts("Kernel Name")
    codes, first_rows = dense_codes([process, number])
    wrong = name != name[first_rows][codes]
    if wrong.any():
        row = int(np.argmax(wrong))
        raise report.error(row, f"ID {int(number[row])} stands for two kernels", "ID", _A_FILE_EACH)
    order = np.lexsort((number[first_rows], process[first_rows]))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[codes], first_rows[order]


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


def _is_known(unit: str) -> bool:
    """Return whether a unit is one of Nsight Compute's, so that something says what one of them is."""
    return all(_KNOWN.fullmatch(_one(part)[1]) for part in unit.strip().split("/") if part)


def _unit_notes(units: Mapping[str, str]) -> tuple[str, ...]:
    """Return what to tell the user of unknown units; the unit of each metric as printed."""
    metric_of = {unit: metric for metric, unit in reversed([*units.items()]) if not _is_known(unit)}
    unknown = [f"{unit} ({metric})" for unit, metric in reversed([*metric_of.items()])]
    if not unknown:
        return ()
    more = f", ... ({len(unknown)} in all)" if len(unknown) > _UNITS_NAMED else ""
    named = ", ".join(unknown[:_UNITS_NAMED])
    return (f"units that are not known are left as they are: {named}{more}",)
