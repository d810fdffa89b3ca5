"""A study as a file: which programs are simulated on which configurations, and where their results are.

::

    [study]
    base = "base"              # what the others are compared with; the first configuration where left out
    target = 0.01              # the half-width that speedups are to reach; or left out
    same_within = 0.005        # two are the same where their speedup is surely within this of 1

    [configurations.base]      # may be empty where results are given
    simulator = "accel-sim.out -config base/gpgpusim.config -config base/trace.config -trace {list}"
    config = "base/gpgpusim.config"       # for the size of its L2

    [configurations.gto]
    simulator = "accel-sim.out -config gto/gpgpusim.config -config gto/trace.config -trace {list}"

    [programs.bfs]
    plan = "bfs.json"          # or profile, of which a plan is made when the study is run
    traces = "traces/bfs"
    results = "out/{configuration}/{program}.log"      # or left out: what `kernelpoint run` makes of it

Paths are relative to the file's folder.
"""

from __future__ import annotations

import glob
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from sampling.errors import ProfileError
from sampling.estimation.configurations import expected_half_width
from sampling.plan.plan_file import read_plan
from sampling.readers.small_file import parsed_toml, read_text
from sampling.record import Amount, Count, Record
from sampling.simulators.results import expand_runs
from sampling.text import counted, listed

_MEANT = "a TOML with tables [study], [configurations.NAME] and [programs.NAME]"
_BelowOne = Annotated[float, Meta(gt=0, lt=1)]
_TABLE = re.compile(r"^\s*\[?\s*(configurations|programs|study)\b", re.MULTILINE)
# A name is that of a folder, and is typed as NAME=RESULTS.
_NAME = re.compile(r"[^/=.{}\x00-\x1f][^/={}\x00-\x1f]{0,99}")


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """``[study]``: what is compared with what, and how surely."""

    base: str | None = None
    target: _BelowOne | None = None
    same_within: _BelowOne = 0.005


class StudyConfiguration(Struct, frozen=True, forbid_unknown_fields=True):
    """``[configurations.NAME]``: how its launches are simulated, where they are."""

    #: A command line with {list}, as `kernelpoint run` takes it.
    simulator: str | None = None
    to: str = "accel-sim"
    config: str | None = None


class StudyProgram(Struct, frozen=True, forbid_unknown_fields=True):
    """``[programs.NAME]``: its plan, or the profile that one is made of, and where its results are."""

    plan: str | None = None
    profile: str | None = None
    traces: str | None = None
    #: With {configuration} and {program}, * and ?; what `kernelpoint run` makes where left out.
    results: str | None = None


class _Document(Struct, frozen=True, forbid_unknown_fields=True):
    configurations: dict[str, StudyConfiguration]
    programs: dict[str, StudyProgram]
    study: Settings = Settings()


@dataclass(frozen=True)
class Study:
    """Programs on configurations; the first configuration is the base."""

    #: As the file was named.
    path: str
    settings: Settings
    configurations: Mapping[str, StudyConfiguration]
    programs: Mapping[str, StudyProgram]

    @property
    def base(self) -> str:
        """The name of the configuration that the others are compared with."""
        return next(iter(self.configurations))

    @cached_property
    def folder(self) -> Path:
        """The folder that its paths are relative to."""
        return Path(self.path).absolute().parent

    @property
    def run_folder(self) -> Path:
        """Where `kernelpoint run` works."""
        return self.folder / f"{Path(self.path).stem}.run"

    def place(self, path: str | None) -> str | None:
        """Return the path that a path of the file means."""
        return None if path is None else str(self.folder / Path(path).expanduser())

    def cell_folder(self, program: str, configuration: str) -> Path:
        """Return the folder of the run of a program on a configuration."""
        return self.run_folder / program / configuration

    def plan_path(self, program: str) -> Path | None:
        """Return the plan of a program, as large as a run made it; None where none is made yet."""
        grown = self.cell_folder(program, self.base) / "plan.json"
        of_profile = self.run_folder / program / "plan.json"
        given = self.place(self.programs[program].plan)
        places = [grown, of_profile if given is None else Path(given)]
        if self.programs[program].results is not None:
            places.reverse()
        return next((place for place in places if place.is_file()), None)

    def result_place(self, program: str, configuration: str) -> str:
        """Return where the results of a program on a configuration are, as a pattern."""
        pattern = self.programs[program].results
        if pattern is None:
            return str(self.cell_folder(program, configuration))
        text = pattern.replace("{configuration}", configuration).replace("{program}", program)
        return str(self.folder / Path(text).expanduser())

    def result_files(self, program: str, configuration: str) -> list[str]:
        """Return the files of results of a program on a configuration, or the folder of its run, if any."""
        place = self.result_place(program, configuration)
        if self.programs[program].results is None:
            return [place] if expand_runs([place])[0] not in ([], [place]) else []
        return [place] if Path(place).exists() else sorted(glob.glob(place))  # noqa: PTH207 - takes absolute ones

    def shortened(self, path: str | Path) -> str:
        """Return a path as the file would name it."""
        path = Path(path)
        return str(path.relative_to(self.folder) if path.is_relative_to(self.folder) else path)


def is_study(path: str) -> bool:
    """Return whether a file is named as a study is."""
    return Path(path).suffix == ".toml"


def read_study(path: str) -> Study:
    """Read a study; ProfileError where it cannot be read or says what cannot be."""
    text = read_text(path, meant=_MEANT)
    if _TABLE.search(text) is None:
        remedy = "`kernelpoint study new` writes one; sizes of a GPU are opened by `kernelpoint scale`"
        raise ProfileError("no study: it has no table [configurations.NAME]", path=path, remedy=remedy)
    document = parsed_toml(text, path, _Document, meant=_MEANT)
    if (wrong := next(_wrong_parts(document), None)) is not None:
        message, key, remedy = wrong
        raise ProfileError(message, path=path, key=key, remedy=remedy)
    base = document.study.base or next(iter(document.configurations))
    ordered = {base: document.configurations[base], **document.configurations}
    return Study(path, document.study, ordered, document.programs)


def _wrong_parts(document: _Document) -> Iterator[tuple[str, str, str]]:
    """Yield what a study cannot be, the key to blame, and what to do about it."""
    names, base = list(document.configurations), document.study.base
    for name in (*names, *document.programs):
        if not _NAME.fullmatch(name):
            yield "a folder cannot have this name", name, "leave out / = { } and a point in front"
    if len(names) < 2:
        message = f"{counted(len(names), 'configuration')}, where at least two are compared"
        yield message, "configurations", "add a table [configurations.NAME]"
    if not document.programs:
        yield "no program", "programs", "add a table [programs.NAME] with its plan"
    if base is not None and base not in names:
        yield f"{base} is no configuration of these", "study.base", f"one of {listed(names)}"
    for name, program in document.programs.items():
        key = f"programs.{name}"
        if (program.plan is None) == (program.profile is None):
            message = "no plan" if program.plan is None else "both a plan and a profile"
            yield message, key, "give its plan, or the profile that one is made of"
        if program.results is not None and "{configuration}" not in program.results:
            message = "it does not say which configuration"
            yield message, f"{key}.results", "put {configuration} where it differs"


class ProgramPrecision(Record, frozen=True):
    """How well speedups on a program are to be known."""

    name: str
    plan: str
    launches: Count
    drawn: Count
    #: The half-width of log R to expect between configurations that are much alike; None where launches were
    #: picked.
    expected_interval: Amount | None


class NewStudy(Record, frozen=True):
    """A study that was written."""

    #: None for standard output.
    path: str | None
    configurations: list[str]
    programs: list[ProgramPrecision]
    #: Of the geometric mean over the programs; None of a single one, or where one has none.
    expected_geometric_interval: Amount | None


def summarise_new_study(
    path: str | None, plans: Mapping[str, str], configurations: Iterable[str]
) -> NewStudy:
    """Return what a study is made of, and how well its speedups are to be known.

    Raises PlanFileError: a plan cannot be read.
    """
    programs = []
    for name, place in plans.items():
        plan = read_plan(place)
        expected = expected_half_width(plan)
        programs.append(ProgramPrecision(name, place, plan.launches, len(plan.drawn), expected))
    half_widths = [program.expected_interval for program in programs]
    of_mean = None
    if len(programs) > 1 and None not in half_widths:
        # As of `suite.means`.
        of_mean = math.hypot(*(half_width or 0.0 for half_width in half_widths)) / len(programs)
    return NewStudy(path, list(configurations), programs, of_mean)


def study_text(plans: Mapping[str, str], configurations: Mapping[str, str], simulator: str) -> str:
    """Return a commented file of a study of plans and configuration files, by their names.

    ``simulator``: its command line, with {config} where the configuration's file is named.
    """
    base = next(iter(configurations))
    lines = [
        "# Programs on configurations: `kernelpoint run` simulates, `kernelpoint speedup` compares them.",
        "# Paths are relative to the folder of this file.",
        "",
        "[study]",
        f"base = {_quoted(base)}  # what the others are compared with",
        "target = 0.01  # run until every speedup is known within this to either side",
        "same_within = 0.005  # two are the same where their speedup is surely within this of 1",
    ]
    for name, config in configurations.items():
        lines += ["", f"[configurations.{_key(name)}]"]
        # A line of its own for each, to be changed by hand.
        lines.append(f"simulator = {_quoted(simulator.replace('{config}', config))}")
        lines.append(f"config = {_quoted(config)}  # for the size of its L2")
    for name, plan in plans.items():
        lines += [
            "",
            f"[programs.{_key(name)}]",
            f"plan = {_quoted(plan)}",
            f"traces = {_quoted(f'traces/{name}')}  # what a tracer recorded of it",
            '# results = "out/{configuration}/{program}.log"  # where they are, if not simulated by `run`',
        ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a text as a TOML string, which JSON's is too."""
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    """Return a name as a part of a TOML key."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def plan_names(plans: Sequence[str]) -> dict[str, str]:
    """Return the plans by what their programs are called: the file's name, with a number where two agree."""
    names: dict[str, str] = {}
    for plan in plans:
        stem = Path(plan).name.removesuffix(".json").removesuffix(".plan") or "program"
        name, number = stem, 1
        while name in names:
            number += 1
            name = f"{stem}-{number}"
        names[name] = plan
    return names
