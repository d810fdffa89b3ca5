"""What a person should know of a profile before believing a plan of it: findings, each a check of its own.

A new one is one function and one line in ``_CHECKS``, which has its code and severity. Its message is one
sentence with the measurement and why it matters; its remedy is told where there is something to mend.
(docs/methods.md, 13 The order of the run)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Literal, NamedTuple

import numpy as np

from sampling.profile.names import is_communication, short_name
from sampling.profile.profile import LaunchSequence, Profile
from sampling.reduction.device_time import DeviceTime
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.region import COMMUNICATION, selected_sequences
from sampling.reduction.run_order import RunOrder, Twins
from sampling.text import Wording, counted, duration_text, joined_texts

Severity = Literal["note", "warning"]

_STEPS_FOR_A_SPREAD = 50
_COARSE_FROM_SHARE = 0.05
_OVERLAP_WORTH_SAYING = 0.01
_IDLE_FROM = 0.5
_DRIFT_FROM_SHARE = 0.02
_DOMINATES_FROM = 0.1
_UNLIKE_FROM = 2.0
_WORTHWHILE_SPEEDUP = 2.0


class Change(NamedTuple):
    """What to set a parameter to, written as on a command line; None for one that is only switched on."""

    parameter: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Attributes
    ----------
    words : the measurement alone, in so few words that several findings fit in a row.
    message : the measurement and why it matters, in a sentence.
    changes : of the parameters, that do the first thing the remedy names; () where no parameter does it.
    """

    code: str
    severity: Severity
    words: str
    message: str
    remedy: str
    changes: tuple[Change, ...] = ()

    def as_json(self) -> dict[str, str]:
        """Return it as commands print it and plan files keep it."""
        names = ("code", "severity", "message", "remedy")
        return {name: str(getattr(self, name)) for name in names}


@dataclass(frozen=True, slots=True)
class PlanCost:
    """What a plan is expected to cost.

    ``groups_whole`` are kernel groups that it simulates whole although they have more launches than the least
    number of samples, ``share_whole`` is their share of the total time.
    """

    method: str
    launches: float
    speedup: float | None
    random: bool = True
    groups_whole: int = 0
    share_whole: float = 0.0
    bounds_groups: bool = True


@dataclass(frozen=True)
class Evidence:
    """What findings are drawn from.

    Attributes
    ----------
    plan : what the plan that was made costs; None where none was made.
    order : what the order of the launches shows; None where nobody looked.
    """

    profile: Profile
    counts: DurationCounts
    device_times: Sequence[DeviceTime] = ()
    plan: PlanCost | None = None
    order: RunOrder | None = None

    @cached_property
    def duration_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct durations over all groups, ascending, and their launches."""
        durations, inverse = np.unique(self.counts.duration_ns, return_inverse=True)
        return durations, np.bincount(inverse, weights=self.counts.count).astype(np.int64)


class _Found(NamedTuple):
    """What a check found; the severity where it is not that of the table."""

    words: str
    message: str
    remedy: str
    changes: tuple[Change, ...] = ()
    severity: Severity | None = None


def percent(share: float) -> str:
    """Return a share as text; one above 0 is never shown as 0."""
    return f"{100 * share:.1f} %" if share >= 0.001 else "under 0.1 %"


def _graph_level_trace(evidence: Evidence) -> _Found | None:
    replays = evidence.profile.facts.hidden_graph_replays
    if not replays:
        return None
    return _Found(
        f"kernels of {counted(replays, 'graph replay')} missing",
        f"{replays:,} CUDA-graph replays were recorded as a whole: total and bounds leave their kernels out.",
        "record again with `nsys profile --cuda-graph-trace=node`",
    )


def _api_rows_missing(evidence: Evidence) -> _Found | None:
    missing, launches = evidence.profile.facts.api_rows_missing, evidence.profile.launches
    if not missing:
        return None
    bases = {"correlation": "correlation ids", "gpu-start": "start times on the GPU"}
    basis = bases.get(evidence.profile.facts.launch_order, "the file")
    return _Found(
        f"{counted(missing, 'launch', 'launches')} without API call",
        f"{missing:,} of {launches:,} launches ({percent(missing / launches)}) "
        f"{'has' if missing == 1 else 'have'} no API call: their order, and so the ids, rest on {basis}.",
        "start the capture before the work is queued; check ids against the trace's own list",
    )


def _communication_kernels(evidence: Evidence) -> _Found | None:
    counts = evidence.counts
    # Every name once: there may be a group of each for every process.
    names = {name for name in {group.name for group in counts.groups} if is_communication(name)}
    chosen = np.array([group.name in names for group in counts.groups])
    if not chosen.any():
        return None
    launches = int(counts.group_launches[chosen].sum())
    share = float(counts.group_duration_ns[chosen].sum()) / max(counts.total_duration_ns, 1)
    are, they_wait = ("is", "it waits") if launches == 1 else ("are", "they wait")
    return _Found(
        f"communication takes {percent(share)}",
        f"{counted(launches, 'launch', 'launches')} {are} collective communication ({percent(share)} of the "
        f"time): {they_wait} for other GPUs, which a one-GPU simulator cannot do.",
        Wording("leave them out with `exclude=communication` and account for them separately"),
        (Change("exclude", COMMUNICATION),),
    )


def _overlap(evidence: Evidence) -> _Found | None:
    shares = [time for time in evidence.device_times if time.overlap_share >= _OVERLAP_WORTH_SAYING]
    if not shares:
        return None
    several = len(evidence.device_times) > 1
    places = ", ".join(
        f"{percent(time.overlap_share)} of the kernel time"
        + (f" on device {time.sequence.device} (process {time.sequence.process})" if several else "")
        for time in shares
    )
    most = max(time.overlap_share for time in shares)
    return _Found(
        f"{'up to ' if several else ''}{percent(most)} of the time overlaps",
        f"Kernels run side by side: {places} is hidden behind others; totals and bounds are of the sum.",
        "read totals as kernel time, not as elapsed time; record with one stream to compare the two",
    )


def _idle(evidence: Evidence) -> _Found | None:
    found = [time for time in evidence.device_times if time.busy_share < _IDLE_FROM]
    if not found:
        return None
    worst = min(found, key=attrgetter("busy_share"))
    share = percent(1 - worst.busy_share)
    several = len(evidence.device_times) > 1
    where = f" {worst.sequence.device} of process {worst.sequence.process}" if several else ""
    return _Found(
        f"idle {share} of the time",
        f"No kernel runs on the device{where} for {share} of the time: kernel time is not run time.",
        "look at what the program does on the host between launches",
    )


def _zero_durations(evidence: Evidence) -> _Found | None:
    durations, launches = evidence.duration_counts
    zeros = int(launches[durations == 0].sum())
    if not zeros:
        return None
    have, last = ("has", "lasts") if zeros == 1 else ("have", "last")
    return _Found(
        f"{counted(zeros, 'launch', 'launches')} {last} 0 ns",
        f"{counted(zeros, 'launch', 'launches')} ({percent(zeros / evidence.counts.launches)}) {have} "
        "duration 0: shorter than the clock shows, and nothing to total, spread or bound.",
        "record with a finer clock (Nsight Systems, or a newer PyTorch) if these kernels matter",
    )


def _coarse_clock(evidence: Evidence) -> _Found | None:
    durations, launches = evidence.duration_counts
    # One duration may be a multiple of a step by chance, and 0 is one of every step.
    if launches[durations > 0].sum() < 2:
        return None
    step_ns = clock_step_ns(durations, launches)
    short = int(launches[durations < _STEPS_FOR_A_SPREAD * step_ns].sum())
    share = short / evidence.counts.launches
    if step_ns == 1 or share < _COARSE_FROM_SHARE:
        return None
    return _Found(
        f"clock ticks of {'1 us' if step_ns == 1000 else f'{step_ns} ns'}",
        f"Durations come in steps of {step_ns:,} ns and {percent(share)} of the launches last fewer than "
        f"{_STEPS_FOR_A_SPREAD} steps: part of their spread is rounding.",
        "read bounds of short kernels with that in mind, or record with a finer clock",
    )


def clock_step_ns(durations_ns: np.ndarray, launches: np.ndarray) -> int:
    """Return the step of the clock the durations were taken with: 1000, 32 or 1 ns.

    Nsight Systems corrects for drift by up to 1 ns, so a step counts as met within 1 ns.
    """
    for step_ns, tolerance_ns in ((1000, 0), (32, 1)):
        rest = (durations_ns + tolerance_ns) % step_ns
        met = launches[rest <= 2 * tolerance_ns].sum()
        if met >= 0.98 * launches.sum():
            return step_ns
    return 1


def _no_grid(evidence: Evidence) -> _Found | None:
    counts = evidence.counts
    if not counts.grouping.needs_shape:
        return None
    missing = np.array([group.grid is None for group in counts.groups])
    launches = int(counts.group_launches[missing].sum())
    if not launches:
        return None
    return _Found(
        f"{counted(launches, 'launch', 'launches')} without grid",
        f"{counted(launches, 'launch', 'launches')} ({percent(launches / counts.launches)}) "
        f"{'has' if launches == 1 else 'have'} no grid and block: different shapes share a group, which "
        "widens its spread.",
        Wording("group all by `group_by=name`, or record with a profiler that stores launch shapes"),
        (Change("group_by", "name"),),
    )


def _several_devices(evidence: Evidence) -> _Found | None:
    sequences = selected_sequences(evidence.profile, evidence.counts.selected)
    if len(sequences) < 2 or evidence.counts.grouping.pool_devices:
        return None
    processes = len({sequence.process for sequence in sequences})
    devices = len({sequence.device for sequence in sequences})
    return _Found(
        f"{len(sequences)} devices sampled apart",
        f"Launches of {processes} process{'es' if processes > 1 else ''} and {devices} device "
        f"number{'s' if devices > 1 else ''} are sampled apart: a larger plan, with a bound of their sum.",
        Wording("pool them with `pool_devices`, or choose one with `devices` or `processes`"),
        (Change("pool_devices"),),
    )


def _identical_ranks(evidence: Evidence) -> _Found | None:
    twins = None if evidence.order is None else evidence.order.twins
    if twins is None:
        return None
    ranks = len(twins.sequences)
    same = f"the same {twins.launches:,} launches in the same order"
    if not twins.in_order:
        same = f"almost the same launches ({percent(twins.same)} of {twins.launches:,})"
    slowest = "some of them take no time"
    if twins.time_ratio is not None:
        slowest = f"the slowest takes {percent(twins.time_ratio - 1)} longer than the fastest"
    return _Found(
        f"{ranks} ranks issue {'' if twins.in_order else 'almost '}the same launches",
        f"{ranks} processes or devices issue {same}: one of them takes 1/{ranks} of the simulations, but the "
        f"bound then covers it alone; {slowest}.",
        *_one_of(evidence.profile.sequences, twins),
    )


def _one_of(sequences: Sequence[LaunchSequence], twins: Twins) -> tuple[str, tuple[Change, ...]]:
    """Return how to keep one of the twins, and whatever is no twin, and the changes that do it."""
    pooled = Wording("pool them with `pool_devices`, which covers them all")
    kept, known = {twins.sequences[0], *twins.others}, {*twins.sequences, *twins.others}
    devices = sorted({sequences[index].device for index in kept})
    processes = sorted({sequences[index].process for index in kept})
    by_device = Change("devices", ",".join(map(str, devices)))
    by_process = Change("processes", ",".join(map(str, processes)))
    on_devices = {index for index in known if sequences[index].device in devices}
    of_processes = {index for index in known if sequences[index].process in processes}
    for left, changes in (
        (on_devices, (by_device,)),
        (of_processes, (by_process,)),
        (on_devices & of_processes, (by_device, by_process)),
    ):
        if left == kept:
            filters = joined_texts(" and ", [Wording(f"`{each.parameter}={each.value}`") for each in changes])
            one = f"plan one with {{}} and count its total {len(twins.sequences)} times, or {{}}"
            return Wording(one, filters, pooled), changes
    return pooled, (Change("pool_devices"),)


def _drift(evidence: Evidence) -> _Found | None:
    found = None if evidence.order is None else evidence.order.drift
    share = 0.0 if found is None else found.time_ns / max(evidence.counts.total_duration_ns, 1)
    if found is None or share < _DRIFT_FROM_SHARE:
        return None
    is_random = evidence.plan is None or evidence.plan.random
    verb = "falls" if found.to_ns < found.from_ns else "grows"
    more = f"; with {counted(len(found.groups) - 1, 'other kernel group')}," if len(found.groups) > 1 else ","
    name = short_name(evidence.counts.groups[found.group].name)
    why = "launches drawn at random stand for the whole run all the same, the first ones do not"
    later = Wording("plan the later half apart by `launches={}:`", found.middle_id)
    remedy = Wording("keep to a method that draws at random; to look closer, {}", later)
    change = Change("launches", f"{found.middle_id}:")
    if not is_random and evidence.plan is not None:
        why = f"the {evidence.plan.method} plan takes launches that last otherwise, and no bound covers that"
        remedy = Wording("take `method=joint`, which draws at random, or {}", later)
        change = Change("method", "joint")
    return _Found(
        f"{percent(share)} of the time drifts",
        f"#{found.group + 1} {name} {verb} from {duration_text(found.from_ns)} to "
        f"{duration_text(found.to_ns)} over the run{more} {percent(share)} of the time drifts (rank "
        f"correlation {found.trend:.2f}): {why}.",
        remedy,
        (change,),
        "note" if is_random else "warning",
    )


def _iterations(evidence: Evidence) -> _Found | None:
    loop = None if evidence.order is None else evidence.order.loop
    if loop is None:
        return None
    where = ""
    if len(selected_sequences(evidence.profile, evidence.counts.selected)) > 1:
        place = evidence.profile.sequences[loop.sequence]
        where = f" of process {place.process} on device {place.device}"
    first, stop = loop.one
    off = ""
    if loop.most_off is not None:
        off = f"; one iteration alone may be off by {percent(loop.most_off)}"
    return _Found(
        f"a loop of {counted(loop.iterations, 'iteration')}",
        f"Launches {loop.first_id:,} to {loop.stop_id - 1:,}{where} are {loop.iterations:,} times the same "
        f"{loop.launches:,} launches ({percent(loop.share)} of all){off}.",
        Wording(
            "plan one of them by `launches={}:{}`, or compare `method=single-iteration` with this plan",
            first,
            stop,
        ),
        (Change("launches", f"{first}:{stop}"),),
    )


def _one_launch_dominates(evidence: Evidence) -> _Found | None:
    counts = evidence.counts
    total_ns = counts.total_duration_ns
    longest = int(np.argmax(counts.duration_ns))
    share = int(counts.duration_ns[longest]) / total_ns if total_ns else 0.0
    if share < _DOMINATES_FROM:
        return None
    group = int(np.searchsorted(counts.offsets, longest, side="right")) - 1
    mean_ns = counts.group_duration_ns[group] / counts.group_launches[group]
    unlike = counts.group_launches[group] > 1 and counts.duration_ns[longest] > _UNLIKE_FROM * mean_ns
    return _Found(
        f"one launch is {percent(share)} of the time",
        f"One launch of #{group + 1} {short_name(counts.groups[group].name)} takes {percent(share)} of the "
        f"time: no plan that simulates it whole is faster than {1 / share:.1f}x"
        + (", and being unlike its group, the bound rests on drawing it." if unlike else "."),
        "sample inside that launch, or shorten it",
    )


def _not_worth_sampling(evidence: Evidence) -> _Found | None:
    plan, launches = evidence.plan, evidence.counts.launches
    if plan is None:
        return None
    is_slow = plan.speedup is not None and plan.speedup < _WORTHWHILE_SPEEDUP
    several = plan.groups_whole > 1
    groups = f"{plan.groups_whole:,} kernel group" + ("s" if several else "")
    whole = (
        f"{groups} ({percent(plan.share_whole)} of the time) {'are' if several else 'is'} simulated whole: "
        f"under the bounds asked for, sampling {'them' if several else 'it'} saves nothing"
    )
    looser = "accept a larger `group_epsilon`, or none" if plan.bounds_groups else "accept a larger `epsilon`"
    if is_slow and launches == len(evidence.counts.groups):
        words = "there is one launch" if launches == 1 else "each launch is a group"
        message = (
            "There is one launch, so nothing can be left out."
            if launches == 1
            else (f"Each of the {launches:,} launches is a kernel group of its own: none stands for another.")
        )
        remedy = "simulate everything, group by `group_by=name`, or record more of the program"
        remedy = "simulate it" if launches == 1 else remedy
    elif is_slow:
        words = f"sampling gains only {plan.speedup:.2f}x"
        message = (
            f"The {plan.method} plan simulates {plan.launches:,.0f} of {launches:,} launches and is only "
            f"{plan.speedup:.2f}x faster than simulating them all"
            + (f"; {whole}." if plan.groups_whole else ".")
        )
        epsilon = "accept a larger `epsilon`, " if plan.random else ""
        remedy = f"simulate everything, {epsilon}or compare other methods"
        remedy += f"; or {looser}" if plan.groups_whole else ""
    elif plan.groups_whole:
        words, message, remedy = f"{counted(plan.groups_whole, 'group')} simulated whole", f"{whole}.", looser
    else:
        return None
    return _Found(words, message, Wording(remedy))


_CHECKS: tuple[tuple[str, Severity, Callable[[Evidence], _Found | None]], ...] = (
    ("graph-level-trace", "warning", _graph_level_trace),
    ("api-rows-missing", "note", _api_rows_missing),
    ("communication-kernels", "warning", _communication_kernels),
    ("overlap", "warning", _overlap),
    ("idle", "note", _idle),
    ("zero-durations", "note", _zero_durations),
    ("coarse-clock", "note", _coarse_clock),
    ("no-grid", "note", _no_grid),
    ("several-devices", "note", _several_devices),
    ("identical-ranks", "note", _identical_ranks),
    ("drift", "note", _drift),
    ("iterations", "note", _iterations),
    ("one-launch-dominates", "warning", _one_launch_dominates),
    ("not-worth-sampling", "note", _not_worth_sampling),
)

#: The codes, in the order of the checks.
CODES = tuple(code for code, _, _ in _CHECKS)


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Return what is found, in a fixed order."""
    found = ((code, severity, check(evidence)) for code, severity, check in _CHECKS)
    return tuple(
        Finding(code, each.severity or severity, each.words, each.message, each.remedy, each.changes)
        for code, severity, each in found
        if each is not None
    )
