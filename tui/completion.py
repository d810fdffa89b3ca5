"""What a shell offers at the cursor: methods and their options, exporters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

#: Set by the scripts that a shell runs at the tab key.
ASKED = "_KERNELPOINT_COMPLETE"

Offer = Callable[..., list[str]]


def offer_of(option: str) -> Offer | None:
    """Return what offers the values of an option, by the name of its field; None where nothing does."""
    return _OFFERS.get(option)


def _beginning(names: Iterable[str], typed: str) -> list[str]:
    return [name for name in names if name.startswith(typed)]


# Typer tells the parameters of what it calls by these names.
def _methods(incomplete: str) -> list[str]:
    from sampling.methods.registry import method_names

    return _beginning(method_names(), incomplete)


def _list_of_methods(incomplete: str) -> list[str]:
    """Return the methods that may be the last of a list with commas."""
    before, comma, last = incomplete.rpartition(",")
    named = before.split(",")
    return [f"{before}{comma}{name}" for name in _methods(last) if name not in named]


def _settings(ctx: Any, incomplete: str) -> list[str]:
    """Return the options of the method that is named, of all methods where none is."""
    from sampling.methods.registry import method_named, method_names

    def option_names(name: str) -> list[str]:
        return [option.name for option in fields(method_named(name).options_type)]

    method, _, _ = incomplete.partition(".")
    names = method_names()
    chosen = [method] if method in names else [name for name in names if name.startswith(method)]
    given = ctx.params.get("method")
    if not incomplete and given in names and option_names(given):
        chosen = [given]
    options = (f"{name}.{option}=" for name in chosen for option in option_names(name))
    return _beginning(options, incomplete)


def _exporters(incomplete: str) -> list[str]:
    from sampling.simulators.registry import exporter_names

    return _beginning(exporter_names(), incomplete)


_OFFERS: dict[str, Offer] = {
    "method": _methods,
    "methods": _list_of_methods,
    "set": _settings,
    "to": _exporters,
}
