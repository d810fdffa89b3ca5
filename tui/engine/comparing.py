"""From the options of `compare` to the engine's comparison: the same for the command and the app."""

from __future__ import annotations

from sampling.plan.comparison import FeatureFiles, MethodComparison
from sampling.profile.profile import Profile
from sampling.progress import Progress
from tui.engine.feature_paths import feature_file, workload_features
from tui.engine.studies import region_of, target_of
from tui.options.commands import CompareOptions


def comparison_of(
    profile: Profile, paths: tuple[str, ...], options: CompareOptions, progress: Progress
) -> MethodComparison:
    """Return the comparison of methods on one workload.

    Parameters
    ----------
    profile, paths : the workload, and which of the options' profiles it is made of.

    Raises
    ------
    OptionError : a filter or a target is wrong, or a file of features is given for no such profile.
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
            # Of several workloads, a file may be of any.
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
