"""Totals from a simulator's results, as `estimate` and `run` give them in every form."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sampling.estimation.interval import Estimate
from sampling.estimation.total import PlanEstimate, compared_keys
from sampling.plan.design import WHOLE_WORKLOAD_KEY
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.running import Asked, Now, Ran
from sampling.simulators.job import Job
from sampling.simulators.measured_run import CYCLES
from sampling.text import counted, finite
from tui.charts.quantities import UNKNOWN, count, duration, hours, share
from tui.options.command_line import command_line, free_name
from tui.options.simulate import EstimateOptions
from tui.output.blocks import Listing, Said, Typed
from tui.output.writer import Answer, named
from tui.terminal.printable import Column, shortened
from tui.text.labels import Place, key_parts, labels_of, place_lines, places_of_groups
from tui.text.plan import launch_figures, sure_words

if TYPE_CHECKING:
    from sampling.estimation.top_up import ToppedUp

Row = dict[str, Any]
_PARTS = ("sampling", "projection", "scale_model", "cold_check")


# The answer.


def estimate_answer(
    found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions, following: str | None = None
) -> Answer:
    """Return the answer; its rows are the metrics, or the kernel groups where these are asked for.

    `following`: the command to type next; "" for none, None for that of an estimate.
    """
    results = estimate_results(found, larger, options)
    rows = results["groups"] if options.groups else results["metrics"]
    return Answer(
        "estimate",
        results,
        blocks=lambda _: estimate_blocks(found, larger, options, following),
        # Without lists, for forms that have one value a cell.
        rows=[{name: value for name, value in row.items() if not isinstance(value, list)} for row in rows],
        warnings=(*_refuted(found), *found.notes),
    )


def estimate_results(found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions) -> Row:
    """Return every figure."""
    from msgspec import to_builtins

    main, parts, caches, check = found.main, found.parts, found.caches, found.caches.check
    declared = found.plan.options.target if found.plan.is_random else None
    compared = {group.key: group for group in compared_groups(found)} if options.groups else {}
    own, ends, asked = found.own, _bracket(found), options.target
    return {
        "metrics": [
            _row(total) | {"missing": list(missing), "notes": list(total.notes)}
            for total, missing in zip(found.totals, found.missing, strict=True)
        ],
        "ratios": [
            named(ratio, "name", "ratio", "low", "high")
            | {"confidence": main.confidence, "reason": ratio.reason, "incomplete": ratio.is_incomplete}
            for ratio in (*found.ratios, found.speedup)
            if ratio is not None
        ],
        "groups": [
            {"key": key} | _row(total) | named(compared[key], *ComparedGroup._fields[2:])
            for key, total in (found.groups if options.groups else ())
        ],
        "promise_met": None if asked is None else found.is_within(asked, accept_cold=options.accept_cold),
        "caches": {
            "state": caches.state,
            "shares": dict(caches.shares),
            "is_of_whole_run": caches.is_of_whole_run,
            "cold_check": None if check is None else named(check, "ratio", "standard_error", "pairs"),
            "bracket": own and ends and {"own": own.total, "low": ends[0], "high": ends[1]},
        },
        "seen": None if main.seen is None else main.seen._asdict(),
        "declared": {
            "noise": declared and declared.noise_floor,
            "kernel_spread": declared and declared.kernel_spread,
        },
        "parts": None if parts is None else named(parts, *_PARTS),
        "next": [] if larger is None else to_builtins(larger.to_run),
        "covers": found.notes[-1],
    }


def _row(total: Estimate) -> dict[str, Any]:
    nu = total.degrees_of_freedom
    how = "exact" if nu == math.inf else "declared-times-seen"
    return {
        "metric": total.metric,
        "total": finite(total.total),
        **named(total, "low", "high", "confidence"),
        # An exact total has no end of them, which JSON cannot say.
        "degrees_of_freedom": finite(nu),
        "method": "none" if total.low is None else how,
        "incomplete": total.is_incomplete,
        **named(total, "share_missing", "launches_missing"),
    }


def _bracket(found: PlanEstimate) -> tuple[float, float] | None:
    """Return where the whole run's cycles lie between those with own reads and those of cold launches."""
    if found.own is None or found.own.low is None or found.main.high is None:
        return None
    return found.own.low, found.main.high


# In words.


def estimate_blocks(
    found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions, following: str | None = None
) -> Iterator[Said]:
    """Yield the answer first, then what it rests on, last the next command."""
    main, listed = found.main, options.top_up if larger is not None else None
    if main.is_incomplete:
        # Strata have no result.
        missing = set(found.missing[found.totals.index(main)])
        still = _launches_text([launch for launch in found.plan.drawn if launch.id in missing])
        there = f"list: {listed}" if listed else "`--target 0.05 --top-up more.json` lists them"
        known = f"{share(1 - main.share_missing)} of the time"
        yield f"INCOMPLETE: results of {known}; no total yet. Still to run: {still} ({there})"
    yield from total_lines(found)
    yield from cache_lines(found)
    yield from _basis_lines(found)
    if (target := options.target) is not None:
        is_met = found.is_within(target, accept_cold=options.accept_cold)
        yield f"within {share(target)} as asked for" if is_met else unmet_text(found, target)
    if larger is not None:
        whole = f"{counted(larger.launches, 'launch')}, {duration(larger.sampled_duration_ns)}"
        new = f"{_launches_text(larger.to_run)}, {larger.added:,} of them new"
        yield f"next: {new}; the whole larger plan: {whole}"
    yield from _detail_lines(found) if options.details else ()
    if options.groups:
        groups = group_listing(found)
        yield groups if len(groups) else NO_GROUPS
        yield from place_lines(_places([group.key for group in compared_groups(found)]))
    following = _following(found, options, listed) if following is None else following
    yield from [Typed(following)] if following else []


def _detail_lines(found: PlanEstimate) -> Iterator[str]:
    for what, of in (("the interval", found.main), ("what was seen at least twice", found.main.seen)):
        freedom = None if of is None else of.degrees_of_freedom
        if freedom and not math.isinf(freedom):
            yield f"{what} has {freedom:.1f} degrees of freedom"
    yield from found.notes


def _following(found: PlanEstimate, options: EstimateOptions, listed: str | None) -> str:
    """Return the command to simulate what is missing, to ask for a narrower total, or to look at it."""
    if listed is not None:
        return f"kernelpoint export {shlex.quote(listed)} --to accel-sim --traces DIR -o more"
    target = options.target or narrower(found)
    is_met = target is None or found.is_within(target, accept_cold=options.accept_cold)
    if target is not None and not is_met and found.plan.is_random:
        # Launches that were picked are not added to.
        asked = replace(options, target=target, top_up=free_name("more.json"), output=None)
        return command_line("estimate", asked)
    return f"kernelpoint {shlex.join([options.plan, *options.results])}"


def narrower(found: PlanEstimate) -> float | None:
    """Return the first of a few targets that the total does not meet; None where it meets them all."""
    return next((step for step in (0.03, 0.02, 0.01, 0.005) if not found.main.is_within(step)), None)


def total_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield each total and ratio with its interval; of the first, how many launches it is from."""
    simulated = len(found.plan.drawn) - len(found.missing[found.totals.index(found.main)])
    by = "by the profile's time of their strata" if found.plan.is_random else "by their weights"
    of = f", from {simulated:,} of {counted(found.plan.launches, 'launch')} {by}"
    for total in found.totals:
        if math.isnan(total.total):
            yield f"{total.metric} no total yet{of}"
        else:
            said = f"{total.metric} {total.total:,.0f}"
            if total.half_width == 0 and total.degrees_of_freedom == math.inf:
                said += ", exact: all launches were simulated"
            elif total.half_width is not None:
                ends = f"{total.low:,.0f} to {total.high:,.0f}; {sure_words(total.confidence)}"
                said += f", within {_within(total)} ({ends})"
            yield "; ".join([said + of, *total.notes])
        of = ""
    for ratio in filter(None, (*found.ratios, found.speedup)):
        figure = "" if ratio.ratio is None else f"{ratio.ratio:.4g}"
        if figure and ratio.low is not None and ratio.low != ratio.high:
            figure += f", {ratio.low:.4g} to {ratio.high:.4g}"
        yield f"{ratio.name} {'; '.join(filter(None, (figure, ratio.reason))) or 'none'}"


def cache_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield what the launches found in the caches, and what that does to their total."""
    main, parts = found.main, found.parts
    if words := found.caches.said:
        head = {"cold": "COLD: ", "own": "LOWER BOUND: "}.get(found.caches.kind, "")
        if parts is not None and parts.cold_check and main.half_width is not None and main.total:
            now = main.half_width / main.total
            before = math.sqrt(max(0.0, now**2 - parts.cold_check**2))
            words += f", which widens the interval from {share(before)} to {share(now)}"
        yield head + words
    if found.own is not None and (ends := _bracket(found)) is not None:
        own = f"{found.own.total:,.0f}, with L2 filled by what launches read themselves"
        both = f"{ends[0]:,.0f} to {ends[1]:,.0f} with both intervals"
        yield f"the whole run's {main.metric} lie between {own}, and {main.total:,.0f}: {both}"


def _basis_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield what the interval consists of, and what the results say of how cycles vary."""
    main, parts, seen = found.main, found.parts, found.main.seen
    if parts is not None:
        shares = [
            f"{kind.replace('_', ' ')} {'unknown' if width is None else share(width)}"
            for kind, width in named(parts, *_PARTS).items()
            if width != 0
        ]
        yield f"  parts of that: {', '.join(shares)}"
    if seen is not None and not seen.degrees_of_freedom:
        none = "no stratum was simulated twice; `--target 0.02` simulates more and checks it"
        yield f"The interval is as declared: {none}."
    elif seen is not None:
        ratio = math.sqrt(seen.variance_ratio)
        times = f"{f'{ratio:.2g}' if ratio >= 0.01 else 'less than 0.01'} times as much as declared"
        varied = f"{share(seen.share)} was seen at least twice; there, {main.metric} vary {times}"
        rests = f"{share(seen.declared_share)} of the interval rests on what was declared"
        yield f"Of the variance {varied}. {rests}."
    yield from _refuted(found)


def _refuted(found: PlanEstimate) -> Iterator[str]:
    """Yield that results vary by more than the plan declared and chance explains, and what to type then."""
    seen, declared = found.main.seen, found.plan.options.noise_floor
    if seen is not None and seen.exceeds and declared:
        times = math.sqrt(seen.variance_ratio)
        yield (
            f"{found.main.metric} vary {times:.2g} times as much as declared, more than chance explains: "
            f"plan again with --noise-floor {min(times * declared, 0.99):.2g}"
        )


def _launches_text(launches: Sequence[PlannedLaunch]) -> str:
    """Return how many launches there are and how long they last."""
    total_ns = sum(launch.duration_ns or 0 for launch in launches)
    number = counted(len(launches), "launch")
    return f"{number}, {duration(total_ns)} of profile time" if total_ns else number


def missing_text(total: Estimate) -> str:
    """Return how much has no result."""
    return f"{share(total.share_missing)} of the profile's time has no result"


def unmet_text(found: PlanEstimate, target: float) -> str:
    """Return why the total is not as narrow as asked for."""
    total, asked = found.main, f"not within {share(target)}"
    if total.is_incomplete:
        return f"{asked}: {missing_text(total)}"
    if total.half_width is None or not total.total:
        return f"{asked}: there is no interval"
    if total.is_within(target):
        began = "with their own reads in L2" if found.caches.kind == "own" else "cold"
        return f"{asked} of the whole run: launches started {began} (`--accept-cold` takes their total)"
    if found.parts is not None and found.parts.cold_check > target:
        reached = share(found.parts.cold_check)
        return f"{asked}: the cold check alone reaches {reached}; a larger `--cold-check` narrows it"
    return f"{asked}: the interval reaches {_within(total)} to either side"


# By kernel group.

NO_GROUPS = "no totals by kernel group: the plan's launches were picked, not drawn at random"


class ComparedGroup(NamedTuple):
    """What one kernel group took in the profile, and what it takes in the simulator.

    Of a group without results there is no total; of a part of the run there are no shares of its total.
    """

    key: str
    total: Estimate | None
    profiled_ns: float
    profiled_share: float
    simulated_share: float | None
    #: Its metric per profiled nanosecond, of the strata that are in the total.
    per_ns: float | None


def compared_groups(found: PlanEstimate) -> list[ComparedGroup]:
    """Return the kernel groups, the largest totals first; none where launches were picked."""
    totals = dict(found.groups)
    if not totals:
        return []
    profiled_ns: dict[str, float] = {}
    for key, stratum in zip(compared_keys(found.plan), found.plan.strata, strict=True):
        profiled_ns[key] = profiled_ns.get(key, 0.0) + stratum.size * stratum.mean_ns
    all_ns = sum(profiled_ns.values())
    in_all = math.nan if found.main.is_incomplete else sum(total.total for total in totals.values())
    groups = []
    for key, ns in profiled_ns.items():
        total, simulated, per_ns = totals.get(key), None, None
        if total is not None:
            known_ns = ns * (1 - total.share_missing)
            simulated = total.total / in_all if in_all > 0 else None
            per_ns = float(np.nansum(total.stratum_total)) / known_ns if known_ns else None
        groups.append(ComparedGroup(key, total, ns, ns / all_ns if all_ns else 0.0, simulated, per_ns))
    return sorted(groups, key=lambda of: (of.total is None, -(of.simulated_share or 0), -of.profiled_ns))


def group_listing(found: PlanEstimate) -> Listing:
    """Return the kernel groups as a table; it is empty where launches were picked."""
    groups = compared_groups(found)
    metric = f"{CYCLES}/ns" if found.main.metric == CYCLES else "per ns"
    figures = [
        Column("simulated", [share(group.simulated_share) for group in groups]),
        Column("profiled", [share(group.profiled_share) for group in groups]),
        Column(metric, [UNKNOWN if each.per_ns is None else f"{each.per_ns:.4g}" for each in groups]),
        Column("within", [_within(group.total) for group in groups]),
    ]
    if any(group.total is None or group.total.launches_missing for group in groups):
        # How many of the drawn launches have no result.
        missing = ["all" if each.total is None else count(each.total.launches_missing) for each in groups]
        figures.append(Column("missing", missing))
    keys = [group.key for group in groups]
    if keys == [WHOLE_WORKLOAD_KEY]:
        return Listing(figures, "kernel group", lambda _, room: shortened("all", room))
    return Listing(figures, "kernel group", labels_of(map(key_parts, keys), _places(keys)))


def _places(keys: Sequence[str]) -> dict[Place, str]:
    return places_of_groups([*map(key_parts, keys)])


def _within(total: Estimate | None) -> str:
    """Return how far the interval reaches to either side."""
    if total is None or total.half_width is None:
        return UNKNOWN
    if not total.half_width:
        return "exact"
    return share(total.half_width / total.total) if total.total else UNKNOWN


def next_listing(larger: ToppedUp, plan: PlanFile) -> Listing:
    """Return the launches of a larger plan that have no result yet, in its order."""
    places = _places([stratum.key for stratum in plan.strata])
    return Listing(launch_figures(larger.to_run), "kernel", labels_of(larger.to_run, places))


# A run, while launches are simulated and when it ends.

#: Said before anything is simulated.
COLD = (
    "launches start cold here, and a total of these keeps no --target: --caches after:16 or --cold-check 8 "
    "mends that; --accept-cold, of `run` and `estimate`, takes it as it is"
)


def progress_line(now: Now, target: float | None, width: int | None = None) -> str:
    """Return how far a run is: launches, the total's interval, the time left, what runs; as fits."""
    parts = [f"{now.done:,} of {counted(now.of, 'launch')}"]
    if now.total is not None and now.total.is_incomplete:
        parts.append(missing_text(now.total))
    elif now.total is not None:
        asked = "" if target is None else f", asked {share(target)}"
        parts.append(f"{now.total.metric} within {_within(now.total)}{asked}")
    if now.seconds_left is not None:
        parts.append(f"{'' if target is None else 'up to '}{hours(now.seconds_left / 3600)} left")
    if now.running:
        parts.append(f"{now.running:,} running")
    while width is not None and len(parts) > 1 and len("; ".join(parts)) > width:
        parts.pop()
    return "; ".join(parts)


def news_line(now: Now, target: float | None) -> str | None:
    """Return what just happened; None where nothing did."""
    if now.news is None:
        return None
    what = f"{counted(now.news, 'launch')} more drawn" if isinstance(now.news, int) else ""
    if isinstance(now.news, Job):
        what = f"launch {now.news.id} " + (f"failed: {now.news.failure}" if now.news.failure else "done")
    return f"{what}; {progress_line(now, target)}"


def run_answer(ran: Ran, asked: Asked, options: EstimateOptions, command: str) -> Answer:
    """Return the answer: that of `estimate`, below it what failed and the job array.

    `options`: of an estimate of the run's folder. `command`: what is typed to go on.
    """
    said = list(_run_blocks(ran, command))
    results: dict[str, Any] = {
        "failed": [each._asdict() for each in ran.failed],
        "job_array": None if ran.job_array is None else str(ran.job_array[0]),
        "begun": [str(place) for place in ran.begun],
        "folder": str(asked.folder),
    }
    if ran.found is None:
        return Answer("run", results, blocks=lambda _: said, rows=[{**results, "failed": len(ran.failed)}])
    found = ran.found
    goes_on = ran.job_array is None and not ran.begun and asked.target is None
    target = narrower(found) if goes_on else None
    following = "" if target is None else f"{command} --target {target:g}"
    return replace(
        estimate_answer(ran.found, None, options, following),
        command="run",
        results=estimate_results(ran.found, None, options) | results,
        blocks=lambda _: (*estimate_blocks(found, None, options, following), *said),
    )


def _run_blocks(ran: Ran, command: str) -> Iterator[Said]:
    for each in ran.failed:
        other = "no other" if each.instead is None else f"launch {each.instead}"
        yield f"launch {each.id} failed ({each.why}); {other} of its stratum was simulated for it"
    if ran.job_array is not None:
        script, launches = ran.job_array
        before = f"{counted(launches, 'launch')} to simulate: "
        yield Typed(f"sbatch {shlex.quote(str(script))}", before)
    if ran.begun:
        begun = counted(len(ran.begun), "launch has", "launches have")
        yield Typed(str(ran.begun[0]), f"{begun} begun and not ended; if it was killed, remove its folder: ")
    if ran.job_array is not None or ran.begun:
        yield Typed(command, "When the array has ended: ")
