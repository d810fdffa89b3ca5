"""View 3 on a recorded profile."""

from __future__ import annotations

from pathlib import Path

from tests.app.driving import resized, wait_for
from tests.app.plan_driving import pane_rows, running, shows_findings
from tui.app.plan_details import PlanPane


async def test_every_detail_of_a_real_profile_is_there(shared_data: Path) -> None:
    async with running(str(shared_data / "kineto/v100-resnet50-training.json.gz")) as (app, pilot):
        for size in ((80, 24), (120, 40)):
            await resized(app, pilot, *size)
            for pane, first in (
                (PlanPane.STRATA, "stratum  launches"),
                (PlanPane.LAUNCHES, "launch  stratum"),
                (PlanPane.FINDINGS, "  i "),
            ):
                await pilot.press("t")
                await wait_for(
                    pilot,
                    lambda pane=pane, first=first: first in "\n".join(pane_rows(app, pane)[:2]),  # type: ignore[misc]
                    f"the first rows of {pane}",
                )
                assert all(pane_rows(app, pane)[:8]), "and those after them"
            assert shows_findings(app)
            # Past what binds, to the trade-off again.
            await pilot.press("t", "t")
