"""Tables of features: CSV (semicolons and tabs do as well), Parquet, and arrays of NumPy.

A table has a column id or name and a column for each metric. Row i of an array is the launch with id i, every
column a number of its vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from tokenize import TokenError
from typing import Any

import numpy as np

from sampling.arrays import FloatArray, IntArray, arrow_file, to_arrow_texts
from sampling.errors import ProfileError
from sampling.features.metric_names import SPELLINGS
from sampling.features.reading import (
    FeatureRows,
    NumberColumn,
    infinite_notes,
    refuse_repeated,
    repeated_notes,
)
from sampling.parallel import Progress
from sampling.readers.columns import DIMENSIONS, NO_METRIC
from sampling.readers.input_file import InputFile
from sampling.readers.registry import reader_of
from sampling.readers.table import (
    WRITTEN,
    Kind,
    Layout,
    NumberLocale,
    float_values,
    header_cells,
    metric_columns,
    read_rows,
    separated_header,
    sizes_of,
    unified,
)
from sampling.reduction.launch_list import Features
from sampling.text import listed

#: Columns of an array have no names; they are metrics of this name and their number, from 0
VECTOR_PREFIX = "vector_"

_PARQUET, _NPY = b"PAR1", b"\x93NUMPY"
# What identifies a launch: whole numbers and texts.
_WHOLE = ("id", "process", "device", "occurrence", *(axis for axes in DIMENSIONS.values() for axis in axes))
_TEXTS = ("name", *DIMENSIONS)
_OURS = {**SPELLINGS, **{name: name for name in (*_WHOLE, *_TEXTS)}}
_IDENTIFY = (
    "give it a column id with the launch ids of the profile, or a column name with the kernel names, with "
    "grid_x grid_y grid_z block_x block_y block_z (or grid and block as text) and occurrence if it has them"
)
_NUMPY = "write numbers with numpy.save, a row for every launch in the order of their ids"
# What numpy raises of a header that is none, for it is read as Python.
_DAMAGED = (
    *(ValueError, KeyError, TypeError, SyntaxError, TokenError),
    *(RecursionError, MemoryError, OSError, ArithmeticError),
)
#: Of a table: (n,) lines; by column the numbers (NaN where a cell is empty), None for text; by column the
#: distinct texts and (n,) the index of each row's; notes
_Table = tuple[
    IntArray, dict[str, FloatArray | None], dict[str, tuple[tuple[str, ...], IntArray]], tuple[str, ...]
]


def recognise(file: InputFile) -> bool:
    """Return whether this is an array, or a table; which columns it needs is said on reading."""
    from sampling.readers.not_a_profile import is_plain_text, is_table, sort_of

    if file.head.startswith((_PARQUET, _NPY)):
        return True
    if reader_of(file) is not None:
        return False
    # Reports of other tools are CSV too, with a column Name that is no kernel's.
    sort = sort_of(file)
    if sort.fits is not is_plain_text:
        return sort.fits is is_table
    # Text whose lines differ in their cells may still be a table, with a row to blame.
    columns, separator = _header(file.head)
    if len(columns) > 1 and {"id", "name"} & set(columns):
        return True
    lines = [line for line in file.head.splitlines() if line.strip()]
    rows = [header_cells(line, separator) for line in lines[1:5]]
    one_width = {len(row) for row in rows} == {len(columns)}
    return one_width and (len(columns) > 1 or all(row[0].strip("+-.,").isdigit() for row in rows))


def _header(head: bytes) -> tuple[tuple[str, ...], str]:
    cells, separator = separated_header(head, {"id", "name", "ID", "Name", "Id"})
    return _spelt(cells), separator


def _spelt(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns, those of ours in our spelling (``ID`` is id) where none is spelt so."""
    names = list(cells)
    taken = set(names)
    for place, name in enumerate(names):
        ours = _OURS.get(name.casefold(), name)
        if ours not in taken:
            taken.add(ours)
            names[place] = ours
    return tuple(names)


def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the rows of the table.

    Raises ProfileError: it is damaged, has neither a column id nor a column name, no row or no metric; a
    cell is wrong; a launch stands twice.
    """

    def refused(message: str, remedy: str, row: int | None = None, column: str | None = None) -> ProfileError:
        return ProfileError(message, path=file.path, row=row, column=column, remedy=remedy)

    if file.head.startswith(_NPY):
        return _of_array(file, progress)
    is_parquet = file.head.startswith(_PARQUET)
    line, numbers, texts, notes = (
        _of_parquet(file, progress) if is_parquet else _of_csv(file, locale, progress)
    )
    metrics = {name: column for name, column in numbers.items() if name not in _WHOLE and column is not None}
    left_out = [name for name, column in numbers.items() if column is None]
    if not len(line):
        raise refused("a table without a single row", "write a row for each launch")
    if not metrics:
        hold = "holds" if len(left_out) == 1 else "hold"
        text = f" ({listed(left_out)} {hold} text)" if left_out else ""
        message = f"a table without a column of numbers beside those that identify a launch{text}"
        raise refused(message, "add a column for each metric")
    whole = {name: _whole(file.path, name, numbers[name], line) for name in _WHOLE if name in numbers}
    grid, block = (_sizes(file.path, what, texts.get(what), whole, line) for what in DIMENSIONS)
    names, name_of = texts.get("name", ((), None))
    if name_of is not None and "id" not in whole and "" in names:
        row = int(line[np.argmax(name_of == names.index(""))])
        raise refused("a row without a kernel name", "fill the cell or leave the row out", row, "name")
    if "id" in whole:
        refuse_repeated([whole["id"]], file.path, line, "this launch's id")
    elif "occurrence" in whole and name_of is not None:
        axes = [axis for shape in (grid, block) if shape is not None for axis in shape.T]
        keys = [
            *(whole[place] for place in ("process", "device", "occurrence") if place in whole),
            name_of,
            *axes,
        ]
        refuse_repeated(keys, file.path, line, "this launch (its name, shape and occurrence)")
    return FeatureRows(
        path=file.path,
        format="parquet" if is_parquet else "csv",
        line=line,
        features=Features(metrics=metrics),
        names=names,
        name=name_of,
        notes=(*notes, *([f"columns that hold text are left out: {listed(left_out)}"] * bool(left_out))),
        id=whole.get("id"),
        process=whole.get("process"),
        device=whole.get("device"),
        occurrence=whole.get("occurrence"),
        grid=grid,
        block=block,
    )


def _whole(path: str, name: str, column: FloatArray | None, line: IntArray) -> IntArray:
    """Return (n,) the whole numbers of an identifying column."""
    values = np.full(len(line), np.nan) if column is None else column
    # 2^53 and beyond would have been rounded on their way.
    wrong = ~((values >= (-1 if name in {"process", "device"} else 0)) & (values < 2.0**53))
    wrong |= values != np.rint(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        found = "no value" if np.isnan(values[row]) else f"{values[row]:.12g}"
        raise ProfileError(
            f"{found} where a whole number from 0 on is needed",
            path=path,
            row=int(line[row]),
            column=name,
            remedy="correct the cell or leave the row out",
        )
    return values.astype(np.int64)


def _sizes(
    path: str,
    what: str,
    texts: tuple[tuple[str, ...], IntArray] | None,
    whole: Mapping[str, IntArray],
    line: IntArray,
) -> IntArray | None:
    """Return (n, 3) the grids or blocks, given as text or by their axes; None where there are none."""
    if texts is not None:
        cells, codes = texts
        sizes, bad = sizes_of(to_arrow_texts(cells))
        if bad >= 0:
            row, message = int(line[np.argmax(codes == bad)]), f"{cells[bad]!r} is not {WRITTEN}"
            raise ProfileError(message, path=path, row=row, column=what, remedy="correct the cell")
        return sizes[codes]
    axes = DIMENSIONS[what]
    missing = [axis for axis in axes if axis not in whole]
    if not missing:
        return np.stack([whole[axis] for axis in axes], axis=1)
    if len(missing) < len(axes):
        message = f"a table with a column of the {what} but none {missing[0]}"
        remedy = f"write {', '.join(axes)}, 1 where an axis is not used"
        raise ProfileError(message, path=path, remedy=remedy)
    return None


def _require_identity(columns: Sequence[str], path: str) -> None:
    if not {"id", "name"} & set(columns):
        there = listed([name for name in columns if name])
        message = f"a table without a column id or name ({there}): rows are never joined by position"
        raise ProfileError(message, path=path, remedy=_IDENTIFY)
    for name in (*_WHOLE, *_TEXTS):
        if columns.count(name) > 1:
            message = f"a table with several columns {name}"
            raise ProfileError(message, path=path, remedy="leave all but one of them out")


def _of_csv(file: InputFile, locale: NumberLocale, progress: Progress | None) -> _Table:
    header, separator = _header(file.head)
    _require_identity(header, file.path)
    named = list(dict.fromkeys(name for name in header if name))
    numbers = [NumberColumn(name, locale) for name in named if name in _WHOLE or name not in NO_METRIC]
    texts: dict[str, list[Any]] = {name: [] for name in _TEXTS if name in named}
    kind: Kind = "any" if locale == "C" else "text"
    columns = {name: (header.index(name), kind) for name in (*texts, *(each.name for each in numbers))}
    columns |= {name: (header.index(name), "text") for name in texts}
    lines = [np.zeros(0, dtype=np.int64)]
    for rows in read_rows(file, Layout(header, columns, separator, locale), progress):
        lines.append(rows.lines)
        for name, chunks in texts.items():
            chunks.append(rows.table.column(name))
        for column in numbers:
            column.take(rows)
    return (
        np.concatenate(lines),
        {column.name: column.values() for column in numbers},
        {name: unified(chunks) for name, chunks in texts.items()},
        (*repeated_notes(header), *infinite_notes(column.name for column in numbers if column.has_infinite)),
    )


def _of_parquet(file: InputFile, progress: Progress | None) -> _Table:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import compute

    def refused(message: str, remedy: str, column: str | None = None) -> ProfileError:
        return ProfileError(message, path=file.path, column=column, remedy=remedy)

    try:
        with file.on_disk() as location:
            schema = pq.read_schema(arrow_file(location))
            if twice := [name for name in schema.names if schema.names.count(name) > 1]:
                message = f"a Parquet file with several columns {twice[0]}"
                raise refused(message, "write it again with one of them")
            own = dict(zip(_spelt([name.strip() for name in schema.names]), schema.names, strict=True))
            _require_identity([*own], file.path)
            metrics = metric_columns(pa.schema([schema.field(own[name]).with_name(name) for name in own]))
            wanted = [name for name in own if name in {*_WHOLE, *_TEXTS, *metrics}]
            table = pq.read_table(arrow_file(location), columns=[own[name] for name in wanted])
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        message = "a Parquet file that is cut short or damaged"
        raise refused(message, "copy or write the file again") from error
    if progress is not None:
        progress(table.num_rows, table.num_rows, f"reading {file.path}")
    numbers: dict[str, FloatArray | None] = {}
    texts, infinite = {}, []
    for name in wanted:
        column = table.column(own[name])
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if name in _TEXTS:
            if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
                raise refused(f"holds {kind}, not text", "write the column as strings", name)
            texts[name] = unified([compute.fill_null(column.cast(pa.string()), "")])
            continue
        if name in _WHOLE and not is_number:
            raise refused(f"holds {kind}, not whole numbers", "write the column again as integers", name)
        numbers[name] = float_values(column)
        if name not in _WHOLE and pa.types.is_floating(kind) and compute.any(compute.is_inf(column)).as_py():
            infinite.append(name)
    return np.arange(1, table.num_rows + 1), numbers, texts, infinite_notes(infinite)


def _of_array(file: InputFile, progress: Progress | None) -> FeatureRows:
    """Return the rows of an array, one a launch of the whole profile; nothing in it is run or unpickled."""
    with file.on_disk() as location, file.damage_reported():
        try:
            values = np.load(location, mmap_mode="r", allow_pickle=False)
        except _DAMAGED as error:
            message = "an array file that is cut short or damaged, or holds no numbers"
            raise ProfileError(message, path=file.path, remedy=_NUMPY) from error
        if values.dtype.kind not in "iufb" or values.ndim not in (1, 2) or 0 in values.shape:
            size = " x ".join(map(str, values.shape)) or "no dimension"
            message = f"an array of {size} of {values.dtype}, not rows of numbers"
            raise ProfileError(message, path=file.path, remedy=_NUMPY)
        # The file may have another width or byte order of its numbers.
        columns = [column.astype(np.float64) for column in values.reshape(len(values), -1).T]
    if progress is not None:
        progress(len(values), len(values), f"reading {file.path}")
    metrics = {f"{VECTOR_PREFIX}{place}": column for place, column in enumerate(columns)}
    infinite = [name for name, column in metrics.items() if np.isinf(column).any()]
    for name in infinite:
        metrics[name][np.isinf(metrics[name])] = np.nan
    return FeatureRows(
        path=file.path,
        format="npy",
        line=np.arange(1, len(values) + 1),
        features=Features(metrics=metrics),
        id=np.arange(len(values)),
        whole_profile=True,
        notes=infinite_notes(infinite),
    )
