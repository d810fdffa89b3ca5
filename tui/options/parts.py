"""A part of a file, named behind an at sign: FILE@RANGE, FILE@A:B."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from sampling.errors import OptionError
from tui.options.shared import RegionOptions

Options = TypeVar("Options", bound=RegionOptions)

_LAUNCH_IDS = re.compile(r"\d+:\d*|:\d+")


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


def with_part(options: Options, part: str | None) -> Options:
    """Return the options with a part of one profile among its filters.

    Raises
    ------
    OptionError : a filter of the options already says which launches count.
    """
    if part is None:
        return options
    is_ids = _LAUNCH_IDS.fullmatch(part) is not None
    flag, given = ("--launches", options.launches) if is_ids else ("--range", options.range)
    if given is not None:
        raise OptionError(
            f"@{part} and {flag} {given} both say which launches count", remedy="give one of them"
        )
    return replace(options, launches=part) if is_ids else replace(options, range=part)


def part_in_name(path: str, options: Options) -> tuple[str, Options]:
    """Return a file with the part that its options name behind an at sign, and the options without it.

    A part that would not be understood there stays with the options.
    """
    for part, without in (
        (options.range, replace(options, range=None)),
        (options.launches, replace(options, launches=None)),
    ):
        if part is not None and file_and_part(named := f"{path}@{part}") == (path, part):
            with suppress(OptionError):
                if with_part(without, part) == options:
                    return named, without
    return path, options
