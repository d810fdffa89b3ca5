"""A region from its filters as the command line and a plan file write them."""

from __future__ import annotations

from sampling.errors import OptionError
from sampling.reduction.region import Region
from sampling.text import Wording


def written_region(
    *,
    device: tuple[str, ...],
    process: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    launches: str | None,
    time: str | None,
    named_range: str | None,
    min_duration: int | None = None,
) -> Region:
    """Return the region of filters as the command line and a plan file write them.

    Parameters
    ----------
    device, process : numbers, each text one or several by commas.
    launches, time : windows as A:B, A: or :B.
    min_duration : nanoseconds.

    Raises
    ------
    OptionError : one is not made of numbers, a window ends before it begins, the range's name is empty, or
        the least duration is none.
    """
    return Region(
        devices=_numbers("devices", device),
        processes=_numbers("processes", process),
        include=include,
        exclude=exclude,
        launches=_window("launches", launches, "ids as A:B, A: or :B are meant, counted from 0"),
        time_ns=_window("time_ns", time, "nanoseconds as A:B, A: or :B are meant, counted from 0"),
        named_range=named_range,
        min_duration_ns=min_duration,
    )


def _numbers(parameter: str, values: tuple[str, ...]) -> tuple[int, ...]:
    try:
        return tuple(int(part) for value in values for part in value.split(","))
    except ValueError as error:
        raise OptionError(Wording(f"`{parameter}={{}}`: numbers are meant", " ".join(values))) from error


def _window(parameter: str, text: str | None, meant: str) -> tuple[int | None, int | None] | None:
    return None if text is None else written_window(parameter, text, meant)


def written_window(
    parameter: str, text: str, meant: str = "ids as A:B, A: or :B are meant, counted from 0"
) -> tuple[int | None, int | None]:
    """Return the ends of a window, None where it is open.

    Raises
    ------
    OptionError : it is not made of numbers, or ends before it begins.
    """
    first, colon, last = text.partition(":")
    try:
        low, high = (int(part) if part else None for part in (first, last))
    except ValueError:
        low, high, colon = None, None, ""
    if not colon or min(low or 0, high or 0) < 0 or (high is not None and (low or 0) > high):
        raise OptionError(Wording(f"`{parameter}={{}}`: {meant}, A not above B", text))
    return low, high
