"""View 3: options edited in place, and the plan that follows."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from textual.widgets import Input

from tests.app.driving import (
    screen_text,
    study_in,
    wait_for,
)
from tests.app.plan_driving import (
    details_of,
    form_of,
    go_to,
    retype,
    running,
    settled,
)
from tui.app import planning
from tui.app.option_form import OptionInput
from tui.app.plan.screen import PlanScreen
from tui.options.look import OpenOptions

# Options.


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
