"""What is simulated beside what was planned: a plan on another profile, a trace, a simulator's log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sampling.plan.judge import PlanJudgement
from sampling.plan.other_recording import shortened_names
from sampling.plan.plan_file import PlanFile
from sampling.profile.names import readable_name
from sampling.profile.profile import Dimensions
from sampling.projection import IntervalLog, Lack, Projection, cumulative_ipc
from sampling.simulators.alignment import ListedLaunch, TraceAlignment
from sampling.text import counted
from tui.charts.ipc import IpcCurve, ipc_chart
from tui.charts.quantities import UNKNOWN, count, duration, ratio, share, si
from tui.engine.kernel_values import numbers_of
from tui.options.choices import OutputFormat
from tui.options.plan import JudgeOptions
from tui.options.simulate import ProjectOptions
from tui.output.blocks import Listing, Said
from tui.output.writer import Answer, Canvas
from tui.terminal.printable import Column, names, shortened, table
from tui.text.plan import judged_row, strata_text

# A plan judged on a profile.

_SHARES = ("error", "error_mean", "error_p95", "error_max", "within_epsilon")


def judgement_results(plan: PlanFile, judged: PlanJudgement, options: JudgeOptions) -> dict[str, Any]:
    """Return the figures; strata, samples and bounds are those on the plan's own profile."""
    redraws, same_files = judged.redraws, judged.alignment is None
    errors = dict.fromkeys(("repeats", "error_mean", "error_p95", "error_max", "within_epsilon"))
    return {
        "profile": " ".join(options.profiles),
        "method": plan.options.method,
        "same_files": same_files,
        "aligned_by": "same files" if same_files else options.align.value,
        "launches_differing": 0 if judged.alignment is None else judged.alignment.launches_differing,
        "applicable": True,
        "reason": None,
        "strata": len(plan.strata),
        "samples": len(plan.drawn),
        "speedup": judged.speedup,
        "expected_speedup": None if redraws is None else judged.expected_speedup,
        **{name: getattr(judged, name) for name in ("bound", "group_bound")},
        "total_duration_ns": judged.total_ns,
        **{name: getattr(judged, name) for name in ("estimate_ns", "error")},
        **(errors if redraws is None else judged_row(redraws)),
    }


def judgement_warnings(found: PlanJudgement) -> Iterator[str]:
    """Yield what to know of a judgement on another recording."""
    if found.alignment is not None:
        differing = found.alignment.launches_differing
        words = "all launches of the two have the same name, grid and block in the same order"
        if differing != 0:
            many = "some launches" if differing is None else counted(differing, "launch", "launches")
            words = (
                f"{many} of another name, grid or block here, matched by order alone; "
                "`kernelpoint difference` shows the two kernel by kernel"
            )
        yield f"the plan was made from other files; {words}"
        for there_process, there_device, process, device in found.alignment.renumbered[:1]:
            more = len(found.alignment.renumbered) - 1
            yield (
                f"process {there_process} device {there_device} of the plan is process {process} device "
                f"{device} here{f', and {more} more have other numbers' if more else ''}; they were "
                "matched in their order"
            )
    if found.why_not_redrawn is not None:
        yield f"only the plan's own launches are judged: {found.why_not_redrawn}"


def judgement_blocks(results: dict[str, Any], *, details: bool) -> Iterator[Said]:
    """Yield how far off the plan is, and how far others like it."""
    off = {name: share(results[name]) for name in _SHARES if results[name] is not None}
    samples = counted(results["samples"], "launch", "launches")
    estimate, total = duration(results["estimate_ns"]), duration(results["total_duration_ns"])
    yield f"This plan is {off['error']} off: its {samples} stand for {estimate}, and the profile has {total}."
    if results["within_epsilon"] is not None:
        mean, most, times = off["error_mean"], off["error_max"], count(results["repeats"])
        yield (
            f"Drawn {times} times anew, such plans are {mean} off in the mean, {most} at worst; "
            f"{off['within_epsilon']} of them are within epsilon."
            if results["repeats"] > 1
            else f"Drawn anew, such a plan is {mean} off."
        )
    if not results["same_files"] and results["bound"] is not None:
        bound = share(results["bound"])
        yield f"The plan's bound, {bound}, is that on its own profile; none covers this one."
    if details:
        p95 = f"; 95th percentile of the draws {off['error_p95']}" if "error_p95" in off else ""
        yield f"{results['method']}: {strata_text(results['strata'])}, {ratio(results['speedup'])}{p95}"


# A trace held against a plan's profile.

_SHOWN = 5
_NAME_WIDTH = 48


def alignment_answer(found: TraceAlignment, form: OutputFormat) -> Answer:
    """Return the answer in one form; launches are listed one by one only where it shows them."""
    results: dict[str, Any] = {}
    if form is OutputFormat.JSON:
        here, there = found.first_difference or (None, None)
        first = {
            "profile": None if here is None else _row(here, "id"),
            "trace": None if there is None else _row(there, "number"),
        }
        in_profile = found.missing_in_profile.tolist()
        results = {
            "matched": len(found.ids),
            "missing_in_trace": [_row(found.here(each), "id") for each in found.missing_in_trace.tolist()],
            "missing_in_profile": [_row(found.there(each), "number") for each in in_profile],
            "first_difference": None if found.first_difference is None else first,
            "matched_by": found.by,
            "drawn": found.drawn,
            "drawn_missing": list(found.drawn_missing),
        }
    has_rows = form in {OutputFormat.CSV, OutputFormat.JSONL}
    return Answer(
        "align",
        results,
        rows=_alignment_rows(found) if has_rows else None,
        blocks=lambda canvas: alignment_blocks(found, canvas),
        warnings=found.notes,
    )


def _alignment_rows(found: TraceAlignment) -> list[dict[str, Any]]:
    """Return a row a launch: its id in the profile and its number in the trace, none where that lacks it."""
    number_of = dict(zip(found.ids.tolist(), found.numbers.tolist(), strict=True))
    first = found.sequence.first_id
    here = map(found.here, range(first, first + len(found.signature)))
    rows = [_row(launch, "id", number=number_of.get(launch.number)) for launch in here]
    there = map(found.there, found.missing_in_profile.tolist())
    return rows + [_row(launch, "number", id=None) for launch in there]


def _row(launch: ListedLaunch, called: str, **other: int | None) -> dict[str, Any]:
    kernel = launch.kernel
    numbers = {called: launch.number, **other}
    shape = {"name": kernel.name, "grid": kernel.grid, "block": kernel.block}
    return {name: numbers[name] for name in ("id", "number") if name in numbers} | shape


def alignment_blocks(found: TraceAlignment, canvas: Canvas) -> Iterator[Said]:
    """Yield how many launches are in both, and the first that are missing; on a page with whole names."""
    by = "by the trace's numbers" if found.by == "number" else "by the order of the launches"
    yield f"{counted(len(found.ids), 'launch is', 'launches are')} in both, {by}"
    if found.drawn:
        drawn, missing = counted(found.drawn, "launch", "launches"), len(found.drawn_missing)
        lacks = f"of the {drawn} that the plan draws the trace lacks {missing:,}"
        yield lacks if missing else f"the trace has the {drawn} that the plan draws"
    if found.first_difference is not None:
        yield "where they part first:"
        yield from _launches(found.first_difference, "launch or number", canvas, ("profile", "trace"))
    for what, numbers, launch_of, called in (
        ("missing in the trace", found.missing_in_trace, found.here, "launch"),
        ("missing in the profile", found.missing_in_profile, found.there, "number"),
    ):
        if len(numbers):
            yield f"{what}: {counted(len(numbers), 'launch', 'launches')}"
            yield from _launches(list(map(launch_of, numbers[:_SHOWN].tolist())), called, canvas)
            yield from [f"and {len(numbers) - _SHOWN:,} more"] if len(numbers) > _SHOWN else []


def _launches(
    launches: Sequence[ListedLaunch | None], called: str, canvas: Canvas, sides: Sequence[str] = ()
) -> Iterator[Said]:
    """Yield launches as a table; on a terminal names are shortened where they are alike."""
    kernels = [None if each is None else each.kernel for each in launches]
    whole = ["" if each is None else each.name for each in kernels]
    short = [shortened(readable_name(name), _NAME_WIDTH) for name in whole]
    if len(sides) == 2:
        short = list(shortened_names(*map(readable_name, whole)))
    yield [
        *([Column("", sides, to_right=False)] if sides else []),
        Column(called, ["the end" if each is None else str(each.number) for each in launches]),
        names("kernel", whole if canvas.is_page else short),
        Column("grid", ["" if each is None else _sizes(each.grid) for each in kernels]),
        Column("block", ["" if each is None else _sizes(each.block) for each in kernels]),
    ]


def _sizes(dimensions: Dimensions | None) -> str:
    return "?" if dimensions is None else "x".join(map(str, dimensions))


# Where the simulation of kernels can stop.

_HEIGHT = 16
_LEAST_REASON = 40
_CUT = "the log ends before it does"


def what_to_give(lack: Lack, lacking: Sequence[Projection], options: ProjectOptions) -> str:
    """Return what a log lacks, what was done instead, and what to give."""
    unknown = ["--ctas-per-sm"] if any(found.totals.ctas_per_core is None for found in lacking) else []
    unknown += ["--sms"] if any(found.totals.cores is None for found in lacking) else []
    work = "--ctas" if options.artifact else "--instructions or --ctas"
    return {
        Lack.WAVE: "how many CTAs fill the GPU is not known, 0.3 of the grid is waited for; give "
        + " and ".join(unknown),
        Lack.TOTAL: f"how much work is left at the stop is not known; give {work}",
        Lack.CTAS: "no CTA finishes in the log; a log that counts them, or runs on longer, is needed",
        Lack.COARSE: f"the records are too far apart for a window of {options.window:,} cycles; "
        "log more often (-gpgpu_runtime_stat 500), or give a wider --window",
        Lack.CARRIED: "a kernel's first record may also count the last CTAs of kernels before it; "
        "the simulator's stdout of each run, given too, tells them apart",
        Lack.CUT: "a kernel was not simulated to its end, so that what it takes is not known: "
        "its row says why",
    }[lack]


def unrecorded_text(logs: Sequence[IntervalLog]) -> str:
    """Return how many launches have no record, and why; nothing where all have one."""
    number = sum(log.unrecorded_before + log.unrecorded_after for log in logs)
    have = counted(number, "launch of the output has", "launches of the output have")
    interval = min((int(log.cycle[0]) for log in logs), default=0)
    why = f"shorter than the {interval:,} cycles between records, or after the log's end"
    return f"{have} no record: {why}" if number else ""


def projection_row(number: int, log: IntervalLog, projection: Projection) -> dict[str, Any]:
    """Return one kernel as the contract's `project` lists it."""
    own = ("stopped", "cycle", "projected_cycles", "speedup", "reason")
    beside = ("error", "ipc", "spread_percent", "ctas_done", "ctas_needed")
    return {
        "kernel": log.name,
        **{name: getattr(projection, name) for name in own},
        "number": number,
        "cycles_logged": int(log.cycle[-1]),
        "total_cycles": projection.total_cycles,
        "total_cycles_from": _origin(log, projection),
        **{name: getattr(projection, name) for name in beside},
        "wave": projection.totals.wave_ctas,
        "total_ctas": projection.totals.ctas,
        "launches": max(len(log.launches), 1),
        "cut_short": (log.why_cut or _CUT) if log.is_cut_short else None,
        "total_instructions": projection.totals.instructions,
        "projected_by": projection.basis,
    }


def _origin(log: IntervalLog, projection: Projection) -> str | None:
    """Return where the kernel's true end is from: the simulator, or the log's end taken for it."""
    if projection.total_cycles is None:
        return None
    return "log" if log.facts.cycles is None else "simulator"


def projection_blocks(
    logs: Sequence[IntervalLog],
    projections: Sequence[Projection],
    chosen: int,
    options: ProjectOptions,
    canvas: Canvas,
) -> Iterator[Said]:
    """Yield the chart of one kernel and why it can stop, on a page not; then a table of all with reasons."""
    width = options.width or canvas.width
    kernels = [readable_name(log.name) for log in logs]
    reasons = [found.reason for found in projections]
    if not canvas.is_page:
        log, found = logs[chosen], projections[chosen]
        stop, projected = (found.cycle, found.projected_cycles) if found.stopped else (None, None)
        curve = IpcCurve(log.cycle, cumulative_ipc(log), stop, found.ipc, projected)
        yield shortened(f"#{numbers_of(logs)[chosen]} {kernels[chosen]}", width)
        yield ipc_chart(curve, width, options.height or _HEIGHT)
        yield from (found.reason, "")
        kernels = [shortened(name, max(width // 4, 12)) for name in kernels]
    at_end = ["*" if _origin(*each) == "log" else "" for each in zip(logs, projections, strict=True)]
    simulated = [_or_unknown(each.total_cycles, si) for each in projections]
    columns = [
        Column("#", [str(number) for number in numbers_of(logs)]),
        names("kernel", kernels),
        Column("stop", [si(found.cycle) if found.stopped else "none" for found in projections]),
        Column("projected", [_or_unknown(found.projected_cycles, si) for found in projections]),
        Column("simulated", [cycles + end for cycles, end in zip(simulated, at_end, strict=True)]),
        Column("speedup", [_or_unknown(found.speedup, ratio) for found in projections]),
        Column("error", [_or_unknown(found.error, share) for found in projections]),
    ]
    room = width - len(table(columns).partition("\n")[0]) - 2
    if canvas.is_page:
        yield [*columns, Column("why", reasons, to_right=False)]
    elif room >= _LEAST_REASON and len(logs) > 1:
        yield Listing(columns, "why", lambda row, room: shortened(reasons[row], room), dropped_first=())
    else:
        yield columns
    if any(at_end):
        yield "* the log's end, taken for the kernel's"
    for number, log in zip(numbers_of(logs), logs, strict=True):
        if log.is_cut_short:
            yield f"#{number} is not whole: {log.why_cut or _CUT}"
    yield from filter(None, [unrecorded_text(logs)])


def _or_unknown(value: float | None, shown: Any) -> str:
    return UNKNOWN if value is None else str(shown(value))
