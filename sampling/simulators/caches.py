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
from pathlib import Path
from typing import IO

import numpy as np

from sampling.arrays import BoolArray, IntArray, to_arrow, to_numpy
from sampling.errors import OptionError, ProfileError
from sampling.parallel import ordered_map
from sampling.readers.accel_sim_traces import opened, trace_head
from sampling.readers.input_file import open_input, whole_lines
from sampling.simulators.accel_sim_traces import TraceFolder
from sampling.simulators.export import PREDECESSORS, ExportChoices, Step
from sampling.simulators.exporter import template
from sampling.text import Wording, counted

#: The largest L2 known, 128 MiB: the simulator drops what its own does not hold, the oldest first
MOST_LINES = 1 << 20
_SECTOR, _LINE, _PAGE, _WORD = 5, 7, 12, 32  # log2 of bytes
#: How many generic addresses are local memory, as the simulator has it
_LOCAL_BYTES = 1 << 14
_LOAD, _STORE, _GENERIC = 1, 2, 4
_KINDS = dict.fromkeys(("LDG", "LDGSTS", "ATOM", "ATOMG", "RED"), _LOAD) | {
    "STG": _STORE,
    "LD": _LOAD | _GENERIC,
    "ST": _STORE | _GENERIC,
}
_COPY = re.compile(r"MemcpyHtoD,(?:0x)?([0-9a-fA-F]{1,16}),(\d{1,18})\b.*")
_HIGH = re.compile(rb"0x0*[1-9a-f][0-9a-f]*([0-9a-f]{8})\b")
_OPTION = re.compile(r"^[ \t]*-(gpgpu_\S+)[ \t]+(\S+)", re.MULTILINE)
_CACHE = re.compile(r"[NS]:(\d+):(\d+):(\d+)\b.*")
_REMEDY = "give the traces as post-traces-processing has made them"
_LOADS_OF_WARP, _WARPS = 8, 4


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines of L2."""

    number: IntArray  #: (n,) address / 128, ascending
    known_bytes: np.ndarray[
        tuple[int, ...], np.dtype[np.uint32]
    ]  #: (n, 4) of each sector a bit for a known byte
    last: IntArray  #: (n,) when it was touched last; larger is later

    @classmethod
    def touched(cls, sector: IntArray, known_bytes: IntArray, first: int) -> Lines:
        """Return the lines of sectors touched one after the other, and the bytes known by each touch."""
        table = np.zeros((len(sector), 4), dtype=np.uint32)
        table[np.arange(len(sector)), sector & 3] = known_bytes
        return cls(sector >> 2, table, first + np.arange(len(sector))).then((), len(sector))

    def then(self, later: Sequence[Lines], capacity: int) -> Lines:
        """Return the lines used last of these and of those touched after them, one after the other."""
        parts = [self, *later]
        number = np.concatenate([part.number for part in parts])
        if not len(number):
            return self
        order = np.argsort(number, kind="stable")
        number = number[order]
        begins = np.flatnonzero(np.diff(number, prepend=-1))
        known_bytes = np.bitwise_or.reduceat(
            np.concatenate([part.known_bytes for part in parts])[order], begins
        )
        ends = np.append(begins[1:], len(order)) - 1
        last = np.concatenate([part.last for part in parts])[order[ends]]
        is_kept = np.ones(len(begins), dtype=np.bool_)
        if (excess := len(begins) - capacity) > 0:
            is_kept[np.argpartition(last, excess - 1)[:excess]] = False
        return Lines(number[begins][is_kept], known_bytes[is_kept], last[is_kept])

    def ranges(self) -> tuple[IntArray, IntArray]:
        """Return (r,) first sectors and counts of the readable runs, those of the oldest launch first."""
        launch = self.last >> _WORD
        order = np.lexsort((self.number, launch))
        readable = self.known_bytes[order] == np.iinfo(np.uint32).max
        sector = ((self.number[order] << 2)[:, None] + np.arange(4))[readable]
        sector_launch = np.repeat(launch[order], readable.sum(axis=1))
        begins = np.flatnonzero(
            (np.diff(sector, prepend=-2) != 1) | (np.diff(sector_launch, prepend=-1) != 0)
        )
        return sector[begins], np.diff(np.append(begins, len(sector)))


_NONE = np.zeros(0, dtype=np.int64)
_NO_LINES = Lines(_NONE, np.zeros((0, 4), dtype=np.uint32), _NONE)


def touched(
    file: Path, capacity: int = MOST_LINES, *, loads_alone: bool = False, with_pages: bool = True
) -> tuple[Lines, IntArray]:
    """Return what the launch of a trace leaves in an L2 of so many lines, and (p,) all its pages, ascending.

    With `loads_alone` it leaves nothing that it stores. Raises ProfileError where the trace cannot be
    unpacked, or an access cannot be read.
    """
    head = trace_head(file)
    try:
        bases = int(head.get("shmem base_addr", "0"), 16), int(head.get("local mem base_addr", "0"), 16)
        version, has_lines = head.get("accelsim tracer version", "0"), head.get("enable lineinfo", "0")
        before = 4 * (int(version) < 3) + int(has_lines)
    except ValueError as error:
        raise ProfileError(f"its head cannot be read ({error})", path=file, remedy=_REMEDY) from error
    lines, pages, accesses = _NO_LINES, [_NONE], 0
    waiting: list[Lines] = []
    for block in blocks(file):
        sector, known_bytes, is_load, has_generic = _accesses(block, bases, before, file)
        block_lines = Lines.touched(sector, known_bytes, accesses)
        if with_pages:
            pages = [np.unique(np.concatenate([*pages, block_lines.number >> _PAGE - _LINE]))]
            if has_generic and bases[1]:
                # What is not global for them must not be the low 32 bits of what is.
                begin = bases[0] if 0 < bases[0] < bases[1] < bases[0] + (1 << 30) else bases[1]
                pages.append(np.arange(begin >> _PAGE, (bases[1] + _LOCAL_BYTES) >> _PAGE))
        waiting.append(
            Lines.touched(sector[is_load], known_bytes[is_load], accesses) if loads_alone else block_lines
        )
        accesses += len(sector)
        # Merged once there are as many as are kept, for each time costs as much as what is kept.
        if sum(len(lines.number) for lines in waiting) > capacity:
            lines, waiting = lines.then(waiting, capacity), []
    return lines.then(waiting, capacity), np.unique(np.concatenate(pages))


def l2_lines(config: str, *, by_copies: bool) -> int:
    """Return the size of the L2 of a ``gpgpusim.config``, in lines of 128 bytes.

    Raises ProfileError: it cannot be read, or has no L2; OptionError: its L2 cannot be filled, or is empty
    at the start of each launch of the whole run too.
    """
    with open_input(config) as file, file.open() as stream:
        settings = dict(_OPTION.findall(stream.read().decode("utf-8", "replace")))
    cache = _CACHE.fullmatch(settings.get("gpgpu_cache:dl2", ""))
    parts = [settings.get(f"gpgpu_n_{name}", "") for name in ("mem", "sub_partition_per_mchannel")]
    if cache is None or not all(part.isdigit() for part in parts):
        raise ProfileError(
            "has no -gpgpu_cache:dl2, -gpgpu_n_mem and -gpgpu_n_sub_partition_per_mchannel",
            path=config,
            remedy="give the gpgpusim.config that is simulated",
        )
    if settings.get("gpgpu_flush_l2_cache", "0") != "0":
        raise OptionError(
            f"{config} empties L2 after each launch, so that none finds anything there",
            remedy=Wording("`caches=cold` is what the whole run does"),
        )
    if by_copies and settings.get("gpgpu_perf_sim_memcpy", "1") == "0":
        raise OptionError(
            f"copies do not fill L2 with -gpgpu_perf_sim_memcpy 0 in {config}",
            remedy=Wording("set it to 1, or `caches=loads`"),
        )
    sets, line, ways, memories, partitions = map(int, (*cache.groups(), *parts))
    return sets * line * ways * memories * partitions >> _LINE


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """What each drawn launch finds in L2."""

    #: first sectors and counts, by ordinal, in the order in which they are filled
    ranges: Mapping[int, tuple[IntArray, IntArray]]
    #: ordinals of the launches whose traces must have 32-bit addresses, as the simulator's copies
    rewritten: frozenset[int]
    untraced: int  #: how many of the launches just before the drawn ones have no trace

    def copies(self, ordinal: int) -> list[str]:
        """Return the lines of a list that fill L2 before a launch."""
        return [
            f"MemcpyHtoD,0x{(sector << _SECTOR) & 0xFFFFFFFF:016x},{count << _SECTOR}"
            for sector, count in zip(*(column.tolist() for column in self.ranges[ordinal]), strict=True)
        ]


def filled(traces: TraceFolder, steps: Sequence[Step], choices: ExportChoices) -> Filled:
    """Return what the drawn launches find in L2, from one pass over the traces in launch order.

    Holds the lines of an L2 and what is to be written; a launch is read by a thread.

    Raises ProfileError: a trace cannot be read, the launches before a drawn one were not traced, or two
    pages of the program are one in 32 bits.
    """
    loads_alone, by_copies = choices.caches == "own", choices.caches != "loads"
    capacity = MOST_LINES if choices.config is None else l2_lines(choices.config, by_copies=by_copies)
    ordinals = {traces.number(step.ordinal): step.ordinal for step in steps if step.launch is not None}
    untraced = 0 if loads_alone else _untraced(traces, ordinals)
    last = max(ordinals)
    numbers = sorted(ordinals if loads_alone else (number for number in traces.files if number <= last))
    files = {number: traces.file(number) for number in numbers}
    sizes = np.cumsum([file.stat().st_size for file in files.values()]).tolist()
    state = _NO_LINES
    ranges: dict[int, tuple[IntArray, IntArray]] = {}
    pages: dict[int, IntArray] = {}
    all_pages = _NONE
    touches = ordered_map(
        lambda number: touched(
            files[number], capacity, loads_alone=loads_alone, with_pages=number in ordinals
        ),
        numbers,
    )
    for place, (number, (lines, touched_pages)) in enumerate(zip(numbers, touches, strict=True)):
        for copy in traces.copies.get(number, ()):
            # The program's own copies fill L2 in the whole run: below 4 GiB alone.
            match = _COPY.fullmatch(copy)
            begin, size = (int(match[1], 16), int(match[2])) if match else (1 << _WORD, 0)
            if begin + size <= 1 << _WORD:
                sector = np.arange(begin >> _SECTOR, -(-(begin + size) >> _SECTOR))
                known_bytes = np.full(len(sector), (1 << 32) - 1)
                state = state.then([Lines.touched(sector, known_bytes, place << _WORD)], capacity)
        if number in ordinals:
            contents = lines if loads_alone else state
            ranges[ordinals[number]], pages[ordinals[number]] = contents.ranges(), touched_pages
            all_pages = np.unique(
                np.concatenate([all_pages, touched_pages, contents.number >> _PAGE - _LINE])
            )
        state = state.then([Lines(lines.number, lines.known_bytes, lines.last + (place << _WORD))], capacity)
        if choices.progress is not None:
            choices.progress(sizes[place], sizes[-1], "bytes of traces")
    high = frozenset(ordinal for ordinal in ranges if by_copies and (pages[ordinal] >> _WORD - _PAGE).any())
    low = np.sort(all_pages & (1 << _WORD - _PAGE) - 1)
    if high and (same := low[1:][low[1:] == low[:-1]]).size:
        two = all_pages[(all_pages & (1 << _WORD - _PAGE) - 1) == same[0]][:2] << _PAGE
        raise ProfileError(
            "the simulator's copies keep 32 bits of an address, in which "
            f"{counted(len(same), 'page')} of the program and another are one: {two[0]:#x}, {two[1]:#x}",
            path=traces.path,
            remedy=Wording("`caches=loads` fills L2 by a kernel before each launch instead"),
        )
    return Filled(ranges, high, untraced)


def _untraced(traces: TraceFolder, numbers: Mapping[int, int]) -> int:
    """Return how many of the launches just before the drawn ones have no trace; ProfileError if none has."""
    before = {number: set(range(max(1, number - PREDECESSORS), number)) for number in numbers}
    untraced = [
        number
        for number, numbers_before in before.items()
        if numbers_before and numbers_before.isdisjoint(traces.files)
    ]
    if untraced:
        raise ProfileError(
            f"none of the {len(before[untraced[0]])} launches before launch {numbers[untraced[0]]} was "
            f"traced, nor before {len(untraced) - 1} others: what they left in L2 is not known",
            path=traces.path,
            remedy=Wording(
                "record them with trace.sh of an export without traces, or `caches=own` or `caches=cold`"
            ),
        )
    return len(set().union(*before.values()) - set(traces.files))


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
    sector = np.repeat(first, count) + _within(count)
    per_cta = 32 * _LOADS_OF_WARP * _WARPS
    ctas = max(1, -(-len(sector) // per_cta))
    facts = {"binary": head.get("binary version", "70"), "stream": head.get("cuda stream id", "0")}
    target.write(template("accel-sim/loads.traceg", number=number, ctas=ctas, **facts).encode())
    for cta in range(ctas):
        target.write(f"#BEGIN_TB\n\nthread block = {cta},0,0\n".encode())
        for warp in range(_WARPS):
            begin = cta * per_cta + warp * 32
            # The warps of a CTA load side by side.
            lanes = [sector[start : start + 32] for start in range(begin, begin + per_cta, 32 * _WARPS)]
            lines = [
                f"{16 * place:04x} {(1 << len(lane)) - 1:08x} 1 R{4 + place} LDG.E.STRONG.GPU 1 R2 4 0 "
                + "".join(f"0x{address:016x} " for address in (lane << _SECTOR).tolist())
                + "0 "
                for place, lane in enumerate(lanes)
                if len(lane)
            ]
            lines.append(f"{16 * len(lines):04x} ffffffff 0 EXIT 0 0 0 ")
            text = "\n".join(lines)
            target.write(f"\nwarp = {warp}\ninsts = {len(lines)}\n{text}\n".encode())
        target.write(b"\n#END_TB\n\n")


def blocks(file: Path) -> Iterator[bytes]:
    """Yield a trace, unpacked, in pieces that end with a line; ProfileError where it cannot be unpacked."""
    try:
        with opened(file) as stream:
            for piece in whole_lines(stream, file, _REMEDY):
                yield piece if piece.endswith(b"\n") else piece + b"\n"
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise ProfileError(f"cannot be read ({error})", path=file, remedy=_REMEDY) from error


def _kind_and_width(opcode: str) -> tuple[int, int]:
    """Return what an instruction does to global memory, and the bytes of a lane as the simulator has them."""
    name, *rest = opcode.split(".")
    widths = (part.removeprefix("U") for part in rest)
    return _KINDS.get(name, 0), next((int(part) // 8 for part in widths if part.isdigit()), 4)


def _accesses(
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
    kind, width, lanes, mode, addresses, begin = _instructions(text, before, file)
    has_generic = bool((kind & _GENERIC).any())
    # As in the simulator: a generic access is where its first lane's is, and shared if nothing tells.
    base, (shared, local) = addresses[begin], bases
    of_thread = (base >= shared) & (base < local) | (base >= local) & (base < local + _LOCAL_BYTES)
    is_global = ((kind & _GENERIC) == 0) | (~of_thread if shared and local else False)
    kind, width, lanes, mode, begin, base = (
        column[is_global] for column in (kind, width, lanes, mode, begin, base)
    )
    is_load = (kind & _LOAD) > 0
    stride = (
        np.where(mode == 1, addresses[np.minimum(begin + 1, len(addresses) - 1)], 0)
        if len(addresses)
        else base
    )
    # Lanes side by side are one span of bytes; so are loads of which each sector is touched.
    step = np.abs(stride)
    is_one_span = (mode == 1) & ((step <= width) | is_load & (step <= 1 << _SECTOR))
    spans = np.where(is_one_span, 1, lanes)
    owner, lane = np.repeat(np.arange(len(spans)), spans), _within(spans)
    start = base + np.where(is_one_span, np.minimum(stride * (lanes - 1), 0), 0)
    address = start[owner] + stride[owner] * lane
    # Those of each lane stand there, or how far each is behind the lane before.
    position, total = np.where(mode[owner] == 1, 0, begin[owner] + lane), np.cumsum(addresses)
    address = np.where(mode[owner] == 0, addresses[position], address)
    address += np.where(mode[owner] == 2, total[position] - total[begin[owner]], 0)
    end = address + np.where(is_one_span, step * (lanes - 1) + width, width)[owner]
    low = address >> _SECTOR
    count = (end - 1 >> _SECTOR) - low + 1
    span = np.repeat(np.arange(len(count)), count)
    sector = low[span] + _within(count)
    begins = np.maximum(address[span] - (sector << _SECTOR), 0)
    ends = np.minimum(end[span] - (sector << _SECTOR), 1 << _SECTOR)
    is_load = is_load[owner][span]
    return sector, np.where(is_load, (1 << 32) - 1, (1 << ends) - (1 << begins)), is_load, has_generic


def _instructions(text: bytes, before: int, file: Path) -> tuple[IntArray, ...]:
    """Return kind, bytes a lane, lanes and way of addresses of each instruction on global memory.

    Behind these all numbers that say where, and the place in them from which on they are of each instruction.
    """
    import pyarrow as pa
    from pyarrow import compute

    lines = compute.split_pattern(pa.array([text.decode("utf-8", "replace")]), "\n").flatten()
    # Of all lines only these have addresses; the head's begin with a dash.
    lines = lines.filter(compute.match_substring(lines, " 0x"))
    lines = lines.filter(compute.invert(compute.starts_with(lines, "-")))
    split = compute.split_pattern(lines, " ")
    words, starts = split.flatten(), to_numpy(split.offsets).astype(np.int64)

    def numbers(places: IntArray, prefix: str = "") -> IntArray:
        """Return the numbers that stand at these places among all words, some of them as 0x7fa5."""
        texts = words.take(to_arrow(places))
        if prefix:
            texts = compute.binary_join_element_wise(prefix, texts, "")
        return to_numpy(texts.cast(pa.int64()))

    try:
        place = starts[:-1] + before + 1
        lanes = np.bitwise_count(numbers(place, "0x")).astype(np.int64)
        place += 2 + numbers(place + 1)
        opcodes = words.take(to_arrow(place)).dictionary_encode()
        place += 3 + numbers(place + 1)
        mode = numbers(place)
        size = np.where(mode == 1, 2, lanes)
        listed = to_numpy(compute.count_substring(lines, " 0x"))
        good = (mode >= 0) & (mode <= 2) & (place + size < starts[1:])
        if not (good & ((mode > 0) | (listed == lanes) | (lanes == 0))).all():
            raise pa.ArrowInvalid("a line is cut off")
        of_opcode = [_kind_and_width(opcode) for opcode in opcodes.dictionary.to_pylist()]
        kind, width = np.array(of_opcode, dtype=np.int64).reshape(-1, 2)[to_numpy(opcodes.indices)].T
        is_global = (kind > 0) & (lanes > 0)
        first, size = place[is_global] + 1, size[is_global]
        addresses = numbers(np.repeat(first, size) + _within(size))
    except pa.ArrowException as error:
        raise ProfileError("an access to memory cannot be read", path=file, remedy=_REMEDY) from error
    return (
        kind[is_global],
        width[is_global],
        lanes[is_global],
        mode[is_global],
        addresses,
        np.cumsum(size) - size,
    )


def _within(counts: IntArray) -> IntArray:
    """Return 0, 1, ... for each of these counts, one behind the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
