"""Options typed in a field of the app as on the command line: `--metric l2_misses --confidence 0.9`."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import Field, fields
from typing import Any, get_args, get_origin, get_type_hints

from sampling.errors import OptionError
from sampling.text import nearest
from tui.options.numbers import why_no_number
from tui.options.shared import OutputOptions


def typed_options(kind: type[OutputOptions], text: str, names: Collection[str]) -> dict[str, Any]:
    """Return the values that a text gives to options of a command, by the names of their fields.

    Parameters
    ----------
    names : the fields that may be given.

    Raises
    ------
    OptionError : a word is no flag of theirs, a value is missing or means nothing.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise OptionError(f"{text}: {str(error).lower()}", remedy="close the quotes") from error
    known = {
        flag: option for option in fields(kind) if option.name in names for flag in option.metadata["flags"]
    }
    hints = get_type_hints(kind)
    given: dict[str, Any] = {}
    while words:
        flag, equals, value = words.pop(0).partition("=")
        if flag not in known:
            raise OptionError(f"{flag} is no option here", remedy=nearest(flag, tuple(known)))
        option = known[flag]
        if hints[option.name] is bool:
            given[option.name] = True
            continue
        if not equals:
            if not words:
                raise OptionError(f"{flag} needs a value")
            value = words.pop(0)
        read = _value(flag, option, hints[option.name], value)
        is_repeated = get_origin(hints[option.name]) is tuple
        given[option.name] = (*given.get(option.name, ()), read) if is_repeated else read
    return given


def _value(flag: str, option: Field[Any], hint: Any, text: str) -> Any:
    kinds = {hint, *get_args(hint)}
    if float not in kinds:
        return text
    try:
        number = float(text)
    except ValueError as error:
        raise OptionError(f"{flag}: {why_no_number(text, option.metadata['kind'])}") from error
    if option.metadata["fraction"] and not 0 <= number < 1:
        raise OptionError(f"{flag} is a fraction from 0 up to 1, not {text}")
    return number
