"""A run that simulates a plan, while launches are simulated and when it ends, in words and in rows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from msgspec import to_builtins

from sampling.estimation.given_up import GivenUp
from sampling.plan.plan_file import IN_FOLDER
from sampling.profile.names import readable_name
from sampling.run_summary import assumed_group, run_state, summarise_run
from sampling.running import RunProgress, RunRequest, RunResult
from sampling.simulators.job import Job
from sampling.text import counted
from tui.charts.quantities import hours, share
from tui.options.simulate import EstimateOptions
from tui.output.blocks import Block, CommandLine
from tui.output.writer import CommandResult
from tui.terminal.printable import shortened
from tui.text.assumption import narrower, refuted
from tui.text.estimate import (
    estimate_blocks,
    estimate_rows,
    missing_text,
    summarise_with_options,
    total_head,
    warm_export,
    within_text,
)
from tui.text.labels import key_parts

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


def all_checked(limit: int, checked: int) -> str:
    """Return that a cold check of more launches than there are takes them all."""
    return f"--cold-check {limit:,} is more than there are: all {checked:,} are checked."


def progress_line(progress: RunProgress, target: float | None, width: int | None = None) -> str:
    """Return how far a run is: launches, the total's interval, the time left, what runs; as fits."""
    parts = [f"{progress.done:,} of {counted(progress.of, 'launch')}"]
    if progress.total is not None and progress.total.is_incomplete:
        parts.append(missing_text(progress.total))
    elif progress.total is not None:
        target_text = "" if target is None else f", asked {share(target)}"
        parts.append(f"{progress.total.metric} within {within_text(progress.total)}{target_text}")
    if progress.seconds_left is not None:
        parts.append(f"{'' if target is None else 'up to '}{hours(progress.seconds_left / 3600)} left")
    if progress.running:
        parts.append(f"{progress.running:,} running")
    while width is not None and len(parts) > 1 and len("; ".join(parts)) > width:
        parts.pop()
    return "; ".join(parts)


def news_line(progress: RunProgress, target: float | None) -> str | None:
    """Return what just happened; None where nothing did."""
    if progress.news is None:
        return None
    event = f"{counted(progress.news, 'launch')} more drawn" if isinstance(progress.news, int) else ""
    if isinstance(progress.news, Job):
        event = f"launch {progress.news.id} " + (
            f"failed: {progress.news.failure}" if progress.news.failure else "done"
        )
    elif isinstance(progress.news, GivenUp):
        tried = counted(len(progress.news.failed), "launch", "launches")
        event = f"{_kernel_name(progress.news)} is given up: {tried} failed and none ran"
    return f"{event}; {progress_line(progress, target)}"


def run_result(ran: RunResult, request: RunRequest, options: EstimateOptions, command: str) -> CommandResult:
    """Return the answer: that of `estimate`, below it what failed and the job array.

    `options`: of an estimate of the run's folder. `command`: what is typed to go on.
    """
    given_up, endings = list(_given_up_lines(ran, request)), list(_run_blocks(ran, command))
    state = run_state(ran, request)
    if ran.found is None:
        return CommandResult(
            "run",
            state,
            blocks=lambda _: (*given_up, *endings),
            rows=[to_builtins(state) | {"failed": len(ran.failed)}],
        )
    estimate = ran.found
    goes_on = ran.job_array is None and not ran.begun and request.target is None
    target = narrower(estimate) if goes_on else None
    following = "" if target is None else f"{command} --target {target:g}"
    if not (estimate.caches.is_of_whole_run or options.accept_cold):
        following = warm_export(estimate.plan, str(request.folder / IN_FOLDER), request.to)

    def blocks() -> Iterator[Block]:
        lines = [*estimate_blocks(estimate, None, options, following)]
        # Behind the total, which is two lines where what heads it is the first.
        behind = 2 if total_head(estimate, estimate.main) and not estimate.main.is_incomplete else 1
        yield from (*lines[:behind], *given_up, *lines[behind:], *endings)

    summary = summarise_run(summarise_with_options(estimate, None, options), state)
    return CommandResult(
        "run",
        summary,
        blocks=lambda _: blocks(),
        rows=estimate_rows(summary, options),
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
        head = f"GIVEN UP: {_kernel_name(kernel)}, {share(kernel.share)} of the time"
        tried = counted(len(kernel.failed), "launch", "launches")
        yield f"{head}: {tried} failed ({kernel.why}) and none ran; {as_what}"


def _run_blocks(ran: RunResult, command: str) -> Iterator[Block]:
    told_ids = {launch_id for kernel in ran.given_up for launch_id in kernel.failed}
    for job in (job for job in ran.failed if job.id not in told_ids):
        substitute = "no other" if job.instead is None else f"launch {job.instead}"
        yield f"launch {job.id} failed ({job.why}); {substitute} of its stratum was simulated for it"
    if ran.why_no_more:
        yield f"no more launches were drawn: {ran.why_no_more}"
    if ran.job_array is not None:
        script, launches = ran.job_array
        before = f"{counted(launches, 'launch')} to simulate: "
        yield CommandLine(f"sbatch {shlex.quote(str(script))}", before)
    if ran.begun:
        begun_text = counted(len(ran.begun), "launch has", "launches have")
        yield CommandLine(
            str(ran.begun[0]), f"{begun_text} begun and not ended; if it was killed, remove its folder: "
        )
    if ran.job_array is not None or ran.begun:
        yield CommandLine(command, "When the array has ended: ")
