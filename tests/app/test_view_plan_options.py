"""View 3: options edited in place, and the plan that follows."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import pytest
from textual.widgets import Input, Static

from sampling.plan.walk import TreeWalk
from sampling.reduction import GroupBy
from sampling.splitting.tree import Verdict
from tests.app.driving import (
    App,
    screen_text,
    study_in,
    wait_for,
)
from tests.app.plan_driving import (
    chart_text,
    check_round_trip,
    details_of,
    focus_on,
    form_of,
    go_to,
    retype,
    running,
    settled,
)
from tui.app import planning
from tui.app.option_form import OPTION_FIELDS, OptionInput
from tui.app.plan.details import PlanPane
from tui.app.plan.screen import PlanScreen
from tui.engine.studies import target_of
from tui.options.look import OpenOptions

# Options.


async def test_steps_change_the_plan(small: str) -> None:
    async with running(small) as (app, pilot):
        await go_to(pilot, app, "epsilon")
        for key, epsilon in (("plus", 0.07), ("right", 0.1), ("minus", 0.07), ("h", 0.05), ("minus", 0.03)):
            await pilot.press(key)
            await wait_for(
                pilot, lambda epsilon=epsilon: app.session.options.epsilon == epsilon, f"{epsilon}"
            )  # type: ignore[misc]
            await settled(app, pilot)
            assert study_in(app).design.target.epsilon == epsilon
            assert f"> epsilon          {epsilon:g}" in screen_text(app)
            assert f"epsilon {epsilon:g}" in chart_text(app).splitlines()[-1]
        await pilot.press("u")
        await wait_for(pilot, lambda: "epsilon is 0.05 again" in screen_text(app), "the last is taken back")
        await pilot.press("plus", "plus", "plus", "plus")
        await wait_for(pilot, lambda: app.session.options.epsilon == 0.2, "the last of many steps")


async def test_a_value_is_typed_and_every_letter_and_digit_of_it_is_text(small: str) -> None:
    async with running(small) as (app, pilot):
        await go_to(pilot, app, "set")
        await pilot.press("enter", *"root.k_max=4 q1?", "escape")
        await wait_for(pilot, lambda: app.focused is form_of(app), "escape leaves the field")
        assert app.session.options.set == ()
        assert not app.screen.query(OptionInput)
        await retype(pilot, app, "set", "root.k_max=4")
        await wait_for(pilot, lambda: app.session.options.set == ("root.k_max=4",), "the setting is taken")
        await retype(pilot, app, "epsilon", "0.0123")
        await settled(app, pilot)
        assert study_in(app).design.target.epsilon == 0.0123
        assert isinstance(app.screen, PlanScreen), "no digit changed the view"
        await pilot.press("0", *".2", "enter")
        await settled(app, pilot)
        assert app.session.options.epsilon == 0.2, "a fraction is begun by its first digit"
        await retype(pilot, app, "group_epsilon", "none")
        await settled(app, pilot)
        assert study_in(app).design.target.group_epsilon is None
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(app.focused, Input), "a field")
        await pilot.press("tab")
        assert app.screen.query(OptionInput), "tab does not close a field"
        app.action_focus_next()
        await wait_for(pilot, lambda: not app.screen.query(OptionInput), "another pane ends the typing")
        assert app.session.options.group_epsilon == "none"


WRONG = [
    ("epsilon", "5", "epsilon is a fraction between 0 and 1, not 5"),
    ("epsilon", "", "epsilon: '' is no number; give one, as 0.05"),
    ("set", "root.kmax=3", "root has no option 'kmax'; did you mean 'k_max'?"),
]


def form_text(app: App) -> str:
    """The rows of the form."""
    region = form_of(app).region
    rows = screen_text(app).splitlines()[region.y : region.bottom]
    return "\n".join(row[region.x : region.right].rstrip() for row in rows)


def is_said_below(app: App, marked: str, said: str) -> bool:
    """Whether words follow a row of the form; long words are broken at hyphens."""
    _, _, below = form_text(app).partition(f"{marked}\n")
    return " ".join(below.split()).replace("- ", "-").startswith(said)


async def test_a_wrong_value_is_said_at_its_field_and_the_plan_stays(small: str) -> None:
    async with running(small, (60, 15)) as (app, pilot):
        study, options = app.session.study, app.session.options
        for name, text, said in WRONG:
            await retype(pilot, app, name, text)
            marked = f"> {form_of(app).field.label:<17}{text or '-'} ?"
            await wait_for(pilot, partial(is_said_below, app, marked, said), f"{said} below {marked}")
            assert (app.session.study, app.session.options) == (study, options)
            await pilot.press("escape")
            await wait_for(pilot, lambda: " ?" not in form_text(app), "gone")


async def test_what_the_engine_refuses_is_said_at_the_field_and_stepped_past(small: str) -> None:
    """pks needs metrics that the profile has not; the next methods can be chosen all the same."""
    async with running(small, (120, 40), options=OpenOptions(method="random")) as (app, pilot):
        before = study_in(app)
        await pilot.press("right")
        await wait_for(pilot, lambda: app.session.problem is not None, "the engine says no")
        await wait_for(pilot, lambda: "pks needs metrics of every launch" in screen_text(app), "in words")
        assert app.session.study is before
        assert app.session.options.method == "random"
        assert "< pks > ?" in screen_text(app)
        await pilot.press("right")
        await wait_for(pilot, lambda: "< two-level > ?" in screen_text(app), "the next is refused too")
        await pilot.press("left", "left", "left")
        await wait_for(pilot, lambda: app.session.options.method == "allegro", "one that applies")
        await settled(app, pilot)
        assert "?" not in "".join(line[:42] for line in screen_text(app).splitlines()[1:12])


async def test_nothing_waits_for_a_plan(small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    release, made = threading.Event(), planning.plan_again

    def slow(*given: Any) -> Any:
        assert release.wait(20)
        return made(*given)

    async with running(small) as (app, pilot):
        monkeypatch.setattr(planning, "plan_again", slow)
        figures = f"{details_of(app).plan.samples} of 168"
        await go_to(pilot, app, "epsilon")
        await pilot.press("minus")
        await wait_for(pilot, lambda: "─ planning ─" in screen_text(app), "what is being done")
        await pilot.press("j", "j")
        assert form_of(app).field.name == "group_epsilon", "the form still answers"
        assert figures in screen_text(app), "the old figures stay"
        await pilot.press("S")
        await wait_for(pilot, lambda: "the plan is being made" in screen_text(app), "not the old one")
        release.set()
        await settled(app, pilot)
        assert study_in(app).design.target.epsilon == 0.03
        assert "planning" not in screen_text(app)


async def test_decisions_that_fit_no_node_elsewhere(small: str) -> None:
    """The curve has the points there are; other options are refused in few words, which go with the cause."""
    asked = OpenOptions(epsilon=0.01, method="root", group_by=GroupBy.NAME)
    async with running(small, options=asked) as (app, pilot):
        tree = TreeWalk(study_in(app).counts, "root", target_of(app.session.options))
        tree.finish_group()
        path = max((node.path for node in tree.nodes if node.verdict is Verdict.SPLIT), key=len)
        app.decide({study_in(app).counts.groups[0].key: {path: Verdict.SPLIT}}, "root")
        await settled(app, pilot)
        known = details_of(app).trade_off
        assert details_of(app).is_traded
        assert 0 < len(known.points) < known.tried == 13
        assert f"{len(known.points)} of 13" in screen_text(app)
        assert f"no node {path} in #1" in screen_text(app)
        assert "epsilon 0.01" in chart_text(app).splitlines()[-1]
        await focus_on(pilot, app, PlanPane.TRADE_OFF)
        await check_round_trip(pilot, app, 80)
        form_of(app).focus()
        await retype(pilot, app, "epsilon", "0.3")
        await wait_for(pilot, lambda: app.session.problem is not None, "it is refused")
        why = f"your split of {path} in #1 fits no node at epsilon 0.3"
        assert app.session.problem == f"{why}; [u] in Split tree takes it back"
        await wait_for(pilot, lambda: f"Plan unchanged: {why}" in screen_text(app), "the line says why")
        problem = app.screen.query_one("#option-problem", Static)
        await wait_for(pilot, lambda: 0 < problem.size.height <= 2, "and the form, in two rows")
        names = [f" {field.label} " for field in OPTION_FIELDS[:8]]
        assert [name for name in names if name not in screen_text(app)] == []
        assert app.undo_decision()
        await settled(app, pilot)
        await wait_for(pilot, lambda: not problem.display, "without the decision nothing is wrong")
        assert "> epsilon          0.01" in screen_text(app)
