"""`report`: a profile and its plan as one file, for a colleague or a paper."""

from __future__ import annotations

from pathlib import Path

from sampling.errors import OptionError
from sampling.text import counted
from tui.charts import quantities
from tui.engine.studies import progress_of
from tui.options.report import ReportOptions
from tui.output.files import new_file
from tui.output.writer import Answer, emit
from tui.report.content import report_of
from tui.report.facts import facts_of
from tui.report.writers import writer_for
from tui.text.selection import part_of_study, stated


def run(options: ReportOptions) -> None:
    """Read, study, write, say how much."""
    if options.output is None:
        raise OptionError("report needs -o FILE.html or -o FILE.md")
    write = writer_for(options.output)
    # What cannot be written to is told before the long work.
    with new_file(Path(options.output)) as path:
        with progress_of(options) as progress:
            facts = facts_of(options, progress)
        report = report_of(facts, options)
        content = write(report).encode("utf-8", "backslashreplace")
        path.write_bytes(content)
    titles = [section.title for section in report.sections]
    sections, size = counted(len(titles), "section", "sections"), quantities.count(len(content))
    said = f"{options.output}: {sections}, {size} bytes"
    codes = tuple(finding.code for finding in facts.study.findings)
    results = {"path": options.output, "bytes": len(content), "sections": titles}
    answer = stated(Answer("report", results, lambda _: said, warnings=codes), part_of_study(facts.study))
    emit(answer, options, redirect=False)
