"""Several configurations of a simulator on the launches of one plan: how fast each is beside a base.

The first configuration is the base. Every launch that two have a result of is compared with itself, see
`speedup`; the intervals of all that are asked for hold together. What an open comparison takes to be told is
said in launches. (docs/methods.md, 15 Two configurations)
"""

from __future__ import annotations

import filecmp
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, OptionError
from sampling.estimation.caches import unlike_caches
from sampling.estimation.interval import Sample
from sampling.estimation.sizes import MOST_ADDED, sampling_left
from sampling.estimation.speedup import Speedup, Verdict, adjust_together, next_sizes, pair_launches, speedup
from sampling.estimation.total import (
    NOT_RANDOM,
    PROJECTED,
    PlanEstimate,
    build_sample,
    compared_keys,
    estimate_plan,
)
from sampling.parallel import Progress, Stream, generator
from sampling.plan.plan_file import PlanFile
from sampling.simulators.measured_run import CYCLES
from sampling.simulators.results import (
    SimulatedLaunches,
    changed_options,
    expand_runs,
    read_result_files,
)
from sampling.strata.satterthwaite import student_t
from sampling.strata.strata import SIMILAR_SPREAD, half_width_as_declared
from sampling.text import counted

#: Two configurations are the same where their speedup is surely within this of 1.
SAME_WITHIN = 0.005


class Likeness(StrEnum):
    """What two configurations' results have in common that is to be told beside their speedup."""

    SAME_FILES = "the same files"
    EQUAL = "no drawn launch differs"
    SAME_OPTIONS = "the same options: the simulator's own noise"


@dataclass(frozen=True, slots=True, eq=False)
class Configuration:
    """A configuration's name, the files of its results, and what they say by themselves."""

    name: str
    files: tuple[str, ...]
    estimate: PlanEstimate

    @property
    def options(self) -> Mapping[str, str]:
        """The simulator's options, where its logs print them."""
        return self.estimate.results.options


class GroupSpeedup(NamedTuple):
    """The speedup of a kernel group's own cycles."""

    key: str
    speedup: Speedup
    #: Cycles of the base and of the configuration, of the strata that both have results of.
    base_cycles: float
    cycles: float


@dataclass(frozen=True, eq=False)
class PlanSpeedups:
    """The speedups of several configurations, on the launches of one plan."""

    plan: PlanFile
    #: The first is the base.
    configurations: tuple[Configuration, ...]
    #: Its metrics are the configurations' cycles.
    sample: Sample
    #: Of each configuration over the base, or of all pairs; their intervals hold together.
    speedups: tuple[Speedup, ...]
    confidence: float
    same_within: float

    @property
    def base(self) -> Configuration:
        """What the others are compared with."""
        return self.configurations[0]

    @cached_property
    def by_name(self) -> dict[str, Configuration]:
        """The configurations by their names."""
        return {configuration.name: configuration for configuration in self.configurations}

    @property
    def simultaneous(self) -> bool:
        """Whether several intervals hold together."""
        return sum(speedup.standard_error > 0 for speedup in self.speedups) > 1

    @property
    def is_of_whole_run(self) -> bool:
        """Whether the launches began as they do in the whole run."""
        return self.base.estimate.caches.is_of_whole_run

    def verdict(self, speedup: Speedup) -> Verdict | None:
        """Return what is told of a speedup; None where it has no interval."""
        return None if math.isnan(speedup.half_width) else speedup.verdict(self.same_within)

    def likeness(self, speedup: Speedup) -> Likeness | None:
        """Return what is to be told of two results that are much alike."""
        base, configuration = self.by_name[speedup.base], self.by_name[speedup.name]
        if are_same_files(base.files, configuration.files):
            return Likeness.SAME_FILES
        if base.options and not changed_options(base.options, configuration.options):
            return Likeness.SAME_OPTIONS
        return Likeness.EQUAL if speedup.launches and not speedup.differing else None

    def is_within(self, target: float, *, accept_cold: bool = False) -> bool:
        """Return whether all speedups are as narrow as asked for; unasked, none of cold launches is."""
        is_told = self.is_of_whole_run or accept_cold
        return is_told and all(speedup.half_width <= target * (1 + 1e-12) for speedup in self.speedups)

    def half_width_to_tell(self, speedup: Speedup) -> float:
        """Return the largest half-width that leaves no doubt, whether of a difference or of none."""
        difference = abs(math.log(speedup.ratio))
        return max(difference, math.log1p(self.same_within) - difference)

    def goal(self, speedup: Speedup, target: float | None) -> float | None:
        """Return the half-width that a speedup is to reach: the target, or what tells; None where it has."""
        if math.isnan(speedup.half_width) or speedup.standard_error == 0:
            return None
        if target is not None:
            return target if speedup.half_width > target else None
        is_open = self.verdict(speedup) is Verdict.OPEN
        return self.half_width_to_tell(speedup) if is_open else None

    def sizes(self, speedup: Speedup, goal: float, most_added: float = MOST_ADDED) -> IntArray | None:
        """Return (s,) how many launches bring a speedup to a half-width; None where none would."""
        left = sampling_left(goal, speedup.beside_sampling)
        if not left:
            return None
        # The interval is to hold together with the others, so each has to be narrower by itself.
        own_quantile = float(student_t(self.confidence, speedup.degrees_of_freedom))
        half_width = left * own_quantile / speedup.quantile
        return next_sizes(self.sample, speedup.base, speedup.name, half_width, self.confidence, most_added)

    def launches_to_tell(self, speedup: Speedup, target: float | None = None) -> int | None:
        """Return how many launches more bring a speedup to its goal; None where no number of them does."""
        goal = self.goal(speedup, target)
        sizes = None if goal is None else self.sizes(speedup, goal, math.inf)
        return None if sizes is None else self.sample.count(sizes) - speedup.launches


def expected_half_width(plan: PlanFile) -> float | None:
    """Return the half-width, of its logarithm, expected of a speedup between much the same configurations.

    None where the plan's launches were picked.
    """
    if not plan.is_random:
        return None
    keys = compared_keys(plan)
    size, samples, mean_ns = map(np.array, zip(*(stratum.units for stratum in plan.strata), strict=True))
    return half_width_as_declared(
        size,
        samples,
        mean_ns,
        np.unique(keys, return_inverse=True)[1],
        np.full(len(keys), SIMILAR_SPREAD**2),
        plan.options.confidence,
    )


def read_configurations(
    plan: PlanFile,
    files: Mapping[str, Sequence[str]],
    *,
    source: str | None = None,
    manifests: Sequence[str] = (),
    progress: Progress | None = None,
) -> dict[str, SimulatedLaunches]:
    """Return the results of each configuration, by its name; errors as of `read_result_files`."""
    return {
        name: read_result_files(plan, paths, source=source, manifests=manifests, progress=progress)
        for name, paths in files.items()
    }


def are_same_files(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether two lists of files, or folders of `run`, are the same or have the same content."""
    pairs = [expand_runs(paths)[0] for paths in (first, second)]
    if len(pairs[0]) != len(pairs[1]) or not pairs[0]:
        return False
    return all(
        path == other_path
        or (
            Path(path).is_file()
            and Path(other_path).is_file()
            and filecmp.cmp(path, other_path, shallow=False)
        )
        for path, other_path in zip(*pairs, strict=True)
    )


def compare_configurations(
    plan: PlanFile,
    results: Mapping[str, SimulatedLaunches],
    *,
    files: Mapping[str, Sequence[str]] | None = None,
    all_pairs: bool = False,
    same_within: float = SAME_WITHIN,
    confidence: float | None = None,
    projection_error: float | None = None,
    scale_error: float = 0.0,
) -> PlanSpeedups:
    """Return the speedups of configurations, by their names, over the first of them.

    Parameters
    ----------
    files : of the results, to say where two are the same.
    all_pairs : compare each with each.
    same_within : a speedup within this of 1 is none.
    confidence : of all intervals together; None: the plan's.
    projection_error, scale_error : as of `estimate_plan`.

    Raises OptionError: fewer than two configurations, one without cycles, or as of `estimate_plan`;
    AnalysisError: two whose launches found the caches otherwise, or that have no launch in common.
    """
    if len(results) < 2:
        raise OptionError("a speedup takes two configurations", remedy="give BASE=RESULTS NAME=RESULTS")
    configurations = []
    for name, launches in results.items():
        if (
            np.isnan(launches.metrics.get(CYCLES, np.array([np.nan]))).all()
            and PROJECTED not in launches.metrics
        ):
            raise OptionError(f"the results of {name} have no cycles", remedy="a speedup is one of cycles")
        estimate = estimate_plan(
            plan,
            launches,
            confidence=confidence,
            projection_error=projection_error,
            scale_error=scale_error,
        )
        configurations.append(Configuration(name, tuple((files or {}).get(name, ())), estimate))
    base = configurations[0]
    for configuration in configurations[1:]:
        _refuse_unlike(base, configuration)
    sample = _paired_sample(plan, configurations)
    level = base.estimate.main.confidence
    pairs = list(combinations(configurations, 2))
    pairs = pairs if all_pairs else pairs[: len(configurations) - 1]
    if plan.is_random:
        speedups = _random_speedups(plan, sample, pairs, level)
    else:
        speedups = [_picked_speedup(sample, *pair) for pair in pairs]
    return PlanSpeedups(plan, tuple(configurations), sample, tuple(speedups), level, same_within)


def compare_kernels(speedups: PlanSpeedups) -> list[GroupSpeedup]:
    """Return the speedups of kernel groups, each with its own interval, what gains or loses most first.

    Groups without a launch that two have a result of are left out; there are none where launches were picked.
    """
    if not speedups.plan.is_random:
        return []
    sample, keys = speedups.sample, list(dict.fromkeys(compared_keys(speedups.plan)))
    groups = []
    for contrast in speedups.speedups:
        has_both = ~np.isnan(sample.values(contrast.base)) & ~np.isnan(sample.values(contrast.name))
        for number, key in enumerate(keys):
            is_group = sample.group == number
            if not (has_both & is_group[sample.stratum]).any():
                continue
            part = sample.part(is_group)
            of_group = speedup(
                part, contrast.base, contrast.name, speedups.confidence, at_least=contrast.at_least
            )
            of_group = replace(of_group, beside_sampling=contrast.beside_sampling)
            totals = (
                float(total.sum()) for total in pair_launches(part, contrast.base, contrast.name)[0].totals
            )
            groups.append(GroupSpeedup(key, of_group, *totals))
    return sorted(groups, key=lambda group: -abs(group.base_cycles - group.cycles))


def _refuse_unlike(base: Configuration, configuration: Configuration) -> None:
    """Raise AnalysisError where launches of two configurations found the caches otherwise."""
    caches = base.estimate.caches, configuration.estimate.caches
    reason = unlike_caches(caches[1], caches[0])
    if reason and caches[0].kind != caches[1].kind:
        raise AnalysisError(
            f"{configuration.name} and {base.name} are not compared: of {configuration.name} {reason}",
            remedy="simulate the launches of both alike",
        )


def _paired_sample(plan: PlanFile, configurations: Sequence[Configuration]) -> Sample:
    """Return the launches of the plan with the cycles of each configuration, NaN where it has none."""
    ids = np.unique(np.concatenate([configuration.estimate.results.ids for configuration in configurations]))
    cycles = {}
    for configuration in configurations:
        results = configuration.estimate.results
        cycles[configuration.name] = np.full(len(ids), np.nan)
        cycles[configuration.name][np.searchsorted(ids, results.ids)] = results.metrics[CYCLES]
    return build_sample(plan, SimulatedLaunches(ids, cycles))


def _random_speedups(
    plan: PlanFile,
    sample: Sample,
    pairs: Sequence[tuple[Configuration, Configuration]],
    confidence: float,
) -> list[Speedup]:
    """Return the speedups with intervals that hold together, widened by what no launches narrow."""
    at_least = 0.0 if plan.topped_up is None else plan.topped_up.speedup or 0.0
    speedups = []
    for base, configuration in pairs:
        is_paired = ~np.isnan(sample.values(base.name)) & ~np.isnan(sample.values(configuration.name))
        if not is_paired.any():
            raise AnalysisError(f"{configuration.name} and {base.name} have no launch of the plan in common")
        contrast = speedup(sample, base.name, configuration.name, confidence, at_least=at_least)
        other_errors = (side.estimate.beside_sampling for side in (base, configuration))
        speedups.append(replace(contrast, beside_sampling=math.hypot(*other_errors)))
    return adjust_together(sample, speedups, confidence, generator(plan.options.seed, Stream.SPEEDUPS))


def _picked_speedup(sample: Sample, base: Configuration, configuration: Configuration) -> Speedup:
    """Return the quotient of the totals that the weights of picked launches give; it has no interval."""
    above, below = (side.estimate.main for side in (base, configuration))
    values = sample.values(base.name), sample.values(configuration.name)
    launches = int((~np.isnan(values[0]) & ~np.isnan(values[1])).sum())
    nothing = Speedup(
        base.name,
        configuration.name,
        math.nan,
        math.nan,
        math.nan,
        math.nan,
        launches=launches,
        differing=int((values[0] != values[1]).sum()),
        missing=int(sample.planned.sum()) - launches,
        reason=NOT_RANDOM,
    )
    if above.is_incomplete or below.is_incomplete:
        missing = counted(nothing.missing, "launch has", "launches have")
        return replace(nothing, reason=f"no ratio yet: {missing} no result of both")
    return replace(nothing, ratio=above.total / below.total)
