"""What GPGPU-Sim and Accel-Sim print of each launch: its name and grid, what a core holds, what it took.

Each launch is announced before it runs: by ``-kernel name``, ``-kernel id`` and ``-grid dim`` where traces
are simulated, by ``pushing kernel`` where a program is. What it took follows in a block of ``kernel_name``,
``kernel_launch_uid``, ``gpu_sim_cycle``, ``gpu_sim_insn`` and many counters. The simulator prints one block
for several launches where they follow each other too closely, and one without a name for a launch that was
printed before: kernels that ran at once, or one left over by a limit on thread blocks.

Counts of caches, DRAM and instructions run on from launch to launch: a launch's own is the difference to the
block before. Counts by kind of access (``..._stats_breakdown[...]``) run on within a stream, whose number the
block gives; a count printed once for each memory partition is their sum.

Other threads print into these lines, lines get lost, and a run may go on or have been killed: what is not
known for sure is None, and a launch that is not known whole says why.

As a profile a cycle counts as a nanosecond. Where kernels ran at once, a limit ended one, or one block is of
several, no count is of one launch alone, and the output is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal

import numpy as np

from sampling.arrays import IntArray
from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.launch_table import LaunchColumns
from sampling.profile.profile import Dimensions, KernelTable, Profile, RecordingFacts
from sampling.readers.input_file import InputFile, pieces
from sampling.readers.table import Launches, lines_before
from sampling.text import counted

FORMAT = "simulator-log"

_SIGNS = re.compile(
    rb"^[ \t]*gpu_sim_cycle = +\d|\*\*\* GPGPU-Sim Simulator Version|^Accel-Sim \[build", re.MULTILINE
)
_ALONE = "simulate it without limits and one kernel after the other, or give a table of its launches"
_NOTHING = "no launch has ended", "wait until one has"

STILL_RUNNING = "the output ends before it does: the run goes on, or was killed"
_LACKS_LINES = "lines of the output are missing before its end"
_BROKEN_OFF = "the simulator broke it off at its limit of cycles or instructions"

CYCLES, INSTRUCTIONS = b"gpu_sim_cycle", b"gpu_sim_insn"
_TOTAL_CYCLES = b"gpu_tot_sim_cycle"
_COPY, _PROCESSING, _LAUNCHED = b"launching memcpy command", b"Processing kernel", b"launching kernel name"
_TRACED, _TRACE_ID, _GRID, _BLOCK = b"-kernel name", b"-kernel id", b"-grid dim", b"-block dim"
_PUSHED = b"GPGPU-Sim PTX: pushing kernel"
_OF_ANNOUNCEMENT = frozenset({_COPY, _PROCESSING, _TRACED, _TRACE_ID, _GRID, _BLOCK, _LAUNCHED, _PUSHED})
_CTAS_PER_CORE = b"GPGPU-Sim uArch: CTA/core"
_NAME, _UID, _STREAM = b"kernel_name", b"kernel_launch_uid", b"kernel_stream_id"
#: What ends the block of a launch
_SIMULATION_RATE = b"gpgpu_simulation_rate"
_BREAK, _EXIT = b"GPGPU-Sim: ** break due to reaching", b"GPGPU-Sim: *** exit detected"
_CLUSTERS, _CORES_PER_CLUSTER = b"-gpgpu_n_clusters", b"-gpgpu_n_cores_per_cluster"
_CONCURRENT = b"-gpgpu_concurrent_kernel_sm"
#: Each limit at which the simulator ends a launch, and the total that it is compared with
_TOTAL_OF_LIMIT = {
    b"-gpgpu_max_cycle": _TOTAL_CYCLES,
    b"-gpgpu_max_insn": b"gpu_tot_sim_insn",
    b"-gpgpu_max_cta": b"gpu_tot_issued_cta",
    b"-gpgpu_max_completed_cta": b"gpu_tot_issued_cta",
}
_CTA_LIMITS = (b"-gpgpu_max_cta", b"-gpgpu_max_completed_cta")
_KEYS = (
    *(_OF_ANNOUNCEMENT - {_PUSHED}),
    *(_CTAS_PER_CORE, _NAME, _UID, _STREAM, CYCLES, INSTRUCTIONS, _SIMULATION_RATE),
    *(_BREAK, _EXIT, _CLUSTERS, _CORES_PER_CLUSTER, _CONCURRENT),
    *(*_TOTAL_OF_LIMIT, *_TOTAL_OF_LIMIT.values()),
)
# More digits are no number that 64 bits hold.
_NUMBER = re.compile(rb"(?<!\d)\d{1,18}(?!\d)")
# What another thread prints into a number does not begin with a blank; more counts may follow in the line.
_WHOLE_NUMBER = re.compile(rb"(\d{1,18})(?=[\s,{]|$)")
_NO_COUNT = re.compile(rb"-?(?:nan|inf|\d+\.\d*|\d+[%x!]|\d+ ?\(|\d+ days)")
_BY_KIND = b"_stats_breakdown["
_TRACE_FILE = re.compile(rb".*kernel-(\d{1,18})(?!\d)[^/]*$")
_LOW_COPY = re.compile(rb"MemcpyHtoD,0x0*[0-9a-fA-F]{1,8},")
_PUSH = re.compile(rb"\s*'([^']*)'.*?gridDim= ?(\([\d, ]*\))?(?:\s*blockDim ?= ?(\([\d, ]*\)))?")
_LAUNCH = re.compile(rb"(.*) uid: ?(\d{1,18})(?!\d)")


@dataclass(slots=True, eq=False)
class PrintedLaunch:
    """What is printed of a launch before it runs; None and an empty name where it is not."""

    name: str = ""
    grid: Dimensions | None = None
    block: Dimensions | None = None
    trace_id: int | None = None  #: the number of its trace; None where a program is simulated
    uid: int | None = None  #: its number in the run, from 1
    #: whether a trace or a program's own launch announces it; empty where its announcement is missing
    by: Literal["trace", "program", ""] = ""
    #: whether copies before it have filled L2; of addresses above 32 bits the simulator fills none
    is_filled: bool = False


@dataclass(slots=True, eq=False)
class PrintedKernel:
    """What is printed of one launch that has run, or of several that have one block."""

    launches: tuple[PrintedLaunch, ...]  #: each as it was announced; at least one
    uids: tuple[int, ...]  #: the launches' numbers in the run; none where the output does not say
    cycles: int | None  #: how long it ran, to its end or not; None where the output does not say
    instructions: int | None  #: None where it was not simulated to its end
    #: thread blocks that a core holds; as printed last, for it is printed where it changes
    ctas_per_core: int | None
    cores: int | None
    why_cut: str  #: why it was not simulated to its end; empty where it was
    at: int  #: offset of the line that says so, else of its end
    #: what it added to each counter that was asked for; None where that is not known
    added: tuple[int | None, ...] = ()
    # Of its block: the stream, the sum of each counter's lines and how many they are (None where one cannot
    # be read), whether all of it has been printed, and whether a run begins there, or one without its start.
    stream: bytes = b""
    sums: dict[bytes, tuple[int, int] | None] = field(default_factory=dict)
    is_whole: bool = False
    begins: Literal["run", "gap", ""] = ""

    @property
    def name(self) -> str:
        """The names of its launches."""
        return " + ".join(launch.name for launch in self.launches)

    @property
    def ctas(self) -> int | None:
        """The thread blocks of its grids; None where one is not known."""
        grids = [launch.grid for launch in self.launches if launch.grid is not None]
        return sum(map(prod, grids)) if len(grids) == max(len(self.launches), len(self.uids)) else None


@dataclass(slots=True, eq=False)
class PrintedRun:
    """The kernels of an output, in the order in which they ended."""

    kernels: list[PrintedKernel] = field(default_factory=list)
    #: the launches that were announced and have not ended
    waiting: list[PrintedLaunch] = field(default_factory=list)
    #: whether the simulator says so; else it goes on, was killed, or is of a version that does not
    has_ended: bool = False
    together: str = ""  #: why no record is of one kernel alone; empty where kernels ran one after the other
    together_at: int = 0  #: offset of the line that says so
    #: which of the counters that were asked for are printed, and the most lines of each in a block
    seen: dict[bytes, int] = field(default_factory=dict)
    #: why a counter that was asked for cannot be told launch by launch; empty where all can
    no_count: str = ""


def printed_lines(
    pieces: Iterable[bytes], others: Sequence[bytes] = ()
) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield offset, key and text of the lines that say something of a launch, or begin with one of `others`.

    Another thread prints that a kernel is pushed, so that half a line may stand before it.

    Parameters
    ----------
    pieces : of the output, whole lines each.
    """
    keys = sorted({*_KEYS, *others}, key=len, reverse=True)
    first = re.escape(b"".join(sorted({key[:1] for key in keys})))
    # It begins with the end of the line before, which is looked for much faster than a line's start; of most
    # lines the first sign tells that they are none.
    line = re.compile(
        rb"\n(?=[%s \t])[ \t]*(%s)(?=[ \t:=])[ \t]*[:=]?[ \t]*([^\r\n]*)"
        % (first, b"|".join(map(re.escape, keys)))
    )
    push = re.compile(rb"(%s)([^\n]*)" % re.escape(_PUSHED))
    offset = 0
    for piece in pieces:
        text = b"\n" + piece
        found = [(match.start(), match[1], match[2]) for match in line.finditer(text)]
        if _PUSHED in piece:
            found = sorted(found + [(match.start(), match[1], match[2]) for match in push.finditer(text)])
        for start, key, value in found:
            yield offset + start, key, value
        offset += len(piece)


def printed_run(lines: Iterable[tuple[int, bytes, bytes]], counters: Sequence[bytes] = ()) -> PrintedRun:
    """Return what an output says of its launches.

    Parameters
    ----------
    lines : those of `printed_lines`; they are read once and not kept.
    counters : what else to return of each launch, by the name that is printed.
    """
    reading = _Reading(frozenset(counters))
    for at, key, text in lines:
        reading.take(at, key, text)
    run = reading.end()
    columns = [_added(run, counter) for counter in counters]
    for kernel, *added in zip(run.kernels, *columns, strict=True) if columns else ():
        kernel.added = tuple(added)
    return run


@dataclass(slots=True, eq=False)
class _Reading:
    """A run while its lines are read."""

    counters: frozenset[bytes]
    run: PrintedRun = field(default_factory=PrintedRun)
    #: Offset of the line that is read; options of the run and the last number of each other key
    at: int = 0
    numbers: dict[bytes, int] = field(default_factory=dict)
    #: The kernel whose block is read, once its instructions are known; what is known of the next one
    open: PrintedKernel | None = None
    name: str = ""
    uids: tuple[int, ...] = ()
    stream: bytes = b""
    lacks_lines: bool = False
    begins: Literal["run", "gap", ""] = "run"
    #: Of the last kernel, None where its line is missing; of all up to it; whether its block says the latter
    cycles: int | None = None
    total_cycles: int = 0
    has_totals: bool = True
    has_block_ended: bool = False
    is_broken_off: bool = False
    are_uids_printed: bool = False
    # Of what is announced: the program's launches so far, the last trace file, whether a copy filled L2.
    are_numbered: bool = False
    pushed: int = 0
    trace_file: int | None = None
    has_copy: bool = False

    def take(self, at: int, key: bytes, text: bytes) -> None:
        """Take one line."""
        self.at = at
        if key in _OF_ANNOUNCEMENT:
            self.run.has_ended = False
            self._announce(key, text)
        elif key == _NAME:
            self._close(is_whole=True)
            self.name, self.uids, self.lacks_lines = _text(text), (), False
            self.numbers.pop(CYCLES, None)
        elif key == _UID:
            self._close(is_whole=True)
            self.uids = tuple(int(number) for number in _NUMBER.findall(text))
            self.are_uids_printed = True
        elif key == _STREAM:
            self.stream = text.strip()
        elif key == _BREAK:
            # Newer versions have printed its cycles up to there; of older ones it is still announced alone.
            if self.run.waiting and not (self.run.kernels and self.run.kernels[-1].why_cut):
                self.is_broken_off = True
            else:
                self._cut(_BROKEN_OFF)
        elif key == _EXIT:
            self.run.has_ended = self.has_block_ended = True
        elif number := _WHOLE_NUMBER.match(text):
            self._take_number(key, int(number[1]))
        if self.open is not None and key in self.counters:
            self._count(self.open, key, text)

    def _announce(self, key: bytes, text: bytes) -> None:
        waiting = self.run.waiting
        if key == _COPY:
            self.has_copy |= _LOW_COPY.match(text) is not None
        elif key == _PROCESSING:
            found = _TRACE_FILE.match(text.strip())
            self.trace_file = int(found[1]) if found else None
        elif key == _TRACED:
            traced = PrintedLaunch(_text(text), trace_id=self.trace_file, by="trace", is_filled=self.has_copy)
            waiting.append(traced)
            self.trace_file, self.has_copy = None, False
        elif key == _PUSHED and (push := _PUSH.match(text)):
            self.pushed += 1
            grid, block = (_dimensions(sizes or b"") for sizes in push.groups()[1:])
            waiting.append(PrintedLaunch(_text(push[1]), grid, block, uid=self.pushed, by="program"))
        elif key == _LAUNCHED and (launch := _LAUNCH.match(text)):
            self.are_numbered = True
            # The last one: the line with the number of an earlier one may be missing.
            for each in reversed(waiting):
                if each.uid is None and each.name == _text(launch[1]):
                    each.uid = int(launch[2])
                    break
        elif waiting and key in {_GRID, _BLOCK}:
            setattr(waiting[-1], "grid" if key == _GRID else "block", _dimensions(text))
        elif waiting and key == _TRACE_ID and (number := _NUMBER.match(text)):
            waiting[-1].trace_id = int(number[0])

    def _take_number(self, key: bytes, number: int) -> None:
        if key == CYCLES and CYCLES in self.numbers:
            self.lacks_lines = True
        self.numbers[key] = number
        if key == CYCLES:
            self._close(is_whole=True)
        elif key == INSTRUCTIONS:
            self._finish()
        elif key == _CONCURRENT and number == 1:
            self._refuse("-gpgpu_concurrent_kernel_sm 1")
        elif key == _SIMULATION_RATE:
            self.has_block_ended = True
        elif key in _TOTAL_OF_LIMIT.values():
            self.has_totals = True
            if key == _TOTAL_CYCLES:
                self._follow_on(number)
            for limit, compared in _TOTAL_OF_LIMIT.items():
                if compared == key and 0 < (most := self.numbers.get(limit, 0)) <= number:
                    self._cut(f"{limit.decode()} {most} ended it")

    def _follow_on(self, total_cycles: int) -> None:
        """Check that the run's total continues that of the block before: else counters do not either."""
        before = None if self.cycles is None else total_cycles - self.cycles
        if self.open is None:
            self.begins = "gap"
        elif before != self.total_cycles:
            self.open.begins = "run" if before == 0 else "gap"
            if len(self.run.kernels) > 1 and (before or 0) > self.total_cycles:
                # What was announced before the gap may be another launch than the one that ended after it.
                self._cut(_LACKS_LINES)
        self.total_cycles = total_cycles

    def _finish(self) -> None:
        """Add the kernel, or the kernels of one block, whose cycles and instructions have been read."""
        self._close(is_whole=True)
        if self.run.kernels and not (self.name or self.uids or any(map(self.numbers.get, _CTA_LIMITS))):
            self._refuse("a block has no kernel_name")
        if any(after - uid != 1 for uid, after in zip(self.uids, self.uids[1:], strict=False)):
            self._refuse(f"launches {', '.join(map(str, self.uids))} have one block")
        names = self.name.split() if len(self.uids) > 1 else [self.name]
        uids = self.uids if len(self.uids) == len(names) else (None,) * len(names)
        if self.name and not self.uids and self.are_uids_printed:
            launches: tuple[PrintedLaunch, ...] = (PrintedLaunch(self.name),)
        else:
            launches = tuple(self._ended(name, uid) for name, uid in zip(names, uids, strict=True))
        first = launches[0]
        if not first.by and not {each.name for each in self.run.waiting}.isdisjoint(self.name.split()):
            self._refuse("a block has the names of several")
        # A line may be missing from the next block: what this one says is not of it.
        self.cycles = self.numbers.pop(CYCLES, None)
        why = _LACKS_LINES if self.lacks_lines else _BROKEN_OFF if self.is_broken_off else ""
        self.open = self._add(launches, self.uids or (() if first.uid is None else (first.uid,)), why)
        self.open.stream, self.open.begins = self.stream, self.begins
        self.name, self.uids, self.begins = "", (), ""
        self.has_totals = self.has_block_ended = False

    def _ended(self, name: str, uid: int | None) -> PrintedLaunch:
        """Take a launch that has ended from those announced; one without a name is the first of them.

        A trace that was announced with another number is not it; programs are counted from the first launch
        that is printed, so that their numbers may be others where the beginning is missing.
        """
        fitting = [launch for launch in self.run.waiting if name in {"", launch.name}]
        same = [launch for launch in fitting if uid is not None and launch.uid == uid]
        for launch in same or fitting:
            is_open = launch.uid is None and not self.are_numbered
            if same or uid is None or launch.by == "program" or is_open:
                self.run.waiting.remove(launch)
                return launch
        return PrintedLaunch(name, uid=uid)

    def _add(self, launches: tuple[PrintedLaunch, ...], uids: tuple[int, ...], why_cut: str) -> PrintedKernel:
        clusters = self.numbers.get(_CLUSTERS)
        kernel = PrintedKernel(
            launches=launches,
            uids=uids,
            cycles=self.cycles,
            instructions=None if why_cut else self.numbers.get(INSTRUCTIONS),
            ctas_per_core=self.numbers.get(_CTAS_PER_CORE),
            # A cluster has one core unless said otherwise.
            cores=None if clusters is None else clusters * self.numbers.get(_CORES_PER_CLUSTER, 1),
            why_cut=why_cut,
            at=self.at,
        )
        self.run.kernels.append(kernel)
        return kernel

    def _close(self, *, is_whole: bool) -> None:
        """Take what is printed from here on for no more of the last kernel."""
        if self.open is not None:
            self.open.is_whole = is_whole
        self.open = None

    def _cut(self, why: str) -> None:
        """Mark the last kernel as not simulated to its end; what ended it is said first."""
        if self.run.kernels and not (why == _BROKEN_OFF and self.run.kernels[-1].why_cut):
            last = self.run.kernels[-1]
            last.why_cut, last.instructions, last.at = why, None, self.at

    def _refuse(self, why: str) -> None:
        if not self.run.together:
            self.run.together, self.run.together_at = f"kernels ran concurrently ({why})", self.at

    def _count(self, kernel: PrintedKernel, key: bytes, text: bytes) -> None:
        """Add a line of a counter to its sum in a block."""
        is_no_count = _NO_COUNT.match(text) is not None
        count = None if is_no_count else _WHOLE_NUMBER.match(text)
        if is_no_count and not self.run.no_count:
            self.run.no_count = f"{key.decode()} is {_text(text)!r} there, a ratio or a text and no count"
        so_far = kernel.sums.get(key, (0, 0))
        # Where it is no count another thread's text stands in the line.
        both = None if count is None or so_far is None else (so_far[0] + int(count[1]), so_far[1] + 1)
        kernel.sums[key] = both
        self.run.seen[key] = max(self.run.seen.get(key, 0), both[1] if both else 0)

    def end(self) -> PrintedRun:
        """Return the run; the first launch that is announced alone was running when the output ended."""
        self._close(is_whole=self.has_block_ended)
        if any(map(self.numbers.get, _TOTAL_OF_LIMIT)) and not (
            self.has_totals or self.run.kernels[-1].why_cut
        ):
            # Whether a limit ended it stands in the lines that are missing.
            self._cut(STILL_RUNNING)
        for launch in self.run.waiting[:1]:
            self.cycles = None
            why = _BROKEN_OFF if self.is_broken_off else STILL_RUNNING
            self._add((launch,), () if launch.uid is None else (launch.uid,), why)
        return self.run


def _added(run: PrintedRun, counter: bytes) -> Iterator[int | None]:
    """Yield what each kernel added to a counter; known where as many lines are printed as ever are."""
    before: dict[bytes, int | None] = {}
    start: int | None = None
    for kernel in run.kernels:
        if kernel.begins:
            before.clear()
            start = 0 if kernel.begins == "run" else None
        stream = kernel.stream if _BY_KIND in counter else b""
        total: int | None = None
        if kernel.is_whole and (found := kernel.sums.get(counter)) and found[1] == run.seen[counter]:
            total = found[0]
        elif kernel.is_whole and _BY_KIND in counter and counter not in kernel.sums and stream not in before:
            # Counts by kind of access are printed from the first launch on that they are not 0 of.
            total = 0
        known = before.get(stream, start)
        before[stream] = total
        if known is not None and total is not None and total < known and not run.no_count:
            run.no_count = (
                f"{counter.decode()} falls there from {known} to {total}: it is no total of the run"
            )
        yield None if known is None or total is None else total - known


def _dimensions(text: bytes) -> Dimensions | None:
    """Return a grid or block written as (x,y,z)."""
    sizes = [int(size) for size in _NUMBER.findall(text)]
    return (sizes[0], sizes[1], sizes[2]) if len(sizes) == 3 else None


def _text(text: bytes) -> str:
    return text.strip().decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, eq=False)
class LoggedLaunches:
    """The launches of a log that ran to their end, in its order."""

    names: list[str]
    #: (n,) that of the trace where there is one, else the launch's in the run, from 1; None where not every
    #: launch has one of its own
    number: IntArray | None
    sizes: IntArray  #: (n, 6) x, y, z of the grid, then of the block; 0 where it is not printed
    cycles: IntArray
    instructions: IntArray
    unfinished: int  #: how many launches had not ended


def recognise(file: InputFile) -> bool:
    """Return whether the head has a launch that ended, or the simulator's banner."""
    return _SIGNS.search(file.head) is not None


def logged_launches(file: InputFile, progress: Progress | None) -> LoggedLaunches:
    """Return the launches that ran to their end.

    Raises ProfileError: there is none; kernels ran at once, a limit ended one, or one count is of several.
    """
    run = printed_run(printed_lines(text for _, text in pieces(file, progress)))
    whole = [
        kernel for kernel in run.kernels if kernel.why_cut != STILL_RUNNING and kernel.cycles is not None
    ]
    wrong = [(run.together_at, f"{run.together}, so that no count is of one alone")] if run.together else []
    for kernel in whole:
        if kernel.why_cut:
            wrong.append((kernel.at, f"not every launch is known whole: {kernel.why_cut}"))
        elif len(kernel.uids) > 1:
            wrong.append((kernel.at, f"launches {' and '.join(map(str, kernel.uids))} are printed as one"))
    if wrong:
        at, message = min(wrong)
        raise ProfileError(message, path=file.path, row=lines_before(file, at) + 1, remedy=_ALONE)
    if not whole:
        raise ProfileError(_NOTHING[0], path=file.path, remedy=_NOTHING[1])
    launches = [kernel.launches[0] for kernel in whole]
    number = np.array([each.trace_id or each.uid or 0 for each in launches], dtype=np.int64)
    rows = [
        (*(each.grid or (0,) * 3), *(each.block or (0,) * 3), kernel.cycles, kernel.instructions or 0)
        for each, kernel in zip(launches, whole, strict=True)
    ]
    table = np.array(rows, dtype=np.int64)
    return LoggedLaunches(
        names=[each.name for each in launches],
        number=number if number.all() and len(np.unique(number)) == len(number) else None,
        sizes=table[:, :6],
        cycles=table[:, 6],
        instructions=table[:, 7],
        unfinished=len(run.waiting) + len(run.kernels) - len(whole) - bool(run.waiting),
    )


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches with their cycles, as nanoseconds, and their instructions.

    Raises ProfileError: see `logged_launches`.
    """
    found = logged_launches(file, progress)
    launches = Launches(file, kernels)
    mangled = [name if name.startswith("_Z") else None for name in found.names]
    launches.add(
        LaunchColumns(
            name=kernels.names.intern(found.names, mangled=mangled),
            duration_ns=found.cycles,
            # A list of launches need not be in the order of the program; their numbers are.
            order=found.number,
            grid=list(found.sizes.T[:3]),
            block=list(found.sizes.T[3:]),
        )
    )
    note = f"{file.path}: a cycle of the simulator counts as a nanosecond"
    if found.unfinished:
        note += f"; {counted(found.unfinished, 'launch', 'launches')} had not ended"
    facts = RecordingFacts(launch_order="file", product="GPGPU-Sim or Accel-Sim")
    metrics = {"instructions": found.instructions.astype(np.float64)}
    made = launches.finish(FORMAT, facts, _NOTHING, metrics)
    made.notes = (note,)
    return made
