"""Simulators and tools, found by one table: what a plan is exported as, and how what they write is read.

A module of results has ``recognises_results(head) -> bool`` (from the first 64 KiB, or whole lines further
on) and ``read_results(file, metrics) -> MeasuredRun``; one of what happens within each kernel has
``recognises_log(head) -> bool`` and ``read_interval_logs(files) -> tuple[IntervalLog, ...]``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from importlib import import_module
from typing import Any, cast

import numpy as np

from sampling.errors import AnalysisError, OptionError, ProfileError
from sampling.plan.plan_file import IN_FOLDER, PlanFile
from sampling.projection import IntervalLog
from sampling.readers.input_file import InputFile, open_input
from sampling.simulators.export import ExportChoices
from sampling.simulators.exporter import Exported, Exporter
from sampling.simulators.measured_run import LinesSoFar, MeasuredRun, kind_of_caches
from sampling.text import Wording, nearest

_FOLDER = "sampling.simulators"
_EXPORTERS = {
    "csv": "csv_files.EXPORTER",
    "accel-sim": "accel_sim.ACCEL_SIM",
    "macsim": "macsim.EXPORTER",
    "mgpusim": "accel_sim.MGPUSIM",
    "ncu": "profilers.NCU",
    "nvbit": "profilers.NVBIT",
    "rocprofv3": "profilers.ROCPROFV3",
}
#: The most telling first: a CSV of results is known by its header
_RESULT_READERS = {
    "csv": "csv_files",
    "macsim": "macsim",
    "accel-sim": "gpgpu_sim_output",
    "gpgpu-sim": "gpgpu_sim_output",
}
_LOG_READERS = {"accel-sim": "gpgpu_sim_output", "csv": "csv_files"}
_MOST_BYTES_BEFORE_A_SIGN = 1 << 26
_TOO_LARGE = 2**62


def exporter_names() -> tuple[str, ...]:
    """Return the names of all exporters."""
    return tuple(_EXPORTERS)


def exporter_named(name: str) -> Exporter:
    """Return an exporter; OptionError where there is none of that name."""
    if name not in _EXPORTERS:
        on_traces = "export for accel-sim, the same simulator on traces"
        remedy = on_traces if name == "gpgpu-sim" else nearest(name, tuple(_EXPORTERS))
        raise OptionError(f"there is no exporter {name!r}", remedy=remedy)
    module, _, attribute = _EXPORTERS[name].partition(".")
    return cast("Exporter", getattr(import_module(f"{_FOLDER}.{module}"), attribute))


def export_plan(plan: PlanFile, target: str, choices: ExportChoices | None = None) -> Exported:
    """Return the files that hand a plan to a simulator or tool; of a plan that was topped up, what is new.

    Raises AnalysisError: all launches were simulated already; OptionError: there is no such target, or a
    choice means nothing to it or asks for too much; ProfileError: traces are of other launches.
    """
    exporter, choices = exporter_named(target), choices or ExportChoices()
    for each in fields(choices):
        is_made = each.compare and getattr(choices, each.name) != each.default
        if is_made and each.name not in exporter.takes:
            raise OptionError(Wording(f"`{each.name}` means nothing to {{}}", target))
    new = plan.to_simulate()
    if not new.drawn:
        raise AnalysisError("all launches of the plan were simulated already")
    if choices.cold_check and plan.simulated:
        raise OptionError(
            Wording("`cold_check` is drawn of a whole plan; launches of this one were simulated already"),
            remedy="the check of the plan that this one came from holds here too",
        )
    return exporter.export(new, choices)


def exported_folder(plan: PlanFile, target: str, choices: ExportChoices | None = None) -> Exported:
    """Return the same with the plan itself beside it, so that `estimate` is told the folder alone."""
    return (*export_plan(plan, target, choices), (IN_FOLDER, plan.text()))


def starts_cold(target: str, choices: ExportChoices) -> bool:
    """Return whether launches start with nothing in the caches, and nothing checks what that costs."""
    exporter = exporter_named(target)
    if choices.cold_check or "caches" not in exporter.takes:
        return False
    # What can be filled is, unless it is said otherwise, as soon as there are traces to do so.
    return not exporter.fills if choices.caches is None else kind_of_caches(choices.caches) == "cold"


def read_results(file: InputFile, metrics: Sequence[str], source: str | None = None) -> MeasuredRun:
    """Return what a file says of each launch; without a source its content tells whose it is.

    Raises OptionError: there is no such reader or metric; ProfileError: the file is of no known format, or
    damaged.
    """
    wanted = "neither what Accel-Sim, GPGPU-Sim or MacSim print, nor a CSV with a column id"
    reader = _reader(file, _RESULT_READERS, source, "results", wanted)
    return cast("MeasuredRun", reader.read_results(file, metrics))


def read_interval_logs(paths: Sequence[str], source: str | None = None) -> tuple[IntervalLog, ...]:
    """Read the interval logs of some files; without a source the content of the first tells whose.

    Raises OptionError: there is no such reader; ProfileError: a file is damaged, or no interval log.
    """
    wanted = "neither a visualizer log of Accel-Sim nor a CSV with the columns cycle, instructions and ctas"
    with opened(paths, "log") as (files, _):
        reader = _reader(files[0], _LOG_READERS, source, "log", wanted)
        logs: tuple[IntervalLog, ...] = reader.read_interval_logs(files)
    logs = tuple(
        replace(log, name=log.name or f"kernel {number}") for number, log in enumerate(logs, start=1)
    )
    for log in logs:
        if max(counts.sum(dtype=np.float64) for counts in (log.instructions, log.ctas)) >= _TOO_LARGE:
            wrong = f"{log.name} has more instructions or thread blocks than 64 bits can count"
            raise ProfileError(wrong, path=", ".join(paths), remedy="give the simulator's log of a run")
    return logs


@contextmanager
def opened(
    paths: Sequence[str], what: str, beside: Sequence[str] = ()
) -> Iterator[tuple[list[InputFile], list[InputFile]]]:
    """Open files that must not be empty, and others; "-" is standard input, gzip is read as it is."""
    if [*paths, *beside].count("-") > 1:
        raise OptionError("standard input (-) can be read once only")
    with ExitStack() as until_read:
        files, others = (
            [until_read.enter_context(open_input(path)) for path in each] for each in (paths, beside)
        )
        for file in files:
            if file.is_directory or not file.head:
                wrong = f"a folder, not a {what}" if file.is_directory else "is empty"
                raise ProfileError(wrong, path=file.path, remedy="give what the simulator wrote of a run")
        yield files, others


def _reader(file: InputFile, modules: Mapping[str, str], source: str | None, what: str, wanted: str) -> Any:
    """Return the module that reads a file: that of its source, or the first that recognises its content."""
    if source is not None:
        if source not in modules:
            remedy = f"there is {', '.join(modules)}"
            raise OptionError(f"there is no reader of {what} {source!r}", remedy=remedy)
        return import_module(f"{_FOLDER}.{modules[source]}")
    readers = [import_module(f"{_FOLDER}.{name}") for name in dict.fromkeys(modules.values())]
    verb = f"recognises_{what}"
    for reader in readers:
        if getattr(reader, verb)(file.head):
            return reader
    # What a program prints, or one line for each of many cores, may come before the first telling line; but
    # a table is known by its first line alone.
    printing = [reader for reader in readers if not reader.__name__.endswith("csv_files")]
    read = 0
    for text in LinesSoFar(file):
        for reader in printing:
            if getattr(reader, verb)(text):
                return reader
        read += len(text)
        if read > _MOST_BYTES_BEFORE_A_SIGN:
            break
    remedy = "give one, or say which it is with `source`"
    if what == "results":
        remedy += "; a recording of the program on another GPU is for `kernelpoint judge --align operator`"
    raise ProfileError(wanted, path=file.path, remedy=Wording(remedy))
