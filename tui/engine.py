"""From options to the engine's own terms; what every command that reads a profile starts with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sampling.duration_counts import DurationCounts
from sampling.errors import OptionError
from sampling.group_by import GroupBy
from sampling.grouping import Grouping
from sampling.kernel_choice import KernelChoice, choose_kernel
from sampling.methods import method_named, method_options
from sampling.plan_file import read_overrides
from sampling.profile import Profile
from sampling.progress import Progress
from sampling.readers import read_profile
from sampling.regions import Region
from sampling.splitting import Overrides
from sampling.study import Study, study
from sampling.targets import Target
from tui.diagnostics import ProgressMeter, note
from tui.options import OutputOptions, PlanningOptions, RegionOptions


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
    OptionError : a device, process or launch range is not made of numbers.
    """
    return Region(
        devices=_numbers("--device", options.device),
        processes=_numbers("--process", options.process),
        include=options.include,
        exclude=options.exclude,
        launches=None if options.launches is None else _id_range(options.launches),
    )


def grouping_of(options: RegionOptions, method: str) -> Grouping:
    """Return the grouping; `published` is the key of the method's own paper."""
    by = options.group_by
    if by is GroupBy.PUBLISHED:
        by = method_named(method).PUBLISHED_GROUPING
    return Grouping(by, options.pool_devices)


def target_of(options: PlanningOptions) -> Target:
    """Return what is asked of the plan, and say which options nothing here uses."""
    given = {
        "--group-epsilon": options.group_epsilon,
        "--min-samples": options.min_samples,
        "--noise-floor": options.noise_floor,
    }
    if options.min_samples is not None and options.min_samples < 1:
        raise OptionError(f"--min-samples is 1 or more, not {options.min_samples}")
    if options.noise_floor is not None and not 0 <= options.noise_floor < 1:
        raise OptionError(f"--noise-floor is a fraction from 0, below 1, not {options.noise_floor:g}")
    if options.group_epsilon not in {None, "none"}:
        _fraction("--group-epsilon", str(options.group_epsilon))
    unused = [flag for flag, value in given.items() if value is not None]
    if unused:
        note(f"{', '.join(unused)}: for the method joint alone; not used", quiet=options.quiet)
    return Target(options.epsilon, options.confidence, options.with_replacement)


def overrides_of(path: str | None) -> Overrides | None:
    """Return the split decisions of an overrides file, None without one."""
    return None if path is None else read_overrides(path)


def check_overrides(
    overrides: Overrides | None, method: str, target: Target, options: PlanningOptions
) -> None:
    """Refuse split decisions for a method that splits nothing.

    Raises
    ------
    OptionError : they would be left out without a word.
    """
    if overrides and method_named(method).rule(target, method_options(method, options.set)) is None:
        raise OptionError(
            f"--overrides: the method {method} splits nothing", remedy="give root, stem or allegro"
        )


def open_profile(paths: tuple[str, ...], progress: Progress | None = None) -> Profile:
    """Read the workload."""
    if paths.count("-") > 1:
        raise OptionError("standard input (-) can be read once only")
    return read_profile(paths, progress)


def study_of(
    paths: tuple[str, ...],
    options: PlanningOptions,
    *,
    method: str,
    overrides: Overrides | None = None,
) -> Study:
    """Read the workload and study it as the options ask."""
    target = target_of(options)
    region, grouping = region_of(options), grouping_of(options, method)
    check_overrides(overrides, method, target, options)
    # Wrong settings are an error before anything is said of unused ones.
    method_options(method, options.set)
    for setting in options.set:
        if not setting.startswith(f"{method}."):
            note(f"--set {setting}: not used by {method}", quiet=options.quiet)
    with progress_of(options) as progress:
        return study(
            open_profile(paths, progress),
            grouping,
            region,
            target,
            method=method,
            seed=options.seed,
            settings=options.set,
            overrides=overrides,
            progress=progress,
        )


def chosen_kernel(counts: DurationCounts, wanted: str | None, *, quiet: bool) -> int:
    """Return the group meant by `--kernel`; several that fit are said on stderr."""
    choice: KernelChoice = choose_kernel(counts, wanted)
    if choice.others:
        key = counts.groups[choice.group].key
        note(f"--kernel {wanted!r} fits {choice.others + 1} groups; the largest is shown: {key}", quiet=quiet)
    return choice.group


def _fraction(flag: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise OptionError(f"{flag} {text}: a fraction or none is meant") from error
    if not 0 < value < 1:
        raise OptionError(
            f"{flag} is a fraction between 0 and 1, not {value:g}; did you mean {value / 100:g}?"
        )
    return value


def _numbers(flag: str, values: tuple[str, ...]) -> tuple[int, ...]:
    try:
        return tuple(int(part) for value in values for part in value.split(","))
    except ValueError as error:
        raise OptionError(f"{flag} {' '.join(values)}: numbers are meant") from error


def _id_range(text: str) -> tuple[int | None, int | None]:
    first, colon, last = text.partition(":")
    try:
        low, high = (int(part) if part else None for part in (first, last))
    except ValueError:
        low, high, colon = None, None, ""
    if not colon or min(low or 0, high or 0) < 0 or (high is not None and (low or 0) > high):
        raise OptionError(f"--launches {text}: ids as A:B, A: or :B are meant, counted from 0, A not above B")
    return low, high
