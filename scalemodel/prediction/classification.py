"""Linear, sub-linear or super-linear scaling, and why.

Source: GPU scale-model simulation, section IV (docs/methods.md, 10 Scale model). It classifies by the
measured targets (Table II); what can be said before those are simulated follows from the scale models' own
correction factor and the miss-rate curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from scalemodel.measurements import Measurements
from scalemodel.prediction.cliff import CurveReading, CurveStep
from scalemodel.prediction.rules import ModelPair

# Of IPC per size, for each doubling; this project's own. Of the 11 strong-scaling benchmarks at hand it
# agrees with the paper's Table II on nine: unet and btree, sub-linear there, look linear from 8 to 16 SMs.
_LINEAR_WITHIN = 0.02
_FLAT_WITHIN = 0.05
# Sizes next to each other can make any change of a doubling, one that no double holds too.
_MOST_CHANGE_SHOWN = 10.0


class ScalingClass(StrEnum):
    """How IPC goes with size."""

    LINEAR = "linear"
    SUB_LINEAR = "sub-linear"
    SUPER_LINEAR = "super-linear"


@dataclass(frozen=True, slots=True)
class Classification:
    """The class, and the reason in words."""

    scaling: ScalingClass
    reason: str


def classify(measurements: Measurements, ends: ModelPair, reading: CurveReading) -> Classification:
    """Classify by the cliff that is reached, else by the models' C for each doubling.

    Parameters
    ----------
    ends : the smallest and the largest scale model.
    reading : of the curve up to the largest target.
    """
    unit = measurements.scaling.unit
    for step in (reading.cliff, reading.inside):
        if step is not None:
            return Classification(ScalingClass.SUPER_LINEAR, _cliff_reason(step, unit))
    change = ends.correction_per_doubling - 1
    by = f"{change:+.1%}" if change < _MOST_CHANGE_SHOWN else f"more than {_MOST_CHANGE_SHOWN:+.0%}"
    is_linear = abs(change) <= _LINEAR_WITHIN
    measured = (
        f"by the scale models alone, from {ends.small} to {ends.large} {unit} the IPC of each changes by "
        f"{by} for a doubling, {'within' if is_linear else 'beyond'} the {_LINEAR_WITHIN:.0%} taken as linear"
    )
    if change < -_LINEAR_WITHIN:
        return Classification(
            ScalingClass.SUB_LINEAR,
            f"{measured}: too little work to fill the larger system, or congestion on shared data",
        )
    curve = _curve_in_words(measurements, (ends.small, ends.large))
    if change > _LINEAR_WITHIN:
        return Classification(
            ScalingClass.SUPER_LINEAR, f"{measured}, without a cliff of the miss rate{curve}"
        )
    return Classification(ScalingClass.LINEAR, f"{measured}: shared resources grow along{curve}")


def _cliff_reason(step: CurveStep, unit: str) -> str:
    return (
        f"the working set comes to fit the last-level cache between {step.smaller} and {step.larger} {unit}: "
        f"MPKI {step.mpki_smaller:.3g} to {step.mpki_larger:.3g}"
    )


def _curve_in_words(measurements: Measurements, ends: Sequence[int]) -> str:
    known = dict(measurements.curve)
    if not measurements.scaling.has_cliffs or any(size not in known for size in ends):
        return ""
    first, last = (known[size] for size in ends)
    if abs(first - last) <= _FLAT_WITHIN * max(first, last):
        return f"; MPKI stays at {last:.3g}, so cache size does not matter"
    return f"; MPKI goes from {first:.3g} to {last:.3g}"
