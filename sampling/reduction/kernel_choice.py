"""Which kernel group a user means by `--kernel`."""

from __future__ import annotations

from dataclasses import dataclass

from sampling.errors import OptionError
from sampling.reduction.duration_counts import DurationCounts


@dataclass(frozen=True, slots=True)
class KernelChoice:
    """The group chosen, and how many others the text fits as well."""

    group: int
    others: int = 0


def choose_kernel(counts: DurationCounts, wanted: str | None) -> KernelChoice:
    """Return the group of "#3" (rank), or the largest whose key contains the text; the largest if None.

    Raises
    ------
    OptionError : no group has that rank, or contains that text.
    """
    if wanted is None:
        return KernelChoice(0)
    if wanted.startswith("#") and wanted[1:].isdecimal():
        rank = int(wanted[1:])
        if not 1 <= rank <= len(counts.groups):
            raise OptionError(f"--kernel {wanted}: ranks run from #1 to #{len(counts.groups)}")
        return KernelChoice(rank - 1)
    matches = [index for index, group in enumerate(counts.groups) if wanted in group.key]
    if not matches:
        raise OptionError(
            f"--kernel {wanted!r}: no kernel group's key contains it (case counts)",
            remedy="`kernelpoint groups` lists them",
        )
    return KernelChoice(matches[0], len(matches) - 1)
