"""Made-up machine code: the basic blocks of a kernel, how often they run, and what a profiler counts of that.

Everything that is counted follows from the blocks, so that the metrics and the basic-block vectors of a
launch agree.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from workload import Dimensions, Kernel, Launch

_WARP_THREADS = 32
#: Sectors that a warp moves with one access of four bytes a thread, side by side.
_SECTORS = 4


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block: its instructions, and those of them that access memory.

    ``runs`` is how often a warp runs it, in each trip if it is ``looped``; below 1 only that share of the
    warps does. Where the data decide, it is ``runs`` times one of ``levels``, another one each launch.
    ``threads`` of a warp take part.
    """

    instructions: int
    runs: float = 1.0
    looped: bool = False
    levels: tuple[float, ...] = (1.0,)
    threads: int = _WARP_THREADS
    global_loads: int = 0
    global_stores: int = 0
    local_loads: int = 0
    shared_loads: int = 0
    shared_stores: int = 0
    global_atomics: int = 0


@dataclass(frozen=True, slots=True)
class Code:
    """The blocks of a kernel, trips through its loop by grid, and sectors of one access to global memory."""

    blocks: tuple[Block, ...]
    trips: Mapping[Dimensions, int]
    sectors_per_load: int = _SECTORS
    sectors_per_store: int = _SECTORS


@dataclass(frozen=True, slots=True)
class Executed:
    """What a launch executed: its warps, and how often each block was run, summed over them."""

    code: Code
    warps: int
    runs: tuple[int, ...]

    def instructions(self, kind: str = "instructions") -> int:
        """Return how many warp instructions of a kind (a field of `Block`) were executed."""
        return sum(
            runs * getattr(block, kind) for runs, block in zip(self.runs, self.code.blocks, strict=True)
        )

    def arithmetic(self) -> int:
        """Return how many instructions of a loop threads executed that access no memory."""
        total = 0
        for runs, block in zip(self.runs, self.code.blocks, strict=True):
            accesses = block.global_loads + block.global_stores + block.local_loads
            accesses += block.shared_loads + block.shared_stores + block.global_atomics
            total += block.looped * runs * (block.instructions - accesses) * block.threads
        return total

    @property
    def threads_per_instruction(self) -> float:
        """How many threads of a warp took part in an instruction, on average."""
        blocks = zip(self.runs, self.code.blocks, strict=True)
        return sum(runs * block.instructions * block.threads for runs, block in blocks) / self.instructions()


def executed(launches: Sequence[Launch], codes: Mapping[Kernel, Code], seed: int) -> Iterator[Executed]:
    """Yield what each launch executes; the seed stands for the data."""
    draw = random.Random(seed).random
    for launch in launches:
        yield _executed(launch, codes[launch.kernel], draw())


def _executed(launch: Launch, code: Code, data: float) -> Executed:
    warps = prod(launch.grid) * -(-prod(launch.kernel.block) // _WARP_THREADS)
    trips = code.trips[launch.grid]
    return Executed(code, warps, tuple(_runs(block, warps, trips, data) for block in code.blocks))


def _runs(block: Block, warps: int, trips: int, data: float) -> int:
    level = block.levels[int(data * len(block.levels))]
    return int(warps * (trips if block.looped else 1) * block.runs * level + 0.5)
