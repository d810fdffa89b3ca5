"""From the tables of an nsys export to a profile, the same for every storage format and nsys version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import IntArray
from sampling.dense_codes import dense_codes
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import KernelTable, LaunchSequence, Profile, ProfileFile, RecordingFacts
from sampling.profile.range_runs import NO_RANGES, RangeSource
from sampling.progress import Progress
from sampling.readers.nsys.facts import described_devices, export_product, without_kernels
from sampling.readers.nsys.nvtx import NvtxRanges, Opened, has_ranges
from sampling.readers.nsys.order import OrderOfLaunches
from sampling.readers.nsys.tables import GRAPH_TRACE, KERNEL, NULL, RUNTIME, NsysTables

_TIMES = ("start", "end")
# Best first: older nsys versions leave mangledName out, and newer ones may leave any of them NULL.
_NAMES = ("demangledName", "mangledName", "shortName")
_GRID = ("gridX", "gridY", "gridZ")
_BLOCK = ("blockX", "blockY", "blockZ")
_PLACE = ("globalPid", "correlationId", "deviceId", "streamId")

Columns = Mapping[str, IntArray]


def read_export(
    tables: NsysTables,
    file: ProfileFile,
    format_name: str,
    kernels: KernelTable,
    progress: Progress | None,
    opened: Opened,
) -> Profile:
    """Read the launches of an export.

    Parameters
    ----------
    tables : the export.
    file : what it was read from; its number of launches is filled in.
    format_name : e.g. "nsys-sqlite".
    opened : opens the export once more, should its NVTX ranges be asked for.

    Raises
    ------
    ProfileError : there are no launches in it (with the reason), or it is damaged.
    """
    if tables.row_bound(KERNEL) == 0:
        raise without_kernels(tables)
    columns = _columns_present(tables)
    builder = LaunchTableBuilder(tables.path, kernels)
    names = _Names(tables, kernels)
    order = OrderOfLaunches()
    rows = _RowsRead(tables, progress)
    for arrays in tables.integers(KERNEL, columns):
        builder.append(_launches(dict(zip(columns, arrays, strict=True)), names, order, rows.kernels))
        rows.advance(len(arrays[0]), kernels=True)
    if rows.kernels == 0:
        raise without_kernels(tables)
    order.settle(tables, rows.advance)
    facts = RecordingFacts(
        devices=described_devices(tables, order.places),
        launch_order=order.kind,
        api_rows_missing=order.api_rows_missing,
        hidden_graph_replays=tables.row_count(GRAPH_TRACE),
        product=export_product(tables),
    )
    return builder.finish(
        format_name=format_name,
        file=replace(file, launches=rows.kernels),
        facts=facts,
        ranges=partial(_ranges, opened if has_ranges(tables) else None),
    )


def _ranges(opened: Opened | None, sequences: tuple[LaunchSequence, ...], _: object) -> RangeSource:
    return NO_RANGES if opened is None else NvtxRanges(opened, sequences)


def _columns_present(tables: NsysTables) -> list[str]:
    present = tables.columns(KERNEL)
    wanted = [*_TIMES, *_NAMES, *_PLACE, *_GRID, *_BLOCK]
    for column in (*_TIMES, *(() if present.intersection(_NAMES) else _NAMES[:1])):
        if column not in present:
            raise ProfileError(
                f"the table {KERNEL} of this nsys export has no such column",
                path=tables.path,
                column=column,
                remedy="export the report again with a released version of nsys",
            )
    return [column for column in wanted if column in present]


class _RowsRead:
    """Counts rows and tells the progress."""

    def __init__(self, tables: NsysTables, progress: Progress | None) -> None:
        self.kernels = 0
        self._done = 0
        self._total = 0 if progress is None else tables.row_bound(KERNEL) + tables.row_bound(RUNTIME)
        self._what = f"reading {Path(tables.path).name}"
        self._progress = progress

    def advance(self, rows: int, *, kernels: bool = False) -> None:
        self._done += rows
        self.kernels += rows if kernels else 0
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total, self._what)


def _launches(part: Columns, names: _Names, order: OrderOfLaunches, rows_before: int) -> LaunchColumns:
    duration_ns = _durations(part, names.path, rows_before)
    keys = order.add(part["start"], part.get("globalPid"), part.get("correlationId"), part.get("deviceId"))
    return LaunchColumns(
        name=names.codes(part, rows_before),
        duration_ns=duration_ns,
        order=keys.order,
        process=keys.process,
        device=part.get("deviceId"),
        grid=_dimensions(part, _GRID),
        block=_dimensions(part, _BLOCK),
        start_ns=keys.start_ns,
        stream=part.get("streamId"),
    )


def _durations(part: Columns, path: str, rows_before: int) -> IntArray:
    for column in _TIMES:
        unknown = part[column] == NULL
        if unknown.any():
            raise ProfileError(
                "a launch has no time",
                path=path,
                row=rows_before + int(np.argmax(unknown)) + 1,
                column=column,
                remedy="record the profile again; nsys lost the end of this launch",
            )
    return part["end"] - part["start"]


def _dimensions(part: Columns, axes: Sequence[str]) -> list[IntArray] | None:
    """Return x, y, z; NULL becomes 0, which is "unknown"."""
    if not all(axis in part for axis in axes):
        return None
    return [part[axis] if part[axis].min() >= 0 else np.maximum(part[axis], 0) for axis in axes]


class _Names:
    """Turns the ids of name strings into codes of the kernel table."""

    def __init__(self, tables: NsysTables, kernels: KernelTable) -> None:
        self.path = tables.path
        self._tables = tables
        self._kernels = kernels
        self._texts: dict[int, str] = {}

    def codes(self, part: Columns, rows_before: int) -> NDArray[np.int32]:
        """Return the name code of every launch.

        Raises
        ------
        ProfileError : a launch names no string, or one that the export does not hold.
        """
        forms = [part[column] for column in _NAMES if column in part]
        name = forms[0]
        for fallback in forms[1:]:
            name = np.where(name == NULL, fallback, name) if name.min() == NULL else name
        if name.min() < 0:
            raise self._nameless(rows_before + int(np.argmax(name < 0)))
        codes, first_rows = dense_codes([name])
        distinct = {column: part[column][first_rows].tolist() for column in _NAMES if column in part}
        ids = name[first_rows].tolist()
        self._look_up({*ids, *(each for column in distinct.values() for each in column)})
        for each, row in zip(ids, first_rows.tolist(), strict=True):
            if each not in self._texts:
                raise self._nameless(rows_before + row)
        interned = self._kernels.names.intern(
            [self._texts[each] for each in ids],
            short=self._forms(distinct, "shortName"),
            mangled=self._forms(distinct, "mangledName"),
        )
        return interned[codes]

    def _forms(self, distinct: Mapping[str, list[int]], column: str) -> list[str | None] | None:
        return [self._texts.get(each) for each in distinct[column]] if column in distinct else None

    def _look_up(self, ids: set[int]) -> None:
        missing = sorted(ids - self._texts.keys() - {NULL})
        if missing:
            self._texts.update(self._tables.strings(missing))

    def _nameless(self, row: int) -> ProfileError:
        return ProfileError(
            "a launch of this nsys export has no kernel name: its string is not in the table StringIds",
            path=self.path,
            row=row + 1,
            column=_NAMES[0],
            remedy="export the whole report again, without `--tables`",
        )
