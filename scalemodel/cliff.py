"""The cliff of a miss-rate curve: where the working set comes to fit the last-level cache.

The miss rate falls to less than half when the cache doubles, under strong scaling: else the working set
grows with the cache. Other steps than doublings, a least drop (a curve near 0 halves without any time
saved), and what is near are ours. [GPU scale-model simulation, sections IV-2 and V-C; docs/methods.md, 10
Scale model]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from sampling.record import Record
from sampling.text import joined
from scalemodel.measurements import Measurements

_THRESHOLD = 2.0
_THRESHOLD_MODELLED = 2.5
_LEAST_DROP = 1.0
_NEAR = (1.5, 2.5)
# A drop of exactly 1 is one, and a ratio of exactly the threshold is none, whatever doubles lose.
_DROP_ROUNDING, _RATIO_ROUNDING = 1e-9, 1e-12
# Fewer than this share of the misses left are none left.
_LEAST_LEFT = 1e-12


class Finding(Record, frozen=True):
    """What a prediction has to say beside its numbers."""

    code: str
    severity: Literal["note", "warning"]
    message: str
    remedy: str


class CurveStep(NamedTuple):
    """The miss-rate curve from one known size to the next."""

    smaller: int
    larger: int
    mpki_smaller: float
    mpki_larger: float
    #: The ratio to exceed for each doubling, and the difference to reach, MPKI in the curve's own unit.
    threshold: float = _THRESHOLD
    least_drop: float = _LEAST_DROP

    @property
    def doublings(self) -> float:
        """log2 of the sizes' ratio."""
        return math.log2(self.larger / self.smaller)

    @property
    def left(self) -> float:
        """r, the share of the misses that is left; 1 where there were none."""
        return 1.0 if self.mpki_smaller == 0 else self.mpki_larger / self.mpki_smaller

    @property
    def ratio(self) -> float | None:
        """How many times fewer misses; None where next to none are left. 1 from none to none."""
        if self.mpki_smaller == 0:
            return 1.0 if self.mpki_larger == 0 else 0.0
        return self.mpki_smaller / self.mpki_larger if self.left >= _LEAST_LEFT else None

    @property
    def is_steep(self) -> bool:
        """Whether the ratio is a cliff's."""
        threshold = math.pow(self.threshold, self.doublings) * (1 + _RATIO_ROUNDING)
        return self.mpki_smaller > threshold * self.mpki_larger

    @property
    def is_small(self) -> bool:
        """Whether the drop is less than a cliff's."""
        return self.mpki_smaller - self.mpki_larger < self.least_drop - _DROP_ROUNDING

    @property
    def fired(self) -> bool:
        """Whether this is a cliff."""
        return self.is_steep and not self.is_small

    @property
    def near(self) -> bool:
        """Whether an error of the curve may decide: the ratio, for one doubling, is from 1.5 to 2.5."""
        low, high = (math.pow(edge, self.doublings) for edge in _NEAR)
        is_about = self.ratio is not None and low <= self.ratio <= high
        return is_about or (self.is_steep and self.is_small)

    def in_words(self, unit: str) -> str:
        """Return the step as a clause: the sizes and the MPKI."""
        mpki = f"MPKI goes from {self.mpki_smaller:.3g} to {self.mpki_larger:.3g}"
        return f"{mpki} between {self.smaller} and {self.larger} {unit}"


class CurveReading(NamedTuple):
    """What the curve says of the way from the scale models to the targets."""

    #: The first one above the largest model, the only one applied; one between the models.
    cliff: CurveStep | None
    inner: CurveStep | None
    findings: tuple[Finding, ...]


def curve_steps(measurements: Measurements, *, curve_is_modelled: bool = False) -> tuple[CurveStep, ...]:
    """Return the curve's steps, of whatever ratio of sizes; of a modelled curve a cliff needs 2.5."""
    threshold = _THRESHOLD_MODELLED if curve_is_modelled else _THRESHOLD
    least_drop = _LEAST_DROP * measurements.mpki_unit.threads
    return tuple(
        CurveStep(smaller, larger, before, after, threshold, least_drop)
        for (smaller, before), (larger, after) in pairwise(measurements.curve)
    )


def read_curve(
    measurements: Measurements, models: Sequence[int], targets: Sequence[int], *, curve_is_modelled: bool
) -> CurveReading:
    """Look for cliffs between the smallest model and the largest target; both sequences ascend."""
    # A step that ends below the models, or starts at the last target or later, concerns neither.
    steps = [
        step
        for step in curve_steps(measurements, curve_is_modelled=curve_is_modelled)
        if step.larger > models[0] and step.smaller < targets[-1]
    ]
    fired, unit = [step for step in steps if step.fired], measurements.scaling.unit
    if not measurements.scaling.has_cliffs:
        message = (
            f"{fired[0].in_words(unit) if fired else ''}, but under {measurements.scaling} scaling the "
            "working set grows with the system: no cliff is applied."
        )
        ignored = Finding("curve-ignored", "note", message, "say strong scaling if the work stays the same")
        return CurveReading(None, None, (ignored,) if fired else ())
    above = [step for step in fired if step.larger > models[-1]]
    # The last one: from there on the models show a trend again.
    inner = next((step for step in reversed(fired) if step.larger <= models[-1]), None)
    findings = (
        *_coverage(measurements.curve, models[-1], targets[-1], unit),
        *_doubts(steps, measurements),
        *_misplaced(above, inner, models, unit),
    )
    return CurveReading(above[0] if above else None, inner, findings)


def _coverage(curve: Sequence[tuple[int, float]], largest: int, last: int, unit: str) -> Iterator[Finding]:
    """Yield what is to be said where the curve does not reach from the largest model to the last target."""
    remedy = f"give the MPKI from {largest} to {last} {unit}"
    if last > largest and len(curve) < 2:
        message = "There is no miss-rate curve, so a cliff on the way to the targets cannot be seen."
        yield Finding("no-curve", "warning", message, remedy)
    elif last > largest and not curve[0][0] <= largest < last <= curve[-1][0]:
        reach = f"from {curve[0][0]} to {curve[-1][0]} {unit} only"
        message = f"The miss-rate curve reaches {reach}; a cliff elsewhere is not seen."
        yield Finding("short-curve", "warning", message, remedy)


def _doubts(steps: Sequence[CurveStep], measurements: Measurements) -> Iterator[Finding]:
    """Yield the steps that are near a cliff, then those where the curve's own bounds may make or undo one."""
    unit = measurements.scaling.unit
    verdicts = {step: f"taken as {'a cliff' if step.fired else 'no cliff'}" for step in steps}
    for step in (step for step in steps if step.near):
        times = "which leaves none"
        if step.ratio is not None:
            rate = f", {step.ratio ** (1 / step.doublings):.3g} per doubling"
            rate = "" if math.isclose(step.doublings, 1) else rate
            times = f"{step.ratio:.3g} times less{rate}, where a cliff needs more than {step.threshold:g}"
        reason = f", as it falls by less than {step.least_drop:g} MPKI" if step.is_small else ""
        clause = f"{step.in_words(unit)}, {times}: {verdicts[step]}{reason}"
        message = f"{clause}, which an error of the curve could change."
        remedy = "check the curve there, or simulate a size beyond it"
        yield Finding("near-cliff", "warning", message, remedy)
    bounds = {size: (low, high) for size, low, high in measurements.mpki_bounds}
    for step in steps:
        # What has no bounds is exact.
        low, high = bounds.get(step.smaller, (step.mpki_smaller,) * 2)
        low_larger, high_larger = bounds.get(step.larger, (step.mpki_larger,) * 2)
        shallowest = step._replace(mpki_smaller=low, mpki_larger=high_larger)
        steepest = step._replace(mpki_smaller=high, mpki_larger=low_larger)
        if shallowest.fired != steepest.fired:
            bounded = f"from {low:.3g} to {high:.3g} and from {low_larger:.3g} to {high_larger:.3g}"
            clause = f"{step.in_words(unit)}, low to high {bounded}: {verdicts[step]}"
            message = f"{clause}; the curve's own sampling error could change this."
            remedy = "look at more of the lines when making the curve, or at all"
            yield Finding("curve-error", "warning", message, remedy)


def _misplaced(
    above: Sequence[CurveStep], inner: CurveStep | None, models: Sequence[int], unit: str
) -> Iterator[Finding]:
    """Yield the cliffs that are not applied as they are: between the models, over the largest, and second."""
    if inner is not None:
        beyond = [size for size in models if size >= inner.larger]
        message = (
            f"{inner.in_words(unit)}: the cliff lies between the scale models, so what they gain is no "
            "trend. IPC per size is kept (C = 1), and the interval is doubled and not calibrated."
        )
        remedy = f"simulate two sizes from {inner.larger} {unit} on"
        if len(beyond) > 1:
            remedy = f"name {joined(beyond)} {unit} alone as the simulated sizes"
        yield Finding("cliff-between-models", "warning", message, remedy)
    if above and above[0].smaller < models[-1]:
        message = (
            f"{above[0].in_words(unit)}: it is not known whether the cliff lies below or above the largest "
            "model. It is taken to lie above."
        )
        yield Finding("cliff-not-placed", "warning", message, f"give the MPKI at {models[-1]} {unit}")
    for step in above[1:]:
        clause = f"{step.in_words(unit)}: a second cliff, which the method does not know; it is not applied."
        remedy = f"simulate a size of {step.smaller} {unit} or more for the targets beyond it"
        yield Finding("second-cliff", "warning", clause, remedy)
