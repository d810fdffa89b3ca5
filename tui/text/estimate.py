"""Totals from a simulator's results, in every form, and what their intervals rest on.

That is what was assumed when the plan was made, and what the results show of it.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import structs, to_builtins

from sampling.estimation.hardware import HardwareComparison, compare_with_hardware, find_main_cause
from sampling.estimation.interval import COSTS, WITHOUT_RESULT, Estimate, SeenSpread
from sampling.estimation.ratio import Ratio
from sampling.estimation.roofline import measuring, summarise_bounds
from sampling.estimation.sizes import larger_request
from sampling.estimation.summary import EstimateSummary, compare_groups, summarise_estimate
from sampling.estimation.total import FEW_CARRY, POOLED, PlanEstimate
from sampling.plan.design import WHOLE_WORKLOAD_KEY
from sampling.plan.other_recording import located_files
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.record import Bounds
from sampling.reduction.grouping import is_pool_key
from sampling.simulators.measured_run import CYCLES
from sampling.simulators.registry import warm_caches
from sampling.strata.strata import starting_spreads
from sampling.text import counted
from tui.charts.quantities import UNKNOWN, count, duration, recorded_unit, share, signed_duration
from tui.charts.quantities import ratio as ratio_text
from tui.options.command_line import command_line
from tui.options.files import free_name
from tui.options.plan import SampleOptions
from tui.options.simulate import EstimateOptions
from tui.output.blocks import Block, CommandLine, Listing
from tui.output.writer import CommandResult
from tui.terminal.printable import Column, shortened
from tui.text.labels import Place, group_places, key_parts, label_kernels, place_lines
from tui.text.plan import export_command, launch_figures, profiler_target, sure_words, usual_target

if TYPE_CHECKING:
    from sampling.estimation.top_up import ToppedUp

# How launches began of which a total is not the whole run's.
_BEGAN = {"cold": "cold", "own": "with their own reads in L2"}
#: Of totals that are not of the whole run.
_HEADS = {"cold": "COLD", "own": "LOWER BOUND"}
# How much of an interval is assumption, from which share on.
_AMOUNTS = ((0.9, "Nearly all"), (0.6, "Most"), (0.4, "Half"), (0.1, "Part"), (0.0, "Hardly any"))
_HALF = 0.4
# So many totals are sentences, more of them a table; so many counters of one.
_MOST_SENTENCES, _MOST_COUNTERS = 8, 24
# As many reasons, the most common ones, why counters have no interval.
_MOST_REASONS = 3
# From this share of the declared variance on, next to all strata were simulated twice.
_NEXT_TO_ALL = 0.9


# The answer.


def estimate_result(
    estimate: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions, following: str | None = None
) -> CommandResult:
    """Return the answer; its rows are the metrics, or the kernel groups where these are asked for.

    `following`: the command to type next; "" for none, None for that of an estimate.
    """

    def summary() -> EstimateSummary:
        return summarise_with_options(estimate, larger, options)

    return CommandResult(
        "estimate",
        summary,
        blocks=lambda _: estimate_blocks(estimate, larger, options, following),
        rows=lambda: estimate_rows(summary(), options),
        warnings=(*refuted(estimate), *estimate.notes),
    )


def summarise_with_options(
    estimate: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions
) -> EstimateSummary:
    """Return every figure that the options ask for."""
    return summarise_estimate(
        estimate,
        groups=options.groups,
        target=options.target,
        accept_cold=options.accept_cold,
        next_launches=() if larger is None else larger.to_run,
    )


def estimate_rows(summary: EstimateSummary, options: EstimateOptions) -> list[dict[str, Any]]:
    """Return the metrics, or the kernel groups, without lists, for forms that have one value a cell."""
    rows = to_builtins(summary.groups if options.groups else summary.metrics)
    return [{name: value for name, value in row.items() if not isinstance(value, list)} for row in rows]


# In words.


def estimate_blocks(
    estimate: PlanEstimate,
    larger: ToppedUp | None,
    options: EstimateOptions,
    following: str | None = None,
    bounds: Bounds | None = None,
) -> Iterator[Block]:
    """Yield the answer first, then what it rests on, last the next command.

    `bounds`: what bounds the run, where that was computed before.
    """
    main, listed = estimate.main, options.top_up if larger is not None else None
    if main.is_incomplete:
        # Strata have no result.
        missing = set(estimate.missing[estimate.totals.index(main)])
        still = _launches_text([launch for launch in estimate.plan.drawn if launch.id in missing])
        known_share = f"{share(1 - main.share_missing)} of the time"
        # What lists them is the next command, where there is one that does.
        where_listed = f" (list: {listed})" if listed else ""
        if not listed and following is None and (next_options := _asked_next(estimate, options)):
            where_listed = f" (`--target {next_options.target:g} --top-up {next_options.top_up}` lists them)"
        yield f"INCOMPLETE: results of {known_share}; no total yet. Still to run: {still}{where_listed}"
    yield from total_lines(estimate, options)
    yield from hardware_lines(estimate)
    yield from cache_lines(estimate)
    yield from basis_lines(estimate)
    bounds = summarise_bounds(estimate) if bounds is None else bounds
    yield from counter_blocks(estimate, bounds, is_whole=options.details)
    yield from counter_notes(estimate)
    if (target := options.target) is not None:
        is_met = estimate.is_within(target, accept_cold=options.accept_cold)
        yield f"within {share(target)} as asked for" if is_met else unmet_text(estimate, target)
    if larger is not None:
        larger_plan = f"{counted(larger.launches, 'launch')}, {duration(larger.sampled_duration_ns)}"
        new = f"{_launches_text(larger.to_run)}, {larger.added:,} of them new"
        yield f"next: {new}; the whole larger plan: {larger_plan}"
    yield from detail_lines(estimate) if options.details else ()
    if options.groups:
        groups = group_listing(estimate)
        yield groups if len(groups) else NO_GROUPS
        yield from place_lines(_places([group.key for group in compare_groups(estimate)]))
    following = _following(estimate, options, listed) if following is None else following
    yield from [CommandLine(following)] if following else []


def _following(estimate: PlanEstimate, options: EstimateOptions, listed: str | None) -> str:
    """Return the command to simulate what is missing, to ask for a narrower total, or to look at it.

    Launches that began cold are to be simulated again, with filled caches.
    """
    if not (estimate.caches.is_of_whole_run or options.accept_cold):
        return warm_export(estimate.plan, options.plan, options.source)
    if listed is not None:
        is_amd = estimate.plan.is_amd
        if estimate.results.units:
            return export_command(listed, "more", profiler_target(is_amd=is_amd))
        return export_command(listed, "more", usual_target(is_amd=is_amd))
    if (next_options := _asked_next(estimate, options)) is not None:
        return command_line("estimate", next_options)
    if (
        estimate.plan.is_random
        and not estimate.plan.is_extensible
        and (again := _sample_again(estimate, options))
    ):
        return again
    return f"kernelpoint {shlex.join([options.plan, *options.results])}"


def _sample_again(estimate: PlanEstimate, options: EstimateOptions) -> str:
    """Return the command that plans more layers, or more of clusters; "" if none helps."""
    target, (profiles, missing) = options.target or narrower(estimate), located_files(estimate.plan)
    if target is None or missing is not None or estimate.is_within(target, accept_cold=options.accept_cold):
        return ""
    request = larger_request(estimate, target)
    sample = SampleOptions(profiles=profiles, output=free_name("more.json"))
    return "" if request is None else command_line("sample", replace(sample, request=request))


def warm_export(plan: PlanFile, path: str, target: str | None = None) -> str:
    """Return the command that exports a plan so that its launches find in the caches what the program left.

    To look at the plan, where no simulator fills them.
    """
    if target is None or (caches := warm_caches(target)) is None:
        target = usual_target(is_amd=plan.is_amd)
        caches = warm_caches(target)
    if caches is None:
        return f"kernelpoint {shlex.quote(path)}"
    return export_command(path, "warm", target, caches, "DIR")


def _asked_next(estimate: PlanEstimate, options: EstimateOptions) -> EstimateOptions | None:
    """Return the estimate to ask for next, which writes what is still to be run; None where there is none."""
    target = options.target or narrower(estimate)
    # Launches that were picked are not added to, and more that begin cold mend nothing.
    is_warm = estimate.caches.is_of_whole_run or options.accept_cold
    if (
        target is None
        or not is_warm
        or not estimate.plan.is_extensible
        or estimate.is_within(target, accept_cold=options.accept_cold)
    ):
        return None
    return replace(options, target=target, top_up=free_name("more.json"), output=None)


def total_lines(estimate: PlanEstimate, options: EstimateOptions | None = None) -> Iterator[str]:
    """Yield each total and ratio with its interval; of the first, how many launches it is from.

    A total of launches that began otherwise than in the whole run stands first, headed by that.
    `options`: name a target; where it is met, launches that were not
    needed are not called missing.
    """
    main, caches = estimate.main, estimate.caches
    is_met = options is not None and options.target is not None and main.is_within(options.target)
    simulated = len(estimate.plan.drawn) - len(estimate.missing[estimate.totals.index(main)])
    by = "weighted by the profile's time" if estimate.plan.is_random else "by their weights"
    origin = f", from {simulated:,} of {counted(estimate.plan.launches, 'launch')} {by}"
    origin += ", the others as is assumed" if estimate.parts is not None and estimate.parts.assumed else ""
    sure = f"; {sure_words(main.confidence)}"
    if not caches.is_of_whole_run:
        sure = f" at {100 * main.confidence:.4g} %"
    totals = [main] if is_counted(estimate) else estimate.totals
    for total in sorted(totals, key=lambda total: total is not main):
        unit = " ns" if estimate.results.units.get(total.metric) == "ns" else ""
        text, missing = f"{total.metric} {total.total:,.0f}{unit}", math.isnan(total.total)
        part = f" of {share(1 - total.share_missing)} of the time" if total.share_missing else ""
        if head := total_head(estimate, total):
            figure, began = "" if missing else f" {total.total:,.0f} {CYCLES}{part}", caches.said
            # The whole run may take more than a part of it.
            began = began.replace("the whole run takes", "in the whole run they take") if part else began
            yield f"{head}{figure}: {began}"
            text = "  of launches that begin so"
        text += part
        if missing:
            text = f"{total.metric} no total yet"
        elif total.half_width == 0 and total.degrees_of_freedom == math.inf:
            text += ", exact: all launches were simulated"
        elif total.half_width is not None:
            text += f", within {within_text(total)} ({total.low:,.0f} to {total.high:,.0f}{sure})"
        notes = [note for note in total.notes if not (is_met and f"{WITHOUT_RESULT};" in note)]
        yield "; ".join([text + (origin if total is main else ""), *notes])
    for ratio in estimate.ratios:
        if ratio.weight is None or not is_counted(estimate):
            yield f"{ratio.name} {_ratio_text(ratio)}"


def is_counted(estimate: PlanEstimate) -> bool:
    """Return whether results are counters of a profiler, which are a table beside the first sentence."""
    return bool(estimate.results.units) or len(estimate.totals) > _MOST_SENTENCES


def counter_blocks(estimate: PlanEstimate, bounds: Bounds, *, is_whole: bool) -> Iterator[Block]:
    """Yield what bounds the run, where counters tell, and their table where results are a profiler's."""
    yield from [sentence] if (sentence := bottleneck_sentence(bounds)) else []
    if not is_counted(estimate):
        return
    listing, left_out = counter_listing(estimate, is_whole=is_whole)
    yield from [listing] if len(listing) else []
    yield from [f"not shown: {left_out}"] if left_out else []
    if estimate.plan.is_random:
        refusals = Counter(total.refusal for total in estimate.totals if total.refusal and total.total)
        for refusal, number in refusals.most_common(_MOST_REASONS):
            yield f"no interval of {counted(number, 'counter')}: {refusal}"


def counter_notes(estimate: PlanEstimate) -> list[str]:
    """Return why some counters have no interval, and how far those of others can be trusted."""
    return [note for note in (FEW_CARRY, POOLED) if note in estimate.notes]


def bottleneck_sentence(bounds: Bounds) -> str:
    """Return what bounds the run, by share of time, the largest first; nothing where that is not known."""
    shares = [(part.value, kind, part.low, part.high) for kind, part in bounds.items() if part.value]
    parts = []
    meaning = {"latency": " (below 60 % of both peaks)"}
    for value, kind, low, high in sorted(shares, reverse=True):
        interval = "" if low == high else f" ({share(low)} to {share(high)})"
        interval = " (no interval)" if low is None else interval
        parts.append(f"{kind}{meaning.get(kind, '')} for {share(value)}{interval}")
    return f"What bounds the run, by time: {', '.join(parts)}." if parts else ""


def bottleneck_text(estimate: PlanEstimate, bounds: Bounds) -> str:
    """Return what bounds the run, by share of time; where that is not known, why, or how it is measured."""
    if sentence := bottleneck_sentence(bounds):
        return sentence
    lack = missing_text(estimate.main) if bounds else measuring(estimate.plan)
    return f"What bounds the run is not known: {lack}."


def counter_listing(estimate: PlanEstimate, *, is_whole: bool) -> tuple[Listing, str]:
    """Return totals and means of counters as a table, and what it leaves out, in words.

    Counters that were 0 in every launch that was measured are left out; with `is_whole` no others.
    """
    units = estimate.results.units
    totals = [total for total in estimate.totals if total is not estimate.main]
    means = [ratio for ratio in estimate.ratios if ratio.weight is not None]
    rows = [
        (total.metric, _figure(total.total, ",.0f"), units.get(total.metric, ""), within_text(total), "sum")
        for total in totals
        if total.total
    ]
    for mean in means:
        if mean.ratio != 0:
            half_width = None if mean.high is None or mean.ratio is None else mean.high / mean.ratio - 1
            within = "exact" if half_width == 0 else share(half_width)
            kind = "quotient" if mean.is_exact else "mean"
            rows.append((mean.name, _figure(mean.ratio, ",.4g"), mean.unit, within, kind))
    zeros, shown = len(totals) + len(means) - len(rows), len(rows) if is_whole else _MOST_COUNTERS
    left_out = [f"{counted(zeros, 'counter')}, 0 in every launch measured"] if zeros else []
    left_out += [f"{len(rows) - shown:,} more (`--details`)"] if len(rows) > shown else []
    columns = list(zip(*rows[:shown], strict=True)) or [()] * 5
    figures = [
        Column(title, cells, to_right=title in {"whole run", "within"})
        for title, cells in zip(("whole run", "unit", "within", "as"), columns[1:], strict=True)
    ]
    return Listing(figures, "counter", lambda row, room: shortened(rows[row][0], room)), ", ".join(left_out)


def _figure(value: float | None, form: str) -> str:
    return UNKNOWN if value is None or math.isnan(value) else format(value, form)


def _ratio_text(ratio: Ratio, unit: str = "") -> str:
    """Return a ratio with its interval, and what is to be known of it, or why there is none."""
    figure = "" if ratio.ratio is None else f"{ratio.ratio:.4g}{unit}"
    if figure and ratio.low is not None and ratio.low != ratio.high:
        figure += f", {ratio.low:.4g} to {ratio.high:.4g}"
    return "; ".join(filter(None, (figure, ratio.reason))) or "none"


def total_head(estimate: PlanEstimate, total: Estimate) -> str:
    """Return what heads a total of launches that began otherwise than in the whole run; else nothing."""
    return _HEADS.get(estimate.caches.kind, "") if total.metric == CYCLES else ""


def cache_lines(estimate: PlanEstimate) -> Iterator[str]:
    """Yield what the launches found in the caches, unless that heads the total, and what that does to it."""
    main, parts, caches = estimate.main, estimate.parts, estimate.caches
    head = _HEADS.get(caches.kind, "")
    if caches.said and not total_head(estimate, main):
        words = f"{head}: {caches.said}" if head else caches.said
        if parts is not None and parts.cold_check and main.half_width is not None and main.total:
            half_width = main.half_width / main.total
            before = math.sqrt(max(0.0, half_width**2 - parts.cold_check**2))
            words += f", which widens the interval from {share(before)} to {share(half_width)}"
        yield words
    if (bracket := estimate.own_reads) is not None:
        lower = f"{bracket.own:,.0f}, with L2 filled by what launches read themselves"
        interval = f"{bracket.low:,.0f} to {bracket.high:,.0f} with both intervals"
        yield f"the whole run's {main.metric} lie between {lower}, and {main.total:,.0f}: {interval}"


def _launches_text(launches: Sequence[PlannedLaunch]) -> str:
    """Return how many launches there are and how long they last."""
    total_ns = sum(launch.duration_ns or 0 for launch in launches)
    number = counted(len(launches), "launch")
    return f"{number}, {duration(total_ns)} of profile time" if total_ns else number


def missing_text(total: Estimate) -> str:
    """Return how much has no result."""
    return f"{share(total.share_missing)} of the profile's time has no result"


def unmet_text(estimate: PlanEstimate, target: float) -> str:
    """Return why the total is not as narrow as asked for."""
    total, unmet = estimate.main, f"not within the {share(target)} asked for"
    if total.is_incomplete or total.share_missing:
        return f"{unmet}: {missing_text(total)}"
    if total.half_width is None or not total.total:
        return f"{unmet}: there is no interval"
    began = _BEGAN.get(estimate.caches.kind, "")
    if total.is_within(target):
        return f"{unmet} of the whole run: launches started {began} (`--accept-cold` takes their total)"
    if estimate.parts is not None and estimate.parts.assumed > target:
        reached = share(estimate.parts.assumed)
        return f"{unmet}: what is assumed of kernels that never ran reaches {reached} by itself"
    if estimate.parts is not None and estimate.parts.cold_check > target:
        reached = share(estimate.parts.cold_check)
        return f"{unmet}: the cold check alone reaches {reached}; a larger `--cold-check` narrows it"
    starts = f", of launches that started {began}" if began else ""
    return f"{unmet}: the interval reaches {within_text(total)} to either side{starts}"


# Against the hardware.


def hardware_lines(estimate: PlanEstimate) -> Iterator[str]:
    """Yield how long the simulated GPU takes beside the recorded one, and which kernel makes most of that."""
    hardware, caches = compare_with_hardware(estimate), estimate.caches
    if hardware is None:
        return
    simulated, recorded = map(duration, (hardware.simulated_ns, hardware.recorded_ns))
    if simulated.split()[1] == recorded.split()[1]:
        recorded = recorded.split()[0]
    takes = f"the simulated GPU takes {simulated} where the recorded one took {recorded}"
    missing = estimate.main.share_missing
    conditions = [f"at {hardware.clock_hz / 1e6:,.6g} MHz"]
    conditions += [f"of {share(1 - missing)} of the time"] if missing else []
    conditions += [] if caches.is_of_whole_run else [f"of launches that began {_BEGAN[caches.kind]}"]
    yield f"{takes}: {ratio_words(hardware)}; {', '.join(conditions)}"
    groups = {group.key: group.hardware for group in compare_groups(estimate) if group.hardware is not None}
    cause = find_main_cause(groups)
    if cause is not None and not is_pool_key(cause[0]):
        keys = [*groups]
        labels = label_kernels(map(key_parts, keys), _places(keys))
        label = labels(keys.index(cause[0]), 60).strip()
        part = f"{share(cause[1])} of all kernels' differences"
        yield f"  most of that is {label}, {ratio_words(groups[cause[0]])}: {part}"


def ratio_words(hardware: HardwareComparison) -> str:
    """Return how much longer or shorter simulated time is than recorded, with its interval."""
    low, high, is_near = hardware.low, hardware.high, 0.5 <= hardware.ratio <= 2
    if low is None or high is None or low == high:
        interval = ""
    elif not is_near:
        interval = f" ({low:.3g} to {high:.3g})"
    elif hardware.is_clear:
        near, far = sorted((abs(low - 1), abs(high - 1)))
        interval = f" ({share(near).removesuffix(' %')} to {share(far)})"
    else:
        interval = f" ({_longer_words(low)} to {_longer_words(high)})"
    return (_longer_words(hardware.ratio) if is_near else f"{hardware.ratio:.3g} times as long") + interval


def _longer_words(times: float) -> str:
    return f"{share(abs(times - 1))} {'longer' if times >= 1 else 'shorter'}"


# What the interval rests on.


def basis_lines(estimate: PlanEstimate) -> Iterator[str]:
    """Yield what the interval consists of, and what the results say of how cycles vary."""
    parts, spread = estimate.parts, estimate.main.seen
    if parts is not None:
        shares = [
            f"{kind.replace('_', ' ')} {'unknown' if width is None else share(width)}"
            for kind, width in structs.asdict(parts).items()
            if width != 0
        ]
        yield f"  parts of that: {', '.join(shares)}"
    if spread is not None:
        yield _assumption(estimate, spread)
    yield from refuted(estimate)


def _assumption(estimate: PlanEstimate, spread: SeenSpread) -> str:
    """Return how much of the interval is assumption and why, and how much cycles varied beside it."""
    interval = "this interval" if estimate.parts is None else "the part of sampling"
    if not spread.degrees_of_freedom:
        sentence = f"All of {interval} is assumption: no stratum was simulated twice."
        target = narrower(estimate)
        is_more = target is not None and estimate.caches.is_of_whole_run
        return f"{sentence} `--target {target:g}` simulates more and checks it." if is_more else sentence
    amount = next(amount for share_from, amount in _AMOUNTS if spread.declared_share >= share_from)
    # Strata of one kernel with a launch each show it together, so that none need have two.
    number = (
        "few" if spread.declared_share >= _HALF else "many" if spread.share >= _NEXT_TO_ALL else "not all"
    )
    sentence = f"{amount} of {interval} is assumption: {number} launches show how much they vary."
    return sentence if spread.exceeds else f"{sentence} These vary {_as_assumed(spread)}."


def _as_assumed(spread: SeenSpread) -> str:
    """Return how much cycles varied where that was seen, beside what was assumed."""
    times = math.sqrt(spread.variance_ratio)
    if times < 0.01:
        return "hardly at all"
    figure = f"{times:.2g}"
    return "as much as assumed" if figure == "1" else f"{figure} times as much as assumed"


def refuted(estimate: PlanEstimate) -> Iterator[str]:
    """Yield that results vary by more than the plan declared and chance explains, and what to type then."""
    spread, declared = estimate.main.seen, starting_spreads(estimate.plan.options.target)[0]
    if spread is not None and spread.exceeds and estimate.main.metric in COSTS:
        times = math.sqrt(spread.variance_ratio)
        yield (
            f"{estimate.main.metric} vary {times:.2g} times as much as declared, more than chance explains: "
            f"plan again with --noise-floor {min(times * declared, 0.99):.2g}"
        )


def detail_lines(estimate: PlanEstimate) -> Iterator[str]:
    """Yield the same in figures, and what the interval covers."""
    main, spread = estimate.main, estimate.main.seen
    if spread is not None and spread.degrees_of_freedom:
        ratio = math.sqrt(spread.variance_ratio)
        times = f"{ratio:.2g}" if ratio >= 0.01 else "less than 0.01"
        yield (
            f"Of the variance {share(spread.share)} was seen at least twice, in "
            f"{spread.degrees_of_freedom:.1f} degrees of freedom; there, {main.metric} vary {times} times "
            "as much as declared. "
            f"{share(spread.declared_share)} of the interval rests on what was declared."
        )
    if (freedom := main.degrees_of_freedom) is not None and not math.isinf(freedom):
        yield f"the interval has {freedom:.1f} degrees of freedom"
    yield from [note for note in estimate.notes if note not in counter_notes(estimate)]


def narrower(estimate: PlanEstimate) -> float | None:
    """Return the first of a few targets that the total does not meet; None where it meets them all."""
    return next((step for step in (0.03, 0.02, 0.01, 0.005) if not estimate.main.is_within(step)), None)


# By kernel group.

NO_GROUPS = "no totals by kernel group: the plan's launches were picked, not drawn at random"


def group_listing(estimate: PlanEstimate) -> Listing:
    """Return the kernel groups as a table; it is empty where launches were picked."""
    groups = compare_groups(estimate)
    unit = recorded_unit()
    metric = f"{CYCLES}/{unit}" if estimate.main.metric == CYCLES else f"per {unit}"
    figures = [
        Column("simulated", [share(group.simulated_share) for group in groups]),
        Column("profiled", [share(group.profiled_share) for group in groups]),
        Column(metric, [UNKNOWN if group.per_ns is None else f"{group.per_ns:.4g}" for group in groups]),
        Column("within", [within_text(group.total) for group in groups]),
    ]
    rows = [group.hardware for group in groups]
    if any(rows):
        # In place of cycles per ns, which are as many times the clock.
        ratios = [UNKNOWN if row is None else ratio_text(row.ratio) for row in rows]
        longer = [UNKNOWN if row is None else signed_duration(round(row.difference_ns)) for row in rows]
        figures[2:3] = [Column("against GPU", ratios), Column("longer", longer)]
    if any(group.total is None or group.total.launches_missing for group in groups):
        # How many of the drawn launches have no result.
        missing = ["all" if group.total is None else count(group.total.launches_missing) for group in groups]
        figures.append(Column("missing", missing))
    keys = [group.key for group in groups]
    if keys == [WHOLE_WORKLOAD_KEY]:
        return Listing(figures, "kernel group", lambda _, room: shortened("all", room))
    return Listing(figures, "kernel group", label_kernels(map(key_parts, keys), _places(keys)))


def _places(keys: Sequence[str]) -> dict[Place, str]:
    return group_places([*map(key_parts, keys)])


def within_text(total: Estimate | None) -> str:
    """Return how far the interval reaches to either side."""
    if total is None or total.half_width is None:
        return UNKNOWN
    if not total.half_width:
        return "exact"
    return share(total.half_width / total.total) if total.total else UNKNOWN


def next_listing(larger: ToppedUp, plan: PlanFile) -> Listing:
    """Return the launches of a larger plan that have no result yet, in its order."""
    places = _places([stratum.key for stratum in plan.strata])
    return Listing(launch_figures(larger.to_run), "kernel", label_kernels(larger.to_run, places))
