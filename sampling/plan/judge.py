"""What a plan is worth: the errors of drawing its design again and again, and of its own launches.

A plan's strata are sets of launches of the recording it was made from. Its own error on another recording of
the program needs the order of launches alone; to draw it again takes the first recording too, which says
what a stratum holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple

import numpy as np
from msgspec import Meta, structs

from sampling.arrays import FloatArray, IntArray
from sampling.errors import AnalysisError
from sampling.parallel import Progress, Stream, generator, ordered_map
from sampling.plan.by_operator import OperatorMatch, match_operators
from sampling.plan.design import WHOLE_WORKLOAD_KEY, Design, PickedDesign, SampledDesign, speedup_ratio
from sampling.plan.drawn_launches import pair_finder
from sampling.plan.other_recording import Alignment, align, drawn_durations_ns, find_original, made_from
from sampling.plan.plan_file import PlanFile
from sampling.plan.promise import Bounds
from sampling.profile.profile import Profile
from sampling.record import Amount, Count, Fraction, Index, Nanoseconds, Record
from sampling.reduction.duration_counts import (
    DurationCounts,
    count_durations,
    counted_launches,
    refuse_endless,
)
from sampling.reduction.grouping import is_pool_key
from sampling.reduction.plan_groups import pooled, unpooled
from sampling.strata.draw import errors_of_draws
from sampling.strata.strata import WHOLE_WORKLOAD, measured_clusters
from sampling.text import shortened

_NOT_RANDOM = "its launches were not drawn at random"
_NOT_IN_PLAN = "what tells its layers or clusters is not in the plan"
# Draws are made so many launches at a time.
_LAUNCHES_AT_ONCE = 1 << 18


class DrawErrors(Record, frozen=True):
    """The errors of repeated draws of a plan; of picks, which do not vary, their own."""

    repeats: Count
    error_mean: Amount
    error_p95: Amount
    error_max: Amount
    #: The share of draws within epsilon; None for picks.
    within_epsilon: Fraction | None


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

    @property
    def record(self) -> DrawErrors:
        """The same for a command's output."""
        return DrawErrors.from_attributes(self)


def judge_design(
    design: Design, repeats: int, seed: int, progress: Progress | None = None, by_rank: IntArray | None = None
) -> Judgement:
    """Draw a design ``repeats`` times and return the errors against the known total.

    ``by_rank`` are durations in another recording, see `durations_by_rank`.
    """
    if isinstance(design, PickedDesign):
        return Judgement(np.array([design.error]), design.target.epsilon, random=False)
    rng = generator(seed, Stream.JUDGE)
    counts, strata = design.counts, design.strata
    total_ns = max(counts.total_duration_ns if by_rank is None else int(by_rank.sum()), 1)
    sizes, errors = design.draw_sizes(repeats, rng), np.zeros(repeats)
    at_once = 1 + _LAUNCHES_AT_ONCE // max(design.samples, len(strata))
    for start in range(0, repeats, at_once):
        stop = min(start + at_once, repeats)
        errors_ns = errors_of_draws(counts, strata, sizes[start:stop], rng, by_rank)
        errors[start:stop] = np.abs(errors_ns) / total_ns
        if progress is not None:
            progress(stop, repeats, f"judging {design.method}")
    return Judgement(errors, design.target.epsilon)


AlignedBy = Annotated[str, Meta(pattern="^(same files|names|order|operator)$")]


class JudgedPlan(Record, frozen=True):
    """What a plan is worth on a recording; strata, samples and bounds are those on its own profile."""

    #: The files it is judged on, and whether they are those it was made from.
    profile: str
    method: str
    same_files: bool
    aligned_by: AlignedBy
    launches_differing: Index | None
    #: The shares of the time of both recordings that are matched by operator.
    matched: list[float] | None
    applicable: Literal[True]
    reason: None
    strata: Count
    samples: Count
    speedup: Amount | None
    expected_speedup: Amount | None
    bound: Amount | None
    group_bound: Amount | None
    total_duration_ns: Nanoseconds
    #: What its own launches estimate, and how far that is off.
    estimate_ns: Amount
    error: Amount
    #: Of plans drawn like it; None where it cannot be drawn again.
    repeats: Count | None
    error_mean: Amount | None
    error_p95: Amount | None
    error_max: Amount | None
    within_epsilon: Fraction | None


@dataclass(frozen=True, slots=True)
class PlanJudgement:
    """What a plan is worth on a recording: the one it was made from, or another of its program."""

    #: By the plan's own launches, and of all launches that it stands for.
    estimate_ns: float
    total_ns: int
    #: How the launches of two recordings match, in their order or by operator, of which one is None; both are
    #: for the very files the plan was made from.
    alignment: Alignment | None
    by_operator: OperatorMatch | None
    #: How long its launches last in the recording.
    sampled_duration_ns: int
    #: Those of its own recording, which cover no other; None for picked launches, and where it is not there.
    bound: float | None
    group_bound: float | None
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
    def speedup(self) -> float | None:
        """Total duration over that of the plan's launches; None where that is 0."""
        return speedup_ratio(self.total_ns, self.sampled_duration_ns)

    def record(self, plan: PlanFile, profile: str, aligned_by: str) -> JudgedPlan:
        """Return the same for a command's output; ``aligned_by`` says how launches of other files match."""
        draws, matched = self.redraws, self.by_operator
        same_files = self.alignment is None and matched is None
        differing = 0 if same_files else None
        if self.alignment is not None:
            differing = self.alignment.launches_differing
        nothing = dict.fromkeys(DrawErrors.__struct_fields__)
        return JudgedPlan.from_attributes(
            self,
            profile=profile,
            method=plan.options.method,
            same_files=same_files,
            aligned_by="same files" if same_files else aligned_by,
            launches_differing=differing,
            matched=None if matched is None else list(matched.shares),
            applicable=True,
            reason=None,
            strata=len(plan.strata),
            samples=len(plan.drawn),
            expected_speedup=None if draws is None else self.expected_speedup,
            total_duration_ns=self.total_ns,
            **(nothing if draws is None else structs.asdict(draws.record)),
        )


def judge_plan(
    plan: PlanFile,
    profile: Profile,
    *,
    repeats: int = 100,
    seed: int = 0,
    names_may_differ: bool = False,
    by_operator: bool = False,
    progress: Progress | None = None,
) -> PlanJudgement:
    """Judge a plan on the recording it was made from, or on another recording of its program.

    It is drawn again ``repeats`` times. Where names may differ, launches of another recording are matched by
    their order alone; ``by_operator``, by what they compute (see `match_operators`, also for what it raises),
    and what has no match counts in neither the total nor the estimate.

    Raises AnalysisError: the launches of the two recordings do not match, says where; the plan is of a part
    of its recording, which is not there to tell of which; the files are those of the plan, in another order;
    or all launches last 0 ns here.
    """
    match = _match_recordings(
        plan, profile, names_may_differ=names_may_differ, by_operator=by_operator, progress=progress
    )
    design, by_rank, other_ns = None, None, match.durations_ns
    if match.original is not None:
        counts = count_durations(match.original, plan.grouping, plan.options.region, progress)
        if plan.is_extensible:
            design = planned_design(counts, plan)
            # The draws are of the plan's groups, of which some may be pools.
            counts = design.counts
        if other_ns is not None:
            by_rank = durations_by_rank(match.original, counts, other_ns)
        total_ns = counts.total_duration_ns if by_rank is None else int(by_rank.sum())
        launches = counts.launches
    else:
        # What filters leave, only its own recording can tell.
        assert other_ns is not None
        total_ns, launches = int(other_ns.sum()), profile.launches
    _refuse_other_launches(plan, launches, total_ns)
    if match.by_operator is not None:
        drawn_ns = match.by_operator.durations_ns[[launch.id for launch in plan.drawn]]
    else:
        may_differ = names_may_differ and match.alignment is not None
        drawn_ns = drawn_durations_ns(profile, plan, names_may_differ=may_differ)
    estimate_ns = float(np.dot(np.array([launch.weight for launch in plan.drawn]), drawn_ns))
    redraws, expected_speedup, why_not_redrawn = None, None, match.why_missing
    if design is not None:
        redraws = judge_design(design, repeats, seed, progress, by_rank)
        expected_speedup = design.speedup if by_rank is None else _speedup_by_rank(design, by_rank)
    elif not plan.is_extensible:
        # Picked launches do not vary: they are the one draw.
        errors = np.array([abs(total_ns - estimate_ns) / total_ns])
        redraws = Judgement(errors, plan.options.epsilon, random=False)
        expected_speedup = speedup_ratio(total_ns, int(drawn_ns.sum()))
        why_not_redrawn = _NOT_IN_PLAN if plan.is_random else None if other_ns is None else _NOT_RANDOM
    bounds = Bounds() if design is None else design.bounds
    return PlanJudgement(
        estimate_ns=estimate_ns,
        total_ns=total_ns,
        alignment=match.alignment,
        by_operator=match.by_operator,
        sampled_duration_ns=int(drawn_ns.sum()),
        bound=bounds.bound,
        group_bound=bounds.group_bound,
        redraws=redraws,
        expected_speedup=expected_speedup,
        why_not_redrawn=why_not_redrawn,
    )


class _Match(NamedTuple):
    """The recording that a plan was made from, and how the launches of the judged one match with it."""

    #: None where it is not there as it was; then why.
    original: Profile | None
    why_missing: str | None
    #: In their order, or by operator; both None where the judged recording is the plan's own.
    alignment: Alignment | None = None
    by_operator: OperatorMatch | None = None
    #: (launches of the plan's recording,) how long each lasts in the judged one; None: in its own.
    durations_ns: IntArray | None = None


def _match_recordings(
    plan: PlanFile, profile: Profile, *, names_may_differ: bool, by_operator: bool, progress: Progress | None
) -> _Match:
    """Return the plan's recording, and how long its launches last in this profile."""
    if made_from(profile, plan, refuse_other_order=True):
        return _Match(profile, None)
    original, why_missing = find_original(plan, progress)
    if by_operator:
        operators = match_operators(plan, original, profile)
        return _Match(original, why_missing, by_operator=operators, durations_ns=operators.durations_ns)
    alignment = align(plan, profile, original, names_may_differ=names_may_differ, progress=progress)
    durations_ns = all_durations_ns(profile, progress)
    return _Match(original, why_missing, alignment, durations_ns=durations_ns)


def judge_elsewhere(
    design: Design,
    profile: Profile,
    durations_ns: IntArray,
    repeats: int,
    seed: int,
    progress: Progress | None,
) -> tuple[Judgement, float | None]:
    """Judge a design by what the launches of its profile take elsewhere; return its speedup there too.

    ``durations_ns``: (launches,) by id, as a simulator's cycles of the whole run. Of picked launches they are
    the errors of the one estimate. Raises AnalysisError: the design's launches take no time there.
    """
    if isinstance(design, PickedDesign):
        own_ns, picks = durations_ns[design.clusters.launches.id], design.clusters.picks
        total_ns, picked_ns = int(own_ns.sum()), int(own_ns[picks.row].sum())
        _refuse_no_time(total_ns)
        errors = np.array([abs(total_ns - picks.estimate(own_ns)) / total_ns])
        return Judgement(errors, design.target.epsilon, random=False), speedup_ratio(total_ns, picked_ns)
    by_rank = durations_by_rank(profile, design.counts, durations_ns)
    _refuse_no_time(int(by_rank.sum()))
    judgement = judge_design(design, repeats, seed, progress, by_rank)
    return judgement, _speedup_by_rank(design, by_rank)


def _speedup_by_rank(design: SampledDesign, by_rank: IntArray) -> float | None:
    """Return total over expected sampled duration where launches last as in another recording."""
    before, strata = np.append(0, np.cumsum(by_rank)), design.strata
    first, last = (design.counts.launches_before[pairs] for pairs in (strata.start, strata.stop))
    mean_ns = (before[last] - before[first]) / strata.launches
    return speedup_ratio(int(before[-1]), float(np.dot(strata.samples, mean_ns)))


def _refuse_other_launches(plan: PlanFile, launches: int, total_ns: int) -> None:
    """Raise AnalysisError where the plan does not stand for so many launches, or they last no time."""
    if launches != plan.launches:
        message = (
            f"the plan stands for {plan.launches:,} launches, and which of {launches:,} here is not known"
        )
        paths = " ".join(file.path for file in plan.profile.files)
        remedy = f"put the profile it was made from back in its place ({paths}), or make the plan again"
        raise AnalysisError(message, remedy=remedy)
    _refuse_no_time(total_ns)


def _refuse_no_time(total_ns: int) -> None:
    if total_ns == 0:
        remedy = "give a recording whose clock shows how long launches take"
        raise AnalysisError("all launches last 0 ns here, so there is nothing to judge", remedy=remedy)


def all_durations_ns(profile: Profile, progress: Progress | None) -> IntArray:
    """Return (launches,) all durations of a profile, in id order."""
    durations_ns = np.empty(profile.launches, dtype=np.int64)
    tables = ordered_map(lambda part: part.load(("duration_ns",)), profile.parts)
    for part, table in zip(profile.parts, tables, strict=True):
        durations_ns[part.first_id : part.stop_id] = table["duration_ns"]
        if progress is not None:
            progress(part.stop_id, profile.launches, "reading durations")
    refuse_endless(profile, float(durations_ns.sum(dtype=np.float64)))
    return durations_ns


def durations_by_rank(original: Profile, counts: DurationCounts, durations_ns: IntArray) -> IntArray:
    """Return (n,) other durations, given by id, of the launches that a reduction counts, by their ranks.

    Launches are ranked by (group, duration, id) in the plan's own recording, the order in which they are
    drawn; so the launches of a stratum, which is a range of pairs, follow each other.
    """
    find = pair_finder(counts.pair_groups, counts.duration_ns)
    next_rank = counts.launches_before[:-1].copy()
    by_rank = np.empty(counts.launches, dtype=np.int64)
    for part, groups, table in counted_launches(original, counts, ("duration_ns",)):
        rows, pair = find(groups, table["duration_ns"])
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        launches, distinct = np.diff(first, append=len(pair)), pair[first]
        by_rank[np.repeat(next_rank[distinct] - first, launches) + np.arange(len(pair))] = durations_ns[
            part.ids(rows)
        ]
        next_rank[distinct] += launches
    return by_rank


def planned_design(counts: DurationCounts, plan: PlanFile) -> SampledDesign:
    """Return the plan's strata found again in the reduction of its profile, so that it can be drawn again.

    Raises AnalysisError: a stratum is not there, or holds another number of launches.
    """
    keys, groups = {stratum.key for stratum in plan.strata}, unpooled(counts)
    if any(map(is_pool_key, keys)):
        # All kernel groups that the plan does not name are in the pool.
        groups = pooled(counts, np.array([group.key not in keys for group in counts.groups]))
    counts = groups.counts
    index_of = {group.key: index for index, group in enumerate(counts.groups)}
    ranges = np.zeros((len(plan.strata), 3), dtype=np.int64)
    for number, stratum in enumerate(plan.strata):
        group, first, last = WHOLE_WORKLOAD, 0, len(counts.count)
        if stratum.key != WHOLE_WORKLOAD_KEY and (group := index_of.get(stratum.key, -2)) >= 0:
            first, last = counts.offsets[group : group + 2]
            ends = np.searchsorted(counts.duration_ns[first:last], [stratum.low_ns, stratum.high_ns + 1])
            first, last = first + ends
        size = 0 if group < WHOLE_WORKLOAD else counts.launches_before[last] - counts.launches_before[first]
        if size != stratum.size:
            raise AnalysisError(
                f"stratum {stratum.low_ns}..{stratum.high_ns} ns of {shortened(stratum.key)!r} has "
                f"{size:,} launches here, {stratum.size:,} in the plan",
                remedy="give the profile the plan was made from",
            )
        ranges[number] = group, first, last
    strata = replace(
        measured_clusters(counts, *ranges.T).with_samples(
            np.array([stratum.samples for stratum in plan.strata])
        ),
        least_samples=plan.options.min_samples,
        groups=groups if groups.is_pool.any() else None,
    )
    return SampledDesign(plan.options.method, plan.options.target, strata, groups)
