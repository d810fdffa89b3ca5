"""Our own Parquet, read and written: one row a launch, in launch order, row group by row group.

``name`` and ``duration_ns`` are required; ``grid_x grid_y grid_z block_x block_y block_z start_ns stream
device process`` are optional; any other numeric column is a metric, read when it is asked for. The file may
be larger than memory: nothing holds more than a few row groups at once.
"""

from __future__ import annotations

import json
import threading
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import (
    AnyIntArray,
    FloatArray,
    arrow_file,
    first_true,
    nulls_as,
    to_arrow,
    to_arrow_texts,
    to_numpy,
)
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import ColumnsInMemory, in_sequences
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
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations, counted_parts
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.text import joined_texts

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "kernelpoint-parquet"
#: The key of the recording facts in a file's metadata.
METADATA_KEY = b"kernelpoint.facts"

_MUST_HAVE_VALUES = {"duration_ns", "start_ns"}
_MAY_BE_NEGATIVE = {"start_ns", "stream", "device", "process"}
_CORRECT_CELL = "correct the cell or leave the row out, and write the file again"
_COPY_AGAIN = "copy or write the file again"


def recognise(file: InputFile) -> bool:
    """Return whether this is a Parquet file."""
    return file.head.startswith(b"PAR1")


def has_columns(file: InputFile) -> bool:
    """Return whether the table has the columns of a launch.

    Raises
    ------
    ProfileError : it is damaged.
    """
    with file.on_disk() as location:
        _, schema = _open_footer(file, location)
    try:
        _launch_columns(file, schema)
    except ProfileError:
        return False
    return True


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the profile; its rows are read when asked for.

    Raises
    ------
    ProfileError : damaged, without the required columns, empty, or a column holds what it must not.
    """
    location, copy = file.location, file.copy
    if file.compressed:
        decompressed = file.decompressed_copy()
        location, copy = Path(decompressed.name), decompressed
    metadata, schema = _open_footer(file, location)
    columns = _launch_columns(file, schema)
    rows = [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]
    if sum(rows) == 0:
        raise ProfileError(
            "a Parquet profile without a single launch",
            path=file.path,
            remedy="write the file again with a row for each launch",
        )
    taken = {column.theirs for ours, column in columns.items() if column != NamedColumn(ours, ours)}
    metrics = tuple(name for name in metric_columns(schema) if name not in taken)
    starts = tuple(np.cumsum([0, *rows]).tolist())
    places = {metadata.schema.column(index).path: index for index in range(metadata.num_columns)}
    source = LaunchParquet(file.path, location, kernels, columns, metrics, metadata, places, starts, copy)
    runs = source.runs()
    sequences, first = [], 0
    for process, device, launches in runs:
        sequences.append(LaunchSequence(process, device, launches, first))
        first += launches
    in_order = all(one[:2] < other[:2] for one, other in pairwise(runs))
    sequences, parts = (sequences, source.parts(sequences)) if in_order else _sorted(source, runs, progress)
    optional = cast("set[Column]", {"start_ns", "stream"} & columns.keys())
    return Profile(
        format=FORMAT,
        files=(ProfileFile(file.path, location, starts[-1]),),
        kernels=kernels,
        sequences=tuple(sequences),
        parts=parts,
        columns=frozenset({"name", "signature", "duration_ns", *optional}),
        facts=_facts(metadata),
        metric_names=metrics,
    )


def _sorted(
    source: LaunchParquet, runs: Sequence[tuple[int, int, int]], progress: Progress | None
) -> tuple[list[LaunchSequence], tuple[Part, ...]]:
    """Read a file whose processes or devices are interleaved: only in memory can its ids be put in order."""
    columns: list[Column] = ["signature", "duration_ns"]
    columns += [name for name in ("start_ns", "stream") if name in source.columns]
    tables = []
    for index, (first, stop) in enumerate(pairwise(source.starts)):
        if first < stop:
            tables.append(source.load(slice(first, stop), columns))
        if progress is not None:
            progress(index + 1, len(source.starts) - 1, "reading")
    process, device, launches = np.array(runs, dtype=np.int64).T
    # Rows of one process and device stay in the order of the file.
    order, sequences = in_sequences(
        source.starts[-1],
        process=np.repeat(process, launches),
        device=np.repeat(device, launches),
        by_time=(),
    )
    held = {name: np.concatenate([table[name] for table in tables])[order] for name in columns}

    @cache
    def metric(name: str) -> FloatArray | None:
        if name not in source.metric_names:
            return None
        groups = pairwise(source.starts)
        values = [source.metrics(slice(*rows), [name])[name] for rows in groups if rows[0] < rows[1]]
        return np.asarray(np.concatenate(values)[order])

    return list(sequences), ColumnsInMemory(source.kernels, held, metric).parts(sequences)


@dataclass(frozen=True, eq=False)
class LaunchParquet:
    """An open file, whose rows are loaded by their numbers; no part lies in two row groups.

    Attributes
    ----------
    columns : by what they hold of a launch; a grid or block may be one column of cells such as 8x1x1.
    places : the index of each column in the metadata.
    starts : (row groups + 1,) the row at which each begins.
    copy : the temporary file at ``location``, if it is one: it is deleted once nothing holds it.
    """

    path: str
    location: Path
    kernels: KernelTable
    columns: Mapping[str, NamedColumn]
    metric_names: tuple[str, ...]
    metadata: Any
    places: Mapping[str, int]
    starts: tuple[int, ...]
    copy: object
    local: threading.local = field(default_factory=threading.local)

    def load(self, rows: slice, columns: Sequence[Column]) -> Table:
        """Decode the columns of a row group and cut out the rows."""
        row_group, inside = self._place(rows)
        # A row group of several sequences is decoded once: each thread keeps its last.
        key = (row_group, tuple(columns))
        if inside == slice(0, self.starts[row_group + 1] - self.starts[row_group]):
            return self._decoded(row_group, columns)
        if getattr(self.local, "key", None) != key:
            self.local.key, self.local.decoded = key, self._decoded(row_group, columns)
        return {column: values[inside] for column, values in self.local.decoded.items()}

    def metrics(self, rows: slice, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Decode the metrics of a row group and cut out the rows."""
        row_group, inside = self._place(rows)
        table = self._stored(row_group, [name for name in names if name in self.metric_names])
        found = {name: float_values(table.column(name))[inside] for name in table.column_names}
        lacking = np.full(rows.stop - rows.start, np.nan)
        return {name: found.get(name, lacking) for name in names}

    def parts(self, sequences: Sequence[LaunchSequence]) -> tuple[Part, ...]:
        """Return the row groups, cut where sequences end."""
        first_ids = [each.first_id for each in sequences]
        edges = sorted({*self.starts, *first_ids})
        return tuple(
            Part(bisect_right(first_ids, first) - 1, first, self, slice(first, stop))
            for first, stop in pairwise(edges)
        )

    def runs(self) -> list[tuple[int, int, int]]:
        """Return process, device and number of launches of the runs of rows with the same ones."""
        runs: list[tuple[int, int, int]] = []
        for row_group, rows in enumerate(np.diff(self.starts).tolist()):
            if not rows:
                continue
            constant = {name: self._constant(row_group, name) for name in ("process", "device")}
            table = self._stored(row_group, [name for name, value in constant.items() if value is None])
            process, device = (
                self._filled(table, name, value, row_group) for name, value in constant.items()
            )
            changes = np.flatnonzero((process[1:] != process[:-1]) | (device[1:] != device[:-1])) + 1
            for start, stop in pairwise([0, *changes.tolist(), rows]):
                here = (int(process[start]), int(device[start]))
                before = runs.pop()[2] if runs and runs[-1][:2] == here else 0
                runs.append((*here, before + stop - start))
        return runs

    def _place(self, rows: slice) -> tuple[int, slice]:
        """Return the row group of some rows, and where they are in it."""
        row_group = bisect_right(self.starts, rows.start) - 1
        before = self.starts[row_group]
        return row_group, slice(rows.start - before, rows.stop - before)

    def _title(self, ours: str) -> str:
        """Return what a column is called in the file."""
        return self.columns[ours].theirs if ours in self.columns else ours

    def _decoded(self, row_group: int, columns: Sequence[Column]) -> Table:
        """Return (rows of the row group,) values for each column."""
        plain = [column for column in columns if column not in {"name", "signature"}]
        shape = {
            cells: [cells] if cells in self.columns else [axis for axis in axes if axis in self.columns]
            for cells, axes in DIMENSIONS.items()
            if "signature" in columns
        }
        # What the footer tells need not be decoded: many dimensions are 1 throughout.
        constant = {axis: self._constant(row_group, axis) for axes in shape.values() for axis in axes}
        named = ["name"] if {"name", "signature"} & set(columns) else []
        varying = [axis for axis, value in constant.items() if value is None]
        table = self._stored(row_group, [*named, *plain, *varying])
        values: dict[Column, AnyIntArray] = {name: self._integers(table, name, row_group) for name in plain}
        if not named:
            return values
        name = self._names(table, row_group)
        if "name" in columns:
            values["name"] = name
        if "signature" in columns:
            grid, block = (
                self._axes(table, cells, row_group)
                if cells in axes
                else [self._filled(table, axis, constant[axis], row_group) for axis in axes]
                for cells, axes in shape.items()
            )
            values["signature"] = self.kernels.intern(name, grid or None, block or None)
        return values

    def _filled(self, table: pa.Table, ours: str, constant: int | None, row_group: int) -> AnyIntArray:
        """Return a column of integers, decoded only where it is not known to be constant."""
        if constant is None:
            return self._integers(table, ours, row_group)
        return np.broadcast_to(np.int64(constant), self.starts[row_group + 1] - self.starts[row_group])

    def _stored(self, row_group: int, columns: Sequence[str]) -> pa.Table:
        """Return columns of a row group as the file has them; every thread reads through its own handle."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not hasattr(self.local, "file"):
            file = arrow_file(self.location)
            names = [self._title("name")]
            self.local.file = pq.ParquetFile(file, metadata=self.metadata, read_dictionary=names)
        try:
            titles = dict.fromkeys(map(self._title, columns))
            return self.local.file.read_row_group(row_group, columns=list(titles), use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise ProfileError(
                f"row group {row_group} is damaged ({_first_line(error)})", path=self.path, remedy=_COPY_AGAIN
            ) from error

    def _constant(self, row_group: int, ours: str) -> int | None:
        """Return the value of all rows of a row group, where the column's statistics tell; else None.

        Of a column that the file lacks it is 0.
        """
        if ours in DIMENSIONS:
            return None
        if ours not in self.columns:
            return 0
        # A column that is not of numbers has no place by its name.
        place = self.places.get(self._title(ours))
        statistics = None if place is None else self.metadata.row_group(row_group).column(place).statistics
        if statistics is None or not statistics.has_min_max or statistics.null_count != 0:
            return None
        low = statistics.min
        return low if isinstance(low, int) and low == statistics.max and low >= 0 else None

    def _integers(self, table: pa.Table, ours: str, row_group: int) -> AnyIntArray:
        """Return a numeric column as integers; missing grid, stream and the like are 0."""
        import pyarrow as pa

        values = table.column(self._title(ours))
        if values.null_count and ours in _MUST_HAVE_VALUES:
            raise self._bad_cell("no value", row_group, first_true(values.is_null()), ours)
        if pa.types.is_null(values.type):
            return np.zeros(len(values), dtype=np.int64)
        is_floating = pa.types.is_floating(values.type)
        if not is_floating and not pa.types.is_integer(values.type):
            raise ProfileError(
                f"holds {values.type}, not whole numbers",
                path=self.path,
                column=self._title(ours),
                remedy="write the column again as integers, e.g. Parquet's INT64",
            )
        numbers = to_numpy(nulls_as(values, 0))
        unit_ns = self.columns[ours].unit_ns
        if is_floating:
            # In half precision no number is as large as the limit.
            scaled = numbers.astype(np.float64, copy=False) * unit_ns
            if (bad := ~(np.abs(scaled) < 2.0**63)).any():
                row = int(np.argmax(bad))
                raise self._bad_cell(f"{numbers[row]} is not a number that fits here", row_group, row, ours)
            numbers, unit_ns = np.rint(scaled).astype(np.int64), 1
        if len(numbers) and numbers.max() > np.iinfo(np.int64).max // unit_ns:
            row = int(np.argmax(numbers))
            raise self._bad_cell(f"{int(numbers[row])} is too large", row_group, row, ours)
        if ours not in _MAY_BE_NEGATIVE and len(numbers) and numbers.min() < 0:
            row = int(np.argmax(numbers < 0))
            raise self._bad_cell(f"{int(numbers[row])} is negative", row_group, row, ours)
        whole = numbers.astype(np.int64, copy=False)
        return cast("AnyIntArray", whole if unit_ns == 1 else whole * unit_ns)

    def _names(self, table: pa.Table, row_group: int) -> NDArray[np.int32]:
        """Return the name codes of a row group; one Python step for each distinct name of it."""
        import pyarrow as pa

        column = table.column(self._title("name"))
        if column.null_count:
            raise self._bad_cell("no value", row_group, first_true(column.is_null()), "name")
        codes = [np.zeros(0, dtype=np.int32)]
        for chunk in column.chunks:
            encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
            kind = encoded.dictionary.type
            if not pa.types.is_string(kind) and not pa.types.is_large_string(kind):
                raise _not_texts(kind, self.path, self._title("name"))
            try:
                # Parquet does not check that they are texts.
                texts = encoded.dictionary.to_pylist()
            except UnicodeDecodeError as error:
                raise ProfileError(
                    f"row group {row_group} has a name that is no UTF-8 text",
                    path=self.path,
                    column=self._title("name"),
                    remedy=_COPY_AGAIN,
                ) from error
            if None in texts:
                raise self._bad_cell("no value", row_group, 0, "name")
            codes.append(self.kernels.names.intern(texts).take(to_numpy(encoded.indices)))
        return codes[-1] if len(codes) == 2 else np.concatenate(codes)

    def _axes(self, table: pa.Table, cells: str, row_group: int) -> list[AnyIntArray]:
        """Return x, y and z of a column of cells."""
        import pyarrow as pa

        column = table.column(self._title(cells))
        try:
            texts = column.cast(pa.string()).fill_null("").combine_chunks().dictionary_encode()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise _not_texts(column.type, self.path, self._title(cells), f"cells of {WRITTEN}") from error
        codes = to_numpy(texts.indices)
        sizes, bad = sizes_of(texts.dictionary)
        if bad >= 0:
            row, what = int(np.argmax(codes == bad)), texts.dictionary[bad].as_py()
            raise self._bad_cell(f"{what!r} is not {WRITTEN}", row_group, row, cells)
        return [sizes[codes, axis] for axis in range(3)]

    def _bad_cell(self, what: str, row_group: int, row: int, ours: str) -> ProfileError:
        """Return the error for one cell, its row counted from 1 over the whole file."""
        row += self.starts[row_group] + 1
        return ProfileError(what, path=self.path, row=row, column=self._title(ours), remedy=_CORRECT_CELL)


def _facts(metadata: Any) -> RecordingFacts:
    """Return the facts in the metadata; a file without any, or with garbled ones, has none."""
    try:
        fields = json.loads((metadata.metadata or {}).get(METADATA_KEY) or b"{}")
        devices = tuple(Device(**device) for device in fields.pop("devices", ()))
        return RecordingFacts(devices=devices, **fields)
    except (ValueError, TypeError, AttributeError):
        return RecordingFacts()


def _open_footer(file: InputFile, location: Path) -> tuple[Any, pa.Schema]:
    """Return the metadata of a Parquet file and its columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        footer = pq.ParquetFile(arrow_file(location))
        schema = footer.schema_arrow
        _ = schema.names
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ProfileError(
            f"a Parquet file that is cut short or damaged ({_first_line(error)})",
            path=file.path,
            remedy=_COPY_AGAIN,
        ) from error
    return footer.metadata, schema


def _launch_columns(file: InputFile, schema: pa.Schema) -> dict[str, NamedColumn]:
    """Return the columns of a launch, by what they hold; refuse where it is not clear which are meant."""
    import pyarrow as pa

    names: list[str] = schema.names
    for name in (*NO_METRIC, *metric_columns(schema)):
        if names.count(name) > 1:
            raise ProfileError(
                f"a Parquet file with several columns {name}",
                path=file.path,
                remedy="write it again with one of them",
            )
    missing = [name for name in REQUIRED if name not in names]
    if missing and file.columns is None:
        remedy = joined_texts(
            "; ", ("a profile needs the columns name and duration_ns", columns_remedy(names))
        )
        folder = file.location.parent
        if {"demangledName", "deviceId"} & set(names) or (folder / "StringIds.parquet").exists():
            remedy = f"it is one table of an nsys Parquet export: give the folder, {folder}"
        raise ProfileError(
            f"a Parquet file without a column {missing[0]}, with {', '.join(sorted(set(names))) or 'none'}",
            path=file.path,
            remedy=remedy,
        )
    matched = matched_columns(file.columns, names, file.path, cells=False)
    of_names = schema.field(matched["name"].theirs)
    if pa.types.is_nested(of_names.type):
        raise _not_texts(of_names.type, file.path, of_names.name)
    return matched


def _not_texts(kind: pa.DataType, path: str, column: str, wanted: str = "the kernels' names") -> ProfileError:
    return ProfileError(
        f"holds {kind}, not text",
        path=path,
        column=column,
        remedy=f"write the column again as strings: {wanted}",
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def write_launch_parquet(
    profile: Profile, region: Region, path: Path, progress: Progress | None = None
) -> DurationCounts:
    """Write the selected launches and return what they come to, by name.

    Launch ids do not change: where the process numbers of several files are not in ascending order, processes
    are renumbered 0, 1, 2... Names and shapes are dictionary-encoded, so a profile shrinks to some bytes a
    launch. Columns the profile does not have are left out; grid and block that it does not know are 0. Its
    own metrics stay, as numbers with fractions.

    Raises
    ------
    EmptySelectionError : the region leaves no launch.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    optional: list[Column] = [name for name in ("start_ns", "stream") if name in profile.columns]
    fields = [("name", pa.dictionary(pa.int32(), pa.string())), ("duration_ns", pa.int64())]
    fields += [(name, pa.int64()) for name in (*GRID, *BLOCK, *optional, "process", "device")]
    fields += [(name, pa.float64()) for name in profile.metric_names]
    facts = profile.facts if region == Region() else replace(profile.facts, api_rows_missing=0)
    schema = pa.schema(fields, metadata={METADATA_KEY: json.dumps(asdict(facts)).encode()})
    counts = count_durations(profile, Grouping(GroupBy.NAME), region)
    chosen = counted_parts(profile, counts)
    sink = arrow_file(path, writing=True)
    with pq.ParquetWriter(sink, schema, compression="zstd", use_dictionary=True) as writer:
        for number, columns in enumerate(_written_columns(profile, chosen, optional)):
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            if progress is not None:
                progress(number + 1, len(chosen), "writing")
    return counts


def _written_columns(
    profile: Profile, chosen: Sequence[Part], optional: Sequence[Column]
) -> Iterator[list[Any]]:
    """Yield the columns of each part, in the order of the file."""
    import pyarrow as pa

    kernels = profile.kernels
    places = [(sequence.process, sequence.device) for sequence in profile.sequences]
    numbers = {process: index for index, process in enumerate(dict.fromkeys(place[0] for place in places))}
    in_order = places == sorted(places)
    for part in chosen:
        table = part.load(("signature", "duration_ns", *optional))
        metrics = part.metrics(profile.metric_names)
        process, device = places[part.sequence]
        process = process if in_order else numbers[process]
        shape = kernels.signature_rows()
        name = shape[:, 0][table["signature"]]
        used = np.flatnonzero(np.bincount(name))
        code = np.zeros(len(kernels.names), dtype=np.int32)
        code[used] = np.arange(len(used))
        texts = to_arrow_texts([kernels.names.full(index) for index in used.tolist()])
        whole = [table["duration_ns"], *(shape[:, axis][table["signature"]] for axis in range(1, 7))]
        whole += [table[column] for column in optional]
        whole += [np.full(part.launches, each) for each in (process, device)]
        yield [
            pa.DictionaryArray.from_arrays(to_arrow(code[name]), texts),
            *(to_arrow(column.astype(np.int64, copy=False)) for column in whole),
            *(to_arrow(metrics[column]) for column in profile.metric_names),
        ]
