"""How often intervals for the simulated total hold, and how wide they are: real profiles, many draws each.

`made`: cycles are made up from a profile's durations: every kernel has its own cycles per nanosecond and
every launch departs from that, in six ways (`CASES`). `real`: one simulated run's cycles are the profile,
another's the cycles, launch by launch. A plan is made from the durations, launches are drawn, and the
interval from their cycles is compared with the sum of all launches' cycles; then the sample is topped up
until the interval is as narrow as asked for. All draws of a cell are estimated at once.

    python benchmarks/intervals.py made PROFILES --draws 1000
    python benchmarks/intervals.py real RUNS --draws 1000
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.estimation.interval import Interval, Moments, interval
from sampling.estimation.sizes import sizes_for
from sampling.plan.design import make_design
from sampling.readers.columns import column_map
from sampling.readers.input_file import ReadOptions
from sampling.readers.registry import read_profile
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.launch_list import list_launches
from sampling.strata.target import Target

TARGETS = (0.05, 0.02)
CONFIDENCE = 0.95
# Of the recordings in the folder: many and few kernels, much and little to sample.
PROFILES = {
    "resnet50": "kineto/v100-resnet50-training.json.gz",
    "dlrm": "kineto/a100-recommendation-training.json.gz",
    "qwen1.5": "kineto/h100-qwen1.5-inference.json.gz",
    "transformer": "nsys-sqlite/h100x2-transformer-nsys2026.2.sqlite",
    "cloverleaf": "nsys-csv/cloverleaf_gpu_trace.csv",
    "gaussian": "nsys-sqlite/rtx3090-gaussian-nsys2022.4.sqlite",
}
# Programs that were simulated whole on GPUs of several sizes: their tables, and which columns hold what.
RUNS = {
    "solver": ("solver-{}.launches.csv", (8, 16), "name=kernel,duration_ns=cycles"),
    "heat": ("heat-{}.table.csv", (8, 16, 32), "name=name,duration_ns=duration_ns"),
    "torch": ("torch-{}.table.csv", (4, 8, 16, 32, 64), "name=name,duration_ns=duration_ns"),
    "mix": ("mix-{}.table.csv", (8, 32), "name=name,duration_ns=duration_ns"),
    "trace": ("trace-{}.launches.csv", (8, 16), "name=kernel,duration_ns=cycles"),
}
_CELLS_AT_ONCE = 1_000_000
_MOST_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Population:
    """Every launch of a profile, stratum by stratum, and a plan's sizes.

    Attributes
    ----------
    x, stratum, kernel, when, row : (n,) duration, stratum, kernel group, place in the run from 0 to 1, and
        number of each launch.
    launches, mean_x, samples, group, declared : (s,) of each stratum; those of all pools are of one group.
    """

    x: FloatArray
    stratum: IntArray
    kernel: IntArray
    when: FloatArray
    row: IntArray
    launches: IntArray
    mean_x: FloatArray
    samples: IntArray
    group: IntArray
    declared: FloatArray

    @property
    def total_x(self) -> float:
        """The duration of all launches."""
        return float(self.x.sum())


def population(path: Path, group_by: GroupBy, target: Target, columns: str | None = None) -> Population:
    """Plan a profile and return all its launches; strata that last no time are left out."""
    profile = read_profile([str(path)], options=ReadOptions(column_map(columns) if columns else None))
    counts = count_durations(profile, Grouping(group_by))
    design = make_design(counts, "joint", target, 0)
    strata, groups = design.strata, design.groups
    assert design.promise is not None
    listed = list_launches(profile, counts)
    # The launches in the order of the reduction's pairs, and in that order strata are contiguous.
    order = np.lexsort((listed.duration_ns, groups.group_of[listed.group]))
    by_start = np.argsort(strata.start)
    first = groups.counts.launches_before[strata.start[by_start]]
    stratum = np.searchsorted(first, np.arange(len(order)), side="right") - 1
    lasting = strata.mean_ns[by_start] > 0
    kept = lasting[stratum]
    rows = by_start[lasting]
    pooled = groups.is_pool[strata.group[rows]]
    return Population(
        listed.duration_ns[order][kept].astype(np.float64),
        (np.cumsum(lasting) - 1)[stratum[kept]],
        listed.group[order][kept],
        (order / len(order))[kept],
        order[kept],
        strata.launches[rows],
        strata.mean_ns[rows],
        strata.samples[rows],
        np.where(pooled, len(groups.is_pool), strata.group[rows]),
        design.promise.cycles.within_squared(strata.start[rows], strata.stop[rows])
        + pooled * target.kernel_spread**2,
    )


def lognormal(rng: np.random.Generator, cov: FloatArray | float, shape: tuple[int, ...]) -> FloatArray:
    """Return factors of mean 1 and a coefficient of variation."""
    sigma = np.sqrt(np.log1p(np.square(cov)))
    return np.asarray(np.exp(sigma * rng.standard_normal(shape) - sigma**2 / 2))


def _declared(rng: np.random.Generator, made: Population, draws: int) -> FloatArray:
    """As declared: 30 % between kernels, 5 % within."""
    return _cycles(rng, made, draws, 0.3, 0.05)


def _by_kernel(rng: np.random.Generator, made: Population, draws: int) -> FloatArray:
    """The spread within differs from kernel to kernel, lognormal 0.8 about 5 %."""
    kernels = int(made.kernel.max()) + 1
    cov = 0.05 * np.exp(0.8 * rng.standard_normal((draws, kernels)))
    return _cycles(rng, made, draws, 0.3, cov[:, made.kernel])


def _wide(rng: np.random.Generator, made: Population, draws: int) -> FloatArray:
    """60 % between kernels, 20 % within."""
    return _cycles(rng, made, draws, 0.6, 0.2)


def _modes(rng: np.random.Generator, made: Population, draws: int) -> FloatArray:
    """Two modes that durations do not show: half of the launches take 1.25, half 0.75 of the cycles."""
    mode = rng.random((draws, len(made.x))) < 0.5
    return np.where(mode, 1.25, 0.75) * _cycles(rng, made, draws, 0.3, 0.05)


def _drift(rng: np.random.Generator, made: Population, draws: int) -> FloatArray:
    """Cycles per nanosecond rise from 0.8 to 1.2 over the run."""
    return (0.8 + 0.4 * made.when) * _cycles(rng, made, draws, 0.3, 0.05)


def _slow(rng: np.random.Generator, made: Population, draws: int) -> FloatArray:
    """2 % of the launches take three times the cycles."""
    slow = rng.random((draws, len(made.x))) < 0.02
    return np.where(slow, 3.0, 1.0) * _cycles(rng, made, draws, 0.3, 0.05)


def _cycles(
    rng: np.random.Generator, made: Population, draws: int, between: float, within: FloatArray | float
) -> FloatArray:
    """Return (draws, n) cycles with a spread between kernels and one within."""
    kernel = lognormal(rng, between, (draws, int(made.kernel.max()) + 1))
    noise = lognormal(rng, within, (draws, len(made.x)))
    return np.asarray(made.x * kernel[:, made.kernel] * noise)


CASES = {
    "declared": _declared,
    "by kernel": _by_kernel,
    "wide": _wide,
    "modes": _modes,
    "drift": _drift,
    "slow": _slow,
}


class Draws:
    """Many draws of a population: running sums in the order of drawing, so that any sizes are looked up.

    Durations count relative to their stratum's mean, cycles relative to that and about their stratum's own
    mean: no digits are lost.
    """

    def __init__(self, made: Population, draws: int, rng: np.random.Generator) -> None:
        self.made = made
        self.draws = draws
        launches = len(made.x)
        self.order = np.argsort(rng.random((draws, launches)) + made.stratum, axis=1)
        start = np.cumsum(made.launches) - made.launches
        self._start = start
        self._base = np.arange(draws)[:, np.newaxis] * (launches + 1) + start
        self._x = (made.x / made.mean_x[made.stratum] - 1)[self.order]
        self._sums = {"x": self._running(self._x), "xx": self._running(self._x**2)}

    def simulate(self, cycles: FloatArray) -> FloatArray:
        """Take the cycles (draws, n) of every launch; return (draws,) their totals."""
        made = self.made
        relative = cycles / made.mean_x[made.stratum]
        self._mean = np.add.reduceat(relative, self._start, axis=1) / made.launches
        y = np.take_along_axis(relative, self.order, 1) - self._mean[:, made.stratum]
        self._sums |= {"y": self._running(y), "yy": self._running(y**2), "xy": self._running(y * self._x)}
        return np.asarray(cycles.sum(axis=1))

    def moments(self, samples: IntArray, draws: IntArray) -> Moments:
        """Return the moments of samples (d, s) of some draws (d,)."""
        made, base = self.made, self._base[draws]
        sums = {name: running[base + samples] - running[base] for name, running in self._sums.items()}
        x, y = sums["x"] / samples, sums["y"] / samples
        mean_x = made.mean_x
        return Moments(
            made.launches.astype(np.float64),
            mean_x,
            made.group,
            made.declared,
            samples.astype(np.float64),
            (1 + x) * mean_x,
            (self._mean[draws] + y) * mean_x,
            np.maximum(sums["xx"] - samples * x**2, 0) * mean_x**2,
            (sums["xy"] - samples * x * y) * mean_x**2,
            np.maximum(sums["yy"] - samples * y**2, 0) * mean_x**2,
        )

    def _running(self, values: FloatArray) -> FloatArray:
        sums = np.zeros((self.draws, values.shape[1] + 1))
        np.cumsum(values, axis=1, out=sums[:, 1:])
        return sums.ravel()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of draws, (d,) each: error and half-width relative to the truth, sampled share, rounds.

    And whether the declared spread is refuted, which a true declaration is in one draw of a hundred.
    """

    error: FloatArray
    half_width: FloatArray
    time: FloatArray
    rounds: IntArray
    refuted: BoolArray


def outcome(
    draws: Draws, truth: FloatArray | float, epsilon: float | None, most_rounds: int = _MOST_ROUNDS
) -> Outcome:
    """Return the interval of the plan's own sizes, or of those topped up until it is within epsilon."""
    made = draws.made
    samples = np.broadcast_to(made.samples, (draws.draws, len(made.samples))).copy()
    rounds = np.zeros(draws.draws, dtype=np.int64)
    going = np.arange(draws.draws) if epsilon is not None else np.zeros(0, dtype=np.int64)
    while len(going) and rounds.max() < most_rounds:
        moments = draws.moments(samples[going], going)
        found, half_width = _found(moments)
        wide = half_width > (epsilon or 0.0) * moments.totals.sum(axis=-1) * (1 + 1e-9)
        sizes = sizes_for(moments, found, epsilon or 0.0, CONFIDENCE)
        samples[going[wide]] = sizes[wide]
        going = going[wide]
        rounds[going] += 1
    moments = draws.moments(samples, np.arange(draws.draws))
    found, half_width = _found(moments)
    totals = moments.totals.sum(axis=-1)
    if epsilon is not None:
        half_width = np.where(rounds > 0, np.maximum(half_width, epsilon * totals), half_width)
    sampled = (samples * made.mean_x).sum(axis=-1) / made.total_x
    return Outcome(np.abs(totals - truth) / truth, half_width / truth, sampled, rounds, found.exceeds)


def _found(moments: Moments) -> tuple[Interval, FloatArray]:
    """Return the interval and its half-width (d,)."""
    found = interval(moments)
    return found, found.half_width(CONFIDENCE)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the grid: coverage, median half-width, share within epsilon, sampled share of the time.

    And the rounds of topping up, and the share of draws that refute what was declared.
    """

    profile: str
    group_by: str
    case: str
    stage: str
    coverage: float
    half_width: float
    within: float
    time: float
    rounds: float
    refuted: float


def made_cells(
    name: str,
    group_by: GroupBy,
    made: Population,
    draws: int,
    cases: list[str],
    targets: tuple[float, ...],
    seed: int = 1,
) -> Iterator[Cell]:
    """Yield the cells of one profile, with cycles that are made up."""
    rng = np.random.default_rng(seed)
    at_once = max(1, min(draws, _CELLS_AT_ONCE // len(made.x)))
    outcomes: dict[tuple[str, float | None], list[Outcome]] = {}
    for done in range(0, draws, at_once):
        batch = Draws(made, min(at_once, draws - done), rng)
        for case in cases:
            truth = batch.simulate(CASES[case](rng, made, batch.draws))
            for target in (None, *targets):
                outcomes.setdefault((case, target), []).append(outcome(batch, truth, target))
    for (case, target), found in outcomes.items():
        yield _cell(name, group_by, case, target, found)


def real_cells(
    folder: Path, group_by: GroupBy, draws: int, targets: tuple[float, ...], epsilon: float, seed: int = 1
) -> Iterator[Cell]:
    """Yield the cells of every ordered pair of sizes of every program that was really simulated."""
    for name, (pattern, sizes, columns) in RUNS.items():
        tables = {size: folder / pattern.format(size) for size in sizes}
        cycles = {size: _cycles_of(table) for size, table in tables.items()}
        for profiled, simulated in permutations(sizes, 2):
            made = population(tables[profiled], group_by, Target(epsilon=epsilon), columns)
            batch = Draws(made, draws, np.random.default_rng(seed))
            of_launch = cycles[simulated][made.row]
            batch.simulate(np.broadcast_to(of_launch, (draws, len(of_launch))))
            for target in (None, *targets):
                found = [outcome(batch, float(of_launch.sum()), target)]
                yield _cell(f"{name} {profiled}->{simulated}", group_by, f"real, {epsilon:g}", target, found)


def _cycles_of(table: Path) -> FloatArray:
    """Return (launches,) the cycles of every launch of a run."""
    with table.open(newline="") as rows:
        return np.array([float(row["cycles"]) for row in csv.DictReader(rows)])


def _cell(name: str, group_by: GroupBy, case: str, target: float | None, found: list[Outcome]) -> Cell:
    error, half_width, sampled, rounds, refuted = (
        np.concatenate([getattr(each, field) for each in found])
        for field in ("error", "half_width", "time", "rounds", "refuted")
    )
    return Cell(
        name,
        group_by.value,
        case,
        "first" if target is None else f"to {target:g}",
        float((error <= half_width + 1e-12).mean()),
        float(np.median(half_width)),
        float((error <= (target or 0.05)).mean()),
        float(np.median(sampled)),
        float(rounds.mean()),
        float(refuted.mean()),
    )


def summary(found: list[Cell]) -> Iterator[str]:
    """Yield a row for each case and stage: coverage, how many cells fall short, widths, sampled time."""
    heads = ("case", "stage", "coverage: mean, least, cells below 0.93", "half-width", "sampled time")
    yield f"| {' | '.join(heads)} | within epsilon | refuted: mean, most |"
    yield "|---|---|---|---|---|---|---|"
    for case, stage in dict.fromkeys((cell.case, cell.stage) for cell in found):
        row = [cell for cell in found if (cell.case, cell.stage) == (case, stage)]
        coverage, refuted = (
            np.array([getattr(cell, name) for cell in row]) for name in ("coverage", "refuted")
        )
        width, sampled, within = (
            np.median([getattr(cell, name) for cell in row]) for name in ("half_width", "time", "within")
        )
        yield (
            f"| {case} | {stage} | {coverage.mean():.3f}, {coverage.min():.3f}, {(coverage < 0.93).sum()} of "
            f"{len(row)} | {width:.4f} | {sampled:.3f} | {within:.3f} | "
            f"{refuted.mean():.3f}, {refuted.max():.3f} |"
        )


def main() -> None:
    """Print every cell if asked for, then the summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cycles", choices=("made", "real"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--epsilons", default="0.05", help="of the plans for real runs")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--profiles", default=",".join(PROFILES))
    parser.add_argument("--targets", default=",".join(map(str, TARGETS)))
    parser.add_argument("--cells", action="store_true", help="print every cell too")
    asked = parser.parse_args()
    targets = tuple(float(target) for target in asked.targets.split(",") if target)
    found: list[Cell] = []
    started = time.perf_counter()
    for group_by in (GroupBy.NAME, GroupBy.LAUNCH):
        if asked.cycles == "real":
            for epsilon in map(float, asked.epsilons.split(",")):
                found += real_cells(asked.folder, group_by, asked.draws, targets, epsilon)
            continue
        for name in asked.profiles.split(","):
            made = population(asked.folder / PROFILES[name], group_by, Target())
            found += made_cells(name, group_by, made, asked.draws, asked.cases.split(","), targets)
            print(f"{name} by {group_by.value}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    if asked.cells:
        for cell in found:
            print(
                f"{cell.profile:14} {cell.group_by:7} {cell.case:10} {cell.stage:8} {cell.coverage:.3f} "
                f"{cell.half_width:.4f} {cell.within:.3f} {cell.time:.4f} "
                f"{cell.rounds:.1f} {cell.refuted:.3f}"
            )
    for line in summary(found):
        print(line)


if __name__ == "__main__":
    main()
