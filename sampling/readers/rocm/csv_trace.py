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
from sampling.errors import ProfileError
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import KernelTable, LaunchOrder, Profile, ProfileFile, RecordingFacts
from sampling.progress import Progress
from sampling.readers.csv_cells import Kind, Layout, first_line, header_cells, parse, parts
from sampling.readers.input_file import InputFile
from sampling.readers.rocm.recording import bare_name, work_groups
from sampling.readers.tables.cells import Rows

FORMAT = "rocprof-csv"

_REMEDY = "record the profile again"
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


def recognise(file: InputFile) -> bool:
    """Return whether the first line is the header of a kernel list."""
    return _columns(file) is not None


def _columns(file: InputFile) -> tuple[Layout, dict[str, int]] | None:
    """Return the layout of a kernel list, and the positions of the columns that count; None if it is none."""
    cells = header_cells(first_line(file.head))
    called = [cell.strip().casefold().replace("-", "_") for cell in cells]
    known = {of: [name for name in names if name in called] for of, names in _CALLED.items()}
    at = {of: called.index(names[0]) for of, names in known.items() if names}
    if not {"name", "start", "end"} <= set(at) or _A_ROW_A_COUNTER in called:
        return None
    kinds: dict[int, Kind] = {at[of]: "text" if of in _TEXTS else "integer" for of in at}
    return Layout(cells, kinds), at


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the dispatches as launches.

    Raises
    ------
    ProfileError : a row is cut short, a value is missing or makes no sense; there is no dispatch.
    """
    found = _columns(file)
    assert found is not None, "asked to read what was not recognised"
    layout, at = found
    builder = LaunchTableBuilder(file.path, kernels)
    launches = 0
    launch_order: LaunchOrder = "correlation"
    databases: dict[str, int] = {}
    for part in parts(file, layout, progress):
        rows = Rows(part, parse(part), _REMEDY)
        if "kind" in at:
            kinds, codes = rows.texts(at["kind"])
            rows = rows.where(np.array([kind == "KERNEL_DISPATCH" for kind in kinds], dtype=np.bool_)[codes])
        if not len(rows):
            continue
        order, process, queue = (rows.whole_if_complete(at.get(of)) for of in ("order", "process", "queue"))
        if order is None:
            launch_order = "gpu-start"
        if "process" not in at and "database" in at:
            # The databases that rocpd merged are numbered as they come.
            distinct, codes = rows.texts(at["database"])
            numbers = [databases.setdefault(each, len(databases)) for each in distinct]
            process = np.array(numbers, dtype=np.int64)[codes]
        grid, block = _dimensions(rows, at)
        start_ns = rows.times(at["start"])
        duration_ns = rows.times(at["end"]) - start_ns
        rows.refuse(duration_ns < 0, at["end"], "a launch ends before it starts")
        builder.append(
            LaunchColumns(
                name=rows.names(at["name"], kernels, bare_name),
                duration_ns=duration_ns,
                order=order,
                process=process,
                device=_devices(rows, at["device"]) if "device" in at else None,
                grid=grid,
                block=block,
                start_ns=start_ns,
                stream=queue,
            )
        )
        launches += len(rows)
    if launches == 0:
        raise ProfileError(
            "a ROCm kernel list without a kernel dispatch",
            path=file.path,
            remedy="record the program with `rocprofv3 --kernel-trace`",
        )
    return builder.finish(
        format_name=FORMAT,
        file=ProfileFile(file.path, file.location, launches),
        facts=RecordingFacts(launch_order=launch_order),
    )


def _devices(rows: Rows, position: int) -> AnyIntArray:
    agents, codes = rows.texts(position)
    found = [_AGENT.fullmatch(agent) for agent in agents]
    if None in found:
        wrong = found.index(None)
        rows.refuse(codes == wrong, position, f"{agents[wrong]!r} does not say which GPU")
    return np.array([int(match[1]) for match in found if match], dtype=np.int32)[codes]


def _dimensions(
    rows: Rows, at: Mapping[str, int]
) -> tuple[Sequence[AnyIntArray], Sequence[AnyIntArray]] | tuple[None, None]:
    """Return the grid in work-groups and the work-group; None where the list does not say both."""
    items, group = ([f"{what}_{axis}" for axis in "xyz"] for what in ("items", "group"))
    if not at.keys() >= {*items, *group}:
        items, group = ["items"], ["group"]
    if not at.keys() >= {*items, *group}:
        return None, None
    counts = {of: rows.whole(at[of]) for of in (*items, *group)}
    for of, numbers in counts.items():
        rows.refuse(numbers < 0, at[of], f"{int(numbers.min())} is no size")
    one = [np.ones(len(rows), dtype=np.int64)] * (3 - len(items))
    block = [*(counts[of] for of in group), *one]
    return work_groups([*(counts[of] for of in items), *one], block), block
