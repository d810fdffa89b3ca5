"""Keys, held keys and windows of every size, in every view: nothing fails, nothing is cut off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import chain

import pytest
from textual.app import App as PlainApp
from textual.widget import Widget
from textual.widgets import Input

from tests.app.driving import (
    App,
    Running,
    opened,
    planned,
    resized,
    screen_text,
    strips_of,
    view_of,
    wait_for,
)
from tests.fuzzing.keys import press_at_random
from tui.app.actions import APP, VIEW
from tui.app.filters import FiltersScreen
from tui.app.option_form import OPTION_FIELDS, OptionForm
from tui.app.plan import PlanScreen
from tui.app.plan_details import PlanPane
from tui.app.ranks import RanksScreen
from tui.app.session_app import ExplainedScreen
from tui.app.view import FindingsScreen, HelpScreen
from tui.app.views import VIEWS, View
from tui.app.widgets import Soon

LEAVING = {"q", "ctrl+q", "ctrl+z"}
MORE_KEYS = ("space", "ctrl+home", "ctrl+end", "shift+tab")


def keys_in(view: View) -> list[str]:
    """Every key that its help names, and a few more; those of all views in the first one alone."""
    scopes = [scope for scope in view.screen.SCOPES if view is VIEWS[0] or scope not in (APP, VIEW)]
    named = (key for action in chain.from_iterable(scopes) for key in action.keys.split(","))
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


@pytest.mark.parametrize(("key", "page"), [("f", FindingsScreen), ("F", FiltersScreen), ("P", RanksScreen)])
async def test_help_of_what_stands_over_a_view_leads_back_to_it(
    small: str, key: str, page: type[ExplainedScreen]
) -> None:
    async with opened(small, (80, 50)) as (app, pilot):
        await pilot.press(key)
        await wait_for(pilot, lambda: isinstance(app.screen, page), "the page")
        screen, title = app.screen, f"Help: {page.NAME}"
        for opening, closing in (("question_mark", "escape"), ("f1", "question_mark")):
            await pilot.press(opening)
            await wait_for(pilot, lambda: title in screen_text(app), "its help")
            text = screen_text(app)
            for action in chain.from_iterable(page.SCOPES):
                assert f"{action.display:<9} {action.description}" in text
            await pilot.press(closing)
            await wait_for(pilot, lambda: app.screen is screen, "the page again")


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


LONG_ENOUGH_SECONDS = 0.3


@asynccontextmanager
async def asked() -> AsyncIterator[tuple[Soon[int], list[int]]]:
    """Give a `Soon`, and what it acted on."""
    acted: list[int] = []
    app: PlainApp[None] = PlainApp()
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


ODD_SIZES = [(1, 1), (20, 6), (300, 4), (60, 15), (200, 60)]
OVER_A_VIEW = {"?": "help", "f": "the findings", "ctrl+p": "the palette"}


def is_idle(app: App) -> bool:
    """Whether nothing is computed."""
    return app.session.doing is None and all(worker.is_finished for worker in app.workers)


async def check_size(app: App, pilot: Running, width: int, height: int) -> None:
    """Make the window another size, and look at what is drawn in it."""
    await resized(app, pilot, width, height)
    strips = strips_of(app)
    assert len(strips) == height
    assert {strip.cell_length for strip in strips} == {width}
    assert all(strip.text.isascii() for strip in strips)
    assert app.screen.max_scroll_x == 0, "nothing stands beside the window"


def cut_off(app: App) -> list[Widget]:
    """The widgets that reach out of the window at its right."""
    width = app.size.width
    return [
        widget
        for widget in app.screen.walk_children(Widget)
        if widget.display and widget.region.right > width
    ]


@pytest.mark.parametrize("view", VIEWS, ids=[view.name for view in VIEWS])
async def test_a_view_survives_every_size_and_looks_as_before(small: str, view: View) -> None:
    titles = {action.title for scope in view.screen.SCOPES for action in scope}
    async with opened(small, view=view.name, ascii_only=True) as (app, pilot):
        await wait_for(pilot, lambda: is_idle(app), "all is computed")
        # In a large window all is computed, such as what makes the plan faster.
        for size in ((160, 40), (81, 25), (80, 24)):
            await check_size(app, pilot, *size)
            await wait_for(pilot, lambda: is_idle(app), "all is drawn")
        before = screen_text(app)
        for size in ODD_SIZES:
            await check_size(app, pilot, *size)
            assert size[0] < 60 or cut_off(app) == []
        for width in (60, 47):
            await check_size(app, pilot, width, 15)
            await wait_for(pilot, lambda: screen_text(app).split()[-1] in titles, f"whole words in {width}")
        await check_size(app, pilot, 80, 24)
        await wait_for(pilot, lambda: is_idle(app) and screen_text(app) == before, f"all is back:\n{before}")


async def test_so_does_what_stands_over_a_view(small: str) -> None:
    async with opened(small, ascii_only=True) as (app, pilot):
        view = app.screen
        for key, what in OVER_A_VIEW.items():
            await pilot.press(key)
            await wait_for(pilot, lambda: app.screen is not view, what)
            for size in ((20, 6), (60, 15), (80, 24)):
                await check_size(app, pilot, *size)
            await pilot.press("escape")
            await wait_for(pilot, lambda: app.screen is view, "the view again")
