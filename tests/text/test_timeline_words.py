"""What is said beside a timeline: idle gaps in words, and ranges as a tree above it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from sampling.readers.registry import read_profile
from sampling.reduction.range_list import RangeList, list_ranges
from sampling.reduction.region import Region
from tests.drawing import in_ascii
from tui.charts.grid import plain
from tui.text.timeline import (
    NONE,
    TOO_MANY,
    RangeForest,
    TreeMarks,
    above_chart,
    tree_grid,
)


@pytest.fixture(scope="module")
def listed(sample_data: Path) -> RangeList:
    """Named steps and found iterations."""
    return list_ranges(read_profile((str(sample_data / "gpt2-like.json.gz"),)), Region())


@pytest.fixture(scope="module")
def forest_of_steps(sample_data: Path) -> RangeForest:
    profile = read_profile((str(sample_data / "gpt2-like.json.gz"),))
    return RangeForest.of(list_ranges(profile, Region(), steps_apart=True))


@pytest.fixture(scope="module")
def forest(listed: RangeList) -> RangeForest:
    return RangeForest.of(listed)


def test_every_range_with_launches_is_reached_once_each_inside_its_own(
    listed: RangeList, forest: RangeForest
) -> None:
    everything = {path for path in range(len(listed)) if listed.launches[path]}
    rows = forest.walked(everything)
    assert sorted(rows) == sorted(everything)
    above: list[int] = []
    for path in rows:
        above = [each for each in above if listed.paths.depth[each] < listed.paths.depth[path]]
        assert forest.parent_of(path) == (above[-1] if above else -1)
        above.append(path)
    outermost = forest.walked(())
    assert outermost == [path for path in rows if listed.paths.parent[path] == -1]
    first = [int(listed.first[path]) for path in outermost if path < listed.found_from]
    assert first == sorted(first)
    assert outermost[-1] >= listed.found_from, "what was found comes after what was named"


def test_a_row_says_name_launches_time_and_share(listed: RangeList, forest: RangeForest) -> None:
    iterations = forest.walked(())[-1]
    rows = forest.walked({iterations})
    paths = [rows[0], iterations, rows[rows.index(iterations) + 1]]
    marks = TreeMarks({iterations}, in_force=rows[0])
    text = plain(in_ascii(True, tree_grid, forest, paths, None, 120, marks)).splitlines()
    assert text[0].split() == ["range", "time", "elapsed", "share"]
    assert text[1].split() == ["*", "ProfilerStep#*", "89.6", "ms", "106", "ms", "100.0", "%"]
    assert text[2].split()[:2] == ["-", "iterations"]
    assert text[3].split()[:2] == ["iteration", "0"]
    assert text[3].index("iteration") == text[2].index("iterations") + 2
    wide = plain(in_ascii(True, tree_grid, forest, paths, None, 160, marks)).splitlines()
    assert wide[0].split() == ["range", "time", "elapsed", "share", "times"]
    assert wide[1].split()[-1] == "87"
    # Nothing has elapsed where starts are not recorded.
    timeless = replace(listed, elapsed_ns=None)
    (heading, *_) = plain(tree_grid(RangeForest.of(timeless), paths, None, 80, marks)).splitlines()
    assert heading.split() == ["range", "time", "share"]
    closed = plain(in_ascii(True, tree_grid, forest, [iterations], None, 120, TreeMarks())).splitlines()
    assert closed[1].split()[0] == "+"


@pytest.mark.parametrize("width", [0, 5, 24, 64, 80, 200])
def test_rows_fit_and_names_keep_their_numbers(forest_of_steps: RangeForest, width: int) -> None:
    paths = forest_of_steps.walked(())
    grid = in_ascii(True, tree_grid, forest_of_steps, paths, None, width, TreeMarks())
    assert grid.width == width
    if width >= 80:
        text = plain(grid).splitlines()
        assert all(f"#{number} " in text[number + 1] for number in (0, 9, 50))
        assert text[0].split()[1:3] == ["time", "elapsed"]
        assert re.search(r" \S+ [mu]s +\S+ [mu]s", text[1])


def test_figures_stand_below_their_headings_whatever_the_names_are(listed: RangeList) -> None:
    wide = replace(
        listed, paths=replace(listed.paths, texts=["\u524d\u5411\u304d"] * len(listed.paths.texts))
    )
    forest = RangeForest.of(wide)
    for width in (40, 80, 160):
        grid = tree_grid(forest, forest.walked(forest.opened_at_first()), None, width, TreeMarks())
        heading, *rows = plain(grid).splitlines()
        assert {cell_len(row) for row in rows} == {len(heading)}


def test_without_ranges_it_says_what_records_them(listed: RangeList) -> None:
    assert (above_chart(None), above_chart(None, is_looked_for=False)) == (NONE, TOO_MANY)
    assert isinstance(above_chart(listed), RangeForest)
