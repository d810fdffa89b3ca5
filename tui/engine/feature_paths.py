"""What `--features` names: a file, or the file of one profile as PROFILE=FILE."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sampling.errors import OptionError


def feature_file(text: str, profiles: Sequence[str]) -> tuple[str | None, str]:
    """Return the profile that a file of features is given for (None: not said), and the file.

    Raises
    ------
    OptionError : the profile named is not among the given ones, and no file has the whole text as its name.
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

    Raises
    ------
    OptionError : as `feature_file`; or a file is given for one of several profiles.
    """
    files = [feature_file(text, profiles) for text in features]
    for profile, path in files:
        if profile is not None and len(profiles) > 1:
            raise OptionError(
                f"--features {profile}={path}: the {len(profiles)} profiles are one workload here, whose "
                "launch ids run through all of them",
                remedy="give FILE alone, with the ids of the whole",
            )
    return tuple(path for _, path in files)
