"""What was simulated of a plan: strata, launches and their metrics, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import OptionError


@dataclass(frozen=True, eq=False)
class Sample:
    """The simulated launches of a plan's strata.

    Attributes
    ----------
    launches : (s,) N, how many launches each stratum has.
    mean_x : (s,) mean profile duration of all of them, nanoseconds.
    group : (s,) number of the stratum's kernel group; the strata of a pool share one.
    declared : (s,) the variance of the metric per profiled nanosecond that is declared within the stratum,
        relative to its square.
    stratum : (n,) of each simulated launch.
    x : (n,) its profile duration, nanoseconds.
    y : (n, k) its metrics, each in its own unit; NaN where a metric is not known.
    metrics : (k,) their names.
    planned : (s,) how many launches of each stratum the plan asks for; None: those that are there.

    Raises
    ------
    OptionError : arrays that do not fit each other, or more launches of a stratum than it has.
    """

    launches: IntArray
    mean_x: FloatArray
    group: IntArray
    declared: FloatArray
    stratum: IntArray
    x: FloatArray
    y: FloatArray
    metrics: tuple[str, ...]
    planned: IntArray | None = None

    def __post_init__(self) -> None:
        strata, rows = len(self.launches), len(self.stratum)
        planned = strata if self.planned is None else len(self.planned)
        if {len(self.mean_x), len(self.group), len(self.declared), planned} != {strata}:
            raise OptionError("the strata of a sample have columns of different lengths")
        if len(self.x) != rows or self.y.shape != (rows, len(self.metrics)):
            raise OptionError("the launches of a sample have columns of different lengths")
        if rows and not (self.stratum.min() >= 0 and self.stratum.max() < strata):
            raise OptionError("a simulated launch names a stratum that the sample does not have")
        if (self.samples > self.launches).any():
            raise OptionError("a stratum has more simulated launches than it has launches")

    @cached_property
    def samples(self) -> IntArray:
        """(s,) how many launches of each stratum were simulated."""
        return np.bincount(self.stratum, minlength=len(self.launches))

    @cached_property
    def total_x(self) -> float:
        """The profile duration of all launches, nanoseconds."""
        return float(np.dot(self.launches, self.mean_x))

    def values(self, metric: str) -> FloatArray:
        """Return (n,) a metric of every simulated launch, NaN where it is not known.

        Raises
        ------
        OptionError : there is no such metric.
        """
        if metric not in self.metrics:
            raise OptionError(f"no metric {metric!r}; there are {', '.join(self.metrics)}")
        return np.asarray(self.y[:, self.metrics.index(metric)])

    def known(self, *metrics: str) -> Sample:
        """Return the sample of the launches that have all of some metrics, and these alone."""
        y = np.stack([self.values(metric) for metric in metrics], axis=1)
        rows = ~np.isnan(y).any(axis=1)
        planned = self.samples if self.planned is None else self.planned
        return replace(
            self, stratum=self.stratum[rows], x=self.x[rows], y=y[rows], metrics=metrics, planned=planned
        )

    def of_strata(self, strata: BoolArray) -> Sample:
        """Return the sample of some strata (s,), numbered anew."""
        rows = strata[self.stratum]
        return replace(
            self,
            launches=self.launches[strata],
            mean_x=self.mean_x[strata],
            group=self.group[strata],
            declared=self.declared[strata],
            stratum=(np.cumsum(strata) - 1)[self.stratum[rows]],
            x=self.x[rows],
            y=self.y[rows],
            planned=None if self.planned is None else self.planned[strata],
        )
