"""Where filters leave launches out, the header and every copied pane say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import small_recordings
from tests.app.driving import opened, printed, screen_text, view_of
from tui.app.frame.wording import workload_lines
from tui.options.look import OpenOptions
from tui.output.blocks import without_tones
from tui.text.profile import header_forms

FILTERED = OpenOptions(min_duration=5000, exclude=("gemm",), method="root")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small recording, of which plans are made quickly."""
    return str(small_recordings.nsys_sqlite(tmp_path_factory.mktemp("small"), "2023.4"))


async def test_the_copied_text_and_the_copied_command_say_the_same(small: str, tmp_path: Path) -> None:
    async with opened(small, options=FILTERED) as (app, _):
        text, command = view_of(app).pane_text().text, view_of(app).command()
        assert app.session.study is not None
        rows = screen_text(app).splitlines()
        assert rows[1].startswith("V100-like: [F] "), "at 80 columns too"
        assert "61 of 168 launches" in rows[1]
        header, names = header_forms(app.session.study), workload_lines(app.session, app.session.study)
        await app.action_view("Scale model")
        assert "Selection" not in view_of(app).pane_text().text
    assert text.startswith("Selection: ")
    assert printed(command, 80, tmp_path) == text
    assert "of 168 launches (--exclude gemm --min-duration 5000) (leaves out" in without_tones(header[0])
    assert names == ["part of small-2023.4.sqlite", "small-2023.4.sqlite"]
