"""The app on a plan file: its options, its results; what a profile's folder holds is said, never loaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sampling.errors import AnalysisError
from sampling.splitting.tree import Verdict
from tests.app.driving import opened as opened_app
from tests.app.driving import printed, screen_text, wait_for
from tests.app.plan_driving import details_of, settled
from tests.app.test_view_plan_results import write_results
from tui.app import planning
from tui.app.plan.details import whose_options
from tui.app.plan.results import ResultsScreen
from tui.app.running import session_of
from tui.app.state import Session
from tui.engine.plan_files import open_plan, options_of_plan
from tui.options.look import OpenOptions
from tui.options.plan import SampleOptions


@pytest.fixture(autouse=True)
def profile() -> str:
    """A small profile in the current folder."""
    rows = [f"k{each % 3},{(1 + each % 3) * 100_000 + each * 7919 % 9_973}" for each in range(900)]
    Path("run.csv").write_text("\n".join(["name,duration_ns", *rows, ""]))
    return "run.csv"


def made(line: str = "", name: str = "plan.json") -> str:
    printed(f"kernelpoint sample run.csv --method root --judge 0 {line} -o {name}", 80, Path.cwd())
    return name


def session_with(plan: str, profiles: tuple[str, ...] = (), results: tuple[str, ...] = ()) -> Session:
    opened = open_plan(plan, profiles, results)
    return replace(session_of(opened.profiles, options_of_plan(opened, OpenOptions())), plan=opened)


async def test_a_plan_opens_in_view_3_and_its_results_over_it() -> None:
    made("--epsilon 0.02")
    write_results("plan.json", "a b.csv")
    session = session_with("plan.json", results=("a b.csv",))
    options = {"options": session.options, "plan": session.plan}
    async with opened_app("run.csv", view="Plan", **options) as (app, pilot):
        await settled(app, pilot)
        assert details_of(app).plan.samples == len(open_plan("plan.json").plan.drawn)
        await wait_for(pilot, lambda: "Results of plan.json" in screen_text(app), "its results")
        screen = app.screen
        assert isinstance(screen, ResultsScreen)
        await wait_for(pilot, lambda: screen.known is not None and not screen.is_working, "they are read")
        await pilot.press("escape")
        await wait_for(pilot, lambda: not isinstance(app.screen, ResultsScreen), "back to the plan")
        assert " of plan.json " in screen_text(app)
        others = {"options": SampleOptions()}, {"overrides": {"k": {"": Verdict.KEEP}}}
        for changes in others:
            changed: Session = replace(app.session, **changes)  # type: ignore[arg-type]
            assert whose_options(changed, app.opened) == "not those of plan.json"
        await pilot.press("o")
        assert screen_text(app).count("Results of plan.json") == 1, "they are still there"


def test_a_profile_that_is_not_the_plans_is_refused_while_it_is_read() -> None:
    made()
    Path("other.csv").write_text(Path("run.csv").read_text().replace("k1", "other"))
    with pytest.raises(AnalysisError, match=r"other\.csv is not, byte for byte, what plan\.json was"):
        next(planning.study_of(None, session_with("plan.json", ("other.csv",)), planning.silent))
