"""View 3: the plan saved and exported, as the commands do it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from sampling.errors import OptionError
from sampling.simulators.registry import exporter_names
from tests.app.driving import (
    printed,
    resized,
    screen_text,
    wait_for,
)
from tests.app.plan_driving import (
    details_without_app,
    form_of,
    running,
)
from tui.app.plan import details as plan_details
from tui.options.look import OpenOptions

# What leaves the app.


async def test_the_plan_is_saved_as_sample_writes_it(small: str) -> None:
    options = OpenOptions(epsilon=0.02, seed=5, method="root", exclude=("layer_norm",))
    line = "--epsilon 0.02 --seed 5 --method root --exclude layer_norm -o headless.json"
    printed(f"kernelpoint sample {shlex.quote(small)} {line}", 80, Path.cwd())
    async with running(small, options=options) as (app, pilot):
        for size in ((80, 24), (60, 15)):
            await resized(app, pilot, *size)
            await pilot.press("S")
            await wait_for(pilot, lambda: "Save the plan to a new file" in screen_text(app), "it asks")
            assert "File: plan.json" in screen_text(app)
            await pilot.press("enter")
            await wait_for(pilot, Path("plan.json").exists, "the plan is there")
            await wait_for(pilot, lambda: "plan written to plan.json" in screen_text(app), "and said")
            assert app.focused is form_of(app)
            assert Path("plan.json").read_bytes() == Path("headless.json").read_bytes()
            Path("plan.json").unlink()


def test_a_file_that_appears_meanwhile_is_not_overwritten(small: str) -> None:
    Path("late.json").write_text("mine")
    with pytest.raises(OptionError, match=r"late\.json exists"):
        plan_details.save_plan(details_without_app(small), Path("late.json"), lambda *_: None)
    assert Path("late.json").read_text() == "mine"


async def test_every_target_of_export_is_offered(small: str) -> None:
    async with running(small) as (app, pilot):
        await pilot.press("e")
        for name in exporter_names():
            await wait_for(pilot, lambda name=name: f"Export for {name}" in screen_text(app), name)  # type: ignore[misc]
            await pilot.press("down")
        await pilot.press("down", "enter")
        made = Path("accel-sim-export")
        await wait_for(pilot, (made / "README.txt").exists, "the folder is there")
        said = f"written: {len(list(made.iterdir()))} files in accel-sim-export"
        await wait_for(pilot, lambda: said in " ".join(screen_text(app).split()), "it is said")
    printed(f"kernelpoint sample {shlex.quote(small)} -o plan.json", 80, Path.cwd())
    printed("kernelpoint export plan.json --to accel-sim -o headless", 80, Path.cwd())
    for name in ("kernelslist.g", "manifest.csv", "trace.sh"):
        assert (made / name).read_bytes() == Path("headless", name).read_bytes()
