"""Sampling methods: one module a method, with its own frozen options.

A new method is one new module and one line in ``_MODULES``. Every method module has::

    SOURCE: str                      # paper and section
    NEEDS: tuple[str, ...]           # what a profile must have beside name and duration
    PUBLISHED_GROUPING: GroupBy      # its own paper's key, used by --group-by published
    RANDOM: bool                     # drawn at random, so that a bound exists
    @dataclass(frozen=True) class Options

One that draws at random looks at durations alone::

    SPLITS: bool                     # whether it splits groups, so that overrides make sense
    def stratify(counts, target, options, rng, overrides=None, progress=None) -> Strata
    def split_tree(counts, group, target, options, overrides=None) -> SplitTree    # if it splits
    def rule(target, options) -> SplitRule                         # if it splits by a rule, group by group
    def sized(clusters, samples, target, options) -> Strata        # the sizes of any clusters of such a rule

One that goes by another method's options too has::

    def with_settings(options, settings) -> Options    # the options with the settings of that method

One that does not looks at single launches and their features::

    def pick(launches, target, options, rng, progress=None) -> Picks
"""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Literal, Protocol, cast, get_args, get_origin, get_type_hints

import numpy as np

from sampling.errors import OptionError
from sampling.methods.picks import Picks
from sampling.progress import Progress
from sampling.reduction.duration_counts import DurationCounts
from sampling.reduction.group_by import GroupBy
from sampling.reduction.launch_list import LaunchList
from sampling.splitting.groups import Overrides
from sampling.splitting.tree import SplitTree
from sampling.strata.strata import Strata
from sampling.strata.target import MOST_LAUNCHES, Target

_MODULES = {
    "joint": "sampling.methods.joint.joint",
    "root": "sampling.methods.root",
    "stem": "sampling.methods.stem",
    "allegro": "sampling.methods.allegro",
    "random": "sampling.methods.random_launches",
    "pks": "sampling.methods.pka.pks",
    "two-level": "sampling.methods.pka.two_level",
    "sieve": "sampling.methods.sieve.sieve",
    "photon": "sampling.methods.photon.photon",
    "tbpoint": "sampling.methods.pka.tbpoint",
    "first-instructions": "sampling.methods.first_instructions",
    "single-iteration": "sampling.methods.single_iteration",
}
DEFAULT_METHOD = "joint"
_KINDS = {int: "a whole number", float: "a number"}


class Method(Protocol):
    """What every module of this package offers; ``Options`` is its own frozen dataclass."""

    SOURCE: str
    NEEDS: tuple[str, ...]
    PUBLISHED_GROUPING: GroupBy
    RANDOM: bool
    Options: type[Any]


class RandomMethod(Method, Protocol):
    """A method that draws at random from strata of durations."""

    SPLITS: bool

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


class SplittingMethod(RandomMethod, Protocol):
    """A random method that splits kernel groups."""

    def split_tree(
        self,
        counts: DurationCounts,
        group: int,
        target: Target,
        options: Any,
        overrides: Overrides | None = None,
    ) -> SplitTree:
        """Return how one group is split, decision by decision."""


class PickingMethod(Method, Protocol):
    """A method that picks representatives, none of them at random."""

    def pick(
        self,
        launches: LaunchList,
        target: Target,
        options: Any,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Picks:
        """Return the launches to simulate and what each stands for.

        Raises
        ------
        NotApplicableError : the launches lack what the method needs.
        """


def method_names(*, random: bool | None = None) -> tuple[str, ...]:
    """Return the names of all methods, or of those that draw at random, or of those that do not."""
    return tuple(name for name in _MODULES if random is None or method_named(name).RANDOM is random)


def method_named(name: str) -> Method:
    """Return a method.

    Raises
    ------
    OptionError : there is none of that name.
    """
    if name not in _MODULES:
        raise OptionError(f"there is no method {name!r}", remedy=_nearest(name, list(_MODULES)))
    return cast("Method", import_module(_MODULES[name]))


def random_method(name: str) -> RandomMethod | None:
    """Return a method that draws at random; None for one that picks."""
    method = method_named(name)
    return cast("RandomMethod", method) if method.RANDOM else None


def picking_method(name: str) -> PickingMethod | None:
    """Return a method that picks; None for one that draws at random."""
    method = method_named(name)
    return None if method.RANDOM else cast("PickingMethod", method)


def splitting_method(name: str) -> SplittingMethod:
    """Return a method that splits kernel groups.

    Raises
    ------
    OptionError : the method does not.
    """
    method = random_method(name)
    if method is None or not method.SPLITS:
        raise OptionError(f"the method {name} splits nothing", remedy="give joint, root, stem or allegro")
    return cast("SplittingMethod", method)


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
    try:
        options = options_type(**values)
    except OptionError as error:
        # Methods share options, so an option does not know whose it is.
        message = error.message if error.message.startswith(f"{name}.") else f"{name}.{error.message}"
        raise OptionError(message, remedy=error.remedy) from error
    with_settings = getattr(method_named(name), "with_settings", None)
    return options if with_settings is None else with_settings(options, settings)


def check_settings(settings: tuple[str, ...]) -> None:
    """Check the settings of all methods, not only of the one that is asked.

    Raises
    ------
    OptionError : one is malformed, unknown, or of a value that does not fit.
    """
    for method in dict.fromkeys(setting.partition(".")[0] for setting in settings):
        method_options(method if method in _MODULES else DEFAULT_METHOD, settings)


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
        value = hint(text)
    except ValueError as error:
        raise OptionError(f"--set {setting}: {text!r} is not {_KINDS[hint]}") from error
    if isinstance(value, int) and abs(value) > MOST_LAUNCHES:
        raise OptionError(f"--set {setting}: numbers go to 2^53")
    return value


def _nearest(word: str, known: list[str]) -> str:
    close = get_close_matches(word.lower(), known, 1)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known) or 'none'}"
