"""From the options of `compare` to the engine's comparison: the same for the command and the app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sampling.errors import OptionError
from sampling.methods.registry import check_settings, method_named, method_names
from sampling.plan.comparison import FeatureFiles, MethodComparison
from sampling.profile.profile import Profile
from sampling.progress import Progress
from tui.engine.feature_paths import feature_file, workload_features
from tui.engine.studies import check_standard_input, region_of, target_of
from tui.options.commands import CompareOptions

if TYPE_CHECKING:
    from sampling.features.join import JoinReport


def methods_of(given: str | None) -> tuple[str, ...]:
    """Return the methods asked for, each once; all if none is named.

    Raises
    ------
    OptionError : a name is not a method's, or there is none.
    """
    if given is None:
        return method_names()
    names = tuple(dict.fromkeys(filter(None, (name.strip() for name in given.split(",")))))
    if not names:
        raise OptionError("--methods names no method", remedy=f"there are {', '.join(method_names())}")
    for name in names:
        method_named(name)
    return names


def workloads_of(options: CompareOptions) -> list[tuple[str, ...]]:
    """Return the files of each workload.

    Raises
    ------
    OptionError : an option is wrong; found here, before the profiles are read.
    """
    check_settings(options.set)
    region_of(options)
    target_of(options)
    files = [feature_file(text, options.profiles)[1] for text in options.features]
    check_standard_input(*options.profiles, *files)
    return [options.profiles] if options.one_workload else [(path,) for path in options.profiles]


def comparison_of(
    profile: Profile, paths: tuple[str, ...], options: CompareOptions, progress: Progress
) -> MethodComparison:
    """Return the comparison of methods on one workload.

    Parameters
    ----------
    profile, paths : the workload, and the files of the options that it was read from.

    Raises
    ------
    OptionError : a filter or a target is wrong, or a file of features is given for an unknown profile.
    """
    return MethodComparison(
        profile,
        region_of(options),
        target_of(options),
        repeats=options.repeats,
        seed=options.seed,
        settings=options.set,
        features=FeatureFiles(
            _features(options, paths),
            options.number_locale.value,
            # With several workloads, a file may belong to any of them.
            strict=len(paths) == len(options.profiles),
        ),
        progress=progress,
    )


def _features(options: CompareOptions, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files of features of a workload: those given for it, and those given for no profile."""
    if len(paths) == len(options.profiles):
        return workload_features(options.features, paths)
    files = [feature_file(text, options.profiles) for text in options.features]
    return tuple(path for of_profile, path in files if of_profile is None or of_profile in paths)


def check_feature_reports(reports: Sequence[JoinReport], options: CompareOptions) -> None:
    """Check, if there are several workloads, that a feature file with launch ids names its profile.

    Raises
    ------
    OptionError : it names none; launch ids occur in every profile, so it could be of any.
    """
    files = [feature_file(text, options.profiles) for text in options.features]
    for report in reports:
        if report.joined_by == "id" and (None, report.path) in files:
            raise OptionError(
                f"--features {report.path} goes by launch ids, which every profile has",
                remedy="say whose they are: --features PROFILE=FILE",
            )
