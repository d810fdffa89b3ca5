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

from collections.abc import Iterator, Sequence

import numpy as np

from sampling.errors import ProfileError
from sampling.plan.plan_file import PlanFile
from sampling.projection import IntervalLog, KernelFacts
from sampling.readers.feature_table import read_columns
from sampling.readers.input_file import InputFile
from sampling.readers.table import Kind, separated_header
from sampling.simulators.export import ExportChoices, Step, checks, informative_order, shared_out
from sampling.simulators.manifest import launch_row
from sampling.simulators.measured_run import CACHES, CYCLES, INSTRUCTIONS, MeasuredRun, read_caches
from sampling.simulators.simulator import (
    Exported,
    Exporter,
    IntervalReader,
    ResultsReader,
    RunRules,
    Simulator,
)
from sampling.text import csv_text, nearest

_IDENTITY = ("id", "process", "device", "ordinal", "occurrence")
_LAUNCH_COLUMNS = (*_IDENTITY, "weight", "duration_ns", "grid", "block", "name", "stratum")


def _export_table(_: Simulator, plan: PlanFile, choices: ExportChoices) -> Exported:
    """Return launches.csv, one file a shard; ``stratum`` is the 0-based index in the plan's list.

    Processes and devices are told by their columns: all stand in one file.
    """
    steps = [Step(launch.id, launch.ordinal, launch, stratum) for stratum, launch in informative_order(plan)]
    steps += [step for _, step in checks(plan, choices.cold_check)]
    shards = shared_out([(step,) for step in steps], choices.shards)
    columns = (*_LAUNCH_COLUMNS, CACHES) if choices.cold_check else _LAUNCH_COLUMNS
    files = []
    for number, shard in enumerate(shards, start=1):
        rows = (map(launch_row(step, "cold").get, columns) for step in shard)
        name = f"launches{'' if len(shards) == 1 else f'-{number}'}.csv"
        files.append((name, csv_text([columns, *rows])))
    return tuple(files)


_ID = "id"
_NO_METRICS = frozenset(
    {
        *(_ID, CACHES, "simulator_id", "process", "device", "ordinal", "occurrence", "stratum", "weight"),
        *("duration_ns", "grid", "block", "name", "kernel", "launch", "stream"),
        *(f"{shape}_{axis}" for shape in ("grid", "block") for axis in "xyz"),
    }
)
_RESULT_REMEDY = (
    "the columns are id, the launch ids of the plan, and one for each metric: cycles, instructions, ..."
)
_LARGEST = 1e100


def recognises_results(head: bytes) -> bool:
    """Return whether a file that starts like this has a column of ids and others."""
    return bool({_ID, "launch"} & set(separated_header(head, {_ID})[0]))


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return what a file says of each launch: all columns of numbers that tell none, or metrics by name.

    Beside these cycles and instructions, where it has them.

    Raises ProfileError: a column is missing, a cell holds no number or one that cannot be; there is no row.
    """
    header, separator = separated_header(file.head, {_ID})
    if _ID not in header:
        header = tuple(_ID if name == "launch" else name for name in header)
    named = [name for name in dict.fromkeys(header) if name]
    usual = tuple(name for name in (CYCLES, INSTRUCTIONS) if name in named)
    names = tuple(name for name in named if name.lower() not in _NO_METRICS)
    names = tuple(dict.fromkeys((*usual, *metrics))) if metrics else names
    for name in (_ID, *names):
        if name not in named:
            near = nearest(name, [column for column in named if column not in _NO_METRICS])
            remedy = _RESULT_REMEDY if name == _ID else near
            raise ProfileError(f"no column {name}", path=file.path, row=1, remedy=remedy)
    surely = {_ID, CYCLES, INSTRUCTIONS, *metrics}
    kinds: dict[str, Kind] = {name: "number" if name in surely else "any" for name in (_ID, *names)}
    kinds |= {CACHES: "text"} if CACHES in named else {}
    table = read_columns(file, header, separator, kinds, _RESULT_REMEDY)
    ids = table.whole(_ID)
    columns = {name: table.metric(name) for name in names if kinds[name] != "text"}
    values = {name: numbers for name, numbers in columns.items() if numbers is not None}
    if not values:
        raise ProfileError("has no column of a metric", path=file.path, row=1, remedy=_RESULT_REMEDY)
    for name, numbers in values.items():
        # A launch takes more than 0 cycles, and has 0 instructions or more.
        wrong = ~np.isnan(numbers) & ~(np.abs(numbers) < _LARGEST)
        wrong |= (name == CYCLES and numbers <= 0) | (name == INSTRUCTIONS and numbers < 0)
        if wrong.any():
            raise table.error(wrong, name, "the number is none that a launch can have", _RESULT_REMEDY)
    unknown = np.isnan(list(values.values()))
    missing = {
        place: ", ".join(np.array(list(values))[unknown[:, place]]) + " has no value there"
        for place in np.flatnonzero(unknown.any(axis=0)).tolist()
    }
    states = [state or "unknown" for state in read_caches(table, _RESULT_REMEDY)]
    return MeasuredRun(file.path, ids, None, values, missing=missing, states=states)


_KERNEL, _CYCLE = "kernel", "cycle"
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
    """Return the log of each kernel, in the files' order; its name is empty where there is none.

    Raises ProfileError: a column is missing, a cell holds no number or one that cannot be; there is no row.
    """
    return tuple(log for file in files for log in _logs(file))


def _logs(file: InputFile) -> Iterator[IntervalLog]:
    header, separator = separated_header(file.head.lower(), _KNOWN)
    for name in _COUNTS:
        if name not in header:
            raise ProfileError(f"no column {name}", path=file.path, row=1, remedy=_REMEDY)
    facts = {name: fact for name, fact in _FACTS.items() if name in header}
    kinds: dict[str, Kind] = dict.fromkeys((*_COUNTS, *facts), "number")
    kinds |= {_KERNEL: "text"} if _KERNEL in header else {}
    table = read_columns(file, header, separator, kinds, _REMEDY)
    columns = {name: table.whole(name, int(name in _FROM_1)) for name in (*_COUNTS, *facts)}
    cells, code = table.texts(_KERNEL)
    name_of = np.array([cell.strip() for cell in cells])[code]
    is_same_name = np.append(False, name_of[1:] == name_of[:-1])
    step = np.diff(columns[_CYCLE], prepend=0)
    repeats = is_same_name & (step == 0)
    if repeats.any():
        raise table.error(repeats, _CYCLE, "the number is that of the row before", _REMEDY)
    is_start = ~is_same_name | (step < 0)
    for name in facts:
        differs = ~is_start & (np.diff(columns[name], prepend=0) != 0)
        if differs.any():
            raise table.error(differs, name, "the number is another than in the row before", _REMEDY)
    for rows in np.split(np.arange(len(step)), np.flatnonzero(is_start)[1:]):
        of_kernel = {fact: int(columns[name][rows[0]]) for name, fact in facts.items()}
        cycle, instructions, ctas = (columns[name][rows] for name in _COUNTS)
        yield IntervalLog(str(name_of[rows[0]]), cycle, instructions, ctas, KernelFacts(**of_kernel))


SIMULATOR = Simulator(
    name="csv",
    title="CSV",
    exporter=Exporter(
        note="ids, ordinals and occurrences count from 0, as in the plan",
        takes=frozenset({"shards", "cold_check"}),
        export=_export_table,
    ),
    results=ResultsReader(recognises_results, read_results, is_table=True, form="a CSV with a column id"),
    intervals=IntervalReader(
        recognises_log,
        read_interval_logs,
        form="a CSV with the columns cycle, instructions and ctas",
        is_table=True,
    ),
    run=RunRules(placeholder="{id}", example="simulate {id}"),
)
