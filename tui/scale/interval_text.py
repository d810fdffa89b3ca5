"""What low and high of scale-model predictions are, in sentences: of each kind that is there, no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scalemodel.prediction.interval import BENCHMARKS, TARGETS, TARGETS_OF_THREE, targets_held
from scalemodel.prediction.outcome import Bounds, Outcome, Prediction
from scalemodel.prediction.rules import RULES
from scalemodel.text import listed
from tui.charts.quantities import share
from tui.scale.questions import Pairs

_INTERVALS = (Bounds.INTERVAL, Bounds.BACK_CAST)


def bounds_text(prediction: Prediction) -> str:
    """Return in a word or two what low and high of a prediction are."""
    if prediction.bounds not in _INTERVALS:
        return prediction.bounds.value.removeprefix("interval ")
    return "beyond calibration" if prediction.is_beyond else "interval"


def bounds_sentences(pairs: Pairs) -> Iterator[str]:
    """Yield what low to high is of each kind of rows, then which rules have none."""
    rows = [
        each for _, outcome in pairs for each in outcome.predictions if each.bounds is not Bounds.SIMULATED
    ]
    kinds = {
        kind: of_kind
        for kind in Bounds
        if kind is not Bounds.NONE and (of_kind := [each for each in rows if each.bounds is kind])
    }
    for kind, of_kind in kinds.items():
        yield _sentence(kind, of_kind, "" if len(kinds) == 1 else _where(of_kind, rows, pairs), pairs)
    if any(each.is_beyond for each in rows):
        yield (
            "Beyond the calibrated range, for other models or larger targets than those, low to high is "
            "extrapolated, and what it holds is not known."
        )
    baselines = dict.fromkeys(each.method for each in rows if RULES[each.method].is_baseline)
    if baselines:
        yield f"{', '.join(baselines)}: no interval, as none was calibrated for baselines."


def _where(of_kind: Sequence[Prediction], rows: Sequence[Prediction], pairs: Pairs) -> str:
    """Return which rows these are: by their targets, or of several benchmarks how many."""
    if len(pairs) > 1:
        return f" of {len(of_kind)} of the {len(rows)} predictions"
    methods = dict.fromkeys(each.method for each in of_kind)
    with_bounds = {each.method for each in rows if each.bounds is not Bounds.NONE}
    by = f" by {listed(list(methods))}" if set(methods) != with_bounds else ""
    targets = dict.fromkeys(str(each.target) for each in of_kind)
    return f" at {listed(list(targets))} {pairs[0][0].scaling.unit}{by}"


def _sentence(kind: Bounds, of_kind: Sequence[Prediction], where: str, pairs: Pairs) -> str:
    outcome = pairs[0][1]
    level = f"{100 * outcome.confidence:.0f} %"
    if kind is Bounds.BRACKET:
        return f"Low to high{where} is a bracket, no interval: {_between(pairs, level)}."
    if kind is Bounds.NOT_CALIBRATED:
        return (
            f"Low to high{where} is twice as wide as the interval of {level}, as a cliff lies between the "
            "models; what it holds was not calibrated."
        )
    meant = f"Low to high{where} is an interval meant to hold {level} of the targets"
    held = _held(of_kind, outcome.confidence, of_three=kind is Bounds.BACK_CAST)
    if kind is Bounds.BACK_CAST:
        back_casts = _back_casts(of_kind, pairs)
        return (
            f"{meant}, from how well each model is predicted by those before it{back_casts}. Of "
            f"{TARGETS_OF_THREE} targets of the public benchmarks, from 8, 16 and 32 SMs up to 128, it holds "
            f"{held}; it was tried on no others."
        )
    return (
        f"{meant}. It was set by the public benchmarks, from 8 and 16 SMs up to 128 and from 4 and 8 "
        f"chiplets to 16, and tried on no others; of {TARGETS} targets of {BENCHMARKS} of them it holds "
        f"{held}."
    )


def _held(of_kind: Sequence[Prediction], confidence: float, *, of_three: bool) -> str:
    counts = {
        method: targets_held(method, confidence, of_three=of_three)
        for method in dict.fromkeys(each.method for each in of_kind)
    }
    if len(counts) == 1:
        return str(next(iter(counts.values())))
    return listed([f"{count} by {method}" for method, count in counts.items()])


def _between(pairs: Pairs, level: str) -> str:
    """Return what a bracket's ends are: those of a known f_mem are widened as an interval is."""
    gains = "what the cliff gains at least and at most"
    widened = f"widened either way as an interval of {level} is"
    is_known = {
        all(finding.code != "f-mem-missing" for finding in outcome.findings)
        for _, outcome in pairs
        if any(each.bounds is Bounds.BRACKET for each in outcome.predictions)
    }
    if is_known == {True}:
        return f"nothing of what the cliff gains, or all of it, {widened}"
    return f"{gains}, where f_mem is known {widened}" if True in is_known else gains


def _back_casts(of_kind: Sequence[Prediction], pairs: Pairs) -> str:
    """Return the errors at the models, of one benchmark and the rules that have such an interval."""
    outcome: Outcome = pairs[0][1]
    methods = {each.method for each in of_kind}
    errors = [
        f"{method} {share(back)}"
        for method, back in outcome.back_cast.items()
        if back is not None and method in methods
    ]
    return f": {', '.join(errors)}" if errors and len(pairs) == 1 else ""
