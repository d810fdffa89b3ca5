"""How large a plan file is, and how long plans of very many groups, names and files take.

    python benchmarks/plan_size.py [processes names files]

Each case writes seeded profiles in our own Parquet and runs commands on them, each in a process of its own,
so that its peak memory is its own. The second recording that `judge` is given has other durations and, where
it is one file, other process numbers; the first has been moved away, so only the plan tells of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sampling.arrays import IntArray
from sampling.profile.launch_table import LaunchColumns, LaunchTableBuilder
from sampling.profile.profile import KernelTable, ProfileFile, RecordingFacts
from sampling.readers.launch_parquet import write_launch_parquet
from sampling.reduction.region import Region

MIB = 1 << 20


@dataclass(frozen=True)
class Recording:
    """The launches of one file, in order: kernel number, process and device of each."""

    kernel: IntArray
    process: IntArray
    device: IntArray

    def write(self, path: Path, seed: int, *, first_process: int = 0) -> None:
        """Write it as our own Parquet; the seed gives the durations."""
        rng = np.random.default_rng(seed)
        launches = len(self.kernel)
        kernels = KernelTable()
        names = [
            f"void library::kernel_{k}<float, (int){k}>(float *, int)" for k in range(max(self.kernel) + 1)
        ]
        grid, one = 1 + self.kernel % 16, np.ones(launches, dtype=np.int64)
        mean_ns = 2_000 * (1 + self.kernel % 37)
        builder = LaunchTableBuilder(str(path), kernels)
        builder.append(
            LaunchColumns(
                name=kernels.names.intern(names)[self.kernel],
                duration_ns=np.rint(mean_ns * rng.lognormal(0, 0.05, launches)).astype(np.int64),
                process=self.process + first_process,
                device=self.device,
                grid=(grid, one, one),
                block=(128 * one, one, one),
            )
        )
        table = builder.finish(
            format_name="synthetic", file=ProfileFile(str(path), path, launches), facts=RecordingFacts()
        )
        write_launch_parquet(table, Region(), path)


def processes_recording() -> list[Recording]:
    """512 processes of 200 kernels, each launched 20 times: one file, 102,400 kernel groups."""
    process = np.repeat(np.arange(512), 200 * 20)
    return [Recording(np.tile(np.arange(200), 512 * 20), process, np.zeros_like(process))]


def names_recording() -> list[Recording]:
    """200,000 names, each launched five times, in one process."""
    kernel = np.tile(np.arange(200_000), 5)
    return [Recording(kernel, np.zeros_like(kernel), np.zeros_like(kernel))]


def files_recording() -> list[Recording]:
    """1,000 files of eight devices, each with 300 launches of four kernels: 8,000 sequences."""
    device = np.repeat(np.arange(8), 300)
    return [Recording(np.tile(np.arange(4), 600), np.zeros_like(device), device)] * 1_000


CASES: dict[str, Callable[[], list[Recording]]] = {
    "processes": processes_recording,
    "names": names_recording,
    "files": files_recording,
}


@dataclass(frozen=True)
class Run:
    """A run of a command: exit code, seconds on the clock and of the processor, and peak memory."""

    code: int
    seconds: float
    processor_seconds: float
    peak_mib: float


def measured(arguments: Sequence[str]) -> Run:
    """Run a command of the program."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "tui", *arguments, "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    return Run(process.returncode, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def measure(case: str, folder: Path) -> None:
    """Print one row a command, and what the plan's bytes are."""
    paths: dict[str, list[str]] = {"first": [], "second": []}
    for seed, (which, written) in enumerate(paths.items()):
        (folder / which).mkdir()
        for number, recording in enumerate(CASES[case]()):
            path = folder / which / f"{number:04}.parquet"
            recording.write(path, 10_000 * seed + number, first_process=100 * seed)
            written.append(str(path))
    plan = folder / "plan.json"
    commands = [
        ("summary", [*paths["first"]]),
        ("sample", [*paths["first"], "-o", str(plan)]),
        ("judge", [str(plan), *paths["first"]]),
        ("export", [str(plan), "--to", "csv", "-o", str(folder / "list")]),
    ]
    for name, arguments in commands:
        show(case, name, measured([name, *arguments]))
    (folder / "first").rename(folder / "moved")
    show(case, "judge other", measured(["judge", str(plan), *paths["second"]]))
    print_bytes(plan)


def show(case: str, name: str, run: Run) -> None:
    """Print a row."""
    print(
        f"{case:10} {name:12} {run.seconds:8.2f} s {run.processor_seconds:8.2f} s of the processor "
        f"{run.peak_mib:7.0f} MiB  exit {run.code}",
        flush=True,
    )


def print_bytes(path: Path) -> None:
    """Print how many bytes a plan file has, and of what, as if its parts were written without spaces."""
    document = json.loads(path.read_text(encoding="utf-8"))
    strata = document["strata"]
    launches = [launch for stratum in strata for launch in stratum["launches"]]
    parts = {
        "files": compact(document["profile"]["files"]),
        "sequences": compact(document["profile"].get("sequences", [])),
        "keys": sum(compact(stratum["key"]) for stratum in strata),
        "names": sum(compact(launch["name"]) for launch in launches),
        "launches without names": sum(compact(launch) - compact(launch["name"]) for launch in launches),
    }
    size = path.stat().st_size
    parts["the rest"] = size - sum(parts.values())
    print(f"  plan {size / MIB:.1f} MiB, {len(strata):,} strata, {len(launches):,} launches drawn; MiB:")
    print("   ", ", ".join(f"{what} {count / MIB:.1f}" for what, count in parts.items()), flush=True)


def compact(value: object) -> int:
    """Return the bytes of a value as JSON without spaces."""
    return len(json.dumps(value, separators=(",", ":")))


if __name__ == "__main__":
    for chosen in sys.argv[1:] or CASES:
        with tempfile.TemporaryDirectory() as work:
            measure(chosen, Path(work))
