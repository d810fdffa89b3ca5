"""A writer of rocprofv3's SQLite database, with the tables of its schema 3, and of its JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

#: The columns that rocprofv3 7.0 writes, as far as anybody may look for them
TABLES = {
    "string": "id, guid, string",
    "info_process": "id, guid, nid, pid, command, environment",
    "info_agent": "id, guid, pid, type, absolute_index, type_index, name, product_name, extdata",
    "info_kernel_symbol": "id, guid, kernel_name, display_name",
    "event": "id, guid, category_id, stack_id, parent_stack_id, correlation_id, extdata",
    "region": 'id, guid, nid, pid, tid, start BIGINT, "end" BIGINT, name_id, event_id, extdata',
    "kernel_dispatch": (
        "id, guid, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start BIGINT, "
        '"end" BIGINT, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, '
        "grid_size_z, event_id, extdata"
    ),
}
#: Of recordings of copies
MEMORY_COPY = {
    "memory_copy": 'id, pid, start BIGINT, "end" BIGINT, name_id, dst_agent_id, src_agent_id, size'
}
COPIES = ("MEMORY_COPY_NONE", *(f"MEMORY_COPY_{ends}" for ends in ("HOST_TO_DEVICE", "DEVICE_TO_HOST")))
CATEGORIES = ("KERNEL_DISPATCH", "HIP_RUNTIME_API_EXT", "MARKER_CORE_RANGE_API")
#: What a program calls, in the order in which JSON numbers them
CALLS = (
    *("roctxRange", "hipLaunchKernel", "hipModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipFree"),
    *("hipLaunchCooperativeKernelMultiDevice", "hipLaunchKernelExC", "hipDrvLaunchKernelEx"),
    *("hipGraphLaunch", "hipLaunchHostFunc", "hipStreamBeginCapture", "hipStreamEndCapture"),
)
HANDLES = 5600  # of the agents in JSON
#: Agents 0 and 1 are CPUs, so HIP's GPU 0 is agent 2 and GPU 1 agent 3.
CPUS = 2
AGENTS: list[tuple[int, str, dict[str, Any]]] = [
    *((agent, "Xeon", {"cu_count": 112, "mem_banks": []}) for agent in range(CPUS)),
    *(
        (agent, "AMD Instinct MI300X", {"cu_count": 304, "mem_banks": [{"size_in_bytes": 1 << 37}]})
        for agent in range(2)
    ),
]
#: The symbols of the kernels and how they are shown.
KERNELS = {
    1: ("_Z3addPfi.kd", "add(float*, int) [clone .kd]"),
    2: ("__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer"),
}


class Dispatched(NamedTuple):
    """A dispatch as rocprofv3 records it: sizes in work-items, the agent by its number among all agents."""

    kernel: int
    number: int
    start: int
    end: int
    items: tuple[int, int, int]
    group: tuple[int, int, int]
    stack: int
    agent: int = 2
    queue: int = 16


class Copied(NamedTuple):
    """A memory copy between two agents."""

    start: int
    end: int
    bytes: int
    name: str
    to: int
    away: int


class Called(NamedTuple):
    """An API call, or a marker: then with its text."""

    stack: int
    start: int
    end: int
    text: str | None = None
    name: str = "hipLaunchKernel"


def write_database(
    path: Path,
    dispatches: Sequence[Dispatched],
    calls: Sequence[Called] = (),
    copies: Sequence[Copied] | None = None,
    *,
    pid: int = 28,
    suffix: str = "_00003fdc_92cb",
) -> Path:
    """Write or add to a database one recording; without copies it has no table of them."""
    tables = TABLES | ({} if copies is None else MEMORY_COPY)
    rows: list[tuple[str, dict[str, Any]]] = [
        ("string", {"id": number, "string": text})
        for number, text in enumerate((*CATEGORIES, *CALLS, *COPIES), start=1)
    ]
    rows.append(
        ("info_process", {"id": 7, "pid": pid, "command": "./secret", "environment": '{"T": "secret"}'})
    )
    for agent, (index, name, details) in enumerate(AGENTS):
        known = {"type_index": index, "product_name": name, "extdata": json.dumps(details)}
        known["type"] = "CPU" if agent < CPUS else "GPU"
        rows.append(("info_agent", {"id": agent, "absolute_index": agent, **known}))
    for kernel, (symbol, shown) in KERNELS.items():
        rows.append(("info_kernel_symbol", {"id": kernel, "kernel_name": symbol, "display_name": shown}))
    for event, each in enumerate((*calls, *dispatches), start=1):
        is_call, text = isinstance(each, Called), getattr(each, "text", None)
        category = (2 if text is None else 3) if is_call else 1
        details = json.dumps({} if text is None else {"message": text})
        rows.append(
            ("event", {"id": event, "category_id": category, "stack_id": each.stack, "extdata": details})
        )
        timed = {"pid": 7, "start": each.start, "end": each.end, "event_id": event}
        if isinstance(each, Called):
            name = CALLS.index(each.name if text is None else CALLS[0]) + len(CATEGORIES) + 1
            rows.append(("region", {**timed, "tid": 7, "name_id": name}))
            continue
        sizes = {f"grid_size_{axis}": size for axis, size in zip("xyz", each.items, strict=True)}
        sizes |= {f"workgroup_size_{axis}": size for axis, size in zip("xyz", each.group, strict=True)}
        numbers = {"kernel_id": each.kernel, "dispatch_id": each.number, "queue_id": each.queue}
        rows.append(
            ("kernel_dispatch", {**timed, **sizes, **numbers, "agent_id": each.agent, "stream_id": 0})
        )
    for number, copy in enumerate(copies or (), start=1):
        name = COPIES.index(copy.name) + len(CATEGORIES) + len(CALLS) + 1
        ends = {"dst_agent_id": copy.to, "src_agent_id": copy.away, "size": copy.bytes}
        timed = {"id": number, "pid": 7, "start": copy.start, "end": copy.end, "name_id": name}
        rows.append(("memory_copy", timed | ends))
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, columns in tables.items():
            connection.execute(f'CREATE TABLE "rocpd_{table}{suffix}" ({columns})')
        for table, row in rows:
            names, places = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
            connection.execute(
                f'INSERT INTO "rocpd_{table}{suffix}" ({names}) VALUES ({places})', tuple(row.values())
            )
    return path


def json_of(
    dispatches: Sequence[Dispatched],
    calls: Sequence[Called] = (),
    copies: Sequence[Copied] = (),
    *,
    pid: int = 28,
) -> dict[str, Any]:
    """Return one recording as rocprofv3's JSON has it, with the fields in its order."""

    def timed(each: Called | Dispatched) -> dict[str, Any]:
        return {
            "size": 56,
            "kind": 1,
            "operation": CALLS.index(each.name) if isinstance(each, Called) else 0,
            "thread_id": 7,
            "correlation_id": {"internal": each.stack, "external": 0},
            "start_timestamp": each.start,
            "end_timestamp": each.end,
        }

    def dispatched(each: Dispatched) -> dict[str, Any]:
        info = {
            "size": 72,
            "agent_id": {"handle": HANDLES + each.agent},
            "queue_id": {"handle": each.queue},
            "kernel_id": each.kernel,
            "dispatch_id": each.number,
            "workgroup_size": dict(zip("xyz", each.group, strict=True)),
            "grid_size": dict(zip("xyz", each.items, strict=True)),
        }
        return {**timed(each), "dispatch_info": info, "stream_id": {"handle": 0}}

    def moved(each: Copied) -> dict[str, Any]:
        ends = {
            "dst_agent_id": {"handle": HANDLES + each.to},
            "src_agent_id": {"handle": HANDLES + each.away},
        }
        times = {"start_timestamp": each.start, "end_timestamp": each.end, "bytes": each.bytes}
        return {"size": 80, "kind": 2, "operation": COPIES.index(each.name), **times, **ends}

    agents = [
        {
            "id": {"handle": HANDLES + agent},
            "type": 1 if agent < CPUS else 2,
            "name": "gfx942",
            "product_name": name,
            "logical_node_type_id": index,
            **details,
        }
        for agent, (index, name, details) in enumerate(AGENTS)
    ]
    symbols = [
        {"kernel_id": kernel, "kernel_name": symbol, "formatted_kernel_name": shown.partition(" [")[0]}
        for kernel, (symbol, shown) in KERNELS.items()
    ]
    return {
        "metadata": {"node": {"hostname": "secret"}, "pid": pid, "command": ["./secret"]},
        "agents": agents,
        "strings": {
            "buffer_records": [
                {"kind": "NONE", "operations": []},
                {"kind": "HIP", "operations": CALLS},
                {"kind": "MEMORY_COPY", "operations": COPIES},
            ],
            "marker_api": [{"key": call.stack, "value": call.text} for call in calls if call.text],
        },
        "kernel_symbols": symbols,
        "buffer_records": {
            "kernel_dispatch": [dispatched(each) for each in dispatches],
            "hip_api": [timed(call) for call in calls if call.text is None],
            "hsa_api": [],
            "memory_copy": [moved(copy) for copy in copies],
            "marker_api": [timed(call) for call in calls if call.text is not None],
        },
    }


def write_json(path: Path, *recordings: dict[str, Any], indent: int | None = None) -> Path:
    """Write recordings, one for each process."""
    separators = (",", ":") if indent is None else None
    path.write_text(json.dumps({"rocprofiler-sdk-tool": recordings}, separators=separators, indent=indent))
    return path
