"""The app from the command line on: the session it begins with, and how it ends, what it leaves behind."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from textual.app import App

from tui.app.app import KernelPointApp
from tui.app.state import Session, Undoable, decisions
from tui.app.views import FIRST_VIEW
from tui.options.command_line import error_text, options_of
from tui.options.plan import SampleOptions
from tui.options.shared import MethodOptions, OutputOptions
from tui.terminal import interruption
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import ExitCode, error_exit_code, note
from tui.terminal.printable import draw_in_ascii, printable

# It brings numpy, which the first paint does not wait for.
if TYPE_CHECKING:
    from sampling.splitting.tree import Overrides


_SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
_LONGEST_LEAVING_SECONDS = 1.0
"""Writing to a terminal that has gone may block for ever."""
_LONGEST_WORK_SECONDS = 0.5
"""What a worker needs to see that it is cancelled; a long call of a library does not see it."""
_WORKERS = "kernelpoint-worker"


class _Loop(asyncio.SelectorEventLoop):
    """An event loop that does not wait for threads when it closes: they may be in a long call."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Leave the threads to `is_busy`."""


def run(app: App[Any], *, mouse: bool, last: Callable[[], object]) -> signal.Signals | None:
    """Show the app until it is left, and return the signal that made it end; None where the user did.

    SIGHUP stands for a terminal that went away, too. `last`: what is to be done, in another thread, where
    the app cannot be left, for the terminal takes no more.
    """
    causes: list[signal.Signals] = []

    async def show() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(thread_name_prefix=_WORKERS))

        def end(number: int, _: FrameType | None = None) -> None:
            causes.append(signal.Signals(number))
            if len(causes) == 1:
                # Not a call of the event loop: that may be waiting for the terminal.
                _end_after(_LONGEST_LEAVING_SECONDS, 128 + number, last)
            if not loop.is_closed():
                loop.call_soon_threadsafe(app.exit)

        # What is ignored stays ignored: `nohup` asks for that.
        handled = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, end) for number in handled}
        _watch_terminal(partial(end, signal.SIGHUP))
        try:
            await app.run_async(mouse=mouse)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    try:
        with asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(show())
    except OSError:
        # A terminal that has gone cannot be given back.
        if not causes:
            raise
    return causes[0] if causes else None


def is_busy() -> bool:
    """Return whether a cancelled worker is still in a call that cannot be interrupted."""
    give_up = time.monotonic() + _LONGEST_WORK_SECONDS
    for thread in threading.enumerate():
        if thread.name.startswith(_WORKERS):
            thread.join(max(give_up - time.monotonic(), 0))
            if thread.is_alive():
                return True
    return False


def end_now(code: int) -> NoReturn:
    """End the process without waiting for its threads."""
    sys.stdout.flush()
    sys.stderr.flush()
    interruption.remove_leftovers()
    os._exit(code)


def _end_after(seconds: float, code: int, last: Callable[[], object]) -> None:
    def end() -> None:
        try:
            last()
            interruption.remove_leftovers()
        finally:
            os._exit(code)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def _watch_terminal(gone: Callable[[], None]) -> None:
    """Call `gone`, in a thread, once the terminal is no longer there.

    Where no signal says so (another session's terminal, `nohup`), Textual reads the end of its input over and
    over.
    """
    poll = select.poll()
    # No event is asked for: that the other end has gone is told in any case.
    poll.register(sys.stdin.fileno(), 0)

    def wait() -> None:
        if poll.poll():
            gone()

    threading.Thread(target=wait, name="kernelpoint-terminal", daemon=True).start()


# The session, from the command line and back to it.


def run_app(session: Session, *, mouse: bool, view: str = FIRST_VIEW) -> None:
    """Show the app until the user leaves it, then print the plan and its command line.

    Raises SamplingError: the workload cannot be shown; raised once the terminal is as it was.
    """
    _settle_color(session.options)
    draw_in_ascii(session.ascii_only)
    terminal.forget_stale_size(os.environ, sys.__stdout__)
    app = KernelPointApp(session, view=view)
    cause = run(app, mouse=mouse, last=lambda: _kept_decisions(app.session))
    if cause is not None:
        if (message := _kept_decisions(app.session)) is not None:
            with suppress(OSError):
                note(message)
        # By the signal that came, as if nobody had listened for it.
        interruption.remove_leftovers()
        signal.signal(cause, signal.SIG_DFL)
        os.kill(os.getpid(), cause)
    if app.is_interrupted:
        # What a worker began is undone if it notices in time.
        is_busy()
        interruption.tell()
        end_now(ExitCode.INTERRUPT)
    error = app.failure or app.crash
    if error is None:
        _take_leave(app.session)
    elif (message := _kept_decisions(app.session)) is not None:
        error.add_note(message)
    if is_busy():
        end_now(ExitCode.OK if error is None else error_exit_code(error, error_text(error)))
    if error is not None:
        raise error


def _kept_decisions(session: Session) -> str | None:
    if not decisions(session.overrides):
        return None
    from tui.app.planning import kept_decisions

    return kept_decisions(session)


def _take_leave(session: Session) -> None:
    """Print what was open and the command line that makes it again, if anything was."""
    if session.draft is None and session.scale is None and session.speedups is None:
        return
    from tui.app import wording
    from tui.output.writer import write_stdout

    line = wording.farewell(session)
    if line is not None:
        rows = (printable(row) for row in line.split("\n"))
        write_stdout("".join(f"{row}\n" for row in rows))


def open_session(profiles: tuple[str, ...], options: MethodOptions) -> Session:
    """Return the session that the app begins with.

    Raises PlanFileError: the file of split decisions cannot be read.
    """
    overrides: Overrides | None = None
    if options.request.overrides is not None:
        from tui.engine.drafts import load_overrides

        overrides = load_overrides(options.request.overrides, options.request.method, quiet=options.quiet)
    sample_options = options_of(SampleOptions, options, profiles=profiles)
    past = (
        (Undoable({}, sample_options.request.method, sample_options.request.group_by),) if overrides else ()
    )
    return Session(
        sample_options, overrides=overrides or {}, past_overrides=past, ascii_only=ascii_wanted(options)
    )


def ascii_wanted(options: OutputOptions) -> bool:
    """Return whether the app may draw with ASCII alone."""
    return terminal.ascii_only(options.ascii, os.environ, getattr(sys.__stderr__, "encoding", None))


def _settle_color(options: OutputOptions) -> None:
    """Say in NO_COLOR, the one place where Textual looks, whether to colour."""
    if terminal.use_color(options.color.value, sys.__stderr__, os.environ):
        os.environ.pop("NO_COLOR", None)
    else:
        os.environ["NO_COLOR"] = "1"
