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


def basis_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield what the interval consists of, and what the results say of how cycles vary."""
    parts, seen = found.parts, found.main.seen
    if parts is not None:
        shares = [
            f"{kind.replace('_', ' ')} {'unknown' if width is None else share(width)}"
            for kind, width in parts._asdict().items()
            if width != 0
        ]
        yield f"  parts of that: {', '.join(shares)}"
    if seen is not None:
        yield _assumption(found, seen)
    yield from refuted(found)


def _assumption(found: PlanEstimate, seen: Seen) -> str:
    """Return how much of the interval is assumption and why, and how much cycles varied beside it."""
    of = "this interval" if found.parts is None else "the part of sampling"
    if not seen.degrees_of_freedom:
        said, target = f"All of {of} is assumption: no stratum was simulated twice.", narrower(found)
        is_more = target is not None and found.caches.is_of_whole_run
        return f"{said} `--target {target:g}` simulates more and checks it." if is_more else said
    amount = next(amount for least, amount in _AMOUNTS if seen.declared_share >= least)
    is_much, those = seen.declared_share >= _HALF, "Those that were"
    why = "few strata were simulated twice" if is_much else "not every stratum was simulated twice"
    if seen.share >= _NEXT_TO_ALL:
        why, those = "strata were simulated often", "They"
        if is_much:
            why, those = "few launches of each stratum were simulated", "Those"
    said = f"{amount} of {of} is assumption: {why}."
    return said if seen.exceeds else f"{said} {those} varied {_as_assumed(seen)}."


def _as_assumed(seen: Seen) -> str:
    """Return how much cycles varied where that was seen, beside what was assumed."""
    times = math.sqrt(seen.variance_ratio)
    if times < 0.01:
        return "hardly at all"
    figure = f"{times:.2g}"
    return "as much as assumed" if figure == "1" else f"{figure} times as much as assumed"


def refuted(found: PlanEstimate) -> Iterator[str]:
    """Yield that results vary by more than the plan declared and chance explains, and what to type then."""
    seen, declared = found.main.seen, starting_spreads(found.plan.options.target)[0]
    if seen is not None and seen.exceeds:
        times = math.sqrt(seen.variance_ratio)
        yield (
            f"{found.main.metric} vary {times:.2g} times as much as declared, more than chance explains: "
            f"plan again with --noise-floor {min(times * declared, 0.99):.2g}"
        )


def detail_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield the same in figures, and what the interval covers."""
    main, seen = found.main, found.main.seen
    if seen is not None and seen.degrees_of_freedom:
        ratio = math.sqrt(seen.variance_ratio)
        times = f"{ratio:.2g}" if ratio >= 0.01 else "less than 0.01"
        yield (
            f"Of the variance {share(seen.share)} was seen at least twice, in {seen.degrees_of_freedom:.1f} "
            f"degrees of freedom; there, {main.metric} vary {times} times as much as declared. "
            f"{share(seen.declared_share)} of the interval rests on what was declared."
        )
    if (freedom := main.degrees_of_freedom) is not None and not math.isinf(freedom):
        yield f"the interval has {freedom:.1f} degrees of freedom"
    yield from found.notes


def narrower(found: PlanEstimate) -> float | None:
    """Return the first of a few targets that the total does not meet; None where it meets them all."""
    return next((step for step in (0.03, 0.02, 0.01, 0.005) if not found.main.is_within(step)), None)
