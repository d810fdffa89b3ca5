"""Instruction traces of Accel-Sim, one kernel a file: ``kernel-N.traceg``.

Header lines start with ``-``: read are ``-accelsim tracer version``, ``-enable lineinfo``,
``-shmem base_addr`` and ``-local mem base_addr``. Then thread block by thread block, between ``#BEGIN_TB``
and ``#END_TB``: ``thread block = x,y,z``, perhaps lines on its cluster, and for each warp ``warp = w``,
``insts = n`` and n instructions,

    [line] PC mask destinations [names] opcode sources [names] width [form addresses] ...

PC, mask of the active threads and addresses are hexadecimal, the other numbers decimal. The line number is
there if ``-enable lineinfo`` is 1; before tracer version 3, or without one, x, y, z and warp come first. A
width of 0 is no memory instruction. Forms: 0, the address of each active thread; 1, that of the first, and a
stride to each next one of a run of active threads; 2, that of the first, and for each later one the
difference to the one before. What comes after (immediates, values) is left alone. Written from the tool's
grammar and public source (tracer_tool.cu, post-traces-processing.cpp, trace_parser.cc), not run against it.

Counted are the accesses of LDG, STG, ATOMG, REDG and LDGSTS, and of LD, ST, ATOM and RED where the address
is not in the 16 MiB from the shared or the local base on; LDL, STL and the local ones only if asked for.
Loads of constants and textures have no address in a trace. The bulk copies of Hopper's tensor memory
accelerator are refused: their grammar is another in each version.

The warps of all thread blocks take turns, in the file's order: the first instruction of each, then the second
of each, and so on; a warp that has ended is left out. Each line that the active threads of an instruction
touch is one access, in ascending order. How many warps a GPU holds at once is not modelled.
"""

from __future__ import annotations

import re

import numpy as np

from scalemodel.arrays import IntArray
from scalemodel.traces.accel_sim_instructions import read_instructions
from scalemodel.traces.accel_sim_lines import BlockReader
from scalemodel.traces.accesses import AddressArray, AddressTrace
from scalemodel.traces.trace_file import TraceFile
from scalemodel.traces.words import split_lines

_SIGN = re.compile(rb"^(-kernel (name|id) = |-grid dim = |#BEGIN_TB|#traces format)", re.MULTILINE)


def recognises(head: bytes) -> bool:
    """Return whether a file that starts like this is an instruction trace of a kernel."""
    return _SIGN.search(head) is not None


def read(file: TraceFile, line_bytes: int, *, with_local: bool) -> AddressTrace:
    """Read the accesses of a kernel.

    Raises
    ------
    InputError : the grammar is broken, a memory instruction is not known, or the file ends early.
    """
    blocks = BlockReader(file.path)
    thread_instructions = warp_instructions = 0
    warps, places, lines = [], [], []
    for text in file.line_pieces():
        instructions = blocks.read(split_lines(text))
        accesses = read_instructions(instructions.words, blocks.header, line_bytes, with_local=with_local)
        thread_instructions += accesses.thread_instructions
        warp_instructions += instructions.warp.size
        warps.append(instructions.warp[accesses.instruction])
        places.append(instructions.place[accesses.instruction])
        lines.append(accesses.line)
    blocks.finish()
    line = _in_turns(np.concatenate(warps), np.concatenate(places), np.concatenate(lines))
    return AddressTrace(line, line_bytes, thread_instructions, warp_instructions)


def _in_turns(warp: IntArray, place: IntArray, line: AddressArray) -> AddressArray:
    """Return the lines by the place of their instruction in its warp, then by warp."""
    warps = int(warp.max(initial=0)) + 1
    return line[np.argsort(place * warps + warp, kind="stable")]
