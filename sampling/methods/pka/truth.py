"""What a choice of launches is held against: cycles where the profile has them, else durations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampling.arrays import FloatArray
from sampling.features.metric_names import CYCLES
from sampling.reduction.launch_list import LaunchList


@dataclass(frozen=True, slots=True)
class Truth:
    """The cost of each launch, as measured.

    Attributes
    ----------
    name : the metric, or "duration_ns".
    values : (n,) cycles or nanoseconds.
    """

    name: str
    values: FloatArray


def measured_truth(launches: LaunchList, first: int | None = None) -> Truth:
    """Return elapsed cycles if each of the first launches has them, else durations; of all if None.

    Cycles that are all zero were not counted.
    """
    metrics = {} if launches.features is None else launches.features.metrics
    for name in CYCLES:
        if name in metrics and np.isfinite(cycles := metrics[name][:first]).all() and cycles.any():
            return Truth(name, cycles)
    return Truth("duration_ns", launches.duration_ns[:first].astype(np.float64))
