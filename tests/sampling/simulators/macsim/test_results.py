"""What MacSim prints, line for line: cycles of the process, warp after warp."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError
from sampling.readers.input_file import open_input
from sampling.simulators.macsim import read_results, recognises_results
from sampling.simulators.measured_run import MeasuredRun

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
        ("INST_COUNT_TOT     13312      13312\n\nCYC_COUNT_TOT   5225    5225\n", "whole run alone"),
    ],
)
def test_what_cannot_be_told_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        read(tmp_path, text)


def test_other_metrics_are_not_printed(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cycles and instructions"):
        read(tmp_path, TWO, "L2_misses")
