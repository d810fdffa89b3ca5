"""Where a profile breaks an assumption of the methods: how much, why the bound suffers, what to do.

A new finding is one new function and one line in ``_CHECKS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sampling.profile.names import is_communication, short_name
from sampling.profile.profile import Profile
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.overlap import DeviceTime
from sampling.reduction.region import selected_sequences
from sampling.text import Wording, counted

Severity = Literal["note", "warning"]

_OVERLAP_WORTH_SAYING = 0.01
_STEPS_FOR_A_SPREAD = 50
_COARSE_FROM_SHARE = 0.05
_DOMINATES_FROM = 0.1
_UNLIKE_FROM = 2.0
_WORTHWHILE_SPEEDUP = 2.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; the message is one or two sentences with the measurement and why it matters."""

    code: str
    severity: Severity
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class PlanCost:
    """What a plan is expected to cost.

    Attributes
    ----------
    launches : how many it simulates.
    speedup : None where it samples no time.
    random : whether it draws at random, and so goes by epsilon.
    groups_whole, share_whole : kernel groups that it simulates whole although they have more launches than
        the least number of samples, and their share of the total time.
    bounds_groups : whether groups have a bound of their own.
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
    """

    profile: Profile
    counts: DurationCounts
    device_times: Sequence[DeviceTime] = ()
    plan: PlanCost | None = None

    @cached_property
    def duration_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct durations over all groups, ascending, and their launches."""
        durations, inverse = np.unique(self.counts.duration_ns, return_inverse=True)
        return durations, np.bincount(inverse, weights=self.counts.count).astype(np.int64)


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Return what is found, in a fixed order."""
    checks = _CHECKS if evidence.profile.has_durations else _WITHOUT_DURATIONS
    found = (check(evidence) for check in checks)
    return tuple(finding for finding in found if finding is not None)


def _percent(share: float) -> str:
    """Return a share as text; one above 0 is never shown as 0."""
    return f"{100 * share:.1f} %" if share >= 0.001 else "under 0.1 %"


def _graph_level_trace(evidence: Evidence) -> Finding | None:
    replays = evidence.profile.facts.hidden_graph_replays
    if not replays:
        return None
    return Finding(
        "graph-level-trace",
        "warning",
        f"{replays:,} CUDA-graph replays were recorded as a whole; their kernels are not in the profile, so "
        "the total and every bound leave them out.",
        "record again with `nsys profile --cuda-graph-trace=node`",
    )


def _api_rows_missing(evidence: Evidence) -> Finding | None:
    missing, launches = evidence.profile.facts.api_rows_missing, evidence.profile.launches
    if not missing:
        return None
    return Finding(
        "api-rows-missing",
        "note",
        f"{missing:,} of {launches:,} launches ({_percent(missing / launches)}) "
        f"{'has' if missing == 1 else 'have'} no API call in the recording; "
        f"their order, and so the launch ids, rest on {_order_basis(evidence)}.",
        "start the capture before the work is queued; check ids against the trace's own list",
    )


def _order_basis(evidence: Evidence) -> str:
    order = evidence.profile.facts.launch_order
    return {"correlation": "correlation ids", "gpu-start": "start times on the GPU"}.get(order, "the file")


def _communication_kernels(evidence: Evidence) -> Finding | None:
    counts = evidence.counts
    # Every name once: there may be a group of each for every process.
    names = {name for name in {group.name for group in counts.groups} if is_communication(name)}
    chosen = np.array([group.name in names for group in counts.groups])
    if not chosen.any():
        return None
    launches = int(counts.group_launches[chosen].sum())
    share, of_what = launches / counts.launches, "launches"
    if counts.has_durations:
        share = float(counts.group_duration_ns[chosen].sum()) / max(counts.total_duration_ns, 1)
        of_what = "time"
    are, they_wait, their = ("is", "it waits", "its") if launches == 1 else ("are", "they wait", "their")
    return Finding(
        "communication-kernels",
        "warning",
        f"{counted(launches, 'launch', 'launches')} {are} collective communication "
        f"({_percent(share)} of the {of_what}); {they_wait} for other GPUs, which a one-GPU simulator cannot "
        f"reproduce, so the bound does not carry over to {their} simulated time.",
        Wording("leave them out with `exclude=communication` and account for them separately"),
    )


def _overlap(evidence: Evidence) -> Finding | None:
    shares = [time for time in evidence.device_times if time.overlap_share >= _OVERLAP_WORTH_SAYING]
    if not shares:
        return None
    several = len(evidence.device_times) > 1
    places = ", ".join(
        f"{_percent(time.overlap_share)} of the kernel time"
        + (f" on device {time.sequence.device} (process {time.sequence.process})" if several else "")
        for time in shares
    )
    return Finding(
        "overlap",
        "warning",
        f"Kernels run side by side: {places} is hidden behind other kernels. The bound covers the sum of "
        "durations, which is longer than the time the device is busy.",
        "read totals as kernel time, not as elapsed time; record with one stream to compare the two",
    )


def _no_durations(evidence: Evidence) -> Finding | None:
    if evidence.profile.has_durations:
        return None
    return Finding(
        "no-durations",
        "warning",
        "The profile counts instructions and has no durations: a plan has no bound, no speedup in time and "
        "no error to be judged by, and only methods that need no durations make one.",
        Wording("plan by `method=sieve`, or record the program with `nsys profile --trace cuda`"),
    )


def _zero_durations(evidence: Evidence) -> Finding | None:
    durations, launches = evidence.duration_counts
    zeros = int(launches[durations == 0].sum())
    if not zeros:
        return None
    have, they_count = "have", "They count as launches and add"
    if zeros == 1:
        have, they_count = "has", "It counts as a launch and adds"
    return Finding(
        "zero-durations",
        "note",
        f"{counted(zeros, 'launch', 'launches')} ({_percent(zeros / evidence.counts.launches)}) {have} "
        f"duration 0: shorter than the clock shows. {they_count} nothing to total, spread or bound.",
        "record with a finer clock (Nsight Systems, or a newer PyTorch) if these kernels matter",
    )


def _coarse_clock(evidence: Evidence) -> Finding | None:
    durations, launches = evidence.duration_counts
    # One duration may be a multiple of a step by chance, and 0 is one of every step.
    if launches[durations > 0].sum() < 2:
        return None
    step_ns = clock_step_ns(durations, launches)
    short = int(launches[durations < _STEPS_FOR_A_SPREAD * step_ns].sum())
    share = short / evidence.counts.launches
    if step_ns == 1 or share < _COARSE_FROM_SHARE:
        return None
    return Finding(
        "coarse-clock",
        "note",
        f"Durations come in steps of {step_ns:,} ns and {_percent(share)} of the launches last fewer than "
        f"{_STEPS_FOR_A_SPREAD} steps: part of their spread is rounding, so the bound on them is too wide "
        "or, where all fall on one step, zero without being so.",
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


def _no_grid(evidence: Evidence) -> Finding | None:
    counts = evidence.counts
    if not counts.grouping.needs_shape:
        return None
    missing = np.array([group.grid is None for group in counts.groups])
    launches = int(counts.group_launches[missing].sum())
    if not launches:
        return None
    return Finding(
        "no-grid",
        "note",
        f"{counted(launches, 'launch', 'launches')} ({_percent(launches / counts.launches)}) "
        f"{'has' if launches == 1 else 'have'} no grid and block: launches of different shapes share a group"
        + (", which widens its spread; splitting and bound still hold." if counts.has_durations else "."),
        Wording("record with a profiler that stores launch shapes, or group all by `group_by=name`"),
    )


def _several_devices(evidence: Evidence) -> Finding | None:
    sequences = selected_sequences(evidence.profile, evidence.counts.selected)
    if len(sequences) < 2 or evidence.counts.grouping.pool_devices:
        return None
    processes = len({sequence.process for sequence in sequences})
    devices = len({sequence.device for sequence in sequences})
    return Finding(
        "several-devices",
        "note",
        f"The launches come from {processes} process{'es' if processes > 1 else ''} and {devices} device "
        f"number{'s' if devices > 1 else ''}; each is sampled apart, so the plan is larger than one of them "
        + ("needs and its bound covers their sum." if evidence.profile.has_durations else "needs."),
        Wording("choose one with `devices` or `processes`, or pool them with `pool_devices`"),
    )


def _one_launch_dominates(evidence: Evidence) -> Finding | None:
    counts = evidence.counts
    total_ns = counts.total_duration_ns
    longest = int(np.argmax(counts.duration_ns))
    share = int(counts.duration_ns[longest]) / total_ns if total_ns else 0.0
    if share < _DOMINATES_FROM:
        return None
    group = int(np.searchsorted(counts.offsets, longest, side="right")) - 1
    mean_ns = counts.group_duration_ns[group] / counts.group_launches[group]
    unlike = counts.group_launches[group] > 1 and counts.duration_ns[longest] > _UNLIKE_FROM * mean_ns
    return Finding(
        "one-launch-dominates",
        "warning",
        f"One launch of #{group + 1} {short_name(counts.groups[group].name)} takes {_percent(share)} of the "
        f"time: no plan that simulates it whole is faster than {1 / share:.1f}x"
        + (
            ", and it is unlike the others of its group, so the bound rests on drawing it." if unlike else "."
        ),
        "sample inside that launch, or shorten it",
    )


def _not_worth_sampling(evidence: Evidence) -> Finding | None:
    plan, counts = evidence.plan, evidence.counts
    if plan is None:
        return None
    is_slow = plan.speedup is not None and plan.speedup < _WORTHWHILE_SPEEDUP
    if is_slow and counts.launches == len(counts.groups):
        return _nothing_to_leave_out(counts.launches)
    sentences, remedies = [], []
    if is_slow:
        sentences.append(
            f"The {plan.method} plan simulates {plan.launches:,.0f} of {counts.launches:,} launches "
            f"and is only {plan.speedup:.2f}x faster than simulating them all: what it leaves out takes "
            "little time."
        )
        remedies.append(
            "simulate everything, "
            + ("accept a larger `epsilon`, " if plan.random else "")
            + "or compare other methods"
        )
    if plan.groups_whole:
        several = plan.groups_whole > 1
        groups = f"{plan.groups_whole:,} kernel group" + ("s" if several else "")
        sentences.append(
            f"{groups} ({_percent(plan.share_whole)} of the time) {'are' if several else 'is'} simulated "
            f"whole: under the bounds asked for, sampling {'them' if several else 'it'} saves nothing."
        )
        looser = "a larger `group_epsilon`, or none" if plan.bounds_groups else "a larger `epsilon`"
        remedies.append(f"accept {looser}")
    if not sentences:
        return None
    return Finding("not-worth-sampling", "note", " ".join(sentences), Wording("; or ".join(remedies)))


def _nothing_to_leave_out(launches: int) -> Finding:
    """Return the finding that every kernel group has one launch."""
    if launches == 1:
        sentence, remedy = "There is one launch, so nothing can be left out.", "simulate it"
    else:
        sentence = f"Each of the {launches:,} launches is a kernel group of its own: none stands for another."
        remedy = Wording("simulate everything, group by `group_by=name`, or record more of the program")
    return Finding("not-worth-sampling", "note", sentence, remedy)


#: What is looked for where there are no durations: what goes by time would find zeros.
_WITHOUT_DURATIONS: tuple[Callable[[Evidence], Finding | None], ...] = (
    _no_durations,
    _graph_level_trace,
    _api_rows_missing,
    _communication_kernels,
    _no_grid,
    _several_devices,
    _not_worth_sampling,
)

_CHECKS: tuple[Callable[[Evidence], Finding | None], ...] = (
    _no_durations,
    _graph_level_trace,
    _api_rows_missing,
    _communication_kernels,
    _overlap,
    _zero_durations,
    _coarse_clock,
    _no_grid,
    _several_devices,
    _one_launch_dominates,
    _not_worth_sampling,
)

#: The codes, in the order of the checks.
CODES = tuple(check.__name__.removeprefix("_").replace("_", "-") for check in _CHECKS)
