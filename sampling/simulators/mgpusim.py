"""MGPUSim: its NVIDIA part runs the traces of Accel-Sim's tracer, and of its AMD part results are read.

It takes ``-trace-dir FOLDER`` and runs all that ``kernelslist.g`` there names: copies and ``kernel...``
lines, and nothing else, not even a comment. It reads ``.traceg`` as text, not packed ones. It has no
selection of its own, so the folder is one with this list and links to these traces.

What its AMD part measured is read: ``metrics.csv`` of v3 has the time and cycles of all kernels of a run, so
that a run is to be of one launch, whose number ends the file's name (``-metric-file-name launch-7``). v4
writes a database with the same in ``mgpusim_metrics``, and with ``-trace-vis`` each command of the driver in
``trace``, launches among them in their order. Numbers count from 1. Read in its sources (v3, and d01e70d with
akita 4.9.2), and one real metrics.csv; the database was not tried on a real one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from sampling.errors import OptionError, ProfileError
from sampling.readers.feature_table import read_columns
from sampling.readers.input_file import InputFile
from sampling.readers.sqlite_file import SQLITE, open_database
from sampling.readers.table import Kind, separated_header
from sampling.simulators.accel_sim import find_traces, kernels_list_text, trace_name
from sampling.simulators.exporter import Handover, export_parts, template
from sampling.simulators.measured_run import CYCLES, INSTRUCTIONS, UNNUMBERED, MeasuredRun, metric_columns
from sampling.simulators.simulator import Exporter, ResultsReader, Simulator

_TITLES = re.compile(rb"\A[\s,]*where,\s*what,\s*value")
_KINDS: dict[str, Kind] = {"where": "text", "what": "text", "value": "any"}
_METRICS = "SELECT Location, What, CAST(Value AS REAL) FROM mgpusim_metrics"
_LAUNCHES = (
    "SELECT CAST(StartTime AS REAL), CAST(EndTime AS REAL) FROM trace "
    "WHERE What LIKE '*driver.Launch%Command' ORDER BY 1"
)
_COUNT = "cu_inst_count"
_REMEDY = "give what -timing -report-all writes of a run, in v4 with -trace-vis"


def _write(to: Handover) -> None:
    """Hand over a folder with the list of each shard, and its script."""
    traces = find_traces(to.part, to.choices, to.plan)
    for suffix, shard in to.part.files():
        folder = f"run{suffix}"
        to.files[f"{folder}/kernelslist.g"] = kernels_list_text(shard, traces, to.choices)
        to.files[f"{folder}.sh"] = to.run_script(
            "mgpusim/run.sh",
            f"Simulates the {len(shard)} launches of {folder}/kernelslist.g, in its order.",
            None if traces is None else traces.path,
            folder=folder,
            link_traces=template("link-traces.sh"),
        )
    to.called |= {step.ordinal: trace_name(step.ordinal, traces).split(".")[0] for step in to.part.steps}


def recognises_results(head: bytes) -> bool:
    """Return whether a file that starts like this is metrics.csv, or a database with them."""
    return _TITLES.match(head) is not None or (head.startswith(SQLITE) and b"mgpusim_metrics" in head)


def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
    """Return cycles and instructions of a run's only launch, or the cycles of each launch that was traced.

    Raises OptionError: another metric is asked for; ProfileError: there is no kernel, or no clock.
    """
    if unknown := [name for name in metrics if name not in {CYCLES, INSTRUCTIONS}]:
        raise OptionError(f"there is no {unknown[0]}: of MGPUSim's metrics cycles and instructions are read")
    cells: Iterable[tuple[str, str, float | None]]
    traced: list[tuple[float, float]] = []
    if file.head.startswith(SQLITE):
        with open_database(file, _REMEDY) as database:
            cells = database.connection.execute(_METRICS).fetchall()
            if "trace" in database.tables:
                traced = database.connection.execute(_LAUNCHES).fetchall()
    else:
        header, separator = separated_header(file.head, _KINDS)
        table = read_columns(file, header, separator, _KINDS, _REMEDY)
        where, what = (
            [texts[code].strip() for code in codes] for texts, codes in map(table.texts, ("where", "what"))
        )
        cells = zip(where, what, table.numbers("value")[0].tolist(), strict=True)
    values = {(where, what): value or 0.0 for where, what, value in cells}
    seconds = values.get(("Driver", "kernel_time"), 0.0)
    executed = {
        unit: count for (unit, what), count in values.items() if what == "cu_inst_count" and count > 0
    }
    # The cycles an instruction of a compute unit are those of all kernels.
    cycles = next((count * values.get((unit, "cu_CPI"), 0.0) for unit, count in executed.items()), 0.0)
    if not (seconds > 0 and 0 < cycles < np.inf):
        raise ProfileError("has no kernel time, or no instructions of it", path=file.path, remedy=_REMEDY)
    clock_hz = cycles / seconds
    if traced:
        number = np.arange(1, len(traced) + 1)
        measured = metric_columns((CYCLES,), [[(end - start) * clock_hz] for start, end in traced])
    else:
        digits = re.search(r"[-_](\d{1,18})$", Path(file.path).name.partition(".")[0])
        number = np.array([int(digits[1]) if digits else UNNUMBERED])
        measured = metric_columns((CYCLES, INSTRUCTIONS), [[cycles, sum(executed.values())]])
    return MeasuredRun(file.path, number, 1, measured, clock_hz=round(clock_hz))


SIMULATOR = Simulator(
    name="mgpusim",
    title="MGPUSim",
    exporter=Exporter(
        note="kernel-N counts the launches of a process and device from 1: ordinal + 1, which is id + 1 "
        "where the profile has one of each. MGPUSim's reader of lists and traces (d01e70d) was run against "
        "such a folder, its simulation was not",
        takes=frozenset({"shards", "traces", "drop_copies"}),
        export=partial(export_parts, write=_write),
    ),
    results=ResultsReader(recognises_results, read_results),
)
