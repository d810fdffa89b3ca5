"""What the recording lacks."""

from __future__ import annotations

import numpy as np

from sampling.plan.findings.evidence import Evidence
from sampling.plan.findings.finding import Change, Finding, percent
from sampling.text import Wording, counted


def no_durations(evidence: Evidence) -> Finding | None:
    """Instruction counts in place of durations."""
    if evidence.profile.has_durations:
        return None
    return Finding(
        "no-durations",
        "warning",
        "no durations, so no bound",
        "The profile counts instructions and has no durations: a plan has no bound, no speedup in time and "
        "no error to be judged by, and only methods that need no durations make one.",
        Wording("plan by `method=sieve`, or record the program with `nsys profile --trace cuda`"),
    )


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
        + (", which widens its spread; splitting and bound still hold." if counts.has_durations else "."),
        Wording("group all by `group_by=name`, or record with a profiler that stores launch shapes"),
        (Change("group_by", "name"),),
    )
