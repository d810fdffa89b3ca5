"""Which launches count: by device, process, kernel name, launch id, time, named range and duration.

What the filters of a region keep is a part of a run, and results say which.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sampling.arrays import BoolArray
from sampling.errors import EmptySelectionError, NotApplicableError, OptionError
from sampling.profile.named_ranges import PATH_FORMS, PATH_SEPARATOR, range_paths, ranges_named
from sampling.profile.names import is_communication
from sampling.profile.profile import LaunchSequence, Part, Profile, first_and_last_start
from sampling.record import Fraction, Index, Nanoseconds, Record
from sampling.text import Wording

COMMUNICATION = "communication"
Window = tuple[int | None, int | None]
#: Single numbers, and windows of them.
Numbers = tuple[int | range, ...]
_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Region:
    """The filters of a run; an empty one keeps everything. All that are given must hold."""

    #: Keep only these numbers.
    devices: Numbers = ()
    processes: Numbers = ()
    #: Keep kernels whose full name one of these regular expressions finds something in.
    include: tuple[str, ...] = ()
    #: Drop those one of these finds something in; "communication" stands for collective kernels.
    exclude: tuple[str, ...] = ()
    #: Keep ids from the first (None: 0) up to, not with, the second (None: the end).
    launches: Window | None = None
    #: Keep launches that start on the GPU from the first time (None: 0) up to, not with, the second (None:
    #: the end), nanoseconds after the earliest start of all launches of their file.
    time_ns: Window | None = None
    #: Keep launches issued while a range of this name was open, its calls and steps together or one of them;
    #: else of this path, as `a/b` for b inside a; else whose name contains it. See
    #: `sampling.profile.named_ranges`.
    named_range: str | None = None
    #: Keep launches that last at least so long. It is looked at last: what it leaves out of the launches that
    #: the other filters keep is counted, as it makes the total smaller.
    min_duration_ns: int | None = None

    def __post_init__(self) -> None:
        least_ns = self.min_duration_ns
        if least_ns is not None and least_ns < 1:
            raise OptionError(Wording("`min_duration_ns={}`: nanoseconds from 1 on are meant", least_ns))
        if self.named_range == "":
            remedy = "give a range's name, or a part of it"
            raise OptionError(Wording("`named_range` is empty"), remedy=remedy)
        for pattern in (*self.include, *self.exclude):
            try:
                re.compile(pattern)
            except re.error as error:
                raise OptionError(f"{pattern!r} is not a regular expression ({error})") from error


@dataclass(frozen=True, slots=True)
class Excluded:
    """What the least duration leaves out of the launches that the other filters keep.

    It makes the total smaller for all that is looked at, so this is said wherever its results are.
    """

    launches: int
    total_duration_ns: int

    def share(self, kept_ns: int) -> float:
        """Return its share of the time, where launches that take ``kept_ns`` are kept."""
        return self.total_duration_ns / max(self.total_duration_ns + kept_ns, 1)


def parse_region(
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

    Numbers are one a text, or several by commas, A:B for A up to, not with, B; windows A:B, A: or :B.
    `OptionError` for what is no number, or no `Region`.
    """

    def numbers(parameter: str, texts: tuple[str, ...]) -> Numbers:
        numbers: list[int | range] = []
        for part in (part for text in texts for part in text.split(",")):
            first, colon, stop = part.partition(":")
            try:
                numbers.append(range(int(first), int(stop)) if colon else int(first))
            except ValueError as error:
                wording = f"`{parameter}={{}}`: numbers are meant, or A:B for A up to, not with, B"
                raise OptionError(Wording(wording, " ".join(texts))) from error
            if numbers[-1] == range(0):
                wording = f"`{parameter}={{}}` holds no number: {{}} is from A up to, not with, B"
                raise OptionError(Wording(wording, " ".join(texts), part), remedy="give A:B, A below B")
        return tuple(numbers)

    return Region(
        devices=numbers("devices", device),
        processes=numbers("processes", process),
        include=include,
        exclude=exclude,
        launches=None if launches is None else written_window("launches", launches),
        time_ns=None if time is None else written_window("time_ns", time, "nanoseconds"),
        named_range=named_range,
        min_duration_ns=min_duration,
    )


def written_window(parameter: str, text: str, unit: str = "ids") -> Window:
    """Return the ends of a window, None where it is open; `OptionError` where nothing lies between them."""
    match = re.fullmatch(r"(\d*):(\d*)", text, re.ASCII)
    low, high = (int(part) if part else None for part in match.groups()) if match else (1, 0)
    if high is not None and (low or 0) >= high:
        meant = f"{unit} as A:B, A: or :B are meant, counted from 0, A below B"
        raise OptionError(Wording(f"`{parameter}={{}}`: {meant}", text))
    return low, high


def format_window(bounds: Window | None) -> str:
    """Return a window as people write it: its first and its last bound, a colon between."""
    return ":".join("" if bound is None else str(bound) for bound in bounds or (None, None))


def as_written(numbers: Numbers) -> tuple[int | str, ...]:
    """Return numbers as a plan file has them: windows as people write them."""
    return tuple(
        format_window((number.start, number.stop)) if isinstance(number, range) else number
        for number in numbers
    )


def is_among(number: int, numbers: Numbers) -> bool:
    """Return whether a number is one of those that are wanted."""
    return any(number in entry if isinstance(entry, range) else number == entry for entry in numbers)


def nothing_left(parameter: str, value: object, remedy: str) -> EmptySelectionError:
    """Return what is raised where a filter of the region leaves no launch."""
    return EmptySelectionError(Wording(f"`{parameter}={{}}` leaves no launch", value), remedy=remedy)


# What results say of them.

Filter = list[int | str] | str | int


class LeftOut(Record, frozen=True):
    """What the least duration leaves out of the launches that the other filters keep."""

    launches: Index
    total_duration_ns: Nanoseconds
    #: Of the time of both.
    share: Fraction


class Selection(Record, frozen=True):
    """The launches of a profile that the filters of a region keep."""

    #: Those that are set, by their options' names, as they are typed.
    filters: dict[str, Filter]
    launches: Index
    #: How many the whole profile has; None where that is not known.
    of_launches: Index | None
    total_duration_ns: Nanoseconds
    #: None where no least duration is set, or what it leaves out is not known.
    left_out: LeftOut | None

    @property
    def is_whole(self) -> bool:
        """Whether no filter is set."""
        return not self.filters


def region_filters(region: Region) -> dict[str, Filter]:
    """Return the filters that are set, by their options' names."""
    filters: dict[str, Filter | None] = {
        "device": [*as_written(region.devices)],
        "process": [*as_written(region.processes)],
        "include": [*region.include],
        "exclude": [*region.exclude],
        "launches": None if region.launches is None else format_window(region.launches),
        "time": None if region.time_ns is None else format_window(region.time_ns),
        "range": region.named_range,
        "min_duration_ns": region.min_duration_ns,
    }
    return {name: value for name, value in filters.items() if value is not None and value != []}


def region_selection(
    region: Region,
    launches: int,
    total_duration_ns: int,
    of_launches: int | None,
    excluded: Excluded | None = None,
) -> Selection:
    """Return the selection of a region that keeps so many launches, which last so long."""
    left_out = None
    if excluded is not None:
        share = excluded.share(total_duration_ns)
        left_out = LeftOut(excluded.launches, excluded.total_duration_ns, share)
    return Selection(region_filters(region), launches, of_launches, total_duration_ns, left_out)


# Which launches they keep.


def selected_parts(profile: Profile, region: Region) -> tuple[Part, ...]:
    """Return what to load for a region, in id order; names and durations are filtered after the reduction.

    Raises EmptySelectionError: the device, process, launch, range or time filter leaves nothing;
    NotApplicableError: the profile has no ranges, or no starts, to filter by.
    """
    left = list(range(len(profile.sequences)))
    for parameter, numbers, selection in (
        ("processes", [sequence.process for sequence in profile.sequences], region.processes),
        ("devices", [sequence.device for sequence in profile.sequences], region.devices),
    ):
        present = ", ".join(map(str, sorted({numbers[index] for index in left})))
        left = [index for index in left if not selection or is_among(numbers[index], selection)]
        if not left:
            texts = ",".join(map(str, as_written(selection)))
            raise nothing_left(parameter, texts, f"the numbers here are {present}")
    low, high = region.launches or (None, None)
    sequences, low, high = set(left), low or 0, profile.launches if high is None else high
    cut = (part.between(low, high) for part in profile.parts if part.sequence in sequences)
    parts = tuple(part for part in cut if part is not None)
    if not parts:
        ids = f"ids run from 0 to {profile.launches - 1} over the whole profile, before other filters"
        raise nothing_left("launches", format_window(region.launches), ids)
    if region.named_range is not None:
        parts = _within_ranges(profile, region.named_range, parts)
    if region.time_ns is not None:
        parts = _within_time(profile, region.time_ns, parts)
    return parts


def _within_ranges(profile: Profile, text: str, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Keep the launches that any range of this name holds; else of this path; else whose name contains it."""
    if profile.ranges is None or profile.lacks_ranges:
        raise NotApplicableError(
            Wording("`named_range` needs ranges, and a profile of the format {} has none", profile.format),
            remedy="give an nsys SQLite or folder export, a PyTorch profiler trace (Kineto), or rocprofv3's "
            "database or JSON",
        )
    runs, is_name = ranges_named(profile.ranges, text)
    first, stop = runs.ids(profile.first_ids)
    if PATH_SEPARATOR in text and not is_name:
        runs = profile.ranges.holding("")
        for forms in PATH_FORMS:
            paths, path = range_paths(runs, forms)
            on_path = np.isin(path, paths.matching(text))
            if on_path.any():
                first, stop = (edge[on_path] for edge in runs.ids(profile.first_ids))
                break
    if not len(first):
        names = ", ".join(map(repr, profile.range_names(_NAMES_SHOWN)))
        remedy = f"the first ranges here: {names}" if names else "there is no range in this profile"
        raise nothing_left("named_range", repr(text), remedy)
    # Ids of two sequences do not mix, so the runs of all may be looked at together.
    first.sort()
    stop.sort()

    def narrowed(part: Part) -> Part | None:
        """Return the launches of a part that lie in more runs than have ended before them."""
        ids = np.arange(part.first_id, part.stop_id)
        opened, closed = (np.searchsorted(edge, ids, side="right") for edge in (first, stop))
        return part.narrowed(opened > closed)

    left = tuple(narrowed_part for part in parts if (narrowed_part := narrowed(part)) is not None)
    if not left:
        remedy = Wording("leave out `devices`, `processes`, `launches` or the range")
        raise nothing_left("named_range", repr(text), remedy)
    return left


def _within_time(profile: Profile, time_ns: Window, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Keep the launches that start in a window of time."""
    if "start_ns" not in profile.columns:
        raise NotApplicableError(
            Wording("`time_ns` needs the start of every launch, and this profile does not have it"),
            remedy="give the recording itself, or a table with a column start_ns",
        )
    low, high = time_ns
    ranges_ns = clock_ranges(profile)
    items = [(part, ranges_ns[profile.clocks[part.sequence]][0]) for part in parts]
    parts_within = profile.map(partial(_started_within, low or 0, high), items)
    left = tuple(part for part in parts_within if part is not None)
    if not left:
        last_ns = max(last - first for first, last in ranges_ns.values())
        remedy = f"they start from 0 to {last_ns} ns, counted from the first launch of the whole profile"
        raise nothing_left("time_ns", format_window(time_ns), remedy)
    return left


def _started_within(low_ns: int, high_ns: int | None, item: tuple[Part, int]) -> Part | None:
    """Return the launches of a part that start in a window counted from some time."""
    part, origin_ns = item
    start_ns = part.load(("start_ns",))["start_ns"]
    mask = start_ns >= origin_ns + low_ns
    if high_ns is not None:
        mask &= start_ns < origin_ns + high_ns
    return part.narrowed(mask)


def clock_ranges(profile: Profile) -> dict[int, tuple[int, int]]:
    """Return the first and the last start of all launches of each clock, selected or not, nanoseconds."""
    ranges: dict[int, tuple[int, int]] = {}
    starts = profile.map(first_and_last_start, profile.parts)
    for part, (first, last) in zip(profile.parts, starts, strict=True):
        clock = profile.clocks[part.sequence]
        earliest, latest = ranges.get(clock, (first, last))
        ranges[clock] = min(first, earliest), max(last, latest)
    return ranges


def selected_sequences(profile: Profile, parts: Sequence[Part]) -> tuple[LaunchSequence, ...]:
    """Return the sequences that have selected launches, in id order."""
    return tuple(profile.sequences[index] for index in dict.fromkeys(part.sequence for part in parts))


def names_passing(profile: Profile, region: Region, present: BoolArray) -> BoolArray:
    """Return (names,) which of the names that launches selected so far have pass the region's name filters.

    Raises EmptySelectionError: a filter leaves none of them.
    """
    passing = present.copy()
    filters = [("include", region.include, True)] if region.include else []
    filters += [("exclude", (pattern,), False) for pattern in region.exclude]
    for parameter, patterns, is_included in filters:
        matching = profile.kernels.names.matching(partial(_finds_any, patterns))
        passing &= matching[: len(passing)] == is_included
        if not passing.any():
            remedy = "`kernelpoint groups` lists the kernel names"
            raise nothing_left(parameter, " ".join(map(repr, patterns)), remedy)
    return passing


def _finds_any(patterns: tuple[str, ...], name: str) -> bool:
    if patterns == (COMMUNICATION,):
        return is_communication(name)
    return any(re.search(pattern, name) for pattern in patterns)
