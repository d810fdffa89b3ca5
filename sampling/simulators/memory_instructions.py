"""What the instructions of Accel-Sim's traces do to memory, and where its bulk copies say so.

Bulk copies are those of the tensor memory accelerator, since tracer version 6. Behind the bytes of each
transfer stand the address of a barrier in shared memory, whether several blocks get the data and then a mask
of these, the bytes within bounds and without, and how addresses are given: a list (3), as its count and
addresses, or differences (4), as the first address, the count and how far each later one is behind the one
before. While version 6 was made, traces had nothing between the bytes and how addresses are given, which was
0 or 3, else 1, 2 or 4. Addresses are hexadecimal, with 0x or without. Written from the simulator's public
source (trace_parser.cc, trace_driven.cc).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import accumulate

#: What an instruction does to global memory: loads, stores (an atomic one does both) or asks L2 to load,
#: which the simulator leaves out; at addresses that may be local or shared instead; in bulk
READS, WRITES, PREFETCHES, GENERIC, BULK = 1, 2, 4, 8, 16

# Shared, local, constant and tensor memory, what only manages a cache or waits, textures and surfaces.
_ELSEWHERE = (
    "LDL STL LDS STS ATOMS REDAS STAS LDSM STSM SYNCS ARRIVES LDC LDCU ULDC CCTL CCTLL CCTLT UTMACCTL QSPC "
    "MATCH MEMBAR ERRBAR TEX TLD TLD4 TMML TXD TXQ SULD SUST SURED SUATOM LDT LDTM STT STTM"
)
_KINDS: Mapping[str, int] = {
    **dict.fromkeys(("LDG", "LDGSTS"), READS),
    "STG": WRITES,
    **dict.fromkeys(("ATOMG", "REDG"), READS | WRITES),
    "LD": READS | GENERIC,
    "ST": WRITES | GENERIC,
    **dict.fromkeys(("ATOM", "RED"), READS | WRITES | GENERIC),
    "UTMALDG": READS | BULK,
    **dict.fromkeys(("UTMASTG", "UTMAREDG", "UBLKRED"), WRITES | BULK),
    **dict.fromkeys(("UTMAPF", "UBLKPF"), PREFETCHES | BULK),
    **dict.fromkeys(_ELSEWHERE.split(), 0),
}
_LISTS, _DIFFERENCES = ("0", "3"), ("1", "2", "4")
# Behind the addresses stand immediates, then since version 6 whether values of registers follow.
_MOST_IMMEDIATES, _VALUES = 2, ("Val", "NoVal")


def memory_kind(opcode: str) -> int | None:
    """Return what an instruction does to global memory; None of a name that is not known.

    >>> memory_kind("LDG.E.128.SYS"), memory_kind("UBLKCP.G.S") == WRITES | BULK, memory_kind("LDX.E")
    (1, True, None)
    """
    name, _, rest = opcode.partition(".")
    if name == "UBLKCP":
        # From shared memory to shared memory it is none of global memory's.
        return BULK | READS if "S.G" in rest else BULK | WRITES if "G.S" in rest else 0
    return _KINDS.get(name)


def bulk_addresses(words: Sequence[str], width_at: int) -> list[int]:
    """Return where each transfer of a bulk copy begins, from its line's words and the place of its bytes.

    Raises ValueError where neither way in which they are given ends where the line does.
    """
    has_mask = words[width_at + 2 : width_at + 3] == ["1"]
    for form_at, forms in ((width_at + 5 + has_mask, ("3", "4")), (width_at + 1, (*_LISTS, *_DIFFERENCES))):
        with suppress(ValueError, IndexError):
            if words[form_at] in forms:
                return _addresses(words[form_at:])
    raise ValueError("no addresses that end where the line does")


def _addresses(words: Sequence[str]) -> list[int]:
    """Return the addresses that stand at the start of these words; ValueError, IndexError: there are none."""
    is_list = words[0] in _LISTS
    count = int(words[1 if is_list else 2])
    end = 2 + count if is_list else max(2 + count, 3)
    behind = [word for word in words[end:] if word]
    values_at = next((place for place, word in enumerate(behind) if word in _VALUES), len(behind))
    is_last = (values_at < len(behind)) <= values_at <= _MOST_IMMEDIATES
    if count < 0 or len(words) < end or not is_last:
        raise ValueError
    if is_list:
        return [int(word, 16) for word in words[2:end]]
    return list(accumulate(map(int, words[3:end]), initial=int(words[1], 16)))[:count]
