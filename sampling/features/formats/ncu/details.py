"""The details page of an Nsight Compute CSV: one row a launch and metric, each with its own unit.

Rows of rules stand between them, with their metric empty. Older versions have no Block Size, Grid Size,
Device and CC. One name may mean different things in two sections: "Memory Throughput" is a share in one and
bytes a second in the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.dense_codes import dense_codes
from sampling.errors import ProfileError
from sampling.features.formats.ncu.report import (
    WRITE_AGAIN,
    Header,
    Identities,
    LaunchIdentities,
    report_header,
    row_parts,
    unit_notes,
)
from sampling.features.formats.ncu.units import base_unit, unknown_units
from sampling.features.rows import FeatureRows
from sampling.features.tables.columns import TextColumn, infinite_notes, refuse_other_locale
from sampling.features.tables.number_cells import NumberCells, NumberLocale, distinct_numbers
from sampling.progress import Progress
from sampling.readers.csv_cells import texts
from sampling.readers.input_file import InputFile
from sampling.reduction.launch_features import Features
from sampling.text import Wording, listed

FORMAT = "ncu-details"

_VALUE = "Metric Value"


def recognise(file: InputFile) -> bool:
    """Return whether the head has the header of a details page."""
    header = report_header(file)
    return header is not None and header.is_details


def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their metrics in base units, by process and in the order of their IDs.

    Raises
    ------
    ProfileError : a row is cut short, some values of a metric are numbers and others text, two kernels have
        one ID.
    """
    header = report_header(file)
    assert header is not None
    cells, launches = _Cells(file, header, locale), LaunchIdentities(file, header, locale)
    for rows in row_parts(file, header, cells.needed, progress):
        launches.take(rows.table, rows.line)
        cells.take(rows.table, rows.line)
    identities = launches.finish()
    launch, first_rows = _launches(identities, file)
    series, left_out = cells.series(launch, len(first_rows), identities.line)
    notes = [*cells.numbers.notes(doubt_dots=True), *unit_notes(cells.unknown_units)]
    if left_out:
        notes.append(f"metrics that are text are left out: {listed(left_out)}")
    if cells.repeated:
        names = listed(cells.repeated)
        notes.append(f"metrics with several rows for one launch, of which the first counts: {names}")
    notes += infinite_notes(dict.fromkeys(cells.infinite))
    return FeatureRows(
        path=file.path,
        format=FORMAT,
        features=_named(series, len(first_rows)),
        notes=tuple(notes),
        **identities.rows(first_rows),
    )


def _launches(identities: Identities, file: InputFile) -> tuple[IntArray, IntArray]:
    """Return the launch of every row, numbered by process and ID, and the first row of every launch."""
    codes, first_rows = dense_codes([identities.process, identities.id])
    wrong = identities.name != identities.name[first_rows][codes]
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ProfileError(
            f"ID {int(identities.id[row])} stands for two kernels",
            path=file.path,
            row=int(identities.line[row]),
            column="ID",
            remedy=Wording("give each report as a file of its own: `features` may be repeated"),
        )
    order = np.lexsort((identities.id[first_rows], identities.process[first_rows]))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[codes], first_rows[order]


@dataclass(frozen=True, slots=True)
class _Series:
    """One metric of one section: its values by launch (NaN where there is none), in one base unit."""

    section: str
    name: str
    unit: str
    values: FloatArray


class _Cells:
    """Collects section, name, unit and value of every row."""

    def __init__(self, file: InputFile, header: Header, locale: NumberLocale) -> None:
        self.numbers = NumberCells(locale)
        self.repeated: list[str] = []
        self.infinite: list[str] = []
        self.unknown_units: dict[str, str] = {}
        self._path = file.path
        wanted = ("Section Name", "Metric Name", "Metric Unit")
        missing = [name for name in wanted if name not in header.cells]
        if missing:
            raise ProfileError(
                f"an Nsight Compute CSV without a column {missing[0]}", path=file.path, remedy=WRITE_AGAIN
            )
        places = [header.cells.index(name) for name in wanted]
        self._value = header.cells.index(_VALUE)
        self.needed = max([self._value, *places, *_identity_places(header)]) + 1
        self._section, self._metric, self._unit = (TextColumn(place) for place in places)
        self._values: list[FloatArray] = []
        self._is_text: list[BoolArray] = []

    def take(self, table: object, line: IntArray) -> None:
        for column in (self._section, self._metric, self._unit):
            column.take(table)
        distinct, codes = texts(table, self._value)
        refuse_other_locale(self.numbers, (distinct, codes), self._path, line, _VALUE)
        values, is_text = distinct_numbers(self.numbers, distinct, codes)
        self._values.append(values)
        self._is_text.append(is_text)

    def series(self, launch: IntArray, launches: int, line: IntArray) -> tuple[list[_Series], list[str]]:
        """Return the metrics in the order of their first rows, and the names of those of text."""
        values, is_text = np.concatenate(self._values), np.concatenate(self._is_text)
        bases = [base_unit(unit) for unit in self._unit.distinct()]
        base_names = list(dict.fromkeys(base for _, base in bases))
        unit = self._unit.codes()
        values *= np.array([factor for factor, _ in bases])[unit]
        base = np.array([base_names.index(base) for _, base in bases])[unit]
        metrics = np.flatnonzero(_not_empty(self._metric))
        if len(metrics) == 0:
            return [], []
        keys = [self._section.codes()[metrics], self._metric.codes()[metrics], base[metrics]]
        series, first = dense_codes(keys)
        order = metrics[np.argsort(series, kind="stable")]
        ends = np.cumsum(np.bincount(series, minlength=len(first)))
        found: list[tuple[int, _Series]] = []
        left_out = []
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            rows = order[start:end]
            one = _Series(
                section=self._section.distinct()[int(self._section.codes()[rows[0]])],
                name=self._metric.distinct()[int(self._metric.codes()[rows[0]])],
                unit=base_names[int(base[rows[0]])],
                values=np.full(launches, np.nan),
            )
            if is_text[rows].any():
                self._refuse_mixed(one.name, values[rows], is_text[rows], line[rows])
                left_out.append(one.name)
                continue
            self._remark(one, launch[rows], values[rows])
            # Backwards, so that of several rows for one launch the first stays.
            one.values[launch[rows[::-1]]] = np.where(
                np.isinf(values[rows[::-1]]), np.nan, values[rows[::-1]]
            )
            found.append((int(rows[0]), one))
        return [one for _, one in sorted(found, key=lambda pair: pair[0])], list(dict.fromkeys(left_out))

    def _remark(self, one: _Series, launch: IntArray, values: FloatArray) -> None:
        """Note what to tell the user of a metric's rows."""
        if len(np.unique(launch)) < len(launch):
            self.repeated.append(one.name)
        if np.isinf(values).any():
            self.infinite.append(one.name)
        if unknown_units([one.unit]):
            self.unknown_units.setdefault(one.name, one.unit)

    def _refuse_mixed(self, name: str, values: FloatArray, is_text: BoolArray, line: IntArray) -> None:
        if not np.isnan(values).all():
            raise ProfileError(
                f"a value of '{name}' is text, and others are numbers",
                path=self._path,
                row=int(line[int(np.argmax(is_text))]),
                column=_VALUE,
                remedy=Wording("correct the cell, or name the numbers' locale with `number_locale`"),
            )


def _identity_places(header: Header) -> list[int]:
    identity = ("ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "Device")
    return [header.cells.index(name) for name in identity if name in header.cells]


def _not_empty(column: TextColumn) -> BoolArray:
    known = np.array([bool(text.strip()) for text in column.distinct()], dtype=np.bool_)
    return known[column.codes()]


def _named(series: Sequence[_Series], launches: int) -> Features:
    """Name each series by its metric, and by its section too where the name has another meaning there."""
    metrics: dict[str, FloatArray] = {}
    units: dict[str, str] = {}
    for one in series:
        name = one.name
        if name in metrics:
            if units.get(name, "") == one.unit and not _differ(metrics[name], one.values):
                metrics[name] = np.where(np.isnan(metrics[name]), one.values, metrics[name])
                continue
            name = f"{one.section}: {one.name}"
            if name in metrics:
                name = f"{name} ({one.unit})"
        metrics[name] = one.values
        if one.unit:
            units[name] = one.unit
    assert all(len(values) == launches for values in metrics.values())
    return Features(metrics=metrics, units=units)


def _differ(first: FloatArray, second: FloatArray) -> bool:
    """Return whether a launch has a value in both, and not the same."""
    return bool(((first != second) & ~np.isnan(first) & ~np.isnan(second)).any())
