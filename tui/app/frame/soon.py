"""What a key that is held down asks for: done at the first time, and at the last, not twenty times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from textual.message_pump import MessagePump
from textual.timer import Timer

_DELAY_SECONDS = 0.08
"""Quick enough for a key that is pressed again, and longer than a terminal waits between repeated ones."""

Asked = TypeVar("Asked")


class Soon(Generic[Asked]):
    """Acts at once, and where it is asked again in quick steps, once more by the last of them.

    Parameters
    ----------
    node : whose timer is used.
    act : called with what is asked for.
    """

    def __init__(self, node: MessagePump, act: Callable[[Asked], object]) -> None:
        self._node, self._act = node, act
        self._timer: Timer | None = None
        self._put_off: list[Asked] = []

    def ask(self, asked: Asked, *, at_once: bool = False) -> None:
        """Act now, or once no further step has come for a moment."""
        is_held = self._timer is not None and not at_once
        self._stop()
        self._put_off = [asked] if is_held else []
        self._timer = self._node.set_timer(_DELAY_SECONDS, self.end)
        if not is_held:
            self._act(asked)

    def end(self) -> None:
        """Act by the last step now, if that was put off."""
        self._stop()
        put_off, self._put_off = self._put_off, []
        for asked in put_off:
            self._act(asked)

    @property
    def is_resting(self) -> bool:
        """Whether nothing is put off, and the next step is a first one."""
        return self._timer is None

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = None
