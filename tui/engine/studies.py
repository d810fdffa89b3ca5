"""From options to the engine's own types, and the study that most commands on a profile start with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sampling.errors import OptionError
from sampling.methods.registry import check_settings, method_named, split_trees_of, splits_groups
from sampling.plan.plan import Plan, options_of
from sampling.plan.plan_file import PlanFile, PlanOptions, read_overrides
from sampling.plan.study import MethodChoice, Study, method_grouping, study
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.readers.columns import ColumnMap, column_map
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.grouping import Grouping
from sampling.reduction.kernel_choice import KernelChoice, choose_kernel
from sampling.reduction.region import Region, written_region
from sampling.splitting.tree import Overrides
from sampling.strata.target import Target
from tui.engine.feature_paths import workload_features
from tui.engine.unused_options import note_unused, note_unused_cost, note_unused_features
from tui.options.choices import NumberLocale
from tui.options.commands import JudgeOptions, SampleOptions
from tui.options.flags import findings_with_flags, with_flags
from tui.options.numbers import why_no_number
from tui.options.shared import MethodOptions, OutputOptions, PlanningOptions, RegionOptions
from tui.terminal.diagnostics import ProgressMeter, note

if TYPE_CHECKING:
    from sampling.features.join import JoinReport


@contextmanager
def progress_of(options: OutputOptions) -> Iterator[ProgressMeter]:
    """Show the engine's progress on stderr for as long as the work lasts."""
    meter = ProgressMeter(quiet=options.quiet)
    try:
        yield meter
    finally:
        meter.close()


def region_of(options: RegionOptions) -> Region:
    """Return the filters.

    Raises
    ------
    OptionError : a device, process, launch or time window is not made of numbers, or a range has no name.
    """
    return written_region(
        device=options.device,
        process=options.process,
        include=options.include,
        exclude=options.exclude,
        launches=options.launches,
        time=options.time,
        named_range=options.range,
        min_duration=options.min_duration,
    )


def grouping_of(options: RegionOptions, method: str) -> Grouping:
    """Return the grouping; `published` is the key of the method's own paper."""
    return method_grouping(method, options.group_by, pool_devices=options.pool_devices)


def target_of(options: PlanningOptions) -> Target:
    """Return what is asked of the plan; options that are not given have the defaults of `Target`."""
    given: dict[str, Any] = {}
    if options.group_epsilon is not None:
        given["group_epsilon"] = _fraction_or_none("--group-epsilon", options.group_epsilon)
    for name in ("min_samples", "noise_floor", "kernel_spread"):
        value = getattr(options, name)
        if value is not None:
            given[name] = value
    return Target(options.epsilon, options.confidence, pool=not options.no_pool, **given)


def overrides_of(path: str | None, method: str, *, quiet: bool) -> Overrides | None:
    """Return the split decisions of an overrides file, if any; note if they are of another method."""
    if path is None:
        return None
    read = read_overrides(path)
    # Decisions on standard input come from a program, which needs no note about the method.
    has_trees = method_named(method).trees is not None
    if path != "-" and read.overrides and has_trees and read.method not in {None, method}:
        note(
            f"--overrides {path}: decided in the trees of {read.method}, and used in those of {method}; "
            f"--method {read.method} gives the plan they were made for",
            quiet=quiet,
        )
    return read.overrides


def check_overrides(overrides: Overrides | None, method: str) -> None:
    """Refuse split decisions for a method that splits nothing.

    Raises
    ------
    OptionError : it splits nothing, so they would have no effect.
    """
    if overrides and not splits_groups(method):
        split_trees_of(method)


def check_standard_input(*paths: str) -> None:
    """Raise OptionError if standard input is to be read more than once."""
    if paths.count("-") > 1:
        raise OptionError("standard input (-) can be read once only")


def columns_of(options: RegionOptions | JudgeOptions) -> ColumnMap | None:
    """Return which columns of tables hold what.

    Raises
    ------
    OptionError : `--columns` does not parse.
    """
    return None if options.columns is None else column_map(options.columns)


def open_profile(
    paths: tuple[str, ...],
    progress: Progress | None = None,
    columns: ColumnMap | None = None,
    *,
    needs_table: bool = True,
) -> Profile:
    """Read the workload.

    Parameters
    ----------
    needs_table : whether columns are refused where no file is a table.
    """
    check_standard_input(*paths)
    return read_profile(paths, progress, columns, needs_table=needs_table)


def open_judged(plan: PlanFile, options: JudgeOptions, progress: Progress) -> Profile:
    """Read what a plan is judged on: tables by the columns given, else by those of the plan's profile."""
    columns = columns_of(options)
    if columns is None and (recorded := plan.options.column_map) is not None:
        columns = replace(recorded, where_present=True)
    profile = open_profile(options.profiles, progress, columns, needs_table=options.columns is not None)
    note_what_is_read(profile, quiet=options.quiet)
    return profile


def note_what_is_read(profile: Profile, *, quiet: bool) -> None:
    """Say on stderr what the user should know of how the files were read."""
    for text in profile.notes:
        note(text, quiet=quiet)


def study_of(
    paths: tuple[str, ...],
    options: PlanningOptions,
    *,
    method: str,
    overrides: Overrides | None = None,
    features: tuple[str, ...] = (),
    number_locale: NumberLocale = NumberLocale.C,
    cost: str | None = None,
) -> Study:
    """Read the workload and study it as the options ask."""
    target = target_of(options)
    region, grouping, columns = region_of(options), grouping_of(options, method), columns_of(options)
    check_overrides(overrides, method)
    features = workload_features(features, paths)
    check_standard_input(*paths, *features)
    # Wrong settings are reported first: no notes on unused ones before an error.
    check_settings(options.set)
    note_unused(options, [method])
    note_unused_features(features, number_locale, quiet=options.quiet)
    reports: list[JoinReport] = []
    try:
        with progress_of(options) as progress:
            profile = open_profile(paths, progress, columns)
            note_what_is_read(profile, quiet=options.quiet)
            studied = study(
                profile,
                grouping,
                region,
                target,
                MethodChoice(
                    method, options.seed, options.set, overrides, features, number_locale.value, cost
                ),
                progress,
                reports.append,
            )
            note_unused_cost(studied, cost, quiet=options.quiet)
            return with_flags_in_findings(studied)
    finally:
        # Also on failure: a feature file that did not fit may be why the method failed.
        for report in reports:
            note(with_flags(report.sentence), quiet=options.quiet)


def with_flags_in_findings(studied: Study) -> Study:
    """Return a study whose findings, also those of its plan file, name flags in place of parameters."""
    return replace(studied, findings=findings_with_flags(studied.findings))


def study_as_asked(paths: tuple[str, ...], options: MethodOptions) -> Study:
    """Read the workload and study it by the method and with the split decisions that the options name."""
    overrides = overrides_of(options.overrides, options.method, quiet=options.quiet)
    return study_of(
        paths,
        options,
        method=options.method,
        overrides=overrides,
        features=options.features,
        number_locale=options.number_locale,
        cost=options.cost,
    )


def choice_of(options: SampleOptions, overrides: Overrides | None) -> MethodChoice:
    """Return the method and what it is given.

    Raises
    ------
    OptionError : the method splits nothing, and there are overrides; or see `workload_features`.
    """
    check_overrides(overrides, options.method)
    features = workload_features(options.features, options.profiles)
    return MethodChoice(
        options.method,
        options.seed,
        options.set,
        overrides,
        features,
        options.number_locale.value,
        cost=options.cost,
    )


def plan_options(options: SampleOptions, study: Study, plan: Plan) -> PlanOptions:
    """Return the options that made a plan, with launch and time windows and feature files as typed."""
    return options_of(
        study, plan, {"features": options.features, "launches": options.launches, "time": options.time}
    )


def chosen_kernel(counts: DurationCounts, wanted: str | None, *, quiet: bool) -> int:
    """Return the group meant by `--kernel`, with a note if several fit."""
    choice: KernelChoice = choose_kernel(counts, wanted)
    if choice.others:
        key = counts.groups[choice.group].key
        note(f"--kernel {wanted!r} fits {choice.others + 1} groups; the largest is shown: {key}", quiet=quiet)
    return choice.group


def _fraction_or_none(flag: str, text: str) -> float | None:
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError as error:
        why = why_no_number(text) if text.endswith("%") else "a fraction or none is meant"
        raise OptionError(f"{flag} {text}: {why}") from error
