"""From files to a study, for a worker thread: no widget, nothing on any stream."""

from __future__ import annotations

import time
from collections.abc import Callable

from sampling.methods import DEFAULT_METHOD
from sampling.progress import Progress
from sampling.study import MethodChoice, Study, study
from tui.engine import grouping_of, open_profile, region_of, target_of
from tui.options import PlanningOptions

_REPORT_SECONDS = 0.1


class LoadCancelledError(Exception):
    """The study is no longer wanted."""


def load_study(profiles: tuple[str, ...], options: PlanningOptions, progress: Progress) -> Study:
    """Read the workload and design the default plan.

    Raises
    ------
    SamplingError : see the engine.
    """
    region, grouping = region_of(options), grouping_of(options, DEFAULT_METHOD)
    loaded = study(
        open_profile(profiles, progress),
        grouping,
        region,
        target_of(options),
        MethodChoice(DEFAULT_METHOD, options.seed, options.set),
        progress,
    )
    # Computed on first use: here, lest the screen wait for it.
    _ = loaded.groups
    return loaded


def throttled(report: Progress, is_cancelled: Callable[[], bool]) -> Progress:
    """Return a progress callback that reports ten times a second, and raises once nobody waits."""
    last = -_REPORT_SECONDS

    def progress(done: int, total: int, what: str) -> None:
        nonlocal last
        if is_cancelled():
            raise LoadCancelledError
        now = time.monotonic()
        if now - last >= _REPORT_SECONDS:
            last = now
            report(done, total, what)

    return progress
