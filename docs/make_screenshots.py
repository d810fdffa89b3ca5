"""Pictures of the app for the README, drawn by the app itself on the sample data.

python docs/make_screenshots.py            writes docs/screenshots/*.svg anew
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path

from textual.pilot import Pilot

from tui.app.app import KernelPointApp
from tui.app.running import open_session
from tui.options.look import OpenOptions
from tui.options.simulate import SpeedupOptions

PROJECT = Path(__file__).resolve().parent.parent
SCREENSHOTS = Path(__file__).parent / "screenshots"
SIZES = ((80, 24), (120, 40), (200, 60))
PROFILE = "gpt2-like.json.gz"
STUDY = "study.toml"

_QUIET_SECONDS = 0.4
_PATIENCE_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Scene:
    """A view, and the keys that lead to what is worth a picture.

    Attributes
    ----------
    name : of the picture.
    view : the view's name.
    keys : pressed one after the other once the view is drawn.
    profile : the sample that is open, None for none.
    study : the study that is compared, None for none.
    """

    name: str
    view: str
    keys: tuple[str, ...] = ()
    profile: str | None = PROFILE
    study: str | None = None


SCENES = (
    Scene("groups", "Groups", ("slash", *"gemm", "enter", "s", "s", "s")),
    Scene("split-tree", "Split tree", ("]", "]")),
    Scene("plan", "Plan"),
    Scene("compare", "Compare", ("j", "j")),
    Scene("scale-model", "Scale model", profile=None),
    Scene("timeline", "Timeline"),
    Scene("difference", "Difference", ("o", *"@:7000", "enter", "j")),
    Scene("speedups", "Speedups", ("j", "l"), profile=None, study=STUDY),
)


async def picture(scene: Scene, size: tuple[int, int], *, ascii_only: bool = False) -> tuple[str, str]:
    """Return the screen as SVG and as text; the profile is looked for in the current folder."""
    profiles = () if scene.profile is None else (scene.profile,)
    speedups = None if scene.study is None else SpeedupOptions(plan=scene.study)
    session = replace(open_session(profiles, OpenOptions()), ascii_only=ascii_only, speedups=speedups)
    app = KernelPointApp(session, view=scene.view)
    async with app.run_test(size=size) as pilot:
        await _settled(app, pilot)
        if scene.keys:
            await pilot.press(*scene.keys)
            await _settled(app, pilot)
        return app.export_screenshot(), _text(app)


async def _settled(app: KernelPointApp, pilot: Pilot[None]) -> None:
    """Wait until nothing is computed and what is on the screen stays."""
    give_up = time.monotonic() + _PATIENCE_SECONDS
    before, since = "", time.monotonic()
    while time.monotonic() - since < _QUIET_SECONDS:
        if time.monotonic() > give_up:
            raise TimeoutError(f"the screen never comes to rest:\n{before}")
        await pilot.pause(0.02)
        text = _text(app)
        if text != before or not _is_idle(app):
            before, since = text, time.monotonic()


def _is_idle(app: KernelPointApp) -> bool:
    return (
        bool(app.screen.query("#plan"))
        and app.session.doing is None
        and all(worker.is_finished for worker in app.workers)
    )


def _text(app: KernelPointApp) -> str:
    rows = app.screen._compositor.render_strips()
    return "".join(f"{row.text.rstrip()}\n" for row in rows)


async def main() -> None:
    """Write all pictures."""
    SCREENSHOTS.mkdir(exist_ok=True)
    for scene in SCENES:
        for size in SIZES:
            svg, _ = await picture(scene, size)
            path = SCREENSHOTS / f"{scene.name}-{size[0]}x{size[1]}.svg"
            path.write_text(svg, encoding="utf-8")
            sys.stdout.write(f"{path.relative_to(PROJECT)}\n")


if __name__ == "__main__":
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        os.environ.pop(name, None)
    os.environ |= {"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        shutil.copy(PROJECT / "sample_data" / PROFILE, folder)
        shutil.copytree(PROJECT / "sample_data" / "study", folder, dirs_exist_ok=True)
        asyncio.run(main())
