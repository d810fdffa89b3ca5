"""What launches added to counters, from output of GPGPU-Sim 4.2 and Accel-Sim, line for line."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
Draw = Callable[..., Any]


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


def test_counts_are_those_of_each_launch(read: Read) -> None:
    run = read(three())
    assert (run.number.tolist(), run.first_number, dict(run.missing)) == ([4, 9, 11], 1, {})
    assert known(run, "cycles") == [100, 300, 200]
    assert known(run, "instructions") == [1000, 3000, 2000]
    kernels = {(each.name, each.grid, each.block) for each in run.kernels}
    assert kernels == {("_Z4stepPf", (4, 1, 1), (32, 8, 1))}


@pytest.mark.parametrize(
    ("domains", "hz"),
    [
        ("1132.0:1000.5:900:850.0", 1132e6),
        ("1447", 1447e6),
        ("0:0:0:0", None),
        ("fast:1132.0:1132.0:850.0", None),
        ("1132x", None),
    ],
)
def test_the_clock_of_what_is_counted_is_the_cores(read: Read, domains: str, hz: float | None) -> None:
    line = (
        f"-gpgpu_clock_domains  {domains} # Clock Domain Frequencies in MhZ {{<Core Clock>:<ICNT Clock>}}\n"
    )
    assert read(CONFIG + line + WHOLE.removeprefix(CONFIG)).clock_hz == hz
    # Behind the first launch nothing is configuration.
    assert read(WHOLE + line).clock_hz is None


@pytest.mark.parametrize(
    ("counter", "added"),
    [
        (MISSES, [5, 0, 8]),
        (READS, [7, 2, 0]),
        # Once for each of two memory partitions: 1 and 2 times the cycles.
        (COMMANDS, [300, 900, 600]),
        (BY_KIND, [1, 3, 0]),
        # Printed from the first launch on that has any.
        (RESERVED, [0, 6, 1]),
        # A total with its parts behind it.
        ("traffic_breakdown_coretomem[GLOBAL_ACC_R]", [800, 2400, 1600]),
    ],
)
def test_totals_of_the_run_are_differenced(read: Read, counter: str, added: list[int]) -> None:
    run = read(three(), "cycles", counter)
    assert (known(run, counter), known(run, "cycles")) == (added, [100, 300, 200])


def test_lines_of_the_users_own_beside_known_keys_say_nothing(read: Read) -> None:
    """A fork prints its own counts; each line is followed by three that begin with its words."""
    own = ""
    for line in [*WHOLE.splitlines(), "-gpgpu_n_clusters 8 # SMs", "-gpgpu_max_cycle 0 # none", EXIT.strip()]:
        key = re.split(r"[=:]| {2,}|(?<=clusters) |(?<=cycle) ", line)[0].rstrip()
        if key.startswith("Processing kernel"):
            own += f"Processing kernel header\n{line}\nProcessing kernel by hand\n"
        elif key and not key.startswith("GPGPU-Sim"):
            others = (f"{key}{words} 7\n" for words in (" calculated by classic =", "_of_mine =", " is near"))
            own += line + "\n" + "".join(others)
        else:
            own += line + "\n"
    for names in ((), ("cycles", "instructions", MISSES, READS, BY_KIND)):
        run, other = read(WHOLE + EXIT, *names), read(own, *names)
        assert other.number.tolist() == run.number.tolist() == [4, 9, 11]
        assert (list(other.kernels), other.missing) == (list(run.kernels), {})
        for name, values in run.metrics.items():
            assert known(other, name) == values.tolist()


def test_counts_by_kind_run_on_within_a_stream(read: Read) -> None:
    output = Output().pushed(hits=5).pushed(hits=9, stream=957).pushed(hits=1).pushed(hits=2, stream=957)
    assert known(read(output, BY_KIND), BY_KIND) == [5, 9, 1, 2]


def test_two_launches_with_one_block_have_no_cycles_of_their_own(read: Read) -> None:
    output = Output().pushed(100)
    push = "GPGPU-Sim PTX: pushing kernel '_Z4{}Pf' to stream 0, gridDim= (4,1,1) blockDim = (32,8,1) \n"
    output.text += push.format("step") + push.format("last")
    output.block(70)
    one = "_Z4stepPf \nkernel_launch_uid = 2"
    run = read(output.text.replace(one, "_Z4stepPf _Z4lastPf \nkernel_launch_uid = 2 3"))
    assert run.number.tolist() == [1, 2, 3]
    assert [each.name for each in run.kernels] == ["_Z4stepPf", "_Z4stepPf", "_Z4lastPf"]
    assert known(run, "cycles") == [100, None, None]
    assert "2 and 3 are printed as one" in run.missing[1]


def test_launches_are_numbered_by_their_traces_or_in_the_program(read: Read) -> None:
    run = read(Output().pushed(100).pushed(50))
    assert (run.number.tolist(), run.kernels[0].block) == ([1, 2], (32, 8, 1))
    # Without an id by the file; without an announcement not at all, for the list may be of some traces.
    text = "".join(line for line in WHOLE.splitlines(True) if not line.startswith("-kernel id"))
    assert read(text).number.tolist() == [4, 9, 11]
    assert read(WHOLE[WHOLE.index("kernel_name") :], MISSES).number.tolist() == [-1, 9, 11]
    program = Output().pushed(100).pushed(50).text
    assert read(program[program.index("kernel_name") :]).number.tolist() == [-1, 2]


def test_where_a_block_is_missing_what_follows_it_cannot_be_told(read: Read) -> None:
    one, two = Output().traced(1, misses=5), Output().traced(1, misses=5).traced(2, misses=3)
    all_of = Output().traced(1, misses=5).traced(2, misses=3).traced(3, misses=9).traced(4, misses=2)
    run = read(one.text + all_of.text[len(two.text) :], "cycles", MISSES)
    # The third launch may have been announced before the gap: which one it is cannot be told for sure.
    assert (known(run, "cycles"), known(run, MISSES), list(run.missing)) == (
        [100, None, 100],
        [5, None, 2],
        [1],
    )


@pytest.mark.parametrize(
    ("old", "new", "counter", "added"),
    [
        (f"\t{MISSES} = 5\n", f"\t{MISSES} = 1Destroy streams\n", MISSES, [None, None, 8]),
        (f"\t{MISSES} = 5\n", f"Destroy streams for kernel 9: \t{MISSES} = 5\n", MISSES, [None, None, 8]),
        (f"\t{MISSES} = 5\n", "", MISSES, [None, None, 8]),
        # The line of one partition.
        ("n_cmd=800 n_nop", "n_xxx=800 n_nop", COMMANDS, [300, None, None]),
    ],
)
def test_a_line_that_another_thread_broke_is_a_gap(
    read: Read, old: str, new: str, counter: str, added: list[int | None]
) -> None:
    assert old in WHOLE
    run = read(WHOLE.replace(old, new, 1), "cycles", counter)
    assert (known(run, counter), known(run, "cycles")) == (added, [100, 300, 200])


@pytest.mark.parametrize("name", ["gpu_ipc", "max_icnt2mem_latency", "gpgpu_simulation_time"])
def test_ratios_and_maxima_are_refused(read: Read, name: str) -> None:
    with pytest.raises(OptionError, match="do not add up"):
        read(three(), name)


@pytest.mark.parametrize(
    ("old", "new", "counter", "said"),
    [
        ("total dram reads = 9\n", "total dram reads = 3\n", READS, "falls there from 7 to 3"),
        ("", "", "L2_total_cache_mises", "no counter 'L2_total_cache_mises' is printed"),
        ("kernel_launch_uid = 2", "kernel_launch_uid = 2 4", "cycles", "row 42: kernels ran concurrently"),
        (WHOLE[len(CONFIG) :], "", "cycles", "no launch is printed"),
    ],
)
def test_what_is_no_count_of_one_launch_is_refused(
    read: Read, old: str, new: str, counter: str, said: str
) -> None:
    assert old in WHOLE
    with pytest.raises(ProfileError, match=said):
        read(WHOLE.replace(old, new, 1), counter)


def inserted(draw: Draw) -> str:
    """Another thread prints into it."""
    place = draw(st.integers(len(CONFIG), len(WHOLE)))
    said = "Destroy streams for kernel 9: size 0" + draw(st.sampled_from(["", "\n"]))
    return WHOLE[:place] + said + WHOLE[place:]


def lacking(draw: Draw) -> str:
    """Pieces of an output get lost."""
    lines = WHOLE.splitlines(True)
    gone = draw(st.sets(st.integers(0, len(lines) - 1), min_size=1, max_size=2))
    return "".join(line for place, line in enumerate(lines) if place not in gone)


def killed(draw: Draw) -> str:
    """However far it got, with a limit that is reached at the end or not at all."""
    limit = draw(st.sampled_from(["0", "700"]))
    return f"-gpgpu_max_cycle {limit} # limit\n" + WHOLE[: draw(st.integers(len(CONFIG), len(WHOLE)))]


@pytest.mark.parametrize("damage", [inserted, lacking, killed])
@given(data=st.data())
def test_a_damaged_output_says_what_the_whole_one_says_or_nothing(
    tmp_path_factory: pytest.TempPathFactory, damage: Callable[..., str], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("run") / "log"
    path.write_text(damage(data.draw))
    with open_input(str(path)) as file:
        try:
            run = read_results(file, ("cycles", MISSES, COMMANDS))
        except ProfileError as error:
            assert damage is not killed or "no launch" in str(error) or "no counter" in str(error)  # noqa: PT017
            return
    for place, number in enumerate(run.number.tolist()):
        assert number in TRUTH or damage is not killed
        cycles, misses = TRUTH.get(number, (None, None))
        for name, truth in (("cycles", cycles), (MISSES, misses), (COMMANDS, cycles and 3 * cycles)):
            assert number not in TRUTH or known(run, name)[place] in {None, truth}


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
