"""Accel-Sim's visualizer log and output, by the grammar of its sources."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError
from sampling.projection.interval_log import IntervalLog, KernelFacts
from sampling.simulators.registry import read_interval_logs

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


def test_ctas_of_kernels_before_are_said_where_they_cannot_be_told_apart(tmp_path: Path) -> None:
    gemm, axpy = read(tmp_path, VISUALIZER)
    assert axpy.ctas.tolist() == [160 + 42 + 7, 160, 160, 160]
    assert (gemm.has_carried_ctas, axpy.has_carried_ctas) == (True, True)


def test_the_first_kernel_may_have_ctas_of_kernels_too_short_for_a_record(tmp_path: Path) -> None:
    kernels = (Kernel("short", 499, 900, 70), Kernel("long", 4000, 400_000, 800))
    (alone,) = read(tmp_path, visualizer_log(kernels))
    assert (alone.ctas[0], alone.has_carried_ctas) == (170, True)
    (named,) = read(tmp_path, visualizer_log(kernels), output(kernels))
    assert (named.ctas[0], named.has_carried_ctas) == (100, False)


@pytest.mark.parametrize("texts", [(VISUALIZER, OUTPUT), (OUTPUT, VISUALIZER), (OUTPUT + VISUALIZER,)])
def test_the_output_names_the_kernels_and_tells_their_ends(tmp_path: Path, texts: tuple[str, ...]) -> None:
    gemm, axpy = read(tmp_path, *texts)
    assert gemm.facts == KernelFacts(5210, 521_000, 1042, 4, 80)
    assert axpy.facts == KernelFacts(2000, 90_000, 640, 4, 80)
    assert (gemm.name, axpy.name) == ("_Z4gemmPf", "_Z4axpyPf")
    assert gemm.facts.wave_ctas == 320


def test_the_output_frees_a_kernel_from_the_ctas_of_those_before(tmp_path: Path) -> None:
    _, axpy = read(tmp_path, VISUALIZER, OUTPUT)
    assert axpy.ctas.tolist() == [160] * 4
    assert not axpy.has_carried_ctas


def test_what_one_run_leaves_over_is_not_taken_from_the_next(tmp_path: Path) -> None:
    first, second = (Kernel("a", 5210, 521_000, 1042),), (Kernel("b", 4000, 400_000, 800),)
    logs, outputs = [visualizer_log(run) for run in (first, second)], [output(run) for run in (first, second)]
    one_for_both = output(first + second)
    for texts in (
        (logs[0], outputs[0], logs[1], outputs[1]),
        (*logs, *outputs),
        (*outputs, *logs),
        (outputs[0] + logs[0], outputs[1] + logs[1]),
        (*logs, one_for_both),
    ):
        a, b = read(tmp_path, *texts)
        assert (a.name, b.name) == ("a", "b")
        assert b.ctas.tolist() == [100] * 8
        assert not a.has_carried_ctas
        assert not b.has_carried_ctas


def test_a_short_kernel_at_the_end_of_a_run_is_not_of_the_next(tmp_path: Path) -> None:
    first = (Kernel("a", 5000, 500_000, 1000), Kernel("short", 499, 900, 70))
    second = (Kernel("b", 4000, 400_000, 800),)
    logs = visualizer_log(first), visualizer_log(second)
    _, b = read(tmp_path, *logs, output(first), output(second))
    assert (b.ctas.tolist(), b.has_carried_ctas) == ([100] * 8, False)
    # One output for both does not tell at which side of the border the short one ran.
    _, b = read(tmp_path, *logs, output(first + second))
    assert (b.ctas.tolist(), b.has_carried_ctas) == ([100] * 8, True)


def test_an_unknown_grid_leaves_all_that_follow_unsure(tmp_path: Path) -> None:
    kernels = (*KERNELS, Kernel("last", 1000, 9000, 500))
    text = output(kernels).replace("-grid dim = (7,1,1)\n", "")
    gemm, axpy, last = read(tmp_path, visualizer_log(kernels), text)
    assert [log.has_carried_ctas for log in (gemm, axpy, last)] == [False, True, True]


def test_an_output_is_of_the_run_in_its_place(tmp_path: Path) -> None:
    """A kernel cut off fits any record after it: here it has none of its own."""
    cut = (Kernel("a", 5000, 500_000, 1000), Kernel("cut", 400, 300, 70))
    second = (Kernel("b", 4000, 400_000, 800),)
    text = output(cut) + BREAK
    _, b = read(tmp_path, visualizer_log(cut), visualizer_log(second), text, output(second))
    assert (b.name, b.is_cut_short) == ("b", False)


def test_without_grids_in_the_output_they_stay(tmp_path: Path) -> None:
    text = "".join(f"{line}\n" for line in OUTPUT.splitlines() if not line.startswith("-grid"))
    _, axpy = read(tmp_path, VISUALIZER, text)
    assert axpy.ctas[0] == 209
    assert axpy.has_carried_ctas
    assert axpy.facts.ctas is None


def test_ctas_a_core_are_printed_only_when_they_change(tmp_path: Path) -> None:
    first, _, last = OUTPUT.partition("kernel_launch_uid = 1")
    lines = [line for line in last.splitlines() if "uArch" not in line]
    _, axpy = read(tmp_path, VISUALIZER, first + "\n" + "\n".join(lines) + "\n")
    assert axpy.facts.ctas_per_core == 4


def test_the_cores_are_counted_in_the_log_where_the_output_has_none(tmp_path: Path) -> None:
    text = OUTPUT.replace("-gpgpu_n_clusters", "-clusters")
    gemm, _ = read(tmp_path, visualizer_log(KERNELS, cores=46), text)
    assert gemm.facts.wave_ctas == 4 * 46


def test_a_kernel_still_running_when_the_output_ends_is_cut_short(tmp_path: Path) -> None:
    text = OUTPUT[: OUTPUT.rindex("kernel_name")]
    gemm, axpy = read(tmp_path, VISUALIZER, text)
    assert (axpy.name, axpy.is_cut_short, axpy.facts.cycles) == ("_Z4axpyPf", True, None)
    assert axpy.facts.ctas == 640
    assert not gemm.is_cut_short


BROKEN_OFF = {
    "newer, what the kernel has done so far comes first": OUTPUT + BREAK,
    "older, nothing is printed of the kernel": OUTPUT[: OUTPUT.rindex("kernel_name")] + BREAK,
    "in between": OUTPUT[: OUTPUT.rindex("kernel_name")] + BREAK + OUTPUT[OUTPUT.rindex("kernel_name") :],
}


@pytest.mark.parametrize("order", BROKEN_OFF)
def test_a_kernel_broken_off_is_cut_short(tmp_path: Path, order: str) -> None:
    gemm, axpy = read(tmp_path, VISUALIZER, BROKEN_OFF[order])
    assert (axpy.name, axpy.is_cut_short) == ("_Z4axpyPf", True)
    assert axpy.facts == KernelFacts(None, None, 640, 4, 80)
    assert not gemm.is_cut_short
    assert gemm.facts.cycles == 5210


def test_a_limit_met_before_any_kernel_cuts_none(tmp_path: Path) -> None:
    gemm, axpy = read(tmp_path, VISUALIZER, BREAK + OUTPUT)
    assert (gemm.is_cut_short, axpy.is_cut_short) == (False, False)


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


def test_kernels_of_one_record_each_are_kernels(tmp_path: Path) -> None:
    """The count does not rise from one to the next: it need not fall."""
    kernels = tuple(Kernel(f"k{i}", 600, 6000, 600) for i in range(3))
    logs = read(tmp_path, visualizer_log(kernels), output(kernels))
    assert [log.name for log in logs] == ["k0", "k1", "k2"]
    assert [log.ctas.tolist() for log in logs] == [[500]] * 3
    assert [log.instructions.tolist() for log in logs] == [[5000]] * 3


def test_a_kernel_as_long_as_the_interval_has_its_record(tmp_path: Path) -> None:
    kernels = (Kernel("short", 499, 9, 9), Kernel("exact", 500, 6000, 600), Kernel("long", 1000, 90, 8))
    logs = read(tmp_path, visualizer_log(kernels), output(kernels))
    assert [(log.name, log.cycle.tolist()) for log in logs] == [("exact", [500]), ("long", [500, 1000])]


def test_two_runs_are_read_one_after_the_other(tmp_path: Path) -> None:
    logs = read(tmp_path, VISUALIZER, VISUALIZER)
    assert [log.cycle.size for log in logs] == [10, 4, 10, 4]
    assert logs[3].name == "kernel 4"


def test_the_order_of_the_lines_of_a_record_does_not_matter(tmp_path: Path) -> None:
    lines = VISUALIZER.splitlines()
    turned = "".join(f"{line}\n" for line in lines[::-1])
    backwards = read(tmp_path, turned)
    assert sum(log.cycle.size for log in backwards) == 14
    shifted = [line for i in range(0, len(lines), 7) for line in (*lines[i + 4 : i + 7], *lines[i : i + 4])]
    for log, other in zip(read(tmp_path, "\n".join(shifted) + "\n"), read(tmp_path, VISUALIZER), strict=True):
        assert log.ctas.tolist() == other.ctas.tolist()
        assert log.instructions.tolist() == other.instructions.tolist()


@pytest.mark.parametrize("text", [VISUALIZER, OUTPUT + VISUALIZER, "\n\n" + VISUALIZER])
def test_is_recognised_by_its_content(tmp_path: Path, text: str) -> None:
    assert len(read(tmp_path, text, source=None)) == 2


def test_a_long_first_record_is_recognised(tmp_path: Path) -> None:
    """Lines of every DRAM bank stand before the cycle count, more than is looked at."""
    banks = "".join(f"dramglobal_acc_r: {i // 16} {i % 16} 0\n" for i in range(5000))
    text = VISUALIZER.replace("dramncmd", f"{banks}dramncmd", 1)
    assert text.index("globalcyclecount") > 1 << 16
    assert len(read(tmp_path, text, source=None)) == 2


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


def test_a_count_that_is_no_number_is_pointed_at(tmp_path: Path) -> None:
    for wrong in ("12x", "-5", "", "1.5", "9" * 30):
        text = VISUALIZER.replace("globalinsncount: 150000\n", f"globalinsncount: {wrong}\n")
        error = refused(tmp_path, text)
        assert error.row == line_of(VISUALIZER, "globalinsncount", 2)
        assert "is not a count" in str(error)


def test_instructions_that_go_down_are_pointed_at(tmp_path: Path) -> None:
    error = refused(tmp_path, VISUALIZER.replace("globalinsncount: 150000\n", "globalinsncount: 3\n"))
    assert error.row == line_of(VISUALIZER, "globalinsncount", 2)
    assert "go down" in str(error)


def test_a_record_of_cycle_0_is_pointed_at(tmp_path: Path) -> None:
    error = refused(tmp_path, VISUALIZER.replace("globalcyclecount: 500\n", "globalcyclecount: 0\n"))
    assert error.row == line_of(VISUALIZER, "globalcyclecount", 0)


def test_a_log_without_ctas_is_refused(tmp_path: Path) -> None:
    text = VISUALIZER.replace("ctas_completed", "ctas")
    assert "ctas_completed" in str(refused(tmp_path, text))


@pytest.mark.parametrize("text", [OUTPUT, "hello\n", "globalcyclecount: 500\n"])
def test_a_log_without_a_record_is_refused(tmp_path: Path, text: str) -> None:
    assert "no whole record" in str(refused(tmp_path, text))


def test_an_output_of_another_run_is_refused(tmp_path: Path) -> None:
    ended = "GPGPU-Sim: *** exit detected ***\n"
    assert "number 2 of the log" in str(refused(tmp_path, VISUALIZER, output(KERNELS[:2]) + ended))
    longer = (Kernel("a", 5210, 521_000, 1042), Kernel("b", 1999, 90_000, 640))
    assert "number 2 of the log" in str(refused(tmp_path, VISUALIZER, output(longer)))
    fewer = (Kernel("a", 5210, 3, 1042), KERNELS[2])
    assert "number 1 of the log" in str(refused(tmp_path, VISUALIZER, output(fewer)))


def test_kernels_that_ran_at_once_are_refused(tmp_path: Path) -> None:
    concurrent = "-gpgpu_concurrent_kernel_sm                 1 # Support concurrent kernels\n"
    assert "concurrently" in str(refused(tmp_path, VISUALIZER, concurrent + OUTPUT))
    assert len(read(tmp_path, VISUALIZER, concurrent.replace(" 1 ", " 0 ") + OUTPUT)) == 2


def test_a_gzip_that_ends_early_has_its_whole_records(tmp_path: Path) -> None:
    """A run that is still going, or was killed, has not written the end of its file."""
    path = tmp_path / "log.gz"
    packed = b"".join(
        gzip.compress(f"WarpDiv{record}".encode()) for record in VISUALIZER.split("WarpDiv")[1:]
    )
    path.write_bytes(packed[: len(packed) // 2])
    logs = read_interval_logs([str(path)])
    assert 0 < sum(log.cycle.size for log in logs) < 14
    assert logs[-1].is_cut_short
    assert "killed" in logs[-1].why_cut


def test_a_damaged_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    packed = bytearray(gzip.compress(VISUALIZER.encode()))
    packed[len(packed) // 2] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(ProfileError, match="cut short or damaged"):
        read_interval_logs([str(path)])


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    for text, said in (("hello\n", "neither"), ("", "is empty")):
        with pytest.raises(ProfileError, match=said):
            read(tmp_path, text, source=None)
    with pytest.raises(ProfileError, match="a folder"):
        read_interval_logs([str(tmp_path)])
    with pytest.raises(OptionError, match="accel-sim, csv"):
        read(tmp_path, VISUALIZER, source="macsim")
