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
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sampling.arrays import BoolArray, FloatArray, IntArray
from sampling.arrow import first_true, to_numpy
from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.projection import IntervalLog, KernelFacts
from sampling.readers.csv_cells import (
    Kind,
    Layout,
    Part,
    Table,
    first_line,
    header_cells,
    parse,
    pieces,
    texts,
    values,
)
from sampling.readers.input_file import InputFile
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
from sampling.simulators.measured_run import (
    CYCLES,
    INSTRUCTIONS,
    STATE,
    MeasuredRun,
    dimensions_text,
)
from sampling.text import nearest

_LAUNCH_IDENTITY = ("id", "process", "device", "ordinal", "occurrence")
_LAUNCH_COLUMNS = (*_LAUNCH_IDENTITY, "weight", "duration_ns", "grid", "block", "name", "stratum")
_NO_ROW = "has no row below its header"


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
    "ids, ordinals and occurrences count from 0, as in the plan",
    frozenset({"shards", "cold_check"}),
    _export,
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


def _parts(file: InputFile, layout: Layout) -> Iterator[tuple[Part, Table]]:
    """Yield the rows below the header, whole pieces of them each."""
    for start, text in pieces(file):
        skipped = len(first_line(text)) if start == 0 else 0
        part = Part(file, layout, start + skipped, text[skipped:])
        if part.text.strip():
            yield part, parse(part)


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
    return _ID in _result_columns(header_cells(first_line(head).lstrip(b"\r\n")))


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return what a file says of each launch.

    Parameters
    ----------
    metrics : columns; none: all that hold numbers and do not say which launch it is.

    Raises
    ------
    ProfileError : a column is missing, a cell holds no number or one that cannot be; there is no row.
    """
    line = first_line(file.head)
    header = header_cells(line.lstrip(b"\r\n"))
    columns = _result_columns(header)
    if _ID not in columns:
        raise ProfileError("no column id", path=file.path, row=1, remedy=_RESULT_REMEDY)
    names = tuple(metrics) or _columns_of_numbers(file, line, columns)
    for name in names:
        if name not in columns:
            there = [each for each in columns if each not in _NO_METRICS]
            raise ProfileError(f"no column {name}", path=file.path, row=1, remedy=nearest(name, there))
    if not names:
        raise ProfileError("has no column of a metric", path=file.path, row=1, remedy=_RESULT_REMEDY)
    kinds: dict[int, Kind] = {columns[name]: "number" for name in (_ID, *names)}
    if _CACHES in columns:
        kinds[columns[_CACHES]] = "text"
    ids, known, told = _read_results(file, Layout(header, kinds), columns, names)
    missing = {
        int(place): ", ".join(name for name in names if np.isnan(known[name][place])) + " has no value there"
        for place in np.flatnonzero(np.any([np.isnan(known[name]) for name in names], axis=0))
    }
    return MeasuredRun(file.path, ids, None, known, missing=missing, told=told)


def _result_columns(header: Sequence[str]) -> dict[str, int]:
    """Return the position of each column; of two of one name the first. Without ids launches are theirs."""
    names = [cell.strip() for cell in header]
    if _ID not in names:
        names = [_ID if name == "launch" else name for name in names]
    return {name: names.index(name) for name in names if name}


def _columns_of_numbers(file: InputFile, line: bytes, columns: dict[str, int]) -> tuple[str, ...]:
    """Return the columns whose first cell is a number."""
    cells = header_cells(first_line(file.head[len(line) :]).lstrip(b"\r\n"))
    if not cells:
        raise ProfileError(_NO_ROW, path=file.path, remedy=_RESULT_REMEDY)
    return tuple(
        name
        for name, place in columns.items()
        if name in {CYCLES, INSTRUCTIONS}
        or (name.lower() not in _NO_METRICS and place < len(cells) and _is_number(cells[place]))
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ""))
    except ValueError:
        return not cell.strip()
    return True


def _read_results(
    file: InputFile, layout: Layout, columns: dict[str, int], names: Sequence[str]
) -> tuple[IntArray, dict[str, FloatArray], list[str]]:
    ids: list[IntArray] = []
    told: list[str] = []
    known: dict[str, list[FloatArray]] = {name: [] for name in names}
    for part, table in _parts(file, layout):
        number = values(part, table, columns[_ID], None)
        is_id = (number >= 0) & (number <= _LARGEST_ID)
        is_id[is_id] = number[is_id] % 1 == 0
        _refuse_cell(part, ~is_id, columns[_ID], "an id is a whole number from 0 on")
        ids.append(number.astype(np.int64))
        for name, arrays in known.items():
            arrays.append(_metric(part, table, columns[name], name))
        if _CACHES in columns:
            distinct, code = texts(table, columns[_CACHES])
            states = [(cell or b"").decode("utf-8", "replace").strip() for cell in distinct.to_pylist()]
            wrong = np.array([STATE.fullmatch(state) is None for state in states])
            _refuse_cell(part, wrong[code], columns[_CACHES], "is no way to find the caches")
            told += [states[each] or "unknown" for each in code.tolist()]
    if not ids:
        raise ProfileError(_NO_ROW, path=file.path, remedy=_RESULT_REMEDY)
    return np.concatenate(ids), {name: np.concatenate(arrays) for name, arrays in known.items()}, told


def _metric(part: Part, table: Table, position: int, name: str) -> FloatArray:
    from pyarrow import compute

    column = table.column(str(position))
    unknown: BoolArray = to_numpy(compute.is_null(column))
    number: FloatArray = (
        to_numpy(compute.fill_null(column, float("nan"))) if unknown.any() else to_numpy(column)
    )
    bad = ~unknown & ~(np.abs(number) < _LARGEST)
    _refuse_cell(part, bad, position, "the number is not finite")
    if name == CYCLES:
        _refuse_cell(part, ~unknown & (number <= 0), position, "a launch takes more than 0 cycles")
    elif name == INSTRUCTIONS:
        _refuse_cell(part, ~unknown & (number < 0), position, "a launch has 0 instructions or more")
    return number


def _refuse_cell(part: Part, bad: BoolArray, position: int, message: str) -> None:
    rows = np.flatnonzero(bad)
    if rows.size:
        raise part.error(int(rows[0]), message, position=position, remedy=_RESULT_REMEDY)


_KERNEL = "kernel"
_CYCLE, _LENGTH = "cycle", "interval_cycles"
#: The column of each count within an interval, and the one that counts from the kernel's start.
_COUNTS = {"instructions": "cumulative_instructions", "ctas": "cumulative_ctas"}
#: Columns of the whole kernel, and the fact that each is.
_FACTS = {
    "total_cycles": "cycles",
    "total_instructions": "instructions",
    "total_ctas": "ctas",
    "ctas_per_sm": "ctas_per_core",
    "sms": "cores",
}
_TOO_LARGE = 2**62
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_REMEDY = "the columns are cycle, instructions and ctas, one row an interval"
_REMEDY_REPEATED = (
    "name the column interval_cycles if it holds lengths; else add a column kernel, with another name for "
    "each kernel"
)


def recognises_log(head: bytes) -> bool:
    """Return whether a file that starts like this has the columns of an interval log, however separated."""
    header = header_cells(first_line(head))
    return _are_of_log(header) or _other_separator(header) is not None


def read_interval_logs(files: Sequence[InputFile]) -> tuple[IntervalLog, ...]:
    """Return the log of each kernel, in the files' order.

    Raises
    ------
    ProfileError : a column is missing, a cell holds no number or one that cannot be; there is no row.
    """
    logs: list[IntervalLog] = []
    for file in files:
        logs += _logs(file, len(logs))
    return tuple(logs)


def _are_of_log(header: Sequence[str]) -> bool:
    columns = set(_columns(header))
    return bool({_CYCLE, _LENGTH} & columns) and bool({"instructions", _COUNTS["instructions"]} & columns)


def _other_separator(header: Sequence[str]) -> str | None:
    """Return what separates the cells of an interval log's header, if not commas."""
    line = ",".join(header)
    return next((mark for mark in _SEPARATORS if _are_of_log(line.split(mark))), None)


def _columns(header: Sequence[str]) -> dict[str, int]:
    """Return the position of each column that is read; of two of one name the first."""
    known = (_KERNEL, _CYCLE, _LENGTH, *_COUNTS, *_COUNTS.values(), *_FACTS)
    names = [cell.strip().lower() for cell in header]
    return {name: names.index(name) for name in known if name in names}


def _layout(file: InputFile) -> tuple[Layout, dict[str, int]]:
    header = header_cells(first_line(file.head).lstrip(b"\r\n"))
    if separator := _other_separator(header):
        raise ProfileError(
            f"its cells are separated by {_SEPARATORS[separator]}",
            path=file.path,
            remedy="write the file with commas between them",
        )
    columns = _columns(header)
    for wanted in ((_CYCLE, _LENGTH), *_COUNTS.items()):
        if not set(wanted) & set(columns):
            raise ProfileError(f"no column {' or '.join(wanted)}", path=file.path, row=1, remedy=_REMEDY)
    kinds: dict[int, Kind] = {
        position: "text" if name == _KERNEL else "integer" for name, position in columns.items()
    }
    return Layout(header, kinds), columns


def _logs(file: InputFile, before: int) -> Iterator[IntervalLog]:
    """Yield the log of each kernel of a file; ``before`` are in the files before."""
    layout, columns = _layout(file)
    counts: dict[str, list[IntArray]] = {name: [] for name in columns if name != _KERNEL}
    codes: list[IntArray] = []
    code_of_name: dict[str, int] = {}
    for part, table in _parts(file, layout):
        for name, arrays in counts.items():
            column = table.column(str(columns[name]))
            if column.null_count:
                row = first_true(column.is_null())
                raise part.error(row, "the cell is empty", position=columns[name], remedy=_REMEDY)
            arrays.append(values(part, table, columns[name], None))
        if _KERNEL in columns:
            distinct, code = texts(table, columns[_KERNEL])
            shown = [(cell or b"").decode("utf-8", "replace").strip() for cell in distinct.to_pylist()]
            of = [code_of_name.setdefault(name, len(code_of_name)) for name in shown]
            codes.append(np.array(of, dtype=np.int64)[code])
    numbers = {name: np.concatenate(arrays) for name, arrays in counts.items() if arrays}
    if not numbers:
        raise ProfileError(_NO_ROW, path=file.path, remedy=_REMEDY)
    for name, column in numbers.items():
        least = 1 if name in {_CYCLE, _LENGTH, "ctas_per_sm", "sms"} else 0
        _refuse(file, column < least, name, f"the number is {least} or more")
        _refuse_large(file, column, name, is_summed=name in {_LENGTH, *_COUNTS})
    rows = len(next(iter(numbers.values())))
    kernel = np.concatenate(codes or [np.zeros(rows, dtype=np.int64)])
    is_other_name = np.diff(kernel, prepend=-1) != 0
    cycle = _cycle(file, numbers, is_other_name)
    starts = is_other_name | (np.diff(cycle, prepend=0) <= 0)
    instructions, ctas = (_within(file, numbers, name, starts) for name in _COUNTS)
    facts = {name: fact for name, fact in _FACTS.items() if name in numbers}
    for name in facts:
        differs = ~starts & (np.diff(numbers[name], prepend=0) != 0)
        _refuse(file, differs, name, "the number is another than in the kernel's row before")
    names = list(code_of_name) or [""]
    first = np.flatnonzero(starts).tolist()
    for place, (start, end) in enumerate(zip(first, [*first[1:], rows], strict=True), start=before + 1):
        yield IntervalLog(
            name=names[kernel[start]] or f"kernel {place}",
            cycle=cycle[start:end],
            instructions=instructions[start:end],
            ctas=ctas[start:end],
            facts=KernelFacts(**{fact: int(numbers[name][start]) for name, fact in facts.items()}),
        )


def _cycle(file: InputFile, numbers: Mapping[str, IntArray], is_other_name: BoolArray) -> IntArray:
    """Return (n,) the cycle in which each interval ends."""
    cycle = numbers.get(_CYCLE)
    if cycle is None:
        return _running_sum(numbers[_LENGTH], is_other_name)
    # Lengths stay the same within each name, but for a lower one in its last row.
    step = np.diff(cycle, prepend=0)[~is_other_name]
    is_last = np.append(is_other_name[1:], True)[~is_other_name]
    if (step == 0).any() and ((step == 0) | (is_last & (step < 0))).all():
        _refuse_large(file, cycle, _CYCLE, is_summed=True)
        return _running_sum(cycle, is_other_name)
    repeats = ~is_other_name & (np.diff(cycle, prepend=0) == 0)
    message = "the number is that of the row before: it may be an interval's length, or a new kernel's cycle"
    _refuse(file, repeats, _CYCLE, message, remedy=_REMEDY_REPEATED)
    return cycle


def _running_sum(lengths: IntArray, starts: BoolArray) -> IntArray:
    """Return (n,) the sum since the last start, inclusive."""
    total: IntArray = np.cumsum(lengths)
    return np.asarray(total - (total - lengths)[starts][np.cumsum(starts) - 1])


def _within(file: InputFile, numbers: Mapping[str, IntArray], name: str, starts: BoolArray) -> IntArray:
    """Return (n,) what was counted within each interval."""
    if name in numbers:
        return numbers[name]
    column = _COUNTS[name]
    counts = np.where(starts, numbers[column], np.diff(numbers[column], prepend=0))
    _refuse(file, counts < 0, column, "the count goes down within a kernel")
    return counts


def _refuse(file: InputFile, bad: BoolArray, column: str, message: str, *, remedy: str = _REMEDY) -> None:
    """Raise for the first row that is bad, by its line in the file."""
    rows = np.flatnonzero(bad)
    if rows.size:
        line = _line_of_row(file, int(rows[0]))
        raise ProfileError(message, path=file.path, row=line, column=column, remedy=remedy)


def _refuse_large(file: InputFile, numbers: IntArray, column: str, *, is_summed: bool) -> None:
    """Raise for the first row whose number, or the sum up to it, is too large for the sums made of it."""
    # In floating point, where a sum that 64 bits cannot hold is a large number and no negative one.
    counted = np.cumsum(numbers, dtype=np.float64) if is_summed else numbers
    _refuse(file, counted >= _TOO_LARGE, column, "the numbers are too large to be counted in 64 bits")


def _line_of_row(file: InputFile, row: int) -> int:
    """Return the 1-based line of a 0-based row below the header; empty lines are no rows."""
    lines, seen = 0, -1
    for _, text in pieces(file):
        for line in text.split(b"\n")[: text.count(b"\n") + 1]:
            lines += 1
            seen += bool(line.strip(b"\r"))
            if seen > row:
                return lines
        lines -= text.endswith(b"\n")
    return lines
