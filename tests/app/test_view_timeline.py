"""View 6: a group's launches over the run, zoomed and panned; what its command prints."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sampling.plan.request import PlanRequest
from tests.app.driving import (
    App,
    Running,
    draft_in,
    drawn,
    opened,
    planned,
    printed,
    screen_text,
    view_of,
    wait_for,
)
from tui.app.planning import load_draft, plan_again
from tui.app.timeline import LEAST_SHOWN, RangeTree, RegionChoice, Shown, TimelineScreen
from tui.app.widgets import Chart
from tui.engine.looking import timeline_of_group
from tui.options.look import OpenOptions
from tui.options.plan import SampleOptions


async def settled(app: App, pilot: Running) -> TimelineScreen:
    """Wait until the launches of the group in focus are shown."""
    screen = view_of(app)
    assert isinstance(screen, TimelineScreen)
    await wait_for(pilot, lambda: screen.is_settled, "its launches are read")
    await pilot.pause()
    return screen


async def test_its_command_prints_what_is_shown(gpt: str, tmp_path: Path) -> None:
    options = OpenOptions(ascii=True)
    async with opened(gpt, (60, 15), view="Timeline", ascii_only=True, options=options) as (app, pilot):
        await settled(app, pilot)
        chart = app.screen.query_one(Chart)
        for keys, words in (((), ""), (("plus", "l", "x"), "--window"), (("t",), "--by time")):
            await pilot.press(*keys, "y")
            text = app.clipboard
            await pilot.press("Y")
            assert words in app.clipboard
            assert text.endswith("\n" + drawn(chart) + "\n")
            assert printed(app.clipboard, 132, tmp_path) == text
        assert text.isascii()


async def test_other_groups_and_the_whole_again(gpt: str) -> None:
    async with opened(gpt, view="Timeline") as (app, pilot):
        screen = await settled(app, pilot)
        whole = screen.pane_text().text
        await pilot.press("plus", "plus")
        assert "[6] 25.0 % of #1" in screen_text(app)
        await pilot.press("escape")
        assert screen.pane_text().text == whole
        await pilot.press("plus", "j")
        await settled(app, pilot)
        assert app.session.selected == 1
        assert screen.pane_text().text.startswith("#2 ")
        assert " % of #" not in screen_text(app), "another group is shown whole"


async def test_a_range_is_zoomed_to_and_made_the_region_and_given_back(gpt: str) -> None:
    async with opened(gpt, view="Timeline") as (app, pilot):
        screen = await settled(app, pilot)
        tree = screen.query_one(RangeTree)
        whole, draft = screen.pane_text().text, app.session.draft
        await pilot.press("tab", "s")
        await settled(app, pilot)
        await pilot.press("j", "j", "enter")
        forest, path = tree.forest, tree.path
        assert forest is not None
        assert path is not None
        first, last = int(forest.listed.first[path]), int(forest.listed.last[path])
        assert "[6] 1.1 % of #1" in screen_text(app)
        assert all(first <= each <= last for each in shown_ids(screen))
        assert app.session.draft is draft, "zooming plans nothing"
        await pilot.press("space")
        await planned(pilot, app)
        screen = await settled(app, pilot)
        assert app.session.request.range == forest.listed.paths.written(path)
        assert draft_in(app).counts.launches == forest.listed.launches[path]
        assert tree.forest is forest, "the other ranges can still be chosen"
        assert tree.path == path
        # An iteration: its launches, and no longer the range.
        await pilot.press("G", "l", "l", "space")
        await planned(pilot, app)
        await settled(app, pilot)
        found = tree.path
        assert found is not None
        window = f"{forest.listed.first[found]}:{forest.listed.last[found] + 1}"
        assert (app.session.request.range, app.session.request.launches) == (None, window)
        await pilot.press("plus", "escape")
        assert app.session.request.launches == window, "first the zoom"
        await pilot.press("escape")
        await planned(pilot, app)
        screen = await settled(app, pilot)
        assert (app.session.request.range, app.session.request.launches) == (None, None)
        await pilot.press("s")
        await settled(app, pilot)
        assert screen.pane_text().text == whole
        await pilot.press("escape")
        assert app.session.doing is None


async def test_steps_are_one_range_or_several_also_of_a_region(gpt: str, tmp_path: Path) -> None:
    async with opened(gpt, view="Timeline") as (app, pilot):
        screen = await settled(app, pilot)
        tree = screen.query_one(RangeTree)
        await pilot.press("tab")
        assert re.search(r"ProfilerStep#\* +89.6 ms +106 ms│", screen_text(app))
        await pilot.press("space")
        await planned(pilot, app)
        await settled(app, pilot)
        assert app.session.request.range == "ProfilerStep#*"
        await pilot.press("s")
        await settled(app, pilot)
        assert tree.forest is not None
        assert [tree.forest.listed.paths.name(path) for path in tree.forest.walked(())[:2]] == [
            "ProfilerStep#0",
            "ProfilerStep#1",
        ]
        await pilot.press("y")
        text = app.clipboard
        await pilot.press("Y")
        assert "--steps" in app.clipboard
        assert printed(app.clipboard, 132, tmp_path) == text


async def test_ranges_open_and_close_and_the_cursor_stays_in_sight(gpt: str) -> None:
    async with opened(gpt, view="Timeline") as (app, pilot):
        screen = await settled(app, pilot)
        tree = screen.query_one(RangeTree)
        await pilot.press("tab", "G", "l")
        forest, iterations = tree.forest, tree.path
        assert forest is not None
        assert iterations is not None
        await pilot.press("l", "pagedown", "pagedown")
        inside = tree.path
        assert inside is not None
        assert forest.parent_of(inside) == iterations
        lines = screen_text(app).splitlines()[tree.region.y : tree.region.bottom]
        assert any(forest.listed.paths.name(inside) in line for line in lines), "it is in sight"
        await pilot.press("h")
        assert tree.path == iterations, "from a range that holds nothing to the one around"
        await pilot.press("h", "G")
        assert tree.path == iterations, "closed, it is the last again"
        await pilot.press("g", "h")
        assert tree.path == forest.walked(())[0]


def shown_ids(screen: TimelineScreen) -> list[int]:
    """The ids at the ends of what is shown."""
    words = screen.pane_text().text.replace(",", "")
    return [int(each) for each in re.findall(r"ids (\d+) to (\d+)", words)[0]]


def test_a_choice_is_gone_once_its_filter_is_another() -> None:
    before = SampleOptions(request=PlanRequest(exclude=("memset",)))
    choice = RegionChoice(3, False, before, before.with_request(range="step"))
    assert choice.is_in(choice.after.with_request(epsilon=0.1))
    assert not choice.is_in(choice.after.with_request(range="other"))
    assert not choice.is_in(choice.after.with_request(launches="0:9"))
    assert choice.taken_out(choice.after.with_request(epsilon=0.1)) == before.with_request(epsilon=0.1)


@given(launches=st.integers(1, 100), keys=st.lists(st.sampled_from("+-<>"), max_size=12))
def test_what_is_shown_is_never_empty_nor_outside(launches: int, keys: list[str]) -> None:
    shown = Shown(0, launches, launches)
    for key in keys:
        before = shown
        if key in "<>":
            shown = shown.panned(1 if key == ">" else -1)
            assert shown.number == before.number
        else:
            shown = shown.about(shown.number // 2 if key == "+" else shown.number * 2)
        assert 0 <= shown.first < shown.stop <= launches
        assert shown.number >= min(LEAST_SHOWN, launches)
    assert shown.about(launches) == (0, launches, launches)


def test_another_group_has_the_launches_that_its_plan_draws(resnet: str) -> None:
    """What the plan draws is looked up once for all groups of a draft, and anew for another one."""
    options = SampleOptions(profiles=(resnet,))
    read = load_draft(options, {}, _unheard)
    again = plan_again(read, options.with_request(seed=1), {}, _unheard)
    first = timeline_of_group(read, 0, 0)
    assert np.array_equal(timeline_of_group(read, 1, 0, before=first).drawn_ids, first.drawn_ids)
    reseeded = timeline_of_group(again, 1, 1, before=first).drawn_ids
    assert np.array_equal(reseeded, timeline_of_group(again, 1, 1).drawn_ids)
    assert not np.array_equal(reseeded, first.drawn_ids)


def _unheard(done: int, total: int, what: str) -> None:
    """Drop a report."""
