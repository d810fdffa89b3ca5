"""Keys that arrive together are handled one by one, each by the widget that then has the focus.

Over a slow line several keys come in one packet. Textual hands all of them to the widget in focus before the
first is handled: text is inserted before an earlier backspace, and what follows the key that opens a field
goes elsewhere.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from textual import events
from textual.app import App
from textual.message_pump import MessagePump

_LONGEST_SECONDS = 1.5
"""A key whose widget goes away while it is handled is not reported as handled."""


class KeyOrder:
    """Hands keys on, the next once the one before is handled.

    Parameters
    ----------
    hand_on : gives a key to the widget in focus, as Textual does.
    """

    def __init__(self, app: App[Any], hand_on: Callable[[events.Key], Awaitable[None]]) -> None:
        self._app = app
        self._hand_on = hand_on
        self._waiting: deque[events.Key] = deque()
        self._handled = 0
        self._under_way: int | None = None

    @property
    def is_resting(self) -> bool:
        """Whether every key is handled."""
        return self._under_way is None and not self._waiting

    async def take(self, key: events.Key) -> None:
        """Hand a key on, now or in its turn."""
        self._waiting.append(key)
        if self._under_way is None:
            await self._next()

    async def _next(self) -> None:
        if not self._waiting:
            return
        self._under_way = number = self._handled
        target: MessagePump = self._app.focused or self._app.screen
        await self._hand_on(self._waiting.popleft())
        asyncio.get_running_loop().call_later(_LONGEST_SECONDS, self._give_up, number)
        self._follow(target, partial(self._follow, target, partial(self._drawn, number)))

    def _follow(self, node: MessagePump | None, then: Callable[[], object]) -> None:
        """Wait in the queue of every widget that the key bubbles to, behind the messages its action posts."""
        if node is None or node is self._app or not node.call_later(self._follow, node._parent, then):
            self._app.call_later(then)

    def _drawn(self, number: int) -> None:
        """Wait for a change of focus too, which may be put off until after the next drawing."""
        self._app.call_after_refresh(self._done, number)

    def _give_up(self, number: int) -> None:
        if number == self._under_way:
            self._app.call_later(self._done, number)

    async def _done(self, number: int) -> None:
        if number == self._under_way:
            self._under_way = None
            self._handled += 1
            await self._next()
