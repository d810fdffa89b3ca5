"""Rows with features from the columns of a table, whether it came as CSV or Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.features.rows import FeatureRows
from sampling.features.tables.identity import refuse_repeated, sizes_from_axes, whole_numbers
from sampling.reduction.launch_features import Features
from sampling.text import listed


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of a table, each with one entry a row.

    Attributes
    ----------
    line : (n,) 1-based line or row of the file.
    numbers : the identifying columns of numbers, by name; NaN where a cell is empty.
    metrics : all other columns of numbers.
    names, name : the distinct kernel names and (n,) the index of each row's; none where there is no column.
    sizes : (n, 3) by "grid" and "block", for those written as text.
    left_out : the columns that hold no numbers.
    notes : what to tell the user of how cells were read.
    """

    line: IntArray
    numbers: Mapping[str, FloatArray]
    metrics: Mapping[str, FloatArray]
    names: Sequence[str]
    name: IntArray | None
    sizes: Mapping[str, IntArray]
    left_out: Sequence[str]
    notes: tuple[str, ...]


def rows_of_table(path: str, format_name: str, table: TableColumns) -> FeatureRows:
    """Return the rows that a table describes.

    Raises
    ------
    ProfileError : it has no row or no metric, an identifying cell is empty or no whole number, a launch
        stands twice.
    """
    if len(table.line) == 0:
        raise ProfileError("a table without a single row", path=path, remedy="write a row for each launch")
    if not table.metrics:
        hold = "holds" if len(table.left_out) == 1 else "hold"
        text = f" ({listed(table.left_out)} {hold} text)" if table.left_out else ""
        raise ProfileError(
            f"a table without a column of numbers beside those that identify a launch{text}",
            path=path,
            remedy="add a column for each metric",
        )
    numbers = {
        name: whole_numbers(values, path=path, line=table.line, name=name)
        for name, values in table.numbers.items()
    }
    shapes = {
        what: table.sizes[what] if what in table.sizes else sizes_from_axes(numbers, what, path=path)
        for what in ("grid", "block")
    }
    _refuse_empty_name(path, table, with_ids="id" in numbers)
    notes = table.notes
    if table.left_out:
        notes = (*notes, f"columns that hold text are left out: {listed(table.left_out)}")
    rows = FeatureRows(
        path=path,
        format=format_name,
        line=table.line,
        features=Features(metrics=table.metrics),
        id=numbers.get("id"),
        names=tuple(table.names),
        name=table.name,
        grid=shapes["grid"],
        block=shapes["block"],
        process=numbers.get("process"),
        device=numbers.get("device"),
        occurrence=numbers.get("occurrence"),
        notes=notes,
    )
    _refuse_repeated_launches(rows)
    return rows


def _refuse_empty_name(path: str, table: TableColumns, *, with_ids: bool) -> None:
    if table.name is None or with_ids or "" not in table.names:
        return
    empty = table.name == list(table.names).index("")
    if empty.any():
        raise ProfileError(
            "a row without a kernel name",
            path=path,
            row=int(table.line[int(np.argmax(empty))]),
            column="name",
            remedy="fill the cell or leave the row out",
        )


def _refuse_repeated_launches(rows: FeatureRows) -> None:
    if rows.id is not None:
        refuse_repeated([rows.id], path=rows.path, line=rows.line, what="this launch's id")
    elif rows.occurrence is not None:
        assert rows.name is not None
        places = [number for number in (rows.process, rows.device) if number is not None]
        shapes = [axis for shape in (rows.grid, rows.block) if shape is not None for axis in shape.T]
        refuse_repeated(
            [*places, rows.name, *shapes, rows.occurrence],
            path=rows.path,
            line=rows.line,
            what="this launch (its name, shape and occurrence)",
        )
