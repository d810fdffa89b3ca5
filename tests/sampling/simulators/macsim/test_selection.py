"""A plan for MacSim: what its tracer and its simulator read, and the scripts with stand-ins for both."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
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


def test_the_kernels_by_hand(ten: PlanFile, written: Write) -> None:
    """No comments, no carriage returns, ``./`` before each, launch 5 is Kernel5."""
    files = written(ten, "macsim")
    assert files["kernel_config.txt"] == (
        "nvbit\n14\n-1\n./Kernel5/trace.txt\n./Kernel4/trace.txt\n./Kernel2/trace.txt\n"
        "./Kernel8/trace.txt\n./Kernel9/trace.txt\n"
    )
    assert "\n5,Kernel5,2,1.0,0,cold,1,1,0,0,5,0,5000,,,c\n" in files["manifest.csv"]


def test_what_the_tracer_reads_by_hand(ten: PlanFile, written: Write) -> None:
    """Two lines of text, then size, count and ids of each stratum; it stops at an empty line."""
    lines = written(ten, "macsim")["sampled_kernels_info.txt"].split("\n")
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
    for given in ({}, {}, {"TRACES": "it's {traces}"}):
        ran = shell(tmp_path / "out" / "run.sh", at=tmp_path, MACSIM=simulator, PARAMS="p.in", **given)
        assert ran.returncode == 0, ran.stderr
        if given:
            continue
        for link in (tmp_path / "out" / "run").glob("Kernel9"):
            link.unlink()
    log = (tmp_path / "out" / "run" / "run.log").read_text()
    assert log == "knob\n1\n./kernel_config.txt\n5\n4\n2\n8\n9\n"


def test_a_kernel_that_is_not_there_is_named_by_the_script(
    ten: PlanFile, written: Write, tmp_path: Path
) -> None:
    written(ten, "macsim")
    ran = shell(tmp_path / "out" / "run.sh", MACSIM="true", PARAMS=tmp_path / "p.in", TRACES=tmp_path)
    assert ran.returncode == 1
    assert "Kernel5 is not in" in ran.stderr


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
    with pytest.raises(ProfileError, match="no folder of traces is there"):
        written(ten, "macsim", traces=str(tmp_path / "none"))
