"""Instructions of each kernel from ``stats.csv``, as the tracer of Accel-Sim writes it beside the traces.

One row a trace: ``kernel-7.trace, NAME, ..., #blocks, block_dimX, ..., total_insts, ...``. It counts the
instructions of warps. A simulator counts those of threads: 32 a warp at most, fewer where a block's last warp
is not full or lanes are off, which only running them tells. So what is returned is the most there can be.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from sampling.errors import ProfileError
from sampling.projection.interval_log import IntervalLog
from sampling.readers.accel_sim import BLOCK, ID, INSTRUCTIONS, NAME, REMEDY
from sampling.readers.input_file import open_input
from sampling.simulators.measured_run import LinesSoFar

_THREADS_OF_WARP = 32
_TRACE = re.compile(r"(?:.*/)?kernel-(\d+)\.trace")
_COUNT = re.compile(r"\d{1,17}")


def instructions_of_traces(path: str, logs: Sequence[IntervalLog]) -> list[int | None]:
    """Return the thread instructions of each log's kernel, at most; None for those without a row.

    Raises
    ------
    ProfileError : the file cannot be read, lacks a column, holds no count, is of other kernels, or no log
        says which trace it is of.
    """
    if all(log.trace_id is None for log in logs):
        raise ProfileError(
            "no kernel of the log says which trace it is of",
            path=path,
            remedy="give the output of Accel-Sim beside its log: it has a line -kernel id for each",
        )
    rows = _rows(path)
    return [_of_kernel(path, log, rows) for log in logs]


def _of_kernel(path: str, log: IntervalLog, rows: dict[int, tuple[str, int]]) -> int | None:
    if log.trace_id not in rows:
        return None
    name, instructions = rows[log.trace_id]
    if name != log.name:
        raise ProfileError(
            f"kernel-{log.trace_id} is {name} there, and {log.name} in the log", path=path, remedy=REMEDY
        )
    return instructions


def _rows(path: str) -> dict[int, tuple[str, int]]:
    """Return name and instructions of each trace, by its number."""
    with open_input(path) as file:
        text = b"".join(LinesSoFar(file)).decode("utf-8", "replace")
    reader = csv.DictReader(text.splitlines(), skipinitialspace=True)
    for column in (ID, NAME, INSTRUCTIONS):
        if column not in (reader.fieldnames or ()):
            raise ProfileError(f"no column {column}", path=path, row=1, remedy=REMEDY)
    found: dict[int, tuple[str, int]] = {}
    for row in reader:
        trace, count = _TRACE.match(row[ID] or ""), row[INSTRUCTIONS] or ""
        if trace is None or not _COUNT.fullmatch(count):
            column = ID if trace is None else INSTRUCTIONS
            raise ProfileError(
                f"{row[column]!r} is not {'a trace' if trace is None else 'a count'}",
                path=path,
                row=reader.line_num,
                column=column,
                remedy=REMEDY,
            )
        found[int(trace[1])] = (row[NAME] or "", int(int(count) * _threads_a_warp(row)))
    return found


def _threads_a_warp(row: dict[str, str | None]) -> float:
    """Return the threads of a block over its warps: 32 unless the last warp is not full."""
    sizes = [int(size) for name in BLOCK if _COUNT.fullmatch(size := row.get(name) or "")]
    threads = sizes[0] * sizes[1] * sizes[2] if len(sizes) == len(BLOCK) else 0
    return threads / -(-threads // _THREADS_OF_WARP) if threads else float(_THREADS_OF_WARP)
