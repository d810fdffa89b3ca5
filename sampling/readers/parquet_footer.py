"""The footer of a Parquet file: its columns, those of a launch among them, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sampling.arrow import arrow_file
from sampling.errors import ProfileError
from sampling.readers.input_file import InputFile
from sampling.readers.tables.cells import metric_columns
from sampling.readers.tables.column_map import (
    NO_METRIC,
    REQUIRED,
    NamedColumn,
    columns_remedy,
    matched_columns,
)
from sampling.text import joined_texts

if TYPE_CHECKING:
    import pyarrow as pa

COPY_AGAIN = "copy or write the file again"


def open_footer(file: InputFile, location: Path) -> tuple[Any, pa.Schema]:
    """Return the metadata of a Parquet file and its columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        footer = pq.ParquetFile(arrow_file(location))
        schema = footer.schema_arrow
        _ = schema.names
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ProfileError(
            f"a Parquet file that is cut short or damaged ({first_line(error)})",
            path=file.path,
            remedy=COPY_AGAIN,
        ) from error
    return footer.metadata, schema


def launch_columns(file: InputFile, schema: pa.Schema) -> dict[str, NamedColumn]:
    """Return the columns of a launch, by what they hold."""
    import pyarrow as pa

    _refuse_columns(schema, file.path)
    names: list[str] = schema.names
    missing = [name for name in REQUIRED if name not in names]
    if missing and file.columns is None:
        raise ProfileError(
            f"a Parquet file without a column {missing[0]}, with {', '.join(sorted(set(names))) or 'none'}",
            path=file.path,
            remedy=_what_to_do(file.location, names),
        )
    matched = matched_columns(file.columns, names, file.path, cells=False)
    of_names = matched["name"].theirs
    if pa.types.is_nested(schema.field(of_names).type):
        raise not_texts(schema.field(of_names).type, file.path, of_names)
    return matched


def _refuse_columns(schema: pa.Schema, path: str) -> None:
    """Refuse a table of which it is not clear what column is meant.

    Raises
    ------
    ProfileError : several columns have one of the names that count.
    """
    for name in (*NO_METRIC, *metric_columns(schema)):
        if len(schema.get_all_field_indices(name)) > 1:
            raise ProfileError(
                f"a Parquet file with several columns {name}",
                path=path,
                remedy="write it again with one of them",
            )


def not_texts(kind: pa.DataType, path: str, column: str, wanted: str = "the kernels' names") -> ProfileError:
    return ProfileError(
        f"holds {kind}, not text",
        path=path,
        column=column,
        remedy=f"write the column again as strings: {wanted}",
    )


def _what_to_do(location: Path, present: Sequence[str]) -> str:
    if {"demangledName", "deviceId"} & set(present) or (location.parent / "StringIds.parquet").exists():
        return f"it is one table of an nsys Parquet export: give the folder, {location.parent}"
    return joined_texts("; ", ("a profile needs the columns name and duration_ns", columns_remedy(present)))


def first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
