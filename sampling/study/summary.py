"""Speedups as records: configurations, programs with their cells, kernels, what to run next."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sampling.estimation.configurations import Configuration, GroupSpeedup, PlanSpeedups
from sampling.estimation.speedup import Speedup
from sampling.estimation.suite import Mean
from sampling.plan.plan_file import PlannedLaunch
from sampling.record import Amount, Count, Dimensions, Fraction, Index, Nanoseconds, Record
from sampling.simulators.results import changed_options
from sampling.study.comparison import ProgramComparison, StudySpeedups


class OptionChange(Record, frozen=True):
    """An option of the simulator whose value is another than the base's; None where it is not printed."""

    option: str
    base: str | None
    value: str | None


class ConfigurationSummary(Record, frozen=True):
    """A configuration: where its results are, and what differs from the base."""

    name: str
    #: Of all programs.
    files: list[str]
    #: How its launches found the caches; None where it has no results.
    caches: str | None
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
    #: None where it has no plan yet.
    launches: Count | None
    drawn: Count | None
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
    """A mean over programs, without an interval where one of these has none."""

    ratio: float
    low: float | None
    high: float | None
    verdict: str | None


class MeanSpeedups(Record, frozen=True):
    """The means of each configuration whose speedups are known on all programs, by its name."""

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
    #: None where nothing is compared yet.
    confidence: Fraction | None
    #: Whether the intervals hold all at once.
    simultaneous: bool
    same_within: Amount
    #: Whether all speedups are as narrow as asked for.
    target_met: bool | None
    next: list[NextLaunch]


def summarise_study(
    study: StudySpeedups,
    *,
    groups: Sequence[tuple[str, GroupSpeedup]] = (),
    target: float | None = None,
    accept_cold: bool = False,
    next_launches: Sequence[tuple[str, PlannedLaunch]] = (),
) -> SpeedupSummary:
    """Return every figure of a study; ``groups`` and ``next_launches`` are told with their programs."""
    is_known = not math.isnan(study.confidence)
    return SpeedupSummary(
        base=study.base,
        configurations=[_configuration(study, name) for name in study.configurations],
        programs=[
            ProgramSpeedups(
                name=program.name,
                launches=None if program.plan is None else program.plan.launches,
                drawn=None if program.plan is None else len(program.plan.drawn),
                cells=_cells(study, program),
            )
            for program in study.programs
        ],
        means=_means(study) if len(study.programs) > 1 else None,
        groups=[_kernel(dict(study.compared)[program], program, group) for program, group in groups],
        confidence=study.confidence if is_known else None,
        simultaneous=study.simultaneous,
        same_within=study.same_within,
        target_met=None if target is None else study.is_within(target, accept_cold=accept_cold),
        next=[NextLaunch.from_attributes(launch, program=program) for program, launch in next_launches],
    )


def _configuration(study: StudySpeedups, name: str) -> ConfigurationSummary:
    """Return a configuration by its results on all programs."""
    pairs = [
        (speedups.base, speedups.by_name[name]) for _, speedups in study.compared if name in speedups.by_name
    ]
    return ConfigurationSummary(
        name=name,
        files=[file for _, configuration in pairs for file in configuration.files],
        caches=pairs[0][1].estimate.caches.state if pairs else None,
        options_changed=find_study_changes(study, study.base, name),
    )


def _means(study: StudySpeedups) -> MeanSpeedups:
    def of(kind: str) -> dict[str, MeanSpeedup]:
        means = {name: getattr(means, kind) for name, means in study.means.items()}
        return {name: _mean(study, mean) for name, mean in means.items()}

    return MeanSpeedups(geometric=of("geometric"), harmonic=of("harmonic"), total=of("total"))


def _mean(study: StudySpeedups, mean: Mean) -> MeanSpeedup:
    verdict = study.verdict(mean)
    return MeanSpeedup(
        mean.ratio, _finite(mean.low), _finite(mean.high), None if verdict is None else str(verdict)
    )


def _cells(study: StudySpeedups, program: ProgramComparison) -> list[SpeedupCell]:
    """Return the cells of a program, those without results at the end."""
    speedups = program.speedups
    cells = []
    if speedups is not None:
        cells = [_base_cell(speedups), *(_cell(speedups, speedup) for speedup in speedups.speedups)]
    without = set(study.configurations) - {cell.configuration for cell in cells}
    names = [name for name in study.configurations if name in without]
    return cells + [_missing_cell(study.base, name, program) for name in names]


def _missing_cell(base: str, name: str, program: ProgramComparison) -> SpeedupCell:
    place = program.missing.get(name)
    remark = f"no results of {base} to compare it with"
    if place is not None:
        remark = place if program.plan is None else f"no results yet: {place}"
    return SpeedupCell(
        configuration=name,
        base=base,
        cycles=None,
        speedup=None,
        low=None,
        high=None,
        verdict=None,
        launches=0,
        differing=0,
        missing=0 if program.plan is None else len(program.plan.drawn),
        launches_to_tell=None,
        remark=remark,
    )


def find_study_changes(study: StudySpeedups, base: str, name: str) -> list[OptionChange] | None:
    """Return what `find_changes` does, by the first program whose results print the options of both."""
    for _, speedups in study.compared:
        configurations = speedups.by_name
        if base in configurations and name in configurations:
            changes = find_changes(configurations[base], configurations[name])
            if changes is not None:
                return changes
    return None


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
    launches = len(base.estimate.plan.drawn) - base.estimate.main.launches_missing
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
