"""Files of per-launch features, recognised by their content: modules of formats, and tables, which are here.

A module, one of ``_MODULES``, has recognise(file), cheap, and what reads it, (file, locale, progress) of
`FeatureRows`.
A table (CSV, with semicolons or tabs too, or Parquet) has a column id or name and a column for each metric.
Row i of an array of NumPy is the launch with id i, every column a number of its vector.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module

import numpy as np

from sampling.errors import ProfileError
from sampling.features.metric_names import SPELLINGS
from sampling.parallel import Progress
from sampling.readers import NumberLocale
from sampling.readers.columns import DIMENSIONS, NO_METRIC
from sampling.readers.feature_table import FeatureRows, FeatureTable
from sampling.readers.input_file import InputFile, open_input
from sampling.readers.not_a_profile import file_error, is_table, other_sort
from sampling.readers.registry import find_reader
from sampling.readers.table import PARQUET, Kind, Layout, read_rows, table_header
from sampling.reduction.launch_list import Features
from sampling.text import listed

# Tables come last: many other files are CSV too.
_MODULES = {"sampling.readers.ncu": "read_rows", "sampling.features.counts": "read"}
_READABLE = (
    "give a CSV of Nsight Compute (`ncu --import REPORT --csv --page raw`), a CSV or Parquet file with a "
    "column id or name, an npy file with a row for every launch, or what NVBit's instr_count or the "
    "basic-block tool writes"
)
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


def read_features(path: str, *, locale: NumberLocale = "C", progress: Progress | None = None) -> FeatureRows:
    """Read a file of features; "-" is standard input, gzip is read as it is.

    Under the locale "C", thousands apart by commas are read too.

    Raises ProfileError: it is missing, damaged, of no known format, or has nothing that says which launch a
    row is.
    """
    with open_input(path) as file:
        for name, function in () if file.is_directory else _MODULES.items():
            module = import_module(name)
            if module.recognise(file):
                rows: FeatureRows = getattr(module, function)(file, locale, progress)
                return rows
        if not file.is_directory and _is_table(file):
            return _read_array(file) if file.head.startswith(_NPY) else _read_table(file, locale, progress)
        reader = find_reader(file)
        reason = re.split("[:,]", file_error(file).message.removeprefix(f"{file.path}: "))[0]
        if file.is_directory:
            reason = "a folder"
        elif reader is not None:
            reason = f"what profiles are read from ({reader.FORMAT})"
        raise ProfileError(f"{reason}, no features of launches", path=file.path, remedy=_READABLE)


# --- tables and arrays --------------------------------------------------------------------------------------


def _is_table(file: InputFile) -> bool:
    """Return whether this is an array or a table, and neither a profile nor the report of another tool."""
    if file.head.startswith((PARQUET, _NPY)):
        return True
    # Text whose lines differ in their cells may still be a table, with a row to blame.
    may_be = find_reader(file) is None and other_sort(file) is None
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


def _read_table(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the rows of a table.

    Raises ProfileError: it is damaged, has neither a column id nor a column name, no row or no metric; a
    cell is wrong; a launch stands twice.
    """
    header, separator = _header(file)
    wrong = ["no column id or name: rows are never joined by position"] * {"id", "name"}.isdisjoint(header)
    wrong += [f"several columns {name}" for name in (*_WHOLE, *_TEXTS) if header.count(name) > 1]
    if wrong:
        message = f"a table of {listed(header)}, with {wrong[0]}"
        raise ProfileError(message, path=file.path, remedy=_REMEDY)
    is_parquet = file.head.startswith(PARQUET)
    numbers: Kind = "any" if locale == "C" or is_parquet else "text"
    kinds: dict[str, Kind] = {name: numbers for name in header if name and name not in NO_METRIC}
    kinds |= {name: numbers for name in header if name in _WHOLE}
    kinds |= {name: "text" for name in header if name in _TEXTS}
    columns = {name: (header.index(name), kind) for name, kind in kinds.items()}
    rows = read_rows(file, Layout(header, columns, separator, locale), progress)
    table = FeatureTable.of(file.path, rows, locale)
    values = {name: table.metric(name) for name in columns if name not in (*_WHOLE, *_TEXTS)}
    metrics = {name: column for name, column in values.items() if column is not None}
    if not metrics:
        raise ProfileError("a table without a column of numbers", path=file.path, remedy=_REMEDY)
    minima = {"id": 0, "process": -1, "device": -1, "occurrence": 0}
    identifiers = {name: table.whole(name, number) for name, number in minima.items() if name in table}
    names, name_of = table.texts("name") if "name" in table else ((), None)
    if "id" in identifiers:
        table.refuse_repeated([identifiers["id"]], "this launch's id")
    elif name_of is not None and "" in names:
        raise table.error(name_of == names.index(""), "name", "a row without a kernel name")
    return FeatureRows(
        path=file.path,
        format="parquet" if is_parquet else "csv",
        line=table.line,
        features=Features(metrics=metrics),
        id=identifiers.get("id"),
        names=names,
        name=name_of,
        grid=table.sizes("grid", DIMENSIONS["grid"]),
        block=table.sizes("block", DIMENSIONS["block"]),
        process=identifiers.get("process"),
        device=identifiers.get("device"),
        occurrence=identifiers.get("occurrence"),
    )


def _read_array(file: InputFile) -> FeatureRows:
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
