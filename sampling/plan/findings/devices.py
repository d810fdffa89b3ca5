"""Several GPUs, and several kernels at once on one."""

from __future__ import annotations

import numpy as np

from sampling.plan.findings.evidence import Evidence
from sampling.plan.findings.finding import Change, Finding, percent
from sampling.profile.names import is_communication
from sampling.reduction.region import COMMUNICATION, selected_sequences
from sampling.text import Wording, counted

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
    share, of_what = launches / counts.launches, "launches"
    if counts.has_durations:
        share = float(counts.group_duration_ns[chosen].sum()) / max(counts.total_duration_ns, 1)
        of_what = "time"
    are, they_wait, their = ("is", "it waits", "its") if launches == 1 else ("are", "they wait", "their")
    return Finding(
        "communication-kernels",
        "warning",
        f"communication takes {percent(share)}" + ("" if of_what == "time" else " of the launches"),
        f"{counted(launches, 'launch', 'launches')} {are} collective communication "
        f"({percent(share)} of the {of_what}); {they_wait} for other GPUs, which a one-GPU simulator cannot "
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
        + ("needs and its bound covers their sum." if evidence.profile.has_durations else "needs."),
        Wording("pool them with `pool_devices`, or choose one with `devices` or `processes`"),
        (Change("pool_devices"),),
    )
