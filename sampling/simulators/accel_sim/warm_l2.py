"""What the launches before a drawn one left in L2, as copies that Accel-Sim runs before it.

A launch that is simulated alone finds an empty L2 and takes 5 to 10 % more cycles, up to 40. One pass over
the traces, in launch order, keeps which 32-byte sectors each launch touched last; before a drawn launch those
that are in L2 become lines ``MemcpyHtoD,ADDRESS,BYTES``, the oldest first, which fill the simulator's L2 and
cost no cycle. A sector counts if L2 could read it: it was loaded, or all of its bytes were written.

The simulator keeps the low 32 bits of such an address (``wr_addr`` in gpu-sim.cc), so the drawn traces of a
program that lies above 4 GiB are written anew with the low 32 bits of theirs. (docs/methods.md, 6 Drawing and
judging)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import ProfileError
from sampling.simulators.accel_sim.trace_head import opened_trace, trace_head
from sampling.text import Wording

#: Of the simulator: lines are filled, kept and dropped by sector.
SECTOR_BYTES, LINE_SECTORS = 32, 4
#: 128 MiB, more than any GPU has; the simulator drops the oldest by itself.
LARGEST_L2_LINES = 1 << 20
#: So many launches directly before a drawn one must be traced: what they touch is most of what it finds.
LAUNCHES_BEFORE = 16
_ALL_BYTES = np.uint64((1 << 32) - 1)
# A stamp is the launch, then the place among its memory instructions.
_PLACES = 40
_CHUNK_BYTES = 1 << 23
_PAGE_SECTORS = 11
_WINDOW_BYTES = 1 << 24
_GLOBAL = re.compile(rb"(?:LDG|STG|LDGSTS|ATOMG|ATOM|RED|LD|ST)(?:\.|$)")
_STORE = re.compile(rb"STG?(?:\.|$)")
_WIDTH = re.compile(rb"\.[US]?(8|16|32|64|128)(?:\.|$)")
_HIGH = re.compile(rb"\b0x0*[1-9a-f][0-9a-f]*([0-9a-f]{8})\b")
_REMEDY = "give the traces as post-traces-processing has made them ready"


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """The 32-byte sectors of global memory that one launch touches.

    Attributes
    ----------
    sector : (n,) address / 32, ascending.
    known : (n,) a bit for each of its bytes that L2 can then read.
    place : (n,) of the last instruction that touched it, warps side by side.
    """

    sector: IntArray
    known: np.ndarray
    place: IntArray


class L2:
    """The least recently used lines, and which launch touched each last.

    Launches are merged when they hold more sectors than fit: what a line that was dropped in between knew of
    partly written sectors may then count once too often.
    """

    def __init__(self, lines: int) -> None:
        self._most = lines
        self._parts: list[tuple[IntArray, np.ndarray, IntArray]] = []
        self._waiting = 0

    def run(self, launch: int, touched: Touched) -> None:
        """Let a launch touch its sectors; launches come in ascending order."""
        self._parts.append((touched.sector, touched.known, (launch << _PLACES) + touched.place))
        self._waiting += len(touched.sector)
        if self._waiting > LINE_SECTORS * self._most:
            self._merge()

    def sectors(self) -> IntArray:
        """Return (n,) the sectors that can be read, by the launch that touched their line last, ascending."""
        sector, known, _, line_stamp = self._merge()
        readable = known == _ALL_BYTES
        order = np.lexsort((sector[readable], line_stamp[readable] >> _PLACES))
        return np.asarray(sector[readable][order])

    def _merge(self) -> tuple[IntArray, np.ndarray, IntArray, IntArray]:
        none = np.zeros(0, dtype=np.int64)
        parts = zip((none, none.astype(np.uint64), none), *self._parts, strict=True)
        sector, known, stamp = (np.concatenate(each) for each in parts)
        if not len(sector):
            return sector, known, stamp, stamp
        sector, known, stamp = _united(sector, known, stamp)
        of_line = _starts(sector // LINE_SECTORS)
        newest = np.maximum.reduceat(stamp, of_line)
        line_stamp = np.repeat(newest, np.diff(np.append(of_line, len(sector))))
        if len(of_line) > self._most:
            kept = line_stamp >= np.partition(newest, -self._most)[-self._most]
            sector, known, stamp, line_stamp = (each[kept] for each in (sector, known, stamp, line_stamp))
        self._parts, self._waiting = [(sector, known, stamp)], 0
        return sector, known, stamp, line_stamp


def copies(sectors: IntArray) -> list[str]:
    """Return the lines that fill L2 with sectors, in their order; neighbours are one, never over a gap."""
    if not len(sectors):
        return []
    starts = np.flatnonzero(np.append(True, np.diff(sectors) != 1))
    sizes = np.diff(np.append(starts, len(sectors))) * SECTOR_BYTES
    addresses = (sectors[starts] * SECTOR_BYTES) & 0xFFFFFFFF
    return [
        f"MemcpyHtoD,0x{address:016x},{size}"
        for address, size in zip(addresses.tolist(), sizes.tolist(), strict=True)
    ]


def filling(
    launches: Iterable[tuple[int, Path]], drawn: Sequence[int], lines: int, *, own: bool = False
) -> Iterator[tuple[int, list[str], bool]]:
    """Yield of each drawn launch its number, the copies to run before it, and whether it lies above 4 GiB.

    Parameters
    ----------
    launches : number and trace of each launch that is traced, ascending, to the last drawn one.
    lines : of the L2.
    own : fill what the launch itself reads: where the launches before are not traced.

    Raises
    ------
    ProfileError : a trace is damaged; or addresses of a launch differ in their high bits alone.
    """
    wanted, cache = set(drawn), L2(lines)
    for number, file in launches:
        if own and number not in wanted:
            continue
        touched = touched_by(file, loads_alone=own)
        if number in wanted:
            sectors = touched.sector if own else cache.sectors()
            _check_pages(file, np.concatenate([sectors, touched.sector]))
            yield number, copies(sectors), bool((touched.sector >= (1 << 32) // SECTOR_BYTES).any())
        if not own:
            cache.run(number, touched)


def with_low_addresses(file: Path, *, packed: bool) -> Iterator[bytes]:
    """Yield a trace with the low 32 bits of every address; as .xz where it is to be packed."""
    pieces = (_HIGH.sub(rb"0x\1", chunk) for chunk in _whole_lines(file))
    if not packed:
        yield from pieces
        return
    import lzma

    packing = lzma.LZMACompressor(preset=0)
    yield from map(packing.compress, pieces)
    yield packing.flush()


def l2_lines(config: str) -> int:
    """Return how many lines of 128 bytes the L2 of a gpgpusim.config has.

    Raises
    ------
    ProfileError : it cannot be read, or does not say.
    """
    try:
        text = Path(config).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ProfileError(
            f"cannot be read ({error.strerror})", path=config, remedy="give the simulator's gpgpusim.config"
        ) from error
    counts = [
        re.findall(rf"^\s*-{name}\s+(\d+)", text, re.MULTILINE)
        for name in ("gpgpu_n_mem", "gpgpu_n_sub_partition_per_mchannel")
    ]
    caches = re.findall(r"^\s*-gpgpu_cache:dl2\s+\w:(\d+):(\d+):(\d+)", text, re.MULTILINE)
    if not all(counts) or not caches:
        raise ProfileError(
            "does not say how large L2 is (gpgpu_n_mem, gpgpu_n_sub_partition_per_mchannel, gpgpu_cache:dl2)",
            path=config,
            remedy="give the simulator's gpgpusim.config",
        )
    sets, line_bytes, ways = map(int, caches[-1])
    # The last one counts, as for the simulator.
    slices = int(counts[0][-1]) * int(counts[1][-1])
    return max(slices * sets * ways * line_bytes // (SECTOR_BYTES * LINE_SECTORS), 1)


def check_predecessors(files: Mapping[int, object], drawn: Iterable[int], path: str) -> None:
    """Check that the launches directly before each drawn one are traced.

    Raises
    ------
    ProfileError : one is not.
    """
    for number in drawn:
        before = range(max(number - LAUNCHES_BEFORE, 1), number)
        missing = [each for each in before if each not in files]
        if missing:
            raise ProfileError(
                f"kernel-{missing[0]} is not traced, and what it left in L2 kernel-{number} finds there",
                path=path,
                remedy=Wording(
                    f"trace the {LAUNCHES_BEFORE} launches before each drawn one, as trace.sh does; or fill "
                    "L2 with what each launch reads (`caches=own`) for a lower bound, or leave it cold "
                    "(`caches=cold`)"
                ),
            )


def touched_by(file: Path, *, loads_alone: bool = False) -> Touched:
    """Return what a launch touches of global memory.

    Raises
    ------
    ProfileError : the trace is damaged.
    """
    head = trace_head(file)
    if not head:
        raise ProfileError(
            "is packed in a way not read here, so what it leaves in L2 is not known",
            path=file,
            remedy=Wording("give traces as text, or leave L2 cold (`caches=cold`)"),
        )
    # What stands before an instruction's address: of old tracers the thread block and the warp.
    lead = 4 * (int(head.get("accelsim tracer version", "3")) < 3) + int(head.get("enable lineinfo", "0"))
    bases = (int(head.get(name, "0"), 16) for name in ("shmem base_addr", "local mem base_addr"))
    windows = [base for base in bases if base]
    found: list[tuple[int, int, int, int, int, int, int]] = []
    listed: list[int] = []
    for place, warp, line in _memory_lines(file):
        try:
            access = _access(line.split()[lead:])
        except (ValueError, IndexError) as error:
            raise ProfileError(
                f"has a line that is no instruction: {line[:60].decode(errors='replace')!r}",
                path=file,
                remedy=_REMEDY,
            ) from error
        if access is None or (loads_alone and access.width < 0):
            continue
        if any(low <= access.base < low + _WINDOW_BYTES for low in windows):
            # A generic address that is shared or local memory.
            continue
        is_listed = access.listed is not None
        found.append((place, warp, access.lanes, access.base, access.stride, access.width, is_listed))
        listed += access.listed or ()
    return _sectors(np.array(found, dtype=np.int64).reshape(-1, 7), np.array(listed, dtype=np.int64))


class _Access(NamedTuple):
    """A memory instruction: its active lanes, bytes of each (below 0: stored), and their addresses."""

    lanes: int
    width: int
    base: int
    stride: int = 0
    listed: list[int] | None = None


def _access(words: list[bytes]) -> _Access | None:
    """Return what an instruction touches of global memory; None where it touches nothing of it.

    ``PC mask destinations... opcode sources... width mode addresses...``; the mode says whether the lanes'
    addresses are listed (0), a base and a stride (1), or a base and differences (2). As the simulator does,
    the width is taken from the opcode.
    """
    at = 3 + int(words[2])
    width, lanes = _width(words[at]), _lanes(words[1])
    at += 2 + int(words[at + 1])
    if not width or not lanes or words[at] == b"0":
        return None
    mode, base = int(words[at + 1]), int(words[at + 2], 16)
    if mode == 1:
        return _Access(lanes, width, base, int(words[at + 3]))
    rest = words[at + 3 : at + 2 + lanes]
    if len(rest) < lanes - 1:
        raise IndexError
    if mode == 0:
        return _Access(lanes, width, base, listed=[base, *(int(word, 16) for word in rest)])
    return _Access(lanes, width, base, listed=list(accumulate(map(int, rest), initial=base)))


@cache
def _width(opcode: bytes) -> int:
    """Return how many bytes a lane loads, below 0 where it stores; 0 of what is not global memory."""
    if not _GLOBAL.match(opcode):
        return 0
    bits = _WIDTH.search(opcode)
    width = int(bits[1]) // 8 if bits else 4
    return -width if _STORE.match(opcode) else width


@lru_cache(maxsize=1 << 16)
def _lanes(mask: bytes) -> int:
    return int(mask, 16).bit_count()


def _memory_lines(file: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield place in its warp, warp, and text of each line that may be an instruction of global memory."""
    warp, place = 0, 0
    for chunk in _whole_lines(file):
        text = np.frombuffer(chunk, dtype=np.uint8)
        ends = np.flatnonzero(text == ord("\n"))
        starts = np.append(0, ends[:-1] + 1)
        first = text[starts]
        is_warp = first == ord("w")
        is_digit = (first >= ord("0")) & (first <= ord("9"))
        is_instruction = is_digit | ((first >= ord("a")) & (first <= ord("f")))
        counted = np.cumsum(is_instruction)
        warps = warp + np.cumsum(is_warp)
        # Counted from the warp's line, which may stand in the chunk before.
        places = counted - np.maximum.accumulate(np.where(is_warp, counted, -place))
        rows = np.unique(np.searchsorted(ends, _marks(text)))
        rows = rows[is_instruction[rows]]
        columns = (each[rows].tolist() for each in (places, warps, starts, ends))
        for at, of, start, end in zip(*columns, strict=True):
            yield at, of, chunk[start:end]
        warp, place = int(warps[-1]), int(places[-1])


def _marks(text: np.ndarray) -> IntArray:
    """Return where an opcode of global memory may begin: a blank, then LDG, LD., STG, ATOM, RED and so on."""
    is_blank = text[:-3] == ord(" ")
    one, two, three = text[1:-2], text[2:-1], text[3:]
    is_load = (one == ord("L")) & (two == ord("D"))
    is_store = (one == ord("S")) & (two == ord("T"))
    is_atomic = ((one == ord("A")) & (two == ord("T"))) | ((one == ord("R")) & (two == ord("E")))
    of_global = (three == ord("G")) | (three == ord(".")) | (three == ord(" "))
    return np.flatnonzero(is_blank & (((is_load | is_store) & of_global) | is_atomic))


def _sectors(found: IntArray, listed: IntArray) -> Touched:
    """Return the sectors of (n, 7) place, warp, lanes, base, stride, width, whether addresses are listed."""
    place, warp, lanes, base, stride, width, is_listed = found.T
    rank = np.empty(len(found), dtype=np.int64)
    rank[np.lexsort((warp, place))] = np.arange(len(found))
    of = np.repeat(np.arange(len(found)), lanes)
    lane = np.arange(len(of)) - np.repeat(np.cumsum(lanes) - lanes, lanes)
    address = base[of] + stride[of] * lane
    address[is_listed[of] > 0] = listed
    wide = np.abs(width[of])
    low = address % SECTOR_BYTES
    bits = ((np.uint64(1) << wide.astype(np.uint64)) - np.uint64(1)) << low.astype(np.uint64)
    beyond = np.flatnonzero(low + wide > SECTOR_BYTES)
    is_store = width[of] < 0
    sector = np.concatenate([address // SECTOR_BYTES, address[beyond] // SECTOR_BYTES + 1])
    known = np.concatenate([bits & _ALL_BYTES, bits[beyond] >> np.uint64(SECTOR_BYTES)])
    known[~np.concatenate([is_store, is_store[beyond]])] = _ALL_BYTES
    return Touched(*_united(sector, known, rank[np.concatenate([of, of[beyond]])]))


def _united(sector: IntArray, known: np.ndarray, stamp: IntArray) -> tuple[IntArray, np.ndarray, IntArray]:
    """Return every sector once, ascending, with all that is known of it and the last stamp."""
    if not len(sector):
        return sector, known, stamp
    order = np.argsort(sector, kind="stable")
    sector = sector[order]
    starts = _starts(sector)
    return (
        sector[starts],
        np.bitwise_or.reduceat(known[order], starts),
        np.maximum.reduceat(stamp[order], starts),
    )


def _starts(ascending: IntArray) -> IntArray:
    is_first: BoolArray = np.append(True, ascending[1:] != ascending[:-1])
    return np.flatnonzero(is_first)


def _check_pages(file: Path, sectors: IntArray) -> None:
    pages = np.unique(sectors >> _PAGE_SECTORS)
    low = pages & 0xFFFF
    order = np.argsort(low, kind="stable")
    both = np.flatnonzero(np.diff(low[order]) == 0)
    if len(both):
        one, other = (int(pages[order[both[0] + step]]) << 16 for step in (0, 1))
        raise ProfileError(
            f"touches 0x{one:x} and 0x{other:x}, or finds them in L2: the simulator keeps 32 bits of an "
            "address, and takes the two for one",
            path=file,
            remedy=Wording("simulate the launches before instead (`caches=after:16`), or take `caches=cold`"),
        )


def _whole_lines(file: Path) -> Iterator[bytes]:
    """Yield the text of a trace, unpacked, in pieces that end with a line's end."""
    rest = b""
    with opened_trace(file) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            cut = chunk.rfind(b"\n") + 1
            if not cut:
                rest += chunk
                continue
            yield rest + chunk[:cut]
            rest = chunk[cut:]
    if rest:
        yield rest + b"\n"
