"""`summary`: one screen that says what dominates, what to watch out for, and what a plan costs."""

from __future__ import annotations

from tui.engine.studies import study_as_asked
from tui.options.commands import MethodOptions, SummaryOptions
from tui.output.writer import Answer, emit
from tui.text.summary import following_commands, summary_results, summary_text


def run(options: SummaryOptions) -> None:
    """Read, study, show."""
    show(options.profiles, options)


def show(profiles: tuple[str, ...], options: MethodOptions, command: str = "summary") -> None:
    """Print the summary of these files; also what `open` and `demo` do without a terminal."""
    study = study_as_asked(profiles, options)
    following = following_commands(profiles, options)
    emit(
        Answer(
            command,
            summary_results(study, following),
            human=lambda canvas: summary_text(study, profiles, following, canvas),
            warnings=tuple(finding.code for finding in study.findings),
        ),
        options,
    )
