"""The engine's changes of its parameters, as options of a command."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from tui.options.flags import flags_of_parameters, parameters_of
from tui.options.shared import OutputOptions

if TYPE_CHECKING:
    from sampling.plan.findings import Change

Options = TypeVar("Options", bound=OutputOptions)

_ADDED_TO = frozenset({"include", "exclude"})
"""Filters of which several hold at once; the value of any other option is replaced."""


def changed(options: Options, changes: Iterable[Change]) -> Options:
    """Return the options with these changes, as if they were typed."""
    names = {parameter: option.name for option in fields(options) for parameter in parameters_of(option)}
    given: dict[str, Any] = {}
    for change in changes:
        name = names[change.parameter]
        given[name] = _value(getattr(options, name), change)
    return replace(options, **given)


def change_text(changes: Iterable[Change]) -> str:
    """Return the changes as they are typed."""
    flags = flags_of_parameters()
    return " ".join(
        flags[change.parameter] + ("" if change.value is None else f" {change.value}") for change in changes
    )


def _value(present: object, change: Change) -> object:
    if change.value is None:
        return True
    if isinstance(present, tuple):
        return (*present, change.value) if change.parameter in _ADDED_TO else (change.value,)
    return type(present)(change.value) if isinstance(present, Enum) else change.value
