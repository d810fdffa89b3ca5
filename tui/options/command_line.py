"""A command with its options as the line a person would type, "copy as command", and the file it names."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator
from dataclasses import Field, fields
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar

from tui.options.commands import SampleOptions
from tui.options.input_files import input_files, why_not_written
from tui.options.places import Product, is_writable, place_for, why_not_replaced
from tui.options.shared import OutputOptions
from tui.terminal.diagnostics import PROGRAM
from tui.terminal.printable import ascii_within, is_ascii, printable

Options = TypeVar("Options", bound=OutputOptions)


def command_line(command: str, options: OutputOptions, *, always: Collection[str] = ()) -> str:
    """Return the line that runs `command` with these options, quoted for a shell.

    Parameters
    ----------
    command : its name in the registry.
    options : written where they differ from their defaults.
    always : names of fields to write in any case, since their defaults may change.
    """
    arguments: list[str] = []
    flags: list[str] = []
    # A person would write the output last.
    for option in sorted(fields(options), key=lambda option: option.name == "output"):
        value = getattr(options, option.name)
        if option.metadata.get("argument"):
            arguments += map(str, value) if isinstance(value, tuple) else [str(value)]
        elif value != option.default or option.name in always:
            flags += _words(option, value)
    if any(argument.startswith("-") and argument != "-" for argument in arguments):
        words = [PROGRAM, *command.split(), *flags, "--", *arguments]
    else:
        words = [PROGRAM, *command.split(), *arguments, *flags]
    with ascii_within(options.ascii or is_ascii()):
        return " ".join(map(_quoted, words))


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
    return "$'" + "".join(_escaped(mark) for mark in word) + "'"


def _escaped(mark: str) -> str:
    if mark in {"'", "\\"}:
        return f"\\{mark}"
    if printable(mark) == mark:
        return mark
    # An octal escape ends after three digits; in some shells a hexadecimal one takes any digits that follow.
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(mark))


def options_of(kind: type[Options], given: OutputOptions, **changes: Any) -> Options:
    """Return another command's options: those that both share are copied, the rest are defaults.

    Parameters
    ----------
    changes : values that replace the copied ones."""
    shared = {option.name for option in fields(given)} & {option.name for option in fields(kind)}
    return kind(**{name: getattr(given, name) for name in shared} | changes)


def _words(option: Field[Any], value: Any) -> Iterator[str]:
    """Yield the words that give one option its value."""
    if isinstance(value, tuple):
        for item in value:
            yield from _words(option, item)
    elif value is True:
        yield option.metadata["flags"][0]
    elif value is not None and value is not False:
        yield from _flag_and_value(option.metadata["flags"], typed_value(value))


def _flag_and_value(flags: tuple[str, ...], text: str) -> list[str]:
    """Return a flag and its value, as one word where the value would read as another flag."""
    long = next((flag for flag in flags if flag.startswith("--")), None)
    if long is not None and text.startswith("-") and text != "-":
        return [f"{long}={text}"]
    return [flags[0], text]


PLAN_NAME = "plan.json"


def free_name(name: str) -> str:
    """Return an unused name in the current folder: this one, or with a number before its suffix."""
    path = Path(name)
    names = chain([name], (str(path.with_stem(f"{path.stem}-{number}")) for number in count(2)))
    return next(each for each in names if not Path(each).exists())


def printed_plan_name(options: SampleOptions, kept: tuple[str, ...] = ()) -> str:
    """Return the file for the ``-o`` of a `sample` command line that is printed for the user to run.

    It is plan.json, even if that is a plan, unless `sample` would refuse to replace it, as it does what it
    reads: as its split decisions, or as a file of the folder that is its recording. Where that takes no file,
    it lies elsewhere.

    Parameters
    ----------
    kept : files that are not written over either.
    """
    inputs = (*input_files(options), *kept)
    if not is_writable(Path()):
        return free_name(place_for(PLAN_NAME))
    path = Path(PLAN_NAME)
    if why_not_written(path, inputs) is None and why_not_replaced(path, Product.PLAN) is None:
        return PLAN_NAME
    # If the current folder is itself read, nothing may be written there: try the folders above.
    names = (free_name("../" * above + PLAN_NAME) for above in range(len(Path.cwd().parts)))
    return next((name for name in names if why_not_written(Path(name), inputs) is None), PLAN_NAME)
