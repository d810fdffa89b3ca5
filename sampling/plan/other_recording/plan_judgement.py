"""What a plan is worth on a recording: its own error there, and the errors of plans drawn like it.

The plan's strata are sets of launches of the recording it was made from. Its own error on another recording
of the program needs the order of launches alone; to draw it again takes the first recording too, which says
what a stratum holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import AnalysisError, ProfileError
from sampling.parallel import ordered_map
from sampling.plan.design import Design, speedup_of
from sampling.plan.judge import Judgement, judge_design
from sampling.plan.other_recording.alignment import Alignment, Recorded, align
from sampling.plan.other_recording.plan_check import (
    PlanError,
    drawn_durations_ns,
    estimate_ns,
    is_random,
    made_from,
    plan_error,
    planned_design,
    recorded_design,
    refuse_other_order,
)
from sampling.plan.pair_lookup import PairLookup
from sampling.plan.plan_file import PlanFile
from sampling.profile.fingerprint import SequenceFingerprint, fingerprints
from sampling.profile.profile import Column, Profile
from sampling.progress import Progress
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts, count_durations, group_of_label
from sampling.reduction.region import Region, names_passing
from sampling.seeds import Stream, generator
from sampling.strata.draw import draw, weights

NOT_RANDOM = "its launches were not drawn at random"
_BY_FEATURES = "its clusters are told by features, which the plan does not hold"


@dataclass(frozen=True, slots=True)
class PlanJudgement:
    """What a plan is worth on a recording: the one it was made from, or another of its program.

    Attributes
    ----------
    same_files : whether it was made from these files.
    alignment : how the launches of two recordings match; None for the same files, and where only the drawn
        launches could be compared.
    own : the error of the plan itself.
    sampled_duration_ns : how long its launches last in the recording.
    design : the plan's strata by the figures of its own recording; their bounds cover no other one. None for
        launches that were not drawn at random.
    redraws : the errors of plans drawn like this one; picked launches do not vary, and stand here alone. None
        where the plan could not be drawn again.
    expected_speedup : total duration over the expected duration of such a draw; None where that is 0 or the
        plan could not be drawn again.
    why_not_redrawn : the reason; None for the same files, unless features would be needed.
    """

    same_files: bool
    alignment: Alignment | None
    own: PlanError
    sampled_duration_ns: int
    design: Design | None
    redraws: Judgement | None
    expected_speedup: float | None
    why_not_redrawn: str | None

    @property
    def speedup(self) -> float | None:
        """Total duration over that of the plan's launches; None where that is 0."""
        return speedup_of(self.own.total_ns, self.sampled_duration_ns)

    @property
    def launches_differing(self) -> int | None:
        """How many launches are another kernel than in the plan's recording; None where it is not known."""
        if self.same_files:
            return 0
        return None if self.alignment is None else self.alignment.launches_differing


@dataclass(frozen=True, slots=True)
class Original:
    """The recording a plan was made from, or why it is not there to be read."""

    profile: Profile | None
    why_not: str | None = None


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
    PlanFileError : an option of the plan is missing, or is of the wrong kind.
    """
    if made_from(profile, plan):
        return _judged_on_its_own(plan, profile, repeats, seed, progress)
    grouping, region = plan.selection()
    refuse_other_order(profile, plan)
    design = recorded_design(plan)
    original = find_original(plan, progress)
    alignment, redraws, expected_speedup = None, None, None
    if recorded := _recorded(plan, original):
        alignment = align(recorded, profile, names_may_differ=names_may_differ, progress=progress)
        all_ns = all_durations_ns(profile, progress)
        if original.profile is None:
            _check_filters(plan, region, names_differ=alignment.launches_differing != 0)
            total_ns = checked_total_ns(all_ns[_launches_meant(plan, region, profile)], profile)
        else:
            counts = count_durations(original.profile, grouping, region, progress)
            _check_size(plan, counts.launches)
            if design is not None:
                design = planned_design(counts, plan)
                # The draws are of the plan's groups, of which some may be pools.
                counts = design.counts or counts
            by_rank = durations_by_rank(original.profile, counts, all_ns)
            total_ns = checked_total_ns(by_rank, profile)
            if design is not None:
                redraws = _redraws(counts, design, by_rank, repeats, seed, progress)
                expected_speedup = _expected_speedup(counts, design, by_rank)
    else:
        _check_filters(plan, region, names_differ=names_may_differ)
        counts = count_durations(profile, grouping, region, progress)
        total_ns = plan_error(profile, counts, plan, names_may_differ=names_may_differ).total_ns
    drawn_ns = drawn_durations_ns(profile, plan, names_may_differ=names_may_differ)
    own, sampled_ns = PlanError(estimate_ns(plan, drawn_ns), total_ns), int(drawn_ns.sum())
    if design is None:
        redraws, expected_speedup = _of_picks(plan, own), speedup_of(total_ns, sampled_ns)
    return PlanJudgement(
        same_files=False,
        alignment=alignment,
        own=own,
        sampled_duration_ns=sampled_ns,
        design=design,
        redraws=redraws,
        expected_speedup=expected_speedup,
        why_not_redrawn=_why_not_by_itself(plan) if design is None else original.why_not,
    )


def _judged_on_its_own(
    plan: PlanFile, profile: Profile, repeats: int, seed: int, progress: Progress | None
) -> PlanJudgement:
    """Judge a plan on the recording that it was made from."""
    counts = count_durations(profile, *plan.selection(), progress)
    own = plan_error(profile, counts, plan)
    sampled_ns = sum(launch.duration_ns or 0 for launch in plan.drawn)
    if is_random(plan):
        design = planned_design(counts, plan)
        redraws = judge_design(counts, design, repeats, seed, progress)
        expected_speedup = design.speedup
    else:
        design, redraws = None, _of_picks(plan, own)
        expected_speedup = speedup_of(own.total_ns, sampled_ns)
    why_not = _BY_FEATURES if design is None and plan.is_random else None
    return PlanJudgement(True, None, own, sampled_ns, design, redraws, expected_speedup, why_not)


def _why_not_by_itself(plan: PlanFile) -> str:
    """Return why a plan without a design of durations is not drawn again."""
    return _BY_FEATURES if plan.is_random else NOT_RANDOM


def _of_picks(plan: PlanFile, own: PlanError) -> Judgement:
    """Return picked launches as one draw, for they do not vary."""
    return Judgement(np.array([own.error]), plan.options["epsilon"], random=False)


def find_original(plan: PlanFile, progress: Progress | None = None) -> Original:
    """Return the recording a plan was made from, if it lies where it lay and has not changed."""
    paths = [str(file.get("path", "")) for file in plan.files]
    named = ", ".join(paths)
    gone = [path for path in paths if not Path(path).is_file() and not Path(path).is_dir()]
    if gone or not paths:
        return Original(None, f"{gone[0] if gone else 'its file'}, which it was made from, is not there")
    try:
        profile = read_profile(paths, progress, plan.columns(), needs_table=False)
    except ProfileError as error:
        return Original(None, f"{named}, which it was made from, cannot be read ({error})")
    if not made_from(profile, plan):
        return Original(None, f"{named}, which it was made from, has changed since")
    return Original(profile)


def _recorded(plan: PlanFile, original: Original) -> Recorded | None:
    """Return what is known of the plan's recording; None where neither its file nor the plan lists it."""
    sequences: tuple[SequenceFingerprint, ...] = plan.sequences
    if not sequences and original.profile is not None:
        sequences = fingerprints(original.profile)
    return Recorded(sequences, plan.drawn, original.profile) if sequences else None


def _check_filters(plan: PlanFile, region: Region, *, names_differ: bool) -> None:
    """Refuse filters that only the plan's own recording can tell the launches of."""
    if names_differ and (region.include or region.exclude):
        raise AnalysisError(
            "the plan was made for kernels of certain names, and names differ here, so which launches it "
            "stands for is not known",
            remedy=_put_back(plan),
        )
    if (region.time_ns, region.named_range, region.min_duration_ns) != (None, None, None):
        raise AnalysisError(
            "the plan was made for a least duration, a window of time or a named range of its own recording, "
            "so which launches it stands for is not known",
            remedy=_put_back(plan),
        )


def _launches_meant(plan: PlanFile, region: Region, here: Profile) -> BoolArray:
    """Return (launches,) whether the plan stands for a launch, by its filters applied to this recording.

    Processes and devices are those of the plan's recording; sequences are matched in their order.
    """
    kept = {
        index
        for index, sequence in enumerate(plan.sequences)
        if (not region.processes or sequence.process in region.processes)
        and (not region.devices or sequence.device in region.devices)
    }
    meant = np.zeros(here.launches, dtype=np.bool_)
    for part in here.parts:
        if part.sequence in kept:
            name = part.load(("name",))["name"]
            meant[part.first_id : part.stop_id] = names_passing(here, region)[name]
    low, high = region.launches or (None, None)
    meant[: low or 0] = False
    meant[here.launches if high is None else high :] = False
    _check_size(plan, int(np.count_nonzero(meant)))
    return meant


def _check_size(plan: PlanFile, launches: int) -> None:
    if launches != plan.launches:
        raise AnalysisError(
            f"the plan stands for {plan.launches:,} launches, its filters leave {launches:,} here",
            remedy=_put_back(plan),
        )


def _put_back(plan: PlanFile) -> str:
    paths = " ".join(str(file.get("path")) for file in plan.files)
    return f"put the profile it was made from back in its place ({paths}), or make the plan again"


def _redraws(
    counts: DurationCounts,
    design: Design,
    by_rank: IntArray,
    repeats: int,
    seed: int,
    progress: Progress | None,
) -> Judgement:
    """Draw the plan's strata again and again as `judge_design` does; durations are the other recording's."""
    rng = generator(seed, Stream.JUDGE)
    total_ns = int(by_rank.sum())
    errors = np.zeros(repeats)
    for repeat in range(repeats):
        drawn = draw(counts, design.strata, rng)
        drawn_ns = by_rank[counts.launches_before[drawn.pair] + drawn.occurrence]
        estimated_ns = float(np.dot(weights(design.strata, drawn), drawn_ns))
        errors[repeat] = abs(total_ns - estimated_ns) / total_ns if total_ns else 0.0
        if progress is not None:
            progress(repeat + 1, repeats, f"judging {design.method}")
    return Judgement(errors, design.target.epsilon)


def _expected_speedup(counts: DurationCounts, design: Design, by_rank: IntArray) -> float | None:
    start, stop = (
        counts.launches_before[pairs].tolist() for pairs in (design.strata.start, design.strata.stop)
    )
    mean_ns = [by_rank[first:last].mean() for first, last in zip(start, stop, strict=True)]
    sampled_ns = float(np.dot(design.strata.samples, mean_ns))
    return speedup_of(float(by_rank.sum()), sampled_ns)


_MOST_TOTAL_NS = 2.0**62
_ROW_BITS = 32


def all_durations_ns(profile: Profile, progress: Progress | None) -> IntArray:
    """Return (launches,) all durations of a profile, in id order."""
    parts = profile.parts
    durations_ns = np.empty(profile.launches, dtype=np.int64)
    tables = ordered_map(lambda part: part.load(("duration_ns",)), parts)
    for index, table in enumerate(tables):
        durations_ns[parts[index].first_id : parts[index].stop_id] = table["duration_ns"]
        if progress is not None:
            progress(index + 1, len(parts), "reading durations")
    return durations_ns


def checked_total_ns(durations_ns: IntArray, profile: Profile) -> int:
    """Return the sum of durations of a profile.

    Raises
    ------
    ProfileError : it is larger than any recording lasts.
    """
    if durations_ns.sum(dtype=np.float64) >= _MOST_TOTAL_NS:
        raise ProfileError(
            "the durations add up to more than any recording lasts",
            path=", ".join(file.path for file in profile.files),
            column="duration_ns",
            remedy="check the unit: durations are nanoseconds",
        )
    return int(durations_ns.sum())


def durations_by_rank(original: Profile, counts: DurationCounts, durations_ns: IntArray) -> IntArray:
    """Return (n,) the other recording's durations of the launches that a reduction counts, by their ranks.

    Launches are ranked by (group, duration, id) in the plan's own recording, the order in which they are
    drawn; so the launches of a stratum, which is a range of pairs, follow each other.

    Parameters
    ----------
    counts : the reduction of the plan's own recording.
    durations_ns : (launches,) durations of the other recording, in id order.
    """
    label: Column = "signature" if counts.grouping.needs_shape else "name"
    groups_of = group_of_label(original, counts)
    group = np.repeat(np.arange(len(counts.groups)), np.diff(counts.offsets))
    lookup = PairLookup(group, counts.duration_ns)
    next_rank = counts.launches_before[:-1].copy()
    by_rank = np.empty(counts.launches, dtype=np.int64)
    for selection in counts.selected:
        batch = selection.load((label, "duration_ns"))
        groups = groups_of[selection.sequence].take(batch[label])
        rows, pair = lookup.matches(groups, batch["duration_ns"])
        # One sort of (pair, row) in one number: several times faster than a stable argsort of the pairs.
        packed = (pair.astype(np.int64) << _ROW_BITS) | rows
        packed.sort()
        pair_of, row = packed >> _ROW_BITS, packed & ((1 << _ROW_BITS) - 1)
        first = np.flatnonzero(np.diff(pair_of, prepend=-1))
        launches = np.diff(first, append=len(packed))
        distinct = pair_of[first]
        rank = np.repeat(next_rank[distinct] - first, launches) + np.arange(len(packed))
        by_rank[rank] = durations_ns[selection.ids(row)]
        next_rank[distinct] += launches
    return by_rank
