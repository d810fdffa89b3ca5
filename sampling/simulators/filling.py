"""How L2 is filled before a drawn launch: by copies, by a kernel of loads, and by one that makes it dirty.

The simulator's memory copies (``MemcpyHtoD,ADDRESS,BYTES``) put in what can be read: a load of a partly known
sector misses. Never over a gap, which would fill lines that the program did not touch. What copies leave is
clean, and a line that is there keeps its age. So where the launch evicts lines that were stored a kernel
follows: for each line, the oldest first, it stores all of its dirty sectors or the known words of those that
cannot be read, or loads one sector of a clean line, past L1. Its few CTAs run at once, so that instruction i
of all warps comes before i + 1 of any: the order of the list. (docs/methods.md, 14 Launches simulated alone)
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import IO

import numpy as np

from sampling.arrays import IntArray
from sampling.simulators.caches import DirtyLines, Filled
from sampling.simulators.export import LOADS_FROM, Shard, Step
from sampling.simulators.exporter import template
from sampling.simulators.trace_accesses import SECTOR, blocks, within

_HIGH = re.compile(rb"0x0*[1-9a-f][0-9a-f]*([0-9a-f]{8})\b")
_LOW_WORD = (1 << 32) - 1
_LOAD = "1 R4 LDG.E.STRONG.GPU 1 R2 4 0"
_STORE, _STORE_WORD = "0 STG.E.128.SYS 2 R2 R3 16 0", "0 STG.E.SYS 2 R2 R3 4 0"
_CTAS, _WARPS, _LANES = 64, 4, 32


def with_kernels(shard: Shard, filled: Filled) -> Shard:
    """Return the launches of a shard, before some of them the kernel that fills L2."""
    steps = []
    for step in shard:
        if filled.has_kernel(step.ordinal):
            steps.append(Step(step.id, LOADS_FROM + step.ordinal))
        steps.append(step)
    return tuple(steps)


def copies(filled: Filled, ordinal: int) -> list[str]:
    """Return the lines of a list that put in what can be read, before a launch or the kernel before it."""
    fill = filled.fills.get(ordinal % LOADS_FROM)
    is_kernel, has_kernel = ordinal >= LOADS_FROM, filled.has_kernel(ordinal % LOADS_FROM)
    if fill is None or not filled.by_copies or is_kernel != has_kernel:
        return []
    mask = -1 if filled.whole_addresses else _LOW_WORD
    return [
        f"MemcpyHtoD,0x{(sector << SECTOR) & mask:016x},{count << SECTOR}"
        for sector, count in zip(*(column.tolist() for column in fill.runs), strict=True)
    ]


def write_low_words(file: Path, target: IO[bytes], *, packed: bool) -> None:
    """Write a trace with the low 32 bits of its addresses, all that the simulator keeps of a copy's."""
    with lzma.open(target, "wb", preset=0) if packed else nullcontext(target) as stream:
        for block in blocks(file):
            stream.write(_HIGH.sub(rb"0x\1", block))


def write_kernel(head: Mapping[str, str], filled: Filled, ordinal: int, target: IO[bytes]) -> None:
    """Write the trace of the kernel that fills L2 before a launch, for a device and stream as in its head."""
    fill = filled.fills[ordinal]
    if fill.dirty is None:
        first, count = fill.runs
        sector = np.repeat(first, count) + within(count)
        work = list(_batches(_LOAD, sector << SECTOR, np.arange(len(sector))))
    else:
        work = _work(fill.dirty, after_copies=filled.by_copies)
    mask = _LOW_WORD if filled.by_copies and not filled.whole_addresses else -1
    number = LOADS_FROM + ordinal + 1
    facts = {"binary": head.get("binary version", "70"), "stream": head.get("cuda stream id", "0")}
    target.write(template("accel-sim/loads.traceg", number=number, ctas=_CTAS, **facts).encode())
    for warp in range(_CTAS * _WARPS):
        if warp % _WARPS == 0:
            target.write(f"#BEGIN_TB\n\nthread block = {warp // _WARPS},0,0\n".encode())
        lines = [
            f"{16 * place:04x} {(1 << len(lanes)) - 1:08x} {instruction} "
            + "".join(f"0x{address & mask:x} " for address in lanes.tolist())
            + "0 "
            for place, (_, instruction, lanes) in enumerate(work[warp :: _CTAS * _WARPS])
        ]
        lines.append(f"{16 * len(lines):04x} ffffffff 0 EXIT 0 0 0 ")
        text = "\n".join(lines)
        target.write(f"\nwarp = {warp % _WARPS}\ninsts = {len(lines)}\n{text}\n".encode())
        if warp % _WARPS == _WARPS - 1:
            target.write(b"\n#END_TB\n\n")


#: The place of the line at which it is complete, the instruction, and the addresses of its lanes
_Batch = tuple[int, str, IntArray]


def _work(dirty: DirtyLines, *, after_copies: bool) -> list[_Batch]:
    """Return the instructions that make L2 dirty and its lines as old as they are.

    After copies what can be read is there, and a load only renews the age of a line.
    """
    sector = (dirty.number[:, None] << 2) + np.arange(4) << SECTOR
    line = np.broadcast_to(np.arange(len(sector))[:, None], sector.shape)
    is_dirty = dirty.words > 0
    is_loaded = dirty.readable & ~is_dirty
    if after_copies:
        is_loaded &= ~is_dirty.any(axis=1, keepdims=True) & (np.cumsum(is_loaded, axis=1) == 1)
    is_whole = is_dirty & dirty.readable
    is_word = (dirty.words[..., None] >> np.arange(8) & 1 > 0) & ~is_whole[..., None]
    batches = [
        *_batches(_LOAD, sector[is_loaded], line[is_loaded]),
        *_batches(_STORE, (sector[is_whole][:, None] + (0, 16)).ravel(), np.repeat(line[is_whole], 2)),
        *_batches(
            _STORE_WORD,
            (sector[..., None] + 4 * np.arange(8))[is_word],
            np.broadcast_to(line[..., None], is_word.shape)[is_word],
        ),
    ]
    return sorted(batches, key=lambda batch: batch[0])


def _batches(instruction: str, address: IntArray, line: IntArray) -> Iterator[_Batch]:
    """Yield (t,) addresses for as many lanes as a warp has."""
    for begin in range(0, len(address), _LANES):
        end = begin + _LANES
        complete = int(line[end - 1]) if end <= len(line) else int(line[-1]) + 1
        yield complete, instruction, address[begin:end]
