"""Write the traces of the two made-up programs of ``study/``, as Accel-Sim's tracer writes those of a V100.

    python sample_data/study_traces.py stencil FOLDER     # or layers: kernel-N.traceg and kernelslist.g

A trace has the instructions of each warp of a launch, with the addresses that they load and store. No GPU ran
these. The same bytes every time; the standard library only.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

WARPS, THREADS = 4, 128  #: of a block
#: Arrays lie below 4 GiB: Accel-Sim keeps 32 bits of the address of a memory copy
ARRAYS = [0x10000000 + place * 0x01000000 for place in range(6)]
MIB = 1 << 20


@dataclass
class Warp:
    """The instructions of one warp, one after another."""

    block: int
    warp: int
    lines: list[str] = field(default_factory=list)

    def do(self, opcode: str, to: int | None = None, *of: int, memory: str = "0") -> None:
        """Add an instruction that writes one register or none, and reads some."""
        written = "0" if to is None else f"1 R{to}"
        read = " ".join([str(len(of)), *(f"R{register}" for register in of)])
        self.lines.append(f"{16 * len(self.lines):04x} ffffffff {written} {opcode} {read} {memory} 0")

    def load(self, to: int, address: int, *, floats: int = 1) -> None:
        """Load from global memory, each lane what lies behind what the one before it loads."""
        self.do(f"LDG.E.{32 * floats}.SYS", to, 2, memory=_memory(address, floats))

    def store(self, of: int, address: int, *, floats: int = 1, stride: int | None = None) -> None:
        """Store to global memory, each lane ``stride`` bytes behind the one before it."""
        self.do(f"STG.E.{32 * floats}.SYS", None, 2, of, memory=_memory(address, floats, stride))

    def add_up(self, of: int) -> None:
        """Add a register up over the lanes."""
        for _ in range(5):
            self.do("SHFL.DOWN", 3, of)
            self.do("FADD", of, of, 3)


def _memory(address: int, floats: int, stride: int | None = None) -> str:
    """Say which bytes the lanes of a warp load or store, one behind the other if no stride is said."""
    width = 4 * floats
    return f"{width} 1 0x{address:x} {width if stride is None else stride}"


class Launch(NamedTuple):
    """A launch of a kernel, and what each warp of it does."""

    kernel: tuple[str, int, int]  #: its name, registers of a thread, bytes of shared memory
    grid: tuple[int, int]
    fill: Callable[[Warp], None]


SMOOTH = ("_Z6smoothPKfPfi", 32, 0)
RESIDUAL = ("_Z8residualPKfS0_Pfi", 32, 128)
UPDATE = ("_Z6updatePfPKff", 16, 0)
EDGES = ("_Z5edgesPfi", 16, 0)


def stencil() -> Iterator[Launch]:
    """Yield 20 sweeps over a mesh that grows; ever more blocks of it are at rest, with little left to do."""
    for sweep in range(20):
        rows = 3 + sweep // 5
        drawn = random.Random(f"sweep {sweep}")
        at_work = [drawn.random() > 0.02 * sweep for _ in range(64)]
        source, target = ARRAYS[sweep % 2], ARRAYS[1 - sweep % 2]
        yield Launch(EDGES, (4, 1), partial(_edges, of=source))
        yield Launch(SMOOTH, (8, 8), partial(_smooth, of=source, to=target, rows=rows))
        yield Launch(RESIDUAL, (8, 8), partial(_residual, of=target, rows=rows, at_work=at_work))
        yield Launch(UPDATE, (32, 1), partial(_update, of=source, to=target))


def _cell(warp: Warp, row: int, rows: int) -> int:
    """Return where a row of a warp's part of the mesh begins, in which block lies behind block."""
    return 4 * (THREADS * (warp.block * rows + row) + 32 * warp.warp)


def _edges(warp: Warp, of: int) -> None:
    for side in (0, 1):
        here = of + side * MIB // 8 + 4 * (THREADS * warp.block + 32 * warp.warp)
        warp.load(4, here + 4 * THREADS)
        warp.store(4, here)


def _smooth(warp: Warp, of: int, to: int, rows: int) -> None:
    for row in range(rows):
        here = _cell(warp, row, rows)
        for register, beside in enumerate((0, 4, 8, 4 * THREADS + 4, 8 * THREADS + 4), start=4):
            warp.load(register, of + here + beside)
        for register in range(5, 9):
            warp.do("FFMA", 4, 4, register)
        warp.store(4, to + here)


def _residual(warp: Warp, of: int, rows: int, at_work: list[bool]) -> None:
    for row in range(rows if at_work[warp.block] else 1):
        here = _cell(warp, row, rows)
        warp.load(4, of + here)
        warp.load(5, ARRAYS[2] + here)
        warp.do("FADD", 6, 4, 5)
        warp.do("FFMA", 7, 6, 6, 7)
        warp.store(6, ARRAYS[3] + here)
    warp.add_up(7)
    warp.do("STS", None, 2, 7, memory=_memory(4 * warp.warp, 1, 0))
    warp.do("BAR.SYNC")
    if warp.warp == 0:
        warp.do("LDS", 3, 2, memory=_memory(0, 1, 4))
        warp.store(3, ARRAYS[4] + 4 * warp.block, stride=0)


def _update(warp: Warp, of: int, to: int) -> None:
    for turn in range(3):
        here = 16 * (THREADS * (32 * turn + warp.block) + 32 * warp.warp)
        warp.load(4, to + here, floats=4)
        warp.load(8, of + here, floats=4)
        for lane in range(4):
            warp.do("FFMA", 4 + lane, 4 + lane, 8 + lane)
        warp.store(4, to + here, floats=4)


NORM = ("_Z10layer_normPKfPfi", 32, 0)
MATMUL = ("_Z6matmulPKfS0_Pfi", 64, 4096)
ATTENTION = ("_Z9attentionPKfPfi", 32, 0)
GELU = ("_Z4geluPff", 24, 0)
FEATURES = 256
TOKENS = 96  #: of a sentence, with those that fill it up


def layers() -> Iterator[Launch]:
    """Yield 13 blocks of a network, of six launches each, over sentences of uneven length."""
    drawn = random.Random("sentences")
    x, y, weights, shown, wide, _ = ARRAYS
    for _ in range(13):
        tokens = drawn.randrange(TOKENS // 2, TOKENS)
        yield Launch(NORM, (TOKENS // 4, 1), partial(_norm, of=x, to=y))
        yield _product(4, FEATURES, of=y, by=weights, to=shown)
        yield Launch(ATTENTION, (TOKENS // 4, 1), partial(_attention, of=shown, to=x, tokens=tokens))
        yield _product(8, FEATURES, of=x, by=weights + MIB, to=wide)
        yield Launch(GELU, (12, 1), partial(_gelu, of=wide))
        yield _product(4, 2 * FEATURES, of=wide, by=weights + 2 * MIB, to=x)


def _product(across: int, depth: int, of: int, by: int, to: int) -> Launch:
    return Launch(MATMUL, (across, 3), partial(_matmul, across=across, depth=depth, of=of, by=by, to=to))


def _norm(warp: Warp, of: int, to: int) -> None:
    row = 4 * FEATURES * (WARPS * warp.block + warp.warp)
    for opcode in ("FADD", "FFMA", "FMUL"):  # the mean, the spread, by that: from L1 but for the first
        for part in range(2):
            warp.load(4, of + row + 512 * part, floats=4)
            for lane in range(4):
                warp.do(opcode, 9, 9, 4 + lane)
            if opcode == "FMUL":
                warp.store(9, to + row + 512 * part, floats=4)
        warp.add_up(9)


def _matmul(warp: Warp, across: int, depth: int, of: int, by: int, to: int) -> None:
    """Fill 32 rows and 64 columns of a product of matrices, which lie tile by tile, 32 deep at a time."""
    column, row = warp.block % across, WARPS * (warp.block // across) + warp.warp
    for deep in range(depth // 32):
        warp.load(4, of + 512 * (depth // 32 * row + deep), floats=4)
        warp.load(8, by + 512 * (depth // 8 * column + 4 * deep + warp.warp), floats=4)
        warp.do("STS.128", None, 2, 4, memory=_memory(512 * warp.warp, 4))
        warp.do("STS.128", None, 2, 8, memory=_memory(2048 + 512 * warp.warp, 4))
        warp.do("BAR.SYNC")
        for inner in range(4):
            warp.do("LDS.128", 12, 2, memory=_memory(512 * inner, 4, 0))
            warp.do("LDS.128", 16, 2, memory=_memory(2048 + 512 * inner, 4))
            for place in range(8):
                warp.do("FFMA", 20 + place, 12 + place // 4, 16 + place % 4, 20 + place)
        warp.do("BAR.SYNC")
    warp.store(20, to + 512 * (WARPS * warp.block + warp.warp), floats=4)


def _attention(warp: Warp, of: int, to: int, tokens: int) -> None:
    """Weigh every token of the sentence for one of them; those that fill it up have nothing to weigh."""
    token = WARPS * warp.block + warp.warp
    if token >= tokens:
        return
    for opcode in ("FMNMX", "MUFU.EX2"):  # the largest, then the shares: the second time from L1
        for other in range(0, tokens, 8):
            warp.load(4, of + 64 * other, floats=4)
            warp.do("FFMA", 5, 4, 5)
            warp.do(opcode, 6, 5, 6)
        warp.add_up(6)
    warp.store(6, to + 512 * token, floats=4)


def _gelu(warp: Warp, of: int) -> None:
    for turn in range(4):
        here = of + 4 * (THREADS * (4 * warp.block + turn) + 32 * warp.warp)
        warp.load(4, here)
        for opcode in ("FMUL", "FFMA", "MUFU.EX2", "FADD", "MUFU.RCP", "FMUL"):
            warp.do(opcode, 4, 4)
        warp.store(4, here)


PROGRAMS = {"stencil": stencil, "layers": layers}


def write_traces(program: str, folder: Path, most: int | None = None) -> None:
    """Write the traces of a program's first launches, of all if not said, and the list of them."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"MemcpyHtoD,0x{array:016x},{MIB}" for array in ARRAYS[:3]]
    for number, launch in enumerate(list(PROGRAMS[program]())[:most], start=1):
        names.append(f"kernel-{number}.traceg")
        (folder / names[-1]).write_text(_trace(launch, number), encoding="ascii")
    (folder / "kernelslist.g").write_text("\n".join(names) + "\n", encoding="ascii")


def _trace(launch: Launch, number: int) -> str:
    (name, registers, shared_bytes), (across, down), fill = launch
    text = [
        f"-kernel name = {name}\n-kernel id = {number}\n-grid dim = ({across},{down},1)",
        f"-block dim = ({THREADS},1,1)\n-shmem = {shared_bytes}\n-nregs = {registers}\n-binary version = 70",
        "-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000",
        "-local mem base_addr = 0x00007f0002000000\n-nvbit version = none\n-accelsim tracer version = 5",
        "-enable lineinfo = 0\n\n#traces of version 5\n",
    ]
    for block in range(across * down):
        text.append(f"#BEGIN_TB\n\nthread block = {block % across},{block // across},0\n")
        for place in range(WARPS):
            warp = Warp(block, place)
            warp.do("S2R", 2)
            fill(warp)
            warp.do("EXIT")
            text.append(f"warp = {place}\ninsts = {len(warp.lines)}\n" + "\n".join(warp.lines) + "\n")
        text.append("#END_TB\n")
    return "\n".join(text)


if __name__ == "__main__":
    write_traces(sys.argv[1], Path(sys.argv[2]))
