"""Options that change in quick steps, as while a key is held down."""

from __future__ import annotations

from collections.abc import Callable

from textual.message_pump import MessagePump
from textual.timer import Timer

from tui.app.plan.option_form import OptionsChanged
from tui.options.commands import SampleOptions

_DELAY_SECONDS = 0.08
"""A key that is held down makes a plan at first and one at last, not twenty."""


class PlanSoon:
    """Plans by the first of quick steps and by the last.

    Parameters
    ----------
    node : whose timer is used.
    plan : called with the options.
    """

    def __init__(self, node: MessagePump, plan: Callable[[SampleOptions], object]) -> None:
        self._node, self._plan = node, plan
        self._timer: Timer | None = None
        self._wanted: SampleOptions | None = None

    def take(self, event: OptionsChanged) -> None:
        """Plan now, or once no further step has come for a moment."""
        is_held = self._timer is not None and not event.at_once
        if self._timer is not None:
            self._timer.stop()
        self._wanted = event.options if is_held else None
        self._timer = self._node.set_timer(_DELAY_SECONDS, self.end)
        if not is_held:
            self._plan(event.options)

    def end(self) -> None:
        """Plan by the last step now, if that was put off."""
        if self._timer is not None:
            self._timer.stop()
        wanted, self._timer, self._wanted = self._wanted, None, None
        if wanted is not None:
            self._plan(wanted)
