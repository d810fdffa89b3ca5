"""View 1: its columns, their order by keys, clicks, and the third pane of a large window."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

from sampling.plan.draft import Draft
from tests.app.driving import (
    App,
    Running,
    draft_in,
    drawn,
    opened,
    printed,
    row_texts,
    screen_text,
    view_of,
    wait_for,
)
from tests.drawing import in_ascii
from tui.app.groups import GroupTable, RunPane, table_columns
from tui.app.planning import load_draft
from tui.app.widgets import Chart, marked
from tui.charts.quantities import share
from tui.options.plan import SampleOptions
from tui.terminal.printable import Column
from tui.text.groups import group_clusters


def test_the_first_head_that_is_there_has_the_mark_and_keeps_its_width() -> None:
    columns = [Column("share", ["1 %"]), Column("kernel group   ", ["k"], to_right=False)]

    def heads(*names: str, falls: bool, ascii_only: bool) -> list[str]:
        return [each.heading for each in in_ascii(ascii_only, marked, columns, names, falls=falls)]

    assert heads("total", "share", falls=True, ascii_only=False) == ["share↓", "kernel group   "]
    assert heads("share", falls=False, ascii_only=True) == ["share^", "kernel group   "]
    assert heads("kernel group", falls=True, ascii_only=True) == ["share", "kernel groupv  "]
    assert heads("mean", falls=True, ascii_only=True) == ["share", "kernel group   "]


async def test_groups_by_the_reverse_key_and_the_next_column(gpt: str, tmp_path: Path) -> None:
    async with opened(gpt) as (app, pilot):
        table = app.screen.query_one(GroupTable)
        assert " total↓" in screen_text(app)
        await pilot.press("R")
        await wait_for(pilot, lambda: "by total, smallest first" in screen_text(app), "it is said")
        await wait_for(pilot, lambda: " total↑" in screen_text(app), "and marked")
        assert table.keys == tuple(reversed(range(22)))
        assert (table.key, app.session.selected) == (21, 21), "at the top"
        view = view_of(app)
        text, command = view.pane_text().text, view.command()
        await pilot.press("s")
        await wait_for(pilot, lambda: "by launches ─" in screen_text(app), "the next column, largest first")
    assert "--reverse" in command
    assert printed(command, 80, tmp_path) == text


async def test_a_key_in_a_title_is_pressed_by_a_click_on_it_or_its_words(gpt: str) -> None:
    async with opened(gpt) as (app, pilot):
        row = next(y for y, text in enumerate(screen_text(app).splitlines()) if "[x] linear" in text)
        for now, wanted in (("[x] linear", "[x] log"), ("[x] log", "[x] linear")):
            x = screen_text(app).splitlines()[row].index(now) + len(now) - 1
            await pilot.click(offset=(x, row))
            await wait_for(pilot, lambda: wanted in screen_text(app), wanted)  # noqa: B023
        await pilot.click(offset=(2, row))
        await wait_for(pilot, lambda: isinstance(app.focused, Chart), "the name goes to its chart")


async def test_tabs_take_clicks(gpt: str) -> None:
    async with opened(gpt) as (app, pilot):
        for name in ("Timeline", "Plan", "Groups"):
            x = screen_text(app).splitlines()[0].index(name)
            await pilot.click("HeaderLine", offset=(x, 0))
            await wait_for(pilot, lambda: name == view_of(app).NAME, name)  # noqa: B023
            await wait_for(pilot, lambda: bool(app.screen.query("#plan")), "its panes")
        await pilot.press("escape")
        await wait_for(pilot, lambda: view_of(app).NAME == "Plan", "back as from a key")


EVERY = [
    "rank",
    "share",
    "bar",
    "cum",
    "launches",
    "total",
    "mean",
    "CoV",
    "durations",
    "strata",
    "drawn",
    "kernel group",
]
WIDTHS = (20, 40, 60, 80, 95, 120, 160, 200)
EIGHTHS = "▏▎▍▌▋▊▉█"


@pytest.fixture(scope="module")
def draft(sample_data) -> Draft:  # type: ignore[no-untyped-def]
    path = str(sample_data / "gpt2-like.json.gz")
    return load_draft(SampleOptions(profiles=(path,)), {}, lambda *_: None)


def names(draft: Draft, width: int) -> list[str]:
    return [column.name for column in table_columns(draft, width).columns]


def test_columns_give_way_to_the_name_in_the_order_that_is_written_down(draft: Draft) -> None:
    assert names(draft, 120) == names(draft, 200) == EVERY
    gone = {"durations", "cum", "strata"}
    assert names(draft, 80) == [name for name in EVERY if name not in gone]
    assert {"total", "mean", "CoV", "bar"} <= set(names(draft, 80))
    for wide, narrow in zip(range(200, 20, -1), range(199, 19, -1), strict=True):
        assert set(names(draft, narrow)) <= set(names(draft, wide)), "what is gone does not come back"
    assert names(draft, 20) == ["share", "kernel group"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_every_row_and_the_head_are_as_wide_as_the_table(draft: Draft, width: int, ascii_only: bool) -> None:
    columns = table_columns(draft, width)
    assert len(columns.head()) == width
    room = columns.columns[-1].width
    assert room >= 24 or len(columns.columns) == 2
    for group in range(len(draft.counts.groups)):
        row = "".join(text for text, _ in in_ascii(ascii_only, columns.row, group))
        assert len(row) == width
        assert row.isascii() or not ascii_only
        cells = in_ascii(ascii_only, row_texts, draft, group, columns)
        for column in columns.columns:
            cell = cells[column.name]
            assert cell[-1 if column.to_right else 0] != " " or column.name in {"bar", "durations"}, cell


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_of_wide_names_are_as_wide_as_the_table(tmp_path: Path, width: int) -> None:
    path = tmp_path / "wide.csv"
    rows = [f"\u6838\u5fc3\u77e9\u9635_\u5377\u79ef_gemm_{place % 3},{1000 + place}" for place in range(30)]
    path.write_text("\n".join(["name,duration_ns", *rows]), encoding="utf-8")
    columns = table_columns(load_draft(SampleOptions(profiles=(str(path),)), {}, lambda *_: None), width)
    for group in range(3):
        assert sum(cell_len(text) for text, _ in columns.row(group)) == width


def test_groups_of_a_pool_have_their_own_launches(sample_data: Path) -> None:
    pooled = load_draft(
        SampleOptions(profiles=(str(sample_data / "resnet50-like.sqlite"),)), {}, lambda *_: None
    )
    group = int(np.flatnonzero(pooled.groups.pooled)[0])
    cells = row_texts(pooled, group, table_columns(pooled, 200))
    launches = int(pooled.groups.launches[group])
    assert cells["launches"].strip() == str(launches)
    assert {cells[name].strip() for name in ("strata", "drawn")} == {"pool"}


def test_the_bar_is_the_share_of_the_largest_and_cum_runs_on_in_order_of_time(draft: Draft) -> None:
    times = [sum(int(ns) * int(n) for ns, n in zip(*draft.counts.group_pairs(group), strict=True))
             for group in range(len(draft.counts.groups))]  # fmt: skip
    columns = table_columns(draft, 200)
    (bar,) = (column.width for column in columns.columns if column.name == "bar")
    for group, (time, running) in enumerate(zip(times, accumulate(times), strict=True)):
        texts = row_texts(draft, group, columns)
        eighths = sum(EIGHTHS.index(glyph) + 1 for glyph in texts["bar"].rstrip())
        assert abs(eighths / 8 / bar - time / times[0]) <= 1 / 16 / bar + 1e-9
        assert texts["cum"].strip() == share(running / sum(times))
        ascii_bar = in_ascii(True, row_texts, draft, group, columns)["bar"]
        assert ascii_bar.rstrip() == "#" * round(bar * time / times[0])


def test_bars_in_colour_are_of_the_groups_that_take_four_fifths_of_the_time(draft: Draft) -> None:
    of, columns = draft.groups, table_columns(draft, 80)
    few = int(np.searchsorted(np.cumsum(of.share), 0.8)) + 1
    styles = []
    for group in range(len(of.share)):
        runs = columns.row(group)
        styles.append(next((style for text, style in runs if set(text) <= set(EIGHTHS) and text), None))
    assert len(set(styles[:few])) == 1
    assert styles[0] not in styles[few:]


def test_the_sparkline_has_the_middle_of_the_launches_bin_by_bin(draft: Draft) -> None:
    """Against a count of launches one by one; colours are those of the strata in the histogram."""
    columns = table_columns(draft, 200)
    for group in range(len(draft.counts.groups)):
        values_ns, counts = draft.counts.group_pairs(group)
        launches = np.repeat(values_ns, counts)
        aside = int(len(launches) * 0.01)
        middle = launches[aside : len(launches) - aside]
        drawn = row_texts(draft, group, columns)["durations"].strip()
        assert len(drawn) <= 10
        tallest = drawn.index("█")
        low, high = middle[0], middle[-1]
        place = (tallest + 0.5) / len(drawn) * (high - low) + low
        near = np.abs(middle - place) <= 1.5 * (high - low) / len(drawn) + 1
        assert near.mean() >= 1 / len(drawn), "the tallest glyph is where many launches are"
        numbers = len(group_clusters(draft, group))
        runs = columns.row(group)
        styles = {style for text, style in runs if text and set(text) <= set("▁▂▃▄▅▆▇█") and 0 <= style < 100}
        assert styles <= {0, *range(numbers)}


@pytest.fixture(scope="module")
def two_gpus(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two GPUs of the same two kernels, one of which the second runs more often."""
    names = ["gemm"] * 30 + ["relu"] * 40 + ["gemm"] * 50 + ["relu"] * 40
    durations = [{"gemm": 1000, "relu": 700}[name] + place % 9 for place, name in enumerate(names)]
    path = tmp_path_factory.mktemp("two") / "two.parquet"
    pq.write_table(pa.table({"name": names, "duration_ns": durations, "device": [0] * 70 + [1] * 90}), path)
    return str(path)


async def test_a_kernel_of_several_gpus_is_a_row_and_leads_to_its_largest_group(
    two_gpus: str, tmp_path: Path
) -> None:
    async with opened(two_gpus, (160, 45)) as (app, pilot):
        draft = draft_in(app)
        assert [group.name for group in draft.counts.groups] == ["gemm", "gemm", "relu", "relu"]
        table = app.screen.query_one(GroupTable)
        assert table.row_count == 2
        assert "2 GPUs together" in screen_text(app)
        assert "[tab] #1 gemm" in screen_text(app)
        assert ", 2 GPUs" in screen_text(app)
        await is_read(app, pilot, 1)
        for keys in ((), ("tab",), ("tab",)):
            await pilot.press(*keys, "y")
            text = app.clipboard
            assert (
                printed(view_of(app).command(), 80 if app.focused is run_of(app).chart else 160, tmp_path)
                == text
            )
        await pilot.press("tab", "j")
        assert app.session.focus == 1
        largest = app.session.selected
        assert largest is not None
        assert draft.counts.groups[largest].name == "relu"
        await pilot.press("2")
        await wait_for(
            pilot, lambda: f"[2] #{largest + 1} decision" in screen_text(app), "the tree of the largest one"
        )
        await pilot.press("6")
        await wait_for(pilot, lambda: "[6] #2 relu" in screen_text(app), "the launches of both")
        await pilot.press("k")
        await wait_for(pilot, lambda: "[6] #1 gemm" in screen_text(app), "the group before")
        await pilot.press("1")
        await wait_for(pilot, lambda: table.cursor == 0, "the row of that")


def run_of(app: App) -> RunPane:
    return app.screen.query_one(RunPane)


async def is_read(app: App, pilot: Running, rank: int) -> None:
    await wait_for(pilot, lambda: f"[6] #{rank} over the run" in screen_text(app), f"the run of #{rank}")


async def test_three_panes_fill_a_large_window(gpt: str) -> None:
    size = (200, 60)
    async with opened(gpt, size) as (app, pilot):
        await is_read(app, pilot, 1)
        table, histogram, run = (
            app.screen.query_one(f"#{name}-pane").region for name in ("groups", "chart", "run")
        )
        assert table.width == size[0]
        assert histogram.width + run.width == size[0] - 2
        assert (histogram.y, histogram.height) == (run.y, run.height)
        rows = app.screen.query_one(GroupTable).row_count
        assert table.height <= rows + 3, "no blank rows but that of the field"
        blank = [row for row in screen_text(app).split("\n") if not row.strip()]
        assert len(blank) <= 2
        # The run is that of the group under the cursor, once that rests there.
        await pilot.press("j", "j")
        await is_read(app, pilot, 3)
        assert " drawn" in drawn(run_of(app).chart)


async def test_the_run_is_copied_as_timeline_prints_it(gpt: str, tmp_path: Path) -> None:
    async with opened(gpt, (160, 45)) as (app, pilot):
        await is_read(app, pilot, 1)
        await pilot.press("tab", "tab")
        assert app.focused is run_of(app).chart
        await pilot.press("y")
        text = app.clipboard
        command = view_of(app).command()
    assert command.startswith("kernelpoint timeline ")
    assert printed(command, 80, tmp_path) == text
