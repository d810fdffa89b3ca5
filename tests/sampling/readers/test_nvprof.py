"""nvprof's GPU trace, in columns and as CSV: each cell's unit, copies left out, the order of the calls."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.profile.profile import Device
from sampling.readers import input_file
from tests.sampling.readers.launches_told import Told, read, refusal_of, told

BANNER = (
    "step 1: loss 0.3",
    "==18148== NVPROF is profiling process 18148, command: python train.py",
    "==18148== Profiling application: python train.py",
    "==18148== Profiling result:",
)
TITLES = (
    *("Start", "Duration", "Grid Size", "Block Size", "Regs*", "SSMem*", "DSMem*", "Size", "Throughput"),
    *("SrcMemType", "DstMemType", "Device", "Context", "Stream", "Name"),
)
WIDTHS = (8, 8, 19, 14, 8, 8, 8, 8, 10, 10, 10, 15, 8, 8, 0)


def in_columns(*cells: str) -> str:
    """Return a row as nvprof prints it: cells to the right of their columns, two blanks between them."""
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))


def kernel(start: str, duration: str, grid: str, block: str, stream: int, name: str) -> str:
    cells = (start, duration, grid, block, "12", "16.000KB", "0B", "-", "-", "-", "-", "Tesla P100-PCIE")
    return in_columns(*cells, "1", str(stream), name)


def copy(start: str, duration: str, name: str) -> str:
    cells = (start, duration, "-", "-", "-", "-", "-", "1.0625KB", "1.0907GB/s", "Device", "-")
    return in_columns(*cells, "Tesla P100-PCIE", "1", "79", name)


FILL = "void fill<int=4, Array<char*, int=1>>(int, long)"
GEMM, SGEMM = "maxwell_gcgemm_32x32_nt", "maxwell_fp16_sgemm_fp16_128x32_nn"
# Cells of a recording on a P100.
HEADER = in_columns(*TITLES)
ROWS = (
    copy("3.16135s", "2.1760us", "[CUDA memset]"),
    kernel("3.18776s", "3.9040us", "(1 1 1)", "(64 1 1)", 7, f"{FILL} [3062]"),
    kernel("5.48787s", "929ns", "(1 1 544)", "(64 2 1)", 146, f"{GEMM} [11368]"),
    kernel("5.48787s", "56.031us", "(1 1 544)", "(64 2 1)", 146, f"{GEMM} [11364]"),
    kernel("18.0542s", "1.39785ms", "(8 1 1)", "(256 1 1)", 192, f"{SGEMM} [2632814]"),
    copy("18.0543s", "4.7030us", "[CUDA memcpy DtoD]"),
)
NOTES = (
    "",
    "Regs: Number of registers used per CUDA thread. This number includes registers used internally.",
    "SSMem: Static shared memory allocated per CUDA block.",
)
#: In the order of the numbers in brackets, which is that of the API calls.
LAUNCHES = [
    Told(0, 0, FILL, 3_187_760_000, 3_904, 7, (1, 1, 1), (64, 1, 1)),
    Told(0, 0, GEMM, 5_487_870_000, 56_031, 146, (1, 1, 544), (64, 2, 1)),
    Told(0, 0, GEMM, 5_487_870_000, 929, 146, (1, 1, 544), (64, 2, 1)),
    Told(0, 0, SGEMM, 18_054_200_000, 1_397_850, 192, (8, 1, 1), (256, 1, 1)),
]

CSV_HEADER = (
    '"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Registers Per Thread",'
    '"Static SMem","Dynamic SMem","Size","Throughput","SrcMemType","DstMemType","Device","Context",'
    '"Stream","Name"'
)
CSV_ROWS = (
    "s,us,,,,,,,,KB,B,KB,MB/s,,,,,,",
    '3.161350,2.176000,,,,,,,,,,0.003906,1.753100,"Device",,"Tesla P100 (2)","1","78","[CUDA memset]"',
    f'3.187760,3.904000,1,1,1,64,1,1,12,0.000000,0,,,,,"Tesla P100 (2)","1","7","{FILL} [3062]"',
    f'5.487870,0.929000,1,1,544,64,2,1,128,12.000000,0,,,,,"Tesla P100 (2)","1","146","{GEMM} [11368]"',
    f'5.487870,56.031000,1,1,544,64,2,1,128,12.000000,0,,,,,"Tesla P100 (2)","1","146","{GEMM} [11364]"',
    f'18.054200,1397.850000,8,1,1,256,1,1,53,16.000000,0,,,,,"Tesla P100 (2)","1","192","{SGEMM} [2632814]"',
)


def written(folder: Path, *parts: Sequence[str], name: str = "trace.txt") -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for part in parts for line in part))
    return path


def test_printed_in_columns(tmp_path: Path) -> None:
    profile = read(written(tmp_path, BANNER, [HEADER], ROWS, NOTES))
    assert told(profile) == LAUNCHES
    assert profile.format == "nvprof"
    assert profile.facts.launch_order == "correlation"
    assert profile.facts.devices == (Device(0, "Tesla P100-PCIE"),)


def test_printed_as_csv(tmp_path: Path) -> None:
    profile = read(written(tmp_path, BANNER, [CSV_HEADER], CSV_ROWS))
    assert told(profile) == [launch._replace(device=2) for launch in LAUNCHES]
    assert profile.facts.devices == (Device(2, "Tesla P100"),)


def test_without_numbers_equal_starts_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    bare = [row.rpartition(" [")[0] if row.endswith("]") and "[CUDA" not in row else row for row in ROWS]
    profile = read(written(tmp_path, BANNER, [HEADER], bare, NOTES))
    assert told(profile) == [LAUNCHES[place] for place in (0, 2, 1, 3)]
    assert profile.facts.launch_order == "gpu-start"


@pytest.mark.parametrize(("header", "rows"), [(HEADER, ROWS), (CSV_HEADER, CSV_ROWS)])
def test_pieces_meet_anywhere_and_gzip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: str, rows: Sequence[str]
) -> None:
    path = written(tmp_path, BANNER, [header], rows, NOTES)
    whole = told(read(path))
    (tmp_path / "trace.gz").write_bytes(gzip.compress(path.read_bytes()))
    for size in (1, 100, 257):
        monkeypatch.setattr(input_file, "PIECE_BYTES", size)
        assert told(read(path)) == told(read(tmp_path / "trace.gz")) == whole


@pytest.mark.parametrize("name", ["f(int,\tlong)", "[anonymous]", "f [clone 1]", 'a "b"'])
def test_odd_names(tmp_path: Path, name: str) -> None:
    """A tab in a name does not part it, brackets of its own stay."""
    row = kernel("3.18776s", "3.9040us", "(1 1 1)", "(64 1 1)", 7, name)
    both = [row + " [3062]", kernel("3.2s", "1ns", "(1 1 1)", "(64 1 1)", 7, "g [1]")]
    assert [launch.name for launch in told(read(written(tmp_path, BANNER, [HEADER], both)))] == ["g", name]
    profile = read(written(tmp_path, BANNER, [HEADER], [row, both[1]]))
    assert [launch.name for launch in told(profile)] == [name, "g"]
    assert profile.facts.launch_order == "gpu-start"


@pytest.mark.parametrize(
    ("place", "find", "put", "column", "said"),
    [
        (1, "(64 1 1)", "       -", "Block Size", "without blocks"),
    ],
)
def test_what_is_wrong_in_columns_is_told_with_its_place(
    tmp_path: Path, place: int, find: str, put: str, column: str | None, said: str
) -> None:
    rows = list(ROWS)
    rows[place] = rows[place].replace(find, put)
    error = refusal_of(written(tmp_path, BANNER, [HEADER], rows))
    assert (error.row, error.column) == (6 + place + put.count("\n"), column)
    assert said in str(error)


@pytest.mark.parametrize(
    ("find", "put", "first"),
    [
        ("3.9040us", "3.9040ly", "column Duration: '3.9040ly' is not a time with a unit that is known"),
        ("3.9040us", "-3.904us", "column Duration: '-3.904us' is not a time with a unit that is known"),
        ("3.18776s", "3.18776", "column Start: '3.18776' is not a time with a unit that is known"),
        ("(64 1 1)", "(64 1 x)", "column Block Size: '(64 1 x)' is not one to three whole numbers"),
        ("       7  ", "      x7  ", "column Stream: 'x7' is not a number that fits here"),
    ],
)
def test_a_row_in_columns_that_is_no_launch_is_left_out(
    tmp_path: Path, find: str, put: str, first: str
) -> None:
    rows = list(ROWS)
    rows[1] = rows[1].replace(find, put)
    whole = read(written(tmp_path, BANNER, [HEADER], ROWS))
    profile = read(written(tmp_path, BANNER, [HEADER], rows))
    assert (profile.launches, profile.facts.rows_left_out) == (whole.launches - 1, 1)
    assert (profile.facts.first_left_out or "").startswith(f"row 7, {first}")


def test_a_launch_of_csv_without_a_start_is_kept(tmp_path: Path) -> None:
    rows = list(CSV_ROWS)
    start = rows[2].split(",")[0]
    rows[2] = rows[2].removeprefix(start)
    profile = read(written(tmp_path, BANNER, [CSV_HEADER], rows))
    assert profile.launches == read(written(tmp_path, BANNER, [CSV_HEADER], CSV_ROWS)).launches
    assert profile.facts.without_start == 1


@pytest.mark.parametrize(
    ("place", "find", "put", "column", "said"),
    [
        (0, "s,us,", "s,,", None, "unit of time"),
        (2, "3.904000", "3.904.000", "Duration", "'3.904.000'"),
    ],
)
def test_what_is_wrong_in_csv_is_told_with_its_place(
    tmp_path: Path, place: int, find: str, put: str, column: str | None, said: str
) -> None:
    rows = list(CSV_ROWS)
    rows[place] = rows[place].replace(find, put)
    error = refusal_of(written(tmp_path, BANNER, [CSV_HEADER], rows))
    assert (error.row, error.column) == (6 + place, column)
    assert said in str(error)


@pytest.mark.parametrize(
    ("find", "put", "first"),
    [
        ("3.904000", "-3.904000", "column Duration: a launch lasts -3,904 ns"),
        ("3.904000", "soon", "column Duration: 'soon' is not a number that fits here"),
        ("3.904000,1,1,1,", "3.904000,1,1,", "column Name: 18 cells where the header names 19"),
    ],
)
def test_a_row_of_csv_that_is_no_launch_is_left_out(tmp_path: Path, find: str, put: str, first: str) -> None:
    rows = list(CSV_ROWS)
    rows[2] = rows[2].replace(find, put)
    profile = read(written(tmp_path, BANNER, [CSV_HEADER], rows))
    assert profile.launches == read(written(tmp_path, BANNER, [CSV_HEADER], CSV_ROWS)).launches - 1
    assert profile.facts.first_left_out == f"row 8, {first}"


def test_a_header_with_a_quote_in_it_is_refused(tmp_path: Path) -> None:
    error = refusal_of(written(tmp_path, BANNER, [HEADER.replace("Stream", '"tream')], ROWS))
    assert "lacks a column" in str(error)


def test_a_line_of_the_programs_own_among_the_rows_is_left_out(tmp_path: Path) -> None:
    rows = [*ROWS[:2], "Traceback of the program", *ROWS[2:]]
    profile = read(written(tmp_path, BANNER, [HEADER], rows))
    assert told(profile) == told(read(written(tmp_path, BANNER, [HEADER], ROWS)))
    assert profile.facts.rows_left_out == 1


def test_two_processes_in_one_file_are_refused(tmp_path: Path) -> None:
    error = refusal_of(written(tmp_path, BANNER, [HEADER], ROWS, BANNER[3:], [HEADER], ROWS))
    assert error.row == 4 + 1 + 6 + 1 + 1
    assert "--log-file" in str(error.remedy)


@pytest.mark.parametrize("rows", [(), ROWS[:1], NOTES])
def test_a_trace_without_kernels_is_refused(tmp_path: Path, rows: Sequence[str]) -> None:
    assert "lists no kernel" in str(refusal_of(written(tmp_path, BANNER, [HEADER], rows)))
    assert "lists no kernel" in str(refusal_of(written(tmp_path, BANNER, [CSV_HEADER], CSV_ROWS[:2])))


UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


@given(
    rows=st.lists(
        st.tuples(
            st.text("abcXYZ_<>(),*=:0123456789", min_size=1),
            st.integers(1, 999_999),
            st.integers(0, 999_999),
            st.sampled_from(sorted(UNITS)),
            st.sampled_from(["us", "ms", "s"]),
            st.tuples(*[st.integers(1, 65_535)] * 3),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_what_is_printed_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int, int, str, str, tuple[int, int, int]]]
) -> None:
    """All have a start: one at 0, far before all others, would have none."""
    printed, launches = [], []
    for number, (name, start, thousandths, start_unit, unit, grid) in enumerate(rows):
        size = "({} {} {})".format(*grid)
        took = f"{thousandths // 1000}.{thousandths % 1000:03d}{unit}"
        sizes = (f"{start}{start_unit}", took, size, "(64 1 1)", "12", "0B", "0B", *"----")
        printed.append(in_columns(*sizes, "GPU (3)", "1", str(number), f"k{name}k [{number}]"))
        duration = thousandths * UNITS[unit] // 1000
        launches.append(
            Told(0, 3, f"k{name}k", start * UNITS[start_unit], duration, number, grid, (64, 1, 1))
        )
    path = written(tmp_path_factory.mktemp("nvprof"), BANNER, [HEADER], printed, NOTES)
    assert told(read(path)) == launches
