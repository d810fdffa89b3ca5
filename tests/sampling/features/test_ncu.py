"""Nsight Compute's CSV: both pages, their units, the lines around them, and the launches' identity."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from ncu_file import as_ncu_spells

from sampling.errors import ProfileError
from sampling.features.reading import FeatureRows, read_features
from sampling.readers.table import NumberLocale
from tests import small_recordings

IDENTITY = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name"]
METRIC = ["Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type"]
SHAPE = ["Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]
SPEEDUP = ["Rule Description", "Estimated Speedup Type", "Estimated Speedup"]
DETAILS = [*IDENTITY, *SHAPE, *METRIC, *SPEEDUP]
CHATTER = (
    b'==PROF== Connected to process 7 (/bin/app)\nresult, 1, 2\n==PROF== Profiling "f": 0%....100% - 9\n'
)


def quoted(*rows: Sequence[object]) -> bytes:
    """Return rows as Nsight Compute writes them: every cell in quotes."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def metric(launch: int, section: str, name: str, unit: str, value: str, *, kernel: str = "f") -> list[object]:
    """Return a row of the details page: 15 cells and an empty one."""
    cells: list[object] = [launch, 7, "app", "host", kernel, 1, 7, "(16, 2, 1)", "(64, 3, 1)", 0, "8.0"]
    return [*cells, section, name, unit, value]


def details(*rows: Sequence[object]) -> bytes:
    """Return a details page: metric rows end in a comma, as printed."""
    body = b"".join(quoted(row).replace(b"\n", b",\n") if len(row) == 15 else quoted(row) for row in rows)
    return quoted(DETAILS) + body


def rule(launch: int) -> list[object]:
    """Return the row of a rule, with a comma and a quote in its text."""
    cells: list[object] = [launch, 7, "app", "host", "f", 1, 7, "(16, 2, 1)", "(64, 3, 1)", 0, "8.0"]
    return [*cells, "SpeedOfLight", "", "", "", "SOL", "OPT", 'Low, "very" low, 31,87 of it', "", ""]


def raw(metrics: Sequence[str], units: Sequence[str], *rows: Sequence[object]) -> bytes:
    """Return a raw page; a row is (id, process, name, grid, block, device, values...)."""
    header = [*IDENTITY, *SHAPE]
    body = [
        [row[0], row[1], "app", "host", row[2], 1, 7, row[4], row[3], row[5], "8.0", *row[6:]] for row in rows
    ]
    return quoted([*header, *metrics], [*[""] * 11, *units], *body)


def read(folder: Path, content: bytes, locale: NumberLocale = "C") -> FeatureRows:
    """Read bytes as a file of features."""
    path = folder / "features"
    path.write_bytes(content)
    return read_features(str(path), locale=locale)


def values(rows: FeatureRows, name: str) -> list[float]:
    """Return the values of a metric."""
    return np.asarray(rows.features.metrics[name]).tolist()


def test_rules_chatter_and_program_output_are_no_rows(tmp_path: Path) -> None:
    body = details(metric(0, "A", "x", "usecond", "2"), rule(0), metric(1, "A", "x", "ms", "3"))
    first, rest = body.split(b"\n", 1)
    second, rest = rest.split(b"\n", 1)
    noisy = CHATTER + first + b"\n" + second + b"\n==WARNING== slow\nstep 3, loss 31,87\n1,2,3\n" + rest
    rows = read(tmp_path, noisy)
    assert values(rows, "x") == [2_000, 3_000_000]
    assert rows.line.tolist() == [5, 10]


def test_one_name_in_two_sections(tmp_path: Path) -> None:
    same = [metric(0, "A", "same", "", "1"), metric(0, "B", "same", "", "1"), metric(1, "B", "same", "", "4")]
    other = [
        metric(0, "A", "other", "", "1"),
        metric(0, "B", "other", "", "2"),
        metric(1, "A", "other", "", "5"),
    ]
    rows = read(tmp_path, details(*same, *other))
    assert set(rows.features.metrics) == {"same", "other", "B: other"}
    assert values(rows, "same") == [1, 4]
    assert values(rows, "other") == [1, 5]
    np.testing.assert_array_equal(values(rows, "B: other"), [2, np.nan])


def test_ids_put_launches_in_order_within_their_process(tmp_path: Path) -> None:
    page = raw(
        ["m"],
        [""],
        (2, 9, "f", "(1, 1, 1)", "(1, 1, 1)", 0, "12"),
        (0, 9, "f", "(1, 1, 1)", "(1, 1, 1)", 0, "10"),
        (1, 3, "f", "(1, 1, 1)", "(1, 1, 1)", 0, "1"),
    )
    rows = read(tmp_path, page)
    assert values(rows, "m") == [1, 10, 12]
    assert rows.process is not None
    assert rows.process.tolist() == [3, 9, 9]
    assert rows.id is None
    assert rows.line.tolist() == [5, 4, 3]


def test_the_raw_page_scales_by_its_second_row(tmp_path: Path) -> None:
    page = raw(
        ["t", "n", "text"],
        ["usecond", "inst", ""],
        (0, 7, "f", "(64, 3, 1)", "(16, 2, 1)", 0, "31.872000", "n/a", "CachePreferNone"),
        (1, 7, "g", "(1, 1, 1)", "(32, 1, 1)", 0, "1,031.5", "5", "CachePreferNone"),
    )
    rows = read(tmp_path, CHATTER + page)
    assert values(rows, "t") == pytest.approx([31_872, 1_031_500])
    np.testing.assert_array_equal(values(rows, "n"), [np.nan, 5])
    assert rows.features.units == {"t": "ns", "n": "inst"}
    assert "text" not in rows.features.metrics


def test_without_known_units_values_are_as_printed(tmp_path: Path) -> None:
    launch = (0, 7, "f", "(1, 1, 1)", "(1, 1, 1)", 0, "1", "2")
    page = raw(["a", "b"], ["inst", "furlong"], launch)
    rows = read(tmp_path, page)
    assert values(rows, "b") == [2]
    lines = page.splitlines(keepends=True)
    rows = read(tmp_path, lines[0] + lines[2])
    assert (values(rows, "a"), dict(rows.features.units)) == ([1], {})


def test_german_numbers_need_the_option(tmp_path: Path) -> None:
    page = details(
        metric(0, "A", "Duration", "us", "31,87"), metric(0, "A", "Elapsed Cycles", "cycle", "30.221")
    )
    with pytest.raises(ProfileError, match=r"row 2, column Metric Value: '31,87'.*`number_locale=de_DE`"):
        read(tmp_path, page)
    rows = read(tmp_path, page, "de_DE")
    assert values(rows, "Duration")[0] == pytest.approx(31_870)
    assert values(rows, "Elapsed Cycles") == [30_221]
    wide = raw(["c"], ["cycle"], (0, 7, "f", "(1, 1, 1)", "(1, 1, 1)", 0, "5195632,000000"))
    assert values(read(tmp_path, wide, "de_DE"), "c") == [5_195_632]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (raw(["m"], [""]), "without a single launch"),
        (details(), "without a single launch"),
        (
            raw(["m"], [""], *[(4, 7, "f", "(1, 1, 1)", "(1, 1, 1)", 0, "1")] * 2),
            "row 4: this launch's ID stands in row 3 already",
        ),
        (
            raw(
                ["m"],
                [""],
                (0, 7, "f", "(1, 1, 1)", "(1, 1, 1)", 0, "1"),
                (1, 7, "f", "(1, 1, 1)", "(1, 1, 1)", 0, "x"),
            ),
            "row 4, column m: not a number",
        ),
        (raw(["m"], [""], (0, 7, "f", "many", "(1, 1, 1)", 0, "1")), "row 3, column Grid Size: 'many'"),
        (raw(["m"], [""], (0, 7, "f", "(1, 1, 1)", "(1, 1, 1)", "x", "1")), "row 3, column Device"),
        (
            details(metric(0, "A", "m", "", "1"), metric(0, "A", "m", "", "1", kernel="g")),
            "row 3, column ID: an ID stands for two kernels",
        ),
        (
            raw(["m"], [""], (0, 7, "f", "(1, 1, 1)", "(1, 1, 1)", 0, "1")) * 2,
            "several Nsight Compute reports",
        ),
        (raw(["m"], [""], (0, 7, "f", "(1, 1, 1)", "(1, 1, 1)", 0, "1"))[:-8] + b"\n", "row 3"),
    ],
)
def test_a_wrong_report_is_refused_with_its_row(tmp_path: Path, page: bytes, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        read(tmp_path, page)
    assert message in str(caught.value)
    assert caught.value.remedy


def numbers_printed(path: Path) -> list[str]:
    """Return the values of a details page that are numbers, as its text has them."""
    with path.open(newline="") as stream:
        printed = [cells[14] for cells in csv.reader(stream) if len(cells) == 16]
    return [value for value in printed if value.replace(",", "").replace(".", "").isdigit()]


def test_a_small_details_page_reads_as_its_text_says(tmp_path: Path) -> None:
    path = small_recordings.ncu_details(tmp_path)
    rows, launches = read_features(str(path)), small_recordings.images().launches
    assert (rows.format, len(rows)) == ("ncu-details", len(launches))
    # Durations are printed with two decimals of a microsecond or of a millisecond.
    for found, launch in zip(values(rows, "Duration"), launches, strict=True):
        assert found == pytest.approx(launch.times.duration_ns, rel=0.05, abs=5)
    assert values(rows, "Registers Per Thread") == [launch.kernel.registers for launch in launches]
    assert rows.grid is not None
    assert rows.grid.tolist() == [list(launch.grid) for launch in launches]
    assert rows.name is not None
    assert [rows.names[code] for code in rows.name] == [as_ncu_spells(each.kernel.name) for each in launches]
    # Every metric row of the file is a value of a launch, but for those that are text.
    known = sum(int(np.isfinite(column).sum()) for column in rows.features.metrics.values())
    assert known == len(numbers_printed(path))
