"""Totals from a simulator's results, in every form."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sampling.estimation.interval import WITHOUT_RESULT, Estimate, Ratio
from sampling.estimation.total import PlanEstimate, compared_keys
from sampling.plan.design import WHOLE_WORKLOAD_KEY
from sampling.plan.plan_file import PlanFile, PlannedLaunch
from sampling.profile.names import is_of_rocm
from sampling.simulators.measured_run import CYCLES
from sampling.text import counted, finite
from tui.charts.quantities import UNKNOWN, count, duration, share
from tui.options.command_line import command_line, free_name
from tui.options.simulate import EstimateOptions
from tui.output.blocks import Block, CommandLine, Listing
from tui.output.writer import Answer, named
from tui.terminal.printable import Column, shortened
from tui.text.assumption import PARTS, basis_lines, detail_lines, narrower, refuted
from tui.text.labels import Place, group_places, key_parts, label_kernels, place_lines
from tui.text.plan import export_command, launch_figures, sure_words, usual_target

if TYPE_CHECKING:
    from sampling.estimation.top_up import ToppedUp

Row = dict[str, Any]
#: Of totals that are not of the whole run.
_HEADS = {"cold": "COLD", "own": "LOWER BOUND"}
#: How an export fills the caches, for simulators of which it can.
_WARM = {"accel-sim": "warm", "macsim": "after:16"}


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
        warnings=(*refuted(found), *found.notes),
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
        "parts": None if parts is None else named(parts, *PARTS),
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
        "incomplete": total.is_incomplete or total.share_missing > 0,
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
) -> Iterator[Block]:
    """Yield the answer first, then what it rests on, last the next command."""
    main, listed = found.main, options.top_up if larger is not None else None
    if main.is_incomplete:
        # Strata have no result.
        missing = set(found.missing[found.totals.index(main)])
        still = _launches_text([launch for launch in found.plan.drawn if launch.id in missing])
        known = f"{share(1 - main.share_missing)} of the time"
        # What lists them is the next command, where there is one that does.
        there = f" (list: {listed})" if listed else ""
        if not listed and following is None and (asked := _asked_next(found, options)):
            there = f" (`--target {asked.target:g} --top-up {asked.top_up}` lists them)"
        yield f"INCOMPLETE: results of {known}; no total yet. Still to run: {still}{there}"
    yield from total_lines(found, options)
    yield from cache_lines(found)
    yield from basis_lines(found)
    if (target := options.target) is not None:
        is_met = found.is_within(target, accept_cold=options.accept_cold)
        yield f"within {share(target)} as asked for" if is_met else unmet_text(found, target)
    if larger is not None:
        whole = f"{counted(larger.launches, 'launch')}, {duration(larger.sampled_duration_ns)}"
        new = f"{_launches_text(larger.to_run)}, {larger.added:,} of them new"
        yield f"next: {new}; the whole larger plan: {whole}"
    yield from detail_lines(found) if options.details else ()
    if options.groups:
        groups = group_listing(found)
        yield groups if len(groups) else NO_GROUPS
        yield from place_lines(_places([group.key for group in compared_groups(found)]))
    following = _following(found, options, listed) if following is None else following
    yield from [CommandLine(following)] if following else []


def _following(found: PlanEstimate, options: EstimateOptions, listed: str | None) -> str:
    """Return the command to simulate what is missing, to ask for a narrower total, or to look at it.

    Launches that began cold are to be simulated again, with filled caches.
    """
    if not (found.caches.is_of_whole_run or options.accept_cold):
        return warm_export(found.plan, options.plan, options.source)
    if listed is not None:
        return export_command(listed, "more", usual_target(is_amd=_is_amd(found.plan)))
    if (asked := _asked_next(found, options)) is not None:
        return command_line("estimate", asked)
    return f"kernelpoint {shlex.join([options.plan, *options.results])}"


def warm_export(plan: PlanFile, path: str, target: str | None = None) -> str:
    """Return the command that exports a plan so that its launches find in the caches what the program left.

    To look at the plan, where no simulator fills them.
    """
    target = target if target in _WARM else usual_target(is_amd=_is_amd(plan))
    caches = _WARM.get(target)
    return export_command(path, "warm", target, caches) if caches else f"kernelpoint {shlex.quote(path)}"


def _is_amd(plan: PlanFile) -> bool:
    """Return whether the plan's launches are of a GPU of AMD, as far as their names tell."""
    return any(map(is_of_rocm, {launch.name for launch in plan.drawn}))


def _asked_next(found: PlanEstimate, options: EstimateOptions) -> EstimateOptions | None:
    """Return the estimate to ask for next, which writes what is still to be run; None where there is none."""
    target = options.target or narrower(found)
    # Launches that were picked are not added to, and more that begin cold mend nothing.
    is_warm = found.caches.is_of_whole_run or options.accept_cold
    if (
        target is None
        or not is_warm
        or not found.plan.is_random
        or found.is_within(target, accept_cold=options.accept_cold)
    ):
        return None
    return replace(options, target=target, top_up=free_name("more.json"), output=None)


def total_lines(found: PlanEstimate, options: EstimateOptions | None = None) -> Iterator[str]:
    """Yield each total and ratio with its interval; of the first, how many launches it is from.

    A total of launches that began otherwise than in the whole run stands first, headed by that.
    `options`: name the results of two configurations, and a target; where it is met, launches that were not
    needed are not called missing.
    """
    main, caches = found.main, found.caches
    is_met = options is not None and options.target is not None and main.is_within(options.target)
    simulated = len(found.plan.drawn) - len(found.missing[found.totals.index(main)])
    by = "by the profile's time of their strata" if found.plan.is_random else "by their weights"
    of = f", from {simulated:,} of {counted(found.plan.launches, 'launch')} {by}"
    of += ", the others as is assumed" if found.parts is not None and found.parts.assumed else ""
    sure = f"; {sure_words(main.confidence)}"
    if not caches.is_of_whole_run:
        sure = f" at {100 * main.confidence:.4g} %"
    for total in sorted(found.totals, key=lambda total: total is not main):
        said, missing = f"{total.metric} {total.total:,.0f}", math.isnan(total.total)
        part = f" of {share(1 - total.share_missing)} of the time" if total.share_missing else ""
        if head := total_head(found, total):
            what, began = "" if missing else f" {total.total:,.0f} {CYCLES}{part}", caches.said
            # The whole run may take more than a part of it.
            began = began.replace("the whole run takes", "in the whole run they take") if part else began
            yield f"{head}{what}: {began}"
            said = "  of launches that begin so"
        said += part
        if missing:
            said = f"{total.metric} no total yet"
        elif total.half_width == 0 and total.degrees_of_freedom == math.inf:
            said += ", exact: all launches were simulated"
        elif total.half_width is not None:
            said += f", within {within_text(total)} ({total.low:,.0f} to {total.high:,.0f}{sure})"
        notes = [note for note in total.notes if not (is_met and f"{WITHOUT_RESULT};" in note)]
        yield "; ".join([said + (of if total is main else ""), *notes])
    for ratio in found.ratios:
        yield f"{ratio.name} {_ratio_text(ratio)}"
    if found.speedup is not None:
        one, other = sides(options.results, options.against) if options else ("these results", "the others")
        yield _speedup_line(found, one, other)


def _ratio_text(ratio: Ratio, unit: str = "") -> str:
    """Return a ratio with its interval, and what is to be known of it, or why there is none."""
    figure = "" if ratio.ratio is None else f"{ratio.ratio:.4g}{unit}"
    if figure and ratio.low is not None and ratio.low != ratio.high:
        figure += f", {ratio.low:.4g} to {ratio.high:.4g}"
    return "; ".join(filter(None, (figure, ratio.reason))) or "none"


def _speedup_line(found: PlanEstimate, one: str, other: str) -> str:
    """Return how fast the other configuration is, and of which totals that is the quotient."""
    ratio, total = found.speedup, found.other
    assert ratio is not None
    if ratio.ratio is None or total is None:
        return f"{other} against {one}: {_ratio_text(ratio)}"
    said = f"{other} is {ratio.ratio:.4g}x as fast as {one}"
    if ratio.low is not None and ratio.low != ratio.high:
        said += f" ({ratio.low:.4g} to {ratio.high:.4g})"
    said += f": {found.main.total:,.0f} over {total.total:,.0f} {CYCLES}"
    return "; ".join(filter(None, (said, ratio.reason)))


def sides(results: Sequence[str], against: Sequence[str]) -> tuple[str, str]:
    """Return names of two configurations' results: their files', or their folders' where those are alike."""
    both = [Path(files[0]) if files else Path() for files in (results, against)]
    more = [f" and {len(files) - 1} more" if len(files) > 1 else "" for files in (results, against)]
    stems = [path.name.partition(".")[0] or path.name for path in both]
    for names in (stems, [path.parent.name for path in both], [str(path) for path in both]):
        if all(names) and names[0] != names[1]:
            break
    one, other = (name + rest for name, rest in zip(names, more, strict=True))
    return one, other


def total_head(found: PlanEstimate, total: Estimate) -> str:
    """Return what heads a total of launches that began otherwise than in the whole run; else nothing."""
    return _HEADS.get(found.caches.kind, "") if total.metric == CYCLES else ""


def cache_lines(found: PlanEstimate) -> Iterator[str]:
    """Yield what the launches found in the caches, unless that heads the total, and what that does to it."""
    main, parts, caches = found.main, found.parts, found.caches
    head = _HEADS.get(caches.kind, "")
    if caches.said and not total_head(found, main):
        words = f"{head}: {caches.said}" if head else caches.said
        if parts is not None and parts.cold_check and main.half_width is not None and main.total:
            now = main.half_width / main.total
            before = math.sqrt(max(0.0, now**2 - parts.cold_check**2))
            words += f", which widens the interval from {share(before)} to {share(now)}"
        yield words
    if found.own is not None and (ends := _bracket(found)) is not None:
        own = f"{found.own.total:,.0f}, with L2 filled by what launches read themselves"
        both = f"{ends[0]:,.0f} to {ends[1]:,.0f} with both intervals"
        yield f"the whole run's {main.metric} lie between {own}, and {main.total:,.0f}: {both}"


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
    if total.is_incomplete or total.share_missing:
        return f"{asked}: {missing_text(total)}"
    if total.half_width is None or not total.total:
        return f"{asked}: there is no interval"
    began = "" if found.caches.is_of_whole_run else "cold"
    if found.caches.kind == "own":
        began = "with their own reads in L2"
    if total.is_within(target):
        return f"{asked} of the whole run: launches started {began} (`--accept-cold` takes their total)"
    if found.parts is not None and found.parts.assumed > target:
        reached = share(found.parts.assumed)
        return f"{asked}: what is assumed of kernels that never ran reaches {reached} by itself"
    if found.parts is not None and found.parts.cold_check > target:
        reached = share(found.parts.cold_check)
        return f"{asked}: the cold check alone reaches {reached}; a larger `--cold-check` narrows it"
    of = f", of launches that started {began}" if began else ""
    return f"{asked}: the interval reaches {within_text(total)} to either side{of}"


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
        Column("within", [within_text(group.total) for group in groups]),
    ]
    if any(group.total is None or group.total.launches_missing for group in groups):
        # How many of the drawn launches have no result.
        missing = ["all" if each.total is None else count(each.total.launches_missing) for each in groups]
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
