"""How much more time plans of joint take than any plan must: against the Lagrangian dual, on real profiles.

    python benchmarks/lower_bound.py FOLDER [--settings default|unpooled]

For prices p of variance no plan that meets the bounds takes less than

    sum over groups of [ min over all ways to cut it (time + p_g variance) - (p_g - p) budget_g ] - p budget,

p_g >= p >= 0, whatever the prices; the largest of these is looked for. The cheapest way to cut a group is
found by dynamic programming over ALL its distinct durations, written here anew. Plans are taken before they
are judged by drawing, and without the launches that only an interval needs: the bound knows neither. Sizes
are whole numbers in a plan and in each group's part of the bound, but prices cannot share out what is left
over: where a plan has a dozen launches, no plan reaches the bound.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from root import FEWEST_LAUNCHES, profiles_in

from sampling.errors import SamplingError
from sampling.methods.joint.joint import budget_of, group_budgets, solution_of, solve
from sampling.plan.design import make_design
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.plan_groups import PlanGroups
from sampling.strata.cycle_spread import CycleSpread, declared_spread
from sampling.strata.target import Target

EPSILONS = (0.01, 0.02, 0.05, 0.1)
# Groups of more distinct durations would take too long.
MOST_DURATIONS = 1500
_STEPS = 48


@dataclass(frozen=True, eq=False)
class Group:
    """The distinct durations of a group, ascending, with what simulated time is declared to vary."""

    duration_ns: np.ndarray
    launches: np.ndarray
    within: float
    between: float
    scale: float
    budget: float

    def cheapest(self, price: float, least: int) -> tuple[float, float]:
        """Return the least time + price x variance of all ways to cut it, and the variance of that one."""
        size = np.concatenate([[0], np.cumsum(self.launches)]).astype(np.float64)
        centre = np.average(self.duration_ns, weights=self.launches)
        off = self.duration_ns - centre
        first = np.concatenate([[0], np.cumsum(self.launches * off)])
        second = np.concatenate([[0], np.cumsum(self.launches * off**2)])
        ends = len(self.duration_ns) + 1
        best, variance = np.zeros(ends), np.zeros(ends)
        for stop in range(1, ends):
            launches = size[stop] - size[:stop]
            mean_off = (first[stop] - first[:stop]) / launches
            mean = centre + mean_off
            sigma2 = np.maximum((second[stop] - second[:stop]) / launches - mean_off**2, 0)
            sample = sigma2 * launches / np.maximum(launches - 1, 1)
            sample += (self.within * mean) ** 2 + self.between**2 * (mean**2 + sigma2)
            spread = np.where(launches > 1, self.scale * launches**2 * sample, 0)
            floor = np.minimum(least, launches)
            ideal = np.sqrt(price * spread / np.maximum(mean, 1e-300))
            low = np.clip(np.floor(ideal), floor, launches)
            high = np.clip(low + 1, floor, launches)
            costs = [m * mean + price * spread * (1 / m - 1 / launches) for m in (low, high)]
            cost = np.minimum(*costs)
            total = best[:stop] + cost
            start = int(np.argmin(total))
            m = low[start] if costs[0][start] <= costs[1][start] else high[start]
            best[stop] = total[start]
            variance[stop] = variance[start] + spread[start] * (1 / m - 1 / launches[start])
        return float(best[-1]), float(variance[-1])


def groups_of(groups: PlanGroups, target: Target, cycles: CycleSpread) -> list[Group]:
    """Return the groups of a plan."""
    counts, budgets = groups.counts, group_budgets(groups, target, cycles)
    return [
        Group(
            *(values.astype(np.float64) for values in counts.group_pairs(index)),
            cycles.within,
            cycles.between if groups.is_pool[index] else 0.0,
            float(cycles.scale[index]),
            float(budgets[index]),
        )
        for index in range(len(counts.groups))
    ]


def own_price(group: Group, least: int, high: float) -> float:
    """Return the price at which a group just meets its own bound; 0 where it needs none."""
    if not np.isfinite(group.budget) or group.cheapest(0.0, least)[1] <= group.budget:
        return 0.0
    low = high * 1e-12
    while group.cheapest(high, least)[1] > group.budget:
        low, high = high, high * 16
    for _ in range(_STEPS):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if group.cheapest(middle, least)[1] <= group.budget else (middle, high)
    return high


def lower_bound(groups: PlanGroups, target: Target, start: float) -> float:
    """Return a time that no plan of these groups is below."""
    cycles = declared_spread(groups, target)
    parts = groups_of(groups, target, cycles)
    budget, least = budget_of(groups.counts, target), target.min_samples
    own = [own_price(part, least, start) for part in parts]

    def dual(price: float) -> float:
        total = -price * budget
        for part, its_own in zip(parts, own, strict=True):
            paid = max(price, its_own)
            spare = (paid - price) * part.budget if paid > price else 0.0
            total += part.cheapest(paid, least)[0] - spare
        return total

    # The dual is concave in the price; its logarithm is searched about that of the plan.
    exponents = np.linspace(np.log(start) - 3, np.log(start) + 3, 13)
    values = [dual(float(np.exp(each))) for each in exponents]
    best = int(np.argmax(values))
    low, high = exponents[max(best - 1, 0)], exponents[min(best + 1, 12)]
    ratio = (np.sqrt(5) - 1) / 2
    found = max(values[best], dual(0.0))
    for _ in range(18):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        at_left, at_right = dual(float(np.exp(left))), dual(float(np.exp(right)))
        found = max(found, at_left, at_right)
        low, high = (low, right) if at_left > at_right else (left, high)
    return found


def targets(settings: str) -> Iterator[Target]:
    """Yield what is asked of plans."""
    for epsilon in EPSILONS:
        if settings == "default":
            yield Target(epsilon, min_freedom=0.0)
            continue
        for group, least in product((None, 0.25), (1, 2)):
            yield Target(
                epsilon,
                group_epsilon=group,
                min_samples=least,
                pool_below=0.0,
                kernel_spread=0.0,
                min_freedom=0.0,
            )


def over_bound(counts: DurationCounts, target: Target) -> float | None:
    """Return how much more time a plan takes than the bound, a fraction; None with too many durations."""
    design = make_design(counts, "joint", target, 0)
    groups = design.groups
    assert groups is not None
    if np.diff(groups.counts.offsets).max() > MOST_DURATIONS:
        return None
    found = solve(groups, design.target)
    plan = solution_of(groups, found, design.target)
    price = plan.price[plan.price > 0]
    # Without a price a launch a group is enough, and that is the bound.
    start = float(np.median(price)) if len(price) else 1e-6
    return plan.sampled_ns / lower_bound(groups, design.target, start) - 1


def main() -> None:
    """Print a line a setting, and what it comes to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--settings", choices=("default", "unpooled"), default="default")
    asked = parser.parse_args()
    found: list[float] = []
    for name, paths in profiles_in(asked.folder):
        try:
            profile = read_profile(paths)
        except SamplingError:
            continue
        for by in (GroupBy.NAME, GroupBy.LAUNCH):
            counts = count_durations(profile, Grouping(by))
            if counts.launches < FEWEST_LAUNCHES or not counts.total_duration_ns:
                continue
            for target in targets(asked.settings):
                over = over_bound(replace(counts), target)
                if over is None:
                    continue
                found.append(over)
                print(
                    f"{100 * over:7.2f} %  {name} {by} epsilon {target.epsilon:g} "
                    f"group {target.group_epsilon} samples {target.min_samples}",
                    flush=True,
                )
    values = 100 * np.array(found)
    print(
        f"{len(values)} settings: {values.mean():.2f} % over the bound in the mean, "
        f"{np.median(values):.2f} median, {np.quantile(values, 0.9):.2f} at the 90th percentile, "
        f"{values.max():.2f} at the worst"
    )


if __name__ == "__main__":
    main()
