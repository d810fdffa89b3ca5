"""View 2 under a pilot: stepping, the user's own decisions, and the command that prints the same."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sampling.plan.design import Design
from sampling.plan.walk import TreeWalk
from sampling.reduction import GroupBy
from sampling.splitting.tree import Verdict
from sampling.strata.strata import group_bounds
from sampling.strata.target import Target
from tests.app.driving import (
    SIZES,
    App,
    Running,
    drawn,
    opened,
    printed,
    resized,
    screen_text,
    study_in,
    wait_for,
)
from tui.app import split_tree, tree_walk
from tui.app.actions import actions_of
from tui.app.frame.chart import Chart
from tui.app.frame.line import Line
from tui.app.frame.page import help_text
from tui.app.split_tree import SplitCard, SplitTreeScreen
from tui.charts.quantities import share
from tui.options.look import OpenOptions
from tui.text.tree import TreeStop

ROOT = OpenOptions(method="root")
RICH = OpenOptions(method="root", group_by=GroupBy.NAME, epsilon=0.01)
"""Kernel groups whose trees are deep."""


@asynccontextmanager
async def walking(
    path: str, size: tuple[int, int] = (80, 24), **given: Any
) -> AsyncIterator[tuple[App, Running]]:
    """The app in view 2, its walk begun and drawn; the plan is by root if nothing else is asked."""
    async with opened(path, size, view="Split tree", **{"options": ROOT, **given}) as (app, pilot):
        await settled(app, pilot)
        yield app, pilot


def view(app: App) -> SplitTreeScreen:
    assert isinstance(app.screen, SplitTreeScreen)
    return app.screen


def stop_in(app: App) -> TreeStop:
    stop = view(app).looked_at
    assert stop is not None
    return stop


def place(app: App) -> tuple[int, int]:
    """The group, and how many decisions on it are taken."""
    return stop_in(app).group, len(stop_in(app).nodes)


async def settled(app: App, pilot: Running) -> None:
    """Wait until nothing is left to do, and the histogram is that of the node in focus."""
    screen = view(app)

    def is_settled() -> bool:
        return screen.looked_at is not None and screen.is_settled and app.session.doing is None

    still = 0
    while still < 2:
        # What a worker has sent last may still wait to be handled, and ask for more.
        await pilot.pause()
        still = still + 1 if is_settled() else 0
        await wait_for(pilot, is_settled, "nothing is left to do")


async def press(app: App, pilot: Running, *keys: str) -> None:
    await pilot.press(*keys)
    await settled(app, pilot)


async def copied(app: App, pilot: Running) -> tuple[str, str]:
    """What `y` and then `Y` copy."""
    await pilot.press("y")
    text = app.clipboard
    await pilot.press("Y")
    return text, app.clipboard


def walk_like(app: App, method: str = "root") -> TreeWalk:
    """A walk of the engine's by the session's options, at its start."""
    options = app.session.options
    return TreeWalk(study_in(app).counts, method, Target(options.epsilon), overrides=app.session.overrides)


def figures(app: App) -> str:
    return app.screen.query_one("#running", Line).text


def card(app: App) -> str:
    widget = app.screen.query_one(SplitCard)
    return "\n".join(widget.render_line(row).text.rstrip() for row in range(widget.size.height)).rstrip()


def branches(app: App) -> list[str]:
    return drawn(app.screen.query_one("#branches", Chart)).split("\n")


async def test_stepping_forward_and_back_goes_the_engines_way(gpt: str) -> None:
    async with walking(gpt, options=replace(RICH, epsilon=0.05)) as (app, pilot):
        walk = walk_like(app)
        while True:
            stop = stop_in(app)
            assert (stop.group, stop.nodes, stop.ahead) == (walk.group, walk.nodes, walk.ahead)
            assert stop.running == walk.running
            assert app.session.selected == walk.group
            if walk.group == 1:
                break
            walk.step()
            await press(app, pilot, "right_square_bracket")
        steps = 0
        while walk.back():
            steps += 1
            await press(app, pilot, "left_square_bracket" if steps % 2 else "left")
            assert (place(app), stop_in(app).ahead) == ((walk.group, walk.taken), walk.ahead)
        await press(app, pilot, "left")
        assert place(app) == (0, 0)
        assert steps > 3


async def test_group_by_group_and_to_the_ends(gpt: str) -> None:
    async with walking(gpt) as (app, pilot):
        last = len(study_in(app).counts.groups) - 1
        whole = walk_like(app)
        whole.finish_group()
        await press(app, pilot, "left_curly_bracket")
        assert place(app) == (0, 0), "there is none before the first"
        await press(app, pilot, "e")
        assert place(app) == (0, whole.taken)
        assert "all" in screen_text(app).split("\n")[2]
        await press(app, pilot, "right_curly_bracket", "right_curly_bracket")
        assert place(app) == (2, 0)
        await press(app, pilot, "left_curly_bracket")
        assert place(app) == (1, 0)
        await press(app, pilot, "E")
        assert place(app)[0] == last
        assert stop_in(app).ahead is None
        assert figures(app).startswith("All split")
        running = stop_in(app).running
        whole.finish()
        assert running is not None
        assert (running.speedup, running.bound) == (whole.design.speedup, whole.design.bound)
        await press(app, pilot, "right_square_bracket", "right_curly_bracket")
        assert place(app)[0] == last


async def test_a_stop_is_told_in_words_and_numbers(gpt: str) -> None:
    async with walking(gpt, options=RICH) as (app, pilot):
        node = stop_in(app).ahead
        assert node is not None
        assert node.verdict is Verdict.SPLIT
        shown = screen_text(app)
        at = f"{node.threshold_ns / 1000:.1f} us"  # type: ignore[operator]
        assert f"┊ split at {at}" in shown
        assert f"proposed: split; {node.reason}" in " ".join(card(app).split())
        assert f"{node.launches:,} launches" in card(app)
        assert "tau old" in card(app)
        assert "tau new" in card(app)
        assert branches(app)[1].startswith("> root")
        assert f"? split at {at}" in branches(app)[1]
        running = stop_in(app).running
        assert running is not None
        assert f"{running.samples:,} samples" in figures(app)
        assert "bounds: total" in figures(app)
        await press(app, pilot, "right_square_bracket")
        assert [row[:6].rstrip() for row in branches(app)[1:3]] == ["  root", "> └─ L"]
        assert "after" not in screen_text(app)


async def test_the_cursor_looks_at_decisions_that_are_taken(gpt: str) -> None:
    async with walking(gpt, options=RICH) as (app, pilot):
        await press(app, pilot, *["right"] * 4)
        nodes = stop_in(app).nodes
        for index in (3, 2, 1, 0, 0):
            await press(app, pilot, "k")
            assert stop_in(app).node == nodes[index]
            assert f"decision {index + 1} of 4 so far" in screen_text(app)
            assert card(app).startswith(f"{nodes[index].path or 'root'}: ")
            assert (
                next(row for row in branches(app) if row.startswith(">"))[2:]
                .strip(" └├─│")
                .startswith(nodes[index].path or "root")
            )
        await press(app, pilot, "j", "j")
        assert stop_in(app).node == nodes[2]
        await press(app, pilot, "down", "down", "down")
        assert stop_in(app).node == stop_in(app).ahead
        await press(app, pilot, "k", "right")
        assert stop_in(app).node == stop_in(app).ahead, "a step goes back to what comes next"
        await press(app, pilot, "e")
        await wait_for(pilot, lambda: stop_in(app).ahead is None, "the end")
        await press(app, pilot, "k")
        assert stop_in(app).node == stop_in(app).nodes[-1]
        await press(app, pilot, "j")
        assert stop_in(app).node is None


async def test_keeping_what_would_be_split(gpt: str) -> None:
    async with walking(gpt, options=RICH) as (app, pilot):
        key = study_in(app).counts.groups[0].key
        await press(app, pilot, "minus")
        assert app.session.overrides == {key: {"": Verdict.KEEP}}
        kept = study_in(app).design
        assert isinstance(kept, Design)
        assert (kept.strata.group == 0).sum() == 1
        # Its sizes hold the bound by their variance; what draws reach, which is printed, may be more.
        assert group_bounds(kept.strata, 0.95).max() <= 0.01 * (1 + 1e-9)
        assert place(app) == (0, 1), "the decision is taken"
        assert stop_in(app).nodes[0].overridden
        assert "! keep" in branches(app)[1]
        await press(app, pilot, "k")
        assert "decided by the user (keep); the rule: split" in card(app)


async def test_splitting_what_would_be_kept_and_taking_it_back(gpt: str) -> None:
    async with walking(gpt, options=RICH) as (app, pilot):
        await press(app, pilot, "e")
        nodes = stop_in(app).nodes
        leaf = next(
            node for node in reversed(nodes) if node.verdict is Verdict.KEEP and node.stop - node.start > 1
        )
        await press(app, pilot, *["k"] * (len(nodes) - leaf.index), "plus")
        key = study_in(app).counts.groups[0].key
        assert app.session.overrides == {key: {leaf.path: Verdict.SPLIT}}
        assert len(stop_in(app).nodes) > len(nodes), "the group is still split to its end"
        assert stop_in(app).node is not None
        assert stop_in(app).node.path == leaf.path, "the cursor stays"  # type: ignore[union-attr]
        await press(app, pilot, "equals_sign", "u")
        assert app.session.overrides == {key: {leaf.path: Verdict.SPLIT}}, "the last one alone"
        await press(app, pilot, "u")
        assert app.session.overrides == {}
        assert stop_in(app).nodes == nodes
        await press(app, pilot, "u")
        await wait_for(pilot, lambda: "no decision of yours" in screen_text(app), "it is said")


async def test_decisions_in_a_hurry_are_all_taken(gpt: str) -> None:
    async with walking(gpt, options=RICH) as (app, pilot):
        await press(app, pilot, "plus", "minus", "minus", "u")
        (decided,) = app.session.overrides.values()
        assert decided == {"": Verdict.SPLIT, "L": Verdict.KEEP}
        assert study_in(app).design.bound == pytest.approx(
            walk_like(app).design.bound  # type: ignore[arg-type]
        )
        assert view(app).method == "root"


async def test_what_cannot_be_done_is_said(resnet: str) -> None:
    async with walking(resnet, selected=8) as (app, pilot):
        await press(app, pilot, "e")
        await wait_for(pilot, lambda: stop_in(app).ahead is None, "the end")
        await press(app, pilot, "k")
        node = stop_in(app).node
        assert node is not None
        assert node.launches == 1
        await press(app, pilot, "plus")
        await wait_for(pilot, lambda: "all its durations are equal" in screen_text(app), "why not")
        await press(app, pilot, "e", "minus")
        await wait_for(pilot, lambda: "split to its end; [ or k" in screen_text(app), "why not")
        assert app.session.overrides == {}
        assert place(app) == (8, 3)


async def test_cuts_in_the_trees_of_root_are_taken_into_the_plan_of_joint(gpt: str) -> None:
    async with walking(gpt, options=replace(RICH, method="joint")) as (app, pilot):
        assert view(app).method == "root"
        assert "[m] root, for joint" in screen_text(app)
        await press(app, pilot, "minus")
        assert app.session.options.method == "joint"
        assert (study_in(app).design.strata.group == 0).sum() == 1  # type: ignore[union-attr]
        assert stop_in(app).nodes[0].overridden


@pytest.mark.parametrize(
    ("of_plan", "in_turn"),
    [
        ("random", ["root", "stem", "allegro", "root"]),
    ],
)
async def test_the_trees_are_the_plans_and_others_are_for_study(
    gpt: str, of_plan: str, in_turn: list[str]
) -> None:
    async with walking(gpt, options=OpenOptions(method=of_plan)) as (app, pilot):
        for method in in_turn:
            assert view(app).method == method
            whose = "for study" if of_plan == "random" else f"for {of_plan}"
            assert f"[m] {method}, {'the plan' if method == of_plan else whose}" in screen_text(app)
            await press(app, pilot, "m")
        assert app.session.options.method == study_in(app).design.method == of_plan
        app.plan(replace(app.session.options, method="allegro"))
        await settled(app, pilot)
        assert view(app).method == "allegro", "the plan's own again"


async def test_a_decision_in_trees_for_study_makes_the_plan_one_by_their_method(
    gpt: str, tmp_path: Path
) -> None:
    async with walking(gpt, options=OpenOptions(method="random")) as (app, pilot):
        key = study_in(app).counts.groups[0].key
        await pilot.press("plus")
        await wait_for(pilot, lambda: "by root now; u goes back" in screen_text(app), "it is said")
        await settled(app, pilot)
        assert app.session.overrides == {key: {"": Verdict.SPLIT}}
        assert app.session.options.method == study_in(app).design.method == "root"
        assert "[m] root, the plan's" in screen_text(app)
        await pilot.press("plus")
        await wait_for(pilot, lambda: "split by you; u takes it back" in screen_text(app), "so is this")
        await settled(app, pilot)
        assert len(app.session.overrides[key]) == 2
        await pilot.press("u", "u")
        await wait_for(pilot, lambda: "taken back, by random again" in screen_text(app), "it is said")
        await settled(app, pilot)
        assert app.session.overrides == {}
        assert app.session.options.method == study_in(app).design.method == "random"
        assert "[m] root, for study" in screen_text(app)
        assert not list(tmp_path.glob("*.json")), "no file is written that was not asked for"


async def test_the_selected_group_is_that_of_view_1(gpt: str) -> None:
    async with walking(gpt) as (app, pilot):
        await press(app, pilot, "right_curly_bracket", "right_curly_bracket", "right_square_bracket")
        await pilot.press("1")
        await wait_for(pilot, lambda: app.screen.NAME == "Groups", "view 1")  # type: ignore[attr-defined]
        assert app.session.selected == 2
        await pilot.press("2")
        await settled(app, pilot)
        assert place(app) == (2, 1), "where it was left"
        await pilot.press("1")
        await wait_for(pilot, lambda: app.screen.NAME == "Groups", "view 1")  # type: ignore[attr-defined]
        app.change(selected=3)
        await pilot.press("2")
        await settled(app, pilot)
        assert place(app) == (3, 0)


async def test_every_size_has_all_that_matters(gpt: str) -> None:
    async with walking(gpt, options=RICH) as (app, pilot):
        for keys in ([], ["e", "k"], ["E"]):
            await press(app, pilot, *keys)
            for size in SIZES:
                await resized(app, pilot, *size)
                await settled(app, pilot)
                rows = screen_text(app).split("\n")
                assert max(map(len, rows)) <= size[0]
                stop = stop_in(app)
                assert f"[2] #{stop.group + 1} " in rows[2]
                assert rows[-3].rstrip() == figures(app).rstrip()
                assert "this" in figures(app)
                words = "split to its end" if stop.node is None else (stop.node.path or "root")
                assert words in card(app)
                if stop.node is not None:
                    assert any(row.startswith("> ") for row in branches(app))
                assert app.screen.query_one("#split-histogram", Chart).size.height >= 3


Steps = list[tuple[list[str], tuple[int, int]]]


@pytest.mark.parametrize(
    ("steps", "options"),
    [
        (
            [
                (["right"] * 3, (60, 15)),
                (["right", "right", "k", "k"], (120, 40)),
                (["m", "right", "k"], (100, 30)),
                (["m", "minus", "right_curly_bracket", "plus", "left"], (80, 24)),
            ],
            RICH,
        ),
        (
            [(["right_curly_bracket", "right"], (80, 24))],
            OpenOptions(method="root", ascii=True, group_by=GroupBy.PUBLISHED, set=("root.k_max=3",), seed=7),
        ),
    ],
)
async def test_the_copied_command_prints_what_is_copied(
    gpt: str, tmp_path: Path, steps: Steps, options: OpenOptions
) -> None:
    async with walking(gpt, options=options, ascii_only=options.ascii) as (app, pilot):
        for keys, size in steps:
            await resized(app, pilot, *size)
            await press(app, pilot, *keys)
            text, command = await copied(app, pilot)
            assert drawn(app.screen.query_one("#split-histogram", Chart)).strip()
            assert printed(command, size[0], tmp_path) == text
            assert ("--overrides kernelpoint-overrides-" in command) == bool(app.session.overrides)
            assert f"--decisions {len(stop_text(text))}" in command
        assert bool(app.session.overrides) == ("plus" in steps[-1][0])


def stop_text(text: str) -> list[str]:
    """The reasons of the decisions taken, one each, in a copied text."""
    blocks = text.rstrip("\n").split("\n\n")
    reasons = [line for block in blocks[3:] for line in block.split("\n")]
    return [line for line in reasons if re.match(r"(root|[LR]+): (split|keep), ", line)]


async def test_decisions_make_the_same_plan_by_command(gpt: str, tmp_path: Path) -> None:
    async with walking(gpt, options=RICH) as (app, pilot):
        await press(app, pilot, "minus", "right_curly_bracket", "right", "plus")
        _, command = await copied(app, pilot)
        design = study_in(app).design
        overrides = app.session.overrides
    file = command.split("--overrides ")[1].split()[0]
    words = f"kernelpoint sample {gpt} --group-by name --epsilon 0.01 --method root --judge 0 --seed 0"
    printed(f"{words} --overrides {file} -o plan.json", 80, tmp_path)
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert [row["key"] for row in plan["overrides"]] == list(overrides)
    assert [row["samples"] for row in plan["strata"]] == design.strata.samples.tolist()  # type: ignore[union-attr]
    printed(f"{words} --overrides plan.json -o again.json", 80, tmp_path)
    again = json.loads((tmp_path / "again.json").read_text())
    assert again["strata"] == plan["strata"]


async def test_many_durations_are_drawn_aside(gpt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()
    draw = split_tree.stop_histogram

    def noting(*given: Any, **how: Any) -> Any:
        threads.add(threading.current_thread())
        return draw(*given, **how)

    monkeypatch.setattr(split_tree, "DURATIONS_AT_ONCE", 0)
    monkeypatch.setattr(split_tree, "stop_histogram", noting)
    async with walking(gpt, options=RICH) as (app, pilot):
        chart = app.screen.query_one("#split-histogram", Chart)
        await wait_for(pilot, lambda: "split at" in drawn(chart), "the histogram of the root")
        first = drawn(chart)
        await press(app, pilot, "right")
        await wait_for(pilot, lambda: drawn(chart) != first, "that of the next node")
        assert threading.main_thread() not in threads


async def test_a_defect_ends_the_app_and_is_not_swallowed(gpt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a defect")

    async with walking(gpt) as (app, pilot):
        monkeypatch.setattr(tree_walk, "stop_of", broken)
        await pilot.press("right_square_bracket")
        await wait_for(pilot, lambda: app.failure is not None, "the app leaves")
        assert isinstance(app.failure, ZeroDivisionError)


def test_help_tells_every_key_and_what_the_running_lines_bounds_are() -> None:
    text = help_text(SplitTreeScreen.ABOUT, actions_of(*SplitTreeScreen.SCOPES), []).plain
    for words in (
        "split the node in focus",
        "take the decision ahead",
        "keep the node in focus whole",
        "to the next kernel group",
        "total is of the total time, worst group the largest of any kernel group's own time",
        "this group that of the group in focus",
    ):
        assert words in text


async def test_the_running_line_names_the_group_where_there_is_room(gpt: str) -> None:
    async with walking(gpt) as (app, pilot):
        running = stop_in(app).running
        assert running is not None
        bounds = (running.bound, running.worst_group_bound, running.group_bound)
        for size, wanted in (
            ((120, 40), "; bounds: total {}, worst group {}, this group {}"),
            ((80, 24), "samples; bounds: total {}, worst {}, this group {}"),
            ((60, 15), "; total {}, worst {}, this group {}"),
        ):
            await resized(app, pilot, *size)
            assert figures(app).endswith(wanted.format(*map(share, bounds)))


@pytest.mark.parametrize("key", ["plus", "minus"])
async def test_a_decision_against_the_proposal_goes_on_by_one(resnet: str, gpt: str, key: str) -> None:
    """The first decision of the one is to keep, that of the other to split."""
    options = ROOT if key == "plus" else RICH
    async with walking(resnet if key == "plus" else gpt, options=options) as (app, pilot):
        proposed = stop_in(app).ahead
        assert proposed is not None
        assert (proposed.verdict is Verdict.KEEP) == (key == "plus")
        await press(app, pilot, key)
        assert place(app) == (0, 1)
        ahead = stop_in(app).ahead
        assert (ahead is None) == (key == "minus"), "nothing is below what is kept"
        if ahead is not None:
            assert ahead.path == "L"
            assert "#1 decision 2, L" in screen_text(app)
