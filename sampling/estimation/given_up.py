"""Kernels that a simulator never runs: which are given up, and the total without them or by another kernel.

A kernel group, or one of its strata, is given up where three of its launches failed alike, nine in any way,
or all that there are, and none has a result: to draw others for these would simulate the whole program. A
kernel in a stratum of several is replaced by the others there, which is said of it too. (docs/methods.md, 11
Back from the simulator)

Taken as kernel g behaves, what lasts X ns adds r_g X, with r_h the cycles per ns of the other d + 1 groups:

    q = sum (r_h / mean r - 1)^2 / d;   k^2 = (4 K^2 + d q) / (4 + d)      K the declared kernel spread
    half-width: X sqrt((t_nu k r_g)^2 + w_g^2),  nu = (4 + d)/2            w_g that of r_g itself
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from msgspec import structs

from sampling.estimation.total import IntervalParts, PlanEstimate, compared_keys
from sampling.plan.design import WHOLE_WORKLOAD_KEY
from sampling.plan.plan_file import PlanFile, PlannedLaunch, PlannedStratum
from sampling.simulators.measured_run import CYCLES
from sampling.strata.satterthwaite import PRIOR_DF, student_t
from sampling.strata.strata import starting_spreads

#: So many launches of one kernel that fail alike say that the simulator never runs it
_MOST_FAILURES = 3
#: So many that fail each in its own way say it too
_MOST_OF_ANY_KIND = 9


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A kernel group, or a part of one, that the simulator never runs."""

    launch: PlannedLaunch  #: one of those that failed
    failed: tuple[int, ...]  #: their ids
    why: str  #: of the first
    share: float  #: of the time that the plan stands for; of a kernel among others, by the drawn launches
    #: the strata without a result, 0-based; none of a kernel whose stratum has others that stand for it
    strata: frozenset[int] = frozenset()


def kernels_given_up(
    plan: PlanFile, failures: Mapping[int, str], measured: Collection[int]
) -> tuple[GivenUp, ...]:
    """Return what is given up, the most time first.

    Parameters
    ----------
    failures : why, of each launch that failed, by its id.
    measured : the ids of launches with a result.
    """
    if not failures:
        return ()
    by_group: defaultdict[str, list[int]] = defaultdict(list)
    for place, stratum in enumerate(plan.strata):
        if not _spans_kernels(stratum):
            by_group[stratum.key].append(place)
    all_ns = max(sum(map(_time_ns, plan.strata)), 1e-300)
    groups: list[GivenUp] = []
    gone: set[int] = set()
    for places in (*by_group.values(), *([place] for place in range(len(plan.strata)))):
        strata = [plan.strata[place] for place in places]
        launches = [launch for stratum in strata for launch in stratum.launches]
        is_all = len(launches) == sum(stratum.size for stratum in strata) or not plan.is_random
        if gone.isdisjoint(places) and _never_runs(launches, failures, measured, is_all=is_all):
            gone.update(places)
            share = sum(map(_time_ns, strata)) / all_ns
            groups.append(_given_up(launches, failures, share, frozenset(places)))
    for place, stratum in enumerate(plan.strata):
        if _spans_kernels(stratum) and place not in gone:
            share = (
                _time_ns(stratum) / all_ns / max(sum(launch.duration_ns for launch in stratum.launches), 1)
            )
            for launches in _by_kernel(stratum):
                if _never_runs(launches, failures, measured, is_all=False):
                    lost_share = share * sum(launch.duration_ns for launch in launches)
                    groups.append(_given_up(launches, failures, lost_share))
    return tuple(sorted(groups, key=lambda group: -group.share))


def _by_kernel(stratum: PlannedStratum) -> Iterable[list[PlannedLaunch]]:
    kernels: defaultdict[tuple[object, ...], list[PlannedLaunch]] = defaultdict(list)
    for launch in stratum.launches:
        kernels[launch.name, launch.grid, launch.block].append(launch)
    return kernels.values()


def _spans_kernels(stratum: PlannedStratum) -> bool:
    return stratum.pooled or stratum.key == WHOLE_WORKLOAD_KEY


def _time_ns(stratum: PlannedStratum) -> float:
    return stratum.size * stratum.mean_ns


def _never_runs(
    launches: Sequence[PlannedLaunch], failures: Mapping[int, str], measured: Collection[int], *, is_all: bool
) -> bool:
    """Return whether none has a result and enough of them failed alike; `is_all`: no others can be drawn."""
    reasons = [failures[launch.id] for launch in launches if launch.id in failures]
    if not reasons or any(launch.id in measured for launch in launches):
        return False
    # What a simulator prints last may tell the launch's own numbers.
    most_frequent = max(Counter(reason.partition(":")[0] for reason in reasons).values())
    is_hopeless = most_frequent >= _MOST_FAILURES or len(reasons) >= _MOST_OF_ANY_KIND
    return is_hopeless or (is_all and len(reasons) == len(launches))


def _given_up(
    launches: Sequence[PlannedLaunch],
    failures: Mapping[int, str],
    share: float,
    strata: frozenset[int] = frozenset(),
) -> GivenUp:
    failed = [launch for launch in launches if launch.id in failures]
    ids = tuple(launch.id for launch in failed)
    return GivenUp(failed[0], ids, failures[ids[0]], share, strata)


def without(plan: PlanFile, given_up: Sequence[GivenUp]) -> PlanFile:
    """Return the plan of the strata that are not given up, of their launches and time alone."""
    gone = frozenset().union(*(group.strata for group in given_up))
    if not gone:
        return plan
    lost = [plan.strata[place] for place in gone]
    profile = structs.replace(
        plan.profile,
        launches=plan.profile.launches - sum(stratum.size for stratum in lost),
        total_duration_ns=max(0, plan.profile.total_duration_ns - round(sum(map(_time_ns, lost)))),
    )
    strata = tuple(stratum for place, stratum in enumerate(plan.strata) if place not in gone)
    return structs.replace(plan, strata=strata, profile=profile)


def estimate_rest(
    estimate: PlanEstimate, plan: PlanFile, given_up: Sequence[GivenUp], like: str | None
) -> PlanEstimate:
    """Return the estimate of a plan's other strata as one of a part of its time, or of the whole plan.

    Parameters
    ----------
    estimate : of the plan `without` what is given up.
    like : the kernel group whose cycles per ns what is given up is taken to have, by its key; None: nothing
        is taken, and the totals are of the others' time.
    """
    gone = frozenset().union(*(group.strata for group in given_up))
    if not gone:
        return estimate
    part = 1 - sum(group.share for group in given_up if group.strata)
    totals = tuple(
        replace(total, share_missing=1 - part * (1 - total.share_missing)) for total in estimate.totals
    )
    estimate, lost_ns = replace(estimate, totals=totals), sum(_time_ns(plan.strata[place]) for place in gone)
    time_ns: defaultdict[str, float] = defaultdict(float)
    for key, stratum in zip(compared_keys(estimate.plan), estimate.plan.strata, strict=True):
        time_ns[key] += _time_ns(stratum)
    groups = {key: total for key, total in estimate.groups if time_ns[key] > 0}
    main, behaves = estimate.main, groups.get(like or "")
    if behaves is None or main.metric != CYCLES or main.is_incomplete or not main.total:
        return estimate
    per_ns = np.array([total.total / time_ns[key] for key, total in groups.items()])
    lasts = lost_ns / time_ns[like or ""]
    squares, df = float(((per_ns / per_ns.mean() - 1) ** 2).sum()), len(per_ns) - 1
    declared = PRIOR_DF * starting_spreads(plan.options.target)[1] ** 2
    spread = math.sqrt((declared + squares) / (PRIOR_DF + df))
    quantile = float(student_t(main.confidence, (PRIOR_DF + df) / 2))
    assumed = math.hypot(quantile * spread * lasts * behaves.total, lasts * (behaves.half_width or 0.0))
    total, before = main.total + lasts * behaves.total, main.half_width or 0.0
    # Every result is looked at, so the interval is no narrower than what is waited for.
    half_width = max(math.hypot(before, assumed), (plan.topped_up_to or 0.0) * total)
    parts = estimate.parts or IntervalParts(before / main.total, 0.0, 0.0, 0.0, assumed=0.0)
    widths = (*structs.astuple(parts)[:-1], assumed / main.total)
    low, high = max(0.0, total - half_width), total + half_width
    main_total = replace(main, total=total, low=low, high=high, share_missing=0.0)
    return replace(
        estimate,
        totals=tuple(main_total if total is main else total for total in totals),
        parts=IntervalParts(*((width or 0.0) * main.total / total for width in widths)),
    )
