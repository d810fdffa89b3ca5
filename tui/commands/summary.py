"""`summary`: one screen that says what dominates, what to watch out for, and what a plan costs."""

from __future__ import annotations

from tui.engine.budgets import study_costs, study_within_budget
from tui.engine.unused_options import note_unused_epsilon
from tui.options.commands import SummaryOptions
from tui.options.shared import SlowdownOptions
from tui.output.writer import Answer, emit
from tui.text.selection import part_of_study, stated
from tui.text.summary import following_commands, summary_blocks, summary_results, summary_text


def run(options: SummaryOptions) -> None:
    """Read, study, show."""
    note_unused_epsilon(options)
    show(options.profiles, options)


def show(profiles: tuple[str, ...], options: SlowdownOptions, command: str = "summary") -> None:
    """Print the summary of these files; also what `open` and `demo` do without a terminal."""
    study = study_within_budget(profiles, options)
    costs = study_costs(options, study)
    following = following_commands(profiles, options)
    answer = Answer(
        command,
        summary_results(study, following, costs),
        human=lambda canvas: summary_text(
            study, profiles, following, costs, canvas, details=getattr(options, "details", False)
        ),
        blocks=lambda canvas: summary_blocks(study, profiles, following, costs, canvas),
        warnings=tuple(finding.code for finding in study.findings),
    )
    emit(stated(answer, part_of_study(study)), options)
