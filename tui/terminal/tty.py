"""What the terminal is and can show, decided from the environment; nothing here draws."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from typing import TextIO

DEFAULT_WIDTH = 100
_MOST_WIDTH, _MOST_DIGITS = 10_000, 9
"""Wider than any terminal; a chart as wide as a slip in ``COLUMNS`` would not fit in memory."""

_TERMS_WITHOUT_UNICODE = frozenset({"linux", "dumb", "vt100"})
# They place no cursor: Emacs shells and consoles of editors.
_TERMS_WITHOUT_SCREEN = frozenset({"dumb", "unknown"})
_LOCALES_WITHOUT_UNICODE = frozenset({"C", "POSIX"})
# What Python itself sets LC_CTYPE to when it finds the C locale (PEP 538): the user did not ask for it.
_COERCED_LOCALES = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})
_GLYPHS_TO_ENCODE = "─│└┤┬┴┊╌├▁▄█…"


def ascii_only(flag: bool, environ: Mapping[str, str], encoding: str | None) -> bool:
    """Whether to draw with ASCII alone: where the user asks for it, and where the terminal cannot do more.

    `environ`: ``TERM`` may name a terminal without the glyphs; ``LC_ALL``, ``LC_CTYPE`` or ``LANG`` (the
    first that is set) may name a locale without UTF-8. `encoding`: of the stream to be written to, None if it
    has none.
    """
    if flag or environ.get("TERM", "") in _TERMS_WITHOUT_UNICODE or not _is_unicode_locale(environ):
        return True
    try:
        _GLYPHS_TO_ENCODE.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def _is_unicode_locale(environ: Mapping[str, str]) -> bool:
    """Whether the locale uses UTF-8; assumed where no locale is set."""
    everything, characters, language = (environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    if not everything and characters in _COERCED_LOCALES and language in _LOCALES_WITHOUT_UNICODE:
        return False
    locale = everything or characters or language
    return not locale or "utf8" in locale.lower().replace("-", "")


def use_color(mode: str, stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Whether to write colour to `stream`.

    ``auto`` writes it to a terminal that is not ``dumb``, to anything if ``FORCE_COLOR`` is set (and not 0),
    and nowhere if ``NO_COLOR`` is set: ``NO_COLOR`` wins over ``FORCE_COLOR``.
    """
    if mode != "auto":
        return mode == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "").lower() not in {"", "0", "false"}:
        return True
    return is_terminal(stream) and environ.get("TERM") != "dumb"


def width(environ: Mapping[str, str], stream: TextIO | None) -> int:
    """The columns to write in: ``COLUMNS``, else those of the stream's terminal, else 100."""
    columns = environ.get("COLUMNS", "")
    # A number of thousands of digits is none to Python, and no width to anybody.
    if columns.isdecimal() and (requested := int(columns[:_MOST_DIGITS])) > 0:
        return min(requested, _MOST_WIDTH)
    return _size(stream)[0] or DEFAULT_WIDTH


def _size(stream: TextIO | None) -> tuple[int, int]:
    """The columns and rows of the stream's terminal, 0 where it has none."""
    with suppress(OSError, ValueError):
        if stream is not None:
            return os.get_terminal_size(stream.fileno())
    return 0, 0


def forget_stale_size(environ: MutableMapping[str, str], stream: TextIO | None) -> None:
    """Take ``COLUMNS`` and ``LINES`` out of the environment where the terminal itself says how large it is.

    A shell that exports them leaves them behind when the window changes, and the app would draw for them.
    """
    if all(_size(stream)):
        environ.pop("COLUMNS", None)
        environ.pop("LINES", None)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is there, open, and a terminal."""
    if stream is None:
        return False
    try:
        return stream.isatty()
    except ValueError:
        return False


def is_interactive() -> bool:
    """Whether a person can see a full screen and answer: all streams are terminals, and `TERM` has one."""
    return _are_terminals() and os.environ.get("TERM") not in _TERMS_WITHOUT_SCREEN


def _are_terminals() -> bool:
    return all(is_terminal(stream) for stream in (sys.stdin, sys.stdout, sys.stderr))


def why_no_app() -> tuple[str, str]:
    """Return why no app can be opened here, and what would open it."""
    if _are_terminals():
        reason = f"TERM={os.environ.get('TERM')} has no full screen"
        return reason, "set TERM to what the terminal is, such as xterm-256color"
    return "there is no terminal to open the app in", "over SSH, use `ssh -t`"


def instead_of_app(instead: str, by_name: str) -> str:
    """Return why something is printed in place of the app, `instead`.

    `by_name`: what to give by its name where standard input is not the keyboard.
    """
    if _are_terminals():
        reason, remedy = why_no_app()
        return f"{reason}, so this is the {instead}; to open the app, {remedy}"
    if is_terminal(sys.stdout) and is_terminal(sys.stderr):
        return f"keys cannot be read from standard input, so this is the {instead}; give {by_name}"
    return f"no terminal, so this is the {instead}; `ssh -t` opens the app"
