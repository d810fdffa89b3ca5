"""Writers of what Nsight Systems exports: the SQLite tables, and the CSV of ``nsys stats``."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from workload import Copy, Launch, Recording

SYNTHETIC = "KernelPoint sample data (synthetic, not recorded)"
GPU_NAME = "Synthetic V100-like GPU"

_PROCESS = 4242
_GLOBAL_PROCESS = (1 << 48) | (_PROCESS << 24)
_STREAM = 7
_COPY_KINDS = {"Host-to-Device": 1, "Device-to-Host": 2}
_MEMORY_KINDS = {"Pageable": 0, "Device": 2}

# Column lists as Nsight Systems 2023.4 declares them.
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
        "graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER"
    ),
}
_CSV_HEADER = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),"
    "Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name"
)

Row = Sequence[int | str | None]


def write_nsys_sqlite(recording: Recording, path: Path, program: str) -> None:
    """Write an export with the tables a reader of launches needs."""
    names: dict[str, int] = {}
    rows: dict[str, list[Row]] = {
        "META_DATA_EXPORT": _metadata_rows(program),
        "PROCESSES": [(_GLOBAL_PROCESS, _PROCESS, program)],
        "ENUM_CUDA_MEMCPY_OPER": [
            (1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"),
            (2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"),
        ],
        "TARGET_INFO_GPU": [_gpu_row()],
        "CUPTI_ACTIVITY_KIND_RUNTIME": [_runtime_row(item, names) for item in recording.activities],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [_copy_row(copy) for copy in recording.copies],
        "CUPTI_ACTIVITY_KIND_KERNEL": [
            _kernel_row(launch, number, names) for number, launch in enumerate(recording.launches, start=1)
        ],
    }
    rows["StringIds"] = [(code, value) for value, code in names.items()]
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA page_size = 4096")
        database.execute("BEGIN")
        for table, columns in _TABLES.items():
            database.execute(f"CREATE TABLE {table} ({columns})")
            places = ",".join("?" * (columns.count(",") + 1))
            database.executemany(f"INSERT INTO {table} VALUES ({places})", rows[table])
        database.execute("COMMIT")
        database.execute("VACUUM")
    _forget_sqlite_version(path)


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
    thread = _GLOBAL_PROCESS | _PROCESS
    return (times.api_start_ns, times.api_end_ns, 0, thread, times.correlation, _code(name, names), 0, None)


def _copy_row(copy: Copy) -> Row:
    times = copy.times
    source, destination = (_MEMORY_KINDS[kind] for kind in _copied_between(copy))
    place = (times.start_ns, times.end_ns, 0, 1, None, _STREAM, times.correlation, _GLOBAL_PROCESS)
    what = (copy.size_bytes, _COPY_KINDS[copy.direction], None, source, destination)
    return (*place, *what, *(None,) * 7)


def _kernel_row(launch: Launch, number: int, names: dict[str, int]) -> Row:
    kernel, times = launch.kernel, launch.times
    place = (times.start_ns, times.end_ns, 0, 1, None, _STREAM, times.correlation, _GLOBAL_PROCESS)
    what = [_code(name, names) for name in (kernel.name, kernel.short, kernel.mangled)]
    shape = (1, 1, kernel.registers, *launch.grid, *kernel.block)
    shared = kernel.static_shared_bytes, kernel.dynamic_shared_bytes
    return (*place, *what, *shape, *shared, 0, 0, number, 65_536 if max(shared) > 32_768 else 32_768, None, 0)


def _code(name: str, names: dict[str, int]) -> int:
    return names.setdefault(name, len(names) + 1)


def _copied_between(copy: Copy) -> tuple[str, str]:
    return ("Pageable", "Device") if copy.direction == "Host-to-Device" else ("Device", "Pageable")


def write_nsys_csv(recording: Recording, path: Path) -> None:
    """Write the cuda_gpu_trace report of 2023.4 and later: by start on the GPU, copies without a grid."""
    activities = sorted(recording.activities, key=lambda activity: activity.times.start_ns)
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(f"Processing [{SYNTHETIC}] with [cuda_gpu_trace]... \n{_CSV_HEADER}\n")
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows(_csv_row(activity) for activity in activities)
        stream.write("\n")


def _csv_row(activity: Launch | Copy) -> Row:
    times = activity.times
    when = (times.start_ns, times.duration_ns, times.correlation)
    where = (f"{GPU_NAME} (0)", 1, "", _STREAM)
    if isinstance(activity, Copy):
        megabytes = activity.size_bytes / 1e6
        rate = activity.size_bytes * 1e3 / times.duration_ns
        size = (f"{megabytes:.3f}", f"{rate:.3f}", *_copied_between(activity))
        return (*when, *("",) * 9, *size, *where, f"[CUDA memcpy {activity.direction}]")
    kernel = activity.kernel
    shared = (f"{size / 1e6:.3f}" for size in (kernel.static_shared_bytes, kernel.dynamic_shared_bytes))
    return (*when, *activity.grid, *kernel.block, kernel.registers, *shared, *("",) * 4, *where, kernel.name)
