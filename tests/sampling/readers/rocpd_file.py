"""A writer of rocprofv3's SQLite database, with the tables of its schema 3, and of its JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

#: The columns that rocprofv3 7.0 writes, without foreign keys and defaults.
TABLES = {
    "string": "id INTEGER PRIMARY KEY, guid TEXT, string TEXT",
    "info_process": (
        "id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, command TEXT, environment TEXT"
    ),
    "info_agent": (
        "id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, "
        "logical_index INTEGER, type_index INTEGER, name TEXT, product_name TEXT, extdata TEXT"
    ),
    "info_kernel_symbol": "id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT",
    "event": (
        "id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, "
        "correlation_id INTEGER, extdata TEXT"
    ),
    "region": (
        "id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, "
        '"end" BIGINT, name_id INTEGER, event_id INTEGER, extdata TEXT'
    ),
    "kernel_dispatch": (
        "id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, "
        "kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, "
        '"end" BIGINT, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, '
        "grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER, extdata TEXT"
    ),
}
HANDLES = 5600  # of the agents in JSON
DETAILS = {"cu_count": 304, "mem_banks": [{"size_in_bytes": 1 << 37}]}


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


class Called(NamedTuple):
    """An API call, or a marker: then with its text."""

    stack: int
    start: int
    end: int
    text: str | None = None


#: Agents 0 and 1 are CPUs, so HIP's GPU 0 is agent 2 and GPU 1 agent 3.
CPUS = 2
#: The symbols of the kernels and how they are shown.
KERNELS = {
    1: ("_Z3addPfi.kd", "add(float*, int) [clone .kd]"),
    2: ("__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer"),
}


def write_database(
    path: Path,
    dispatches: Sequence[Dispatched],
    calls: Sequence[Called] = (),
    *,
    pid: int = 28,
    suffix: str = "_00003fdc_92cb",
) -> Path:
    """Write or add to a database one recording."""
    with closing(sqlite3.connect(path)) as connection:
        for table, columns in TABLES.items():
            connection.execute(f'CREATE TABLE "rocpd_{table}{suffix}" ({columns})')

        def insert(table: str, **row: Any) -> None:
            names = ", ".join(f'"{name}"' for name in row)
            places = ", ".join("?" * len(row))
            connection.execute(
                f'INSERT INTO "rocpd_{table}{suffix}" ({names}) VALUES ({places})', tuple(row.values())
            )

        categories = (
            "KERNEL_DISPATCH",
            "HIP_RUNTIME_API_EXT",
            "MARKER_CORE_RANGE_API",
            "hipLaunchKernel",
            "roctxRange",
        )
        for number, text in enumerate(categories, start=1):
            insert("string", id=number, string=text)
        insert("info_process", id=7, pid=pid, command="./secret", environment='{"TOKEN": "secret"}')
        for agent in range(CPUS + 2):
            insert(
                "info_agent",
                id=agent,
                type="CPU" if agent < CPUS else "GPU",
                absolute_index=agent,
                type_index=agent if agent < CPUS else agent - CPUS,
                product_name="Xeon" if agent < CPUS else "AMD Instinct MI300X",
                extdata=json.dumps({} if agent < CPUS else DETAILS),
            )
        for kernel, (symbol, shown) in KERNELS.items():
            insert("info_kernel_symbol", id=kernel, kernel_name=symbol, display_name=shown)
        for call in calls:
            details = json.dumps({} if call.text is None else {"message": call.text})
            event = 1 + connection.execute(f'SELECT COUNT(*) FROM "rocpd_event{suffix}"').fetchone()[0]
            insert(
                "event",
                id=event,
                category_id=2 if call.text is None else 3,
                stack_id=call.stack,
                extdata=details,
            )
            name = 4 if call.text is None else 5
            insert("region", pid=7, tid=7, start=call.start, end=call.end, name_id=name, event_id=event)
        for each in dispatches:
            event = 1 + connection.execute(f'SELECT COUNT(*) FROM "rocpd_event{suffix}"').fetchone()[0]
            insert("event", id=event, category_id=1, stack_id=each.stack, extdata="{}")
            sizes = {f"grid_size_{axis}": size for axis, size in zip("xyz", each.items, strict=True)}
            sizes |= {f"workgroup_size_{axis}": size for axis, size in zip("xyz", each.group, strict=True)}
            insert(
                "kernel_dispatch",
                pid=7,
                agent_id=each.agent,
                kernel_id=each.kernel,
                dispatch_id=each.number,
                queue_id=each.queue,
                stream_id=0,
                start=each.start,
                end=each.end,
                event_id=event,
                **sizes,
            )
        connection.commit()
    return path


def json_of(
    dispatches: Sequence[Dispatched], calls: Sequence[Called] = (), *, pid: int = 28
) -> dict[str, Any]:
    """Return one recording as rocprofv3's JSON has it, with the fields in its order."""

    def timed(call: Called) -> dict[str, Any]:
        return {
            "size": 56,
            "kind": 3,
            "operation": 1,
            "correlation_id": {"internal": call.stack, "external": 0},
            "start_timestamp": call.start,
            "end_timestamp": call.end,
            "thread_id": 7,
        }

    agents: list[dict[str, Any]] = [
        {
            "id": {"handle": HANDLES + agent},
            "type": 1 if agent < CPUS else 2,
            "name": "gfx942",
            "product_name": "Xeon" if agent < CPUS else "AMD Instinct MI300X",
            "logical_node_id": agent,
            "logical_node_type_id": agent if agent < CPUS else agent - CPUS,
            **({"cu_count": 112, "mem_banks": []} if agent < CPUS else DETAILS),
        }
        for agent in range(CPUS + 2)
    ]
    symbols = [
        {
            "kernel_id": kernel,
            "kernel_name": symbol,
            "formatted_kernel_name": shown.removesuffix(" [clone .kd]"),
        }
        for kernel, (symbol, shown) in KERNELS.items()
    ]
    records = [
        {
            "size": 184,
            "kind": 11,
            "operation": 2,
            "thread_id": 7,
            "correlation_id": {"internal": each.stack, "external": 0},
            "start_timestamp": each.start,
            "end_timestamp": each.end,
            "dispatch_info": {
                "size": 72,
                "agent_id": {"handle": HANDLES + each.agent},
                "queue_id": {"handle": each.queue},
                "kernel_id": each.kernel,
                "dispatch_id": each.number,
                "workgroup_size": dict(zip("xyz", each.group, strict=True)),
                "grid_size": dict(zip("xyz", each.items, strict=True)),
            },
            "stream_id": {"handle": 0},
        }
        for each in dispatches
    ]
    return {
        "metadata": {"node": {"hostname": "secret"}, "pid": pid, "command": ["./secret"]},
        "agents": agents,
        "strings": {"marker_api": [{"key": call.stack, "value": call.text} for call in calls if call.text]},
        "kernel_symbols": symbols,
        "buffer_records": {
            "kernel_dispatch": records,
            "hip_api": [timed(call) for call in calls if call.text is None],
            "hsa_api": [],
            "marker_api": [timed(call) for call in calls if call.text is not None],
        },
    }


def write_json(path: Path, *recordings: dict[str, Any], indent: int | None = None) -> Path:
    """Write recordings, one for each process."""
    separators = (",", ":") if indent is None else None
    path.write_text(json.dumps({"rocprofiler-sdk-tool": recordings}, separators=separators, indent=indent))
    return path
