"""Tables of an estimate: kernel groups simulated against profiled, and the launches to simulate next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from sampling.estimation.estimate import Estimate
from sampling.estimation.plan_estimate import CYCLES, PlanEstimate, compared_keys
from sampling.plan.design import WHOLE_WORKLOAD_KEY
from tui.charts import quantities
from tui.terminal.tables import Column
from tui.text.labels.kernel_labels import KernelLabels
from tui.text.labels.places import Place, place_lines, place_names
from tui.text.labels.rows import RowLabels, key_parts, row_labels
from tui.text.plan_tables import Listing

if TYPE_CHECKING:
    from sampling.estimation.topped_up_plan import ToppedUp

NO_GROUPS = "no totals by kernel group: the plan's launches were picked, not drawn at random"


@dataclass(frozen=True, slots=True)
class ComparedGroup:
    """What one kernel group took in the profile, and what it takes in the simulator.

    Attributes
    ----------
    total : of its metric; None where none of its launches has a result.
    profiled_ns : of all its launches.
    profiled_share, simulated_share : of the whole workload; the latter None where there is no total.
    per_ns : its metric per profiled nanosecond, of the strata that are in the total.
    """

    key: str
    total: Estimate | None
    profiled_ns: float
    profiled_share: float
    simulated_share: float | None
    per_ns: float | None


def compared_groups(found: PlanEstimate) -> list[ComparedGroup]:
    """Return the kernel groups of a plan, the largest totals first, those without a result last.

    There are none where launches were picked.
    """
    profiled_ns: dict[str, float] = {}
    for key, stratum in zip(compared_keys(found.plan), found.plan.strata, strict=True):
        profiled_ns[key] = profiled_ns.get(key, 0.0) + stratum.size * stratum.mean_ns
    totals = dict(found.groups)
    if not totals:
        return []
    all_ns, in_all = sum(profiled_ns.values()), sum(total.total for total in totals.values())
    # Of a part there are no shares of the whole; a group that is whole has a total all the same.
    in_all = nan if found.main.is_incomplete else in_all
    groups = [_compared(key, totals.get(key), ns, all_ns, in_all) for key, ns in profiled_ns.items()]
    return sorted(
        groups, key=lambda each: (each.total is None, -(each.simulated_share or 0), -each.profiled_ns)
    )


def _compared(key: str, total: Estimate | None, ns: float, all_ns: float, in_all: float) -> ComparedGroup:
    known_ns = 0.0 if total is None else ns * (1 - total.share_missing)
    return ComparedGroup(
        key=key,
        total=total,
        profiled_ns=ns,
        profiled_share=ns / all_ns if all_ns else 0.0,
        simulated_share=total.total / in_all if total is not None and in_all > 0 else None,
        per_ns=float(np.nansum(total.stratum_total)) / known_ns if total is not None and known_ns else None,
    )


def group_listing(found: PlanEstimate) -> Listing:
    """Return the kernel groups as a table; it is empty where launches were picked."""
    groups = compared_groups(found)
    metric = f"{CYCLES}/ns" if found.main.metric == CYCLES else "per ns"
    figures = [
        Column("simulated", [_share(group.simulated_share) for group in groups]),
        Column("profiled", [_share(group.profiled_share) for group in groups]),
        Column(
            metric, [quantities.UNKNOWN if each.per_ns is None else f"{each.per_ns:.4g}" for each in groups]
        ),
        Column("within", [_within(group.total) for group in groups]),
    ]
    if any(group.total is None or group.total.launches_missing for group in groups):
        figures.append(Column("missing", [_missing(group.total) for group in groups]))
    keys = [group.key for group in groups]
    if keys == [WHOLE_WORKLOAD_KEY]:
        return Listing(tuple(figures), "kernel group", RowLabels(KernelLabels((), {}), [("all", None)]))
    return Listing(tuple(figures), "kernel group", row_labels(map(key_parts, keys), _places(keys)))


def places_named(found: PlanEstimate) -> list[str]:
    """Return what the names of processes and devices stand for, a line each; nothing where there is one."""
    return place_lines(_places([group.key for group in compared_groups(found)]))


def _places(keys: Sequence[str]) -> dict[Place, str]:
    return place_names((parts.process, parts.device) for parts in map(key_parts, keys))


def _share(fraction: float | None) -> str:
    return quantities.UNKNOWN if fraction is None else quantities.share(fraction)


def _within(total: Estimate | None) -> str:
    """Return how far the interval reaches to either side."""
    if total is None or total.half_width is None:
        return quantities.UNKNOWN
    if not total.half_width:
        return "exact"
    return quantities.share(total.half_width / total.total) if total.total else quantities.UNKNOWN


def _missing(total: Estimate | None) -> str:
    """Return how many of the drawn launches have no result."""
    return "all" if total is None else quantities.count(total.launches_missing)


def next_listing(larger: ToppedUp) -> Listing:
    """Return the launches of a larger plan that have no result yet, in its order."""
    figures = (
        Column("launch", [str(launch.id) for launch in larger.to_run]),
        Column("duration", [quantities.duration(launch.duration_ns) for launch in larger.to_run]),
        Column("stands for", [f"{launch.weight:,.6g}" for launch in larger.to_run]),
        Column("occurrence", [str(launch.occurrence) for launch in larger.to_run]),
    )
    places = place_names((launch.process, launch.device) for launch in larger.to_run)
    return Listing(figures, "kernel", row_labels(larger.to_run, places))
