"""The histogram: its numbers, and that the drawing says the same."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import in_ascii
from tui.charts.grid import MARKER, PROPOSED, Grid, plain
from tui.charts.histogram import LEFT, Side, bin_columns, histogram, histogram_data, two_histograms

GOLDEN = Path(__file__).parent / "golden"
LEVELS = " ▁▂▃▄▅▆▇█"
LARGEST = 10**18


def pairs(*peaks: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Durations in bell-shaped peaks of (centre_ns, width_ns, height), their counts beside them."""
    launches: dict[int, int] = {}
    for centre_ns, width_ns, height in peaks:
        for step in range(-12, 13):
            n = round(height * np.exp(-((step / 5) ** 2)))
            if n:
                launches[centre_ns + step * width_ns // 5] = n
    values_ns = np.array(sorted(launches), dtype=np.int64)
    return values_ns, np.array([launches[int(ns)] for ns in values_ns], dtype=np.int64)


def clusters_at(values_ns: np.ndarray, *thresholds_ns: int) -> list[tuple[int, int]]:
    """The closed ranges that thresholds make of the durations: equal to a threshold goes left."""
    ends = [-1, *thresholds_ns, int(values_ns.max())]
    parts = [values_ns[(values_ns > low) & (values_ns <= high)] for low, high in pairwise(ends)]
    return [(int(part.min()), int(part.max())) for part in parts]


THREE_PEAKS = pairs((61_003, 2_100, 140), (84_001, 4_100, 60), (120_007, 3_300, 25))
THREE_CLUSTERS = clusters_at(THREE_PEAKS[0], 72_000, 100_000)
DECADES = pairs((1_013, 300, 9), (8_011, 3_000, 20), (5_000_017, 900_000, 14))


@st.composite
def groups(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    """A kernel group: distinct durations, their counts, and clusters that cover them."""
    values = sorted(draw(st.sets(st.integers(0, 10 ** draw(st.integers(1, 18))), min_size=1, max_size=40)))
    counts = draw(st.lists(st.integers(1, 10**6), min_size=len(values), max_size=len(values)))
    cuts = sorted(draw(st.sets(st.integers(1, len(values) - 1), max_size=9))) if len(values) > 1 else []
    clusters = [(values[first], values[last - 1]) for first, last in pairwise([0, *cuts, len(values)])]
    return np.array(values, dtype=np.int64), np.array(counts, dtype=np.int64), clusters


def bar_heights(grid: Grid, foot: int) -> list[int]:
    """The height of each column's bar in eighths of a cell, as it is drawn in Unicode."""
    bars = (grid.style[:foot] >= 0) & (grid.style[:foot] < MARKER)
    return [
        sum(LEVELS.index(glyph) for glyph in grid.glyph[:foot, column][bars[:, column]])
        for column in range(grid.width)
    ]


# The numbers


@given(groups(), st.integers(1, 100), st.booleans())
def test_every_launch_is_in_exactly_one_bin_of_its_cluster(group, bins: int, log: bool) -> None:
    values_ns, counts, clusters = group
    data = histogram_data(values_ns, counts, clusters, bins, log=log)
    assert data.edges_ns.shape == (bins + 1,)
    assert data.counts.shape == (bins,)
    assert data.counts.sum() == counts.sum()
    assert (data.cluster_counts.sum(axis=0) == data.counts).all()
    for (low_ns, high_ns), row in zip(clusters, data.cluster_counts, strict=True):
        assert row.sum() == counts[(values_ns >= low_ns) & (values_ns <= high_ns)].sum()


@given(groups(), st.integers(1, 60), st.booleans())
def test_the_edges_bound_what_the_bins_count(group, bins: int, log: bool) -> None:
    values_ns, counts, clusters = group
    data = histogram_data(values_ns, counts, clusters, bins, log=log)
    assert (np.diff(data.edges_ns) >= 0).all()
    assert data.edges_ns[0] == values_ns.min()
    assert data.edges_ns[-1] >= values_ns.max()
    for i, launches in enumerate(data.counts):
        inside = (values_ns >= data.edges_ns[i]) & (values_ns < data.edges_ns[i + 1])
        if i == bins - 1:
            inside |= values_ns == data.edges_ns[-1]
        assert counts[inside].sum() == launches


def test_linear_bins_are_equally_wide() -> None:
    data = histogram_data(np.array([0, 999_999, 1_000_003]), np.array([1, 2, 3]), [], 4)
    assert data.edges_ns.tolist() == [0, 250_001, 500_002, 750_003, 1_000_003]
    assert data.counts.tolist() == [1, 0, 0, 5]


def test_logarithmic_bins_have_equal_ratios() -> None:
    data = histogram_data(np.array([10, 99, 100, 1_000, 10_000]), np.array([1, 2, 4, 8, 16]), [], 3, log=True)
    assert data.edges_ns.tolist() == [10, 100, 1_000, 10_000]
    assert data.counts.tolist() == [3, 4, 24]
    assert not data.has_zero_bin


def test_zeros_have_a_logarithmic_bin_of_their_own() -> None:
    data = histogram_data(np.array([0, 10, 100, 1_000]), np.array([7, 1, 2, 4]), [], 3, log=True)
    assert data.edges_ns.tolist() == [0, 10, 100, 1_000]
    assert data.counts.tolist() == [7, 1, 6]
    assert data.has_zero_bin


@pytest.mark.parametrize("tick_ns", [1_000, 32])
def test_a_coarse_clock_makes_no_pattern(tick_ns: int) -> None:
    """As many launches at every tick of the clock, which rounds to a nanosecond: every bin holds as many."""
    values_ns = np.array([tick_ns * i - i % 2 for i in range(100, 300)])
    data = histogram_data(values_ns, np.full(200, 5), [], 70)
    filled = data.counts[data.counts > 0]
    assert filled[:-1].tolist() == [15] * 66
    assert data.counts.sum() == 1_000


def test_a_duration_outside_all_clusters_is_refused() -> None:
    with pytest.raises(ValueError, match=r"`clusters` must cover every duration"):
        histogram_data(np.array([10, 15, 20]), np.array([1, 1, 1]), [(10, 14), (16, 20)], 4)


# The drawing


@given(groups(), st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_the_pairs_does_not_matter(group, random, log: bool) -> None:
    values_ns, counts, clusters = group
    order = list(range(values_ns.size))
    random.shuffle(order)
    drawn = histogram(values_ns, counts, clusters, 60, 15, axis="log" if log else "all")
    again = histogram(values_ns[order], counts[order], clusters, 60, 15, axis="log" if log else "all")
    assert (drawn.glyph == again.glyph).all()
    assert (drawn.style == again.style).all()


@given(groups(), st.integers(20, 90), st.integers(4, 30), st.booleans())
def test_bars_are_as_high_as_the_numbers_say(group, width: int, height: int, log: bool) -> None:
    """A higher bar never has fewer launches, the highest reaches the top, and none is invisible.

    Bars are as high as there is room, but of two rows a launch at most where that is more than three.
    """
    values_ns, counts, _ = group
    log = log and values_ns.size > 2
    grid = histogram(values_ns, counts, [], width, height, axis="log" if log else "all")
    bin_at = bin_columns(values_ns, width, int(counts.sum()), log=log)
    bins = int(bin_at.max()) + 1
    data = histogram_data(values_ns, counts, [], bins, log=log)
    deserved = max(3, 2 * int(data.counts.max()))
    foot = min(height - 2 - (height >= 5 or height - 2 > deserved), deserved)
    launches = np.where(bin_at >= 0, data.counts[bin_at], 0)
    heights = np.array(bar_heights(grid, foot))
    assert set(bin_at[bin_at >= 0].tolist()) == set(range(bins))
    assert (np.diff(heights[np.argsort(launches)]) >= 0).all()
    assert ((heights > 0) == (launches > 0)).all()
    assert heights.max() == 8 * foot


def test_a_split_line_is_right_after_the_longest_launch_of_its_left_part() -> None:
    grid = histogram(*THREE_PEAKS, THREE_CLUSTERS, 80, 24)
    foot = 24 - 2 - 2
    assert grid.glyph[foot, LEFT - 1] == "└"
    lines = [c for c in range(LEFT, 80) if (grid.style[:foot, c] == MARKER).all()]
    bars = [c for c in range(LEFT, 80) if grid.style[foot - 1, c] in {0, 1, 2}]
    assert len(lines) == 2
    for line, (left, right) in zip(lines, ((0, 1), (1, 2)), strict=True):
        last = max(c for c in bars if grid.style[foot - 1, c] == left)
        assert line == last + 1 < min(c for c in bars if grid.style[foot - 1, c] == right)
        assert grid.glyph[foot, line] == "┴"


def test_without_a_gap_the_split_line_stands_on_the_lower_bar() -> None:
    grid = histogram(np.array([12, 13]), np.array([100, 25]), [(12, 12), (13, 13)], 40, 10)
    text = plain(grid).split("\n")
    assert text[0].endswith("██████│")
    assert text[4].endswith("██████▄▄▄▄▄▄")


def test_the_proposed_threshold_is_drawn_and_told_apart_from_a_split() -> None:
    values_ns, counts = THREE_PEAKS
    grid = histogram(values_ns, counts, [], 80, 24, split=(THREE_CLUSTERS[0][1], True))
    split = histogram(values_ns, counts, clusters_at(values_ns, 72_000), 80, 24)
    columns = set(np.flatnonzero((grid.style[:19] == PROPOSED).all(axis=0)).tolist())
    assert columns == set(np.flatnonzero((split.style[:19] == MARKER).all(axis=0)).tolist())
    assert len(columns) == 1
    assert "┊ split at 65.6 us" in plain(grid)
    kept = histogram(values_ns, counts, [], 80, 24, split=(THREE_CLUSTERS[0][1], False))
    assert "┊ keep; a split would be at 65.6 us" in plain(kept)


@pytest.mark.parametrize("threshold_ns", [0, 10**9])
def test_a_threshold_that_splits_nothing_draws_no_line(threshold_ns: int) -> None:
    grid = histogram(*THREE_PEAKS, [], 80, 24, split=(threshold_ns, True))
    assert not (grid.style[:20] == PROPOSED).any()


@pytest.mark.parametrize("ascii_only", [False, True])
def test_clusters_are_told_apart_without_colour(ascii_only: bool) -> None:
    grid = in_ascii(ascii_only, histogram, *THREE_PEAKS, THREE_CLUSTERS, 80, 24)
    symbols = "#o*" if ascii_only else "ABC"
    axis, legend = plain(grid).split("\n")[20], "".join(plain(grid).split("\n")[22:])
    assert [glyph for glyph in axis if glyph in symbols] == list(symbols)
    assert [glyph for glyph in legend if glyph in symbols] == list(symbols)
    if ascii_only:
        bars = set(grid.glyph[:20][(grid.style[:20] >= 0) & (grid.style[:20] < 3)].tolist())
        assert bars == {"#", "o", "*", "."}


def test_clusters_without_room_in_the_legend_are_counted() -> None:
    values_ns = np.arange(30) * 1_001
    clusters = [(int(ns), int(ns)) for ns in values_ns]
    text = plain(histogram(values_ns, np.full(30, 9), clusters, 60, 10))
    shown = sum(f"{letter} " in "".join(text.split("\n")[-2:]) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    assert f"+{30 - shown} more clusters" in text


def test_the_axes_name_the_highest_count_and_one_unit() -> None:
    rows = plain(
        histogram(np.array([10_000, 90_000]), np.array([1_234_567, 5]), [], 60, 12, axis="all")
    ).split("\n")
    assert rows[0].startswith("1.23M ┤")
    assert rows[-2].split() == ["20", "40", "60", "80", "us"]


def counts_on_a_line(*counts: int) -> tuple[np.ndarray, np.ndarray]:
    """So many launches, each count at a duration of its own."""
    return np.arange(1_000, 1_000 + 100 * len(counts), 100), np.array(counts)


@pytest.mark.parametrize("ascii_only", [False, True])
def test_one_bar_far_above_the_others_has_counts_on_a_logarithmic_axis(ascii_only: bool) -> None:
    counts = [1_000_000, 100_000, 10_000, 1_000, 100, 10, *[1] * 8]
    chart = in_ascii(ascii_only, histogram, *counts_on_a_line(*counts), [], 70, 22, axis="all")
    *rows, foot, _, _ = plain(chart).split("\n")
    assert [row[:6].strip() for row in rows[::3]] == ["1.00M", "100k", "10k", "1k", "100", "10", "1"]
    assert foot.startswith("  log ")
    bars = ((chart.style >= 0) & (chart.style < MARKER))[: len(rows)].sum(axis=0)
    assert [*dict.fromkeys(bars[bars > 0].tolist())] == [19, 16, 13, 10, 7, 4, 1], (
        "three rows for ten times as many"
    )


@pytest.mark.parametrize(("most", "foot"), [(2_000, "0"), (2_001, "log")])
def test_counts_are_on_a_linear_axis_where_most_bars_can_be_seen(most: int, foot: str) -> None:
    rows = plain(histogram(*counts_on_a_line(most, 1, *[10] * 4, 90), [], 60, 12, axis="all")).split("\n")
    assert rows[-3].split()[0].startswith(foot)


@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_linear_axis_ends_before_a_few_launches_far_beyond(ascii_only: bool) -> None:
    values_ns = np.array([*range(1_000, 2_000, 10), 90_000])
    counts = np.array([9] * 100 + [3])
    rows = plain(in_ascii(ascii_only, histogram, values_ns, counts, [], 80, 12)).split("\n")
    arrow = "->" if ascii_only else "→"
    assert rows[0].endswith(f"3 beyond, to 90.0 us {arrow}")
    assert rows[-2].split()[-2:] == ["1.9", "us"]
    for shown in (
        # As many as one in two hundred are to be seen, a threshold too, and whatever hardly needs room.
        histogram(values_ns, np.array([9] * 100 + [5]), [], 80, 12),
        histogram(values_ns, counts, [], 80, 12, split=(80_000, True)),
        histogram(np.array([*values_ns[:-1], 2_150]), counts, [], 80, 12),
        histogram(values_ns, counts, [], 80, 12, axis="all"),
        histogram(values_ns, counts, [], 80, 12, axis="log"),
    ):
        assert "beyond" not in plain(shown)


@pytest.mark.parametrize(("launches", "most"), [(15, 8), (100, 20), (400, 40), (14, 66)])
def test_bins_are_no_more_than_about_two_roots_of_the_launches(launches: int, most: int) -> None:
    values_ns = np.arange(launches) * 1_009 + 10_000
    assert bin_columns(values_ns, 73, launches, log=False).max() + 1 == most


def test_zeros_stand_apart_on_a_logarithmic_axis() -> None:
    grid = histogram(np.array([0, 100, 10_000]), np.array([5, 5, 5]), [], 40, 10, axis="log")
    rows = plain(grid).split("\n")
    assert rows[0][LEFT : LEFT + 3] == "█ █"
    assert rows[-2][LEFT] == "0"


GOLDENS = {
    "clusters": (*THREE_PEAKS, THREE_CLUSTERS, {}),
    "log": (*DECADES, clusters_at(DECADES[0], 1_000_000), {"axis": "log"}),
}


@pytest.mark.parametrize(("size", "ascii_only"), [((80, 24), False), ((40, 10), True)])
@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str, size: tuple[int, int], ascii_only: bool) -> None:
    """As in golden/; run once with UPDATE_GOLDEN=1 to write them anew, and read the difference."""
    values_ns, counts, clusters, options = GOLDENS[name]
    text = plain(in_ascii(ascii_only, histogram, values_ns, counts, clusters, *size, **options)) + "\n"
    path = GOLDEN / f"histogram-{name}-{size[0]}x{size[1]}-{'ascii' if ascii_only else 'unicode'}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


def test_one_launch_is_one_launch_and_one_duration_has_one_form() -> None:
    one = np.array([5_000]), np.array([1])
    drawn = plain(histogram(*one, [], 40, 10))
    assert "5.00 us  1 launch\n" in drawn + "\n"
    assert drawn.count("5.00 us") == 2, "the axis and the legend"
    assert "5.000" not in drawn


def test_counts_in_the_legend_end_in_one_column() -> None:
    values_ns, counts = np.array([5_000, 90_000]), np.array([1, 1_200])
    *_, first, second = plain(histogram(values_ns, counts, [(5_000,) * 2, (90_000,) * 2], 40, 12)).split("\n")
    assert first.endswith("5.00 us      1 launch")
    assert second.endswith("90.0 us  1,200 launches")
    assert first.index(" launch") == second.index(" launch")


@pytest.mark.parametrize(("most", "rows"), [(1, 3), (2, 4), (7, 14), (15, 30), (40, 43)])
def test_one_launch_is_no_tower(most: int, rows: int) -> None:
    """In 45 rows: what is left below is blank, or the legend's."""
    values_ns, counts = np.array([10_000, 20_000, 90_000]), np.array([1, most, 1])
    grid = histogram(values_ns, counts, [], 80, 45)
    foot = int(np.flatnonzero(grid.glyph[:, 6] == "└")[0])
    assert foot == min(rows, 42)
    assert (grid.glyph[foot + 4 :] == " ").all()


# Two on one axis


def side(words: str, durations_ns: dict[int, int]) -> Side:
    """A side of so many launches a duration."""
    values = sorted(durations_ns)
    return Side(words, np.array(values, dtype=np.int64), np.array([durations_ns[ns] for ns in values]))


def rows_of(before: dict[int, int], after: dict[int, int], height: int, **options: bool) -> list[str]:
    sides = side("before: 9", before), side("after: 7", after)
    return plain(in_ascii(True, two_histograms, sides, 40, height, **options)).split("\n")


@pytest.mark.parametrize("height", [6, 8, 12])
@pytest.mark.parametrize("is_after", [False, True])
def test_one_bar_that_hides_others_has_both_counts_on_a_logarithmic_axis(is_after: bool, height: int) -> None:
    skewed, even = {1000: 2_001, 1500: 10, 2000: 10}, {1000: 8, 1500: 8, 2000: 8}
    rows = rows_of(*((even, skewed) if is_after else (skewed, even)), height)
    cut = rows.index("o after: 7")
    feet = [row.split()[0] for row in rows if "+-" in row]
    assert feet == (["0"] if height == 6 else ["log"] * (2 if height == 12 else 1))
    lower, upper = columns_of(rows[cut + 1 :], "o"), columns_of(rows[1:cut], "#")
    assert upper == lower or height == 6, "no bar is a speck"


def columns_of(rows: list[str], mark: str) -> set[int]:
    return {column for row in rows for column, glyph in enumerate(row) if glyph == mark and column >= 7}


@pytest.mark.parametrize("height", [6, 9, 10, 24])
@pytest.mark.parametrize("log", [False, True])
def test_a_duration_stands_in_the_same_column_on_both_sides(height: int, log: bool) -> None:
    rows = rows_of({1000: 5, 9000: 5}, {1000: 7, 5000: 7}, height, log=log)
    assert len(rows) == height
    cut = rows.index("o after: 7")
    assert rows[0] == "# before: 9"
    upper, lower = columns_of(rows[1:cut], "#"), columns_of(rows[cut + 1 :], "o")
    assert min(upper) == min(lower)
    assert max(upper) > max(lower) > min(lower)
    assert not columns_of(rows[1:cut], "o") | columns_of(rows[cut + 1 :], "#")


@pytest.mark.parametrize("is_after", [False, True])
def test_a_side_without_launches_is_a_caption_alone(is_after: bool) -> None:
    there: dict[int, int] = {1000: 5, 9000: 5}
    rows = rows_of({}, there, 12) if is_after else rows_of(there, {}, 12)
    captions = [number for number, row in enumerate(rows) if row[2:] in {"before: 9", "after: 7"}]
    assert captions == ([0, 1] if is_after else [0, 11])
    assert sum("+-" in row for row in rows) == 1
    assert max(row.count("o" if is_after else "#") for row in rows[2:11]) > 3
    assert sum("us" in row for row in rows) == 1


def test_only_the_lower_axis_has_labels() -> None:
    rows = rows_of({1000: 5}, {9000: 7}, 12)
    assert [number for number, row in enumerate(rows) if "us" in row] == [11]
    assert sum("+-" in row for row in rows) == 2, "two axes where there is room"
    assert sum("+-" in row for row in rows_of({1000: 5}, {9000: 7}, 9)) == 1
