"""Reads broken copies of a profile in a process of its own, and says what went wrong.

    python -m tests.fuzzing.reading PROFILE... --first 0 --cases 500 [--seed 0]

A case is made from the file, the seed and its number alone, so that `--first N --cases 1` runs it again. Its
number is printed before it is read: when the process is killed, the last number is the case that did it.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

from sampling.errors import SamplingError
from sampling.plan.draft import draft_plan
from sampling.plan.request import PlanRequest
from sampling.readers.registry import read_profile
from tests.fuzzing.changes import changed

PROJECT = Path(__file__).resolve().parents[2]
#: No file takes longer, nor more memory, whatever is in it.
LIMIT_SECONDS = 20
LIMIT_BYTES = 2 << 30


def assert_read_or_refused(profiles: Iterable[Path], cases: int, *, seed: int = 0) -> None:
    """Break each profile in so many ways, all read in a process that may be killed without harm."""
    words = (*profiles, "--cases", cases, "--seed", seed)
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzzing.reading", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([".", "sample_data"])},
    )
    lines = done.stdout.splitlines()
    last = lines[-1] if lines else "none"
    assert last == "all read or refused", (
        f"{last}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    )


def read_whole(path: Path) -> str | None:
    """Read all that `info` looks at; return what is wrong with how that ends, None where nothing is."""
    try:
        profile = read_profile([str(path)])
        counts = draft_plan(profile, PlanRequest(each_rank=True)).counts
        profile.range_names(5)
    except SamplingError as error:
        return None if error.text.strip() and "\n" not in str(error) else f"says {str(error)!r}"
    except BaseException:
        return traceback.format_exc()
    if counts.launches != profile.launches or int(counts.count.sum()) != counts.launches:
        return f"{profile.launches} launches read, {counts.launches} counted"
    return None


def _broken_copy(profile: Path, folder: Path, seed: int, number: int) -> Path:
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    path = folder / profile.name
    (shutil.copytree if profile.is_dir() else shutil.copy)(profile, path)
    changed(path, random.Random(f"{seed} {profile.name} {number}"))
    return path


def _most_memory_bytes() -> int:
    """Return the most memory that this program has had; `getrusage` counts that of its parent too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cases; print the number of each, and what is wrong with it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("profiles", type=Path, nargs="+")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    warnings.simplefilter("error")
    # Address space is more than memory: what is mapped but never touched does not count.
    limit = LIMIT_BYTES * 4
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    faults = 0
    with tempfile.TemporaryDirectory(prefix="kernelpoint-broken-") as place:
        numbers = range(options.first, options.first + options.cases)
        for profile, number in product(options.profiles, numbers):
            print(f"{profile.name} {number}", flush=True)
            path = _broken_copy(profile, Path(place) / "case", options.seed, number)
            signal.alarm(LIMIT_SECONDS)
            fault = read_whole(path)
            signal.alarm(0)
            if _most_memory_bytes() > LIMIT_BYTES:
                fault = f"took more than {LIMIT_BYTES >> 30} GiB"
            if fault is not None:
                faults += 1
                print(f"case {number} of {profile.name}: {fault}", flush=True)
    print("all read or refused" if not faults else f"{faults} faults")


if __name__ == "__main__":
    main()
