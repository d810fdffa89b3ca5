"""An open launch Parquet file: its columns as numpy arrays, checked, with errors that name row and column."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, FloatArray, IntArray
from sampling.arrow import arrow_file, first_true, nulls_as, to_numpy
from sampling.errors import ProfileError
from sampling.profile.profile import Device, KernelTable, ProfileFile, RecordingFacts
from sampling.readers.input_file import InputFile

if TYPE_CHECKING:
    import pyarrow as pa

REQUIRED = ("name", "duration_ns")
GRID = ("grid_x", "grid_y", "grid_z")
BLOCK = ("block_x", "block_y", "block_z")

#: Columns that identify or describe a launch: any other numeric column is a metric of it.
NO_METRIC = frozenset(
    {
        *(*REQUIRED, *GRID, *BLOCK),
        *("id", "grid", "block", "occurrence", "process", "device", "start_ns", "stream"),
    }
)

#: The key of the recording facts in a file's metadata.
METADATA_KEY = b"kernelpoint.facts"

_MUST_HAVE_VALUES = {"duration_ns", "start_ns"}
_MAY_BE_NEGATIVE = {"start_ns", "stream", "device", "process"}
_COPY_AGAIN = "copy or write the file again"
_WRITE_WHOLE_NUMBERS = "write the column again as integers, e.g. Parquet's INT64"
_CORRECT_CELL = "correct the cell or leave the row out, and write the file again"


@dataclass(frozen=True)
class ParquetSource:
    """An open file: where it is, what columns it has, and how many launches each row group holds.

    ``copy`` is the temporary file at ``location``, if it is one: it is deleted once nothing holds it.
    """

    path: str
    location: Path
    kernels: KernelTable
    present: frozenset[str]
    row_groups: tuple[int, ...]
    metadata: Any
    places: Mapping[str, int]
    handles: threading.local
    copy: object

    @staticmethod
    def open(file: InputFile, kernels: KernelTable) -> ParquetSource:
        """Read the footer; a compressed file is copied, decompressed, to a temporary file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        location, copy = file.location, file.copy
        if file.compressed:
            decompressed = file.decompressed_copy()
            location, copy = Path(decompressed.name), decompressed
        try:
            footer = pq.ParquetFile(arrow_file(location))
            schema = footer.schema_arrow
            present = frozenset(schema.names)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise ProfileError(
                f"a Parquet file that is cut short or damaged ({_first_line(error)})",
                path=file.path,
                remedy=_COPY_AGAIN,
            ) from error
        _refuse_columns(schema, file.path)
        missing = [name for name in REQUIRED if name not in present]
        if missing:
            raise ProfileError(
                f"a Parquet file without a column {missing[0]}, with {', '.join(sorted(present)) or 'none'}",
                path=file.path,
                remedy=_what_to_do(file.location, present),
            )
        metadata = footer.metadata
        rows = tuple(metadata.row_group(index).num_rows for index in range(metadata.num_row_groups))
        if sum(rows) == 0:
            raise ProfileError(
                "a Parquet profile without a single launch",
                path=file.path,
                remedy="write the file again with a row for each launch",
            )
        places = {metadata.schema.column(index).path: index for index in range(metadata.num_columns)}
        return ParquetSource(
            file.path, location, kernels, present, rows, metadata, places, threading.local(), copy
        )

    def read(self, row_group: int, columns: Sequence[str]) -> pa.Table:
        """Return columns of a row group; every thread reads through a handle of its own."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        handle = getattr(self.handles, "file", None)
        if handle is None:
            file = arrow_file(self.location)
            handle = pq.ParquetFile(file, metadata=self.metadata, read_dictionary=["name"])
            self.handles.file = handle
        try:
            return handle.read_row_group(row_group, columns=list(columns), use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise ProfileError(
                f"row group {row_group} is damaged ({_first_line(error)})",
                path=self.path,
                remedy=_COPY_AGAIN,
            ) from error

    def constant(self, row_group: int, column: str) -> int | None:
        """Return the value of all rows of a row group, where the column's statistics tell; else None."""
        place = self.places.get(column)
        statistics = None if place is None else self.metadata.row_group(row_group).column(place).statistics
        if statistics is None or not statistics.has_min_max or statistics.null_count != 0:
            return None
        low = statistics.min
        return low if isinstance(low, int) and low == statistics.max and low >= 0 else None

    def integers(self, table: pa.Table, column: str, row_group: int) -> AnyIntArray:
        """Return a numeric column as integers; missing grid, stream and the like are 0."""
        import pyarrow as pa

        values = table.column(column)
        if values.null_count and column in _MUST_HAVE_VALUES:
            raise self.bad_cell("no value", row_group, first_true(values.is_null()), column)
        if pa.types.is_null(values.type):
            return np.zeros(len(values), dtype=np.int64)
        is_floating = pa.types.is_floating(values.type)
        if not is_floating and not pa.types.is_integer(values.type):
            raise ProfileError(
                f"holds {values.type}, not whole numbers",
                path=self.path,
                column=column,
                remedy=_WRITE_WHOLE_NUMBERS,
            )
        numbers = to_numpy(nulls_as(values, 0))
        if is_floating:
            numbers = self._rounded(numbers, column, row_group)
        if len(numbers) and numbers.max() > np.iinfo(np.int64).max:
            row = int(np.argmax(numbers))
            raise self.bad_cell(f"{int(numbers[row])} is too large", row_group, row, column)
        if column not in _MAY_BE_NEGATIVE and len(numbers) and numbers.min() < 0:
            row = int(np.argmax(numbers < 0))
            raise self.bad_cell(f"{int(numbers[row])} is negative", row_group, row, column)
        return cast("AnyIntArray", numbers.astype(np.int64, copy=False))

    def _rounded(self, numbers: NDArray[Any], column: str, row_group: int) -> IntArray:
        # In half precision no number is as large as the limit.
        bad = ~(np.abs(numbers.astype(np.float64, copy=False)) < 2.0**63)
        if bad.any():
            row = int(np.argmax(bad))
            raise self.bad_cell(f"{numbers[row]} is not a number that fits here", row_group, row, column)
        rounded: IntArray = np.rint(numbers).astype(np.int64)
        return rounded

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The columns that are metrics, in the order of the file."""
        return metric_columns(self.metadata.schema.to_arrow_schema())

    def names(self, table: pa.Table, row_group: int) -> NDArray[np.int32]:
        """Return the name codes of a row group; one Python step for each distinct name of it."""
        import pyarrow as pa

        column = table.column("name")
        if column.null_count:
            raise self.bad_cell("no value", row_group, first_true(column.is_null()), "name")
        codes = []
        for chunk in column.chunks:
            encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
            if not pa.types.is_string(encoded.dictionary.type) and not pa.types.is_large_string(
                encoded.dictionary.type
            ):
                raise _not_texts(encoded.dictionary.type, self.path)
            known = self.kernels.names.intern(self._texts(encoded.dictionary, row_group))
            codes.append(known[to_numpy(encoded.indices)])
        return codes[0] if len(codes) == 1 else np.concatenate([np.zeros(0, dtype=np.int32), *codes])

    def _texts(self, distinct: pa.Array, row_group: int) -> list[str]:
        """Return the distinct names of a row group; Parquet does not check that they are texts."""
        try:
            texts: list[str | None] = distinct.to_pylist()
        except UnicodeDecodeError as error:
            raise self._not_utf8(row_group) from error
        if None in texts:
            raise self.bad_cell("no value", row_group, 0, "name")
        return cast("list[str]", texts)

    def _not_utf8(self, row_group: int) -> ProfileError:
        return ProfileError(
            f"row group {row_group} has a name that is no UTF-8 text",
            path=self.path,
            column="name",
            remedy=_COPY_AGAIN,
        )

    def bad_cell(self, what: str, row_group: int, row: int, column: str) -> ProfileError:
        """Return the error for one cell, its row counted from 1 over the whole file."""
        before = sum(self.row_groups[:row_group])
        return ProfileError(what, path=self.path, row=before + row + 1, column=column, remedy=_CORRECT_CELL)

    def facts(self) -> RecordingFacts:
        """Return the facts in the metadata; a file without any, or with garbled ones, has none."""
        text = (self.metadata.metadata or {}).get(METADATA_KEY)
        try:
            fields = json.loads(text or b"{}")
            devices = tuple(Device(**device) for device in fields.pop("devices", ()))
            return RecordingFacts(devices=devices, **fields)
        except (ValueError, TypeError, AttributeError):
            return RecordingFacts()

    def file(self) -> ProfileFile:
        """Return the file as the profile lists it."""
        return ProfileFile(self.path, self.location, sum(self.row_groups))


def metric_columns(schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns of a table that are metrics: numeric, and none that identifies a launch."""
    import pyarrow as pa

    # The column in which pandas keeps row labels is no metric either.
    return tuple(
        field.name
        for field in schema
        if field.name not in NO_METRIC
        and not field.name.startswith("__index_level_")
        and (
            pa.types.is_integer(field.type)
            or pa.types.is_floating(field.type)
            or pa.types.is_decimal(field.type)
            or pa.types.is_boolean(field.type)
        )
    )


def float_values(column: Any) -> FloatArray:
    """Return (n,) the numbers of a column as float64; NaN where there is none or an infinite one."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    numbers = compute.fill_null(column.cast(pa.float64(), safe=False), float("nan"))
    values = to_numpy(numbers)
    finite = np.isfinite(values)
    return values if finite.all() else np.where(finite, values, np.nan)


def _refuse_columns(schema: pa.Schema, path: str) -> None:
    """Refuse a table of which it is not clear what column is meant, or whose names are no texts.

    Raises
    ------
    ProfileError : several columns have one of the names that count, or the names are of nested values.
    """
    import pyarrow as pa

    for name in (*NO_METRIC, *metric_columns(schema)):
        if len(schema.get_all_field_indices(name)) > 1:
            raise ProfileError(
                f"a Parquet file with several columns {name}",
                path=path,
                remedy="write it again with one of them",
            )
    if "name" in schema.names and pa.types.is_nested(schema.field("name").type):
        raise _not_texts(schema.field("name").type, path)


def _not_texts(kind: pa.DataType, path: str) -> ProfileError:
    return ProfileError(
        f"holds {kind}, not text",
        path=path,
        column="name",
        remedy="write the column again as strings: the kernels' names",
    )


def _what_to_do(location: Path, present: frozenset[str]) -> str:
    if {"demangledName", "deviceId"} & present or (location.parent / "StringIds.parquet").exists():
        return f"it is one table of an nsys Parquet export: give the folder, {location.parent}"
    return "a profile needs the columns name and duration_ns"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def facts_json(facts: RecordingFacts) -> bytes:
    """Return the facts as JSON, which a converted profile keeps: devices and recorder, no command lines."""
    return json.dumps(asdict(facts)).encode()
