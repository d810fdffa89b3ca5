"""What a held key asks for: the first step at once, the last one soon after, none of those between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App

from tui.app.frame.panes import Soon

LONG_ENOUGH_SECONDS = 0.3


@asynccontextmanager
async def asked() -> AsyncIterator[tuple[Soon[int], list[int]]]:
    """Give a `Soon`, and what it acted on."""
    acted: list[int] = []
    app: App[None] = App()
    async with app.run_test():
        yield Soon(app, acted.append), acted


async def test_a_held_key_acts_by_its_first_step_and_its_last() -> None:
    async with asked() as (soon, acted):
        for step in range(5):
            soon.ask(step)
        assert acted == [0]
        assert not soon.is_resting
        await asyncio.sleep(LONG_ENOUGH_SECONDS)
        assert acted == [0, 4]
        assert soon.is_resting


async def test_what_is_asked_at_once_takes_the_place_of_what_was_put_off() -> None:
    async with asked() as (soon, acted):
        soon.ask(1)
        soon.ask(2)
        soon.ask(3, at_once=True)
        assert acted == [1, 3]
        await asyncio.sleep(LONG_ENOUGH_SECONDS)
        assert acted == [1, 3]
