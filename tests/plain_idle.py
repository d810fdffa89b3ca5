"""Why a device is idle by plain loops over json and sqlite3, which the program's arrays are held against."""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

CAUSES = ("host", "copy", "turnaround", "dependency", "unknown")


class Kernel(NamedTuple):
    """A kernel; its number is that of the call that issued it."""

    process: int
    device: int
    start: int
    end: int
    number: int | None


class Called(NamedTuple):
    """An API call."""

    process: int
    start: int
    end: int
    name: str
    number: int | None


class Copied(NamedTuple):
    """A copy or set."""

    process: int
    device: int
    start: int
    end: int
    bytes: int
    name: str


class Events(NamedTuple):
    """What a file holds."""

    kernels: list[Kernel]
    calls: list[Called]
    copies: list[Copied]


class Idle(NamedTuple):
    """Nanoseconds of one device, by cause, of gaps below 1 us, and in calls that wait; and of its copies."""

    span: int
    causes: dict[str, int]
    short: int
    synchronising: int
    copying: int
    overlapped: int
    gaps: list[tuple[int, str]]
    #: All of them, also those below 1 us: begin, end, cause or short, and of it in calls that wait.
    spans: list[tuple[int, int, str, int]]

    @property
    def idle(self) -> int:
        return sum(self.causes.values()) + self.short


def waits(name: str) -> bool:
    return "Synchronize" in name or ("Memcpy" in name and "Async" not in name)


def why(events: Events, process: int, device: int) -> Idle:
    """Return why one device is idle."""
    kernels = sorted(
        (kernel for kernel in events.kernels if kernel[:2] == (process, device)),
        key=lambda kernel: kernel.start,
    )
    calls = sorted((call for call in events.calls if call.process == process), key=lambda call: call.start)
    copies = Sorted((copy.start, copy.end) for copy in events.copies if copy[:2] == (process, device))
    first_of: dict[int | None, Called] = {}
    for call in calls:
        first_of.setdefault(call.number, call)
    waiting = Sorted((call.start, call.end) for call in calls if waits(call.name))
    causes, short, synchronising, copying, gaps, spans = dict.fromkeys(CAUSES, 0), 0, 0, 0, [], []
    end, idle = kernels[0].start, []
    for kernel in kernels:
        if kernel.start > end:
            idle.append((end, kernel.start))
            length = kernel.start - end
            call = None if kernel.number is None else first_of.get(kernel.number)
            cause, waited = "short", 0
            if length < 1000:
                short += length
            else:
                cause = cause_of(end, kernel.start, call, copies)
                causes[cause] += length
                gaps.append((length, cause))
                if cause == "host":
                    near = waiting.near(end, kernel.start)
                    inside = [ends for ends in near if end < ends[1] <= kernel.start]
                    waited = covered(inside, end, kernel.start)
                    synchronising += waited
                    copying += covered(copies.near(end, kernel.start), end, kernel.start)
            spans.append((end, kernel.start, cause, waited))
        end = max(end, kernel.end)
    overlapped, idle_times = 0, Sorted(idle)
    for begin, stop in copies.intervals:
        low, high = max(begin, kernels[0].start), min(stop, end)
        overlapped += max(high - low, 0) - covered(idle_times.near(low, high), low, high)
    return Idle(end - kernels[0].start, causes, short, synchronising, copying, overlapped, gaps, spans)


class Sorted:
    """Intervals, of which those near a stretch are looked at."""

    def __init__(self, intervals: Iterable[tuple[int, int]]) -> None:
        self.intervals = sorted(intervals)
        self.longest = max((end - begin for begin, end in self.intervals), default=0)

    def near(self, low: int, high: int) -> list[tuple[int, int]]:
        first = bisect_left(self.intervals, (low - self.longest - 1, 0))
        return self.intervals[first : bisect_left(self.intervals, (high + 1, 0))]


def cause_of(begin: int, end: int, call: Called | None, copies: Sorted) -> str:
    if call is not None and call.end > begin:
        return "host"
    if 2 * covered(copies.near(begin, end), begin, end) > end - begin:
        return "copy"
    if call is None:
        return "unknown"
    return "turnaround" if end - begin < 10_000 else "dependency"


def covered(intervals: Iterable[tuple[int, int]], low: int, high: int) -> int:
    """Return how much of a stretch intervals cover."""
    total, reach = 0, low
    for begin, end in sorted(intervals):
        first, until = max(begin, reach), min(end, high)
        if until > first:
            total, reach = total + until - first, until
    return total


def kineto(path: Path) -> Events:
    """Return the events of a trace of one process."""
    text = path.read_bytes()
    document = json.loads(gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text)
    found = Events([], [], [])
    for event in document["traceEvents"] if isinstance(document, dict) else document:
        category, arguments = (event.get("cat") or "").lower(), event.get("args") or {}
        if event.get("ph") != "X" or "dur" not in event or event["dur"] < 0:
            continue
        start, device = nanoseconds(event["ts"]), arguments.get("device", event["pid"])
        times = start, start + nanoseconds(event["dur"])
        if category == "kernel":
            found.kernels.append(Kernel(0, device, *times, arguments.get("correlation")))
        elif category.endswith(("runtime", "driver")):
            found.calls.append(Called(0, *times, event["name"], arguments.get("correlation")))
        elif category.endswith(("memcpy", "memset")):
            found.copies.append(Copied(0, device, *times, arguments.get("bytes", 0), event["name"]))
    return found


def nanoseconds(microseconds: float) -> int:
    whole = int(microseconds // 1)
    return whole * 1000 + round((microseconds - whole) * 1000)


def execution(path: Path) -> Events:
    """Return the rows of an execution trace of nsys, in nanoseconds: each is a kernel and its call."""
    lines = path.read_text().splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("API Start"))
    found = Events([], [], [])
    for number, row in enumerate(csv.DictReader(lines[head:])):
        process, start, begin = int(row["PID"]), int(row["API Start (ns)"]), int(row["Kernel Start (ns)"])
        end = begin + int(row["Kernel Dur (ns)"])
        found.kernels.append(Kernel(process, int(row["DevId"]), begin, end, number))
        if row["API Dur (ns)"]:
            called = start + int(row["API Dur (ns)"])
            found.calls.append(Called(process, start, called, row["API Function"], number))
    return found


KINDS = {1: "HtoD", 2: "DtoH", 8: "DtoD", 9: "HtoH", 10: "PtoP"}


def nsys(path: Path) -> Events:
    """Return the rows of an nsys database; a process is its globalPid."""
    times = "WHERE start IS NOT NULL AND end >= start"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}

        def rows(table: str, columns: str) -> list[tuple[int, ...]]:
            full = f"CUPTI_ACTIVITY_KIND_{table}"
            return (
                database.execute(f"SELECT {columns} FROM {full} {times}").fetchall() if full in tables else []
            )

        names = dict(database.execute("SELECT id, value FROM StringIds"))
        return Events(
            [Kernel(*row) for row in rows("KERNEL", "globalPid, deviceId, start, end, correlationId")],
            [
                Called(thread & ~0xFFFFFF, start, end, names.get(name, ""), number)
                for thread, start, end, name, number in rows(
                    "RUNTIME", "globalTid, start, end, nameId, correlationId"
                )
            ],
            [
                *(
                    Copied(*row[:5], KINDS.get(row[5], "other"))
                    for row in rows("MEMCPY", "globalPid, deviceId, start, end, bytes, copyKind")
                ),
                *(Copied(*row, "set") for row in rows("MEMSET", "globalPid, deviceId, start, end, bytes")),
            ],
        )


def rocpd(path: Path) -> Events:
    """Return the rows of a rocprofv3 database."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        (suffix,) = [
            name.removeprefix("rocpd_kernel_dispatch")
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if name.startswith("rocpd_kernel_dispatch")
        ]

        def rows(table: str, columns: str) -> list[tuple[int, ...]]:
            try:
                return database.execute(f'SELECT {columns} FROM "rocpd_{table}{suffix}"').fetchall()
            except sqlite3.OperationalError:
                return []

        names, stack = dict(rows("string", "id, string")), dict(rows("event", "id, stack_id"))
        of_marker = {
            event for event, category in rows("event", "id, category_id") if "MARKER" in names[category]
        }
        process = dict(rows("info_process", "id, pid"))
        gpus = {
            agent: index for agent, kind, index in rows("info_agent", "id, type, type_index") if kind != "CPU"
        }
        return Events(
            [
                Kernel(process[pid], gpus[agent], start, end, stack.get(event))
                for pid, agent, start, end, event in rows(
                    "kernel_dispatch", 'pid, agent_id, start, "end", event_id'
                )
            ],
            [
                Called(process[pid], start, end, names[name], stack.get(event))
                for pid, start, end, name, event in rows("region", 'pid, start, "end", name_id, event_id')
                if event not in of_marker and end >= start
            ],
            [
                Copied(process[pid], gpus.get(to, gpus.get(away, -1)), start, end, size, names[name])
                for pid, to, away, start, end, size, name in rows(
                    "memory_copy", 'pid, dst_agent_id, src_agent_id, start, "end", size, name_id'
                )
            ],
        )


def copied(events: Events) -> dict[str, list[int]]:
    """Return count, bytes and nanoseconds of copies by what the tool calls them."""
    figures: dict[str, Counter[str]] = {}
    for copy in events.copies:
        of_name = figures.setdefault(copy.name, Counter())
        of_name.update(count=1, bytes=copy.bytes, ns=copy.end - copy.start)
    return {name: [of["count"], of["bytes"], of["ns"]] for name, of in figures.items()}
