"""Tables with a row a launch: any text (CSV, with semicolons or tabs too), and Parquet, read.

``name`` and ``duration_ns`` are required, under these names or those that the user gives; ``grid_x grid_y
grid_z block_x block_y block_z start_ns stream device process`` are optional; any other column of numbers is a
metric. Launches are in the order of the rows. A Parquet file may be larger than memory: nothing holds more
than a few row groups at once.
"""

from __future__ import annotations

import json
import threading
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sampling.arrays import AnyIntArray, FloatArray, arrow_file
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns, with_overlong
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
from sampling.profile.times import NO_START
from sampling.readers.cells import float_values
from sampling.readers.columns import DIMENSIONS, NO_METRIC, REQUIRED, TIMES, NamedColumn, matched_columns
from sampling.readers.input_file import InputFile, decoded, is_binary, is_json
from sampling.readers.parquet_times import Mended, look_at_times
from sampling.readers.table import (
    PARQUET,
    Kind,
    Layout,
    Rows,
    first_line,
    floats,
    metric_columns,
    parquet_footer,
    parquet_rows,
    read_rows,
    separated_header,
    stored_row_group,
)
from sampling.readers.table_launches import Launches
from sampling.text import cell_text

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "csv"
#: The key of the recording facts in a Parquet file's metadata
METADATA_KEY = b"kernelpoint.facts"

_PARQUET_FORMAT = "kernelpoint-parquet"
_REMEDY = "correct the cell or leave the row out"

_MAY_BE_NEGATIVE = {"start_ns", "stream", "device", "process"}
_PLAIN = {"duration_ns", *_MAY_BE_NEGATIVE}
# What a list of drawn launches has, as `sample --format csv` and `export --to csv` write it.
_OF_A_PLAN = {"id", "weight", "duration_ns"}


def recognise(file: InputFile) -> bool:
    """Return whether this is Parquet or a table of text, by its header or because its columns are named."""
    if file.head.startswith(PARQUET):
        return True
    # A name may have any character, the titles of a table have none that texts have not.
    if not file.head.strip() or is_binary(replace(file, head=first_line(file.head))):
        return False
    if file.columns is not None and not file.columns.where_present:
        return not is_json(file)
    return _matches(file, _header(file)[0])


def has_columns(file: InputFile) -> bool:
    """Return whether the table has the columns of a launch, and is not the list of a plan.

    Raises ProfileError: it is damaged.
    """
    if not file.head.startswith(PARQUET):
        header, _ = _header(file)
        return not _is_plan_list(file, header) and _matches(file, header)
    with file.on_disk() as location:
        _, schema = parquet_footer(file.path, location)
    try:
        _launch_columns(file, schema)
    except ProfileError:
        return False
    return True


def _matches(file: InputFile, header: Sequence[str]) -> bool:
    try:
        matched_columns(file.columns, header, file.path)
    except ProfileError:
        return False
    return True


def _is_plan_list(file: InputFile, header: Sequence[str]) -> bool:
    return file.columns is None and set(header) >= _OF_A_PLAN


def _header(file: InputFile) -> tuple[tuple[str, ...], str]:
    named = () if file.columns is None else file.columns.columns
    return separated_header(file.head, {*REQUIRED, *(column.theirs for column in named)})


def _launch_layout(
    header: tuple[str, ...],
    matched: Mapping[str, NamedColumn],
    path: str,
    separator: str = ",",
    texts: frozenset[str] = frozenset({"name", *DIMENSIONS}),
) -> Layout:
    """Return how columns of launches are read, by what they hold of one.

    Raises ProfileError: one column is given for a text and for numbers.
    """
    columns: dict[str, tuple[int, Kind]] = {}
    for ours, column in matched.items():
        # Whole nanoseconds are read exactly; in larger units times have fractions.
        number: Kind = "number" if ours in TIMES and column.unit_ns > 1 else "integer"
        place, kind = header.index(column.theirs), "text" if ours in texts else number
        if any(kind != column_kind for column, column_kind in columns.values() if column == place):
            message = f"is given for {ours} and for another kind"
            remedy = "give another column for one of them"
            raise ProfileError(message, path=path, column=column.theirs, remedy=remedy)
        columns[ours] = place, kind
    return Layout(header, columns, separator, None, _REMEDY)


def _launch_integers(rows: Rows, ours: str, unit_ns: int) -> AnyIntArray:
    """Return (n,) the times of a column, or its integers, of which an empty one is 0.

    Raises ProfileError: a duration has no value, a time does not fit, or a number is negative that cannot be.
    """
    numbers: AnyIntArray
    if ours in TIMES:
        numbers = rows.times(ours, unit_ns, empty=NO_START if ours == "start_ns" else None)
    else:
        numbers = rows.numbers(ours, empty=0)
    if ours not in _MAY_BE_NEGATIVE and len(numbers) and numbers.min() < 0:
        rows.refuse(numbers < 0, ours, lambda row: f"{numbers[row]} is negative")
    return numbers


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the rows as launches; those of Parquet are read when they are asked for.

    Raises ProfileError: it is damaged; a column is not there; a cell holds no number, no time or no grid;
    there is no row; the rows are the launches that a plan draws.
    """
    if file.head.startswith(PARQUET):
        return _read_parquet(file, kernels, progress)
    header, separator = _header(file)
    if _is_plan_list(file, header):
        message = "a list of the launches that a plan draws, not of all that a program made"
        raise ProfileError(message, path=file.path, remedy="give the profile that the plan was made from")
    matched = matched_columns(file.columns, header, file.path)
    layout = _launch_layout(header, matched, file.path, separator)
    used = {place for place, _ in layout.columns.values()}
    metrics = [name for name in header if name and name not in NO_METRIC and header.index(name) not in used]
    return _table_in_memory(file, kernels, layout, matched, metrics, (FORMAT, RecordingFacts()), progress)


def _table_in_memory(
    file: InputFile,
    kernels: KernelTable,
    layout: Layout,
    matched: Mapping[str, NamedColumn],
    metrics: Sequence[str],
    described: tuple[str, RecordingFacts],
    progress: Progress | None,
) -> Profile:
    """Return the rows of a table as launches, in the order of the file within each process and device.

    Raises ProfileError: a cell holds no number, no time or no grid; there is no row.
    """
    numeric = [ours for ours, (_, kind) in layout.columns.items() if kind != "text" and ours != "duration_ns"]
    values: dict[str, list[FloatArray]] = {name: [] for name in metrics}
    layout.columns.update({name: (layout.header.index(name), "any") for name in metrics})
    launches = Launches(file, kernels)
    for rows_read in read_rows(file, layout, progress, launches.left_out):
        rows = launches.sized(rows_read, *(dimension for dimension in DIMENSIONS if dimension in matched))
        rows, duration_ns = launches.lasting(rows, "duration_ns", matched["duration_ns"].unit_ns)
        for name in [*values]:
            column_values, is_text = floats(rows, name, None)
            values[name].append(np.where(np.isinf(column_values), np.nan, column_values))
            if is_text.any():
                del values[name], layout.columns[name]
        numbers = {ours: _launch_integers(rows, ours, matched[ours].unit_ns) for ours in numeric}
        numbers["duration_ns"] = duration_ns
        for ours in {"stream", "device"} & numbers.keys():
            rows.refuse(np.abs(numbers[ours]) >= 1 << 31, ours, "is too large a number")
        grid, block = (
            rows.sizes(dimension)
            if dimension in matched
            else [numbers[axis] for axis in axes if axis in numbers]
            for dimension, axes in DIMENSIONS.items()
        )
        plain: dict[str, Any] = {ours: numbers[ours] for ours in _PLAIN & numbers.keys()}
        launches.add(
            LaunchColumns(
                name=rows.names("name", kernels, cell_text),
                order=np.arange(launches.count, launches.count + len(rows), dtype=np.int64),
                grid=grid or None,
                block=block or None,
                **plain,
            )
        )
    metric_columns = {name: np.concatenate(parts) for name, parts in values.items() if parts}
    nothing = "a table of launches without a single row", "write it with a row a launch"
    metric_columns = {name: column for name, column in metric_columns.items() if not np.isnan(column).all()}
    return launches.finish(*described, nothing, metric_columns)


# --- Parquet ------------------------------------------------------------------------------------------------


def _launch_columns(file: InputFile, schema: pa.Schema) -> dict[str, NamedColumn]:
    """Return the columns of a launch, by what they hold; refuse where it is not clear which are meant."""
    names: list[str] = schema.names
    folder = file.location.parent
    if {"demangledName", "deviceId"} & set(names) or (folder / "StringIds.parquet").exists():
        message, remedy = "one table of an nsys Parquet export", f"give the folder, {folder}"
        if file.columns is None and not {"name", "duration_ns"} <= set(names):
            raise ProfileError(message, path=file.path, remedy=remedy)
    if twice := [name for name in metric_columns(schema) if names.count(name) > 1]:
        message = f"a Parquet file with several columns {twice[0]}"
        raise ProfileError(message, path=file.path, remedy="write it again with one of them")
    return matched_columns(file.columns, names, file.path, cells=False)


def _read_parquet(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    location, copy = file.location, file.copy
    if file.compressed:
        decompressed = file.decompressed_copy()
        location, copy = Path(decompressed.name), decompressed
    parquet, schema = parquet_footer(file.path, location)
    metadata = parquet.metadata
    columns = _launch_columns(file, schema)
    is_text = {field.name for field in schema if "string" in str(field.type)}
    texts = {
        "name",
        *(cells for cells in DIMENSIONS if cells in columns and columns[cells].theirs in is_text),
    }
    layout = _launch_layout(tuple(schema.names), columns, file.path, texts=frozenset(texts))
    layout = replace(layout, remedy=f"{_REMEDY}, and write the file again")
    rows = [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]
    starts = np.cumsum([0, *rows]).tolist()
    if starts[-1] == 0:
        message, remedy = "a Parquet profile without a single launch", "write it again with a row a launch"
        raise ProfileError(message, path=file.path, remedy=remedy)
    used = {column.theirs for ours, column in columns.items() if column != NamedColumn(ours, ours)}
    metrics = tuple(name for name in metric_columns(schema) if name not in used)
    places = {metadata.schema.column(index).path: index for index in range(metadata.num_columns)}
    source = _LaunchParquet(
        path=file.path,
        location=location,
        kernels=kernels,
        layout=layout,
        units_ns={ours: column.unit_ns for ours, column in columns.items()},
        metric_names=metrics,
        metadata=metadata,
        places=places,
        starts=tuple(starts),
        copy=copy,
    )
    facts, are_looked_at = _facts(metadata, keep_overlong=file.keep_overlong)
    runs = source.runs()
    if source.lacks_durations() or any(first[:2] >= second[:2] for first, second in pairwise(runs)):
        # Only in memory can interleaved processes or devices be put in order, and rows be left out.
        described = _PARQUET_FORMAT, facts
        return _table_in_memory(file, kernels, layout, columns, metrics, described, progress)
    firsts = np.cumsum([0, *(launches for _, _, launches in runs)]).tolist()
    sequences = [LaunchSequence(*run, first) for run, first in zip(runs, firsts, strict=False)]
    optional = cast("set[Column]", {"start_ns", "stream"} & columns.keys())
    if "start_ns" in optional:
        source, facts = _mended(
            source, sequences, facts, are_looked_at=are_looked_at, keep_overlong=file.keep_overlong
        )
        optional -= {"start_ns"} if facts.without_start == starts[-1] else set()
    return Profile(
        format=_PARQUET_FORMAT,
        files=(ProfileFile(file.path, location, starts[-1]),),
        kernels=kernels,
        sequences=tuple(sequences),
        parts=source.parts(sequences),
        columns=frozenset({"name", "signature", "duration_ns", *optional}),
        facts=facts,
        metric_names=metrics,
    )


def _mended(
    source: _LaunchParquet,
    sequences: Sequence[LaunchSequence],
    facts: RecordingFacts,
    *,
    are_looked_at: bool,
    keep_overlong: bool,
) -> tuple[_LaunchParquet, RecordingFacts]:
    """Return a file with starts, its times mended, and the facts of them; they are read where need be."""
    without_start, are_above = source.starts_told()
    has_stream = "stream" in source.layout.columns
    if are_looked_at:
        without_start = facts.without_start if without_start is None else without_start
    elif without_start is None or not are_above or has_stream:
        looked = look_at_times(source.parts(sequences), has_stream=has_stream)
        without_start, mended = looked.without_start, dict(looked.mended)
        if len(looked.beyond_ns):
            first = source.name(looked.first_overlong)
            facts = with_overlong(facts, looked.beyond_ns, first, are_kept=keep_overlong)
        if keep_overlong:
            del mended["duration_ns"]
        source = replace(source, mended=mended, local=threading.local())
    return source, replace(facts, without_start=without_start)


def _facts(metadata: Any, *, keep_overlong: bool) -> tuple[RecordingFacts, bool]:
    """Return the facts in the metadata, and whether they are of the times as they are to be read.

    A file without any, or with garbled ones, has none.
    """
    try:
        fields = decoded(json.loads, (metadata.metadata or {})[METADATA_KEY])
        devices = tuple(Device(**device) for device in fields.pop("devices", ()))
        facts = RecordingFacts(devices=devices, **fields)
    except (ValueError, TypeError, AttributeError, KeyError):
        return RecordingFacts(), False
    if facts.keeps_overlong and not keep_overlong:
        return replace(facts, overlong=0, overlong_ns=0, first_overlong=None, keeps_overlong=False), False
    return facts, True


@dataclass(frozen=True, eq=False)
class _LaunchParquet:
    """An open file, whose rows are loaded by their numbers; no part lies in two row groups."""

    path: str
    location: Path
    kernels: KernelTable
    layout: Layout  #: the columns by what they hold of a launch; a grid or block may be one column of cells
    units_ns: Mapping[str, int]
    metric_names: tuple[str, ...]
    metadata: Any
    places: Mapping[str, int]  #: the index of each column in the metadata
    starts: tuple[int, ...]  #: (row groups + 1,) the row at which each begins
    copy: object  #: the temporary file at ``location``, if it is one: it is deleted once nothing holds it
    mended: Mapping[Column, Mended] = field(default_factory=dict)  #: values in place of those in the file
    local: threading.local = field(default_factory=threading.local)

    def load(self, rows: slice, columns: Sequence[Column]) -> Table:
        """Decode the columns of a row group and cut out the rows."""
        row_group, offset = self._place(rows)
        if offset == slice(0, self.starts[row_group + 1] - self.starts[row_group]):
            return self._decoded(row_group, columns)
        # A row group of several sequences is decoded once: each thread keeps its last.
        key = (row_group, tuple(columns))
        if getattr(self.local, "key", None) != key:
            self.local.key, self.local.decoded = key, self._decoded(row_group, columns)
        return {column: values[offset] for column, values in self.local.decoded.items()}

    def metrics(self, rows: slice, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Decode the metrics of a row group and cut out the rows."""
        row_group, offset = self._place(rows)
        table = self._stored(row_group, [name for name in names if name in self.metric_names])
        metrics = {name: float_values(table.column(name))[offset] for name in table.column_names}
        metrics = {name: np.where(np.isinf(values), np.nan, values) for name, values in metrics.items()}
        lacking = np.full(rows.stop - rows.start, np.nan)
        return {name: metrics.get(name, lacking) for name in names}

    def parts(self, sequences: Sequence[LaunchSequence]) -> tuple[Part, ...]:
        """Return the row groups, cut where sequences end."""
        first_ids = [sequence.first_id for sequence in sequences]
        edges = sorted({*self.starts, *first_ids})
        return tuple(
            Part(bisect_right(first_ids, first) - 1, first, self, slice(first, stop))
            for first, stop in pairwise(edges)
        )

    def runs(self) -> list[tuple[int, int, int]]:
        """Return process, device and number of launches of the runs of rows with the same ones."""
        runs: list[tuple[int, int, int]] = []
        for row_group, count in enumerate(np.diff(self.starts).tolist()):
            if not count:
                continue
            process, device = self._integers(row_group, ["process", "device"])
            changes = np.flatnonzero((process[1:] != process[:-1]) | (device[1:] != device[:-1])) + 1
            for start, stop in pairwise([0, *changes.tolist(), count]):
                owner = (int(process[start]), int(device[start]))
                before = runs.pop()[2] if runs and runs[-1][:2] == owner else 0
                runs.append((*owner, before + stop - start))
        return runs

    def lacks_durations(self) -> bool:
        """Return whether statistics tell of a row whose duration is missing or negative."""
        place = self.places.get(self.layout.header[self.layout.columns["duration_ns"][0]])
        if place is None:
            return False
        groups = map(self.metadata.row_group, range(self.metadata.num_row_groups))
        statistics = [
            statistic for group in groups if (statistic := group.column(place).statistics) is not None
        ]
        return any(
            bool(statistic.null_count)
            or (statistic.has_min_max and isinstance(statistic.min, int | float) and statistic.min < 0)
            for statistic in statistics
        )

    def starts_told(self) -> tuple[int | None, bool]:
        """Return how many launches have no start (None: statistics do not tell), and if all are above 0."""
        place = self.places.get(self.layout.header[self.layout.columns["start_ns"][0]])
        groups = range(self.metadata.num_row_groups if place is not None else 0)
        statistics = [self.metadata.row_group(group).column(place).statistics for group in groups]
        if not statistics or any(
            statistic is None or not statistic.has_null_count for statistic in statistics
        ):
            return None, False
        lowest = [statistic.min if statistic.has_min_max else None for statistic in statistics]
        is_above = all(isinstance(value, int | float) and value > 0 for value in lowest)
        return sum(statistic.null_count for statistic in statistics), is_above

    def name(self, row: int) -> str:
        """Return the kernel name of a launch."""
        kernels, (row_group, offset) = KernelTable(), self._place(slice(row, row + 1))
        code = self._rows(row_group, ["name"]).names("name", kernels)[offset]
        return kernels.names.full(int(code[0]))

    def _place(self, rows: slice) -> tuple[int, slice]:
        """Return the row group of some rows, and where they are in it."""
        row_group = bisect_right(self.starts, rows.start) - 1
        before = self.starts[row_group]
        return row_group, slice(rows.start - before, rows.stop - before)

    def _decoded(self, row_group: int, columns: Sequence[Column]) -> Table:
        """Return (rows of the row group,) values for each column."""
        plain = [column for column in columns if column not in {"name", "signature"}]
        values: dict[Column, AnyIntArray] = dict(zip(plain, self._integers(row_group, plain), strict=True))
        for column in self.mended.keys() & values.keys():
            rows, instead = self.mended[column]
            first, stop = np.searchsorted(rows, self.starts[row_group : row_group + 2])
            if first < stop:
                values[column] = values[column].copy()
                values[column][rows[first:stop] - self.starts[row_group]] = instead[first:stop]
        if len(plain) == len(columns):
            return values
        name = self._rows(row_group, ["name"]).names("name", self.kernels)
        if "name" in columns:
            values["name"] = name
        if "signature" in columns:
            grid, block = (
                self._rows(row_group, [cells]).sizes(cells)
                if cells in self.layout.columns
                else self._integers(row_group, [axis for axis in axes if axis in self.layout.columns])
                for cells, axes in DIMENSIONS.items()
            )
            values["signature"] = self.kernels.intern(name, grid or None, block or None)
        return values

    def _integers(self, row_group: int, columns: Sequence[str]) -> list[AnyIntArray]:
        """Return columns of integers, decoded only where they are not known to be constant."""
        constant = {ours: self._constant(row_group, ours) for ours in columns}
        rows = self._rows(row_group, [ours for ours in columns if constant[ours] is None])
        count = self.starts[row_group + 1] - self.starts[row_group]
        return [
            _launch_integers(rows, ours, self.units_ns[ours]).astype(np.int64, copy=False)
            if constant[ours] is None
            else np.broadcast_to(np.int64(constant[ours] or 0), count)
            for ours in columns
        ]

    def _rows(self, row_group: int, columns: Sequence[str]) -> Rows:
        """Return columns of a row group, by what they hold of a launch."""
        layout = replace(self.layout, columns={ours: self.layout.columns[ours] for ours in columns})
        stored = self._stored(row_group, [layout.header[place] for place, _ in layout.columns.values()])
        return parquet_rows(self.path, layout, stored, self.starts[row_group])

    def _stored(self, row_group: int, titles: Sequence[str]) -> pa.Table:
        """Return columns of a row group as the file has them; every thread reads through its own handle."""
        import pyarrow.parquet as pq

        if not hasattr(self.local, "file"):
            title = self.layout.header[self.layout.columns["name"][0]]
            self.local.file = pq.ParquetFile(
                arrow_file(self.location),
                metadata=self.metadata,
                read_dictionary=[title] if title in self.places else None,
            )
        return stored_row_group(self.local.file, row_group, titles, self.path)

    def _constant(self, row_group: int, ours: str) -> int | None:
        """Return the value of all rows of a row group, where the column's statistics tell; else None.

        Of a column that the file lacks it is 0.
        """
        if ours not in self.layout.columns:
            return 0
        # A column that is not of numbers has no place by its name.
        place = self.places.get(self.layout.header[self.layout.columns[ours][0]])
        if place is None or ours in {*TIMES, "stream"}:
            return None
        statistics = self.metadata.row_group(row_group).column(place).statistics
        if statistics is None or not statistics.has_min_max or statistics.null_count != 0:
            return None
        low = statistics.min
        return low if type(low) is int and 0 <= low == statistics.max < 1 << 62 else None
