"""Recordings of others to a plan, whole commands, against the limit of their formats in the same run.

    python benchmarks/exports_to_plan.py FILE...       .sqlite of Nsight Systems, .json.gz of PyTorch
    python benchmarks/exports_to_plan.py FILE... --beside CHECKOUT...

The limit of a database is `sqlite3` fetching start, end and name of every launch and a sort; that of a
trace is `gzip` inflating it and `msgspec` decoding the fields of its events. Each run is a process of its
own, those of a round one after the other; printed are the median and the range of five rounds, and the ratio
of medians.
Checkouts beside this one, with an environment of their own, run the same command: what a change cost.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 5
PROJECT = Path(__file__).resolve().parents[1]
SQLITE_LIMIT = """
import sqlite3, sys
import numpy as np
found = sqlite3.connect(sys.argv[1]).execute(
    'SELECT "start", "end", demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL')
rows = np.fromiter((cell for row in found for cell in row), dtype=np.int64).reshape(-1, 3)
np.sort(rows[:, 1] - rows[:, 0])
"""
TRACE_LIMIT = """
import gzip, sys
from typing import Any
from msgspec import Struct, json
class Arguments(Struct, gc=False):
    device: Any = None
    stream: Any = None
    correlation: Any = None
    grid: Any = None
    block: Any = None
class Event(Struct, gc=False):
    ph: str | None = None
    cat: str | None = None
    name: str | None = None
    ts: Any = None
    dur: Any = None
    args: Arguments | None = None
class Trace(Struct):
    traceEvents: list[Event]
with gzip.open(sys.argv[1]) as stream:
    json.Decoder(Trace).decode(stream.read())
"""


def seconds(command: list[str]) -> float:
    """Run a command in a folder of its own: nothing that one run keeps is there for the next."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        environment = os.environ | {"XDG_CACHE_HOME": folder}
        subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment)
        return time.perf_counter() - started


def main(arguments: list[str]) -> None:
    """Print a row for each command on each file."""
    at = arguments.index("--beside") if "--beside" in arguments else len(arguments)
    files, checkouts = arguments[:at], [PROJECT, *map(Path, arguments[at + 1 :])]
    for file in map(os.path.abspath, files):
        limit = SQLITE_LIMIT if file.endswith(".sqlite") else TRACE_LIMIT
        commands = {"limit": [sys.executable, "-c", limit, file]}
        for checkout in checkouts:
            words = [str(checkout / ".venv" / "bin" / "kernelpoint"), "sample", file]
            words += ["--group-by", "name", "--judge", "0", "-q", "--force", "-o", "plan.json"]
            commands[checkout.name] = words
        runs: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                runs[name].append(seconds(command))
        medians = {name: statistics.median(each) for name, each in runs.items()}
        print(Path(file).name)
        for name, each in runs.items():
            spread = f"{min(each):.2f} to {max(each):.2f}"
            print(f"  {name:12} {medians[name]:6.2f} s ({spread})  {medians[name] / medians['limit']:5.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
