"""What the launches before left in L2, and how a drawn launch that is simulated alone finds it there.

A launch simulated without the launches before it finds an empty L2 and takes 5 to 10 % longer, up to 40.
One pass over the traces in launch order keeps the lines used last, of each 32-byte sector the bytes that are
known: all of a sector that was loaded, of one that was stored to those that were. What the launches before a
drawn one left is put there by the simulator's memory copies (``MemcpyHtoD,ADDRESS,BYTES``) or by a kernel of
loads: readable sectors alone, for a load of a partly written one misses; oldest launch first; never over a
gap, which would fill lines that the program did not touch. (docs/methods.md, 14 Launches simulated alone)

Blocks of a trace count in the order of the file. A line that was dropped and touched again in one launch may
keep what was known of its sectors; which lines are there is exact.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import OptionError, ProfileError
from sampling.parallel import ordered_map
from sampling.readers.input_file import open_input
from sampling.simulators.accel_sim_traces import TraceFolder, trace_head
from sampling.simulators.export import PREDECESSORS, ExportChoices, Step
from sampling.simulators.exporter import template
from sampling.simulators.memory_instructions import READS
from sampling.simulators.trace_accesses import LOCAL_BYTES, SECTOR, TraceReader, blocks, within
from sampling.text import Wording, counted

#: The largest L2 known, 128 MiB: the simulator drops what its own does not hold, the oldest first
MOST_LINES = 1 << 20
_LINE, _PAGE, _WORD = 7, 12, 32  # log2 of bytes
_COPY = re.compile(r"MemcpyHtoD,(?:0x)?([0-9a-fA-F]{1,16}),(\d{1,18})\b.*")
_HIGH = re.compile(rb"0x0*[1-9a-f][0-9a-f]*([0-9a-f]{8})\b")
_OPTION = re.compile(r"^[ \t]*-(gpgpu_\S+)[ \t]+(\S+)", re.MULTILINE)
_CACHE = re.compile(r"[NS]:(\d+):(\d+):(\d+)\b.*")
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
    reader = TraceReader(file, trace_head(file))
    lines, pages, accesses = _NO_LINES, [_NONE], 0
    waiting: list[Lines] = []
    for block in blocks(file):
        sector, known_bytes, kind, *_ = reader.read(block)
        is_load = (kind & READS) > 0
        block_lines = Lines.touched(sector, known_bytes, accesses)
        if with_pages:
            pages = [np.unique(np.concatenate([*pages, block_lines.number >> _PAGE - _LINE]))]
            shared, local = reader.bases
            if reader.has_generic and local:
                # What is not global for them must not be the low 32 bits of what is.
                begin = shared if 0 < shared < local < shared + (1 << 30) else local
                pages.append(np.arange(begin >> _PAGE, (local + LOCAL_BYTES) >> _PAGE))
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
            f"MemcpyHtoD,0x{(sector << SECTOR) & 0xFFFFFFFF:016x},{count << SECTOR}"
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
                sector = np.arange(begin >> SECTOR, -(-(begin + size) >> SECTOR))
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
    sector = np.repeat(first, count) + within(count)
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
                + "".join(f"0x{address:016x} " for address in (lane << SECTOR).tolist())
                + "0 "
                for place, lane in enumerate(lanes)
                if len(lane)
            ]
            lines.append(f"{16 * len(lines):04x} ffffffff 0 EXIT 0 0 0 ")
            text = "\n".join(lines)
            target.write(f"\nwarp = {warp}\ninsts = {len(lines)}\n{text}\n".encode())
        target.write(b"\n#END_TB\n\n")
