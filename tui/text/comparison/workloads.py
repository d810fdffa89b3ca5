"""All methods on every workload that `compare` is given, each read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sampling.profile.profile import Profile
from sampling.progress import Progress
from sampling.readers.registry import refuse_unused_columns
from tui.engine.comparing import comparison_of
from tui.engine.studies import columns_of, grouping_of, note_what_is_read, open_profile
from tui.options.commands import CompareOptions
from tui.text.comparison.means import mean_rows
from tui.text.comparison.rows import NotedRows, workload_rows
from tui.text.selection import Part, part_of


@dataclass(frozen=True, slots=True)
class ComparedWorkloads:
    """Rows, and sentences on what to know of them.

    Attributes
    ----------
    parts : by a workload's name, what the filters keep of it.
    """

    found: NotedRows
    parts: dict[str, Part]


def compared_workloads(
    workloads: Sequence[tuple[str, ...]], methods: Sequence[str], options: CompareOptions, progress: Progress
) -> ComparedWorkloads:
    """Return a row a workload and method; of several workloads then the means over them.

    Parameters
    ----------
    workloads : the files of each.

    Raises
    ------
    OptionError : columns are named, and no file is a table; or see `comparison_of`.
    """
    columns = columns_of(options)
    tables: list[NotedRows] = []
    parts: dict[str, Part] = {}
    has_table, profile = False, None
    for paths in workloads:
        profile = open_profile(paths, progress, columns, needs_table=len(workloads) == 1)
        note_what_is_read(profile, quiet=options.quiet)
        has_table |= profile.named_columns is not None
        rows, parts[" ".join(paths)] = _on_one(profile, paths, methods, options, progress)
        tables.append(rows)
    if columns is not None and not has_table and profile is not None:
        refuse_unused_columns([profile])
    if len(workloads) > 1:
        tables.append(mean_rows([each.rows for each in tables], options.mean.value))
    notes = dict.fromkeys(text for each in tables for text in each.notes)
    return ComparedWorkloads(NotedRows([row for each in tables for row in each.rows], list(notes)), parts)


def _on_one(
    profile: Profile,
    paths: tuple[str, ...],
    methods: Sequence[str],
    options: CompareOptions,
    progress: Progress,
) -> tuple[NotedRows, Part]:
    comparison = comparison_of(profile, paths, options, progress)
    rows = workload_rows(paths, comparison, methods, options)
    return rows, part_of(profile, comparison.counts(grouping_of(options, methods[0])))
