"""Parquet to plan, against the limit: decoding the two columns and sorting the durations, in the same run.

    python benchmarks/parquet_to_plan.py 1000000 10000000

Every measurement is a process of its own, so that its peak memory is its own. Ratios are what counts; the
seconds are of the machine they ran on.
"""

from __future__ import annotations

import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from synthetic_profile import write_profile

EPSILON = 0.05
REPEATS = 3


def limit_seconds(path: str) -> float:
    """Decode name and duration by row groups and sort the durations: the least any reduction does."""
    import pyarrow.parquet as pq

    started = time.perf_counter()
    file = pq.ParquetFile(path, read_dictionary=["name"])
    durations = np.empty(file.metadata.num_rows, dtype=np.int64)
    filled = 0
    for row_group in range(file.num_row_groups):
        column = file.read_row_group(row_group, columns=["name", "duration_ns"]).column("duration_ns")
        durations[filled : filled + len(column)] = column
        filled += len(column)
    durations.sort()
    return time.perf_counter() - started


def plan_seconds(path: str, group_by: str) -> tuple[float, int]:
    """Read, reduce, split, allocate, draw and find the drawn launches."""
    from sampling.plan.design import make_design
    from sampling.plan.plan import drawn_plan, locate
    from sampling.readers.registry import read_profile
    from sampling.reduction import GroupBy
    from sampling.reduction.duration_counts import count_durations
    from sampling.reduction.grouping import Grouping
    from sampling.strata.target import Target

    started = time.perf_counter()
    profile = read_profile([path])
    counts = count_durations(profile, Grouping(GroupBy(group_by)))
    plan = drawn_plan(counts, make_design(counts, "joint", Target(EPSILON), 0), 0)
    locate(profile, plan)
    return time.perf_counter() - started, plan.samples


def measure(what: str, path: str) -> dict[str, float]:
    """Run one measurement (in this process): the best of three, and the peak memory."""
    runs = [(limit_seconds(path), 0) if what == "limit" else plan_seconds(path, what) for _ in range(REPEATS)]
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": min(run[0] for run in runs), "samples": runs[0][1], "peak_mib": peak_kib / 1024}


def measured_apart(what: str, path: str) -> dict[str, float]:
    """Run one measurement in a fresh process."""
    command = [sys.executable, __file__, "--measure", what, path]
    result: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result


def main(launches: list[int]) -> None:
    """Print one row a size and grouping."""
    print(f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}")
    print(
        f"{'launches':>12} {'group by':>9} {'limit s':>8} {'plan s':>8} {'ratio':>6} {'MiB':>6} {'drawn':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for size in launches:
            for group_by, shapes in (("name", False), ("launch", True)):
                path = str(Path(folder) / f"{size}-{group_by}.parquet")
                write_profile(Path(path), size, shapes=shapes)
                limit = measured_apart("limit", path)
                plan = measured_apart(group_by, path)
                ratio = plan["seconds"] / limit["seconds"]
                print(
                    f"{size:>12,} {group_by:>9} {limit['seconds']:>8.3f} {plan['seconds']:>8.3f} "
                    f"{ratio:>6.2f} {plan['peak_mib']:>6.0f} {plan['samples']:>8.0f}"
                )
                Path(path).unlink()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], sys.argv[3])))
    else:
        main([int(argument) for argument in sys.argv[1:]] or [1_000_000, 10_000_000])
