"""Speedups between configurations on one plan, in words: sentences first, then a row a configuration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sampling.estimation.configurations import GroupSpeedup, Likeness, PlanSpeedups
from sampling.estimation.speedup import Speedup, Verdict
from sampling.study.summary import OptionChange, find_changes
from sampling.text import counted, joined, listed
from tui.charts.quantities import UNKNOWN, count
from tui.charts.whiskers import axis_words, ratio_axis, whisker_row
from tui.options.simulate import SpeedupOptions
from tui.output.blocks import MOST_ROWS, Block, CommandLine, Listing, Pairs
from tui.terminal.printable import Column, names
from tui.text.labels import group_places, key_parts, label_kernels, place_lines

if TYPE_CHECKING:
    from sampling.estimation.top_up import ToppedUp

# Beyond this a speedup is told as so many times as fast, not in per cent.
_IN_PER_CENT = 1.5
_PAGE_BAR = 40
_MOST_OPTIONS = 6


def speedup_blocks(
    speedups: PlanSpeedups,
    kernels: Sequence[GroupSpeedup],
    larger: ToppedUp | None,
    options: SpeedupOptions,
    following: str,
) -> Iterator[Block]:
    """Yield who is faster, the figures of each configuration, what differs between them, the next command."""
    yield from speedup_sentences(speedups, larger, options)
    if larger is not None:
        yield (
            f"next: {counted(len(larger.to_run), 'launch')} on every configuration, {larger.added:,} of them "
            f"new; the whole larger plan: {counted(larger.launches, 'launch')}"
        )
    yield ""
    yield configuration_listing(speedups)
    if changes := list(change_lines(speedups)):
        yield ""
        yield f"Options other than {speedups.base.name}'s:"
        yield Pairs(changes)
    if kernels:
        yield ""
        yield kernel_listing(speedups, kernels[:MOST_ROWS])
        yield from place_lines(group_places([key_parts(group.key) for group in kernels[:MOST_ROWS]]))
    elif options.groups:
        yield "no speedups by kernel group: the plan's launches were picked, not drawn at random"
    yield from [CommandLine(following)] if following else []


# Sentences.


def speedup_sentences(
    speedups: PlanSpeedups, larger: ToppedUp | None, options: SpeedupOptions
) -> Iterator[str]:
    """Yield who is faster, what is to be known beside it, and whether it is as narrow as the target."""
    caches = speedups.base.estimate.caches
    if not speedups.is_of_whole_run and caches.said:
        yield f"{caches.kind.upper()}: {caches.said}"
    yield verdict_text(speedups, options.top_up, larger)
    yield from speedup_notes(speedups)
    if options.target is not None:
        is_met = speedups.is_within(options.target, accept_cold=options.accept_cold)
        yield (
            f"all within {per_cent(options.target)} as asked for" if is_met else unmet_text(speedups, options)
        )


def has_next(speedups: PlanSpeedups, options: SpeedupOptions) -> bool:
    """Return whether more launches of the plan would tell what is open, or bring it within the target."""
    numbers = (speedups.launches_to_tell(speedup, options.target) for speedup in speedups.speedups)
    return speedups.plan.is_extensible and any(number is not None for number in numbers)


def verdict_text(speedups: PlanSpeedups, place: str | None = None, larger: ToppedUp | None = None) -> str:
    """Return what is told of every comparison, of how many launches, and how surely.

    ``place``: where the larger plan is written, whose launches tell what is open.
    """
    clauses, equal_names = [], dict[tuple[str, bool], list[str]]()
    for speedup in speedups.speedups:
        likeness = speedups.likeness(speedup)
        if speedups.verdict(speedup) is Verdict.SAME and likeness is not Likeness.SAME_FILES:
            equal_names.setdefault((speedup.base, likeness is Likeness.EQUAL), []).append(speedup.name)
        else:
            clauses.append(_clause(speedups, speedup, place, larger))
    for (base, is_equal), configurations in equal_names.items():
        clauses.append(_same_clause(speedups, [*configurations, base], is_equal=is_equal))
    launches = f"{len(speedups.plan.drawn):,} of {counted(speedups.plan.launches, 'launch')}"
    sure = f"{100 * speedups.confidence:.4g} %" + (" for all together" if speedups.simultaneous else " sure")
    return f"{'; '.join(clauses)}. {launches}{f', {sure}' if speedups.plan.is_random else ''}."


def clause_text(speedups: PlanSpeedups, speedup: Speedup) -> str:
    """Return what is told of one comparison."""
    likeness = speedups.likeness(speedup)
    if speedups.verdict(speedup) is Verdict.SAME and likeness is not Likeness.SAME_FILES:
        pair = [speedup.name, speedup.base]
        return _same_clause(speedups, pair, is_equal=likeness is Likeness.EQUAL)
    return _clause(speedups, speedup, None, None)


def _same_clause(speedups: PlanSpeedups, configurations: Sequence[str], *, is_equal: bool) -> str:
    clause = f"{joined(configurations)} are the same within {per_cent(speedups.same_within)}"
    return f"{clause}: no drawn launch differs" if is_equal else clause


def _clause(speedups: PlanSpeedups, speedup: Speedup, place: str | None, larger: ToppedUp | None) -> str:
    """Return what is told of one comparison that is not of two that are the same."""
    name, base = speedup.name, speedup.base
    likeness, verdict = speedups.likeness(speedup), speedups.verdict(speedup)
    if likeness is Likeness.SAME_FILES:
        return f"the results of {name} and {base} are the same files"
    if math.isnan(speedup.ratio):
        return f"{name} has no speedup over {base}: {speedup.reason}"
    if verdict is None:
        word = "faster" if speedup.ratio >= 1 else "slower"
        return f"{name} is {change_text(speedup.ratio, word)} than {base} by {_BY_WEIGHTS}"
    if verdict in (Verdict.FASTER, Verdict.SLOWER):
        ends = ends_text(speedup.low, speedup.high, verdict)
        return f"{name} is {change_text(speedup.ratio, verdict)} than {base} ({ends})"
    ends = ends_text(speedup.low, speedup.high, Verdict.OPEN)
    clause = f"{name} is not told apart from {base} ({ends})"
    if likeness is Likeness.EQUAL:
        clause = f"no drawn launch differs between {name} and {base} ({ends})"
    number = speedups.launches_to_tell(speedup)
    if number is None:
        error = per_cent(speedup.beside_sampling)
        return f"{clause}: launches alone do not tell, for errors beside them are {error}"
    file = ""
    if larger is not None and place is not None:
        file = f" ({place})" if larger.added >= number else f" (the first {larger.added:,}: {place})"
    return f"{clause}: {counted(number, 'launch')} more would tell{file}"


_BY_WEIGHTS = "the weights of launches that were picked, so there is no interval"


def change_text(ratio: float, word: str) -> str:
    """Return how much faster or slower a speedup is."""
    if 1 / _IN_PER_CENT < ratio < _IN_PER_CENT:
        return f"{per_cent(abs(ratio - 1))} {word}"
    return f"{ratio if ratio > 1 else 1 / ratio:.3g}x {word}"


def ends_text(low: float, high: float, verdict: Verdict) -> str:
    """Return the ends of an interval as the verdict counts: per cent faster, or slower, the smaller first."""
    if not (low > 1 / _IN_PER_CENT and high < _IN_PER_CENT):
        low, high = (1 / high, 1 / low) if verdict is Verdict.SLOWER else (low, high)
        return f"{low:.3g} to {high:.3g}x"
    changes = (1 - high, 1 - low) if verdict is Verdict.SLOWER else (low - 1, high - 1)
    decimals = _decimals(*changes)
    sign = "+" if verdict is Verdict.OPEN else ""
    first, last = (f"{100 * change:{sign}.{decimals}f}" for change in changes)
    return f"{first} to {last} %"


def per_cent(fraction: float) -> str:
    """Return a small fraction as per cent, with as many decimals as it takes.

    >>> per_cent(0.0123), per_cent(0.005), per_cent(0.0003)
    ('1.2 %', '0.5 %', '0.03 %')
    """
    return f"{100 * fraction:.{_decimals(fraction)}f} %"


def _decimals(*fractions: float) -> int:
    """Return with how many decimals of a per cent none of some fractions reads as 0, three at most."""
    smallest = min((abs(fraction) for fraction in fractions if fraction), default=1.0)
    return 1 if smallest >= 0.0005 else 2 if smallest >= 0.00005 else 3


def speedup_notes(speedups: PlanSpeedups) -> Iterator[str]:
    """Yield what is to be known beside the verdicts: launches left out, and two runs of one design."""
    clocks = {configuration.estimate.results.clock_hz for configuration in speedups.configurations} - {None}
    if len(clocks) > 1:
        several = listed([f"{clock / 1e6:g}" for clock in sorted(filter(None, clocks))])
        yield f"the configurations have several clocks ({several} MHz): speedups are of cycles, not of time"
    narrow_enough = [
        speedup
        for speedup in speedups.speedups
        if speedup.at_least and speedup.half_width == speedup.at_least
    ]
    for speedup in speedups.speedups:
        # What is as narrow as it was to be lacks no launch.
        if speedup.missing and speedup not in narrow_enough:
            launches = counted(speedup.missing, "drawn launch", "drawn launches")
            leave = "leaves" if speedup.missing == 1 else "leave"
            pair = f"{speedup.name} and {speedup.base}"
            yield f"{launches} without a result of both {leave} the comparison of {pair}"
        if speedups.likeness(speedup) is Likeness.SAME_OPTIONS:
            pair = f"{speedup.name} and {speedup.base}"
            yield f"{pair} have the same options: what differs is the simulator's own noise"
    if narrow_enough:
        several = joined([speedup.name for speedup in narrow_enough])
        reached = per_cent(narrow_enough[0].at_least)
        yield f"{several}: no narrower than {reached}, which launches were added for"


def result_notes(speedups: PlanSpeedups) -> Iterator[str]:
    """Yield gaps in each configuration's results and what was left out of them."""
    for configuration in speedups.configurations:
        yield from (f"{configuration.name}: {note}" for note in configuration.estimate.results.notes)


def unmet_text(speedups: PlanSpeedups, options: SpeedupOptions) -> str:
    """Return why speedups are not as narrow as asked for."""
    assert options.target is not None
    unmet = f"not within the {per_cent(options.target)} asked for"
    widest = max(speedups.speedups, key=lambda speedup: _width(speedup.half_width))
    if math.isnan(widest.half_width):
        return f"{unmet}: {widest.name} has no interval"
    if widest.half_width <= options.target:
        return f"{unmet} of the whole run: launches started cold (`--accept-cold` takes their speedups)"
    return f"{unmet}: that of {widest.name} reaches {per_cent(math.expm1(widest.half_width))} to either side"


def _width(half_width: float) -> float:
    return math.inf if math.isnan(half_width) else half_width


def slower_text(speedups: PlanSpeedups, allowed: float) -> str:
    """Return which configurations are surely slower than the base by more than is allowed; "" for none."""
    slower = [
        speedup
        for speedup in speedups.speedups
        if speedup.base == speedups.base.name and speedup.high < 1 - allowed
    ]
    if not slower:
        return ""
    clauses = [
        f"{speedup.name} {per_cent(1 - speedup.ratio)} "
        f"({ends_text(speedup.low, speedup.high, Verdict.SLOWER)})"
        for speedup in slower
    ]
    return f"slower than {speedups.base.name} by more than {per_cent(allowed)}: {listed(clauses)}"


# Tables.


def configuration_listing(speedups: PlanSpeedups) -> Listing:
    """Return a row a configuration, or a pair of them, with a bar of its speedup."""
    base, contrasts = speedups.base, speedups.speedups
    are_pairs = any(speedup.base != base.name for speedup in contrasts)
    labels = [pair_name(speedup) if are_pairs else speedup.name for speedup in contrasts]
    totals = [speedups.by_name[speedup.name].estimate.main.total for speedup in contrasts]
    rows = [(1.0, 1.0, 1.0), *((speedup.ratio, speedup.low, speedup.high) for speedup in contrasts)]
    axis = ratio_axis([value for row in rows for value in row])

    def bar(row: int, room: int) -> str:
        return whisker_row(*rows[row], axis, room)

    figures = [
        names("configuration", [base.name, *labels]),
        Column("cycles", [_cycles(total) for total in (base.estimate.main.total, *totals)]),
        Column("speedup", ["1", *(ratio_text(speedup.ratio) for speedup in contrasts)]),
        Column("interval", ["", *(interval_text(speedup.low, speedup.high) for speedup in contrasts)]),
        Column(
            "verdict", ["base", *(verdict_word(speedups, speedup) for speedup in contrasts)], to_right=False
        ),
    ]
    pages = [bar(row, _PAGE_BAR) for row in range(len(rows))]
    return Listing(figures, axis_words(axis), bar, ("cycles",), full_labels=pages, has_bars=True)


def pair_name(speedup: Speedup) -> str:
    """Return what is compared with what."""
    return f"{speedup.name} over {speedup.base}"


def verdict_word(speedups: PlanSpeedups, speedup: Speedup) -> str:
    """Return what is told of a speedup, as a table has it."""
    if speedups.likeness(speedup) is Likeness.SAME_FILES:
        return "same files"
    verdict = speedups.verdict(speedup)
    return "no interval" if verdict is None else str(verdict)


def _cycles(total: float) -> str:
    return count(round(total)) if math.isfinite(total) else UNKNOWN


def ratio_text(value: float) -> str:
    """Return a speedup as a table has it."""
    return f"{value:.4f}" if math.isfinite(value) else UNKNOWN


def interval_text(low: float, high: float) -> str:
    """Return the ends of an interval as a table has them; NaN where there is none."""
    return UNKNOWN if math.isnan(high - low) else f"{low:.4f}-{high:.4f}"


def change_lines(speedups: PlanSpeedups) -> Iterator[tuple[str, str]]:
    """Yield each configuration with the options whose values are not the base's, where logs print them."""
    for configuration in speedups.configurations[1:]:
        if changes := find_changes(speedups.base, configuration):
            yield configuration.name, changes_text(changes)


def changes_text(changes: Sequence[OptionChange], most: int = _MOST_OPTIONS) -> str:
    """Return what the first options that differ are, and what they are of the base."""
    texts = [
        f"{change.option} {change.value or 'unset'} instead of {change.base or 'unset'}" for change in changes
    ]
    return listed(texts, most)


def kernel_listing(speedups: PlanSpeedups, kernels: Sequence[GroupSpeedup]) -> Listing:
    """Return the kernels that gain and lose most, each with its own interval."""
    totals = {name: configuration.estimate.main.total for name, configuration in speedups.by_name.items()}
    shares = [(group.cycles - group.base_cycles) / totals[group.speedup.base] for group in kernels]
    keys = [group.key for group in kernels]
    figures = [
        names("configuration", [group.speedup.name for group in kernels]),
        Column("of all cycles", [f"{100 * change:+.2f} %" for change in shares]),
        Column("speedup", [ratio_text(group.speedup.ratio) for group in kernels]),
        Column("interval", [interval_text(group.speedup.low, group.speedup.high) for group in kernels]),
    ]
    parts = [key_parts(key) for key in keys]
    return Listing(figures, "kernel group", label_kernels(parts, group_places(parts)), full_labels=keys)
