"""The end of the app when the user does not end it: the connection drops, or a signal asks it to end."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from textual.app import App

from tui.terminal import interruption

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


class Ending:
    """Why the app ends, where it is not the user's wish.

    Attributes
    ----------
    cause : the signal that came, SIGHUP too where the terminal went away without one; None if none did.

    Parameters
    ----------
    last : what to do, in another thread, before the process is ended by force.
    """

    def __init__(self, last: Callable[[], object]) -> None:
        self._last = last
        self.cause: signal.Signals | None = None

    @contextmanager
    def watched(self, leave: Callable[[], object]) -> Iterator[None]:
        """Call `leave` in the running event loop once there is a cause; a second later, end the process."""
        loop = asyncio.get_running_loop()

        def end(cause: signal.Signals) -> None:
            if self.cause is None:
                self.cause = cause
                # Not a call of the event loop: that may be waiting for the terminal.
                _end_after(_LONGEST_LEAVING_SECONDS, 128 + cause, self._last)
            if not loop.is_closed():
                loop.call_soon_threadsafe(leave)

        def take(number: int, _: FrameType | None) -> None:
            end(signal.Signals(number))

        # What is ignored stays ignored: `nohup` asks for that.
        wanted = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, take) for number in wanted}
        _watch_terminal(lambda: end(signal.SIGHUP))
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def die(self) -> None:
        """End the process by the signal that came, if one did, as if nobody had listened for it."""
        if self.cause is not None:
            interruption.remove_leftovers()
            signal.signal(self.cause, signal.SIG_DFL)
            os.kill(os.getpid(), self.cause)


def run(app: App[Any], *, mouse: bool, last: Callable[[], object]) -> Ending:
    """Show the app until it is left, and return what made it end.

    Parameters
    ----------
    last : what is to be done where the app cannot be left, for the terminal takes no more.
    """
    ending = Ending(last)

    async def show() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(thread_name_prefix=_WORKERS))
        with ending.watched(app.exit):
            await app.run_async(mouse=mouse)

    try:
        with asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(show())
    except OSError:
        # A terminal that has gone cannot be given back.
        if ending.cause is None:
            raise
    return ending


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
