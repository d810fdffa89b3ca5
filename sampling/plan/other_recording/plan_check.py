"""A plan file held against a profile: is it that profile's plan, and what is its error there?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import AnalysisError, OptionError, PlanFileError
from sampling.methods.registry import method_named
from sampling.plan.design import WHOLE_WORKLOAD_KEY, Design
from sampling.plan.other_recording.kernel_texts import Kernel, kernel_texts, shortened_name
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.profile.file_state import sha256_as_read
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.plan_groups import PlanGroups, is_pool_key, pooled, unpooled
from sampling.strata.strata import (
    WHOLE_WORKLOAD,
    Clusters,
    CycleSpread,
    cycle_spread,
    declared_spread,
    measured_clusters,
)
from sampling.strata.target import Target
from sampling.text import Wording


@dataclass(frozen=True, slots=True)
class PlanError:
    """The plan's own draw on a profile: estimate, total, and |t* - t_est| / t*.

    Raises
    ------
    AnalysisError : the total is 0, so that there is nothing to judge.
    """

    estimate_ns: float
    total_ns: int

    def __post_init__(self) -> None:
        if self.total_ns == 0:
            raise AnalysisError(
                "all launches last 0 ns here, so there is nothing to judge",
                remedy="give a recording whose clock shows how long launches take",
            )

    @property
    def error(self) -> float:
        """The sampling error."""
        return abs(self.total_ns - self.estimate_ns) / self.total_ns


def made_from(profile: Profile, plan: PlanFile) -> bool:
    """Return whether the profile's files are, byte for byte, those the plan was made from."""
    return _hashes(profile) == [file.get("sha256") for file in plan.files]


def refuse_other_order(profile: Profile, plan: PlanFile) -> None:
    """Refuse the plan's own files in another order: ids run through the files, so none would be its launch.

    Raises
    ------
    AnalysisError : they are; says in which order they are meant.
    """
    if len(plan.files) < 2 or len(plan.files) != len(profile.files):
        return
    there, here = [str(file.get("sha256")) for file in plan.files], _hashes(profile)
    if here == there or Counter(here) != Counter(there):
        return
    paths: dict[str, list[str]] = {}
    for sha256, file in zip(here, profile.files, strict=True):
        paths.setdefault(sha256, []).append(file.path)
    meant = [paths[sha256].pop(0) for sha256 in there]
    raise AnalysisError(
        "the files are those that the plan was made from, in another order",
        remedy=f"give them as {' '.join(meant)}",
    )


def _hashes(profile: Profile) -> list[str]:
    return [sha256_as_read(file) for file in profile.files]


def plan_error(
    profile: Profile, counts: DurationCounts, plan: PlanFile, *, names_may_differ: bool = False
) -> PlanError:
    """Return the error of the plan's own launches and weights on this profile.

    Parameters
    ----------
    names_may_differ : take the launches of the plan's ids, whatever name, grid and block they have here.

    Raises
    ------
    AnalysisError : the profile's launches are not those of the plan; names the first that differs.
    """
    if counts.launches != plan.launches:
        raise AnalysisError(
            f"the plan stands for {plan.launches:,} launches, this profile has {counts.launches:,}",
            remedy="give the profile the plan was made from",
        )
    drawn = plan.drawn
    duration_ns = drawn_durations_ns(profile, plan, names_may_differ=names_may_differ)
    changed = [
        launch for launch, ns in zip(drawn, duration_ns.tolist(), strict=True) if ns != launch.duration_ns
    ]
    if changed and counts.total_duration_ns == plan.total_duration_ns:
        raise AnalysisError(
            f"launch {changed[0].id} does not last {changed[0].duration_ns} ns here, as the plan says",
            remedy="make the plan again",
        )
    return PlanError(estimate_ns(plan, duration_ns), counts.total_duration_ns)


def estimate_ns(plan: PlanFile, duration_ns: IntArray) -> float:
    """Return the total that the plan estimates from (n,) durations of its drawn launches, in id order."""
    return float(np.dot(np.array([launch.weight for launch in plan.drawn]), duration_ns))


def drawn_durations_ns(profile: Profile, plan: PlanFile, *, names_may_differ: bool = False) -> IntArray:
    """Return (n,) how long the plan's drawn launches last in this profile, in id order.

    Raises
    ------
    AnalysisError : one of them is not there, or is another kernel.
    """
    drawn = plan.drawn
    ids = np.array([launch.id for launch in drawn], dtype=np.int64)
    if ids[-1] >= profile.launches:
        raise AnalysisError(
            f"launch {ids[-1]} of the plan is not in this profile, whose ids end at {profile.launches - 1}",
            remedy="give the profile the plan was made from",
        )
    signature, duration_ns = _read_launches(profile, ids)
    if not names_may_differ:
        kernels = {code: _kernel(profile, code) for code in np.unique(signature).tolist()}
        for launch, code in zip(drawn, signature.tolist(), strict=True):
            _same_kernel(launch, kernels[code])
    return duration_ns


def _kernel(profile: Profile, code: int) -> Kernel:
    signature = profile.kernels.signature(code)
    return Kernel(profile.kernels.names.full(signature.name), signature.grid, signature.block)


def _same_kernel(launch: PlannedLaunch, here: Kernel) -> None:
    planned = Kernel(launch.name, launch.grid, launch.block)
    if here != planned:
        shown_here, shown_planned = kernel_texts(here, planned)
        raise AnalysisError(
            f"launch {launch.id} is {shown_here} in this profile, {shown_planned} in the plan",
            remedy="give the profile the plan was made from",
        )


def _read_launches(profile: Profile, ids: IntArray) -> tuple[IntArray, IntArray]:
    """Return signature code and duration of each id; ids ascending."""
    signature = np.zeros(len(ids), dtype=np.int64)
    duration_ns = np.zeros(len(ids), dtype=np.int64)
    for part in profile.parts:
        start, stop = np.searchsorted(ids, [part.first_id, part.stop_id])
        if start == stop:
            continue
        batch = part.load(("signature", "duration_ns"))
        rows = ids[start:stop] - part.first_id
        signature[start:stop] = batch["signature"][rows]
        duration_ns[start:stop] = batch["duration_ns"][rows]
    return signature, duration_ns


def planned_design(counts: DurationCounts, plan: PlanFile) -> Design:
    """Return the plan's strata found again in the reduction of its profile, so that it can be drawn again.

    Raises
    ------
    AnalysisError : a stratum is not there, or holds another number of launches.
    """
    groups = _groups_of(plan, counts)
    counts = groups.counts
    index_of_key = {group.key: index for index, group in enumerate(counts.groups)}
    index_of_key[WHOLE_WORKLOAD_KEY] = WHOLE_WORKLOAD
    absent = next((stratum.key for stratum in plan.strata if stratum.key not in index_of_key), None)
    if absent is not None:
        raise AnalysisError(
            f"this profile has no kernel group {shortened_name(absent)!r}",
            remedy="give the profile the plan was made from",
        )
    group_of, low_ns, high_ns = np.array(
        [(index_of_key[stratum.key], stratum.low_ns, stratum.high_ns) for stratum in plan.strata],
        dtype=np.int64,
    ).T
    whole = group_of == WHOLE_WORKLOAD
    first, last = counts.offsets[group_of], counts.offsets[group_of + 1]
    start_of = np.where(whole, 0, _first_at_least(low_ns, counts.duration_ns, first, last))
    stop_of = np.where(
        whole, len(counts.count), _first_at_least(high_ns + 1, counts.duration_ns, first, last)
    )
    sizes = counts.launches_before[stop_of] - counts.launches_before[start_of]
    for stratum, size in zip(plan.strata, sizes.tolist(), strict=True):
        if size != stratum.size:
            raise AnalysisError(
                f"stratum {stratum.low_ns}..{stratum.high_ns} ns of {shortened_name(stratum.key)!r} has "
                f"{size:,} launches here, {stratum.size:,} in the plan",
                remedy="give the profile the plan was made from",
            )
    design = _design(plan, measured_clusters(counts, group_of, start_of, stop_of))
    return replace(
        design,
        groups=groups,
        strata=replace(design.strata, groups=groups if groups.is_pool.any() else None),
        cycles=declared_spread(groups, design.target) if "noise_floor" in plan.options else None,
    )


def _groups_of(plan: PlanFile, counts: DurationCounts) -> PlanGroups:
    """Return the groups of a plan: where it has a pool, all kernel groups that it does not name are in it."""
    keys = {stratum.key for stratum in plan.strata}
    if not any(map(is_pool_key, keys)):
        return unpooled(counts)
    return pooled(counts, np.array([group.key not in keys for group in counts.groups]))


def _first_at_least(wanted: IntArray, values: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """Return (s,) the first place of a value that is at least ``wanted``, in each run ``first:last``.

    Values ascend within a run; where all are smaller, it is where the run ends. All runs are halved at once.
    """
    low, high = first, last
    while (low < high).any():
        middle = (low + high) // 2
        below = (low < high) & (values[np.minimum(middle, len(values) - 1)] < wanted)
        low, high = np.where(below, middle + 1, low), np.where(below, high, np.minimum(middle, high))
    return low


def recorded_design(plan: PlanFile) -> Design | None:
    """Return the plan's strata by the figures its file gives of them: enough for its bounds, not to draw.

    None for a plan whose launches were picked, not drawn at random: no bound exists.

    Raises
    ------
    PlanFileError : its options name no method, or a value is out of its range.
    """
    if not is_random(plan):
        return None
    groups: dict[str, int] = {WHOLE_WORKLOAD_KEY: WHOLE_WORKLOAD}
    group = [groups.setdefault(stratum.key, len(groups) - 1) for stratum in plan.strata]
    nowhere = np.zeros(len(group), dtype=np.int64)
    clusters = Clusters(
        group=np.array(group, dtype=np.int64),
        start=nowhere,
        stop=nowhere,
        launches=np.array([stratum.size for stratum in plan.strata], dtype=np.int64),
        mean_ns=np.array([stratum.mean_ns for stratum in plan.strata]),
        std_ns=np.array([stratum.std_ns for stratum in plan.strata]),
    )
    design = _design(plan, clusters)
    if "noise_floor" not in plan.options:
        return design
    return replace(design, cycles=_recorded_spread(plan, clusters, design.target))


def _recorded_spread(plan: PlanFile, clusters: Clusters, target: Target) -> CycleSpread:
    """Return what was declared, as `declared_spread` does.

    The file does not tell the kernels of strata that span them. Those in a pool are taken as very small, and
    all others as one: then the bound is never too small.
    """
    spans = np.array([stratum.pooled or stratum.key == WHOLE_WORKLOAD_KEY for stratum in plan.strata])
    pool = np.array([is_pool_key(stratum.key) for stratum in plan.strata])
    # One group more, for the kernels of strata that span more than small ones.
    groups = int(clusters.group.max()) + 2
    is_pool = np.ones(groups, dtype=np.bool_)
    is_pool[clusters.group[~spans]] = False
    time_ns = clusters.launches * clusters.mean_ns
    held_by = np.where(spans, groups - 1, clusters.group)[~pool]
    share = np.bincount(held_by, time_ns[~pool], minlength=groups) / max(time_ns.sum(), 1)
    return cycle_spread(target, share, np.arange(groups), is_pool)


def is_random(plan: PlanFile) -> bool:
    """Return whether the plan's launches were drawn from ranges of durations, so that it can be drawn again.

    Raises
    ------
    PlanFileError : there is no method of the name its options give.
    """
    try:
        return method_named(plan.options["method"]).draws_at_random
    except OptionError as error:
        raise PlanFileError(Wording("a plan with bad options ({})", error.text), path=plan.path) from error


def _design(plan: PlanFile, clusters: Clusters) -> Design:
    target = plan.target()
    samples = np.array([stratum.samples for stratum in plan.strata], dtype=np.int64)
    if (samples > clusters.launches).any():
        raise PlanFileError("a plan that draws more launches than a stratum has", path=plan.path)
    strata = replace(clusters.with_samples(samples), least_samples=plan.options.get("min_samples", 1))
    return Design(plan.options["method"], target, strata)
