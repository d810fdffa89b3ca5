"""Miss-rate curve of 10 M accesses: exact, sampled and from reuse distances, and how wrong the last two are.

    python benchmarks/miss_rate_curve.py 1000000 10000000

The limit to reach is 20 s for the exact curve of 10 M accesses on 2 cores. Every measurement is a process of
its own, so that its peak memory is its own, of which the trace itself is 8 bytes an access. Errors are the
largest over the capacities, as a share of the accesses. The last table reads such accesses from files.
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
from numpy.typing import NDArray

LIMIT_SECONDS = 20.0
LINE_BYTES = 128
REPEATS = 3
# 1 MiB to 256 MiB: from the last-level cache of a small scale model to that of several big GPUs.
CAPACITY_BYTES = 2 ** np.arange(20, 29)
METHODS = {
    "exact": ("exact", 1.0),
    "shards 0.1": ("shards", 0.1),
    "shards 0.01": ("shards", 0.01),
    "shards 0.001": ("shards", 0.001),
    "statstack": ("statstack", 1.0),
}
WORKLOADS = ("uniform", "skewed", "stencil")
# Text of an instruction of Accel-Sim: a load by a whole warp of 32 neighbouring words.
INSTRUCTION = "0010 ffffffff 1 R2 LDG.E.SYS 1 R4 4 1 {:#x} 4 0 "
READ_AT_MOST = 2_000_000
WARPS = 64


def make_lines(workload: str, accesses: int) -> NDArray[np.uint64]:
    """Return the lines of a synthetic trace: about one distinct line for ten accesses, seeded."""
    rng = np.random.default_rng(7)
    distinct = accesses // 10
    if workload == "uniform":
        return rng.integers(0, distinct, accesses).astype(np.uint64)
    if workload == "skewed":
        return (distinct * rng.beta(1, 3, accesses)).astype(np.uint64)
    # A cliff: sweeps over a working set with the rows before and after, beside a stream never used again.
    swept = accesses * 3 // 4
    row = max(distinct // 100, 1)
    centre = np.arange(swept // 3) % (distinct // 2)
    sweep = np.stack([centre, centre + row, centre + 2 * row], axis=1).reshape(-1)
    stream = 10 * distinct + np.arange(accesses - sweep.size)
    lines = np.empty(accesses, dtype=np.uint64)
    is_stream = np.arange(accesses) % 4 == 3
    is_stream[np.flatnonzero(~is_stream)[sweep.size :]] = True
    lines[~is_stream] = sweep[: np.count_nonzero(~is_stream)]
    lines[is_stream] = stream[: np.count_nonzero(is_stream)]
    return lines


def curve_seconds(what: str, workload: str, accesses: int) -> dict[str, object]:
    """Make one curve (in this process): the best of three, the misses, their bounds, and the peak memory."""
    from scalemodel.accesses import AddressTrace
    from scalemodel.miss_rate import Method, miss_rate_curve

    method, rate = METHODS[what]
    trace = AddressTrace(make_lines(workload, accesses), LINE_BYTES)
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        rng = np.random.default_rng(1)
        curve = miss_rate_curve(trace, CAPACITY_BYTES, rng, method=Method(method), rate=rate)
        seconds.append(time.perf_counter() - started)
    bounds = [curve.counts.low, curve.counts.high]
    return {
        "seconds": min(seconds),
        "misses": curve.counts.misses.tolist(),
        "bounds": None
        if bounds[0] is None or bounds[1] is None
        else [one.tolist() for one in bounds if one is not None],
        "before_mib": before_kib / 1024,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def write_trace(what: str, path: Path, lines: NDArray[np.uint64]) -> None:
    """Write the accesses as text, as CSV, or as the loads of 64 warps that take turns."""
    addresses = (lines * np.uint64(LINE_BYTES)).tolist()
    with path.open("w") as file:
        if what == "text":
            file.writelines(f"{address:#x}\n" for address in addresses)
        elif what == "csv":
            file.write("address,size\n")
            file.writelines(f"{address},4\n" for address in addresses)
        else:
            file.write("-kernel name = k\n-accelsim tracer version = 5\n\n#BEGIN_TB\nthread block = 0,0,0\n")
            for warp in range(WARPS):
                mine = addresses[warp::WARPS]
                file.write(f"warp = {warp}\ninsts = {len(mine)}\n")
                file.writelines(INSTRUCTION.format(address) + "\n" for address in mine)
            file.write("#END_TB\n")


def read_seconds(what: str, workload: str, accesses: int) -> dict[str, object]:
    """Read a trace (in this process), after writing it."""
    from scalemodel.traces import read_address_trace

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        lines = make_lines(workload, accesses)
        write_trace(what, path, lines)
        seconds = []
        for _ in range(REPEATS):
            started = time.perf_counter()
            trace = read_address_trace([str(path)])
            seconds.append(time.perf_counter() - started)
        assert np.array_equal(trace.line, lines)
        return {"seconds": min(seconds), "mib": path.stat().st_size / 2**20}


def measured_apart(what: str, workload: str, accesses: int) -> dict[str, object]:
    """Run one measurement in a fresh process."""
    command = [sys.executable, __file__, "--measure", what, workload, str(accesses)]
    result: dict[str, object] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result


def print_curves(accesses: int) -> None:
    """Print one row a workload and method."""
    print(
        f"\n{accesses:>12,} {'method':>12} {'s':>7} {'of limit':>9} {'peak MiB':>9} {'of trace':>9} "
        f"{'error %':>8} {'bound %':>8} {'inside':>7}"
    )
    for workload in WORKLOADS:
        exact = np.zeros(0)
        for what in METHODS:
            found = measured_apart(what, workload, accesses)
            misses = np.array(found["misses"])
            exact = misses if what == "exact" else exact
            error = 100 * np.abs(misses - exact).max() / accesses
            width, inside = "", ""
            if found["bounds"] is not None:
                low, high = np.array(found["bounds"])
                width = f"{100 * (high - low).max() / 2 / accesses:.2f}"
                inside = f"{np.count_nonzero((low <= exact) & (exact <= high))}/{exact.size}"
            seconds, peak, before = (float(str(found[key])) for key in ("seconds", "peak_mib", "before_mib"))
            print(
                f"{workload:>12} {what:>12} {seconds:>7.3f} {seconds / LIMIT_SECONDS:>9.3f} {peak:>9.0f} "
                f"{before:>9.0f} {error:>8.2f} {width:>8} {inside:>7}"
            )


def print_reading(accesses: int) -> None:
    """Print one row a format."""
    print(f"\n{'reading':>12} {'accesses':>12} {'MiB':>6} {'s':>7} {'MiB/s':>7}")
    for what in ("text", "csv", "traceg"):
        found = measured_apart(what, "uniform", accesses)
        seconds, size = (float(str(found[key])) for key in ("seconds", "mib"))
        print(f"{what:>12} {accesses:>12,} {size:>6.0f} {seconds:>7.3f} {size / seconds:>7.0f}")


def main(sizes: list[int]) -> None:
    """Print the tables."""
    print(f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}")
    for accesses in sizes:
        print_curves(accesses)
    print_reading(min(max(sizes), READ_AT_MOST))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        wanted, kind, count = sys.argv[2], sys.argv[3], int(sys.argv[4])
        measure = curve_seconds if wanted in METHODS else read_seconds
        print(json.dumps(measure(wanted, kind, count)))
    else:
        main([int(argument) for argument in sys.argv[1:]] or [1_000_000, 10_000_000])
