"""Tables of features: CSV (semicolons and tabs do as well), Parquet, and arrays of NumPy.

A table has a column id or name and a column for each metric. Row i of an array is the launch with id i, every
column a number of its vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from tokenize import TokenError
from typing import Any

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.arrow import arrow_file, to_arrow_texts
from sampling.errors import ProfileError
from sampling.features.metric_names import SPELLINGS
from sampling.features.reading import FeatureRows, infinite_notes, refuse_repeated, repeated_notes
from sampling.progress import Progress
from sampling.readers.csv_cells import Kind, Layout, NumberLocale, header_cells, parse, parts
from sampling.readers.input_file import InputFile
from sampling.readers.not_a_profile import is_table
from sampling.readers.registry import reader_of
from sampling.readers.tables.cells import (
    WRITTEN,
    NumberColumn,
    float_values,
    metric_columns,
    sizes_of,
    unified,
)
from sampling.readers.tables.column_map import DIMENSIONS, NO_METRIC
from sampling.readers.text_lines import row_lines
from sampling.reduction.launch_list import Features
from sampling.text import listed

#: Columns of an array have no names; they are metrics of this name and their number, from 0.
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
    ValueError,
    KeyError,
    TypeError,
    SyntaxError,
    TokenError,
    RecursionError,
    MemoryError,
    OSError,
    ArithmeticError,
)


@dataclass(frozen=True, slots=True)
class _Table:
    """The columns of a table, each with one entry a row.

    Attributes
    ----------
    line : (n,) 1-based line or row of the file.
    numbers : (n,) by column, NaN where a cell is empty; None for a column of text.
    texts : the distinct texts and (n,) the index of each row's, by column: name, grid, block.
    notes : what to tell the user of how cells were read.
    """

    line: IntArray
    numbers: Mapping[str, FloatArray | None]
    texts: Mapping[str, tuple[tuple[str, ...], IntArray]]
    notes: tuple[str, ...]


def recognise(file: InputFile) -> bool:
    """Return whether this is an array, or a table; which columns it needs is said on reading."""
    from sampling.readers.not_a_profile import is_plain_text, sort_of

    if file.head.startswith((_PARQUET, _NPY)):
        return True
    if reader_of(file) is not None:
        return False
    # Reports of other tools are CSV too, with a column Name that is no kernel's.
    sort = sort_of(file)
    if sort.fits is not is_plain_text:
        return sort.fits is is_table
    # Text whose lines differ in their cells may still be a table, with a row to blame.
    columns, separator, stop = _header(file.head)
    if len(columns) > 1 and {"id", "name"} & set(columns):
        return True
    rows = [header_cells(line, separator) for line in file.head[stop:].splitlines()[:4] if line.strip()]
    one_width = {len(row) for row in rows} == {len(columns)}
    return one_width and (len(columns) > 1 or all(row[0].strip("+-.,").isdigit() for row in rows))


def read(file: InputFile, locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the rows of the table.

    Raises
    ------
    ProfileError : it is damaged, has neither a column id nor a column name, no row or no metric; a cell is
        wrong; a launch stands twice.
    """
    if file.head.startswith(_NPY):
        return _of_array(file, progress)
    is_parquet = file.head.startswith(_PARQUET)
    table = _of_parquet(file, progress) if is_parquet else _of_csv(file, locale, progress)
    path, line = file.path, table.line
    metrics = {
        name: column for name, column in table.numbers.items() if name not in _WHOLE and column is not None
    }
    left_out = [name for name, column in table.numbers.items() if column is None]
    if not len(line):
        raise ProfileError("a table without a single row", path=path, remedy="write a row for each launch")
    if not metrics:
        hold = "holds" if len(left_out) == 1 else "hold"
        text = f" ({listed(left_out)} {hold} text)" if left_out else ""
        raise ProfileError(
            f"a table without a column of numbers beside those that identify a launch{text}",
            path=path,
            remedy="add a column for each metric",
        )
    whole = {name: _whole(table, name, path) for name in _WHOLE if name in table.numbers}
    shapes = {what: _sizes(table, what, axes, whole, path) for what, axes in DIMENSIONS.items()}
    names, name = table.texts.get("name", ((), None))
    if name is not None and "id" not in whole and "" in names:
        row = int(line[np.argmax(name == names.index(""))])
        raise ProfileError(
            "a row without a kernel name",
            path=path,
            row=row,
            column="name",
            remedy="fill the cell or leave the row out",
        )
    rows = FeatureRows(
        path=path,
        format="parquet" if is_parquet else "csv",
        line=line,
        features=Features(metrics=metrics),
        names=names,
        name=name,
        id=whole.get("id"),
        process=whole.get("process"),
        device=whole.get("device"),
        occurrence=whole.get("occurrence"),
        grid=shapes["grid"],
        block=shapes["block"],
        notes=(
            *table.notes,
            *([f"columns that hold text are left out: {listed(left_out)}"] * bool(left_out)),
        ),
    )
    if rows.id is not None:
        refuse_repeated([rows.id], path, line, "this launch's id")
    elif rows.occurrence is not None and name is not None:
        axes = [axis for shape in shapes.values() if shape is not None for axis in shape.T]
        places = [number for number in (rows.process, rows.device) if number is not None]
        refuse_repeated(
            [*places, name, *axes, rows.occurrence],
            path,
            line,
            "this launch (its name, shape and occurrence)",
        )
    return rows


def _header(head: bytes) -> tuple[tuple[str, ...], str, int]:
    """Return a table's columns by the separator that finds most, the separator, and where its rows start."""
    stop = 0
    line = b""
    for line in head.splitlines(keepends=True):
        stop += len(line)
        if line.removeprefix(b"\xef\xbb\xbf").strip():
            break
    headers = [(_spelt(header_cells(line, mark)), mark) for mark in (",", ";", "\t")]
    # Of equals, max takes the first: the comma.
    columns, separator = max(headers, key=lambda each: (bool({"id", "name"} & set(each[0])), len(each[0])))
    return columns, separator, stop


def _spelt(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns, those of ours in our spelling (``ID`` is id) where none is spelt so."""
    names = [cell.strip() for cell in cells]
    taken = set(names)
    for place, name in enumerate(names):
        ours = _OURS.get(name.casefold(), name)
        if ours not in taken:
            taken.add(ours)
            names[place] = ours
    return tuple(names)


def _require_identity(columns: Sequence[str], path: str) -> None:
    if not {"id", "name"} & set(columns):
        raise ProfileError(
            f"a table without a column id or name ({listed([name for name in columns if name])}): "
            "rows are never joined by position",
            path=path,
            remedy=_IDENTIFY,
        )
    for name in (*_WHOLE, *_TEXTS):
        if columns.count(name) > 1:
            raise ProfileError(
                f"a table with several columns {name}", path=path, remedy="leave all but one of them out"
            )


def _of_csv(file: InputFile, locale: NumberLocale, progress: Progress | None) -> _Table:
    header, separator, stop = _header(file.head)
    _require_identity(header, file.path)
    at = {name: header.index(name) for name in header if name}
    numbers = {
        name: NumberColumn(file.path, name, place, locale)
        for name, place in at.items()
        if name in _WHOLE or name not in NO_METRIC
    }
    texts: dict[str, list[Any]] = {name: [] for name in _TEXTS if name in at}
    kinds: dict[int, Kind] = {
        at[name]: "any" if name in numbers and locale == "C" else "text" for name in (*texts, *numbers)
    }
    lines = [np.zeros(0, dtype=np.int64)]
    for part in parts(file, Layout(header, kinds, separator, locale), progress, header_stop=stop):
        table = parse(part)
        lines.append(row_lines(part.text) + part.line)
        for name, chunks in texts.items():
            chunks.append(table.column(str(at[name])))
        for column in numbers.values():
            column.take(table, lines[-1])
    return _Table(
        line=np.concatenate(lines),
        numbers={name: column.values() for name, column in numbers.items()},
        texts={name: unified(chunks) for name, chunks in texts.items()},
        notes=(
            *repeated_notes(header),
            *infinite_notes(name for name, column in numbers.items() if column.has_infinite),
        ),
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
                raise refused(
                    f"a Parquet file with several columns {twice[0]}", "write it again with one of them"
                )
            own = dict(zip(_spelt(schema.names), schema.names, strict=True))
            _require_identity([*own], file.path)
            metrics = metric_columns(pa.schema([schema.field(own[name]).with_name(name) for name in own]))
            wanted = [name for name in own if name in {*_WHOLE, *_TEXTS, *metrics}]
            table = pq.read_table(arrow_file(location), columns=[own[name] for name in wanted])
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise refused(
            "a Parquet file that is cut short or damaged", "copy or write the file again"
        ) from error
    if progress is not None:
        progress(table.num_rows, table.num_rows, f"reading {file.path}")
    numbers, texts, infinite = {}, {}, []
    for name in wanted:
        column = table.column(own[name])
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if name in _TEXTS:
            if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
                raise refused(f"holds {kind}, not text", "write the column as strings", name)
            texts[name] = unified([compute.fill_null(column.cast(pa.string()), "")])
            continue
        if name in _WHOLE and not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise refused(f"holds {kind}, not whole numbers", "write the column again as integers", name)
        numbers[name] = float_values(column)
        if name not in _WHOLE and pa.types.is_floating(kind) and compute.any(compute.is_inf(column)).as_py():
            infinite.append(name)
    return _Table(np.arange(1, table.num_rows + 1), numbers, texts, infinite_notes(infinite))


def _whole(table: _Table, name: str, path: str) -> IntArray:
    """Return (n,) the whole numbers of an identifying column."""
    values = table.numbers[name]
    if values is None:
        values = np.full(len(table.line), np.nan)
    # 2^53 and beyond would have been rounded on their way.
    wrong = ~((values >= (-1 if name in {"process", "device"} else 0)) & (values < 2.0**53))
    wrong |= values != np.rint(values)
    if wrong.any():
        row = int(np.argmax(wrong))
        found = "no value" if np.isnan(values[row]) else f"{values[row]:.12g}"
        raise ProfileError(
            f"{found} where a whole number from 0 on is needed",
            path=path,
            row=int(table.line[row]),
            column=name,
            remedy="correct the cell or leave the row out",
        )
    return values.astype(np.int64)


def _sizes(
    table: _Table, what: str, axes: Sequence[str], whole: Mapping[str, IntArray], path: str
) -> IntArray | None:
    """Return (n, 3) the grids or blocks, given as text or by their axes; None where there are none."""
    if what in table.texts:
        cells, codes = table.texts[what]
        sizes, bad = sizes_of(to_arrow_texts(cells))
        if bad >= 0:
            row = int(table.line[np.argmax(codes == bad)])
            raise ProfileError(
                f"{cells[bad]!r} is not {WRITTEN}", path=path, row=row, column=what, remedy="correct the cell"
            )
        return sizes[codes]
    missing = [axis for axis in axes if axis not in whole]
    if len(missing) == len(axes):
        return None
    if missing:
        raise ProfileError(
            f"a table with a column of the {what} but none {missing[0]}",
            path=path,
            remedy=f"write {', '.join(axes)}, 1 where an axis is not used",
        )
    return np.stack([whole[axis] for axis in axes], axis=1)


def _of_array(file: InputFile, progress: Progress | None) -> FeatureRows:
    """Return the rows of an array, one a launch of the whole profile; nothing in it is run or unpickled."""
    with file.on_disk() as location, file.damage_reported():
        try:
            values = np.load(location, mmap_mode="r", allow_pickle=False)
        except _DAMAGED as error:
            raise ProfileError(
                "an array file that is cut short or damaged, or holds no numbers",
                path=file.path,
                remedy=_NUMPY,
            ) from error
        if values.dtype.kind not in "iufb" or values.ndim not in (1, 2) or 0 in values.shape:
            size = " x ".join(map(str, values.shape)) or "no dimension"
            raise ProfileError(
                f"an array of {size} of {values.dtype}, not rows of numbers",
                path=file.path,
                remedy=_NUMPY,
            )
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
