"""All sampling methods by name. A new method is one new module and one line in ``_MODULES``."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sampling.errors import OptionError
from sampling.text import Wording, nearest

if TYPE_CHECKING:
    # Their names are asked for where there is no time to import numpy: when a shell completes one.
    from sampling.methods.method import GrownByRule, Method

# Where each is, below this folder; it is imported when the method is asked for.
_MODULES = {
    "joint": "joint.METHOD",
    "root": "root.METHOD",
    "stem": "allegro.STEM",
    "allegro": "allegro.METHOD",
    "random": "baselines.RANDOM",
    "pks": "pks.METHOD",
    "two-level": "two_level.METHOD",
    "sieve": "sieve.METHOD",
    "photon": "photon.METHOD",
    "tbpoint": "pks.TBPOINT",
    "first-instructions": "baselines.FIRST",
    "single-iteration": "single_iteration.METHOD",
    "embedding": "embedding.METHOD",
    "layers": "layers.METHOD",
}
DEFAULT_METHOD = "joint"


def method_names(*, random: bool | None = None) -> tuple[str, ...]:
    """Return the names of all methods, or of those that draw at random, or of those that do not."""
    return tuple(name for name in _MODULES if random is None or method_named(name).draws_at_random is random)


def method_named(name: str) -> Method:
    """Return a method; OptionError where there is none of that name."""
    if name not in _MODULES:
        raise OptionError(f"there is no method {name!r}", remedy=nearest(name, list(_MODULES)))
    module, attribute = _MODULES[name].split(".")
    method: Method = getattr(import_module(f"sampling.methods.{module}"), attribute)
    return method


def split_trees_of(name: str) -> GrownByRule:
    """Return how a method splits kernel groups; OptionError where it splits none."""
    trees = method_named(name).trees
    if trees is None:
        raise OptionError(f"the method {name} splits nothing", remedy="give root, stem or allegro")
    return trees


def splits_groups(name: str) -> bool:
    """Return whether a method has strata of each kernel group, on which a user may decide."""
    method = method_named(name)
    return method.trees is not None or "group_epsilon" in method.target_fields


def launches_drawn_within(name: str, settings: tuple[str, ...]) -> int | None:
    """Return how many launches at least are drawn of each stratum of features; None where none are."""
    drawn_within = method_named(name).drawn_within
    return None if drawn_within is None else drawn_within(method_options(name, settings))


def draws_at_random(name: str, settings: tuple[str, ...]) -> bool:
    """Return whether a method with these settings draws its launches at random, by features or not."""
    return method_named(name).draws_at_random or launches_drawn_within(name, settings) is not None


def method_options(name: str, settings: tuple[str, ...] = ()) -> Any:
    """Return a method's options, with the ``METHOD.NAME=VALUE`` settings that are of it applied.

    OptionError: a setting of any method is malformed, unknown, or of a value that does not fit.
    """

    from sampling.methods.method import option_value

    chosen_method, values = method_named(name), dict[str, Any]()
    for setting in settings:
        target, equals, text = setting.partition("=")
        method, dot, option = target.partition(".")
        if not equals or not dot:
            raise OptionError(Wording("`settings` takes METHOD.NAME=VALUE, not {!r}", setting))
        options_type = method_named(method).options_type
        names = [field.name for field in fields(options_type)]
        if option not in names:
            raise OptionError(f"{method} has no option {option!r}", remedy=nearest(option, names))
        value = option_value(method, options_type, option, text)
        if method == name:
            values[option] = value
    return chosen_method.options_type(**values)


def check_settings(settings: tuple[str, ...]) -> None:
    """Raise the OptionError of `method_options` where settings do not fit, each or together."""
    for method in dict.fromkeys(setting.partition(".")[0] for setting in settings):
        method_options(method if method in _MODULES else DEFAULT_METHOD, settings)
