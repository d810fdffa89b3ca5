"""The cliff of a miss-rate curve: where the working set comes to fit the last-level cache.

Source: GPU scale-model simulation, sections IV-2 and V-C (docs/methods.md, 10 Scale model): the miss rate
falls to less than half when the cache doubles. Only under strong scaling: else the working set grows with the
cache. What is ours: other steps than doublings, a least drop (a curve near 0 halves without any time saved),
and what is near.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from scalemodel.findings import Finding
from scalemodel.measurements import Measurements
from scalemodel.text import listed

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
    def is_steep(self) -> bool:
        """Whether the ratio is a cliff's."""
        threshold = math.pow(self.threshold, self.doublings) * (1 + _POWER_ROUNDING)
        return self.mpki_smaller > threshold * self.mpki_larger

    @property
    def is_small(self) -> bool:
        """Whether the drop is less than a cliff's."""
        return self.drop < self.least_drop - _ROUNDING

    @property
    def fired(self) -> bool:
        """Whether this is a cliff."""
        return self.is_steep and not self.is_small

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
    findings : what is to be said.
    """

    cliff: CurveStep | None
    inside: CurveStep | None
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
    if not measurements.scaling.has_cliffs:
        return CurveReading(None, None, _ignored(measurements, steps))
    above = [step for step in steps if step.fired and step.larger > models[-1]]
    # The last one: from there on the models show a trend again.
    inside = next((step for step in reversed(steps) if step.fired and step.larger <= models[-1]), None)
    unit = measurements.scaling.unit
    findings = [
        *_coverage(measurements, models[-1], targets[-1]),
        *(_near_cliff(step, unit) for step in steps if step.near or (step.is_steep and step.is_small)),
        *_sampling_errors(steps, measurements),
        *([] if inside is None else [_between_models(inside, models, unit)]),
        *(_not_placed(step, models[-1], unit) for step in above[:1] if step.smaller < models[-1]),
        *(_second(step, unit) for step in above[1:]),
    ]
    return CurveReading(above[0] if above else None, inside, tuple(findings))


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
    verdict = _verdict(step)
    if step.is_small:
        verdict += f", as it falls by less than {step.least_drop:g} MPKI"
    return Finding(
        "near-cliff",
        "warning",
        f"{in_words(step, unit)}, {_ratio_in_words(step)}: taken as {verdict}, which an error of the "
        "curve could change.",
        "check the curve there, or simulate a size beyond it",
    )


def _verdict(step: CurveStep) -> str:
    return "a cliff" if step.fired else "no cliff"


def _ratio_in_words(step: CurveStep) -> str:
    """Return how many times fewer misses, beside what a cliff needs, which is for one doubling."""
    if step.ratio is None:
        return "which leaves none"
    each = (
        "" if math.isclose(step.doublings, 1) else f", {step.ratio ** (1 / step.doublings):.3g} per doubling"
    )
    return f"{step.ratio:.3g} times less{each}, where a cliff needs more than {step.threshold:g}"


def _sampling_errors(steps: Sequence[CurveStep], measurements: Measurements) -> list[Finding]:
    """Return a finding for each step that is, or is not, a cliff within the curve's own bounds alone."""
    bounds = {size: (low, high) for size, low, high in measurements.mpki_bounds}
    unit = measurements.scaling.unit
    return [_sampling_error(step, bounds, unit) for step in steps if _may_change(step, bounds)]


def _may_change(step: CurveStep, bounds: Mapping[int, tuple[float, float]]) -> bool:
    (low, high), (low_larger, high_larger) = _ends(step, bounds)
    least = replace(step, mpki_smaller=low, mpki_larger=high_larger)
    most = replace(step, mpki_smaller=high, mpki_larger=low_larger)
    return least.fired != most.fired


def _ends(
    step: CurveStep, bounds: Mapping[int, tuple[float, float]]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return low and high of the MPKI at both sizes; what has no bounds is exact."""
    smaller, larger = step.mpki_smaller, step.mpki_larger
    return bounds.get(step.smaller, (smaller, smaller)), bounds.get(step.larger, (larger, larger))


def _sampling_error(step: CurveStep, bounds: Mapping[int, tuple[float, float]], unit: str) -> Finding:
    (low, high), (low_larger, high_larger) = _ends(step, bounds)
    return Finding(
        "curve-error",
        "warning",
        f"{in_words(step, unit)}, low to high from {low:.3g} to {high:.3g} and from {low_larger:.3g} to "
        f"{high_larger:.3g}: taken as {_verdict(step)}; the curve's own sampling error could change this.",
        "look at more of the lines when making the curve, or at all",
    )


def _between_models(step: CurveStep, models: Sequence[int], unit: str) -> Finding:
    beyond = [str(size) for size in models if size >= step.larger]
    if len(beyond) > 1:
        remedy = f"name {listed(beyond)} {unit} alone as the simulated sizes"
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


def _ignored(measurements: Measurements, steps: Sequence[CurveStep]) -> tuple[Finding, ...]:
    fallen = next((step for step in steps if step.fired), None)
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
