"""The app on a plan file: its options, its results; what a profile's folder holds is said, never loaded."""

from __future__ import annotations

import json
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
from tui.app.frame.page import FindingsScreen
from tui.app.plan.details import whose_options
from tui.app.plan.results import ResultsScreen
from tui.app.running import session_of
from tui.app.state import Session
from tui.engine.plan_files import beside_profile, open_plan, options_of_plan, results_beside
from tui.engine.studies import study_as_asked
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
    with pytest.raises(AnalysisError, match=r"other\.csv is not what plan\.json was made from"):
        next(planning.study_of(None, session_with("plan.json", ("other.csv",)), planning.silent))


def test_results_beside_a_plan_are_those_named_after_it_then_those_named_so_then_the_newest_log() -> None:
    made()
    Path("folder").mkdir()
    assert results_beside("plan.json") == ()
    Path("notes.log").write_text("nothing of a simulator\n")
    assert results_beside("plan.json") == ()
    for name in ("results.csv", "more-results.csv"):
        write_results("plan.json", name)
    assert results_beside("plan.json") == ("more-results.csv", "results.csv")
    write_results("plan.json", "plan.cycles.csv")
    Path("plan-notes.txt").write_text("nothing of a simulator\n")
    assert results_beside("plan.json") == ("plan.cycles.csv",)
    assert results_beside("none/plan.json") == ()


def test_plans_and_decisions_beside_a_profile_are_said() -> None:
    study = study_as_asked(("run.csv",), SampleOptions(profiles=("run.csv",), method="root"))
    assert beside_profile(("run.csv",), study, ()) == ()
    made(name="run.plan.json")
    (line,) = beside_profile(("run.csv",), study, ())
    assert line == "run.plan.json lies beside: `kernelpoint run.plan.json` opens it"
    assert beside_profile(("run.csv",), study, ("./run.plan.json",)) == (), "it is open already"
    text = Path("run.plan.json").read_text()
    Path("of another.json").write_text(text.replace('"run.csv"', '"another.csv"'))
    Path("list.json").write_text("[1, 2]")
    Path("broken.json").write_text('{"overrides": ')
    assert len(beside_profile(("run.csv",), study, ())) == 1
    key = study.counts.groups[0].key
    for name, of in (("mine.json", key), ("theirs.json", "another kernel")):
        rows = [{"key": of, "path": "", "decision": "keep"}]
        Path(name).write_text(json.dumps({"method": "root", "overrides": rows}))
    (_, line) = beside_profile(("run.csv",), study, ())
    command = "`kernelpoint run.csv --overrides mine.json`"
    assert line == f"mine.json has 1 split decision on these kernel groups: {command} opens with them"
    for number in range(4):
        Path(f"{number}.json").write_text(text)
    (plans, _) = beside_profile(("run.csv",), study, ())
    assert plans.startswith("plans lie beside, ")
    assert plans.endswith(" opens the newest")
    assert " and 2 more: " in plans


async def test_what_lies_beside_is_said_once_and_on_the_page_of_findings() -> None:
    made(name="run.plan.json")
    said = "run.plan.json lies beside: `kernelpoint run.plan.json` opens it"
    async with opened_app("run.csv", options=OpenOptions(method="root")) as (app, pilot):
        await wait_for(pilot, lambda: said in " ".join(screen_text(app).split()), "it is said")
        assert app.session.plan is None
        assert not app.session.overrides
        await pilot.press("f")
        await wait_for(pilot, lambda: isinstance(app.screen, FindingsScreen), "the findings")
        await pilot.press("G")
        await wait_for(pilot, lambda: said in " ".join(screen_text(app).split()), "below them")
