"""`esc`: what is open in a view is closed first, then it goes back to the view one came from."""

from __future__ import annotations

from tests.app.driving import App, Running, opened, screen_text, view_of, wait_for
from tui.app.group_table import GroupTable


async def at(app: App, pilot: Running, name: str) -> None:
    """Wait until a view is open, and all keys are handled."""
    await wait_for(pilot, lambda: getattr(app.screen, "NAME", "") == name, f"view {name}")
    await pilot.pause()


async def test_escape_goes_back_along_the_views_and_ends_at_the_first(gpt: str) -> None:
    async with opened(gpt) as (app, pilot):
        await pilot.press("j", "j", "enter")
        await at(app, pilot, "Split tree")
        await pilot.press("6", "7")
        await at(app, pilot, "Difference")
        for name in ("Timeline", "Split tree", "Groups"):
            await pilot.press("escape")
            await at(app, pilot, name)
        table = app.screen.query_one(GroupTable)
        assert (table.highlighted, app.session.selected) == (2, 2), "the cursor where it was"
        await pilot.press("escape", "escape")
        await at(app, pilot, "Groups")
        assert app.is_running
        assert app.return_code is None, "it does not quit"


async def test_escape_closes_what_is_open_in_the_view_first(gpt: str) -> None:
    async with opened(gpt, view="Timeline") as (app, pilot):
        await pilot.press("1")
        await at(app, pilot, "Groups")
        await pilot.press("slash", *"gemm", "enter", "escape")
        await wait_for(pilot, lambda: not app.session.search, "all groups again")
        await at(app, pilot, "Groups")
        await pilot.press("escape")
        await at(app, pilot, "Timeline")
        await wait_for(pilot, lambda: view_of(app).is_ready, "its launches")
        await pilot.press("1", "6", "plus")
        await wait_for(pilot, lambda: "% of #1" in screen_text(app), "a part")
        await pilot.press("escape")
        await wait_for(pilot, lambda: "% of #1" not in screen_text(app), "the whole")
        await at(app, pilot, "Timeline")
        await pilot.press("o", "escape")
        await at(app, pilot, "Difference")
        for name in ("Timeline", "Groups"):
            await pilot.press("escape")
            await at(app, pilot, name)
