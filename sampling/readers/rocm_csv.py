"""ROCm's kernel lists as CSV: rocprof's and rocprofv2's results, rocprofv3's ``*_kernel_trace.csv``.

A row is a launch in all of them, and in what rocpd and Omniperf make of them; times are nanoseconds, grids
are counted in work-items. Columns differ in names, capitals and order. Launches are in the order of their
dispatch or correlation numbers, which count up with the calls of a process, else of their start. Where a file
has only totals of work-items, grid and work-group are given as one-dimensional: their products are right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from sampling.arrays import AnyIntArray, IntArray
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import KernelTable, LaunchOrder, Profile, RecordingFacts
from sampling.readers.input_file import InputFile
from sampling.readers.table import Kind, Launches, Layout, first_line, header_cells, read_rows

FORMAT = "rocprof-csv"

# What a column may be called, in small letters: the best first, for a call may dispatch several kernels.
_CALLED: Mapping[str, tuple[str, ...]] = {
    "name": ("kernel_name", "kernelname"),
    "start": ("start_timestamp", "beginns"),
    "end": ("end_timestamp", "endns"),
    "kind": ("kind",),
    "device": ("agent_id", "gpu_id"),
    "queue": ("queue_id",),
    "process": ("process_id", "pid"),
    "database": ("guid",),
    "order": ("dispatch_id", "index", "correlation_id"),
    "items": ("grd", "grid_size"),
    "group": ("wgr", "workgroup_size"),
    **{f"items_{axis}": (f"grid_size_{axis}",) for axis in "xyz"},
    **{f"group_{axis}": (f"workgroup_size_{axis}",) for axis in "xyz"},
}
_SIZES = [[f"{what}_{axis}" for what in ("items", "group") for axis in "xyz"], ["items", "group"]]
_TEXTS = {"name", "kind", "device", "database"}
# A row with this is a counter of a launch, so launches stand there several times.
_A_ROW_A_COUNTER = "counter_name"
# "2", or with the kind of the agent before it: "Agent 2", "GPU-2".
_AGENT = re.compile(r"\D*?(\d{1,9})\s*")
_NOTHING = (
    "a ROCm kernel list without a kernel dispatch",
    "record the program with `rocprofv3 --kernel-trace`",
)
# A kernel's symbol is that of its descriptor; demanglers print what follows the name as a clone.
_DESCRIPTOR = re.compile(r"\s*(?:\[clone \.kd\]|\(\.kd\)|\.kd)\s*\Z")
_CLONE_OF_DESCRIPTOR = re.compile(r"(\[clone [^\[\]]*?)\.kd\]\s*\Z")


def bare_name(name: str) -> str:
    """Return a kernel's name without the suffix of its descriptor; other clones keep theirs.

    >>> bare_name("void add<int>(int*) [clone .kd]"), bare_name("_Z3addPi.kd")
    ('void add<int>(int*)', '_Z3addPi')
    """
    return _CLONE_OF_DESCRIPTOR.sub(r"\1]", _DESCRIPTOR.sub("", name)).strip()


def work_groups(work_items: Sequence[AnyIntArray], group: Sequence[AnyIntArray]) -> list[IntArray]:
    """Return x, y and z, (n,) each, of the grid in work-groups, the last one maybe not full; 0: unknown."""
    return [
        -(-items.astype(np.int64, copy=False) // np.maximum(size, 1))
        for items, size in zip(work_items, group, strict=True)
    ]


def recognise(file: InputFile) -> bool:
    """Return whether the first line is the header of a kernel list."""
    layout = _layout(file)
    return {"name", "start", "end"} <= layout.columns.keys() and not any(
        cell.strip().casefold() == _A_ROW_A_COUNTER for cell in layout.header
    )


def _layout(file: InputFile) -> Layout:
    cells = header_cells(first_line(file.head))
    called = [cell.strip().casefold().replace("-", "_") for cell in cells]
    columns: dict[str, tuple[int, Kind]] = {}
    for of, names in _CALLED.items():
        for name in [name for name in names if name in called][:1]:
            columns[of] = called.index(name), "text" if of in _TEXTS else "integer"
    return Layout(cells, columns, remedy="record the profile again")


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the dispatches as launches.

    Raises ProfileError: a row is cut short, a value is missing or makes no sense; there is no dispatch.
    """
    launches = Launches(file, kernels)
    launch_order: LaunchOrder = "correlation"
    databases: dict[str, int] = {}
    for rows in read_rows(file, _layout(file), progress):
        if "kind" in rows:
            kinds, codes = rows.texts("kind")
            rows = rows.where(np.array([kind == "KERNEL_DISPATCH" for kind in kinds])[codes])  # noqa: PLW2901
        if not len(rows):
            continue
        order, process, device = rows.if_complete("order"), rows.if_complete("process"), None
        if order is None:
            launch_order = "gpu-start"
        if "process" not in rows and "database" in rows:
            # The databases that rocpd merged are numbered as they come.
            distinct, codes = rows.texts("database")
            process = np.array([databases.setdefault(each, len(databases)) for each in distinct])[codes]
        if "device" in rows:
            agents, codes = rows.texts("device")
            numbers = [int(found[1]) if (found := _AGENT.fullmatch(agent)) else -1 for agent in agents]
            device = np.array(numbers, dtype=np.int32)[codes]
            rows.refuse(device < 0, "device", lambda row: f"{agents[codes[row]]!r} does not say which GPU")  # noqa: B023
        axes = next((axes for axes in _SIZES if all(axis in rows for axis in axes)), [])
        sizes = [rows.numbers(axis) for axis in axes]
        for axis, size in zip(axes, sizes, strict=True):
            rows.refuse(size < 0, axis, f"{int(size.min())} is no size")
        one = [np.ones(len(rows), dtype=np.int64)] * (3 - len(sizes) // 2)
        items, block = [*sizes[: len(sizes) // 2], *one], [*sizes[len(sizes) // 2 :], *one]
        start_ns = rows.times("start")
        duration_ns = rows.times("end") - start_ns
        rows.refuse(duration_ns < 0, "end", "a launch ends before it starts")
        launches.add(
            LaunchColumns(
                name=rows.names("name", kernels, bare_name),
                duration_ns=duration_ns,
                order=order,
                process=process,
                device=device,
                grid=work_groups(items, block) if sizes else None,
                block=block if sizes else None,
                start_ns=start_ns,
                stream=rows.if_complete("queue"),
            )
        )
    return launches.finish(FORMAT, RecordingFacts(launch_order=launch_order), _NOTHING)
