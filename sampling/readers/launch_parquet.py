"""Our own Parquet: one row a launch, in launch order, read row group by row group.

``name`` and ``duration_ns`` are required; ``grid_x grid_y grid_z block_x block_y block_z start_ns stream
device process`` are optional; any other numeric column is a metric, read when it is asked for. The file may
be larger than memory: nothing holds more than a few row groups at once.
"""

from __future__ import annotations

import json
import threading
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, FloatArray, IntArray
from sampling.arrow import arrow_file, first_true, nulls_as, to_arrow, to_numpy
from sampling.errors import ProfileError
from sampling.profile.launch_table import ColumnsInMemory, LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import (
    Column,
    Device,
    KernelTable,
    LaunchSequence,
    Part,
    Profile,
    ProfileFile,
    RecordingFacts,
    Table,
)
from sampling.progress import Progress
from sampling.readers.columns import (
    BLOCK,
    DIMENSIONS,
    GRID,
    NO_METRIC,
    REQUIRED,
    NamedColumn,
    columns_remedy,
    matched_columns,
)
from sampling.readers.input_file import InputFile
from sampling.readers.table import WRITTEN, float_values, metric_columns, sizes_of
from sampling.text import joined_texts

if TYPE_CHECKING:
    import pyarrow as pa


FORMAT = "kernelpoint-parquet"


def recognise(file: InputFile) -> bool:
    """Return whether this is a Parquet file."""
    return file.head.startswith(b"PAR1")


def has_columns(file: InputFile) -> bool:
    """Return whether the table has the columns of a launch; see `ParquetSource.has_columns`."""
    return ParquetSource.has_columns(file)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the profile; its rows are read when asked for.

    Raises
    ------
    ProfileError : damaged, without the required columns, empty, or a column holds what it must not.
    """
    source = ParquetSource.open(file, kernels)
    place = [name for name in ("process", "device") if name in source.present]
    if not place:
        return _in_order(source, _one_sequence(source))
    sequences = _sequences(source, place)
    if sequences is None:
        return _sorted_in_memory(source, progress)
    return _in_order(source, sequences)


def _in_order(source: ParquetSource, sequences: tuple[LaunchSequence, ...]) -> Profile:
    return _profile(source, sequences, LaunchParquet(source).parts(sequences))


def _profile(
    source: ParquetSource, sequences: tuple[LaunchSequence, ...], parts: tuple[Part, ...]
) -> Profile:
    optional = {"start_ns", "stream"} & source.present
    return Profile(
        format=FORMAT,
        files=(source.file(),),
        kernels=source.kernels,
        sequences=sequences,
        parts=parts,
        columns=frozenset({"name", "signature", "duration_ns", *cast("set[Column]", optional)}),
        facts=source.facts(),
        metric_names=source.metric_names,
    )


class LaunchParquet:
    """Loads the launches of a file whose rows are in id order."""

    def __init__(self, source: ParquetSource) -> None:
        self._source = source
        self._starts = np.concatenate([[0], np.cumsum(source.row_groups)])
        self._last = threading.local()

    def load(self, rows: slice, columns: Sequence[Column]) -> Table:
        """Decode the columns of a row group and cut out the rows."""
        row_group, inside = self._place(rows)
        if inside == slice(0, self._source.row_groups[row_group]):
            return self._decoded(row_group, columns)
        values = self._decoded_once(row_group, tuple(columns))
        return {column: array[inside] for column, array in values.items()}

    def metrics(self, rows: slice, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Decode the metrics of a row group and cut out the rows."""
        row_group, inside = self._place(rows)
        known = [name for name in names if name in self._source.metric_names]
        table = self._source.read(row_group, known)
        lacking = np.full(rows.stop - rows.start, np.nan)
        return {
            name: float_values(table.column(name))[inside] if name in known else lacking for name in names
        }

    def parts(self, sequences: Sequence[LaunchSequence]) -> tuple[Part, ...]:
        """Return the row groups, cut where sequences end."""
        edges = np.unique(np.append(self._starts, [each.first_id for each in sequences])).tolist()
        first_ids = [each.first_id for each in sequences]
        return tuple(
            Part(bisect_right(first_ids, first) - 1, first, self, slice(first, stop))
            for first, stop in pairwise(edges)
        )

    def _place(self, rows: slice) -> tuple[int, slice]:
        """Return the row group of some rows, and where they are in it."""
        row_group = int(np.searchsorted(self._starts, rows.start, side="right")) - 1
        before = int(self._starts[row_group])
        return row_group, slice(rows.start - before, rows.stop - before)

    def _decoded_once(self, row_group: int, columns: tuple[Column, ...]) -> Mapping[Column, AnyIntArray]:
        """Return the columns of a row group that holds several sequences; each thread caches the last."""
        key = (row_group, columns)
        last: tuple[object, Mapping[Column, AnyIntArray]] = getattr(self._last, "decoded", (None, {}))
        if last[0] != key:
            last = (key, self._decoded(row_group, columns))
            self._last.decoded = last
        return last[1]

    def _decoded(self, row_group: int, columns: Sequence[Column]) -> Mapping[Column, AnyIntArray]:
        """Return (rows of the row group,) values for each column."""
        source = self._source
        plain = [column for column in columns if column not in {"name", "signature"}]
        named = ["name"] if {"name", "signature"} & set(columns) else []
        shape = _shape_columns(source, row_group) if "signature" in columns else {}
        varying = [name for name, value in shape.items() if value is None]
        table = source.read(row_group, [*named, *plain, *varying])
        values: dict[Column, AnyIntArray] = {
            column: source.integers(table, column, row_group) for column in plain
        }
        if not named:
            return values
        name = source.names(table, row_group)
        if "name" in columns:
            values["name"] = name
        if "signature" in columns:
            dimensions = {
                axis: source.integers(table, axis, row_group)
                if value is None
                else np.broadcast_to(np.int64(value), len(name))
                for axis, value in shape.items()
            }
            grid, block = (
                [dimensions[axis] for axis in axes if axis in dimensions] for axes in (GRID, BLOCK)
            )
            values["signature"] = source.kernels.intern(name, grid or None, block or None)
        return values


def _shape_columns(source: ParquetSource, row_group: int) -> dict[str, int | None]:
    """Return the grid and block columns, each with its value where it is the same in the whole row group.

    Many dimensions are 1 throughout; what the footer tells need not be decoded.
    """
    return {
        axis: source.constant(row_group, axis)
        for axes in (GRID, BLOCK)
        if source.present.issuperset(axes)
        for axis in axes
    }


def _one_sequence(source: ParquetSource) -> tuple[LaunchSequence, ...]:
    return (LaunchSequence(process=0, device=0, launches=sum(source.row_groups), first_id=0),)


def _sequences(source: ParquetSource, place: Sequence[str]) -> tuple[LaunchSequence, ...] | None:
    """Return the runs of equal process and device; None if they are not in ascending order."""
    runs: list[tuple[int, int, int]] = []
    for row_group, rows in enumerate(source.row_groups):
        table = source.read(row_group, place)
        process, device = (
            source.integers(table, name, row_group) if name in place else np.zeros(rows, dtype=np.int64)
            for name in ("process", "device")
        )
        changes = np.flatnonzero((process[1:] != process[:-1]) | (device[1:] != device[:-1])) + 1
        bounds = [0, *changes.tolist(), rows] if rows else []
        for start, stop in pairwise(bounds):
            here = (int(process[start]), int(device[start]), stop - start)
            if runs and runs[-1][:2] == here[:2]:
                runs[-1] = (*here[:2], runs[-1][2] + here[2])
            elif runs and runs[-1][:2] > here[:2]:
                return None
            else:
                runs.append(here)
    first_id = 0
    sequences = []
    for run_process, run_device, launches in runs:
        sequences.append(LaunchSequence(run_process, run_device, launches, first_id))
        first_id += launches
    return tuple(sequences)


def _sorted_in_memory(source: ParquetSource, progress: Progress | None) -> Profile:
    """Read a file whose processes or devices are interleaved: only in memory can its ids be put in order."""
    builder = LaunchTableBuilder(source.path, source.kernels)
    wanted = [*REQUIRED, *GRID, *BLOCK, "process", "device", "start_ns", "stream"]
    columns = [name for name in wanted if name in source.present]
    placed: dict[str, list[AnyIntArray]] = {name: [] for name in ("process", "device") if name in columns}
    for row_group, rows in enumerate(source.row_groups):
        table = source.read(row_group, columns)
        values = {name: source.integers(table, name, row_group) for name in columns if name != "name"}
        for name, parts in placed.items():
            parts.append(values[name])
        shape = [
            [values[name] for name in names] if source.present.issuperset(names) else None
            for names in (GRID, BLOCK)
        ]
        order = np.arange(rows, dtype=np.int64) + sum(source.row_groups[:row_group])
        builder.append(
            LaunchColumns(
                name=source.names(table, row_group),
                duration_ns=values["duration_ns"],
                order=order,
                process=values.get("process"),
                device=values.get("device"),
                grid=shape[0],
                block=shape[1],
                start_ns=values.get("start_ns"),
                stream=values.get("stream"),
            )
        )
        if progress is not None:
            progress(row_group + 1, len(source.row_groups), "reading")
    launches = builder.finish(format_name=FORMAT, file=source.file(), facts=source.facts())
    # Stable, so that rows of one process and device stay in the order of the file, as ids do.
    order = np.lexsort([np.concatenate(parts) for parts in reversed(placed.values())]).astype(np.int64)

    @cache
    def metric(name: str) -> FloatArray | None:
        if name not in source.metric_names:
            return None
        columns = (source.read(index, [name]).column(name) for index in range(len(source.row_groups)))
        return np.concatenate([float_values(column) for column in columns])[order]

    in_memory = cast("ColumnsInMemory", launches.parts[0].source)
    held = ColumnsInMemory(source.kernels, in_memory.columns, metric)
    return _profile(source, launches.sequences, held.parts(launches.sequences))


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
