"""From the options of `difference` to the engine: what is named behind an at sign, read and compared."""

from __future__ import annotations

from collections.abc import Mapping

from sampling.difference import Difference, ProfilePart, difference_between
from sampling.methods.registry import DEFAULT_METHOD
from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.readers.registry import refuse_unused_columns
from tui.engine.studies import (
    check_standard_input,
    columns_of,
    grouping_of,
    note_what_is_read,
    open_profile,
    region_of,
)
from tui.options.difference import DifferenceOptions
from tui.options.parts import file_and_part, with_part


def found_difference(
    options: DifferenceOptions, progress: Progress, read: Mapping[str, Profile] | None = None
) -> Difference:
    """Read both profiles, or one file once, and compare them kernel by kernel.

    Parameters
    ----------
    read : the profiles by file that were read already, by the same columns.

    Raises
    ------
    OptionError : a part of a profile is named twice, or both are standard input.
    """
    named = [file_and_part(text) for text in (options.before, options.after)]
    regions = [region_of(with_part(options, part)) for _, part in named]
    grouping = grouping_of(options, DEFAULT_METHOD)
    paths = dict.fromkeys(path for path, _ in named)
    check_standard_input(*paths)
    columns = columns_of(options)
    known = read or {}
    profiles = {
        path: known[path] if path in known else open_profile((path,), progress, columns, needs_table=False)
        for path in paths
    }
    if columns is not None:
        refuse_unused_columns(list(profiles.values()))
    for profile in profiles.values():
        note_what_is_read(profile, quiet=options.quiet)
    before, after = (
        ProfilePart(profiles[path], region) for (path, _), region in zip(named, regions, strict=True)
    )
    return difference_between(before, after, grouping, confidence=options.confidence, progress=progress)
