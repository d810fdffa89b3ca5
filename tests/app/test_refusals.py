"""What is refused is said until the next key, wherever it is asked for, and not less."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.driving import opened, screen_text, view_of, wait_for
from tests.app.plan_driving import form_of, retype
from tests.fuzzing.keys import press_at_once
from tui.app.app import KernelPointApp
from tui.app.state import Session


async def test_at_an_option_the_words_go_with_the_next_key_and_the_value_when_one_leaves(gpt: str) -> None:
    async with opened(gpt, view="Plan") as (app, pilot):
        await retype(pilot, app, "epsilon", "5")
        await wait_for(pilot, lambda: "did you mean" in screen_text(app), "why not")
        await pilot.press("y")
        await wait_for(pilot, lambda: "did you mean" not in screen_text(app), "it is read")
        assert "> epsilon          5 ?" in screen_text(app), "what was typed can be corrected"
        await pilot.press("j")
        await wait_for(pilot, lambda: "5 ?" not in screen_text(app), "the plan's value again")
        assert "  epsilon          0.05" in screen_text(app)
        assert not form_of(app).is_refused


async def test_what_is_to_go_at_the_next_key_goes_with_its_screen(gpt: str) -> None:
    async with opened(gpt) as (app, pilot):
        await pilot.press("F", "j", "j", "j", "enter", "(")
        filters = app.screen
        press_at_once(app, ["enter", "F"])
        await wait_for(pilot, lambda: app.screen is not filters, "the filters are gone, refused or not")
        await pilot.press("j", "k")
        assert (app.failure, app.crash) == (None, None)


async def test_a_place_to_write_to(gpt: str) -> None:
    Path("plan.json").write_text("mine")
    async with opened(gpt, view="Plan") as (app, pilot):
        await wait_for(pilot, lambda: view_of(app).is_ready, "the plan")
        await pilot.press("S", "ctrl+a", "ctrl+k", *"plan.json", "enter")
        await wait_for(pilot, lambda: "plan.json exists; give another name" in screen_text(app), "why not")
        await pilot.press("left")
        await wait_for(pilot, lambda: "Save the plan to a new file" in screen_text(app), "what is asked")
        await pilot.press("escape", "e", "ctrl+a", "ctrl+k", "enter")
        await wait_for(pilot, lambda: "a name is missing" in screen_text(app), "why not")
        await pilot.press("a")
        await wait_for(pilot, lambda: "Export for csv" in screen_text(app), "what is asked")


def test_words_are_there_long_enough_to_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    app = KernelPointApp(Session())
    seconds: list[float] = []
    monkeypatch.setattr(app, "notify", lambda *_, timeout, **__: seconds.append(timeout))
    for text, failed in (("short", False), ("x" * 300, False), ("short", True)):
        app.say(text, failed=failed)
    assert seconds == [5, 20, 3600], "what failed stays until a key, as every word goes with a key"
