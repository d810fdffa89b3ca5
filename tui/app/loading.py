"""From files to a study, for a worker thread: no widget, nothing on any stream."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from sampling.methods import DEFAULT_METHOD
from sampling.progress import Progress
from sampling.study import Study, study
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
    # What a plan does not use is said before the app starts; here it would be written over the screen.
    target = target_of(replace(options, quiet=True))
    loaded = study(
        open_profile(profiles, progress),
        grouping,
        region,
        target,
        method=DEFAULT_METHOD,
        seed=options.seed,
        settings=options.set,
        progress=progress,
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
