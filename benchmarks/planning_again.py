"""How soon everything that plans answers: whole commands, and a plan after an option has changed.

    python benchmarks/planning_again.py [CHECKOUT]

Commands run on the bundled profile, each a process of its own. A changed option is a new design of a profile
that is read already, with its bounds, as view 3 shows it: of 20,000 launches, and of 100,000 kernel groups.
With another checkout of this project, of a version before, both run in turn and the last column is the ratio
of the medians of processor time, this over that.
"""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from synthetic_profile import write_many_groups, write_profile

HERE = Path(__file__).resolve().parent.parent
BUNDLED = str(HERE / "sample_data" / "resnet50-like.sqlite")
REPEATS = 5
COMMAND = "import sys; sys.path.insert(0, sys.argv.pop(1)); from tui.cli import main; main()"
CHANGED = """
import sys, time
sys.path.insert(0, sys.argv[1])
from sampling.api import make_plan, read_profile
from sampling.plan.design import make_design
from sampling.strata.target import Target
counts = make_plan(read_profile(sys.argv[2])).draft.counts
for epsilon in (0.03, 0.05, 0.03, 0.05, 0.04):
    started, elapsed = time.process_time(), time.perf_counter()
    design = make_design(counts, "joint", Target(epsilon), 0)
    # A design of a version before has the bounds itself.
    promise = getattr(design, "promise", design)
    promise.bound, promise.bound_with_noise, promise.group_bound
    print(time.perf_counter() - elapsed, time.process_time() - started)
"""


def seconds_of(checkout: Path, program: str, *words: str) -> tuple[float, float, str]:
    """Return the elapsed seconds and those of the processor of a program in a checkout; what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    line = [sys.executable, "-c", program, str(checkout), *words]
    printed = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True).stdout
    elapsed = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, printed


def row(name: str, elapsed: list[list[float]], processor: list[list[float]]) -> None:
    """Print a figure of every checkout, this one first: median and range in ms, and the ratio."""
    times = [
        f"{statistics.median(each) * 1e3:6.0f} ({min(each) * 1e3:.0f}-{max(each) * 1e3:.0f})"
        for each in (*elapsed, *processor)
    ]
    medians = [statistics.median(each) for each in processor]
    ratio = f"{medians[0] / medians[1]:5.2f}" if len(medians) > 1 else ""
    print(f"  {name:<28}", *(f"{text:>20}" for text in times), ratio)


def main(checkouts: list[Path]) -> None:
    """Print a row a command, then a row a profile whose option changes."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; ms")
    print("whole commands: elapsed, then of the processor, this checkout first")
    with tempfile.TemporaryDirectory() as folder:
        for command in ("sample", "summary", "trade-off", "report"):
            words = [command, BUNDLED, *(["-o", f"{folder}/report.html"] if command == "report" else [])]
            runs = [[seconds_of(each, COMMAND, *words) for each in checkouts] for _ in range(REPEATS)]
            by_checkout = list(zip(*runs, strict=True))
            row(command, *([[run[part] for run in each] for each in by_checkout] for part in (0, 1)))
        print("a changed option")
        launches, groups = Path(folder) / "20000.parquet", Path(folder) / "groups.parquet"
        write_profile(launches, 20_000)
        write_many_groups(groups, 100_000)
        for name, path in (("20,000 launches", launches), ("100,000 kernel groups", groups)):
            printed = [seconds_of(each, CHANGED, str(path))[2] for each in checkouts]
            times = [[float(word) for word in text.split()] for text in printed]
            row(name, [each[::2] for each in times], [each[1::2] for each in times])


if __name__ == "__main__":
    main([HERE, *map(Path, sys.argv[1:])])
