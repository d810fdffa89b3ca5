"""Sampling methods: one module a method, with its own frozen options.

A new method is one new module and one line in ``_MODULES``. A method module has::

    SOURCE: str                      # paper and section
    NEEDS: tuple[str, ...]           # what a profile must have beside name and duration
    PUBLISHED_GROUPING: GroupBy      # its own paper's key, used by --group-by published
    RANDOM: bool                     # drawn at random, so that a bound exists
    @dataclass(frozen=True) class Options
    def stratify(counts, target, options, rng, overrides=None, progress=None) -> Strata
    def rule(target, options) -> SplitRule | None      # None: the method does not split
"""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Literal, Protocol, cast, get_args, get_origin, get_type_hints

import numpy as np

from sampling.duration_counts import DurationCounts
from sampling.errors import OptionError
from sampling.group_by import GroupBy
from sampling.progress import Progress
from sampling.split_tree import SplitRule
from sampling.splitting import Overrides
from sampling.strata import Strata
from sampling.targets import Target

_MODULES = {
    "root": "sampling.methods.root",
    "stem": "sampling.methods.stem",
    "allegro": "sampling.methods.allegro",
    "random": "sampling.methods.random_launches",
}
DEFAULT_METHOD = "root"


class Method(Protocol):
    """What every module of this package offers; ``Options`` is its own frozen dataclass."""

    SOURCE: str
    NEEDS: tuple[str, ...]
    PUBLISHED_GROUPING: GroupBy
    RANDOM: bool
    Options: type[Any]

    def stratify(
        self,
        counts: DurationCounts,
        target: Target,
        options: Any,
        rng: np.random.Generator,
        overrides: Overrides | None = None,
        progress: Progress | None = None,
    ) -> Strata:
        """Return the strata and how many launches to draw from each."""

    def rule(self, target: Target, options: Any) -> SplitRule | None:
        """Return the rule its split trees grow by, or None if it has none."""


def method_names() -> tuple[str, ...]:
    """Return the names of all methods."""
    return tuple(_MODULES)


def method_named(name: str) -> Method:
    """Return a method.

    Raises
    ------
    OptionError : there is none of that name.
    """
    if name not in _MODULES:
        raise OptionError(f"there is no method {name!r}", remedy=_nearest(name, list(_MODULES)))
    return cast("Method", import_module(_MODULES[name]))


def method_options(name: str, settings: tuple[str, ...] = ()) -> Any:
    """Return a method's options, with ``METHOD.NAME=VALUE`` settings of this method applied.

    Raises
    ------
    OptionError : a setting is malformed or unknown, or the value of one of this method does not fit.
    """
    options_type = method_named(name).Options
    hints = get_type_hints(options_type)
    values: dict[str, Any] = {}
    for setting in settings:
        target, separator, text = setting.partition("=")
        method, dot, option = target.partition(".")
        if not separator or not dot:
            raise OptionError(f"--set takes METHOD.NAME=VALUE, not {setting!r}")
        if method not in _MODULES:
            raise OptionError(
                f"--set {setting}: no method {method!r}", remedy=_nearest(method, list(_MODULES))
            )
        known = [field.name for field in fields(method_named(method).Options)]
        if option not in known:
            raise OptionError(
                f"--set {setting}: {method} has no option {option!r}", remedy=_nearest(option, known)
            )
        if method == name:
            values[option] = _parsed(setting, text, hints[option])
    return options_type(**values)


def _parsed(setting: str, text: str, hint: Any) -> Any:
    """Return the text as the type of a frozen option: int, float, str, a choice, or one of them or none."""
    choices = get_args(hint)
    if get_origin(hint) is Literal:
        if text not in choices:
            raise OptionError(f"--set {setting}: one of {', '.join(map(str, choices))} is meant")
        return text
    if type(None) in choices:
        if text == "none":
            return None
        hint = next(choice for choice in choices if choice is not type(None))
    try:
        return hint(text)
    except ValueError as error:
        raise OptionError(f"--set {setting}: {text!r} is not {hint.__name__}") from error


def _nearest(word: str, known: list[str]) -> str:
    close = get_close_matches(word, known, 1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known) or 'none'}"
