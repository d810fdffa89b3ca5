"""From the options of `ranges` to the engine."""

from __future__ import annotations

from dataclasses import dataclass

from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.reduction.range_list import RangeList, list_ranges
from sampling.reduction.region import Region
from tui.engine.studies import columns_of, note_what_is_read, open_profile, region_of
from tui.options.ranges import RangesOptions


@dataclass(frozen=True, slots=True)
class FoundRanges:
    """The ranges of a region of a profile."""

    profile: Profile
    region: Region
    listed: RangeList


def found_ranges(options: RangesOptions, progress: Progress) -> FoundRanges:
    """Read the workload and list its ranges.

    Raises
    ------
    OptionError : a filter is wrong.
    """
    region = region_of(options)
    profile = open_profile(options.profiles, progress, columns_of(options))
    note_what_is_read(profile, quiet=options.quiet)
    return FoundRanges(profile, region, list_ranges(profile, region, progress))
