"""Small recordings in the formats of the profilers, made by the writers of `sample_data`.

They let every user run what `tests/recorded` asserts of profiles recorded by others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gpt2_like
import resnet50_code
import resnet50_like
from accel_sim_file import GEMM_RUN, write_interval_log
from kineto_file import Style, write_kineto
from machine_code import Executed, executed
from ncu_file import write_ncu_details, write_ncu_raw
from nsys_csv_files import write_nsys_csv, write_nsys_execution_csv
from nsys_files import export_tables, write_nsys_sqlite
from nsys_parquetdir import write_nsys_parquetdir
from workload import Recording, record

#: Images and launches of the network that the nsys files and the Nsight Compute pages are of.
IMAGES = 3
LAUNCHES = 56 * IMAGES
NAMES = 16
#: What its named ranges are called.
RANGE = "image"
_PROGRAM = "small-resnet50"
Issued = list[tuple[str, str, int]]  # operator or "", kernel's name, microseconds


@cache
def images() -> Recording:
    """Return a run of a network on three images."""
    return record([resnet50_like.IMAGE] * IMAGES, weight_bytes=resnet50_like.WEIGHT_BYTES, seed=7)


@cache
def batches() -> Recording:
    """Return a run of a transformer on a short and a long batch."""
    passes = [gpt2_like.SHORT_BATCH, gpt2_like.LONG_BATCH]
    return record(passes, weight_bytes=gpt2_like.WEIGHT_BYTES, seed=7)


def nsys_sqlite(
    folder: Path, version: str, recording: Recording | None = None, *, calls_lost: int = 0
) -> Path:
    """Write the SQLite export of a version of Nsight Systems, with its named ranges."""
    path = folder / f"small-{version}.sqlite"
    recording = images() if recording is None else recording
    write_nsys_sqlite(recording, path, _PROGRAM, version, calls_lost=calls_lost, range_name=RANGE)
    return path


def nsys_parquetdir(folder: Path, version: str) -> Path:
    """Write the same export as a folder of Parquet files."""
    path = folder / f"small-{version}-parquetdir"
    write_nsys_parquetdir(export_tables(images(), _PROGRAM, version, range_name=RANGE), path)
    return path


def nsys_csv(folder: Path, version: str) -> Path:
    """Write what `nsys stats --report cuda_gpu_trace` of a version prints."""
    path = folder / f"small-{version}.csv"
    write_nsys_csv(images(), path, version)
    return path


def nsys_execution_csv(folder: Path) -> Path:
    """Write what `nsys stats --report cuda_kern_exec_trace` prints."""
    path = folder / "small-cuda_kern_exec_trace.csv"
    write_nsys_execution_csv(images(), path)
    return path


def kineto(folder: Path, style: Style, recording: Recording | None = None, *, calls_lost: int = 0) -> Path:
    """Write the trace that PyTorch's profiler saves."""
    path = folder / f"small-{style}.json.gz"
    write_kineto(batches() if recording is None else recording, path, style, calls_lost=calls_lost)
    return path


@cache
def _executed() -> tuple[Executed, ...]:
    return tuple(executed(images().launches, resnet50_code.CODES, seed=8))


def ncu_raw(folder: Path) -> Path:
    """Write the raw page of Nsight Compute."""
    path = folder / "small-ncu-raw.csv.gz"
    write_ncu_raw(images(), _executed(), path, seed=9)
    return path


def ncu_details(folder: Path) -> Path:
    """Write the details page of the same run."""
    path = folder / "small-ncu-details.csv"
    write_ncu_details(images(), _executed(), path, seed=9)
    return path


def interval_log(folder: Path) -> Path:
    """Write what Accel-Sim logs at intervals."""
    path = folder / "small-intervals.log.gz"
    write_interval_log(GEMM_RUN, path, seed=3)
    return path


def kineto_of_operators(path: Path, launches: Issued) -> Path:
    """Write launches as a Kineto trace, an operator around the call of each."""
    events: list[dict[str, Any]] = []
    for number, (operator, kernel, duration) in enumerate(launches):
        on_thread = {"ph": "X", "pid": 1, "tid": 1, "ts": 10 * number}
        if operator:
            shaped = {"Input Dims": [[8, 4]], "Input type": ["float"]}
            events.append({**on_thread, "cat": "cpu_op", "name": operator, "dur": 9, "args": shaped})
        linked = {"correlation": number + 1}
        call = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 2, "args": linked}
        events.append({**on_thread, **call, "ts": 10 * number + 1})
        on_gpu = {"cat": "kernel", "name": kernel, "ts": 1000 * number, "dur": duration, "args": linked}
        events.append({**on_thread, **on_gpu})
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def kineto_of_steps(path: Path, lasts: Sequence[int], *, ahead: int = 0, every: int = 200) -> Path:
    """Write a trace of steps of three kernels, the middle one of these microseconds; launches go ahead."""
    launches = [("gemm", 10 * place, 5) for place in range(ahead)]
    events: list[dict[str, Any]] = []
    for number, duration in enumerate(lasts):
        begin = 10_000 + every * number
        step = {"cat": "user_annotation", "name": f"ProfilerStep#{number + 5}", "ts": begin, "dur": every - 1}
        events.append({"ph": "X", "pid": 1, "tid": 1, **step})
        launches += [("gemm", begin + 1, 20), ("norm", begin + 11, duration), ("gemm", begin + 21, 20)]
    for number, (kernel, begin, duration) in enumerate(launches, 1):
        call = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": begin, "dur": 1}
        events.append({"ph": "X", "pid": 1, "tid": 1, **call, "args": {"correlation": number}})
        shape = {"device": 0, "stream": 7, "grid": [8, 1, 1], "block": [32, 1, 1], "correlation": number}
        on_gpu = {"cat": "kernel", "name": kernel, "ts": begin + 3, "dur": duration, "args": shape}
        events.append({"ph": "X", "pid": 0, "tid": 7, **on_gpu})
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path
