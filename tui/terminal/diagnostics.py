"""Owns stderr and the exit codes: notes, progress, and the one line that every failure becomes."""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from enum import IntEnum
from typing import Self

from sampling import errors
from tui.terminal.printable import printable

PROGRAM = "kernelpoint"
_REDRAW_SECONDS = 0.1
_SHOWN_AFTER_SECONDS = 0.4


class ExitCode(IntEnum):
    """What a script reads."""

    OK = 0
    ANALYSIS = 1
    USAGE = 2
    INPUT = 3
    EMPTY_OR_CHECK = 4
    INTERRUPT = 130


class CheckFailedError(Exception):
    """A `--fail-above` check that did not hold."""


_CODES: tuple[tuple[type[Exception], ExitCode], ...] = (
    (errors.ProfileError, ExitCode.INPUT),
    (errors.EmptySelectionError, ExitCode.EMPTY_OR_CHECK),
    (errors.BudgetError, ExitCode.EMPTY_OR_CHECK),
    (CheckFailedError, ExitCode.EMPTY_OR_CHECK),
    (errors.OptionError, ExitCode.USAGE),
    (errors.SamplingError, ExitCode.ANALYSIS),
)


def note(text: str, *, quiet: bool = False) -> None:
    """Write a note to stderr on one line, after what stdout still holds."""
    if quiet:
        return
    sys.stdout.flush()
    sys.stderr.write(f"{PROGRAM}: {printable(text)}\n")


def notes(texts: Iterable[str], *, quiet: bool = False) -> None:
    """Write several notes."""
    for text in texts:
        note(text, quiet=quiet)


def fail(text: str) -> None:
    """Write the one error line."""
    note(f"error: {' '.join(text.split())}")


def error_exit_code(error: Exception, text: str) -> ExitCode:
    """Say what failed, `text`, on one line, and return the exit code for it."""
    also = "".join(f"; {added}" for added in getattr(error, "__notes__", ()))
    for kind, code in _CODES:
        if isinstance(error, kind):
            fail(f"{text}{also}")
            return code
    if isinstance(error, OSError) and error.strerror is not None:
        place = "reading or writing" if error.filename is None else error.filename
        fail(f"{place}: {error.strerror}{also}")
        return ExitCode.ANALYSIS
    handle, path = tempfile.mkstemp(prefix="kernelpoint-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        traceback.print_exception(error, file=stream)
    fail(f"internal error: {type(error).__name__}: {text}{also}; the traceback is in {path}")
    return ExitCode.ANALYSIS


class ProgressMeter:
    """A progress line on stderr, rewritten in place and removed at the end; shown on a terminal only."""

    def __init__(self, *, quiet: bool) -> None:
        self.is_shown = not quiet and sys.stderr.isatty()
        self._last = time.monotonic() + _SHOWN_AFTER_SECONDS
        self._written = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, count: int, total: int, activity: str) -> None:
        """Take a report of the engine."""
        share = f" {100 * count // total}%" if total else ""
        if time.monotonic() - self._last >= _REDRAW_SECONDS:
            self.draw(f"{printable(activity)[:60]}{share}")

    def draw(self, line: str) -> None:
        """Show a line in place of the one before."""
        if not self.is_shown:
            return
        self._last = time.monotonic()
        self._written = True
        sys.stderr.write(f"\r\x1b[K{printable(line)}")
        sys.stderr.flush()

    def close(self) -> None:
        """Clear the line."""
        if self._written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._written = False
