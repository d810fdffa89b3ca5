"""What Accel-Sim prints of each kernel: its name and grid, what a core holds, how long it took.

Written from the output's grammar, not tested on a real output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sampling.projection.interval_log import KernelFacts

#: A line of the output, as the key that starts it and the text after it.
Line: TypeAlias = tuple[bytes, bytes]

NAME_IN_HEADER = b"-kernel name"
GRID_IN_HEADER = b"-grid dim"
CTAS_PER_CORE = b"GPGPU-Sim uArch: CTA/core"
NAME = b"kernel_name"
CYCLES = b"gpu_sim_cycle"
INSTRUCTIONS = b"gpu_sim_insn"
BREAK = b"GPGPU-Sim: ** break due to reaching"
CLUSTERS = b"-gpgpu_n_clusters"
CORES_PER_CLUSTER = b"-gpgpu_n_cores_per_cluster"
CONCURRENT = b"-gpgpu_concurrent_kernel_sm"
KEYS = (
    *(NAME_IN_HEADER, GRID_IN_HEADER, CTAS_PER_CORE, NAME, CYCLES, INSTRUCTIONS),
    *(BREAK, CLUSTERS, CORES_PER_CLUSTER, CONCURRENT),
)

_NUMBER = re.compile(rb"\d+")


@dataclass(frozen=True, slots=True)
class SimulatedKernel:
    """A kernel of the run; ``facts`` has no cycles and instructions where it was not simulated to its end."""

    name: str
    facts: KernelFacts


@dataclass(slots=True)
class _Run:
    """A run while its lines are read."""

    kernels: list[SimulatedKernel] = field(default_factory=list)
    headers: list[tuple[str, int | None]] = field(default_factory=list)
    numbers: dict[bytes, int] = field(default_factory=dict)
    name: str = ""
    is_broken_off: bool = False

    @property
    def cores(self) -> int | None:
        """Cores of the GPU: clusters times the cores of each, which is one unless said otherwise."""
        clusters = self.numbers.get(CLUSTERS)
        return None if clusters is None else clusters * self.numbers.get(CORES_PER_CLUSTER, 1)

    def take(self, key: bytes, text: bytes) -> None:
        """Take one line."""
        if key == NAME_IN_HEADER:
            self.headers.append((_text(text), None))
        elif key == GRID_IN_HEADER and self.headers:
            self.headers[-1] = (self.headers[-1][0], _product(text))
        elif key == NAME:
            self.name = _text(text)
        elif key == BREAK:
            self._break_off()
        elif number := _NUMBER.match(text):
            self.numbers[key] = int(number[0])
            if key == INSTRUCTIONS:
                self._finish()

    def _finish(self) -> None:
        """Add the kernel whose cycles and instructions have been read."""
        header = next((header for header in self.headers if header[0] == self.name), None)
        if header is not None:
            self.headers.remove(header)
        self._add(self.name, None if header is None else header[1], is_whole=not self.is_broken_off)

    def _break_off(self) -> None:
        """Mark the kernel that reached the simulator's own limit as not simulated to its end.

        Newer versions have already printed its cycles and instructions up to there; older ones print none, so
        that its header is still in the list.
        """
        if self.headers:
            self.is_broken_off = True
        elif self.kernels:
            last = self.kernels[-1]
            facts = replace(last.facts, cycles=None, instructions=None)
            self.kernels[-1] = replace(last, facts=facts)

    def _add(self, name: str, ctas: int | None, *, is_whole: bool) -> None:
        facts = KernelFacts(
            cycles=self.numbers.get(CYCLES) if is_whole else None,
            instructions=self.numbers.get(INSTRUCTIONS) if is_whole else None,
            ctas=ctas,
            ctas_per_core=self.numbers.get(CTAS_PER_CORE),
            cores=self.cores,
        )
        self.kernels.append(SimulatedKernel(name, facts))

    def end(self) -> list[SimulatedKernel]:
        """Return all kernels; the first with nothing but a header was running when the output ended."""
        for name, ctas in self.headers[:1]:
            self._add(name, ctas, is_whole=False)
        return self.kernels


def simulated_kernels(lines: Iterable[Line]) -> list[SimulatedKernel]:
    """Return the kernels of a run, in the order in which they ended.

    ``CTA/core`` is printed where it changes, so that a kernel has the last one printed before its end.
    """
    run = _Run()
    for key, text in lines:
        run.take(key, text)
    return run.end()


def runs_kernels_concurrently(lines: Iterable[Line]) -> bool:
    """Return whether the configuration lets kernels share the GPU: then no record is of one kernel alone."""
    return any(key == CONCURRENT and text.split()[:1] == [b"1"] for key, text in lines)


def _text(text: bytes) -> str:
    return text.strip().decode("utf-8", "replace")


def _product(text: bytes) -> int | None:
    """Return the thread blocks of a grid written as (x,y,z)."""
    sizes = [int(size) for size in _NUMBER.findall(text)]
    return sizes[0] * sizes[1] * sizes[2] if len(sizes) == 3 else None
