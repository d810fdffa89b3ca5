"""Lines of traces of tracer version 6, made up, and read word after word as the simulator reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import strategies as st

BULK = ("UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED")
BASE = 0x7FA600000000
HEAD = """-kernel name = k
-kernel id = 1
-grid dim = (2,1,1)
-block dim = (64,1,1)
-shmem = 0
-nregs = 16
-binary version = 90
-cluster dim = (2,1,1)
-accelsim tracer version = 6
-enable lineinfo = 0

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width ...
"""


@dataclass(frozen=True)
class Access:
    """What one line says."""

    opcode: str
    mask: int
    bytes_each: int
    addresses: tuple[int, ...]

    @property
    def is_load(self) -> bool:
        name = self.opcode.split(".")[0]
        return name in {"LDG", "LDGSTS", "ATOMG", "REDG", "UTMALDG"} or "UBLKCP.S.G" in self.opcode

    @property
    def is_store(self) -> bool:
        name = self.opcode.split(".")[0]
        return name in {"STG", "ATOMG", "REDG", "UTMASTG", "UTMAREDG", "UBLKRED"} or (
            "UBLKCP.G.S" in self.opcode
        )

    @property
    def is_prefetch(self) -> bool:
        return self.opcode.split(".")[0] in {"UTMAPF", "UBLKPF"}


def parse(line: str) -> Access:
    """Read a line word after word."""
    words: Iterator[str] = iter(line.split())
    next(words)
    mask = int(next(words), 16)
    for _ in range(int(next(words))):
        next(words)
    opcode = next(words)
    for _ in range(int(next(words))):
        next(words)
    if "GMMA" in opcode:
        next(words)
    width = int(next(words))
    if any(name in opcode for name in BULK):
        return Access(opcode, mask, width, tuple(bulk(list(words))) if mask else ())
    if not width:
        return Access(opcode, mask, width, ())
    width = next((int(part) // 8 for part in opcode.split(".") if part.isdigit()), 4)
    form, lanes = next(words), mask.bit_count()
    if form == "0":
        return Access(opcode, mask, width, tuple(int(next(words), 16) for _ in range(lanes)))
    addresses, step = [int(next(words), 16)], 0
    for lane in range(1, lanes):
        step = int(next(words)) if form == "2" or lane == 1 else step
        addresses.append(addresses[-1] + step)
    return Access(opcode, mask, width, tuple(addresses[:lanes]))


def bulk(words: list[str]) -> list[int]:
    """The addresses of a bulk copy: behind a barrier and bytes, or with their form at once."""
    at = 4 + (words[1] == "1")
    if words[1] in ("0", "1") and len(words) > at and words[at] in ("3", "4"):
        words = words[at:]
    if words[0] in ("0", "3"):
        return [int(word, 16) for word in words[2 : 2 + int(words[1])]]
    base, count = int(words[1], 16), int(words[2])
    return [base + sum(map(int, words[3 : 3 + each])) for each in range(count)]


_ADDRESS = st.integers(0, 2000).map(lambda at: BASE + at)
_VALUES = st.sampled_from(["NoVal", "Val 1 ff 1 0x7fa600000000", f"Val 32 {' '.join(['1f'] * 32)} 1 0"])
_MASK = st.sampled_from([0xFFFFFFFF, 1, 0xFF00, 0])


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A line that touches global memory, or is like one."""
    prefix, mask = draw(st.sampled_from(["0x", "", "0x0000"])), draw(_MASK)
    opcode = draw(
        st.sampled_from(
            [
                *("UTMALDG.2D", "UTMASTG.3D", "UTMAPF.L2.4D", "UTMAREDG.2D.ADD", "UBLKCP.S.G", "UBLKCP.G.S"),
                *("UBLKPF.L2", "UBLKRED.ADD", "LDG.E.128", "STG.E.64", "REDG.E.ADD", "LDS.U", "UTMACMDFLUSH"),
                *("HGMMA.64x64x16.F32", "SYNCS.ARRIVE.TRANS64", "LDGDEPBAR", "WARPGROUP.DEPBAR"),
            ]
        )
    )
    start = f"0040 {mask:08x} 1 R2 {opcode} 2 UR4 R5"
    end = f"0 {draw(st.sampled_from(['', '0 ']))}{draw(_VALUES)}"
    if "GMMA" in opcode:
        return f"{start} 1 0 {end}"
    if opcode.startswith(("UTMA", "UBLK")) and "FLUSH" not in opcode:
        addresses = draw(st.lists(_ADDRESS, max_size=5))
        is_whole, is_multicast = draw(st.booleans()), draw(st.booleans())
        steps = [after - before for before, after in pairwise(addresses)]
        listed = " ".join([str(len(addresses)), *(f"{prefix}{each:x}" for each in addresses)])
        base = f"{prefix}{addresses[0] if addresses else 0:x}"
        differences = " ".join([base, str(len(addresses)), *map(str, steps)])
        is_list = draw(st.booleans())
        form = {True: "3", False: "4"}[is_list] if is_whole else {True: "0", False: "2"}[is_list]
        barrier = f"3f8 {'1 3' if is_multicast else '0'} {32 * len(addresses)} 0 " if is_whole else ""
        return f"{start} 32 {barrier}{form} {listed if is_list else differences} {end}"
    if "DEPBAR" in opcode or "FLUSH" in opcode:
        return f"{start} 0 {end}"
    lanes, form = mask.bit_count(), draw(st.integers(0, 2))
    addresses = draw(st.lists(_ADDRESS, min_size=max(lanes, 1), max_size=max(lanes, 1)))
    if form == 0:
        return " ".join([start, "4 0", *(f"{prefix}{each:x}" for each in addresses[:lanes]), end])
    steps = [after - before for before, after in pairwise(addresses)]
    said = [draw(st.integers(-40, 40))] if form == 1 else steps
    return " ".join([start, f"4 {form} {prefix}{addresses[0]:x}", *map(str, said), end])


def trace_of(warps: list[list[str]]) -> str:
    """A trace of a cluster of two thread blocks, the warps shared out."""
    text = HEAD
    for cta in range(2):
        text += f"\n#BEGIN_TB\n\nthread block = {cta},0,0\ncluster id = 0,0,0\ncluster cta = {cta},0,0\n"
        text += f"cluster rank = {cta}\n"
        for number, warp in enumerate(warps[cta::2]):
            text += f"\nwarp = {number}\ninsts = {len(warp)}\n" + "".join(f"{line} \n" for line in warp)
        text += "\n#END_TB\n"
    return text
