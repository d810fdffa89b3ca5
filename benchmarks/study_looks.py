"""How often the speedups of a study hold that runs until they are narrow, and how many launches that takes.

Every launch of a program was simulated on every configuration, so the true speedups are known. Plans are
drawn many times, and their launches "run" as `kernelpoint run study.toml` does: the base alone until it is
within the target of itself, then a launch on every open configuration before the next; each result is looked
at; where all have run and a speedup is wider than the target, the plan grows by a round.

    python benchmarks/study_looks.py RUNS --target 0.01 --draws 300 --studies "heat, sizes" "mix, sizes"
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from intervals import Population, population
from speedups import CONFIDENCE, STUDIES, column

from sampling.arrays import FloatArray, IntArray
from sampling.estimation.interval import Sample
from sampling.estimation.speedup import Speedup, adjust_together, next_sizes, speedup
from sampling.reduction import GroupBy
from sampling.strata.satterthwaite import student_t
from sampling.strata.target import Target


class Outcome(NamedTuple):
    """What one run came to."""

    #: Launches, over all configurations.
    launches: int
    speedups: list[Speedup]


def run(
    plan: Population, cycles: FloatArray, names: tuple[str, ...], target: float, rng: np.random.Generator
) -> Outcome:
    """Run the launches of a plan until all speedups over the first are within the target, or all have run."""
    by_stratum = np.lexsort((rng.random(len(plan.x)), plan.stratum))
    place = np.empty(len(plan.x), dtype=np.int64)
    place[by_stratum] = np.arange(len(plan.x)) - np.repeat(
        np.cumsum(plan.launches) - plan.launches, plan.launches.astype(int)
    )
    share = (plan.launches * plan.mean_x)[plan.stratum]
    samples, queue = plan.samples.astype(np.int64), np.array([], dtype=np.int64)
    counts, is_sized = np.zeros(len(names), dtype=np.int64), False

    def grown(sizes: IntArray) -> IntArray:
        rows = np.setdiff1d(np.flatnonzero(place < sizes[plan.stratum]), queue)
        return np.concatenate([queue, rows[np.lexsort((-share[rows], place[rows]))]])

    queue = grown(samples)
    while True:
        rows = queue[: counts.max()]
        y = cycles[rows].copy()
        y[np.arange(len(rows))[:, np.newaxis] >= counts] = np.nan
        sample = Sample(
            plan.launches,
            plan.mean_x,
            plan.group,
            plan.declared,
            plan.stratum[rows],
            plan.x[rows],
            y,
            names,
            samples,
        )
        base = names[0]
        if not is_sized:
            open_names = [base]
            width = speedup(sample, base, base, CONFIDENCE).half_width if len(rows) else math.nan
            is_sized = width <= target or counts[0] == len(plan.x)
            if is_sized:
                continue
        elif counts[1:].min() == 0:
            open_names = [
                name for name, count in zip(names, counts, strict=True) if name != base and not count
            ]
        else:
            single = [speedup(sample, base, name, CONFIDENCE, at_least=target) for name in names[1:]]
            contrasts = adjust_together(sample, single, CONFIDENCE, np.random.default_rng(0))
            open_contrasts = [contrast for contrast in contrasts if not contrast.half_width <= target]
            if not open_contrasts:
                return Outcome(int(counts.sum()), contrasts)
            open_names = [contrast.name for contrast in open_contrasts]
        places = [names.index(name) for name in open_names]
        waiting = [number for number in places if counts[number] < len(queue)]
        if waiting:
            # A launch on every open configuration, and on the base, before the next.
            number = min(waiting, key=lambda one: counts[one])
            counts[number] += 1
            counts[0] = max(counts[0], counts[number])
        else:
            samples = _next_samples(sample, [] if not is_sized else open_contrasts, target, samples)
            queue = grown(samples)


def _next_samples(
    sample: Sample, open_contrasts: list[Speedup], target: float, samples: IntArray
) -> IntArray:
    """Return the sizes of the next round: of the base beside itself where no comparison is open yet."""
    base = sample.metrics[0]
    if not open_contrasts:
        return next_sizes(sample, base, base, target, CONFIDENCE)
    for contrast in open_contrasts:
        own_quantile = float(student_t(CONFIDENCE, contrast.degrees_of_freedom))
        half_width = target * own_quantile / contrast.quantile
        sizes = next_sizes(sample, base, contrast.name, half_width, CONFIDENCE)
        samples = np.maximum(samples, sizes)
    return samples


def main() -> None:
    """Print a line for each study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", type=float, default=0.01)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=list(STUDIES))
    options = parser.parse_args()
    print(f"{options.draws} draws, target {options.target:g}; two launches a stratum at first")
    for name in options.studies:
        study, start = STUDIES[name], time.perf_counter()
        plan = population(
            options.folder / study.profile, GroupBy.LAUNCH, Target(min_samples=2), study.columns
        )
        tables = [column(options.folder / path, label) for _, path, label in study.tables]
        cycles = np.stack(tables, axis=1)[plan.row]
        names = tuple(label for label, *_ in study.tables)
        truth = np.log(cycles[:, :1].sum(axis=0) / cycles[:, 1:].sum(axis=0))
        rng = np.random.default_rng(0)
        outcomes = [run(plan, cycles, names, options.target, rng) for _ in range(options.draws)]
        errors = np.array([[math.log(one.ratio) for one in outcome.speedups] for outcome in outcomes]) - truth
        widths = np.array([[one.half_width for one in outcome.speedups] for outcome in outcomes])
        held = np.abs(errors) <= widths * (1 + 1e-9)
        launches = np.mean([outcome.launches for outcome in outcomes])
        print(
            f"{name:20} {launches:6.0f} of {len(plan.x) * len(names)} launches  "
            f"error {100 * np.sqrt((errors**2).mean()):.2f} %  held {held.mean():.3f}, least "
            f"{held.mean(axis=0).min():.3f}, at once {held.all(axis=1).mean():.3f}  "
            f"{time.perf_counter() - start:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
