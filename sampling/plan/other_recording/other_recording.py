"""A plan used on another recording of its program: its error there, and that of plans drawn like it.

The plan's strata are sets of launches of the recording it was made from. Its own error elsewhere needs the
order of launches alone; to draw it anew takes that first recording too, which says what a stratum holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import AnalysisError, ProfileError
from sampling.parallel import ordered_map
from sampling.plan.design import Design
from sampling.plan.drawn_launches import group_of_label
from sampling.plan.judge import Judgement
from sampling.plan.other_recording.alignment import Alignment, Recorded, align
from sampling.plan.other_recording.plan_check import (
    PlanError,
    drawn_durations_ns,
    estimate_ns,
    made_from,
    plan_error,
    planned_design,
    recorded_design,
    refuse_other_order,
)
from sampling.plan.pair_lookup import PairLookup
from sampling.plan.plan_file import PlanFile
from sampling.plan.speedup import speedup_of
from sampling.profile.fingerprint import SequenceFingerprint, fingerprints
from sampling.profile.profile import Column, Profile
from sampling.progress import Progress
from sampling.readers.registry import read_profile
from sampling.reduction.duration_counts import DurationCounts, count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region, names_passing, selections
from sampling.seeds import Stream, generator
from sampling.strata.drawing import draw, weights

NOT_RANDOM = "its launches were not drawn at random"
_MOST_TOTAL_NS = 2.0**62
_ROW_BITS = 32


@dataclass(frozen=True, slots=True)
class Redraws:
    """Plans drawn like this one, on the other recording.

    Attributes
    ----------
    expected_speedup : total duration over the expected duration of a draw; None where that is 0.
    judgement : their errors.
    """

    expected_speedup: float | None
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What a plan is worth on another recording.

    Attributes
    ----------
    alignment : how the launches match; None where only the drawn launches could be compared.
    error : the plan's own.
    sampled_duration_ns : how long its launches last there.
    design : the plan's strata by the figures of its own recording; their bounds cover no other one. None for
        launches that were not drawn at random.
    redraws : None where the plan could not be drawn anew.
    why_not_redrawn : the reason.
    """

    alignment: Alignment | None
    error: PlanError
    sampled_duration_ns: int
    design: Design | None
    redraws: Redraws | None
    why_not_redrawn: str | None


@dataclass(frozen=True, slots=True)
class Original:
    """The recording a plan was made from, or why it is not there to be read."""

    profile: Profile | None
    why_not: str | None = None


@dataclass(frozen=True, slots=True)
class Repetition:
    """How often to draw anew, and from which seed."""

    repeats: int
    seed: int


def judge_elsewhere(
    plan: PlanFile,
    selection: tuple[Grouping, Region],
    here: Profile,
    repetition: Repetition,
    *,
    names_may_differ: bool = False,
    progress: Progress | None = None,
) -> Elsewhere:
    """Judge a plan on another recording of the program it was made for.

    Parameters
    ----------
    selection : the grouping and the region that the plan was made with, in its own recording's terms.
    here : the other recording.
    names_may_differ : match launches by their order alone.

    Raises
    ------
    AnalysisError : the launches of the two recordings do not match; says where they part. Or the filters of
        the plan cannot be applied here, and its own recording is not there to tell what they leave. Or the
        files are those of the plan, in another order. Or all launches last 0 ns here.
    """
    refuse_other_order(here, plan)
    design = recorded_design(plan)
    original = find_original(plan, progress)
    alignment, redraws = None, None
    if recorded := _recorded(plan, original):
        alignment = align(recorded, here, names_may_differ=names_may_differ, progress=progress)
        all_ns = _all_durations_ns(here, progress)
        if original.profile is None:
            _check_filters(plan, selection[1], names_differ=alignment.launches_differing != 0)
            total_ns = _total_ns(all_ns[_launches_meant(plan, selection[1], here)], here)
        else:
            counts = count_durations(original.profile, *selection, progress)
            _check_size(plan, counts.launches)
            by_rank = durations_by_rank(original.profile, counts, all_ns)
            total_ns = _total_ns(by_rank, here)
            if design is not None:
                redraws = _redraws(counts, planned_design(counts, plan), by_rank, repetition, progress)
    else:
        _check_filters(plan, selection[1], names_differ=names_may_differ)
        counts = count_durations(here, *selection, progress)
        total_ns = plan_error(here, counts, plan, names_may_differ=names_may_differ).total_ns
    drawn_ns = drawn_durations_ns(here, plan, names_may_differ=names_may_differ)
    return Elsewhere(
        alignment=alignment,
        error=PlanError(estimate_ns(plan, drawn_ns), total_ns),
        sampled_duration_ns=int(drawn_ns.sum()),
        design=design,
        redraws=redraws,
        why_not_redrawn=NOT_RANDOM if design is None else original.why_not,
    )


def find_original(plan: PlanFile, progress: Progress | None = None) -> Original:
    """Return the recording a plan was made from, if it lies where it lay and has not changed."""
    paths = [str(file.get("path", "")) for file in plan.files]
    named = ", ".join(paths)
    gone = [path for path in paths if not Path(path).is_file() and not Path(path).is_dir()]
    if gone or not paths:
        return Original(None, f"{gone[0] if gone else 'its file'}, which it was made from, is not there")
    try:
        profile = read_profile(paths, progress)
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


def _all_durations_ns(profile: Profile, progress: Progress | None) -> IntArray:
    """Return (launches,) all durations of a profile, in id order."""
    spans = profile.spans
    durations_ns = np.empty(profile.launches, dtype=np.int64)
    batches = ordered_map(lambda index: profile.read(spans[index], ("duration_ns",)), range(len(spans)))
    for index, batch in enumerate(batches):
        first_id = profile.sequences[batch.span.sequence].first_id + batch.span.first_ordinal
        durations_ns[first_id : first_id + len(batch)] = batch["duration_ns"]
        if progress is not None:
            progress(index + 1, len(spans), "reading durations")
    return durations_ns


def _total_ns(durations_ns: IntArray, profile: Profile) -> int:
    if durations_ns.sum(dtype=np.float64) >= _MOST_TOTAL_NS:
        raise ProfileError(
            "the durations add up to more than any recording lasts",
            path=", ".join(file.path for file in profile.files),
            column="duration_ns",
            remedy="check the unit: durations are nanoseconds",
        )
    return int(durations_ns.sum())


def _check_filters(plan: PlanFile, region: Region, *, names_differ: bool) -> None:
    """Refuse filters that only the plan's own recording can tell the launches of."""
    if names_differ and (region.include or region.exclude):
        raise AnalysisError(
            "the plan was made for kernels of certain names, and names differ here, so which launches it "
            "stands for is not known",
            remedy=_put_back(plan),
        )
    if region.time_ns is not None or region.named_range is not None:
        raise AnalysisError(
            "the plan was made for a window of time or a named range of its own recording, so which launches "
            "it stands for is not known",
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
    for span in here.spans:
        if span.sequence in kept:
            first_id = here.sequences[span.sequence].first_id + span.first_ordinal
            name = here.read(span, ("name",))["name"]
            meant[first_id : first_id + span.launches] = names_passing(here, region)[name]
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


def durations_by_rank(original: Profile, counts: DurationCounts, durations_ns: IntArray) -> IntArray:
    """Return (n,) durations elsewhere of the launches that a reduction counts, in the order of their ranks.

    Ranks go by (group, duration, id) of the plan's own recording, as drawn launches do; so the launches of a
    stratum, which is a range of pairs, stand together.

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
    for selection in selections(original, counts.region):
        batch = original.read(selection.span, (label, "duration_ns"))
        groups = groups_of[selection.span.sequence].take(batch[label][selection.rows])
        rows, pair = lookup.matches(groups, batch["duration_ns"][selection.rows])
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


def _redraws(
    counts: DurationCounts,
    design: Design,
    by_rank: IntArray,
    repetition: Repetition,
    progress: Progress | None,
) -> Redraws:
    """Draw the plan's strata again and again, launch for launch as `judge.judge_design`, and look here."""
    rng = generator(repetition.seed, Stream.JUDGE)
    total_ns = int(by_rank.sum())
    errors = np.zeros(repetition.repeats)
    for repeat in range(repetition.repeats):
        drawn = draw(counts, design.strata, rng)
        drawn_ns = by_rank[counts.launches_before[drawn.pair] + drawn.occurrence]
        estimated_ns = float(np.dot(weights(design.strata, drawn), drawn_ns))
        errors[repeat] = abs(total_ns - estimated_ns) / total_ns if total_ns else 0.0
        if progress is not None:
            progress(repeat + 1, repetition.repeats, f"judging {design.method}")
    return Redraws(_expected_speedup(counts, design, by_rank), Judgement(errors, design.target.epsilon))


def _expected_speedup(counts: DurationCounts, design: Design, by_rank: IntArray) -> float | None:
    start, stop = (
        counts.launches_before[pairs].tolist() for pairs in (design.strata.start, design.strata.stop)
    )
    mean_ns = [by_rank[first:last].mean() for first, last in zip(start, stop, strict=True)]
    sampled_ns = float(np.dot(design.strata.simulated_launches, mean_ns))
    return speedup_of(float(by_rank.sum()), sampled_ns)
