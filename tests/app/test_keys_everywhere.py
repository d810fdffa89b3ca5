"""Every key in every view: where nothing is listed, over a page, and where its words stand."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from tests.app.driving import opened, planned, screen_text, view_of, wait_for
from tests.fuzzing.keys import press_at_random
from tui.app.actions import APP, VIEW, actions_of
from tui.app.frame.page import FindingsScreen, HelpScreen
from tui.app.option_form import OPTION_FIELDS, OptionForm
from tui.app.plan.details import PlanPane
from tui.app.plan.screen import PlanScreen
from tui.app.views import VIEWS, View

LEAVING = {"q", "ctrl+q", "ctrl+z"}
MORE_KEYS = ("space", "ctrl+home", "ctrl+end", "shift+tab")


def keys_in(view: View) -> list[str]:
    """Every key that its help names, and a few more; those of all views in the first one alone."""
    scopes = view.screen.SCOPES if view is VIEWS[0] else set(view.screen.SCOPES) - {APP, VIEW}
    named = (key for action in actions_of(*scopes) for key in action.keys.split(","))
    return [key for key in dict.fromkeys((*named, *MORE_KEYS)) if key not in LEAVING]


@pytest.mark.parametrize("view", VIEWS, ids=[view.name for view in VIEWS])
async def test_no_key_is_a_defect_where_nothing_is_listed_and_all_is_ascii(small: str, view: View) -> None:
    async with opened(small, ascii_only=True) as (app, pilot):
        await pilot.press("slash", *"zzz", "enter")
        await wait_for(pilot, lambda: app.session.selected is None, "no group is listed")
        await app.action_view(view.name)
        place = app.screen
        for key in keys_in(view):
            await pilot.press(key)
            assert (app.failure, app.crash) == (None, None), key
            assert screen_text(app).isascii(), (key, screen_text(app))
            if isinstance(app.focused, Input):
                # Out of the field that the key has opened.
                await pilot.press("escape")
            if app.screen is not place:
                await app.action_view(view.name)
            if view is VIEWS[0]:
                app.change(search="zzz")
        await pilot.pause()
        assert (app.failure, app.crash) == (None, None)


async def test_nothing_stays_behind_over_a_view(small: str) -> None:
    async with opened(small) as (app, pilot):
        groups = app.screen
        for key in ("question_mark", "f", "ctrl+p"):
            await pilot.press(key)
            await wait_for(pilot, lambda: app.screen is not groups, "something stands over the view")
            if key == "ctrl+p":
                await app.action_view("Plan")
            else:
                await pilot.press("3")
            await wait_for(pilot, lambda: "[3] Options" in screen_text(app), "view 3 opens")
            await app.action_view("Groups")
            await wait_for(pilot, lambda: app.screen is groups, "the view itself")
            await pilot.press("question_mark", "1")
            await wait_for(pilot, lambda: app.screen is groups, "its own key closes what stands over it")


async def test_a_page_can_be_taken_along(small: str) -> None:
    async with opened(small, (200, 40)) as (app, pilot):
        for key, page in (("question_mark", HelpScreen), ("f", FindingsScreen)):
            await pilot.press(key)
            await wait_for(pilot, lambda: isinstance(app.screen, page), "the page")  # noqa: B023
            await pilot.press("y")
            await wait_for(pilot, lambda: "lines sent to the clipboard" in screen_text(app), "copied")
            first = screen_text(app).splitlines()[1].strip()
            assert app.clipboard.strip().startswith(first)
            await pilot.press("w")
            await wait_for(pilot, lambda: "written to " in screen_text(app), "written")
            await pilot.press("Y")
            await wait_for(
                pilot, lambda: "kernelpoint " in screen_text(app).splitlines()[-1], "said in its place"
            )
            await pilot.press("escape")


async def test_words_stand_over_the_keys_and_over_nothing_else(small: str) -> None:
    async with opened(small) as (app, pilot):
        await wait_for(pilot, lambda: "Command" in screen_text(app), "the keys")
        await wait_for(pilot, lambda: app.session.binding is not None, "what binds")
        await wait_for(pilot, lambda: "being found" not in screen_text(app), "is shown")
        before = screen_text(app).splitlines()
        await pilot.press("y")
        await wait_for(pilot, lambda: "lines sent" in screen_text(app), "it is said")
        *rows, last = screen_text(app).splitlines()
        assert rows == before[:-1]
        assert last.split()[1:4] == ["lines", "sent", "to"], "no key is left beside it, or half a one"


async def test_the_plans_findings_have_the_keys_of_the_view_and_its_options_two_ends(small: str) -> None:
    async with opened(small, view="Plan") as (app, pilot):
        await planned(pilot, app)
        await wait_for(pilot, lambda: "e Export" in screen_text(app).splitlines()[-1], "the keys")
        keys = screen_text(app).splitlines()[-1]
        await pilot.press("t", "t", "t", "tab", "tab")
        screen = app.screen
        assert isinstance(screen, PlanScreen)
        await wait_for(pilot, lambda: screen.focused_pane is PlanPane.FINDINGS, "the findings have the focus")
        await wait_for(pilot, lambda: screen_text(app).splitlines()[-1] == keys, "the same keys")
        view_of(app).query_one(OptionForm).focus()
        form = view_of(app).query_one(OptionForm)
        for key, place in (("G", -1), ("g", 0), ("end", -1), ("home", 0)):
            await pilot.press(key)
            await wait_for(pilot, lambda: form.field is OPTION_FIELDS[place], key)  # noqa: B023


async def test_no_keys_at_random_end_the_app(small: str) -> None:
    """More of them, with other seeds: `python -m tests.fuzzing.keys PROFILE --keys N --seeds ...`."""
    await press_at_random(small, seed=0, presses=60)
