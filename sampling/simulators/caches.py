"""What the launches before left in L2, and how a drawn launch that is simulated alone finds it there.

A launch simulated without the launches before it finds an empty L2 and takes 5 to 10 % longer, up to 40.
One pass over the traces in launch order keeps the lines used last, of each 32-byte sector the bytes that are
known: all of a sector that was loaded, of one that was stored to those that were. What the launches before a
drawn one left is put there by the simulator's memory copies (``MemcpyHtoD,ADDRESS,BYTES``) or by a kernel of
loads: readable sectors alone, for a load of a partly written one misses; oldest launch first; never over a
gap, which would fill lines that the program did not touch. (docs/methods.md, 14 Launches simulated alone)

Blocks of a trace count in the order of the file. A line that was dropped and touched again in one launch may
keep what was known of its sectors; which lines are there is exact.

A line of a trace is ``PC mask 1 R5 LDG.E.SYS 1 R8 4 1 0x7fa5fc000000 4``: destinations, opcode, sources,
bytes, then, where there are addresses, how they are given: of every active lane (0), the first and the stride
(1), or the first and the differences (2). What an opcode does, and to how many bytes, is read as Accel-Sim
reads it (trace_parser.cc, trace_driven.cc). Traces have gigabytes, so a block of lines is read as columns.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

import numpy as np

from sampling.arrays import BoolArray, IntArray
from sampling.errors import OptionError, ProfileError
from sampling.parallel import ordered_map
from sampling.simulators.accel_sim_traces import TraceFolder, opened, trace_head
from sampling.simulators.export import PREDECESSORS, ExportChoices, Step
from sampling.text import Wording, counted

Bytes = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
Words = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]

#: What helps where a trace cannot be read
_REMEDY = "give the traces as post-traces-processing has made them"
#: log2 of the bytes of a sector
_SECTOR = 5
#: How many generic addresses are local memory, as the simulator has it
_LOCAL_BYTES = 1 << 14

_BLOCK_BYTES = 1 << 22
_LOAD, _STORE, _GENERIC = 1, 2, 4
_KINDS = dict.fromkeys(("LDG", "LDGSTS", "ATOM", "ATOMG", "RED"), _LOAD) | {
    "STG": _STORE,
    "LD": _LOAD | _GENERIC,
    "ST": _STORE | _GENERIC,
}
_OPCODE_BYTES = 40
_DIGIT = np.zeros(256, dtype=np.int64)
_DIGIT[np.frombuffer(b"0123456789abcdef", np.uint8)] = range(16)

#: The largest L2 known, 128 MiB: the simulator drops what its own does not hold, the oldest first
MOST_LINES = 1 << 20

_LINE, _PAGE, _WORD = 7, 12, 32  # log2 of bytes
_HIGH = re.compile(rb"0x0*[1-9a-f][0-9a-f]*([0-9a-f]{8})\b")
_OPTION = re.compile(r"^\s*-(gpgpu_\S+)\s+(\S+)", re.MULTILINE)
_CACHE = re.compile(r"[NS]:(\d+):(\d+):(\d+)\b.*")
_LOADS_HEAD = """\
-kernel name = kernelpoint_fills_l2
-kernel id = {number}
-grid dim = ({ctas},1,1)
-block dim = (128,1,1)
-shmem = 0
-nregs = 16
-binary version = {binary}
-cuda stream id = {stream}
-shmem base_addr = 0x0
-local mem base_addr = 0x0
-nvbit version = 1
-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [addresses] immediate

"""
_LOADS_OF_WARP, _WARPS = 8, 4


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines of L2."""

    number: IntArray  #: (n,) address / 128, ascending
    known: np.ndarray[tuple[int, ...], np.dtype[np.uint32]]  #: (n, 4) of each sector a bit for a known byte
    last: IntArray  #: (n,) when it was touched last; larger is later

    def then(self, later: Sequence[Lines], most: int) -> Lines:
        """Return the lines used last of these and of those touched after them, one after the other."""
        parts = [self, *later]
        number = np.concatenate([part.number for part in parts])
        order = np.argsort(number, kind="stable")
        number = number[order]
        begins = np.flatnonzero(np.diff(number, prepend=-1))
        if not len(begins):
            return self
        known = np.concatenate([part.known for part in parts])[order]
        last = np.concatenate([part.last for part in parts])[order[np.append(begins[1:], len(order)) - 1]]
        kept = np.ones(len(begins), dtype=np.bool_)
        if (excess := len(begins) - most) > 0:
            kept[np.argpartition(last, excess - 1)[:excess]] = False
        return Lines(number[begins][kept], np.bitwise_or.reduceat(known, begins)[kept], last[kept])

    def ranges(self) -> tuple[IntArray, IntArray]:
        """Return (r,) first sectors and counts of the readable runs, those of the oldest launch first."""
        launch = self.last >> _WORD
        order = np.lexsort((self.number, launch))
        readable = self.known[order] == np.iinfo(np.uint32).max
        sector = ((self.number[order] << 2)[:, None] + np.arange(4))[readable]
        of = np.repeat(launch[order], readable.sum(axis=1))
        begins = np.flatnonzero((np.diff(sector, prepend=-2) != 1) | (np.diff(of, prepend=-1) != 0))
        return sector[begins], np.diff(np.append(begins, len(sector)))


def lines_of(sector: IntArray, known: IntArray, first: int = 0) -> Lines:
    """Return the lines of sectors touched one after the other, with what each touch tells of their bytes."""
    order = np.argsort(sector, kind="stable")
    ordered = sector[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    mask = np.bitwise_or.reduceat(known[order], begins) if len(begins) else known
    last = order[np.append(begins[1:], len(order)) - 1] if len(begins) else order
    distinct = ordered[begins]
    line = distinct >> 2
    heads = np.flatnonzero(np.diff(line, prepend=-1))
    table = np.zeros((len(heads), 4), dtype=np.uint32)
    table[np.cumsum(np.diff(line, prepend=-1) != 0) - 1, distinct & 3] = mask
    return Lines(line[heads], table, first + (np.maximum.reduceat(last, heads) if len(heads) else last))


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """What one launch did to L2: the lines that it used last; and (p,) all its pages, ascending."""

    lines: Lines
    pages: IntArray


def touched(
    file: Path, most: int = MOST_LINES, *, loads_alone: bool = False, with_pages: bool = True
) -> Touched:
    """Return what the launch of a trace leaves in an L2 of so many lines, perhaps without what it stores to.

    Raises ProfileError where the trace cannot be unpacked, or an access cannot be read.
    """
    if not (head := trace_head(file)):
        raise ProfileError("is packed in a way not read here", path=file, remedy=_REMEDY)
    bases = int(head.get("shmem base_addr", "0"), 16), int(head.get("local mem base_addr", "0"), 16)
    before = 4 * (int(head.get("accelsim tracer version", "0")) < 3) + int(head.get("enable lineinfo", "0"))
    none = np.zeros(0, dtype=np.int64)
    lines, pages, done = lines_of(none, none), [none], 0
    waiting: list[Lines] = []
    for block in blocks(file):
        sector, known, is_load, has_generic = accesses(block, bases, before, file)
        found = lines_of(sector, known, done)
        if with_pages:
            page = found.number >> _PAGE - _LINE
            pages = [np.unique(np.concatenate([*pages, page[np.diff(page, prepend=-1) > 0]]))]
            if has_generic and bases[1]:
                # What is not global for them must not be the low 32 bits of what is.
                begin = bases[0] if 0 < bases[0] < bases[1] < bases[0] + (1 << 30) else bases[1]
                pages.append(np.arange(begin >> _PAGE, (bases[1] + _LOCAL_BYTES) >> _PAGE))
        waiting.append(lines_of(sector[is_load], known[is_load], done) if loads_alone else found)
        done += len(sector)
        # Merged once there are as many as are kept, for each time costs as much as what is kept.
        if sum(len(each.number) for each in waiting) > most:
            lines, waiting = lines.then(waiting, most), []
    return Touched(lines.then(waiting, most), np.unique(np.concatenate(pages)))


def l2_lines(config: str, *, by_copies: bool) -> int:
    """Return the size of the L2 of a ``gpgpusim.config``, in lines of 128 bytes.

    Raises ProfileError: it cannot be read, or has no L2; OptionError: its L2 cannot be filled, or is empty
    at the start of each launch of the whole run too.
    """
    try:
        asked = dict(_OPTION.findall(Path(config).read_text(encoding="utf-8", errors="replace")))
    except OSError as error:
        raise ProfileError(f"cannot be read ({error.strerror})", path=config) from error
    cache = _CACHE.fullmatch(asked.get("gpgpu_cache:dl2", ""))
    parts = [asked.get(f"gpgpu_n_{name}", "") for name in ("mem", "sub_partition_per_mchannel")]
    if cache is None or not all(part.isdigit() for part in parts):
        raise ProfileError(
            "has no -gpgpu_cache:dl2, -gpgpu_n_mem and -gpgpu_n_sub_partition_per_mchannel",
            path=config,
            remedy="give the gpgpusim.config that is simulated",
        )
    if asked.get("gpgpu_flush_l2_cache", "0") != "0":
        raise OptionError(
            f"{config} empties L2 after each launch, so that none finds anything there",
            remedy=Wording("`caches=cold` is what the whole run does"),
        )
    if by_copies and asked.get("gpgpu_perf_sim_memcpy", "1") == "0":
        raise OptionError(
            f"copies do not fill L2 with -gpgpu_perf_sim_memcpy 0 in {config}",
            remedy=Wording("set it to 1, or `caches=loads`"),
        )
    sets, line, ways, memories, partitions = map(int, (*cache.groups(), *parts))
    return sets * line * ways * memories * partitions >> _LINE


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """What each drawn launch finds in L2."""

    #: First sectors and counts, by ordinal, in the order in which they are filled
    ranges: Mapping[int, tuple[IntArray, IntArray]]
    #: Ordinals of the launches whose traces must have 32-bit addresses, as the simulator's copies
    rewritten: frozenset[int] = frozenset()
    #: How many of the launches just before the drawn ones have no trace
    untraced: int = 0

    def copies(self, ordinal: int) -> list[str]:
        """Return the lines of a list that fill L2 before a launch."""
        return [
            f"MemcpyHtoD,0x{(sector << _SECTOR) & 0xFFFFFFFF:016x},{count << _SECTOR}"
            for sector, count in zip(*(each.tolist() for each in self.ranges[ordinal]), strict=True)
        ]


def filled(traces: TraceFolder, steps: Sequence[Step], choices: ExportChoices) -> Filled:
    """Return what the drawn launches find in L2, from one pass over the traces in launch order.

    Holds the lines of an L2 and what is to be written; a launch is read by a thread.

    Raises ProfileError: a trace cannot be read, the launches before a drawn one were not traced, or two
    pages of the program are one in 32 bits.
    """
    own, by_copies = choices.caches == "own", choices.caches != "loads"
    most = MOST_LINES if choices.config is None else l2_lines(choices.config, by_copies=by_copies)
    ordinals = {traces.number(step.ordinal): step.ordinal for step in steps if step.launch is not None}
    untraced = 0 if own else _untraced(traces, ordinals)
    numbers = sorted(ordinals) if own else [each for each in sorted(traces.files) if each <= max(ordinals)]
    files = {number: traces.file(number) for number in numbers}
    sizes = [file.stat().st_size for file in files.values()]
    none = np.zeros(0, dtype=np.int64)
    state, done = lines_of(none, none), 0
    ranges: dict[int, tuple[IntArray, IntArray]] = {}
    pages: dict[int, IntArray] = {}
    read = ordered_map(
        lambda each: touched(files[each], most, loads_alone=own, with_pages=each in ordinals), numbers
    )
    for place, (number, launch, size) in enumerate(zip(numbers, read, sizes, strict=True)):
        for sector in _copied(traces.copies.get(number, ())):
            copy = lines_of(sector, np.full(len(sector), (1 << 32) - 1), place << _WORD)
            state = state.then([copy], most)
        if number in ordinals:
            found = launch.lines if own else state
            ranges[ordinals[number]], pages[ordinals[number]] = found.ranges(), launch.pages
            pages[-1] = np.union1d(pages.get(-1, none), found.number >> _PAGE - _LINE)
        lines = launch.lines
        state = state.then([Lines(lines.number, lines.known, lines.last + (place << _WORD))], most)
        done += size
        if choices.progress is not None:
            choices.progress(done, sum(sizes), "bytes of traces")
    high = frozenset(each for each in ranges if by_copies and pages[each][-1:].sum() >> _WORD - _PAGE)
    if high:
        every = np.unique(np.concatenate(list(pages.values())))
        low = np.sort(every & (1 << _WORD - _PAGE) - 1)
        if (same := low[1:][low[1:] == low[:-1]]).size:
            two = every[(every & (1 << _WORD - _PAGE) - 1) == same[0]][:2] << _PAGE
            raise ProfileError(
                "the simulator's copies keep 32 bits of an address, in which "
                f"{counted(len(same), 'page')} of the program and another are one: {two[0]:#x}, {two[1]:#x}",
                path=traces.path,
                remedy=Wording("`caches=loads` fills L2 by a kernel before each launch instead"),
            )
    return Filled(ranges, high, untraced)


def _untraced(traces: TraceFolder, numbers: Mapping[int, int]) -> int:
    """Return how many of the launches just before the drawn ones have no trace; ProfileError if none has."""
    before = {number: range(max(1, number - PREDECESSORS), number) for number in numbers}
    alone = [
        number for number, those in before.items() if those and not any(k in traces.files for k in those)
    ]
    if alone:
        raise ProfileError(
            f"none of the {len(before[alone[0]])} launches before launch {numbers[alone[0]]} was traced, "
            f"nor before {len(alone) - 1} others: what they left in L2 is not known",
            path=traces.path,
            remedy=Wording(
                "record them with trace.sh of an export without traces, or `caches=own` or `caches=cold`"
            ),
        )
    return len({each for those in before.values() for each in those} - set(traces.files))


def _copied(copies: Sequence[str]) -> Iterator[IntArray]:
    """Yield the sectors that the program's own copies fill in the whole run: below 4 GiB alone."""
    for copy in copies:
        kind, address, size = [*copy.split(","), "0", "0"][:3]
        begin, end = int(address, 16), int(address, 16) + int(size)
        if kind == "MemcpyHtoD" and end <= 1 << _WORD:
            yield np.arange(begin >> _SECTOR, -(-end >> _SECTOR))


def write_low_words(file: Path, target: IO[bytes], *, packed: bool) -> None:
    """Write a trace with the low 32 bits of its addresses, all that the simulator keeps of a copy's."""
    with lzma.open(target, "wb", preset=0) if packed else nullcontext(target) as stream:
        for block in blocks(file):
            stream.write(_HIGH.sub(rb"0x\1", block))


def write_loads(
    head: Mapping[str, str], number: int, ranges: tuple[IntArray, IntArray], target: IO[bytes]
) -> None:
    """Write the trace of a kernel that loads these sectors, past L1, a lane a sector."""
    first, count = ranges
    sector = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
    per_cta = 32 * _LOADS_OF_WARP * _WARPS
    ctas = max(1, -(-len(sector) // per_cta))
    known = {"binary": head.get("binary version", "70"), "stream": head.get("cuda stream id", "0")}
    target.write(_LOADS_HEAD.format(number=number, ctas=ctas, **known).encode())
    for cta in range(ctas):
        target.write(f"#BEGIN_TB\n\nthread block = {cta},0,0\n".encode())
        for warp in range(_WARPS):
            begin = cta * per_cta + warp * 32
            # The warps of a CTA load side by side.
            lanes = [sector[at : at + 32] for at in range(begin, begin + per_cta, 32 * _WARPS)]
            lines = [
                f"{16 * place:04x} {(1 << len(each)) - 1:08x} 1 R{4 + place} LDG.E.STRONG.GPU 1 R2 4 0 "
                + "".join(f"0x{address:016x} " for address in (each << _SECTOR).tolist())
                + "0 "
                for place, each in enumerate(lanes)
                if len(each)
            ]
            lines.append(f"{16 * len(lines):04x} ffffffff 0 EXIT 0 0 0 ")
            text = "\n".join(lines)
            target.write(f"\nwarp = {warp}\ninsts = {len(lines)}\n{text}\n".encode())
        target.write(b"\n#END_TB\n\n")


def blocks(file: Path) -> Iterator[bytes]:
    """Yield a trace, unpacked, in pieces that end with a line; ProfileError where it cannot be unpacked."""
    rest = b""
    try:
        with opened(file) as stream:
            while piece := stream.read(_BLOCK_BYTES):
                end = piece.rfind(b"\n") + 1
                if end:
                    yield rest + piece[:end]
                    rest = b""
                rest += piece[end:]
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise ProfileError(f"cannot be read ({error})", path=file, remedy=_REMEDY) from error
    if rest:
        yield rest + b"\n"


@lru_cache(maxsize=1 << 12)
def _kind_and_width(opcode: str) -> tuple[int, int]:
    """Return what an instruction does to global memory, and the bytes of a lane as the simulator has them."""
    name, *rest = opcode.split(".")
    widths = (part.removeprefix("U") for part in rest)
    return _KINDS.get(name, 0), next((int(part) // 8 for part in widths if part.isdigit()), 4)


def accesses(
    text: bytes, bases: tuple[int, int], before: int, file: Path
) -> tuple[IntArray, IntArray, BoolArray, bool]:
    """Return (t,) the sectors that a block touches, what is known of each then, and whether by loads.

    Last, whether there are generic accesses, of which the address tells whether they are global.
    Known is a bit for each byte of the sector: all of one that is loaded, else the bytes that are stored.

    Parameters
    ----------
    bases : where shared and local memory begin among generic addresses; 0: not known.
    before : numbers that stand before the PC.
    """
    # Zeros at the end, so that whatever a line lacks ends there.
    padded = b"\n" + text + bytes(64)
    byte, words = np.frombuffer(padded, np.uint8), np.ndarray(len(text) + 58, "<u8", padded, strides=(1,))
    space = np.flatnonzero(byte <= ord(" "))
    place, mode, lanes, kind, width, base = _lines_with_addresses(padded, byte, words, space, before, file)
    # As in the simulator: a generic access is where its first lane's is, and shared if that cannot be told.
    shared, local = bases
    of_thread = (base >= shared) & (base < local) | (base >= local) & (base < local + _LOCAL_BYTES)
    is_global = ((kind & _GENERIC) == 0) | (~of_thread if shared and local else False)
    wanted = np.flatnonzero((kind > 0) & (lanes > 0) & is_global)
    has_generic = bool((kind & _GENERIC).any())
    place, mode, lanes, kind, width, base = (each[wanted] for each in (place, mode, lanes, kind, width, base))
    is_load = (kind & _LOAD) > 0
    stride, each = np.zeros_like(base), np.flatnonzero(mode == 1)
    stride[each] = _decimal(byte, space[place[each] + 1] + 1, space[place[each] + 2])
    # Lanes side by side are one span of bytes; so are loads of which each sector is touched.
    step = np.abs(stride)
    whole = (mode == 1) & ((step <= width) | is_load & (step <= 1 << _SECTOR))
    spans = np.where(whole, 1, lanes)
    of = np.repeat(np.arange(len(spans)), spans)
    lane = _within(spans)
    address = base[of] + stride[of] * lane
    address[whole[of]] += np.minimum(stride * (lanes - 1), 0)[whole]
    each = np.flatnonzero((mode == 0)[of])
    at = place[of[each]] + lane[each]
    address[each] = _hexadecimal(words, space[at] + 3, space[at + 1])
    if (mode == 2).any():
        each = np.flatnonzero((mode[of] == 2) & (lane > 0))
        at = place[of[each]] + lane[each]
        difference = np.zeros(len(of), dtype=np.int64)
        difference[each] = _decimal(byte, space[at] + 1, space[at + 1])
        total = np.cumsum(difference)
        address += np.where(mode[of] == 2, total - total[np.cumsum(spans) - spans][of], 0)
    end = address + np.where(whole, step * (lanes - 1) + width, width)[of]
    low = address >> _SECTOR
    count = (end - 1 >> _SECTOR) - low + 1
    span = np.repeat(np.arange(len(count)), count)
    sector = low[span] + _within(count)
    is_load = is_load[of][span]
    first = np.maximum(address[span] - (sector << _SECTOR), 0)
    stop = np.minimum(end[span] - (sector << _SECTOR), 1 << _SECTOR)
    return sector, np.where(is_load, (1 << 32) - 1, (1 << stop) - (1 << first)), is_load, has_generic


def _lines_with_addresses(
    padded: bytes, byte: Bytes, words: Words, space: IntArray, before: int, file: Path
) -> tuple[IntArray, ...]:
    """Return of each line with addresses, by the blanks and line ends `space` of a block:

    the place among those of the blank before its first address, how addresses are given, its active lanes,
    what its opcode does, to how many bytes, and its first address.
    """
    is_end, is_address = byte[space[:-2]] == ord("\n"), byte[space[:-2] + 2] == ord("x")
    marks = np.flatnonzero(is_end | is_address)
    row = np.flatnonzero(is_end[marks])
    listed = np.diff(np.append(row, len(marks))) - 1
    # Of all lines only these have addresses; the head's begin with a dash.
    kept = (listed > 0) & (byte[space[marks[row]] + 1] != ord("-"))
    row, listed = row[kept], listed[kept]
    x, start = space[marks[row + 1]] + 2, space[marks[row]] + 1
    place = marks[row] + 1 + before
    mask = _hexadecimal(words, space[place] + 1, space[place + 1])
    place += 2 + _DIGIT[byte[space[place + 1] + 1]]
    begin, length = space[place] + 1, space[place + 1] - space[place] - 1
    place += 4 + _DIGIT[byte[space[place + 1] + 1]]
    mode = _DIGIT[byte[space[place] - 1]]
    lanes = np.bitwise_count(mask).astype(np.int64)
    good = (space[place] + 2 == x) & (mode <= 2) & (length <= _OPCODE_BYTES)
    good &= (mode > 0) | (listed == lanes) | (lanes == 0)
    if (bad := np.flatnonzero(~good)).size:
        line = padded[start[bad[0]] : padded.index(b"\n", start[bad[0]])].decode("utf-8", "replace")
        raise ProfileError(f"an access to memory cannot be read: {line!r}", path=file, remedy=_REMEDY)
    # Opcodes are few: one number for the text of each, then a look at each distinct one.
    code = np.zeros(len(begin), dtype=np.uint64)
    for part in range(0, _OPCODE_BYTES, 8):
        kept = 8 * np.clip(length - part, 0, 8).astype(np.uint64)
        word = words[np.minimum(begin + part, len(words) - 1)]
        code = (code ^ np.where(kept < 64, word & ((np.uint64(1) << kept) - 1), word)) * 0x9E3779B97F4A7C15
        code ^= code >> 29
    _, example, which = np.unique(code, return_index=True, return_inverse=True)
    opcodes = [padded[begin[each] : begin[each] + length[each]].decode() for each in example]
    kind, width = (
        np.array([_kind_and_width(each) for each in opcodes], dtype=np.int64).reshape(-1, 2)[which].T
    )
    return place, mode, lanes, kind, width, _hexadecimal(words, x + 1, space[place + 1])


def _within(counts: IntArray) -> IntArray:
    """Return 0, 1, ... for each of these counts, one behind the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _hexadecimal(words: Words, begin: IntArray, end: IntArray) -> IntArray:
    """Return the numbers of at most 16 digits between these places, eight digits at a time."""
    digits = end - begin
    value = np.zeros(len(begin), dtype=np.uint64)
    for behind in range(8, 8 * (1 + (int(digits.max(initial=0)) > 8)) + 1, 8):
        kept = np.clip(digits - behind + 8, 0, 8)
        sign = words[end - behind].byteswap()
        digit = (sign & 0x0F0F0F0F0F0F0F0F) + 9 * (sign >> 6 & 0x0101010101010101)
        for bits, mask in ((4, 0x00FF00FF00FF00FF), (8, 0x0000FFFF0000FFFF), (16, 0x00000000FFFFFFFF)):
            digit = (digit | digit >> bits) & mask
        value |= (digit & ((1 << 4 * kept) - 1).astype(np.uint64)) << np.uint64(4 * behind - 32)
    return value.astype(np.int64)


def _decimal(byte: Bytes, begin: IntArray, end: IntArray) -> IntArray:
    """Return the numbers between these places, with their signs."""
    negative = byte[begin] == ord("-")
    digits = end - begin - negative
    value = np.zeros(len(begin), dtype=np.int64)
    for place in range(int(digits.max(initial=0)), 0, -1):
        digit = _DIGIT[byte[end - place]]
        value = np.where(digits >= place, value * 10 + digit, value)
    return np.where(negative, -value, value)
