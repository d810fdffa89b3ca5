"""The sections of a report, in order: what the profile is, what the plan is, what it costs and promises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from sampling.methods.registry import method_named
from sampling.plan.study import Study
from sampling.strata.draw import DRAWS
from sampling.text import counted
from tui.charts import quantities
from tui.charts.grid import plain
from tui.charts.histogram import histogram_data, useful_bins
from tui.engine.looking import GroupTimeline
from tui.options.choices import CompareSort
from tui.options.command_line import with_flags
from tui.options.look import ReportOptions
from tui.report.facts import Facts, results_blocks
from tui.report.sections import (
    Bars,
    Block,
    Commands,
    Curve,
    Figure,
    Listing,
    Points,
    Report,
    Section,
    Table,
    cells_of,
)
from tui.terminal.printable import Column, ascii_within, names, pairs
from tui.text import facts
from tui.text import facts as shown
from tui.text.compare import (
    Row,
    best_first_words,
    blocks,
    comparison_columns,
    comparison_scatter,
    merged,
    promises,
)
from tui.text.estimate import total_lines
from tui.text.groups import of_group
from tui.text.histogram import group_histogram
from tui.text.info import info_lines, info_results
from tui.text.promise import (
    binding_columns,
    hours_lines,
    known_sentence,
    pooled_words,
    promise_words,
    simulate_sentence,
    why_none,
)
from tui.text.selection import heading_lines, part_of_study
from tui.text.summary import following_commands
from tui.text.timeline import course, group_timeline
from tui.text.trade_off import TradeOff, level_text, missing_texts, trade_off_columns
from tui.version import __version__

_WORDS = {
    "joint": "The durations of each kernel group are split into strata of similar launches, and launches are "
    "drawn at random from each. How many is solved for all strata together: the total is to be within "
    "epsilon at the confidence, each kernel group's own total within a looser bound, at the least time to "
    "simulate. Kernel groups with a small share of the time are pooled where that takes less time.",
    "root": "The durations of each kernel group are split in two, and each part again, for as long as "
    "a split makes the plan cheaper. Launches are drawn at random from each part, as many as the error model "
    "STEM asks for.",
    "stem": "Launches are drawn at random from each kernel group, as many as the error model STEM asks for "
    "given the spread of the group's durations.",
    "allegro": "The durations of each kernel group are split by k-means until those of a part are alike. "
    "Launches are drawn at random from each part, as many as the central limit theorem asks for.",
    "random": "Launches are drawn at random from all launches alike, whatever kernel they are of.",
    "pks": "Launches are clustered by their metrics after a principal component analysis, and one launch "
    "stands for each cluster.",
    "two-level": "The first launches are clustered by their metrics, and the others are assigned to these "
    "clusters by what is known of them without metrics. One launch stands for each cluster.",
    "sieve": "Launches of a kernel are put into strata by how many instructions they execute, and one launch "
    "stands for each stratum.",
    "photon": "A launch stands for later launches of its kernel that execute nearly the same blocks of code.",
    "tbpoint": "Launches are clustered by their metrics, from the bottom up, and one launch stands for each "
    "cluster.",
    "first-instructions": "The first launches of the run are taken, up to a number of instructions, and "
    "stand for all others.",
    "single-iteration": "The launches of one iteration of the program's loop are taken and stand for all "
    "iterations.",
    "embedding": "Launches are clustered by vectors that are given for them, and launches of each cluster "
    "stand for the others of it.",
}


def method_words(method: str) -> str:
    """Return what a method does."""
    return _WORDS[method]


def plan_section(facts: Facts) -> Section:
    """Return the section of the plan."""
    return Section("Plan", tuple(_blocks(facts)))


def _blocks(facts: Facts) -> Iterator[Block]:
    study, design = facts.study, facts.plan.design
    pooled = pooled_words(study)
    yield f"Promise: {promise_words(design)}."
    yield f"Method: {design.method} ({method_named(design.method).source}). {method_words(design.method)}"
    yield Table("What the plan costs and promises", pairs(_figures(facts)))
    yield from () if pooled is None else (f"{pooled}.",)
    yield from map(with_flags, design.notes)
    if facts.costs.binding:
        total_ns, slowdown = facts.plan.total_duration_ns, facts.costs.slowdown
        columns = binding_columns(facts.costs.binding, total_ns, slowdown)
        yield Table("What each option alone, a step looser, would give", tuple(columns))
    elif facts.costs.binding is not None:
        yield f"{_begun(why_none(design))}."


def _begun(text: str) -> str:
    """Return words as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def _figures(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield what a figure is and the figure, as `sample` has them."""
    study, plan, design = facts.study, facts.plan, facts.plan.design
    share, duration, ratio = quantities.share, quantities.duration, quantities.ratio
    of = quantities.count(study.counts.launches)
    if design.random:
        yield (
            "error asked for",
            f"epsilon {design.target.epsilon:g} at confidence {design.target.confidence:g}",
        )
    yield "launches to simulate", f"{quantities.count(plan.samples)} of {of}"
    yield "strata", quantities.count(design.strata_count)
    yield "sampled time", f"{duration(plan.sampled_duration_ns)} of {duration(plan.total_duration_ns)}"
    yield "speedup", f"{ratio(plan.speedup)}, {ratio(design.speedup)} expected"
    yield "least time of any plan that visits every kernel group", duration(plan.floor_ns)
    drawn = f"this draw (seed {plan.seed})" if design.random else "the choice"
    yield f"estimate of {drawn}", f"{duration(plan.estimate_ns)}, {share(plan.error)} off"
    for label, bound in (
        ("bound on the profile's own total", design.bound),
        ("bound on the simulated total, as declared", design.bound_with_noise),
        ("bound on any kernel group's own total", design.group_bound),
        ("bound on any kernel group's simulated total", design.group_bound_with_noise),
    ):
        if bound is not None:
            yield label, share(bound)
    if design.share_within_epsilon is not None:
        text = f"{share(design.share_within_epsilon)} of {quantities.count(DRAWS)} draws"
        yield "draws of the profile's total within epsilon", text
    if facts.judgement is not None and design.random:
        judged = facts.judgement
        text = f"{share(judged.error_mean)} mean, {share(judged.error_p95)} at the 95th percentile"
        yield f"error over {shown.draws_text(judged.repeats)}", text
    if design.expected_half_width:
        yield "interval expected of the simulated total", share(design.expected_half_width)
    taken = hours_lines(design, facts.costs)
    if taken:
        # What is in brackets belongs to what is before it.
        yield "simulation", "; ".join(taken).replace("; (", " (")


_BINS = 80
_TEXT_WIDTH, _TEXT_HEIGHT = 100, 16
_NAME_WIDTH = 48
# Durations that differ by more than this factor are crowded together on a linear axis.
_WIDE = 20


def duration_figure(study: Study, group: int) -> Figure:
    """Return the histogram of a kernel group's durations, its strata apart."""
    durations_ns, launches = study.counts.group_pairs(group)
    strata = facts.clusters_of_group(study, group)
    log = _is_wide(int(durations_ns[0]), int(durations_ns[-1]))
    bins = useful_bins(durations_ns, _BINS, log=log)
    data = histogram_data(durations_ns, launches, strata, bins, log=log)
    if len(durations_ns) == 1:
        # Its bin is as wide as a tick of the clock, of which nothing is to be seen.
        data = replace(data, edges_ns=np.repeat(durations_ns, 2))
    row = facts.group_row(study, group)
    names = tuple(
        f"{quantities.duration_range(low, high)}: {counted(int(counts.sum()), 'launch', 'launches')}"
        for (low, high), counts in zip(strata, data.cluster_counts, strict=True)
    )
    shortest, longest, mean = map(quantities.duration, (row["min_ns"], row["max_ns"], row["mean_ns"]))
    description = (
        f"Histogram of {counted(row['launches'], 'launch', 'launches')} that last {shortest} to {longest}, "
        f"{mean} in the mean, in {facts.strata_text(len(strata))}."
    )
    with ascii_within():
        drawn = plain(group_histogram(study, group, _TEXT_WIDTH, _TEXT_HEIGHT, log=log))
    name = f"durations-{group + 1}"
    return Figure(name, _title(study, group), description, Bars(data, names, log), drawn)


def timeline_figure(timeline: GroupTimeline) -> Figure:
    """Return a kernel group's launches over the run, those that the plan draws marked."""
    study, launches = timeline.study, timeline.launches
    strata = facts.clusters_of_group(study, timeline.group)
    log = _is_wide(int(launches.duration_ns.min()), int(launches.duration_ns.max()))
    names = tuple(quantities.duration_range(low, high) for low, high in strata)
    with ascii_within():
        drawn = plain(group_timeline(timeline, _TEXT_WIDTH, _TEXT_HEIGHT, log=log))
    return Figure(
        "over-the-run",
        _title(study, timeline.group),
        f"Durations of the launches in the order in which they were issued. {course(launches)}.",
        cells_of(launches, strata, timeline.drawn_ids, names, log=log),
        drawn,
    )


def trade_off_figure(known: TradeOff) -> Figure:
    """Return the speedup over epsilon, the plan's own marked."""
    points = [point for point in known.ascending if point.speedup is not None]
    epsilon = np.array([point.epsilon for point in points])
    speedup = np.array([point.speedup for point in points], dtype=np.float64)
    with ascii_within():
        drawn = plain(known.chart(_TEXT_WIDTH, _TEXT_HEIGHT))
    ends = ""
    if points:
        first, last = (
            f"{quantities.ratio(each.speedup)} at {each.epsilon:g}" for each in (points[0], points[-1])
        )
        ends = f" From {first} to {last}."
    return Figure(
        "trade-off",
        "Speedup over epsilon",
        f"Expected speedup of a plan by the method {known.method} over the error that is allowed.{ends}",
        Curve(epsilon, speedup, known.target.epsilon),
        drawn,
    )


def comparison_figure(rows: Sequence[Row]) -> Figure | None:
    """Return the methods by speedup and error; None where there is nothing to draw."""
    there = [
        each
        for each in merged([row for row in rows if row["applicable"]])
        if each.row["speedup"] is not None and each.row["error_mean"] is not None
    ]
    if not there:
        return None
    drawn = Points(
        np.array([each.row["speedup"] for each in there], dtype=np.float64),
        np.array([each.row["error_mean"] for each in there], dtype=np.float64),
        tuple(each.label for each in there),
    )
    with ascii_within():
        as_text = plain(comparison_scatter(rows, _TEXT_WIDTH, _TEXT_HEIGHT))
    best = max(there, key=lambda each: each.row["speedup"])
    return Figure(
        "comparison",
        "Speedup against error",
        "Mean error of the total over repeated draws, by the speedup of each method's plan; further down and "
        f"to the right is better. The largest speedup, {quantities.ratio(best.row['speedup'])}, "
        f"has {best.label}.",
        drawn,
        as_text,
    )


def _is_wide(low_ns: int, high_ns: int) -> bool:
    return 0 < _WIDE * low_ns < high_ns


def group_name(study: Study, group: int) -> str:
    """Return what a kernel group is called in charts and tables: short, and no other group's."""
    return facts.group_label(study, group, _NAME_WIDTH)


def _title(study: Study, group: int) -> str:
    return f"#{group + 1} {group_name(study, group)}"


# Nothing is left out of a table for want of room.
_ANY_WIDTH = 10_000


def report_of(facts: Facts, options: ReportOptions) -> Report:
    """Return the report; a section that the profile or the method has nothing for is left out."""
    study = facts.study
    name = shown.device_name(study)
    return Report(
        title=f"Kernel launches of {', '.join(options.profiles)}",
        about=study.profile.format + ("" if name is None else f", {name}"),
        sections=tuple(section for section in _sections(facts, options) if section.blocks),
    )


def _sections(facts: Facts, options: ReportOptions) -> Iterator[Section]:
    yield Section("In short", tuple(_in_short(facts)))
    yield Section("Profile", tuple(_profile(facts)))
    yield Section("Findings", (_findings(facts),))
    yield Section("Kernel groups", tuple(_groups(facts, options.top)))
    yield Section("Durations", tuple(_durations(facts, options.charts)))
    if facts.timeline is not None:
        yield Section("Over the run", (timeline_figure(facts.timeline),))
    yield plan_section(facts)
    if facts.simulated is not None:
        yield Section("Simulated", tuple(results_blocks(facts.simulated, options)))
    yield Section("Trade-off", tuple(_trade_off(facts)))
    yield Section("Methods compared", tuple(_comparison(facts, options)))
    yield Section("Names in full", (_names(facts, options.top),))
    yield Section("To make this again", tuple(_making(options)))


def _in_short(facts: Facts) -> Iterator[Block]:
    """Yield what ran, whether the GPU was busy, what dominates, what to simulate, and what it came to."""
    study, plan = facts.study, facts.plan
    launches = counted(study.counts.launches, "launch", "launches")
    said = [
        f"The run has {launches} and {quantities.duration(study.counts.total_duration_ns)} of kernel time."
    ]
    if busy := shown.busy_words(study):
        said.append(f"{_begun(busy)}.")
    said.append(f"By kind of work: {shown.kind_words(study)}.")
    first = shown.group_row(study, 0)
    those = counted(first["launches"], "launch", "launches")
    said.append(f"{quantities.share(first['share'])} of it goes into {those} of {group_name(study, 0)}.")
    said.append(simulate_sentence(plan.design, study.counts.launches, plan.total_duration_ns, plan))
    said.append(known_sentence(plan.design))
    if facts.simulated is not None:
        said += [
            f"Simulated: {name} {total}." for name, total in islice(total_lines(facts.simulated.found), 1)
        ]
    yield " ".join(said)


def _profile(facts: Facts) -> Iterator[Block]:
    yield from heading_lines(part_of_study(facts.study))
    yield Table("What is in the profile", pairs(info_lines(info_results(facts.study))))


def _findings(facts: Facts) -> Block:
    if not facts.study.findings:
        return "There is nothing to watch out for."
    return Listing(
        tuple((each.code, f"{each.message} Remedy: {each.remedy}.") for each in facts.study.findings)
    )


def _groups(facts: Facts, top: int) -> Iterator[Block]:
    study = facts.study
    number = min(top, len(study.counts.groups))
    rows = [shown.group_row(study, index) for index in range(number)]
    share = [row["share"] for row in rows]
    figures = [
        Column("share", [quantities.share(each) for each in share]),
        Column("total", [quantities.duration(row["total_duration_ns"]) for row in rows]),
        Column("mean", [quantities.duration(row["mean_ns"]) for row in rows]),
        Column("CoV", ["-" if row["cov"] is None else f"{row['cov']:.3f}" for row in rows]),
    ]
    of_plan = [
        Column("strata", [of_group(row, "clusters") for row in rows]),
        Column("drawn", [of_group(row, "samples") for row in rows]),
    ]
    # Strata of some methods span kernel groups, which then have none of their own.
    has_own = study.groups.samples is not None
    columns = (
        Column("rank", [f"#{row['rank']}" for row in rows]),
        *figures,
        Column("launches", [quantities.count(row["launches"]) for row in rows]),
        *(of_plan if has_own else ()),
        names("kernel group", [group_name(study, index) for index in range(number)]),
    )
    # A bar as long as the cell is the largest group's.
    bars = {"share": tuple(each / (share[0] or 1.0) for each in share)}
    left = len(study.counts.groups) - number
    yield Table("The largest kernel groups" if left else "All kernel groups", columns, bars)
    if left:
        yield f"{quantities.count(left)} smaller groups are not listed."
    yield from shown.devices_named(study)
    words = ["CoV is the standard deviation over the mean."]
    if has_own:
        words.append(
            "Strata are parts of a group with similar launches; drawn is how many the plan simulates."
        )
    yield from (" ".join(words),) if words else ()


def _names(facts: Facts, top: int) -> Block:
    groups = facts.study.counts.groups[:top]
    return Listing(
        tuple(
            (f"#{rank} {group_name(facts.study, rank - 1)}", group.key)
            for rank, group in enumerate(groups, 1)
        ),
        are_names=True,
    )


def _durations(facts: Facts, charts: int) -> Iterator[Block]:
    for group in range(min(charts, len(facts.study.counts.groups))):
        yield duration_figure(facts.study, group)


def _trade_off(facts: Facts) -> Iterator[Block]:
    known = facts.traded
    if known is None:
        return
    yield "What a plan of the same method costs where more or less error is allowed, all else being equal."
    yield trade_off_figure(known)
    yield Table("Plans at one epsilon after another", tuple(trade_off_columns(known)))
    level = level_text(known)
    yield from () if level is None else (level,)
    yield from missing_texts(known)


def _comparison(facts: Facts, options: ReportOptions) -> Iterator[Block]:
    if facts.compared is None:
        return
    rows = facts.compared.rows
    found = blocks(rows, CompareSort.BEST, promises(rows, options.epsilon, options.confidence))
    if found.can_run:
        columns = tuple(comparison_columns(found.can_run, _ANY_WIDTH))
        yield Table("All methods on this profile, best first", columns)
        yield (
            "Simulated, bound and group are what a method promises of the simulated total, of the "
            "profile's own and of any kernel group's. Mean, p95 and max are errors of the profile's total "
            "over repeated draws; within is the share of draws that are off by at most "
            f"{quantities.share(options.epsilon)}. {best_first_words(options.epsilon)}."
        )
        figure = comparison_figure(rows)
        yield from () if figure is None else (figure,)
    yield from facts.compared.notes
    if found.cannot_run:
        yield "These methods cannot run on it:"
        yield Listing(tuple((row["method"], row["reason"]) for row in found.cannot_run))


def _making(options: ReportOptions) -> Iterator[Block]:
    yield f"KernelPoint {__version__}, seed {options.seed}. The first command writes the plan."
    yield Commands(tuple(following_commands(options.profiles, options)))
