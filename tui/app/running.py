"""The app from the command line on: the session it begins with, and what it leaves behind."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from tui.app import hangup
from tui.app.app import KernelPointApp
from tui.app.state import Session, Undoable, decisions
from tui.app.views import FIRST_VIEW
from tui.options.choices import Theme
from tui.options.command_line import options_of
from tui.options.commands import SampleOptions
from tui.options.flags import error_text
from tui.options.shared import MethodOptions, OutputOptions
from tui.output.writer import write_stdout
from tui.terminal import interruption
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import ExitCode, exit_code_of, note
from tui.terminal.printable import printable

# It brings numpy, which the first paint does not wait for.
if TYPE_CHECKING:
    from sampling.splitting.groups import Overrides


def run_app(session: Session, *, mouse: bool, view: str = FIRST_VIEW, theme: Theme = Theme.TERMINAL) -> None:
    """Show the app until the user leaves it, then print the plan and its command line.

    Raises
    ------
    SamplingError : the workload cannot be shown; raised once the terminal is as it was.
    """
    _settle_color(session.options)
    _settle_encoding(session)
    terminal.forget_stale_size(os.environ, sys.__stdout__)
    app = KernelPointApp(session, view=view, theme=theme)
    ending = hangup.run(app, mouse=mouse, last=lambda: _kept_decisions(app.session))
    if ending.cause is not None:
        _tell_of_decisions(app.session)
        ending.die()
    if app.is_interrupted:
        # What a worker began is undone if it notices in time.
        hangup.is_busy()
        interruption.tell()
        hangup.end_now(ExitCode.INTERRUPT)
    error = app.failure or app.crash
    if error is None:
        _take_leave(app.session)
    elif (kept := _kept_decisions(app.session)) is not None:
        error.add_note(kept)
    if hangup.is_busy():
        hangup.end_now(ExitCode.OK if error is None else exit_code_of(error, error_text(error)))
    if error is not None:
        raise error


def _kept_decisions(session: Session) -> str | None:
    if not decisions(session.overrides):
        return None
    from tui.app.overrides_file import kept_decisions

    return kept_decisions(session)


def _tell_of_decisions(session: Session) -> None:
    """Write the split decisions, and say so if anybody is there to read it."""
    kept = _kept_decisions(session)
    if kept is not None:
        with suppress(OSError):
            note(kept)


def _take_leave(session: Session) -> None:
    """Print what was open and the command line that makes it again, if anything was."""
    if session.study is None and session.scale is None:
        return
    from tui.app.frame import wording

    line = wording.farewell(session)
    if line is not None:
        rows = (printable(row, ascii_only=session.ascii_only) for row in line.split("\n"))
        write_stdout("".join(f"{row}\n" for row in rows))


def session_of(profiles: tuple[str, ...], options: MethodOptions) -> Session:
    """Return the session that the app begins with.

    Raises
    ------
    PlanFileError : the file of split decisions cannot be read.
    """
    overrides: Overrides | None = None
    if options.overrides is not None:
        from tui.engine.studies import overrides_of

        overrides = overrides_of(options.overrides, options.method, quiet=options.quiet)
    own = options_of(SampleOptions, options, profiles=profiles)
    past = (Undoable({}, own.method, own.group_by),) if overrides else ()
    return Session(own, overrides=overrides or {}, past_overrides=past, ascii_only=ascii_wanted(options))


def ascii_wanted(options: OutputOptions) -> bool:
    """Return whether the app may draw with ASCII alone."""
    return terminal.ascii_only(options.ascii, os.environ, getattr(sys.__stderr__, "encoding", None))


def _settle_encoding(session: Session) -> None:
    """Let blocks through to a terminal that gets ASCII otherwise: Textual writes to stderr."""
    dots = terminal.app_dots(session.options.ascii, ascii_only=session.ascii_only)
    if dots == "blocks" and isinstance(sys.__stderr__, io.TextIOWrapper) and sys.__stdout__ is not None:
        sys.__stderr__.reconfigure(encoding=sys.__stdout__.encoding)


def _settle_color(options: OutputOptions) -> None:
    """Say in NO_COLOR, the one place where Textual looks, whether to colour."""
    if terminal.use_color(options.color.value, sys.__stderr__, os.environ):
        os.environ.pop("NO_COLOR", None)
    else:
        os.environ["NO_COLOR"] = "1"
