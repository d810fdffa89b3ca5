"""An L2 written plainly, line by line of a trace and lane by lane, to compare with."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby

LOADS, STORES = {"LDG", "LDGSTS", "ATOM", "ATOMG", "RED"}, {"STG"}
ATOMICS = {"ATOM", "ATOMG", "RED"}
WHOLE = frozenset(range(32))


@dataclass
class Line:
    """A line that is held: the launch that touched it last, and by sector what is known and what is dirty."""

    launch: int = 0
    known: dict[int, frozenset[int]] = field(default_factory=dict)
    loaded: set[int] = field(default_factory=set)
    dirty: set[int] = field(default_factory=set)


#: By number, the oldest first.
Held = OrderedDict[int, Line]
#: Wave, loads that the warp did before, warp's place in the file, and what is touched then.
Event = tuple[int, int, int, int, str, list[tuple[int, int]]]


def lanes_of(words: list[str], lanes: int) -> list[int]:
    """The address of each active lane, from the words behind the width."""
    if words[0] == "0":
        return [int(word, 16) for word in words[1 : lanes + 1]]
    first = int(words[1], 16)
    if words[0] == "1":
        return [first + int(words[2]) * lane for lane in range(lanes)]
    found = [first]
    for word in words[2 : lanes + 1]:
        found.append(found[-1] + int(word))
    return found


def events(trace: str, ctas_at_once: int) -> list[Event]:
    """What a launch touches, in about the order of time."""
    found: list[Event] = []
    cta = warp = -1
    loads = 0
    for line in trace.splitlines():
        words = line.split()
        cta += line.startswith("thread block")
        if line.startswith("warp ="):
            warp, loads = warp + 1, 0
        if not re.match(r"[0-9a-f]{4} [0-9a-f]{8} ", line):
            continue
        at = 3 + int(words[2])
        opcode, *parts = words[at].split(".")
        at += 2 + int(words[at + 1])
        lanes = int(words[1], 16).bit_count()
        if opcode not in LOADS | STORES or not lanes:
            continue
        width = next((int(part.strip("U")) // 8 for part in parts if part.strip("U").isdigit()), 4)
        spans = [(address, width) for address in lanes_of(words[at + 1 :], lanes)]
        # A store comes before the load beside it.
        found.append((cta // ctas_at_once, loads, warp, opcode in LOADS, opcode, spans))
        loads += opcode in LOADS
    return sorted(found, key=lambda event: event[:4])


def run(held: Held, launch: int, trace: str, most: int, ctas_at_once: int = 1) -> bool:
    """Touch what a launch touches; the line touched longest ago goes first. Return whether any goes."""
    has_dropped = False
    for _, together in groupby(events(trace, ctas_at_once), key=lambda event: event[:4]):
        touches = [(span, opcode) for *_, opcode, spans in together for span in spans]
        for (address, width), opcode in sorted(touches):
            for byte in range(address, address + width):
                line, sector = held.pop(byte // 128, None) or Line(), byte // 32
                line.launch = launch
                known = line.known.get(sector, frozenset())
                line.known[sector] = WHOLE if opcode in LOADS else known | {byte % 32}
                line.loaded |= {sector} if opcode in LOADS else set()
                line.dirty |= {sector} if opcode in STORES | ATOMICS else set()
                held[byte // 128] = line
                if len(held) > most:
                    held.popitem(last=False)
                    has_dropped = True
    return has_dropped


def copies(held: Held, *, by_age: bool = False, own: bool = False, mask: int = 2**32 - 1) -> list[str]:
    """The lines that fill L2 anew: whole sectors, side by side ones as one, those of old launches first.

    `by_age`: line by line, the oldest first; else by address within a launch. `own`: those that were loaded.
    """
    ordered = sorted(held, key=lambda number: (held[number].launch, *([] if by_age else [number])))
    runs: list[list[int]] = []
    before = -1
    for number in ordered:
        line = held[number]
        for sector in sorted(line.loaded if own else line.known):
            if line.known[sector] == WHOLE:
                if runs and runs[-1][-1] + 1 == sector and line.launch == before:
                    runs[-1].append(sector)
                else:
                    runs.append([sector])
                before = line.launch
    return [f"MemcpyHtoD,0x{32 * each[0] & mask:016x},{32 * len(each)}" for each in runs]


def list_of(traces: Iterable[tuple[str, str]], drawn: set[str], most: int = 2**20) -> list[str]:
    """The list of the drawn traces among all, by name, behind what those before left, unless they follow."""
    held: Held = OrderedDict()
    lines: list[str] = []
    follows = False
    for launch, (name, text) in enumerate(traces):
        if name in drawn:
            lines += [*([] if follows else copies(held)), name]
        follows = name in drawn
        run(held, launch, text, most)
    return lines
