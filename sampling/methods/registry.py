"""All sampling methods by name. A new method is one new module and one line in ``_MODULES``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sampling.errors import OptionError
from sampling.methods.settings import option_names, option_value
from sampling.text import Wording, nearest

if TYPE_CHECKING:
    # Their names are asked for where there is no time to import numpy: when a shell completes one.
    from sampling.methods.method import GrownByRule, Method

# Each has its method in ``METHOD``; it is imported when the method is asked for.
_MODULES = {
    "joint": "sampling.methods.joint",
    "root": "sampling.methods.root",
    "stem": "sampling.methods.stem",
    "allegro": "sampling.methods.allegro",
    "random": "sampling.methods.random_launches",
    "pks": "sampling.methods.pka.pks",
    "two-level": "sampling.methods.pka.two_level",
    "sieve": "sampling.methods.sieve",
    "photon": "sampling.methods.photon",
    "tbpoint": "sampling.methods.pka.tbpoint",
    "first-instructions": "sampling.methods.first_instructions",
    "single-iteration": "sampling.methods.single_iteration",
    "embedding": "sampling.methods.embedding",
}
DEFAULT_METHOD = "joint"


def method_names(*, random: bool | None = None) -> tuple[str, ...]:
    """Return the names of all methods, or of those that draw at random, or of those that do not."""
    if random is None:
        return tuple(_MODULES)
    return tuple(name for name in _MODULES if method_named(name).draws_at_random is random)


def method_named(name: str) -> Method[Any]:
    """Return a method.

    Raises
    ------
    OptionError : there is none of that name.
    """
    if name not in _MODULES:
        raise OptionError(f"there is no method {name!r}", remedy=nearest(name, list(_MODULES)))
    method: Method[Any] = import_module(_MODULES[name]).METHOD
    return method


def split_trees_of(name: str) -> GrownByRule[Any]:
    """Return how a method splits kernel groups.

    Raises
    ------
    OptionError : it splits none, or there is none of that name.
    """
    trees = method_named(name).trees
    if trees is None:
        raise OptionError(f"the method {name} splits nothing", remedy="give root, stem or allegro")
    return trees


def splits_groups(name: str) -> bool:
    """Return whether a method has strata of each kernel group, on which a user may decide."""
    method = method_named(name)
    return method.trees is not None or "group_epsilon" in method.target_fields


def method_options(name: str, settings: tuple[str, ...] = ()) -> Any:
    """Return a method's options, with ``METHOD.NAME=VALUE`` settings of this method applied.

    Raises
    ------
    OptionError : a setting is malformed or unknown, or the value of one of this method does not fit.
    """
    asked, values = method_named(name), dict[str, Any]()
    for setting in settings:
        target, separator, text = setting.partition("=")
        method, dot, option = target.partition(".")
        if not separator or not dot:
            raise OptionError(Wording("`settings` takes METHOD.NAME=VALUE, not {!r}", setting))
        if method not in _MODULES:
            raise OptionError(
                Wording("`settings={}`: no method {!r}", setting, method),
                remedy=nearest(method, list(_MODULES)),
            )
        options_type = method_named(method).options_type
        known = option_names(options_type)
        if option not in known:
            raise OptionError(
                Wording("`settings={}`: {} has no option {!r}", setting, method, option),
                remedy=nearest(option, known),
            )
        if method == name:
            values[option] = option_value(options_type, option, text, setting)
    try:
        return asked.options_type(**values)
    except OptionError as error:
        # Methods share options, so an option does not know its method.
        message = error.message if error.message.startswith(f"{name}.") else f"{name}.{error.message}"
        raise OptionError(message, remedy=error.remedy) from error


def launches_drawn_within(name: str, settings: tuple[str, ...]) -> int | None:
    """Return how many launches at least are drawn of each stratum that a method finds by features.

    None where it picks its launches, or finds none by features.

    Raises
    ------
    OptionError : there is no such method, or a setting does not fit.
    """
    drawn_within = method_named(name).drawn_within
    return None if drawn_within is None else drawn_within(method_options(name, settings))


def draws_at_random(name: str, settings: tuple[str, ...]) -> bool:
    """Return whether a method with these settings draws its launches at random, by features or not.

    Raises
    ------
    OptionError : there is no such method, or a setting does not fit.
    """
    return method_named(name).draws_at_random or launches_drawn_within(name, settings) is not None


def check_settings(settings: tuple[str, ...]) -> None:
    """Check the settings of all methods, not only of the one that is asked.

    Raises
    ------
    OptionError : one is malformed, unknown, or of a value that does not fit.
    """
    for method in dict.fromkeys(setting.partition(".")[0] for setting in settings):
        method_options(method if method in _MODULES else DEFAULT_METHOD, settings)
