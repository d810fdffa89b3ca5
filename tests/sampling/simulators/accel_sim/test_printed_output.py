"""What GPGPU-Sim 4.2 and Accel-Sim print, line for line: kernels are named, told apart, or refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import ProfileError
from sampling.projection.interval_log import IntervalLog
from sampling.simulators.accel_sim_traces import instructions_of_traces
from sampling.simulators.registry import read_interval_logs

CONFIG = (
    "GPGPU-Sim: Configuration options:\n\n"
    "-gpgpu_n_clusters                       8 # number of processing clusters\n"
    "-gpgpu_concurrent_kernel_sm                    0 # Support concurrent kernels on a SM\n"
)
EXIT = "GPGPU-Sim: *** exit detected ***\n"
Record = tuple[int, int, int]


def records(*kernel: Record) -> str:
    """A visualizer log: cycle, instructions since the kernel's start, CTAs since the record before."""
    return "".join(
        f"CFLog00: 0 0 \nctas_completed: {ctas}\nglobalcyclecount: {cycle}\nglobalinsncount: {instructions}\n"
        for cycle, instructions, ctas in kernel
    )


def block(name: str, uid: str, cycles: int, instructions: int, *, total: int = 0, issued: int = 0) -> str:
    return (
        f"kernel_name = {name} \nkernel_launch_uid = {uid} \ngpu_sim_cycle = {cycles}\n"
        f"gpu_sim_insn = {instructions}\ngpu_ipc =     300.0\ngpu_tot_sim_cycle = {total}\n"
        f"gpu_tot_sim_insn = {instructions}\ngpu_tot_issued_cta = {issued}\n"
        "ctas_completed 16, Shader 0 warp_id issue ditsribution:\n0, 1, 2\n"
    )


def pushed(name: str, grid: str) -> str:
    return (
        f"GPGPU-Sim PTX: pushing kernel '{name}' to stream 0, gridDim= {grid} blockDim = (32,8,1) \n"
        "GPGPU-Sim uArch: CTA/core = 8, limited by: threads\n"
    )


def traced(name: str, number: int, uid: int, grid: str) -> str:
    return (
        f"-kernel name = {name}\n-kernel id = {number}\n-grid dim = {grid}\n"
        f"launching kernel name: {name} uid: {uid} cuda_stream_id: 0\n"
        "GPGPU-Sim uArch: CTA/core = 16, limited by: threads regs\n"
    )


def read(folder: Path, *texts: str) -> tuple[IntervalLog, ...]:
    paths = [folder / f"log-{number}" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return read_interval_logs([str(path) for path in paths])


def refused(folder: Path, *texts: str) -> str:
    with pytest.raises(ProfileError) as caught:
        read(folder, *texts)
    return str(caught.value)


TWO = records((500, 1000, 0), (1000, 2000, 60), (500, 900, 4), (1000, 1800, 0))
PROGRAM = (
    CONFIG
    + pushed("_Z6smoothPKf", "(4,16,1)")
    + block("_Z6smoothPKf", "1", 1249, 2500, total=1249, issued=64)
    + pushed("_Z5shortv", "(1,1,1)")
    + block("_Z5shortv", "2", 400, 90, total=1649, issued=65)
    + pushed("_Z8residualPKf", "(2,8,1)")
    + block("_Z8residualPKf", "3", 1300, 2300, total=2949, issued=81)
    + EXIT
)


def test_the_distribution_of_issues_is_no_record(tmp_path: Path) -> None:
    """`ctas_completed 16, Shader 0 ...` ends what is printed of every kernel."""
    assert [log.cycle.tolist() for log in read(tmp_path, TWO, PROGRAM)] == [[500, 1000], [500, 1000]]


def test_the_grid_of_a_program_stands_where_its_kernel_is_pushed(tmp_path: Path) -> None:
    smooth, residual = read(tmp_path, TWO, PROGRAM)
    assert (smooth.name, residual.name) == ("_Z6smoothPKf", "_Z8residualPKf")
    assert (smooth.facts.ctas, smooth.facts.wave_ctas, smooth.facts.cycles) == (64, 64, 1249)
    assert residual.facts.ctas == 16
    # 64 - 60 of the first and the short one's ended after the last record before.
    assert (residual.ctas.tolist(), residual.has_carried_ctas) == ([0, 0], False)


def test_a_push_after_half_a_line_of_another_thread_is_seen(tmp_path: Path) -> None:
    text = PROGRAM.replace("GPGPU-Sim PTX: pushing", "Destroy streams for kernel 1: GPGPU-Sim PTX: pushing")
    assert [log.facts.ctas for log in read(tmp_path, TWO, text)] == [64, 16]


def test_launches_have_their_numbers_and_those_without_a_record_are_counted(tmp_path: Path) -> None:
    last = pushed("_Z4tailv", "(1,1,1)") + block("_Z4tailv", "4", 300, 9, total=3249, issued=82)
    smooth, residual = read(tmp_path, TWO, PROGRAM.replace(EXIT, last + EXIT))
    assert (smooth.launches, residual.launches) == ((1,), (3,))
    assert (smooth.unrecorded_before, residual.unrecorded_before, residual.unrecorded_after) == (0, 1, 1)


@given(st.integers(1, len(PROGRAM)), st.integers(1, len(TWO)))
def test_a_run_that_goes_on_or_was_killed_is_a_result(
    tmp_path_factory: pytest.TempPathFactory, printed: int, logged: int
) -> None:
    """Whatever the simulator has written so far: its output comes in larger pieces than its log."""
    folder = tmp_path_factory.mktemp("run")
    log = TWO[:logged]
    if "globalinsncount" not in log[: log.rfind("\n") + 1]:
        return
    (folder / "log").write_text(log)
    (folder / "out").write_text(PROGRAM[:printed])
    found = read_interval_logs([str(folder / "log"), str(folder / "out")], "accel-sim")
    assert sum(each.cycle.size for each in found) == log[: log.rfind("\n") + 1].count("globalinsncount")
    for each in found:
        assert bool(each.why_cut) == each.is_cut_short


def test_the_last_kernel_of_a_killed_run_is_cut_short(tmp_path: Path) -> None:
    for end in (PROGRAM.index("kernel_name = _Z8residual"), PROGRAM.index("gpu_sim_cycle = 1300")):
        smooth, residual = read(tmp_path, TWO, PROGRAM[:end])
        assert (residual.name, residual.is_cut_short) == ("_Z8residualPKf", True)
        assert "killed" in residual.why_cut
        assert not smooth.is_cut_short
    # The output is written in pieces: the log is ahead of it.
    _, ahead = read(tmp_path, TWO, PROGRAM[: PROGRAM.index("GPGPU-Sim PTX: pushing kernel '_Z5short")])
    assert (ahead.name, ahead.is_cut_short) == ("kernel 2", True)


@pytest.mark.parametrize("head", ["CFLog00: 0 0\n", "CFLOG0_0: 0 0\n"])
def test_a_log_is_recognised_by_its_control_flow(tmp_path: Path, head: str) -> None:
    """With 132 cores nothing else comes in the first 64 KiB."""
    long_lines = "".join(f"CFLog{core:02}: {'457 4096 ' * 80}\n" for core in range(1, 132))
    text = head + long_lines + records((500, 900, 4))
    assert len(text) > 1 << 16
    assert len(read(tmp_path, text)) == 1


def test_an_output_after_many_lines_of_the_program_is_recognised(tmp_path: Path) -> None:
    printed = "".join(f"step {step} residual 0.5\n" for step in range(10_000))
    assert len(read(tmp_path, printed + PROGRAM, TWO)) == 2


def test_two_launches_with_one_block_are_one_entry(tmp_path: Path) -> None:
    """The second was pushed before the first one's block was printed."""
    text = (
        CONFIG
        + pushed("_Z12norm_partialPKf", "(128,1,1)")
        + pushed("_Z10norm_finalPKf", "(1,1,1)")
        + block("_Z12norm_partialPKf _Z10norm_finalPKf", "59 60", 2157, 15838, issued=129)
        + EXIT
    )
    (both,) = read(tmp_path, records((500, 1000, 0), (1000, 2000, 60)), text)
    assert both.launches == (59, 60)
    assert both.name == "_Z12norm_partialPKf + _Z10norm_finalPKf"
    assert (both.facts.ctas, both.facts.cycles) == (129, 2157)


def test_kernels_that_ran_at_once_are_refused(tmp_path: Path) -> None:
    """The first to end is printed with the names of all, the next without any."""
    both = traced("_Z5saxpyifPf", 1, 1, "(8,1,1)") + traced("_Z5saxpyifPf", 3, 3, "(8,1,1)")
    for names, uids, said in (
        (
            "_Z5saxpyifPf _Z5saxpyifPf",
            "1 3",
            "row 18: kernels ran concurrently (launches 1, 3 have one block)",
        ),
        (
            "_Z5saxpyifPf _Z5saxpyifPf",
            "1",
            "row 18: kernels ran concurrently (a block has the names of several)",
        ),
        ("_Z5saxpyifPf", "1", "row 28: kernels ran concurrently (a block has no kernel_name)"),
    ):
        text = CONFIG + both + block(names, uids, 750, 53248, issued=16) + block("", "", 8, 0, issued=16)
        assert said in refused(tmp_path, records((500, 1000, 0)), text + EXIT)


CUT = {
    "-gpgpu_max_cycle": "1100",
    "-gpgpu_max_insn": "2000",
    "-gpgpu_max_cta": "64",
    "-gpgpu_max_completed_cta": "40",
}


@pytest.mark.parametrize("limit", CUT)
def test_a_kernel_ended_by_a_limit_is_not_whole(tmp_path: Path, limit: str) -> None:
    """By thread blocks no line says so, and the launch after it has no name."""
    text = (
        CONFIG
        + f"{limit}                   {CUT[limit]} # terminates gpu simulation early (0 = no limit)\n"
        + traced("_Z9axpy_loopPKf", 7, 1, "(80,1,1)")
        + block("_Z9axpy_loopPKf", "1", 1100, 2000, total=1100, issued=80)
    )
    if "cta" in limit:
        text += traced("_Z6vecaddPKf", 3, 2, "(80,1,1)") + block("", "", 225, 894, total=1325, issued=160)
    else:
        text += "GPGPU-Sim: ** break due to reaching the maximum cycles (or instructions) **\n"
    (cut,) = read(tmp_path, records((500, 1000, 0), (1000, 1800, 39)), text + EXIT)
    assert (cut.name, cut.is_cut_short, cut.facts.cycles, cut.facts.instructions) == (
        "_Z9axpy_loopPKf",
        True,
        None,
        None,
    )
    assert f"{limit} {CUT[limit]}" in cut.why_cut
    assert cut.unrecorded_after == ("cta" in limit)


def test_a_limit_not_reached_cuts_nothing(tmp_path: Path) -> None:
    limits = "".join(f"{limit}  {10**6} # limit\n" for limit in CUT)
    assert not any(log.is_cut_short for log in read(tmp_path, TWO, limits + PROGRAM))


STATS = (
    "kernel id, kernel mangled name, grid_dimX, grid_dimY, grid_dimZ, #blocks, block_dimX, block_dimY, "
    "block_dimZ, #threads, total_insts, total_reported_insts\n"
    "kernel-7.trace, _Z9axpy_loopPKf, 80, 1, 1, 80, 128, 1, 1, 128, 49920,49920\n"
    "kernel-9.trace, _Z4thinv, 1, 1, 1, 1, 40, 1, 1, 40, 100,100\n"
)


def test_the_tracer_counts_instructions_of_warps(tmp_path: Path) -> None:
    stats = tmp_path / "stats.csv"
    stats.write_text(STATS)
    text = CONFIG + traced("_Z9axpy_loopPKf", 7, 1, "(80,1,1)")
    (log,) = read(tmp_path, records((500, 1000, 0)), text)
    assert (log.trace_id, log.launches) == (7, (1,))
    assert instructions_of_traces(str(stats), [log]) == [49920 * 32]
    # 40 threads are two warps, of which one has 8.
    (thin,) = read(tmp_path, records((500, 1000, 0)), CONFIG + traced("_Z4thinv", 9, 1, "(1,1,1)"))
    assert instructions_of_traces(str(stats), [thin]) == [100 * 20]
    (unknown,) = read(tmp_path, records((500, 1000, 0)), CONFIG + traced("_Z4thinv", 8, 1, "(1,1,1)"))
    assert instructions_of_traces(str(stats), [unknown]) == [None]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("_Z9axpy_loopPKf", "_Z5otherv", "kernel-7 is _Z5otherv"),
        ("49920,", "many,", "row 2, column total_insts"),
        ("kernel-7.trace", "seven", "row 2, column kernel id"),
        ("total_insts", "insts", "no column total_insts"),
    ],
)
def test_stats_of_other_traces_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    stats = tmp_path / "stats.csv"
    stats.write_text(STATS.replace(old, new, 1))
    (log,) = read(tmp_path, records((500, 1000, 0)), CONFIG + traced("_Z9axpy_loopPKf", 7, 1, "(80,1,1)"))
    with pytest.raises(ProfileError, match=said):
        instructions_of_traces(str(stats), [log])


def test_a_log_that_names_no_trace_has_no_stats(tmp_path: Path) -> None:
    stats = tmp_path / "stats.csv.gz"
    stats.write_bytes(gzip.compress(STATS.encode()))
    with pytest.raises(ProfileError, match="which trace"):
        instructions_of_traces(str(stats), read(tmp_path, TWO))
