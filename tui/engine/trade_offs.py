"""A trade-off: its epsilons, and the plan at each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sampling.errors import OptionError
from sampling.plan.study import Study
from sampling.plan.trade_off import NoPoint, TradeOffPoint, default_epsilons, trade_off
from sampling.progress import Progress
from sampling.strata.target import Target
from tui.options.flags import with_flags
from tui.options.numbers import why_no_number
from tui.options.shared import MethodOptions


def traded(
    study: Study, options: MethodOptions, target: Target, epsilons: Sequence[float], progress: Progress
) -> tuple[tuple[TradeOffPoint, ...], tuple[NoPoint, ...]]:
    """Return the plans at some epsilons, in their order, and the epsilons at which there is none."""
    tried = list(
        trade_off(
            study.counts,
            options.method,
            target,
            options.seed,
            epsilons,
            settings=options.set,
            overrides=study.choice.overrides,
            progress=progress,
        )
    )
    points = tuple(each for each in tried if isinstance(each, TradeOffPoint))
    return points, tuple(each for each in tried if isinstance(each, NoPoint))


def epsilons_of(given: str | None, target: Target, *, with_plan: bool = False) -> tuple[float, ...]:
    """Return the epsilons asked for, each once; round ones around the plan's if none is named.

    Parameters
    ----------
    with_plan : whether the plan's own has to be among them.

    Raises
    ------
    OptionError : one is no number, or no fraction.
    """
    if given is None:
        return default_epsilons(target.epsilon)
    words = [word.strip() for word in given.split(",") if word.strip()]
    try:
        named = [replace(target, epsilon=float(word)).epsilon for word in words]
    except ValueError as error:
        wrong = next((word for word in words if word.endswith("%")), None)
        why = "fractions by commas are meant" if wrong is None else why_no_number(wrong)
        raise OptionError(f"--epsilons {given}: {why}") from error
    except OptionError as error:
        raise OptionError(f"--epsilons {given}: {with_flags(error.message)}", remedy=error.remedy) from error
    if not named:
        raise OptionError("--epsilons names no epsilon", remedy="give fractions by commas, such as 0.01,0.02")
    return tuple(dict.fromkeys([*named, *([target.epsilon] if with_plan else [])]))
