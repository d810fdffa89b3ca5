"""Which launches count: by device, process, kernel name and launch id."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampling.errors import EmptySelectionError, OptionError
from sampling.kernel_names import is_communication
from sampling.profile import LaunchSequence, Profile, Span

COMMUNICATION = "communication"


@dataclass(frozen=True, slots=True)
class Region:
    """The filters of a run; an empty one keeps everything. All that are given must hold.

    Attributes
    ----------
    devices, processes : keep only these numbers.
    include : keep kernels whose full name one of these regular expressions finds something in.
    exclude : drop those one of these finds something in; "communication" stands for collective kernels.
    launches : keep ids from the first (None: 0) up to, not with, the second (None: the end).
    """

    devices: tuple[int, ...] = ()
    processes: tuple[int, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    launches: tuple[int | None, int | None] | None = None

    def __post_init__(self) -> None:
        for pattern in (*self.include, *self.exclude):
            try:
                re.compile(pattern)
            except re.error as error:
                raise OptionError(f"{pattern!r} is not a regular expression ({error})") from error


@dataclass(frozen=True, slots=True)
class Selection:
    """A span and the rows of it that are wanted, of which the first has id ``first_id``."""

    span: Span
    rows: slice
    first_id: int

    @property
    def launches(self) -> int:
        """How many rows are wanted."""
        stop: int = self.rows.stop
        start: int = self.rows.start
        return stop - start


def selections(profile: Profile, region: Region) -> tuple[Selection, ...]:
    """Return what to read for a region, in id order; names are filtered after the reduction.

    Raises
    ------
    EmptySelectionError : the device, process or launch filter leaves nothing.
    """
    kept = _sequences_left(profile, region)
    low, high = region.launches or (None, None)
    low, high = low or 0, profile.launches if high is None else high
    chosen = []
    for span in profile.spans:
        if span.sequence not in kept:
            continue
        first_id = profile.sequences[span.sequence].first_id + span.first_ordinal
        start = max(low - first_id, 0)
        stop = min(high - first_id, span.launches)
        if start < stop:
            chosen.append(Selection(span, slice(start, stop), first_id + start))
    if not chosen:
        raise EmptySelectionError(
            f"--launches {_as_given(region.launches)} leaves no launch "
            f"(ids run from 0 to {profile.launches - 1})",
            remedy="ids are counted over the whole profile, before other filters",
        )
    return tuple(chosen)


def _as_given(launches: tuple[int | None, int | None] | None) -> str:
    return ":".join("" if bound is None else str(bound) for bound in launches or (None, None))


def _sequences_left(profile: Profile, region: Region) -> frozenset[int]:
    left = dict(enumerate(profile.sequences))
    filters: tuple[tuple[str, tuple[int, ...], Callable[[LaunchSequence], int]], ...] = (
        ("process", region.processes, lambda sequence: sequence.process),
        ("device", region.devices, lambda sequence: sequence.device),
    )
    for what, wanted, number in filters:
        there = sorted({number(sequence) for sequence in left.values()})
        if wanted:
            left = {index: sequence for index, sequence in left.items() if number(sequence) in wanted}
        if not left:
            raise EmptySelectionError(
                f"--{what} {','.join(map(str, wanted))} leaves no launch",
                remedy=f"the {what} numbers here are {', '.join(map(str, there))}",
            )
    return frozenset(left)


def selected_sequences(profile: Profile, chosen: Sequence[Selection]) -> tuple[LaunchSequence, ...]:
    """Return the sequences that have selected launches, in id order."""
    indices = dict.fromkeys(selection.span.sequence for selection in chosen)
    return tuple(profile.sequences[index] for index in indices)


def names_kept(profile: Profile, region: Region, present: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (names,) whether a kernel name passes the region's name filters.

    Parameters
    ----------
    present : (names,) whether a name has launches among those selected so far.

    Raises
    ------
    EmptySelectionError : a filter leaves none of the names that are present.
    """
    kept = present.copy()
    for option, patterns, wanted in _name_filters(region):
        kept &= profile.kernels.names.matching(_matcher(patterns))[: len(kept)] == wanted
        if not kept.any():
            raise EmptySelectionError(
                f"--{option} {' '.join(map(repr, patterns))} leaves no launch",
                remedy="`kernelpoint groups` lists the kernel names",
            )
    return kept


def names_passing(profile: Profile, region: Region) -> NDArray[np.bool_]:
    """Return (names,) whether a kernel name read so far passes the region's name filters."""
    kept = np.ones(len(profile.kernels.names), dtype=np.bool_)
    for _, patterns, wanted in _name_filters(region):
        kept &= profile.kernels.names.matching(_matcher(patterns))[: len(kept)] == wanted
    return kept


def _name_filters(region: Region) -> list[tuple[str, tuple[str, ...], bool]]:
    included = [("include", region.include, True)] if region.include else []
    return [*included, *(("exclude", (pattern,), False) for pattern in region.exclude)]


def _matcher(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Return whether any of the patterns finds something in a name; each is compiled by itself."""
    if patterns == (COMMUNICATION,):
        return is_communication
    compiled = [re.compile(pattern) for pattern in patterns]
    return lambda name: any(pattern.search(name) for pattern in compiled)
