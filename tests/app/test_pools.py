"""Small kernel groups that are planned as one, in the views."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sampling.plan.design import Design
from sampling.splitting.tree import Verdict
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
    view_of,
    wait_for,
)
from tests.app.plan_driving import details_of, details_without_app, retype, running
from tests.app.plan_driving import settled as plan_settled
from tests.app.test_view_split_tree import branches, card, copied, press, settled, stop_in
from tui.app.frame.chart import Chart
from tui.app.groups.columns import row_texts, table_columns
from tui.app.groups.panes import GroupTable
from tui.app.plan.presenter import plan_figures
from tui.app.split_tree.screen import SplitTreeScreen
from tui.charts.quantities import share
from tui.options.commands import OpenOptions

POOL = "(pooled kernels)"
POOL_BELOW = 0.01
"""The default: kernel groups of less of the time may be pooled."""


def design_in(app: App) -> Design:
    design = study_in(app).design
    assert isinstance(design, Design)
    return design


def strata_of_pool(app: App) -> int:
    """How many strata of the plan are of a pool."""
    design = design_in(app)
    assert design.groups is not None
    return int(design.groups.is_pool[design.strata.group].sum())


def pooled(app: App) -> list[int]:
    return np.flatnonzero(study_in(app).groups.pooled).tolist()


# View 1.


@pytest.mark.parametrize("size", SIZES)
async def test_pooled_kernel_groups_are_marked_in_view_1(gpt: str, size: tuple[int, int]) -> None:
    async with opened(gpt, size) as (app, pilot):
        study, marked = study_in(app), pooled(app)
        assert len(marked) > 1, "a pool of one is none"
        assert all(study.groups.share[group] < POOL_BELOW for group in marked)
        listed = app.screen.query_one(GroupTable).listed.groups
        columns = table_columns(study, size[0])
        rows = [row_texts(study, group, columns, ascii_only=False) for group in listed]
        for heading in {"strata", "drawn"} & rows[0].keys():
            for group, cell in zip(listed, (row[heading] for row in rows), strict=True):
                assert (cell == "pool") == (group in marked), (heading, group)
                assert cell == "pool" or int(cell) > 0, "every other kernel group has its own"
        await pilot.press("G")
        await wait_for(pilot, lambda: app.session.selected == listed[-1], "the last one")
        row = next(row for row in screen_text(app).splitlines() if row.lstrip().startswith(share_of(app)))
        assert " pool " in row or not {"strata", "drawn"} & rows[0].keys()
        assert max(map(len, screen_text(app).splitlines())) <= size[0]


def share_of(app: App) -> str:
    """How the selected group's row begins: its rank, or where that has no room its share."""
    selected = app.session.selected
    assert selected is not None
    rank = f"#{selected + 1} "
    is_ranked = any(row.lstrip().startswith(rank) for row in screen_text(app).splitlines())
    return rank if is_ranked else share(float(study_in(app).groups.share[selected]))


async def test_a_pooled_kernel_group_has_its_own_histogram(gpt: str) -> None:
    async with opened(gpt) as (app, pilot):
        await pilot.press("G")
        group = pooled(app)[-1]
        await wait_for(pilot, lambda: app.session.selected == group, "the last one")
        _, launches = study_in(app).counts.group_pairs(group)
        await wait_for(
            pilot,
            lambda: f"  {int(launches.sum())} launches" in drawn(app.screen.query_one(Chart)),
            "its launches alone, not those of the pool",
        )


# View 2.


@asynccontextmanager
async def at_the_pool(path: str, **given: Any) -> AsyncIterator[tuple[App, Running]]:
    """The app in view 2, entered from the last row of view 1."""
    async with opened(path, **given) as (app, pilot):
        await pilot.press("G")
        await wait_for(pilot, lambda: app.session.selected == pooled(app)[-1], "the last one")
        await pilot.press("enter")
        await wait_for(pilot, lambda: isinstance(app.screen, SplitTreeScreen), "view 2")
        await settled(app, pilot)
        yield app, pilot


async def test_a_pooled_kernel_group_leads_to_the_tree_of_its_pool(gpt: str, tmp_path: Path) -> None:
    async with at_the_pool(gpt) as (app, pilot):
        members = pooled(app)
        launches = int(study_in(app).groups.launches[members].sum())
        assert stop_in(app).name == f"pool of {len(members)} kernel groups"
        title = screen_text(app).splitlines()[2]
        assert f"[2] pool of {len(members)} decision 1, root: " in title
        assert "[m] joint, the plan's" in title
        assert card(app).startswith(f"root: {launches} launches, ")
        await press(app, pilot, "e")
        assert f"[2] pool of {len(members)} " in screen_text(app).splitlines()[2]
        assert f"all: {launches} launches, " in card(app)
        text, command = await copied(app, pilot)
        assert f"pool of {len(members)} kernel groups" in text
    assert printed(command, 80, tmp_path) == text


async def test_the_walk_goes_through_own_groups_and_pools(gpt: str) -> None:
    async with at_the_pool(gpt) as (app, pilot):
        members = pooled(app)
        own = len(study_in(app).counts.groups) - len(members)
        assert stop_in(app).group == own, "the pool is after the kernel groups of their own"
        await press(app, pilot, "right_curly_bracket")
        assert stop_in(app).group == own, "and the last"
        await press(app, pilot, "left_curly_bracket")
        assert stop_in(app).name == f"#{own}"
        assert app.session.selected == own - 1
        await press(app, pilot, "right_curly_bracket")
        assert app.session.selected == members[0], "view 1 is at the pool's largest"
        await press(app, pilot, "E")
        running = stop_in(app).running
        assert running is not None
        assert running.speedup == pytest.approx(design_in(app).speedup)


async def test_a_decision_on_a_pool_makes_the_plan_and_is_taken_back(gpt: str, tmp_path: Path) -> None:
    async with at_the_pool(gpt) as (app, pilot):
        speedup, members, strata = design_in(app).speedup, pooled(app), strata_of_pool(app)
        ahead = stop_in(app).ahead
        assert ahead is not None
        assert (ahead.verdict is Verdict.KEEP) == (strata == 1)
        key, verdict = ("plus", Verdict.SPLIT) if strata == 1 else ("minus", Verdict.KEEP)
        await press(app, pilot, key)
        (pool, decided) = next(iter(app.session.overrides.items()))
        assert pool.startswith(POOL)
        assert decided == {"": verdict}
        assert pooled(app) == members, "what is decided on stays pooled"
        assert (strata_of_pool(app) == 1) == (verdict is Verdict.KEEP)
        assert stop_in(app).nodes[0].overridden
        assert f"pool of {len(members)} kernel groups root " in screen_text(app)
        assert "! split" in branches(app)[1] or "! keep" in branches(app)[1]
        command = view_of(app).command()
        assert printed(command, 80, tmp_path)
        await press(app, pilot, "u")
        assert app.session.overrides == {}
        assert design_in(app).speedup == speedup
        assert (pooled(app), strata_of_pool(app)) == (members, strata)


# View 3.


async def test_view_3_says_what_is_promised_and_pooled(gpt: str) -> None:
    async with running(gpt) as (app, pilot):
        design, study = design_in(app), study_in(app)
        promised = share(design.bound_with_noise)  # type: ignore[arg-type]
        members = pooled(app)
        part = share(float(study.groups.share[members].sum()))
        for size in SIZES:
            await resized(app, pilot, *size)
            await plan_settled(app, pilot)
            text = screen_text(app)
            promise, part_of = promised, f"{len(members)} of {len(study.counts.groups)}"
            if size[0] >= 80:
                part_of = f"{part_of} groups, {part}"
                assert re.search(f" promise   {promise} met, of (the )?simulated total", text)
            assert f" promise   {promise} met" in text
            assert f" pooled    {part_of}" in text
            figures = [row[34:] for row in text.splitlines()[3:13]]
            assert size[0] >= 80 or not any("…" in row for row in figures), "no word is cut"
            assert " floor " not in text, "not every kernel group is visited"
        await retype(pilot, app, "pool_below", "0")
        await wait_for(pilot, lambda: app.session.options.pool_below == 0.0, "nothing is pooled")
        await plan_settled(app, pilot)
        assert pooled(app) == []
        assert " pooled " not in screen_text(app)
        assert " floor " in screen_text(app)


def test_what_is_pooled_has_wordings_for_narrow_panes(gpt: str) -> None:
    """Of many kernel groups 80 columns have no room for a sentence."""
    forms = dict(plan_figures(details_without_app(gpt)))["pooled"]
    assert forms[-3:] == ("6 of 22 groups, 1.8 %", "6 of 22 groups", "6 of 22")
    assert sorted(map(len, forms), reverse=True) == list(map(len, forms))


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [("kernel_spread", "0.5", 0.5), ("pool_below", "0.05", 0.05), ("min_freedom", "0", 0.0)],
)
async def test_the_options_of_pools_are_edited(gpt: str, name: str, typed: str, value: float) -> None:
    async with running(gpt) as (app, pilot):
        before = design_in(app).speedup
        await retype(pilot, app, name, typed)
        await wait_for(pilot, lambda: getattr(app.session.options, name) == value, "the option")
        await plan_settled(app, pilot)
        assert f"> {name.replace('_', '-'):<16} {typed}" in screen_text(app)
        assert design_in(app).speedup == details_without_app(gpt, None, **{name: value}).plan.design.speedup
        assert design_in(app).speedup != before
        assert details_of(app).study is study_in(app)


async def test_no_method_but_joint_pools(gpt: str) -> None:
    async with opened(gpt, options=OpenOptions(method="root")) as (app, _):
        assert pooled(app) == []
        assert " pool " not in screen_text(app)
