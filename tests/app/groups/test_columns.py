"""The columns of view 1's table: what stands in them, which give way, which one a cell belongs to."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest

from sampling.plan.study import Study
from tests.app.driving import row_texts
from tests.drawing import in_ascii
from tui.app.group_table import row_runs, table_columns
from tui.app.planning import load_study
from tui.charts.quantities import share
from tui.options.plan import SampleOptions
from tui.text.groups import clusters_of_group

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
def study(sample_data) -> Study:  # type: ignore[no-untyped-def]
    path = str(sample_data / "gpt2-like.json.gz")
    return load_study(SampleOptions(profiles=(path,)), {}, lambda *_: None)


def names(study: Study, width: int) -> list[str]:
    return [column.name for column in table_columns(study, width).columns]


def test_columns_give_way_to_the_name_in_the_order_that_is_written_down(study: Study) -> None:
    assert names(study, 120) == names(study, 200) == EVERY
    gone = {"durations", "cum", "strata"}
    assert names(study, 80) == [name for name in EVERY if name not in gone]
    assert {"total", "mean", "CoV", "bar"} <= set(names(study, 80))
    for wide, narrow in zip(range(200, 20, -1), range(199, 19, -1), strict=True):
        assert set(names(study, narrow)) <= set(names(study, wide)), "what is gone does not come back"
    assert names(study, 20) == ["share", "kernel group"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_every_row_and_the_head_are_as_wide_as_the_table(study: Study, width: int, ascii_only: bool) -> None:
    columns = table_columns(study, width)
    assert len(columns.head()) == width
    room = columns.columns[-1].width
    assert room >= 24 or len(columns.columns) == 2
    for group in range(len(study.counts.groups)):
        row = "".join(text for text, _ in in_ascii(ascii_only, row_runs, group, columns))
        assert len(row) == width
        assert row.isascii() or not ascii_only
        cells = in_ascii(ascii_only, row_texts, study, group, columns)
        for column in columns.columns:
            cell = cells[column.name]
            assert cell[-1 if column.to_right else 0] != " " or column.name in {"bar", "durations"}, cell


def test_the_bar_is_the_share_of_the_largest_and_cum_runs_on_in_order_of_time(study: Study) -> None:
    times = [sum(int(ns) * int(n) for ns, n in zip(*study.counts.group_pairs(group), strict=True))
             for group in range(len(study.counts.groups))]  # fmt: skip
    columns = table_columns(study, 200)
    (bar,) = (column.width for column in columns.columns if column.name == "bar")
    for group, (time, running) in enumerate(zip(times, accumulate(times), strict=True)):
        texts = row_texts(study, group, columns)
        eighths = sum(EIGHTHS.index(glyph) + 1 for glyph in texts["bar"].rstrip())
        assert abs(eighths / 8 / bar - time / times[0]) <= 1 / 16 / bar + 1e-9
        assert texts["cum"].strip() == share(running / sum(times))
        ascii_bar = in_ascii(True, row_texts, study, group, columns)["bar"]
        assert ascii_bar.rstrip() == "#" * round(bar * time / times[0])


def test_bars_in_colour_are_of_the_groups_that_take_four_fifths_of_the_time(study: Study) -> None:
    of, columns = study.groups, table_columns(study, 80)
    few = int(np.searchsorted(np.cumsum(of.share), 0.8)) + 1
    styles = []
    for group in range(len(of.share)):
        runs = row_runs(group, columns)
        styles.append(next((style for text, style in runs if set(text) <= set(EIGHTHS) and text), None))
    assert len(set(styles[:few])) == 1
    assert styles[0] not in styles[few:]


def test_the_sparkline_has_the_middle_of_the_launches_bin_by_bin(study: Study) -> None:
    """Against a count of launches one by one; colours are those of the strata in the histogram."""
    columns = table_columns(study, 200)
    for group in range(len(study.counts.groups)):
        values_ns, counts = study.counts.group_pairs(group)
        launches = np.repeat(values_ns, counts)
        aside = int(len(launches) * 0.01)
        middle = launches[aside : len(launches) - aside]
        drawn = row_texts(study, group, columns)["durations"].strip()
        assert len(drawn) <= 10
        tallest = drawn.index("█")
        low, high = middle[0], middle[-1]
        place = (tallest + 0.5) / len(drawn) * (high - low) + low
        near = np.abs(middle - place) <= 1.5 * (high - low) / len(drawn) + 1
        assert near.mean() >= 1 / len(drawn), "the tallest glyph is where many launches are"
        numbers = len(clusters_of_group(study, group))
        runs = row_runs(group, columns)
        styles = {style for text, style in runs if text and set(text) <= set("▁▂▃▄▅▆▇█") and 0 <= style < 100}
        assert styles <= {0, *range(numbers)}
