"""Speedups as records: configurations, programs with their cells, kernels, what to run next."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sampling.estimation.configurations import Configuration, GroupSpeedup, PlanSpeedups
from sampling.estimation.speedup import Speedup
from sampling.plan.plan_file import PlannedLaunch
from sampling.record import Amount, Count, Dimensions, Fraction, Index, Nanoseconds, Record
from sampling.simulators.results import changed_options


class OptionChange(Record, frozen=True):
    """An option of the simulator whose value is another than the base's; None where it is not printed."""

    option: str
    base: str | None
    value: str | None


class ConfigurationSummary(Record, frozen=True):
    """A configuration: where its results are, and what differs from the base."""

    name: str
    files: list[str]
    #: How its launches found the caches.
    caches: str
    #: None where the results do not print the options of both.
    options_changed: list[OptionChange] | None


class SpeedupCell(Record, frozen=True):
    """A program on a configuration: its cycles, and its speedup over a base."""

    configuration: str
    base: str
    #: None of a part of the run.
    cycles: float | None
    speedup: float | None
    low: float | None
    high: float | None
    #: base, of the base itself; None where there is no interval.
    verdict: str | None
    #: Drawn launches with both results, those whose two results differ, and those that lack one.
    launches: Index
    differing: Index
    missing: Index
    #: How many more would tell; None where it is told, or no number would.
    launches_to_tell: Index | None
    #: The same files, or the same options; or why there is no speedup, or no interval.
    remark: str | None


class ProgramSpeedups(Record, frozen=True):
    """A program, a cell for each comparison."""

    name: str
    launches: Count
    drawn: Count
    cells: list[SpeedupCell]


class KernelSpeedup(Record, frozen=True):
    """A kernel group on a configuration, with its own interval."""

    program: str
    configuration: str
    base: str
    key: str
    base_cycles: Amount
    cycles: Amount
    speedup: float | None
    low: float | None
    high: float | None
    verdict: str | None


class MeanSpeedup(Record, frozen=True):
    """A mean over programs."""

    ratio: float
    low: float
    high: float


class MeanSpeedups(Record, frozen=True):
    """The means of each configuration, by its name."""

    geometric: dict[str, MeanSpeedup]
    harmonic: dict[str, MeanSpeedup]
    total: dict[str, MeanSpeedup]


class NextLaunch(Record, frozen=True):
    """A launch to simulate next, on every configuration."""

    program: str
    id: Index
    process: int
    device: int
    ordinal: Index
    name: str
    grid: Dimensions | None
    block: Dimensions | None
    duration_ns: Nanoseconds | None


class SpeedupSummary(Record, frozen=True):
    """Configurations beside a base, program by program."""

    base: str
    configurations: list[ConfigurationSummary]
    programs: list[ProgramSpeedups]
    #: None of a single program.
    means: MeanSpeedups | None
    #: None of them unless they are asked for.
    groups: list[KernelSpeedup]
    confidence: Fraction
    #: Whether the intervals hold all at once.
    simultaneous: bool
    same_within: Amount
    #: Whether all speedups are as narrow as asked for.
    target_met: bool | None
    next: list[NextLaunch]


def summarise_speedups(
    speedups: PlanSpeedups,
    program: str,
    *,
    groups: Sequence[GroupSpeedup] = (),
    target: float | None = None,
    accept_cold: bool = False,
    next_launches: Sequence[PlannedLaunch] = (),
) -> SpeedupSummary:
    """Return every figure of the speedups of one program; ``groups``: those of its kernels that are told."""
    base = speedups.base
    return SpeedupSummary(
        base=base.name,
        configurations=[
            ConfigurationSummary(
                name=configuration.name,
                files=list(configuration.files),
                caches=configuration.estimate.caches.state,
                options_changed=find_changes(base, configuration),
            )
            for configuration in speedups.configurations
        ],
        programs=[
            ProgramSpeedups(
                name=program,
                launches=speedups.plan.launches,
                drawn=len(speedups.plan.drawn),
                cells=[_base_cell(speedups), *(_cell(speedups, one) for one in speedups.speedups)],
            )
        ],
        means=None,
        groups=[_kernel(speedups, program, group) for group in groups],
        confidence=speedups.confidence,
        simultaneous=speedups.simultaneous,
        same_within=speedups.same_within,
        target_met=None if target is None else speedups.is_within(target, accept_cold=accept_cold),
        next=[NextLaunch.from_attributes(launch, program=program) for launch in next_launches],
    )


def find_changes(base: Configuration, configuration: Configuration) -> list[OptionChange] | None:
    """Return the options that differ from the base's; None where not both print theirs."""
    if not base.options or not configuration.options:
        return None
    changes = changed_options(base.options, configuration.options)
    return [OptionChange(name, before, after) for name, (before, after) in changes.items()]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _base_cell(speedups: PlanSpeedups) -> SpeedupCell:
    base = speedups.base
    launches = int(speedups.sample.planned.sum()) - base.estimate.main.launches_missing
    return SpeedupCell(
        configuration=base.name,
        base=base.name,
        cycles=_finite(base.estimate.main.total),
        speedup=1.0,
        low=1.0,
        high=1.0,
        verdict="base",
        launches=launches,
        differing=0,
        missing=base.estimate.main.launches_missing,
        launches_to_tell=None,
        remark=None,
    )


def _cell(speedups: PlanSpeedups, speedup: Speedup) -> SpeedupCell:
    likeness = speedups.likeness(speedup)
    remark = speedup.reason or likeness
    return SpeedupCell(
        configuration=speedup.name,
        base=speedup.base,
        cycles=_finite(speedups.by_name[speedup.name].estimate.main.total),
        speedup=_finite(speedup.ratio),
        low=_finite(speedup.low),
        high=_finite(speedup.high),
        verdict=speedups.verdict(speedup),
        launches=speedup.launches,
        differing=speedup.differing,
        missing=speedup.missing,
        launches_to_tell=speedups.launches_to_tell(speedup),
        remark=None if remark is None else str(remark),
    )


def _kernel(speedups: PlanSpeedups, program: str, group: GroupSpeedup) -> KernelSpeedup:
    speedup = group.speedup
    return KernelSpeedup(
        program=program,
        configuration=speedup.name,
        base=speedup.base,
        key=group.key,
        base_cycles=group.base_cycles,
        cycles=group.cycles,
        speedup=_finite(speedup.ratio),
        low=_finite(speedup.low),
        high=_finite(speedup.high),
        verdict=speedups.verdict(speedup),
    )
