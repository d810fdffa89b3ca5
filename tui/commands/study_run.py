"""The command that runs a study: all of its programs on all of its configurations."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import fields, replace

from msgspec import structs

from sampling.errors import OptionError
from sampling.plan.sensitivity import parse_duration
from sampling.running.request import split_caches
from sampling.running.study_run import (
    StudyProgress,
    StudyRunRequest,
    StudyRunResult,
    run_study,
    write_study_array,
)
from sampling.running.study_summary import summarise_study_run
from sampling.simulators.export import ExportChoices
from sampling.simulators.measured_run import caches_kind
from sampling.simulators.registry import find_run_rules, starts_cold
from sampling.study.study_file import Study, read_study
from sampling.study.summary import SpeedupSummary
from sampling.text import Wording
from tui.commands.running import interruptible, progress_width, show_progress
from tui.commands.speedup import check_study, study_result
from tui.options.command_line import options_of
from tui.options.files import Product, check_place
from tui.options.simulate import RunOptions, SpeedupOptions
from tui.output.blocks import Block, CommandLine
from tui.output.writer import Canvas, CommandResult, emit
from tui.terminal.diagnostics import ProgressMeter, note
from tui.text import study_run as words
from tui.text.run import COLD_STUDY

#: Options of a plan that a study says itself, and where; or why there is no such thing.
_IN_THE_FILE = {
    "simulator": "its [configurations.NAME] says `simulator`",
    "to": "its [configurations.NAME] says `to`",
    "config": "its [configurations.NAME] says `config`",
    "traces": "its [programs.NAME] says `traces`",
    "output": "its runs are in a folder beside it",
    "assume_like": "it is of one plan's total",
    "cold_check": "it is of one plan's total",
}


def run_study_file(options: RunOptions) -> None:
    """Go on with the run of a study, or begin it; show how far it is, and what it came to."""
    _refuse_what_the_study_says(options)
    study = read_study(options.plan)
    if options.target is not None:
        if not options.target:
            raise OptionError(Wording("`target` is a fraction between 0 and 1, not {:g}", options.target))
        study = replace(study, settings=structs.replace(study.settings, target=options.target))
    check_place(study.run_folder, Product.FOLDER)
    target = study.settings.target
    timeout_seconds = None if options.timeout is None else parse_duration(options.timeout, "timeout")
    if target is not None and not options.accept_cold and _starts_cold(study, options.caches):
        note(COLD_STUDY, quiet=options.quiet)
    with ProgressMeter(quiet=options.quiet) as meter:

        def show(progress: StudyProgress) -> None:
            line = words.study_progress_line(progress, target, progress_width())
            show_progress(words.study_news_line(progress, target), line, options, meter)

        request = StudyRunRequest(study, options.jobs, timeout_seconds, options.caches, meter)
        with interruptible(study.run_folder, options, meter):
            result = (write_study_array if options.slurm else run_study)(request, show)
    of_study = options_of(SpeedupOptions, options, output=None, target=target)
    emit(study_answer(study, result, of_study), options, redirect=False)
    if not result.is_waiting:
        check_study(result.speedups, of_study)


def study_answer(study: Study, result: StudyRunResult, options: SpeedupOptions) -> CommandResult:
    """Return the answer: that of `speedup`, below it what failed, and the job array or the next command."""
    answer = study_result(result.speedups, options, "run", following="")
    following = f"kernelpoint speedup {shlex.quote(study.path)} --groups"

    def blocks(canvas: Canvas) -> Iterator[Block]:
        yield from answer.blocks(canvas)
        yield from words.study_run_blocks(result, f"kernelpoint {shlex.join(sys.argv[1:])}")
        if not result.is_waiting and not result.speedups.missing:
            yield CommandLine(following)

    assert isinstance(answer.results, SpeedupSummary)
    return replace(answer, results=summarise_study_run(answer.results, result, study), blocks=blocks)


def _refuse_what_the_study_says(options: RunOptions) -> None:
    """Raise OptionError where an option is typed that only the file of a study says, or that is of a plan."""
    defaults = {option.name: option for option in fields(RunOptions)}
    for name, reason in _IN_THE_FILE.items():
        if getattr(options, name) != defaults[name].default:
            flag = next(flag for flag in defaults[name].metadata["flags"] if flag.startswith("--"))
            raise OptionError(f"{flag} is not for a study: {reason}", remedy="leave it out")


def _starts_cold(study: Study, caches: str | None) -> bool:
    """Return whether launches start with empty caches on a configuration."""
    for configuration in study.configurations.values():
        export_caches, command_caches = split_caches(configuration.to, caches)
        if find_run_rules(configuration.to).is_told_ids:
            is_cold = caches_kind(command_caches) == "cold"
        else:
            is_cold = starts_cold(configuration.to, ExportChoices(traces="", caches=export_caches))
        if is_cold:
            return True
    return False
