"""Reading and comparing two recordings in a worker thread, and what it tells the view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from textual.message import Message

from sampling.difference.difference import Difference
from sampling.errors import SamplingError
from sampling.profile.profile import Profile
from tui.app.planning import CancelledError, throttled
from tui.engine.differing import found_difference
from tui.options.difference import DifferenceOptions


@dataclass
class DifferenceProgress(Message):
    """What is being read or counted."""

    generation: int
    words: str


@dataclass
class DifferenceReady(Message):
    """The two recordings are compared."""

    generation: int
    found: Difference


@dataclass
class DifferenceFailed(Message):
    """They cannot be compared."""

    generation: int
    error: SamplingError | OSError


def tell_difference(
    generation: int,
    asked: DifferenceOptions,
    read: Mapping[str, Profile],
    tell: Callable[[Message], object],
    is_cancelled: Callable[[], bool],
) -> None:
    """Compare two recordings; progress and result are sent as messages.

    Parameters
    ----------
    generation : the number that the messages carry.
    read : the profiles by file that are read already.
    """

    def report(done: int, total: int, what: str) -> None:
        share = f", {100 * done / total:.0f} %" if total else ""
        tell(DifferenceProgress(generation, what + share))

    progress = throttled(report, is_cancelled)
    try:
        # What there is to note goes to stderr, which is the screen's.
        found = found_difference(replace(asked, quiet=True), progress, read)
        progress(1, 1, "comparing")
    except CancelledError:
        return
    except (SamplingError, OSError) as error:
        if not is_cancelled():
            tell(DifferenceFailed(generation, error))
        return
    tell(DifferenceReady(generation, found))
