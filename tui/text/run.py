"""A run that simulates a plan, while launches are simulated and when it ends, in words and in rows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from msgspec import to_builtins

from sampling.estimation.given_up import GivenUp
from sampling.plan.plan_file import IN_FOLDER
from sampling.profile.names import readable_name
from sampling.running.job import Job
from sampling.running.request import RunProgress, RunRequest, RunResult
from sampling.running.slurm import NO_ARRAY, JobArray
from sampling.running.summary import RunSummary, assumed_group, run_state, summarise_run
from sampling.simulators.export import ExportChoices, ExportSummary, Simulated
from sampling.simulators.registry import find_exporter
from sampling.text import counted
from tui.charts.quantities import hours, ratio, share
from tui.options.simulate import EstimateOptions, ExportOptions
from tui.output.blocks import Block, CommandLine, Preformatted
from tui.output.writer import CommandResult
from tui.terminal.printable import shortened
from tui.text.estimate import (
    estimate_blocks,
    estimate_rows,
    missing_text,
    narrower,
    refuted,
    summarise_with_options,
    total_head,
    warm_export,
    within_text,
)
from tui.text.labels import key_parts
from tui.text.plan import export_command

_MOST_NAME = 60

#: Said before anything is simulated.
COLD = (
    "launches start cold here, and a total of these keeps no --target: --caches after:16 or --cold-check 8 "
    "mends that; --accept-cold, of `run` and `estimate`, takes it as it is"
)
#: The same of a command that is told an id.
ALONE = (
    "each launch runs alone here, with cold caches for all that is known, and a total of these keeps no "
    "--target: --caches warm says that the command fills them; --accept-cold takes it as it is"
)
#: The same of a study, whose launches run by either.
COLD_STUDY = (
    "launches start cold here, and speedups of these keep no target: --caches after:16 mends that, or "
    "--caches warm where the command fills them; --accept-cold, of `run` and `speedup`, takes them so"
)


def all_checked(checks: int, checked: int) -> str:
    """Return that a cold check of more launches than there are takes them all."""
    return f"--cold-check {checks:,} is more than there are: all {checked:,} are checked."


def export_result(run: Simulated, paths: list[str], options: ExportOptions) -> CommandResult:
    """Return the answer of `export`: how much is simulated, and the files."""
    if find_exporter(options.to).runs_program:
        # What that takes is runs of the whole program.
        run = run._replace(speedup=None)
    summary = ExportSummary(paths, run.launches, run.extra, run.speedup)
    return CommandResult("export", summary, blocks=lambda _: _export_blocks(run, paths, options))


def _export_blocks(run: Simulated, paths: list[str], options: ExportOptions) -> list[Block]:
    """Return how much is simulated, and how much less that is than the whole run; the files; what is next."""
    sentence = f"{counted(run.launches, 'launch')} for {options.to}"
    if run.extra:
        sentence += f", and {run.extra:,} beside them for the caches' sake, which have no weight"
    if run.speedup is not None:
        less = run.speedup >= 1
        times = ratio(run.speedup if less else 1 / run.speedup)
        sentence += f": {times} {'less' if less else 'more'} than the whole run"
    elif find_exporter(options.to).runs_program:
        sentence += "; the page says how often the program runs for them"
    sentence += "."
    if run.checked < options.cold_check:
        sentence += f" {all_checked(options.cold_check, run.checked)}"
    reads = "roofline" if "roofline" in (options.metric_set or "").split(",") else "estimate"
    instruction, command = after_export(paths, options.to, options.traces, options.plan, reads)
    return [sentence, *map(Preformatted, paths), CommandLine(command, f"Next: {instruction}, then ")]


def after_export(
    paths: list[str], target: str, traces: str | None, plan: str, reads: str = "estimate"
) -> tuple[str, str]:
    """Return what to do with an export of a plan, and the command after it.

    That ``reads`` the results; launches without traces are recorded, and exported again with them.
    """
    page = next((path for path in paths if path.endswith("README.txt")), None)
    if page is None:
        return "run them", f"kernelpoint {reads} {shlex.quote(plan)} RESULTS"
    folder = str(Path(page).parent)
    if find_exporter(target).only_records(ExportChoices(traces=traces)):
        # Of several processes and devices each records into a folder of its own.
        traces = f"{folder}/traces" if str(Path(folder, "trace.sh")) in paths else folder
        again = export_command(folder, "simulate", target, traces=traces)
        return f"record them on the GPU as {page} says", f"{again} --config gpgpusim.config"
    return f"run them as {page} says", f"kernelpoint {reads} {shlex.quote(folder)} RESULTS"


def progress_line(progress: RunProgress, target: float | None, width: int | None = None) -> str:
    """Return how far a run is: launches, the total's interval, the time left, what runs; as fits."""
    parts = [f"{progress.measured:,} of {counted(progress.launches, 'launch')}"]
    if progress.total is not None and progress.total.is_incomplete:
        parts.append(missing_text(progress.total))
    elif progress.total is not None:
        goal = "" if target is None else f", asked {share(target)}"
        parts.append(f"{progress.total.metric} within {within_text(progress.total)}{goal}")
    if progress.seconds_left is not None:
        parts.append(f"{'' if target is None else 'up to '}{hours(progress.seconds_left / 3600)} left")
    if progress.running:
        parts.append(f"{progress.running:,} running")
    return fit_parts(parts, width)


def fit_parts(parts: list[str], width: int | None) -> str:
    """Return as many of some parts of a line as fit, the first at least."""
    while width is not None and len(parts) > 1 and len("; ".join(parts)) > width:
        parts.pop()
    return "; ".join(parts)


def news_line(progress: RunProgress, target: float | None) -> str | None:
    """Return what just happened; None where nothing did."""
    if progress.news is None:
        return None
    return f"{event_text(progress.news)}; {progress_line(progress, target)}"


def event_text(event: Job | GivenUp | int) -> str:
    """Return what happened: a launch that ended, a kernel that was given up, by how many the plan grew."""
    if isinstance(event, int):
        return f"{counted(event, 'launch')} more drawn"
    if isinstance(event, Job):
        return f"launch {event.id} {f'failed: {event.failure}' if event.failure else 'done'}"
    tried = counted(len(event.failed), "launch", "launches")
    return f"{_kernel_name(event)} is given up: {tried} failed and none ran"


def run_result(ran: RunResult, request: RunRequest, options: EstimateOptions, command: str) -> CommandResult:
    """Return the answer: that of `estimate`, below it what failed and the job array.

    `options`: of an estimate of the run's folder. `command`: what is typed to go on.
    """
    given_up, blocks_below = list(_given_up_lines(ran, request)), list(_run_blocks(ran, command))
    state = run_state(ran, request)
    if ran.estimate is None:
        return CommandResult(
            "run",
            state,
            blocks=lambda _: (*given_up, *blocks_below),
            rows=[to_builtins(state) | {"failed": len(ran.failed)}],
        )
    estimate = ran.estimate
    goes_on = ran.job_array is None and not ran.begun_folders and request.target is None
    target = narrower(estimate) if goes_on else None
    following = None if not request.plan.is_extensible else f"{command} --target {target:g}" if target else ""
    if not (estimate.caches.is_of_whole_run or options.accept_cold):
        following = warm_export(estimate.plan, str(request.folder / IN_FOLDER), request.simulator)

    def blocks() -> Iterator[Block]:
        lines = [*estimate_blocks(estimate, None, options, following)]
        # Behind the total, which is two lines where what heads it is the first.
        behind = 2 if total_head(estimate, estimate.main) and not estimate.main.is_incomplete else 1
        yield from (*lines[:behind], *given_up, *lines[behind:], *blocks_below)

    def summary() -> RunSummary:
        return summarise_run(summarise_with_options(estimate, None, options), state)

    return CommandResult(
        "run",
        summary,
        blocks=lambda _: blocks(),
        rows=lambda: estimate_rows(summary(), options),
        warnings=(*refuted(estimate), *estimate.notes),
    )


def _kernel_name(kernel: GivenUp) -> str:
    return shortened(readable_name(kernel.launch.name), _MOST_NAME)


def given_up_text(ran: RunResult, request: RunRequest) -> str:
    """Return how much of the time the simulator never ran, and what can be done."""
    kernels, part = counted(len(ran.given_up), "kernel"), share(sum(kernel.share for kernel in ran.given_up))
    remedy = "others of their strata stand for them"
    if any(kernel.strata for kernel in ran.given_up):
        remedy = "--assume-like KERNEL takes that time as another kernel's"
        gone = {request.plan.strata[place].key for kernel in ran.given_up for place in kernel.strata}
        if request.assume_like in gone:
            remedy = (
                f"name another with --assume-like: {key_parts(request.assume_like).name} never ran itself"
            )
    return f"the simulator never ran {kernels}, {part} of the time; {remedy}"


def _given_up_lines(ran: RunResult, request: RunRequest) -> Iterator[str]:
    for kernel in ran.given_up:
        as_what = "left out of the total"
        if not kernel.strata:
            as_what = "the others of its stratum stand for it"
        elif (like := assumed_group(kernel, ran, request)) is not None:
            as_what = f"taken as {shortened(like, _MOST_NAME)} behaves"
        yield f"{given_up_head(kernel)}; {as_what}"


def given_up_head(kernel: GivenUp, place: str = "") -> str:
    """Return what is given up, and why; ``place``: where, in words."""
    head = f"GIVEN UP: {place}{_kernel_name(kernel)}, {share(kernel.share)} of the time"
    tried = counted(len(kernel.failed), "launch", "launches")
    return f"{head}: {tried} failed ({kernel.why}) and none ran"


def _run_blocks(ran: RunResult, command: str) -> Iterator[Block]:
    given_up_ids = {launch_id for kernel in ran.given_up for launch_id in kernel.failed}
    for launch in (launch for launch in ran.failed if launch.id not in given_up_ids):
        substitute = "no other" if launch.instead is None else f"launch {launch.instead}"
        yield f"launch {launch.id} failed ({launch.why}); {substitute} of its stratum was simulated for it"
    if ran.why_no_more:
        yield f"no more launches were drawn: {ran.why_no_more}"
    yield from array_blocks(JobArray(ran.job_array, ran.begun_folders), command)


def array_blocks(array: JobArray, command: str) -> Iterator[Block]:
    """Yield what is to be submitted, and the ``command`` that takes what comes of it."""
    if array.script is not None:
        script, launches = array.script
        before = f"{counted(launches, 'launch')} to simulate: "
        yield CommandLine(f"sbatch {shlex.quote(str(script))}", before)
    if array.begun_folders:
        sentence = counted(len(array.begun_folders), "launch has", "launches have")
        yield CommandLine(
            str(array.begun_folders[0]),
            f"{sentence} begun and not ended; if it was killed, remove its folder: ",
        )
    if array != NO_ARRAY:
        yield CommandLine(command, "When the array has ended: ")
