"""Results without a terminal: what is typed, and what is said of what was found."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError
from sampling.estimation.top_up import ToppedUp
from sampling.estimation.total import PlanEstimate, estimate_plan
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.simulators.results import SimulatedLaunches
from tests.small_plans import options_of, plan_of_strata, stratum
from tui.app.plan.results import (
    Answers,
    Known,
    ResultsForm,
    ResultsPane,
    options_asked,
    pane_command,
    pane_text,
    pane_title,
    table_of,
)
from tui.app.state import Session
from tui.options.plan import SampleOptions
from tui.options.simulate import EstimateOptions
from tui.output.writer import Canvas

CANVAS = Canvas(80, color=False)
SESSION = Session(SampleOptions(profiles=("run.sqlite",), epsilon=0.02, seed=7))
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


def known(**given: object) -> Known:
    made = Known(EstimateOptions(plan="plan.json", results=("a.log",)), found())
    return replace(made, **given)  # type: ignore[arg-type]


def typed(results: str = "", **answers: str) -> Answers:
    """The fields of the form, empty but for these and the plan's name."""
    return dict.fromkeys((asked.name for asked in ResultsForm.ASKS), "") | {
        "plan": "plan.json",
        "results": results,
        **answers,
    }


LARGER = ToppedUp("{}", (launch(3, "gemm", 1000, 3.3), launch(4, "gemm", 1000, 3.3)), 1, 7, 8_000)


def test_groups_are_set_against_the_profile() -> None:
    listing, words = table_of(ResultsPane.GROUPS, known())
    assert listing is not None
    assert words == ""
    assert listing.head(80).split() == [*("simulated", "profiled", "cycles/ns", "within", "kernel", "group")]
    # 10 x 1,000 ns x 3 against 5 x 2,000 ns x 6: half of the time, two thirds of the cycles.
    cells = [listing.row(row, 80).split() for row in (0, 1)]
    assert [row[:5] for row in cells] == [["66.7", "%", "50.0", "%", "6"], ["33.3", "%", "50.0", "%", "3"]]
    assert [row[-1] for row in cells] == ["copy", "gemm"], "without what all have in common"


def test_a_group_without_results_is_named_and_what_is_missing_counted() -> None:
    listing, _ = table_of(ResultsPane.GROUPS, known(found=found(without=(0, 10, 11))))
    assert listing is not None
    assert listing.row(0, 80).split()[0] == "-", "there is no whole to have a share of"
    assert listing.row(0, 80).split()[-2:] == ["1", "gemm"]
    assert listing.row(1, 80).split() == ["-", "50.0", "%", "-", "-", "all", "copy"]


def test_picked_launches_have_no_groups() -> None:
    picked = known(found=found(method="first-instructions"))
    listing, words = table_of(ResultsPane.GROUPS, picked)
    assert listing is None
    assert "picked" in words
    assert words in pane_text(ResultsPane.GROUPS, picked, CANVAS)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (known(), "no target is asked for"),
        (known(asked=EstimateOptions(target=0.9)), "nothing: the total is within 90.0 %, as asked for"),
        (
            known(asked=EstimateOptions(target=0.001), why_no_larger="the profile is gone"),
            "the profile is gone",
        ),
        (known(asked=EstimateOptions(target=0.001), doing="drawing"), "drawing"),
        (known(asked=EstimateOptions(target=0.001), doing="drawing").cancelled(), "cancelled"),
    ],
)
def test_why_there_is_nothing_to_run_next(of: Known, said: str) -> None:
    listing, words = table_of(ResultsPane.NEXT, of)
    assert listing is None
    assert said in words


def test_what_to_run_next() -> None:
    more = known(asked=EstimateOptions(plan="plan.json", results=("a.log",), target=0.001), larger=LARGER)
    listing, _ = table_of(ResultsPane.NEXT, more)
    assert listing is not None
    assert [listing.row(row, 80).split()[0] for row in (0, 1)] == ["3", "4"]
    totals = " ".join(pane_text(ResultsPane.TOTALS, more, CANVAS).split())
    assert (
        "next: 2 launches, 2.00 us of profile time, 1 of them new; the whole larger plan: 7 launches"
        in totals
    )
    assert "not within 0.1 %" in totals
    assert pane_title(ResultsPane.NEXT, more, place="1-2 of 2")[1] == "S saves the larger plan; 1-2 of 2"
    line = pane_command(ResultsPane.NEXT, more)
    assert line == "kernelpoint estimate plan.json a.log --target 0.001 --top-up more.json"


def test_a_pane_has_the_command_that_prints_it() -> None:
    assert pane_command(ResultsPane.TOTALS, known()) == "kernelpoint estimate plan.json a.log"
    assert pane_command(ResultsPane.GROUPS, known()) == "kernelpoint estimate plan.json a.log --groups"
    assert "kernel group" not in pane_text(ResultsPane.TOTALS, known(), CANVAS)
    assert "kernel group" in pane_text(ResultsPane.GROUPS, known(), CANVAS)
    assert pane_text(ResultsPane.TOTALS, None, CANVAS) == ""


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
    for name in ("b.log", "a.log", "x[1].csv"):
        (tmp_path / name).touch()
    asked = options_asked(
        typed("*.log x[1].csv none*.log", manifests="~/manifest.csv", plan="~/plan.json"), SESSION
    )
    assert asked.results == ("a.log", "b.log", "x[1].csv", "none*.log")
    assert asked.manifests == (f"{tmp_path}/manifest.csv",)
    assert asked.plan == f"{tmp_path}/plan.json"


def test_the_plan_and_not_the_options_of_view_3_say_the_confidence() -> None:
    asked = options_asked(typed("a.log", target="0.05"), replace(SESSION, ascii_only=True))
    assert asked == EstimateOptions(plan="plan.json", results=("a.log",), target=0.05, ascii=True)


def test_other_options_are_those_of_the_command_line() -> None:
    others = "--metric a --ratio a/b --metric='c d' --confidence 0.9 --from csv"
    asked = options_asked(typed("a.log", against="b.log", others=others), SESSION)
    assert asked == EstimateOptions(
        plan="plan.json",
        results=("a.log",),
        against=("b.log",),
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
        (typed("a.log", against="b.log -"), "standard input"),
        (typed("a.log", others="--top-up x"), "--top-up is no option here"),
        (typed("a.log", others="--metric"), "--metric needs a value"),
        (typed("a.log", target="5"), "between 0 and 1, not 5"),
        (typed("a.log", target="nan"), "between 0 and 1, not nan"),
    ],
)
def test_answers_that_cannot_be_used(answers: Answers, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        options_asked(answers, SESSION)
