"""What Accel-Sim's tracer wrote: its lists of launches, and the traces of a plan's launches in a folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from sampling.arrays import dense_codes
from sampling.errors import ProfileError
from sampling.projection import IntervalLog
from sampling.readers.accel_sim_traces import (
    LIST,
    REMEDY,
    find_trace_folder,
    is_stats,
    read_traces,
    stats_rows,
    trace_file,
    trace_head,
)
from sampling.readers.gpgpu_sim_output import OPTION_OF_NEW, printed_configuration
from sampling.readers.input_file import InputFile, open_input, pieces
from sampling.simulators.export import LOADS_FROM, Step
from sampling.simulators.measured_run import SeenKernel, TraceList, parse_dimensions, refuse_other
from sampling.simulators.simulator import TraceListReader
from sampling.text import counted

# Those that the simulator takes.
_READY = re.compile(r"kernel-(\d{1,18})(?:-\S+?)?\.trace(?:g(?:\.xz)?|z)")
_CONTEXT = re.compile(r"-ctx_(0x[0-9a-fA-F]+)")
_LIST_SIGN = re.compile(rb"^(kernel-\d|MemcpyHtoD,)", re.MULTILINE)
_THREADS_OF_WARP = 32
_REMEDY = "trace the program that was profiled, with the script that an export without traces writes"
_LIST_REMEDY = "give a list beside its traces, or the stats.csv that the tracer wrote"


def _traced_kernel(head: Mapping[str, str]) -> SeenKernel:
    grid, block = (parse_dimensions(head.get(key, "")) for key in ("grid dim", "block dim"))
    return SeenKernel(head.get("kernel name", ""), grid, block)


def recognises_list(head: bytes) -> bool:
    """Return whether a file that starts like this is stats.csv, or names traces."""
    return is_stats(head) or _LIST_SIGN.search(head) is not None


def read_list(file: InputFile) -> TraceList:
    """Return the launches of ``stats.csv``, or those of a list of traces, in the list's order.

    Raises ProfileError where there is none, a cell is wrong, or a trace is not there or begins like none.
    """
    rows = stats_rows(file) if is_stats(file.head) else read_traces(file)[0]
    number, name, grid, block = rows.launch_number, rows.name, rows.grid, rows.block
    assert number is not None
    assert name is not None
    assert grid is not None
    assert block is not None
    codes, first_rows = dense_codes([name, *grid.T, *block.T])
    names = [rows.names[code] for code in name[first_rows]]
    shapes = (axes[first_rows].tolist() for axes in (grid, block))
    sizes = ([tuple(size) if any(size) else None for size in shape] for shape in shapes)
    kernels = tuple(map(SeenKernel, names, *sizes))
    return TraceList(file.path, number + 1, 1, codes, kernels)


def read_folder_list(folder: Path) -> TraceList:
    """Return the list in a folder of traces; ProfileError where there is none, or as `read_list`."""
    lists = TRACE_LIST.find_lists(folder)
    if not lists:
        raise ProfileError(f"has no {LIST}", path=folder, remedy=_LIST_REMEDY)
    with open_input(str(lists[0])) as file:
        return read_list(file)


TRACE_LIST = TraceListReader(
    # Newer tracers write stats for each context.
    ("stats.csv", "stats_ctx_*", LIST, "kernelslist"),
    recognises_list,
    read_list,
    form="stats.csv or kernelslist of Accel-Sim's tracer",
)


@dataclass(frozen=True, slots=True)
class TraceFolder:
    """The traces of one context."""

    path: str
    files: Mapping[int, str]  #: name of each trace as a list has it, by its number
    #: the lines of the copies that stand in the list between a trace and the one before it, by its number
    copies: Mapping[int, Sequence[str]]
    #: the number of each launch that the tracer did not skip, by ordinal; None: ordinal + 1
    aligned: Mapping[int, int] | None = None

    def number(self, ordinal: int) -> int:
        """Return the tracer's number of a launch; -1 where the tracer skipped it."""
        if self.aligned is None or ordinal >= LOADS_FROM:
            return ordinal + 1
        return self.aligned.get(ordinal, -1)

    def file(self, number: int) -> Path:
        """Return the file of a trace; ProfileError where it is not there."""
        path = trace_file(Path(self.path), self.files[number])
        if path is None:
            wrong = f"{LIST} names {self.files[number]}, which is not there"
            raise ProfileError(wrong, path=self.path, remedy=_REMEDY)
        return path


def traces_for(path: str, steps: Sequence[Step], aligned: Mapping[int, int] | None = None) -> TraceFolder:
    """Return the traces of a folder that are of some launches, by `TraceFolder.aligned`.

    Raises ProfileError where there are no traces, or those of several contexts, or one of a launch is missing
    or is of another kernel, grid or block.
    """
    folder = _traces_in(path, aligned)
    steps = [step for step in steps if step.ordinal < LOADS_FROM]
    if missing := [step for step in steps if folder.number(step.ordinal) not in folder.files]:
        would = f"would be kernel-{missing[0].ordinal + 1}, which"
        would = "was skipped by the tracer and" if aligned else would
        raise ProfileError(
            f"launch {missing[0].id} {would} is not among the {counted(len(folder.files), 'trace')} from "
            f"kernel-{min(folder.files)} to kernel-{max(folder.files)}; so for "
            f"{counted(len(missing), 'launch', 'launches')} in all",
            path=path,
            remedy=_REMEDY,
        )
    for step in sorted(steps, key=lambda step: step.ordinal):
        if step.launch is not None:
            number = folder.number(step.ordinal)
            head, name = trace_head(folder.file(number)), folder.files[number]
            if (kernel_id := head.get("kernel id", str(number))) != str(number):
                raise ProfileError(f"{name} says that it is kernel id {kernel_id}", path=path, remedy=_REMEDY)
            refuse_other(step.launch, _traced_kernel(head), name, path, _REMEDY)
    return folder


def _traces_in(path: str, aligned: Mapping[int, int] | None) -> TraceFolder:
    place = find_trace_folder(path, LIST)
    # A list of a part of the traces may be there; the others are taken from their files.
    names = sorted(file.name.removesuffix(".gz") for file in place.iterdir())
    text = (place / LIST).read_text(encoding="utf-8", errors="replace") if (place / LIST).is_file() else ""
    files: dict[int, str] = {}
    copies: dict[int, list[str]] = {}
    contexts: set[str | None] = set()
    waiting: list[str] = []
    for line in (*filter(None, map(str.strip, text.split("\n"))), "", *names):
        if line.startswith("Memcpy"):
            waiting.append(line)
        elif not line:
            waiting = []
        elif match := _READY.fullmatch(line):
            files.setdefault(int(match[1]), line)
            context = _CONTEXT.search(line)
            contexts.add(None if context is None else context[1])
            if waiting:
                copies[int(match[1])], waiting = waiting, []
    if len(contexts) != 1:
        raise ProfileError(
            f"has traces of {len(contexts)} contexts" if files else f"has no {LIST} and no kernel-N.traceg",
            path=path,
            remedy="give the folder of one context's traces that post-traces-processing has made ready",
        )
    return TraceFolder(str(place), files, copies, aligned)


def find_simulator(traces: TraceFolder, log: str | None) -> Literal["packed", "new", "old", ""]:
    """Return what tells which Accel-Sim runs traces: 2.0 alone reads packed ones, and a log has its options.

    ``old`` are those before 2.0, which keep 32 bits of an address that is copied to. Raises ProfileError
    where the log has no options.
    """
    if any(name.endswith(".tracez") for name in traces.files.values()):
        return "packed"
    if log is None:
        return ""
    with open_input(log) as file:
        options = printed_configuration(piece for _, piece in pieces(file))
    if not options:
        raise ProfileError("has no configuration", path=log, remedy="give what Accel-Sim printed of a run")
    return "new" if OPTION_OF_NEW in options else "old"


def count_traced_instructions(path: str, logs: Sequence[IntervalLog]) -> list[int | None]:
    """Return the thread instructions of each log's kernel, at most, from ``stats.csv``; None without a count.

    It counts the instructions of warps. A simulator counts those of threads: 32 a warp at most, fewer where a
    block's last warp is not full or lanes are off, which only running them tells.

    Raises ProfileError where the file is damaged or of other kernels, or no log says of which trace it is.
    """
    if all(log.trace_id is None for log in logs):
        raise ProfileError(
            "no kernel of the log says which trace it is of",
            path=path,
            remedy="give the output of Accel-Sim beside its log: it has a line -kernel id for each",
        )
    with open_input(path) as file:
        rows = stats_rows(file)
    assert rows.launch_number is not None
    assert rows.name is not None
    assert rows.block is not None
    threads = np.maximum(rows.block.prod(axis=1), 1)
    upper_bound = rows.features.metrics["instructions"] * (threads / -(-threads // _THREADS_OF_WARP))
    row_of = {number: row for row, number in enumerate((rows.launch_number + 1).tolist())}
    instructions: list[int | None] = []
    for log in logs:
        row = None if log.trace_id is None else row_of.get(log.trace_id)
        instructions.append(None if row is None or np.isnan(upper_bound[row]) else int(upper_bound[row]))
        if row is not None and (name := rows.names[rows.name[row]]) != log.name:
            wrong = f"kernel-{log.trace_id} is {name} there, and {log.name} in the log"
            raise ProfileError(wrong, path=path, remedy=REMEDY)
    return instructions
