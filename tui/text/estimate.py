"""Totals from a simulator's results, as `estimate` and `run` give them in every form."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from sampling.estimation.interval import Estimate, Ratio
from sampling.estimation.total import PlanEstimate, compared_keys
from sampling.plan.design import WHOLE_WORKLOAD_KEY
from sampling.plan.plan_file import PlannedLaunch
from sampling.running import Asked, Job, Now, Ran
from sampling.simulators.measured_run import CYCLES
from sampling.text import counted
from tui.charts.quantities import UNKNOWN, count, duration, hours, share
from tui.options.command_line import command_line
from tui.options.simulate import EstimateOptions
from tui.output.blocks import Listing, Said, Typed
from tui.output.writer import Answer
from tui.terminal.printable import Column, shortened
from tui.text.labels import Place, key_parts, labels_of, place_lines, place_names
from tui.text.plan import launch_figures, sure_words

if TYPE_CHECKING:
    from sampling.estimation.top_up import ToppedUp


#: What is typed stands on its line, however long.
NEXT = "Next: "


def estimate_answer(
    found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions, following: str | None = None
) -> Answer:
    """Return the answer; its rows are the metrics, or the kernel groups where these are asked for.

    Parameters
    ----------
    following : the command to type next; "" for none, None for that of an estimate.
    """
    results = estimate_results(found, larger, options)
    rows = results["groups"] if options.groups else results["metrics"]
    return Answer(
        "estimate",
        results,
        blocks=lambda _: estimate_blocks(found, larger, options, following),
        # Without lists, for forms that have one value a cell.
        rows=[{name: value for name, value in row.items() if not isinstance(value, list)} for row in rows],
        warnings=(*refuted(found), *found.notes),
    )


def estimate_results(
    found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions
) -> dict[str, Any]:
    """Return every figure."""
    from msgspec import to_builtins

    main, parts = found.main, found.parts
    declared = found.plan.options.target if found.plan.is_random else None
    kinds = ("sampling", "projection", "scale_model", "cold_check")
    return {
        "metrics": [
            _row(total) | {"missing": list(missing), "notes": list(total.notes)}
            for total, missing in zip(found.totals, found.missing, strict=True)
        ],
        "ratios": [
            {
                "name": ratio.name,
                "ratio": ratio.ratio,
                "low": ratio.low,
                "high": ratio.high,
                "confidence": main.confidence,
                "reason": ratio.reason,
                "incomplete": ratio.is_incomplete,
            }
            for ratio in _ratios(found)
        ],
        "groups": _group_rows(found) if options.groups else [],
        "promise_met": None
        if options.target is None
        else found.is_within(options.target, accept_cold=options.accept_cold),
        "caches": _caches(found),
        "seen": None if main.seen is None else main.seen._asdict(),
        "declared": {
            "noise": None if declared is None else declared.noise_floor,
            "kernel_spread": None if declared is None else declared.kernel_spread,
        },
        "parts": None if parts is None else {kind: getattr(parts, kind) for kind in kinds},
        "next": [] if larger is None else to_builtins(larger.to_run),
        "covers": found.notes[-1],
    }


def _caches(found: PlanEstimate) -> dict[str, Any]:
    caches, check, ends = found.caches, found.caches.check, _bracket(found)
    bracket, checked = None, None
    if found.own is not None and ends is not None:
        bracket = {"own": found.own.total, "low": ends[0], "high": ends[1]}
    if check is not None:
        checked = {"ratio": check.ratio, "standard_error": check.standard_error, "pairs": check.pairs}
    return {
        "state": caches.state,
        "shares": dict(caches.shares),
        "is_of_whole_run": caches.is_of_whole_run,
        "cold_check": checked,
        "bracket": bracket,
    }


def _row(total: Estimate) -> dict[str, Any]:
    nu = total.degrees_of_freedom
    how = "exact" if nu == math.inf else "declared-times-seen"
    return {
        "metric": total.metric,
        "total": None if math.isnan(total.total) else total.total,
        "low": total.low,
        "high": total.high,
        "confidence": total.confidence,
        # An exact total has no end of them, which JSON cannot say.
        "degrees_of_freedom": None if nu is None or math.isinf(nu) else nu,
        "method": "none" if total.low is None else how,
        "incomplete": total.is_incomplete,
        "share_missing": total.share_missing,
        "launches_missing": total.launches_missing,
    }


def _group_rows(found: PlanEstimate) -> list[dict[str, Any]]:
    compared = {group.key: group for group in compared_groups(found)}
    own = ("profiled_ns", "profiled_share", "simulated_share", "per_ns")
    return [
        {"key": key, **_row(total), **{name: getattr(compared[key], name) for name in own}}
        for key, total in found.groups
    ]


def estimate_blocks(
    found: PlanEstimate, larger: ToppedUp | None, options: EstimateOptions, following: str | None = None
) -> Iterator[Said]:
    """Yield the answer first, then what it rests on, last the next command."""
    listed = options.top_up if larger is not None else None
    yield from missing_lines(found, listed)
    yield from (f"{name} {said}" for name, said in total_lines(found))
    yield from cache_lines(found)
    yield from part_lines(found)
    yield from seen_lines(found)
    yield from refuted(found)
    if options.target is not None:
        yield target_text(found, options.target, accept_cold=options.accept_cold)
    if larger is not None:
        yield next_text(larger)
    if options.details:
        yield from _detail_lines(found)
    if options.groups:
        groups = group_listing(found)
        yield groups if len(groups) else NO_GROUPS
        yield from places_named(found)
    if following != "":
        yield Typed(following or _next_command(found, listed, options), NEXT)


def _next_command(found: PlanEstimate, listed: str | None, options: EstimateOptions) -> str:
    """Return what to type next: simulate what is missing, ask for a narrower total, or look at it."""
    if listed is not None:
        return f"kernelpoint export {shlex.quote(listed)} --to accel-sim --traces DIR -o more"
    if found.main.is_incomplete or options.target is None or not found.is_within(options.target):
        target = 0.03 if options.target is None else options.target
        return command_line("estimate", replace(options, target=target, top_up="more.json", output=None))
    return f"kernelpoint {shlex.join([options.plan, *options.results])}"


def _detail_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield what a total rests on that is of interest to few, and what its interval covers."""
    main, seen = found.main, found.main.seen
    nu = main.degrees_of_freedom
    if nu is not None and not math.isinf(nu):
        yield f"the interval has {nu:.1f} degrees of freedom"
    if seen is not None and seen.degrees_of_freedom:
        yield f"what was seen at least twice has {seen.degrees_of_freedom:.1f} degrees of freedom"
    yield from found.notes


def total_lines(found: PlanEstimate) -> Iterator[tuple[str, str]]:
    """Yield each total and ratio by its name, in words; of the first, how many launches it is from."""
    for number, total in enumerate(found.totals):
        notes = () if math.isnan(total.total) else total.notes
        of = "" if number else f", {_from_words(found)}"
        yield total.metric, "; ".join([f"{interval_text(total)}{of}", *notes])
    yield from ((ratio.name, ratio_text(ratio)) for ratio in _ratios(found))


def _from_words(found: PlanEstimate) -> str:
    simulated = len(found.plan.drawn) - len(found.missing[found.totals.index(found.main)])
    return f"from {simulated:,} of {counted(found.plan.launches, 'launch', 'launches')}"


def _ratios(found: PlanEstimate) -> Sequence[Ratio]:
    return (*found.ratios, *(() if found.speedup is None else (found.speedup,)))


def missing_lines(found: PlanEstimate, listed: str | None = None) -> Iterator[str]:
    """Yield that there is no total yet, where strata have no result.

    Parameters
    ----------
    listed : the plan file that lists what is still to be run.
    """
    main = found.main
    if main.is_incomplete:
        missing = set(found.missing[found.totals.index(main)])
        to_run = [launch for launch in found.plan.drawn if launch.id in missing]
        known = f"{share(1 - main.share_missing)} of the time"
        there = f"list: {listed}" if listed else "`--target 0.05 --top-up more.json` lists them"
        still = _launches_text(to_run)
        yield f"INCOMPLETE: results of {known}; no total yet. Still to run: {still} ({there})"


def cache_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield what the launches found in the caches, and what that does to their total."""
    if words := found.caches.said:
        heads = {"cold": "COLD: ", "own": "LOWER BOUND: "}
        yield heads.get(found.caches.kind, "") + words + _grown(found)
    if found.own is not None and (ends := _bracket(found)) is not None:
        yield (
            f"the whole run's {found.main.metric} lie between {found.own.total:,.0f}, with L2 filled by what "
            f"launches read themselves, and {found.main.total:,.0f}: {ends[0]:,.0f} to {ends[1]:,.0f} with "
            "both intervals"
        )


def _grown(found: PlanEstimate) -> str:
    """Return how far a cold check widens the interval."""
    main, parts = found.main, found.parts
    if parts is None or not parts.cold_check or main.half_width is None or not main.total:
        return ""
    now = main.half_width / main.total
    before = math.sqrt(max(0.0, now**2 - parts.cold_check**2))
    return f", which widens the interval from {share(before)} to {share(now)}"


def _bracket(found: PlanEstimate) -> tuple[float, float] | None:
    """Return where the whole run's cycles lie between those with own reads and those of cold launches."""
    if found.own is None or found.own.low is None or found.main.high is None:
        return None
    return found.own.low, found.main.high


def _launches_text(launches: Sequence[PlannedLaunch]) -> str:
    """Return how many launches there are and how long they last."""
    total_ns = sum(launch.duration_ns or 0 for launch in launches)
    number = counted(len(launches), "launch", "launches")
    return f"{number}, {duration(total_ns)} of profile time" if total_ns else number


def target_text(found: PlanEstimate, target: float, *, accept_cold: bool) -> str:
    """Return whether the total is as narrow as asked for."""
    if found.is_within(target, accept_cold=accept_cold):
        return f"within {share(target)} as asked for"
    return unmet_text(found, target)


def next_text(larger: ToppedUp) -> str:
    """Return what the next round is to simulate now, and the whole larger plan."""
    return (
        f"next: {_launches_text(larger.to_run)}, {larger.added:,} of them new; "
        f"the whole larger plan: {counted(larger.launches, 'launch', 'launches')}, "
        f"{duration(larger.sampled_duration_ns)}"
    )


def interval_text(total: Estimate) -> str:
    """Return a total and how far its interval reaches, in words."""
    half_width = total.half_width
    if math.isnan(total.total):
        return "no total yet"
    if half_width is None:
        return f"{total.total:,.0f}"
    if not half_width:
        return f"{total.total:,.0f}, exact: all launches were simulated"
    within = share(half_width / total.total) if total.total else "-"
    return (
        f"{total.total:,.0f}, within {within} ({total.low:,.0f} to {total.high:,.0f}; "
        f"{sure_words(total.confidence)})"
    )


def ratio_text(ratio: Ratio) -> str:
    """Return a ratio and its interval, or why there is none."""
    if ratio.ratio is None:
        return ratio.reason or "none"
    text = f"{ratio.ratio:.4g}"
    if ratio.low is not None and ratio.low != ratio.high:
        text += f", {ratio.low:.4g} to {ratio.high:.4g}"
    return text if ratio.reason is None else f"{text}; {ratio.reason}"


def part_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield what the interval consists of, where it covers more than which launches were drawn."""
    parts = found.parts
    if parts is None:
        return
    named = (
        ("sampling", parts.sampling),
        ("projection", parts.projection),
        ("scale model", parts.scale_model),
        ("cold check", parts.cold_check),
    )
    shares = ", ".join(
        f"{name} {'unknown' if part is None else share(part)}" for name, part in named if part != 0
    )
    yield f"  parts of that: {shares}"


def seen_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield what the results say of how cycles vary, beside what the plan declared."""
    seen = found.main.seen
    if seen is None:
        return
    if not seen.degrees_of_freedom:
        yield (
            "The interval is as declared: no stratum was simulated twice; `--target 0.02` simulates more and "
            "checks it."
        )
        return
    yield (
        f"Of the variance {share(seen.share)} was seen at least twice; there, {found.main.metric} "
        f"vary {_times(seen.variance_ratio)} times as much as declared. "
        f"{share(seen.declared_share)} of the interval rests on what was declared."
    )


def _times(variance_ratio: float) -> str:
    times = math.sqrt(variance_ratio)
    return f"{times:.2g}" if times >= 0.01 else "less than 0.01"


def refuted(found: PlanEstimate) -> Iterator[str]:
    """Yield that results vary by more than the plan declared and chance explains, and what to type then."""
    seen, declared = found.main.seen, found.plan.options.noise_floor
    if seen is None or not seen.exceeds or not declared:
        return
    times = math.sqrt(seen.variance_ratio)
    yield (
        f"{found.main.metric} vary {times:.2g} times as much as declared, more than chance explains: plan "
        f"again with --noise-floor {min(times * declared, 0.99):.2g}"
    )


def missing_text(total: Estimate) -> str:
    """Return how much has no result."""
    return f"{share(total.share_missing)} of the profile's time has no result"


def unmet_text(found: PlanEstimate, target: float) -> str:
    """Return why the total is not as narrow as asked for."""
    total, asked = found.main, f"not within {share(target)}"
    if total.is_incomplete:
        return f"{asked}: {missing_text(total)}"
    if total.half_width is None:
        return f"{asked}: there is no interval"
    if not total.total:
        return f"{asked}: the total is 0"
    if total.is_within(target):
        began = "with their own reads in L2" if found.caches.kind == "own" else "cold"
        return f"{asked} of the whole run: launches started {began} (`--accept-cold` takes their total)"
    if found.parts is not None and found.parts.cold_check > target:
        reached = share(found.parts.cold_check)
        return f"{asked}: the cold check alone reaches {reached}; a larger `--cold-check` narrows it"
    return f"{asked}: the interval reaches {share(total.half_width / total.total)} to either side"


NO_GROUPS = "no totals by kernel group: the plan's launches were picked, not drawn at random"


@dataclass(frozen=True, slots=True)
class ComparedGroup:
    """What one kernel group took in the profile, and what it takes in the simulator."""

    key: str
    #: Of its metric; None where none of its launches has a result.
    total: Estimate | None
    #: Of all its launches.
    profiled_ns: float
    #: Of the whole workload; the latter None where there is no total.
    profiled_share: float
    simulated_share: float | None
    #: Its metric per profiled nanosecond, of the strata that are in the total.
    per_ns: float | None


def compared_groups(found: PlanEstimate) -> list[ComparedGroup]:
    """Return the kernel groups of a plan, the largest totals first, those without a result last.

    There are none where launches were picked.
    """
    totals = dict(found.groups)
    if not totals:
        return []
    profiled_ns: dict[str, float] = {}
    for key, stratum in zip(compared_keys(found.plan), found.plan.strata, strict=True):
        profiled_ns[key] = profiled_ns.get(key, 0.0) + stratum.size * stratum.mean_ns
    all_ns = sum(profiled_ns.values())
    # Of a part there are no shares of the whole; a group that is whole has a total all the same.
    in_all = nan if found.main.is_incomplete else sum(total.total for total in totals.values())
    groups = []
    for key, ns in profiled_ns.items():
        total, simulated, per_ns = totals.get(key), None, None
        if total is not None:
            known_ns = ns * (1 - total.share_missing)
            simulated = total.total / in_all if in_all > 0 else None
            per_ns = float(np.nansum(total.stratum_total)) / known_ns if known_ns else None
        groups.append(ComparedGroup(key, total, ns, ns / all_ns if all_ns else 0.0, simulated, per_ns))
    return sorted(
        groups, key=lambda each: (each.total is None, -(each.simulated_share or 0), -each.profiled_ns)
    )


def group_listing(found: PlanEstimate) -> Listing:
    """Return the kernel groups as a table; it is empty where launches were picked."""
    groups = compared_groups(found)
    metric = f"{CYCLES}/ns" if found.main.metric == CYCLES else "per ns"
    figures = [
        Column("simulated", [_share(group.simulated_share) for group in groups]),
        Column("profiled", [_share(group.profiled_share) for group in groups]),
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


def places_named(found: PlanEstimate) -> list[str]:
    """Return what the names of processes and devices stand for, a line each; nothing where there is one."""
    return place_lines(_places([group.key for group in compared_groups(found)]))


def _places(keys: Sequence[str]) -> dict[Place, str]:
    return place_names((parts.process, parts.device) for parts in map(key_parts, keys))


def _share(fraction: float | None) -> str:
    return UNKNOWN if fraction is None else share(fraction)


def _within(total: Estimate | None) -> str:
    """Return how far the interval reaches to either side."""
    if total is None or total.half_width is None:
        return UNKNOWN
    if not total.half_width:
        return "exact"
    return share(total.half_width / total.total) if total.total else UNKNOWN


def next_listing(larger: ToppedUp) -> Listing:
    """Return the launches of a larger plan that have no result yet, in its order."""
    places = place_names((launch.process, launch.device) for launch in larger.to_run)
    return Listing(launch_figures(larger.to_run), "kernel", labels_of(larger.to_run, places))


# A run, while launches are simulated and when it ends.

#: Said before anything is simulated.
COLD = (
    "launches start cold here, and a total of these keeps no --target: --caches after:16 or --cold-check 8 "
    "mends that; --accept-cold, of `run` and `estimate`, takes it as it is"
)


def progress_line(now: Now, target: float | None, width: int | None = None) -> str:
    """Return how far a run is: launches, the total's interval, the time left, what runs; as fits."""
    parts = [f"{now.done:,} of {counted(now.of, 'launch', 'launches')}"]
    if now.total is not None:
        parts.append(_known(now.total, target))
    if now.seconds_left is not None:
        parts.append(f"{'' if target is None else 'up to '}{hours(now.seconds_left / 3600)} left")
    if now.running:
        parts.append(f"{now.running:,} running")
    while width is not None and len(parts) > 1 and len("; ".join(parts)) > width:
        parts.pop()
    return "; ".join(parts)


def _known(total: Estimate, target: float | None) -> str:
    if total.is_incomplete:
        return missing_text(total)
    if total.half_width is None or not total.total:
        return f"{total.metric} {total.total:,.0f}"
    asked = "" if target is None else f", asked {share(target)}"
    return f"{total.metric} within {share(total.half_width / total.total)}{asked}"


def news_line(now: Now, target: float | None) -> str | None:
    """Return what just happened; None where nothing did."""
    if now.news is None:
        return None
    if isinstance(now.news, Job):
        what = f"launch {now.news.id} " + (f"failed: {now.news.failure}" if now.news.failure else "done")
    else:
        what = f"{counted(now.news, 'launch', 'launches')} more drawn"
    return f"{what}; {progress_line(now, target)}"


def run_answer(ran: Ran, asked: Asked, options: EstimateOptions, command: str) -> Answer:
    """Return the answer: that of `estimate`, below it what failed and the job array.

    Parameters
    ----------
    options : of an estimate of the run's folder.
    command : what is typed to go on.
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
    following = f"{command} --target 0.03" if goes_on else ""
    return replace(
        estimate_answer(found, None, options, following),
        command="run",
        results=estimate_results(found, None, options) | results,
        blocks=lambda _: (*estimate_blocks(found, None, options, following), *said),
    )


def _run_blocks(ran: Ran, command: str) -> Iterator[Said]:
    for each in ran.failed:
        other = "no other" if each.instead is None else f"launch {each.instead}"
        yield f"launch {each.id} failed ({each.why}); {other} of its stratum was simulated for it"
    if ran.job_array is not None:
        script, launches = ran.job_array
        before = f"{counted(launches, 'launch', 'launches')} to simulate: "
        yield Typed(f"sbatch {shlex.quote(str(script))}", before)
    if ran.begun:
        begun = counted(len(ran.begun), "launch has", "launches have")
        yield Typed(str(ran.begun[0]), f"{begun} begun and not ended; if it was killed, remove its folder: ")
    if ran.job_array is not None or ran.begun:
        yield Typed(command, "When the array has ended: ")
