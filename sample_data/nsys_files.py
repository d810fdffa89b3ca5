"""Writer of the tables that Nsight Systems exports, as SQLite, in four of its versions."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from workload import Copy, Launch, Recording

SYNTHETIC = "KernelPoint sample data (synthetic, not recorded)"
GPU_NAME = "Synthetic V100-like GPU"

PROCESS = 4242
_GLOBAL_PROCESS = (1 << 48) | (PROCESS << 24)
STREAM = 7
_COPY_KINDS = {"Host-to-Device": 1, "Device-to-Host": 2}
_MEMORY_KINDS = {"Pageable": 0, "Device": 2}

#: Versions of Nsight Systems whose exports differ in what a reader needs.
VERSIONS = ("2020.4", "2022.4", "2023.4", "2026.2")
VERSION_OF_SAMPLES = "2023.4"
# Columns, by the version that has them for the first time; all others are in every version.
_SINCE = {
    "mangledName": "2022.4",
    "sharedMemoryLimitConfig": "2022.4",
    "greenContextId": "2023.4",
    "graphId": "2026.2",
    "clusterX": "2026.2",
    "clusterY": "2026.2",
    "clusterZ": "2026.2",
}
_METADATA_TABLES = {"2022.4": "EXPORT_META_DATA", "2023.4": "META_DATA_EXPORT", "2026.2": "META_DATA_EXPORT"}
_OLD_GPU_TABLE = (
    "vmId INTEGER NOT NULL, name TEXT, globalMemorySize INTEGER, numMultiprocessors INTEGER, "
    "deviceId INTEGER NOT NULL, pid INTEGER NOT NULL"
)
_RANGE_TABLE = (
    "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, "
    "textId INTEGER"
)
_PUSHED_RANGE = 59

# Column lists as Nsight Systems 2023.4 declares them, and those of _SINCE.
_TABLES = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "META_DATA_EXPORT": "name TEXT NOT NULL, value TEXT",
    "PROCESSES": "globalPid INTEGER, pid INTEGER, name TEXT",
    "ENUM_CUDA_MEMCPY_OPER": "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT",
    "TARGET_INFO_GPU": (
        "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER, "
        "l2CacheSize INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, "
        "smCount INTEGER, pwGpuId INTEGER, uuid TEXT, luid INTEGER, chipName TEXT, cuDevice INTEGER, "
        "ctxswDevPath TEXT, ctrlDevPath TEXT, revision INTEGER, nodeMask INTEGER, constantMemory INTEGER, "
        "maxIPC INTEGER, maxRegistersPerBlock INTEGER, maxShmemPerBlock INTEGER, "
        "maxShmemPerBlockOptin INTEGER, maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER, "
        "threadsPerWarp INTEGER, asyncEngines INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, "
        "maxThreadsPerBlock INTEGER, maxBlockDimX INTEGER, maxBlockDimY INTEGER, maxBlockDimZ INTEGER, "
        "maxGridDimX INTEGER, maxGridDimY INTEGER, maxGridDimZ INTEGER, computeMajor INTEGER, "
        "computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER"
    ),
    "CUPTI_ACTIVITY_KIND_RUNTIME": (
        "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, "
        "correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER"
    ),
    "CUPTI_ACTIVITY_KIND_MEMCPY": (
        "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
        "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, "
        "correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, "
        "deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, "
        "srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, "
        "graphNodeId INTEGER, virtualAddress INTEGER"
    ),
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
        "contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, "
        "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, "
        "shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, "
        "registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, "
        "gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, "
        "blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, "
        "dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, "
        "localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, "
        "graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER, graphId INTEGER, clusterX INTEGER, "
        "clusterY INTEGER, clusterZ INTEGER"
    ),
}
Row = Sequence[int | str | None]
#: The declarations of a table's columns, and its rows.
Table = tuple[list[str], list[Row]]


def write_nsys_sqlite(
    recording: Recording,
    path: Path,
    program: str,
    version: str = VERSION_OF_SAMPLES,
    *,
    calls_lost: int = 0,
    range_name: str | None = None,
) -> None:
    """Write an export with the tables a reader of launches needs; tables without rows are left out.

    ``calls_lost`` is for how many of the last launches the export has no API row, and ``range_name`` what
    each pass is called in the table of named ranges, which is left out without it.
    """
    tables = export_tables(recording, program, version, calls_lost=calls_lost, range_name=range_name)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA page_size = 4096")
        database.execute("BEGIN")
        for table, (columns, rows) in tables.items():
            database.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            places = ",".join("?" * len(columns))
            database.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
        database.execute("COMMIT")
        database.execute("VACUUM")
    _forget_sqlite_version(path)


def export_tables(
    recording: Recording,
    program: str,
    version: str = VERSION_OF_SAMPLES,
    *,
    calls_lost: int = 0,
    range_name: str | None = None,
) -> dict[str, Table]:
    """Return the declared columns and the rows of every table that has any, in the order written."""
    names: dict[str, int] = {}
    called = recording.activities[: len(recording.activities) - calls_lost]
    rows: dict[str, list[Row]] = {
        "META_DATA_EXPORT": _metadata_rows(program),
        "PROCESSES": [(_GLOBAL_PROCESS, PROCESS, program)],
        "ENUM_CUDA_MEMCPY_OPER": [
            (1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"),
            (2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"),
        ],
        "TARGET_INFO_GPU": [_gpu_row()],
        "CUPTI_ACTIVITY_KIND_RUNTIME": [_runtime_row(item, names) for item in called],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [_copy_row(copy) for copy in recording.copies],
        "CUPTI_ACTIVITY_KIND_KERNEL": [
            _kernel_row(launch, number, names) for number, launch in enumerate(recording.launches, start=1)
        ],
    }
    rows["StringIds"] = [(code, value) for value, code in names.items()]
    tables = {table: _in_version(columns, rows[table], version) for table, columns in _TABLES.items()}
    if version == "2020.4":
        tables["TARGET_INFO_CUDA_GPU"] = (_OLD_GPU_TABLE.split(", "), [_old_gpu_row()])
    if range_name is not None:
        ranges = [_range_row(span, range_name) for span in recording.pass_spans_ns]
        tables["NVTX_EVENTS"] = (_RANGE_TABLE.split(", "), ranges)
    without = {"2020.4": {"META_DATA_EXPORT", "TARGET_INFO_GPU"}, "2026.2": {"TARGET_INFO_GPU"}}
    return {
        _METADATA_TABLES[version] if table == "META_DATA_EXPORT" else table: held
        for table, held in tables.items()
        if held[1] and table not in without.get(version, ())
    }


def _in_version(columns: str, rows: list[Row], version: str) -> Table:
    """Return the columns that a version has, and the rows with these alone."""
    declared = columns.split(", ")
    kept = [place for place, column in enumerate(declared) if _SINCE.get(column.split()[0], "") <= version]
    if len(kept) == len(declared):
        return declared, rows
    return [declared[place] for place in kept], [[row[place] for place in kept] for row in rows]


def kernel_columns(version: str = VERSION_OF_SAMPLES) -> list[str]:
    """Return the declarations of the columns of launches."""
    return _in_version(_TABLES["CUPTI_ACTIVITY_KIND_KERNEL"], [], version)[0]


def runtime_columns(version: str = VERSION_OF_SAMPLES) -> list[str]:
    """Return the declarations of the columns of API calls."""
    return _in_version(_TABLES["CUPTI_ACTIVITY_KIND_RUNTIME"], [], version)[0]


def _range_row(span_ns: tuple[int, int], name: str) -> Row:
    return (*span_ns, _PUSHED_RANGE, name, _GLOBAL_PROCESS | PROCESS, None)


def _old_gpu_row() -> Row:
    """Return the GPU as the table of 2020 has it, the memory in MiB."""
    return (1 << 48, GPU_NAME, (16 << 30) >> 20, 80, 0, PROCESS)


def _forget_sqlite_version(path: Path) -> None:
    """Put a fixed number where the header names the library that wrote the file: all write the same bytes."""
    content = bytearray(path.read_bytes())
    content[96:100] = (3_040_000).to_bytes(4, "big")
    path.write_bytes(content)


def _metadata_rows(program: str) -> list[Row]:
    return [
        ("EXPORT_PRODUCT_NAME", SYNTHETIC),
        ("EXPORT_PRODUCT_VERSION", "1"),
        ("EXPORT_SCHEMA_VERSION", "3.7.2"),
        ("EXPORT_SCHEMA_VERSION_MAJOR", "3"),
        ("EXPORT_SCHEMA_VERSION_MINOR", "7"),
        ("EXPORT_SCHEMA_VERSION_MICRO", "2"),
        ("EXPORT_PARAM_INPUT_FILE", program),
    ]


def _gpu_row() -> Row:
    facts: dict[str, int | str] = {
        "vmId": 1 << 48,
        "id": 0,
        "name": GPU_NAME,
        "isDiscrete": 1,
        "l2CacheSize": 6 << 20,
        "totalMemory": 16 << 30,
        "clockRate": 1_380_000_000,
        "smCount": 80,
        "cuDevice": 0,
        "threadsPerWarp": 32,
        "maxWarpsPerSm": 64,
        "maxBlocksPerSm": 32,
        "maxThreadsPerBlock": 1024,
        "computeMajor": 7,
        "computeMinor": 0,
        "smMajor": 7,
        "smMinor": 0,
    }
    columns = [column.split()[0] for column in _TABLES["TARGET_INFO_GPU"].split(", ")]
    return [facts.get(column) for column in columns]


def _runtime_row(activity: Launch | Copy, names: dict[str, int]) -> Row:
    name = "cudaLaunchKernel_v7000" if isinstance(activity, Launch) else "cudaMemcpyAsync_v3020"
    times = activity.times
    thread = _GLOBAL_PROCESS | PROCESS
    return (times.api_start_ns, times.api_end_ns, 0, thread, times.correlation, _code(name, names), 0, None)


def _copy_row(copy: Copy) -> Row:
    times = copy.times
    source, destination = (_MEMORY_KINDS[kind] for kind in copied_between(copy))
    place = (times.start_ns, times.end_ns, 0, 1, None, STREAM, times.correlation, _GLOBAL_PROCESS)
    what = (copy.size_bytes, _COPY_KINDS[copy.direction], None, source, destination)
    return (*place, *what, *(None,) * 7)


def _kernel_row(launch: Launch, number: int, names: dict[str, int]) -> Row:
    kernel, times = launch.kernel, launch.times
    place = (times.start_ns, times.end_ns, 0, 1, None, STREAM, times.correlation, _GLOBAL_PROCESS)
    what = [_code(name, names) for name in (kernel.name, kernel.short, kernel.mangled)]
    shape = (1, 1, kernel.registers, *launch.grid, *kernel.block)
    shared = kernel.static_shared_bytes, kernel.dynamic_shared_bytes
    config = 65_536 if max(shared) > 32_768 else 32_768
    return (*place, *what, *shape, *shared, 0, 0, number, config, None, 0, None, 1, 1, 1)


def _code(name: str, names: dict[str, int]) -> int:
    return names.setdefault(name, len(names) + 1)


def copied_between(copy: Copy) -> tuple[str, str]:
    """Return the kinds of memory that a copy reads and writes."""
    return ("Pageable", "Device") if copy.direction == "Host-to-Device" else ("Device", "Pageable")
