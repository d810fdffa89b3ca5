"""What opens: a profile, a plan on its profile, and what is printed where no app can be."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from sampling.errors import OptionError, PlanFileError
from sampling.plan.plan import drawn_plan, find_planned_launches
from sampling.plan.request import PlanRequest
from tests.cli.conftest import Kernelpoint, counters_of, cycles_of, drawn_of
from tests.study_files import CONFIGURATIONS, write_plans, write_study
from tui.app import planning
from tui.app.running import open_session
from tui.engine.drafts import draft_from_options
from tui.engine.plan_files import find_profile, open_plan, options_of_plan, plan_notes
from tui.options.files import is_plan
from tui.options.look import OpenOptions

OPTIONS = (
    "--method root --epsilon 0.02 --seed 3 --exclude k2 --launches 3:800",
    "--method joint --group-epsilon none --no-pool --min-samples 2 --noise-floor 0.01 --confidence 0.9",
    "--method stem --group-by name",
    "--method allegro --group-by published",
    "--method random --set random.launches=12 --kernel-spread 0.1",
    "--method single-iteration --min-duration 100001",
)


@pytest.fixture(autouse=True)
def recorded(here: Path) -> None:
    """A small profile in the working folder."""
    rows = [f"k{each % 3},{(1 + each % 3) * 100_000 + each * 7919 % 9_973}" for each in range(900)]
    Path("run.csv").write_text("\n".join(["name,duration_ns", *rows, ""]))


def made(kernelpoint: Kernelpoint, line: str = "--method root", name: str = "plan.json") -> Path:
    assert kernelpoint("sample", "run.csv", *line.split(), "--judge", "0", "-o", name).code == 0
    return Path(name)


def ids_of(plan: Path) -> list[int]:
    return sorted(each["id"] for each in drawn_of(plan))


@pytest.mark.parametrize("line", OPTIONS)
def test_its_options_make_the_same_plan(kernelpoint: Kernelpoint, line: str) -> None:
    plan = made(kernelpoint, line)
    opened = open_plan(str(plan))
    options = options_of_plan(opened, OpenOptions())
    draft = draft_from_options(opened.profiles, options)
    drawn = find_planned_launches(draft, drawn_plan(draft.counts, draft.design, options.request.seed))
    assert sorted(each.id for each in drawn) == ids_of(plan)
    assert plan_notes(opened, draft) == ()


def test_its_split_decisions_are_those_of_the_file(kernelpoint: Kernelpoint) -> None:
    (key, *_) = {each["key"] for each in json.loads(made(kernelpoint).read_text())["strata"]}
    rows = [{"key": key, "path": "", "decision": "keep"}]
    Path("mine.json").write_text(json.dumps({"method": "root", "overrides": rows}))
    plan = made(kernelpoint, "--method root --overrides mine.json", "decided.json")
    opened = open_plan(str(plan))
    session = open_session(opened.profiles, options_of_plan(opened, OpenOptions(slowdown=5.0)))
    assert session.request.overrides == "decided.json"
    assert session.options.slowdown == 5.0
    assert {group: dict(of) for group, of in session.overrides.items()} == {key: {"": "keep"}}


def test_without_a_terminal_its_summary_is_printed(kernelpoint: Kernelpoint) -> None:
    made(kernelpoint, "--method root --epsilon 0.02")
    printed = kernelpoint("plan.json")
    assert printed.code == 0
    assert "--epsilon 0.02 --method root" in printed.out
    assert kernelpoint("open", "run.csv", "--plan", "plan.json").out == printed.out
    results = cycles_of(Path("plan.json"), Path("run.results.csv"))
    opened, estimated = (kernelpoint(*words, "plan.json", results).out for words in ((), ("estimate",)))
    assert opened.partition("Next: ")[0] == estimated.partition("Next: ")[0]


def test_without_a_terminal_speedups_are_printed_and_nothing_is_checked(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    study = write_study(write_plans(tmp_path), tmp_path, {("two", "gto")})
    plan, words = tmp_path / "one.json", [f"{name}={tmp_path}/out/{name}/one.csv" for name in CONFIGURATIONS]
    for arguments in ((study,), (plan, *words)):
        opened, compared = kernelpoint(*arguments), kernelpoint("speedup", *arguments)
        assert (opened.code, compared.code) == (0, 4 if arguments == (study,) else 0)
        assert opened.out == compared.out
        assert "no terminal, so this is the comparison; `ssh -t` opens the app" in opened.err
        assert "incomplete" not in opened.err
    assert "no results yet of 1 of 9 cells" in kernelpoint("open", study).out


def test_what_a_study_says_cannot_be_said_beside_it(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    study = write_study(write_plans(tmp_path), tmp_path)
    assert "--epsilon is said by the plans of" in kernelpoint(study, "--epsilon", "0.1").failed(2)
    assert "leave base=x.csv out" in kernelpoint(study, "base=x.csv").failed(2)
    assert kernelpoint(study, "--difference").code == 2
    made(kernelpoint)
    assert "base is compared with nothing" in kernelpoint("plan.json", "base=x.csv").failed(2)
    assert "'y.csv' names no configuration" in kernelpoint("plan.json", "base=x.csv", "y.csv").failed(2)


def test_the_profile_is_found_beside_the_plan_or_where_it_lay(kernelpoint: Kernelpoint) -> None:
    made(kernelpoint)
    Path("kept").mkdir()
    shutil.copy("plan.json", "kept/plan.json")
    assert find_profile(open_plan("kept/plan.json").plan) == ("run.csv",)
    shutil.copy("run.csv", "kept/run.csv")
    assert find_profile(open_plan("kept/plan.json").plan) == ("kept/run.csv",)
    Path("kept/run.csv").write_text("name,duration_ns\nother,1\n")
    assert find_profile(open_plan("kept/plan.json").plan) == ("run.csv",), "the one of the same content"
    Path("run.csv").unlink()
    Path("kept/run.csv").unlink()
    refused = kernelpoint("kept/plan.json")
    assert refused.code == 3
    assert "made from run.csv, which lies neither beside it nor where it lay" in refused.err
    assert "`kernelpoint open PROFILE --plan kept/plan.json`" in refused.err


@pytest.mark.parametrize("named", ["/dev/zero", "pipe"])
def test_what_may_never_end_is_no_profile_of_a_plan(kernelpoint: Kernelpoint, named: str) -> None:
    document = json.loads(made(kernelpoint).read_text())
    document["profile"]["files"][0]["path"] = named
    Path("odd.json").write_text(json.dumps(document))
    os.mkfifo("pipe")
    with pytest.raises(PlanFileError, match=f"made from {named}, which lies neither beside it"):
        open_plan("odd.json")


def test_what_the_plan_says_cannot_be_said_beside_it(kernelpoint: Kernelpoint) -> None:
    plan = made(kernelpoint)
    table = cycles_of(plan, Path("cycles.csv"))
    for beside in ((), (table,)):
        refused = kernelpoint(plan, *beside, "--epsilon", "0.1").failed(2)
        assert "--epsilon is said by the plan plan.json" in refused
    assert kernelpoint(plan, "run.csv", "--difference").code == 2
    with pytest.raises(OptionError, match="--range"):
        options_of_plan(open_plan("plan.json"), OpenOptions(request=PlanRequest(range="step")))


def test_only_a_plan_is_taken_for_one(kernelpoint: Kernelpoint) -> None:
    assert is_plan(str(made(kernelpoint)))
    for text in ("", "{}", '{"traceEvents": [{"kind": "plan"}]}', '["kind", "plan"]', "name\n"):
        Path("other").write_text(text)
        assert not any(map(is_plan, ("other", "none", ".")))
    Path("broken.json").write_text('{"schema": 1, "kind": "plan"}')
    assert kernelpoint("broken.json").code == 3


def test_a_plan_that_was_topped_up_says_that_its_options_draw_less(kernelpoint: Kernelpoint) -> None:
    plan = made(kernelpoint, "--method root --epsilon 0.2")
    wide = "\n".join(
        ["id,cycles", *(f"{each},{10 ** (4 + place % 3)}" for place, each in enumerate(ids_of(plan))), ""]
    )
    Path("results.csv").write_text(wide)
    line = shlex.split("estimate plan.json results.csv --target 0.05 --top-up more.json")
    assert kernelpoint(*line).code == 4
    opened = open_plan("more.json")
    options = options_of_plan(opened, OpenOptions())
    session = replace(open_session(opened.profiles, options), plan=opened)
    ((_, _, (words,)),) = planning.draft_of(None, session, lambda *_: None)
    assert words.startswith(f"more.json draws {len(ids_of(Path('more.json')))} launches, its options alone ")
    assert "topped up" in words
    assert words in kernelpoint("more.json").err, "also without a terminal"


def test_the_summary_of_a_plan_says_first_what_bounds_the_run(kernelpoint: Kernelpoint) -> None:
    plan = made(kernelpoint)
    bare = kernelpoint("summary", plan)
    assert bare.out == kernelpoint("summary", "run.csv", "--method", "root").out
    counters = counters_of(plan, Path("counters.csv"))
    shown = kernelpoint("summary", plan, counters)
    assert shown.out.startswith("What bounds the run, by time: compute for ")
    assert bare.out.splitlines()[2:12] == shown.out.partition("\n\n")[2].splitlines()[2:12]
    assert f"Next: kernelpoint estimate {plan} {counters}" in shown.out
    words = "--format", "json"
    bounds = kernelpoint("summary", plan, counters, *words).results["bounds"]
    assert {*bounds} == {"memory", "compute", "latency"}
    assert sum(its["value"] for its in bounds.values()) == pytest.approx(1)
    for command in ("estimate", "roofline"):
        assert kernelpoint(command, plan, counters, *words).results["bounds"] == bounds
    assert kernelpoint("summary", plan, *words).results["bounds"] == {}


def test_results_without_counters_say_how_they_are_measured(kernelpoint: Kernelpoint) -> None:
    plan = made(kernelpoint)
    shown = kernelpoint("summary", plan, cycles_of(plan, Path("cycles.csv"))).out.partition("\n\n")[0]
    lack = f"measure by `kernelpoint export {plan} --to ncu --set roofline`"
    assert " ".join(shown.split()) == f"What bounds the run is not known: {lack}."
    counters = counters_of(plan, Path("counters.csv"))
    Path("part.csv").write_text("\n".join(counters.read_text().splitlines()[:2]))
    part = " ".join(kernelpoint("summary", plan, "part.csv").out.split())
    place = kernelpoint("roofline", plan, "part.csv").out
    assert place.startswith("The whole run has no place yet: strata have no result")
    assert re.match("What bounds the run is not known: .* of the profile's time has no result\\. ", part)


def test_what_stands_in_the_wrong_place_beside_a_plan_is_refused(kernelpoint: Kernelpoint) -> None:
    plan = made(kernelpoint)
    counters = counters_of(plan, Path("counters.csv"))
    swapped = kernelpoint("summary", counters, plan).failed(3)
    assert f"swap them: `kernelpoint summary {plan} {counters}`" in swapped
    budget = ("--budget", "3h", "--slowdown", "1e5")
    assert f"--budget finds an epsilon, and {plan} says it" in kernelpoint("summary", plan, *budget).failed(2)
    assert "--epsilon is said by the plan" in kernelpoint("summary", plan, "--epsilon", "0.01").failed(2)
    Path("other.csv").write_text("name,duration_ns\nk,5\n")
    shutil.move("other.csv", "run.csv")
    assert "is not, byte for byte, what" in kernelpoint("summary", plan, counters, "--quiet").failed(1)


def test_the_folder_of_an_export_opens_as_its_plan(kernelpoint: Kernelpoint) -> None:
    plan = made(kernelpoint)
    assert kernelpoint("export", plan, "--to", "ncu", "-o", "counted").code == 0
    counters = counters_of(plan, Path("counters.csv"))
    following = kernelpoint("estimate", "counted", counters, "--target", "0.5").out.splitlines()[-1]
    assert following == f"Next: kernelpoint counted {counters}"
    assert kernelpoint("counted", counters).out == kernelpoint("estimate", "counted", counters).out
    assert kernelpoint("summary", "counted").out == kernelpoint("summary", plan).out
