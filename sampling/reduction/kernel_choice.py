"""Which kernel group is meant by a rank or a part of a key."""

from __future__ import annotations

from dataclasses import dataclass

from sampling.errors import OptionError
from sampling.reduction.duration_counts import DurationCounts
from sampling.text import Wording


@dataclass(frozen=True, slots=True)
class KernelChoice:
    """The group chosen, and how many others the text fits as well."""

    group: int
    others: int = 0


def choose_kernel(counts: DurationCounts, kernel: str | None) -> KernelChoice:
    """Return the group of "#3" (rank), or the largest whose key contains the text; the largest if None.

    Where no key contains it as it is written, case does not count.

    Raises
    ------
    OptionError : no group has that rank, or contains that text.
    """
    if kernel is None:
        return KernelChoice(0)
    if kernel.startswith("#") and kernel[1:].isdecimal():
        rank = int(kernel[1:])
        if not 1 <= rank <= len(counts.groups):
            raise OptionError(Wording("`kernel={}`: ranks run from #1 to #{}", kernel, len(counts.groups)))
        return KernelChoice(rank - 1)
    matches = [index for index, group in enumerate(counts.groups) if kernel in group.key]
    if not matches:
        folded = kernel.casefold()
        matches = [index for index, group in enumerate(counts.groups) if folded in group.key.casefold()]
    if not matches:
        raise OptionError(
            Wording("`kernel={!r}`: no kernel group's key contains it", kernel),
            remedy="`kernelpoint groups` lists them",
        )
    return KernelChoice(matches[0], len(matches) - 1)
