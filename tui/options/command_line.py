"""Between options and what is typed: flags for parameters, values as typed, the whole command line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from sampling.errors import OptionError, SamplingError
from sampling.plan import request
from sampling.plan.request import flag_words
from sampling.text import Wording, nearest, why_no_number
from tui.options.shared import OutputOptions
from tui.terminal.diagnostics import PROGRAM
from tui.terminal.printable import ascii_within, is_ascii, printable

if TYPE_CHECKING:
    # The findings need numpy; an error message must not wait for its import.
    from sampling.plan.findings import Change, Finding


def with_flags(text: str, *, quote: str = "") -> str:
    """Return a text of the engine with the flags of the options for its parameters, `quote` around each."""
    return text.renamed(flags_of_parameters(), quote) if isinstance(text, Wording) else text


def error_text(error: BaseException) -> str:
    """Return what an error says, with the flags of the options for the engine's parameters."""
    return with_flags(error.text) if isinstance(error, SamplingError) else str(error)


def findings_with_flags(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings with the flags of the options, in backticks, for the engine's parameters."""
    return tuple(
        replace(
            finding,
            message=with_flags(finding.message, quote="`"),
            remedy=with_flags(finding.remedy, quote="`"),
        )
        for finding in findings
    )


def flags_of_parameters() -> dict[str, str]:
    """Return what is typed for each parameter of the engine that an option of a command gives."""
    flags: dict[str, str] = {}
    classes: list[type[OutputOptions]] = [OutputOptions]
    # Those below are added while the list is gone through.
    for options in classes:
        classes += options.__subclasses__()
        for option in fields(options):
            flags |= option_parameters(option)
    for name in request.NAMES:
        flags |= dict.fromkeys({name, request.option(name).parameter or name}, request.flags(name)[0])
    return flags


def option_parameters(option: Field[Any]) -> Mapping[str, str]:
    """Return the parameters that an option gives, and what is typed for each."""
    if option.metadata.get("argument") or option.metadata["request"]:
        return {}
    long = next(flag for flag in option.metadata["flags"] if flag.startswith("--"))
    return {option.metadata["parameter"] or option.name: option.metadata["typed"] or long}


def typed_options(kind: type[OutputOptions], text: str, names: Collection[str]) -> dict[str, Any]:
    """Return the values that a text gives to options of a command, by the names of their fields.

    `names`: the fields that may be given.

    Raises OptionError: a word is no flag of theirs, a value is missing or means nothing.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise OptionError(f"{text}: {str(error).lower()}", remedy="close the quotes") from error
    options = [option for option in fields(kind) if option.name in names]
    option_by_flag = {flag: option for option in options for flag in option.metadata["flags"]}
    hints, values = get_type_hints(kind), dict[str, Any]()
    while words:
        flag, equals, value = words.pop(0).partition("=")
        if flag not in option_by_flag:
            raise OptionError(f"{flag} is no option here", remedy=nearest(flag, tuple(option_by_flag)))
        option, hint = option_by_flag[flag], hints[option_by_flag[flag].name]
        if hint is bool:
            values[option.name] = True
            continue
        if not equals and not words:
            raise OptionError(f"{flag} needs a value")
        text_value: Any = value if equals else words.pop(0)
        if float in {hint, *get_args(hint)}:
            try:
                text_value = float(text_value)
            except ValueError as error:
                raise OptionError(f"{flag}: {why_no_number(text_value, option.metadata['kind'])}") from error
            if option.metadata["fraction"] and not 0 <= text_value < 1:
                raise OptionError(f"{flag} is a fraction from 0 up to 1, not {text_value:g}")
        values[option.name] = (
            (*values.get(option.name, ()), text_value) if get_origin(hint) is tuple else text_value
        )
    return values


Options = TypeVar("Options", bound=OutputOptions)

_ADDED_TO = frozenset({"include", "exclude"})
"""Filters of which several hold at once; the value of any other option is replaced."""


def changed(options: Options, changes: Iterable[Change]) -> Options:
    """Return the options with these changes, as if they were typed."""
    names = {request.option(name).parameter or name: name for name in request.NAMES}
    values: dict[str, Any] = {}
    for change in changes:
        name, value = names[change.parameter], change.value
        if value is None:
            values[name] = not request.default(name)
        elif request.is_repeated(name):
            values[name] = (*getattr(options.request, name), value) if name in _ADDED_TO else (value,)
        else:
            values[name] = request.parse_value(name, value)
    return options.with_request(**values)


def change_text(changes: Iterable[Change]) -> str:
    """Return the changes as they are typed."""
    flags = flags_of_parameters()
    typed = ((flags[change.parameter], change.value) for change in changes)
    return " ".join(flag if value is None else f"{flag} {value}" for flag, value in typed)


def command_line(command: str, options: OutputOptions, *, always: Collection[str] = ()) -> str:
    """Return the line that runs a command with the options that differ from their defaults, for a shell.

    `always`: names of options to write in any case, since their defaults may change.
    """
    arguments: list[str] = []
    flags: list[str] = []
    # A person would write the output last.
    for option in sorted(fields(options), key=lambda option: option.name == "output"):
        value = getattr(options, option.name)
        if option.metadata.get("request"):
            unset: Any = option.default
            flags += request.command_words(value, options.request_names, unset, always=always)
        elif option.metadata.get("argument"):
            arguments += map(str, value) if isinstance(value, tuple) else [str(value)]
        elif value != option.default or option.name in always:
            flags += _words(option, value)
    has_dash = any(argument.startswith("-") and argument != "-" for argument in arguments)
    words = [*flags, "--", *arguments] if has_dash else [*arguments, *flags]
    with ascii_within(options.ascii or is_ascii()):
        return " ".join(map(_quoted, [PROGRAM, *command.split(), *words]))


def typed_value(value: object) -> str:
    """Return a value as a person would type it: 1e6 for 1000000.0, where that is the same number."""
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}".replace("e+0", "e").replace("e+", "e")
    return short if float(short) == value else repr(value)


def _quoted(word: str) -> str:
    r"""Return a word as a shell reads it; what cannot be shown is ``$'\033'``, which bash and zsh know."""
    if printable(word) == word:
        return shlex.quote(word)

    def escaped(mark: str) -> str:
        if mark in {"'", "\\"}:
            return f"\\{mark}"
        # An octal escape ends after three digits; in some shells a hexadecimal one takes any that follow.
        if printable(mark) == mark:
            return mark
        # Of a half of a character that is no byte of a file name nothing could be typed.
        is_byte = "\udc80" <= mark <= "\udcff"
        encoded = os.fsencode(mark) if is_byte else mark.encode("utf-8", "surrogatepass")
        return "".join(f"\\{byte:03o}" for byte in encoded)

    return f"$'{''.join(map(escaped, word))}'"


def options_of(kind: type[Options], source: OutputOptions, **changes: Any) -> Options:
    """Return another command's options: those that both share are copied, unless changed; others default."""
    shared = {option.name for option in fields(source)} & {option.name for option in fields(kind)}
    target = kind(**{name: getattr(source, name) for name in shared - {"request"}} | changes)
    shared_request = [name for name in kind.request_names if name in source.request_names]
    return target.with_request(**{name: getattr(source.request, name) for name in shared_request})


def _words(option: Field[Any], value: Any) -> Iterator[str]:
    """Yield the words that give one option its value; one that would read as another flag joins its own."""
    flags = option.metadata["flags"]
    if isinstance(value, tuple):
        for item in value:
            yield from _words(option, item)
    elif value is True:
        yield flags[0]
    elif value is not None and value is not False:
        text = typed_value(value)
        long = next((flag for flag in flags if flag.startswith("--")), None)
        yield from (flags[0], text) if long is None or not text.startswith("-") else flag_words(long, text)
