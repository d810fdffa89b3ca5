"""View 3: its panes at every size, options edited in place, what is known of it, what leaves the app."""

from __future__ import annotations

import shlex
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from textual.widgets import Input

from sampling.errors import OptionError
from sampling.plan.judge import judge_design
from sampling.plan.request import PlanRequest
from sampling.simulators.registry import exporter_names
from tests.app.driving import draft_in, opened, printed, resized, screen_text, wait_for
from tests.app.plan_driving import (
    chart_text,
    check_round_trip,
    details_of,
    details_without_app,
    focus_on,
    form_of,
    gated,
    go_to,
    retype,
    running,
    screen_of,
    settled,
)
from tui.app import plan_details, planning
from tui.app.option_form import OPTION_FIELDS, OptionInput
from tui.app.plan import DETAILS, PlanScreen
from tui.app.plan_details import PlanPane, plan_figures
from tui.app.widgets import Chart
from tui.app.widgets import ListingTable as PlanList
from tui.options.look import OpenOptions
from tui.output.blocks import without_tones

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
            for name in ("sampled", "speedup", "cycles", "time", "judged", "within", "this draw"):
                assert f" {name} " in text
            judgement = details_of(app).judgement
            assert judgement is not None
            if size == (60, 15):
                assert f"judged    {100 * judgement.error_mean:.1f} % off" in text
            assert max(map(len, text.splitlines())) <= size[0]
            assert app.focused is form_of(app)
            assert "> method           < joint >" in text


@pytest.mark.parametrize("rows", [20, 21, 22, 24])
async def test_the_trade_off_is_drawn_below_the_options_where_both_are_in_sight(
    small: str, rows: int
) -> None:
    async with running(small, (60, rows)) as (app, _):
        assert {"o", "■"} <= {*chart_text(app)}, chart_text(app)


async def test_a_wide_and_high_screen_has_all_panes_side_by_side(small: str) -> None:
    async with running(small, (200, 60)) as (app, pilot):
        await wait_for(pilot, lambda: PlanPane.LAUNCHES in details_of(app).listings, "the launches are found")
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
            "What binds": "a step on",
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


# Options.


async def test_a_value_is_typed_and_every_letter_and_digit_of_it_is_text(small: str) -> None:
    async with running(small) as (app, pilot):
        await go_to(pilot, app, "set")
        await pilot.press("enter", *"root.k_max=4 q1?", "escape")
        await wait_for(pilot, lambda: app.focused is form_of(app), "escape leaves the field")
        assert app.session.request.set == ()
        assert not app.screen.query(OptionInput)
        await retype(pilot, app, "set", "root.k_max=4")
        await wait_for(pilot, lambda: app.session.request.set == ("root.k_max=4",), "the setting is taken")
        await retype(pilot, app, "epsilon", "0.0123")
        await settled(app, pilot)
        assert draft_in(app).design.target.epsilon == 0.0123
        assert isinstance(app.screen, PlanScreen), "no digit changed the view"
        await pilot.press("0", *".2", "enter")
        await settled(app, pilot)
        assert app.session.request.epsilon == 0.2, "a fraction is begun by its first digit"
        await retype(pilot, app, "group_epsilon", "none")
        await settled(app, pilot)
        assert draft_in(app).design.target.group_epsilon is None
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(app.focused, Input), "a field")
        await pilot.press("tab")
        assert app.screen.query(OptionInput), "tab does not close a field"
        app.action_focus_next()
        await wait_for(pilot, lambda: not app.screen.query(OptionInput), "another pane ends the typing")
        assert app.session.request.group_epsilon is None


async def test_what_the_engine_refuses_is_said_at_the_field_and_stepped_past(small: str) -> None:
    """pks needs metrics that the profile has not; the next methods can be chosen all the same."""
    async with running(small, (120, 40), options=OpenOptions(request=PlanRequest(method="random"))) as (
        app,
        pilot,
    ):
        before = draft_in(app)
        await pilot.press("right")
        await wait_for(pilot, lambda: app.session.problem is not None, "the engine says no")
        await wait_for(pilot, lambda: "pks needs metrics of every launch" in screen_text(app), "in words")
        assert app.session.draft is before
        assert app.session.request.method == "random"
        assert "< pks > ?" in screen_text(app)
        await pilot.press("right")
        await wait_for(pilot, lambda: "< two-level > ?" in screen_text(app), "the next is refused too")
        await pilot.press("left", "left", "left")
        await wait_for(pilot, lambda: app.session.request.method == "allegro", "one that applies")
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
        assert draft_in(app).design.target.epsilon == 0.03
        assert "planning" not in screen_text(app)


# Figures and details.


def test_the_figures_are_the_plans(small: str) -> None:
    details = details_without_app(small)
    draft, plan = details.draft, details.plan
    judgement, promise = judge_design(draft.design, 200, 0), draft.design.promise
    assert promise is not None
    shown = dict(plan_figures(details))
    assert shown["drawn"][1] == f"{plan.samples} of 168"
    assert str(shown["time"][0]).startswith(f"within {100 * promise.bound:.1f} %, as profiled, ")
    promised = f"within {100 * promise.error:.1f} %"
    assert without_tones(shown["cycles"][0]).startswith(f"{promised}, 5.0 % asked for: met, if cycles")
    assert f"{100 * judgement.error_mean:.1f} % off in time" in shown["judged"][0]
    assert f"{100 * (judgement.within_epsilon or 0):.1f} % of draws keep 5.0 %" in without_tones(
        shown["within"][0]
    )
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
        await wait_for(pilot, lambda: app.session.request.epsilon == 0.07, "another epsilon")
        # 0.05 and 0.07 are known already: what was computed is kept where all else is the same.
        await wait_for(pilot, lambda: begun[3:] == [0.1], "it begins anew, at what is missing")
        assert "3 of 13" in screen_text(app)
        await pilot.press("j", "plus")
        await wait_for(pilot, lambda: begun[4:] == [0.05], "another confidence has other points")
        release()
        await settled(app, pilot)
        assert len(details_of(app).trade_off.points) == 13
        assert "of 13 ─" not in screen_text(app)


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


# What leaves the app.


async def test_the_plan_is_saved_as_sample_writes_it(small: str) -> None:
    options = OpenOptions(request=PlanRequest(epsilon=0.02, seed=5, method="root", exclude=("layer_norm",)))
    line = "--epsilon 0.02 --seed 5 --method root --exclude layer_norm -o headless.json"
    printed(f"kernelpoint sample {shlex.quote(small)} {line}", 80, Path.cwd())
    async with running(small, options=options) as (app, pilot):
        for size in ((80, 24), (60, 15)):
            await resized(app, pilot, *size)
            await pilot.press("S")
            await wait_for(pilot, lambda: "Save the plan to a new file" in screen_text(app), "it asks")
            assert "File: plan.json" in screen_text(app)
            await pilot.press("enter")
            await wait_for(pilot, Path("plan.json").exists, "the plan is there")
            await wait_for(pilot, lambda: "plan written to plan.json" in screen_text(app), "and said")
            assert app.focused is form_of(app)
            assert Path("plan.json").read_bytes() == Path("headless.json").read_bytes()
            Path("plan.json").unlink()


def test_a_file_that_appears_meanwhile_is_not_overwritten(small: str) -> None:
    Path("late.json").write_text("mine")
    with pytest.raises(OptionError, match=r"late\.json exists"):
        plan_details.save_plan(details_without_app(small), Path("late.json"), lambda *_: None)
    assert Path("late.json").read_text() == "mine"


async def test_every_target_of_export_is_offered(small: str) -> None:
    async with running(small) as (app, pilot):
        await pilot.press("e")
        # What a plan is for most often comes first, the others after it.
        names = [name for name in exporter_names() if name != "csv"]
        for name in (*names, "csv"):
            await wait_for(pilot, lambda name=name: f"Export for {name}" in screen_text(app), name)  # type: ignore[misc]
            asks = (
                "enter goes on to the traces"
                if name in {"accel-sim", "macsim", "mgpusim"}
                else "enter writes"
            )
            assert asks in " ".join(screen_text(app).split())
            await pilot.press("down")
        await pilot.press("enter")
        await wait_for(pilot, lambda: "empty: what records them" in screen_text(app), "traces are asked for")
        await pilot.press("enter")
        made = Path("accel-sim-export")
        await wait_for(pilot, (made / "README.txt").exists, "the folder is there")
        said = f"written: {len(list(made.iterdir()))} files in accel-sim-export; next: record them on the GPU"
        await wait_for(pilot, lambda: said in " ".join(screen_text(app).split()), "it is said")
        assert "then kernelpoint export accel-sim-export --to accel-sim --traces" in " ".join(
            screen_text(app).split()
        )
        # With traces launches are warmed, and these are checked.
        await pilot.press("e", "enter", *"nosuch", "enter")
        await wait_for(pilot, lambda: "not written: " in screen_text(app), "there are none")
        assert "nosuch" in screen_text(app)
    printed(f"kernelpoint sample {shlex.quote(small)} -o plan.json", 80, Path.cwd())
    printed("kernelpoint export plan.json --to accel-sim -o headless", 80, Path.cwd())
    for name in ("README.txt", "manifest.csv", "trace.sh"):
        assert (made / name).read_bytes() == Path("headless", name).read_bytes()
