"""The commands that look at a profile, or at two: read, draft, show."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sampling.errors import EmptySelectionError, NotApplicableError, OptionError, PlanFileError
from sampling.methods.registry import split_trees_of
from sampling.plan.draft import Survey, with_idle
from sampling.plan.overview import profile_info, summarise_groups, summarise_histogram
from sampling.record import Bounds, Record
from sampling.text import counted
from tui.charts.histogram import histogram_data
from tui.charts.quantities import si
from tui.engine.drafts import chosen_kernel, draft_from_options, open_profile, survey_as_asked
from tui.options import look
from tui.options.choices import PAGE_FORMATS, DifferenceFormat, GroupSort, OutputFormat
from tui.options.command_line import command_line, options_of
from tui.options.files import input_files, is_plan, reading
from tui.options.shared import OutputOptions, SlowdownOptions
from tui.output.blocks import MOST_ROWS, Block, CommandLine, Preformatted
from tui.output.files import write_text
from tui.output.writer import STDOUT, Canvas, CommandResult, Row, canvas_text, emit, write_stdout
from tui.terminal.diagnostics import CheckFailedError, ProgressMeter, note, notes
from tui.text import groups as group_words
from tui.text.profile import finding_blocks, info_pairs, survey_selection, with_selection

if TYPE_CHECKING:
    from tui.engine.plan_files import OpenedPlan

# What splits, compares or draws over time is imported by the command that does so alone: who looks at a
# profile must not wait for it.


def _show(
    survey: Survey,
    options: OutputOptions,
    command: str,
    results: Record | Sequence[Record],
    blocks: Callable[[Canvas], Iterable[Block]],
    rows: Sequence[Record | Row] | None = None,
) -> None:
    """Write what a command answers on a survey, with its findings' codes and which launches it is of."""
    codes = tuple(finding.code for finding in survey.findings)
    result = CommandResult(command, results, blocks, rows, codes)
    emit(with_selection(result, survey_selection(survey)), options)


# Of more launches a summary does not read what else was recorded: it has to be there at once.
_MOST_CAUSES = 10_000


def run_summary(options: look.SummaryOptions) -> None:
    """Read, draft, show; of a plan its profile, below what results of its launches say bounds the run."""
    path = next(filter(is_plan, options.profiles), None)
    if path is None:
        show_summary(options.profiles, options)
        return
    from tui.engine.plan_files import open_plan, options_of_plan

    results = tuple(other for other in options.profiles if other != path)
    if path != options.profiles[0]:
        remedy = f"swap them: `{command_line('summary', replace(options, profiles=(path, *results)))}`"
        raise PlanFileError(f"no plan, and {path} is one", path=options.profiles[0], remedy=remedy)
    if options.budget is not None:
        raise OptionError(f"--budget finds an epsilon, and {path} says it", remedy="give the profile")
    opened = open_plan(path, results=results)
    of_plan = options_of_plan(opened, options)
    with reading([path, *results, *input_files(of_plan)]):
        show_summary(opened.profiles, of_plan, plan=opened)


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
    from tui.engine.planning import draft_within_budget, plan_costs
    from tui.text.plan import following_commands, promise_words, summary_blocks

    bounds, bounding, commands = Bounds(), "", following_commands(profiles, options)
    if plan is not None:
        from tui.engine.plan_files import check_files, plan_notes

        check_files(plan)
        if plan.results:
            bounds, bounding, following = _bounding(plan, options)
            commands = [following]
    draft = draft_within_budget(profiles, options)
    if draft.profile.launches <= _MOST_CAUSES:
        draft = with_idle(draft, operators=False)
    notes(() if plan is None else plan_notes(plan, draft), quiet=options.quiet)
    costs = plan_costs(options, draft, None, binding=True)
    summary = summarise_profile(draft, costs, promise_words(draft.design), bounds, commands)
    details = isinstance(options, look.SummaryOptions) and options.details

    def blocks(_: Canvas) -> Iterable[Block]:
        yield from (bounding, "") if bounding else ()
        yield from summary_blocks(draft, profiles, summary, costs, details=details)

    _show(draft, options, command, summary, blocks)


def _bounding(plan: OpenedPlan, options: SlowdownOptions) -> tuple[Bounds, str, str]:
    """Return what bounds the run by results of a plan, the same in words, and the command that has it all."""
    from sampling.estimation.roofline import summarise_bounds
    from tui.engine.plan_files import estimated
    from tui.options.simulate import EstimateOptions
    from tui.text.estimate import bottleneck_text

    of_results = options_of(EstimateOptions, options, output=None, plan=plan.path, results=plan.results)
    with ProgressMeter(quiet=options.quiet) as progress:
        estimate = estimated(of_results, progress, plan.plan)
    shown = EstimateOptions(plan=plan.path, results=plan.results)
    bounds = summarise_bounds(estimate)
    return bounds, bottleneck_text(estimate, bounds), command_line("estimate", shown)


def run_info(options: look.InfoOptions) -> None:
    """Read, draft, show."""
    draft = with_idle(draft_from_options(options.profiles, options))
    info = profile_info(draft)
    _show(draft, options, "info", info, lambda _: (info_pairs(info), "", *finding_blocks(draft)))


def run_groups(options: look.GroupsOptions) -> None:
    """Read, look or draft, list."""
    if not options.plan and options.sort in {GroupSort.STRATA, GroupSort.DRAWN}:
        raise OptionError(f"--sort {options.sort.value}: nothing is drawn", remedy="give --plan too")
    read = draft_from_options if options.plan else survey_as_asked
    survey: Survey = read(options.profiles, options)
    listed = group_words.list_groups(
        survey, options.sort, options.filter or "", options.top, reverse=options.reverse
    )
    if not (groups := listed.groups):
        message = f"--filter {options.filter!r}: no kernel group's key contains it"
        raise EmptySelectionError(message, remedy="`kernelpoint groups` lists them")
    if options.format in PAGE_FORMATS and options.top is None:
        groups = groups[:MOST_ROWS]
    rows = summarise_groups(survey, groups)
    left = len(listed.groups) - len(rows)
    rest = [f"and {counted(left, 'smaller group')}: `--top`"] if left else []

    def blocks(canvas: Canvas) -> Iterable[Block]:
        return *group_words.group_blocks(survey, rows, canvas), *rest

    _show(survey, options, "groups", rows, blocks)


# Bins in data formats, and rows of a chart.
_BINS, _HEIGHT = 60, 20


def run_histogram(options: look.HistogramOptions) -> None:
    """Read, draft, draw."""
    survey = draft_from_options(options.profiles, options).look
    group = chosen_kernel(survey.counts, options.kernel, quiet=options.quiet)
    clusters = group_words.group_clusters(survey, group)
    pairs = survey.counts.group_pairs(group)
    data = histogram_data(*pairs, clusters, options.width or _BINS, log=options.log)

    def blocks(canvas: Canvas) -> Iterable[Block]:
        if canvas.is_page:
            return group_words.histogram_page(survey, group, data)
        size = options.width or canvas.width, options.height or _HEIGHT
        return group_words.histogram_blocks(survey, group, *size, log=options.log, all_durations=options.all)

    results = summarise_histogram(survey, group, clusters, data.edges_ns, data.cluster_counts)
    _show(survey, options, "histogram", results, blocks, group_words.histogram_rows(data))


def run_timeline(options: look.TimelineOptions) -> None:
    """Read, draft, draw."""
    from sampling.reduction.range_list import kernel_timeline
    from sampling.reduction.timeline import timeline_bins
    from tui.engine.looking import is_quickly_listed, ranges_in, timeline_of
    from tui.text.timeline import above_chart, timeline_blocks, timeline_page

    draft = draft_from_options(options.profiles, options)
    timeline = timeline_of(draft, options)
    bins = timeline_bins(timeline.launches, options.bins or _BINS, timeline.by, timeline.drawn_ids)
    # The two formats with room for them. Looking for them takes long where launches are many.
    is_drawn = options.format is OutputFormat.TABLE
    wanted = options.format is OutputFormat.JSON or (is_drawn and is_quickly_listed(draft))
    region = draft.counts.region
    with ProgressMeter(quiet=options.quiet) as progress:
        listed = ranges_in(draft.profile, region, progress, steps_apart=options.steps) if wanted else None

    def blocks(canvas: Canvas) -> Iterable[Block]:
        if canvas.is_page:
            return timeline_page(timeline, bins)
        sized = replace(canvas, width=options.width or canvas.width)
        above = above_chart(listed, is_looked_for=is_quickly_listed(draft))
        height = options.height or _HEIGHT
        chart_blocks = timeline_blocks(timeline, sized, height, log=options.log, above=above)
        return [Preformatted(canvas_text(chart_blocks, sized))]

    key = timeline.survey.counts.groups[timeline.group].key
    results = kernel_timeline(key, timeline.group, timeline.by, bins, listed)
    _show(draft, options, "timeline", results, blocks, results.bins)


def run_ranges(options: look.RangesOptions) -> None:
    """Read, add up, show."""
    from sampling.reduction.range_list import list_ranges
    from tui.text.timeline import NO_RANGES, ranges_result

    region = options.request.region
    with ProgressMeter(quiet=options.quiet) as progress:
        profile = open_profile(options.profiles, options, progress)
        listed = list_ranges(profile, region, progress, steps_apart=options.steps)
    if not len(listed):
        note(NO_RANGES, quiet=options.quiet)
    emit(ranges_result(profile, listed, options), options)


def run_layers(options: look.LayersOptions) -> None:
    """Read, find the layers, show."""
    from sampling.plan.layer_summary import summarise_layers
    from sampling.reduction.duration_counts import count_durations, counts_selection
    from sampling.reduction.layers import find_layers
    from tui.text.layers import NO_LAYERS, layers_result

    with ProgressMeter(quiet=options.quiet) as progress:
        profile = open_profile(options.profiles, options, progress)
        counts = count_durations(profile, options.request.grouping, options.request.region, progress)
        summary = summarise_layers(find_layers(profile, counts, progress), options.draw)
    if summary.source is None:
        note(NO_LAYERS, quiet=options.quiet)
    emit(with_selection(layers_result(summary, options), counts_selection(profile, counts)), options)


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
    draft = draft_from_options(options.profiles, options)
    notes(group_words.apart_words(draft), quiet=options.quiet)
    of, counts = draft.request, draft.counts
    walk = SplitStepper(counts, of.method, of.target, settings=of.set, overrides=draft.overrides)
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
    _show(draft, options, "tree", decisions, lambda canvas: tree_blocks(stop, canvas, depth, log=options.log))


def run_difference(options: look.DifferenceOptions) -> None:
    """Read both, compare, show, check the growth."""
    from tui.engine.looking import found_difference
    from tui.output.checks import github_text, junit_text
    from tui.text import difference as words

    with ProgressMeter(quiet=options.quiet) as progress:
        difference = found_difference(options, progress)
    if options.fail_elapsed_above is not None and difference.per_iteration.elapsed_ns is None:
        message = "--fail-elapsed-above needs the start of every launch, and a recording does not have it"
        raise NotApplicableError(message, remedy="leave it out, or give recordings with times")
    difference = words.sorted_difference(difference, options.sort, reverse=options.reverse)
    result = with_selection(words.difference_result(difference, options), words.compared_parts(difference))
    checks, form = words.difference_checks(difference, options), DifferenceFormat(options.format)
    texts = {
        DifferenceFormat.JUNIT: lambda: junit_text("difference", checks),
        DifferenceFormat.GITHUB: lambda: github_text(checks),
    }
    if form in texts:
        result, form = replace(result, document=texts[form]()), DifferenceFormat.JSON
    notes(result.warnings, quiet=options.quiet)
    plain_form: Any = OutputFormat(form)
    emit(result, replace(options, format=plain_form))
    if failures := [check.said for check in checks if check.fails]:
        more = f"; and {counted(len(failures) - 1, 'more check')}: `--format junit`" if failures[1:] else ""
        raise CheckFailedError(f"{failures[0]}{more}")


def run_save(options: look.BaselineSaveOptions) -> None:
    """Read, add up, write what `difference` takes of it."""
    from sampling.difference.baseline import baseline_text, make_baseline
    from sampling.difference.recordings import ProfilePart
    from sampling.readers.launch_parquet import ConvertedProfile

    path, part = look.file_and_part(options.profile)
    region = look.with_part(options, part).request.region
    with ProgressMeter(quiet=options.quiet) as progress:
        profile = open_profile((path,), options, progress)
        baseline = make_baseline(ProfilePart(profile, region), options.request.grouping, progress)
    text, is_printed = baseline_text(baseline), options.baseline == STDOUT
    if is_printed:
        write_stdout(text)
    else:
        write_text(text, Path(options.baseline))
    saved = ConvertedProfile(baseline.recordings[0].selection.launches, len(text.encode()))
    holds = f"{counted(saved.launches, 'launch')} are a baseline of {si(saved.bytes, 'B')}"
    following = CommandLine(f"kernelpoint difference {shlex.quote(options.baseline)} AFTER --fail-above 0.02")
    result = CommandResult("baseline save", saved, lambda _: (f"{options.baseline}: {holds}.", following))
    emit(result, options, to_stderr=is_printed)
