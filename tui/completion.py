"""What a shell offers at the cursor: methods and their options, exporters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

#: Set by the scripts that a shell runs at the tab key.
ASKED = "_KERNELPOINT_COMPLETE"

Offer = Callable[..., list[str]]


def offer_of(option: str) -> Offer | None:
    """Return what offers the values of an option, by the name of its field; None where nothing does."""
    return _OFFERS.get(option)


# Typer tells the parameters of what it calls by these names.
def _methods(incomplete: str) -> list[str]:
    from sampling.methods.registry import method_names

    return [name for name in method_names() if name.startswith(incomplete)]


def _list_of_methods(incomplete: str) -> list[str]:
    """Return the methods that may be the last of a list with commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _methods(last) if name not in before.split(",")]


def _settings(ctx: Any, incomplete: str) -> list[str]:
    """Return the options of the method that is named, of all methods where none is."""
    from sampling.methods.registry import method_named, method_names

    options_of = {
        name: [f"{name}.{option.name}=" for option in fields(method_named(name).options_type)]
        for name in method_names()
    }
    method, _, _ = incomplete.partition(".")
    chosen = [method] if method in options_of else [name for name in options_of if name.startswith(method)]
    given = ctx.params.get("method")
    if not incomplete and options_of.get(given):
        chosen = [given]
    return [option for name in chosen for option in options_of[name] if option.startswith(incomplete)]


def _exporters(incomplete: str) -> list[str]:
    from sampling.simulators.registry import exporter_names

    return [name for name in exporter_names() if name.startswith(incomplete)]


_OFFERS: dict[str, Offer] = {
    "method": _methods,
    "methods": _list_of_methods,
    "set": _settings,
    "to": _exporters,
}
