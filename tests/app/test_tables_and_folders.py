"""What the app is opened on besides single recordings: tables whose columns are named, and folders."""

from __future__ import annotations

from pathlib import Path

from tests.app.driving import opened, planned, screen_text, view_of
from tui.options.look import OpenOptions


async def test_a_folder_of_tables_says_what_is_left_out_and_is_copied_as_it_was_given(tmp_path: Path) -> None:
    for rank in (1, 2):
        rows = "".join(f"kernel,{5 + row % 3}\n" for row in range(30))
        (tmp_path / f"rank{rank}.csv").write_text("Kernel Name,Dur\n" + rows)
    (tmp_path / "notes.txt").write_text("slow\n")
    columns = "name=Kernel Name,duration_ns=Dur:us"
    async with opened(str(tmp_path), (200, 60), options=OpenOptions(columns=columns)) as (app, pilot):
        assert "2 profiles are read as one workload; left out:" in screen_text(app)
        command = view_of(app).command()
        app.plan(app.session.options)
        await planned(pilot, app)
    assert str(tmp_path) in command
    assert f"--columns '{columns}'" in command
