"""What the launches before a drawn one left in L2: its lines, their order, and which of them are dirty.

A launch simulated without the launches before it finds an empty L2 and takes 5 to 10 % longer, up to 40.
One pass over the traces in launch order keeps the lines used last; of each 32-byte sector the bytes that are
known, all of a sector that was loaded, of one that was stored to those that were; and whether it was stored
to, or an atomic was done there, since its line came in. Where a launch evicts nothing, which sectors can be
read is all that counts; where it does, those that were stored must be dirty, and lines in the order of time.
How L2 is filled with these is `filling`'s. (docs/methods.md, 14 Launches simulated alone)

**The order of a launch** is about that of time: by wave of the CTAs that run at once, then how many loads the
warp did before, then thread block and warp, so that a store stands beside its warp's next load. A line that
was dropped and touched again in one launch may keep what was known and stored; which lines are there is
exact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampling.arrays import BoolArray, IntArray
from sampling.errors import OptionError, ProfileError
from sampling.parallel import ordered_map
from sampling.readers.accel_sim_traces import trace_head
from sampling.readers.input_file import open_input
from sampling.simulators.accel_sim_traces import TraceFolder
from sampling.simulators.export import PREDECESSORS, ExportChoices, Shard
from sampling.simulators.measured_run import parse_dimensions
from sampling.simulators.memory_instructions import READS, WRITES
from sampling.simulators.trace_accesses import LOCAL_BYTES, SECTOR, Accesses, TraceReader, blocks
from sampling.text import Wording, counted

#: The largest L2 known, 128 MiB: the simulator drops what its own does not hold, the oldest first
MOST_LINES = 1 << 20
_LINE, _PAGE, _WORD = 7, 12, 32  # log2 of bytes
_ALL_BYTES = (1 << 32) - 1
# When a line was touched last within a launch: bits of the wave, of the loads before and of the warp, and one
# more by which a store comes before the load beside it.
_WAVE_BITS, _STEP_BITS, _WARP_BITS = 20, 20, 22
_COPY = re.compile(r"MemcpyHtoD,(?:0x)?([0-9a-fA-F]{1,16}),(\d{1,18})\b.*")
_OPTION = re.compile(r"^[ \t]*-(gpgpu_\S+)[ \t]+(\S+)", re.MULTILINE)
_CACHE = re.compile(r"[NS]:(\d+):(\d+):(\d+)\b.*")
_COUNT = re.compile(r"\d{1,9}")

MaskArray = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True)
class L2:
    """What a configuration says of L2, and of an SM, which tells how many CTAs run at once."""

    lines: int = MOST_LINES
    sms: int = 1
    threads: int = 1
    registers: int = 1
    shared_bytes: int = 1
    ctas: int = 1

    def ctas_at_once(self, head: Mapping[str, str]) -> int:
        """Return W = SMs x max(1, CTAs that the threads, registers, shared memory and slots of one allow)."""
        threads = prod(parse_dimensions(head.get("block dim", "")) or (1,))
        registers, shared = (_count(head.get(name, "")) for name in ("nregs", "shmem"))
        of_cta = (threads, threads * registers, shared, 1)
        of_sm = (self.threads, self.registers, self.shared_bytes, self.ctas)
        return self.sms * max(1, min(has // max(takes, 1) for has, takes in zip(of_sm, of_cta, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines of L2."""

    number: IntArray  #: (n,) address / 128, ascending
    last: IntArray  #: (n,) when it was touched last; larger is later
    known_bytes: MaskArray  #: (n, 4) a bit for each known byte of a sector
    loaded: MaskArray  #: (n,) a bit for each sector that was loaded
    stored: MaskArray  #: (n,) a bit for each sector that was stored to, which is dirty
    dropped: int = 0  #: how many more there were

    @classmethod
    def touched(cls, sector: IntArray, known_bytes: IntArray, kind: IntArray, last: IntArray) -> Lines:
        """Return the lines of (t,) sectors: the bytes known by each touch, what it does, and when."""
        table = np.zeros((len(sector), 4), dtype=np.uint32)
        table[np.arange(len(sector)), sector & 3] = known_bytes
        loaded, stored = ((((kind & what) > 0) << (sector & 3)).astype(np.uint8) for what in (READS, WRITES))
        return cls(sector >> 2, last, table, loaded, stored).then((), len(sector))

    def then(self, later: Sequence[Lines], capacity: int) -> Lines:
        """Return the lines used last of these and of others."""
        parts = [self, *later]
        dropped = sum(part.dropped for part in parts)
        number = np.concatenate([part.number for part in parts])
        if not len(number):
            return replace(self, dropped=dropped)
        order = np.argsort(number, kind="stable")
        begins = np.flatnonzero(np.diff(number[order], prepend=-1))
        last = np.maximum.reduceat(np.concatenate([part.last for part in parts])[order], begins)
        known_bytes, loaded, stored = (
            np.bitwise_or.reduceat(np.concatenate(masks)[order], begins)
            for masks in zip(*((part.known_bytes, part.loaded, part.stored) for part in parts), strict=True)
        )
        is_kept = np.ones(len(begins), dtype=np.bool_)
        if (excess := len(begins) - capacity) > 0:
            is_kept[np.argsort(last, kind="stable")[:excess]] = False
        merged = Lines(number[order][begins], last, known_bytes, loaded, stored, dropped + max(excess, 0))
        return merged.at(is_kept)

    def at(self, places: BoolArray | IntArray) -> Lines:
        """Return the lines at some places."""
        masks = (self.known_bytes[places], self.loaded[places], self.stored[places])
        return Lines(self.number[places], self.last[places], *masks, self.dropped)

    @property
    def readable(self) -> BoolArray:
        """(n, 4) whether all of a sector is known, so that a load of it hits."""
        is_known: BoolArray = self.known_bytes == _ALL_BYTES
        return is_known

    @property
    def dirty_share(self) -> float:
        """How much of what L2 holds is dirty, by sectors."""
        held = int((self.known_bytes > 0).sum())
        return int(np.bitwise_count(self.stored).sum()) / held if held else 0.0

    def runs(self, order: IntArray, is_filled: BoolArray) -> tuple[IntArray, IntArray]:
        """Return (r,) first sectors and counts of the runs that are filled, the lines in this order."""
        sector = ((self.number[order] << 2)[:, None] + np.arange(4))[is_filled[order]]
        launch = np.repeat(self.last[order] >> _WORD, is_filled[order].sum(axis=1))
        begins = np.flatnonzero((np.diff(sector, prepend=-2) != 1) | (np.diff(launch, prepend=-1) != 0))
        return sector[begins], np.diff(np.append(begins, len(sector)))


_NONE = np.zeros(0, dtype=np.int64)
_NO_LINES = Lines.touched(_NONE, _NONE, _NONE, _NONE)


class Touched(NamedTuple):
    """What a launch touches."""

    lines: Lines  #: those that it leaves, `Lines.last` being their rank
    pages: IntArray  #: (p,) all pages, ascending
    can_shorten: bool  #: whether all its addresses can be written with 32 bits


def touched(file: Path, l2: L2 = L2(), *, with_pages: bool = True) -> Touched:
    """Return what the launch of a trace leaves in L2.

    Raises ProfileError where the trace cannot be unpacked, or an access cannot be read.
    """
    head = trace_head(file)
    reader, at_once = TraceReader(file, head), l2.ctas_at_once(head)
    lines, pages = _NO_LINES, [_NONE]
    waiting: list[Lines] = []
    for block in blocks(file):
        accesses = reader.read(block)
        waiting.append(Lines.touched(*accesses[:3], _time(accesses, at_once)))
        if with_pages:
            pages = [np.unique(np.concatenate([*pages, waiting[-1].number >> _PAGE - _LINE]))]
            shared, local = reader.bases
            if reader.has_generic and local:
                # What is not global for them must not be the low 32 bits of what is.
                begin = shared if 0 < shared < local < shared + (1 << 30) else local
                pages.append(np.arange(begin >> _PAGE, (local + LOCAL_BYTES) >> _PAGE))
        # Merged once there are as many as are kept, for each time costs as much as what is kept.
        if sum(len(lines.number) for lines in waiting) > l2.lines:
            lines, waiting = lines.then(waiting, l2.lines), []
    lines = lines.then(waiting, l2.lines)
    rank = np.empty_like(lines.last)
    rank[np.argsort(lines.last, kind="stable")] = np.arange(len(rank))
    return Touched(
        replace(lines, last=rank),
        np.unique(np.concatenate(pages)),
        not reader.has_bulk and not reader.has_bare,
    )


def _time(accesses: Accesses, at_once: int) -> IntArray:
    """Return (t,) when sectors are touched, in the order of a launch; what has no bits counts as the last."""
    wave = np.minimum(accesses.cta // at_once, (1 << _WAVE_BITS) - 1)
    step = np.minimum(accesses.step, (1 << _STEP_BITS) - 1)
    warp = accesses.warp & (1 << _WARP_BITS) - 1
    return ((wave << _STEP_BITS | step) << _WARP_BITS | warp) << 1 | accesses.kind & READS


def read_l2(config: str, *, by_copies: bool) -> L2:
    """Return the L2 of a ``gpgpusim.config``.

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
    names = ("n_clusters", "n_cores_per_cluster", "shader_core_pipeline", "shader_registers", "shmem_size")
    clusters, cores, threads, registers, shared_bytes, ctas = (
        _count(settings.get(f"gpgpu_{name}", "")) or 1 for name in (*names, "shader_cta")
    )
    lines = sets * line * ways * memories * partitions >> _LINE
    return L2(lines, clusters * cores, threads, registers, shared_bytes, ctas)


def _count(text: str) -> int:
    """Return the count that a setting begins with; 0: none."""
    match = _COUNT.match(text)
    return int(match[0]) if match else 0


@dataclass(frozen=True, slots=True, eq=False)
class DirtyLines:
    """Lines of L2, the oldest first, of which some sectors are dirty."""

    number: IntArray  #: (n,) address / 128
    readable: BoolArray  #: (n, 4) whether all of a sector is known
    words: MaskArray  #: (n, 4) of a dirty sector a bit for each known word of 4 bytes


@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """What L2 holds before a launch, or before several that follow each other in the program."""

    #: (r,) first sectors and counts of the runs that can be read, in the order in which they are filled
    runs: tuple[IntArray, IntArray]
    dirty: DirtyLines | None = None  #: what makes L2 dirty, where these launches evict it
    left_clean: float = 0.0  #: how much of what L2 holds is dirty and filled clean

    @classmethod
    def of(cls, lines: Lines, *, evicts: bool | None) -> Fill:
        """Return what fills L2 with lines, None: nothing tells whether a launch then evicts any."""
        if evicts and lines.stored.any():
            order = np.argsort(lines.last)
            number, known_bytes, stored = lines.number[order], lines.known_bytes[order], lines.stored[order]
            words = np.zeros(known_bytes.shape, dtype=np.uint8)
            for word in range(8):
                words |= ((known_bytes >> 4 * word & 15 > 0) << word).astype(np.uint8)
            words[(stored[:, None] >> np.arange(4) & 1) == 0] = 0
            return cls(lines.runs(order, lines.readable), DirtyLines(number, lines.readable[order], words))
        by_launch = np.lexsort((lines.number, lines.last >> _WORD))
        return cls(lines.runs(by_launch, lines.readable), None, lines.dirty_share if evicts is None else 0.0)

    @classmethod
    def of_reads(cls, lines: Lines, before: Lines) -> Fill:
        """Return what fills L2 with what a launch loads itself, of whose L2 before only a part is known."""
        is_loaded = lines.loaded[:, None] >> np.arange(4) & 1 > 0
        return cls(lines.runs(np.arange(len(lines.number)), is_loaded), None, before.dirty_share)


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """What each drawn launch finds in L2."""

    #: by ordinal; without those of launches that follow another in a list as they do in the program
    fills: Mapping[int, Fill]
    #: ordinals of the launches whose traces must have 32-bit addresses, as the simulator's copies
    rewritten: frozenset[int]
    untraced: int  #: how many of the launches just before the drawn ones have no trace
    by_copies: bool  #: what can be read is put in by copies
    whole_addresses: bool  #: the simulator keeps all of an address that is copied to

    def has_kernel(self, ordinal: int) -> bool:
        """Return whether a kernel before a launch fills L2."""
        fill = self.fills.get(ordinal)
        return fill is not None and (fill.dirty is not None or not self.by_copies)


def filled(
    traces: TraceFolder, shards: Sequence[Shard], choices: ExportChoices, *, whole_addresses: bool
) -> Filled:
    """Return what the drawn launches find in L2, from one pass over the traces in launch order.

    Holds the lines of an L2 and what is to be written; a launch is read by a thread.

    Raises ProfileError: a trace cannot be read, the launches before a drawn one were not traced, or two
    pages of the program are one in 32 bits.
    """
    is_own, by_copies = choices.caches == "own", choices.caches != "loads"
    l2 = L2() if choices.config is None else read_l2(choices.config, by_copies=by_copies)
    group_of = _groups(shards, alone=is_own)
    ordinals = {traces.number(ordinal): ordinal for ordinal in group_of}
    untraced = 0 if is_own else _untraced(traces, ordinals)
    last = max(ordinals)
    numbers = sorted(ordinals if is_own else (number for number in traces.files if number <= last))
    files = {number: traces.file(number) for number in numbers}
    sizes = np.cumsum([file.stat().st_size for file in files.values()]).tolist()
    has_low_words = by_copies and not whole_addresses
    touches = ordered_map(
        lambda number: touched(files[number], l2, with_pages=has_low_words and number in ordinals), numbers
    )
    state, before, evicts = _NO_LINES, _NO_LINES, False
    fills: dict[int, Fill] = {}
    shortened = _Shortened(traces.path)
    for place, (number, launch) in enumerate(zip(numbers, touches, strict=True)):
        for copy in traces.copies.get(number, ()):
            # The program's own copies fill L2 in the whole run, but do not make it dirty.
            state = state.then([_copied(copy, place << _WORD, whole_addresses=whole_addresses)], l2.lines)
        after = state.then([replace(launch.lines, last=launch.lines.last + (place << _WORD))], l2.lines)
        if (ordinal := ordinals.get(number)) is not None:
            if group_of[ordinal] == ordinal:
                before, evicts = state, False
            evicts |= after.dropped > state.dropped
            if is_own:
                fills[ordinal] = Fill.of_reads(launch.lines, state)
            elif group_of.get(ordinal + 1) != group_of[ordinal]:
                fills[group_of[ordinal]] = Fill.of(before, evicts=None if choices.config is None else evicts)
            if has_low_words:
                shortened.add(ordinal, launch, launch.lines if is_own else state, files[number])
        state = after
        if choices.progress is not None:
            choices.progress(sizes[place], sizes[-1], "bytes of traces")
    shortened.refuse_same_pages()
    return Filled(fills, frozenset(shortened.ordinals), untraced, by_copies, whole_addresses)


def _groups(shards: Sequence[Shard], *, alone: bool) -> dict[int, int]:
    """Return the ordinal of each drawn launch with that of the first of those that it follows in its list.

    A list has nothing between launches that follow each other in the program, unless each is filled alone.
    """
    groups: dict[int, int] = {}
    for shard in shards:
        before = -2
        for ordinal in (step.ordinal for step in shard if step.launch is not None):
            groups[ordinal] = groups[before] if ordinal == before + 1 and not alone else ordinal
            before = ordinal
    return groups


def _copied(copy: str, time: int, *, whole_addresses: bool) -> Lines:
    """Return the lines that one of the program's own copies fills: in older simulators below 4 GiB alone."""
    match = _COPY.fullmatch(copy)
    begin, size = (int(match[1], 16), int(match[2])) if match else (0, 0)
    if begin + size > 1 << _WORD and not whole_addresses:
        return _NO_LINES
    sector = np.arange(begin >> SECTOR, -(-(begin + size) >> SECTOR))
    known_bytes, kind = np.full_like(sector, _ALL_BYTES), np.zeros_like(sector)
    return Lines.touched(sector, known_bytes, kind, np.full_like(sector, time))


class _Shortened:
    """The drawn launches whose traces are written with 32 bits of their addresses, and all pages there."""

    def __init__(self, path: str) -> None:
        self.ordinals: set[int] = set()
        self._path, self._pages = path, _NONE

    def add(self, ordinal: int, launch: Touched, held: Lines, file: Path) -> None:
        """Add a launch, and what L2 holds before it; ProfileError where it cannot be written so."""
        if (launch.pages >> _WORD - _PAGE).any():
            self.ordinals.add(ordinal)
            if not launch.can_shorten:
                raise ProfileError(
                    "addresses of bulk copies, and those without 0x, are not shortened to 32 bits",
                    path=file,
                    remedy=Wording("give a `simulator_log` of Accel-Sim 2.0, or `caches=loads`"),
                )
        self._pages = np.unique(np.concatenate([self._pages, launch.pages, held.number >> _PAGE - _LINE]))

    def refuse_same_pages(self) -> None:
        """Raise ProfileError where two pages of the program are one in 32 bits."""
        low = np.sort(self._pages & (1 << _WORD - _PAGE) - 1)
        if self.ordinals and (same := low[1:][low[1:] == low[:-1]]).size:
            two = self._pages[(self._pages & (1 << _WORD - _PAGE) - 1) == same[0]][:2] << _PAGE
            raise ProfileError(
                "the simulator's copies keep 32 bits of an address, in which "
                f"{counted(len(same), 'page')} of the program and another are one: {two[0]:#x}, {two[1]:#x}",
                path=self._path,
                remedy=Wording("`caches=loads` fills L2 by a kernel before each launch instead"),
            )


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
