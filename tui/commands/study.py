"""The command that writes a study."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from sampling.errors import OptionError
from sampling.study.study_file import NewStudy, plan_names, study_text, summarise_new_study
from sampling.text import counted, joined
from tui.options.files import Product, check_place, is_plan, why_not_replaced
from tui.options.simulate import StudyNewOptions
from tui.output.blocks import Block, CommandLine
from tui.output.files import write_text
from tui.output.writer import STDOUT, CommandResult, emit, write_stdout
from tui.text.speedup import per_cent

_DEFAULT = "study.toml"


def run_new(options: StudyNewOptions) -> None:
    """Write a commented study of the plans and configurations that are named."""
    place = options.output or _DEFAULT
    if options.output is None:
        check_place(Path(place), Product.STUDY)
        if not options.force and (why_not := why_not_replaced(Path(place), Product.STUDY)):
            raise OptionError(f"{place} {why_not}", remedy="give another name with -o, or --force")
    plans, configurations = _sorted_out(options.parts)
    study = summarise_new_study(None if place == STDOUT else place, plans, configurations)
    if len(configurations) < 2:
        number = counted(len(configurations), "configuration")
        raise OptionError(f"{number}, where at least two are compared", remedy="give NAME=CONFIG for each")
    if not plans:
        raise OptionError(
            "no plan is named", remedy="`kernelpoint sample PROFILE --for speedups -o plan.json`"
        )
    if "{list}" not in options.simulator:
        remedy = "put it where the simulator takes the list of launches"
        raise OptionError("--simulator has no {list}", remedy=remedy)
    folder = Path.cwd() if place == STDOUT else Path(place).absolute().parent
    text = study_text(
        {name: _from_folder(path, folder) for name, path in plans.items()},
        {name: _from_folder(path, folder) for name, path in configurations.items()},
        options.simulator,
    )
    if place == STDOUT:
        write_stdout(text)
    else:
        write_text(text, Path(place))
    result = CommandResult("study new", study, lambda _: _blocks(study))
    emit(result, options, to_stderr=place == STDOUT, redirect=False)


def _sorted_out(parts: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the plans by the names of their programs, and the configurations' files by their names."""
    plans, configurations = [], dict[str, str]()
    for part in parts:
        name, equals, path = part.partition("=")
        if not equals or is_plan(part):
            plans.append(part)
        elif name in configurations:
            raise OptionError(f"{name} is named twice", remedy="give another name")
        elif not (name and Path(path).is_file()):
            raise OptionError(f"{part}: there is no file {path!r}", remedy="give NAME=gpgpusim.config")
        else:
            configurations[name] = path
    return plan_names(plans), configurations


def _from_folder(path: str, folder: Path) -> str:
    """Return a path as a file in the folder names it."""
    return os.path.relpath(Path(path).absolute(), folder)


def _blocks(study: NewStudy) -> Iterator[Block]:
    """Return what is compared on what, how well the speedups are to be known, and what is typed next."""
    configurations, programs = joined(study.configurations), joined([one.name for one in study.programs])
    yield f"{programs} on {configurations}: {study.path or 'the study'} is written, to be read and completed."
    expected = [
        f"{per_cent(math.expm1(program.expected_interval))} on {program.name}"
        for program in study.programs
        if program.expected_interval is not None
    ]
    if expected:
        sentence = (
            f"A speedup between configurations that are much alike is expected within {joined(expected)}"
        )
        if study.expected_geometric_interval is not None:
            of_mean = per_cent(math.expm1(study.expected_geometric_interval))
            sentence += f"; the geometric mean within {of_mean}"
        yield f"{sentence}."
    if study.path is not None:
        yield CommandLine(f"kernelpoint run {shlex.quote(study.path)}")
