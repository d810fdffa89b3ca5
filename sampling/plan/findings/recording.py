"""What the recording itself shows: gaps in it, its clock, several GPUs, ranks that do the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampling.plan.findings.finding import Change, Evidence, Finding, percent
from sampling.profile.names import is_communication
from sampling.profile.profile import LaunchSequence
from sampling.reduction.region import COMMUNICATION, selected_sequences
from sampling.reduction.run_order.twins import Twins
from sampling.text import Wording, counted, joined_texts


def graph_level_trace(evidence: Evidence) -> Finding | None:
    """CUDA graphs recorded as a whole."""
    replays = evidence.profile.facts.hidden_graph_replays
    if not replays:
        return None
    return Finding(
        "graph-level-trace",
        "warning",
        f"kernels of {counted(replays, 'graph replay')} missing",
        f"{replays:,} CUDA-graph replays were recorded as a whole; their kernels are not in the profile, so "
        "the total and every bound leave them out.",
        "record again with `nsys profile --cuda-graph-trace=node`",
    )


def api_rows_missing(evidence: Evidence) -> Finding | None:
    """Launches without the API call that issued them."""
    missing, launches = evidence.profile.facts.api_rows_missing, evidence.profile.launches
    if not missing:
        return None
    return Finding(
        "api-rows-missing",
        "note",
        f"{counted(missing, 'launch', 'launches')} without API call",
        f"{missing:,} of {launches:,} launches ({percent(missing / launches)}) "
        f"{'has' if missing == 1 else 'have'} no API call in the recording; "
        f"their order, and so the launch ids, rest on {_order_basis(evidence)}.",
        "start the capture before the work is queued; check ids against the trace's own list",
    )


def _order_basis(evidence: Evidence) -> str:
    order = evidence.profile.facts.launch_order
    return {"correlation": "correlation ids", "gpu-start": "start times on the GPU"}.get(order, "the file")


def no_grid(evidence: Evidence) -> Finding | None:
    """Launches without grid and block."""
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
        f"{counted(launches, 'launch', 'launches')} without grid",
        f"{counted(launches, 'launch', 'launches')} ({percent(launches / counts.launches)}) "
        f"{'has' if launches == 1 else 'have'} no grid and block: launches of different shapes share a group"
        ", which widens its spread; splitting and bound still hold.",
        Wording("group all by `group_by=name`, or record with a profiler that stores launch shapes"),
        (Change("group_by", "name"),),
    )


_STEPS_FOR_A_SPREAD = 50
_COARSE_FROM_SHARE = 0.05


def zero_durations(evidence: Evidence) -> Finding | None:
    """Kernels shorter than the clock shows."""
    durations, launches = evidence.duration_counts
    zeros = int(launches[durations == 0].sum())
    if not zeros:
        return None
    have, they_count, last = "have", "They count as launches and add", "last"
    if zeros == 1:
        have, they_count, last = "has", "It counts as a launch and adds", "lasts"
    return Finding(
        "zero-durations",
        "note",
        f"{counted(zeros, 'launch', 'launches')} {last} 0 ns",
        f"{counted(zeros, 'launch', 'launches')} ({percent(zeros / evidence.counts.launches)}) {have} "
        f"duration 0: shorter than the clock shows. {they_count} nothing to total, spread or bound.",
        "record with a finer clock (Nsight Systems, or a newer PyTorch) if these kernels matter",
    )


def coarse_clock(evidence: Evidence) -> Finding | None:
    """A clock whose steps make part of the spread."""
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
        f"clock ticks of {'1 us' if step_ns == 1000 else f'{step_ns} ns'}",
        f"Durations come in steps of {step_ns:,} ns and {percent(share)} of the launches last fewer than "
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


_OVERLAP_WORTH_SAYING = 0.01


def communication_kernels(evidence: Evidence) -> Finding | None:
    """Kernels that wait for other GPUs."""
    counts = evidence.counts
    # Every name once: there may be a group of each for every process.
    names = {name for name in {group.name for group in counts.groups} if is_communication(name)}
    chosen = np.array([group.name in names for group in counts.groups])
    if not chosen.any():
        return None
    launches = int(counts.group_launches[chosen].sum())
    share = float(counts.group_duration_ns[chosen].sum()) / max(counts.total_duration_ns, 1)
    are, they_wait, their = ("is", "it waits", "its") if launches == 1 else ("are", "they wait", "their")
    return Finding(
        "communication-kernels",
        "warning",
        f"communication takes {percent(share)}",
        f"{counted(launches, 'launch', 'launches')} {are} collective communication "
        f"({percent(share)} of the time); {they_wait} for other GPUs, which a one-GPU simulator cannot "
        f"reproduce, so the bound does not carry over to {their} simulated time.",
        Wording("leave them out with `exclude=communication` and account for them separately"),
        (Change("exclude", COMMUNICATION),),
    )


def overlap(evidence: Evidence) -> Finding | None:
    """Kernels that run side by side."""
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
    return Finding(
        "overlap",
        "warning",
        f"{'up to ' if several else ''}{percent(most)} of the time overlaps",
        f"Kernels run side by side: {places} is hidden behind other kernels. The bound covers the sum of "
        "durations, which is longer than the time the device is busy.",
        "read totals as kernel time, not as elapsed time; record with one stream to compare the two",
    )


def several_devices(evidence: Evidence) -> Finding | None:
    """Processes and devices that are sampled apart."""
    sequences = selected_sequences(evidence.profile, evidence.counts.selected)
    if len(sequences) < 2 or evidence.counts.grouping.pool_devices:
        return None
    processes = len({sequence.process for sequence in sequences})
    devices = len({sequence.device for sequence in sequences})
    return Finding(
        "several-devices",
        "note",
        f"{len(sequences)} devices sampled apart",
        f"The launches come from {processes} process{'es' if processes > 1 else ''} and {devices} device "
        f"number{'s' if devices > 1 else ''}; each is sampled apart, so the plan is larger than one of them "
        "needs and its bound covers their sum.",
        Wording("pool them with `pool_devices`, or choose one with `devices` or `processes`"),
        (Change("pool_devices"),),
    )


def identical_ranks(evidence: Evidence) -> Finding | None:
    """Processes and devices that issue the same launches."""
    twins = None if evidence.order is None else evidence.order.twins
    if twins is None:
        return None
    ranks = len(twins.sequences)
    return Finding(
        "identical-ranks",
        "note",
        f"{ranks} ranks issue {'' if twins.in_order else 'almost '}the same launches",
        f"{ranks} processes or devices issue {_what(twins)}, and each is sampled apart: one of them takes "
        f"1/{ranks} of the simulations, but the bound then covers it alone. {_times(twins)}",
        *_remedy(evidence.profile.sequences, twins),
    )


def _what(twins: Twins) -> str:
    if twins.in_order:
        return f"the same {twins.launches:,} launches in the same order"
    return f"almost the same launches ({percent(twins.same)} of {twins.launches:,})"


def _times(twins: Twins) -> str:
    if twins.time_ratio is None:
        return "Some of them take no time."
    return f"The slowest takes {percent(twins.time_ratio - 1)} longer than the fastest."


def _remedy(sequences: Sequence[LaunchSequence], twins: Twins) -> tuple[str, tuple[Change, ...]]:
    """Return how to keep one of the twins, and whatever is no twin, and the changes that do it."""
    changes = _filters(sequences, {twins.sequences[0], *twins.others}, {*twins.sequences, *twins.others})
    pooled = Wording("pool them with `pool_devices`, which covers them all")
    if not changes:
        return pooled, (Change("pool_devices"),)
    filters = joined_texts(" and ", [Wording(f"`{change.parameter}={change.value}`") for change in changes])
    one = Wording(
        f"plan one with {{}} and count its total {len(twins.sequences)} times, or {{}}", filters, pooled
    )
    return one, changes


def _filters(sequences: Sequence[LaunchSequence], kept: set[int], known: set[int]) -> tuple[Change, ...]:
    """Return the filters by device or process that keep some sequences of those in the region alone."""
    places = {index: sequences[index] for index in known}
    devices = ",".join(map(str, sorted({places[index].device for index in kept})))
    processes = ",".join(map(str, sorted({places[index].process for index in kept})))
    wanted_devices, wanted_processes = (
        {places[index].device for index in kept},
        {places[index].process for index in kept},
    )
    by_device = {index for index, place in places.items() if place.device in wanted_devices}
    by_process = {index for index, place in places.items() if place.process in wanted_processes}
    if by_device == kept:
        return (Change("devices", devices),)
    if by_process == kept:
        return (Change("processes", processes),)
    if by_device & by_process == kept:
        return (Change("devices", devices), Change("processes", processes))
    return ()
