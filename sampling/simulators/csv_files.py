"""CSV, for simulators without a module of their own and for scripts: a plan, results, and interval logs.

**A plan** becomes one row a drawn launch, in the order in which they are best simulated; with a cold check
there is a column ``caches``, and a second row of what runs once more after the launches before it.

**Results** have ``id``, a launch id, and one column a metric. An empty cell is a value that is not known. All
columns are metrics but those that say which launch it is, and ``caches``, which says how it found them: cold,
own, warm, after:16.

**An interval log** has one row an interval, with columns in any order: ``cycle``, and ``instructions`` and
``ctas`` within the interval, or ``cumulative_instructions`` and ``cumulative_ctas`` since the kernel's start.
``cycle`` is where the interval ends, counted from the kernel's start; if it is the same number in every row
it is the length of the intervals (the last of a kernel may be shorter), as ``interval_cycles`` always is. If
only some rows repeat a number it could be either, and is refused.

``kernel`` names the kernel. A new one starts where the name changes or the cycle does not rise. What is known
of the whole kernel may stand in ``total_cycles``, ``total_instructions``, ``total_ctas``, ``ctas_per_sm`` and
``sms``, the same in every row of a kernel. All other columns are left alone.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.projection import IntervalLog, KernelFacts
from sampling.readers.input_file import InputFile
from sampling.readers.table import Kind, Layout, Rows, first_line, header_cells, read_rows, separated_header
from sampling.simulators.export import (
    PREDECESSORS,
    ExportChoices,
    Exported,
    Exporter,
    Shard,
    Step,
    checks,
    informative_order,
    shared_out,
)
from sampling.simulators.measured_run import CYCLES, INSTRUCTIONS, STATE, MeasuredRun, dimensions_text
from sampling.text import nearest

_LAUNCH_IDENTITY = ("id", "process", "device", "ordinal", "occurrence")
_LAUNCH_COLUMNS = (*_LAUNCH_IDENTITY, "weight", "duration_ns", "grid", "block", "name", "stratum")


def _export(plan: PlanFile, choices: ExportChoices) -> Exported:
    """Return launches.csv, in the order in which the launches are best simulated, one file a shard.

    ``stratum`` is the 0-based index in the plan's list. What has no module of its own finds out about several
    processes and devices by their columns, so all stand in one file.
    """
    steps = [Step(launch.id, launch.ordinal, launch, stratum) for stratum, launch in informative_order(plan)]
    steps += [step for each in checks(plan, choices.cold_check).values() for step in each]
    shards = shared_out([(step,) for step in steps], choices.shards)
    are_checked = choices.cold_check > 0
    return tuple(
        (f"launches{'' if len(shards) == 1 else f'-{number}'}.csv", _launches_text(shard, are_checked))
        for number, shard in enumerate(shards, start=1)
    )


EXPORTER = Exporter(
    "ids, ordinals and occurrences count from 0, as in the plan", frozenset({"shards", "cold_check"}), _export
)


def _launches_text(shard: Shard, are_checked: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*_LAUNCH_COLUMNS, *(("caches",) if are_checked else ())))
    for step in shard:
        launch = step.launch
        assert launch is not None
        writer.writerow(
            (
                *(getattr(launch, name) for name in _LAUNCH_IDENTITY),
                0 if step.is_check else repr(launch.weight),
                launch.duration_ns,
                dimensions_text(launch.grid),
                dimensions_text(launch.block),
                launch.name,
                step.stratum,
                *((f"after:{PREDECESSORS}" if step.is_check else "cold",) if are_checked else ()),
            )
        )
    return text.getvalue()


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
    return _ID in _result_columns(separated_header(head, {_ID})[0])


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return what a file says of each launch.

    Raises ProfileError: a column is missing, a cell holds no number or one that cannot be; there is no row.

    Parameters
    ----------
    metrics : columns; none: all that hold numbers and do not say which launch it is.
    """

    def refused(message: str, remedy: str = _RESULT_REMEDY) -> ProfileError:
        return ProfileError(message, path=file.path, row=1, remedy=remedy)

    header, separator = separated_header(file.head, {_ID})
    columns = _result_columns(header)
    if _ID not in columns:
        raise refused("no column id")
    names = tuple(metrics) or _columns_of_numbers(file.head, columns, separator)
    if unknown := [name for name in names if name not in columns]:
        there = [name for name in columns if name not in _NO_METRICS]
        raise refused(f"no column {unknown[0]}", nearest(unknown[0], there))
    kinds: dict[str, Kind] = dict.fromkeys((_ID, *names), "number")
    if _CACHES in columns:
        kinds[_CACHES] = "text"
    read = {name: (columns[name], kind) for name, kind in kinds.items()}
    ids: list[IntArray] = []
    told: list[str] = []
    parts: dict[str, list[FloatArray]] = {name: [] for name in names}
    for rows in read_rows(file, Layout(header, read, separator, remedy=_RESULT_REMEDY)):
        number = rows.numbers(_ID)
        is_id = (number >= 0) & (number <= _LARGEST_ID) & (number == np.floor(number))
        rows.refuse(~is_id, _ID, "an id is a whole number from 0 on")
        ids.append(number.astype(np.int64))
        for name, arrays in parts.items():
            arrays.append(_metric(rows, name))
        if _CACHES in columns:
            cells, code = rows.texts(_CACHES)
            states = [cell.strip() for cell in cells]
            wrong = np.array([STATE.fullmatch(state) is None for state in states], dtype=np.bool_)
            rows.refuse(wrong[code], _CACHES, "is no way to find the caches")
            told += [states[each] or "unknown" for each in code.tolist()]
    if not ids:
        raise ProfileError("has no row below its header", path=file.path, remedy=_RESULT_REMEDY)
    if not names:
        raise refused("has no column of a metric")
    known = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    missing = {
        int(place): ", ".join(name for name in names if np.isnan(known[name][place])) + " has no value there"
        for place in np.flatnonzero(np.any([np.isnan(known[name]) for name in names], axis=0))
    }
    return MeasuredRun(file.path, np.concatenate(ids), None, known, missing=missing, told=told)


def _result_columns(header: Sequence[str]) -> dict[str, int]:
    """Return the position of each column; of two of one name the first. Without ids launches are theirs."""
    names = list(header)
    if _ID not in names:
        names = [_ID if name == "launch" else name for name in names]
    return {name: names.index(name) for name in names if name}


def _columns_of_numbers(head: bytes, columns: dict[str, int], separator: str) -> tuple[str, ...]:
    """Return the columns whose first cell is empty or a number."""

    def is_number(cell: str) -> bool:
        try:
            float(cell.replace(",", "") if cell.strip() else 0)
        except ValueError:
            return False
        return True

    below = first_line(head[len(first_line(head)) :])
    cells = header_cells(below, separator)
    return tuple(
        name
        for name, place in columns.items()
        if name in {CYCLES, INSTRUCTIONS}
        or (name.lower() not in _NO_METRICS and place < len(cells) and is_number(cells[place]))
    )


def _metric(rows: Rows, name: str) -> FloatArray:
    known = rows.has_value(name)
    number: FloatArray = np.where(known, rows.numbers(name, empty=0), np.nan)
    rows.refuse(known & ~(np.abs(number) < _LARGEST), name, "the number is not finite")
    if name == CYCLES:
        rows.refuse(number <= 0, name, "a launch takes more than 0 cycles")
    elif name == INSTRUCTIONS:
        rows.refuse(number < 0, name, "a launch has 0 instructions or more")
    return number


_KERNEL, _CYCLE, _LENGTH = "kernel", "cycle", "interval_cycles"
#: The column of each count within an interval, and the one that counts from the kernel's start
_COUNTS = {"instructions": "cumulative_instructions", "ctas": "cumulative_ctas"}
#: Columns of the whole kernel, and the fact that each is
_FACTS = {
    "total_cycles": "cycles",
    "total_instructions": "instructions",
    "total_ctas": "ctas",
    "ctas_per_sm": "ctas_per_core",
    "sms": "cores",
}
_KNOWN = (_KERNEL, _CYCLE, _LENGTH, *_COUNTS, *_COUNTS.values(), *_FACTS)
_TOO_LARGE = 2**62
_REMEDY = "the columns are cycle, instructions and ctas, one row an interval"
_REMEDY_REPEATED = (
    "name the column interval_cycles if it holds lengths; else add a column kernel, with another name for "
    "each kernel"
)


def recognises_log(head: bytes) -> bool:
    """Return whether a file that starts like this has the columns of an interval log."""
    columns = {*separated_header(head.lower(), _KNOWN)[0]}
    return bool({_CYCLE, _LENGTH} & columns) and bool({"instructions", _COUNTS["instructions"]} & columns)


def read_interval_logs(files: Sequence[InputFile]) -> tuple[IntervalLog, ...]:
    """Return the log of each kernel, in the files' order.

    Raises ProfileError: a column is missing, a cell holds no number or one that cannot be; there is no row.
    """
    logs: list[IntervalLog] = []
    for file in files:
        logs += _Intervals(file).logs(len(logs))
    return tuple(logs)


class _Intervals:
    """The rows of an interval log; an error names the line and column."""

    def __init__(self, file: InputFile) -> None:
        self._file = file
        header, separator = separated_header(file.head.lower(), _KNOWN)
        for wanted in ((_CYCLE, _LENGTH), *_COUNTS.items()):
            if not set(wanted) & set(header):
                message = f"no column {' or '.join(wanted)}"
                raise ProfileError(message, path=file.path, row=1, remedy=_REMEDY)
        columns: dict[str, tuple[int, Kind]] = {
            name: (header.index(name), "text" if name == _KERNEL else "integer")
            for name in _KNOWN
            if name in header
        }
        self._lines: list[IntArray] = []
        numbers: dict[str, list[IntArray]] = {name: [] for name in columns if name != _KERNEL}
        codes: dict[str, int] = {}
        kernel = []
        for rows in read_rows(file, Layout(header, columns, separator, remedy=_REMEDY)):
            self._lines.append(rows.lines)
            for name, arrays in numbers.items():
                rows.refuse(~rows.has_value(name), name, "the cell is empty")
                arrays.append(rows.numbers(name))
            texts, code = rows.texts(_KERNEL) if _KERNEL in columns else ([""], np.zeros(len(rows), np.int32))
            of_text = [codes.setdefault(text.strip(), len(codes)) for text in texts]
            kernel.append(np.array(of_text, dtype=np.int64)[code])
        if not kernel:
            raise ProfileError("has no row below its header", path=file.path, remedy=_REMEDY)
        self.names, self.kernel = list(codes), np.concatenate(kernel)
        self.numbers = {name: np.concatenate(arrays) for name, arrays in numbers.items()}

    def logs(self, before: int) -> list[IntervalLog]:
        """Return the log of each kernel; ``before`` are in the files before."""
        numbers, kernel = self.numbers, self.kernel
        for name, column in numbers.items():
            least = 1 if name in {_CYCLE, _LENGTH, "ctas_per_sm", "sms"} else 0
            self._refuse(column < least, name, f"the number is {least} or more")
            self._refuse_large(name, is_summed=name in {_LENGTH, *_COUNTS})
        is_other_name = np.diff(kernel, prepend=-1) != 0
        cycle = self._cycle(is_other_name)
        starts = is_other_name | (np.diff(cycle, prepend=0) <= 0)
        counts = {}
        for name, cumulative in _COUNTS.items():
            if name not in numbers:
                counts[name] = np.where(starts, numbers[cumulative], np.diff(numbers[cumulative], prepend=0))
                self._refuse(counts[name] < 0, cumulative, "the count goes down within a kernel")
            else:
                counts[name] = numbers[name]
        facts = {name: fact for name, fact in _FACTS.items() if name in numbers}
        for name in facts:
            differs = ~starts & (np.diff(numbers[name], prepend=0) != 0)
            self._refuse(differs, name, "the number is another than in the kernel's row before")
        first = np.flatnonzero(starts).tolist()
        return [
            IntervalLog(
                name=self.names[kernel[start]] or f"kernel {place}",
                cycle=cycle[start:end],
                instructions=counts["instructions"][start:end],
                ctas=counts["ctas"][start:end],
                facts=KernelFacts(**{fact: int(numbers[name][start]) for name, fact in facts.items()}),
            )
            for place, (start, end) in enumerate(
                zip(first, [*first[1:], len(kernel)], strict=True), start=before + 1
            )
        ]

    def _cycle(self, is_other_name: BoolArray) -> IntArray:
        """Return (n,) the cycle in which each interval ends."""
        cycle = self.numbers.get(_CYCLE)
        if cycle is None:
            return _running_sum(self.numbers[_LENGTH], is_other_name)
        # Lengths stay the same within each name, but for a lower one in its last row.
        step = np.diff(cycle, prepend=0)[~is_other_name]
        is_last = np.append(is_other_name[1:], True)[~is_other_name]
        if (step == 0).any() and ((step == 0) | (is_last & (step < 0))).all():
            self._refuse_large(_CYCLE, is_summed=True)
            return _running_sum(cycle, is_other_name)
        repeats = ~is_other_name & (np.diff(cycle, prepend=0) == 0)
        message = (
            "the number is that of the row before: it may be an interval's length, or a new kernel's cycle"
        )
        self._refuse(repeats, _CYCLE, message, remedy=_REMEDY_REPEATED)
        return cycle

    def _refuse(self, bad: BoolArray, column: str, message: str, *, remedy: str = _REMEDY) -> None:
        """Raise for the first row that is bad, by its line in the file."""
        if bad.any():
            line = int(np.concatenate(self._lines)[np.argmax(bad)])
            raise ProfileError(message, path=self._file.path, row=line, column=column, remedy=remedy)

    def _refuse_large(self, name: str, *, is_summed: bool) -> None:
        """Raise for the first row whose number, or the sum up to it, is too large for the sums made of it."""
        # In floating point, where a sum that 64 bits cannot hold is a large number and no negative one.
        numbers = self.numbers[name]
        counted = np.cumsum(numbers, dtype=np.float64) if is_summed else numbers
        self._refuse(counted >= _TOO_LARGE, name, "the numbers are too large to be counted in 64 bits")


def _running_sum(lengths: IntArray, starts: BoolArray) -> IntArray:
    """Return (n,) the sum since the last start, inclusive."""
    total: IntArray = np.cumsum(lengths)
    return np.asarray(total - (total - lengths)[starts][np.cumsum(starts) - 1])
