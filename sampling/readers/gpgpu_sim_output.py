"""What GPGPU-Sim and Accel-Sim print of each launch, and that as a profile in which a cycle is a nanosecond.

A launch is announced by ``-kernel name``, ``-kernel id`` and ``-grid dim`` where traces are simulated, by
``pushing kernel`` where a program is; what it took follows in a block of ``kernel_name``,
``kernel_launch_uid``, ``gpu_sim_cycle``, ``gpu_sim_insn`` and totals of the run. Other threads print into
these lines, lines get lost, a run may go on or have been killed: what is not known for sure is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from sampling.errors import ProfileError
from sampling.parallel import Progress
from sampling.profile.profile import Dimensions, KernelTable, Profile
from sampling.readers.feature_table import Durations, FeatureRows, coded_names, measured_profile
from sampling.readers.input_file import InputFile, pieces
from sampling.reduction.launch_list import Features
from sampling.text import counted

FORMAT = "simulator-log"
STILL_RUNNING = "the output ends before it does: the run goes on, or was killed"
_LACKS_LINES = "lines of the output are missing before its end"
_BROKEN_OFF = "the simulator broke it off at its limit of cycles or instructions"
_ALONE = (
    "simulate one kernel after the other: -gpgpu_concurrent_kernel_sm 0, no limits, launches in one stream"
)
_NOTHING = "no launch has ended", "wait until one has"
_TOTALS = "ask for counts that are totals of the run, by their printed names, as L2_total_cache_misses"

CYCLES, INSTRUCTIONS, _TOTAL_CYCLES = b"gpu_sim_cycle", b"gpu_sim_insn", b"gpu_tot_sim_cycle"
_COPY, _TRACE_FILE, _LAUNCHED = b"launching memcpy command", b"Processing kernel", b"launching kernel name"
_TRACED, _TRACE_ID, _GRID, _BLOCK = b"-kernel name", b"-kernel id", b"-grid dim", b"-block dim"
_PUSHED = b"GPGPU-Sim PTX: pushing kernel"
_ANNOUNCING = frozenset({_COPY, _TRACE_FILE, _LAUNCHED, _TRACED, _TRACE_ID, _GRID, _BLOCK, _PUSHED})
_NAME, _UID, _STREAM = b"kernel_name", b"kernel_launch_uid", b"kernel_stream_id"
_BREAK, _EXIT = b"GPGPU-Sim: ** break due to reaching", b"GPGPU-Sim: *** exit detected"
_RATE, _CTAS_PER_CORE = b"gpgpu_simulation_rate", b"GPGPU-Sim uArch: CTA/core"
_CONCURRENT = b"-gpgpu_concurrent_kernel_sm"
#: Accel-Sim 2.0 prints it with all options, older ones do not know it
OPTION_OF_NEW = "-gpgpu_n_chiplet_partition"
_CLUSTERS, _CORES_PER_CLUSTER = b"-gpgpu_n_clusters", b"-gpgpu_n_cores_per_cluster"
_CTA_LIMITS = (b"-gpgpu_max_cta", b"-gpgpu_max_completed_cta")
# Each limit at which the simulator ends a launch, and the total that it is compared with.
_TOTAL_OF_LIMIT = {
    b"-gpgpu_max_cycle": _TOTAL_CYCLES,
    b"-gpgpu_max_insn": b"gpu_tot_sim_insn",
    **dict.fromkeys(_CTA_LIMITS, b"gpu_tot_issued_cta"),
}
# CTA/core is printed where it changes.
_OPTIONS = frozenset(
    {OPTION_OF_NEW.encode(), _CONCURRENT, _CLUSTERS, _CORES_PER_CLUSTER, _CTAS_PER_CORE, *_TOTAL_OF_LIMIT}
)
# What follows a key on its own line; a line of the user's own may begin with the same word.
_NUMBERS = frozenset({CYCLES, INSTRUCTIONS, *_TOTAL_OF_LIMIT.values()})
_FOLLOWS = {
    **dict.fromkeys(_OPTIONS, rb"[ \t]+\d"),
    **dict.fromkeys(_NUMBERS, rb"[ \t]*=[ \t]*\d"),
    **dict.fromkeys((_NAME, _UID, _STREAM, _RATE, _CTAS_PER_CORE), rb"[ \t]*="),
    **dict.fromkeys((_TRACED, _TRACE_ID, _GRID, _BLOCK), rb"[ \t]*="),
    **dict.fromkeys((_COPY, _LAUNCHED), rb"[ \t]*:"),
    **dict.fromkeys((_TRACE_FILE, _BREAK, _EXIT), rb"[ \t]"),
}
_SIGNS = re.compile(
    rb"^[ \t]*gpu_sim_cycle = +\d|\*\*\* GPGPU-Sim Simulator Version|^Accel-Sim \[build", re.MULTILINE
)
# More digits are no number that 64 bits hold. What another thread prints into one begins with no blank.
_NUMBER = re.compile(rb"(?<!\d)\d{1,18}(?!\d)")
_WHOLE_NUMBER = re.compile(rb"(\d{1,18})(?=[\s,{]|$)")
# Counts of this kind run on within a stream, and are printed from the first launch on that has any.
_BY_KIND = b"_stats_breakdown["
_NUMBERED_FILE = re.compile(rb".*kernel-(\d{1,18})(?!\d)")
# Before 2.0 the simulator fills L2 on a copy to an address of 32 bits alone.
_LOW_COPY = re.compile(rb"MemcpyHtoD,0x0*[0-9a-fA-F]{1,8},")
_PUSH = re.compile(rb"\s*'([^']*)'.*?gridDim= ?(\([\d, ]*\))?(?:\s*blockDim ?= ?(\([\d, ]*\)))?")
_LAUNCH = re.compile(rb"(.*) uid: ?(\d{1,18})(?!\d)")
# An option of the configuration; what it means comes behind its value: a sentence that begins with an option
# is none. From the first launch on nothing is configuration any more.
_OPTION = re.compile(rb"^(-[a-z]\w*(?::\w+)?)[ \t]+([^\s#]\S*)[ \t]*+(?=[#\r\n]|\Z)", re.MULTILINE)
_FIRST_LAUNCH = re.compile(rb"^[ \t]*+-kernel name = |GPGPU-Sim PTX: pushing kernel '", re.MULTILINE)


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
    is_filled: bool = False  #: whether copies before it have filled L2


@dataclass(slots=True, eq=False)
class PrintedKernel:
    """What is printed of one launch that has run, or of several that have one block."""

    launches: tuple[PrintedLaunch, ...]  #: at least one
    uids: tuple[int, ...]  #: the launches' numbers in the run; none where the output does not say
    row: int  #: where it ended, or what ended it
    cycles: int | None = None  #: how long it ran, to its end or not
    instructions: int | None = None  #: None where it was not simulated to its end
    ctas_per_core: int | None = None
    cores: int | None = None
    why_cut: str = ""  #: why it is not known whole; empty where it is
    #: what it added to each counter that was asked for; None where that is not known
    added: tuple[int | None, ...] = ()
    # Of its block: the stream, the counts of each counter's lines (none if one cannot be read), whether all
    # of it is there, and whether a "run" begins there, or one without its start, a "gap".
    stream: bytes = b""
    counts: dict[bytes, list[int]] = field(default_factory=dict)
    is_whole: bool = False
    begins: str = ""

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

    #: the last may be the first of those that wait
    kernels: list[PrintedKernel] = field(default_factory=list)
    waiting: list[PrintedLaunch] = field(default_factory=list)  #: announced, and not ended
    has_ended: bool = False  #: whether the simulator says so
    options: dict[str, str] = field(default_factory=dict)  #: the configuration, by names with the hyphen


def printed_lines(
    pieces: Iterable[bytes], more_keys: Sequence[bytes] = ()
) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield row, key and text of the lines that say something of a launch, or begin with one of `more_keys`.

    These have their colon at the end, or are followed by one or by an equals sign.
    """
    keys = {key: rb"" if key.endswith(b":") else rb"[ \t]*[:=]" for key in more_keys} | _FOLLOWS
    first = re.escape(b"".join(sorted({key[:1] for key in keys})))
    lines = (rb"%s(?=%s)" % (re.escape(key), follows) for key, follows in keys.items())
    # The end of the line before is found much faster than a line's start, and most lines differ in a sign.
    line = re.compile(rb"\n(?=[%s \t])[ \t]*(%s)[ \t]*[:=]?[ \t]*([^\r\n]*)" % (first, b"|".join(lines)))
    # Another thread prints it, so that half a line may stand before it.
    push = re.compile(rb"(%s)([^\n]*)" % re.escape(_PUSHED))
    row = 1
    for piece in pieces:
        text = b"\n" + piece
        matches = [(match.start(), match[1], match[2]) for match in line.finditer(text)]
        if _PUSHED in piece:
            matches = sorted(matches + [(match.start(), match[1], match[2]) for match in push.finditer(text)])
        counted_to = 1
        for start, key, value in matches:
            row += text.count(b"\n", counted_to, start + 1)
            counted_to = start + 1
            yield row, key, value
        row += text.count(b"\n", counted_to)


def printed_configuration(pieces: Iterable[bytes]) -> dict[str, str]:
    """Return the options that are printed before the first launch, by their names with the hyphen."""
    options: dict[str, str] = {}
    for _ in _noting_options(pieces, options):
        pass
    return options


def _noting_options(pieces: Iterable[bytes], options: dict[str, str]) -> Iterator[bytes]:
    """Yield the pieces, and note the options of the configuration in them; the first of each name counts."""
    has_begun = False
    for text in pieces:
        if not has_begun:
            launch = _FIRST_LAUNCH.search(text)
            has_begun = launch is not None
            for option in _OPTION.finditer(text, 0, launch.start() if launch else len(text)):
                options.setdefault(option[1].decode(), option[2].decode("utf-8", "replace"))
        yield text


def read_run(path: str, pieces: Iterable[bytes], counters: Sequence[bytes] = ()) -> PrintedRun:
    """Return what an output says, in pieces of whole lines, of its configuration and its launches.

    Raises ProfileError: see `printed_run`.
    """
    options: dict[str, str] = {}
    run = printed_run(path, printed_lines(_noting_options(pieces, options), counters), counters)
    run.options = options
    return run


# Row and text of each line of a block and of what stands behind it, by its key.
_Lines = dict[bytes, list[tuple[int, bytes]]]


def _number(block: _Lines, key: bytes) -> int | None:
    """Return the number in the last line of a key; None where it cannot be read."""
    match = _WHOLE_NUMBER.match(block[key][-1][1]) if key in block else None
    return int(match[1]) if match else None


def printed_run(
    path: str, lines: Iterable[tuple[int, bytes, bytes]], counters: Sequence[bytes] = ()
) -> PrintedRun:
    """Return what the lines of `printed_lines` say of launches, and what each added to counters.

    Raises ProfileError: kernels ran concurrently; a counter is not printed, or falls.
    """
    reading = _Reading(path, counters)
    block, announcing = _Lines(), list[tuple[bytes, bytes]]()
    for row, key, text in lines:
        if key == _NAME:
            reading.take(block, announcing)
            block, announcing = _Lines(), []
        if key in _ANNOUNCING:
            announcing.append((key, text))
            block.pop(_EXIT, None)
        else:
            block.setdefault(key, []).append((row, text))
    run = reading.end(block, announcing)
    for kernel, *added in zip(
        run.kernels, *(_added(path, run, counter) for counter in counters), strict=True
    ):
        kernel.added = tuple(added)
    return run


class _Reading:
    """A run while its blocks are read."""

    def __init__(self, path: str, counters: Sequence[bytes]) -> None:
        self.path, self.counters = path, counters
        self.run = PrintedRun()
        self.options: dict[bytes, int] = {}
        self.are_uids_printed = False
        self.stream, self.begins, self.total_cycles = b"", "run", 0
        # Of the launches that are announced
        self.pushed = 0
        self.are_numbered = self.has_copy = False
        self.trace_file: int | None = None

    def take(self, block: _Lines, announcing: Sequence[tuple[bytes, bytes]]) -> None:
        """Take a block: its kernel, what it says of the run, and the launches announced behind it."""
        self.are_uids_printed |= _UID in block
        kernel = None if _number(block, INSTRUCTIONS) is None else self.find_kernel(block)
        for key in _OPTIONS & block.keys():
            self.options[key] = _number(block, key) or 0
        if _number(block, _CONCURRENT) == 1:
            raise self.refused(block[_CONCURRENT][-1][0], "-gpgpu_concurrent_kernel_sm 1")
        self.follow_on(kernel, block)
        for limit, key in _TOTAL_OF_LIMIT.items():
            total, limit_count = _number(block, key), self.options.get(limit, 0)
            if total is not None and 0 < limit_count <= total:
                self.cut(f"{limit.decode()} {limit_count} ended it", block[key][-1][0])
        if _BREAK in block and not (self.run.kernels and self.run.kernels[-1].why_cut):
            self.cut(_BROKEN_OFF, block[_BREAK][0][0])
        for key, text in announcing:
            self.announce(key, text)

    def announce(self, key: bytes, text: bytes) -> None:
        """Take a line that is printed before its launch runs."""
        if key == _COPY:
            self.has_copy |= OPTION_OF_NEW.encode() in self.options or _LOW_COPY.match(text) is not None
        elif key == _TRACE_FILE:
            match = _NUMBERED_FILE.match(text.rpartition(b"/")[2])
            self.trace_file = int(match[1]) if match else self.trace_file
        elif key == _TRACED:
            launch = PrintedLaunch(_text(text), trace_id=self.trace_file, by="trace")
            launch.is_filled = self.has_copy
            self.run.waiting.append(launch)
            self.trace_file, self.has_copy = None, False
        elif key == _PUSHED and (push := _PUSH.match(text)):
            self.pushed += 1
            grid, block = (_dimensions(size or b"") for size in push.groups()[1:])
            self.run.waiting.append(PrintedLaunch(_text(push[1]), grid, block, uid=self.pushed, by="program"))
        elif key == _LAUNCHED and (launched := _LAUNCH.match(text)):
            self.are_numbered = True
            name = _text(launched[1])
            # The last one: the line with the number of an earlier one may be missing.
            for launch in [
                launch for launch in self.run.waiting if launch.uid is None and launch.name == name
            ][-1:]:
                launch.uid = int(launched[2])
        elif self.run.waiting and key in {_GRID, _BLOCK}:
            setattr(self.run.waiting[-1], "grid" if key == _GRID else "block", _dimensions(text))
        elif self.run.waiting and key == _TRACE_ID and (number := _NUMBER.match(text)):
            self.run.waiting[-1].trace_id = int(number[0])

    def ended(self, name: str, uid: int | None) -> PrintedLaunch:
        """Take away a launch that has ended; one without a name is the first that waits.

        A trace that was announced with another number is not it. Of programs numbers may be others, for they
        count from the first launch that is printed.
        """
        fitting = [launch for launch in self.run.waiting if name in {"", launch.name}]
        same = [launch for launch in fitting if uid is not None and launch.uid == uid]
        for launch in same or fitting:
            is_open = launch.uid is None and not self.are_numbered
            if same or uid is None or launch.by == "program" or is_open:
                self.run.waiting.remove(launch)
                return launch
        return PrintedLaunch(name, uid=uid)

    def find_kernel(self, block: _Lines) -> PrintedKernel:
        """Add the kernel, or the kernels, of a block."""
        row = block[INSTRUCTIONS][-1][0]
        self.stream = block[_STREAM][-1][1].strip() if _STREAM in block else self.stream
        name = _text(block[_NAME][0][1]) if _NAME in block else ""
        uids = tuple(map(int, _NUMBER.findall(block[_UID][-1][1]))) if _UID in block else ()
        # The simulator leaves out the name of a launch that a limit on thread blocks has ended before.
        if self.run.kernels and not (name or uids or any(map(self.options.get, _CTA_LIMITS))):
            raise self.refused(row, "a block has no kernel_name")
        if any(after - uid != 1 for uid, after in pairwise(uids)):
            raise self.refused(row, f"launches {', '.join(map(str, uids))} have one block")
        names = name.split() if len(uids) > 1 else [name]
        if name and not uids and self.are_uids_printed:
            launches = [PrintedLaunch(name)]
        else:
            launch_uids = uids if len(uids) == len(names) else (None,) * len(names)
            launches = [self.ended(*arguments) for arguments in zip(names, launch_uids, strict=True)]
        if not launches[0].by and {launch.name for launch in self.run.waiting} & set(name.split()):
            raise self.refused(row, "a block has the names of several")
        kernel = self.add(launches, row, uids)
        kernel.cycles, kernel.instructions = _number(block, CYCLES), _number(block, INSTRUCTIONS)
        kernel.stream, kernel.begins, kernel.is_whole = self.stream, self.begins, True
        for counter in self.counters:
            if counter in block:
                # Another thread's text may stand in a line.
                matches = [_WHOLE_NUMBER.match(text) for _, text in block[counter]]
                kernel.counts[counter] = [int(match[1]) for match in matches if match] if all(matches) else []
        return kernel

    def add(self, launches: list[PrintedLaunch], row: int, uids: tuple[int, ...] = ()) -> PrintedKernel:
        """Add a kernel of these launches."""
        uid, clusters = launches[0].uid, self.options.get(_CLUSTERS)
        kernel = PrintedKernel(tuple(launches), uids or (() if uid is None else (uid,)), row)
        kernel.ctas_per_core = self.options.get(_CTAS_PER_CORE)
        if clusters is not None:
            # A cluster has one core unless said otherwise.
            kernel.cores = clusters * self.options.get(_CORES_PER_CLUSTER, 1)
        self.run.kernels.append(kernel)
        return kernel

    def follow_on(self, kernel: PrintedKernel | None, block: _Lines) -> None:
        """Check that the run's total continues that of the block before: else counters do not either."""
        total = _number(block, _TOTAL_CYCLES)
        if kernel is None:
            self.begins = self.begins if total is None else "gap"
        else:
            self.begins = ""
            before = -1 if kernel.cycles is None or total is None else total - kernel.cycles
            if total is not None and before != self.total_cycles:
                kernel.begins = "run" if before == 0 else "gap"
            # Another launch may have been announced before a gap than ended after it.
            lacks_block = before > self.total_cycles and len(self.run.kernels) > 1
            if lacks_block or any(len(block.get(key, ())) > 1 for key in (_UID, CYCLES, INSTRUCTIONS)):
                self.cut(_LACKS_LINES, kernel.row)
        self.total_cycles = self.total_cycles if total is None else total

    def cut(self, reason: str, row: int) -> None:
        """Mark the last kernel as not simulated to its end."""
        for last in self.run.kernels[-1:]:
            last.why_cut, last.instructions, last.row = reason, None, row

    def refused(self, row: int, reason: str) -> ProfileError:
        """Return the error for kernels that ran at once."""
        message = f"kernels ran concurrently ({reason}), so that no count is of one alone"
        return ProfileError(message, path=self.path, row=row, remedy=_ALONE)

    def end(self, block: _Lines, announcing: Sequence[tuple[bytes, bytes]]) -> PrintedRun:
        """Return the run; the first launch that is announced alone was running when the output ended."""
        self.take(block, announcing)
        run, row = self.run, max((lines[-1][0] for lines in block.values()), default=0)
        if _number(block, INSTRUCTIONS) is not None:
            run.kernels[-1].is_whole = bool({_RATE, _EXIT} & block.keys())
            has_limit = any(map(self.options.get, _TOTAL_OF_LIMIT))
            if has_limit and not run.kernels[-1].why_cut and not _TOTAL_OF_LIMIT.values() & block.keys():
                # Whether a limit ended it stands in the lines that are missing.
                self.cut(STILL_RUNNING, row)
        run.has_ended = _EXIT in block
        for launch in run.waiting[:1]:
            self.add([launch], row)
            self.cut(STILL_RUNNING, row)
        return run


def _added(path: str, run: PrintedRun, counter: bytes) -> list[int | None]:
    """Return what each kernel added to a counter; known where as many lines are printed as ever are."""
    printed = [kernel.counts[counter] for kernel in run.kernels if counter in kernel.counts]
    if not printed and any(kernel.cycles for kernel in run.kernels):
        message = f"no counter {counter.decode()!r} is printed there"
        raise ProfileError(message, path=path, remedy=_TOTALS)
    longest = max(map(len, printed), default=0)
    is_by_kind = _BY_KIND in counter
    added: list[int | None] = []
    before: dict[bytes, int | None] = {}
    start: int | None = None
    for kernel in run.kernels:
        if kernel.begins:
            before.clear()
            start = 0 if kernel.begins == "run" else None
        stream = kernel.stream if is_by_kind else b""
        counts, total = kernel.counts.get(counter), None
        if kernel.is_whole and counts is not None:
            total = sum(counts) if len(counts) == longest else None
        elif kernel.is_whole and is_by_kind and stream not in before:
            total = 0
        size = before.get(stream, start)
        before[stream] = total
        if size is not None and total is not None and total < size:
            message = f"{counter.decode()} falls there from {size} to {total}: it is no total of the run"
            raise ProfileError(message, path=path, row=kernel.row, remedy=_TOTALS)
        added.append(None if size is None or total is None else total - size)
    return added


def _dimensions(text: bytes) -> Dimensions | None:
    """Return a grid or block written as (x,y,z)."""
    sizes = [int(size) for size in _NUMBER.findall(text)]
    return (sizes[0], sizes[1], sizes[2]) if len(sizes) == 3 else None


def _text(text: bytes) -> str:
    return text.strip().decode("utf-8", "replace")


def recognise(file: InputFile) -> bool:
    """Return whether the head has a launch that ended, or the simulator's banner."""
    return _SIGNS.search(file.head) is not None


class LoggedLaunches(NamedTuple):
    """The launches of a log that ran to their end, by their numbers where each has one of its own."""

    rows: FeatureRows
    unfinished: int  #: how many launches had not ended
    options: Mapping[str, str]  #: the configuration, by names with the hyphen


def logged_launches(file: InputFile, progress: Progress | None) -> LoggedLaunches:
    """Return the launches that ran to their end.

    Raises ProfileError: there is none; kernels ran at once, a limit ended one, or one count is of several.
    """
    run = read_run(file.path, (text for _, text in pieces(file, progress)))
    finished = [
        kernel for kernel in run.kernels if kernel.why_cut != STILL_RUNNING and kernel.cycles is not None
    ]
    for kernel in finished:
        message = kernel.why_cut and f"not every launch is known whole: {kernel.why_cut}"
        if len(kernel.uids) > 1:
            message = message or f"launches {' and '.join(map(str, kernel.uids))} are printed as one"
        if message:
            raise ProfileError(message, path=file.path, row=kernel.row, remedy=_ALONE)
    if not finished:
        raise ProfileError(_NOTHING[0], path=file.path, remedy=_NOTHING[1])
    launches = [kernel.launches[0] for kernel in finished]
    number = np.array([kernel.trace_id or kernel.uid or 0 for kernel in launches], dtype=np.int64)
    sizes = np.array([(*(kernel.grid or (0,) * 3), *(kernel.block or (0,) * 3)) for kernel in launches])
    names, name = coded_names([kernel.name for kernel in launches])
    units = {"instructions": "inst", "cycles": "cycle"}
    metrics = {metric: np.array([getattr(kernel, metric) for kernel in finished], float) for metric in units}
    rows = FeatureRows(
        path=file.path,
        format=FORMAT,
        line=np.arange(1, len(finished) + 1),
        features=Features(metrics, units),
        names=names,
        name=name,
        grid=sizes[:, :3],
        block=sizes[:, 3:],
    )
    if number.all() and len(np.unique(number)) == len(number):
        rows = replace(rows, launch_number=number - 1).take(np.argsort(number))
    unfinished = len(run.waiting) + len(run.kernels) - len(finished) - bool(run.waiting)
    return LoggedLaunches(rows, unfinished, run.options)


def read(file: InputFile, kernels: KernelTable, progress: Progress | None) -> Profile:
    """Return the launches in the order of their numbers, with their cycles, as nanoseconds.

    Raises ProfileError: see `logged_launches`.
    """
    rows, unfinished, _ = logged_launches(file, progress)
    note = "a cycle of the simulator counts as a nanosecond"
    note += f"; {counted(unfinished, 'launch', 'launches')} had not ended" if unfinished else ""
    durations = Durations("cycles", rows.features.metrics["cycles"], note, "GPGPU-Sim or Accel-Sim")
    return measured_profile(file, kernels, rows, durations)
