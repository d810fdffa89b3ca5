"""Two kernels in one message: short enough for a line, and still different where they differ."""

from __future__ import annotations

from typing import NamedTuple

from sampling.profile.profile import Dimensions

_LONGEST_NAME = 96
_CUT = "..."
_SHOWN_BEFORE_DIFFERENCE = 20


class Kernel(NamedTuple):
    """What a launch of another recording must share: whole name, grid and block."""

    name: str
    grid: Dimensions | None
    block: Dimensions | None


def kernel_texts(one: Kernel | None, other: Kernel | None) -> tuple[str, str]:
    """Return two kernels with their launch shapes as error messages name them, names shortened.

    None is a launch that is missing.
    """
    name, other_name = shortened_names(one.name if one else "", other.name if other else "")
    return _kernel_text(one, name), _kernel_text(other, other_name)


def _kernel_text(kernel: Kernel | None, name: str) -> str:
    if kernel is None:
        return "missing"
    return f"{name!r} grid {kernel.grid or 'unknown'} block {kernel.block or 'unknown'}"


def shortened_names(one: str, other: str) -> tuple[str, str]:
    """Return two names short enough for one message, and still different where they differ.

    The middle is left out, as names differ at both ends; names that differ in the middle alone are shown
    from their start, and around the first difference.
    """
    ends = shortened_name(one), shortened_name(other)
    if one == other or ends[0] != ends[1]:
        return ends
    same = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return _around(one, same), _around(other, same)


def shortened_name(name: str) -> str:
    """Return a name for a message: both ends, two thirds of what is kept from its start."""
    if len(name) <= _LONGEST_NAME:
        return name
    kept = _LONGEST_NAME - len(_CUT)
    return name[: kept - kept // 3] + _CUT + name[-(kept // 3) :]


def _around(name: str, place: int) -> str:
    """Return the start of a name, and what is around a place beyond it."""
    first = place - _SHOWN_BEFORE_DIFFERENCE
    last = first + _LONGEST_NAME // 2
    head = name[: _LONGEST_NAME // 2 - 2 * len(_CUT)]
    return head + _CUT + name[first:last] + (_CUT if last < len(name) else "")
