"""What the clock cannot tell."""

from __future__ import annotations

import numpy as np

from sampling.plan.findings.evidence import Evidence
from sampling.plan.findings.finding import Finding, percent
from sampling.text import counted

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
