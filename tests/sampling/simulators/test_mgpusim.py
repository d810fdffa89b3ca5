"""A plan for MGPUSim: a folder with the list that it reads, and nothing in the list that stops it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from tests.sampling.simulators.conftest import Write, program, shell
from tests.sampling.simulators.test_accel_sim import COPY, traces_in


def test_the_list_by_hand(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    files = written(ten, "mgpusim")
    assert files["run/kernelslist.g"] == (
        "kernel-6.traceg\nkernel-5.traceg\nkernel-3.traceg\nkernel-9.traceg\nkernel-10.traceg\n"
    )
    sharded = written(ten, "mgpusim", shards=2, traces=str(traces_in(tmp_path / "traces")))
    assert sharded["run-1/kernelslist.g"].splitlines() == [COPY.format(1), COPY.format(4), "kernel-6.traceg"]
    for name, text in (*files.items(), *sharded.items()):
        if name.endswith("kernelslist.g"):
            assert all(line.startswith(("MemcpyHtoD,0x", "kernel-")) for line in text.splitlines())


def test_it_is_run_on_a_folder_with_these_traces(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    written(ten, "mgpusim", traces=str(traces_in(tmp_path / "traces")))
    simulator = program(tmp_path / "nvidia", '[ "$1" = -trace-dir ] && cat "$2"/kernel-3.traceg && ls "$2"')
    ran = shell(tmp_path / "out" / "run.sh", MGPUSIM=simulator)
    assert ran.returncode == 0, ran.stderr
    log = (tmp_path / "out" / "run" / "run.log").read_text()
    assert "-kernel id = 3\n" in log
    assert "kernelslist.g" in log


def test_packed_traces_are_refused(ten: PlanFile, written: Write, tmp_path: Path) -> None:
    traces = traces_in(tmp_path / "traces", ending=".traceg.xz")
    with pytest.raises(ProfileError, match=r"kernel-6\.traceg\.xz is packed, and MGPUSim reads text alone"):
        written(ten, "mgpusim", traces=str(traces))
