"""The commands that write a file for others: a report, a profile as Parquet."""

from __future__ import annotations

import shlex
from dataclasses import fields, replace
from pathlib import Path

from sampling.errors import OptionError
from sampling.plan import request
from sampling.readers.launch_parquet import ConvertedProfile, write_launch_parquet
from sampling.reduction.duration_counts import counts_selection
from sampling.study.study_file import is_study, read_study
from sampling.text import counted
from tui.charts import quantities
from tui.engine.drafts import open_profile
from tui.options.choices import OutputFormat
from tui.options.command_line import command_line, options_of
from tui.options.look import ConvertOptions, ReportOptions
from tui.options.simulate import SpeedupOptions
from tui.output.files import new_file, scratch_file
from tui.output.writer import STDOUT, CommandResult, copy_to_stdout, emit
from tui.report.content import check_target, gather_facts, make_report, report_result
from tui.report.page import report_files
from tui.terminal.diagnostics import ProgressMeter
from tui.text.profile import survey_selection, with_selection


def run_report(options: ReportOptions) -> None:
    """Read, draft, write, say how much."""
    if any(map(is_study, options.profiles)):
        _report_study(options)
        return
    with report_files(options) as write:
        with ProgressMeter(quiet=options.quiet) as progress:
            facts = gather_facts(options, progress)
        report = make_report(facts, options)
        written = write(report)
    codes = tuple(finding.code for finding in facts.draft.findings)
    result = report_result(report, *written, codes, options)
    emit(with_selection(result, survey_selection(facts.draft)), options, redirect=False)
    check_target(facts.simulated, options)


def _report_study(options: ReportOptions) -> None:
    """Compare what is there of a study, write, say how much."""
    from sampling.study.summary import summarise_study
    from tui.commands.speedup import check_study, study_speedups
    from tui.report.study import study_report
    from tui.text import study as words
    from tui.text.speedup import result_notes

    _refuse_options_of_profiles(options)
    path, *more_files = options.profiles
    if more_files:
        raise OptionError(f"{path} and {more_files[0]}: a report is of one study", remedy="name one")
    # For whoever types them again: nothing is replaced then.
    plain_options = replace(options, format=OutputFormat.TABLE, force=False, quiet=False)
    speedup_options = options_of(SpeedupOptions, plain_options, plan=path, results=(), output=None, svg=None)
    with report_files(options) as write:
        study_file = read_study(path)
        target = study_file.settings.target if options.target is None else options.target
        compared_options = replace(speedup_options, target=target, quiet=options.quiet)
        study = study_speedups(study_file, compared_options)
        lines = [
            *words.caches_lines(study),
            *([words.missing_text(study)] if study.missing else []),
            *words.target_lines(study, compared_options),
        ]
        notes = [
            f"{program}: {note}" for program, speedups in study.compared for note in result_notes(speedups)
        ]
        is_run = any(program.results is None for program in study_file.programs.values())
        report = study_report(
            summarise_study(study),
            [words.answer_text(study), *(f"{line[0].upper()}{line[1:]}." for line in lines)],
            [*words.study_notes(study), *notes],
            [
                *([f"kernelpoint run {shlex.quote(path)}"] if is_run else []),
                command_line("speedup", speedup_options),
                command_line("report", plain_options),
            ],
        )
        written = write(report)
    emit(report_result(report, *written, (), options), options, redirect=False)
    if options.target is not None:
        check_study(study, compared_options)


def _refuse_options_of_profiles(options: ReportOptions) -> None:
    """Refuse options that a study has no use for."""
    shared = {"profiles", "request", *(option.name for option in fields(SpeedupOptions))}
    shared -= {"plan", "results"}
    flags = [
        option.metadata["flags"][0]
        for option in fields(options)
        if option.name not in shared and getattr(options, option.name) != option.default
    ]
    flags += [
        request.flags(name)[0]
        for name in options.request_names
        if name != "seed" and getattr(options.request, name) != request.default(name)
    ]
    if flags:
        raise OptionError(f"{flags[0]} is of a profile, not of a study", remedy="leave it out")


def run_convert(options: ConvertOptions) -> None:
    """Read, write, say how much."""
    if options.output is None:
        raise OptionError("convert needs -o FILE.parquet (or - for stdout)")
    target = None if options.output == STDOUT else Path(options.output)
    region = options.request.region
    with ProgressMeter(quiet=options.quiet) as progress:
        profile = open_profile(options.profiles, options, progress)
        with scratch_file() if target is None else new_file(target) as path:
            counts = write_launch_parquet(profile, region, path, progress)
            size_bytes = path.stat().st_size
            if target is None:
                copy_to_stdout(path)
    results = ConvertedProfile(counts.launches, size_bytes)
    sentence = f"{counted(counts.launches, 'launch')}, {quantities.count(size_bytes)} bytes"
    result = with_selection(
        CommandResult("convert", results, lambda _: [sentence]), counts_selection(profile, counts)
    )
    emit(result, options, to_stderr=target is None, redirect=False)
