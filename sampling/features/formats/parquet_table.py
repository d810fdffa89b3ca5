"""A Parquet file of features: a column id or name, and a column for each metric."""

from __future__ import annotations

from typing import Any

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.arrow import arrow_file, to_numpy
from sampling.errors import ProfileError
from sampling.features.rows import FeatureRows
from sampling.features.tables.columns import has_infinite, infinite_notes
from sampling.features.tables.feature_table import TableColumns, rows_of_table
from sampling.features.tables.identity import (
    TEXTS,
    WHOLE_NUMBERS,
    column_names,
    repeated_names,
    require_identity,
    sizes_of,
)
from sampling.features.tables.number_cells import NumberLocale
from sampling.progress import Progress
from sampling.readers.input_file import InputFile
from sampling.readers.tables.cells import float_values, metric_columns

FORMAT = "parquet"


def recognise(file: InputFile) -> bool:
    """Return whether this is a Parquet file."""
    return file.head.startswith(b"PAR1")


def read(file: InputFile, _locale: NumberLocale, progress: Progress | None) -> FeatureRows:
    """Return the rows of the table.

    Raises
    ------
    ProfileError : it is damaged, has neither a column id nor a column name, or a cell is wrong.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with file.on_disk() as location:
            schema = pq.read_schema(arrow_file(location))
            own_name = dict(zip(_names(schema, file.path), schema.names, strict=True))
            metrics = metric_columns(
                pa.schema([schema.field(own).with_name(name) for name, own in own_name.items()])
            )
            wanted = [*(name for name in (*WHOLE_NUMBERS, *TEXTS) if name in own_name), *metrics]
            table = pq.read_table(arrow_file(location), columns=[own_name[name] for name in wanted])
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ProfileError(
            "a Parquet file that is cut short or damaged",
            path=file.path,
            remedy="copy or write the file again",
        ) from error
    ours = {own: name for name, own in own_name.items()}
    table = table.rename_columns([ours[own] for own in table.column_names])
    if progress is not None:
        progress(table.num_rows, table.num_rows, f"reading {file.path}")
    names, name = _texts(table, "name", file.path)
    line = np.arange(1, table.num_rows + 1)
    columns = TableColumns(
        line=line,
        numbers={
            column: _numbers(table, column, file.path)
            for column in WHOLE_NUMBERS
            if column in table.column_names
        },
        metrics={column: float_values(table.column(column)) for column in metrics},
        names=names,
        name=name,
        sizes={
            what: _sizes(table, what, file.path, line)
            for what in ("grid", "block")
            if what in table.column_names
        },
        left_out=(),
        notes=infinite_notes(column for column in metrics if has_infinite(table.column(column))),
    )
    return rows_of_table(file.path, FORMAT, columns)


def _names(schema: Any, path: str) -> tuple[str, ...]:
    """Return the columns' names in our spelling; raise ProfileError where they do not identify launches."""
    twice = repeated_names(schema.names)
    if twice:
        raise ProfileError(
            f"a Parquet file with several columns {twice[0]}",
            path=path,
            remedy="write it again with one of them",
        )
    names = column_names(schema.names)
    require_identity(names, path)
    return names


def _numbers(table: Any, column: str, path: str) -> FloatArray:
    import pyarrow as pa

    values = table.column(column)
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise ProfileError(
            f"holds {values.type}, not whole numbers",
            path=path,
            column=column,
            remedy="write the column again as integers",
        )
    return float_values(values)


def _texts(table: Any, column: str, path: str) -> tuple[tuple[str, ...], IntArray | None]:
    """Return the distinct texts of a column and (n,) the index of each row's; none without the column."""
    import pyarrow as pa
    from pyarrow import compute

    if column not in table.column_names:
        return (), None
    values = table.column(column).combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        raise ProfileError(
            f"holds {values.type}, not text", path=path, column=column, remedy="write the column as strings"
        )
    encoded = compute.fill_null(values, "").dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return tuple(encoded.dictionary.to_pylist()), to_numpy(encoded.indices).astype(np.int64)


def _sizes(table: Any, column: str, path: str, line: IntArray) -> IntArray:
    texts, codes = _texts(table, column, path)
    assert codes is not None
    return sizes_of(texts, codes, path=path, line=line, name=column)
