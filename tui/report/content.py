"""What a report says: the sentences, tables and charts of the other commands, in the order of a reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from sampling.errors import AnalysisError, OptionError, SamplingError
from sampling.estimation.roofline import summarise_roofline
from sampling.estimation.total import PlanEstimate
from sampling.methods.registry import method_named, method_names
from sampling.parallel import Progress
from sampling.plan.comparison import ComparedMethod
from sampling.plan.draft import Draft, Survey, with_idle
from sampling.plan.judge import Judgement, judge_design
from sampling.plan.other_recording import made_from
from sampling.plan.overview import device_name, profile_info, summarise_groups
from sampling.plan.plan import Plan, drawn_plan, find_planned_launches, plan_document
from sampling.plan.sensitivity import PlanCosts, default_epsilons, measure_sensitivity, trade_off_point
from sampling.record import Count, Record
from sampling.text import counted
from tui import __version__
from tui.charts.grid import Grid, plain
from tui.charts.histogram import histogram_data, useful_bins
from tui.charts.quantities import count, duration, duration_range, kernel_time, ratio, share
from tui.charts.roofline import roofline_chart
from tui.engine.looking import GroupTimeline, timeline_of_group
from tui.engine.plan_files import estimated, missing_to_target, plan_before
from tui.engine.planning import comparison_of, draft_within_budget, plan_costs, traded
from tui.options.command_line import error_text, options_of, with_flags
from tui.options.look import ReportOptions
from tui.options.plan import CompareOptions
from tui.options.shared import OutputOptions
from tui.options.simulate import EstimateOptions, ResultsOptions
from tui.output.blocks import Block, CommandLine, Listing, Pairs, Preformatted
from tui.output.files import scratch_file
from tui.output.writer import PAGE, CommandResult
from tui.report import pictures
from tui.report.page import Report
from tui.report.pictures import Figure, Legend
from tui.terminal.diagnostics import CheckFailedError
from tui.terminal.printable import Column, ascii_within, names, shortened
from tui.text import groups as group_words
from tui.text import plan as plan_words
from tui.text import profile as profile_words
from tui.text.estimate import estimate_blocks, hardware_lines, next_listing, total_lines, unmet_text
from tui.text.groups import group_clusters, group_label
from tui.text.labels import key_parts
from tui.text.methods import comparison_blocks, comparison_scatter, drawable, method_mark, workload_rows
from tui.text.roofline import uncounted_lines
from tui.text.timeline import course, group_timeline
from tui.text.trade_off import TradeOff, trade_off_blocks

if TYPE_CHECKING:
    from sampling.estimation.top_up import ToppedUp


# What there is to say.


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Everything that a report shows; None where there is no such thing, or it is not asked for."""

    draft: Draft
    plan: Plan
    costs: PlanCosts
    #: The error of repeated draws.
    judgement: Judgement | None
    #: Of the largest kernel group.
    timeline: GroupTimeline
    traded: TradeOff | None
    #: What was asked, a row a method, and sentences on them.
    compared: tuple[CompareOptions, list[ComparedMethod], list[str]] | None
    simulated: SimulatedTotals | None


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedTotals:
    """What results of the plan's launches say."""

    options: EstimateOptions
    estimate: PlanEstimate
    #: The plan with what the next round is to simulate; None where no target is given, or it is met.
    larger: ToppedUp | None
    #: Why there is none although the target is not met; else empty.
    why_no_larger: str


def gather_facts(options: ReportOptions, progress: Progress) -> Facts:
    """Read the workload and make the plan, and all that is said of it.

    Raises SamplingError: an option is wrong; the plan file is not of this profile; see `draft_within_budget`
    and `estimated`.
    """
    _check_results_options(options)
    draft = with_idle(draft_within_budget(options.profiles, options))
    plan = drawn_plan(draft.counts, draft.design, options.request.seed)
    # First of all: of wrong files one hears before the long work.
    simulated = _simulated(draft, plan, options, progress) if options.results else None
    judgement = curve = compared = None
    if options.judge:
        judgement = judge_design(plan.design, options.judge, options.request.seed, progress)
    costs = plan_costs(options, draft, plan, binding=False)
    timeline = timeline_of_group(draft, 0, options.request.seed, progress)
    if method_named(options.request.method).draws_at_random:
        # Of a plan within a budget the epsilon is the one that was found.
        target = draft.request.target
        epsilons = default_epsilons(target.epsilon)
        others = [epsilon for epsilon in epsilons if epsilon != target.epsilon]
        points, missing = traded(draft, others, progress)
        points = (trade_off_point(draft.design, target.epsilon), *points)
        curve = TradeOff(options.request.method, target, epsilons, points, missing, costs)
    if options.compare:
        asked = options_of(CompareOptions, options, output=None, one_workload=True)
        comparison = comparison_of(draft.profile, options.profiles, asked, progress)
        compared = asked, *workload_rows(options.profiles, comparison, method_names(), asked)
    costs = replace(costs, binding=measure_sensitivity(draft, progress))
    return Facts(draft, plan, costs, judgement, timeline, curve, compared, simulated)


def _check_results_options(options: ReportOptions) -> None:
    """Refuse options of results where no results are given."""
    names_of_results = {option.name for option in fields(ResultsOptions)} - {
        option.name for option in fields(OutputOptions)
    }
    for option in () if options.results else fields(options):
        if option.name in names_of_results | {"plan"} and getattr(options, option.name) != option.default:
            raise OptionError(
                f"{option.metadata['flags'][0]} is about results, and none are given",
                remedy="give --results FILE, what a simulator wrote of the plan's launches",
            )


def _simulated(draft: Draft, plan: Plan, options: ReportOptions, progress: Progress) -> SimulatedTotals:
    """Read results of the plan, or of the plan file that is named, and estimate the whole run's totals."""
    shared = options_of(ResultsOptions, options)
    with ExitStack() as opened:
        path, file_plan = options.plan, None
        if path is not None:
            file_plan = plan_before("report", options, "results")
        else:
            file = opened.enter_context(scratch_file())
            text = plan_document(draft, plan, find_planned_launches(draft, plan, progress)).text()
            file.write_text(text, encoding="utf-8", errors="backslashreplace")
            path = str(file)
        options_asked = options_of(
            EstimateOptions, shared, plan=path, results=options.results, groups=True, details=True
        )
        estimate = estimated(options_asked, progress, file_plan)
        if not made_from(draft.profile, estimate.plan):
            message = f"--plan {options.plan}: it was made from another profile"
            raise AnalysisError(message, remedy="give the profile that it was made from")
        try:
            return SimulatedTotals(
                options_asked, estimate, missing_to_target(estimate, options_asked, progress), ""
            )
        except SamplingError as error:
            return SimulatedTotals(options_asked, estimate, None, error_text(error))


# How it is said.


def make_report(facts: Facts, options: ReportOptions) -> Report:
    """Return the report; a section that the profile or the method has nothing for is left out."""
    draft, profiles = facts.draft, ", ".join(options.profiles)
    survey = draft.look
    name, groups = device_name(draft), survey.counts.groups
    part, info = profile_words.survey_selection(draft), profile_info(draft)
    titles = [_title(survey, index) for index in range(min(options.top, len(groups)))]
    findings = [(finding.code, f"{finding.message} Remedy: {finding.remedy}.") for finding in draft.findings]
    charts = (duration_figure(survey, group) for group in range(min(options.charts, len(groups))))
    keys = names("in full", [group.key for group in groups[: options.top]])
    commands = plan_words.following_commands(options.profiles, options)
    again_text = f"KernelPoint {__version__}, seed {options.request.seed}. The first command writes the plan."
    traded: tuple[Block | Figure, ...] = ()
    if (curve := facts.traded) is not None:
        words = "What a plan of the same method costs where more or less error is allowed, all else alike."
        traded = words, trade_off_figure(curve), *trade_off_blocks(curve, None)
    sections: dict[str, Iterable[Block | Figure]] = {
        "In short": _in_short(facts),
        "Profile": (*profile_words.heading_lines(part), profile_words.info_pairs(info)),
        "Findings": (Pairs(findings) if findings else "There is nothing to watch out for.",),
        "Kernel groups": _groups(survey, options.top),
        "Durations": charts,
        "Over the run": (timeline_figure(facts.timeline),),
        "Plan": _plan(facts),
        "Simulated": _totals(facts.simulated, options),
        "Trade-off": traded,
        "Methods compared": _comparison(facts),
        "Names in full": ([Column("", titles, to_right=False), keys],),
        "To make this again": (again_text, CommandLine("\n".join(commands))),
    }
    return Report(
        title=f"Kernel launches of {profiles}",
        about=draft.profile.format + ("" if name is None else f", {name}"),
        sections={title: section for title, blocks in sections.items() if (section := tuple(blocks))},
    )


def _name(survey: Survey, group: int) -> str:
    """Return what a kernel group is called in charts and tables: short, and no other group's."""
    return group_label(survey, group, 48)


def _title(survey: Survey, group: int) -> str:
    return f"#{group + 1} {_name(survey, group)}"


def _in_short(facts: Facts) -> Iterator[str]:
    """Yield what ran, whether the GPU was busy, what dominates, what to simulate, and what it came to."""
    draft, plan = facts.draft, facts.plan
    (first,) = summarise_groups(draft.look, [0])
    busy = profile_words.busy_sentence(draft)
    numbers = draft.counts.launches, first.launches
    launches, of_largest = (counted(number, "launch") for number in numbers)
    sentences = [
        f"The run has {launches} and {kernel_time(draft.counts.total_duration_ns)}.",
        f"{busy}." if busy else "",
        f"By kind of work: {kinds}." if (kinds := profile_words.kind_words(draft)) else "",
        f"{share(first.share)} of it goes into {of_largest} of {_name(draft.look, 0)}.",
        plan_words.simulate_sentence(plan.design, draft.counts.launches, plan),
        plan_words.known_sentence(plan.design, draft.counts.launches, draft.profile.facts),
    ]
    if facts.simulated is not None:
        sentences += [f"Simulated: {total}." for total in islice(total_lines(facts.simulated.estimate), 1)]
        lines = islice(hardware_lines(facts.simulated.estimate), 1)
        sentences += [f"{line[0].upper()}{line[1:]}." for line in lines]
    yield " ".join(filter(None, sentences))


def _groups(survey: Survey, top: int) -> Iterator[Block]:
    number = min(top, len(survey.counts.groups))
    rows = summarise_groups(survey, range(number))
    # Strata of some methods span kernel groups, which then have none of their own.
    has_own = survey.groups.samples is not None
    left_out = {"", "cum"} | (set() if has_own else {"strata", "drawn"})
    figures = [column for column in group_words.group_figures(survey, rows) if column.heading not in left_out]
    yield [*figures, names("kernel group", [_name(survey, index) for index in range(number)])]
    if left := len(survey.counts.groups) - number:
        yield f"{count(left)} smaller groups are not listed."
    yield from group_words.devices_named(survey)
    strata = " Strata are parts of a group with similar launches; drawn is how many the plan simulates."
    yield "CoV is the standard deviation over the mean." + (strata if has_own else "")


def _plan(facts: Facts) -> Iterator[Block]:
    design, total_ns = facts.plan.design, facts.plan.total_duration_ns
    method = method_named(design.method)
    yield f"Method: {method.name} ({method.source}). {method.description}"
    yield from plan_words.detail_sentences(facts.draft, facts.plan, facts.judgement)
    yield from plan_words.hours_lines(design, facts.costs)
    yield from map(with_flags, design.notes)
    if facts.costs.binding:
        yield "What each option alone, a step on, would give:"
        yield plan_words.binding_columns(facts.costs.binding, total_ns, facts.costs.slowdown)
    else:
        yield f"{plan_words.why_none(design)}."


def _totals(simulated: SimulatedTotals | None, options: ReportOptions) -> Iterator[Block | Figure]:
    if simulated is None:
        return
    if options.plan is not None:
        yield f"The plan is that of {options.plan}."
    blocks = list(estimate_blocks(simulated.estimate, simulated.larger, simulated.options, ""))
    if simulated.larger is not None:
        blocks += ["To simulate next:", next_listing(simulated.larger, simulated.estimate.plan)]
    elif simulated.why_no_larger:
        blocks.append(f"{simulated.why_no_larger}.")
    for block in blocks:
        if not isinstance(block, Listing):
            yield block
            continue
        yield block.columns(48, options.top)
        if (left := len(block) - options.top) > 0:
            yield f"{count(left)} more are not listed."
    yield from roofline_figures(simulated.estimate, options.charts)


def _comparison(facts: Facts) -> Iterator[Block | Figure]:
    if facts.compared is None:
        return
    options_asked, rows, notes = facts.compared
    yield from comparison_blocks(rows, options_asked, PAGE)
    yield (
        "Simulated, bound and group are what a method promises of the simulated total, of the profile's own "
        "and of any kernel group's. Mean, p95 and max are errors of the profile's total over repeated draws; "
        f"within is the share of draws that are off by at most {share(options_asked.request.epsilon)}."
    )
    yield from comparison_figures(rows)
    yield from notes


# Its charts.

_BINS = 80
_TEXT = 100, 16
"""Columns and rows of a chart as text."""
Drawing = Callable[[int, int], Grid]
# Durations that differ by more than this factor are crowded together on a linear axis.
_WIDE = 20


def _figure(name: str, title: str, about: str, svg: Iterable[str], legend: Legend, draw: Drawing) -> Figure:
    """Return a chart; `draw` draws it of a size as text, here in ASCII."""
    with ascii_within():
        return Figure(name, title, about, tuple(svg), legend, plain(draw(*_TEXT)))


def duration_figure(survey: Survey, group: int) -> Figure:
    """Return the histogram of a kernel group's durations, its strata apart."""
    durations_ns, launches = survey.counts.group_pairs(group)
    strata = group_clusters(survey, group)
    log = 0 < _WIDE * int(durations_ns[0]) < int(durations_ns[-1])
    data = histogram_data(durations_ns, launches, strata, useful_bins(durations_ns, _BINS, log=log), log=log)
    if len(durations_ns) == 1:
        # Its bin is as wide as a tick of the clock, of which nothing is to be seen.
        data = replace(data, edges_ns=np.repeat(durations_ns, 2))
    (row,) = summarise_groups(survey, [group])
    where = "".join(group_words.span_words(survey, group)) or f"in {counted(len(strata), 'stratum')}"
    legend = [
        f"{duration_range(low, high)}: {counted(int(counts.sum()), 'launch')}"
        for (low, high), counts in zip(strata, data.cluster_counts, strict=True)
    ]
    shortest, longest, mean = map(duration, (row.min_ns, row.max_ns, row.mean_ns))
    return _figure(
        f"durations-{group + 1}",
        _title(survey, group),
        f"Histogram of {counted(row.launches, 'launch')} that last {shortest} to {longest}, "
        f"{mean} in the mean, {where}.",
        pictures.bar_shapes(data, log=log),
        pictures.strata_legend(legend),
        lambda *size: group_words.group_histogram(survey, group, *size, log=log),
    )


def timeline_figure(timeline: GroupTimeline) -> Figure:
    """Return a kernel group's launches over the run, those that the plan draws marked."""
    survey, launches = timeline.survey, timeline.launches
    strata = group_clusters(survey, timeline.group)
    log = 0 < _WIDE * int(launches.duration_ns.min()) < int(launches.duration_ns.max())
    has_drawn = bool(np.isin(launches.id, timeline.drawn_ids).any())
    return _figure(
        "over-the-run",
        _title(survey, timeline.group),
        f"Durations of the launches in the order in which they were issued. {course(launches)}.",
        pictures.cell_shapes(launches, strata, timeline.drawn_ids, log=log),
        pictures.strata_legend([duration_range(*ends) for ends in strata], has_drawn=has_drawn),
        lambda *size: group_timeline(timeline, *size, log=log),
    )


def trade_off_figure(curve: TradeOff) -> Figure:
    """Return the speedup over epsilon, the plan's own marked."""
    points = [point for point in curve.ascending if point.speedup is not None]
    epsilon = np.array([point.epsilon for point in points])
    speedup = np.array([point.speedup for point in points], dtype=np.float64)
    ends = [f"{ratio(point.speedup)} at {point.epsilon:g}" for point in points]
    words = f"Expected speedup of a plan by the method {curve.method} over the error that is allowed."
    words += f" From {ends[0]} to {ends[-1]}." if ends else ""
    svg = pictures.curve_shapes(epsilon, speedup, curve.target.epsilon)
    legend = pictures.curve_legend(curve.target.epsilon)
    return _figure("trade-off", "Speedup over epsilon", words, svg, legend, curve.chart)


def roofline_figures(estimate: PlanEstimate, kernels: int) -> Iterator[Figure]:
    """Yield the roofline, where results have counted operations, bytes and time."""
    with suppress(AnalysisError):
        summary = summarise_roofline(estimate, None, kernels)
        words = (
            "Performance over arithmetic intensity: the run (*) and its largest kernels, by their numbers "
        )
        words += "in the table, with the bars of their intervals."
        words = " ".join([words, *uncounted_lines(summary)])
        legend = [
            (pictures.letter_mark(str(number)), shortened(key_parts(kernel.key).name, 60))
            for number, kernel in enumerate(summary.kernels, 1)
        ]
        if any(point.is_drawable for point in (summary.run, *summary.kernels)):
            svg = pictures.roofline_shapes(summary)
            draw = partial(roofline_chart, summary)
            yield _figure("roofline", "Roofline", words, svg, legend, draw)


def comparison_figures(rows: Sequence[ComparedMethod]) -> Iterator[Figure]:
    """Yield the methods by speedup and error; nothing where there is nothing to draw."""
    if not (methods := drawable(rows)):
        return
    speedup = np.array([method.row.speedup for method in methods], dtype=np.float64)
    error = np.array([method.row.error_mean for method in methods], dtype=np.float64)
    best = methods[int(speedup.argmax())]
    letters = [method_mark(method.methods[0])[0] for method in methods]
    yield _figure(
        "comparison",
        "Speedup against error",
        "Mean error of the total over repeated draws, by the speedup of each method's plan; further down and "
        f"to the right is better. The largest speedup, {ratio(best.row.speedup)}, has {best.label}.",
        pictures.point_shapes(speedup, error, letters),
        [
            (pictures.letter_mark(letter), method.label)
            for letter, method in zip(letters, methods, strict=True)
        ],
        lambda *size: comparison_scatter(rows, *size),
    )


# What the command answers.


class ReportFiles(Record, frozen=True):
    """A report that was written."""

    #: None for standard output.
    path: str | None
    bytes: Count
    #: Its headings.
    sections: list[str]
    #: Files of charts beside it.
    charts: list[str]


def report_result(
    report: Report, size_bytes: int, charts: list[str], warnings: tuple[str, ...], options: ReportOptions
) -> CommandResult:
    """Return the files that were written."""
    titles = list(report.sections)
    words = f"{options.output}: {counted(len(titles), 'section')}, {count(size_bytes)} bytes"
    lines = [*([] if options.output is None else [words]), *charts]
    return CommandResult(
        "report",
        ReportFiles(options.output, size_bytes, titles, charts),
        blocks=lambda _: [Preformatted("\n".join(lines))],
        warnings=warnings,
    )


def check_target(simulated: SimulatedTotals | None, options: ReportOptions) -> None:
    """Raise CheckFailedError where the simulated total is not as narrow as asked for."""
    target = options.target
    if simulated is None or target is None:
        return
    if not simulated.estimate.is_within(target, accept_cold=options.accept_cold):
        raise CheckFailedError(unmet_text(simulated.estimate, target))
