"""Simulators and tools, found by one table: what a plan is exported as, and how what they write is read.

A module is named in up to three ways::

    EXPORTER: Exporter                     # how a plan is handed over; a module of several has one for each

    def recognises_results(head: bytes) -> bool    # from the first 64 KiB, or whole lines further on
    def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun    # no metrics: the usual ones

    def recognises_log(head: bytes) -> bool        # of what happens within each kernel
    def read_interval_logs(files: Sequence[InputFile]) -> tuple[IntervalLog, ...]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, cast

import numpy as np

from sampling.errors import AnalysisError, OptionError, ProfileError
from sampling.plan.plan_file import IN_FOLDER, PlanFile
from sampling.projection import IntervalLog
from sampling.readers.input_file import InputFile, open_input
from sampling.simulators.export import ExportChoices, Exported, Exporter
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
#: Those whose output may come after that of the simulated program
_PRINTING = ("accel-sim", "macsim")
_MOST_BYTES_BEFORE_A_SIGN = 1 << 26
_TOO_LARGE = 2**62


def exporter_names() -> tuple[str, ...]:
    """Return the names of all exporters."""
    return tuple(_EXPORTERS)


def exporter_named(name: str) -> Exporter:
    """Return an exporter; OptionError where there is none of that name."""
    if name == "gpgpu-sim":
        raise OptionError(
            "gpgpu-sim in PTX mode runs the program itself and simulates every launch: it takes no selection",
            remedy="export for accel-sim, the same simulator on traces; or simulate the whole program, whose "
            "output is a profile and results",
        )
    if name not in _EXPORTERS:
        raise OptionError(f"there is no exporter {name!r}", remedy=nearest(name, tuple(_EXPORTERS)))
    module, _, attribute = _EXPORTERS[name].partition(".")
    return cast("Exporter", getattr(import_module(f"{_FOLDER}.{module}"), attribute))


def export_plan(plan: PlanFile, target: str, choices: ExportChoices | None = None) -> Exported:
    """Return the files that hand a plan to a simulator or tool; of a plan that was topped up, what is new.

    Raises AnalysisError: all launches of the plan were simulated already; OptionError: there is no such
    target, or a choice means nothing to it or asks for too much; a check of a part of a plan; ProfileError:
    traces were given that are not those of the plan's launches.
    """
    exporter, choices = exporter_named(target), choices or ExportChoices()
    choices.refuse_others(exporter.takes, target)
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
    if choices.cold_check or "caches" not in exporter_named(target).takes:
        return False
    # Accel-Sim's L2 is filled unless it is said otherwise, as soon as there are traces to do so.
    return target != "accel-sim" if choices.caches is None else kind_of_caches(choices.caches) == "cold"


def read_results(file: InputFile, metrics: Sequence[str], source: str | None = None) -> MeasuredRun:
    """Return what a file says of each launch; without a source its content tells whose it is.

    Raises OptionError: there is no such reader, or it cannot give a metric; ProfileError: the file is of no
    known format, or damaged.
    """
    wanted = "neither what Accel-Sim, GPGPU-Sim or MacSim print, nor a CSV with a column id"
    readers = _readers(_RESULT_READERS, source, "results")
    reader = _recognised(file, readers, "recognises_results", wanted) if source is None else readers[source]
    return cast("MeasuredRun", reader.read_results(file, metrics))


def read_interval_logs(paths: Sequence[str], source: str | None = None) -> tuple[IntervalLog, ...]:
    """Read the interval logs of one or more files; without a source the content of the first tells whose.

    Raises OptionError: there is no such reader, or standard input is to be read twice; ProfileError: a file
    is missing, damaged, of no known format, or no interval log.
    """
    wanted = "neither a visualizer log of Accel-Sim nor a CSV with the columns cycle, instructions and ctas"
    readers = _readers(_LOG_READERS, source, "interval logs")
    with opened(paths, "log") as (files, _):
        reader = (
            _recognised(files[0], readers, "recognises_log", wanted) if source is None else readers[source]
        )
        logs: tuple[IntervalLog, ...] = reader.read_interval_logs(files)
    for log in logs:
        for what, counts in (("instructions", log.instructions), ("thread blocks", log.ctas)):
            if counts.sum(dtype=np.float64) >= _TOO_LARGE:
                raise ProfileError(
                    f"{log.name} has more {what} than 64 bits can count",
                    path=", ".join(paths),
                    remedy="give the simulator's log of a run",
                )
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


def _readers(modules: Mapping[str, str], source: str | None, what: str) -> dict[str, Any]:
    if source is not None and source not in modules:
        raise OptionError(f"there is no reader of {what} {source!r}", remedy=f"there is {', '.join(modules)}")
    names = modules if source is None else (source,)
    return {name: import_module(f"{_FOLDER}.{modules[name]}") for name in names}


def _recognised(file: InputFile, readers: Mapping[str, Any], verb: str, wanted: str) -> Any:
    tests: dict[str, Callable[[bytes], bool]] = {name: getattr(each, verb) for name, each in readers.items()}
    for name, test in tests.items():
        if test(file.head):
            return readers[name]
    # What a program prints, or one line for each of many cores, may come before the first telling line.
    read = 0
    for text in LinesSoFar(file):
        for name in _PRINTING:
            if name in tests and tests[name](text):
                return readers[name]
        read += len(text)
        if read > _MOST_BYTES_BEFORE_A_SIGN:
            break
    raise ProfileError(wanted, path=file.path, remedy=Wording("give one, or say which it is with `source`"))
