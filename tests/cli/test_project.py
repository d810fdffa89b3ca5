"""Cycles of kernels projected from their logs: numbers, forms, what is asked for and what is refused."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.conftest import JSON, Kernelpoint, results
from tui.commands.schema import output_schema

HEADER = "cycle,instructions,ctas\n"
WAVE = ("--ctas-per-sm", "5", "--sms", "8")


def rows_of(records: int) -> str:
    """A steady kernel, a record every 500 cycles."""
    return "".join(f"{500 * i},5000,3\n" for i in range(1, records + 1))


STEADY = HEADER + rows_of(100)
RESTLESS = "".join(f"{500 * i},{20_000 * (i % 2)},3\n" for i in range(1, 81))
THREE = f"kernel,{HEADER}" + "".join(
    f"{name},{row}\n"
    for name, rows in (("gemm_nn", rows_of(60)), ("axpy", RESTLESS), ("gemm_tn", rows_of(20)))
    for row in rows.splitlines()
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

Log = Callable[..., Path]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Write a log and return where it is."""

    def write(text: str, name: str = "log") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def only(kernelpoint: Kernelpoint, *words: object) -> Any:
    """The row of the only kernel."""
    (row,) = results(kernelpoint, "project", *words)
    return row


def test_the_numbers_of_a_steady_kernel(kernelpoint: Kernelpoint, log: Log) -> None:
    run = kernelpoint("project", log(STEADY), *WAVE, *JSON)
    jsonschema.validate(run.json, output_schema("project"))
    assert (run.err, run.json["warnings"]) == ("", [])
    (row,) = run.results
    assert list(row)[:6] == ["kernel", "stopped", "cycle", "projected_cycles", "speedup", "reason"]
    assert (row["kernel"], row["stopped"]) == ("kernel 1", True)
    assert row["cycle"] == 7000  # 42 CTAs are done, 40 needed
    assert row["projected_cycles"] == row["total_cycles"] == row["cycles_logged"] == 50_000
    assert row["speedup"] == 50_000 / 7000
    assert (row["wave"], row["ctas_needed"], row["ctas_done"]) == (40, 40, 42)
    assert (row["error"], row["ipc"], row["total_cycles_from"]) == (0, 10, "log")
    assert only(kernelpoint, log(STEADY), *WAVE, "--window", "9000")["cycle"] == 9000
    artifact = only(kernelpoint, log(STEADY), *WAVE, "--artifact")
    assert artifact["projected_cycles"] == 300 / 43 * 7000, "it counts in CTAs"


def test_without_options_it_answers_and_says_what_is_missing(kernelpoint: Kernelpoint, log: Log) -> None:
    run = kernelpoint("project", log(STEADY), *JSON)
    (row,) = run.results
    assert (row["stopped"], row["cycle"], row["ctas_needed"], row["wave"]) == (True, 15_000, 90, None)
    assert run.json["warnings"] == ["wave-unknown"]
    assert "--ctas-per-sm and --sms" in run.err
    assert kernelpoint("project", log(STEADY), "--quiet").err == ""
    assert "give --sms" in kernelpoint("project", log(STEADY), "--ctas-per-sm", "5").err


def test_a_log_cut_short_is_projected_from_what_is_given(kernelpoint: Kernelpoint, log: Log) -> None:
    row = only(kernelpoint, log(STEADY), *WAVE, "--instructions", "2000000")
    assert (row["projected_by"], row["total_instructions"]) == ("instructions", 2_000_000)
    assert row["total_cycles"] is row["error"] is None
    row = only(kernelpoint, log(STEADY), *WAVE, "--ctas", "1200")
    assert (row["projected_by"], row["total_ctas"]) == ("ctas", 1200)
    said = kernelpoint("project", log(STEADY), "--instructions", "499999").failed(1)
    assert {"500,000", "499,999"} <= set(re.findall(r"[\d,]+\d", said))
    for wrong in ("0", "-1", "1e6", "1" + "0" * 19):
        said = kernelpoint("project", log(STEADY), "--instructions", wrong).failed(2)
        assert f"--instructions {wrong}: a number above 0 is meant" in said


def test_a_visualizer_log_and_the_output_beside_it(kernelpoint: Kernelpoint, log: Log) -> None:
    packed = log("", "visualizer.log.gz")
    packed.write_bytes(gzip.compress(VISUALIZER.encode()))
    row = only(kernelpoint, packed, log(STDOUT, "stdout.txt"))
    assert (row["kernel"], row["wave"], row["total_ctas"]) == ("_Z4gemmPf", 18, 300)
    assert (row["cycle"], row["total_cycles"], row["total_cycles_from"]) == (3000, 50_200, "simulator")
    piped = kernelpoint("project", "-", "--from", "accel-sim", *JSON, stdin=packed.read_bytes())
    assert piped.results[0]["cycle"] == 15_000
    # The log taken for the whole kernel is marked.
    taken, known = (
        kernelpoint("project", *words).out
        for words in ((log(STEADY), *WAVE), (packed, log(STDOUT, "stdout.txt")))
    )
    assert taken.endswith("* the log's end, taken for the kernel's\n")
    assert "the log's end" not in known
    assert "_Z4" not in known


def test_what_is_given_may_be_of_one_kernel_of_several(kernelpoint: Kernelpoint, log: Log) -> None:
    path = log(THREE)
    rows = results(kernelpoint, "project", path, *WAVE)
    assert [(row["kernel"], row["number"], row["stopped"]) for row in rows] == [
        *(("gemm_nn", 1, True), ("axpy", 2, False), ("gemm_tn", 3, True))
    ]
    rows = results(kernelpoint, "project", path, *WAVE, "--instructions", "gemm=9000000")
    assert [row["total_instructions"] for row in rows] == [9_000_000, 800_000, 9_000_000]
    words = ("--ctas", "#3=700", "--ctas-per-sm", "axpy=7", "--sms", "8", "--ctas-per-sm", "#1=5")
    run = kernelpoint("project", path, *words, *JSON)
    assert [row["total_ctas"] for row in run.results] == [180, 240, 700]
    assert [row["wave"] for row in run.results] == [40, 56, None]
    assert "(1 of 3 kernels)" in run.err
    # The chart is of the longest kernel or the one asked for.
    assert kernelpoint("project", path, *WAVE).out.startswith("#2 axpy\n")
    assert kernelpoint("project", path, *WAVE, "--kernel", "#3").out.startswith("#3 gemm_tn\n")
    several = kernelpoint("project", path, *WAVE, "-k", "gemm")
    assert several.out.startswith("#1 gemm_nn\n")
    assert "fits 2 kernels" in several.err


USAGE = {
    "LOG --from macsim": ("macsim", "accel-sim, csv"),
    "LOG --stability nan": ("stability", "per cent"),
    "LOG --window 0": ("--window", "1 or more"),
    "LOG --ctas-per-sm many": ("--ctas-per-sm many", "number"),
    "LOG --ctas #1=0": ("#1=0", "above 0"),
    "LOG --ctas 9": ("--ctas 9", "3 kernels", "KERNEL=9"),
    "LOG --instructions GEMM=9": ("GEMM", "case"),
    "LOG --kernel #0": ("#0", "lists them"),
}


@pytest.mark.parametrize("line", USAGE)
def test_usage_errors_are_2(kernelpoint: Kernelpoint, log: Log, line: str) -> None:
    said = kernelpoint("project", *(log(THREE) if word == "LOG" else word for word in line.split())).failed(2)
    for part in USAGE[line]:
        assert part in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("hello\n", "neither"),
        (f"{HEADER}500,x,1\n", "row 2"),
        ("ctas_completed: 3\nglobalcyclecount: 1\nglobalinsncount: x\n", "row 3"),
    ],
)
def test_what_is_no_log_is_3(kernelpoint: Kernelpoint, log: Log, text: str, said: str) -> None:
    path = log(text)
    error = kernelpoint("project", path).failed(3)
    assert said in error
    assert str(path) in error
    assert "no such file" in kernelpoint("project", path.with_name("missing")).failed(3)


def numbered(*uids: int) -> tuple[str, str]:
    """A log and an output, which a limit ended, of kernels with these numbers, each of three records."""
    log, output = "", "-gpgpu_max_cycle 1600 # limit\n"
    for uid in uids:
        for i in range(1, 4):
            log += f"ctas_completed: 3\nglobalcyclecount: {500 * i}\nglobalinsncount: {5000 * i}\n"
        output += (
            f"-kernel name = k{uid}\n-kernel id = {uid}\n-grid dim = (9,1,1)\n"
            f"kernel_name = k{uid}\nkernel_launch_uid = {uid}\ngpu_sim_cycle = 1600\ngpu_sim_insn = 16000\n"
            f"gpu_tot_sim_cycle = 1600\n-kernel name = tiny\n-grid dim = (1,1,1)\n"
            f"kernel_name = tiny\nkernel_launch_uid = {uid + 1}\ngpu_sim_cycle = 90\ngpu_sim_insn = 9\n"
        )
    return log, output


def test_kernels_go_by_their_launches_numbers_and_those_without_a_record_are_counted(
    kernelpoint: Kernelpoint, log: Log
) -> None:
    text, output = numbered(4, 9)
    files = log(text), log(output, "run.log")
    run = kernelpoint("project", *files, "--kernel", "#9", *JSON)
    assert [(row["number"], row["launches"]) for row in run.results] == [(4, 1), (9, 1)]
    assert "launches-unrecorded" in run.json["warnings"]
    shown = kernelpoint("project", *files, "--kernel", "#9")
    assert shown.out.startswith("#9 k9\n")
    said = "2 launches of the output have no record: shorter than the 500 cycles between records"
    assert said in shown.err
    assert said in " ".join(shown.out.split())
    rows = results(kernelpoint, "project", *files, "--ctas", "#9=12")
    assert [row["total_ctas"] for row in rows] == [9, 12]
    assert "'#5': no kernel has this number" in kernelpoint("project", *files, "--kernel", "#5").failed(2)
    # A kernel that was cut is said not to be whole.
    assert "is not whole: -gpgpu_max_cycle 1600 ended it" in shown.out
    assert "not simulated to its end" in shown.err
    assert "-gpgpu_max_cycle 1600 ended it" in {row["cut_short"] for row in rows}
    assert [row["number"] for row in results(kernelpoint, "project", files[0])] == [1, 2]


def test_instructions_may_come_from_the_tracer(kernelpoint: Kernelpoint, log: Log) -> None:
    """A kernel that stopped half-way is projected by instructions, not by CTAs."""
    output = "-kernel name = k\n-kernel id = 7\n-grid dim = (300,1,1)\nGPGPU-Sim uArch: CTA/core = 3, x\n"
    stats = log(
        "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, "
        "block_dimZ, #threads, total_insts, total_reported_insts\n"
        "kernel-7.trace, k, 300, 1, 1, 300, 128, 1, 1, 128, 31250, 31250\n",
        "stats.csv",
    )
    files = log(VISUALIZER), log(output, "run.log")
    assert only(kernelpoint, *files)["projected_by"] == "ctas"
    row = only(kernelpoint, *files, "--instructions-from", stats)
    assert (row["projected_by"], row["total_instructions"]) == ("instructions", 1_000_000)
    assert row["projected_cycles"] == 100_000
    # What is typed comes before both.
    row = only(kernelpoint, *files, "--instructions-from", stats, "--instructions", "2000000")
    assert row["total_instructions"] == 2_000_000
    assert "which trace" in kernelpoint("project", files[0], "--instructions-from", stats).failed(3)
