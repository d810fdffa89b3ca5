"""View 3: what is seen of the plan, at every size and in every terminal."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.tui.driving import (
    SIZES,
    assert_golden,
    colours,
    screen_text,
    wait_for,
)
from tests.tui.plan_driving import (
    details_of,
    form_of,
    running,
    screen_of,
)
from tui.app.plan_panes import DETAILS, PlanPane
from tui.app.widgets.chart import Chart
from tui.app.widgets.option_fields import OPTION_FIELDS
from tui.app.widgets.plan_list import PlanList

# What is seen.


@pytest.mark.parametrize("size", SIZES)
async def test_options_and_figures_are_in_sight(gpt: str, size: tuple[int, int]) -> None:
    async with running(gpt, size) as (app, _):
        text, plan = screen_text(app), details_of(app).plan
        for field in OPTION_FIELDS:
            assert any(line.lstrip("> ").startswith(field.label) for line in text.splitlines()), field.label
        assert f"{plan.samples} of 13,920" in text
        assert f"strata    {plan.design.strata_count}" in text
        for name in ("sampled", "speedup", "bound", "group", "floor", "judged", "within", "this draw"):
            assert f" {name} " in text
        assert max(map(len, text.splitlines())) <= size[0]
        assert app.focused is form_of(app)
        assert "> method           < joint >" in text


async def test_the_view_looks_as_it_did(gpt: str) -> None:
    async with running(gpt) as (app, _):
        assert_golden("plan-80x24.txt", screen_text(app) + "\n")


async def test_the_view_at_60x15_looks_as_it_did(gpt: str) -> None:
    async with running(gpt, (60, 15)) as (app, _):
        assert_golden("plan-60x15.txt", screen_text(app) + "\n")


async def test_a_wide_and_high_screen_has_all_panes_side_by_side(gpt: str) -> None:
    async with running(gpt, (200, 60)) as (app, pilot):
        await wait_for(pilot, lambda: details_of(app).launches is not None, "the launches are found")
        await wait_for(pilot, lambda: "Launches ─" in screen_text(app), "their title")
        text = screen_text(app)
        for title in (
            "[3] Options",
            "[tab] Costs",
            "[t] Trade-off",
            "[t] Strata",
            "[t] Launches",
            "[t] Find",
        ):
            assert title in text
        regions = [app.screen.query_one(f"#{pane}-pane").region for pane in DETAILS]
        assert all(region.width > 70 and region.height > 20 for region in regions)
        for first, second in pairwise(regions):
            assert not first.overlaps(second)
        await pilot.press("t")
        assert screen_of(app)._focused_pane() is PlanPane.TRADE_OFF
        for pane in (*DETAILS[1:], PlanPane.TRADE_OFF):
            await pilot.press("t")
            await wait_for(pilot, lambda pane=pane: screen_of(app)._focused_pane() is pane, pane)  # type: ignore[misc]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_t_goes_through_the_details(gpt: str, size: tuple[int, int]) -> None:
    async with running(gpt, size) as (app, pilot):
        rows = {
            "Trade-off": "speedup over epsilon",
            "Strata": "stratum  launches  drawn",
            "Launches": "launch  stratum  duration",
            "Findings": "Findings",
        }
        for name in ("Strata", "Launches", "Findings", "Trade-off"):
            await pilot.press("t")
            await wait_for(pilot, lambda name=name: f"[t] {name}" in screen_text(app), f"the pane {name}")  # type: ignore[misc]
            await wait_for(pilot, lambda name=name: rows[name] in screen_text(app), f"what {name} shows")  # type: ignore[misc]
            assert app.focused is form_of(app), "the form keeps the focus"
        await pilot.press("tab", "tab")
        assert app.focused is app.screen.query_one(Chart)
        await pilot.press("t")
        await wait_for(pilot, lambda: isinstance(app.focused, PlanList), "the focus goes with the pane")


async def test_where_rows_are_few_the_details_take_the_place_of_the_options(gpt: str) -> None:
    async with running(gpt, (60, 15)) as (app, pilot):
        assert "[t] more" in screen_text(app)
        for name in ("Trade-off", "Strata", "Launches", "Findings"):
            await pilot.press("t")
            await wait_for(pilot, lambda name=name: f"[t] {name}" in screen_text(app), f"the pane {name}")  # type: ignore[misc]
            assert "[3] Options" not in screen_text(app)
        await pilot.press("t")
        await wait_for(pilot, lambda: "[3] Options" in screen_text(app), "the options again")
        assert app.focused is form_of(app)
        await pilot.press("t")
        await wait_for(pilot, lambda: app.focused is app.screen.query_one(Chart), "the chart has the focus")
        await pilot.press("escape")
        await wait_for(pilot, lambda: app.focused is form_of(app), "escape leads back")
        await pilot.press("t")
        await pilot.resize_terminal(80, 24)
        await wait_for(pilot, lambda: "[3] Options" in screen_text(app), "both have room at another size")


async def test_tables_scroll_and_say_where_they_are(gpt: str) -> None:
    async with running(gpt, (80, 24)) as (app, pilot):
        await pilot.press("t")
        strata = details_of(app).plan.design.strata_count
        await wait_for(pilot, lambda: f"1-8 of {strata}" in screen_text(app), "the first rows")
        await pilot.press("tab", "tab", "j")
        await wait_for(pilot, lambda: f"2-9 of {strata}" in screen_text(app), "one row on")
        await pilot.press("G")
        await wait_for(pilot, lambda: f"{strata - 7}-{strata} of {strata}" in screen_text(app), "the last")
        assert "stratum  launches" in screen_text(app), "the headings stay"
        await pilot.press("g")
        await wait_for(pilot, lambda: f"1-8 of {strata}" in screen_text(app), "the first rows again")


# Terminals.


@pytest.mark.parametrize("size", [(80, 24), (60, 15), (200, 60)])
async def test_an_ascii_screen_is_ascii(gpt: str, size: tuple[int, int]) -> None:
    async with running(gpt, size, ascii_only=True) as (app, pilot):
        for keys in ([], ["t"], ["t"], ["t"], ["t", "t"], ["escape", "S"], ["escape", "x"], ["escape", "?"]):
            await pilot.press(*keys)
            await pilot.pause()
            assert screen_text(app).isascii(), (keys, screen_text(app))
        await pilot.press("escape", "j", "enter", "a", "enter")
        await wait_for(pilot, lambda: "is not a" in screen_text(app), "a wrong value")
        assert screen_text(app).isascii()


async def test_no_color_means_none_and_what_is_marked_is_still_seen(
    gpt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(gpt) as (app, pilot):
        await pilot.press("j")
        assert colours(app) == set()
        rows = app.screen._compositor.render_strips()
        assert any(
            segment.style and segment.style.reverse and "epsilon" in segment.text for segment in rows[3]
        )
        assert "> epsilon" in screen_text(app), "and by a sign"
        await pilot.press("tab")

        def title_is_marked() -> bool:
            row = app.screen._compositor.render_strips()[1]
            return any(each.style and each.style.reverse and "Costs" in each.text for each in row)

        await wait_for(pilot, title_is_marked, "the title of the pane in focus is reversed")
