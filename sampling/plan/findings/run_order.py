"""What the order of the run shows: kernels that drift, phases and iterations.

(docs/methods.md, 13 The order of the run)
"""

from __future__ import annotations

from sampling.plan.findings.finding import Change, Evidence, Finding, percent
from sampling.profile.names import short_name
from sampling.reduction.region import selected_sequences
from sampling.reduction.run_order.drift import Drift
from sampling.reduction.run_order.loops import Loop
from sampling.text import Wording, counted, duration_text

_DRIFT_FROM_SHARE = 0.02


def drift(evidence: Evidence) -> Finding | None:
    """Kernels whose durations grow or fall over the run."""
    found = None if evidence.order is None else evidence.order.drift
    share = 0.0 if found is None else found.time_ns / max(evidence.counts.total_duration_ns, 1)
    if found is None or share < _DRIFT_FROM_SHARE:
        return None
    is_random = evidence.plan is None or evidence.plan.random
    verb = "falls" if found.to_ns < found.from_ns else "grows"
    others = found.kernels - 1
    more = f"; with {counted(others, 'other kernel group')}," if others else ","
    name = short_name(evidence.counts.groups[found.group].name)
    return Finding(
        "drift",
        "note" if is_random else "warning",
        f"{percent(share)} of the time drifts",
        f"#{found.group + 1} {name} {verb} from {duration_text(found.from_ns)} to "
        f"{duration_text(found.to_ns)} over the run{more} {percent(share)} of the time drifts (rank "
        f"correlation with the order {found.trend:.2f}, of neighbours {found.lag_1:.2f}; in random order 0 "
        f"give or take {found.lag_1_std:.2f}). {_why(evidence, is_random=is_random)}",
        *_drift_remedy(found, is_random=is_random),
    )


def _why(evidence: Evidence, *, is_random: bool) -> str:
    if is_random or evidence.plan is None:
        return (
            "Launches drawn at random stand for the whole run in any order, so the bound holds; the first "
            "launches, one iteration or another run of other length do not."
        )
    return (
        f"The {evidence.plan.method} plan does not draw at random: where it takes early launches, they stand "
        "for late ones that last otherwise, and no bound says how far off that is."
    )


def _drift_remedy(found: Drift, *, is_random: bool) -> tuple[str, tuple[Change, ...]]:
    half = Wording("plan the later half apart by `launches={}:`", found.middle_id)
    if is_random:
        remedy = Wording("keep to a method that draws at random; to look closer, {}", half)
        return remedy, (Change("launches", f"{found.middle_id}:"),)
    return Wording("take `method=joint`, which draws at random, or {}", half), (Change("method", "joint"),)


def _place(evidence: Evidence, sequence: int) -> str:
    """Return which process and device, where there are several."""
    if len(selected_sequences(evidence.profile, evidence.counts.selected)) == 1:
        return ""
    place = evidence.profile.sequences[sequence]
    return f" of process {place.process} on device {place.device}"


def iterations(evidence: Evidence) -> Finding | None:
    """The loop that a run spends most of its launches in."""
    loop = None if evidence.order is None else evidence.order.loop
    if loop is None:
        return None
    where = _place(evidence, loop.sequence)
    first, stop = loop.one
    outside = f"; {counted(loop.outside, 'launch', 'launches')} before or after them" if loop.outside else ""
    return Finding(
        "iterations",
        "note",
        f"a loop of {counted(loop.iterations, 'iteration')}",
        f"Launches {loop.first_id:,} to {loop.stop_id - 1:,}{where} are a loop: {loop.iterations:,} "
        f"iterations of the same {loop.launches:,} launches ({percent(loop.share)} of all{outside}). "
        f"{_times(loop)}",
        Wording(
            "plan one of them by `launches={}:{}`, or compare `method=single-iteration` with this plan",
            first,
            stop,
        ),
        (Change("launches", f"{first}:{stop}"),),
    )


def _times(loop: Loop) -> str:
    """Return how far one iteration stands for the others."""
    shortest, longest = duration_text(loop.shortest_ns), duration_text(loop.longest_ns)
    took = f"They take {shortest} each" if shortest == longest else f"They take {shortest} to {longest}"
    if not loop.mean_ns:
        return f"{took}."
    off = max(loop.longest_ns / loop.mean_ns - 1, 1 - loop.shortest_ns / loop.mean_ns)
    return (
        f"{took}: one alone may be off by {percent(off)}, and no bound covers that; the bound of a plan of "
        "all does not need the loop."
    )
