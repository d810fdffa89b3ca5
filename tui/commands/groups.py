"""`groups`: the kernel groups."""

from __future__ import annotations

from sampling.errors import EmptySelectionError
from sampling.text import counted
from tui.engine.studies import study_as_asked
from tui.options.choices import OutputFormat
from tui.options.commands import GroupsOptions
from tui.output.markdown import MOST_ROWS
from tui.output.writer import Answer, emit
from tui.text import facts
from tui.text.groups import group_blocks, groups_text, list_groups
from tui.text.selection import part_of_study, stated


def run(options: GroupsOptions) -> None:
    """Read, study, list."""
    study = study_as_asked(options.profiles, options)
    listed = list_groups(study, options.sort, options.filter or "", options.top, reverse=options.reverse)
    if not listed.groups:
        raise EmptySelectionError(
            f"--filter {options.filter!r}: no kernel group's key contains it",
            remedy="`kernelpoint groups` lists them",
        )
    groups = listed.groups
    if options.format is OutputFormat.MARKDOWN and options.top is None:
        groups = groups[:MOST_ROWS]
    rows = [facts.group_row(study, index) for index in groups]
    codes = tuple(finding.code for finding in study.findings)
    answer = Answer(
        "groups",
        rows,
        lambda canvas: groups_text(study, rows, canvas),
        blocks=lambda _: (
            *group_blocks(study, rows),
            *_left(len(listed.groups) - len(rows)),
        ),
        warnings=codes,
    )
    emit(stated(answer, part_of_study(study)), options)


def _left(number: int) -> tuple[str, ...]:
    return (f"and {counted(number, 'smaller group')}: `--top`",) if number else ()
