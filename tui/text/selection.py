"""Which launches results are of, where filters leave some out: in words, and as an object for scripts."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sampling.plan.plan_file import PlanFile
from sampling.plan.study import Study
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.region import LeftOut, Region, as_given
from sampling.text import counted
from tui.charts import quantities
from tui.output.writer import Answer


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a profile that a region keeps.

    Attributes
    ----------
    launches, total_duration_ns : what it keeps.
    of_launches : the launches of the whole profile; None where that is not known.
    left_out : what the least duration leaves out; None where the region sets none, or it is not known.
    """

    region: Region
    launches: int
    total_duration_ns: int
    of_launches: int | None
    left_out: LeftOut | None = None

    @property
    def is_whole(self) -> bool:
        """Whether no filter is set."""
        return self.region == Region()


def part_of(profile: Profile, counts: DurationCounts) -> Part:
    """Return the part of a profile that a reduction counts."""
    return Part(counts.region, counts.launches, counts.total_duration_ns, profile.launches, counts.left_out)


def part_of_study(study: Study) -> Part:
    """Return the part of a profile that a study is of."""
    return part_of(study.profile, study.counts)


def part_of_plan(plan: PlanFile) -> Part:
    """Return the part of its own profile that a plan is of."""
    whole = sum(each.launches for each in plan.profile.sequences)
    return Part(
        plan.options.region, plan.launches, plan.total_duration_ns, whole, plan.profile.left_out or None
    )


def stated(answer: Answer, part: Part | Mapping[str, Part]) -> Answer:
    """Return the answer with what it is of; as it is where no filter is set.

    Parameters
    ----------
    part : of one profile; or by name, where the answer is of several.
    """
    if isinstance(part, Part):
        if part.is_whole:
            return answer
        return replace(answer, selection=selection_row(part), heading=heading_lines(part))
    parts = {name: each for name, each in part.items() if not each.is_whole}
    if not parts:
        return answer
    return replace(
        answer,
        selection={name: selection_row(each) for name, each in parts.items()},
        heading=tuple(selection_line(each, f" of {name}") for name, each in parts.items()),
    )


def heading_lines(part: Part) -> tuple[str, ...]:
    """Return the lines that stand above results; none where they are of all launches."""
    return () if part.is_whole else (selection_line(part),)


def selection_row(part: Part) -> dict[str, Any]:
    """Return the filters that are set, what they keep, and what is left out for being short."""
    left_out = part.left_out
    return {
        "filters": dict(_filters(part.region)),
        "launches": part.launches,
        "of_launches": part.of_launches,
        "total_duration_ns": part.total_duration_ns,
        "left_out": None
        if left_out is None
        else {
            "launches": left_out.launches,
            "total_duration_ns": left_out.total_duration_ns,
            "share": left_out.share_of(part.total_duration_ns),
        },
    }


def selection_line(part: Part, of_what: str = "") -> str:
    """Return the same in a sentence."""
    kept = quantities.count(part.launches)
    launches = (
        counted(part.launches, "launch", "launches")
        if part.of_launches is None
        else f"{kept} of {counted(part.of_launches, 'launch', 'launches')}"
    )
    line = f"Selection{of_what}: {launches}, by {filter_words(part.region)}"
    return f"{line}{left_out_words(part)}"


def left_out_words(part: Part) -> str:
    """Return how much is left out for being short, in brackets; "" where nothing could be."""
    if part.left_out is None:
        return ""
    launches = counted(part.left_out.launches, "launch", "launches")
    share = quantities.share(part.left_out.share_of(part.total_duration_ns))
    return f" (leaves out {launches}, {share} of the time)"


def filter_words(region: Region) -> str:
    """Return the filters that are set, as they are typed."""
    return " ".join(
        f"{flag} {shlex.quote(str(value))}"
        for name, given in _filters(region)
        for flag in [_FLAGS[name]]
        for value in (given if isinstance(given, list) else [given])
    )


_FLAGS = {
    "device": "--device",
    "process": "--process",
    "include": "--include",
    "exclude": "--exclude",
    "launches": "--launches",
    "time": "--time",
    "range": "--range",
    "min_duration_ns": "--min-duration",
}


def _filters(region: Region) -> list[tuple[str, Any]]:
    """Return the filters that are set, by their options' names."""
    every = (
        ("device", list(region.devices)),
        ("process", list(region.processes)),
        ("include", list(region.include)),
        ("exclude", list(region.exclude)),
        ("launches", None if region.launches is None else as_given(region.launches)),
        ("time", None if region.time_ns is None else as_given(region.time_ns)),
        ("range", region.named_range),
        ("min_duration_ns", region.min_duration_ns),
    )
    return [(name, value) for name, value in every if value is not None and value != []]
