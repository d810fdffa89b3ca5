"""The commands that write a file for others: a report, a profile as Parquet."""

from __future__ import annotations

from pathlib import Path

from sampling.errors import OptionError
from sampling.readers.launch_parquet import ConvertedProfile, write_launch_parquet
from sampling.reduction.duration_counts import counts_selection
from sampling.text import counted
from tui.charts import quantities
from tui.engine.drafts import open_profile
from tui.options.look import ConvertOptions, ReportOptions
from tui.output.files import new_file, scratch_file
from tui.output.writer import STDOUT, CommandResult, copy_to_stdout, emit
from tui.report.content import check_target, gather_facts, make_report, report_result
from tui.report.page import report_files
from tui.terminal.diagnostics import ProgressMeter
from tui.text.profile import survey_selection, with_selection


def run_report(options: ReportOptions) -> None:
    """Read, draft, write, say how much."""
    with report_files(options) as write:
        with ProgressMeter(quiet=options.quiet) as progress:
            facts = gather_facts(options, progress)
        report = make_report(facts, options)
        written = write(report)
    result = report_result(report, *written, facts.draft, options)
    emit(with_selection(result, survey_selection(facts.draft)), options, redirect=False)
    check_target(facts.simulated, options)


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
