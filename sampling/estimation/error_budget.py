"""One budget of errors: what was not simulated, what was projected, corrected or predicted.

A launch may be simulated in part, its cycles projected from where its IPC is stable, and on a smaller GPU,
from which a scale model predicts the large one; one that started cold is corrected by those that were
simulated both ways. Each adds an error of its own to that of sampling launches.
(docs/methods.md, 11 Back from the simulator)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sampling.arrays import BoolArray, FloatArray
from sampling.errors import AnalysisError, OptionError
from sampling.estimation.estimate import Estimate
from sampling.estimation.sample import Sample
from sampling.simulators.results import SimulatedLaunches
from sampling.strata.target import normal_quantile
from sampling.text import Wording, counted

#: The metric of launches that were simulated in part.
PROJECTED = "projected_cycles"
# So few launches simulated both ways say little of how far projections are off.
_FEWEST_MEASURED = 3


@dataclass(frozen=True, slots=True)
class Projections:
    """Cycles of launches, some of them projected.

    Attributes
    ----------
    results : cycles of all launches, those projected where the launch was not simulated to its end.
    is_projected : (n,) whether they are.
    error : the relative error of a projection, root mean square; None where nothing was projected.
    measured : of how many launches that error was measured; 0 where it is the one declared.
    """

    results: SimulatedLaunches
    is_projected: BoolArray
    error: float | None
    measured: int


@dataclass(frozen=True, slots=True)
class ErrorParts:
    """Half-widths of the interval of a total, as fractions of it; each at the interval's confidence.

    Attributes
    ----------
    sampling : which launches were simulated; None where there is no interval.
    projection, scale_model : 0 where there is none.
    cold_check : of the ratio by which cycles of cold launches are multiplied; 0 where there is none.
    note : how the error of projections is known; empty where there are none.
    """

    sampling: float | None
    projection: float
    scale_model: float
    note: str
    cold_check: float = 0.0

    @property
    def beside_sampling(self) -> float:
        """What no other launches would narrow."""
        return float(np.sqrt(self.projection**2 + self.scale_model**2 + self.cold_check**2))


def with_projections(results: SimulatedLaunches, declared_error: float | None) -> Projections:
    """Return the cycles with projected ones where a launch was not simulated to its end.

    The error of projections is measured on launches that have both; where fewer than three have, it must be
    declared.

    Raises
    ------
    OptionError : it is neither measured nor declared.
    """
    nothing = np.zeros(len(results.ids), dtype=np.bool_)
    if PROJECTED not in results.metrics:
        return Projections(results, nothing, None, 0)
    projected = results.metrics[PROJECTED]
    cycles = results.metrics.get("cycles", np.full(len(results.ids), np.nan))
    is_projected = np.isnan(cycles) & ~np.isnan(projected)
    both = ~np.isnan(cycles) & ~np.isnan(projected) & (cycles > 0)
    measured = int(both.sum())
    error = declared_error
    if measured >= _FEWEST_MEASURED:
        error = float(np.sqrt(np.mean((projected[both] / cycles[both] - 1) ** 2)))
    elif is_projected.any() and declared_error is None:
        raise OptionError(
            Wording(
                "{} projected, and {} simulated to the end as well to measure how far that is off",
                counted(int(is_projected.sum()), "launch is", "launches are"),
                measured,
            ),
            remedy=Wording("declare it with `projection_error`, as a fraction"),
        )
    metrics = {name: values for name, values in results.metrics.items() if name != PROJECTED}
    merged: FloatArray = np.where(is_projected, projected, cycles)
    known = replace(results, metrics={**metrics, "cycles": merged})
    used = measured if measured >= _FEWEST_MEASURED else 0
    return Projections(known, is_projected, error if is_projected.any() else None, used)


def budgeted(
    total: Estimate,
    sample: Sample,
    projected: BoolArray,
    projections: Projections,
    scale_error: float,
    check_error: float = 0.0,
    topped_up_to: float | None = None,
) -> tuple[Estimate, ErrorParts]:
    """Return a total whose interval covers all these errors, and its parts.

    Launches of one kernel group are taken to be projected wrongly alike, those of different groups not; the
    parts are independent of each other: half-widths add up as squares.

    Parameters
    ----------
    sample, projected : the sample that the total is of, and (n,) which of its launches are projected.
    scale_error : the half-width of the scale model's own interval at the total's confidence, as a fraction.
    check_error : the same of the check of launches that started cold.
    topped_up_to : see `estimate`, where the total was not given it.

    Raises
    ------
    AnalysisError : the total is 0, so that no share of it can be told.
    """
    if not total.total > 0:
        raise AnalysisError("a total of 0 has no budget of errors")
    sampling = None if total.half_width is None else total.half_width / total.total
    z = normal_quantile(total.confidence)
    of_projection = z * (projections.error or 0.0) * _share_projected(sample, projected)
    note = _note(projections)
    parts = ErrorParts(sampling, of_projection, scale_error, note, check_error)
    if sampling is None:
        return total, parts
    # What is waited for is the whole interval, not the part of sampling alone.
    waited_for = topped_up_to or 0.0 if sampling else 0.0
    half_width = total.total * max(float(np.hypot(sampling, parts.beside_sampling)), waited_for)
    low, high = max(0.0, total.total - half_width), total.total + half_width
    return replace(total, low=low, high=high), parts


def _share_projected(sample: Sample, projected: BoolArray) -> float:
    """Return the root of the sum of squares, over kernel groups, of the share of cycles that is projected."""
    weight = (sample.launches / np.maximum(sample.samples, 1))[sample.stratum]
    cycles = weight * sample.values("cycles")
    group = sample.group[sample.stratum]
    of_group = np.bincount(group[projected], cycles[projected], minlength=int(sample.group.max()) + 1)
    return float(np.sqrt((of_group**2).sum()) / np.nansum(cycles))


def _note(projections: Projections) -> str:
    if projections.error is None:
        return ""
    if projections.measured:
        launches = counted(projections.measured, "launch", "launches")
        return f"measured on {launches} that ran to the end as well"
    return "declared"
