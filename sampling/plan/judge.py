"""What a plan is worth: the errors of drawing its design again and again, and of its own launches.

A plan's strata are sets of launches of the recording it was made from. Its own error on another recording of
the program needs the order of launches alone; to draw it again takes the first recording too, which says
what a stratum holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import AnalysisError, ProfileError
from sampling.methods.registry import method_named
from sampling.parallel import Progress, Stream, generator, ordered_map
from sampling.plan.design import WHOLE_WORKLOAD_KEY, BernoulliDesign, Design, speedup_of
from sampling.plan.drawn_launches import pair_finder
from sampling.plan.other_recording import (
    Alignment,
    Original,
    align,
    drawn_durations_ns,
    find_original,
    made_from,
    refuse_other_order,
)
from sampling.plan.plan_file import PlanFile
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts, count_durations, counted_launches
from sampling.reduction.plan_groups import PlanGroups, is_pool_key, pooled, unpooled
from sampling.reduction.region import names_passing
from sampling.strata.draw import errors_of_draws
from sampling.strata.strata import (
    WHOLE_WORKLOAD,
    Clusters,
    CycleSpread,
    cycle_spread,
    declared_spread,
    measured_clusters,
)
from sampling.text import shortened

_NOT_RANDOM = "its launches were not drawn at random"
_BY_FEATURES = "its clusters are told by features, which the plan does not hold"
_ITS_OWN = "give the profile the plan was made from"
_MOST_TOTAL_NS = 2.0**62
# Draws are made so many launches at a time.
_LAUNCHES_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class Judgement:
    """The errors |t* - t_est| / t* (repeats,) of repeated draws; one for picks, which do not vary."""

    errors: FloatArray
    epsilon: float
    random: bool = True

    @property
    def repeats(self) -> int:
        """How many draws."""
        return len(self.errors)

    @property
    def error_mean(self) -> float:
        """The mean error."""
        return float(self.errors.mean())

    @property
    def error_p95(self) -> float:
        """The 95th percentile of the errors."""
        return float(np.quantile(self.errors, 0.95))

    @property
    def error_max(self) -> float:
        """The largest error."""
        return float(self.errors.max())

    @property
    def within_epsilon(self) -> float | None:
        """The share of draws within epsilon: the coverage, to compare with the confidence; None for picks."""
        return float((self.errors <= self.epsilon).mean()) if self.random else None


def judge_design(
    counts: DurationCounts,
    design: Design,
    repeats: int,
    seed: int,
    progress: Progress | None = None,
    by_rank: IntArray | None = None,
) -> Judgement:
    """Draw a design ``repeats`` times and return the errors against the known total.

    Where the number of launches is random, each draw has another number. ``by_rank`` are durations in another
    recording, see `durations_by_rank`.
    """
    if not design.random:
        return Judgement(np.array([design.error]), design.target.epsilon, random=False)
    rng = generator(seed, Stream.JUDGE)
    counts, strata = design.counts or counts, design.strata
    total_ns = max(counts.total_duration_ns if by_rank is None else int(by_rank.sum()), 1)
    # The number of launches may be random itself.
    numbers = design.number.draw(repeats, rng)[:, np.newaxis] if isinstance(design, BernoulliDesign) else None
    errors = np.zeros(repeats)
    at_once = 1 + _LAUNCHES_AT_ONCE // max(design.samples, len(strata))
    for start in range(0, repeats, at_once):
        stop = min(start + at_once, repeats)
        samples = np.tile(strata.samples, (stop - start, 1)) if numbers is None else numbers[start:stop]
        off_ns = errors_of_draws(counts, strata, samples, rng, by_rank)
        errors[start:stop] = np.abs(off_ns) / total_ns
        if progress is not None:
            progress(stop, repeats, f"judging {design.method}")
    return Judgement(errors, design.target.epsilon)


@dataclass(frozen=True, slots=True)
class PlanJudgement:
    """What a plan is worth on a recording: the one it was made from, or another of its program."""

    #: By the plan's own launches, and of all launches that it stands for.
    estimate_ns: float
    total_ns: int
    #: How the launches of two recordings match; None for the very files the plan was made from.
    alignment: Alignment | None
    #: How long its launches last in the recording.
    sampled_duration_ns: int
    #: The strata by the figures of its own recording, whose bounds cover no other; None for picked launches.
    design: Design | None
    #: The errors of plans drawn like this one; of picked launches their own. None: it cannot be drawn again.
    redraws: Judgement | None
    #: Total duration over the expected duration of such a draw; None where that is 0 or not known.
    expected_speedup: float | None
    #: None for the same files, unless features would be needed.
    why_not_redrawn: str | None

    @property
    def error(self) -> float:
        """The sampling error |t* - t_est| / t* of the plan itself."""
        return abs(self.total_ns - self.estimate_ns) / self.total_ns

    @property
    def same_files(self) -> bool:
        """Whether it was made from these files."""
        return self.alignment is None

    @property
    def speedup(self) -> float | None:
        """Total duration over that of the plan's launches; None where that is 0."""
        return speedup_of(self.total_ns, self.sampled_duration_ns)

    @property
    def launches_differing(self) -> int | None:
        """How many launches are another kernel than in the plan's recording; None where it is not known."""
        return 0 if self.alignment is None else self.alignment.launches_differing


def judge_plan(
    plan: PlanFile,
    profile: Profile,
    *,
    repeats: int = 100,
    seed: int = 0,
    names_may_differ: bool = False,
    progress: Progress | None = None,
) -> PlanJudgement:
    """Judge a plan on the recording it was made from, or on another recording of its program.

    Parameters
    ----------
    repeats, seed : how often the plan is drawn again, and what these draws are seeded with.
    names_may_differ : match the launches of another recording by their order alone.

    Raises
    ------
    AnalysisError : the launches of the two recordings do not match; says where. Or the filters of
        the plan cannot be applied here, and its own recording is not there to tell what they leave. Or the
        files are those of the plan, in another order. Or all launches last 0 ns here.
    """
    design, alignment, original = recorded_design(plan), None, Original(profile)
    if not made_from(profile, plan):
        refuse_other_order(profile, plan)
        original = find_original(plan, progress)
        alignment = align(
            plan, profile, original.profile, names_may_differ=names_may_differ, progress=progress
        )
    all_ns = None if alignment is None else _all_durations_ns(profile, progress)
    redraws, expected_speedup, why_not = None, None, original.why_not
    if original.profile is None:
        assert alignment is not None
        assert all_ns is not None
        meant = _launches_meant(plan, profile, names_differ=alignment.launches_differing != 0)
        total_ns = _checked_total_ns(all_ns[meant], profile)
    else:
        counts = count_durations(original.profile, plan.options.grouping, plan.options.region, progress)
        _check_size(plan, counts.launches)
        if design is not None:
            design = planned_design(counts, plan)
            # The draws are of the plan's groups, of which some may be pools.
            counts = design.counts or counts
        by_rank = None if all_ns is None else durations_by_rank(original.profile, counts, all_ns)
        total_ns = counts.total_duration_ns if by_rank is None else _checked_total_ns(by_rank, profile)
        if design is not None:
            redraws = judge_design(counts, design, repeats, seed, progress, by_rank)
            expected_speedup = _expected_speedup(counts, design, by_rank)
    drawn_ns = drawn_durations_ns(profile, plan, names_may_differ=names_may_differ and alignment is not None)
    _check_durations(plan, total_ns, drawn_ns if alignment is None else None)
    if design is None and (alignment is not None or plan.is_random):
        why_not = _BY_FEATURES if plan.is_random else _NOT_RANDOM
    judged = PlanJudgement(
        estimate_ns=float(np.dot(np.array([launch.weight for launch in plan.drawn]), drawn_ns)),
        total_ns=total_ns,
        alignment=alignment,
        sampled_duration_ns=int(drawn_ns.sum()),
        design=design,
        redraws=redraws,
        expected_speedup=expected_speedup,
        why_not_redrawn=why_not,
    )
    if design is not None:
        return judged
    # Picked launches do not vary: they are the one draw.
    alone = Judgement(np.array([judged.error]), plan.options.epsilon, random=False)
    return replace(judged, redraws=alone, expected_speedup=judged.speedup)


def _check_durations(plan: PlanFile, total_ns: int, own_ns: IntArray | None) -> None:
    """Refuse launches that take no time, and in the plan's own recording other times than it says (n,)."""
    if total_ns == 0:
        raise AnalysisError(
            "all launches last 0 ns here, so there is nothing to judge",
            remedy="give a recording whose clock shows how long launches take",
        )
    planned_ns = np.array([launch.duration_ns for launch in plan.drawn])
    for place in [] if own_ns is None else np.flatnonzero(own_ns != planned_ns)[:1].tolist():
        launch = plan.drawn[place]
        raise AnalysisError(
            f"launch {launch.id} does not last {launch.duration_ns} ns here, as the plan says",
            remedy="make the plan again",
        )


def _check_size(plan: PlanFile, launches: int) -> None:
    if launches != plan.launches:
        raise AnalysisError(
            f"the plan stands for {plan.launches:,} launches, its filters leave {launches:,} here",
            remedy=_put_back(plan),
        )


def _put_back(plan: PlanFile) -> str:
    paths = " ".join(file.path for file in plan.profile.files)
    return f"put the profile it was made from back in its place ({paths}), or make the plan again"


def _launches_meant(plan: PlanFile, here: Profile, *, names_differ: bool) -> BoolArray:
    """Return (launches,) whether the plan stands for a launch, by its filters applied to this recording.

    Sequences are matched in their order. Filters that only the plan's own recording can tell are refused.
    """
    region = plan.options.region
    of_own = (region.time_ns, region.named_range, region.min_duration_ns) != (None, None, None)
    if of_own or (names_differ and (region.include or region.exclude)):
        what = (
            "a least duration, a window of time or a named range of its own recording"
            if of_own
            else "kernels of certain names, and names differ here"
        )
        raise AnalysisError(
            f"the plan was made for {what}, so which launches it stands for is not known",
            remedy=_put_back(plan),
        )
    meant = np.zeros(here.launches, dtype=np.bool_)
    for part in here.parts:
        sequence = plan.profile.sequences[part.sequence]
        if (not region.processes or sequence.process in region.processes) and (
            not region.devices or sequence.device in region.devices
        ):
            name = part.load(("name",))["name"]
            meant[part.first_id : part.stop_id] = names_passing(here, region)[name]
    low, high = region.launches or (None, None)
    meant[: low or 0] = False
    meant[here.launches if high is None else high :] = False
    _check_size(plan, int(np.count_nonzero(meant)))
    return meant


def _expected_speedup(counts: DurationCounts, design: Design, by_rank: IntArray | None) -> float | None:
    if by_rank is None:
        return design.speedup
    before, strata = np.append(0, np.cumsum(by_rank)), design.strata
    first, last = (counts.launches_before[pairs] for pairs in (strata.start, strata.stop))
    mean_ns = (before[last] - before[first]) / strata.launches
    return speedup_of(float(before[-1]), float(np.dot(strata.samples, mean_ns)))


def _all_durations_ns(profile: Profile, progress: Progress | None) -> IntArray:
    """Return (launches,) all durations of a profile, in id order."""
    parts = profile.parts
    durations_ns = np.empty(profile.launches, dtype=np.int64)
    for index, table in enumerate(ordered_map(lambda part: part.load(("duration_ns",)), parts)):
        durations_ns[parts[index].first_id : parts[index].stop_id] = table["duration_ns"]
        if progress is not None:
            progress(index + 1, len(parts), "reading durations")
    return durations_ns


def _checked_total_ns(durations_ns: IntArray, profile: Profile) -> int:
    """Return the sum of durations of a profile."""
    if durations_ns.sum(dtype=np.float64) >= _MOST_TOTAL_NS:
        raise ProfileError(
            "the durations add up to more than any recording lasts",
            path=", ".join(file.path for file in profile.files),
            column="duration_ns",
            remedy="check the unit: durations are nanoseconds",
        )
    return int(durations_ns.sum())


def durations_by_rank(original: Profile, counts: DurationCounts, durations_ns: IntArray) -> IntArray:
    """Return (n,) other durations, given by id, of the launches that a reduction counts, by their ranks.

    Launches are ranked by (group, duration, id) in the plan's own recording, the order in which they are
    drawn; so the launches of a stratum, which is a range of pairs, follow each other.
    """
    find = pair_finder(counts.group_of_pairs, counts.duration_ns)
    next_rank = counts.launches_before[:-1].copy()
    by_rank = np.empty(counts.launches, dtype=np.int64)
    for part, groups, table in counted_launches(original, counts, ("duration_ns",)):
        rows, pair = find(groups, table["duration_ns"])
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        launches = np.diff(first, append=len(pair))
        distinct = pair[first]
        rank = np.repeat(next_rank[distinct] - first, launches) + np.arange(len(pair))
        by_rank[rank] = durations_ns[part.ids(rows)]
        next_rank[distinct] += launches
    return by_rank


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
            f"this profile has no kernel group {shortened(absent)!r}",
            remedy=_ITS_OWN,
        )
    start, stop = [], []
    for stratum in plan.strata:
        group = index_of_key[stratum.key]
        first, last = (0, len(counts.count)) if group == WHOLE_WORKLOAD else counts.offsets[group : group + 2]
        if group != WHOLE_WORKLOAD:
            ends = np.searchsorted(counts.duration_ns[first:last], [stratum.low_ns, stratum.high_ns + 1])
            first, last = first + ends
        start.append(first)
        stop.append(last)
    group_of = np.array([index_of_key[stratum.key] for stratum in plan.strata])
    start_of, stop_of = np.array(start, dtype=np.int64), np.array(stop, dtype=np.int64)
    sizes = counts.launches_before[stop_of] - counts.launches_before[start_of]
    for stratum, size in zip(plan.strata, sizes.tolist(), strict=True):
        if size != stratum.size:
            raise AnalysisError(
                f"stratum {stratum.low_ns}..{stratum.high_ns} ns of {shortened(stratum.key)!r} has "
                f"{size:,} launches here, {stratum.size:,} in the plan",
                remedy=_ITS_OWN,
            )
    clusters = measured_clusters(counts, group_of, start_of, stop_of)
    return _design(plan, clusters, declared_spread(groups, plan.options.target), groups)


def _groups_of(plan: PlanFile, counts: DurationCounts) -> PlanGroups:
    """Return the groups of a plan: where it has a pool, all kernel groups that it does not name are in it."""
    keys = {stratum.key for stratum in plan.strata}
    if not any(map(is_pool_key, keys)):
        return unpooled(counts)
    return pooled(counts, np.array([group.key not in keys for group in counts.groups]))


def recorded_design(plan: PlanFile) -> Design | None:
    """Return the plan's strata by the figures its file gives of them: enough for its bounds, not to draw.

    None for a plan whose launches were picked, not drawn at random: no bound exists.
    """
    if not method_named(plan.options.method).draws_at_random:
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
    return _design(plan, clusters, _recorded_spread(plan, clusters))


def _recorded_spread(plan: PlanFile, clusters: Clusters) -> CycleSpread:
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
    return cycle_spread(plan.options.target, share, np.arange(groups), is_pool)


def _design(
    plan: PlanFile, clusters: Clusters, cycles: CycleSpread, groups: PlanGroups | None = None
) -> Design:
    target = plan.options.target
    samples = np.array([stratum.samples for stratum in plan.strata], dtype=np.int64)
    strata = replace(
        clusters.with_samples(samples),
        least_samples=plan.options.min_samples or 1,
        groups=groups if groups is not None and groups.is_pool.any() else None,
    )
    return Design(plan.options.method, target, strata, groups=groups, cycles=cycles)
