"""View 3: figures, trade-off, strata and launches, and the commands that print the same."""

from __future__ import annotations

import shlex

import numpy as np
import pytest

from sampling.plan.judge import judge_design
from tests.app.driving import (
    opened,
    screen_text,
    wait_for,
)
from tests.app.plan_driving import (
    chart_text,
    check_round_trip,
    details_of,
    details_without_app,
    focus_on,
    gated,
    running,
    settled,
)
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
