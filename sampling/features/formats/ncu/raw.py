"""The raw page of an Nsight Compute CSV: one row a launch, one column a metric, units in the second row."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from sampling.arrays import IntArray
from sampling.features.formats.ncu.report import (
    Header,
    Identities,
    LaunchIdentities,
    find_header,
    report_header,
    row_parts,
    unit_notes,
)
from sampling.features.formats.ncu.units import base_unit
from sampling.features.rows import FeatureRows
from sampling.features.tables.columns import NumberColumn, infinite_notes
from sampling.features.tables.identity import refuse_repeated, repeated_notes
from sampling.features.tables.number_cells import NumberCells, NumberLocale
from sampling.progress import Progress
from sampling.readers.csv_cells import pieces
from sampling.readers.input_file import InputFile
from sampling.reduction.launch_features import Features
from sampling.text import listed

FORMAT = "ncu-raw"

#: Columns that identify a launch or describe the process; all others are metrics.
_NO_METRIC = frozenset(
    {
        "ID",
        "Process ID",
        "Process Name",
        "Host Name",
        "Kernel Name",
        "Kernel Time",
        "Context",
        "Stream",
        "Block Size",
        "Grid Size",
        "Device",
        "CC",
    }
)


def recognise(file: InputFile) -> bool:
    """Return whether the head has the header of a raw page."""
    header = report_header(file)
    return header is not None and not header.is_details


def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the launches with their metrics in base units, by process and in the order of their IDs.

    Raises
    ------
    ProfileError : a row is cut short, an ID repeats, some cells of a metric are numbers and others text.
    """
    header = report_header(file)
    assert header is not None
    launches = LaunchIdentities(file, header, locale)
    numbers = NumberCells(locale)
    metrics = [
        NumberColumn(file.path, position, name, numbers)
        for position, name in enumerate(header.cells)
        if name not in _NO_METRIC and header.cells.index(name) == position
    ]
    for rows in row_parts(file, header, len(header.cells), progress):
        launches.take(rows.table, rows.line)
        for metric in metrics:
            metric.take(rows.table, rows.line)
    identities = launches.finish()
    order = _launch_order(identities, file)
    printed = _units(file, header)
    units = {} if printed is None else dict(zip(header.cells, printed, strict=True))
    features, left_out = _features(metrics, units, order)
    notes = [*numbers.notes(doubt_dots=True), *repeated_notes(header.cells)]
    if not any(printed or ()):
        row = "no row of units stands below the header" if printed is None else "the row of units is empty"
        notes.append(f"{row}: all values are taken to be in base units")
    notes += unit_notes({name: units[name] for name in features.metrics if name in units})
    if left_out:
        notes.append(f"columns that hold text are left out: {listed(left_out)}")
    notes += infinite_notes(metric.name for metric in metrics if metric.has_infinite)
    return FeatureRows(
        path=file.path, format=FORMAT, features=features, notes=tuple(notes), **identities.rows(order)
    )


def _launch_order(identities: Identities, file: InputFile) -> IntArray:
    """Return the rows by process and ID; raise ProfileError where an ID repeats in a process."""
    refuse_repeated(
        [identities.process, identities.id], path=file.path, line=identities.line, what="this launch's ID"
    )
    return identities.in_order()


def _units(file: InputFile, header: Header) -> Sequence[str] | None:
    """Return the cells of the row of units below the header; None where there is none."""
    for _, text in pieces(file):
        found = find_header(text)
        if found is not None:
            line = text[found.stop :].split(b"\n", 1)[0].decode("utf-8", "replace").strip("\r")
            cells = next(csv.reader([line]), [])
            named = len(cells) == len(header.cells) and not any(
                cells[: header.cells.index("Kernel Name") + 1]
            )
            return cells if named else None
    return None


def _features(
    metrics: Sequence[NumberColumn], units: dict[str, str], order: IntArray
) -> tuple[Features, list[str]]:
    """Return the metrics in base units, rows in ``order``, and the names of columns that are text."""
    values, bases, left_out = {}, {}, []
    for metric in metrics:
        column = metric.values()
        if column is None:
            left_out.append(metric.name)
            continue
        factor, base = base_unit(units.get(metric.name, ""))
        values[metric.name] = column[order] * factor
        if base:
            bases[metric.name] = base
    return Features(metrics=values, units=bases), left_out
