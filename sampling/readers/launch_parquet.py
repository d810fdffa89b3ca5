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
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sampling.arrays import (
    AnyIntArray,
    FloatArray,
    arrow_file,
    to_arrow,
    to_arrow_texts,
)
from sampling.errors import ProfileError
from sampling.parallel import Progress
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
from sampling.readers.columns import BLOCK, DIMENSIONS, GRID, TIMES, NamedColumn, matched_columns
from sampling.readers.csv_table import REMEDY, launch_integers, launch_layout, table_in_memory
from sampling.readers.input_file import InputFile
from sampling.readers.table import (
    PARQUET,
    Layout,
    Rows,
    float_values,
    metric_columns,
    parquet_footer,
    parquet_rows,
    stored_row_group,
)
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations, counted_parts
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "kernelpoint-parquet"
#: The key of the recording facts in a file's metadata.
METADATA_KEY = b"kernelpoint.facts"


def recognise(file: InputFile) -> bool:
    """Return whether this is a Parquet file."""
    return file.head.startswith(PARQUET)


def has_columns(file: InputFile) -> bool:
    """Return whether the table has the columns of a launch.

    Raises ProfileError: it is damaged.
    """
    with file.on_disk() as location:
        _, schema = parquet_footer(file.path, location)
    try:
        _launch_columns(file, schema)
    except ProfileError:
        return False
    return True


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


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the profile; its rows are read when asked for.

    Raises ProfileError: damaged, without the required columns, empty, or a column holds what it must not.
    """
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
    layout = launch_layout(tuple(schema.names), columns, file.path, texts=frozenset(texts))
    layout = replace(layout, remedy=f"{REMEDY}, and write the file again")
    rows = [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]
    starts = np.cumsum([0, *rows]).tolist()
    if starts[-1] == 0:
        message, remedy = "a Parquet profile without a single launch", "write it again with a row a launch"
        raise ProfileError(message, path=file.path, remedy=remedy)
    taken = {column.theirs for ours, column in columns.items() if column != NamedColumn(ours, ours)}
    metrics = tuple(name for name in metric_columns(schema) if name not in taken)
    places = {metadata.schema.column(index).path: index for index in range(metadata.num_columns)}
    source = LaunchParquet(
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
    runs = source.runs()
    if any(one[:2] >= other[:2] for one, other in pairwise(runs)):
        # Only in memory can ids be put in order where processes or devices are interleaved.
        described = FORMAT, _facts(metadata)
        return table_in_memory(file, kernels, layout, columns, metrics, described, progress)
    firsts = np.cumsum([0, *(launches for _, _, launches in runs)]).tolist()
    sequences = [LaunchSequence(*run, first) for run, first in zip(runs, firsts, strict=False)]
    optional = cast("set[Column]", {"start_ns", "stream"} & columns.keys())
    return Profile(
        format=FORMAT,
        files=(ProfileFile(file.path, location, starts[-1]),),
        kernels=kernels,
        sequences=tuple(sequences),
        parts=source.parts(sequences),
        columns=frozenset({"name", "signature", "duration_ns", *optional}),
        facts=_facts(metadata),
        metric_names=metrics,
    )


def _facts(metadata: Any) -> RecordingFacts:
    """Return the facts in the metadata; a file without any, or with garbled ones, has none."""
    try:
        fields = json.loads((metadata.metadata or {}).get(METADATA_KEY) or b"{}")
        devices = tuple(Device(**device) for device in fields.pop("devices", ()))
        return RecordingFacts(devices=devices, **fields)
    except (ValueError, TypeError, AttributeError):
        return RecordingFacts()


@dataclass(frozen=True, eq=False)
class LaunchParquet:
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
    local: threading.local = field(default_factory=threading.local)

    def load(self, rows: slice, columns: Sequence[Column]) -> Table:
        """Decode the columns of a row group and cut out the rows."""
        row_group, inside = self._place(rows)
        if inside == slice(0, self.starts[row_group + 1] - self.starts[row_group]):
            return self._decoded(row_group, columns)
        # A row group of several sequences is decoded once: each thread keeps its last.
        key = (row_group, tuple(columns))
        if getattr(self.local, "key", None) != key:
            self.local.key, self.local.decoded = key, self._decoded(row_group, columns)
        return {column: values[inside] for column, values in self.local.decoded.items()}

    def metrics(self, rows: slice, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Decode the metrics of a row group and cut out the rows."""
        row_group, inside = self._place(rows)
        table = self._stored(row_group, [name for name in names if name in self.metric_names])
        found = {name: float_values(table.column(name))[inside] for name in table.column_names}
        found = {name: np.where(np.isinf(values), np.nan, values) for name, values in found.items()}
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
        for row_group, count in enumerate(np.diff(self.starts).tolist()):
            if not count:
                continue
            process, device = self._integers(row_group, ["process", "device"])
            changes = np.flatnonzero((process[1:] != process[:-1]) | (device[1:] != device[:-1])) + 1
            for start, stop in pairwise([0, *changes.tolist(), count]):
                here = (int(process[start]), int(device[start]))
                before = runs.pop()[2] if runs and runs[-1][:2] == here else 0
                runs.append((*here, before + stop - start))
        return runs

    def _place(self, rows: slice) -> tuple[int, slice]:
        """Return the row group of some rows, and where they are in it."""
        row_group = bisect_right(self.starts, rows.start) - 1
        before = self.starts[row_group]
        return row_group, slice(rows.start - before, rows.stop - before)

    def _decoded(self, row_group: int, columns: Sequence[Column]) -> Table:
        """Return (rows of the row group,) values for each column."""
        plain = [column for column in columns if column not in {"name", "signature"}]
        values: dict[Column, AnyIntArray] = dict(zip(plain, self._integers(row_group, plain), strict=True))
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
            launch_integers(rows, ours, self.units_ns[ours]).astype(np.int64, copy=False)
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
