"""From options to the engine's own terms; what every command that reads a profile starts with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sampling.errors import OptionError
from sampling.features.report import JoinReport
from sampling.methods.registry import check_settings, method_named, split_trees_of
from sampling.plan.plan_file import method_of_overrides, read_overrides
from sampling.plan.study import MethodChoice, Study, study
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.kernel_choice import KernelChoice, choose_kernel
from sampling.reduction.region import Region
from sampling.splitting.groups import Overrides
from sampling.strata.target import Target
from tui.engine.feature_paths import workload_features
from tui.engine.unused_options import note_unused, note_unused_features
from tui.options.choices import NumberLocale
from tui.options.commands import MethodOptions, OutputOptions, PlanningOptions, RegionOptions, SampleOptions
from tui.terminal.diagnostics import ProgressMeter, note


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
    return Region(
        devices=_numbers("--device", options.device),
        processes=_numbers("--process", options.process),
        include=options.include,
        exclude=options.exclude,
        launches=_window("--launches", options.launches, "ids as A:B, A: or :B are meant, counted from 0"),
        time_ns=_window("--time", options.time, "nanoseconds as A:B, A: or :B are meant, counted from 0"),
        named_range=options.range,
    )


def grouping_of(options: RegionOptions, method: str) -> Grouping:
    """Return the grouping; `published` is the key of the method's own paper."""
    by = options.group_by
    if by is GroupBy.PUBLISHED:
        by = method_named(method).published_grouping
    return Grouping(by, options.pool_devices)


def target_of(options: PlanningOptions) -> Target:
    """Return what is asked of the plan; what is not given is as `Target` has it."""
    given: dict[str, Any] = {}
    if options.group_epsilon is not None:
        given["group_epsilon"] = _fraction_or_none("--group-epsilon", options.group_epsilon)
    if options.min_samples is not None:
        given["min_samples"] = options.min_samples
    if options.noise_floor is not None:
        given["noise_floor"] = options.noise_floor
    return Target(options.epsilon, options.confidence, options.with_replacement, **given)


def overrides_of(path: str | None, method: str, *, quiet: bool) -> Overrides | None:
    """Return the split decisions of an overrides file, None without one; another method's are said."""
    if path is None:
        return None
    overrides = read_overrides(path)
    made_for = None if path == "-" else method_of_overrides(path)
    if overrides and made_for not in {None, method}:
        note(
            f"--overrides {path}: decided in the trees of {made_for}, and used in those of {method}; "
            f"--method {made_for} gives the plan they were made for",
            quiet=quiet,
        )
    return overrides


def check_overrides(overrides: Overrides | None, method: str) -> None:
    """Refuse split decisions for a method that splits nothing.

    Raises
    ------
    OptionError : they would be left out without a word.
    """
    if overrides:
        split_trees_of(method)


def check_standard_input(*paths: str) -> None:
    """Raise OptionError if standard input is to be read more than once."""
    if paths.count("-") > 1:
        raise OptionError("standard input (-) can be read once only")


def open_profile(paths: tuple[str, ...], progress: Progress | None = None) -> Profile:
    """Read the workload."""
    check_standard_input(*paths)
    return read_profile(paths, progress)


def study_of(
    paths: tuple[str, ...],
    options: PlanningOptions,
    *,
    method: str,
    overrides: Overrides | None = None,
    features: tuple[str, ...] = (),
    number_locale: NumberLocale = NumberLocale.C,
) -> Study:
    """Read the workload and study it as the options ask."""
    target = target_of(options)
    region, grouping = region_of(options), grouping_of(options, method)
    check_overrides(overrides, method)
    features = workload_features(features, paths)
    check_standard_input(*paths, *features)
    # Wrong settings are an error before anything is said of unused ones.
    check_settings(options.set)
    note_unused(options, [method])
    note_unused_features(features, number_locale, [method], quiet=options.quiet)
    reports: list[JoinReport] = []
    try:
        with progress_of(options) as progress:
            return study(
                open_profile(paths, progress),
                grouping,
                region,
                target,
                MethodChoice(method, options.seed, options.set, overrides, features, number_locale.value),
                progress,
                reports.append,
            )
    finally:
        # Said in any case: what did not fit is why a method finds too little.
        for report in reports:
            note(report.sentence, quiet=options.quiet)


def study_as_asked(
    paths: tuple[str, ...], options: MethodOptions, overrides: Overrides | None = None
) -> Study:
    """Read the workload and study it by the method that the options name.

    Parameters
    ----------
    overrides : in place of those of the file that the options name.
    """
    if overrides is None:
        overrides = overrides_of(options.overrides, options.method, quiet=options.quiet)
    return study_of(
        paths,
        options,
        method=options.method,
        overrides=overrides,
        features=options.features,
        number_locale=options.number_locale,
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
        options.method, options.seed, options.set, overrides, features, options.number_locale.value
    )


def chosen_kernel(counts: DurationCounts, wanted: str | None, *, quiet: bool) -> int:
    """Return the group meant by `--kernel`; several that fit are said on stderr."""
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
        raise OptionError(f"{flag} {text}: a fraction or none is meant") from error


def _numbers(flag: str, values: tuple[str, ...]) -> tuple[int, ...]:
    try:
        return tuple(int(part) for value in values for part in value.split(","))
    except ValueError as error:
        raise OptionError(f"{flag} {' '.join(values)}: numbers are meant") from error


def _window(flag: str, text: str | None, meant: str) -> tuple[int | None, int | None] | None:
    if text is None:
        return None
    first, colon, last = text.partition(":")
    try:
        low, high = (int(part) if part else None for part in (first, last))
    except ValueError:
        low, high, colon = None, None, ""
    if not colon or min(low or 0, high or 0) < 0 or (high is not None and (low or 0) > high):
        raise OptionError(f"{flag} {text}: {meant}, A not above B")
    return low, high
