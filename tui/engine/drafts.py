"""From options to the engine's own types, and the draft that most commands on a profile start with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from sampling.errors import OptionError
from sampling.methods import registry
from sampling.methods.registry import method_named, splits_groups
from sampling.parallel import Progress
from sampling.plan.draft import Draft, Survey, draft_plan, survey_profile
from sampling.plan.plan_file import PlanFile, read_overrides
from sampling.plan.request import Part, PlanRequest, default, flags, is_used, part_names, unused_settings
from sampling.profile.identity import hash_beside
from sampling.profile.profile import Profile
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.grouping import choose_kernel
from sampling.splitting.tree import Overrides
from tui.charts.quantities import measure_in
from tui.options.choices import OutputFormat
from tui.options.command_line import findings_with_flags, with_flags
from tui.options.plan import JudgeOptions, SampleOptions
from tui.options.shared import PlanningOptions, RegionOptions
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
            message = f"--features {profile}={path}: the {len(profiles)} profiles are one workload here"
            raise OptionError(message, remedy="give FILE alone, with the launch ids of the whole")
    return tuple(path for _, path in files)


def load_overrides(path: str | None, method: str, *, quiet: bool) -> Overrides | None:
    """Return the split decisions of an overrides file, if any; note if they are of another method."""
    if path is None:
        return None
    decisions = read_overrides(path)
    # Decisions on standard input come from a program, which needs no note about the method.
    has_trees = method_named(method).trees is not None
    if path != "-" and decisions.overrides and has_trees and decisions.method not in {None, method}:
        note(
            f"--overrides {path}: decided in the trees of {decisions.method}, and used in those of {method}; "
            f"--method {decisions.method} gives the plan they were made for",
            quiet=quiet,
        )
    return decisions.overrides


def workload_request(
    request: PlanRequest, profiles: Sequence[str], overrides: Overrides | None = None
) -> PlanRequest:
    """Return what is asked of a plan of one workload, its files of features named as files alone.

    Raises OptionError: the method splits nothing, and there are overrides; a setting or a filter is wrong; or
    see `workload_features`.
    """
    if overrides and not splits_groups(request.method):
        # Decisions that would have no effect are refused as by `tree`.
        registry.split_trees_of(request.method)
    features = workload_features(request.features, profiles)
    check_standard_input(*profiles, *features)
    _ = request.region, request.grouping, request.read_options
    # Wrong settings are reported first: no notes on unused ones before an error.
    registry.check_settings(request.set)
    return structs.replace(request, features=features)


def check_standard_input(*paths: str) -> None:
    """Raise OptionError if standard input is to be read more than once."""
    if paths.count("-") > 1:
        raise OptionError("standard input (-) can be read once only")


# -- options without an effect ------------------------------------------------------------------------------


def note_unused(options: PlanningOptions, methods: Sequence[str]) -> None:
    """Say which options are given that none of the methods uses."""
    request, unset = options.request, PlanRequest()
    unused = [
        flags(name)[0]
        for name in options.request_names
        if getattr(request, name) != getattr(unset, name) and not is_used(request, name, methods)
    ]
    unused += [f"--set {setting}" for setting in unused_settings(methods, request.set)]
    notes((f"{flag}: not used by {', '.join(methods)}" for flag in unused), quiet=options.quiet)


def _note_unused_cost(draft: Draft, *, quiet: bool) -> None:
    """Say if feature files tell a plan by durations nothing, or its method does not go by the cost."""
    request = draft.request
    if request.features and method_named(request.method).draws_at_random and draft.counts.cost is None:
        reason = draft.unfit or "not every launch has a count of instructions"
        note(f"--features: {request.method} looks at durations alone, and {reason}; not used", quiet=quiet)
    if request.cost is not None and request.method != "joint":
        note(f"--cost: {request.method} does not plan by it; it is told what its plan costs", quiet=quiet)


# -- reading and drafting -----------------------------------------------------------------------------------


def open_profile(
    paths: tuple[str, ...],
    options: RegionOptions | JudgeOptions,
    progress: Progress | None = None,
    *,
    recorded: PlanRequest | None = None,
    needs_table: bool = True,
    quiet: bool = False,
    is_shown: bool = True,
) -> Profile:
    """Read the workload as the options say; of how to read it what they do not say is a plan's.

    `needs_table`: whether columns are refused where no file is a table. `quiet`: whether nothing is said on
    stderr of how the files were read, also where the options allow that. `is_shown`: whether durations are
    said in its unit from now on.
    """
    check_standard_input(*paths)
    request = options.request
    if recorded is not None:
        reading = part_names(Part.READING)
        typed = {name: getattr(request, name) for name in reading if getattr(request, name) != default(name)}
        request = structs.replace(recorded, **typed)
    read_options = request.read_options
    if read_options.columns is not None and options.request.columns is None:
        # They were named for another recording.
        read_options = replace(read_options, columns=replace(read_options.columns, where_present=True))
    profile = read_profile(
        paths,
        progress,
        read_options,
        needs_table=needs_table,
        cache=not options.no_cache,
        scheduler=options.scheduler,
    )
    notes(profile.notes, quiet=quiet or options.quiet)
    if is_shown:
        measure_in(profile.duration_unit)
    return profile


def open_judged(plan: PlanFile, options: JudgeOptions, progress: Progress) -> Profile:
    """Read what a plan is judged on: tables by the columns given, else by those of the plan's profile."""
    needs_table = options.request.columns is not None
    return open_profile(options.profiles, options, progress, recorded=plan.options, needs_table=needs_table)


def draft_from_options(profiles: tuple[str, ...], options: PlanningOptions) -> Draft:
    """Read the workload and draft it by the method and with the split decisions that the options name.

    Of options that name none it is the default method.
    """
    typed_request = options.request
    overrides = load_overrides(typed_request.overrides, typed_request.method, quiet=options.quiet)
    request = workload_request(typed_request, profiles, overrides)
    note_unused(options, [typed_request.method])
    reports: list[JoinReport] = []
    try:
        with ProgressMeter(quiet=options.quiet) as progress:
            profile = open_profile(profiles, options, progress)
            if isinstance(options, SampleOptions) and options.output is not None:
                hash_beside(profile.files)
            draft = draft_plan(profile, request, overrides, progress, reports.append)
            _note_unused_cost(draft, quiet=options.quiet)
            return with_flags_in_findings(draft)
    finally:
        # Also on failure: a feature file that did not fit may be why the method failed.
        notes((with_flags(report.sentence) for report in reports), quiet=options.quiet)


def survey_as_asked(profiles: tuple[str, ...], options: PlanningOptions) -> Survey:
    """Read the workload, and return its kernel groups as people look at them; nothing is planned."""
    request = workload_request(options.request, profiles)
    unset, looked_at = PlanRequest(), part_names(Part.SEED, Part.SELECTION, Part.READING)
    unused = [
        flags(name)[0]
        for name in options.request_names
        if name not in {*looked_at, "method"} and getattr(request, name) != getattr(unset, name)
    ]
    notes((f"{flag}: not used without --plan" for flag in unused), quiet=options.quiet)
    with ProgressMeter(quiet=options.quiet) as progress:
        profile = open_profile(profiles, options, progress)
        # Only JSON has their codes.
        with_findings = options.format is OutputFormat.JSON
        return survey_profile(profile, request, progress, with_findings=with_findings).look


def with_flags_in_findings(draft: Draft) -> Draft:
    """Return a draft whose findings, also those of its plan file, name flags in place of parameters."""
    return replace(draft, findings=findings_with_flags(draft.findings))


def chosen_kernel(counts: DurationCounts, text: str | None, *, quiet: bool) -> int:
    """Return the group meant by `--kernel`, with a note if several fit."""
    group, other_groups = choose_kernel(counts.groups, text)
    if other_groups:
        key = counts.groups[group].key
        note(f"--kernel {text!r} fits {other_groups + 1} groups; the largest is shown: {key}", quiet=quiet)
    return group
