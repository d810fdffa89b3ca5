"""How often intervals of speedups hold, and how wide they are: real runs of several configurations.

Every launch of a program was simulated on every configuration, so the true speedups are known. A plan is
made from another run's durations, launches are drawn many times, and the interval of each pair of
configurations is compared with the truth.
"all" is how often the intervals of all configurations against the first hold at once.

    python benchmarks/speedups.py RUNS --draws 300
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from intervals import Population, population

from sampling.arrays import FloatArray
from sampling.estimation.interval import Sample
from sampling.estimation.speedup import Verdict, adjust_together, speedup
from sampling.estimation.suite import means
from sampling.reduction import GroupBy
from sampling.strata.target import Target

CONFIDENCE, SAME_WITHIN = 0.95, 0.005
_TABLE = "name=name,duration_ns=duration_ns"


@dataclass(frozen=True, slots=True)
class Study:
    """A program: the table its plan is made from, and the cycles of every launch by configuration."""

    profile: str
    columns: str
    #: Tables of the configurations and their column of cycles; the first is the base.
    tables: tuple[tuple[str, str, str], ...]


STUDIES = {
    "torch, five designs": Study(
        "torch-8.table.csv",
        _TABLE,
        tuple(
            (name, "torch-32-design/design.csv", name)
            for name in ("base", "gto", "dram150", "l1lat30", "l2lat120")
        ),
    ),
    "torch, sizes": Study(
        "torch-4.table.csv",
        _TABLE,
        tuple((size, f"torch-{size}.table.csv", "cycles") for size in ("32", "8", "16", "64")),
    ),
    "heat, sizes": Study(
        "heat-8.table.csv", _TABLE, tuple((size, f"heat-{size}.table.csv", "cycles") for size in ("8", "32"))
    ),
    "mix, sizes": Study(
        "mix-8.table.csv", _TABLE, tuple((size, f"mix-{size}.table.csv", "cycles") for size in ("8", "32"))
    ),
}


def drawn(plan: Population, cycles: FloatArray, rng: np.random.Generator, names: tuple[str, ...]) -> Sample:
    """Return launches drawn of each stratum without replacement; cycles (n, k), of every launch."""
    order = np.lexsort((rng.random(len(plan.stratum)), plan.stratum))
    place = np.arange(len(order)) - (np.cumsum(plan.launches) - plan.launches)[plan.stratum[order]]
    rows = order[place < plan.samples[plan.stratum[order]]]
    return Sample(
        launches=plan.launches,
        mean_x=plan.mean_x,
        group=plan.group,
        declared=plan.declared,
        stratum=plan.stratum[rows],
        x=plan.x[rows],
        y=cycles[rows],
        metrics=names,
        planned=plan.samples,
    )


def cell(study: Study, folder: Path, group_by: GroupBy, least: int, draws: int) -> Iterator[str]:
    """Yield a line of figures: of all pairs of a study's configurations, by a plan of so many a stratum."""
    plan = population(folder / study.profile, group_by, Target(min_samples=least), study.columns)
    cycles = np.stack([column(folder / path, name) for _, path, name in study.tables], axis=1)[plan.row]
    names = tuple(name for name, *_ in study.tables)
    pairs = list(combinations(range(len(names)), 2))
    truth = np.array([cycles[:, a].sum() / cycles[:, b].sum() for a, b in pairs])
    against = range(len(names) - 1)
    held, wide, error, wrong, together = ([] for _ in range(5))
    rng = np.random.default_rng(0)
    for _ in range(draws):
        sample = drawn(plan, cycles, rng, names)
        found = [speedup(sample, names[a], names[b], CONFIDENCE) for a, b in pairs]
        low, high = np.array([(one.low, one.high) for one in found]).T
        held.append((low <= truth) & (truth <= high))
        wide.append([one.half_width for one in found])
        error.append([np.log(one.ratio) for one in found] - np.log(truth))
        verdicts = [one.verdict(SAME_WITHIN) for one in found]
        is_wrong = [
            (v is Verdict.FASTER and t < 1) or (v is Verdict.SLOWER and t > 1)
            for v, t in zip(verdicts, truth, strict=True)
        ]
        wrong.append(is_wrong)
        all_of = adjust_together(sample, found[: len(against)], CONFIDENCE, rng)
        together.append(all(one.low <= t <= one.high for one, t in zip(all_of, truth, strict=False)))
    figures = (
        f"{int(plan.samples.sum()):4d} of {len(plan.x):4d}",
        f"{100 * np.mean(wide):6.2f} %",
        f"{100 * np.std(error, axis=0).mean():6.2f} %",
        f"{np.mean(held):.3f}",
        f"{np.mean(held, axis=0).min():.3f}",
        f"{np.mean(together):.3f}",
        f"{int(np.sum(wrong)):5d}",
    )
    yield "  ".join(figures)


# Of each the table that its plan is made from, and the tables of 8 and of 32 SMs.
SUITE = {
    "torch-16.table.csv": ("torch-8.table.csv", "torch-32.table.csv"),
    "heat-16.table.csv": ("heat-8.table.csv", "heat-32.table.csv"),
    "mix-8.table.csv": ("mix-8.table.csv", "mix-32.table.csv"),
}


def suite(folder: Path, least: int, draws: int) -> Iterator[str]:
    """Yield a line for each mean over the programs of a suite: 32 SMs over 8."""
    plans, cycles = [], []
    for profile, tables in SUITE.items():
        plans.append(population(folder / profile, GroupBy.LAUNCH, Target(min_samples=least), _TABLE))
        columns = [column(folder / table, "cycles") for table in tables]
        cycles.append(np.stack(columns, axis=1)[plans[-1].row])
    above, below = np.array([values.sum(axis=0) for values in cycles]).T
    ratios = above / below
    truth = {
        "geometric": float(np.exp(np.log(ratios).mean())),
        "harmonic": len(ratios) / float((1 / ratios).sum()),
        "total": float(above.sum() / below.sum()),
    }
    rng, held, wide, error = np.random.default_rng(0), *({kind: [] for kind in truth} for _ in range(3))
    for _ in range(draws):
        samples = [drawn(plan, values, rng, ("8", "32")) for plan, values in zip(plans, cycles, strict=True)]
        of_suite = means(samples, [speedup(sample, "8", "32", CONFIDENCE) for sample in samples], CONFIDENCE)
        for kind, true in truth.items():
            mean = getattr(of_suite, kind)
            held[kind].append(mean.low <= true <= mean.high)
            wide[kind].append(mean.half_width)
            error[kind].append(np.log(mean.ratio / true))
    launches = (
        f"{sum(int(plan.samples.sum()) for plan in plans):4d} of {sum(len(plan.x) for plan in plans):4d}"
    )
    for kind, true in truth.items():
        width, spread = 100 * np.mean(wide[kind]), 100 * np.std(error[kind])
        figures = f"{width:6.2f} %  {spread:6.2f} %  {np.mean(held[kind]):.3f}"
        yield f"{kind:10} {true:.3f}  {least}{'':15}{launches}  {figures}"


def column(path: Path, name: str) -> FloatArray:
    """Return (n,) a column of a table in the order of its rows."""
    with path.open(newline="") as stream:
        return np.array([float(row[name]) for row in csv.DictReader(stream)])


def main() -> None:
    """Print a line for each study, grouping and least number of launches a stratum."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=300)
    options = parser.parse_args()
    print(f"{options.draws} draws; 95 % intervals; half-width and error of log R")
    print(f"{'':34}launches  half-width  error   held   least  all    wrong")
    for name, study in STUDIES.items():
        for group_by in (GroupBy.LAUNCH, GroupBy.NAME):
            for least in (1, 2, 3):
                start = time.perf_counter()
                for line in cell(study, options.folder, group_by, least, options.draws):
                    print(
                        f"{name:20} {group_by.value:7} {least}  {line}  {time.perf_counter() - start:5.1f} s",
                        flush=True,
                    )
    print(f"\n{'three programs, 32 over 8 SMs':34}launches  half-width  error   held")
    for least in (1, 2, 3):
        for line in suite(options.folder, least, options.draws):
            print(line, flush=True)


if __name__ == "__main__":
    main()
