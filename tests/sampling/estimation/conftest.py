"""Samples of small strata, as tests write them down."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from sampling.estimation.interval import Sample

Launches = Sequence[tuple[float, float]]


def _sample(
    *strata: tuple[int, float, Launches],
    group: Sequence[int] | None = None,
    declared: Sequence[float] | None = None,
    planned: Sequence[int] | None = None,
) -> Sample:
    rows = [(index, x, y) for index, (_, _, launches) in enumerate(strata) for x, y in launches]
    stratum, x, y = (np.array(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    return Sample(
        launches=np.array([size for size, _, _ in strata]),
        mean_x=np.array([mean for _, mean, _ in strata], dtype=np.float64),
        group=np.arange(len(strata)) if group is None else np.array(group),
        declared=np.full(len(strata), 0.05**2) if declared is None else np.array(declared),
        stratum=np.array(stratum, dtype=np.int64),
        x=np.array(x, dtype=np.float64),
        y=np.array(y, dtype=np.float64).reshape(-1, 1),
        metrics=("cycles",),
        planned=np.array([len(launches) for _, _, launches in strata] if planned is None else planned),
    )


@pytest.fixture(scope="session")
def sample() -> Callable[..., Sample]:
    """Make a sample of strata (N, mean duration of all, simulated launches' (duration, cycles))."""
    return _sample
