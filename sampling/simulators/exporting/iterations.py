"""How often a drawn launch's kernel was launched before it, in whatever grid and block.

A plan counts the launches of each size of a kernel by itself (``occurrence``). Where a kernel has several
sizes only the profile knows how they follow each other.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from sampling.methods.registry import method_named
from sampling.plan.other_recording.plan_judgement import find_original
from sampling.plan.plan_file import PlanFile
from sampling.profile.profile import Profile
from sampling.reduction.grouping import Grouping, group_key
from sampling.reduction.region import Region


def iterations(plan: PlanFile) -> tuple[dict[int, int], str]:
    """Return which launch of its kernel each drawn one is in its process and device, from 1, by its id.

    It is read from the profile that the plan was made from, if that is still there. Else a launch has one
    only if its kernel has a single size, which a plan by launch of a whole profile tells.

    Returns
    -------
    the numbers, and why some are not known; "" where all are.
    """
    known = _of_single_sizes(plan)
    if len(known) == len(plan.drawn):
        return known, ""
    original = find_original(plan)
    if original.profile is not None:
        return _counted(plan, original.profile), ""
    return known, str(original.why_not)


def _of_single_sizes(plan: PlanFile) -> dict[int, int]:
    grouping, region = plan.selection()
    is_whole = method_named(str(plan.options["method"])).draws_at_random and region == Region()
    drawn = [(stratum.key, launch) for stratum in plan.strata for launch in stratum.launches]
    # Each stratum is of one kernel in one size, so that every size is among the drawn launches.
    if not (is_whole and grouping.needs_shape) or any(
        key
        != group_key(each.name, grouping, each.grid, each.block, *_place(grouping, each.process, each.device))
        for key, each in drawn
    ):
        return {}
    sizes: defaultdict[str, set[object]] = defaultdict(set)
    for _, launch in drawn:
        sizes[launch.name].add((launch.grid, launch.block))
    return {launch.id: launch.occurrence + 1 for _, launch in drawn if len(sizes[launch.name]) == 1}


def _place(grouping: Grouping, process: int, device: int) -> tuple[int | None, int | None]:
    return (None, None) if grouping.pool_devices else (process, device)


def _counted(plan: PlanFile, profile: Profile) -> dict[int, int]:
    """Count the launches of each drawn launch's kernel up to it, in one pass over the profile."""
    drawn = plan.drawn
    ids = np.array([launch.id for launch in drawn], dtype=np.int64)
    before = np.zeros(len(profile.kernels.names), dtype=np.int64)
    found: dict[int, int] = {}
    sequence = -1
    for span in profile.spans:
        if span.sequence != sequence:
            sequence = span.sequence
            before[:] = 0
        first_id = profile.sequences[sequence].first_id + span.first_ordinal
        names = profile.read(span, ("name",))["name"]
        start, stop = np.searchsorted(ids, [first_id, first_id + span.launches])
        done = 0
        for launch_id in ids[start:stop].tolist():
            place = launch_id - first_id
            before += np.bincount(names[done : place + 1], minlength=len(before))
            done = place + 1
            found[launch_id] = int(before[names[place]])
        before += np.bincount(names[done:], minlength=len(before))
    return found
