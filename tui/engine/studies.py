"""From options to the engine's own types, and the study that most commands on a profile start with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sampling.errors import OptionError
from sampling.methods import registry
from sampling.methods.registry import method_named, splits_groups
from sampling.parallel import Progress
from sampling.plan.plan import Plan, options_of
from sampling.plan.plan_file import PlanFile, PlanOptions, read_overrides
from sampling.plan.study import MethodChoice, Study, Survey, method_grouping, study, survey_profile
from sampling.profile.identity import hash_beside
from sampling.profile.profile import Profile
from sampling.readers.columns import ColumnMap, column_map
from sampling.readers.input_file import ReadOptions
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.grouping import Grouping, choose_kernel
from sampling.reduction.region import Region, parse_region
from sampling.splitting.tree import Overrides
from sampling.strata.target import Target
from sampling.text import Wording
from tui.options import command_line
from tui.options.command_line import findings_with_flags, with_flags
from tui.options.field import why_no_number
from tui.options.plan import JudgeOptions, SampleOptions
from tui.options.shared import MethodOptions, OutputOptions, PlanningOptions, RegionOptions
from tui.terminal.diagnostics import ProgressMeter, note, notes

if TYPE_CHECKING:
    from sampling.features.join import JoinReport

# -- what options mean --------------------------------------------------------------------------------------


def feature_file(text: str, profiles: Sequence[str]) -> tuple[str | None, str]:
    """Return the profile that a file of features is given for (None: not said), and the file.

    Raises OptionError: the profile named is not among the given ones, and no file has the name of the text.
    """
    # The longest name that fits, since names and paths may contain equals signs.
    for profile in sorted(profiles, key=len, reverse=True):
        if text.startswith(f"{profile}="):
            return profile, text.removeprefix(f"{profile}=")
    named, equals, _ = text.partition("=")
    if equals and not Path(text).exists():
        raise OptionError(
            f"--features {text}: no profile {named} is given, and there is no file of the whole name",
            remedy=f"give FILE alone, or PROFILE=FILE with the PROFILE as it is given: {', '.join(profiles)}",
        )
    return None, text


def workload_features(features: Sequence[str], profiles: Sequence[str]) -> tuple[str, ...]:
    """Return the files of features of one workload.

    Raises OptionError: as `feature_file`; or a file is given for one of several profiles.
    """
    files = [feature_file(text, profiles) for text in features]
    for profile, path in files:
        if profile is not None and len(profiles) > 1:
            what = f"--features {profile}={path}: the {len(profiles)} profiles are one workload here"
            raise OptionError(what, remedy="give FILE alone, with the launch ids of the whole")
    return tuple(path for _, path in files)


def region_of(options: RegionOptions) -> Region:
    """Return the filters.

    Raises OptionError: a device, process, launch or time window is not made of numbers, or a range has no
    name.
    """
    same = ("device", "process", "include", "exclude", "launches", "time", "min_duration")
    return parse_region(named_range=options.range, **{name: getattr(options, name) for name in same})


def grouping_of(options: RegionOptions, method: str) -> Grouping:
    """Return the grouping; `published` is the key of the method's own paper.

    Raises OptionError: processes and devices are to be both pooled and kept apart.
    """
    if options.pool_devices and options.each_rank:
        raise OptionError(Wording("`pool_devices` and `each_rank` contradict each other"))
    pooled = True if options.pool_devices else False if options.each_rank else None
    return method_grouping(method, options.group_by, pool_devices=pooled)


def target_of(options: PlanningOptions) -> Target:
    """Return what is asked of the plan; options that are not given have the defaults of `Target`."""
    names = ("min_samples", "noise_floor", "kernel_spread")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if (bound := options.group_epsilon) is not None:
        try:
            given["group_epsilon"] = None if bound == "none" else float(bound)
        except ValueError as error:
            why = why_no_number(bound) if bound.endswith("%") else "a fraction or none is meant"
            raise OptionError(f"--group-epsilon {bound}: {why}") from error
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


def choice_of(options: MethodOptions, profiles: Sequence[str], overrides: Overrides | None) -> MethodChoice:
    """Return the method and what it is given.

    Raises OptionError: the method splits nothing, and there are overrides; or see `workload_features`.
    """
    if overrides and not splits_groups(options.method):
        # Decisions that would have no effect are refused as by `tree`.
        registry.split_trees_of(options.method)
    features = workload_features(options.features, profiles)
    check_standard_input(*profiles, *features)
    given = (options.method, options.seed, options.set, overrides, features)
    return MethodChoice(*given, options.number_locale.value, cost=options.cost)


def check_standard_input(*paths: str) -> None:
    """Raise OptionError if standard input is to be read more than once."""
    if paths.count("-") > 1:
        raise OptionError("standard input (-) can be read once only")


def columns_of(options: RegionOptions | JudgeOptions) -> ColumnMap | None:
    """Return which columns of tables hold what.

    Raises OptionError: `--columns` does not parse.
    """
    return None if options.columns is None else column_map(options.columns)


# -- options without an effect ------------------------------------------------------------------------------


def note_unused(options: PlanningOptions, methods: Sequence[str]) -> None:
    """Say which options are given that none of the methods uses."""
    given = {
        "--group-epsilon": ("group_epsilon", options.group_epsilon),
        "--min-samples": ("min_samples", options.min_samples),
        "--no-pool": ("pool", options.no_pool or None),
    }
    looked_at = {field for name in _used(methods, options.set) for field in method_named(name).target_fields}
    unused = [flag for flag, (name, value) in given.items() if value is not None and name not in looked_at]
    if not any(registry.draws_at_random(method, options.set) for method in methods):
        declared = {"--noise-floor": options.noise_floor, "--kernel-spread": options.kernel_spread}
        unused += [flag for flag, value in declared.items() if value is not None]
    unused += [f"--set {setting}" for setting in unused_settings(methods, options.set)]
    notes((f"{flag}: not used by {', '.join(methods)}" for flag in unused), quiet=options.quiet)


def _note_unplanned(options: MethodOptions) -> None:
    """Say which options are given that only a plan uses, where none is made."""
    others = {field.name for field in fields(RegionOptions)} | {"method"}
    unused = [
        flag
        for option in fields(MethodOptions)
        if option.name not in others and getattr(options, option.name) != option.default
        for flag in command_line.parameters_of(option).values()
    ]
    notes((f"{flag}: not used without --plan" for flag in unused), quiet=options.quiet)


def unused_settings(methods: Sequence[str], settings: tuple[str, ...]) -> list[str]:
    """Return the settings that none of the methods looks at."""
    used = _used(methods, settings)
    return [setting for setting in settings if setting.partition(".")[0] not in used]


def _used(methods: Sequence[str], settings: tuple[str, ...]) -> set[str]:
    """Return the methods, and those that they take their number of launches from."""
    known = set(registry.method_names())
    used = known.intersection(methods)
    for name in list(used):
        if (sized_like := method_named(name).sized_like) is not None:
            used |= known.intersection([sized_like(registry.method_options(name, settings))])
    return used


def _note_unused_cost(found: Study, *, quiet: bool) -> None:
    """Say if feature files tell a plan by durations nothing, or its method does not go by the cost."""
    choice = found.choice
    if choice.feature_paths and method_named(choice.method).draws_at_random and found.counts.cost is None:
        why = found.unfit or "not every launch has a count of instructions"
        note(f"--features: {choice.method} looks at durations alone, and {why}; not used", quiet=quiet)
    if choice.cost is not None and choice.method != "joint":
        note(f"--cost: {choice.method} does not plan by it; it is told what its plan costs", quiet=quiet)


# -- reading and studying -----------------------------------------------------------------------------------


@contextmanager
def progress_of(options: OutputOptions) -> Iterator[ProgressMeter]:
    """Show the engine's progress on stderr for as long as the work lasts."""
    meter = ProgressMeter(quiet=options.quiet)
    try:
        yield meter
    finally:
        meter.close()


def open_profile(
    paths: tuple[str, ...],
    options: RegionOptions | JudgeOptions,
    progress: Progress | None = None,
    *,
    recorded: PlanOptions | None = None,
    needs_table: bool = True,
    quiet: bool = False,
) -> Profile:
    """Read the workload as the options say; of how to read it what they do not say is a plan's.

    `needs_table`: whether columns are refused where no file is a table. `quiet`: whether nothing is said on
    stderr of how the files were read, also where the options allow that.
    """
    check_standard_input(*paths)
    asked = ReadOptions(columns_of(options), options.rank_regex, options.partial, options.keep_overlong)
    if recorded is not None:
        of_plan = recorded.read_options
        known = None if of_plan.columns is None else replace(of_plan.columns, where_present=True)
        asked = ReadOptions(
            columns=asked.columns or known,
            rank_regex=asked.rank_regex or of_plan.rank_regex,
            partial=asked.partial or of_plan.partial,
            keep_overlong=asked.keep_overlong or of_plan.keep_overlong,
        )
    found = read_profile(
        paths,
        progress,
        asked,
        needs_table=needs_table,
        cache=not options.no_cache,
        scheduler=options.scheduler,
    )
    notes(found.notes, quiet=quiet or options.quiet)
    return found


def open_judged(plan: PlanFile, options: JudgeOptions, progress: Progress) -> Profile:
    """Read what a plan is judged on: tables by the columns given, else by those of the plan's profile."""
    needs_table = options.columns is not None
    return open_profile(options.profiles, options, progress, recorded=plan.options, needs_table=needs_table)


def study_as_asked(profiles: tuple[str, ...], options: PlanningOptions) -> Study:
    """Read the workload and study it by the method and with the split decisions that the options name.

    Of options that name none it is the default method.
    """
    asked = command_line.options_of(MethodOptions, options)
    overrides = overrides_of(asked.overrides, asked.method, quiet=asked.quiet)
    target, choice = target_of(asked), choice_of(asked, profiles, overrides)
    region, grouping = region_of(asked), grouping_of(asked, asked.method)
    # Wrong columns, like wrong filters, are refused before any note.
    columns_of(asked)
    # Wrong settings are reported first: no notes on unused ones before an error.
    registry.check_settings(asked.set)
    note_unused(asked, [asked.method])
    reports: list[JoinReport] = []
    try:
        with progress_of(asked) as progress:
            profile = open_profile(profiles, asked, progress)
            if isinstance(options, SampleOptions) and options.output is not None:
                hash_beside(profile.files)
            found = study(profile, grouping, region, target, choice, progress, reports.append)
            _note_unused_cost(found, quiet=asked.quiet)
            return with_flags_in_findings(found)
    finally:
        # Also on failure: a feature file that did not fit may be why the method failed.
        notes((with_flags(report.sentence) for report in reports), quiet=asked.quiet)


def survey_as_asked(profiles: tuple[str, ...], options: MethodOptions) -> Survey:
    """Read the workload and look at its kernel groups; nothing is planned."""
    region, grouping = region_of(options), grouping_of(options, options.method)
    # Wrong columns, like wrong filters, are refused before any note.
    columns_of(options)
    _note_unplanned(options)
    with progress_of(options) as progress:
        return survey_profile(open_profile(profiles, options, progress), grouping, region, progress)


def with_flags_in_findings(studied: Study) -> Study:
    """Return a study whose findings, also those of its plan file, name flags in place of parameters."""
    return replace(studied, findings=findings_with_flags(studied.findings))


def plan_options(options: SampleOptions, study: Study, plan: Plan) -> PlanOptions:
    """Return the options that made a plan, with launch and time windows and feature files as typed."""
    typed = {name: getattr(options, name) for name in ("features", "launches", "time")}
    return options_of(study, plan, typed)


def chosen_kernel(counts: DurationCounts, wanted: str | None, *, quiet: bool) -> int:
    """Return the group meant by `--kernel`, with a note if several fit."""
    group, others = choose_kernel(counts.groups, wanted)
    if others:
        key = counts.groups[group].key
        note(f"--kernel {wanted!r} fits {others + 1} groups; the largest is shown: {key}", quiet=quiet)
    return group
