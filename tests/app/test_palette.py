"""The palette: everything that can be done, found from any view by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from textual.command import CommandList
from textual.widget import Widget

from sampling.methods.registry import method_names
from sampling.plan.request import PlanRequest
from sampling.simulators.registry import exporter_names
from tests.app.driving import App, Running, opened, planned, screen_text, view_of, wait_for
from tui.app.actions import APP, COMPARING, PLANNED, SCALE, VIEW, Shown
from tui.app.app import KernelPointApp
from tui.app.option_form import OPTION_FIELDS, OptionForm
from tui.app.views import VIEWS, View, entries, view_named
from tui.options.look import OpenOptions


def titles(here: str | None, *, has_profile: bool = True) -> list[str]:
    """What the palette lists in a view."""
    scopes = next((view.screen.SCOPES for view in VIEWS if view.name == here), (APP,))
    return [entry.title for entry in entries(here, scopes, has_profile=has_profile)]


@pytest.mark.parametrize("here", [view.name for view in VIEWS])
def test_every_action_of_every_view_is_there_once_with_its_view_and_key(here: str) -> None:
    listed = titles(here)
    assert len(set(listed)) == len(listed)
    for view in VIEWS:
        own = (scope for scope in view.screen.SCOPES if scope not in (APP, VIEW, COMPARING))
        for action in chain.from_iterable(own):
            if Shown.PALETTE in action.shown:
                assert f"{view.name}: {action.title}  {action.display.split()[0]}" in listed
        assert f"View {view.key}: {view.name}  {view.key}" in listed
    assert {f"Option: {field.label}" for field in OPTION_FIELDS} <= set(listed)
    assert {f"Export: {name}" for name in exporter_names()} <= set(listed)
    assert {f"Method: {name}" for name in method_names()} <= set(listed)
    assert listed[0].startswith(f"{here}: "), "what can be done here comes first"


@pytest.mark.parametrize("view", VIEWS, ids=[view.name for view in VIEWS])
def test_whatever_is_listed_can_be_run(view: View) -> None:
    listed = list(entries(view.name, view.screen.SCOPES, has_profile=True))
    for entry in listed:
        screen = view.screen if entry.view is None else view_named(entry.view).screen
        name = entry.action.partition("(")[0]
        of = KernelPointApp if name.startswith("app.") else screen
        assert hasattr(of, f"action_{name.rpartition('.')[2]}"), entry


def test_without_a_profile_only_what_works_is_listed() -> None:
    listed = titles("Scale model", has_profile=False)
    own = {f"Scale model: {action.title}  {action.display.split()[0]}" for action in SCALE if action.shown}
    assert own <= set(listed)
    assert "View 5: Scale model  5" in listed
    for words in (
        "Option: ",
        "Method: ",
        "Export: ",
        "Plan: ",
        "Groups: ",
        "View 1",
        "Filters",
        "Difference",
    ):
        assert not any(title.startswith(words) for title in listed), words
    reading = titles(None, has_profile=False)
    assert reading[:3] == ["Quit  q", "View 5: Scale model  5", "View 8: Speedups  8"]
    assert all(title.startswith(("Scale model: ", "Speedups: ")) for title in reading[3:])


def classes_below(parent: type) -> Iterator[type]:
    """Yield all subclasses, theirs too."""
    for child in parent.__subclasses__():
        yield child
        yield from classes_below(child)


def test_every_action_that_help_lists_is_a_method_of_ours() -> None:
    views = [view.screen for view in VIEWS]
    own = [widget for widget in classes_below(Widget) if widget.__module__.startswith("tui.app.")]
    for action in chain(chain.from_iterable(scope for view in views for scope in view.SCOPES), PLANNED):
        place, _, name = action.name.partition("(")[0].rpartition(".")
        classes: list[type] = {"app": [KernelPointApp], "screen": [*views]}.get(place, own)
        assert any(hasattr(owner, f"action_{name}") for owner in classes), action


async def chosen(app: App, pilot: Running, typed: str, title: str) -> None:
    """Open the palette, type, and run the first entry, which must be this one."""
    await pilot.press("ctrl+p")
    await wait_for(pilot, lambda: "Search for actions" in screen_text(app), "the palette opens")
    await pilot.press(*typed)
    listed = app.screen.query_one(CommandList)

    def first() -> str:
        return str(listed.get_option_at_index(0).prompt).splitlines()[0] if listed.option_count else ""

    await wait_for(pilot, lambda: first() == title, f"{title} comes first, not {first()}")
    await pilot.press("enter")
    await wait_for(pilot, lambda: "Search for actions" not in screen_text(app), "it closes")


async def test_save_from_another_view_opens_the_plan_first_and_waits_until_it_is_drawn(
    gpt: str, tmp_path: Path
) -> None:
    async with opened(gpt) as (app, pilot):
        await chosen(app, pilot, "save", "Plan: Save  S")
        await wait_for(pilot, lambda: "File: plan.json" in screen_text(app), "where to save is asked")
        await pilot.press("enter")
        await wait_for(pilot, (tmp_path / "plan.json").exists, "it is saved")
        for key, asked in (("S", "File: plan-2.json"), ("e", "Folder: "), ("r", "Manifest:")):
            await pilot.press("6")
            await wait_for(pilot, lambda: view_of(app).NAME == "Timeline", "another view")
            await pilot.press(key)
            await wait_for(pilot, lambda asked=asked: asked in screen_text(app), asked)  # type: ignore[misc]
            await pilot.press("escape")


async def test_epsilon_opens_the_plan_on_the_option_and_escape_goes_back(gpt: str) -> None:
    async with opened(gpt, view="Compare", options=OpenOptions(request=PlanRequest(method="random"))) as (
        app,
        pilot,
    ):
        place = app.screen
        await chosen(app, pilot, "epsilon", "Option: epsilon")
        await wait_for(pilot, lambda: view_of(app).NAME == "Plan", "view 3")
        form = view_of(app).query_one(OptionForm)
        await wait_for(pilot, lambda: form.has_focus and form.field.name == "epsilon", "on the option")
        await pilot.press("escape")
        await wait_for(pilot, lambda: app.screen is place, "back")


async def test_an_exporter_is_chosen_and_a_method_plans_where_one_is(gpt: str) -> None:
    async with opened(gpt, view="Timeline") as (app, pilot):
        place = app.screen
        await chosen(app, pilot, "accel", "Export: accel-sim")
        await wait_for(
            pilot, lambda: "Folder: accel-sim-export" in screen_text(app), "the exporter is chosen"
        )
        await pilot.press("escape", "escape")
        await wait_for(pilot, lambda: app.screen is place, "back")
        await chosen(app, pilot, "method random", "Method: random")
        await wait_for(pilot, lambda: app.session.request.method == "random", "planned by it")
        await planned(pilot, app)
        assert app.screen is place, "without leaving the view"
