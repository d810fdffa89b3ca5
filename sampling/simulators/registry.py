"""Simulators and tools, one line each: what a plan is exported as, and how what they write is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeVar, cast

from sampling.errors import AnalysisError, OptionError, ProfileError
from sampling.plan.plan_file import IN_FOLDER, PlanFile
from sampling.readers.input_file import InputFile, open_input
from sampling.simulators.export import PREDECESSORS, ExportChoices
from sampling.simulators.measured_run import LinesSoFar, MeasuredRun, TraceList, caches_kind
from sampling.simulators.simulator import (
    Exported,
    Exporter,
    IntervalReader,
    ResultsReader,
    RunRules,
    Simulator,
)
from sampling.text import Wording, joined, nearest

#: The record of each in this folder: its module and its name there
_SIMULATORS = {
    "csv": "csv_files.SIMULATOR",
    "accel-sim": "accel_sim.SIMULATOR",
    "gem5": "gem5.SIMULATOR",
    "gpgpu-sim": "gpgpu_sim_output.SIMULATOR",
    "macsim": "macsim.SIMULATOR",
    "mgpusim": "mgpusim.SIMULATOR",
    "ncu": "profilers.NCU",
    "nvbit": "profilers.NVBIT",
    "rocprof-compute": "profilers.ROCPROF_COMPUTE",
    "rocprofv3": "profilers.ROCPROFV3",
}
_MOST_BYTES_BEFORE_A_SIGN = 1 << 26


def simulators() -> Iterator[Simulator]:
    """Yield the records of all; each module is imported when its turn comes."""
    return map(_load_simulator, _SIMULATORS)


@cache
def _load_simulator(name: str) -> Simulator:
    module, _, attribute = _SIMULATORS[name].partition(".")
    record = getattr(import_module(f"{__package__}.{module}"), attribute)
    return cast("Simulator", record)


def exporter_names() -> tuple[str, ...]:
    """Return the names of all that a plan is exported for."""
    return names_with("exporter")


def names_with(*features: str) -> tuple[str, ...]:
    """Return the names of all that have these parts of a record or, of an export, take these choices."""
    return tuple(simulator.name for simulator in simulators() if all(map(simulator.has, features)))


def find_exporter(name: str) -> Exporter:
    """Return how a plan is handed over to one; OptionError where there is none of that name."""
    simulator = _load_simulator(name) if name in _SIMULATORS else None
    if simulator is None or simulator.exporter is None:
        instead = simulator.instead if simulator is not None else ""
        raise OptionError(f"there is no exporter {name!r}", remedy=instead or nearest(name, exporter_names()))
    return simulator.exporter


def find_run_rules(name: str) -> RunRules:
    """Return how one runs launches; OptionError where nothing here runs it."""
    rules = _load_simulator(name).run if name in _SIMULATORS else None
    if rules is None:
        raise OptionError(f"nothing runs {name} here: there is {', '.join(names_with('run'))}")
    return rules


def export_plan(plan: PlanFile, target: str, choices: ExportChoices | None = None) -> Exported:
    """Return the files that hand a plan to a simulator or tool; of a plan that was topped up, what is new.

    Raises AnalysisError: all launches were simulated already; OptionError: there is no such target, or a
    choice means nothing to it or asks for too much; ProfileError: traces are of other launches.
    """
    exporter, choices = find_exporter(target), choices or ExportChoices()
    for choice in fields(choices):
        is_made = choice.compare and getattr(choices, choice.name) != choice.default
        if is_made and choice.name not in exporter.takes:
            raise OptionError(Wording(f"`{choice.name}` means nothing to {{}}", target))
    new = plan.to_simulate()
    if not new.drawn:
        raise AnalysisError("all launches of the plan were simulated already")
    if choices.cold_check and plan.simulated:
        raise OptionError(
            Wording("`cold_check` is drawn of a whole plan; launches of this one were simulated already"),
            remedy="the check of the plan that this one came from holds here too",
        )
    return exporter.export(_load_simulator(target), new, choices)


def exported_folder(plan: PlanFile, target: str, choices: ExportChoices | None = None) -> Exported:
    """Return the same with the plan itself beside it, so that `estimate` is told the folder alone."""
    return (*export_plan(plan, target, choices), (IN_FOLDER, plan.text()))


def starts_cold(target: str, choices: ExportChoices) -> bool:
    """Return whether launches start with nothing in the caches, and nothing checks what that costs."""
    exporter = find_exporter(target)
    if choices.cold_check or "caches" not in exporter.takes or exporter.only_records(choices):
        return False
    # What can be filled is, unless it is said otherwise, as soon as there are traces to do so.
    return not exporter.fills if choices.caches is None else caches_kind(choices.caches) == "cold"


def warm_caches(name: str | None) -> str | None:
    """Return the choice of `caches` by which launches find what the program left; None without one."""
    exporter = _load_simulator(name).exporter if name in _SIMULATORS else None
    if exporter is None or "caches" not in exporter.takes:
        return None
    return "warm" if exporter.fills else f"after:{PREDECESSORS}"


def read_results(file: InputFile, metrics: Sequence[str], source: str | None = None) -> MeasuredRun:
    """Return what a file says of each launch; without a source its content tells whose it is.

    Raises OptionError: there is no such reader or metric; ProfileError: the file is of no known format, or
    damaged.
    """
    readers = {
        simulator.name: simulator.results for simulator in simulators() if simulator.results is not None
    }
    titles = [_load_simulator(name).title for name, reader in readers.items() if not reader.is_table]
    tables = " nor ".join(reader.form for reader in readers.values() if reader.is_table)
    wrong = f"neither what {joined(titles, 'or')} print, nor {tables}"
    remedy = "; a recording of the program on another GPU is for `kernelpoint judge --align operator`"
    reader = choose_reader(file, readers, source, kind="results", wrong=wrong, remedy=remedy)
    return reader.read(file, metrics)


def read_trace_list(path: str) -> TraceList:
    """Read a list of launches, or that of a folder of traces; "-" is standard input.

    Raises ProfileError where there is none, it is of no known format, lists nothing, or is damaged.
    """
    readers = [simulator.trace_list for simulator in simulators() if simulator.trace_list is not None]
    lists = [place for reader in readers for place in reader.find_lists(Path(path))]
    with open_input(str(lists[0]) if lists else path) as file:
        for reader in readers:
            if reader.recognises(file.head):
                return reader.read(file)
        forms = [reader.form for reader in readers]
        raise ProfileError(
            f"neither {', '.join(forms[:-1])}, nor {forms[-1]}",
            path=file.path,
            remedy="give one of them, or the folder of the traces",
        )


_Reader = TypeVar("_Reader", ResultsReader, IntervalReader)


def choose_reader(
    file: InputFile,
    readers: Mapping[str, _Reader],
    source: str | None,
    *,
    kind: str,
    wrong: str,
    remedy: str = "",
) -> _Reader:
    """Return the reader of a source, or the first that recognises a file's content.

    Raises OptionError: there is no such source; ProfileError: no reader recognises it, which is `wrong`.
    """
    if source is not None:
        if source not in readers:
            wrong = f"there is no reader of {kind} {source!r}"
            raise OptionError(wrong, remedy=f"there is {', '.join(sorted(readers))}")
        return readers[source]
    for reader in readers.values():
        if reader.recognises(file.head):
            return reader
    # What a program prints, or one line for each of many cores, may come before the first telling line; but
    # a table is known by its first line alone.
    printing = [reader for reader in readers.values() if not reader.is_table]
    searched = 0
    for text in LinesSoFar(file):
        for reader in printing:
            if reader.recognises(text):
                return reader
        searched += len(text)
        if searched > _MOST_BYTES_BEFORE_A_SIGN:
            break
    wording = Wording(f"give one, or say which it is with `source`{remedy}")
    raise ProfileError(wrong, path=file.path, remedy=wording)


@contextmanager
def opened(
    paths: Sequence[str], kind: str, manifests: Sequence[str] = ()
) -> Iterator[tuple[list[InputFile], list[InputFile]]]:
    """Open files that must not be empty, and others; "-" is standard input, gzip is read as it is."""
    if [*paths, *manifests].count("-") > 1:
        raise OptionError("standard input (-) can be read once only")
    with ExitStack() as until_read:
        files, manifest_files = (
            [until_read.enter_context(open_input(path)) for path in names] for names in (paths, manifests)
        )
        for file in files:
            if file.is_directory or not file.head:
                wrong = f"a folder, not a {kind}" if file.is_directory else "is empty"
                raise ProfileError(wrong, path=file.path, remedy="give what the simulator wrote of a run")
        yield files, manifest_files
