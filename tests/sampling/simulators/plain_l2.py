"""An L2 written plainly, line by line of a trace and lane by lane, to compare with."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable

LOADS, STORES = {"LDG", "LDGSTS", "ATOM", "ATOMG", "RED"}, {"STG"}
WHOLE = frozenset(range(32))

#: Of each line held, the oldest first: the launch that touched it last, and the bytes known by sector.
Held = OrderedDict[int, tuple[int, dict[int, frozenset[int]]]]


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


def run(held: Held, launch: int, trace: str, most: int, *, loads_alone: bool = False) -> None:
    """Touch what a launch touches, in the order of its trace; the line touched longest ago goes first."""
    for line in trace.splitlines():
        words = line.split()
        if not re.match(r"[0-9a-f]{4} [0-9a-f]{8} ", line):
            continue
        at = 3 + int(words[2])
        opcode, *parts = words[at].split(".")
        at += 2 + int(words[at + 1])
        lanes = int(words[1], 16).bit_count()
        if opcode not in LOADS | STORES or not lanes or (loads_alone and opcode in STORES):
            continue
        width = next((int(part.strip("U")) // 8 for part in parts if part.strip("U").isdigit()), 4)
        for address in lanes_of(words[at + 1 :], lanes):
            for byte in range(address, address + width):
                sectors = held.pop(byte // 128, (0, {}))[1]
                known = sectors.get(byte // 32, frozenset())
                sectors[byte // 32] = WHOLE if opcode in LOADS else known | {byte % 32}
                held[byte // 128] = (launch, sectors)
                if len(held) > most:
                    held.popitem(last=False)


def copies(held: Held) -> list[str]:
    """The lines that fill L2 anew: whole sectors, side by side ones as one, those of old launches first."""
    lines = []
    for launch in sorted({of for of, _ in held.values()}):
        whole = sorted(
            sector for of, each in held.values() if of == launch for sector in each if each[sector] == WHOLE
        )
        runs: list[list[int]] = []
        for sector in whole:
            if runs and runs[-1][-1] + 1 == sector:
                runs[-1].append(sector)
            else:
                runs.append([sector])
        lines += [f"MemcpyHtoD,0x{32 * each[0] % 2**32:016x},{32 * len(each)}" for each in runs]
    return lines


def list_of(traces: Iterable[tuple[str, str]], drawn: set[str], most: int = 2**20) -> list[str]:
    """The list of the drawn traces among all, by name, each behind what those before it left."""
    held: Held = OrderedDict()
    lines = []
    for launch, (name, text) in enumerate(traces):
        if name in drawn:
            lines += [*copies(held), name]
        run(held, launch, text, most)
    return lines
