"""An option of a method, declared once: its default, what it may be and what it means.

The declaration is what texts are read by, what values are checked by, and what `kernelpoint methods` shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sampling.errors import OptionError
from sampling.strata.target import MOST_LAUNCHES
from sampling.text import Wording

_MEANING = "meaning"
_SPAN = "span"
_VALUES = "values"
_KINDS = {int: "a whole number", float: "a number"}


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers that an option may be, all of them finite; None where there is no such end.

    Attributes
    ----------
    least, most : ends that belong to it.
    above, below : ends that do not.
    words : what an error calls it, where that is not `str`.
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    words: str = ""

    def __contains__(self, number: float) -> bool:
        return (
            math.isfinite(number)
            and (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.most is None or number <= self.most)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        """The span in words: "2 to 8", "1 or more", "above 0, below 1"."""
        if self.least is not None and self.most is not None:
            return f"{self.least:g} to {self.most:g}"
        ends = {
            "": None if self.least is None else f"{self.least:g} or more",
            "above ": self.above,
            "at most ": self.most,
            "below ": self.below,
        }
        return ", ".join(
            f"{word}{end if isinstance(end, str) else format(end, 'g')}"
            for word, end in ends.items()
            if end is not None
        )


#: The numbers between 0 and 1, neither of them.
FRACTION = Span(above=0, below=1, words="a fraction between 0 and 1")


@dataclass(frozen=True, slots=True)
class MethodOptions:
    """The options of a method, checked against what their fields declare.

    Raises
    ------
    OptionError : a value is none that its option may be; the option is named without its method.
    """

    def __post_init__(self) -> None:
        for option in _options(type(self)):
            option.check(getattr(self, option.name))


def setting(default: Any, meaning: str, *, span: Span | None = None, values: str = "") -> Any:
    """Return a field that is an option of a method.

    Parameters
    ----------
    meaning : a phrase; of choices, what each does.
    span : which numbers it may be.
    values : in words, what it may be that is neither a number nor one of a few words.
    """
    return field(default=default, metadata={_MEANING: meaning, _SPAN: span, _VALUES: values})


@dataclass(frozen=True, slots=True)
class AboutOption:
    """What is to be known of an option.

    Attributes
    ----------
    choices : the words it may be; empty where it is a number or any text.
    values : what it may be, in words.
    meaning : a phrase.
    """

    name: str
    default: Any
    choices: tuple[str, ...]
    values: str
    meaning: str


def about_options(options_type: type[MethodOptions]) -> tuple[AboutOption, ...]:
    """Return what is to be known of each option of a method, in their order."""
    return tuple(
        AboutOption(option.name, option.default, option.choices, option.values_in_words, option.meaning)
        for option in _options(options_type)
    )


def option_names(options_type: type[MethodOptions]) -> list[str]:
    """Return the names of a method's options."""
    return [option.name for option in _options(options_type)]


def option_value(options_type: type[MethodOptions], name: str, text: str, setting_text: str) -> Any:
    """Return the value that a text means for an option; whether it lies in the span is not looked at.

    Parameters
    ----------
    setting_text : the whole ``METHOD.NAME=VALUE``, for the error.

    Raises
    ------
    OptionError : the text means no value of the option's type.
    """
    option = next(option for option in _options(options_type) if option.name == name)
    return option.parsed(text, setting_text)


@dataclass(frozen=True, slots=True)
class _Option:
    """One field of a `MethodOptions`, as it is declared.

    Attributes
    ----------
    kind : int, float or str.
    may_be_none : whether None, written "none", is a value too.
    """

    name: str
    default: Any
    kind: type[int | float | str]
    choices: tuple[str, ...]
    may_be_none: bool
    span: Span | None
    values: str
    meaning: str

    @property
    def values_in_words(self) -> str:
        said = next(filter(None, [", ".join(self.choices), self.values, str(self.span or "")]))
        return f"{said}, or none" if self.may_be_none else said

    def check(self, value: Any) -> None:
        if value is None and self.may_be_none:
            return
        if self.choices and value not in self.choices:
            raise OptionError(f"{self.name} is one of {', '.join(self.choices)}, not {value!r}")
        if self.span is not None and value not in self.span:
            given = f"{value:g}" if self.kind is float else f"{value}"
            raise OptionError(f"{self.name} is {self.span.words or self.span}, not {given}")

    def parsed(self, text: str, setting_text: str) -> Any:
        if self.choices:
            if text not in self.choices:
                raise OptionError(
                    Wording("`settings={}`: one of {} is meant", setting_text, ", ".join(self.choices))
                )
            return text
        if self.may_be_none and text == "none":
            return None
        try:
            value = self.kind(text)
        except ValueError as error:
            raise OptionError(
                Wording("`settings={}`: {!r} is not {}", setting_text, text, _KINDS[self.kind])
            ) from error
        if isinstance(value, int) and abs(value) > MOST_LAUNCHES:
            raise OptionError(Wording("`settings={}`: numbers go to 2^53", setting_text))
        return value


def _options(options_type: type[MethodOptions]) -> tuple[_Option, ...]:
    hints = get_type_hints(options_type)
    return tuple(
        _Option(
            name=each.name,
            default=each.default,
            kind=_kind(hints[each.name]),
            choices=get_args(hints[each.name]) if get_origin(hints[each.name]) is Literal else (),
            may_be_none=type(None) in get_args(hints[each.name]),
            span=each.metadata[_SPAN],
            values=each.metadata[_VALUES],
            meaning=each.metadata[_MEANING],
        )
        for each in fields(options_type)
    )


def _kind(hint: Any) -> Any:
    """Return the type behind an option's annotation: int, float, str, choices, or one of them or None."""
    if get_origin(hint) is Literal:
        return str
    return next((each for each in get_args(hint) if each is not type(None)), hint)
