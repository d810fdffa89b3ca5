"""What `report` says when it is done: which files there are now, and whether results are as asked for."""

from __future__ import annotations

from sampling.plan.study import Study
from sampling.text import counted
from tui.charts import quantities
from tui.options.report import ReportOptions
from tui.output.writer import Answer
from tui.report.results import SimulatedTotals
from tui.report.sections import Report
from tui.report.writers import Written
from tui.terminal.diagnostics import CheckFailedError
from tui.text.estimate import unmet_text


def report_answer(report: Report, written: Written, study: Study, options: ReportOptions) -> Answer:
    """Return the files that were written."""
    titles = [section.title for section in report.sections]
    lines = []
    if options.output is not None:
        sections = counted(len(titles), "section", "sections")
        lines.append(f"{options.output}: {sections}, {quantities.count(written.size_bytes)} bytes")
    lines += written.charts
    results = {
        "path": options.output,
        "bytes": written.size_bytes,
        "sections": titles,
        "charts": list(written.charts),
    }
    codes = tuple(finding.code for finding in study.findings)
    return Answer("report", results, lambda _: "\n".join(lines), warnings=codes)


def check_target(simulated: SimulatedTotals | None, options: ReportOptions) -> None:
    """Raise CheckFailedError where the simulated total is not as narrow as asked for."""
    if simulated is None or options.target is None:
        return
    if not simulated.found.is_within(options.target, accept_cold=options.accept_cold):
        raise CheckFailedError(unmet_text(simulated.found, options.target))
