"""`trade-off`: what a plan costs at one epsilon after another."""

from __future__ import annotations

from dataclasses import replace

from sampling.errors import OptionError
from sampling.plan.trade_off import NoPoint, TradeOffPoint, check_has_trade_off, default_epsilons, trade_off
from sampling.strata.target import Target
from tui.engine.studies import progress_of, study_as_asked, target_of
from tui.options.commands import TradeOffOptions
from tui.options.flags import with_flags
from tui.output.writer import emit
from tui.text.trade_off import TradeOff, trade_off_answer


def run(options: TradeOffOptions) -> None:
    """Read once, design a plan at each epsilon, draw."""
    check_has_trade_off(options.method)
    target = target_of(options)
    epsilons = _epsilons(options.epsilons, target)
    study = study_as_asked(options.profiles, options)
    with progress_of(options) as progress:
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
    missing = tuple(each for each in tried if isinstance(each, NoPoint))
    if not points:
        raise missing[0].problem
    known = TradeOff(options.method, target, epsilons, points, missing)
    emit(trade_off_answer(study, known, options), options)


def _epsilons(given: str | None, target: Target) -> tuple[float, ...]:
    """Return the epsilons asked for, each once; round ones around the plan's if none is named.

    Raises
    ------
    OptionError : one is no number, or no fraction.
    """
    if given is None:
        return default_epsilons(target.epsilon)
    words = [word.strip() for word in given.split(",") if word.strip()]
    try:
        epsilons = tuple(dict.fromkeys(replace(target, epsilon=float(word)).epsilon for word in words))
    except ValueError as error:
        raise OptionError(f"--epsilons {given}: fractions by commas are meant") from error
    except OptionError as error:
        raise OptionError(f"--epsilons {given}: {with_flags(error.message)}", remedy=error.remedy) from error
    if not epsilons:
        raise OptionError("--epsilons names no epsilon", remedy="give fractions by commas, such as 0.01,0.02")
    return epsilons
