"""Which launches count: by device, process, kernel name, launch id, time, named range and duration."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from sampling.arrays import AnyIntArray, BoolArray, IntArray
from sampling.errors import EmptySelectionError, NotApplicableError, OptionError
from sampling.parallel import ordered_map
from sampling.profile.named_ranges import NO_RANGES, PATH_SEPARATOR, range_tree
from sampling.profile.names import is_communication
from sampling.profile.profile import LaunchSequence, Part, Profile
from sampling.text import Wording

COMMUNICATION = "communication"
Window = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Region:
    """The filters of a run; an empty one keeps everything. All that are given must hold."""

    #: Keep only these numbers.
    devices: tuple[int, ...] = ()
    processes: tuple[int, ...] = ()
    #: Keep kernels whose full name one of these regular expressions finds something in.
    include: tuple[str, ...] = ()
    #: Drop those one of these finds something in; "communication" stands for collective kernels.
    exclude: tuple[str, ...] = ()
    #: Keep ids from the first (None: 0) up to, not with, the second (None: the end).
    launches: Window | None = None
    #: Keep launches that start on the GPU from the first time (None: 0) up to, not with, the second (None:
    #: the end), nanoseconds after the earliest start of all launches of their file.
    time_ns: Window | None = None
    #: Keep launches issued while a range of this name was open; else of this path, as `a/b` for b inside a;
    #: else whose name contains it. See `sampling.profile.launch_table`.
    named_range: str | None = None
    #: Keep launches that last at least so long. It is looked at last: what it leaves out of the launches that
    #: the other filters keep is counted, as it makes the total smaller.
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
        launches=None if launches is None else written_window("launches", launches),
        time_ns=None if time is None else written_window("time_ns", time, "nanoseconds"),
        named_range=named_range,
        min_duration_ns=min_duration,
    )


def _numbers(parameter: str, values: tuple[str, ...]) -> tuple[int, ...]:
    try:
        return tuple(int(part) for value in values for part in value.split(","))
    except ValueError as error:
        raise OptionError(Wording(f"`{parameter}={{}}`: numbers are meant", " ".join(values))) from error


def written_window(parameter: str, text: str, what: str = "ids") -> Window:
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
        meant = f"{what} as A:B, A: or :B are meant, counted from 0, A not above B"
        raise OptionError(Wording(f"`{parameter}={{}}`: {meant}", text))
    return low, high


def as_given(bounds: Window | None) -> str:
    """Return a window as people write it: its first and its last bound, a colon between."""
    return ":".join("" if bound is None else str(bound) for bound in bounds or (None, None))


def filters_set(region: Region) -> tuple[str, ...]:
    """Return the parameters of the filters that are given, in backticks as in messages."""
    given = (each.name for each in fields(region) if getattr(region, each.name) != each.default)
    return tuple(f"`{name}`" for name in given)


def selected_parts(profile: Profile, region: Region) -> tuple[Part, ...]:
    """Return what to load for a region, in id order; names and durations are filtered after the reduction.

    Raises
    ------
    EmptySelectionError : the device, process, launch, range or time filter leaves nothing.
    NotApplicableError : the profile has no ranges, or no starts, to filter by.
    """
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
    if region.named_range is not None:
        chosen = _within_ranges(profile, region.named_range, chosen)
    if region.time_ns is not None:
        chosen = _within_time(profile, region.time_ns, chosen)
    return chosen


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


_RANGES_ARE_IN = (
    "an nsys SQLite or folder export, a PyTorch profiler trace (Kineto), or rocprofv3's database or JSON"
)
_NAMES_SHOWN = 5


def _within_ranges(profile: Profile, text: str, chosen: Sequence[Part]) -> tuple[Part, ...]:
    """Keep the launches that any range of this name holds; else of this path; else whose name contains it."""
    found = profile.named_ranges(text)
    if found is None:
        raise NotApplicableError(
            Wording(
                "`named_range` needs named ranges, and a profile of the format {} has none", profile.format
            ),
            remedy=f"give {_RANGES_ARE_IN}",
        )
    first_ids = [sequence.first_id for sequence in profile.sequences]
    runs = [(first_ids[each.sequence] + each.first_ordinal, first_ids[each.sequence] + each.stop_ordinal)
            for each in found]  # fmt: skip
    if PATH_SEPARATOR in text and not (found and found[0].text == text):
        tree = range_tree(profile.range_runs() or NO_RANGES, first_ids)
        on_path = tree.runs_of_path(text)
        if len(on_path):
            runs = np.stack([tree.first_id[on_path], tree.stop_id[on_path]], axis=1).tolist()
    if not runs:
        names = profile.range_names(_NAMES_SHOWN + 1)
        shown = ", ".join(map(repr, names[:_NAMES_SHOWN])) + (", ..." if len(names) > _NAMES_SHOWN else "")
        raise EmptySelectionError(
            Wording(
                "`named_range={!r}` leaves no launch: none was issued in a range whose name contains it", text
            ),
            remedy=f"names there are: {shown}" if names else "there is no range in this profile",
        )
    # Ids of two sequences do not mix, so the runs of all may be looked at together.
    first, stop = np.sort(np.array(runs, dtype=np.int64), axis=0).T

    def narrowed(part: Part) -> Part | None:
        """Return the launches of a part that lie in more runs than have ended before them."""
        ids = np.arange(part.first_id, part.stop_id)
        opened, ended = (np.searchsorted(edge, ids, side="right") for edge in (first, stop))
        return part.narrowed(opened > ended)

    left = tuple(each for part in chosen if (each := narrowed(part)) is not None)
    if not left:
        raise EmptySelectionError(
            Wording("`named_range={!r}` leaves no launch of those that the other filters keep", text),
            remedy=Wording("leave out `devices`, `processes`, `launches` or the range"),
        )
    return left


def _within_time(profile: Profile, time_ns: Window, chosen: Sequence[Part]) -> tuple[Part, ...]:
    """Keep the launches that start in a window of time."""
    if "start_ns" not in profile.columns:
        raise NotApplicableError(
            Wording("`time_ns` needs the start of every launch, and this profile does not have it"),
            remedy="give the recording itself, or a table with a column start_ns",
        )
    low, high = time_ns
    ranges_ns = clock_ranges(profile)

    def narrowed(part: Part) -> Part | None:
        start_ns = part.load(("start_ns",))["start_ns"]
        origin_ns, _ = ranges_ns[profile.clocks[part.sequence]]
        inside = start_ns >= origin_ns + (low or 0)
        if high is not None:
            inside &= start_ns < origin_ns + high
        return part.narrowed(inside)

    left = tuple(part for part in ordered_map(narrowed, chosen) if part is not None)
    if not left:
        last_ns = max(last - first for first, last in ranges_ns.values())
        raise EmptySelectionError(
            Wording("`time_ns={}` leaves no launch (they start from 0 to {} ns)", as_given(time_ns), last_ns),
            remedy="times are nanoseconds after the first launch of the whole profile",
        )
    return left


def clock_ranges(profile: Profile) -> dict[int, tuple[int, int]]:
    """Return the first and the last start of all launches of each clock, selected or not, nanoseconds."""

    def first_and_last(part: Part) -> tuple[int, int]:
        start_ns = part.load(("start_ns",))["start_ns"]
        return int(start_ns.min()), int(start_ns.max())

    ranges: dict[int, tuple[int, int]] = {}
    found = ordered_map(first_and_last, profile.parts)
    for part, (first, last) in zip(profile.parts, found, strict=True):
        clock = profile.clocks[part.sequence]
        earliest, latest = ranges.get(clock, (first, last))
        ranges[clock] = min(first, earliest), max(last, latest)
    return ranges


def selected_sequences(profile: Profile, chosen: Sequence[Part]) -> tuple[LaunchSequence, ...]:
    """Return the sequences that have selected launches, in id order."""
    indices = dict.fromkeys(part.sequence for part in chosen)
    return tuple(profile.sequences[index] for index in indices)


def names_passing(profile: Profile, region: Region, present: BoolArray | None = None) -> BoolArray:
    """Return (names,) whether a kernel name read so far passes the region's name filters.

    Parameters
    ----------
    present : (names,) whether a name has launches among those selected so far; None: nothing is known.

    Raises
    ------
    EmptySelectionError : a filter leaves none of the names that are present.
    """
    kept = np.ones(len(profile.kernels.names), dtype=np.bool_) if present is None else present.copy()
    included = [("include", region.include, True)] if region.include else []
    for option, patterns, wanted in (*included, *(("exclude", (each,), False) for each in region.exclude)):
        kept &= profile.kernels.names.matching(_matcher(patterns))[: len(kept)] == wanted
        if present is not None and not kept.any():
            raise EmptySelectionError(
                Wording(f"`{option}={{}}` leaves no launch", " ".join(map(repr, patterns))),
                remedy="`kernelpoint groups` lists the kernel names",
            )
    return kept


def _matcher(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Return whether any of the patterns finds something in a name; each is compiled by itself."""
    if patterns == (COMMUNICATION,):
        return is_communication
    compiled = [re.compile(pattern) for pattern in patterns]
    return lambda name: any(pattern.search(name) for pattern in compiled)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What the least duration leaves out of the launches that the other filters keep.

    Other filters choose what is looked at; this one makes the total smaller for all that is. So what it
    leaves out is counted and said wherever its results are.
    """

    launches: int
    total_duration_ns: int

    def share_of(self, kept_ns: int) -> float:
        """Return its share of the time, where launches that take ``kept_ns`` are kept."""
        return self.total_duration_ns / max(self.total_duration_ns + kept_ns, 1)


def long_enough(
    region: Region, duration_ns: AnyIntArray, count: IntArray, others_keep: BoolArray
) -> tuple[BoolArray, LeftOut | None]:
    """Return (p,) which launches every filter keeps, and what the least duration leaves out of the others'.

    Parameters
    ----------
    duration_ns, count : (p,) durations, and how many launches have each.
    others_keep : (p,) whether the other filters keep them.

    Raises
    ------
    EmptySelectionError : none is left.
    """
    if region.min_duration_ns is None:
        return others_keep, None
    kept = others_keep & (duration_ns >= region.min_duration_ns)
    if not kept.any():
        raise EmptySelectionError(
            Wording(
                "`min_duration_ns={}` leaves no launch (the longest lasts {} ns)",
                region.min_duration_ns,
                int(duration_ns[others_keep].max()),
            ),
            remedy="durations are nanoseconds",
        )
    short = others_keep & ~kept
    return kept, LeftOut(int(count[short].sum()), int(np.dot(count[short], duration_ns[short])))
