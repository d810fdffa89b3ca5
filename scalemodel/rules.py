"""How IPC goes on with size, seven rules through two simulated sizes; and how far they can be off.

Source: GPU scale-model simulation, section V-C (docs/methods.md, 10 Scale model). S and L are the two sizes,
T > L the target, eff = IPC/size,

    C = (IPC_L / IPC_S) / (L/S)    [Eq. 1],   c = C^(1/log2(L/S)), the same for one doubling,
    k = log2(T/L),   M = k (k + 1)/2.

A rule gives the trend: what IPC does where the cache helps no more than before. Beyond a cliff the trend
restarts at the first size beyond it; the gain at the cliff itself, 1/(1 - f_mem) [Eq. 3], is the caller's.

**Intervals**: |ln(actual / predicted)| <= q k, q from the errors of the public benchmarks at three levels;
with three or more models from what predicting a model from those before it gets wrong. This project's own.
Programs whose efficiency changes more from one model to the next than any benchmark's are beyond what q was
taken from: there the interval reaches from nothing more lost, or gained, to twice what the trend loses or
gains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from sampling.errors import OptionError
from scalemodel.measurements import Scaling

# Outside these an extrapolation is no prediction any more; within them 1/c is a number.
_LEAST, _MOST = 1e-300, 1e300
_SATURATED = 0.5


class ModelPair(NamedTuple):
    """Two scale models; ``is_ideal`` sets C to 1, as what happened between the two is no trend."""

    small: int
    small_ipc: float
    large: int
    large_ipc: float
    is_ideal: bool = False

    @property
    def correction(self) -> float:
        """C, above 1 where IPC grows faster than size. [Eq. 1]"""
        return 1.0 if self.is_ideal else self.large_ipc / self.small_ipc / (self.large / self.small)

    @property
    def correction_per_doubling(self) -> float:
        """C^(1/log2(L/S)): what C is for twice the size."""
        return max(_power(self.correction, 1 / math.log2(self.large / self.small)), _LEAST)

    def proportional_ipc(self, size: int) -> float:
        """Return IPC_L T/L."""
        return self.large_ipc * (size / self.large)


class Trend(NamedTuple):
    """The IPC a rule gives, None where it gives none, and what is to be said of it."""

    ipc: float | None
    remark: str = ""


def additive(pair: ModelPair, target: int, cliff: int | None = None) -> Trend:
    """Return eff_L / (1 + M (1/c - 1)) T for c < 1, else eff_L (1 + M (1 - 1/c)) T.

    The published rule's loss or gain at each doubling, added up instead of multiplied: it stays positive.
    """
    c = pair.correction_per_doubling
    ipc = pair.proportional_ipc(target)
    for steps in _summed_steps(pair, target, cliff):
        ipc = ipc / (1 + steps * (1 / c - 1)) if c < 1 else ipc * (1 + steps * (1 - 1 / c))
    saturated = "saturated: IPC does not grow, and its later rise is not evidence"
    return _trend(ipc, saturated if c <= _SATURATED else "")


def published(pair: ModelPair, target: int, cliff: int | None = None) -> Trend:
    """Return eff_L (2 - 1/c)^M T, the rule behind the paper's reported figures; its equations say otherwise.

    Where 2 - 1/c <= 0 there is no prediction; below 1 it falls with size in the end, which is said.
    """
    factor = 2 - 1 / pair.correction_per_doubling
    if factor <= 0:
        message = f"no prediction: 2 - 1/C is {factor:.2g}, as IPC does not grow to size {pair.large}"
        return Trend(None, message)
    ipc = pair.proportional_ipc(target)
    for steps in _summed_steps(pair, target, cliff):
        ipc *= _power(factor, steps)
    start = cliff or pair.large
    # d/dk of log(2^k factor^M) is log 2 + (k + 1/2) log factor.
    peak = math.inf if factor >= 1 else start * _power(2.0, math.log(2) / -math.log(factor) - 0.5)
    since = f"{peak:.0f}" if peak > start else f"{start} on"
    return _trend(ipc, f"falls with size from {since}: the rule does not hold here" if target > peak else "")


def equations(pair: ModelPair, target: int, cliff: int | None = None) -> Trend:
    """Return IPC_L T/L C before the cliff [Eq. 2], IPC_L T/L at it [Eq. 3], IPC_K T/K C beyond it [Eq. 4].

    As printed: C counts once, however far the target is.
    """
    ipc = pair.proportional_ipc(target)
    return _trend(ipc if target == cliff else ipc * pair.correction)


def proportional(pair: ModelPair, target: int, _: int | None = None) -> Trend:
    """Return IPC_S T/S, from the smaller size."""
    return _trend(pair.small_ipc * (target / pair.small), f"from size {pair.small}")


def linear(pair: ModelPair, target: int, _: int | None = None) -> Trend:
    """Return the straight line through both sizes."""
    slope = (pair.large_ipc - pair.small_ipc) / (pair.large - pair.small)
    return _trend(pair.large_ipc + slope * (target - pair.large))


def power_law(pair: ModelPair, target: int, _: int | None = None) -> Trend:
    """Return a n^b through both sizes."""
    exponent = math.log(pair.large_ipc / pair.small_ipc) / math.log(pair.large / pair.small)
    return _trend(pair.large_ipc * _power(target / pair.large, exponent))


def logarithmic(pair: ModelPair, target: int, _: int | None = None) -> Trend:
    """Return a + b ln n through both sizes."""
    slope = (pair.large_ipc - pair.small_ipc) / math.log(pair.large / pair.small)
    return _trend(pair.large_ipc + slope * math.log(target / pair.large))


def _summed_steps(pair: ModelPair, target: int, cliff: int | None) -> list[float]:
    """Return M of the way to the target; of the ways to the cliff and from it, where that is passed."""
    stops = (pair.large, target) if cliff is None else (pair.large, cliff, target)
    return [k * (k + 1) / 2 for k in (math.log2(end / start) for start, end in pairwise(stops))]


def _power(base: float, exponent: float) -> float:
    """Return a power of a positive number; infinite where a double does not hold it."""
    try:
        return float(base**exponent)
    except OverflowError:
        return math.inf


def _trend(ipc: float, remark: str = "") -> Trend:
    if ipc <= 0:
        return Trend(None, f"no prediction: the rule gives an IPC of {ipc:.3g}")
    if not _LEAST < ipc < _MOST:
        return Trend(None, "no prediction: the IPC is beyond what a number holds")
    return Trend(ipc, remark)


class Rule(NamedTuple):
    """A rule and what it takes into account."""

    name: str
    source: str
    #: IPC at a target; its third argument is the first size beyond a cliff that the target has reached.
    trend: Callable[[ModelPair, int, int | None], Trend]
    #: Knows no cliff, and its errors were never calibrated: no interval.
    is_baseline: bool = False
    #: Takes the smallest and the largest of all models; else each pair of neighbours.
    uses_ends: bool = False


_PAPER = "GPU scale-model simulation"
_BASELINE = f"{_PAPER} VII, baseline"
RULES = {
    rule.name: rule
    for rule in (
        Rule("additive", "this project; errors of each doubling added up", additive),
        Rule("published", f"{_PAPER}, the rule behind its reported figures", published),
        Rule("equations", f"{_PAPER}, Eq. 2-4 as printed", equations),
        Rule("proportional", _BASELINE, proportional, is_baseline=True, uses_ends=True),
        Rule("linear", _BASELINE, linear, is_baseline=True),
        Rule("power-law", _BASELINE, power_law, is_baseline=True),
        Rule("logarithmic", _BASELINE, logarithmic, is_baseline=True),
    )
}
DEFAULT_RULE = "additive"


def rule_named(name: str) -> Rule:
    """Return a rule by its name; raise OptionError if there is none of that name."""
    if name not in RULES:
        close = get_close_matches(name, RULES, 1)
        remedy = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(RULES)}"
        raise OptionError(f"no scale rule {name!r}", remedy=remedy)
    return RULES[name]


# -- how far a prediction can be off --------------------------------------------------------------------

#: Back-casts agree by chance too: nothing below 3 % is taken from them.
LEAST_BACK_CAST = 0.03
#: How many times wider an interval is where a cliff lies between the models.
CLIFF_BETWEEN_MODELS = 2.0

_OF_SMS = (8, 16, 32, 64, 128)
_SIZES = {Scaling.STRONG: _OF_SMS, Scaling.WEAK: _OF_SMS, Scaling.CHIPLET: (4, 8, 16)}
_MOST_MODELS = 3
# C of the benchmarks' models for a doubling: from that of bfs up, under chiplets to that of bs.
_LEAST_CORRECTION = 0.886
_MOST_CORRECTION = {Scaling.STRONG: 1.02, Scaling.WEAK: 1.02, Scaling.CHIPLET: 1.31}
#: Benchmarks that were counted; their targets from two models, and from 8, 16 and 32 SMs.
BENCHMARKS, TARGETS, TARGETS_OF_THREE = 16, 44, 28
# At each of the levels.
_HELD = {"additive": (42, 43, 44), "published": (41, 43, 44), "equations": (37, 40, 43)}
_HELD_OF_THREE = {"additive": (24, 25, 28), "published": (25, 25, 28), "equations": (18, 21, 26)}


class Bounds(StrEnum):
    """What ``low`` and ``high`` of a prediction are.

    ``interval``: set by the errors of the public benchmarks; ``by back-cast``: by how well each model is
    predicted by those before it; ``not calibrated``: twice the first, as a cliff lies between the models;
    ``measured``: of predictions launch by launch, of no level. ``bracket``: what a cliff gains at least and
    at most, of no level.
    """

    SIMULATED = "as simulated"
    INTERVAL = "interval"
    BACK_CAST = "interval by back-cast"
    NOT_CALIBRATED = "interval not calibrated"
    MEASURED = "interval measured"
    BRACKET = "bracket"
    NONE = "none"


class Calibration(NamedTuple):
    """The constants of one level: q of two models, and F, the multiple of the back-cast of three or more."""

    confidence: float
    per_doubling: float
    per_back_cast: float


LEVELS = (Calibration(0.80, 0.037, 1.09), Calibration(0.90, 0.065, 1.37), Calibration(0.95, 0.12, 2.5))
DEFAULT_CONFIDENCE = 0.9


def calibration(confidence: float) -> Calibration:
    """Return the constants of a level; raise OptionError if there are none for it."""
    for level in LEVELS:
        if math.isclose(confidence, level.confidence):
            return level
    near = [level.confidence for level in LEVELS if math.isclose(confidence, 100 * level.confidence)]
    message = f"intervals were calibrated at a confidence of 0.8, 0.9 and 0.95, not at {confidence:g}"
    raise OptionError(message, remedy=f"give {near[0]:g}" if near else "give one of them")


def calibrated_up_to(scaling: Scaling, models: Sequence[int]) -> int:
    """Return the largest target that the public benchmarks were predicted at from these models; else 0."""
    sizes = _SIZES[scaling]
    is_calibrated = len(models) <= _MOST_MODELS and tuple(models) == sizes[: len(models)]
    return sizes[-1] if is_calibrated else 0


def beyond_benchmarks(scaling: Scaling, correction: float) -> str | None:
    """Return how IPC of an SM changes where C for a doubling is beyond any benchmark's; else None."""
    highest = _MOST_CORRECTION[scaling]
    if _LEAST_CORRECTION <= correction <= highest:
        return None
    verb, limit = ("falls", 1 - _LEAST_CORRECTION) if correction < 1 else ("rises", highest - 1)
    change = abs(correction - 1)
    by = f"{100 * change:.0f} %" if change < 10 else "more than 1,000 %"
    unit = "a chiplet" if scaling is Scaling.CHIPLET else "an SM"
    return f"IPC of {unit} {verb} by {by} a doubling, the benchmarks' by at most {100 * limit:.0f} %"


def targets_held(rule: str, confidence: float, *, of_three: bool) -> int:
    """Return how many lie in a rule's intervals of a level: of `TARGETS_OF_THREE`, else of `TARGETS`."""
    return (_HELD_OF_THREE if of_three else _HELD)[rule][LEVELS.index(calibration(confidence))]
