"""View 3: what is seen of the plan, at every size and in every terminal."""

from __future__ import annotations

from itertools import pairwise

from tests.app.driving import (
    resized,
    screen_text,
    wait_for,
)
from tests.app.plan_driving import (
    details_of,
    form_of,
    running,
    screen_of,
    settled,
)
from tui.app.frame.panes import Chart
from tui.app.option_form import OPTION_FIELDS
from tui.app.plan.details import DETAILS, PlanPane
from tui.app.plan.panes import PlanList

# What is seen.


async def test_options_and_figures_are_in_sight_at_every_size(small: str) -> None:
    async with running(small) as (app, pilot):
        for size in ((80, 24), (60, 15)):
            await resized(app, pilot, *size)
            await settled(app, pilot)
            text, plan = screen_text(app), details_of(app).plan
            # Where rows are few the form scrolls to the cursor.
            for field in OPTION_FIELDS if size[1] > 30 else OPTION_FIELDS[:8]:
                assert any(line.lstrip("> ").startswith(field.label) for line in text.splitlines()), (
                    field.label
                )
            assert f"{plan.samples} of 168" in text
            assert f"strata    {plan.design.strata_count}" in text
            for name in ("sampled", "speedup", "promise", "bound", "judged", "within", "this draw"):
                assert f" {name} " in text
            judgement = details_of(app).judgement
            assert judgement is not None
            if size == (60, 15):
                assert f"judged    mean {100 * judgement.error_mean:.1f} %" in text
            assert max(map(len, text.splitlines())) <= size[0]
            assert app.focused is form_of(app)
            assert "> method           < joint >" in text


async def test_a_wide_and_high_screen_has_all_panes_side_by_side(small: str) -> None:
    async with running(small, (200, 60)) as (app, pilot):
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
            "[b] What binds",
        ):
            assert title in text
        regions = [app.screen.query_one(f"#{pane}-pane").region for pane in DETAILS]
        assert all(region.width > 70 and region.height > 12 for region in regions)
        for first, second in pairwise(regions):
            assert not first.overlaps(second)
        await pilot.press("t")
        assert screen_of(app).focused_pane is PlanPane.TRADE_OFF
        for pane in (*DETAILS[1:], PlanPane.TRADE_OFF):
            await pilot.press("t")
            await wait_for(pilot, lambda pane=pane: screen_of(app).focused_pane is pane, pane)  # type: ignore[misc]


async def test_t_goes_through_the_details(small: str) -> None:
    async with running(small) as (app, pilot):
        rows = {
            "Trade-off": "the plan: epsilon 0.05, ",
            "Strata": "stratum  launches  drawn",
            "Launches": "launch  stratum  duration",
            "Findings": "Findings",
            "What binds": "a step looser",
        }
        for name in (*list(rows)[1:], "Trade-off"):
            await pilot.press("t")
            await wait_for(pilot, lambda name=name: f"] {name}" in screen_text(app), f"the pane {name}")  # type: ignore[misc]
            await wait_for(pilot, lambda name=name: rows[name] in screen_text(app), f"what {name} shows")  # type: ignore[misc]
            assert app.focused is form_of(app), "the form keeps the focus"
        await pilot.press("tab", "tab")
        assert app.focused is app.screen.query_one(Chart)
        await pilot.press("t")
        await wait_for(pilot, lambda: isinstance(app.focused, PlanList), "the focus goes with the pane")
