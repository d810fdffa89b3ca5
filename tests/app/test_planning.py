"""What the session is while plans are made, refused and taken back, and remedies are applied."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import Any

import pytest

from sampling.plan.request import PlanRequest
from sampling.plan.sensitivity import measure_sensitivity
from sampling.reduction import GroupBy
from sampling.splitting.tree import Verdict
from tests.app.driving import App, Running, draft_in, opened, planned, printed, screen_text, view_of, wait_for
from tui.app import planning, wording
from tui.app.state import Session, remedy_keys
from tui.app.view import FindingsScreen
from tui.options.look import OpenOptions
from tui.options.plan import SampleOptions
from tui.output.blocks import without_tones


def keep_largest(app: App) -> dict[str, dict[str, Verdict]]:
    return {draft_in(app).counts.groups[0].key: {"": Verdict.KEEP}}


async def test_what_cannot_be_planned_is_said_and_all_stays(gpt: str) -> None:
    async with opened(gpt) as (app, pilot):
        before = app.session
        app.plan(app.session.options.with_request(method="pks"))
        await wait_for(pilot, lambda: app.session.problem is not None, "the reason")
        assert "pks" in str(app.session.problem)
        assert (app.session.options, app.session.draft) == (before.options, before.draft)
        app.plan(app.session.options.with_request(epsilon=0.1))
        await planned(pilot, app)
        assert app.session.problem is None


async def test_undo_brings_the_method_back(gpt: str) -> None:
    async with opened(gpt) as (app, pilot):
        samples = draft_in(app).design.samples
        app.decide(keep_largest(app), "root")
        await planned(pilot, app)
        assert draft_in(app).design.method == "root"
        assert app.undo_decision()
        await planned(pilot, app)
        assert (draft_in(app).design.method, draft_in(app).design.samples) == ("joint", samples)
        assert not app.undo_decision()


async def test_a_refused_decision_leaves_nothing_to_undo(gpt: str) -> None:
    async with opened(gpt) as (app, pilot):
        app.decide({"no such group": {"": Verdict.KEEP}}, "root")
        await wait_for(pilot, lambda: app.session.problem is not None, "the reason")
        assert (app.session.overrides, app.session.past_overrides) == ({}, ())
        assert app.session.request.method == "joint"


async def test_decisions_hold_for_the_groups_on_the_screen(gpt: str) -> None:
    """A method's published grouping may be another, and its keys with it."""
    options = OpenOptions(request=PlanRequest(group_by=GroupBy.PUBLISHED))
    async with opened(gpt, options=options) as (app, pilot):
        groups = len(draft_in(app).counts.groups)
        app.decide(keep_largest(app), "root")
        await planned(pilot, app)
        assert app.session.problem is None
        assert len(draft_in(app).counts.groups) == groups
        assert draft_in(app).design.method == "root"


async def test_decisions_of_a_file_can_be_taken_back(gpt: str, tmp_path: Any) -> None:
    async with opened(gpt) as (app, pilot):
        app.decide(keep_largest(app), "joint")
        await planned(pilot, app)
        await pilot.press("Y")
        file = next(tmp_path.glob("kernelpoint-overrides-*.json"))
    async with opened(gpt, options=OpenOptions(request=PlanRequest(overrides=str(file)))) as (app, pilot):
        assert len(app.session.overrides) == 1
        assert app.undo_decision()
        await planned(pilot, app)
        assert app.session.overrides == {}


async def test_while_a_plan_is_made_the_command_is_of_the_one_shown(
    gpt: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(gpt, (120, 40)) as (app, pilot):
        go_on = threading.Event()
        plan_again = planning.plan_again

        def waiting(*given: Any) -> Any:
            go_on.wait(20)
            return plan_again(*given)

        monkeypatch.setattr(planning, "plan_again", waiting)
        app.plan(app.session.options.with_request(epsilon=0.003))
        text, command = view_of(app).pane_text().text, view_of(app).command()
        go_on.set()
        await planned(pilot, app)
        assert printed(command, 120, tmp_path) == text
        assert printed(view_of(app).command(), 120, tmp_path) == view_of(app).pane_text().text != text


def _silent(*_: object) -> None:
    pass


def test_the_line_of_the_plan_says_launches_speedup_error_and_what_makes_it_faster(small: str) -> None:
    for method, epsilon, said in (
        ("joint", 0.2, r"Plan: \d+ of 168 launches by joint, [\d.]+x, error <= [\d.]+ % \(asked 20 %\)"),
        ("random", 0.2, r"Plan: 1 of 168 launches by random, 168x, error <= [\d.]+ %, not the 20 % asked"),
        ("stem", 0.05, r"Plan: \d+ of 168 launches by stem, [\d.]+x, "),
    ):
        options = SampleOptions(profiles=(small,), request=PlanRequest(method=method, epsilon=epsilon))
        draft = planning.load_draft(options, {}, _silent)
        session = Session(options, draft=draft, binding=measure_sensitivity(draft))
        lines = wording.plan_lines(session, draft)
        assert any(re.match(said, without_tones(line)) for line in lines), [
            without_tones(line) for line in lines
        ]
        kept = replace(session, overrides={draft.counts.groups[0].key: {"": Verdict.KEEP}})
        assert all(
            " with 1 split of yours, " in without_tones(line) for line in wording.plan_lines(kept, draft)
        )
        faster = without_tones(wording.with_faster(session, lines)[0])
        assert ("   Cheaper if: " in faster) == bool(session.binding)


def _is_page(app: App) -> bool:
    return isinstance(app.screen, FindingsScreen)


async def _page(app: App, pilot: Running) -> None:
    await pilot.press("f")
    await wait_for(pilot, lambda: _is_page(app) and "Findings" in screen_text(app), "the page")


async def test_a_key_applies_a_remedy_and_u_takes_it_back(resnet: str) -> None:
    async with opened(resnet, (120, 40)) as (app, pilot):
        before, draft = app.session.options, draft_in(app)
        finding = remedy_keys(draft.findings)["a"]
        assert finding.code == "iterations"
        ids = finding.changes[0].value
        await _page(app, pilot)
        await wait_for(
            pilot, lambda: f"\n    [a] sets --launches {ids}\n" in screen_text(app), "what it does"
        )
        assert "a apply, ? help, esc back" in screen_text(app)
        await pilot.press("b")
        assert _is_page(app), "no finding has that key"
        await pilot.press("a")
        await planned(pilot, app)
        assert app.session.options == before.with_request(launches=ids)
        assert draft_in(app).counts.launches == 56
        await wait_for(pilot, lambda: "u takes it back" in screen_text(app), "what was done")
        await _page(app, pilot)
        await wait_for(pilot, lambda: "u undo, ? help, esc back" in screen_text(app), "that it can be undone")
        await pilot.press("u")
        await planned(pilot, app)
        assert app.session.options == before
        assert draft_in(app).counts.launches == draft.counts.launches
        await _page(app, pilot)
        await pilot.press("u")
        await wait_for(pilot, lambda: "no change of the plan's" in screen_text(app), "there is no other")
