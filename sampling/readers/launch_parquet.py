"""Our own Parquet: one row a launch, in launch order, read row group by row group.

``name`` and ``duration_ns`` are required; ``grid_x grid_y grid_z block_x block_y block_z start_ns stream
device process`` are optional; any other numeric column is a metric, read when it is asked for. The file may
be larger than memory: nothing holds more than a few row groups at once.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from sampling.arrays import AnyIntArray, FloatArray, IntArray
from sampling.profile.launch_table import LaunchColumns, LaunchTable, LaunchTableBuilder
from sampling.profile.profile import (
    Batch,
    Column,
    KernelTable,
    LaunchSequence,
    Profile,
    Span,
)
from sampling.progress import Progress
from sampling.readers.input_file import InputFile
from sampling.readers.parquet_source import ParquetSource
from sampling.readers.tables.cells import float_values
from sampling.readers.tables.column_map import BLOCK, GRID, REQUIRED

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
        return LaunchParquet(source, _one_sequence(source))
    sequences = _sequences(source, place)
    if sequences is None:
        return _sorted_in_memory(source, progress)
    return LaunchParquet(source, sequences)


class LaunchParquet(Profile):
    """A Parquet profile whose rows are in id order."""

    def __init__(self, source: ParquetSource, sequences: tuple[LaunchSequence, ...]) -> None:
        self.format = FORMAT
        self.files = (source.file(),)
        self.kernels = source.kernels
        self.sequences = sequences
        optional = {"start_ns", "stream"} & source.present
        self.columns = frozenset({"name", "signature", "duration_ns", *cast("set[Column]", optional)})
        self.facts = source.facts()
        self.metric_names = source.metric_names
        self._source = source
        self._last = threading.local()
        self._spans = _spans(source.row_groups, sequences)

    @property
    def spans(self) -> tuple[Span, ...]:
        """One for each row group, or each part of one that belongs to one sequence."""
        return self._spans

    def read(self, span: Span, columns: Sequence[Column]) -> Batch:
        """Decode the columns of a row group and cut out the span."""
        row_group, offset = span.handle
        rows = slice(offset, offset + span.launches)
        if span.launches == self._source.row_groups[row_group]:
            values = self._decoded(row_group, columns)
        else:
            values = self._decoded_once(row_group, tuple(columns))
        return Batch(span, {column: array[rows] for column, array in values.items()})

    def read_metrics(self, span: Span, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Decode the metrics of a row group and cut out the span."""
        row_group, offset = span.handle
        rows = slice(offset, offset + span.launches)
        table = self._source.read(row_group, list(names))
        return {name: float_values(table.column(name))[rows] for name in names}

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


class SortedLaunchParquet(Profile):
    """A Parquet profile whose rows had to be put in id order; its metrics are read when asked for."""

    def __init__(self, source: ParquetSource, launches: LaunchTable, order: IntArray) -> None:
        self.format = launches.format
        self.files = launches.files
        self.kernels = launches.kernels
        self.sequences = launches.sequences
        self.columns = launches.columns
        self.facts = launches.facts
        self.metric_names = source.metric_names
        self._source = source
        self._launches = launches
        self._order = order
        self._metrics: dict[str, FloatArray] = {}

    @property
    def spans(self) -> tuple[Span, ...]:
        """All spans, in id order."""
        return self._launches.spans

    def read(self, span: Span, columns: Sequence[Column]) -> Batch:
        """Return views of the columns."""
        return self._launches.read(span, columns)

    def read_metrics(self, span: Span, names: Sequence[str]) -> Mapping[str, FloatArray]:
        """Return views of the metrics, each read whole and put in order the first time it is asked for."""
        start = self.sequences[span.sequence].first_id + span.first_ordinal
        return {name: self._in_id_order(name)[start : start + span.launches] for name in names}

    def _in_id_order(self, name: str) -> FloatArray:
        # Two threads may read the same metric at once; both get the same values.
        if name not in self._metrics:
            parts = (
                float_values(self._source.read(row_group, [name]).column(name))
                for row_group in range(len(self._source.row_groups))
            )
            self._metrics[name] = np.concatenate(list(parts))[self._order]
        return self._metrics[name]


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


def _spans(row_groups: Sequence[int], sequences: Sequence[LaunchSequence]) -> tuple[Span, ...]:
    """Cut the row groups where sequences end."""
    spans = []
    sequence, ordinal = 0, 0
    for row_group, rows in enumerate(row_groups):
        offset = 0
        while offset < rows:
            launches = min(rows - offset, sequences[sequence].launches - ordinal)
            spans.append(Span(sequence, ordinal, launches, (row_group, offset)))
            offset += launches
            ordinal += launches
            if ordinal == sequences[sequence].launches:
                sequence, ordinal = sequence + 1, 0
    return tuple(spans)


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
    if not source.metric_names:
        return launches
    # Stable, so that rows of one process and device stay in the order of the file, as ids do.
    order = np.lexsort([np.concatenate(parts) for parts in reversed(placed.values())])
    return SortedLaunchParquet(source, launches, order.astype(np.int64))
