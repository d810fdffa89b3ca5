"""Tables of features: CSV (semicolons and tabs do as well), Parquet, and arrays of NumPy.

A table has a column id or name and a column for each metric. Row i of an array is the launch with id i, every
column a number of its vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampling.errors import ProfileError
from sampling.features.metric_names import SPELLINGS
from sampling.features.reading import FeatureRows, FeatureTable, read_table
from sampling.parallel import Progress
from sampling.readers.columns import DIMENSIONS, NO_METRIC
from sampling.readers.input_file import InputFile
from sampling.readers.not_a_profile import is_table, other_sort
from sampling.readers.registry import reader_of
from sampling.readers.table import (
    PARQUET,
    Kind,
    Layout,
    NumberLocale,
    read_rows,
    table_header,
)
from sampling.reduction.launch_list import Features
from sampling.text import listed

#: Columns of an array have no names; they are metrics of this name and their number, from 0
VECTOR_PREFIX = "vector_"

_NPY = b"\x93NUMPY"
# What identifies a launch: whole numbers and texts.
_WHOLE = ("id", "process", "device", "occurrence", *(axis for axes in DIMENSIONS.values() for axis in axes))
_TEXTS = ("name", *DIMENSIONS)
_OURS = {**SPELLINGS, **{name: name for name in (*_WHOLE, *_TEXTS)}}
_REMEDY = (
    "give it a column id with the launch ids of the profile, or a column name with the kernel names, with "
    "grid_x grid_y grid_z block_x block_y block_z (or grid and block as text) and occurrence if it has them, "
    "a row for each launch and a column for each metric"
)
_NUMPY = "write numbers with numpy.save, a row for every launch in the order of their ids"


def recognise(file: InputFile) -> bool:
    """Return whether this is an array or a table, and neither a profile nor the report of another tool."""
    if file.head.startswith((PARQUET, _NPY)):
        return True
    # Text whose lines differ in their cells may still be a table, with a row to blame.
    may_be = reader_of(file) is None and other_sort(file) is None
    return may_be and (is_table(file) or not {"id", "name"}.isdisjoint(_header(file)[0]))


def _header(file: InputFile) -> tuple[tuple[str, ...], str]:
    cells, separator = table_header(file, {"id", "name", "ID", "Name", "Id", *_OURS})
    return _spelt([cell.strip() for cell in cells]), separator


def _spelt(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns, those of ours in our spelling (``ID`` is id) where none is spelt so."""
    names = list(cells)
    for place, name in enumerate(cells):
        ours = _OURS.get(name.casefold(), name)
        if ours not in names:
            names[place] = ours
    return tuple(names)


def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the rows of the table.

    Raises ProfileError: it is damaged, has neither a column id nor a column name, no row or no metric; a
    cell is wrong; a launch stands twice.
    """
    if file.head.startswith(_NPY):
        return _of_array(file)
    is_parquet = file.head.startswith(PARQUET)
    table = _of_table(file, locale, progress)
    columns = {name: table.metric(name) for name in table.numbers if name not in _WHOLE}
    metrics = {name: column for name, column in columns.items() if column is not None}
    if not metrics:
        raise ProfileError("a table without a column of numbers", path=file.path, remedy=_REMEDY)
    least = {"id": 0, "process": -1, "device": -1, "occurrence": 0}
    known = {name: table.whole(name, number) for name, number in least.items() if name in table.numbers}
    names, name_of = table.texts.get("name", ((), None))
    if "id" in known:
        table.refuse_repeated([known["id"]], "this launch's id")
    elif name_of is not None and "" in names:
        raise table.error(name_of == names.index(""), "name", "a row without a kernel name")
    return FeatureRows(
        path=file.path,
        format="parquet" if is_parquet else "csv",
        line=table.line,
        features=Features(metrics=metrics),
        id=known.get("id"),
        names=names,
        name=name_of,
        grid=table.sizes("grid", DIMENSIONS["grid"]),
        block=table.sizes("block", DIMENSIONS["block"]),
        process=known.get("process"),
        device=known.get("device"),
        occurrence=known.get("occurrence"),
    )


def _require_identity(columns: Sequence[str], path: str) -> None:
    wrong = ["no column id or name: rows are never joined by position"] * ({"id", "name"}.isdisjoint(columns))
    wrong += [f"several columns {name}" for name in (*_WHOLE, *_TEXTS) if columns.count(name) > 1]
    if wrong:
        raise ProfileError(f"a table of {listed(columns)}, with {wrong[0]}", path=path, remedy=_REMEDY)


def _of_table(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureTable:
    header, separator = _header(file)
    _require_identity(header, file.path)
    named = [name for name in dict.fromkeys(header) if name]
    texts = [name for name in named if name in _TEXTS]
    numbers = [name for name in named if name in _WHOLE or name not in NO_METRIC]
    kind: Kind = "any" if locale == "C" or file.head.startswith(PARQUET) else "text"
    columns = {name: (header.index(name), kind) for name in numbers}
    columns |= {name: (header.index(name), "text") for name in texts}
    rows = read_rows(file, Layout(header, columns, separator, locale), progress)
    return read_table(file.path, rows, texts, numbers, locale)


def _of_array(file: InputFile) -> FeatureRows:
    """Return the rows of an array, one a launch of the whole profile; nothing in it is run or unpickled."""
    with file.on_disk() as location, file.damage_reported(), np.errstate(all="ignore"):
        try:
            values = np.load(location, mmap_mode="r", allow_pickle=False)
            if values.dtype.kind not in "iufb" or values.ndim not in (1, 2) or 0 in values.shape:
                raise ValueError(f"{values.dtype} {values.shape}")
        except Exception as error:
            # numpy reads a header as Python, so that a damaged one raises almost anything.
            message = f"an array that is damaged or is no rows of numbers ({str(error)[:80]})"
            raise ProfileError(message, path=file.path, remedy=_NUMPY) from error
        # The file may have another width or byte order of its numbers.
        columns = [column.astype(np.float64) for column in values.reshape(len(values), -1).T]
    return FeatureRows(
        path=file.path,
        format="npy",
        line=np.arange(1, len(values) + 1),
        features=Features(
            metrics={f"{VECTOR_PREFIX}{place}": column for place, column in enumerate(columns)}
        ),
        id=np.arange(len(values)),
        whole_profile=True,
    )
