"""View 8: programs on configurations; its figures are those of `speedup`, and what is wrong is a sentence."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

import sampling
from sampling.errors import OptionError
from sampling.parallel import Progress
from tests.app.driving import (
    App,
    Running,
    colours,
    opened,
    printed,
    printed_by,
    resized,
    screen_text,
    view_of,
    wait_for,
)
from tests.study_files import CONFIGURATIONS, PROGRAMS, write_plans, write_study
from tests.terminal.pseudo_terminal import Terminal
from tui.app import speedup_details, wording
from tui.app.running import open_session
from tui.app.speedup_panes import Matrix, options_typed
from tui.app.speedups import SpeedupsScreen
from tui.app.state import Session
from tui.app.view import Page
from tui.commands import opening
from tui.options.look import OpenOptions
from tui.options.simulate import SpeedupOptions
from tui.terminal import tty

Made = Callable[..., Path]
BYTES, FMA = "dram__bytes.sum", "sm__sass_thread_inst_executed_op_ffma_pred_on.sum"


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_plans(tmp_path_factory.mktemp("programs"))


@pytest.fixture
def made(plans: Path) -> Made:
    """Write a study, its plans beside it, into the current folder."""
    for name in PROGRAMS:
        shutil.copy(plans / f"{name}.json", Path.cwd())
        shutil.copy(plans / f"{name}.csv", Path.cwd())
    return partial(write_study, Path(), Path.cwd())


def results(name: str, *configurations: str) -> tuple[str, ...]:
    return tuple(f"{one}=out/{one}/{name}.csv" for one in configurations or CONFIGURATIONS)


def summary(*words: str) -> dict[str, Any]:
    document = json.loads(printed_by(["speedup", *words, "--format", "json"], 80, Path.cwd()))
    found: dict[str, Any] = document["results"]
    return found


@asynccontextmanager
async def comparing(
    plan: str = "study.toml",
    *texts: str,
    size: tuple[int, int] = (80, 24),
    profile: str | None = None,
    ascii_only: bool = False,
) -> AsyncIterator[tuple[App, Running, SpeedupsScreen]]:
    """The app in view 8, once all is compared or refused."""
    speedups = SpeedupOptions(plan=plan, results=texts)
    async with opened(profile, size, view="Speedups", ascii_only=ascii_only, speedups=speedups) as (
        app,
        pilot,
    ):
        screen = view_of(app)
        assert isinstance(screen, SpeedupsScreen)
        await settled(pilot, screen)
        yield app, pilot, screen


async def settled(pilot: Running, screen: SpeedupsScreen) -> None:
    await wait_for(pilot, lambda: screen.is_settled, "all is compared")
    await pilot.pause()


def words_of(app: App) -> str:
    return " ".join(screen_text(app).split())


# What is opened.


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Session, str]]:
    """Take what would be shown in a terminal."""
    sessions: list[tuple[Session, str]] = []
    monkeypatch.setattr(tty, "is_interactive", lambda: True)
    monkeypatch.setattr(opening, "open_app", lambda session, _, view: sessions.append((session, view)))
    return sessions


def test_a_study_opens_without_a_profile(made: Made, shown: list[tuple[Session, str]]) -> None:
    made()
    opening.run_open(OpenOptions(profiles=("study.toml",), ascii=True))
    ((session, view),) = shown
    assert (view, session.profiles, session.plan, session.ascii_only) == ("Speedups", (), None, True)
    assert session.speedups == SpeedupOptions(plan="study.toml")
    Path("study.toml").write_text("[study]\n")
    with pytest.raises(sampling.errors.ProfileError):
        opening.run_open(OpenOptions(profiles=("study.toml",)))


def test_a_plan_with_configurations_opens_with_its_profile(
    made: Made, shown: list[tuple[Session, str]]
) -> None:
    made()
    opening.run_open(OpenOptions(profiles=("one.json", *results("one"))))
    ((session, view),) = shown
    assert (view, session.profiles) == ("Speedups", ("one.csv",))
    assert session.plan is not None
    assert session.plan.results == (), "view 3 reads no total of them"
    assert session.speedups == SpeedupOptions(plan="one.json", results=results("one"))
    shutil.copy("out/base/one.csv", "a=b.csv")
    opening.run_open(OpenOptions(profiles=("one.json", "a=b.csv")))
    assert shown[-1][1] == "Plan", "a file of that name is results of the plan"
    for texts in (("base=x.csv",), ("base=x.csv", "y.csv")):
        with pytest.raises(OptionError):
            opening.run_open(OpenOptions(profiles=("one.json", *texts)))


def test_in_a_terminal_it_is_left_with_the_command(made: Made) -> None:
    made()
    terminal = Terminal("study.toml")
    terminal.read_until(b"faster than base")
    terminal.press(b"q")
    assert terminal.leave() == 0
    assert terminal.output.decode().rstrip().endswith("kernelpoint speedup study.toml")


# What is shown.


async def test_its_figures_are_those_of_the_command(made: Made) -> None:
    made()
    expected = summary("study.toml")
    async with comparing() as (app, pilot, screen):
        assert app.focused is screen.query_one(Matrix)
        lines = screen_text(app).splitlines()
        for program in expected["programs"]:
            (line,) = (line for line in lines if line.startswith(f"{program['name']} ") and "±" in line)
            gto, lat = (f"{cell['speedup']:.4f}" for cell in program["cells"][1:])
            assert [lat, gto] == line.split()[1:9:4], "as they are told"
        for kind, name in (
            ("geometric", "geometric mean"),
            ("harmonic", "harmonic mean"),
            ("total", "total"),
        ):
            (line,) = (line for line in lines if line.startswith(name) and "±" in line)
            assert all(f"{mean['ratio']:.4f}" in line for mean in expected["means"][kind].values())
        assert "gto is 3.3 % faster than base (" in words_of(app)
        await pilot.press("j")
        assert "two: lat is 5.0 % slower than base (" in words_of(app)
        # The bars follow the table, and the table the bars.
        await pilot.press("tab", "k", "k")
        await wait_for(pilot, lambda: "one: lat is 10.0 %" in words_of(app), "two bars before")
        assert screen.query_one(Matrix).cell == (0, 0)


async def test_what_is_told_first_is_in_sight_and_a_configuration_is_told_by_its_options(
    sample_data: Path,
) -> None:
    folder = sample_data / "study"
    async with comparing(str(folder / "study.toml")) as (app, pilot, _):
        # What is in sight is known once it was laid out.
        await wait_for(pilot, lambda: "columns 1-3 of 4" in words_of(app), "the table")
        assert "l2lat120 l1lat30 dram150 stencil" in words_of(app), "the winner, the loser, what is open"
        assert "l2lat120: -gpgpu_l2_rop_latency 120 instead of 160" in words_of(app)
        await pilot.press("G", "l", "l", "l")
        await wait_for(
            pilot, lambda: "gto: -gpgpu_scheduler gto instead of lrr" in words_of(app), "in a mean too"
        )
    texts = [f"{name}={folder / 'out' / name / 'layers.log.gz'}" for name in ("base", "gto")]
    async with comparing(str(folder / "layers.plan.json"), *texts) as (app, pilot, _):
        note = "gto: -gpgpu_scheduler gto instead of lrr"
        assert f"\n{note}\n" in screen_text(app), "alone: sentences say the rest"
        await pilot.press("k")
        await wait_for(pilot, lambda: note not in screen_text(app), "the base has none")


@pytest.mark.parametrize("keys", [(), ("j", "enter")])
async def test_its_command_prints_what_is_copied(made: Made, keys: tuple[str, ...]) -> None:
    made()
    async with comparing() as (app, pilot, screen):
        await pilot.press(*keys)
        await settled(pilot, screen)
        await pilot.press("y")
        text = app.clipboard
        await pilot.press("Y")
        assert app.clipboard == f"kernelpoint speedup study.toml{' --groups' if keys else ''}"
        assert printed(app.clipboard, 80, Path.cwd()) == text


async def test_the_kernels_of_a_cell_have_intervals_of_their_own(made: Made) -> None:
    made()
    groups = summary("study.toml", "--groups")["groups"]
    async with comparing() as (app, pilot, screen):
        await pilot.press("enter")
        await settled(pilot, screen)
        wanted = [row for row in groups if (row["program"], row["configuration"]) == ("one", "lat")]
        assert wanted
        for row in wanted:
            name, *_ = row["key"].split()
            assert f"{row['speedup']:.4f} {row['low']:.4f}-{row['high']:.4f} {name}" in words_of(app)
        await pilot.press("tab")
        while app.focused is not screen.query_one(Matrix):
            await pilot.press("tab")
        await pilot.press("l")
        await wait_for(pilot, lambda: "Kernels: one on gto" in words_of(app), "of another configuration")
        await pilot.press("G")
        await wait_for(pilot, lambda: "a mean has no kernels" in words_of(app), "of a mean there are none")
        await pilot.press("escape")
        await wait_for(pilot, lambda: "[enter] kernels" in screen_text(app), "the bars again")
        assert app.focused is screen.query_one(Matrix)


async def test_picked_launches_have_no_interval_and_no_kernels(made: Made) -> None:
    made()
    profile = sampling.read_profile("one.csv", columns="name=name,duration_ns=duration_ns")
    plan = sampling.make_plan(profile, sampling.PlanRequest(method="single-iteration"))
    sampling.write_plan(plan, Path("one.json"))
    write_study(Path(), Path.cwd())
    async with comparing("one.json", *results("one")) as (app, pilot, screen):
        assert "by the weights of launches that were picked" in words_of(app)
        await pilot.press("j", "enter")
        await settled(pilot, screen)
        assert "the plan's launches were picked, not drawn at random" in words_of(app)


def count_operations(program: str, **per_cycle: float) -> None:
    """Put time, bytes and so many operations a cycle into the tables of these configurations."""
    for configuration, operations in per_cycle.items():
        table = Path("out", configuration, f"{program}.csv")
        (head, *rows), counters = table.read_text().splitlines(), f"{BYTES},gpu__time_duration.sum,{FMA}"
        cycles = [float(row.split(",")[1]) for row in rows]
        counted = [f"{row},{ns},{ns},{operations / 2 * ns}" for row, ns in zip(rows, cycles, strict=True)]
        table.write_text("\n".join([f"{head},{counters}", *counted, ""]))


async def test_configurations_whose_tables_hold_counters_have_a_roofline(made: Made) -> None:
    """One operation a byte and a ns on the base, two on gto; lat has no counters, nor have other programs."""
    made()
    count_operations("one", base=1, gto=2)
    async with comparing() as (app, pilot, screen):
        assert "[t] roofline" in screen_text(app)
        await pilot.press("t")
        await wait_for(pilot, lambda: "* is base, 1 and so on the configurations" in words_of(app), "a chart")
        assert "one on base does 1.00 GFLOP/s" in words_of(app)
        await resized(app, pilot, 120, 40)
        await wait_for(pilot, lambda: "bound by" in words_of(app), "its table has room too")
        rows = [
            line.split() for line in screen_text(app).splitlines() if re.match("[*1] .*(base|gto)$", line)
        ]
        assert [(row[0], row[1], row[-1]) for row in rows] == [("*", "1.00G", "base"), ("1", "2.00G", "gto")]
        await pilot.press("Y", "y")
        await wait_for(pilot, lambda: "one on base does" in app.clipboard, "what is shown is copied")
        await pilot.press("tab")
        await wait_for(pilot, lambda: app.focused is screen.query_one(Matrix), "the table of programs")
        await pilot.press("j")
        await wait_for(pilot, lambda: "two: a roofline takes operations" in words_of(app), "another program")
        await pilot.press("escape")
        await wait_for(pilot, lambda: "Intervals" in words_of(app), "the bars")
    async with comparing("one.json", *results("one"), size=(60, 15), ascii_only=True) as (app, pilot, _):
        await pilot.press("t")
        await wait_for(pilot, lambda: "on base does" in words_of(app), "of a single plan too")
        assert screen_text(app).isascii()


async def test_what_simulators_print_has_no_roofline(made: Made) -> None:
    made()
    async with comparing() as (app, pilot, screen):
        assert "roofline" not in screen_text(app)
        await pilot.press("t")
        await wait_for(pilot, lambda: "no simulator prints them all" in words_of(app), "why")
        assert screen.query("#bars-pane").first().display


async def test_missing_cells_are_named_with_their_places(made: Made) -> None:
    made({("two", "lat"), ("three", "base")})
    async with comparing() as (app, pilot, screen):
        said = words_of(app)
        assert (
            "no results yet of 2 of 9 cells, which the means wait for: lat on two (out/lat/two.csv)" in said
        )
        await pilot.press("j", "l", "enter")
        assert words_of(app).count("two: no results of lat yet (out/lat/two.csv)") == 2
        await pilot.press("escape", "j", "h")
        assert "three: no results of base yet (out/base/three.csv)" in words_of(app)
        write_study(Path(), Path.cwd())
        await pilot.press("r")
        await settled(pilot, screen)
        assert "no results" not in words_of(app)
        assert screen.query_one(Matrix).cell == (2, 0), "the cursor stays"


async def test_where_nothing_is_compared_yet_the_cells_are_there(made: Made) -> None:
    made({(program, name) for program in PROGRAMS for name in CONFIGURATIONS})
    async with comparing() as (app, pilot, _):
        assert "Nothing is compared yet" in words_of(app)
        assert "of 9 of 9 cells" in words_of(app)
        await pilot.press("y", "enter", "e")
        assert app.clipboard == "kernelpoint run study.toml"


async def test_a_broken_log_is_a_sentence_and_what_is_there_stays(made: Made) -> None:
    made()
    place = Path("out/gto/two.csv")
    whole = place.read_text()
    place.write_text("GPGPU-Sim\x00 was killed")
    async with comparing() as (app, pilot, screen):
        assert screen.state is None
        assert "! out/gto/two.csv: " in words_of(app)
        await pilot.press("enter")
        await wait_for(pilot, lambda: "nothing is compared" in words_of(app), "there are no kernels")
        place.write_text(whole)
        await pilot.press("r")
        await settled(pilot, screen)
        assert "faster than base" in words_of(app)
        place.write_text("broken")
        await pilot.press("r")
        await settled(pilot, screen)
        assert "! " in words_of(app)
        assert "1.0" in screen_text(app), "the table of before"
        Path("study.toml").write_text("[configurations]\n")
        await pilot.press("r")
        await settled(pilot, screen)
        assert "study.toml: " in words_of(app)


async def test_reading_is_cancelled_and_begun_anew(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    made()
    read, ended = speedup_details.read_speedups, threading.Event()

    def never_ending(_: object, progress: Progress) -> None:
        try:
            while not ended.wait(0.01):
                progress(1, 4, "reading slowly")
        finally:
            ended.set()

    monkeypatch.setattr(speedup_details, "read_speedups", never_ending)
    speedups = SpeedupOptions(plan="study.toml")
    async with opened(None, view="Speedups", speedups=speedups) as (app, pilot):
        await wait_for(pilot, lambda: "reading slowly, 25 %; esc cancels" in words_of(app), "it reads")
        await pilot.press("e")
        await wait_for(pilot, lambda: words_of(app).endswith("25 %; esc cancels"), "it says why not")
        await pilot.press("escape")
        await wait_for(pilot, ended.is_set, "the worker stops")
        await wait_for(
            pilot, lambda: "Not read: the results of study.toml" in words_of(app), "nothing is there"
        )
        monkeypatch.setattr(speedup_details, "read_speedups", read)
        await pilot.press("r")
        await wait_for(pilot, lambda: "faster than base" in words_of(app), "it is compared")


# What is asked for.


async def test_with_no_results_it_says_how_to_get_them_and_takes_them(made: Made) -> None:
    made()
    async with opened("one.csv", options=columns()) as (app, pilot):
        await pilot.press("8")
        await wait_for(pilot, lambda: "Nothing is compared yet. [o] asks for" in words_of(app), "how")
        await pilot.press("Y")
        await wait_for(pilot, lambda: "nothing is compared; o asks" in words_of(app), "no command")
        await typed(app, pilot, "base=out/base/one.csv gto=out/gto/one.csv", "none.json")
        screen = view_of(app)
        assert isinstance(screen, SpeedupsScreen)
        await wait_for(pilot, lambda: "! none.json" in words_of(app), "there is no such plan")
        await typed(app, pilot, None, "one.json")
        await wait_for(pilot, lambda: "gto is 3" in words_of(app), "it is compared")


async def test_a_configuration_is_added_behind_those_of_before(made: Made) -> None:
    made()
    expected = summary("one.json", *results("one"))
    async with comparing("one.json", *results("one", "base", "gto"), profile="one.csv") as (
        app,
        pilot,
        screen,
    ):
        assert "1 program, 2 configurations" in words_of(app)
        assert "[3] Options" not in screen_text(app), "its own view is shown"
        await pilot.press("o")
        field = app.focused
        assert isinstance(field, Input)
        assert field.value == "base=out/base/one.csv gto=out/gto/one.csv "
        await pilot.press(*"lat=", "enter")
        await wait_for(pilot, lambda: "names no configuration" in words_of(app), "what is refused stays")
        await pilot.press(*"out/lat/one.csv", "enter")
        await settled(pilot, screen)
        await wait_for(pilot, lambda: "3 configurations" in words_of(app), "it is there")
        (program,) = expected["programs"]
        for cell in program["cells"][1:]:
            figures = f"{cell['configuration']} {cell['speedup']:.4f} {cell['low']:.4f}-{cell['high']:.4f}"
            assert figures in words_of(app)
        await pilot.press("Y")
        assert app.clipboard == shlex.join(["kernelpoint", "speedup", "one.json", *results("one")])


async def test_configurations_that_are_named_in_view_3_are_compared_here(made: Made) -> None:
    made()
    async with opened("one.csv", view="Plan", options=columns()) as (app, pilot):
        await wait_for(pilot, lambda: "e Export" in screen_text(app), "the plan is drawn")
        await typed(app, pilot, " ".join(results("one")), "one.json")
        await wait_for(pilot, lambda: "[8] one.json" in words_of(app), "view 8 opens")
        await wait_for(pilot, lambda: "gto is 3" in words_of(app), "it is compared")
        await pilot.press("3")
        await wait_for(pilot, lambda: "[3] Options" in screen_text(app), "nothing is left over view 3")
        await pilot.press("o")
        await wait_for(pilot, lambda: isinstance(app.focused, Input), "it asks")
        await pilot.press("ctrl+a", "ctrl+k", *"base=x", "enter")
        await wait_for(pilot, lambda: "base is compared with nothing" in words_of(app), "what is refused")


async def typed(app: App, pilot: Running, results: str | None, plan: str) -> None:
    """Type the results, or keep those that are there, and the plan they are of."""
    await pilot.press("o")
    await wait_for(pilot, lambda: isinstance(app.focused, Input), "it asks")
    if results is not None:
        await pilot.press("ctrl+a", "ctrl+k", *results)
    while not isinstance(app.focused, Input) or app.focused.id != "plan":
        await pilot.press("down")
    await pilot.press("ctrl+a", "ctrl+k", *plan, "enter")


def columns() -> OpenOptions:
    return OpenOptions().with_request(columns="name=name,duration_ns=duration_ns")


@pytest.mark.parametrize(
    ("results", "plan", "message"),
    [
        ("", "plan.json", "no results are named"),
        ("base=a", "plan.json", "base is compared with nothing"),
        ("base=a 'gto=b", "plan.json", "no closing quotation"),
        ("base=a gto=b", "", "the name of a plan file is meant"),
        ("base=a gto=b", "study.toml", "study.toml says itself where results are"),
        ("base=a gto", "plan.json", "'gto' names no configuration"),
    ],
)
def test_what_cannot_be_compared(results: str, plan: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        options_typed({"results": results, "plan": plan}, None)


def test_other_options_stay() -> None:
    before = SpeedupOptions(plan="a.json", results=("a=b", "c=d"), same_within=0.1)
    options = options_typed({"results": "", "plan": "study.toml"}, before)
    assert options == replace(before, plan="study.toml", results=())


# What comes next.


async def test_the_command_that_simulates_more_of_a_study_is_copied(made: Made) -> None:
    made(head="[study]\ntarget = 0.0001")
    async with comparing() as (app, pilot, _):
        assert "\nNext: [e] copies the command that simulates more of the study.\n" in screen_text(app)
        await pilot.press("e")
        assert app.clipboard == "kernelpoint run study.toml"


async def test_a_larger_plan_tells_what_is_open_and_is_exported(made: Made) -> None:
    made(spread=0.2)
    texts = results("one")
    async with comparing("one.json", *texts, profile="one.csv") as (app, pilot, screen):
        assert "Next: [e] draws the launches that tell more" in words_of(app)
        await pilot.press("e")
        await wait_for(pilot, lambda: "Export for accel-sim" in words_of(app), "it asks where to")
        assert Path("more.json").exists()
        printed(f"kernelpoint speedup one.json {' '.join(texts)} --top-up same.json", 80, Path.cwd())
        assert Path("more.json").read_bytes() == Path("same.json").read_bytes()
        await pilot.press("escape")
        await wait_for(pilot, lambda: "[e] hands more.json to a simulator" in words_of(app), "what is next")
        await pilot.press("e", "up")
        while "Export for csv" not in words_of(app):
            await pilot.press("up")
        await pilot.press("enter")
        await wait_for(pilot, lambda: "kernelpoint speedup csv-export" in words_of(app), "it is written")
        assert not Path("more-2.json").exists(), "it is drawn once"
        await pilot.press("o")
        assert "Plan: more.json" in words_of(app)
        assert screen.state is not None


# Where it is shown.


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (60, 15), (200, 60)])
async def test_every_size_has_the_answer_and_the_table_in_ascii(made: Made, size: tuple[int, int]) -> None:
    made()
    async with comparing(size=size, ascii_only=True) as (app, pilot, screen):
        text = screen_text(app)
        assert text.isascii()
        assert "gto is 3.3 % faster than base (" in words_of(app)
        assert "one             0." in text
        assert "+-" in text
        await pilot.press("tab")
        await wait_for(pilot, lambda: "===" in screen_text(app), "the bars have their rows")
        await pilot.press("enter")
        await settled(pilot, screen)
        assert "kernel_" in screen_text(app)
        await resized(app, pilot, 80, 24)
        assert screen_text(app).isascii()


async def test_configurations_that_have_no_room_come_into_sight_with_the_cursor(made: Made) -> None:
    made()
    texts = [f"{name}{number}=out/{name}/one.csv" for number in range(3) for name in CONFIGURATIONS]
    lines = Path("study.toml").read_text().replace("[programs.one]", "[configurations.far]\n[programs.one]")
    Path("study.toml").write_text(lines)
    async with comparing(size=(50, 20)) as (app, pilot, screen):
        await wait_for(pilot, lambda: "columns 1-2 of 3" in words_of(app), "two have room")
        await pilot.press("l", "l")
        await wait_for(pilot, lambda: "columns 2-3 of 3" in words_of(app), "the last two")
        assert screen.query_one(Matrix).column == 2
        await pilot.press("l")
        assert screen.query_one(Matrix).column == 2
    async with comparing("one.json", *texts, size=(60, 15)) as (app, _, _screen):
        assert "9 configurations" in words_of(app)


async def test_colours_say_nothing_alone(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    made()
    async with comparing() as (app, _, _screen):
        assert {"color(1)", "color(2)"} <= colours(app)
        assert {"▲", "▼"} <= set(screen_text(app))
    monkeypatch.setenv("NO_COLOR", "1")
    async with comparing() as (app, _, _screen):
        assert colours(app) == set()


async def test_the_sentences_have_the_focus_by_their_key(made: Made) -> None:
    made()
    async with comparing(size=(47, 15)) as (app, pilot, screen):
        await pilot.press("f")
        assert app.focused is screen.query_one(Page)
        await wait_for(pilot, lambda: "tab j more" in words_of(app), "there is more")
        await pilot.press("G")
        await wait_for(pilot, lambda: "for all together." in words_of(app), "it is read")
        assert "0.9432" in screen_text(app), "beside the table"


def test_what_stays_in_the_terminal_is_the_command() -> None:
    session = replace(open_session((), OpenOptions(ascii=True)), speedups=SpeedupOptions(plan="a study.toml"))
    assert wording.farewell(session) == "kernelpoint speedup 'a study.toml' --ascii"
