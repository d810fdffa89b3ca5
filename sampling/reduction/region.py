"""Which launches count: by device, process, kernel name, launch id, time, named range and duration."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from sampling.arrays import BoolArray
from sampling.errors import EmptySelectionError, NotApplicableError, OptionError
from sampling.parallel import ordered_map
from sampling.profile.names import is_communication
from sampling.profile.profile import LaunchSequence, Part, Profile
from sampling.reduction.ranges.nesting import within_ranges
from sampling.text import Wording

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
    time_ns : keep launches that start on the GPU from the first time (None: 0) up to, not with, the second
        (None: the end), nanoseconds after the earliest start of all launches of their file.
    named_range : keep launches issued while a range of this name was open; else of this path, as `a/b` for b
        inside a; else whose name contains it. See `sampling.profile.named_ranges`.
    min_duration_ns : keep launches that last at least so long. It is looked at last: what it leaves out of
        the launches that the other filters keep is counted, as it makes the total smaller.
    """

    devices: tuple[int, ...] = ()
    processes: tuple[int, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    launches: tuple[int | None, int | None] | None = None
    time_ns: tuple[int | None, int | None] | None = None
    named_range: str | None = None
    min_duration_ns: int | None = None

    def __post_init__(self) -> None:
        if self.min_duration_ns is not None and self.min_duration_ns < 1:
            raise OptionError(
                Wording("`min_duration_ns={}`: nanoseconds from 1 on are meant", self.min_duration_ns)
            )
        if self.named_range == "":
            raise OptionError(
                Wording("`named_range` is empty"), remedy="give a range's name, or a part of it"
            )
        for pattern in (*self.include, *self.exclude):
            try:
                re.compile(pattern)
            except re.error as error:
                raise OptionError(f"{pattern!r} is not a regular expression ({error})") from error


def selected_parts(profile: Profile, region: Region) -> tuple[Part, ...]:
    """Return what to load for a region, in id order; names and durations are filtered after the reduction.

    Raises
    ------
    EmptySelectionError : the device, process, launch, range or time filter leaves nothing.
    NotApplicableError : the profile has no ranges, or no starts, to filter by.
    """
    chosen = _selected_ids(profile, region)
    if region.named_range is not None:
        chosen = within_ranges(profile, region.named_range, chosen)
    if region.time_ns is not None:
        chosen = _within_time(profile, region.time_ns, chosen)
    return chosen


def _selected_ids(profile: Profile, region: Region) -> tuple[Part, ...]:
    """Return the launches that the device, process and launch filters keep."""
    kept = _sequences_left(profile, region)
    low, high = region.launches or (None, None)
    low, high = low or 0, profile.launches if high is None else high
    cut = (part.between(low, high) for part in profile.parts if part.sequence in kept)
    chosen = tuple(part for part in cut if part is not None)
    if not chosen:
        raise EmptySelectionError(
            Wording(
                "`launches={}` leaves no launch (ids run from 0 to {})",
                as_given(region.launches),
                profile.launches - 1,
            ),
            remedy="ids are counted over the whole profile, before other filters",
        )
    return chosen


def filters_set(region: Region) -> tuple[str, ...]:
    """Return the parameters of the filters that are given, in backticks as in messages."""
    given = (each.name for each in fields(region) if getattr(region, each.name) != each.default)
    return tuple(f"`{name}`" for name in given)


def as_given(bounds: tuple[int | None, int | None] | None) -> str:
    """Return a window as people write it: its first and its last bound, a colon between."""
    return ":".join("" if bound is None else str(bound) for bound in bounds or (None, None))


def _within_time(
    profile: Profile, time_ns: tuple[int | None, int | None], chosen: Sequence[Part]
) -> tuple[Part, ...]:
    """Keep the launches that start in a window of time."""
    if "start_ns" not in profile.columns:
        raise NotApplicableError(
            Wording("`time_ns` needs the start of every launch, and this profile does not have it"),
            remedy="give the recording itself, or a table with a column start_ns",
        )
    low, high = time_ns
    ranges_ns = clock_ranges(profile)

    def narrowed(part: Part) -> Part | None:
        starts = part.load(("start_ns",))["start_ns"]
        origin, _ = ranges_ns[profile.clocks[part.sequence]]
        inside = starts >= origin + (low or 0)
        if high is not None:
            inside &= starts < origin + high
        return part.narrowed(inside)

    left = tuple(each for each in ordered_map(narrowed, chosen) if each is not None)
    if not left:
        last_ns = max(last - first for first, last in ranges_ns.values())
        raise EmptySelectionError(
            Wording("`time_ns={}` leaves no launch (they start from 0 to {} ns)", as_given(time_ns), last_ns),
            remedy="times are nanoseconds after the first launch of the whole profile",
        )
    return left


def clock_ranges(profile: Profile) -> dict[int, tuple[int, int]]:
    """Return the first and the last start of all launches of each clock, selected or not, nanoseconds."""
    ranges: dict[int, tuple[int, int]] = {}
    found = ordered_map(_first_and_last, profile.parts)
    for part, (first, last) in zip(profile.parts, found, strict=True):
        clock = profile.clocks[part.sequence]
        earliest, latest = ranges.get(clock, (first, last))
        ranges[clock] = min(first, earliest), max(last, latest)
    return ranges


def _first_and_last(part: Part) -> tuple[int, int]:
    starts = part.load(("start_ns",))["start_ns"]
    return int(starts.min()), int(starts.max())


def _sequences_left(profile: Profile, region: Region) -> frozenset[int]:
    left = dict(enumerate(profile.sequences))
    filters: tuple[tuple[str, str, tuple[int, ...], Callable[[LaunchSequence], int]], ...] = (
        ("processes", "process", region.processes, lambda sequence: sequence.process),
        ("devices", "device", region.devices, lambda sequence: sequence.device),
    )
    for parameter, what, wanted, number in filters:
        there = sorted({number(sequence) for sequence in left.values()})
        if wanted:
            left = {index: sequence for index, sequence in left.items() if number(sequence) in wanted}
        if not left:
            raise EmptySelectionError(
                Wording(f"`{parameter}={','.join(map(str, wanted))}` leaves no launch"),
                remedy=f"the {what} numbers here are {', '.join(map(str, there))}",
            )
    return frozenset(left)


def selected_sequences(profile: Profile, chosen: Sequence[Part]) -> tuple[LaunchSequence, ...]:
    """Return the sequences that have selected launches, in id order."""
    indices = dict.fromkeys(part.sequence for part in chosen)
    return tuple(profile.sequences[index] for index in indices)


def names_kept(profile: Profile, region: Region, present: BoolArray) -> BoolArray:
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
                Wording(f"`{option}={{}}` leaves no launch", " ".join(map(repr, patterns))),
                remedy="`kernelpoint groups` lists the kernel names",
            )
    return kept


def names_passing(profile: Profile, region: Region) -> BoolArray:
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
