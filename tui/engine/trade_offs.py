"""The epsilons of a trade-off."""

from __future__ import annotations

from dataclasses import replace

from sampling.errors import OptionError
from sampling.plan.trade_off import default_epsilons
from sampling.strata.target import Target
from tui.options.flags import with_flags


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
        raise OptionError(f"--epsilons {given}: fractions by commas are meant") from error
    except OptionError as error:
        raise OptionError(f"--epsilons {given}: {with_flags(error.message)}", remedy=error.remedy) from error
    if not named:
        raise OptionError("--epsilons names no epsilon", remedy="give fractions by commas, such as 0.01,0.02")
    return tuple(dict.fromkeys([*named, *([target.epsilon] if with_plan else [])]))
