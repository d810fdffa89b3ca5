"""View 3: a simulator's results opened, as `estimate` reads them."""

from __future__ import annotations

import json
import shlex
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.app.driving import App, Running, printed, resized, screen_text, wait_for
from tests.app.plan_driving import check_round_trip, running, settled
from tui import cli
from tui.app.frame.prompt import AnswerInput
from tui.app.plan import results
from tui.app.plan.panes import PlanList
from tui.app.plan.results import ResultsScreen


def write_results(plan: str, table: str, *, spread: int = 20) -> None:
    """Write about three cycles a nanosecond of each launch of a plan."""
    strata = json.loads(Path(plan).read_text())["strata"]
    rows = [
        f"{each['id']},{each['duration_ns'] * (300 + spread * (each['id'] * 7919 % 9 - 4)) // 100}"
        for stratum in strata
        for each in stratum["launches"]
    ]
    Path(table).write_text("\n".join(["id,cycles", *rows, ""]))


def headless_plan(profile: str, name: str = "headless.json") -> None:
    printed(f"kernelpoint sample {shlex.quote(profile)} -o {name}", 80, Path.cwd())


async def open_results(pilot: Running, app: App, results: str, target: str = "") -> ResultsScreen:
    """Press o, type the names and a target, and wait until all is known."""
    await ask(pilot, app)
    await pilot.press("ctrl+a", "ctrl+k", *results, "up", "ctrl+a", "ctrl+k", *target, "enter")
    screen = results_of(app)
    await wait_for(pilot, lambda: screen.known is not None and not screen.is_working, "all is known")
    await wait_for(pilot, lambda: "Results of " in screen_text(app), "and shown")
    return screen


async def ask(pilot: Running, app: App) -> None:
    await pilot.press("o")
    await wait_for(pilot, lambda: isinstance(app.focused, AnswerInput), "it asks")


def results_of(app: App) -> ResultsScreen:
    assert isinstance(app.screen, ResultsScreen)
    return app.screen


def simulated(plan: str) -> str:
    """What the results begin with where every drawn launch has one."""
    strata = json.loads(Path(plan).read_text())["strata"]
    samples = sum(len(stratum["launches"]) for stratum in strata)
    return f"from {samples}"


async def test_the_plan_shown_is_saved_and_its_results_read_as_estimate_reads_them(small: str) -> None:
    headless_plan(small)
    write_results("headless.json", "a b.csv")
    async with running(small) as (app, pilot):
        await ask(pilot, app)
        await pilot.press("down", "down")
        await wait_for(
            pilot,
            lambda: "plan.json is not there: the plan as shown is saved so first" in screen_text(app),
            "so",
        )
        await pilot.press("escape")
        await wait_for(pilot, lambda: "[3] Options" in screen_text(app), "back, as nothing is open")
        assert not Path("plan.json").exists()
        await open_results(pilot, app, "'a b.csv'")
        assert Path("plan.json").read_bytes() == Path("headless.json").read_bytes()
        shown = (simulated("plan.json"), "Of the variance", "cycles/ns")
        await wait_for(pilot, lambda: all(words in screen_text(app) for words in shown), "what they say")
        command = await check_round_trip(pilot, app, 80)
        assert command == "kernelpoint estimate plan.json 'a b.csv' --groups"
        await pilot.press("tab")
        assert await check_round_trip(pilot, app, 80) == "kernelpoint estimate plan.json 'a b.csv'"
        for size in ((60, 15), (80, 24)):
            await resized(app, pilot, *size)
            assert app.crash is None
            if size == (60, 15):
                await wait_for(pilot, lambda: "tab j more" in screen_text(app), "not all fits")
        await pilot.press("question_mark")
        await wait_for(pilot, lambda: "save the larger plan to a new file" in screen_text(app), "its keys")
        await pilot.press("escape", "escape")
        await wait_for(pilot, lambda: "[3] Options" in screen_text(app), "back")
        await pilot.press("o")
        await wait_for(pilot, lambda: simulated("plan.json") in screen_text(app), "what was open before")
        assert isinstance(app.focused, PlanList)


async def test_what_to_run_next_is_the_larger_plan_of_estimate(small: str) -> None:
    headless_plan(small, "plan.json")
    write_results("plan.json", "cycles.csv", spread=60)
    line = "estimate plan.json cycles.csv --target 0.01 --top-up larger.json"
    assert cli.run(line.split()) == 4
    async with running(small) as (app, pilot):
        screen = await open_results(pilot, app, "cycles.csv", "0.01")
        await pilot.press("t")
        await wait_for(pilot, lambda: "S saves the larger plan" in screen_text(app), "the launches")
        assert screen.known is not None
        assert screen.known.larger is not None
        drawn = {str(launch.id) for launch in screen.known.larger.to_run}
        row = screen_text(app).splitlines()[15].split()
        assert row[0] in drawn
        await pilot.press("Y")
        await wait_for(
            pilot, lambda: app.clipboard.endswith("--target 0.01 --top-up more.json"), "the command"
        )
        await pilot.press("S")
        await wait_for(pilot, lambda: "File: plan-2.json" in screen_text(app), "a name")
        await pilot.press("enter")
        await wait_for(pilot, Path("plan-2.json").exists, "it is there")
        await pilot.press("o")
        await wait_for(pilot, lambda: "Plan:     plan-2.json" in screen_text(app), "the next results' plan")
        await pilot.press("escape")
    assert Path("plan-2.json").read_bytes() == Path("larger.json").read_bytes()


async def test_what_was_read_stays_when_the_rest_is_cancelled(
    small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    headless_plan(small, "plan.json")
    write_results("plan.json", "cycles.csv", spread=60)
    begun = threading.Event()

    def waiting(_found: Any, _asked: Any, progress: Any) -> None:
        while True:
            begun.set()
            progress(1, 4, "looking")

    monkeypatch.setattr(results, "missing_to_target", waiting)
    async with running(small) as (app, pilot):
        await ask(pilot, app)
        await pilot.press(*"cycles.csv", "enter")
        await wait_for(pilot, lambda: "looking, 25 %; esc cancels" in screen_text(app), "it is at work")
        assert begun.is_set()
        await pilot.press("escape", "t")
        await wait_for(pilot, lambda: "cancelled" in screen_text(app), "cancelled")
        assert simulated("plan.json") in screen_text(app)
        await wait_for(pilot, lambda: all(worker.is_finished for worker in app.workers), "no worker is left")
        await pilot.press("escape")
        await settled(app, pilot)
