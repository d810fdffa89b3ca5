"""What is simulated beside what was planned: a plan on another profile, a trace, a simulator's log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sampling.plan.judge import JudgedPlan, PlanJudgement
from sampling.plan.plan_file import PlanFile
from sampling.profile.names import readable_name
from sampling.projection import IntervalLog, Lack, ProjectedKernel, Projection, cumulative_ipc
from sampling.simulators.alignment import ListedLaunch, TraceAlignment
from sampling.text import counted, listed
from tui.charts.ipc import IpcCurve, ipc_chart
from tui.charts.quantities import UNKNOWN, count, duration, ratio, share, si
from tui.options.choices import OutputFormat
from tui.options.plan import JudgeOptions
from tui.options.simulate import ProjectOptions
from tui.output.blocks import Block, Listing
from tui.output.writer import Canvas, CommandResult
from tui.terminal.printable import Column, names, shortened

# A plan judged on a profile.


def judgement_warnings(plan: PlanFile, judgement: PlanJudgement, options: JudgeOptions) -> Iterator[str]:
    """Yield what to know of a judgement on another recording."""
    if (judgement.alignment or judgement.by_operator) and (changed := _own_files(plan, options.profiles)):
        yield (
            f"{listed(changed)} has changed since {plan.path} was made from it, by its SHA-256, "
            "and is judged as another recording"
        )
    if judgement.alignment is not None:
        differing, renumbered = judgement.alignment.launches_differing, judgement.alignment.renumbered
        words = "all launches of the two have the same name, grid and block in the same order"
        if differing != 0:
            many = "some launches" if differing is None else counted(differing, "launch")
            words = (
                f"{many} of another name, grid or block here, matched by order alone; "
                "`kernelpoint difference` shows the two kernel by kernel"
            )
        yield f"the plan was made from other files; {words}"
        for there_process, there_device, process, device in renumbered[:1]:
            further = f", and {len(renumbered) - 1} more have other numbers" if renumbered[1:] else ""
            yield (
                f"process {there_process} device {there_device} of the plan is process {process} device "
                f"{device} here{further}; they were matched in their order"
            )
    if judgement.by_operator is not None:
        plan_share, profile_share = map(share, judgement.by_operator.shares)
        yield (
            f"launches are matched by operator: {plan_share} of the time of the plan's recording and "
            f"{profile_share} of that of this one; what is not matched counts in neither total"
        )
    if judgement.why_not_redrawn is not None:
        yield f"only the plan's own launches are judged: {judgement.why_not_redrawn}"


def _own_files(plan: PlanFile, profiles: Sequence[str]) -> list[str]:
    """Return those of the files that lie where the plan's own lay, or beside it under their names."""
    named, folder = [Path(file.path) for file in plan.profile.files], Path(plan.path).parent
    places = {place.resolve() for name in named for place in (name, folder / name, folder / name.name)}
    return [path for path in profiles if Path(path).resolve() in places]


def judgement_blocks(judged: JudgedPlan, *, details: bool) -> Iterator[Block]:
    """Yield how far off the plan is, and how far others like it."""
    samples = counted(judged.samples, "launch")
    estimate, total = duration(judged.estimate_ns), duration(judged.total_duration_ns)
    off, mean, p95 = map(share, (judged.error, judged.error_mean, judged.error_p95))
    has = "the profile has" if judged.matched is None else "what is matched of the profile has"
    yield f"This plan is {off} off: its {samples} stand for {estimate} by their weights, and {has} {total}."
    if judged.repeats == 1:
        yield f"Drawn anew, such a plan is {mean} off."
    elif judged.repeats:
        yield (
            f"Drawn {count(judged.repeats)} times anew, such plans are {mean} off in the mean, "
            f"{share(judged.error_max)} at worst; {share(judged.within_epsilon)} of them are within "
            "epsilon."
        )
    if not judged.same_files and judged.bound is not None:
        bound = share(judged.bound)
        yield f"The plan's bound, {bound}, is that on its own profile; none covers this one."
    if details:
        strata = counted(judged.strata, "stratum")
        speedup = ratio(judged.speedup)
        yield f"{judged.method}: {strata}, {speedup}; 95th percentile of the draws {p95}"


# A trace held against a plan's profile.

_SHOWN = 5


def alignment_result(alignment: TraceAlignment, form: OutputFormat) -> CommandResult:
    """Return the answer in one form; launches are listed one by one only where it shows them."""

    def blocks(_: Canvas) -> Iterator[Block]:
        return alignment_blocks(alignment)

    if form is OutputFormat.JSON:
        return CommandResult("align", alignment.summary(), blocks, warnings=alignment.notes)
    launches = alignment.list_launches() if form in {OutputFormat.CSV, OutputFormat.JSONL} else []
    return CommandResult("align", launches, blocks, warnings=alignment.notes)


def alignment_blocks(alignment: TraceAlignment) -> Iterator[Block]:
    """Yield how many launches are in both, and the first that are missing."""
    by = "by the trace's numbers" if alignment.by == "number" else "by the order of the launches"
    yield f"{counted(len(alignment.ids), 'launch is', 'launches are')} in both, {by}"
    if alignment.drawn_count:
        launches, missing = counted(alignment.drawn_count, "launch"), len(alignment.drawn_missing)
        lacks = f"of the {launches} that the plan draws the trace lacks {missing:,}"
        yield lacks if missing else f"the trace has the {launches} that the plan draws"
    if alignment.first_difference is not None:
        yield "where they part first, the profile above the trace:"
        yield _launches(alignment.first_difference)
    for side, numbers, launch_of in (
        ("missing in the trace", alignment.missing_in_trace, alignment.profile_launch),
        ("missing in the profile", alignment.missing_in_profile, alignment.trace_launch),
    ):
        if len(numbers):
            limit = f", the first {_SHOWN} of them" if len(numbers) > _SHOWN else ""
            yield f"{side}: {counted(len(numbers), 'launch')}{limit}"
            yield _launches([launch_of(number) for number in numbers[:_SHOWN].tolist()])


def _launches(launches: Sequence[ListedLaunch | None]) -> Listing:
    kernels = ["the end" if launch is None else readable_name(launch.kernel.name) for launch in launches]
    figures = [Column("launch", [UNKNOWN if launch is None else str(launch.number) for launch in launches])]
    for name in ("grid", "block"):
        sizes = (getattr(launch and launch.kernel, name, None) for launch in launches)
        figures.append(
            Column(name, [UNKNOWN if size is None else "x".join(map(str, size)) for size in sizes])
        )
    return Listing(figures, "kernel", lambda row, room: shortened(kernels[row], room), full_labels=kernels)


# Where the simulation of kernels can stop.

_HEIGHT = 16
_LEAST_REASON = 40


def what_to_give(lack: Lack, lacking: Sequence[Projection], options: ProjectOptions) -> str:
    """Return what a log lacks, what was done instead, and what to give."""
    unknown = (
        ["--ctas-per-sm"] if any(projection.totals.ctas_per_core is None for projection in lacking) else []
    )
    unknown += ["--sms"] if any(projection.totals.cores is None for projection in lacking) else []
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
    reason = f"shorter than the {interval:,} cycles between records, or after the log's end"
    return f"{have} no record: {reason}" if number else ""


def projection_blocks(
    logs: Sequence[IntervalLog],
    projections: Sequence[Projection],
    rows: Sequence[ProjectedKernel],
    index: int,
    options: ProjectOptions,
    canvas: Canvas,
) -> Iterator[Block]:
    """Yield the chart of one kernel and why it can stop, on a page not; then a table of all with reasons."""
    width, numbers = options.width or canvas.width, [row.number for row in rows]
    kernels = [readable_name(log.name) for log in logs]
    if not canvas.is_page:
        log, projection = logs[index], projections[index]
        stop, projected = (
            (projection.cycle, projection.projected_cycles) if projection.stopped else (None, None)
        )
        yield shortened(f"#{numbers[index]} {kernels[index]}", width)
        curve = IpcCurve(log.cycle, cumulative_ipc(log), stop, projection.ipc, projected)
        yield ipc_chart(curve, width, options.height or _HEIGHT)
        yield from (projection.reason, "")
        kernels = [shortened(name, max(width // 4, 12)) for name in kernels]
    ends = ["*" if row.total_cycles_from == "log" else "" for row in rows]
    simulated = [_cycles(row.total_cycles) + end for row, end in zip(rows, ends, strict=True)]
    figures = [
        Column("#", list(map(str, numbers))),
        names("kernel", kernels),
        Column("stop", [si(row.cycle) if row.stopped else "none" for row in rows]),
        Column("projected", [_cycles(row.projected_cycles) for row in rows]),
        Column("simulated", simulated),
        Column("speedup", [ratio(row.speedup) for row in rows]),
        Column("error", [share(row.error) for row in rows]),
    ]
    reasons = [row.reason for row in rows]
    listing = Listing(figures, "why", lambda row, room: shortened(reasons[row], room), ())
    if canvas.is_page:
        yield [*figures, Column("why", reasons, to_right=False)]
    elif len(logs) > 1 and width - sum(cells + 2 for cells in listing.widths.values()) >= _LEAST_REASON:
        yield listing
    else:
        # The reason of the only kernel is said above.
        yield figures
    if any(ends):
        yield "* the log's end, taken for the kernel's"
    yield from (f"#{row.number} is not whole: {row.cut_short}" for row in rows if row.cut_short)
    yield from filter(None, [unrecorded_text(logs)])


def _cycles(number: float | None) -> str:
    return UNKNOWN if number is None else si(number)
