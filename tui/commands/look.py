"""The commands that look at a profile, or at two: read, study, show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sampling.errors import EmptySelectionError, OptionError
from sampling.methods.registry import split_trees_of
from sampling.plan.overview import profile_info, summarise_groups, summarise_histogram
from sampling.plan.study import Survey
from sampling.record import Record
from sampling.text import counted
from tui.charts.histogram import histogram_data
from tui.engine.studies import chosen_kernel, open_profile, study_as_asked, survey_as_asked
from tui.options import look
from tui.options.choices import GroupSort, OutputFormat
from tui.options.shared import OutputOptions, SlowdownOptions
from tui.output.blocks import MOST_ROWS, Block, Preformatted
from tui.output.writer import Canvas, CommandResult, Row, canvas_text, emit
from tui.terminal.diagnostics import CheckFailedError, ProgressMeter, note, notes
from tui.text import groups as group_words
from tui.text.profile import finding_blocks, info_pairs, study_selection, with_selection

if TYPE_CHECKING:
    from tui.engine.plan_files import OpenedPlan

# What splits, compares or draws over time is imported by the command that does so alone: who looks at a
# profile must not wait for it.


def _show(
    study: Survey,
    options: OutputOptions,
    command: str,
    results: Record | Sequence[Record],
    blocks: Callable[[Canvas], Iterable[Block]],
    rows: Sequence[Record | Row] | None = None,
) -> None:
    """Write what a command answers on a study, with its findings' codes and which launches it is of."""
    codes = tuple(finding.code for finding in study.findings)
    result = CommandResult(command, results, blocks, rows, codes)
    emit(with_selection(result, study_selection(study)), options)


def run_summary(options: look.SummaryOptions) -> None:
    """Read, study, show_summary."""
    show_summary(options.profiles, options)


def show_summary(
    profiles: tuple[str, ...],
    options: SlowdownOptions,
    command: str = "summary",
    plan: OpenedPlan | None = None,
) -> None:
    """Print the summary of these files; also what `open` and `demo` do without a terminal.

    `plan`: the file that the options are from, if they are of one.
    """
    from sampling.plan.plan_summary import summarise_profile
    from tui.engine.planning import plan_costs, study_within_budget
    from tui.text.plan import following_commands, promise_words, summary_blocks

    study = study_within_budget(profiles, options)
    if plan is not None:
        from tui.engine.plan_files import plan_notes

        notes(plan_notes(plan, study), quiet=options.quiet)
    costs = plan_costs(options, study, None, binding=True)
    commands = following_commands(profiles, options)
    summary = summarise_profile(study, costs, promise_words(study.design), commands)
    details = isinstance(options, look.SummaryOptions) and options.details

    def blocks(_: Canvas) -> Iterable[Block]:
        return summary_blocks(study, profiles, summary, costs, details=details)

    _show(study, options, command, summary, blocks)


def run_info(options: look.InfoOptions) -> None:
    """Read, study, show."""
    study = study_as_asked(options.profiles, options)
    info = profile_info(study)
    _show(study, options, "info", info, lambda _: (info_pairs(info), "", *finding_blocks(study)))


def run_groups(options: look.GroupsOptions) -> None:
    """Read, look or study, list."""
    if not options.plan and options.sort in {GroupSort.STRATA, GroupSort.DRAWN}:
        raise OptionError(f"--sort {options.sort.value}: nothing is drawn", remedy="give --plan too")
    read = study_as_asked if options.plan else survey_as_asked
    study: Survey = read(options.profiles, options)
    listed = group_words.list_groups(
        study, options.sort, options.filter or "", options.top, reverse=options.reverse
    )
    if not (groups := listed.groups):
        message = f"--filter {options.filter!r}: no kernel group's key contains it"
        raise EmptySelectionError(message, remedy="`kernelpoint groups` lists them")
    if options.format is OutputFormat.MARKDOWN and options.top is None:
        groups = groups[:MOST_ROWS]
    rows = summarise_groups(study, groups)
    left = len(listed.groups) - len(rows)
    rest = [f"and {counted(left, 'smaller group')}: `--top`"] if left else []
    _show(
        study, options, "groups", rows, lambda canvas: (*group_words.group_blocks(study, rows, canvas), *rest)
    )


# Bins in data formats, and rows of a chart.
_BINS, _HEIGHT = 60, 20


def run_histogram(options: look.HistogramOptions) -> None:
    """Read, study, draw."""
    study = study_as_asked(options.profiles, options)
    group = chosen_kernel(study.counts, options.kernel, quiet=options.quiet)
    clusters = group_words.group_clusters(study, group)
    data = histogram_data(*study.counts.group_pairs(group), clusters, options.width or _BINS, log=options.log)

    def blocks(canvas: Canvas) -> Iterable[Block]:
        if canvas.is_page:
            return group_words.histogram_page(study, group, data)
        size = options.width or canvas.width, options.height or _HEIGHT
        return group_words.histogram_blocks(study, group, *size, log=options.log, all_durations=options.all)

    results = summarise_histogram(study, group, clusters, data.edges_ns, data.cluster_counts)
    _show(study, options, "histogram", results, blocks, group_words.histogram_rows(data))


def run_timeline(options: look.TimelineOptions) -> None:
    """Read, study, draw."""
    from sampling.reduction.range_list import kernel_timeline
    from sampling.reduction.timeline import timeline_bins
    from tui.engine.looking import is_quickly_listed, ranges_in, timeline_of
    from tui.text.timeline import above_chart, timeline_blocks, timeline_page

    study = study_as_asked(options.profiles, options)
    timeline = timeline_of(study, options)
    bins = timeline_bins(timeline.launches, options.bins or _BINS, timeline.by, timeline.drawn_ids)
    # The two formats with room for them. Looking for them takes long where launches are many.
    is_drawn = options.format is OutputFormat.TABLE
    wanted = options.format is OutputFormat.JSON or (is_drawn and is_quickly_listed(study))
    with ProgressMeter(quiet=options.quiet) as progress:
        listed = ranges_in(study.profile, study.counts.region, progress) if wanted else None

    def blocks(canvas: Canvas) -> Iterable[Block]:
        if canvas.is_page:
            return timeline_page(timeline, bins)
        sized = replace(canvas, width=options.width or canvas.width)
        above = above_chart(listed, is_looked_for=is_quickly_listed(study))
        height = options.height or _HEIGHT
        chart_blocks = timeline_blocks(timeline, sized, height, log=options.log, above=above)
        return [Preformatted(canvas_text(chart_blocks, sized))]

    key = study.counts.groups[timeline.group].key
    results = kernel_timeline(key, timeline.group, timeline.by, bins, listed)
    _show(study, options, "timeline", results, blocks, results.bins)


def run_ranges(options: look.RangesOptions) -> None:
    """Read, add up, show."""
    from sampling.reduction.range_list import list_ranges
    from tui.text.timeline import NO_RANGES, ranges_result

    region = options.request.region
    with ProgressMeter(quiet=options.quiet) as progress:
        profile = open_profile(options.profiles, options, progress)
        listed = list_ranges(profile, region, progress)
    if not len(listed):
        note(NO_RANGES, quiet=options.quiet)
    emit(ranges_result(profile, listed, options), options)


def run_ranks(options: look.RanksOptions) -> None:
    """Read, look at the ranks beside each other, show."""
    from sampling.reduction.ranks import rank_times
    from tui.text.ranks import ranks_result

    with ProgressMeter(quiet=options.quiet) as progress:
        profile = open_profile(options.profiles, options, progress)
        found = rank_times(profile, options.request.region, progress)
    emit(ranks_result(profile, found, options), options)


def run_tree(options: look.TreeOptions) -> None:
    """Read, split one group, draw."""
    from sampling.plan.split_stepper import SplitStepper
    from sampling.splitting.tree import list_decisions
    from tui.text.tree import node_at, take_snapshot, tree_blocks, whole_tree

    split_trees_of(options.request.method)
    study = study_as_asked(options.profiles, options)
    of, counts = study.request, study.counts
    walk = SplitStepper(counts, of.method, of.target, settings=of.set, overrides=study.overrides)
    walk.enter(chosen_kernel(counts, options.kernel, quiet=options.quiet))
    if options.decisions is None:
        stop = whole_tree(walk)
    else:
        walk.enter(walk.group, options.decisions)
        stop = take_snapshot(walk)
    if options.node is not None:
        seen = stop.nodes if stop.pending is None else (*stop.nodes, stop.pending)
        stop = replace(stop, node=node_at(seen, options.node))
    decisions, depth = list_decisions(stop.nodes, counts.groups[stop.group].key), options.max_depth
    _show(study, options, "tree", decisions, lambda canvas: tree_blocks(stop, canvas, depth, log=options.log))


def run_difference(options: look.DifferenceOptions) -> None:
    """Read both, compare, show, check the growth."""
    from tui.engine.looking import found_difference
    from tui.text import difference as words

    with ProgressMeter(quiet=options.quiet) as progress:
        difference = found_difference(options, progress)
    difference = words.sorted_difference(difference, options.sort, reverse=options.reverse)
    result = with_selection(words.difference_result(difference, options), words.compared_parts(difference))
    notes(result.warnings, quiet=options.quiet)
    emit(result, options)
    if options.fail_above is not None and difference.is_above(options.fail_above):
        raise CheckFailedError(words.growth_text(difference, options.fail_above))
    if (allowed := options.fail_kernel_above) is not None and (
        slower := words.slower_text(difference, allowed)
    ):
        raise CheckFailedError(slower)
