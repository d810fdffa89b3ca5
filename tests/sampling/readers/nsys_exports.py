"""Writes small nsys exports as each version of nsys would: tables, columns, nullability."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

_OLDEST = (
    "start end deviceId contextId streamId correlationId? globalPid? demangledName shortName launchType? "
    "cacheConfig? registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory "
    "dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted? graphNodeId?"
)
_2022 = _OLDEST.replace("shortName", "shortName mangledName?") + " sharedMemoryLimitConfig?"
_2023 = _2022.replace("contextId", "contextId greenContextId?")
_2026 = (
    _2023 + " qmdBulkReleaseDone? qmdPreexitDone? qmdLastCtaDone? graphId? clusterX? clusterY? clusterZ? "
    "clusterSchedulingPolicy? maxPotentialClusterSize? maxActiveClusters? sharedMemoryRequestedPercentage?"
)

#: The columns of the kernel table by nsys version, a "?" after those that may be NULL.
KERNEL_COLUMNS = {
    version: tuple(columns.split())
    for version, columns in {"2020.4": _OLDEST, "2022.4": _2022, "2023.4": _2023, "2026.2": _2026}.items()
}
_RUNTIME = "start? end? eventClass globalTid? correlationId? nameId returnValue? callchainId?"
_RUNTIME_COLUMNS = tuple(_RUNTIME.split())
_META_DATA = {"2022.4": "EXPORT_META_DATA", "2023.4": "META_DATA_EXPORT", "2026.2": "META_DATA_EXPORT"}

SECRET = "TOKEN=hunter2"
VM = 1 << 48


def global_pid(pid: int, vm: int = VM) -> int:
    """Return nsys' globalPid of a process."""
    return vm + (pid << 24)


@dataclass(frozen=True)
class Launch:
    """A row of the kernel table."""

    start: int | None
    end: int | None
    correlation: int | None = None
    pid: int | None = 100
    device: int = 0
    stream: int = 7
    name: str | None = "void k<float>(float *)"
    short: str | None = "k"
    mangled: str | None = "_Z1kIfEvPf"
    grid: tuple[int | None, int | None, int | None] = (4, 2, 1)
    block: tuple[int, int, int] = (128, 1, 1)
    vm: int = VM
    node: int | None = None


@dataclass(frozen=True)
class Call:
    """A row of the API table."""

    start: int | None
    correlation: int | None
    pid: int | None = 100
    name: str = "cudaLaunchKernel_v7000"
    vm: int = VM
    returned: int | None = 0
    thread: int = 4242
    lasts: int | None = 5


@dataclass
class Export:
    """Tables of an export: columns ("?" = may be NULL) and rows."""

    tables: dict[str, tuple[Sequence[str], list[Sequence[object]]]] = field(default_factory=dict)
    strings: dict[str, int] = field(default_factory=dict)

    def string(self, text: str | None) -> int | None:
        """Return the id of a string."""
        return None if text is None else self.strings.setdefault(text, 2 * len(self.strings) + 3)

    def add(self, table: str, columns: str, *rows: Sequence[object]) -> Export:
        """Add a table."""
        self.tables[table] = (tuple(columns.split()), [*rows])
        return self

    def all_tables(self) -> dict[str, tuple[Sequence[str], list[Sequence[object]]]]:
        """Return all tables with the strings."""
        strings = [(number, text) for text, number in self.strings.items()]
        return {"StringIds": (("id", "value"), strings), **self.tables} if strings else self.tables

    def sqlite(self, path: Path) -> Path:
        """Write a SQLite database."""
        with closing(sqlite3.connect(path)) as connection, connection:
            for table, (columns, rows) in self.all_tables().items():
                declared = [
                    f'"{name.rstrip("?")}" {_declared(name, rows, index)}'
                    for index, name in enumerate(columns)
                ]
                connection.execute(f'CREATE TABLE "{table}" ({", ".join(declared)})')
                marks = ", ".join("?" * len(columns))
                connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)
        return path

    def parquet_folder(self, folder: Path) -> Path:
        """Write a parquetdir."""
        import pyarrow.parquet as pq

        folder.mkdir()
        for name, table in self._arrow().items():
            pq.write_table(table, folder / f"{name}.parquet")
        return folder

    def arrow_folder(self, folder: Path, *, stream: bool) -> Path:
        """Write an arrowdir, of Arrow IPC streams or files."""
        import pyarrow as pa

        folder.mkdir()
        for name, table in self._arrow().items():
            path = folder / f"{name}.{'arrows' if stream else 'arrow'}"
            with (pa.ipc.new_stream if stream else pa.ipc.new_file)(path, table.schema) as writer:
                writer.write_table(table, max_chunksize=3)
        return folder

    def _arrow(self) -> Mapping[str, object]:
        import pyarrow as pa

        found = {}
        for name, (columns, rows) in self.all_tables().items():
            arrays = [
                _arrow_array(column, [row[index] for row in rows]) for index, column in enumerate(columns)
            ]
            found[name] = pa.table(arrays, names=[column.rstrip("?") for column in columns])
        return found


def _declared(column: str, rows: Sequence[Sequence[object]], index: int) -> str:
    kind = "TEXT" if any(isinstance(row[index], str) for row in rows) else "INTEGER"
    nullable = column.endswith("?") or any(row[index] is None for row in rows)
    return kind if nullable else f"{kind} NOT NULL"


def _arrow_array(column: str, values: list[object]) -> object:
    import pyarrow as pa

    if column.rstrip("?") in {"globalPid", "globalTid", "demangledName", "shortName", "mangledName"}:
        return pa.array(values, type=pa.uint64())
    if any(isinstance(value, bytes) for value in values):
        raw = [value.encode() if isinstance(value, str) else value for value in values]
        return pa.array(raw, type=pa.binary()).view(pa.string())
    if any(isinstance(value, str) for value in values):
        return pa.array(values, type=pa.string())
    return pa.array(values, type=pa.int32() if column.startswith(("grid", "block")) else pa.int64())


def export(version: str, launches: Sequence[Launch], calls: Sequence[Call] = ()) -> Export:
    """Return an export of one nsys version; tables without rows are left out, as nsys does."""
    made = Export()
    if launches:
        columns = KERNEL_COLUMNS[version]
        rows = [[_cell(made, launch, column.rstrip("?")) for column in columns] for launch in launches]
        made.tables["CUPTI_ACTIVITY_KIND_KERNEL"] = (columns, rows)
    if calls:
        made.tables["CUPTI_ACTIVITY_KIND_RUNTIME"] = (
            _RUNTIME_COLUMNS,
            [_call_row(made, call) for call in calls],
        )
    if version in _META_DATA:
        number = f"{version}.1"
        rows = [("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"), ("EXPORT_PRODUCT_VERSION", number)]
        made.add(_META_DATA[version], "name value?", *rows, ("EXPORT_USER", SECRET))
    if version in {"2023.4", "2026.2"}:
        settings = [("PROCESS_0:COMMAND", SECRET), ("PROCESS_0:ENVIRONMENT_VARIABLE", SECRET)]
        made.add("META_DATA_CAPTURE", "name value?", *settings)
    return made


def _cell(made: Export, launch: Launch, column: str) -> object:
    process = None if launch.pid is None else global_pid(launch.pid, launch.vm)
    named = {"demangledName": launch.name, "shortName": launch.short, "mangledName": launch.mangled}
    known = {
        "start": launch.start,
        "end": launch.end,
        "deviceId": launch.device,
        "streamId": launch.stream,
        "correlationId": launch.correlation,
        "globalPid": process,
        "graphNodeId": launch.node,
        **dict(zip(("gridX", "gridY", "gridZ"), launch.grid, strict=True)),
        **dict(zip(("blockX", "blockY", "blockZ"), launch.block, strict=True)),
    }
    if column in named:
        return made.string(named[column])
    return known.get(column, 1)


def _call_row(made: Export, call: Call) -> Sequence[object]:
    thread = None if call.pid is None else global_pid(call.pid, call.vm) + call.thread
    return (
        call.start,
        None if call.lasts is None else (call.start or 0) + call.lasts,
        0,
        thread,
        call.correlation,
        made.string(call.name),
        call.returned,
        None,
    )
