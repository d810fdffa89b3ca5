"""What binds a plan: the speedup that each option alone would give if it were relaxed one step.

(docs/methods.md, 6 Drawing and judging)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sampling.errors import OverrideError
from sampling.methods.joint import POOL_BELOW
from sampling.methods.registry import method_named, splits_groups
from sampling.parallel import Progress
from sampling.plan.design import make_design, speedup_of
from sampling.plan.study import MethodChoice, Study, method_grouping
from sampling.reduction import GroupBy
from sampling.reduction.duration_counts import DurationCounts, count_durations, counts_by_name
from sampling.reduction.grouping import Grouping
from sampling.strata.sizes import least_sampled_ns
from sampling.strata.target import Target

#: A relaxation is told of where it raises the speedup by more than this fraction.
WORTH_TELLING = 0.05
NO_BOUND = "none"

# The method whose plan is shown beside a plan of another one that draws at random.
_PUBLISHED = "root"

Value = float | int | str


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One option relaxed one step, all others as they are: its values as typed, and the speedups expected."""

    option: str
    before: Value
    after: Value
    speedup_before: float
    speedup: float


class _Step(NamedTuple):
    """What is to be planned anew for a relaxation."""

    option: str
    before: Value
    after: Value
    target: Target
    method: str
    by: GroupBy


def what_binds(
    studied: Study, target: Target, by: GroupBy, progress: Progress | None = None
) -> tuple[Relaxation, ...]:
    """Return the options that make a plan dear: those whose relaxation raises its speedup by more than 5 %.

    Every relaxation is a plan of its own, none is drawn. One that cannot raise the speedup by so much is not
    planned, and neither is one in whose trees a decision of the user's fits no node.

    Parameters
    ----------
    target, by : what was asked of the plan and for its kernel groups, `published` included.

    Returns
    -------
    the largest speedup first; empty for a method that looks at single launches: it is not planned anew.
    """
    before = studied.speedup
    if before is None or not method_named(studied.choice.method).draws_at_random:
        return ()
    reductions = {studied.counts.grouping: studied.counts}
    steps = list(_steps(target, studied.choice.method, by))
    found = []
    for done, step in enumerate(steps):
        if progress is not None:
            progress(done, len(steps), f"a plan with another {step.option}")
        pool_devices = studied.counts.grouping.pool_devices
        grouping = method_grouping(step.method, step.by, pool_devices=pool_devices)
        if grouping not in reductions and studied.counts.cost is not None and studied.counts.cost.decides:
            # What launches cost is known by the plan's own kernel groups.
            continue
        counts = _reduced(studied, grouping, reductions)
        if _most_speedup(counts, step) <= before * (1 + WORTH_TELLING):
            continue
        speedup = _planned_speedup(counts, step, studied.choice)
        if speedup is not None and speedup > before * (1 + WORTH_TELLING):
            found.append(Relaxation(step.option, step.before, step.after, before, speedup))
    return tuple(sorted(found, key=lambda each: -each.speedup))


def _steps(target: Target, method: str, by: GroupBy) -> Iterator[_Step]:
    """Yield each option that the plan looks at and that is not as loose as it can be, one step looser."""
    looked_at = method_named(method).target_fields

    def looser(field: str, after: Any) -> _Step:
        before, named = getattr(target, field), NO_BOUND if after is None else after
        return _Step(field, before, named, replace(target, **{field: after}), method, by)

    if "min_samples" in looked_at and target.min_samples > 1:
        yield looser("min_samples", 1)
    if "group_epsilon" in looked_at and target.group_epsilon is not None:
        yield looser("group_epsilon", None)
    if "noise_floor" in looked_at and target.noise_floor > 0:
        yield looser("noise_floor", target.noise_floor / 2)
    if "kernel_spread" in looked_at and target.pool and target.kernel_spread > 0:
        yield looser("kernel_spread", target.kernel_spread / 2)
    if "pool" in looked_at and not target.pool:
        yield _Step("no_pool", True, False, replace(target, pool=True), method, by)
    if 2 * target.epsilon < 1:
        yield looser("epsilon", 2 * target.epsilon)
    if method_grouping(method, by).by is GroupBy.LAUNCH:
        yield _Step("group_by", by.value, GroupBy.NAME.value, target, method, GroupBy.NAME)
    if method != _PUBLISHED and splits_groups(method):
        yield _Step("method", method, _PUBLISHED, target, _PUBLISHED, by)


def _reduced(
    studied: Study, grouping: Grouping, reductions: dict[Grouping, DurationCounts]
) -> DurationCounts:
    """Return the launches of the plan by other kernel groups; the profile is read again only if needed."""
    counts = studied.counts
    if grouping not in reductions:
        if counts.grouping == Grouping(GroupBy.LAUNCH) and grouping == Grouping(GroupBy.NAME):
            reductions[grouping] = counts_by_name(studied.profile, counts)
        else:
            reductions[grouping] = count_durations(
                studied.profile, grouping, counts.region, selected=counts.selected
            )
    return reductions[grouping]


def _most_speedup(counts: DurationCounts, step: _Step) -> float:
    """Return what the speedup cannot exceed: every kernel group not in a pool has its least samples at least.

    Only a method that looks at the least number of samples keeps to it, and it is of time alone.
    """
    by_cost = counts.cost is not None and counts.cost.decides
    if by_cost or "min_samples" not in method_named(step.method).target_fields:
        return float("inf")
    may_be_pooled = counts.group_duration_ns < POOL_BELOW * counts.total_duration_ns
    may_be_pooled &= step.target.pool
    least_ns = least_sampled_ns(counts, step.target.min_samples)[~may_be_pooled].sum()
    most = speedup_of(counts.total_duration_ns, float(least_ns))
    return float("inf") if most is None else most


def _planned_speedup(counts: DurationCounts, step: _Step, choice: MethodChoice) -> float | None:
    try:
        return make_design(
            counts,
            step.method,
            step.target,
            choice.seed,
            settings=choice.settings,
            overrides=choice.overrides,
        ).speedup
    except OverrideError:
        # The relaxed plan has other kernel groups or trees: with these decisions it cannot be made.
        return None
