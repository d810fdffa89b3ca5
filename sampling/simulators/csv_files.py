"""CSV, for simulators without a module of their own and for scripts: a plan, results, and interval logs.

**A plan** becomes one row a drawn launch, in the order in which they are best simulated; with a cold check
there is a column ``caches``, and a second row of what runs once more after the launches before it.

**Results** have ``id``, a launch id, and one column a metric. An empty cell is a value that is not known. All
columns are metrics but those that say which launch it is, and ``caches``, which says how it found them: cold,
own, warm, after:16.

**An interval log** has one row an interval: ``cycle``, where it ends, counted from the kernel's start, and
its ``instructions`` and ``ctas``. ``kernel`` names the kernel; a new one starts where the name changes or the
cycle falls. What is known of the whole kernel may stand in ``total_cycles``, ``total_instructions``,
``total_ctas``, ``ctas_per_sm`` and ``sms``, the same in every row. All other columns are left alone.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from sampling.arrays import FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.projection import IntervalLog, KernelFacts
from sampling.readers.input_file import InputFile
from sampling.readers.table import Kind, Layout, first_line, header_cells, read_rows, separated_header
from sampling.simulators.export import (
    PREDECESSORS,
    ExportChoices,
    Step,
    checks,
    informative_order,
    shared_out,
)
from sampling.simulators.exporter import Exported, Exporter
from sampling.simulators.measured_run import CYCLES, INSTRUCTIONS, STATE, MeasuredRun, dimensions_text
from sampling.text import nearest

_IDENTITY = ("id", "process", "device", "ordinal", "occurrence")
_LAUNCH_COLUMNS = (*_IDENTITY, "weight", "duration_ns", "grid", "block", "name", "stratum")


class _Table(Exporter):
    """What has no module of its own tells processes and devices by their columns: all stand in one file."""

    def export(self, plan: PlanFile, choices: ExportChoices) -> Exported:
        """Return launches.csv, one file a shard; ``stratum`` is the 0-based index in the plan's list."""
        steps = [Step(each.id, each.ordinal, each, stratum) for stratum, each in informative_order(plan)]
        steps += [step for _, step in checks(plan, choices.cold_check)]
        shards = shared_out([(step,) for step in steps], choices.shards)
        files = []
        for number, shard in enumerate(shards, start=1):
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow((*_LAUNCH_COLUMNS, *(("caches",) if choices.cold_check else ())))
            for step in shard:
                launch = step.launch
                assert launch is not None
                state = f"after:{PREDECESSORS}" if step.is_check else "cold"
                row = (
                    *(getattr(launch, name) for name in _IDENTITY),
                    0 if step.is_check else repr(launch.weight),
                    launch.duration_ns,
                    *map(dimensions_text, (launch.grid, launch.block)),
                    launch.name,
                    step.stratum,
                )
                writer.writerow((*row, *((state,) if choices.cold_check else ())))
            files.append((f"launches{'' if len(shards) == 1 else f'-{number}'}.csv", text.getvalue()))
        return tuple(files)


EXPORTER = _Table(
    "csv",
    "CSV",
    "ids, ordinals and occurrences count from 0, as in the plan",
    frozenset({"shards", "cold_check"}),
    lambda *_: ([], {}),
)

_ID, _CACHES = "id", "caches"
_NO_METRICS = frozenset(
    {
        *(_ID, _CACHES, "simulator_id", "process", "device", "ordinal", "occurrence", "stratum", "weight"),
        *("duration_ns", "grid", "block", "name", "kernel", "launch", "stream"),
        *(f"{shape}_{axis}" for shape in ("grid", "block") for axis in "xyz"),
    }
)
_RESULT_REMEDY = (
    "the columns are id, the launch ids of the plan, and one for each metric: cycles, instructions, ..."
)
_LARGEST, _LARGEST_ID = 1e100, 2.0**53


def recognises_results(head: bytes) -> bool:
    """Return whether a file that starts like this has a column of ids and others."""
    return bool({_ID, "launch"} & set(separated_header(head, {_ID})[0]))


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return what a file says of each launch.

    Raises ProfileError: a column is missing, a cell holds no number or one that cannot be; there is no row.

    Parameters
    ----------
    metrics : columns; none: all that hold numbers and do not say which launch it is.
    """
    header, separator = separated_header(file.head, {_ID})
    if _ID not in header:
        header = tuple(_ID if name == "launch" else name for name in header)
    # Of two columns of one name the first counts.
    columns = {name: header.index(name) for name in header if name}
    names = tuple(metrics) or _columns_of_numbers(file.head, columns, separator)
    for name in (_ID, *names):
        if name not in columns:
            near = nearest(name, [each for each in columns if each not in _NO_METRICS])
            remedy = _RESULT_REMEDY if name == _ID else near
            raise ProfileError(f"no column {name}", path=file.path, row=1, remedy=remedy)
    if not names:
        raise ProfileError("has no column of a metric", path=file.path, row=1, remedy=_RESULT_REMEDY)
    kinds: dict[str, tuple[int, Kind]] = {name: (columns[name], "number") for name in (_ID, *names)}
    if _CACHES in columns:
        kinds[_CACHES] = (columns[_CACHES], "text")
    ids: list[IntArray] = []
    told: list[str] = []
    parts: dict[str, list[FloatArray]] = {name: [] for name in names}
    for rows in read_rows(file, Layout(header, kinds, separator, remedy=_RESULT_REMEDY)):
        number = rows.numbers(_ID)
        is_id = (number >= 0) & (number <= _LARGEST_ID) & (number == np.floor(number))
        rows.refuse(~is_id, _ID, "an id is a whole number from 0 on")
        ids.append(number.astype(np.int64))
        for name, arrays in parts.items():
            known = rows.has_value(name)
            values: FloatArray = np.where(known, rows.numbers(name, empty=0), np.nan)
            # A launch takes more than 0 cycles, and has 0 instructions or more.
            wrong = known & ~(np.abs(values) < _LARGEST)
            wrong |= (name == CYCLES and values <= 0) | (name == INSTRUCTIONS and values < 0)
            rows.refuse(wrong, name, "the number is none that a launch can have")
            arrays.append(values)
        if _CACHES in columns:
            cells, code = rows.texts(_CACHES)
            states = [cell.strip() for cell in cells]
            unknown = np.array([STATE.fullmatch(state) is None for state in states], dtype=np.bool_)
            rows.refuse(unknown[code], _CACHES, "is no way to find the caches")
            told += [states[each] or "unknown" for each in code.tolist()]
    if not ids:
        raise ProfileError("has no row below its header", path=file.path, remedy=_RESULT_REMEDY)
    metrics_of = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    missing = {
        int(place): ", ".join(name for name in names if np.isnan(metrics_of[name][place]))
        + " has no value there"
        for place in np.flatnonzero(np.any([np.isnan(metrics_of[name]) for name in names], axis=0))
    }
    return MeasuredRun(file.path, np.concatenate(ids), None, metrics_of, missing=missing, told=told)


def _columns_of_numbers(head: bytes, columns: dict[str, int], separator: str) -> tuple[str, ...]:
    """Return the columns whose first cell is empty or a number."""
    cells = header_cells(first_line(head[len(first_line(head)) :]), separator)

    def is_number(place: int) -> bool:
        try:
            float(cells[place].replace(",", "") if cells[place].strip() else 0)
        except (ValueError, IndexError):
            return False
        return True

    return tuple(
        name
        for name, place in columns.items()
        if name in {CYCLES, INSTRUCTIONS} or (name.lower() not in _NO_METRICS and is_number(place))
    )


_KERNEL, _CYCLE, _TOO_LARGE = "kernel", "cycle", 1 << 62
_COUNTS = (_CYCLE, "instructions", "ctas")
#: Columns of the whole kernel, and the fact that each is
_FACTS = {
    "total_cycles": "cycles",
    "total_instructions": "instructions",
    "total_ctas": "ctas",
    "ctas_per_sm": "ctas_per_core",
    "sms": "cores",
}
_FROM_1 = (_CYCLE, "ctas_per_sm", "sms")
_KNOWN = (_KERNEL, *_COUNTS, *_FACTS)
_REMEDY = (
    "the columns are cycle, where an interval ends, instructions and ctas; and kernel, if there are several"
)


def recognises_log(head: bytes) -> bool:
    """Return whether a file that starts like this has the columns of an interval log."""
    return {_CYCLE, "instructions"} <= {*separated_header(head.lower(), _KNOWN)[0]}


def read_interval_logs(files: Sequence[InputFile]) -> tuple[IntervalLog, ...]:
    """Return the log of each kernel, in the files' order.

    Raises ProfileError: a column is missing, a cell holds no number or one that cannot be; there is no row.
    """
    logs: list[IntervalLog] = []
    for file in files:
        header, separator = separated_header(file.head.lower(), _KNOWN)
        for name in _COUNTS:
            if name not in header:
                raise ProfileError(f"no column {name}", path=file.path, row=1, remedy=_REMEDY)
        columns: dict[str, tuple[int, Kind]] = {
            name: (header.index(name), "text" if name == _KERNEL else "integer")
            for name in _KNOWN
            if name in header
        }
        names: list[str] = []
        parts = []
        for rows in read_rows(file, Layout(header, columns, separator, remedy=_REMEDY)):
            numbers = {name: rows.numbers(name, empty=-1) for name in columns if name != _KERNEL}
            for name, cells in numbers.items():
                least = int(name in _FROM_1)
                rows.refuse(~rows.has_value(name), name, "the cell is empty")
                wrong = (cells < least) | (cells >= _TOO_LARGE)
                rows.refuse(wrong, name, f"the number is {least} or more, and less than 2^62")
            texts, code = rows.texts(_KERNEL) if _KERNEL in columns else ([""], np.zeros(len(rows), np.int32))
            parts.append({**numbers, _KERNEL: code.astype(np.int64) + len(names), "line": rows.lines})
            names += [text.strip() for text in texts]
        if not parts:
            raise ProfileError("has no row below its header", path=file.path, remedy=_REMEDY)
        table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        name_of = np.array(names)[table[_KERNEL]]
        is_same_name = np.append(False, name_of[1:] == name_of[:-1])
        step = np.diff(table[_CYCLE], prepend=0)
        is_start = ~is_same_name | (step < 0)
        facts = {name: fact for name, fact in _FACTS.items() if name in table}
        repeats = {_CYCLE: is_same_name & (step == 0)}
        repeats |= {name: ~is_start & (np.diff(table[name], prepend=0) != 0) for name in facts}
        for name, rows_of in repeats.items():
            if rows_of.any():
                said = f"the number is {'that of' if name == _CYCLE else 'another than in'} the row before"
                row = int(table["line"][np.argmax(rows_of)])
                raise ProfileError(said, path=file.path, row=row, column=name, remedy=_REMEDY)
        starts = np.flatnonzero(is_start).tolist()
        for start, end in zip(starts, [*starts[1:], len(step)], strict=True):
            of_kernel = {fact: int(table[name][start]) for name, fact in facts.items()}
            cycle, instructions, ctas = (table[name][start:end] for name in _COUNTS)
            name = str(name_of[start]) or f"kernel {len(logs) + 1}"
            logs.append(IntervalLog(name, cycle, instructions, ctas, KernelFacts(**of_kernel)))
    return tuple(logs)
