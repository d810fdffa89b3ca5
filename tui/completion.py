"""What a shell offers at the cursor: methods and their options, exporters."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import fields
from typing import Any

from tui.registry import ALIASES, FIRST_WORDS, command_named

#: Set by the scripts that a shell runs at the tab key.
ASKED = "_KERNELPOINT_COMPLETE"
# What the scripts of bash, and those of zsh and fish, say of the command line.
_WORDS, _CURSOR, _LINE = "COMP_WORDS", "COMP_CWORD", "_TYPER_COMPLETE_ARGS"

Offer = Callable[..., list[str]]


def offer_of(option: str) -> Offer | None:
    """Return what offers the values of an option, by the name of its field; None where nothing does."""
    return _OFFERS.get(option)


def command_at_cursor(environ: MutableMapping[str, str]) -> str | None:
    """Return the command whose words are completed; None where the cursor is at the command itself.

    Where a profile stands in place of a command, or another word for it, the command is put there, so that
    its options are known.
    """
    if _LINE in environ:
        words, cursor = _split(environ[_LINE]), len(_split(environ[_LINE]))
        cursor -= not environ[_LINE].endswith((" ", "\n"))
    else:
        words, cursor = _split(environ.get(_WORDS, "")), int(environ.get(_CURSOR, "0"))
    if cursor < 2 or len(words) < 2 or words[1].startswith("-"):
        return None
    command = ALIASES.get(words[1], words[1] if words[1] in FIRST_WORDS else "open")
    if command != words[1]:
        _put_command(environ, words[1], command)
    following = words[1:] if command == words[1] else [command, *words[2:]]
    return command_named(following)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        # A quote that is not closed yet.
        return line.split()


def _put_command(environ: MutableMapping[str, str], first: str, command: str) -> None:
    """Put the command in place of another word for it, or before a profile."""
    is_other_word = first in ALIASES
    name = _LINE if _LINE in environ else _WORDS
    program, gap, rest = re.fullmatch(r"(\S*)(\s+)(.*)", environ[name], re.DOTALL).groups()  # type: ignore[union-attr]
    environ[name] = program + gap + command + (rest[len(first) :] if is_other_word else gap + rest)
    if name == _WORDS and not is_other_word:
        environ[_CURSOR] = str(int(environ[_CURSOR]) + 1)


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
