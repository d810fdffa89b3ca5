"""What a person should know of a profile before believing a plan of it: findings, each a check of its own.

A new one is one function in ``_CHECKS``, whose name is its code. (docs/methods.md, 13 The order of the run)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.methods.registry import method_named
from sampling.plan.design import Design
from sampling.profile.names import is_communication, short_name
from sampling.profile.profile import DeviceTime, LaunchSequence, Part, Profile
from sampling.record import Record
from sampling.reduction.duration_counts import DurationCounts, clock_step_ns
from sampling.reduction.idle import CAUSES, CopyTime, IdleTime
from sampling.reduction.region import COMMUNICATION, selected_sequences
from sampling.reduction.run_order import ReplicaRanks, RunOrder
from sampling.text import Wording, counted, duration_text, joined_texts

#: A note is good to know, a warning breaks an assumption, with an error totals are not the run's.
Severity = Literal["note", "warning", "error"]

_STEPS_FOR_A_SPREAD = 50
_COARSE_FROM_SHARE = 0.05
_OVERLAP_WORTH_SAYING = 0.01
_IDLE_FROM = 0.2
# So much of the idle time a cause must have for its remedy to be named.
_CAUSE_FROM = 0.25
_DRIFT_FROM_SHARE = 0.02
_DOMINATES_FROM = 0.1
_UNLIKE_FROM = 2.0
_WORTHWHILE_SPEEDUP = 2.0
_MISSING_IS_AN_ERROR_FROM = 0.1
#: What is no note
_SEVERITIES: dict[str, Severity] = {
    **dict.fromkeys(("graph-level-trace", "communication-kernels", "overlap"), "warning"),
    **dict.fromkeys(("one-launch-dominates", "missing-kernels", "rows-left-out", "no-times"), "warning"),
    "overlong": "error",
}


class Change(NamedTuple):
    """What to set a parameter to, written as on a command line; None for one that is only switched on."""

    parameter: str
    value: str | None = None


class FindingRecord(Record, frozen=True):
    """What was found in a profile that breaks an assumption of the methods, and what to do."""

    code: str
    severity: Severity
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding."""

    code: str
    severity: Severity
    #: The measurement alone, in so few words that several findings fit in a row.
    words: str
    #: The measurement and why it matters, in a sentence.
    message: str
    remedy: str
    #: Of the parameters, that do the first thing the remedy names; () where no parameter does it.
    changes: tuple[Change, ...] = ()

    @property
    def record(self) -> FindingRecord:
        """What commands print of it and plan files keep."""
        return FindingRecord(self.code, self.severity, str(self.message), str(self.remedy))


# Two are the same only if they are one object: comparing would compare arrays.
@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What findings are drawn from: a profile looked at once, and the design of its plan, if there is one."""

    profile: Profile
    counts: DurationCounts
    #: The launches that every filter of the region keeps, part by part.
    counted: tuple[Part, ...]
    #: Empty where they were not looked at.
    device_times: tuple[DeviceTime, ...] = ()
    #: Why devices are idle, and the copies; empty and None where it was not looked at.
    idle: Mapping[LaunchSequence, IdleTime] = field(default_factory=dict)
    copies: list[CopyTime] | None = None
    order: RunOrder = RunOrder()
    design: Design | None = None

    @property
    def sequences(self) -> tuple[LaunchSequence, ...]:
        """The processes and devices that have launches in the region."""
        return selected_sequences(self.profile, self.counted)

    def durations(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the distinct durations over all groups, ascending, and their launches."""
        durations, inverse = np.unique(self.counts.duration_ns, return_inverse=True)
        return durations, np.bincount(inverse, weights=self.counts.count).astype(np.int64)

    def kernel(self, group: int) -> str:
        """Return a kernel group as findings name it."""
        return f"#{group + 1} {short_name(self.counts.groups[group].name)}"


#: A finding but for code and severity: words, message, remedy, and the changes that do it.
_Content = tuple[str, str, str] | tuple[str, str, str, tuple[Change, ...]]


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Return what is found in a profile and the design of its plan, in a fixed order.

    Without a design nothing is said of how much a plan gains.
    """
    contents: Iterator[tuple[str, _Content | None]] = (
        (check.__name__.strip("_").replace("_", "-"), check(evidence)) for check in _CHECKS
    )
    return tuple(
        Finding(code, _severity(code, evidence), *content)
        for code, content in contents
        if content is not None
    )


def _severity(code: str, evidence: Evidence) -> Severity:
    if code == "drift" and evidence.design is not None and not evidence.design.random:
        return "warning"
    facts = evidence.profile.facts
    if (
        code == "missing-kernels"
        and facts.calls_without_kernel > _MISSING_IS_AN_ERROR_FROM * facts.launch_calls
    ):
        return "error"
    return _SEVERITIES.get(code, "note")


def _percent(share: float) -> str:
    """Return a share as text; one above 0 is never shown as 0."""
    return f"{100 * share:.1f} %" if share >= 0.001 else "under 0.1 %"


def _graph_level_trace(evidence: Evidence) -> _Content | None:
    replays = evidence.profile.facts.hidden_graph_replays
    if not replays:
        return None
    reason = "CUDA-graph replays were recorded as a whole: total and bounds leave their kernels out."
    remedy = "record again with `nsys profile --cuda-graph-trace=node`"
    return f"kernels of {counted(replays, 'graph replay')} missing", f"{replays:,} {reason}", remedy


def _missing_kernels(evidence: Evidence) -> _Content | None:
    facts = evidence.profile.facts
    missing, calls = facts.calls_without_kernel, facts.launch_calls
    if not missing:
        return None
    share = _percent(missing / calls)
    message = (
        f"{missing:,} of {counted(calls, 'launch call')} ({share}) {'has' if missing == 1 else 'have'} no "
        "kernel in the recording: what is missing is in no total, and nothing here can stand for it."
    )
    remedy = (
        "record from before the first launch until the GPU is idle again; calls that a graph captures launch "
        "nothing: record its replay"
    )
    return f"{share} of the launches missing", message, remedy


def _replayed(evidence: Evidence) -> _Content | None:
    if not (replays := evidence.profile.facts.replays):
        return None
    message = (
        f"Launches were run again {counted(replays, 'time')} for other counters: each counts once, with its "
        "first times."
    )
    remedy = "record times by themselves: counters slow launches down"
    return f"{counted(replays, 'replay')} not counted", message, remedy


def _merged_ranks(evidence: Evidence) -> _Content | None:
    if not (ranks := evidence.profile.facts.merged_ranks):
        return None
    holds = "the file holds" if len(evidence.profile.files) == 1 else "files hold"
    words = f"{holds} {ranks} ranks"
    message = f"{words.capitalize()}: each is a process here, its kernels joined to its own calls alone."
    return words, message, Wording("choose one with `processes`")


def _rows_left_out(evidence: Evidence) -> _Content | None:
    facts = evidence.profile.facts
    if not (rows := facts.rows_left_out):
        return None
    is_one = rows == 1
    message = (
        f"{counted(rows, 'row')} {'is' if is_one else 'are'} no usable launch and "
        f"{'was' if is_one else 'were'} left out; the first: {facts.first_left_out}."
    )
    return f"{counted(rows, 'row')} left out", message, "record or export the profile again to have all"


def _overlong(evidence: Evidence) -> _Content | None:
    facts = evidence.profile.facts
    if not (number := facts.overlong):
        return None
    launches = counted(number, "launch")
    beyond, it_is = (
        duration_text(facts.overlong_ns, evidence.profile.duration_unit),
        "it is" if number == 1 else "they are",
    )
    treatment = f"{it_is} cut at the next start of the stream, which takes {beyond} from every total"
    remedy = Wording("record again; to have the recorded durations, read with `keep_overlong`")
    if facts.keeps_overlong:
        treatment = f"{it_is} kept, {beyond} more in every total than up to the next start of the stream"
        remedy = Wording("leave out `keep_overlong`, or record again")
    first = short_name(facts.first_overlong or "")
    reason = f"other launches of the same stream begin and end meanwhile (the first: {first})"
    message = f"{launches} cannot last as long as recorded: {reason}; {treatment}."
    return f"{launches} cannot last so long", message, remedy


def _no_times(evidence: Evidence) -> _Content | None:
    number, launches = evidence.profile.facts.without_start, evidence.profile.launches
    if not number:
        return None
    has, its = ("has", "its") if number == 1 else ("have", "their")
    message = Wording(
        f"{counted(number, 'launch')} of {launches:,} ({_percent(number / launches)}) {has} no start in the "
        f"recording: {its} duration counts, but span, busy and idle time, overlap and `time_ns` are of the "
        "others."
    )
    remedy = "record again if these launches matter"
    return f"{counted(number, 'launch')} without a time", message, remedy


def _api_rows_missing(evidence: Evidence) -> _Content | None:
    facts, launches = evidence.profile.facts, evidence.profile.launches
    missing = facts.api_rows_missing
    if not missing:
        return None
    bases = {"correlation": "correlation ids", "gpu-start": "start times on the GPU"}
    message = (
        f"{missing:,} of {launches:,} launches ({_percent(missing / launches)}) "
        f"{'has' if missing == 1 else 'have'} no API call: their order, and so the ids, rest on "
        f"{bases.get(facts.launch_order, 'the file')}."
    )
    remedy = "start the capture before the work is queued; check ids against the trace's own list"
    return f"{counted(missing, 'launch')} without API call", message, remedy


def _communication_kernels(evidence: Evidence) -> _Content | None:
    counts = evidence.counts
    # Every name once: there may be a group of each for every process.
    names = {name for name in {group.name for group in counts.groups} if is_communication(name)}
    mask = np.array([group.name in names for group in counts.groups])
    launches = int(counts.group_launches[mask].sum())
    if not launches:
        return None
    share = _percent(float(counts.group_duration_ns[mask].sum()) / max(counts.total_duration_ns, 1))
    they_are = counted(launches, "launch is", "launches are")
    wait = "it waits" if launches == 1 else "they wait"
    message = (
        f"{they_are} collective communication ({share} of the time): {wait} for other GPUs, which a one-GPU "
        "simulator cannot do."
    )
    remedy = Wording("leave them out with `exclude=communication` and account for them separately")
    return f"communication takes {share}", message, remedy, (Change("exclude", COMMUNICATION),)


def _overlap(evidence: Evidence) -> _Content | None:
    times = [time for time in evidence.device_times if time.overlap_share >= _OVERLAP_WORTH_SAYING]
    if not times:
        return None
    worst = max(times, key=attrgetter("overlap_share"))
    share, sequence = _percent(worst.overlap_share), worst.sequence
    words, measure = f"{share} of the time overlaps", f"{share} of the kernel time"
    if len(evidence.device_times) > 1:
        words, measure = f"up to {words}", f"{measure} on device {sequence.device} of {sequence.owner}"
    if len(times) > 1:
        measure += f" (at most so much on {counted(len(times) - 1, 'other')})"
    message = (
        f"Kernels run side by side: {measure} is hidden behind others; totals and bounds are of the sum."
    )
    remedy = "read totals as kernel time, not as elapsed time; record with one stream to compare the two"
    return words, message, remedy


def _idle(evidence: Evidence) -> _Content | None:
    worst = min(evidence.device_times, key=attrgetter("busy_share"), default=None)
    if worst is None or 1 - worst.busy_share < _IDLE_FROM:
        return None
    share, several = _percent(1 - worst.busy_share), len(evidence.device_times) > 1
    device = f"device {worst.sequence.device} of {worst.sequence.owner}" if several else "the device"
    unit = evidence.profile.duration_unit
    gaps = [
        f"{duration_text(ns, unit)} between launches {before:,} and {after:,}"
        for ns, before, after in worst.gaps
    ]
    message = (
        f"No kernel runs on {device} for {share} of the time, longest {', '.join(gaps)}: "
        "kernel time is not run time."
    )
    idle = evidence.idle.get(worst.sequence)
    remedy = "see what the host does between these launches: `kernelpoint info` says what each gap is due to"
    if idle is not None:
        remedy = _idle_remedy(idle, "HIP graphs" if evidence.profile.is_amd else "CUDA graphs")
    return f"idle {share} of the time", message, remedy


def _idle_remedy(idle: IdleTime, graphs: str) -> str:
    """Return what is to be done about the causes that hold most of the idle time."""
    host = 0.0 if idle.causes is None else idle.causes["host"]
    of_host = f"{graphs} or a larger batch: the host launches too late"
    if 2 * idle.copying > host:
        of_host = "non-blocking copies from pinned memory: it launches after its copies"
    elif 2 * idle.synchronising > host:
        of_host = "fewer synchronisations: the host waits for the device, then launches"
    remedies = {
        "host": of_host,
        "copy": "non-blocking copies beside kernels, from pinned memory on a stream of their own",
        "turnaround": f"{graphs} or fewer, longer kernels: each gap is what a launch takes",
        "dependency": "look for what the kernels wait for: another stream, another device or a collective",
        "unknown": "record the API calls too: without them nothing says why",
    }
    shares = {cause: idle.share_of(cause) for cause in CAUSES}
    named = sorted(
        (cause for cause in CAUSES if shares[cause] >= _CAUSE_FROM), key=lambda cause: -shares[cause]
    )
    return "; ".join(f"{_percent(shares[cause])} {cause}: {remedies[cause]}" for cause in named) or of_host


def _zero_durations(evidence: Evidence) -> _Content | None:
    durations, launches = evidence.durations()
    zeros = int(launches[durations == 0].sum())
    if not zeros:
        return None
    share = _percent(zeros / evidence.counts.launches)
    have, last = ("has", "lasts") if zeros == 1 else ("have", "last")
    unknown = " or not recorded" if evidence.profile.facts.without_start else ""
    message = (
        f"{counted(zeros, 'launch')} ({share}) {have} duration 0: shorter than the clock shows{unknown}, and "
        "nothing to total, spread or bound."
    )
    remedy = "record with a finer clock (Nsight Systems, or a newer PyTorch) if these kernels matter"
    return f"{counted(zeros, 'launch')} {last} 0 ns", message, remedy


def _coarse_clock(evidence: Evidence) -> _Content | None:
    durations, launches = evidence.durations()
    step_ns = clock_step_ns(durations, launches)
    share = int(launches[durations < _STEPS_FOR_A_SPREAD * step_ns].sum()) / evidence.counts.launches
    # One duration may be a multiple of a step by chance, and 0 is one of every step.
    if step_ns == 1 or share < _COARSE_FROM_SHARE or launches[durations > 0].sum() < 2:
        return None
    message = (
        f"Durations come in steps of {step_ns:,} ns and {_percent(share)} of the launches last fewer than "
        f"{_STEPS_FOR_A_SPREAD} steps: part of their spread is rounding."
    )
    remedy = "read bounds of short kernels with that in mind, or record with a finer clock"
    return f"clock ticks of {'1 us' if step_ns == 1000 else f'{step_ns} ns'}", message, remedy


def _no_grid(evidence: Evidence) -> _Content | None:
    counts = evidence.counts
    missing = np.array([group.grid is None for group in counts.groups])
    launches = int(counts.group_launches[missing].sum())
    if not counts.grouping.needs_shape or not launches:
        return None
    message = (
        f"{counted(launches, 'launch')} ({_percent(launches / counts.launches)}) "
        f"{'has' if launches == 1 else 'have'} no grid and block: different shapes share a group, which "
        "widens its spread."
    )
    remedy = Wording("group all by `group_by=name`, or record with a profiler that stores launch shapes")
    return f"{counted(launches, 'launch')} without grid", message, remedy, (Change("group_by", "name"),)


def _several_devices(evidence: Evidence) -> _Content | None:
    sequences = evidence.sequences
    if len(sequences) < 2 or evidence.counts.grouping.pool_devices:
        return None
    processes = counted(len({sequence.process for sequence in sequences}), "process")
    devices = counted(len({sequence.device for sequence in sequences}), "device number")
    consequence = "are sampled apart: a larger plan, with a bound of their sum."
    remedy = Wording("pool them with `pool_devices`, or choose one with `devices` or `processes`")
    words, changes = f"{len(sequences)} devices sampled apart", (Change("pool_devices"),)
    return words, f"Launches of {processes} and {devices} {consequence}", remedy, changes


def _identical_ranks(evidence: Evidence) -> _Content | None:
    alike_ns, replicas = evidence.counts.replica_times_ns, evidence.order.replicas
    if alike_ns and evidence.counts.grouping.pool_devices:
        message = (
            f"{len(alike_ns)} processes or devices issue the same launches and are planned as one, whose "
            "bound has the spread between them"
        )
        if min(alike_ns):
            message += (
                f"; the slowest takes {_percent(max(alike_ns) / min(alike_ns) - 1)} longer than the fastest"
            )
        words = f"{len(alike_ns)} ranks planned as one"
        return words, f"{message}.", Wording("`each_rank` plans each by itself"), (Change("each_rank"),)
    if replicas is None:
        return None
    ranks, almost = len(replicas.sequences), "" if replicas.in_order else "almost "
    same = f"the same {replicas.launches:,} launches in the same order"
    if almost:
        same = f"almost the same launches ({_percent(replicas.same)} of {replicas.launches:,})"
    slowest = "some of them take no time"
    if replicas.time_ratio is not None:
        slowest = f"the slowest takes {_percent(replicas.time_ratio - 1)} longer than the fastest"
    message = (
        f"{ranks} processes or devices issue {same}: one of them takes 1/{ranks} of the simulations, but the "
        f"bound then covers it alone; {slowest}."
    )
    words = f"{ranks} ranks issue {almost}the same launches"
    return words, message, *_choose_replica(evidence.profile.sequences, replicas)


def _choose_replica(
    sequences: Sequence[LaunchSequence], replicas: ReplicaRanks
) -> tuple[str, tuple[Change, ...]]:
    """Return how to keep one of the replicas, and whatever is none, and the changes that do it."""
    pooled = Wording("pool them with `pool_devices`, which covers them all")
    remaining = {replicas.sequences[0], *replicas.different}
    candidates = {*replicas.sequences, *replicas.different}
    by_device, by_process = ("devices", attrgetter("device")), ("processes", attrgetter("process"))
    for filters in ((by_device,), (by_process,), (by_device, by_process)):
        left, changes = candidates, []
        for parameter, number in filters:
            numbers = {number(sequences[index]) for index in remaining}
            left = {index for index in left if number(sequences[index]) in numbers}
            changes.append(Change(parameter, ",".join(map(str, sorted(numbers)))))
        if left == remaining:
            filters_text = joined_texts(
                " and ", [Wording(f"`{change.parameter}={change.value}`") for change in changes]
            )
            advice = f"plan one with {{}} and count its total {len(replicas.sequences)} times, or {{}}"
            return Wording(advice, filters_text, pooled), tuple(changes)
    return pooled, (Change("pool_devices"),)


def _drift(evidence: Evidence) -> _Content | None:
    drift, plan = evidence.order.drift, evidence.design
    share = 0.0 if drift is None else drift.time_ns / max(evidence.counts.total_duration_ns, 1)
    if drift is None or share < _DRIFT_FROM_SHARE:
        return None
    verb, other_groups = "falls" if drift.to_ns < drift.from_ns else "grows", len(drift.groups) - 1
    addition = f"; with {counted(other_groups, 'other kernel group')}," if other_groups else ","
    words = f"{_percent(share)} of the time drifts"
    from_text, to_text = (
        duration_text(ns, evidence.profile.duration_unit) for ns in (drift.from_ns, drift.to_ns)
    )
    message = (
        f"{evidence.kernel(drift.group)} {verb} from {from_text} to "
        f"{to_text} over the run{addition} {words} (rank correlation {drift.trend:.2f}): "
    )
    later = Wording("plan the later half apart by `launches={}:`", drift.middle_id)
    if plan is None or plan.random:
        message += "launches drawn at random stand for the whole run all the same, the first ones do not."
        remedy = Wording("keep to a method that draws at random; to look closer, {}", later)
        return words, message, remedy, (Change("launches", f"{drift.middle_id}:"),)
    message += f"the {plan.method} plan takes launches that last otherwise, and no bound covers that."
    remedy = Wording("take `method=joint`, which draws at random, or {}", later)
    return words, message, remedy, (Change("method", "joint"),)


def _iterations(evidence: Evidence) -> _Content | None:
    loop = evidence.order.loop
    if loop is None:
        return None
    place, location, off = evidence.profile.sequences[loop.sequence], "", ""
    if len(evidence.sequences) > 1:
        location = f" of {place.owner} on device {place.device}"
    if loop.most_off is not None:
        off = f"; one iteration alone may be off by {_percent(loop.most_off)}"
    ids, same = f"{loop.first_id:,} to {loop.stop_id - 1:,}{location}", f"the same {loop.launches:,} launches"
    if loop.stop_id - loop.first_id == loop.iterations * loop.launches:
        message = f"Launches {ids} are {loop.iterations:,} times {same}"
    else:
        # Others lie between the iterations.
        message = f"Among launches {ids} {same} come {loop.iterations:,} times"
    message += f" ({_percent(loop.share)} of all{' there' if location else ''}){off}."
    advice = "plan one of them by `launches={}:{}`, or compare `method=single-iteration` with this plan"
    changes = (Change("launches", "{}:{}".format(*loop.iteration_ids)),)
    return (
        f"a loop of {counted(loop.iterations, 'iteration')}",
        message,
        Wording(advice, *loop.iteration_ids),
        changes,
    )


def _one_launch_dominates(evidence: Evidence) -> _Content | None:
    counts = evidence.counts
    longest = int(np.argmax(counts.duration_ns))
    share = int(counts.duration_ns[longest]) / max(counts.total_duration_ns, 1)
    if share < _DOMINATES_FROM:
        return None
    group = int(np.searchsorted(counts.offsets, longest, side="right")) - 1
    mean_ns = counts.group_duration_ns[group] / counts.group_launches[group]
    unlike = counts.group_launches[group] > 1 and counts.duration_ns[longest] > _UNLIKE_FROM * mean_ns
    message = (
        f"One launch of {evidence.kernel(group)} takes {_percent(share)} of the time: no plan that simulates "
        f"it whole is faster than {1 / share:.1f}x"
        f"{', and being unlike its group, the bound rests on drawing it' if unlike else ''}."
    )
    words = f"one launch is {_percent(share)} of the time"
    return words, message, "sample inside that launch, or shorten it"


def _not_worth_sampling(evidence: Evidence) -> _Content | None:
    plan, counts, launches = evidence.design, evidence.counts, evidence.counts.launches
    if plan is None:
        return None
    groups, share = 0, 0.0
    # Groups that are simulated whole though not small: where no noise floor is looked at, a group has as many
    # samples as its durations ask for.
    if "noise_floor" in method_named(plan.method).target_fields:
        strata, group_counts = plan.strata, plan.groups.counts
        left_out = np.bincount(
            strata.group, strata.launches - strata.samples, minlength=len(group_counts.groups)
        )
        is_whole = (left_out == 0) & (group_counts.group_launches > strata.least_samples)
        groups = int(is_whole.sum())
        share = float(group_counts.group_duration_ns[is_whole].sum()) / max(group_counts.total_duration_ns, 1)
    are, them = ("are", "them") if groups > 1 else ("is", "it")
    sentence = (
        f"{counted(groups, 'kernel group')} ({_percent(share)} of the time) {are} simulated whole: under the "
        f"bounds asked for, sampling {them} saves nothing"
    )
    is_asked = plan.target.group_epsilon is not None
    looser = "accept a larger `group_epsilon`, or none" if is_asked else "accept a larger `epsilon`"
    if plan.speedup is None or plan.speedup >= _WORTHWHILE_SPEEDUP:
        content = f"{counted(groups, 'group')} simulated whole", f"{sentence}.", Wording(looser)
        return content if groups else None
    if launches == 1:
        return "there is one launch", "There is one launch, so nothing can be left out.", "simulate it"
    if launches == len(counts.groups):
        message = f"Each of the {launches:,} launches is a kernel group of its own: none stands for another."
        remedy = "simulate everything, group by `group_by=name`, or record more of the program"
        return "each launch is a group", message, Wording(remedy)
    message = (
        f"The {plan.method} plan simulates {plan.samples:,} of {launches:,} launches and is only "
        f"{plan.speedup:.2f}x faster than simulating them all{f'; {sentence}' if groups else ''}."
    )
    epsilon = "accept a larger `epsilon`, " if plan.random else ""
    remedy = f"simulate everything, {epsilon}or compare other methods{f'; or {looser}' if groups else ''}"
    return f"sampling gains only {plan.speedup:.2f}x", message, Wording(remedy)


_CHECKS = (
    *(
        _graph_level_trace,
        _missing_kernels,
        _merged_ranks,
        _replayed,
        _rows_left_out,
        _overlong,
        _no_times,
        _api_rows_missing,
        _communication_kernels,
        _overlap,
        _idle,
        _zero_durations,
    ),
    *(_coarse_clock, _no_grid, _several_devices, _identical_ranks, _drift, _iterations),
    *(_one_launch_dominates, _not_worth_sampling),
)
