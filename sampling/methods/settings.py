"""An option of a method: beside its default, what it may be and what it means, as data that can be shown."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

_MEANING = "meaning"
_SPAN = "span"
_VALUES = "values"


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers that an option may be; None where there is no such end.

    Attributes
    ----------
    least, most : ends that belong to it.
    above, below : ends that do not.
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None

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


def setting(default: Any, meaning: str, *, span: Span | None = None, values: str = "") -> Any:
    """Return a field that is an option of a method.

    Parameters
    ----------
    meaning : a phrase; of choices, what each does.
    span : which numbers it may be.
    values : in words, what it may be that is neither a number nor one of a few words.
    """
    return field(default=default, metadata={_MEANING: meaning, _SPAN: span, _VALUES: values})


def about_options(options_type: type[Any]) -> tuple[AboutOption, ...]:
    """Return what is to be known of each option of a method, in their order."""
    hints = get_type_hints(options_type)
    return tuple(
        AboutOption(
            each.name,
            each.default,
            _choices(hints[each.name]),
            _values(hints[each.name], each.metadata),
            each.metadata[_MEANING],
        )
        for each in fields(options_type)
    )


def span_of(options_type: type[Any], name: str) -> Span | None:
    """Return which numbers an option may be; None for one that is no number."""
    span: Span | None = next(each for each in fields(options_type) if each.name == name).metadata[_SPAN]
    return span


def _choices(hint: Any) -> tuple[str, ...]:
    return tuple(map(str, get_args(hint))) if get_origin(hint) is Literal else ()


def _values(hint: Any, metadata: Any) -> str:
    words = [", ".join(_choices(hint)), metadata[_VALUES], str(metadata[_SPAN] or "")]
    said = next(filter(None, words))
    return f"{said}, or none" if type(None) in get_args(hint) else said
