"""Results over view 3, under a pilot and without a terminal; a plan file opened with its results."""

from __future__ import annotations

import json
import re
import shlex
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import AnalysisError, OptionError
from sampling.estimation.ratio import Ratio
from sampling.estimation.top_up import ToppedUp
from sampling.estimation.total import PlanEstimate, estimate_plan
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.plan.request import PlanRequest
from sampling.simulators.results import SimulatedLaunches
from sampling.splitting.tree import Verdict
from tests.app.driving import App, Running, printed, resized, screen_text, wait_for
from tests.app.driving import opened as opened_app
from tests.app.plan_driving import check_round_trip, details_of, running, settled
from tests.cli.conftest import counters_of
from tests.small_plans import options_of, plan_of_strata, stratum
from tui import cli
from tui.app import planning, results
from tui.app.chart_page import ChartPage
from tui.app.plan_details import whose_options
from tui.app.prompt import PromptInput
from tui.app.results import (
    Answers,
    ResultsForm,
    ResultsPane,
    ResultsScreen,
    ResultsState,
    options_asked,
    pane_command,
    pane_text,
    pane_title,
    results_table,
)
from tui.app.running import open_session
from tui.app.state import Session
from tui.app.widgets import ListingTable as PlanList
from tui.engine.plan_files import open_plan, options_of_plan
from tui.options.look import OpenOptions
from tui.options.plan import SampleOptions
from tui.options.simulate import EstimateOptions
from tui.output.writer import Canvas
from tui.text.estimate import total_lines


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
    await wait_for(pilot, lambda: isinstance(app.focused, PromptInput), "it asks")


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
        shown = (simulated("plan.json"), "interval is assumption: ", "cycles/ns")
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
        await wait_for(pilot, lambda: "Help: Results" in screen_text(app), "how to read it")
        await pilot.press("G")
        await wait_for(pilot, lambda: "save the larger plan to a new file" in screen_text(app), "its keys")
        await pilot.press("escape", "escape")
        await wait_for(pilot, lambda: "[3] Options" in screen_text(app), "back")
        await pilot.press("o")
        await wait_for(pilot, lambda: simulated("plan.json") in screen_text(app), "what was open before")
        assert isinstance(app.focused, PlanList)


async def test_all_fields_stay_in_sight_whatever_is_wrong_with_an_answer(small: str) -> None:
    async with running(small, (60, 15)) as (app, pilot):
        await ask(pilot, app)
        app.screen.query_one(ResultsForm).refuse("there is no such file " * 40)
        await pilot.pause()
        rows = [line.split(":")[0] for line in screen_text(app).splitlines()]
        labels = [field.label.split(":")[0] for field in ResultsForm.FIELDS]
        assert [row for row in rows if row in labels] == labels


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


async def test_launches_that_began_cold_are_exported_again_with_filled_caches(small: str) -> None:
    headless_plan(small, "plan.json")
    write_results("plan.json", "cycles.csv", spread=60)
    cold = [f"{row},cold" for row in Path("cycles.csv").read_text().splitlines()[1:]]
    Path("cold.csv").write_text("\n".join(["id,cycles,caches", *cold, ""]))
    async with running(small) as (app, pilot):
        screen = await open_results(pilot, app, "cold.csv", "0.01")
        await wait_for(pilot, lambda: "COLD " in screen_text(app), "it is headed so")
        assert screen.known is not None
        assert screen.known.larger is None
        await pilot.press("t")
        await wait_for(pilot, lambda: "e exports the plan" in screen_text(app), "what is next")
        await pilot.press("e")
        await wait_for(pilot, lambda: "Export for accel-sim" in screen_text(app), "it asks where to")
        await pilot.press("enter", "enter")
        await wait_for(pilot, Path("accel-sim-export", "plan.json").exists, "the folder is there")
        assert Path("accel-sim-export", "plan.json").read_bytes() == Path("plan.json").read_bytes()


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


async def test_counters_have_their_roofline_as_the_command_prints_it(small: str) -> None:
    headless_plan(small, "plan.json")
    counters_of(Path("plan.json"), Path("counters.csv"))
    async with running(small) as (app, pilot):
        screen = await open_results(pilot, app, "counters.csv")
        await pilot.press("t", "t")
        await wait_for(pilot, lambda: "FLOP/s over FLOP/byte" in screen_text(app), "chart and its caption")
        rows = screen_text(app).splitlines()
        assert rows[2].startswith("─ [t] Roofline")
        assert rows[3].startswith("What bounds the run, by time: ")
        command = await check_round_trip(pilot, app, 80)
        height = re.fullmatch(
            r"kernelpoint roofline plan.json counters.csv --width 80 --height (\d+)", command
        )
        assert height is not None
        before = int(height[1])
        for size in ((120, 40), (60, 15), (80, 24)):
            await resized(app, pilot, *size)
            assert app.crash is None
            if size == (120, 40):
                await wait_for(pilot, lambda: "kernel group" in screen_text(app), "its table has room too")
                await wait_for(pilot, lambda: screen.query_one(ChartPage).chart_size[1] > before, "the chart")
        assert screen.query_one(ChartPage).chart_size == (80, before)
        await pilot.press("t")
        await wait_for(pilot, lambda: "[t] Kernel groups" in screen_text(app), "and round again")
        assert "[o] Results of plan.json" in screen_text(app)


async def test_results_without_counters_say_how_to_measure_them(small: str) -> None:
    headless_plan(small, "plan.json")
    write_results("plan.json", "cycles.csv")
    lack = (
        "No roofline: no time of the launches was measured; measure by `kernelpoint export plan.json --to ncu"
    )
    async with running(small, ascii_only=True) as (app, pilot):
        await open_results(pilot, app, "cycles.csv")
        await pilot.press("t", "t")
        await wait_for(pilot, lambda: lack in " ".join(screen_text(app).split()), "why there is none")
        assert screen_text(app).isascii()


CANVAS = Canvas(80, color=False)
SESSION = Session(SampleOptions(profiles=("run.sqlite",), request=PlanRequest(epsilon=0.02, seed=7)))
# Two kernels of 10 and 5 launches: 1,000 ns each of the one, 2,000 ns of the other.
CYCLES_PER_NS = {"gemm": 3, "copy": 6}


def launch(number: int, name: str, duration_ns: int, weight: float) -> PlannedLaunch:
    return PlannedLaunch(number, 1, 0, number, name, None, None, 0, weight, duration_ns)


def plan(method: str = "root") -> PlanFile:
    gemm = tuple(launch(number, "gemm", 1000, 5.0) for number in (0, 1))
    copy = tuple(launch(number, "copy", 2000, 2.5) for number in (10, 11))
    strata = (
        stratum("gemm process 1 device 0", 10, 1000.0, 0.0, gemm),
        stratum("copy process 1 device 0", 5, 2000.0, 0.0, copy),
    )
    return plan_of_strata(strata, options_of(method), total_duration_ns=20_000)


def found(*, without: tuple[int, ...] = (), method: str = "root") -> PlanEstimate:
    made = plan(method)
    there = [each for each in made.drawn if each.id not in without]
    cycles = np.array(
        [each.duration_ns * CYCLES_PER_NS[each.name] * (1.01 if each.id % 2 else 0.99) for each in there]
    )
    results = SimulatedLaunches(np.array([each.id for each in there]), {"cycles": cycles})
    return estimate_plan(made, results)


def known(**given: object) -> ResultsState:
    made = ResultsState(EstimateOptions(plan="plan.json", results=("a.log",)), found())
    return replace(made, **given)  # type: ignore[arg-type]


def typed(results: str = "", **answers: str) -> Answers:
    """The fields of the form, empty but for these and the plan's name."""
    return dict.fromkeys((asked.name for asked in ResultsForm.FIELDS), "") | {
        "plan": "plan.json",
        "results": results,
        **answers,
    }


LARGER = ToppedUp("{}", (launch(3, "gemm", 1000, 3.3), launch(4, "gemm", 1000, 3.3)), 1, 7, 8_000)


def test_groups_are_set_against_the_profile() -> None:
    listing, words = results_table(ResultsPane.GROUPS, known())
    assert listing is not None
    assert words == ""
    assert listing.head(80).split() == [*("simulated", "profiled", "cycles/ns", "within", "kernel", "group")]
    # 10 x 1,000 ns x 3 against 5 x 2,000 ns x 6: half of the time, two thirds of the cycles.
    cells = [listing.row(row, 80).split() for row in (0, 1)]
    assert [row[:5] for row in cells] == [["66.7", "%", "50.0", "%", "6"], ["33.3", "%", "50.0", "%", "3"]]
    assert [row[-1] for row in cells] == ["copy", "gemm"], "without what all have in common"


def test_a_clock_sets_them_against_the_gpu() -> None:
    """At 2 GHz gemm takes 1.5 times as long as recorded, copy 3 times."""
    estimate = found()
    clocked = known(estimate=replace(estimate, results=replace(estimate.results, clock_hz=2e9)))
    totals = " ".join(pane_text(ResultsPane.TOTALS, clocked, CANVAS).split())
    assert "the simulated GPU takes 45.0 us where the recorded one took 20.0: 2.25 times as long (" in totals
    assert "most of that is copy, 3 times as long (" in totals
    assert ": 80.0 % of all kernels' differences" in totals
    listing, _ = results_table(ResultsPane.GROUPS, clocked)
    assert listing is not None
    rows = [listing.row(row, 80).split() for row in (0, 1)]
    assert [row[4:7] for row in rows] == [["3.00x", "+20.0", "us"], ["1.50x", "+5.00", "us"]]


def test_a_group_without_results_is_named_and_what_is_missing_counted() -> None:
    listing, _ = results_table(ResultsPane.GROUPS, known(estimate=found(without=(0, 10, 11))))
    assert listing is not None
    assert listing.row(0, 80).split()[0] == "-", "there is no whole to have a share of"
    assert listing.row(0, 80).split()[-2:] == ["1", "gemm"]
    assert listing.row(1, 80).split() == ["-", "50.0", "%", "-", "-", "all", "copy"]


def test_picked_launches_have_no_groups() -> None:
    picked = known(estimate=found(method="first-instructions"))
    listing, words = results_table(ResultsPane.GROUPS, picked)
    assert listing is None
    assert "picked" in words
    assert words in pane_text(ResultsPane.GROUPS, picked, CANVAS)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (known(), "no target is asked for"),
        (known(options=EstimateOptions(target=0.9)), "nothing: the total is within 90.0 %, as asked for"),
        (
            known(options=EstimateOptions(target=0.001), why_no_larger="the profile is gone"),
            "the profile is gone",
        ),
        (known(options=EstimateOptions(target=0.001), doing="drawing"), "drawing"),
        (known(options=EstimateOptions(target=0.001), doing="drawing").cancelled(), "cancelled"),
    ],
)
def test_why_there_is_nothing_to_run_next(of: ResultsState, said: str) -> None:
    listing, words = results_table(ResultsPane.NEXT, of)
    assert listing is None
    assert said in words


def test_what_to_run_next() -> None:
    more = known(options=EstimateOptions(plan="plan.json", results=("a.log",), target=0.001), larger=LARGER)
    listing, _ = results_table(ResultsPane.NEXT, more)
    assert listing is not None
    assert [listing.row(row, 80).split()[0] for row in (0, 1)] == ["3", "4"]
    totals = " ".join(pane_text(ResultsPane.TOTALS, more, CANVAS).split())
    assert (
        "next: 2 launches, 2.00 us of profile time, 1 of them new; the whole larger plan: 7 launches"
        in totals
    )
    assert "not within the 0.1 % asked for" in totals
    assert pane_title(ResultsPane.NEXT, more, place="1-2 of 2")[1] == "S saves the larger plan; 1-2 of 2"
    line = pane_command(ResultsPane.NEXT, more)
    assert line == "kernelpoint estimate plan.json a.log --target 0.001 --top-up more.json"


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (known(), ""),
        (known(options=EstimateOptions(target=0.001)), "not within the 0.1 % asked for"),
        (
            known(options=EstimateOptions(target=0.001), larger=LARGER),
            "not within the 0.1 % asked for, t what is next",
        ),
        (known(options=EstimateOptions(target=0.9, accept_cold=True)), "within the 90.0 % asked for"),
        (known(options=EstimateOptions(target=0.9), doing="drawing"), "drawing; esc cancels"),
    ],
)
def test_the_title_says_whether_the_total_is_as_narrow_as_asked_for(of: ResultsState, said: str) -> None:
    assert pane_title(ResultsPane.TOTALS, of)[1] == said


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (Ratio("ipc", 2.0), "ipc 2"),
        (Ratio("ipc", 2.0, low=2.0, high=2.0), "ipc 2"),
        (Ratio("ipc", 2.0, "of warm caches", low=1.5, high=2.5), "ipc 2, 1.5 to 2.5; of warm caches"),
        (Ratio("ipc", None, "no cycles"), "ipc no cycles"),
        (Ratio("ipc"), "ipc none"),
    ],
)
def test_a_ratio_stands_with_its_interval_or_why_there_is_none(ratio: Ratio, said: str) -> None:
    assert [*total_lines(replace(found(), ratios=(ratio,)))][-1] == said


def test_a_pane_has_the_command_that_prints_it() -> None:
    assert pane_command(ResultsPane.TOTALS, known()) == "kernelpoint estimate plan.json a.log"
    assert pane_command(ResultsPane.GROUPS, known()) == "kernelpoint estimate plan.json a.log --groups"
    assert "kernel group" not in pane_text(ResultsPane.TOTALS, known(), CANVAS)
    assert "kernel group" in pane_text(ResultsPane.GROUPS, known(), CANVAS)
    assert pane_text(ResultsPane.TOTALS, None, CANVAS) == ""


def test_a_roofline_of_chosen_metrics_is_not_said_to_be_unmeasured() -> None:
    asked = EstimateOptions(plan="plan.json", results=("a.log",), metrics=("cycles",))
    assert "--metric leaves some out" in str(known(options=asked).roofline)


# What is typed.


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="*?[~")).map("f".__add__),
        min_size=1,
    )
)
def test_names_are_read_as_a_shell_reads_them(names: list[str]) -> None:
    asked = options_asked(typed(results=shlex.join(names)), SESSION)
    assert asked.results == tuple(names)


def test_stars_and_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("b.log", "a.log", "x[1].csv", "of two words"):
        (tmp_path / name).touch()
    asked = options_asked(
        typed("*.log x[1].csv none*.log", manifests="~/manifest.csv", plan="~/plan.json"), SESSION
    )
    assert asked.results == ("a.log", "b.log", "x[1].csv", "none*.log")
    assert options_asked(typed("of two words"), SESSION).results == ("of two words",)
    assert asked.manifests == (f"{tmp_path}/manifest.csv",)
    assert asked.plan == f"{tmp_path}/plan.json"


def test_the_plan_and_not_the_options_of_view_3_say_the_confidence() -> None:
    asked = options_asked(typed("a.log", target="0.05"), replace(SESSION, ascii_only=True))
    assert asked == EstimateOptions(plan="plan.json", results=("a.log",), target=0.05, ascii=True)


def test_other_options_are_those_of_the_command_line() -> None:
    others = "--metric a --ratio a/b --metric='c d' --confidence 0.9 --from csv"
    asked = options_asked(typed("a.log", others=others), SESSION)
    assert asked == EstimateOptions(
        plan="plan.json",
        results=("a.log",),
        metrics=("a", "c d"),
        ratios=("a/b",),
        confidence=0.9,
        source="csv",
    )


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (typed(), "no file of results is named"),
        (typed("a.log", plan=" "), "the name of the plan file is missing"),
        (typed("'a.log"), "close the quotes"),
        (typed("a.log -"), "standard input"),
        (typed("a.log", others="--top-up x"), "--top-up is no option here"),
        (typed("a.log", others="--metric"), "--metric needs a value"),
        (typed("a.log", target="5"), "between 0 and 1, not 5"),
        (typed("a.log", target="nan"), "between 0 and 1, not nan"),
    ],
)
def test_answers_that_cannot_be_used(answers: Answers, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        options_asked(answers, SESSION)


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
    return replace(open_session(opened.profiles, options_of_plan(opened, OpenOptions())), plan=opened)


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
            assert whose_options(changed, app.opened) == ("not those of plan.json", "changed")
        await pilot.press("o")
        assert screen_text(app).count("Results of plan.json") == 1, "they are still there"


def test_a_profile_that_is_not_the_plans_is_refused_while_it_is_read() -> None:
    made()
    Path("other.csv").write_text(Path("run.csv").read_text().replace("k1", "other"))
    with pytest.raises(AnalysisError, match=r"other\.csv is not, byte for byte, what plan\.json was"):
        next(planning.draft_of(None, session_with("plan.json", ("other.csv",)), lambda *_: None))
