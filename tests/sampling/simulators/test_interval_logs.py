"""The log and the output of GPGPU-Sim 4.2 and Accel-Sim: kernels are named, told apart, or refused."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError
from sampling.projection import IntervalLog, KernelFacts
from sampling.simulators.accel_sim_traces import count_traced_instructions
from sampling.simulators.interval_logs import read_interval_logs

INTERVAL = 500


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel as it runs: instructions and finished CTAs at each cycle in proportion to the whole."""

    name: str
    cycles: int
    instructions: int
    ctas: int

    def done(self, total: int, cycle: int) -> int:
        return total * cycle // self.cycles

    def records(self) -> range:
        return range(INTERVAL, self.cycles + 1, INTERVAL)


KERNELS = (
    Kernel("_Z4gemmPf", 5210, 521_000, 1042),
    Kernel("_Z5smallv", 499, 900, 7),
    Kernel("_Z4axpyPf", 2000, 90_000, 640),
)


def visualizer_log(kernels: tuple[Kernel, ...], cores: int = 80) -> str:
    """The records of a run; the count of finished CTAs is set back by a record alone."""
    lines: list[str] = []
    unlogged, instructions_before = 0, 0
    for kernel in kernels:
        logged = 0
        for cycle in kernel.records():
            done = kernel.done(kernel.ctas, cycle)
            lines += [
                "WarpDivergenceBreakdown: 4 8 15 16 23 42",
                f"ctas_completed: {unlogged + done - logged}",
                f"shaderinsncount:  {'7 ' * cores}",
                "dramncmd: 0 500",
                f"globalcyclecount: {cycle}",
                f"globalinsncount: {kernel.done(kernel.instructions, cycle)}",
                f"globaltotinsncount: {instructions_before}",
            ]
            unlogged, logged = 0, done
        unlogged += kernel.ctas - logged
        instructions_before += kernel.instructions
    return "".join(f"{line}\n" for line in lines)


def output(kernels: tuple[Kernel, ...], ctas_per_core: int = 4) -> str:
    """What the simulator prints of a run."""
    text = (
        "Accel-Sim [build 1]\n-gpgpu_n_clusters      40 # clusters\n-gpgpu_n_cores_per_cluster   2 # cores\n"
    )
    for number, kernel in enumerate(kernels, start=1):
        text += (
            f"Processing kernel ./traces/kernel-{number}.traceg\n"
            f"-kernel name = {kernel.name}\n-kernel id = {number}\n-grid dim = ({kernel.ctas},1,1)\n"
            f"-block dim = (256,1,1)\nGPGPU-Sim uArch: CTA/core = {ctas_per_core}, limited by: threads regs\n"
            f"kernel_name = {kernel.name} \nkernel_launch_uid = {number} \n"
            f"gpu_sim_cycle = {kernel.cycles}\ngpu_sim_insn = {kernel.instructions}\n"
            f"gpu_ipc =     100.0\ngpu_tot_sim_cycle = 99\n"
        )
    return text


VISUALIZER, OUTPUT = visualizer_log(KERNELS), output(KERNELS)
BREAK = "GPGPU-Sim: ** break due to reaching the maximum cycles (or instructions) **\n"


def read(folder: Path, *texts: str, source: str | None = "accel-sim") -> tuple[IntervalLog, ...]:
    paths = []
    for number, text in enumerate(texts):
        paths.append(str(folder / f"log-{number}"))
        Path(paths[-1]).write_text(text)
    return read_interval_logs(paths, source)


def refused(folder: Path, *texts: str) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        read(folder, *texts)
    assert ";" in str(caught.value), "no remedy"
    return caught.value


def test_each_kernel_has_its_records(tmp_path: Path) -> None:
    gemm, axpy = read(tmp_path, VISUALIZER)
    assert gemm.cycle.tolist() == list(range(500, 5001, 500))
    assert gemm.instructions.tolist() == [50_000] * 10
    assert gemm.ctas.tolist() == [100] * 10
    assert axpy.cycle.tolist() == [500, 1000, 1500, 2000]
    assert axpy.instructions.tolist() == [22_500] * 4
    assert (gemm.name, axpy.name) == ("kernel 1", "kernel 2")
    assert gemm.facts == KernelFacts(cores=80)
    assert not gemm.is_cut_short
    # Those of the kernels before cannot be told apart without the output.
    assert axpy.ctas.tolist() == [160 + 42 + 7, 160, 160, 160]
    assert (gemm.has_carried_ctas, axpy.has_carried_ctas) == (True, True)


@pytest.mark.parametrize("texts", [(VISUALIZER, OUTPUT), (OUTPUT, VISUALIZER), (OUTPUT + VISUALIZER,)])
def test_the_output_names_the_kernels_and_tells_their_ends(tmp_path: Path, texts: tuple[str, ...]) -> None:
    gemm, axpy = read(tmp_path, *texts)
    assert gemm.facts == KernelFacts(5210, 521_000, 1042, 4, 80)
    assert axpy.facts == KernelFacts(2000, 90_000, 640, 4, 80)
    assert (gemm.name, axpy.name) == ("_Z4gemmPf", "_Z4axpyPf")
    assert gemm.facts.wave_ctas == 320
    assert (axpy.ctas.tolist(), axpy.has_carried_ctas) == ([160] * 4, False)


def test_what_one_run_leaves_over_is_not_taken_from_the_next(tmp_path: Path) -> None:
    first, second = (Kernel("a", 5210, 521_000, 1042),), (Kernel("b", 4000, 400_000, 800),)
    logs, outputs = [visualizer_log(run) for run in (first, second)], [output(run) for run in (first, second)]
    for texts in (
        (logs[0], outputs[0], logs[1], outputs[1]),
        (*logs, *outputs),
        (*outputs, *logs),
        (outputs[0] + logs[0], outputs[1] + logs[1]),
    ):
        a, b = read(tmp_path, *texts)
        assert (a.name, b.name) == ("a", "b")
        assert b.ctas.tolist() == [100] * 8
        assert not a.has_carried_ctas
        assert not b.has_carried_ctas
    assert "which are of one run?" in str(refused(tmp_path, *logs, output(first + second)))


BROKEN_OFF = {
    "newer, what the kernel has done so far comes first": OUTPUT + BREAK,
    "older, nothing is printed of the kernel": OUTPUT[: OUTPUT.rindex("kernel_name")] + BREAK,
}


@pytest.mark.parametrize("order", BROKEN_OFF)
def test_a_kernel_broken_off_is_cut_short(tmp_path: Path, order: str) -> None:
    gemm, axpy = read(tmp_path, VISUALIZER, BROKEN_OFF[order])
    assert (axpy.name, axpy.is_cut_short) == ("_Z4axpyPf", True)
    assert axpy.facts == KernelFacts(None, None, 640, 4, 80)
    assert not gemm.is_cut_short
    assert gemm.facts.cycles == 5210


def test_gzip_in_several_members_is_read_as_it_is(tmp_path: Path) -> None:
    """The simulator opens and closes the file for every record."""
    records = VISUALIZER.split("WarpDivergenceBreakdown")
    path = tmp_path / "gpgpusim_visualizer.log"
    path.write_bytes(b"".join(gzip.compress(f"WarpDiv{record}".encode()) for record in records[1:]))
    gemm, axpy = read_interval_logs([str(path)])
    assert (gemm.cycle.size, axpy.cycle.size) == (10, 4)


@given(st.integers(0, len(VISUALIZER)))
def test_a_log_cut_short_has_its_whole_records(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    folder = tmp_path_factory.mktemp("cut")
    text = VISUALIZER[:length]
    whole = text[: text.rfind("\n") + 1].count("globalinsncount:")
    if whole == 0:
        refused(folder, text) if text else None
        return
    logs = read(folder, text)
    assert sum(log.cycle.size for log in logs) == whole
    rest = text[: text.rfind("\n") + 1].rsplit("globalinsncount", 1)[-1]
    assert logs[-1].is_cut_short == ("ctas_completed:" in rest)
    full = read(folder, VISUALIZER)
    for log, all_of_it in zip(logs, full, strict=False):
        assert log.cycle.tolist() == all_of_it.cycle[: log.cycle.size].tolist()
        assert log.instructions.tolist() == all_of_it.instructions[: log.cycle.size].tolist()


def line_of(text: str, mark: str, which: int) -> int:
    """The 1-based line of the which-th line that starts so."""
    return [i for i, line in enumerate(text.splitlines(), start=1) if line.startswith(mark)][which]


def test_a_line_that_is_missing_is_pointed_at(tmp_path: Path) -> None:
    lines = VISUALIZER.splitlines(keepends=True)
    for mark in ("ctas_completed", "globalcyclecount", "globalinsncount"):
        gone = line_of(VISUALIZER, mark, 5)
        text = "".join(lines[: gone - 1] + lines[gone:])
        error = refused(tmp_path, text)
        assert error.row is not None
        assert 0 <= error.row - gone <= 7
        assert "lacks a line" in str(error)


WRONG_COUNTS = ("12x", "-5", "", "1.5", "9" * 30)


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        *(
            ("globalinsncount: 150000\n", f"globalinsncount: {wrong}\n", 2, "is not a count")
            for wrong in WRONG_COUNTS
        ),
        ("globalinsncount: 150000\n", "globalinsncount: 3\n", 2, "do not go up"),
        (VISUALIZER, OUTPUT, None, "no whole record"),
        (VISUALIZER, "hello\n", None, "no whole record"),
    ],
)
def test_what_is_wrong_in_a_record_is_pointed_at(
    tmp_path: Path, old: str, new: str, place: int | None, said: str
) -> None:
    error = refused(tmp_path, VISUALIZER.replace(old, new))
    assert said in str(error)
    key = old.partition(":")[0]
    assert error.row == (None if place is None else line_of(VISUALIZER, key, place))


def test_an_output_of_another_run_is_refused(tmp_path: Path) -> None:
    ended = "GPGPU-Sim: *** exit detected ***\n"
    assert "number 2 of the log" in str(refused(tmp_path, VISUALIZER, output(KERNELS[:2]) + ended))
    longer = (Kernel("a", 5210, 521_000, 1042), Kernel("b", 1999, 90_000, 640))
    assert "number 2 of the log" in str(refused(tmp_path, VISUALIZER, output(longer)))
    fewer = (Kernel("a", 5210, 3, 1042), KERNELS[2])
    assert "number 1 of the log" in str(refused(tmp_path, VISUALIZER, output(fewer)))


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    for text, said in (("hello\n", "neither"), ("", "is empty")):
        with pytest.raises(ProfileError, match=said):
            read(tmp_path, text, source=None)
    with pytest.raises(ProfileError, match="a folder"):
        read_interval_logs([str(tmp_path)])
    with pytest.raises(OptionError, match="accel-sim, csv"):
        read(tmp_path, VISUALIZER, source="macsim")


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


def test_the_grid_of_a_program_stands_where_its_kernel_is_pushed(tmp_path: Path) -> None:
    smooth, residual = read(tmp_path, TWO, PROGRAM)
    assert (smooth.name, residual.name) == ("_Z6smoothPKf", "_Z8residualPKf")
    assert (smooth.facts.ctas, smooth.facts.wave_ctas, smooth.facts.cycles) == (64, 64, 1249)
    assert residual.facts.ctas == 16
    # 64 - 60 of the first and the short one's ended after the last record before.
    assert (residual.ctas.tolist(), residual.has_carried_ctas) == ([0, 0], False)


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


BANKS = "".join(f"dramglobal_acc_r: {i // 16} {i % 16} 0\n" for i in range(5000))
CONTROL_FLOW = "".join(f"CFLog{core:02}: {'457 4096 ' * 80}\n" for core in range(1, 132))
PROGRAMS_OWN = "".join(f"step {step} residual 0.5\n" for step in range(10_000))


@pytest.mark.parametrize(
    "texts",
    [
        (VISUALIZER,),
        (OUTPUT + VISUALIZER,),
        ("\n\n" + VISUALIZER,),
        # Lines of every DRAM bank stand before the cycle count, with 132 cores those of control flow.
        (VISUALIZER.replace("dramncmd", f"{BANKS}dramncmd", 1),),
        ("CFLog00: 0 0\n" + CONTROL_FLOW + VISUALIZER,),
        ("CFLOG0_0: 0 0\n" + CONTROL_FLOW + VISUALIZER,),
        (PROGRAMS_OWN + PROGRAM, TWO),
    ],
)
def test_a_log_is_recognised_by_its_content(tmp_path: Path, texts: tuple[str, ...]) -> None:
    assert len(read(tmp_path, *texts, source=None)) == 2


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
    assert (cut.name, cut.is_cut_short) == ("_Z9axpy_loopPKf", True)
    assert (cut.facts.cycles, cut.facts.instructions) == (None, None)
    assert f"{limit} {CUT[limit]}" in cut.why_cut
    assert cut.unrecorded_after == ("cta" in limit)


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
    assert count_traced_instructions(str(stats), [log]) == [49920 * 32]
    # 40 threads are two warps, of which one has 8.
    (thin,) = read(tmp_path, records((500, 1000, 0)), CONFIG + traced("_Z4thinv", 9, 1, "(1,1,1)"))
    assert count_traced_instructions(str(stats), [thin]) == [100 * 20]
    (unknown,) = read(tmp_path, records((500, 1000, 0)), CONFIG + traced("_Z4thinv", 8, 1, "(1,1,1)"))
    assert count_traced_instructions(str(stats), [unknown]) == [None]


def test_stats_of_other_traces_are_refused(tmp_path: Path) -> None:
    stats = tmp_path / "stats.csv"
    stats.write_text(STATS.replace("_Z9axpy_loopPKf", "_Z5otherv", 1))
    (log,) = read(tmp_path, records((500, 1000, 0)), CONFIG + traced("_Z9axpy_loopPKf", 7, 1, "(80,1,1)"))
    with pytest.raises(ProfileError, match="kernel-7 is _Z5otherv"):
        count_traced_instructions(str(stats), [log])
