"""What is refused is said until the next key, wherever it is asked for, and not less."""

from __future__ import annotations

from tests.app.driving import opened, screen_text, wait_for
from tests.app.plan_driving import form_of, retype
from tests.fuzzing.keys import press_at_once


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
