"""The headers of ROCm's kernel lists: rocprof, rocprofv2, rocprofv3, what rocpd and Omniperf make of them.

One row is one launch in all of them, times are nanoseconds, grids are counted in work-items. Columns differ
in names, capitals and order, so a column is known by what it may be called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sampling.readers.csv_cells import Kind, Layout, first_line, header_cells

Role = Literal[
    "name",
    "start",
    "end",
    "kind",
    "device",
    "queue",
    "process",
    "database",
    "order",
    "items",
    "items_x",
    "items_y",
    "items_z",
    "group",
    "group_x",
    "group_y",
    "group_z",
]

# In each the best first: a dispatch has a number of its own, a call may dispatch several kernels.
_CALLED: Mapping[Role, tuple[str, ...]] = {
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
    "items_x": ("grid_size_x",),
    "items_y": ("grid_size_y",),
    "items_z": ("grid_size_z",),
    "group": ("wgr", "workgroup_size"),
    "group_x": ("workgroup_size_x",),
    "group_y": ("workgroup_size_y",),
    "group_z": ("workgroup_size_z",),
}
_TEXTS: frozenset[Role] = frozenset({"name", "kind", "device", "database"})
_REQUIRED: frozenset[Role] = frozenset({"name", "start", "end"})
# A row of these is a counter of a launch, so launches stand there several times.
_A_ROW_A_COUNTER = "counter_name"


@dataclass(frozen=True, slots=True)
class KernelList:
    """The header of a kernel list.

    Attributes
    ----------
    layout : its cells, and the columns to read.
    positions : of every role that has a column.
    """

    layout: Layout
    positions: Mapping[Role, int]


def kernel_list(text: bytes) -> KernelList | None:
    """Return the first line that is not empty as the header of a kernel list, None if it is none."""
    cells = header_cells(first_line(text))
    called = [cell.strip().casefold().replace("-", "_") for cell in cells]
    positions: dict[Role, int] = {}
    for role, names in _CALLED.items():
        known = [name for name in names if name in called]
        if known:
            positions[role] = called.index(known[0])
    if not _REQUIRED.issubset(positions) or _A_ROW_A_COUNTER in called:
        return None
    kinds: dict[int, Kind] = {
        position: "text" if role in _TEXTS else "integer" for role, position in positions.items()
    }
    return KernelList(Layout(cells, kinds), positions)
