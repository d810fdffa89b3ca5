"""Every view as a whole: pictures byte for byte with this version of Textual, and the text on the screen.

What differs is to be looked at. To take it as the new look, delete the text in tests/app/golden, and for the
pictures run with KERNELPOINT_NEW_SNAPSHOTS=1.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import textual

from docs import make_screenshots
from docs.make_screenshots import PROFILE, SCENES, Scene, picture
from tests.app.driving import assert_golden
from tui.app.views import VIEWS

SNAPSHOTS = Path(__file__).parent / "snapshots"
RECORDED_WITH = SNAPSHOTS / "textual-version.txt"
IS_NEW_WANTED = bool(os.environ.get("KERNELPOINT_NEW_SNAPSHOTS"))
PLAIN = [Scene(view.name.lower().replace(" ", "-"), view.name) for view in VIEWS]


@pytest.fixture(autouse=True)
def profile_here(sample_data: Path) -> None:
    """The profile in the current folder, so that no picture has a path of this machine."""
    shutil.copy(sample_data / PROFILE, Path.cwd())


@pytest.fixture(autouse=True)
def soon_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture for the README may wait longer for what nobody computes."""
    monkeypatch.setattr(make_screenshots, "_QUIET_SECONDS", 0.1)


@pytest.mark.parametrize("scene", PLAIN, ids=[scene.name for scene in PLAIN])
async def test_a_view_looks_as_it_did(scene: Scene) -> None:
    svg, text = await picture(scene, (80, 24))
    assert_golden(f"screen-{scene.name}-80x24.txt", text)
    snapshot = SNAPSHOTS / f"{scene.name}-80x24.svg"
    if IS_NEW_WANTED:
        SNAPSHOTS.mkdir(exist_ok=True)
        snapshot.write_text(svg, encoding="utf-8")
        RECORDED_WITH.write_text(f"{textual.__version__}\n", encoding="utf-8")
    recorded = RECORDED_WITH.read_text(encoding="utf-8").strip()
    if textual.__version__ != recorded:
        # Another Textual is free to write other SVG of the same screen.
        pytest.skip(f"the pictures are of Textual {recorded}, this is {textual.__version__}")
    assert svg == snapshot.read_text(encoding="utf-8"), text


@pytest.mark.parametrize("scene", PLAIN, ids=[scene.name for scene in PLAIN])
async def test_a_small_screen_in_ascii_reads_as_it_did(scene: Scene) -> None:
    _, text = await picture(scene, (60, 15), ascii_only=True)
    assert text.isascii()
    assert_golden(f"screen-{scene.name}-60x15-ascii.txt", text)


def test_the_readme_has_a_picture_of_every_view() -> None:
    assert [scene.view for scene in SCENES] == [view.name for view in VIEWS]
    assert [view.name for view in VIEWS] == [view.screen.NAME for view in VIEWS]
