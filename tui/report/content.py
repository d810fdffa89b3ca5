"""The sections of a report, in order: what the profile is, what the plan is, what it costs and promises."""

from __future__ import annotations

from collections.abc import Iterator

from tui.charts import quantities
from tui.options.choices import CompareSort
from tui.options.report import ReportOptions
from tui.report.charts import (
    comparison_figure,
    duration_figure,
    group_name,
    timeline_figure,
    trade_off_figure,
)
from tui.report.facts import Facts
from tui.report.plan_section import plan_section
from tui.report.results import results_blocks
from tui.report.sections import Block, Commands, Listing, Report, Section, Table
from tui.terminal.tables import Column, names, pairs
from tui.text import facts as shown
from tui.text.comparison.order import blocks, promises
from tui.text.comparison.table import best_first_words, comparison_columns
from tui.text.group_tables import of_group
from tui.text.info import info_lines, info_results
from tui.text.selection import heading_lines, part_of_study
from tui.text.summary import following_commands
from tui.text.trade_off import level_text, missing_texts, trade_off_columns
from tui.version import __version__

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
