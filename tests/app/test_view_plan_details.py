"""View 3: figures, trade-off, strata and launches, and the commands that print the same."""

from __future__ import annotations

import shlex
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sampling.errors import ProfileError
from sampling.plan.judge import judge_design
from tests.app.driving import (
    opened,
    screen_text,
    wait_for,
)
from tests.app.plan_driving import (
    chart_text,
    check_round_trip,
    content_of,
    details_of,
    details_without_app,
    focus_on,
    gated,
    go_to,
    running,
    settled,
)
from tui.app import planning
from tui.app.plan import details as plan_details
from tui.app.plan.details import PlanPane, plan_figures
from tui.output.blocks import without_tones

# Figures and details.


def test_the_figures_are_the_plans(small: str) -> None:
    details = details_without_app(small)
    study, plan = details.study, details.plan
    judgement = judge_design(study.counts, study.design, 200, 0)
    shown = dict(plan_figures(details))
    assert shown["drawn"][1] == f"{plan.samples} of 168"
    assert without_tones(shown["bound"][0]).startswith(
        f"{100 * (study.design.bound or 0):.1f} % of the profile, "
    )
    promised = f"{100 * (study.design.bound_with_noise or 0):.1f} %"
    assert without_tones(shown["promise"][0]).startswith(f"{promised} met, of the simulated total")
    assert f"{100 * judgement.error_mean:.1f} %" in shown["judged"][0]
    assert f"{100 * (judgement.within_epsilon or 0):.1f} % within" in without_tones(shown["within"][0])
    assert np.array_equal(details.judgement.errors, judgement.errors)  # type: ignore[union-attr]


async def test_the_curve_fills_in_from_the_chosen_epsilon_and_begins_anew(
    small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, begun, release = gated(monkeypatch, 0)
    async with opened(small, view="Plan") as (app, pilot):
        # The plan itself is the first point, and no other plan is made for it.
        await wait_for(pilot, lambda: begun == [0.07], "the epsilon nearest to the plan's is begun")
        await wait_for(pilot, lambda: "1 of 13" in screen_text(app), "one point")
        # In the plot and in the legend.
        assert (chart_text(app).count("■"), chart_text(app).count(" o ")) == (2, 1)
        gate.release(2)
        await wait_for(pilot, lambda: "3 of 13" in screen_text(app), "three points")
        await wait_for(pilot, lambda: begun == [0.07, 0.03, 0.1], "the nearest ones first")
        await pilot.press("j", "plus")
        await wait_for(pilot, lambda: app.session.options.epsilon == 0.07, "another epsilon")
        # 0.05 and 0.07 are known already: what was computed is kept where all else is the same.
        await wait_for(pilot, lambda: begun[3:] == [0.1], "it begins anew, at what is missing")
        assert "3 of 13" in screen_text(app)
        await pilot.press("j", "plus")
        await wait_for(pilot, lambda: begun[4:] == [0.05], "another confidence has other points")
        release()
        await settled(app, pilot)
        assert len(details_of(app).trade_off.points) == 13
        assert "of 13 ─" not in screen_text(app)


async def test_launches_are_looked_for_only_where_they_are_asked_for(
    small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, real = [], plan_details.find_planned_launches

    def counted(*given: Any) -> Any:
        looked.append(given)
        return real(*given)

    monkeypatch.setattr(plan_details, "find_planned_launches", counted)
    async with running(small) as (app, pilot):
        await pilot.press("t")
        await settled(app, pilot)
        assert looked == []
        await pilot.press("t")
        await wait_for(pilot, lambda: "1-6 of" in screen_text(app), "the launches")
        assert len(looked) == 1
        first = sorted(launch.id for launch in details_of(app).located or ())
        await go_to(pilot, app, "seed")
        await pilot.press("plus")
        await wait_for(pilot, lambda: app.session.options.seed == 1, "another seed")
        await settled(app, pilot)
        assert len(looked) == 2
        assert sorted(launch.id for launch in details_of(app).located or ()) != first


async def test_why_launches_are_not_found_is_said_in_their_pane(
    small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any) -> Any:
        raise ProfileError("has changed since it was read", path="run.sqlite", remedy="open it again")

    monkeypatch.setattr(plan_details, "find_planned_launches", gone)
    async with running(small) as (app, pilot):
        await pilot.press("t", "t")
        await wait_for(pilot, lambda: "run.sqlite: has changed since it was read" in screen_text(app), "why")
        await pilot.press("S", "enter")
        await wait_for(pilot, lambda: "not written: run.sqlite" in screen_text(app), "said again")
        assert not Path("plan.json").exists()


async def test_a_defect_in_a_worker_ends_the_app(small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a defect")

    monkeypatch.setattr(plan_details, "judge_design", broken)
    async with opened(small, view="Plan") as (app, pilot):
        await wait_for(pilot, lambda: app.failure is not None, "the app notices")
    assert isinstance(app.failure, RuntimeError)
    assert app.return_code == 1


def test_what_a_cancelled_worker_found_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    worker, waiting, told = SimpleNamespace(is_cancelled=False), [], []
    monkeypatch.setattr("textual.worker.get_current_worker", lambda: worker)
    screen: Any = SimpleNamespace(call_later=lambda *call: waiting.append(call))
    planning.tell(screen, lambda _: iter(["first", "second"]), told.append, told.append)
    for call, *given in waiting:
        call(*given)
        worker.is_cancelled = True
    assert told == ["first"]


# Copies and commands.


async def test_the_copied_command_prints_the_copied_text(small: str) -> None:
    async with running(small) as (app, pilot):
        for pane, words in (
            (PlanPane.FIGURES, "sample {} --method joint --details"),
            (PlanPane.TRADE_OFF, "trade-off {} --method joint --width 80 --height 7"),
            (PlanPane.STRATA, "sample {} --method joint --list strata"),
            (PlanPane.LAUNCHES, "sample {} --method joint --list launches"),
            (PlanPane.FINDINGS, "sample {} --method joint --details"),
        ):
            await focus_on(pilot, app, pane)
            command = await check_round_trip(pilot, app, 80)
            assert command == f"kernelpoint {words.format(shlex.quote(small))}"


async def test_what_is_not_there_yet_is_not_in_the_command(
    small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, begun, release = gated(monkeypatch, 2)
    held, real = threading.Event(), plan_details.judge_design

    def later(*given: Any) -> Any:
        while not held.wait(0.01):
            given[-1](0, 1, "waiting")
        return real(*given)

    monkeypatch.setattr(plan_details, "judge_design", later)
    async with opened(small, view="Plan") as (app, pilot):
        await wait_for(pilot, lambda: "not yet, by 200 draws" in screen_text(app), "the figures, not judged")
        assert (await check_round_trip(pilot, app, 80)).endswith("--method joint --judge 0 --details")
        held.set()
        await wait_for(pilot, lambda: len(begun) == 3, "three points of the curve")
        await wait_for(pilot, lambda: "3 of 13" in screen_text(app), "are shown")
        content_of(app, PlanPane.TRADE_OFF).focus()
        assert "--epsilons 0.05,0.07,0.03 " in await check_round_trip(pilot, app, 80)
        release()
