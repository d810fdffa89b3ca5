"""What GPGPU-Sim and Accel-Sim print of each launch: its name and grid, what a core holds, how long it took.

Each launch has a header before it runs: ``-kernel name`` and ``-grid dim`` where traces are simulated,
``pushing kernel`` where a program is. What it took follows in a block of ``kernel_name``,
``kernel_launch_uid``, ``gpu_sim_cycle``, ``gpu_sim_insn``. The simulator prints one block for several
launches where they follow each other too closely, and a block without a name for a launch that was printed
before: kernels that ran at once, or one left over by a limit on thread blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sampling.projection.interval_log import KernelFacts

#: A line of the output, as the key that starts it and the text after it.
Line: TypeAlias = tuple[bytes, bytes]

NAME_IN_HEADER = b"-kernel name"
ID_IN_HEADER = b"-kernel id"
GRID_IN_HEADER = b"-grid dim"
PUSHED = b"GPGPU-Sim PTX: pushing kernel"
LAUNCHED = b"launching kernel name"
CTAS_PER_CORE = b"GPGPU-Sim uArch: CTA/core"
NAME = b"kernel_name"
UID = b"kernel_launch_uid"
CYCLES = b"gpu_sim_cycle"
INSTRUCTIONS = b"gpu_sim_insn"
BREAK = b"GPGPU-Sim: ** break due to reaching"
EXIT = b"GPGPU-Sim: *** exit detected"
CLUSTERS = b"-gpgpu_n_clusters"
CORES_PER_CLUSTER = b"-gpgpu_n_cores_per_cluster"
CONCURRENT = b"-gpgpu_concurrent_kernel_sm"
#: Each limit at which the simulator ends a launch, and the total that it is compared with.
_TOTAL_OF_LIMIT = {
    b"-gpgpu_max_cycle": b"gpu_tot_sim_cycle",
    b"-gpgpu_max_insn": b"gpu_tot_sim_insn",
    b"-gpgpu_max_cta": b"gpu_tot_issued_cta",
    b"-gpgpu_max_completed_cta": b"gpu_tot_issued_cta",
}
_TOTALS = tuple(dict.fromkeys(_TOTAL_OF_LIMIT.values()))
_CTA_LIMITS = (b"-gpgpu_max_cta", b"-gpgpu_max_completed_cta")
KEYS = (
    *(NAME_IN_HEADER, ID_IN_HEADER, GRID_IN_HEADER, LAUNCHED, CTAS_PER_CORE, NAME, UID),
    *(CYCLES, INSTRUCTIONS, BREAK, EXIT, CLUSTERS, CORES_PER_CLUSTER, CONCURRENT),
    *(*_TOTAL_OF_LIMIT, *_TOTALS),
)

_NUMBER = re.compile(rb"\d+")
_PUSH = re.compile(rb"\s*'(?P<name>[^']*)'.*?gridDim= ?(?P<grid>\([\d, ]*\))?")
_LAUNCH = re.compile(rb"(?P<name>.*) uid: ?(?P<uid>\d+)")
_STILL_RUNNING = "the output ends before it does: the run goes on, or was killed"
_BROKEN_OFF = "the simulator broke it off at its limit of cycles or instructions"


@dataclass(frozen=True, slots=True)
class SimulatedKernel:
    """What the output says of one launch, or of several that have one block.

    Attributes
    ----------
    facts : no cycles and instructions where it was not simulated to its end.
    uids : the launches' numbers in the run; none where the output does not say.
    trace_id : the number of its trace; None where a program is simulated.
    why_cut : why it was not simulated to its end; empty where it was.
    ran_cycles : how long it ran, to its end or not; None where the output does not say.
    """

    name: str
    facts: KernelFacts
    uids: tuple[int, ...] = ()
    trace_id: int | None = None
    why_cut: str = ""
    ran_cycles: int | None = None


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """The launches of an output, in the order in which they ended.

    Attributes
    ----------
    has_ended : whether the simulator says so; else it goes on, was killed, or is of a version that does not.
    together : why no record is of one kernel alone; empty where kernels ran one after the other.
    """

    kernels: tuple[SimulatedKernel, ...] = ()
    has_ended: bool = False
    together: str = ""


@dataclass(slots=True)
class _Header:
    """A launch that has been announced and not yet ended."""

    name: str
    ctas: int | None = None
    trace_id: int | None = None
    uid: int | None = None


@dataclass(slots=True)
class _Run:
    """A run while its lines are read."""

    kernels: list[SimulatedKernel] = field(default_factory=list)
    headers: list[_Header] = field(default_factory=list)
    numbers: dict[bytes, int] = field(default_factory=dict)
    name: str = ""
    uids: tuple[int, ...] = ()
    pushed: int = 0
    is_broken_off: bool = False
    has_ended: bool = False
    together: str = ""

    @property
    def cores(self) -> int | None:
        """Cores of the GPU: clusters times the cores of each, which is one unless said otherwise."""
        clusters = self.numbers.get(CLUSTERS)
        return None if clusters is None else clusters * self.numbers.get(CORES_PER_CLUSTER, 1)

    def take(self, key: bytes, text: bytes) -> None:
        """Take one line."""
        if key in {NAME_IN_HEADER, ID_IN_HEADER, GRID_IN_HEADER, PUSHED, LAUNCHED}:
            self._take_header(key, text)
        elif key == NAME:
            self.name, self.uids = _text(text), ()
        elif key == UID:
            self.uids = tuple(int(number) for number in _NUMBER.findall(text))
        elif key == BREAK:
            self._break_off()
        elif key == EXIT:
            self.has_ended = True
        elif number := _NUMBER.match(text):
            self._take_number(key, int(number[0]))

    def _take_header(self, key: bytes, text: bytes) -> None:
        """Take a line of what is printed of a launch before it runs."""
        self.has_ended = False
        if key == NAME_IN_HEADER:
            self.headers.append(_Header(_text(text)))
        elif key == PUSHED and (pushed := _PUSH.match(text)):
            self.pushed += 1
            self.headers.append(
                _Header(_text(pushed["name"]), _product(pushed["grid"] or b""), uid=self.pushed)
            )
        elif key == ID_IN_HEADER and self.headers and (number := _NUMBER.match(text)):
            self.headers[-1].trace_id = int(number[0])
        elif key == GRID_IN_HEADER and self.headers:
            self.headers[-1].ctas = _product(text)
        elif key == LAUNCHED and (launch := _LAUNCH.match(text)):
            name = _text(launch["name"])
            header = next((each for each in self.headers if each.uid is None and each.name == name), None)
            if header is not None:
                header.uid = int(launch["uid"])

    def _take_number(self, key: bytes, number: int) -> None:
        self.numbers[key] = number
        if key == INSTRUCTIONS:
            self._finish()
        elif key == CONCURRENT and number == 1:
            self.together = "kernels ran concurrently (-gpgpu_concurrent_kernel_sm 1)"
        elif key in _TOTALS:
            self._cut_at_limit(key, number)

    def _finish(self) -> None:
        """Add the kernel, or the kernels of one block, whose cycles and instructions have been read."""
        if not self.name and not self.uids and not any(self.numbers.get(limit) for limit in _CTA_LIMITS):
            self.together = "kernels ran concurrently (a block of the output has no kernel_name)"
        names = self.name.split() if len(self.uids) > 1 else [self.name]
        uids = self.uids if len(self.uids) == len(names) else (None,) * len(names)
        headers = [self._header_of(name, uid) for name, uid in zip(names, uids, strict=True)]
        known = [header for header in headers if header is not None]
        ctas = [header.ctas for header in known if header.ctas is not None]
        first = known[0] if known else _Header("")
        self._add(
            _Header(
                " + ".join(name or first.name for name in names),
                sum(ctas) if len(ctas) == len(names) else None,
                first.trace_id if len(names) == 1 else None,
            ),
            self.uids or (() if first.uid is None else (first.uid,)),
            _BROKEN_OFF if self.is_broken_off else "",
        )

    def _header_of(self, name: str, uid: int | None) -> _Header | None:
        """Take a launch's header from the list; a launch without a name is the first of them."""
        fitting = [header for header in self.headers if name in {"", header.name}]
        header = next((each for each in fitting if uid is not None and each.uid == uid), None)
        header = header or next(iter(fitting), None)
        if header is not None:
            self.headers.remove(header)
        return header

    def _cut_at_limit(self, total: bytes, number: int) -> None:
        """Mark the last kernel as ended by a limit that the run's total has reached."""
        for limit, compared in _TOTAL_OF_LIMIT.items():
            most = self.numbers.get(limit, 0)
            if compared == total and self.kernels and 0 < most <= number:
                self._cut_last(f"{limit.decode()} {most} ended it")

    def _break_off(self) -> None:
        """Mark the kernel that reached the simulator's own limit as not simulated to its end.

        Newer versions have already printed its cycles and instructions up to there; older ones print none, so
        that its header is still in the list.
        """
        if self.kernels and self.kernels[-1].why_cut:
            return
        if self.headers:
            self.is_broken_off = True
        elif self.kernels:
            self._cut_last(_BROKEN_OFF)

    def _cut_last(self, why: str) -> None:
        last = self.kernels[-1]
        facts = replace(last.facts, cycles=None, instructions=None)
        self.kernels[-1] = replace(last, facts=facts, why_cut=why)

    def _add(self, header: _Header, uids: tuple[int, ...], why_cut: str, *, has_run: bool = True) -> None:
        cycles = self.numbers.get(CYCLES) if has_run else None
        facts = KernelFacts(
            cycles=None if why_cut else cycles,
            instructions=None if why_cut else self.numbers.get(INSTRUCTIONS),
            ctas=header.ctas,
            ctas_per_core=self.numbers.get(CTAS_PER_CORE),
            cores=self.cores,
        )
        self.kernels.append(SimulatedKernel(header.name, facts, uids, header.trace_id, why_cut, cycles))

    def end(self) -> SimulatedRun:
        """Return all kernels; the first with nothing but a header was running when the output ended."""
        for header in self.headers[:1]:
            why = _BROKEN_OFF if self.is_broken_off else _STILL_RUNNING
            uids = () if header.uid is None else (header.uid,)
            self._add(header, uids, why, has_run=False)
        return SimulatedRun(tuple(self.kernels), self.has_ended, self.together)


def simulated_run(lines: Iterable[Line]) -> SimulatedRun:
    """Return what an output says of its launches.

    ``CTA/core`` is printed where it changes, so that a kernel has the last one printed before its end.
    """
    run = _Run()
    for key, text in lines:
        run.take(key, text)
    return run.end()


def _text(text: bytes) -> str:
    return text.strip().decode("utf-8", "replace")


def _product(text: bytes) -> int | None:
    """Return the thread blocks of a grid written as (x,y,z)."""
    sizes = [int(size) for size in _NUMBER.findall(text)]
    return sizes[0] * sizes[1] * sizes[2] if len(sizes) == 3 else None
