"""What a key of view 6, Timeline, costs on a million launches: CPU time of the app, until nothing is drawn.

    python benchmarks/timeline_keys.py             a million synthetic launches, most of one kernel
    python benchmarks/timeline_keys.py FILE        this profile

The app runs on a terminal of 80x24 as a person would start it; a row is a key, pressed after the one above
it: the medians, over some rounds, of the CPU time of all threads and of the time until the last byte.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from app_start import QUIET_SECONDS, Program

LAUNCHES = 1_000_000
ROUNDS = 5
KEYS = (
    ("+", "zoom in"),
    ("l", "on in the run"),
    ("h", "back"),
    ("-", "zoom out: all launches"),
    ("x", "logarithmic"),
    ("x", "linear"),
    ("t", "by time"),
    ("+", "zoom in, by time"),
    ("-", "zoom out, by time"),
    ("x", "logarithmic, by time"),
    ("x", "linear, by time"),
    ("t", "by launch"),
    ("\t", "to the ranges"),
    ("j", "the next range"),
    ("k", "the range before"),
    ("\t", "to the chart"),
)


def write_run(path: Path, launches: int) -> None:
    """Write a run of iterations of 500 launches, nine in ten of one kernel, which drifts, with idle gaps."""
    rng = np.random.default_rng(0)
    place = np.arange(launches) % 500
    kernel = np.where(place % 10 == 9, 1 + place // 10, 0).astype(np.int32)
    peak_ns = np.where(place % 2, 10_000, 30_000) * (1 + 0.5 * np.arange(launches) / launches)
    duration_ns = (
        np.maximum(peak_ns * (1 + 0.05 * rng.standard_normal(launches)), 32).astype(np.int64) // 32 * 32
    )
    pause_ns = np.where(np.arange(launches) % (launches // 4) == launches // 8, 1_000_000_000, 1000)
    start_ns = np.cumsum(duration_ns + pause_ns) - duration_ns
    names = pa.array([f"void library::kernel_{k}<float>(float *, int)" for k in range(51)])
    pq.write_table(
        pa.table(
            {
                "name": pa.DictionaryArray.from_arrays(pa.array(kernel), names),
                "duration_ns": duration_ns,
                "start_ns": start_ns,
            }
        ),
        path,
    )


def cpu_seconds(process: int) -> float:
    """Return the CPU time that the threads of a process took so far."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def main(path: str) -> None:
    """Print a row a key."""
    program = Program(path)
    program.seconds_until(b"#1 ", b"Command")
    program.settle()
    program.press(b"6")
    program.seconds_until(b"[6]", b"[tab]")
    program.settle()
    time.sleep(1)
    found: list[list[tuple[float, float]]] = [[] for _ in KEYS]
    for _ in range(ROUNDS):
        for place, (key, _) in enumerate(KEYS):
            cpu, before = cpu_seconds(program.process), time.perf_counter()
            program.press(key.encode())
            program.settle()
            seconds = time.perf_counter() - before - QUIET_SECONDS
            found[place].append((cpu_seconds(program.process) - cpu, seconds))
    program.leave()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{'key':<26} {'CPU ms':>7} {'until drawn ms':>15}")
    for (_, what), rounds in zip(KEYS, found, strict=True):
        cpu_ms, shown_ms = (1000 * statistics.median(column) for column in zip(*rounds, strict=True))
        print(f"{what:<26} {cpu_ms:7.0f} {shown_ms:15.0f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as folder:
            million = Path(folder) / "1M.parquet"
            write_run(million, LAUNCHES)
            main(str(million))
