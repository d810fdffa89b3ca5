"""What launches added to counters, from output of GPGPU-Sim 4.2 and Accel-Sim, line for line."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError, ProfileError
from sampling.readers.input_file import open_input
from sampling.simulators.gpgpu_sim_output import read_results
from sampling.simulators.measured_run import MeasuredRun

MISSES = "L2_total_cache_misses"
READS = "total dram reads"
COMMANDS = "n_cmd"
BY_KIND = "L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT]"
RESERVED = "Total_core_cache_fail_stats_breakdown[GLOBAL_ACC_R][MISS_QUEUE_FULL]"
COUNTERS = (MISSES, READS, COMMANDS, BY_KIND, RESERVED)

CONFIG = (
    "GPGPU-Sim: Configuration options:\n\n-gpgpu_concurrent_kernel_sm    0 # Support concurrent kernels\n"
)
EXIT = "GPGPU-Sim: *** exit detected ***\n"


class Output:
    """An output as it is written, with the totals that run on from launch to launch."""

    def __init__(self) -> None:
        self.text = CONFIG
        self.totals = dict.fromkeys(COUNTERS, 0)
        self.by_stream: dict[int, int] = {}
        self.cycles = self.instructions = self.uid = 0

    def traced(self, number: int, cycles: int = 100, **changes: int) -> Output:
        self.text += (
            f"Processing kernel traces/kernel-{number}.traceg\n-kernel name = _Z4stepPf\n"
            f"-kernel id = {number}\n-grid dim = (4,1,1)\n-block dim = (32,8,1)\n"
            f"launching kernel name: _Z4stepPf uid: {self.uid + 1} cuda_stream_id: 0\n"
        )
        return self.block(cycles, **changes)

    def pushed(self, cycles: int = 100, **changes: int) -> Output:
        self.text += (
            "GPGPU-Sim PTX: pushing kernel '_Z4stepPf' to stream 0, gridDim= (4,1,1) blockDim = (32,8,1) \n"
        )
        return self.block(cycles, **changes)

    def block(
        self, cycles: int, *, misses: int = 0, reads: int = 0, hits: int = 0, full: int = 0, stream: int = 0
    ) -> Output:
        self.uid += 1
        self.cycles += cycles
        self.instructions += 10 * cycles
        for name, added in ((MISSES, misses), (READS, reads), (RESERVED, full)):
            self.totals[name] += added
        self.by_stream[stream] = self.by_stream.get(stream, 0) + hits
        self.text += (
            f"kernel_name = _Z4stepPf \nkernel_launch_uid = {self.uid} \nkernel_stream_id = {stream}\n"
            f"gpu_sim_cycle = {cycles}\ngpu_sim_insn = {10 * cycles}\ngpu_ipc =     10.0000\n"
            f"gpu_tot_sim_cycle = {self.cycles}\ngpu_tot_sim_insn = {self.instructions}\n"
            f"gpu_tot_issued_cta = {4 * self.uid}\nL2_BW  =      52.5059 GB/Sec\n"
            f"\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 0\n"
        )
        if self.totals[RESERVED]:
            self.text += f"\t{RESERVED} = {self.totals[RESERVED]}\n"
        self.text += (
            "ctas_completed 24, Shader 0 warp_id issue ditsribution:\naveragemflatency = 332 \n"
            f"traffic_breakdown_coretomem[GLOBAL_ACC_R] = {8 * self.cycles} {{8:{self.cycles},}}\n"
            f"total dram reads = {self.totals[READS]}\n"
            f"n_cmd={self.cycles} n_nop=1880 n_act=24\nn_cmd={2 * self.cycles} n_nop=1880 n_act=24\n"
            f"\tL2_total_cache_misses = {self.totals[MISSES]}\n\t{BY_KIND} = {self.by_stream[stream]}\n"
            "gpgpu_simulation_time = 0 days, 0 hrs, 0 min, 5 sec (5 sec)\n"
            "gpgpu_simulation_rate = 68812 (inst/sec)\ngpgpu_silicon_slowdown = 1233115x\n"
        )
        return self


Read = Callable[..., MeasuredRun]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reading(text: str | Output, *metrics: str) -> MeasuredRun:
        path = tmp_path / "run.log"
        path.write_text(text if isinstance(text, str) else text.text + EXIT)
        with open_input(str(path)) as file:
            return read_results(file, metrics)

    return reading


def known(run: MeasuredRun, metric: str) -> list[float | None]:
    return [None if np.isnan(value) else value for value in run.metrics[metric].tolist()]


def three() -> Output:
    output = Output().traced(4, 100, misses=5, reads=7, hits=1)
    return output.traced(9, 300, misses=0, reads=2, hits=3, full=6).traced(11, 200, misses=8, hits=0, full=1)


WHOLE = three().text
TRUTH = {4: (100, 5), 9: (300, 0), 11: (200, 8)}


def test_cycles_and_instructions_are_those_of_each_launch(read: Read) -> None:
    run = read(three())
    assert run.number.tolist() == [4, 9, 11]
    assert run.first_number == 1
    assert known(run, "cycles") == [100, 300, 200]
    assert known(run, "instructions") == [1000, 3000, 2000]
    assert {(each.name, each.grid, each.block) for each in run.kernels} == {
        ("_Z4stepPf", (4, 1, 1), (32, 8, 1))
    }
    assert not run.missing


def test_totals_of_the_run_are_differenced(read: Read) -> None:
    run = read(three(), "cycles", *COUNTERS)
    assert known(run, MISSES) == [5, 0, 8]
    assert known(run, READS) == [7, 2, 0]
    # Once for each of two memory partitions: 1 and 2 times the cycles.
    assert known(run, COMMANDS) == [300, 900, 600]
    assert known(run, BY_KIND) == [1, 3, 0]
    # Printed from the first launch on that has any.
    assert known(run, RESERVED) == [0, 6, 1]
    assert known(run, "cycles") == [100, 300, 200]


def test_a_total_with_its_parts_behind_it_is_a_count(read: Read) -> None:
    traffic = "traffic_breakdown_coretomem[GLOBAL_ACC_R]"
    assert known(read(three(), traffic), traffic) == [800, 2400, 1600]


def test_counts_by_kind_run_on_within_a_stream(read: Read) -> None:
    output = (
        Output().pushed(hits=5, stream=0).pushed(hits=9, stream=957).pushed(hits=1).pushed(hits=2, stream=957)
    )
    assert known(read(output, BY_KIND), BY_KIND) == [5, 9, 1, 2]


def test_a_simulated_program_is_numbered_by_its_launches(read: Read) -> None:
    run = read(Output().pushed(100).pushed(50))
    assert run.number.tolist() == [1, 2]
    assert run.kernels[0].block == (32, 8, 1)


def test_a_trace_without_an_id_is_numbered_by_its_file(read: Read) -> None:
    text = "".join(line for line in three().text.splitlines(True) if not line.startswith("-kernel id"))
    assert read(text).number.tolist() == [4, 9, 11]


def test_two_runs_in_one_file_begin_anew(read: Read) -> None:
    first, second = Output().traced(1, misses=50), Output().traced(2, misses=60).traced(3, misses=1)
    assert known(read(first.text + second.text, MISSES), MISSES) == [50, 60, 1]


def test_where_a_block_is_missing_what_follows_it_cannot_be_told(read: Read) -> None:
    one, two = Output().traced(1, misses=5), Output().traced(1, misses=5).traced(2, misses=3)
    all_of = Output().traced(1, misses=5).traced(2, misses=3).traced(3, misses=9).traced(4, misses=2)
    text = one.text + all_of.text[len(two.text) :]
    run = read(text, "cycles", MISSES)
    # The third launch may have been announced before the gap: which one it is cannot be told for sure.
    assert known(run, "cycles") == [100, None, 100]
    assert known(run, MISSES) == [5, None, 2]
    assert list(run.missing) == [1]


@pytest.mark.parametrize(
    "garbled",
    [
        f"\t{MISSES} = 1Destroy streams for kernel 9: size 0\n",
        f"Destroy streams for kernel 9: \t{MISSES} = 5\n",
        "",
    ],
)
def test_a_line_that_another_thread_broke_is_a_gap(read: Read, garbled: str) -> None:
    run = read(three().text.replace(f"\t{MISSES} = 5\n", garbled, 1), "cycles", MISSES)
    assert known(run, MISSES) == [None, None, 8]
    assert known(run, "cycles") == [100, 300, 200]


def test_a_partition_whose_line_is_lost_is_a_gap(read: Read) -> None:
    text = three().text.replace("n_cmd=800 n_nop", "n_xxx=800 n_nop", 1)
    assert known(read(text, COMMANDS), COMMANDS) == [300, None, None]


@pytest.mark.parametrize(
    "name", ["gpu_ipc", "averagemflatency", "max_icnt2mem_latency", "L2_BW", "gpu_occupancy"]
)
def test_ratios_and_maxima_are_refused(read: Read, name: str) -> None:
    with pytest.raises(OptionError, match="do not add up"):
        read(three(), name)


def test_texts_and_fractions_are_no_counts(read: Read) -> None:
    with pytest.raises(ProfileError, match="0 days"):
        read(three(), "gpgpu_simulation_time")
    with pytest.raises(ProfileError, match=r"3\.5"):
        read(three().text.replace("n_nop=1880", "\nn_odd = 3.5"), "n_odd")


def test_a_counter_that_falls_is_no_total(read: Read) -> None:
    text = three().text.replace("total dram reads = 9\n", "total dram reads = 3\n", 1)
    with pytest.raises(ProfileError, match="falls there from 7 to 3"):
        read(text, READS)


def test_an_unknown_counter_names_the_nearest(read: Read) -> None:
    with pytest.raises(ProfileError, match="did you mean 'L2_total_cache_misses'"):
        read(three(), "L2_total_cache_mises")


def test_two_launches_with_one_block_have_no_cycles_of_their_own(read: Read) -> None:
    output = Output().pushed(100)
    push = "GPGPU-Sim PTX: pushing kernel '_Z4{}Pf' to stream 0, gridDim= (4,1,1) blockDim = (32,8,1) \n"
    output.text += push.format("step") + push.format("last")
    output.block(70)
    text = output.text.replace(
        "_Z4stepPf \nkernel_launch_uid = 2", "_Z4stepPf _Z4lastPf \nkernel_launch_uid = 2 3"
    )
    run = read(text)
    assert run.number.tolist() == [1, 2, 3]
    assert [each.name for each in run.kernels] == ["_Z4stepPf", "_Z4stepPf", "_Z4lastPf"]
    assert known(run, "cycles") == [100, None, None]
    assert "2 and 3 are printed as one" in run.missing[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kernel_launch_uid = 2", "kernel_launch_uid = 2 4"),
        ("kernel_name = _Z4stepPf \nkernel_launch_uid = 2", "kernel_name =  \nkernel_launch_uid = "),
        ("concurrent_kernel_sm    0", "concurrent_kernel_sm    1"),
    ],
)
def test_concurrent_kernels_are_refused(read: Read, old: str, new: str) -> None:
    with pytest.raises(ProfileError, match="ran concurrently"):
        read(three().text.replace(old, new, 1))


def test_a_launch_of_0_cycles_is_a_gap(read: Read) -> None:
    run = read(Output().traced(1).traced(2, 0).traced(3))
    assert known(run, "cycles") == [100, None, 100]
    assert "0 cycles" in run.missing[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-kernel id = 9\n", f"-kernel id = {9 * 10**30}\n"),
        ("gpu_sim_cycle = 300\n", f"gpu_sim_cycle = {3 * 10**30}\n"),
        (f"{MISSES} = 5\n", f"{MISSES} = {5 * 10**400}\n"),
    ],
)
def test_numbers_that_no_simulator_prints_are_none(read: Read, old: str, new: str) -> None:
    try:
        run = read(three().text.replace(old, new, 1), "cycles", MISSES)
    except ProfileError:
        return
    for number, cycles, misses in zip(
        run.number.tolist(), known(run, "cycles"), known(run, MISSES), strict=True
    ):
        assert cycles in {None, TRUTH.get(number, (cycles, 0))[0]}
        assert misses in {None, TRUTH.get(number, (0, misses))[1]}


def test_an_output_without_a_launch_is_refused(read: Read) -> None:
    with pytest.raises(ProfileError, match="no launch"):
        read(CONFIG)


def test_a_launch_whose_announcement_is_missing_has_no_number(read: Read) -> None:
    """Its number in the run says nothing where traces are simulated: the list may be of some of them."""
    text = three().text
    run = read(text[text.index("kernel_name") :], "cycles", MISSES)
    assert run.number.tolist() == [-1, 9, 11]
    program = Output().pushed(100).pushed(50).text
    assert read(program[program.index("kernel_name") :]).number.tolist() == [-1, 2]


@given(st.integers(len(CONFIG), len(WHOLE)), st.sampled_from(["", "\n"]))
def test_what_another_thread_prints_into_a_log_changes_no_number(
    tmp_path_factory: pytest.TempPathFactory, place: int, end: str
) -> None:
    path = tmp_path_factory.mktemp("run") / "log"
    path.write_text(WHOLE[:place] + "Destroy streams for kernel 9: size 0" + end + WHOLE[place:])
    with open_input(str(path)) as file:
        try:
            run = read_results(file, ("cycles", MISSES, COMMANDS))
        except ProfileError:
            return
    assert_nothing_else_than_the_truth(run)


def assert_nothing_else_than_the_truth(run: MeasuredRun) -> None:
    for place, number in enumerate(run.number.tolist()):
        if number in TRUTH:
            cycles, misses = TRUTH[number]
            truth = {"cycles": cycles, MISSES: misses, COMMANDS: 3 * cycles}
            assert all(known(run, name)[place] in {None, truth[name]} for name in truth)


@given(st.data())
def test_a_log_that_lacks_lines_says_nothing_that_is_not_so(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Other threads break lines that they print into, and pieces of an output get lost."""
    lines = WHOLE.splitlines(True)
    gone = data.draw(st.sets(st.integers(0, len(lines) - 1), min_size=1, max_size=2))
    path = tmp_path_factory.mktemp("run") / "log"
    path.write_text("".join(line for place, line in enumerate(lines) if place not in gone))
    with open_input(str(path)) as file:
        try:
            run = read_results(file, ("cycles", MISSES, COMMANDS))
        except ProfileError:
            return
    assert_nothing_else_than_the_truth(run)


@given(st.data())
def test_a_log_without_its_beginning_says_nothing_that_is_not_so(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    starts = [place + 1 for place, mark in enumerate(WHOLE) if mark == "\n"]
    text = WHOLE[data.draw(st.sampled_from(starts)) :]
    path = tmp_path_factory.mktemp("run") / "log"
    path.write_text(text)
    with open_input(str(path)) as file:
        try:
            run = read_results(file, ("cycles", MISSES))
        except ProfileError:
            return
    for number, cycles, misses in zip(
        run.number.tolist(), known(run, "cycles"), known(run, MISSES), strict=True
    ):
        assert cycles in {None, TRUTH.get(number, (cycles, 0))[0]}
        assert misses in {None, TRUTH.get(number, (0, misses))[1]}


@given(st.integers(len(CONFIG), len(WHOLE)), st.sampled_from(["0", "700", "100"]))
def test_a_killed_run_says_nothing_that_is_not_so(
    tmp_path_factory: pytest.TempPathFactory, printed: int, limit: str
) -> None:
    """However far it got: what it says of a launch is what the whole run says, or nothing."""
    path = tmp_path_factory.mktemp("run") / "log"
    path.write_text(f"-gpgpu_max_cycle {limit} # limit\n" + WHOLE[:printed])
    with open_input(str(path)) as file:
        try:
            run = read_results(file, ("cycles", MISSES))
        except ProfileError as error:
            assert "no launch" in str(error) or "no counter" in str(error)  # noqa: PT017
            return
    reached = {"0": 0, "700": 700, "100": 100}[limit]
    for number, cycles, misses in zip(
        run.number.tolist(), known(run, "cycles"), known(run, MISSES), strict=True
    ):
        assert cycles in {None, TRUTH[number][0]}
        assert misses in {None, TRUTH[number][1]}
        if reached == 100:
            assert cycles is None


def test_a_long_log_is_not_held(tmp_path: Path) -> None:
    """100 MB of output, of which 25 lines of each launch are read."""
    path = tmp_path / "run.log"
    output = Output()
    padding = "".join(f"dram[{row}]:        64        64        64        64\n" for row in range(2000))
    size = 0
    with path.open("w") as stream:
        while size < 100_000_000:
            output.text = ""
            output.traced(output.uid + 1, misses=3)
            size += stream.write(output.text + padding)
    tracemalloc.start()
    try:
        with open_input(str(path)) as file:
            run = read_results(file, ("cycles", MISSES))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(run.number) == output.uid > 900
    assert set(known(run, MISSES)) == {3}
    assert peak < 40_000_000
