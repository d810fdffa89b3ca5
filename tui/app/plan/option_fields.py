"""What the form of options can change: each option's text, what a typed text means, its next value."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any

from sampling.errors import OptionError
from sampling.methods.method import DECLARED
from sampling.methods.registry import check_settings, draws_at_random, method_named, method_names
from sampling.reduction.group_by import GroupBy
from sampling.seeds import Stream, generator
from sampling.strata.target import Target
from tui.engine.studies import target_of
from tui.engine.unused_options import unused_settings
from tui.options.commands import SampleOptions
from tui.options.flags import with_flags

_FLAGS = {option.name: option.metadata.get("flags", ("",))[0] for option in fields(SampleOptions)}
_HELP = {option.name: option.metadata.get("help", "") for option in fields(SampleOptions)}
# The round fractions of three decades.
_FRACTIONS = tuple(float(f"{digit}e{power}") for power in (-3, -2, -1) for digit in (1, 1.5, 2, 3, 5, 7))
_CONFIDENCES = (0.5, 0.68, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
_SPREADS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
_NONE = "none"
NOT_USED = "not used"


def checked(options: SampleOptions) -> SampleOptions:
    """Return the options if the engine accepts them, as far as it can check without the profile.

    Raises
    ------
    OptionError : it does not accept them; the engine's message, with the options named as in the form.
    """
    try:
        target_of(options)
        check_settings(options.set)
        generator(options.seed, Stream.DESIGN)
    except OptionError as error:
        raise OptionError(with_flags(error.message).removeprefix("--"), remedy=error.remedy) from error
    return options


@dataclass(frozen=True, slots=True)
class OptionField(ABC):
    """One option of the form.

    Attributes
    ----------
    name : of the field of `SampleOptions`.
    """

    name: str

    @property
    def label(self) -> str:
        """The option as the command line calls it."""
        return self.flag.removeprefix("--")

    @property
    def flag(self) -> str:
        """Its flag."""
        return str(_FLAGS[self.name])

    @property
    def help(self) -> str:
        """What it is, in the words of the command line's own help."""
        return str(_HELP[self.name])

    @property
    def is_typed(self) -> bool:
        """Whether its value is typed, not chosen."""
        return True

    @property
    def is_path(self) -> bool:
        """Whether its value is paths, quoted as in a shell."""
        return False

    @abstractmethod
    def text(self, options: SampleOptions) -> str:
        """The value as it is typed and shown."""

    @abstractmethod
    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """The options with the value that a text means.

        Raises
        ------
        OptionError : the text is no value, or one that is not accepted.
        """

    @abstractmethod
    def stepped(self, options: SampleOptions, by: int) -> SampleOptions | None:
        """The options with the next value, or with `by` = -1 the one before; None where there is none."""

    def unused(self, options: SampleOptions) -> str:  # noqa: ARG002 - most are used, whatever the others
        """Which part of the value has no effect on the plan, in words; "" if all of it has."""
        return ""


@dataclass(frozen=True, slots=True)
class Choice(OptionField):
    """One of a few values; after the last comes the first.

    Attributes
    ----------
    values, texts : what it may be, and how each is shown.
    """

    values: tuple[Any, ...]
    texts: tuple[str, ...]

    @property
    def is_typed(self) -> bool:
        """No."""
        return False

    def text(self, options: SampleOptions) -> str:
        """The chosen one."""
        return self.texts[self.values.index(getattr(options, self.name))]

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """Choose by the text."""
        if text not in self.texts:
            raise OptionError(f"{self.label}: {text!r} is not one of {', '.join(self.texts)}")
        return changed(options, self.name, self.values[self.texts.index(text)])

    def stepped(self, options: SampleOptions, by: int) -> SampleOptions:
        """Choose the next."""
        place = self.values.index(getattr(options, self.name)) + by
        return changed(options, self.name, self.values[place % len(self.values)])


@dataclass(frozen=True, slots=True)
class Number(OptionField):
    """A number, or for some options none.

    Attributes
    ----------
    ladder : the values to step along; none for whole numbers, which go up and down by one.
    default : what it is where it is not given; None where its own default says it.
    may_be_none : whether "none" is a value too; it comes after the last step.
    of_some_methods : whether only some methods look at it.
    """

    ladder: tuple[float, ...] = ()
    default: float | None = None
    may_be_none: bool = False
    of_some_methods: bool = False

    def value(self, options: SampleOptions) -> float | None:
        """The number; None for none."""
        given = getattr(options, self.name)
        if given is None:
            return self.default
        return None if given == _NONE else float(given)

    def text(self, options: SampleOptions) -> str:
        """All digits that count."""
        value = self.value(options)
        if value is None:
            return _NONE
        if not self.ladder:
            return f"{int(value)}"
        short = f"{value:.12g}"
        return short if float(short) == value else repr(value)

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """Read the number."""
        word = text.strip()
        if self.may_be_none and word == _NONE:
            return checked(self._put(options, None))
        if not word:
            raise OptionError(f"{self.label}: a value is missing; the default is {self._usual}")
        try:
            value = float(word) if self.ladder else int(word)
        except ValueError as error:
            raise OptionError(f"{self.label}: {word!r} {self._why_none(word)}") from error
        try:
            return checked(self._put(options, value))
        except OptionError as error:
            raise OptionError(_as_typed(error.message, word), remedy=error.remedy) from error

    @property
    def _usual(self) -> str:
        """The default, as text."""
        return self.text(SampleOptions())

    def _why_none(self, word: str) -> str:
        """Return what is wrong with a word that is no number, and what to give."""
        if not self.ladder:
            return f"is no whole number; give one, as {self._usual}"
        meant = _meant(word)
        if meant is not None and self._is_accepted(meant):
            return f"is no number; did you mean {meant:.12g}?"
        none = ", or none" if self.may_be_none else ""
        return f"is no number; give a fraction, as {self._usual}{none}"

    def _is_accepted(self, value: float) -> bool:
        try:
            checked(self._put(SampleOptions(), value))
        except OptionError:
            return False
        return True

    def stepped(self, options: SampleOptions, by: int) -> SampleOptions | None:
        """The next round value, or the next whole number if the engine accepts it."""
        value = self.value(options)
        if not self.ladder:
            try:
                return checked(self._put(options, int(value or 0) + by))
            except OptionError:
                return None
        # "none" comes after the last step.
        place = float("inf") if value is None else value
        beyond = [step for step in self.ladder if (step - place) * by > 0]
        if beyond:
            return self._put(options, beyond[0] if by > 0 else beyond[-1])
        return self._put(options, None) if self.may_be_none and by > 0 and value is not None else None

    def unused(self, options: SampleOptions) -> str:
        """Some methods do not look at some of them."""
        if not self.of_some_methods or self.name in method_named(options.method).target_fields:
            return ""
        is_declared = self.name in DECLARED and draws_at_random(options.method, options.set)
        return "" if is_declared else NOT_USED

    def _put(self, options: SampleOptions, value: float | None) -> SampleOptions:
        """Return the options with this number; the default is not given, so that commands stay short."""
        if self.default is not None and value == self.default:
            return changed(options, self.name, None)
        if self.may_be_none:
            return changed(options, self.name, _NONE if value is None else f"{value!r}")
        return changed(options, self.name, value)


@dataclass(frozen=True, slots=True)
class Settings(OptionField):
    """Options of single methods, METHOD.NAME=VALUE, blanks between."""

    def text(self, options: SampleOptions) -> str:
        """As a shell would take them."""
        return shlex.join(options.set)

    def taken(self, options: SampleOptions, text: str) -> SampleOptions:
        """Split at blanks, and check each."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise OptionError(f"{self.label} {text}: {error}") from error
        return checked(changed(options, self.name, words))

    def stepped(self, options: SampleOptions, by: int) -> None:  # noqa: ARG002 - there is nothing to step
        """None."""
        return

    def unused(self, options: SampleOptions) -> str:
        """Those of other methods."""
        unused = unused_settings([options.method], options.set)
        if len(unused) == len(options.set):
            return NOT_USED if unused else ""
        return f"{len(unused)} {NOT_USED}" if unused else ""


def _meant(word: str) -> float | None:
    """Return the fraction that a text with a decimal comma or a percentage means; None for any other text."""
    number = word.removesuffix("%").strip().replace(",", ".")
    try:
        return float(number) / (100 if word.endswith("%") else 1)
    except ValueError:
        return None


def _as_typed(message: str, word: str) -> str:
    """Return the engine's message with the value as the user typed it."""
    range_, comma, value = message.partition(", not ")
    _, semicolon, hint = value.partition(";")
    return f"{range_}{comma}{word}{semicolon}{hint}" if comma else message


def changed(options: SampleOptions, name: str, value: Any) -> SampleOptions:
    """Return the options with another value of one of them."""
    changes: dict[str, Any] = {name: value}
    return replace(options, **changes)


_DEFAULT = Target()
_GROUP_FRACTIONS = tuple(sorted({*_FRACTIONS, _DEFAULT.group_epsilon or 0.25}))

OPTION_FIELDS: tuple[OptionField, ...] = (
    Choice("method", method_names(), method_names()),
    Number("epsilon", _FRACTIONS),
    Number("confidence", _CONFIDENCES),
    Number("group_epsilon", _GROUP_FRACTIONS, _DEFAULT.group_epsilon, may_be_none=True, of_some_methods=True),
    Number("min_samples", default=_DEFAULT.min_samples, of_some_methods=True),
    Number("noise_floor", _SPREADS, _DEFAULT.noise_floor, of_some_methods=True),
    Number("kernel_spread", _SPREADS, _DEFAULT.kernel_spread, of_some_methods=True),
    Choice("no_pool", (False, True), ("no", "yes")),
    Choice("group_by", tuple(GroupBy), tuple(GroupBy)),
    Number("seed"),
    Settings("set"),
)
