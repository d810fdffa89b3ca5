"""Which launches results are of, where filters leave some out."""

from __future__ import annotations

from sampling.profile.profile import Profile
from sampling.record import Fraction, Index, Nanoseconds, Record
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.region import Excluded, Region, as_written, format_window

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


def counts_selection(profile: Profile, counts: DurationCounts) -> Selection:
    """Return the selection of the launches that a reduction of a profile counts."""
    kept = counts.launches, counts.total_duration_ns
    return region_selection(counts.region, *kept, profile.launches, counts.left_out)
