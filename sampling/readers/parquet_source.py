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

from sampling.arrays import AnyIntArray, IntArray
from sampling.arrow import arrow_file, first_true, nulls_as, to_arrow, to_numpy
from sampling.errors import ProfileError
from sampling.profile.profile import Device, KernelTable, ProfileFile, RecordingFacts
from sampling.readers.input_file import InputFile
from sampling.readers.parquet_footer import COPY_AGAIN, first_line, launch_columns, not_texts, open_footer
from sampling.readers.tables.cells import WRITTEN, metric_columns, sizes_of
from sampling.readers.tables.column_map import DIMENSIONS, NamedColumn

if TYPE_CHECKING:
    import pyarrow as pa

#: The key of the recording facts in a file's metadata.
METADATA_KEY = b"kernelpoint.facts"

_MUST_HAVE_VALUES = {"duration_ns", "start_ns"}
_MAY_BE_NEGATIVE = {"start_ns", "stream", "device", "process"}
_WRITE_WHOLE_NUMBERS = "write the column again as integers, e.g. Parquet's INT64"
_CORRECT_CELL = "correct the cell or leave the row out, and write the file again"


@dataclass(frozen=True)
class ParquetSource:
    """An open file: where it is, what columns it has, and how many launches each row group holds.

    ``present`` are the columns of a launch that it has, ``columns`` those that are called otherwise in it, by
    what they hold; ``copy`` is the temporary file at ``location``, if it is one: it is deleted once nothing
    holds it.
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
    columns: Mapping[str, NamedColumn]

    @staticmethod
    def open(file: InputFile, kernels: KernelTable) -> ParquetSource:
        """Read the footer; a compressed file is copied, decompressed, to a temporary file."""
        location, copy = file.location, file.copy
        if file.compressed:
            decompressed = file.decompressed_copy()
            location, copy = Path(decompressed.name), decompressed
        metadata, schema = open_footer(file, location)
        matched = launch_columns(file, schema)
        rows = tuple(metadata.row_group(index).num_rows for index in range(metadata.num_row_groups))
        if sum(rows) == 0:
            raise ProfileError(
                "a Parquet profile without a single launch",
                path=file.path,
                remedy="write the file again with a row for each launch",
            )
        of_cells = {axis for cells, axes in DIMENSIONS.items() if cells in matched for axis in axes}
        return ParquetSource(
            path=file.path,
            location=location,
            kernels=kernels,
            present=frozenset(matched) | of_cells,
            row_groups=rows,
            metadata=metadata,
            places={metadata.schema.column(index).path: index for index in range(metadata.num_columns)},
            handles=threading.local(),
            copy=copy,
            columns={ours: each for ours, each in matched.items() if each != NamedColumn(ours, ours)},
        )

    @staticmethod
    def has_columns(file: InputFile) -> bool:
        """Return whether a file has the columns of a launch.

        Raises
        ------
        ProfileError : it is damaged.
        """
        with file.on_disk() as location:
            _, schema = open_footer(file, location)
        try:
            launch_columns(file, schema)
        except ProfileError:
            return False
        return True

    def read(self, row_group: int, columns: Sequence[str]) -> pa.Table:
        """Return columns of a row group, by what they hold; every thread reads through its own handle."""
        if not self.columns:
            return self._stored(row_group, columns)
        stored = self._stored(row_group, list(dict.fromkeys(map(self.title, columns))))
        return self._named(stored, columns, row_group)

    def title(self, column: str) -> str:
        """Return what a column is called in the file."""
        cells = next((cells for cells, axes in DIMENSIONS.items() if column in axes), None)
        found = self.columns.get(column) or self.columns.get(cells or "")
        return column if found is None else found.theirs

    def _named(self, stored: pa.Table, columns: Sequence[str], row_group: int) -> pa.Table:
        """Return columns as they are called here; a grid or block of cells becomes three columns."""
        import pyarrow as pa

        found: dict[str, Any] = {}
        for column in columns:
            cells = next((of for of, axes in DIMENSIONS.items() if column in axes), None)
            if cells is not None and cells in self.columns and column not in found:
                found |= self._axes(stored, cells, row_group)
            elif column not in found:
                found[column] = stored.column(self.title(column))
        return pa.table([found[column] for column in columns], names=list(columns))

    def _axes(self, stored: pa.Table, cells: str, row_group: int) -> dict[str, Any]:
        """Return x, y and z of a column of cells, by their names."""
        import pyarrow as pa

        title = self.columns[cells].theirs
        column = stored.column(title)
        try:
            texts = column.cast(pa.string()).fill_null("").combine_chunks().dictionary_encode()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise not_texts(column.type, self.path, title, f"cells of {WRITTEN}") from error
        codes = to_numpy(texts.indices)
        axes, bad = sizes_of(texts.dictionary)
        if bad >= 0:
            row, what = int(np.argmax(codes == bad)), texts.dictionary[bad].as_py()
            raise self.bad_cell(f"{what!r} is not {WRITTEN}", row_group, row, cells)
        return {name: to_arrow(axes[codes, place]) for place, name in enumerate(DIMENSIONS[cells])}

    def _stored(self, row_group: int, columns: Sequence[str]) -> pa.Table:
        """Return columns of a row group as the file has them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        handle = getattr(self.handles, "file", None)
        if handle is None:
            file = arrow_file(self.location)
            handle = pq.ParquetFile(file, metadata=self.metadata, read_dictionary=[self.title("name")])
            self.handles.file = handle
        try:
            return handle.read_row_group(row_group, columns=list(columns), use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise ProfileError(
                f"row group {row_group} is damaged ({first_line(error)})",
                path=self.path,
                remedy=COPY_AGAIN,
            ) from error

    def constant(self, row_group: int, column: str) -> int | None:
        """Return the value of all rows of a row group, where the column's statistics tell; else None."""
        if any(column in axes and cells in self.columns for cells, axes in DIMENSIONS.items()):
            return None
        place = self.places.get(self.title(column))
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
                column=self.title(column),
                remedy=_WRITE_WHOLE_NUMBERS,
            )
        numbers = to_numpy(nulls_as(values, 0))
        unit_ns = self.columns[column].unit_ns if column in self.columns else 1
        if is_floating:
            numbers, unit_ns = self._rounded(numbers, column, row_group, unit_ns), 1
        if len(numbers) and numbers.max() > np.iinfo(np.int64).max // unit_ns:
            row = int(np.argmax(numbers))
            raise self.bad_cell(f"{int(numbers[row])} is too large", row_group, row, column)
        if column not in _MAY_BE_NEGATIVE and len(numbers) and numbers.min() < 0:
            row = int(np.argmax(numbers < 0))
            raise self.bad_cell(f"{int(numbers[row])} is negative", row_group, row, column)
        whole = numbers.astype(np.int64, copy=False)
        return cast("AnyIntArray", whole if unit_ns == 1 else whole * unit_ns)

    def _rounded(self, numbers: NDArray[Any], column: str, row_group: int, unit_ns: int) -> IntArray:
        # In half precision no number is as large as the limit.
        scaled = numbers.astype(np.float64, copy=False) * unit_ns
        bad = ~(np.abs(scaled) < 2.0**63)
        if bad.any():
            row = int(np.argmax(bad))
            raise self.bad_cell(f"{numbers[row]} is not a number that fits here", row_group, row, column)
        rounded: IntArray = np.rint(scaled).astype(np.int64)
        return rounded

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The columns that are metrics, in the order of the file."""
        taken = {column.theirs for column in self.columns.values()}
        schema = self.metadata.schema.to_arrow_schema()
        return tuple(name for name in metric_columns(schema) if name not in taken)

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
                raise not_texts(encoded.dictionary.type, self.path, self.title("name"))
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
            column=self.title("name"),
            remedy=COPY_AGAIN,
        )

    def bad_cell(self, what: str, row_group: int, row: int, column: str) -> ProfileError:
        """Return the error for one cell, its row counted from 1 over the whole file."""
        before = sum(self.row_groups[:row_group])
        title = self.columns[column].theirs if column in self.columns else column
        return ProfileError(what, path=self.path, row=before + row + 1, column=title, remedy=_CORRECT_CELL)

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


def facts_json(facts: RecordingFacts) -> bytes:
    """Return the facts as JSON, which a converted profile keeps: devices and recorder, no command lines."""
    return json.dumps(asdict(facts)).encode()
