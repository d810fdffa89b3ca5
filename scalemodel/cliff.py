"""The cliff of a miss-rate curve: where the working set comes to fit the last-level cache.

Source: GPU scale-model simulation, sections IV-2 and V-C: the miss rate falls to less than half when the
cache doubles. Only under strong scaling: else the working set grows with the cache. What is ours: other
steps than doublings, a least drop (a curve near 0 halves without any time saved), and what is near.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from scalemodel.findings import Finding
from scalemodel.measurements import Measurements

_THRESHOLD = 2.0
_THRESHOLD_MODELLED = 2.5
_LEAST_DROP = 1.0
_NEAR = (1.5, 2.5)
# A drop of exactly 1 is one, whatever its decimals lose in a subtraction.
_ROUNDING = 1e-9
# A ratio of exactly the threshold is no cliff, whatever the power of the threshold loses.
_POWER_ROUNDING = 1e-12
# Fewer than this share of the misses left are none left.
_LEAST_LEFT = 1e-12


@dataclass(frozen=True, slots=True)
class CurveStep:
    """The miss-rate curve from one known size to the next.

    Attributes
    ----------
    smaller, larger : the sizes.
    mpki_smaller, mpki_larger : MPKI there, in the curve's own unit.
    threshold : the ratio to exceed for each doubling.
    least_drop : the difference to reach, MPKI in the curve's own unit.
    """

    smaller: int
    larger: int
    mpki_smaller: float
    mpki_larger: float
    threshold: float
    least_drop: float

    @property
    def doublings(self) -> float:
        """log2 of the sizes' ratio."""
        return math.log2(self.larger / self.smaller)

    @property
    def ratio(self) -> float | None:
        """How many times fewer misses; None where next to none are left. 1 from none to none."""
        if self.mpki_smaller == 0:
            return 1.0 if self.mpki_larger == 0 else 0.0
        return self.mpki_smaller / self.mpki_larger if self.left >= _LEAST_LEFT else None

    @property
    def left(self) -> float:
        """r, the share of the misses that is left; 1 where there were none."""
        return 1.0 if self.mpki_smaller == 0 else self.mpki_larger / self.mpki_smaller

    @property
    def drop(self) -> float:
        """The difference in MPKI."""
        return self.mpki_smaller - self.mpki_larger

    @property
    def fired(self) -> bool:
        """Whether this is a cliff."""
        threshold = math.pow(self.threshold, self.doublings) * (1 + _POWER_ROUNDING)
        falls = self.mpki_smaller > threshold * self.mpki_larger
        return falls and self.drop >= self.least_drop - _ROUNDING

    @property
    def near(self) -> bool:
        """Whether the ratio, for one doubling, is from 1.5 to 2.5: an error of the curve may decide."""
        if self.ratio is None:
            return False
        low, high = (math.pow(edge, self.doublings) for edge in _NEAR)
        return low <= self.ratio <= high


def curve_steps(measurements: Measurements, *, curve_is_modelled: bool = False) -> tuple[CurveStep, ...]:
    """Return the curve's steps, of whatever ratio of sizes; of a modelled curve a cliff needs 2.5."""
    threshold = _THRESHOLD_MODELLED if curve_is_modelled else _THRESHOLD
    least_drop = _LEAST_DROP * measurements.mpki_unit.threads
    return tuple(
        CurveStep(smaller, larger, mpki_smaller, mpki_larger, threshold, least_drop)
        for (smaller, mpki_smaller), (larger, mpki_larger) in pairwise(measurements.curve)
    )


@dataclass(frozen=True, slots=True)
class CurveReading:
    """What the curve says of the way from the scale models to the targets.

    Attributes
    ----------
    cliff : the first one above the largest model, the only one applied.
    inside : a cliff between the smallest and the largest model.
    noted : the steps that are cliffs or near ones, in ascending order.
    findings : what is to be said.
    """

    cliff: CurveStep | None
    inside: CurveStep | None
    noted: tuple[CurveStep, ...]
    findings: tuple[Finding, ...]


def read_curve(
    measurements: Measurements, models: Sequence[int], targets: Sequence[int], *, curve_is_modelled: bool
) -> CurveReading:
    """Look for cliffs between the smallest model and the largest target.

    Parameters
    ----------
    models, targets : sizes, in ascending order.
    """
    steps = curve_steps(measurements, curve_is_modelled=curve_is_modelled)
    # A step that ends below the models, or starts at the last target or later, concerns neither.
    steps = tuple(step for step in steps if step.larger > models[0] and step.smaller < targets[-1])
    noted = tuple(step for step in steps if step.fired or step.near)
    if not measurements.scaling.has_cliffs:
        return CurveReading(None, None, (), _ignored(measurements, noted))
    above = [step for step in steps if step.fired and step.larger > models[-1]]
    # The last one: from there on the models show a trend again.
    inside = next((step for step in reversed(steps) if step.fired and step.larger <= models[-1]), None)
    unit = measurements.scaling.unit
    findings = [
        *_coverage(measurements, models[-1], targets[-1]),
        *(_near_cliff(step, unit) for step in noted if step.near),
        *([] if inside is None else [_between_models(inside, models, unit)]),
        *(_not_placed(step, models[-1], unit) for step in above[:1] if step.smaller < models[-1]),
        *(_second(step, unit) for step in above[1:]),
    ]
    return CurveReading(above[0] if above else None, inside, noted, tuple(findings))


def in_words(step: CurveStep, unit: str) -> str:
    """Return a step as a clause: the sizes and the MPKI."""
    return (
        f"MPKI goes from {step.mpki_smaller:.3g} to {step.mpki_larger:.3g} between {step.smaller} and "
        f"{step.larger} {unit}"
    )


def _coverage(measurements: Measurements, largest: int, last: int) -> list[Finding]:
    unit = measurements.scaling.unit
    if last == largest:
        return []
    remedy = f"give the MPKI from {largest} to {last} {unit}"
    curve = measurements.curve
    if len(curve) < 2:
        message = "There is no miss-rate curve, so a cliff on the way to the targets cannot be seen."
        return [Finding("no-curve", "warning", message, remedy)]
    first, end = curve[0][0], curve[-1][0]
    if first <= largest and end >= last:
        return []
    message = f"The miss-rate curve reaches from {first} to {end} {unit} only; a cliff elsewhere is not seen."
    return [Finding("short-curve", "warning", message, remedy)]


def _near_cliff(step: CurveStep, unit: str) -> Finding:
    verdict = "a cliff" if step.fired else "no cliff"
    if step.drop < step.least_drop - _ROUNDING:
        verdict = f"no cliff, as it falls by less than {step.least_drop:g} MPKI"
    return Finding(
        "near-cliff",
        "warning",
        f"{in_words(step, unit)}, {step.ratio:.3g} times less: taken as {verdict}, which an error of the "
        "curve could change.",
        "check the curve there, or simulate a size beyond it",
    )


def _between_models(step: CurveStep, models: Sequence[int], unit: str) -> Finding:
    beyond = [str(size) for size in models if size >= step.larger]
    if len(beyond) > 1:
        remedy = f"name {', '.join(beyond[:-1])} and {beyond[-1]} {unit} alone as the simulated sizes"
    else:
        remedy = f"simulate two sizes from {step.larger} {unit} on"
    return Finding(
        "cliff-between-models",
        "warning",
        f"{in_words(step, unit)}: the cliff lies between the scale models, so what they gain is no trend. "
        "IPC per size is kept (C = 1), and the interval is doubled and not calibrated.",
        remedy,
    )


def _not_placed(step: CurveStep, largest: int, unit: str) -> Finding:
    return Finding(
        "cliff-not-placed",
        "warning",
        f"{in_words(step, unit)}: it is not known whether the cliff lies below or above the largest model. "
        "It is taken to lie above.",
        f"give the MPKI at {largest} {unit}",
    )


def _second(step: CurveStep, unit: str) -> Finding:
    return Finding(
        "second-cliff",
        "warning",
        f"{in_words(step, unit)}: a second cliff, which the method does not know; it is not applied.",
        f"simulate a size of {step.smaller} {unit} or more for the targets beyond it",
    )


def _ignored(measurements: Measurements, noted: Sequence[CurveStep]) -> tuple[Finding, ...]:
    fallen = next((step for step in noted if step.fired), None)
    if fallen is None:
        return ()
    return (
        Finding(
            "curve-ignored",
            "note",
            f"{in_words(fallen, measurements.scaling.unit)}, but under {measurements.scaling} scaling the "
            "working set grows with the system: no cliff is applied.",
            "say strong scaling if the work stays the same",
        ),
    )
