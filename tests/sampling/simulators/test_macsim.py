"""MacSim: what its tracer and simulator are given, and what it measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.readers.input_file import open_input
from sampling.simulators.macsim import read_results, recognises_results
from sampling.simulators.measured_run import MeasuredRun
from tests.sampling.simulators.conftest import Write, program, shell

NAMES = ("a(int)", "b()", "a(int)", "a(int)", "b()", "c(float*)", "a(int)", "b()", "a(int)", "a(int)")
GRID = {"a(int)": 8, "b()": 4, "c(float*)": 2}


def traces_in(folder: Path) -> Path:
    """Traces of all launches, and their list, as the tracer writes them."""
    listed = ""
    for number, name in enumerate(NAMES):
        (folder / f"Kernel{number}").mkdir(parents=True)
        (folder / f"Kernel{number}" / "trace.txt").write_text(f"nvbit\n14\n{number}\n")
        listed += (
            f"Kernel{number} name: {name}\n"
            f"  Grid size: ({GRID[name]}, 1, 1), Block size: (128, 1, 1), maxBlockPerCore: 8, # of regs: 10\n"
        )
    (folder / "kernel_names.txt").write_text(listed)
    return folder


def test_what_is_read_by_hand(ten: PlanFile, written: Write) -> None:
    """No comments, ``./`` before each; two lines of text, then size, count and ids of each stratum."""
    files = written(ten, "macsim")
    assert files["kernel_config.txt"] == (
        "nvbit\n14\n-1\n./Kernel5/trace.txt\n./Kernel4/trace.txt\n./Kernel2/trace.txt\n"
        "./Kernel8/trace.txt\n./Kernel9/trace.txt\n"
    )
    assert "\n5,Kernel5,2,1.0,0,cold,1,1,0,0,5,0,5000,,,c\n" in files["manifest.csv"]
    lines = files["sampled_kernels_info.txt"].split("\n")
    assert lines[2:] == ["6 3 2 8 9", "3 1 4", "1 1 5", ""]
    assert all(lines[:2])
    warm = written(ten, "macsim", caches="after:1")["sampled_kernels_info.txt"].split("\n")
    assert warm[2:] == ["6 3 2 8 9", "3 1 4", "1 1 5", "0 3 1 3 7", ""]


def test_the_program_is_traced(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    written(ten, "macsim")
    traced = program(
        tmp_path / "traced", 'head -n 1 "$SAMPLED_KERNEL_INFO"; echo "$TRACE_PATH $CUDA_INJECTION64_PATH $1"'
    )
    (tmp_path / "main.so").touch()
    ran = shell(tmp_path / "out" / "trace.sh", traced, "x", TRACER=tmp_path / "main.so")
    traces = tmp_path / "out" / "traces"
    assert ran.stdout.splitlines() == [
        "KernelPoint: 5 drawn launches of process 0, device 0.",
        f"{traces} {tmp_path / 'main.so'} x",
        str(traces),
    ]
    blank = shell(tmp_path / "out" / "trace.sh", traced, TRACER=tmp_path / "main.so", TRACES=tmp_path / "a b")
    assert blank.returncode == 1
    assert "no path with a blank" in blank.stderr


def test_the_kernels_are_simulated(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    written(ten, "macsim", traces=str(traces_in(tmp_path / "it's {traces}")))
    (tmp_path / "p.in").write_text("knob\n")
    simulator = program(
        tmp_path / "macsim",
        'cat params.in trace_file_list; list=$(sed -n 2p trace_file_list); grep ^./K "$list" |\n'
        'while read -r path; do sed -n 3p "$path" || exit 8; done',
    )
    for said in ({}, {"TRACES": "it's {traces}"}):
        ran = shell(tmp_path / "out" / "run.sh", at=tmp_path, MACSIM=simulator, PARAMS="p.in", **said)
        assert ran.returncode == 0, ran.stderr
    log = (tmp_path / "out" / "run" / "run.log").read_text()
    assert log == "knob\n1\n./kernel_config.txt\n5\n4\n2\n8\n9\n"


def test_traces_of_other_launches_are_refused(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    traces = traces_in(tmp_path / "traces")
    listed = traces / "kernel_names.txt"
    text = listed.read_text()
    for old, new in (("Kernel2 name: a(int)", "Kernel2 name: z(int)"), ("(8, 1, 1)", "(7, 1, 1)")):
        listed.write_text(text.replace(old, new))
        with pytest.raises(
            ProfileError, match=r"launch 2 is a\(int\) <<<8x1x1, 128x1x1>>> in the plan, and K"
        ):
            written(ten, "macsim", traces=str(traces))
    listed.write_text(text.replace("Kernel4 name", "Kernel40 name"))
    with pytest.raises(ProfileError, match=r"kernel_names\.txt: does not list Kernel4"):
        written(ten, "macsim", traces=str(traces))
    listed.unlink()
    assert written(ten, "macsim", traces=str(traces)), "the tracer of others may write no list"
    (traces / "Kernel8" / "trace.txt").unlink()
    with pytest.raises(ProfileError, match=r"launch 8 would be Kernel8/trace\.txt, which is not there"):
        written(ten, "macsim", traces=str(traces))


HEAD = "Arguments: ./macsim \nsrc/macsim.cc:122: (I=0  C=0):  initialize knobs\nnumber of cores : 16\n"


def kernel(number: int, ends: list[int], *, process: int = 0, warps: int | None = None) -> str:
    """A kernel whose warps end in these cycles, 13 instructions each."""
    return (
        f"src/process_manager.cc:426: (I=0  C=0):  setup_process:{process} traces/Kernel{number}/trace.txt "
        f"current_index:0 (3)\ntrace:traces/Kernel{number}/trace.txt is opened \ntrace type: nvbit end\n"
        f"src/process_manager.cc:541: (I=0  C=0):  thread_count: {len(ends) if warps is None else warps}\n"
        + "".join(
            f"**Core 00 Thread {warp:02} Finished:   insts:13          cycles:{end}       ({end - 1})  "
            "seconds:2     -- 0.01 IPC (0.01 IPC) --  N/A  KHz (0.01 KHz) \n"
            for warp, end in enumerate(ends)
        )
        + f"**Core 00 Core_Total  Finished:   insts:999         cycles:{ends[-1] + 1}       (9) seconds:2 \n"
    )


TWO = HEAD + kernel(4, [1900, 2100, 2000]) + kernel(7, [3000, 2900])


def read(folder: Path, text: str, *metrics: str) -> MeasuredRun:
    path = folder / "macsim.out"
    path.write_text(text)
    with open_input(str(path)) as file:
        return read_results(file, metrics)


def test_a_kernel_takes_from_the_end_of_the_one_before(tmp_path: Path) -> None:
    run = read(tmp_path, TWO)
    assert (run.number.tolist(), run.first_number) == ([4, 7], 0)
    assert run.metrics["cycles"].tolist() == [2100, 900]
    assert run.metrics["instructions"].tolist() == [39, 26]
    assert [each.warps for each in run.kernels] == [3, 2]
    assert recognises_results(TWO.encode())


@pytest.mark.parametrize(
    "own",
    [
        "my thread_count: 7\n",
        "thread_count: 7 in my count\n",
        "src/mine.cc:7: (I=0  C=0):  a setup_process:1 is to come current_index: 3\n",
        "setup_process: begins current_index:0 (3)\n",
        "mine: **Core 00 Thread 09 Finished:   insts:13    cycles:9000       (9)\n",
    ],
)
def test_lines_of_the_users_own_beside_known_keys_say_nothing(tmp_path: Path, own: str) -> None:
    run = read(tmp_path, "".join(line + own for line in TWO.splitlines(True)))
    assert (run.number.tolist(), dict(run.missing)) == ([4, 7], {})
    assert run.metrics["cycles"].tolist() == [2100, 900]
    assert [each.warps for each in run.kernels] == [3, 2]


@given(st.integers(len(HEAD), len(TWO)))
def test_a_killed_run_says_nothing_that_is_not_so(
    tmp_path_factory: pytest.TempPathFactory, printed: int
) -> None:
    if "setup_process" not in (text := TWO[: TWO.rfind("\n", 0, printed) + 1]):
        return
    run = read(tmp_path_factory.mktemp("run"), text)
    for place, (value, truth) in enumerate(zip(run.metrics["cycles"].tolist(), [2100, 900], strict=False)):
        assert value == truth if place not in run.missing else np.isnan(value)


def test_what_follows_a_kernel_that_is_not_whole_has_no_start(tmp_path: Path) -> None:
    run = read(tmp_path, HEAD + kernel(4, [1900, 2100], warps=3) + kernel(7, [3000]) + kernel(8, [3500]))
    assert np.isnan(run.metrics["cycles"]).tolist() == [True, True, False]
    assert run.metrics["cycles"][2] == 500
    assert "2 of its 3" in run.missing[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD, "no kernel"),
        (kernel(4, [9]).partition("is opened")[2], "its beginning is missing"),
        (HEAD + kernel(4, [9], process=1), "several programs"),
        (HEAD + kernel(4, [9]).replace("Kernel4", "four"), "KernelN"),
        ("INST_COUNT_TOT     13312      13312\n\nCYC_COUNT_TOT   5225    5225\n", "no kernel is printed"),
    ],
)
def test_what_cannot_be_told_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        read(tmp_path, text)
