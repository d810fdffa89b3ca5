"""What binds the plan and what it takes to simulate, in the views: against the engine's own answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sampling.plan import request
from sampling.plan.request import PlanRequest
from sampling.plan.sensitivity import Relaxation, measure_sensitivity, simulation_hours
from sampling.reduction import GroupBy
from tests.app.driving import (
    SIZES,
    App,
    Running,
    draft_in,
    opened,
    planned,
    resized,
    screen_text,
    view_of,
    wait_for,
)
from tests.app.plan_driving import check_round_trip, details_of, running, screen_of, settled
from tui.app.plan_details import PlanPane
from tui.app.plan_panes import BindingList, with_value
from tui.app.state import Steps
from tui.app.widgets import Line
from tui.charts.quantities import hours, ratio
from tui.options.look import OpenOptions
from tui.options.plan import SampleOptions

DEAR = OpenOptions(request=PlanRequest(pool=False, min_samples=2))
"""Two launches of every stratum of every kernel group."""

"""Nothing binds: a launch of each kernel is all there is."""


def told_by_engine(app: App) -> tuple[Relaxation, ...]:
    return measure_sensitivity(draft_in(app))


def line(app: App) -> str:
    return view_of(app).query_one("#binding", Line).text


async def found(app: App, pilot: Running) -> None:
    await wait_for(pilot, lambda: app.session.binding is not None, "what binds is found")


@asynccontextmanager
async def listing(path: str, **given: Any) -> AsyncIterator[tuple[App, Running]]:
    """The app in view 3, the list of what binds in focus."""
    async with running(path, **{"options": DEAR, **given}) as (app, pilot):
        await pilot.press("b")
        await found(app, pilot)
        await settled(app, pilot)
        assert screen_of(app).focused_pane is PlanPane.BINDING
        yield app, pilot


def rows(app: App) -> list[str]:
    widget = view_of(app).query_one(BindingList)
    return [widget.render_line(row).text.rstrip() for row in range(widget.size.height)]


async def test_view_1_says_what_binds_beside_the_findings(resnet: str) -> None:
    async with opened(resnet, (120, 40)) as (app, pilot):
        await found(app, pilot)
        binding = told_by_engine(app)
        assert app.session.binding == binding
        assert binding
        await wait_for(pilot, lambda: line(app).startswith("Cheaper if: "), "the line")
        for step in binding:
            assert f" {ratio(step.speedup)}" in line(app)
        for size in SIZES:
            await resized(app, pilot, *size)
            text = screen_text(app)
            assert ("Cheaper" in text) == (size[1] >= 20), "a small screen has no room for it"
            assert max(map(len, text.splitlines())) <= size[0]
        app.plan(app.session.options.with_request(epsilon=0.2))
        await planned(pilot, app)
        await found(app, pilot)
        assert app.session.binding == told_by_engine(app) != binding


async def test_a_step_is_taken_in_view_3_and_taken_back(resnet: str) -> None:
    async with listing(resnet) as (app, pilot):
        before, binding = app.session.options, told_by_engine(app)
        assert rows(app)[1].startswith("> ")
        for row, step in zip(rows(app)[1:], binding, strict=False):
            assert row[2:].split()[0] == request.flags(step.option)[0].removeprefix("--")
            assert row.split()[-2:] == [ratio(step.speedup), ratio(step.speedup_before)]
        place = next(place for place, step in enumerate(binding) if step.option == "min_samples")
        await pilot.press(*["j"] * place, "enter")
        await wait_for(pilot, lambda: "min-samples is 1 now, not 2" in screen_text(app), "it is said")
        await settled(app, pilot)
        assert app.session.options == before.with_request(min_samples=1)
        assert draft_in(app).design.speedup == binding[place].speedup
        assert "min-samples      1" in screen_text(app), "the form has it"
        await found(app, pilot)
        assert app.session.binding == told_by_engine(app)
        assert "min_samples" not in {step.option for step in app.session.binding or ()}
        command = await check_round_trip(pilot, app, 80)
        assert "--min-samples" not in command
        assert " --binding" in command
        await pilot.press("u")
        await wait_for(pilot, lambda: "min-samples is 2 again" in screen_text(app), "it is said")
        await settled(app, pilot)
        assert app.session.options == before


def test_steps_that_do_not_hold_any_more_are_not_taken_back() -> None:
    steps, options = Steps(), SampleOptions()
    first = with_value(options, "epsilon", 0.1)
    steps.note(options, first, "epsilon is 0.05 again")
    second = with_value(first, "group_epsilon", "none")
    steps.note(first, second, "group-epsilon is 0.25 again")
    assert (second.request.epsilon, second.request.group_epsilon) == (0.1, None)
    undone = steps.undo(second.with_request(group_epsilon=0.5))
    assert undone is not None
    back, words = undone
    assert (back.request.epsilon, back.request.group_epsilon) == (0.05, 0.5), "what was edited since stays"
    assert words == "epsilon is 0.05 again"
    assert steps.undo(back) is None
    assert with_value(options, "group_by", "name") == options.with_request(group_by=GroupBy.NAME)


async def test_hours_stand_beside_every_speedup(resnet: str) -> None:
    async with running(resnet, (120, 40), options=OpenOptions(slowdown=1e6)) as (app, pilot):
        taken = simulation_hours(details_of(app).plan, 1e6)
        assert app.session.hours == taken
        expected, longest = hours(taken.expected), hours(taken.longest_launch)
        assert f", {expected}" in screen_text(app).splitlines()[-2]
        for name in ("drawn", "machine", "this draw"):
            assert f" {name} " in screen_text(app)
        assert f"{hours(taken.drawn)} on one, {expected} expected, longest launch {longest}" in screen_text(
            app
        )
        assert "--slowdown 1e6" in await check_round_trip(pilot, app, 120)
        for key in ("1", "2", "4"):
            await pilot.press(key)
            await wait_for(
                pilot, lambda: f", {expected}" in screen_text(app).splitlines()[-2], "the line of the plan"
            )
        await pilot.press("enter")
        await wait_for(
            pilot, lambda: f"{expected} of one machine, simulated 1e+06 times" in screen_text(app), "view 4"
        )
