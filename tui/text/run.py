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
    summary_of_estimate,
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


def all_checked(asked: int, checked: int) -> str:
    """Return that a cold check of more launches than there are takes them all."""
    return f"--cold-check {asked:,} is more than there are: all {checked:,} are checked."


def progress_line(now: RunProgress, target: float | None, width: int | None = None) -> str:
    """Return how far a run is: launches, the total's interval, the time left, what runs; as fits."""
    parts = [f"{now.done:,} of {counted(now.of, 'launch')}"]
    if now.total is not None and now.total.is_incomplete:
        parts.append(missing_text(now.total))
    elif now.total is not None:
        asked = "" if target is None else f", asked {share(target)}"
        parts.append(f"{now.total.metric} within {within_text(now.total)}{asked}")
    if now.seconds_left is not None:
        parts.append(f"{'' if target is None else 'up to '}{hours(now.seconds_left / 3600)} left")
    if now.running:
        parts.append(f"{now.running:,} running")
    while width is not None and len(parts) > 1 and len("; ".join(parts)) > width:
        parts.pop()
    return "; ".join(parts)


def news_line(now: RunProgress, target: float | None) -> str | None:
    """Return what just happened; None where nothing did."""
    if now.news is None:
        return None
    what = f"{counted(now.news, 'launch')} more drawn" if isinstance(now.news, int) else ""
    if isinstance(now.news, Job):
        what = f"launch {now.news.id} " + (f"failed: {now.news.failure}" if now.news.failure else "done")
    elif isinstance(now.news, GivenUp):
        tried = counted(len(now.news.failed), "launch", "launches")
        what = f"{_kernel_name(now.news)} is given up: {tried} failed and none ran"
    return f"{what}; {progress_line(now, target)}"


def run_result(ran: RunResult, asked: RunRequest, options: EstimateOptions, command: str) -> CommandResult:
    """Return the answer: that of `estimate`, below it what failed and the job array.

    `options`: of an estimate of the run's folder. `command`: what is typed to go on.
    """
    given_up, said = list(_given_up_lines(ran, asked)), list(_run_blocks(ran, command))
    state = run_state(ran, asked)
    if ran.found is None:
        return CommandResult(
            "run",
            state,
            blocks=lambda _: (*given_up, *said),
            rows=[to_builtins(state) | {"failed": len(ran.failed)}],
        )
    found = ran.found
    goes_on = ran.job_array is None and not ran.begun and asked.target is None
    target = narrower(found) if goes_on else None
    following = "" if target is None else f"{command} --target {target:g}"
    if not (found.caches.is_of_whole_run or options.accept_cold):
        following = warm_export(found.plan, str(asked.folder / IN_FOLDER), asked.to)

    def blocks() -> Iterator[Block]:
        lines = [*estimate_blocks(found, None, options, following)]
        # Behind the total, which is two lines where what heads it is the first.
        behind = 2 if total_head(found, found.main) and not found.main.is_incomplete else 1
        yield from (*lines[:behind], *given_up, *lines[behind:], *said)

    summary = summarise_run(summary_of_estimate(found, None, options), state)
    return CommandResult(
        "run",
        summary,
        blocks=lambda _: blocks(),
        rows=estimate_rows(summary, options),
        warnings=(*refuted(found), *found.notes),
    )


def _kernel_name(kernel: GivenUp) -> str:
    return shortened(readable_name(kernel.launch.name), _MOST_NAME)


def given_up_text(ran: RunResult, asked: RunRequest) -> str:
    """Return how much of the time the simulator never ran, and what can be done."""
    kernels, part = counted(len(ran.given_up), "kernel"), share(sum(each.share for each in ran.given_up))
    remedy = "others of their strata stand for them"
    if any(each.strata for each in ran.given_up):
        remedy = "--assume-like KERNEL takes that time as another kernel's"
        gone = {asked.plan.strata[place].key for each in ran.given_up for place in each.strata}
        if asked.assume_like in gone:
            remedy = f"name another with --assume-like: {key_parts(asked.assume_like).name} never ran itself"
    return f"the simulator never ran {kernels}, {part} of the time; {remedy}"


def _given_up_lines(ran: RunResult, asked: RunRequest) -> Iterator[str]:
    for kernel in ran.given_up:
        as_what = "left out of the total"
        if not kernel.strata:
            as_what = "the others of its stratum stand for it"
        elif (like := assumed_group(kernel, ran, asked)) is not None:
            as_what = f"taken as {shortened(like, _MOST_NAME)} behaves"
        head = f"GIVEN UP: {_kernel_name(kernel)}, {share(kernel.share)} of the time"
        tried = counted(len(kernel.failed), "launch", "launches")
        yield f"{head}: {tried} failed ({kernel.why}) and none ran; {as_what}"


def _run_blocks(ran: RunResult, command: str) -> Iterator[Block]:
    told = {each for kernel in ran.given_up for each in kernel.failed}
    for each in (each for each in ran.failed if each.id not in told):
        other = "no other" if each.instead is None else f"launch {each.instead}"
        yield f"launch {each.id} failed ({each.why}); {other} of its stratum was simulated for it"
    if ran.why_no_more:
        yield f"no more launches were drawn: {ran.why_no_more}"
    if ran.job_array is not None:
        script, launches = ran.job_array
        before = f"{counted(launches, 'launch')} to simulate: "
        yield CommandLine(f"sbatch {shlex.quote(str(script))}", before)
    if ran.begun:
        begun = counted(len(ran.begun), "launch has", "launches have")
        yield CommandLine(
            str(ran.begun[0]), f"{begun} begun and not ended; if it was killed, remove its folder: "
        )
    if ran.job_array is not None or ran.begun:
        yield CommandLine(command, "When the array has ended: ")
