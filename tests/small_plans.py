"""Plans of a few launches, written by hand; and what tests ask of plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sampling.plan.draft import draft_plan
from sampling.plan.plan import drawn_plan, find_planned_launches, plan_document
from sampling.plan.plan_file import (
    PlanFile,
    PlannedLaunch,
    PlannedProfile,
    PlannedStratum,
    read_plan,
)
from sampling.plan.request import PlanRequest
from sampling.profile.identity import SequenceFingerprint
from sampling.profile.profile import Profile
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region, as_written, format_window
from sampling.splitting.tree import Overrides
from sampling.strata.target import Target

Launch = tuple[int, str, tuple[int, int, int] | None]
BLOCK = (32, 8, 1)

#: Two samples a stratum, every kernel group on its own: a bound for each and one for all.
UNPOOLED = Target(pool=False, kernel_spread=0.0, min_samples=2)
#: What ROOT promises, asked of joint.
LIKE_ROOT = replace(UNPOOLED, group_epsilon=0.05, min_samples=1, noise_floor=0.0)


def request_of(
    method: str = "joint",
    grouping: Grouping | None = None,
    region: Region | None = None,
    target: Target | None = None,
    **others: Any,
) -> PlanRequest:
    """What asks for a plan of these, as the engine's own types have them; by default of groups by launch."""
    grouping, region = grouping or Grouping(), region or Region()
    return PlanRequest(
        method=method,
        group_by=grouping.by,
        pool_devices=grouping.pool_devices is True,
        each_rank=grouping.pool_devices is False,
        device=as_written(region.devices),
        process=as_written(region.processes),
        include=region.include,
        exclude=region.exclude,
        launches=format_window(region.launches) if region.launches else None,
        time=format_window(region.time_ns) if region.time_ns else None,
        range=region.named_range,
        min_duration=region.min_duration_ns,
        **(asdict(target or Target()) | others),
    )


def options_of(method: str = "root", **options: Any) -> PlanRequest:
    """What a plan of a method records, by default of a whole profile."""
    return PlanRequest(method=method, **options)


def stratum(
    key: str, size: int, mean_ns: float, std_ns: float, launches: Sequence[PlannedLaunch]
) -> PlannedStratum:
    """A stratum of launches of any duration."""
    drawn = tuple(launches)
    return PlannedStratum(
        key=key,
        size=size,
        mean_ns=mean_ns,
        std_ns=std_ns,
        low_ns=0,
        high_ns=10**6,
        samples=len(drawn),
        launches=drawn,
    )


def plan_of_strata(
    strata: Sequence[PlannedStratum],
    options: PlanRequest,
    *,
    total_duration_ns: int = 1,
    sequences: Sequence[SequenceFingerprint] = (),
) -> PlanFile:
    """A plan of these strata, whose profile is nowhere."""
    launches = sum(each.size for each in strata)
    return PlanFile(
        path="plan.json",
        profile=PlannedProfile(
            files=(), launches=launches, total_duration_ns=total_duration_ns, sequences=tuple(sequences)
        ),
        options=options,
        findings=(),
        strata=tuple(strata),
        overrides=(),
    )


def plan_of(
    launches: Sequence[Launch], *, whole: int | None = None, process: int = 7, first_id: int = 0
) -> PlanFile:
    """A plan that draws launches: their ids, names and grids; the block is 32x8x1.

    ``whole`` is how many launches the profile has, ``first_id`` the id of the process's first launch.
    """
    drawn = [
        PlannedLaunch(number, process, 0, number - first_id, name, grid, grid and BLOCK, 0, 1.0, 100)
        for number, name, grid in launches
    ]
    drawn_of = stratum("k", len(drawn), 100.0, 0.0, drawn)
    sequences = () if whole is None else (SequenceFingerprint(process, 0, whole, 16 * "0"),)
    return plan_of_strata([drawn_of], options_of(), total_duration_ns=100 * len(drawn), sequences=sequences)


def plan_of_profile(
    profile: Profile,
    path: Path,
    method: str = "root",
    grouping: Grouping | None = None,
    region: Region | None = None,
    *,
    target: Target | None = None,
    seed: int = 2,
    overrides: Overrides | None = None,
    **others: Any,
) -> PlanFile:
    """Make a plan of a profile, write it, and read it back."""
    made = draft_plan(profile, request_of(method, grouping, region, target, seed=seed, **others), overrides)
    plan = drawn_plan(made.counts, made.design, seed)
    path.write_text(plan_document(made, plan, find_planned_launches(made, plan)).text(), encoding="utf-8")
    return read_plan(str(path))
