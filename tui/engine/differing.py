"""From the options of `difference` to the engine: what is named behind an at sign, read and compared."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from sampling.difference.difference import Difference, ProfilePart, difference_between
from sampling.errors import OptionError
from sampling.methods.registry import DEFAULT_METHOD
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

_LAUNCH_IDS = re.compile(r"\d+:\d*|:\d+")


def found_difference(options: DifferenceOptions, progress: Progress) -> Difference:
    """Read both profiles, or one file once, and compare them kernel by kernel.

    Raises
    ------
    OptionError : a part of a profile is named twice, or both are standard input.
    """
    named = [file_and_part(text) for text in (options.before, options.after)]
    regions = [region_of(_with_part(options, part)) for _, part in named]
    grouping = grouping_of(options, DEFAULT_METHOD)
    paths = dict.fromkeys(path for path, _ in named)
    check_standard_input(*paths)
    columns = columns_of(options)
    profiles = {path: open_profile((path,), progress, columns, needs_table=False) for path in paths}
    if columns is not None:
        refuse_unused_columns(list(profiles.values()))
    for profile in profiles.values():
        note_what_is_read(profile, quiet=options.quiet)
    before, after = (
        ProfilePart(profiles[path], region) for (path, _), region in zip(named, regions, strict=True)
    )
    return difference_between(before, after, grouping, confidence=options.confidence, progress=progress)


def file_and_part(text: str) -> tuple[str, str | None]:
    """Return the file and the part of it that are named as FILE@PART; None where there is no part.

    A file of the whole name is that file. Else the longest beginning before an at sign that is a file is
    the file, as both may have at signs of their own; where none is, the first at sign parts them.
    """
    if "@" not in text or _is_there(text):
        return text, None
    ends = [place for place, letter in enumerate(text) if letter == "@"]
    end = next((place for place in reversed(ends) if _is_there(text[:place])), ends[0])
    return text[:end], text[end + 1 :]


def _is_there(path: str) -> bool:
    return path == "-" or Path(path).exists()


def _with_part(options: DifferenceOptions, part: str | None) -> DifferenceOptions:
    """Return the options with a part of one profile among its filters."""
    if part is None:
        return options
    is_ids = _LAUNCH_IDS.fullmatch(part) is not None
    flag, given = ("--launches", options.launches) if is_ids else ("--range", options.range)
    if given is not None:
        raise OptionError(
            f"@{part} and {flag} {given} both say which launches count", remedy="give one of them"
        )
    return replace(options, launches=part) if is_ids else replace(options, range=part)
