"""`project`: its numbers, its forms, what it asks for and what it refuses."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

Run = Any
Kernelpoint = Callable[..., Run]

HEADER = "cycle,instructions,ctas\n"
JSON = ("--format", "json")


def rows_of(records: int, instructions: int = 5000, ctas: int = 3) -> str:
    """A steady kernel, a record every 500 cycles."""
    return "".join(f"{500 * i},{instructions},{ctas}\n" for i in range(1, records + 1))


STEADY = HEADER + rows_of(100)
RESTLESS = "".join(f"{500 * i},{20_000 * (i % 2)},3\n" for i in range(1, 81))
THREE = (
    "kernel,cycle,instructions,ctas\n"
    + "".join(f"gemm_nn,{row}\n" for row in rows_of(60).splitlines())
    + "".join(f"axpy,{row}\n" for row in RESTLESS.splitlines())
    + "".join(f"gemm_tn,{row}\n" for row in rows_of(20).splitlines())
)
VISUALIZER = "".join(
    f"ctas_completed: 3\nshaderinsncount:  {'9 ' * 6}\nglobalcyclecount: {500 * i}\n"
    f"globalinsncount: {5000 * i}\nglobaltotinsncount: 0\n"
    for i in range(1, 101)
)
STDOUT = """-kernel name = _Z4gemmPf
-grid dim = (150,2,1)
GPGPU-Sim uArch: CTA/core = 3, limited by: regs
kernel_name = _Z4gemmPf
gpu_sim_cycle = 50200
gpu_sim_insn = 501000
"""


@pytest.fixture
def log(tmp_path: Path) -> Callable[[str], Path]:
    """Write a log and return where it is."""

    def write(text: str, name: str = "log") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


WAVE = ("--ctas-per-sm", "5", "--sms", "8")


def test_the_contract(kernelpoint: Kernelpoint, log: Callable[[str], Path], schemas: ModuleType) -> None:
    run = kernelpoint("project", log(STEADY), *WAVE, *JSON)
    jsonschema.validate(run.json, schemas.envelope("project"))
    (row,) = run.results
    assert list(row)[:6] == ["kernel", "stopped", "cycle", "projected_cycles", "speedup", "reason"]
    assert row["kernel"] == "kernel 1"
    assert row["stopped"] is True
    assert row["cycle"] == 7000  # 42 CTAs are done, 40 needed
    assert row["projected_cycles"] == row["total_cycles"] == row["cycles_logged"] == 50_000
    assert row["speedup"] == 50_000 / 7000
    assert (row["wave"], row["ctas_needed"], row["ctas_done"]) == (40, 40, 42)
    assert (row["error"], row["ipc"], row["total_cycles_from"]) == (0, 10, "log")
    assert run.err == ""
    assert run.json["warnings"] == []


@pytest.mark.parametrize("source", [(), ("--from", "csv")])
def test_without_options_it_answers_and_says_what_is_missing(
    kernelpoint: Kernelpoint, log: Callable[[str], Path], source: tuple[str, ...]
) -> None:
    run = kernelpoint("project", log(STEADY), *source, *JSON)
    (row,) = run.results
    assert (row["stopped"], row["cycle"], row["ctas_needed"], row["wave"]) == (True, 15_000, 90, None)
    assert run.json["warnings"] == ["wave-unknown"]
    assert "--ctas-per-sm and --sms" in run.err
    assert kernelpoint("project", log(STEADY), "--quiet").err == ""
    assert "give --sms" in kernelpoint("project", log(STEADY), "--ctas-per-sm", "5").err


def test_a_kernel_that_never_steadies_runs_to_its_end(
    kernelpoint: Kernelpoint, log: Callable[[str], Path]
) -> None:
    (row,) = kernelpoint("project", log(HEADER + RESTLESS), *WAVE, *JSON).results
    assert (row["stopped"], row["cycle"], row["speedup"]) == (False, 40_000, 1)
    assert "never steady" in row["reason"]
    (row,) = kernelpoint("project", log(HEADER + RESTLESS), *WAVE, "--stability", "9", *JSON).results
    assert row["stopped"]


def test_the_window_is_an_option(kernelpoint: Kernelpoint, log: Callable[[str], Path]) -> None:
    (row,) = kernelpoint("project", log(STEADY), *WAVE, "--window", "9000", *JSON).results
    assert row["cycle"] == 9000


def test_a_log_cut_short_is_projected_from_what_is_given(
    kernelpoint: Kernelpoint, log: Callable[[str], Path]
) -> None:
    path = log(STEADY)
    (row,) = kernelpoint("project", path, *WAVE, "--instructions", "2000000", *JSON).results
    assert row["projected_cycles"] == 7000 + (2_000_000 - 70_000) / 10
    assert row["total_cycles"] is row["error"] is None
    assert row["projected_by"] == "instructions"
    for given in (("--ctas", "1200"), ("--grid", "20x20x3"), ("--grid", "600,2")):
        (row,) = kernelpoint("project", path, *WAVE, *given, *JSON).results
        # Of 42 done in 14 records, the last 40 ended after 0.5, 1.5, ... 13.5 records' work: 1, 3, ... 3.
        ended = (0.5 + 3 * sum(range(1, 14)) + 3 * 13 * 0.5) / 40
        assert row["projected_cycles"] == pytest.approx(1200 / (42 * 14 / ended) * 7000)
        assert row["projected_by"] == "ctas"


def test_the_artifacts_rule_counts_in_ctas(kernelpoint: Kernelpoint, log: Callable[[str], Path]) -> None:
    (row,) = kernelpoint("project", log(STEADY), *WAVE, "--artifact", *JSON).results
    assert row["projected_cycles"] == 300 / 43 * 7000
    assert row["error"] == pytest.approx(1 - 300 / 43 * 7000 / 50_000)


def test_a_visualizer_log_and_the_output_beside_it(
    kernelpoint: Kernelpoint, log: Callable[..., Path], tmp_path: Path
) -> None:
    packed = tmp_path / "visualizer.log.gz"
    packed.write_bytes(gzip.compress(VISUALIZER.encode()))
    (row,) = kernelpoint("project", packed, log(STDOUT, "stdout.txt"), *JSON).results
    assert (row["kernel"], row["wave"], row["total_ctas"]) == ("_Z4gemmPf", 18, 300)
    assert (row["cycle"], row["total_cycles"], row["total_cycles_from"]) == (3000, 50_200, "simulator")
    assert row["projected_cycles"] == 3000 + (501_000 - 30_000) / 10
    assert row["error"] == pytest.approx(100 / 50_200)
    piped = kernelpoint("project", "-", "--from", "accel-sim", *JSON, stdin=packed.read_bytes())
    assert piped.results[0]["cycle"] == 15_000
    assert "give --ctas-per-sm\n" in piped.err  # the log itself shows 6 cores


def test_a_visualizer_log_alone_may_count_ctas_of_other_kernels(
    kernelpoint: Kernelpoint, log: Callable[..., Path]
) -> None:
    alone = kernelpoint("project", log(VISUALIZER), *JSON)
    assert alone.json["warnings"] == ["wave-unknown", "carried-ctas"]
    assert "may also count the last CTAs of kernels before it; the simulator's stdout" in alone.err
    # A grid below what the log counts is no mistake of who gives it: 250 of the 300 may be the kernel's own.
    (row,) = kernelpoint("project", log(VISUALIZER), *WAVE, "--ctas", "250", *JSON).results
    assert (row["total_ctas"], row["cycle"]) == (250, 7000)
    known = kernelpoint("project", log(VISUALIZER), log(STDOUT, "stdout"), *JSON)
    assert known.json["warnings"] == []
    assert known.err == ""


def test_numbers_that_may_be_lengths_or_cycles_are_3(
    kernelpoint: Kernelpoint, log: Callable[[str], Path]
) -> None:
    rows = "".join(f"{cycle},5000,3\n" for cycle in (500, 500, 300, 500, 500))
    said = kernelpoint("project", log(HEADER + rows)).failed(3)
    assert "row 3, column cycle" in said
    assert "interval_cycles" in said


def test_several_kernels_are_a_row_each(kernelpoint: Kernelpoint, log: Callable[[str], Path]) -> None:
    path = log(THREE)
    rows = kernelpoint("project", path, *WAVE, *JSON).results
    assert [row["kernel"] for row in rows] == ["gemm_nn", "axpy", "gemm_tn"]
    assert [row["number"] for row in rows] == [1, 2, 3]
    assert [row["stopped"] for row in rows] == [True, False, True]
    rows = kernelpoint("project", path, *WAVE, "--instructions", "gemm=9000000", *JSON).results
    assert [row["total_instructions"] for row in rows] == [9_000_000, 800_000, 9_000_000]
    words = ("--ctas", "#3=700", "--ctas-per-sm", "axpy=7", "--sms", "8", "--ctas-per-sm", "#1=5")
    run = kernelpoint("project", path, *words, *JSON)
    assert [row["total_ctas"] for row in run.results] == [180, 240, 700]
    assert [row["wave"] for row in run.results] == [40, 56, None]
    assert "(1 of 3 kernels)" in run.err


def test_the_chart_is_of_the_longest_kernel_or_the_one_asked_for(
    kernelpoint: Kernelpoint, log: Callable[[str], Path]
) -> None:
    path = log(THREE)
    assert kernelpoint("project", path, *WAVE).out.startswith("#2 axpy\n")
    assert kernelpoint("project", path, *WAVE, "--kernel", "#3").out.startswith("#3 gemm_tn\n")
    several = kernelpoint("project", path, *WAVE, "-k", "gemm")
    assert several.out.startswith("#1 gemm_nn\n")
    assert "fits 2 kernels" in several.err
    assert kernelpoint("project", path, *WAVE, "-k", "gemm", "--quiet").err == ""


@pytest.mark.parametrize("columns", [40, 60, 80, 132])
def test_the_human_form_keeps_to_the_width(
    kernelpoint: Kernelpoint, log: Callable[[str], Path], columns: int
) -> None:
    lines = kernelpoint("project", log(THREE), *WAVE, COLUMNS=str(columns)).out.splitlines()
    table = next(i for i, line in enumerate(lines) if line.startswith("#  kernel"))
    assert max(map(len, lines[:table])) <= columns
    assert max(map(len, lines)) <= max(columns, 66)
    assert len(lines[table : table + 4]) == 4


def test_sentences_stay_readable_however_narrow(kernelpoint: Kernelpoint, log: Callable[[str], Path]) -> None:
    lines = kernelpoint("project", log(STEADY), *WAVE, "--width", "10").out.splitlines()
    assert lines[-1] == "* the log's end, taken for the kernel's"
    table = next(i for i, line in enumerate(lines) if line.startswith("#  kernel"))
    reason = lines[next(i for i, line in enumerate(lines) if line.startswith("IPC within")) : table - 1]
    assert len(reason) == 2
    assert max(map(len, reason)) <= 40


def test_the_log_taken_for_the_whole_kernel_is_marked(
    kernelpoint: Kernelpoint, log: Callable[..., Path]
) -> None:
    taken = kernelpoint("project", log(STEADY), *WAVE).out
    assert "50.0k*" in taken
    assert taken.endswith("* the log's end, taken for the kernel's\n")
    known = kernelpoint("project", log(VISUALIZER), log(STDOUT, "stdout")).out
    assert "50.2k" in known
    assert "the log's end" not in known
    assert "_Z4" not in known


def test_glyphs_and_colours_are_as_asked(kernelpoint: Kernelpoint, log: Callable[[str], Path]) -> None:
    path = log(STEADY)
    plain = kernelpoint("project", path, *WAVE)
    assert not plain.stdout.isascii()
    assert "\x1b" not in plain.out
    assert kernelpoint("project", path, *WAVE, "--ascii").stdout.isascii()
    assert "\x1b[" in kernelpoint("project", path, *WAVE, "--color", "always").out
    small = kernelpoint("project", path, *WAVE, "--width", "20", "--height", "4").out.splitlines()
    assert len(small[1]) <= 20
    assert small[3].startswith("    0 └")


def test_results_go_where_they_are_sent_but_never_over_the_log(
    kernelpoint: Kernelpoint, log: Callable[[str], Path], tmp_path: Path
) -> None:
    path, target = log(STEADY), tmp_path / "results.csv"
    run = kernelpoint("project", path, *WAVE, "--format", "csv", "-o", target)
    assert (run.code, run.out) == (0, "")
    assert target.read_bytes() == kernelpoint("project", path, *WAVE, "--format", "csv").stdout
    assert "what the command reads" in kernelpoint("project", path, "-o", path).failed(2)
    assert path.read_text() == STEADY


USAGE = {
    "": ("LOG", "project --help"),
    "LOG --from macsim": ("macsim", "accel-sim, csv"),
    "LOG --stability 0": ("stability", "per cent"),
    "LOG --stability nan": ("stability", "per cent"),
    "LOG --window 0": ("--window", "1 or more"),
    "LOG --sms 0": ("--sms", "1 or more"),
    "LOG --ctas-per-sm many": ("--ctas-per-sm many", "number"),
    "LOG --ctas-per-sm 4x4": ("--ctas-per-sm 4x4", "number"),
    "LOG --ctas #1=0x4": ("#1=0x4", "above 0"),
    "LOG --ctas 9": ("--ctas (--grid) 9", "3 kernels", "KERNEL=9"),
    "LOG --grid 4x4": ("(--grid) 4x4", "3 kernels", "#1=4x4"),
    "LOG --grid 4x": ("(--grid) 4x", "above 0"),
    "LOG --instructions 9": ("3 kernels", "KERNEL=9"),
    "LOG --instructions gemm=x": ("gemm=x", "number"),
    "LOG --instructions GEMM=9": ("GEMM", "case"),
    "LOG --ctas #4=9": ("#4", "#3"),
    "LOG --kernel #0": ("#0", "#3"),
    "LOG --kernel none": ("none", "case"),
    "LOG --height 0": ("--height", "1 or more"),
}


@pytest.mark.parametrize("line", USAGE)
def test_usage_errors_are_2(kernelpoint: Kernelpoint, log: Callable[[str], Path], line: str) -> None:
    words = [log(THREE) if word == "LOG" else word for word in line.split()]
    said = kernelpoint("project", *words).failed(2)
    for part in USAGE[line]:
        assert part in said


def test_a_total_below_the_logs_own_is_1(kernelpoint: Kernelpoint, log: Callable[[str], Path]) -> None:
    said = kernelpoint("project", log(STEADY), "--instructions", "499999").failed(1)
    assert "500,000" in said
    assert "499,999" in said


INVALID = {
    "": "empty",
    "hello\n": "neither",
    HEADER + "500,x,1\n": "row 2",
    "globalcyclecount: 1\nglobalinsncount: x\nctas_completed: 3\n": "row 2",
}


@pytest.mark.parametrize("text", INVALID)
def test_what_is_no_log_is_3(kernelpoint: Kernelpoint, log: Callable[[str], Path], text: str) -> None:
    path = log(text)
    said = kernelpoint("project", path).failed(3)
    assert INVALID[text] in said
    assert str(path) in said
    assert "no such file" in kernelpoint("project", path.with_name("missing")).failed(3)


def test_standard_input_is_read_once(kernelpoint: Kernelpoint) -> None:
    assert "once" in kernelpoint("project", "-", "-", stdin=STEADY.encode()).failed(2)
    assert kernelpoint("project", "-", *WAVE, *JSON, stdin=STEADY.encode()).results[0]["cycle"] == 7000


def numbered(*uids: int, cut: str = "") -> tuple[str, str]:
    """A log and an output of kernels with these numbers, each of three records."""
    log = output = ""
    for uid in uids:
        for i in range(1, 4):
            log += f"ctas_completed: 3\nglobalcyclecount: {500 * i}\nglobalinsncount: {5000 * i}\n"
        output += (
            f"-kernel name = k{uid}\n-kernel id = {uid}\n-grid dim = (9,1,1)\n"
            f"kernel_name = k{uid}\nkernel_launch_uid = {uid}\ngpu_sim_cycle = 1600\ngpu_sim_insn = 16000\n"
            f"gpu_tot_sim_cycle = 1600\n-kernel name = tiny\n-grid dim = (1,1,1)\n"
            f"kernel_name = tiny\nkernel_launch_uid = {uid + 1}\ngpu_sim_cycle = 90\ngpu_sim_insn = 9\n"
        )
    return log, cut + output


def test_kernels_go_by_their_launches_numbers(kernelpoint: Kernelpoint, log: Callable[..., Path]) -> None:
    text, output = numbered(4, 9)
    files = log(text), log(output, "run.log")
    run = kernelpoint("project", *files, "--kernel", "#9", *JSON)
    assert [row["number"] for row in run.results] == [4, 9]
    assert [row["launches"] for row in run.results] == [1, 1]
    assert kernelpoint("project", *files, "--kernel", "#9").out.startswith("#9 k9\n")
    rows = kernelpoint("project", *files, "--ctas", "#9=12", *JSON).results
    assert [row["total_ctas"] for row in rows] == [9, 12]
    assert "#4 to #9" in kernelpoint("project", *files, "--kernel", "#5").failed(2)
    assert [row["number"] for row in kernelpoint("project", files[0], *JSON).results] == [1, 2]


def test_launches_without_a_record_are_counted(kernelpoint: Kernelpoint, log: Callable[..., Path]) -> None:
    text, output = numbered(4, 9)
    run = kernelpoint("project", log(text), log(output, "run.log"))
    said = "2 launches of the output have no record: shorter than the 500 cycles between records"
    assert said in run.err
    assert said in " ".join(run.out.split())
    json = kernelpoint("project", log(text), log(output, "run.log"), *JSON).json
    assert "launches-unrecorded" in json["warnings"]


def test_a_kernel_that_was_cut_is_said_not_to_be_whole(
    kernelpoint: Kernelpoint, log: Callable[..., Path]
) -> None:
    text, output = numbered(4, cut="-gpgpu_max_cycle 1600 # limit\n")
    run = kernelpoint("project", log(text), log(output, "run.log"))
    assert "#4 is not whole: -gpgpu_max_cycle 1600 ended it" in run.out
    assert "not simulated to its end" in run.err
    (row,) = kernelpoint("project", log(text), log(output, "run.log"), *JSON).results
    assert (row["cut_short"], row["total_cycles"]) == ("-gpgpu_max_cycle 1600 ended it", None)


def test_instructions_may_come_from_the_tracer(
    kernelpoint: Kernelpoint, log: Callable[..., Path], tmp_path: Path
) -> None:
    """A kernel that stopped half-way is projected by instructions, not by CTAs."""
    output = "-kernel name = k\n-kernel id = 7\n-grid dim = (300,1,1)\nGPGPU-Sim uArch: CTA/core = 3, x\n"
    stats = tmp_path / "stats.csv"
    stats.write_text(
        "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, "
        "block_dimZ, #threads, total_insts, total_reported_insts\n"
        "kernel-7.trace, k, 300, 1, 1, 300, 128, 1, 1, 128, 31250, 31250\n"
    )
    files = log(VISUALIZER), log(output, "run.log")
    (row,) = kernelpoint("project", *files, *JSON).results
    assert row["projected_by"] == "ctas"
    (row,) = kernelpoint("project", *files, "--instructions-from", stats, *JSON).results
    assert (row["projected_by"], row["total_instructions"]) == ("instructions", 1_000_000)
    assert row["projected_cycles"] == 100_000
    # What is typed comes before both.
    words = ("--instructions-from", stats, "--instructions", "2000000")
    (row,) = kernelpoint("project", *files, *words, *JSON).results
    assert row["total_instructions"] == 2_000_000
    assert "which trace" in kernelpoint("project", files[0], "--instructions-from", stats).failed(3)
