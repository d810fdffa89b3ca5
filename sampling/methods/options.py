"""An option of a method, declared once: texts are read by it, and `kernelpoint methods` shows it."""

from __future__ import annotations

import math
from dataclasses import field, fields
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from sampling.errors import OptionError
from sampling.record import Record

# Above this float64 skips whole numbers.
_MOST = 2**53
#: Limits of a number above 0 and below 1.
FRACTION: dict[str, Any] = {"gt": 0, "lt": 1}


def setting(default: Any, meaning: str, *, values: str = "", **limits: float) -> Any:
    """Return a field that is an option of a method: a number, one of a few words (Literal), or a text.

    ``meaning`` is a phrase, of choices what each does; ``values`` what a text may be; ``limits`` of a number
    are ``ge, gt, le, lt``, as `msgspec.Meta` has them.
    """
    return field(default=default, metadata={"meaning": meaning, "values": values, "limits": limits})


class AboutOption(Record, frozen=True):
    """What is to be known of an option: the words it may be, what it may be in words, what it means."""

    name: str
    default: Any
    choices: tuple[str, ...]
    values: str
    meaning: str


def about_options(options_type: type[Any]) -> tuple[AboutOption, ...]:
    """Return what is to be known of each option of a method, in their order."""
    abouts = []
    for option in fields(options_type):
        kind, is_optional = _kind(options_type, option.name)
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        values = ", ".join(choices) or option.metadata["values"] or _in_words(**option.metadata["limits"])
        values += ", or none" if is_optional else ""
        abouts.append(AboutOption(option.name, option.default, choices, values, option.metadata["meaning"]))
    return tuple(abouts)


def option_value(method: str, options_type: type[Any], name: str, text: str) -> Any:
    """Return the value that a text means for an option; OptionError where it may be no such value."""
    kind, is_optional = _kind(options_type, name)
    if is_optional and text == "none":
        return None
    limits = next(option.metadata["limits"] for option in fields(options_type) if option.name == name)
    try:
        value = msgspec.convert(text, Annotated[kind, msgspec.Meta(**limits)], strict=False)
    except msgspec.ValidationError:
        value = math.inf
    if value == math.inf or (isinstance(value, int) and value > _MOST):
        about = next(option for option in about_options(options_type) if option.name == name)
        kind_text = "one of " if about.choices else "a whole number, " if kind is int else ""
        raise OptionError(f"{method}.{name} is {kind_text}{about.values}, not {text!r}")
    return value


def _kind(options_type: type[Any], name: str) -> tuple[Any, bool]:
    """Return the type of an option, and whether it may be None, written "none", too."""
    hint = get_type_hints(options_type)[name]
    kinds = [arm for arm in get_args(hint) if arm is not type(None)]
    return (kinds[0], True) if type(None) in get_args(hint) else (hint, False)


def _in_words(
    ge: float | None = None, gt: float | None = None, le: float | None = None, lt: float | None = None
) -> str:
    """Return limits in words: "2 to 8", "1 or more", "above 0, below 1"."""
    if ge is not None and le is not None:
        return f"{ge:g} to {le:g}"
    words = (("{:g} or more", ge), ("above {:g}", gt), ("at most {:g}", le), ("below {:g}", lt))
    return ", ".join(text.format(end) for text, end in words if end is not None)
