"""Processes and devices that issue the same launches: one may stand for the others."""

from __future__ import annotations

from collections.abc import Sequence

from sampling.plan.findings.evidence import Evidence
from sampling.plan.findings.finding import Change, Finding, percent
from sampling.profile.profile import LaunchSequence
from sampling.reduction.run_order.twins import Twins
from sampling.text import Wording, joined_texts


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
