"""What a plan costs at one bound after another: the trade-off between error and sampled time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import starmap

from sampling.errors import OptionError, OverrideError
from sampling.methods.registry import method_named, method_names, method_options
from sampling.parallel import Progress
from sampling.plan.design import Design, make_design
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import Overrides
from sampling.strata.target import LEAST_EPSILON, Target

# The round numbers of a decade: each 1.3 to 1.7 times the one before.
_DIGITS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_SPAN = 10.0
# Numbers closer to the chosen one than this factor would add nothing.
_APART = 1.1
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class TradeOffPoint:
    """What a plan is expected to cost and promises at one epsilon, as a `Design` has it."""

    epsilon: float
    samples: int
    strata: int
    sampled_duration_ns: float
    speedup: float | None
    bound: float | None
    group_bound: float | None


@dataclass(frozen=True, slots=True)
class NoPoint:
    """There is no plan at an epsilon: a decision of the user's fits no node of the trees there."""

    epsilon: float
    problem: OverrideError


def trade_off(
    counts: DurationCounts,
    method: str,
    target: Target,
    seed: int,
    epsilons: Sequence[float],
    *,
    settings: tuple[str, ...] = (),
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> Iterator[TradeOffPoint | NoPoint]:
    """Design a plan at each epsilon and yield what it costs, in the order given.

    A tree has other nodes at another epsilon: where the user's decisions fit none, there is no point.
    Everything else of the target stays as it is. So where ``group_epsilon`` is below an epsilon, it is what
    binds the method joint, and the curve is level from there on.

    Parameters
    ----------
    target : its own epsilon is not looked at.
    epsilons : fractions.

    Raises
    ------
    OptionError : at once for a method that picks, an unknown method or setting or an epsilon that is no
        fraction; when it comes to a design, for decisions of the user's in a method that splits nothing.
    """
    check_has_trade_off(method)
    method_options(method, settings)
    targets = [replace(target, epsilon=epsilon) for epsilon in epsilons]

    def point(done: int, at: Target) -> TradeOffPoint | NoPoint:
        telling = _at(progress, done, len(targets), at.epsilon)
        try:
            design = make_design(
                counts, method, at, seed, settings=settings, overrides=overrides, progress=telling
            )
        except OverrideError as problem:
            return NoPoint(at.epsilon, problem)
        return point_of(design, at.epsilon)

    return starmap(point, enumerate(targets))


def check_has_trade_off(method: str) -> None:
    """Refuse a method that looks at single launches: most promise no bound, so nothing is traded.

    Raises
    ------
    OptionError : it looks at single launches, or there is no such method.
    """
    if not method_named(method).draws_at_random:
        drawing = method_names(random=True)
        can_draw = method_named(method).drawn_within is not None
        why = (
            "goes by features of single launches, which are not read here"
            if can_draw
            else "picks launches without chance and looks at no epsilon"
        )
        raise OptionError(
            f"the method {method} {why}",
            remedy=f"give {', '.join(drawing[:-1])} or {drawing[-1]}",
        )


def point_of(design: Design, epsilon: float) -> TradeOffPoint:
    """Return what a plan costs that was made for this epsilon."""
    return TradeOffPoint(
        epsilon=epsilon,
        samples=design.samples,
        strata=design.strata_count,
        sampled_duration_ns=design.sampled_duration_ns,
        speedup=design.speedup,
        bound=design.bound,
        group_bound=design.group_bound,
    )


def _at(progress: Progress | None, done: int, total: int, epsilon: float) -> Progress | None:
    """Return a progress that names the point being designed, for every report of the design."""
    if progress is None:
        return None

    def report(_done: int, _total: int, _what: str) -> None:
        progress(done, total, f"a plan at epsilon {epsilon:g}")

    report(0, 0, "")
    return report


def default_epsilons(chosen: float) -> tuple[float, ...]:
    """Return the chosen epsilon and round ones from a tenth of it to ten times of it, about 13 below 1.

    They are ordered by their distance from the chosen one, the nearest first, so that what is drawn while
    they are computed grows from there to both sides.
    """
    lowest, highest = max(chosen / _SPAN, LEAST_EPSILON), min(chosen * _SPAN, 1.0)
    powers = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    # Through text, for 7e-3 is the number nearest to 0.007, and 7.0 * 10.0**-3 need not be.
    round_ones = [float(f"{digit}e{power}") for power in powers for digit in _DIGITS]
    others = [
        epsilon
        for epsilon in round_ones
        if lowest * (1 - _ROUNDING) <= epsilon <= highest * (1 + _ROUNDING)
        and LEAST_EPSILON <= epsilon < 1
        and max(epsilon / chosen, chosen / epsilon) > _APART
    ]
    return (chosen, *sorted(others, key=lambda epsilon: abs(math.log(epsilon / chosen))))
