"""A simulator or tool as one record: what it takes, writes and prints, and how it runs.

A new one is a module that defines its `Simulator`, and a line in the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sampling.plan.plan_file import PlanFile
from sampling.projection import IntervalLog
from sampling.readers.input_file import InputFile
from sampling.simulators.export import ExportChoices
from sampling.simulators.measured_run import MeasuredRun, TraceList

#: Relative path and content of a file; of a large one what writes it
Content = str | Callable[[IO[bytes]], None]
Exported = tuple[tuple[str, Content], ...]


@dataclass(frozen=True, slots=True)
class Exporter:
    """How a simulator or tool is handed a plan."""

    note: str  #: how its ids are counted, and whether it was tried here
    takes: frozenset[str]  #: which of `ExportChoices` mean something to it
    #: makes all files; of most targets `exporter.export_parts` with what writes those of a process and device
    export: Callable[[Simulator, PlanFile, ExportChoices], Exported]
    fills: bool = False  #: whether its caches can be filled otherwise than by launches
    #: whether an export without traces simulates nothing, and has the scripts that record them
    needs_traces: bool = False
    uses_nvbit: bool = False  #: launches of a process are counted on all devices; kernels that wait hang
    runs_program: bool = False  #: its scripts run the program, whose order launches keep
    by_name: bool = False  #: it is told the launches of a kernel together
    logs: str = "run*/run.log"  #: where its scripts leave results
    page: str = ""  #: its own text of the page; "" is README.txt of its folder of templates

    def only_records(self, choices: ExportChoices) -> bool:
        """Return whether an export records traces, without which nothing can be simulated."""
        return self.needs_traces and choices.traces is None


@dataclass(frozen=True, slots=True)
class ResultsReader:
    """How what a simulator measured of each launch is read; raises ProfileError and OptionError."""

    recognises: Callable[[bytes], bool]  #: by the first 64 KiB, or by whole lines further on
    read: Callable[[InputFile, Sequence[str]], MeasuredRun]  #: a file, with these metrics
    is_table: bool = False  #: so that the first line alone tells; else it is what the simulator prints
    form: str = ""  #: of a table, what it is, in words


@dataclass(frozen=True, slots=True)
class IntervalReader:
    """How logs of what happens within each kernel are read; raises ProfileError."""

    recognises: Callable[[bytes], bool]  #: by the first 64 KiB, or by whole lines further on
    read: Callable[[Sequence[InputFile]], tuple[IntervalLog, ...]]
    form: str  #: what it reads, in words
    is_table: bool = False  #: so that the first line alone tells


@dataclass(frozen=True, slots=True)
class TraceListReader:
    """How the list of launches that a tracer wrote is read; raises ProfileError."""

    #: patterns of its files in a folder of traces, that of all launches before the traced ones
    names: tuple[str, ...]
    recognises: Callable[[bytes], bool]  #: by the first 64 KiB
    read: Callable[[InputFile], TraceList]
    form: str  #: what it reads, in words

    def find_lists(self, folder: Path) -> list[Path]:
        """Return the lists in a folder of traces, or in the folder ``traces`` in it; the best one first."""
        if not folder.is_dir():
            return []
        places = (place / name for name in self.names for place in (folder, folder / "traces"))
        return [path for place in places for path in sorted(place.parent.glob(place.name)) if path.is_file()]


def _no_inputs(*_: object) -> Mapping[Path, Path | str]:
    return {}


@dataclass(frozen=True, slots=True)
class RunRules:
    """How the simulator runs launches in a folder of its own."""

    #: what its command line must have in it: {list} or {id}; "" where it finds what to run in its folder
    placeholder: str
    example: str  #: of such a command line
    #: the list of a shard in an export, {} being what tells it from others; "" where the command is told the
    #: id of one launch and gives its cycles, of which a table is made that is read as results
    list_name: str = ""
    #: by where it is looked for, what it reads beside its list: a file or folder that exists, or a text; of a
    #: list, the folder of its traces, the folder that the command runs in, the command's words, and the
    #: folder that it was typed for
    find_inputs: Callable[[Path, Path, Path, Sequence[str], Path], Mapping[Path, Path | str]] = _no_inputs

    @property
    def is_told_ids(self) -> bool:
        """Whether its command is told the id of a launch, which runs alone."""
        return not self.list_name


@dataclass(frozen=True, slots=True)
class Simulator:
    """A simulator or tool, of which None is what it does not do."""

    name: str  #: as options have it
    title: str  #: as sentences have it
    exporter: Exporter | None = None
    results: ResultsReader | None = None
    intervals: IntervalReader | None = None
    trace_list: TraceListReader | None = None
    run: RunRules | None = None
    instead: str = ""  #: of one without an exporter, what to do instead

    def has(self, feature: str) -> bool:
        """Return whether it has a part of this record, or its export takes or does this."""
        if feature in type(self).__slots__:
            return bool(getattr(self, feature))
        exporter = self.exporter
        return exporter is not None and (feature in exporter.takes or bool(getattr(exporter, feature, False)))
