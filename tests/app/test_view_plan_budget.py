"""View 3: the plan that fits a time of simulation, as `sample --budget` finds it."""

from __future__ import annotations

import json
import shlex
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sampling.errors import OptionError
from sampling.plan.request import PlanRequest
from tests.app.driving import App, Running, draft_in, printed, screen_text, wait_for
from tests.app.plan_driving import check_round_trip, details_of, form_of, running, settled
from tui.app import plan_panes as panes
from tui.app.plan_panes import BudgetPrompt, options_asked
from tui.app.prompt import PromptInput
from tui.options.look import OpenOptions
from tui.options.plan import SampleOptions

BUDGET = "1h"
ROOT = OpenOptions(request=PlanRequest(method="root"))
"""Its plans are made in milliseconds."""


@pytest.fixture
def table(tmp_path: Path) -> str:
    """A small profile: a key then waits for plans of a few milliseconds."""
    rows = [f"k{each % 3},{(1 + each % 3) * 100_000 + each * 7919 % 9_973}" for each in range(900)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["name,duration_ns", *rows, ""]))
    return str(path)


def typed(budget: str, slowdown: str) -> dict[str, str]:
    return {"budget": budget, "slowdown": slowdown}


async def ask(pilot: Running, app: App, budget: str, slowdown: str = "") -> None:
    await pilot.press("B")
    await wait_for(pilot, lambda: isinstance(app.focused, PromptInput), "it asks")
    await pilot.press("ctrl+a", "ctrl+k", *budget, "tab", "ctrl+a", "ctrl+k", *slowdown, "tab", "enter")


def words_of(app: App) -> str:
    return " ".join(screen_text(app).split())


def by_command(path: str, line: str) -> dict[str, Any]:
    answer = json.loads(
        printed(f"kernelpoint sample {shlex.quote(path)} --format json {line}", 80, Path.cwd())
    )
    results: dict[str, Any] = answer["results"]
    return results


async def test_a_budget_finds_the_epsilon_that_sample_finds_a_key_takes_it_and_u_gives_it_back(
    table: str,
) -> None:
    expected = by_command(table, f"--budget {BUDGET} --slowdown 1e6 --method root")
    async with running(table, options=ROOT) as (app, pilot):
        before = app.session.options
        assert "[B] budget" in screen_text(app), "the key is on the screen"
        await ask(pilot, app, BUDGET, "1e6")
        await wait_for(pilot, lambda: "enter takes it" in words_of(app), "it is found")
        assert f"epsilon {expected['epsilon']:g} fits {BUDGET}: " in words_of(app)
        assert "for the longest launch" in words_of(app)
        assert app.session.options is before, "nothing is taken unasked"
        await pilot.press("enter")
        await wait_for(pilot, lambda: app.session.request.epsilon == expected["epsilon"], "it is taken")
        await settled(app, pilot)
        assert app.focused is form_of(app)
        assert details_of(app).plan.speedup == pytest.approx(expected["speedup"])
        hours = details_of(app).costs.hours
        assert hours is not None
        assert hours.drawn == pytest.approx(expected["machine_hours"])
        command = await check_round_trip(pilot, app, 80)
        assert f"--epsilon {expected['epsilon']:g}" in command
        assert "--slowdown 1e6" in command
        await pilot.press("u")
        await wait_for(pilot, lambda: "epsilon is 0.05 again" in words_of(app), "it says so")
        await settled(app, pilot)
        assert app.session.options == before


async def test_enter_behind_the_time_goes_on_to_the_slowdown_while_that_is_missing(table: str) -> None:
    async with running(table, options=ROOT) as (app, pilot):
        await pilot.press("B")
        await wait_for(pilot, lambda: isinstance(app.focused, PromptInput), "it asks")
        await pilot.press(*BUDGET, "enter", *"1e6", "enter")
        await wait_for(pilot, lambda: f"fits {BUDGET}: " in words_of(app), "it is found")


async def test_looking_for_it_can_be_cancelled(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()

    def endless(_options: Any, _read: Any, progress: Any) -> Any:
        while True:
            begun.wait(0.01)
            progress(3, 13, "a plan at epsilon 0.1")

    monkeypatch.setattr(panes, "draft_that_fits", endless)
    async with running(table, options=ROOT) as (app, pilot):
        before = draft_in(app)
        await ask(pilot, app, BUDGET, "1e6")
        await wait_for(pilot, lambda: "3 of at most 13 tried; esc cancels" in words_of(app), "how far it is")
        await pilot.press("escape")
        await wait_for(pilot, lambda: "cancelled" in words_of(app), "it says so")
        await pilot.press("escape")
        assert draft_in(app) is before
        assert not app.screen.query_one(BudgetPrompt).display


def test_answers_mean_what_the_flags_mean() -> None:
    options = SampleOptions(profiles=("a",), slowdown=2.0)
    assert options_asked(typed(" 8h ", "1e6"), options) == replace(options, budget="8h", slowdown=1e6)
    assert options_asked(typed("", "3"), options) == replace(options, slowdown=3.0)
    assert options_asked(typed("", ""), options) == replace(options, slowdown=None)
    for answers, words in (
        (typed("", "2"), "a time of simulation is missing"),
        (typed("0h", "2"), "budget is a duration above 0"),
        (typed("1h", "x"), "slowdown 'x' is no number"),
        (typed("1h", "0.5"), "slowdown is seconds of simulation for a second on the GPU"),
        (typed("1h", ""), "how slow the simulation is is not known"),
    ):
        with pytest.raises(OptionError) as error:
            options_asked(answers, options)
        assert error.value.text.startswith(words)
