"""`groups`: the kernel groups."""

from __future__ import annotations

from sampling.errors import EmptySelectionError
from tui.engine.studies import study_as_asked
from tui.options.commands import GroupsOptions
from tui.output.writer import Answer, emit
from tui.text import facts
from tui.text.group_list import list_groups
from tui.text.group_tables import group_blocks, groups_text
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
    rows = [facts.group_row(study, index) for index in listed.groups]
    codes = tuple(finding.code for finding in study.findings)
    answer = Answer(
        "groups",
        rows,
        lambda canvas: groups_text(study, rows, canvas),
        blocks=lambda canvas: group_blocks(study, rows, ascii_only=canvas.ascii_only),
        warnings=codes,
    )
    emit(stated(answer, part_of_study(study)), options)
