"""From the options of `compare` to the engine's comparison: the same for the command and the app."""

from __future__ import annotations

from sampling.comparison import FeatureFiles, MethodComparison
from sampling.profile import Profile
from sampling.progress import Progress
from tui.engine import region_of, target_of
from tui.options import CompareOptions


def comparison_of(
    profile: Profile, paths: tuple[str, ...], options: CompareOptions, progress: Progress
) -> MethodComparison:
    """Return the comparison of methods on one workload.

    Parameters
    ----------
    profile, paths : the workload, and which of the options' profiles it is made of.

    Raises
    ------
    OptionError : a filter or a target is wrong.
    """
    files = [feature_file(options, text) for text in options.features]
    return MethodComparison(
        profile,
        region_of(options),
        target_of(options),
        repeats=options.repeats,
        seed=options.seed,
        settings=options.set,
        features=FeatureFiles(
            tuple(path for of_profile, path in files if of_profile is None or of_profile in paths),
            options.number_locale.value,
            # Of several workloads, a file may be of any.
            strict=len(paths) == len(options.profiles),
        ),
        progress=progress,
    )


def feature_file(options: CompareOptions, text: str) -> tuple[str | None, str]:
    """Return the profile that a file of features is for (None: for any), and the file."""
    profile, equals, path = text.partition("=")
    return (profile, path) if equals and profile in options.profiles else (None, text)
