"""Our own Parquet: one row a launch, in launch order, read row group by row group.

``name`` and ``duration_ns`` are required; ``grid_x grid_y grid_z block_x block_y block_z start_ns stream
device process`` are optional; any other numeric column is a metric, left alone here. The file may be larger
than memory: nothing holds more than a few row groups at once.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from sampling.errors import ProfileError
from sampling.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile import (
    Batch,
    Column,
    KernelTable,
    LaunchSequence,
    Profile,
    ProfileFile,
    RecordingFacts,
    Span,
)
from sampling.progress import Progress
from sampling.readers.input_file import InputFile

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "kernelpoint-parquet"

GRID = ("grid_x", "grid_y", "grid_z")
BLOCK = ("block_x", "block_y", "block_z")
REQUIRED = ("name", "duration_ns")

_IntArray = NDArray[np.integer]


def recognise(file: InputFile) -> bool:
    """Return whether this is a Parquet file."""
    return file.head.startswith(b"PAR1")


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the profile; its rows are read when asked for.

    Raises
    ------
    ProfileError : damaged, without the required columns, empty, or a column holds what it must not.
    """
    source = _Source.open(file, kernels)
    place = [name for name in ("process", "device") if name in source.present]
    if not place:
        return LaunchParquet(source, _one_sequence(source))
    sequences = _sequences(source, place)
    if sequences is None:
        return _sorted_in_memory(source, progress)
    return LaunchParquet(source, sequences)


@dataclass(frozen=True)
class _Source:
    """An open file: where it is, what columns it has, and how many launches each row group holds."""

    path: str
    location: Path
    kernels: KernelTable
    present: frozenset[str]
    row_groups: tuple[int, ...]
    metadata: Any
    handles: threading.local
    temporary: Any

    @staticmethod
    def open(file: InputFile, kernels: KernelTable) -> _Source:
        """Read the footer; what is compressed or came by standard input is copied to a temporary file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        temporary = None
        location = file.location
        if file.compressed or file.path == "-":
            temporary = tempfile.NamedTemporaryFile(prefix="kernelpoint-")  # noqa: SIM115 - lives with the profile
            with file.open() as stream:
                shutil.copyfileobj(stream, temporary, 1 << 20)
            temporary.flush()
            location = Path(temporary.name)
        try:
            footer = pq.ParquetFile(location)
        except (pa.ArrowInvalid, OSError) as error:
            raise ProfileError(
                f"a Parquet file that is cut short or damaged ({_first_line(error)})",
                path=file.path,
                remedy="copy or write the file again",
            ) from error
        present = frozenset(footer.schema_arrow.names)
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
            raise ProfileError("a Parquet profile without a single launch", path=file.path)
        return _Source(file.path, location, kernels, present, rows, metadata, threading.local(), temporary)

    def table(self, row_group: int, columns: Sequence[str]) -> pa.Table:
        """Return columns of a row group; every thread reads through a handle of its own."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        handle = getattr(self.handles, "file", None)
        if handle is None:
            handle = pq.ParquetFile(self.location, metadata=self.metadata, read_dictionary=["name"])
            self.handles.file = handle
        try:
            return handle.read_row_group(row_group, columns=list(columns), use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise ProfileError(
                f"row group {row_group} is damaged ({_first_line(error)})",
                path=self.path,
                remedy="copy or write the file again",
            ) from error

    def integers(self, table: pa.Table, column: str, row_group: int) -> _IntArray:
        """Return a numeric column as integers; missing grid, stream and the like are 0."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = table.column(column)
        if values.null_count:
            if column in {"duration_ns", "start_ns"}:
                row = int(np.flatnonzero(values.is_null().to_numpy())[0])
                raise self.bad_cell("no value", row_group, row, column)
            values = pc.fill_null(values, 0)
        if pa.types.is_floating(values.type):
            values = self._rounded(values, column, row_group)
        if not pa.types.is_integer(values.type):
            raise ProfileError(f"holds {values.type}, not whole numbers", path=self.path, column=column)
        numbers = values.to_numpy()
        if column not in {"start_ns", "stream", "device", "process"} and len(numbers) and numbers.min() < 0:
            row = int(np.argmax(numbers < 0))
            raise self.bad_cell(f"{int(numbers[row])} is negative", row_group, row, column)
        return cast("_IntArray", numbers.astype(np.int64, copy=False))

    def _rounded(self, values: pa.ChunkedArray, column: str, row_group: int) -> pa.ChunkedArray:
        import pyarrow as pa

        numbers = values.to_numpy()
        bad = ~np.isfinite(numbers)
        if bad.any():
            row = int(np.argmax(bad))
            raise self.bad_cell(f"{numbers[row]} is not a number of nanoseconds", row_group, row, column)
        return pa.chunked_array([pa.array(np.rint(numbers).astype(np.int64))])

    def names(self, table: pa.Table, row_group: int) -> NDArray[np.int32]:
        """Return the name codes of a row group; one Python step for each distinct name of it."""
        import pyarrow as pa

        column = table.column("name")
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy())[0])
            raise self.bad_cell("no value", row_group, row, "name")
        codes = []
        for chunk in column.chunks:
            encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
            if not pa.types.is_string(encoded.dictionary.type) and not pa.types.is_large_string(
                encoded.dictionary.type
            ):
                raise ProfileError(
                    f"holds {encoded.dictionary.type}, not text", path=self.path, column="name"
                )
            known = self.kernels.names.intern(encoded.dictionary.to_pylist())
            codes.append(known[encoded.indices.to_numpy(zero_copy_only=False)])
        return codes[0] if len(codes) == 1 else np.concatenate([np.zeros(0, dtype=np.int32), *codes])

    def bad_cell(self, what: str, row_group: int, row: int, column: str) -> ProfileError:
        """Return the error for one cell, its row counted from 1 over the whole file."""
        before = sum(self.row_groups[:row_group])
        return ProfileError(what, path=self.path, row=before + row + 1, column=column)

    def file(self) -> ProfileFile:
        """Return the file as the profile lists it."""
        return ProfileFile(self.path, self.location, sum(self.row_groups))


class LaunchParquet(Profile):
    """A Parquet profile whose rows stand in id order."""

    def __init__(self, source: _Source, sequences: tuple[LaunchSequence, ...]) -> None:
        self.format = FORMAT
        self.files = (source.file(),)
        self.kernels = source.kernels
        self.sequences = sequences
        optional = {"start_ns", "stream"} & source.present
        self.columns = frozenset({"name", "signature", "duration_ns", *cast("set[Column]", optional)})
        self.facts = RecordingFacts(launch_order="file")
        self._source = source
        self._spans = _spans(source.row_groups, sequences)

    @property
    def spans(self) -> tuple[Span, ...]:
        """One for each row group, or each part of one that belongs to one sequence."""
        return self._spans

    def read(self, span: Span, columns: Sequence[Column]) -> Batch:
        """Decode the columns of a row group and cut out the span."""
        row_group, offset = span.handle
        source = self._source
        shape = [name for name in (*GRID, *BLOCK) if name in source.present] if "signature" in columns else []
        plain = [column for column in columns if column not in {"name", "signature"}]
        named = ["name"] if {"name", "signature"} & set(columns) else []
        table = source.table(row_group, [*named, *plain, *shape])
        rows = slice(offset, offset + span.launches)
        values: dict[Column, _IntArray] = {
            column: source.integers(table, column, row_group)[rows] for column in plain
        }
        if named:
            name = source.names(table, row_group)[rows]
            if "name" in columns:
                values["name"] = name
            if "signature" in columns:
                grid = _dimensions(source, table, GRID, row_group, rows)
                block = _dimensions(source, table, BLOCK, row_group, rows)
                values["signature"] = source.kernels.intern(name, grid, block)
        return Batch(span, values)


def _dimensions(
    source: _Source, table: pa.Table, names: Sequence[str], row_group: int, rows: slice
) -> list[_IntArray] | None:
    if not source.present.issuperset(names):
        return None
    return [source.integers(table, name, row_group)[rows] for name in names]


def _one_sequence(source: _Source) -> tuple[LaunchSequence, ...]:
    return (LaunchSequence(process=0, device=0, launches=sum(source.row_groups), first_id=0),)


def _sequences(source: _Source, place: Sequence[str]) -> tuple[LaunchSequence, ...] | None:
    """Return the runs of equal process and device; None if they are not in ascending order."""
    runs: list[tuple[int, int, int]] = []
    for row_group, rows in enumerate(source.row_groups):
        table = source.table(row_group, place)
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


def _sorted_in_memory(source: _Source, progress: Progress | None) -> Profile:
    """Read a file whose processes or devices are interleaved: only in memory can its ids be put in order."""
    builder = LaunchTableBuilder(source.path, source.kernels)
    wanted = [*REQUIRED, *GRID, *BLOCK, "process", "device", "start_ns", "stream"]
    columns = [name for name in wanted if name in source.present]
    for row_group, rows in enumerate(source.row_groups):
        table = source.table(row_group, columns)
        values = {name: source.integers(table, name, row_group) for name in columns if name != "name"}
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
    return builder.finish(format_name=FORMAT, file=source.file(), facts=RecordingFacts(launch_order="file"))


def _what_to_do(location: Path, present: frozenset[str]) -> str:
    if {"demangledName", "deviceId"} & present or (location.parent / "StringIds.parquet").exists():
        return f"it is one table of an nsys Parquet export: give the folder, {location.parent}"
    return "a profile needs the columns name and duration_ns"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
