"""ROCm's kernel lists as CSV: rocprof's and rocprofv2's results, rocprofv3's ``*_kernel_trace.csv``.

One row is one launch in all of them, and in what rocpd and Omniperf make of them; times are nanoseconds,
grids are counted in work-items. Columns differ in names, capitals and order, so a column is known by what it
may be called. Launches are in the order of their dispatch numbers, else of their correlation numbers, both of
which count up in the order of the calls within a process; else of their start. Where a file has only totals
of work-items, grid and work-group are given as one-dimensional: their products are right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from sampling.arrays import AnyIntArray
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import KernelTable, LaunchOrder, Profile, RecordingFacts
from sampling.readers.input_file import InputFile
from sampling.readers.rocm.recording import bare_name, work_groups
from sampling.readers.table import Launches, Layout, Rows, first_line, header_cells, read_rows

FORMAT = "rocprof-csv"

# In each the best first: a dispatch has a number of its own, a call may dispatch several kernels.
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
_TEXTS = {"name", "kind", "device", "database"}
# A row with this is a counter of a launch, so launches stand there several times.
_A_ROW_A_COUNTER = "counter_name"
# "2", or with the kind of the agent before it: "Agent 2", "GPU-2".
_AGENT = re.compile(r"\D*?(\d{1,9})\s*")
_NOTHING = (
    "a ROCm kernel list without a kernel dispatch",
    "record the program with `rocprofv3 --kernel-trace`",
)


def recognise(file: InputFile) -> bool:
    """Return whether the first line is the header of a kernel list."""
    layout = _layout(file)
    return {"name", "start", "end"} <= layout.columns.keys() and not any(
        cell.strip().casefold() == _A_ROW_A_COUNTER for cell in layout.header
    )


def _layout(file: InputFile) -> Layout:
    cells = header_cells(first_line(file.head))
    called = [cell.strip().casefold().replace("-", "_") for cell in cells]
    known = {of: next((name for name in names if name in called), None) for of, names in _CALLED.items()}
    columns = {of: (called.index(name), "text" if of in _TEXTS else "integer") for of, name in known.items()
               if name is not None}  # fmt: skip
    return Layout(cells, columns, remedy="record the profile again")  # type: ignore[arg-type]


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
            is_dispatch = np.array([kind == "KERNEL_DISPATCH" for kind in kinds], dtype=np.bool_)
            rows = rows.where(is_dispatch[codes])  # noqa: PLW2901
        if not len(rows):
            continue
        order, process = rows.if_complete("order"), rows.if_complete("process")
        if order is None:
            launch_order = "gpu-start"
        if "process" not in rows and "database" in rows:
            # The databases that rocpd merged are numbered as they come.
            distinct, codes = rows.texts("database")
            numbers = [databases.setdefault(each, len(databases)) for each in distinct]
            process = np.array(numbers, dtype=np.int64)[codes]
        grid, block = _dimensions(rows)
        start_ns = rows.times("start")
        duration_ns = rows.times("end") - start_ns
        rows.refuse(duration_ns < 0, "end", "a launch ends before it starts")
        launches.add(
            LaunchColumns(
                name=rows.names("name", kernels, bare_name),
                duration_ns=duration_ns,
                order=order,
                process=process,
                device=_devices(rows) if "device" in rows else None,
                grid=grid,
                block=block,
                start_ns=start_ns,
                stream=rows.if_complete("queue"),
            )
        )
    return launches.finish(FORMAT, RecordingFacts(launch_order=launch_order), _NOTHING)


def _devices(rows: Rows) -> AnyIntArray:
    agents, codes = rows.texts("device")
    found = [_AGENT.fullmatch(agent) for agent in agents]
    if None in found:
        wrong = found.index(None)
        rows.refuse(codes == wrong, "device", f"{agents[wrong]!r} does not say which GPU")
    return np.array([int(match[1]) for match in found if match], dtype=np.int32)[codes]


def _dimensions(rows: Rows) -> tuple[Sequence[AnyIntArray], Sequence[AnyIntArray]] | tuple[None, None]:
    """Return the grid in work-groups and the work-group; None where the list does not say both."""
    items, group = ([f"{what}_{axis}" for axis in "xyz"] for what in ("items", "group"))
    if not all(column in rows for column in (*items, *group)):
        items, group = ["items"], ["group"]
    if not all(column in rows for column in (*items, *group)):
        return None, None
    counts = {of: rows.numbers(of) for of in (*items, *group)}
    for of, numbers in counts.items():
        rows.refuse(numbers < 0, of, f"{int(numbers.min())} is no size")
    one = [np.ones(len(rows), dtype=np.int64)] * (3 - len(items))
    block = [*(counts[of] for of in group), *one]
    return work_groups([*(counts[of] for of in items), *one], block), block
