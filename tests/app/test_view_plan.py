"""View 3: what is seen of the plan, at every size and in every terminal."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from tests.app.driving import (
    resized,
    screen_text,
    wait_for,
)
from tests.app.plan_driving import (
    details_of,
    focus_on,
    form_of,
    pane_rows,
    running,
    screen_of,
    settled,
    shows_findings,
)
from tui.app.frame.panes import Chart
from tui.app.option_form import OPTION_FIELDS
from tui.app.plan.details import DETAILS, PlanPane
from tui.app.plan.panes import PlanList
from tui.options.look import OpenOptions

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


async def test_findings_are_there_as_soon_as_they_are_shown(small: str) -> None:
    options = OpenOptions(launches="0:100", epsilon=0.001)
    async with running(small, options=options) as (app, pilot):
        for size, epsilon in (((80, 24), 0.002), ((200, 60), 0.005)):
            await resized(app, pilot, *size)
            await focus_on(pilot, app, PlanPane.FINDINGS)
            await wait_for(pilot, lambda: shows_findings(app), "the findings")
            samples = f"{details_of(app).plan.samples} of 100"
            assert samples in " ".join(pane_rows(app, PlanPane.FINDINGS))
            # Those of the next plan come while the pane is hidden where there is no room for all.
            await pilot.press("t")
            app.plan(replace(app.session.options, epsilon=epsilon))
            await settled(app, pilot)
            await focus_on(pilot, app, PlanPane.FINDINGS)
            await wait_for(pilot, lambda: shows_findings(app), "those of the other plan")
            assert f"{details_of(app).plan.samples} of 100" in " ".join(pane_rows(app, PlanPane.FINDINGS))


async def test_where_rows_are_few_the_details_take_the_place_of_the_options(small: str) -> None:
    async with running(small, (60, 15)) as (app, pilot):
        assert screen_text(app).splitlines()[2].endswith("─ [tab] Costs ─ t more ─")
        for name in ("Trade-off", "Strata", "Launches", "Findings", "What binds"):
            await pilot.press("t")
            await wait_for(pilot, lambda name=name: f"] {name}" in screen_text(app), f"the pane {name}")  # type: ignore[misc]
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


async def test_tables_scroll_and_say_where_they_are(small: str) -> None:
    async with running(small, (80, 24)) as (app, pilot):
        await pilot.press("t")
        strata = details_of(app).plan.design.strata_count
        await wait_for(pilot, lambda: f"1-6 of {strata}" in screen_text(app), "the first rows")
        await pilot.press("tab", "tab", "j")
        await wait_for(pilot, lambda: f"2-7 of {strata}" in screen_text(app), "one row on")
        await pilot.press("G")
        await wait_for(pilot, lambda: f"{strata - 5}-{strata} of {strata}" in screen_text(app), "the last")
        assert "stratum  launches" in screen_text(app), "the headings stay"
        await pilot.press("g")
        await wait_for(pilot, lambda: f"1-6 of {strata}" in screen_text(app), "the first rows again")
