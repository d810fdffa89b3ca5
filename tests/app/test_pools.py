"""Small kernel groups that are planned as one, in the views."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sampling.plan.design import Design
from sampling.splitting.tree import Verdict
from tests.app.driving import (
    App,
    opened,
    printed,
    study_in,
    view_of,
    wait_for,
)
from tests.app.test_view_split_tree import press, settled, stop_in
from tui.app.split_tree import SplitTreeScreen

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
        assert key == study_in(app).counts.groups[members[-1]].key
        assert decided == {"": Verdict.KEEP}
        assert members[-1] not in pooled(app)
        design = design_in(app)
        assert design.groups is not None
        own = design.groups.group_of[members[-1]]
        assert (design.strata.group == own).sum() == 1, "one range, as decided"
        assert printed(view_of(app).command(), 80, tmp_path)
        await press(app, pilot, "u")
        assert app.session.overrides == {}
        assert design_in(app).speedup == speedup
        assert (pooled(app), strata_of_pool(app)) == (members, strata)
