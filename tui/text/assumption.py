"""What the interval of a total rests on: what was assumed when the plan was made, and what results show."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sampling.estimation.interval import Seen
from sampling.estimation.total import PlanEstimate
from sampling.strata.strata import starting_spreads
from tui.charts.quantities import share

# How much of an interval is assumption, from which share on.
_AMOUNTS = ((0.9, "Nearly all"), (0.6, "Most"), (0.4, "Half"), (0.1, "Part"), (0.0, "Hardly any"))
_HALF = 0.4
# From this share of the declared variance on, next to all strata were simulated twice.
_NEXT_TO_ALL = 0.9


def basis_lines(estimate: PlanEstimate) -> Iterator[str]:
    """Yield what the interval consists of, and what the results say of how cycles vary."""
    parts, spread = estimate.parts, estimate.main.seen
    if parts is not None:
        shares = [
            f"{kind.replace('_', ' ')} {'unknown' if width is None else share(width)}"
            for kind, width in parts._asdict().items()
            if width != 0
        ]
        yield f"  parts of that: {', '.join(shares)}"
    if spread is not None:
        yield _assumption(estimate, spread)
    yield from refuted(estimate)


def _assumption(estimate: PlanEstimate, spread: Seen) -> str:
    """Return how much of the interval is assumption and why, and how much cycles varied beside it."""
    interval = "this interval" if estimate.parts is None else "the part of sampling"
    if not spread.degrees_of_freedom:
        sentence, target = (
            f"All of {interval} is assumption: no stratum was simulated twice.",
            narrower(estimate),
        )
        is_more = target is not None and estimate.caches.is_of_whole_run
        return f"{sentence} `--target {target:g}` simulates more and checks it." if is_more else sentence
    amount = next(amount for share_from, amount in _AMOUNTS if spread.declared_share >= share_from)
    is_much, subject = spread.declared_share >= _HALF, "Those that were"
    reason = "few strata were simulated twice" if is_much else "not every stratum was simulated twice"
    if spread.share >= _NEXT_TO_ALL:
        reason, subject = "strata were simulated often", "They"
        if is_much:
            reason, subject = "few launches of each stratum were simulated", "Those"
    sentence = f"{amount} of {interval} is assumption: {reason}."
    return sentence if spread.exceeds else f"{sentence} {subject} varied {_as_assumed(spread)}."


def _as_assumed(spread: Seen) -> str:
    """Return how much cycles varied where that was seen, beside what was assumed."""
    times = math.sqrt(spread.variance_ratio)
    if times < 0.01:
        return "hardly at all"
    figure = f"{times:.2g}"
    return "as much as assumed" if figure == "1" else f"{figure} times as much as assumed"


def refuted(estimate: PlanEstimate) -> Iterator[str]:
    """Yield that results vary by more than the plan declared and chance explains, and what to type then."""
    spread, declared = estimate.main.seen, starting_spreads(estimate.plan.options.target)[0]
    if spread is not None and spread.exceeds:
        times = math.sqrt(spread.variance_ratio)
        yield (
            f"{estimate.main.metric} vary {times:.2g} times as much as declared, more than chance explains: "
            f"plan again with --noise-floor {min(times * declared, 0.99):.2g}"
        )


def detail_lines(estimate: PlanEstimate) -> Iterator[str]:
    """Yield the same in figures, and what the interval covers."""
    main, spread = estimate.main, estimate.main.seen
    if spread is not None and spread.degrees_of_freedom:
        ratio = math.sqrt(spread.variance_ratio)
        times = f"{ratio:.2g}" if ratio >= 0.01 else "less than 0.01"
        yield (
            f"Of the variance {share(spread.share)} was seen at least twice, in "
            f"{spread.degrees_of_freedom:.1f} degrees of freedom; there, {main.metric} vary {times} times "
            "as much as declared. "
            f"{share(spread.declared_share)} of the interval rests on what was declared."
        )
    if (freedom := main.degrees_of_freedom) is not None and not math.isinf(freedom):
        yield f"the interval has {freedom:.1f} degrees of freedom"
    yield from estimate.notes


def narrower(estimate: PlanEstimate) -> float | None:
    """Return the first of a few targets that the total does not meet; None where it meets them all."""
    return next((step for step in (0.03, 0.02, 0.01, 0.005) if not estimate.main.is_within(step)), None)
