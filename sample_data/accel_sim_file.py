"""Writer of what Accel-Sim logs while it simulates kernels, the lines of its output among the records."""

from __future__ import annotations

import gzip
import heapq
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod
from pathlib import Path

from nsys_files import SYNTHETIC
from workload import Dimensions

_CORES = 80
_INTERVAL_CYCLES = 500
#: The first thread blocks get going within so many cycles, while the caches are cold.
_COLD_CYCLES = 900

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class SimulatedKernel:
    """A kernel to simulate.

    ``cta_cycles`` is how long a thread block takes at most, ``shortest`` times that how long at least, and
    ``cta_instructions`` what the longest execute. ``stop_cycle`` is where the simulation is broken off.
    """

    name: str
    grid: Dimensions
    block: Dimensions
    ctas_per_core: int
    limited_by: str
    cta_cycles: int
    cta_instructions: int
    shortest: float = 0.97
    stop_cycle: int | None = None


#: What `gemm-intervals.log.gz` holds: one that settles, one that never does, and one that is not finished.
GEMM_RUN = (
    SimulatedKernel("volta_sgemm_128x64_nn", (98, 16, 1), (128, 1, 1), 4, "regs", 10_400, 251_000),
    SimulatedKernel(
        "_Z16trsm_left_unevenIfEvPKT_PS0_ii", (12, 7, 1), (256, 1, 1), 2, "shmem", 38_000, 2_490_000, 0.02
    ),
    SimulatedKernel(
        "volta_sgemm_64x64_nn", (98, 64, 1), (64, 1, 1), 8, "regs shmem", 7_300, 81_000, stop_cycle=24_000
    ),
)


def write_interval_log(kernels: Sequence[SimulatedKernel], path: Path, seed: int) -> None:
    """Write the records of all kernels, one every 500 cycles, behind the lines that announce the kernel."""
    run = _Run(random.Random(seed).random)
    lines = [
        f"Accel-Sim [{SYNTHETIC}]",
        f"-gpgpu_n_clusters {_CORES} # number of processing clusters",
        "-gpgpu_n_cores_per_cluster 1 # number of simd cores per cluster",
        "-gpgpu_concurrent_kernel_sm 0 # support concurrent kernels on a SM",
        f"-gpgpu_runtime_stat {_INTERVAL_CYCLES}:0 # display runtime statistics",
        "-visualizer_enabled 1 # turn on visualizer output",
    ]
    for number, kernel in enumerate(kernels, start=1):
        lines += run.simulate(number, kernel)
    text = "\n".join([*lines, "GPGPU-Sim: *** exit detected ***", ""])
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


class _Run:
    """What runs on from kernel to kernel: the instructions so far, and thread blocks not yet recorded."""

    def __init__(self, draw: Callable[[], float]) -> None:
        self._draw = draw
        self._instructions = 0
        self._unrecorded_ctas = 0

    def simulate(self, number: int, kernel: SimulatedKernel) -> Iterator[str]:
        """Yield the lines of one kernel."""
        spans = _cta_spans(kernel, self._draw)
        end = kernel.stop_cycle or ceil(max(stop for _, stop in spans))
        yield from _header(number, kernel)
        yield from self._records(kernel, spans, end)
        instructions = _done(kernel, spans, end)
        self._instructions += instructions
        yield f"kernel_name = {kernel.name}"
        yield f"kernel_launch_uid = {number}"
        yield f"gpu_sim_cycle = {end}"
        yield f"gpu_sim_insn = {instructions}"
        yield f"gpu_ipc = {instructions / end:12.4f}"
        if kernel.stop_cycle is not None:
            yield "GPGPU-Sim: ** break due to reaching the maximum cycles (or instructions) **"

    def _records(self, kernel: SimulatedKernel, spans: Sequence[Span], end: int) -> Iterator[str]:
        before, finished = 0, 0
        for cycle in range(_INTERVAL_CYCLES, end + 1, _INTERVAL_CYCLES):
            instructions = _done(kernel, spans, cycle)
            ctas = sum(stop <= cycle for _, stop in spans)
            yield f"ctas_completed: {ctas - finished + self._unrecorded_ctas}"
            yield f"shaderinsncount:  {_shared_out(instructions - before)}"
            yield f"globalcyclecount: {cycle}"
            yield f"globalinsncount: {instructions}"
            yield f"globaltotinsncount: {self._instructions}"
            before, finished, self._unrecorded_ctas = instructions, ctas, 0
        self._unrecorded_ctas = sum(stop <= end for _, stop in spans) - finished


def _cta_spans(kernel: SimulatedKernel, draw: Callable[[], float]) -> list[Span]:
    """Return when each thread block starts and ends: each takes the place that becomes free first."""
    free = [_COLD_CYCLES * draw() for _ in range(_CORES * kernel.ctas_per_core)]
    heapq.heapify(free)
    spans = []
    for _ in range(prod(kernel.grid)):
        start = heapq.heappop(free)
        stop = start + kernel.cta_cycles * (kernel.shortest + (1.0 - kernel.shortest) * draw())
        heapq.heappush(free, stop)
        spans.append((start, stop))
    return spans


def _done(kernel: SimulatedKernel, spans: Sequence[Span], cycle: int) -> int:
    """Return the instructions executed up to a cycle: each thread block executes evenly while it runs."""
    total = 0
    per_cycle = kernel.cta_instructions / kernel.cta_cycles
    for start, stop in spans:
        total += int(max(min(stop, cycle) - start, 0.0) * per_cycle)
    return total


def _shared_out(instructions: int) -> str:
    """Return the instructions of each core, as even as they can be."""
    each, more = divmod(instructions, _CORES)
    return " ".join(str(each + (core < more)) for core in range(_CORES))


def _header(number: int, kernel: SimulatedKernel) -> Iterator[str]:
    yield f"Processing kernel ./traces/kernel-{number}.traceg"
    yield f"-kernel name = {kernel.name}"
    yield f"-kernel id = {number}"
    for what, sizes in (("grid", kernel.grid), ("block", kernel.block)):
        yield f"-{what} dim = ({','.join(map(str, sizes))})"
    yield f"GPGPU-Sim uArch: CTA/core = {kernel.ctas_per_core}, limited by: {kernel.limited_by}"
