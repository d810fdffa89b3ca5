"""Simulators and tools, one module each: what a plan is exported as, and how what they write is read.

One is one line in ``_EXPORTERS``, ``_RESULT_READERS`` or ``_LOG_READERS``. Its module then has of these::

    NOTE: str               # how its ids are counted, and whether it was tried here
    TAKES: Collection[str]  # which of `ExportChoices` mean something to it
    def export(plan: PlanFile, choices: ExportChoices) -> Exported     # (relative path, content) pairs

    def recognises_results(head: bytes) -> bool    # from the first 64 KiB, or whole lines further on
    def read_results(file: InputFile, metrics: Sequence[str]) -> MeasuredRun

    def recognises_log(head: bytes) -> bool        # of what happens within each kernel
    def read_interval_logs(files: Sequence[InputFile]) -> tuple[IntervalLog, ...]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Protocol, cast

import numpy as np

from sampling.errors import AnalysisError, OptionError, ProfileError
from sampling.plan.plan_file import IN_FOLDER, PlanFile
from sampling.projection import IntervalLog
from sampling.readers.input_file import InputFile, open_input
from sampling.simulators.export import ExportChoices, Exported
from sampling.simulators.measured_run import LinesSoFar, MeasuredRun, kind_of_caches
from sampling.text import Wording, nearest

_FOLDER = "sampling.simulators"
_EXPORTERS = {
    "csv": "csv_files",
    "accel-sim": "accel_sim",
    "macsim": "macsim",
    "mgpusim": "mgpusim",
    "ncu": "ncu",
    "nvbit": "nvbit",
    "rocprofv3": "rocprofv3",
}
#: The most telling first: a CSV of results is known by its header.
_RESULT_READERS = {
    "csv": "csv_files",
    "macsim": "macsim",
    "accel-sim": "gpgpu_sim_output",
    "gpgpu-sim": "gpgpu_sim_output",
}
_LOG_READERS = {"accel-sim": "gpgpu_sim_output", "csv": "csv_files"}
#: Those whose output may come after that of the simulated program.
_PRINTING = ("accel-sim", "macsim")
_MOST_BYTES_BEFORE_A_SIGN = 1 << 26
_TOO_LARGE = 2**62


class Exporter(Protocol):
    """What a module that takes plans offers."""

    NOTE: str
    TAKES: Collection[str]

    def export(self, plan: PlanFile, choices: ExportChoices) -> Exported:
        """Return the files that tell the target which launches to simulate.

        Raises
        ------
        OptionError : there are more shards than launches, or kernel names; an L2 that cannot be filled.
        ProfileError : the traces are not those of the plan's launches, or packed where text is read.
        """


class Reader(Protocol):
    """What a module that reads results, or logs of what happens within each kernel, offers of both."""

    def recognises_results(self, head: bytes) -> bool:
        """Return whether a file that starts like this is of its format."""

    def read_results(self, file: InputFile, metrics: Sequence[str]) -> MeasuredRun:
        """Return what a file says of each launch; no metrics: the usual ones."""

    def recognises_log(self, head: bytes) -> bool:
        """Return whether a file that starts like this is an interval log."""

    def read_interval_logs(self, files: Sequence[InputFile]) -> tuple[IntervalLog, ...]:
        """Return the log of each kernel."""


def exporter_names() -> tuple[str, ...]:
    """Return the names of all exporters."""
    return tuple(_EXPORTERS)


def exporter_named(name: str) -> Exporter:
    """Return an exporter.

    Raises
    ------
    OptionError : there is none of that name.
    """
    if name == "gpgpu-sim":
        raise OptionError(
            "gpgpu-sim in PTX mode runs the program itself and simulates every launch: it takes no selection",
            remedy="export for accel-sim, the same simulator on traces; or simulate the whole program, whose "
            "output is a profile and results",
        )
    if name not in _EXPORTERS:
        raise OptionError(f"there is no exporter {name!r}", remedy=nearest(name, tuple(_EXPORTERS)))
    return cast("Exporter", import_module(f"{_FOLDER}.{_EXPORTERS[name]}"))


def export_plan(plan: PlanFile, target: str, choices: ExportChoices | None = None) -> Exported:
    """Return the files that hand a plan to a simulator or tool; of a plan that was topped up, what is new.

    Raises
    ------
    AnalysisError : all launches of the plan were simulated already.
    OptionError : there is no such target, or a choice means nothing to it or asks for too much; a check of a
        part of a plan.
    ProfileError : traces were given that are not those of the plan's launches.
    """
    exporter, choices = exporter_named(target), choices or ExportChoices()
    choices.refuse_others(exporter.TAKES, target)
    new = plan.to_simulate()
    if not new.drawn:
        raise AnalysisError("all launches of the plan were simulated already")
    if choices.cold_check and plan.simulated:
        raise OptionError(
            Wording("`cold_check` is drawn of a whole plan; launches of this one were simulated already"),
            remedy="the check of the plan that this one came from holds here too",
        )
    return exporter.export(new, choices)


def starts_cold(target: str, choices: ExportChoices) -> bool:
    """Return whether launches start with nothing in the caches, and nothing checks what that costs.

    Raises
    ------
    OptionError : there is no such target.
    """
    if choices.cold_check or "caches" not in exporter_named(target).TAKES:
        return False
    # Accel-Sim's L2 is filled unless it is said otherwise, as soon as there are traces to do so.
    return target != "accel-sim" if choices.caches is None else kind_of_caches(choices.caches) == "cold"


def exported_folder(plan: PlanFile, target: str, choices: ExportChoices | None = None) -> Exported:
    """Return the same with the plan itself beside it, so that `estimate` is told the folder alone."""
    return (*export_plan(plan, target, choices), (IN_FOLDER, plan.text()))


def result_reader(name: str) -> Reader:
    """Return a reader of results.

    Raises
    ------
    OptionError : there is none of that name.
    """
    return _reader(name, _RESULT_READERS, "results")


def _reader(name: str, readers: dict[str, str], what: str) -> Reader:
    if name not in readers:
        raise OptionError(f"there is no reader of {what} {name!r}", remedy=f"there is {', '.join(readers)}")
    return cast("Reader", import_module(f"{_FOLDER}.{readers[name]}"))


def looks_like_results(file: InputFile) -> bool:
    """Return whether a file begins like results; those behind a program's own output are not found."""
    return any(result_reader(name).recognises_results(file.head) for name in _RESULT_READERS)


def recognised_reader(file: InputFile) -> Reader:
    """Return the reader whose format of results a file is of.

    Raises
    ------
    ProfileError : there is none.
    """
    readers = {name: result_reader(name) for name in _RESULT_READERS}
    wanted = "neither what Accel-Sim, GPGPU-Sim or MacSim print, nor a CSV with a column id"
    return _recognised(file, readers, lambda reader, head: reader.recognises_results(head), wanted)


def _recognised(
    file: InputFile, readers: dict[str, Reader], test: Callable[[Reader, bytes], bool], wanted: str
) -> Reader:
    for reader in readers.values():
        if test(reader, file.head):
            return reader
    # What a program prints, or one line for each of many cores, may come before the first telling line.
    read = 0
    for text in LinesSoFar(file):
        for name in _PRINTING:
            if name in readers and test(readers[name], text):
                return readers[name]
        read += len(text)
        if read > _MOST_BYTES_BEFORE_A_SIGN:
            break
    remedy = Wording("give one, or say which it is with `source`")
    raise ProfileError(wanted, path=file.path, remedy=remedy)


def read_interval_logs(paths: Sequence[str], source: str | None = None) -> tuple[IntervalLog, ...]:
    """Read the interval logs of one or more files; "-" is standard input, gzip is read as it is.

    Parameters
    ----------
    source : the name of a reader; None asks the content of the first file.

    Raises
    ------
    OptionError : there is no such reader, or standard input is to be read twice.
    ProfileError : a file is missing, damaged, of no known format, or no interval log.
    """
    if paths.count("-") > 1:
        raise OptionError("standard input (-) can be read once only")
    wanted = "neither a visualizer log of Accel-Sim nor a CSV with the columns cycle, instructions and ctas"
    named = _LOG_READERS if source is None else (source,)
    readers = {name: _reader(name, _LOG_READERS, "interval logs") for name in named}
    with ExitStack() as until_read:
        files = [until_read.enter_context(open_input(path)) for path in paths]
        for file in files:
            if file.is_directory or not file.head:
                what = "a folder, not a log" if file.is_directory else "is empty"
                raise ProfileError(what, path=file.path, remedy="give the simulator's log of a run")
        reader = readers.get(source or "") or _recognised(
            files[0], readers, lambda each, head: each.recognises_log(head), wanted
        )
        logs = reader.read_interval_logs(files)
    for log in logs:
        for what, counts in (("instructions", log.instructions), ("thread blocks", log.ctas)):
            if counts.sum(dtype=np.float64) >= _TOO_LARGE:
                raise ProfileError(
                    f"{log.name} has more {what} than 64 bits can count",
                    path=", ".join(paths),
                    remedy="give the simulator's log of a run",
                )
    return logs
