"""Signals that end the program: what it says then, with which code, and that nothing half-made stays behind.

While the program starts there is nothing to undo, and an interruption ends it at once. While a command runs,
a signal is raised as KeyboardInterrupt, so that what was begun is undone; a library may swallow that, or a
thread be in a long call, and a second later the program is ended by force.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

INTERRUPTED = 130
_LINE = b"kernelpoint: interrupted\n"
_STDERR = 2
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
"""What ends a program by itself where there is nothing to undo."""
_LONGEST_UNDOING_SECONDS = 1.0


class _State:
    """What this process was told, there once."""

    # Not a dataclass: importing those takes longer than all else here.
    def __init__(self) -> None:
        #: The signal that came first; None if none did.
        self.cause: signal.Signals | None = None
        #: Whether the process is this program's own, its signals too; whether a command runs, which has
        #: something to undo; whether the user was told of the interruption.
        self.is_listening = self.is_working = self.is_told = False
        #: What removes what must not stay behind; each may run twice, and in another thread.
        self.last_acts: list[Callable[[], object]] = []


_state = _State()


def listen() -> None:
    """Take interruptions from now on."""
    _state.is_listening = True
    _listen_to(signal.SIGINT)
    # An interruption in a finalizer is swallowed by Python with a traceback; the end by force still comes.
    loud = sys.unraisablehook

    def unraisable(error: sys.UnraisableHookArgs) -> None:
        if _state.cause is None:
            loud(error)

    sys.unraisablehook = unraisable


def _listen_to(*numbers: signal.Signals) -> None:
    for number in numbers:
        # What is ignored stays so: `nohup` asks for it, and a shell that starts a job in the background.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _take)


def work() -> None:
    """Raise signals as KeyboardInterrupt from now on: a command begins, and may have something to undo."""
    if _state.is_listening:
        # Brought now, for a handler must not import.
        import threading  # noqa: F401

        _state.is_working = True
        _listen_to(*_ENDINGS)


def came() -> bool:
    """Return whether a signal came: whatever failed since then did because of it."""
    return _state.cause is not None


def at_the_end(act: Callable[[], object]) -> None:
    """Have something removed however the program ends, but by a signal that nobody can take."""
    _state.last_acts.append(act)


def remove_leftovers() -> None:
    """Remove what must not stay behind."""
    for act in _state.last_acts:
        act()


def tell() -> None:
    """Say that the program was interrupted, once; of another signal its sender knows."""
    if not _state.is_told and _state.cause in {None, signal.SIGINT}:
        _state.is_told = True
        os.write(_STDERR, _LINE)


def settled(code: int) -> int:
    """Return the exit code of a program that has done its work; end it by the signal that came, if one did.

    `code`: what the work came to; an interruption that a library swallowed is one nevertheless.
    """
    for number in (signal.SIGINT, *_ENDINGS):
        # All is done but Python's own clearing up, which an interruption would only make a traceback of.
        if signal.getsignal(number) is _take:
            signal.signal(number, signal.SIG_IGN if number is signal.SIGINT else signal.SIG_DFL)
    remove_leftovers()
    if _state.cause is None:
        return code
    if _state.cause is signal.SIGINT:
        tell()
        return INTERRUPTED
    signal.signal(_state.cause, signal.SIG_DFL)
    os.kill(os.getpid(), _state.cause)
    return 128 + _state.cause


def _take(number: int, _: FrameType | None) -> None:
    if _state.cause is not None:
        # It is being undone: another signal would break that off.
        return
    _state.cause = signal.Signals(number)
    if not _state.is_working:
        _end()
    import threading

    timer = threading.Timer(_LONGEST_UNDOING_SECONDS, _end)
    timer.daemon = True
    timer.start()
    raise KeyboardInterrupt


def _end() -> None:
    """End the process without waiting for anything."""
    try:
        remove_leftovers()
        tell()
    finally:
        os._exit(128 + (_state.cause or signal.SIGINT))
