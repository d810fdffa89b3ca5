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
CHATTER = (
    b'==PROF== Connected to process 7 (/bin/app)\nresult, 1, 2\n==PROF== Profiling "f": 0%....100% - 9\n'
)


def quoted(*rows: Sequence[object]) -> bytes:
    """Return rows as Nsight Compute writes them: every cell in quotes."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def cells(
    launch: int, kernel: str = "f", *, process: int = 7, grid: str = "(64, 3, 1)", device: object = 0
) -> list[object]:
    """Return the cells that identify a launch."""
    return [launch, process, "app", "host", kernel, 1, 7, "(16, 2, 1)", grid, device, "8.0"]


def details(*rows: Sequence[object]) -> bytes:
    """Return a details page: metric rows have 15 cells and an empty one, as printed."""
    body = b"".join(quoted(row).replace(b"\n", b",\n") if len(row) == 15 else quoted(row) for row in rows)
    return quoted([*IDENTITY, *SHAPE, *METRIC, *SPEEDUP]) + body


def raw(metrics: Sequence[str], units: Sequence[str], *rows: Sequence[object]) -> bytes:
    """Return a raw page."""
    return quoted([*IDENTITY, *SHAPE, *metrics], [*[""] * 11, *units], *rows)


def read(folder: Path, content: bytes, locale: NumberLocale = "C") -> FeatureRows:
    """Read bytes as a file of features."""
    path = folder / "features"
    path.write_bytes(content)
    return read_features(str(path), locale=locale)


def values(rows: FeatureRows, name: str) -> list[float]:
    """Return the values of a metric."""
    return np.asarray(rows.features.metrics[name]).tolist()


def test_rules_chatter_and_program_output_are_no_rows(tmp_path: Path) -> None:
    rule = [*cells(0), "SpeedOfLight", "", "", "", "SOL", "OPT", 'Low, "very" low, 31,87 of it', "", ""]
    body = details([*cells(0), "A", "x", "usecond", "2"], rule, [*cells(1), "A", "x", "ms", "3"])
    first, second, rest = body.split(b"\n", 2)
    chatter = b"==WARNING== slow\nstep 3, loss 31,87\n1,2,3"
    rows = read(tmp_path, CHATTER + b"\n".join([first, second, chatter, rest]))
    assert values(rows, "x") == [2_000, 3_000_000]
    assert rows.line.tolist() == [5, 10]


def test_one_name_in_two_sections(tmp_path: Path) -> None:
    same = [
        [*cells(0), "A", "same", "", "1"],
        [*cells(0), "B", "same", "", "1"],
        [*cells(1), "B", "same", "", "4"],
    ]
    other = [
        [*cells(0), "A", "other", "", "1"],
        [*cells(0), "B", "other", "", "2"],
        [*cells(1), "A", "other", "", "5"],
    ]
    rows = read(tmp_path, details(*same, *other))
    assert set(rows.features.metrics) == {"same", "other", "B: other"}
    assert (values(rows, "same"), values(rows, "other")) == ([1, 4], [1, 5])
    np.testing.assert_array_equal(values(rows, "B: other"), [2, np.nan])


def test_ids_put_launches_in_order_within_their_process(tmp_path: Path) -> None:
    page = [[*cells(2, process=9), "12"], [*cells(0, process=9), "10"], [*cells(1, process=3), "1"]]
    rows = read(tmp_path, raw(["m"], [""], *page))
    assert values(rows, "m") == [1, 10, 12]
    assert rows.process is not None
    assert (rows.process.tolist(), rows.line.tolist()) == ([3, 9, 9], [5, 4, 3])
    assert rows.id is None


def test_the_raw_page_scales_by_its_second_row(tmp_path: Path) -> None:
    launches = [
        [*cells(0), "31.872000", "n/a", "CachePreferNone", "1"],
        [*cells(1, "g"), "1,031.5", "5", "CachePreferNone", "2"],
    ]
    page = raw(["t", "n", "text", "unknown"], ["usecond", "inst", "", "furlong"], *launches)
    rows = read(tmp_path, CHATTER + page)
    assert values(rows, "t") == pytest.approx([31_872, 1_031_500])
    np.testing.assert_array_equal(values(rows, "n"), [np.nan, 5])
    assert values(rows, "unknown") == [1, 2]
    assert rows.features.units == {"t": "ns", "n": "inst", "unknown": "furlong"}
    assert "text" not in rows.features.metrics
    header, _, first, second = page.splitlines(keepends=True)
    rows = read(tmp_path, header + first + second)
    assert values(rows, "t") == [31.872, 1031.5]
    assert rows.features.units == {}


def test_german_numbers_need_the_option(tmp_path: Path) -> None:
    page = details([*cells(0), "A", "Duration", "us", "31,87"], [*cells(0), "A", "Cycles", "cycle", "30.221"])
    with pytest.raises(ProfileError, match=r"row 2, column Metric Value: '31,87'.*`number_locale=de_DE`"):
        read(tmp_path, page)
    rows = read(tmp_path, page, "de_DE")
    assert values(rows, "Duration")[0] == pytest.approx(31_870)
    assert values(rows, "Cycles") == [30_221]
    wide = raw(["c"], ["cycle"], [*cells(0), "5195632,000000"])
    assert values(read(tmp_path, wide, "de_DE"), "c") == [5_195_632]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (raw(["m"], [""]), "without a single launch"),
        (details(), "without a single launch"),
        (
            raw(["m"], [""], [*cells(4), "1"], [*cells(4), "1"]),
            "row 4: this launch's ID stands in row 3 already",
        ),
        (raw(["m"], [""], [*cells(0), "1"], [*cells(1), "x"]), "row 4, column m: not a number"),
        (raw(["m"], [""], [*cells(0, grid="many"), "1"]), "row 3, column Grid Size: 'many'"),
        (raw(["m"], [""], [*cells(0, device="x"), "1"]), "row 3, column Device"),
        (
            details([*cells(0), "A", "m", "", "1"], [*cells(0, "g"), "A", "m", "", "1"]),
            "row 3, column ID: an ID stands for two kernels",
        ),
        (raw(["m"], [""], [*cells(0), "1"]) * 2, "several Nsight Compute reports"),
        (raw(["m"], [""], [*cells(0), "1"])[:-8] + b"\n", "row 3"),
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
