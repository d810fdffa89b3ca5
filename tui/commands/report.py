"""`report`: a profile and its plan as one file, for a colleague or a paper."""

from __future__ import annotations

from tui.engine.studies import progress_of
from tui.options.report import ReportOptions
from tui.output.writer import emit
from tui.report.content import report_of
from tui.report.facts import check_target, facts_of, report_answer
from tui.report.writers import report_files
from tui.text.selection import part_of_study, stated


def run(options: ReportOptions) -> None:
    """Read, study, write, say how much."""
    with report_files(options) as write:
        with progress_of(options) as progress:
            facts = facts_of(options, progress)
        report = report_of(facts, options)
        written = write(report)
    answer = report_answer(report, written, facts.study, options)
    emit(stated(answer, part_of_study(facts.study)), options, redirect=False)
    check_target(facts.simulated, options)
