"""ROCm's kernel lists as CSV: rocprof's and rocprofv2's results, rocprofv3's ``*_kernel_trace.csv``.

Launches are in the order of their dispatch numbers, else of their correlation numbers, both of which count up
in the order of the calls within a process; else of their start. Where a file has only totals of work-items,
grid and work-group are given as one-dimensional: their products are right.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import AnyIntArray, IntArray
from sampling.arrow import to_arrow
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import KernelTable, LaunchOrder, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.csv_cells import (
    Part,
    Table,
    first_line,
    names,
    nanoseconds,
    parse,
    pieces,
    texts,
    values,
)
from sampling.readers.input_file import InputFile
from sampling.readers.rocm.csv_dialect import KernelList, Role, kernel_list
from sampling.readers.rocm.kernels import bare_name, work_groups

FORMAT = "rocprof-csv"

_DISPATCH = b"KERNEL_DISPATCH"
# "2", or with the kind of the agent before it: "Agent 2", "GPU-2".
_AGENT = re.compile(r"\D*?(\d{1,9})\s*")
_X_Y_Z: tuple[tuple[Role, Role, Role], ...] = (
    ("items_x", "items_y", "items_z"),
    ("group_x", "group_y", "group_z"),
)


def recognise(file: InputFile) -> bool:
    """Return whether the first line is the header of a kernel list."""
    return kernel_list(file.head) is not None


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the dispatches as launches.

    Raises
    ------
    ProfileError : a row is cut short, a value is missing or makes no sense; there is no dispatch.
    """
    found = kernel_list(file.head)
    assert found is not None, "asked to read what was not recognised"
    rows = _Rows(file, found, kernels)
    for start, text in pieces(file, progress):
        skipped = len(first_line(text)) if start == 0 else 0
        rows.add(Part(file, found.layout, start + skipped, text[skipped:]))
    if rows.launches == 0:
        raise ProfileError(
            "a ROCm kernel list without a kernel dispatch",
            path=file.path,
            remedy="record the program with `rocprofv3 --kernel-trace`",
        )
    return rows.builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, rows.launches),
        facts=RecordingFacts(launch_order=rows.launch_order),
    )


class _Rows:
    """The rows of a list while they come in."""

    def __init__(self, file: InputFile, found: KernelList, kernels: KernelTable) -> None:
        self.builder = LaunchTableBuilder(file.path, kernels)
        self.launches = 0
        self.launch_order: LaunchOrder = "correlation" if "order" in found.positions else "gpu-start"
        self._positions = found.positions
        self._kernels = kernels
        self._databases: dict[bytes, int] = {}

    def add(self, part: Part) -> None:
        """Add the dispatches of a part."""
        if not part.text.strip():
            return
        table = parse(part)
        rows = self._dispatches(table)
        if rows is not None:
            table = table.take(to_arrow(rows))
        if table.num_rows == 0:
            return
        self.builder.append(self._launches(part, table, rows))
        self.launches += table.num_rows

    def _dispatches(self, table: Table) -> IntArray | None:
        """Return the rows that are kernel dispatches, None where all are."""
        if "kind" not in self._positions:
            return None
        kinds, codes = texts(table, self._positions["kind"])
        is_dispatch = np.fromiter((kind == _DISPATCH for kind in kinds.to_pylist()), dtype=np.bool_)
        return None if is_dispatch.all() else np.flatnonzero(is_dispatch[codes])

    def _launches(self, part: Part, table: Table, rows: IntArray | None) -> LaunchColumns:
        start_ns = nanoseconds(part, table, self._positions["start"], rows, unit=1)
        order = self._whole(part, table, rows, "order")
        if order is None:
            self.launch_order = "gpu-start"
        grid, block = self._dimensions(part, table, rows)
        return LaunchColumns(
            name=names(part, table, self._positions["name"], rows, self._kernels, spelt_as=bare_name),
            duration_ns=self._durations(part, table, rows, start_ns),
            order=order,
            process=self._processes(part, table, rows),
            device=self._devices(part, table, rows),
            grid=grid,
            block=block,
            start_ns=start_ns,
            stream=self._whole(part, table, rows, "queue"),
        )

    def _durations(self, part: Part, table: Table, rows: IntArray | None, start_ns: IntArray) -> IntArray:
        duration_ns = nanoseconds(part, table, self._positions["end"], rows, unit=1) - start_ns
        if duration_ns.min() < 0:
            row = int(np.argmax(duration_ns < 0))
            raise part.error(
                row if rows is None else int(rows[row]),
                "a launch ends before it starts",
                position=self._positions["end"],
                remedy="record the profile again",
            )
        return duration_ns

    def _whole(self, part: Part, table: Table, rows: IntArray | None, role: Role) -> AnyIntArray | None:
        """Return (n,) integers, None where the list lacks the column or a value in it."""
        position = self._positions.get(role)
        if position is None or table.column(str(position)).null_count:
            return None
        return values(part, table, position, rows)

    def _processes(self, part: Part, table: Table, rows: IntArray | None) -> AnyIntArray | None:
        """Return (n,) process numbers; the databases that rocpd merged are numbered as they come."""
        if "process" in self._positions or "database" not in self._positions:
            return self._whole(part, table, rows, "process")
        distinct, codes = texts(table, self._positions["database"])
        numbers = [self._databases.setdefault(each, len(self._databases)) for each in distinct.to_pylist()]
        return np.array(numbers, dtype=np.int64)[codes]

    def _devices(self, part: Part, table: Table, rows: IntArray | None) -> NDArray[np.int32] | None:
        position = self._positions.get("device")
        if position is None:
            return None
        distinct, codes = texts(table, position)
        numbers = np.zeros(len(distinct), dtype=np.int32)
        for code in np.flatnonzero(np.bincount(codes, minlength=len(distinct))).tolist():
            text = distinct[code].as_py().decode("utf-8", "replace")
            match = _AGENT.fullmatch(text)
            if match is None:
                row = int(np.argmax(codes == code))
                raise part.error(
                    row if rows is None else int(rows[row]),
                    f"{text!r} does not say which GPU",
                    position=position,
                    remedy="record the profile again",
                )
            numbers[code] = int(match[1])
        return numbers[codes]

    def _dimensions(
        self, part: Part, table: Table, rows: IntArray | None
    ) -> tuple[list[IntArray], list[AnyIntArray]] | tuple[None, None]:
        """Return the grid in work-groups and the work-group; None where the list does not say both."""
        if all(role in self._positions for axes in _X_Y_Z for role in axes):
            items, group = ([self._counts(part, table, rows, role) for role in axes] for axes in _X_Y_Z)
        elif "items" in self._positions and "group" in self._positions:
            one = np.ones(table.num_rows, dtype=np.int64)
            items = [self._counts(part, table, rows, "items"), one, one]
            group = [self._counts(part, table, rows, "group"), one, one]
        else:
            return None, None
        return work_groups(items, group), group

    def _counts(self, part: Part, table: Table, rows: IntArray | None, role: Role) -> AnyIntArray:
        position = self._positions[role]
        counts = values(part, table, position, rows)
        if counts.min() < 0:
            row = int(np.argmax(counts < 0))
            raise part.error(
                row if rows is None else int(rows[row]),
                f"{counts[row]} is no size",
                position=position,
                remedy="record the profile again",
            )
        return counts
