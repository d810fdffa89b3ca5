"""View 2: the walk through the decisions, and decisions of the user, of pooled kernel groups too."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sampling.plan.design import Design
from sampling.plan.request import PlanRequest
from sampling.plan.split_stepper import SplitStepper
from sampling.reduction import GroupBy
from sampling.splitting.tree import Verdict
from sampling.strata.target import Target
from tests.app.driving import (
    App,
    Running,
    draft_in,
    drawn,
    opened,
    printed,
    resized,
    screen_text,
    view_of,
    wait_for,
)
from tui.app.split_tree import SplitTreeScreen
from tui.app.widgets import Chart, Line
from tui.options.look import OpenOptions
from tui.text.tree import TreeSnapshot

ROOT = OpenOptions(request=PlanRequest(method="root"))
RICH = OpenOptions(request=PlanRequest(method="root", group_by=GroupBy.NAME, epsilon=0.01))
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


def stop_in(app: App) -> TreeSnapshot:
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


def walk_like(app: App, method: str = "root") -> SplitStepper:
    """A walk of the engine's by the session's options, at its start."""
    options = app.session.options
    return SplitStepper(
        draft_in(app).counts, method, Target(options.request.epsilon), overrides=app.session.overrides
    )


def figures(app: App) -> str:
    return app.screen.query_one("#running", Line).text


def branches(app: App) -> list[str]:
    return drawn(app.screen.query_one("#branches", Chart)).split("\n")


async def test_stepping_forward_and_back_goes_the_engines_way(gpt: str) -> None:
    async with walking(gpt, options=RICH.with_request(epsilon=0.05)) as (app, pilot):
        walk = walk_like(app)
        while True:
            stop = stop_in(app)
            assert (stop.group, stop.nodes, stop.pending) == (walk.group, walk.nodes, walk.pending)
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
            assert (place(app), stop_in(app).pending) == ((walk.group, walk.steps_done), walk.pending)
        await press(app, pilot, "left")
        assert place(app) == (0, 0)
        assert steps > 3


async def test_group_by_group_and_to_the_ends(gpt: str) -> None:
    async with walking(gpt) as (app, pilot):
        last = len(draft_in(app).counts.groups) - 1
        whole = walk_like(app)
        whole.finish_group()
        await press(app, pilot, "left_curly_bracket")
        assert place(app) == (0, 0), "there is none before the first"
        await press(app, pilot, "e")
        assert place(app) == (0, whole.steps_done)
        assert "all" in screen_text(app).split("\n")[2]
        await press(app, pilot, "right_curly_bracket", "right_curly_bracket")
        assert place(app) == (2, 0)
        await press(app, pilot, "left_curly_bracket")
        assert place(app) == (1, 0)
        await press(app, pilot, "E")
        assert place(app)[0] == last
        assert stop_in(app).pending is None
        running = stop_in(app).running
        whole.finish()
        assert running is not None
        assert whole.design.promise is not None
        assert (running.speedup, running.bound) == (whole.design.speedup, whole.design.promise.bound)
        await press(app, pilot, "right_square_bracket", "right_curly_bracket")
        assert place(app)[0] == last


async def test_splitting_what_would_be_kept_and_taking_it_back(gpt: str) -> None:
    async with walking(gpt, options=RICH) as (app, pilot):
        await press(app, pilot, "e")
        nodes = stop_in(app).nodes
        leaf = next(
            node for node in reversed(nodes) if node.verdict is Verdict.KEEP and node.stop - node.start > 1
        )
        await press(app, pilot, *["k"] * (len(nodes) - leaf.index), "plus")
        key = draft_in(app).counts.groups[0].key
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
        shown, walked = draft_in(app).design.promise, walk_like(app).design.promise
        assert shown is not None
        assert walked is not None
        assert shown.bound == pytest.approx(walked.bound)
        assert view(app).method == "root"


async def test_a_decision_in_trees_looked_at_makes_the_plan_one_by_their_method(
    gpt: str, tmp_path: Path
) -> None:
    async with walking(gpt, options=OpenOptions(request=PlanRequest(method="random"))) as (app, pilot):
        key = draft_in(app).counts.groups[0].key
        await pilot.press("plus")
        await wait_for(pilot, lambda: "by root now; u goes back" in screen_text(app), "it is said")
        await settled(app, pilot)
        assert app.session.overrides == {key: {"": Verdict.SPLIT}}
        assert app.session.request.method == draft_in(app).design.method == "root"
        assert "[m] root, the plan's" in screen_text(app)
        await pilot.press("plus")
        await wait_for(pilot, lambda: "split by you; u takes it back" in screen_text(app), "so is this")
        await settled(app, pilot)
        assert len(app.session.overrides[key]) == 2
        await pilot.press("u", "u")
        await wait_for(pilot, lambda: "taken back, by random again" in screen_text(app), "it is said")
        await settled(app, pilot)
        assert app.session.overrides == {}
        assert app.session.request.method == draft_in(app).design.method == "random"
        assert "[m] root, not the plan's" in screen_text(app)
        assert not list(tmp_path.glob("*.json")), "no file is written that was not asked for"


@pytest.mark.parametrize(
    ("method", "use"),
    [("root", "the plan is split so"), ("joint", "the plan, by joint, takes your cuts alone")],
)
async def test_it_says_whose_trees_they_are_and_whether_the_plan_is_split_so(
    gpt: str, method: str, use: str
) -> None:
    async with walking(gpt, (120, 40), options=OpenOptions(request=PlanRequest(method=method))) as (
        app,
        pilot,
    ):
        for of_trees, words in (("root", use), ("stem", f"the plan, by {method}, takes your cuts alone")):
            await wait_for(pilot, lambda: f"[m] {of_trees}, " in screen_text(app), "their title")  # noqa: B023
            text = screen_text(app)
            assert f"[tab] Tree of {of_trees} so far" in text
            assert words in text
            whose = of_trees if of_trees == method else f"By {of_trees}, not the plan"
            assert re.search(f"(?m)^{whose}: .* bounds: ", text)
            await pilot.press("m")


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
            OpenOptions(
                ascii=True,
                request=PlanRequest(method="root", group_by=GroupBy.PUBLISHED, set=("root.k_max=3",), seed=7),
            ),
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
        design = draft_in(app).design
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


"""The default: kernel groups of less of the time may be pooled."""


def design_in(app: App) -> Design:
    design = draft_in(app).design
    assert isinstance(design, Design)
    return design


def strata_of_pool(app: App) -> int:
    """How many strata of the plan are of a pool."""
    design = design_in(app)
    return int(design.groups.is_pool[design.strata.group].sum())


def pooled(app: App) -> list[int]:
    return np.flatnonzero(draft_in(app).groups.pooled).tolist()


# View 1.


# View 2.


async def test_a_decision_on_a_pooled_kernel_group_takes_it_out_of_the_pool(gpt: str, tmp_path: Path) -> None:
    async with opened(gpt) as (app, pilot):
        speedup, members, strata = design_in(app).speedup, pooled(app), strata_of_pool(app)
        await pilot.press("G")
        await wait_for(pilot, lambda: app.session.selected == members[-1], "the last one")
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(app.screen, SplitTreeScreen), "view 2")
        await settled(app, pilot)
        assert stop_in(app).name == f"#{members[-1] + 1}", "its own tree, not one of the pool"
        await press(app, pilot, "minus")
        ((key, decided),) = app.session.overrides.items()
        assert key == draft_in(app).counts.groups[members[-1]].key
        assert decided == {"": Verdict.KEEP}
        assert members[-1] not in pooled(app)
        design = design_in(app)
        own = design.groups.group_of[members[-1]]
        assert (design.strata.group == own).sum() == 1, "one range, as decided"
        assert printed(view_of(app).command(), 80, tmp_path)
        await press(app, pilot, "u")
        assert app.session.overrides == {}
        assert design_in(app).speedup == speedup
        assert (pooled(app), strata_of_pool(app)) == (members, strata)
