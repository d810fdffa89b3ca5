"""Plans of a few launches, for tests of what simulators print of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sampling.plan.plan_file import PlanFile, PlannedLaunch, PlannedStratum
from sampling.profile.fingerprint import SequenceFingerprint

Launch = tuple[int, str, tuple[int, int, int] | None]
BLOCK = (32, 8, 1)


def plan_of(
    launches: Sequence[Launch], *, whole: int | None = None, process: int = 7, first_id: int = 0
) -> PlanFile:
    """A plan that draws launches: their ids, names and grids; the block is 32x8x1.

    ``whole`` is how many launches the profile has, ``first_id`` the id of the process's first launch.
    """
    drawn = tuple(
        PlannedLaunch(number, process, 0, number - first_id, name, grid, grid and BLOCK, 0, 1.0, 100)
        for number, name, grid in launches
    )
    stratum = PlannedStratum("k", len(drawn), 100.0, 0.0, 100, 100, len(drawn), drawn)
    sequences = ()
    if whole is not None:
        digests = np.zeros(1, dtype=np.uint64)
        sequences = (SequenceFingerprint(process, 0, whole, whole, digests),)
    options: dict[str, Any] = {"method": "root"}
    return PlanFile("plan.json", (), len(drawn), 100 * len(drawn), options, (stratum,), sequences)
