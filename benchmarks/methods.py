"""Every method at a million launches: seconds to design its plan, reading and features apart.

    python benchmarks/methods.py 1000000

The profile is `synthetic_profile.py`'s. Its features are synthetic too: every kernel and grid has four
variants of Principal Kernel Analysis' twelve characteristics and of a basic-block vector, as a launch's
counters follow from what it runs. TBPoint refuses more than 20,000 launches and is timed on so many.
"""

from __future__ import annotations

import platform
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from synthetic_profile import write_profile

from sampling.features.metric_names import CHARACTERISTICS
from sampling.methods.registry import method_names
from sampling.plan.design import make_design
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import BlockVectors, Features, LaunchList, list_launches
from sampling.reduction.region import Region
from sampling.strata.target import Target

VARIANTS = 4
LARGEST_VECTOR = 60
TBPOINT_LAUNCHES = 20_000


def features_of(launches: LaunchList, seed: int = 0) -> Features:
    """Return metrics and basic-block vectors that follow kernel, grid and one of four variants."""
    rng = np.random.default_rng(seed)
    kind = launches.signature * VARIANTS + rng.integers(0, VARIANTS, len(launches))
    kinds = int(kind.max()) + 1
    metrics = {spellings[0]: np.rint(rng.lognormal(12, 1.5, kinds))[kind] for spellings in CHARACTERISTICS}
    length = rng.integers(10, LARGEST_VECTOR, kinds)
    counts = np.rint(rng.lognormal(8, 1.0, (kinds, LARGEST_VECTOR)))
    offsets = np.concatenate([[0], np.cumsum(length[kind])])
    row = np.repeat(kind, length[kind])
    column = np.arange(offsets[-1]) - np.repeat(offsets[:-1], length[kind])
    warps = rng.integers(8, 4096, kinds)[kind]
    return Features(metrics, block_vectors=BlockVectors(offsets, counts[row, column], warps))


def settings_of(method: str, launches: int) -> tuple[str, ...]:
    """Return what a method has to be told here."""
    if method == "single-iteration":
        iteration = launches // 100
        return (f"{method}.first=0", f"{method}.last={iteration - 1}", f"{method}.iterations=100")
    return ("two-level.launches=100000",) if method == "two-level" else ()


def main(launches: int) -> None:
    """Print one row a method and grouping."""
    print(f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.parquet"
        write_profile(path, launches)
        profile = read_profile([str(path)])
        print(f"{'method':<19} {'group by':>8} {'launches':>10} {'strata':>7} {'drawn':>9} {'seconds':>8}")
        for by in (GroupBy.NAME, GroupBy.LAUNCH):
            counts = count_durations(profile, Grouping(by))
            few = count_durations(profile, Grouping(by), Region(launches=(0, TBPOINT_LAUNCHES)))
            listed = list_launches(profile, counts)
            listed = replace(listed, features=features_of(listed))
            listed_few = list_launches(profile, few)
            listed_few = replace(listed_few, features=features_of(listed_few))
            for method in method_names():
                looked_at = listed_few if method == "tbpoint" else listed
                started = time.perf_counter()
                settings = () if method in method_names(random=True) else settings_of(method, launches)
                design = make_design(counts, method, Target(), 0, settings=settings, launches=looked_at)
                seconds = time.perf_counter() - started
                print(
                    f"{method:<19} {by:>8} {len(looked_at):>10,} {design.strata_count:>7,} "
                    f"{design.samples:>9,} {seconds:>8.3f}",
                    flush=True,
                )
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
