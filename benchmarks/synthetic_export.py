"""A large seeded nsys SQLite export, or trace of PyTorch's profiler, for benchmarks.

python benchmarks/synthetic_export.py FILE.sqlite LAUNCHES
python benchmarks/synthetic_export.py FILE.json.gz LAUNCHES
"""

from __future__ import annotations

import gzip
import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "sample_data"))

from nsys_files import PROCESS, kernel_columns, runtime_columns

KERNELS = 200
CLOCK_NS = 32
ROWS_AT_ONCE = 1 << 20
_PROCESS = (1 << 48) | (PROCESS << 24)
# With less of it the streams would have ever more to do than they can.
_GAP_NS = 16_000
# The ids of the names of calls
_LAUNCHES, _OTHERS = 3 * KERNELS + 1, 3 * KERNELS + 2


def write_export(path: Path, launches: int, *, seed: int = 0) -> None:
    """Write ``launches`` launches of 200 kernels on four streams, and the API calls behind them.

    One call in eleven launches nothing. Kernels have durations and grids as in `synthetic_profile`. As nsys
    does, launches stand in the order in which they began on the GPU: neighbours on several streams change
    places. A stream runs one launch after the other.
    """
    rng = np.random.default_rng(seed)
    popularity = rng.lognormal(0, 1.2, KERNELS)
    base_ns = rng.lognormal(np.log(20_000), 1.0, KERNELS)
    peaks = rng.lognormal(0, 0.5, (KERNELS, 4))
    width = rng.uniform(0.01, 0.1, KERNELS)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", _texts())
        for table, columns in (("RUNTIME", runtime_columns()), ("KERNEL", kernel_columns())):
            database.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_{table} ({', '.join(columns)})")
        database.execute("BEGIN")
        calls = 0
        free_ns = dict.fromkeys(range(7, 11), 0)
        for first in range(0, launches, ROWS_AT_ONCE):
            rows = min(ROWS_AT_ONCE, launches - first)
            kernel = rng.choice(KERNELS, rows, p=popularity / popularity.sum())
            shape = rng.integers(0, 8, rows)
            mean_ns = base_ns[kernel] * peaks[kernel, shape % 4]
            duration_ns = mean_ns * (1 + width[kernel] * rng.standard_normal(rows))
            duration_ns *= np.where(rng.random(rows) < 0.0005, 5, 1)
            ticks = np.maximum(np.rint(duration_ns / CLOCK_NS), 1).astype(np.int64)
            stream = rng.integers(7, 11, rows)
            # Calls are counted over the whole run; a tenth of the launches have another call before them.
            call = calls + np.arange(rows) + np.arange(rows) // 10 + 1
            other = call[::10] - 1
            calls += rows + len(other)
            start_ns = _GAP_NS * call + 3_000 + rng.integers(0, 1_500, rows) * (stream - 6)
            for number in free_ns:
                own = stream == number
                before_ns = np.cumsum(ticks[own] * CLOCK_NS) - ticks[own] * CLOCK_NS
                waits_ns = np.maximum(start_ns[own] - before_ns, free_ns[number])
                start_ns[own] = np.maximum.accumulate(waits_ns) + before_ns
                free_ns[number] = int(start_ns[own][-1] + ticks[own][-1] * CLOCK_NS)
            order = np.argsort(start_ns, kind="stable")
            launched = {
                "start": start_ns[order],
                "end": (start_ns + ticks * CLOCK_NS)[order],
                "streamId": stream[order],
                "correlationId": 1 + call[order],
                "demangledName": 1 + 3 * kernel[order],
                "shortName": 2 + 3 * kernel[order],
                "mangledName": 3 + 3 * kernel[order],
                "gridX": ((1 << shape) * (kernel % 16 + 1))[order],
                "gridId": 1 + call[order],
            }
            every_call = np.concatenate([call, other])
            in_order = np.argsort(every_call, kind="stable")
            every_call = every_call[in_order]
            called = {
                "start": _GAP_NS * every_call,
                "end": _GAP_NS * every_call + 2_000,
                "correlationId": 1 + every_call,
                "nameId": np.where(in_order < rows, _LAUNCHES, _OTHERS),
            }
            _insert(database, "KERNEL", kernel_columns(), launched, _CONSTANTS_OF_A_LAUNCH)
            _insert(database, "RUNTIME", runtime_columns(), called, _CONSTANTS_OF_A_CALL)
        database.execute("COMMIT")


_CONSTANTS_OF_A_LAUNCH = {
    "deviceId": 0,
    "contextId": 1,
    "globalPid": _PROCESS,
    "launchType": 1,
    "cacheConfig": 1,
    "registersPerThread": 32,
    **dict.fromkeys(("gridY", "gridZ", "blockY", "blockZ", "clusterX", "clusterY", "clusterZ"), 1),
    "blockX": 256,
    **dict.fromkeys(("staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread"), 0),
    "localMemoryTotal": 0,
    "sharedMemoryExecuted": 32_768,
    "sharedMemoryLimitConfig": 0,
}
_CONSTANTS_OF_A_CALL = {
    "eventClass": 0,
    "globalTid": _PROCESS | PROCESS,
    "returnValue": 0,
}


def _texts() -> Iterator[tuple[int, str]]:
    for k in range(KERNELS):
        yield 3 * k + 1, f"void library::kernel_{k}<float, (int){k}>(float *, int, Params)"
        yield 3 * k + 2, f"kernel_{k}"
        yield 3 * k + 3, f"_ZN7library{len(str(k)) + 7}kernel_{k}IfLi{k}EEEvPfi6Params"
    yield _LAUNCHES, "cudaLaunchKernel_v7000"
    yield _OTHERS, "cudaEventQuery_v3020"


def _insert(
    database: sqlite3.Connection,
    table: str,
    columns: list[str],
    values: dict[str, np.ndarray[Any, Any]],
    constants: dict[str, int],
) -> None:
    rows = zip(
        *(
            values[name].tolist() if name in values else repeat(constants.get(name))
            for name in (column.split()[0] for column in columns)
        ),
        strict=False,
    )
    places = ",".join("?" * len(columns))
    database.executemany(f"INSERT INTO CUPTI_ACTIVITY_KIND_{table} VALUES ({places})", rows)


def write_trace(path: Path, launches: int, *, seed: int = 0) -> None:
    """Write a Kineto trace of ``launches`` launches of 200 kernels, each with its API call."""
    rng = np.random.default_rng(seed)
    popularity = rng.lognormal(0, 1.2, KERNELS)
    base_ns = rng.lognormal(np.log(20_000), 1.0, KERNELS)
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Synthetic", "numSms": 132}]}
    with gzip.open(path, "wt", compresslevel=6) as trace:
        trace.write(f'{json.dumps(head)[:-1]}, "traceEvents": [\n')
        for first in range(0, launches, _EVENTS_AT_ONCE):
            rows = min(_EVENTS_AT_ONCE, launches - first)
            kernel = rng.choice(KERNELS, rows, p=popularity / popularity.sum())
            ticks = np.rint(base_ns[kernel] * (1 + 0.05 * rng.standard_normal(rows)) / CLOCK_NS)
            us = np.maximum(ticks, 1) * CLOCK_NS / 1000
            each = enumerate(zip(kernel.tolist(), us.tolist(), strict=True), first)
            events = (_EVENTS.format(k=k, us=us, row=row, ts=8 * row) for row, (k, us) in each)
            trace.write(("" if first == 0 else ",\n") + ",\n".join(events))
        trace.write("\n]}\n")


_EVENTS_AT_ONCE = 10_000
_EVENTS = (
    '{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 523, "tid": 523, "ts": {ts}.173, '
    '"dur": 4.712, "args": {{"External id": {row}, "cbid": 211, "correlation": {row}}}}},\n'
    '{{"ph": "X", "cat": "kernel", "name": "void library::kernel_{k}<float>(float *, int, Params)", '
    '"pid": 0, "tid": 7, "ts": {ts}.499, "dur": {us:.3f}, "args": {{"External id": {row}, "queued": 0, '
    '"device": 0, "context": 1, "stream": 7, "correlation": {row}, "registers per thread": 32, '
    '"shared memory": 0, "blocks per SM": 0.242424, "warps per SM": 0.727273, "grid": [{k}, 1, 1], '
    '"block": [96, 1, 1], "est. achieved occupancy %": 1}}}}'
)


if __name__ == "__main__":
    file, number = Path(sys.argv[1]), int(sys.argv[2])
    (write_export if file.suffix == ".sqlite" else write_trace)(file, number)
