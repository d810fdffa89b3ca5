"""Every finding in its order: a new one is one new function and one line in ``_CHECKS``."""

from __future__ import annotations

from collections.abc import Callable

from sampling.plan.findings.finding import Evidence, Finding
from sampling.plan.findings.plan_cost import not_worth_sampling, one_launch_dominates
from sampling.plan.findings.recording import (
    api_rows_missing,
    coarse_clock,
    communication_kernels,
    graph_level_trace,
    identical_ranks,
    no_grid,
    overlap,
    several_devices,
    zero_durations,
)
from sampling.plan.findings.run_order import drift, iterations

_CHECKS: tuple[Callable[[Evidence], Finding | None], ...] = (
    graph_level_trace,
    api_rows_missing,
    communication_kernels,
    overlap,
    zero_durations,
    coarse_clock,
    no_grid,
    several_devices,
    identical_ranks,
    drift,
    iterations,
    one_launch_dominates,
    not_worth_sampling,
)

#: The codes, in the order of the checks.
CODES = tuple(check.__name__.replace("_", "-") for check in _CHECKS)


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Return what is found, in a fixed order."""
    found = (check(evidence) for check in _CHECKS)
    return tuple(finding for finding in found if finding is not None)
