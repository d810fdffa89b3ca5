"""The commands between a plan and the whole run's cost."""

from __future__ import annotations

import shlex
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sampling import running
from sampling.errors import OptionError
from sampling.estimation.total import PlanEstimate
from sampling.plan.design import WHOLE_WORKLOAD_KEY
from sampling.plan.nearby import parse_duration
from sampling.plan.plan_file import IN_FOLDER, PlanFile, read_plan
from sampling.profile.names import readable_name
from sampling.projection import IntervalLog, Lack, ProjectionRule, project, summarise_projection
from sampling.reduction.grouping import choose_kernel
from sampling.reduction.plan_groups import is_pool_key
from sampling.simulators.accel_sim_traces import instructions_of_traces
from sampling.simulators.alignment import align, read_trace_list
from sampling.simulators.export import ExportChoices, ExportSummary, Simulated, checkable, simulated
from sampling.simulators.job import NEEDED
from sampling.simulators.measured_run import kind_of_caches
from sampling.simulators.registry import exported_folder, exporter_named, read_interval_logs, starts_cold
from sampling.text import counted, listed, shortened
from tui.charts.quantities import ratio, share
from tui.engine.plan_files import estimated, missing_to_target, plan_before
from tui.engine.studies import progress_of
from tui.options.command_line import options_of
from tui.options.files import Product, check_place
from tui.options.simulate import AlignOptions, EstimateOptions, ExportOptions, ProjectOptions, RunOptions
from tui.output.blocks import Block, CommandLine, Preformatted
from tui.output.files import write_folder
from tui.output.writer import STDOUT, CommandResult, emit, write_plan, write_stdout
from tui.terminal import tty
from tui.terminal.diagnostics import CheckFailedError, ProgressMeter, note, notes
from tui.text import estimate as estimate_words
from tui.text import run as run_words
from tui.text.labels import key_parts
from tui.text.profile import plan_selection, with_selection
from tui.text.simulation import (
    alignment_result,
    launch_numbers,
    projection_blocks,
    unrecorded_text,
    what_to_give,
)


def run_export(options: ExportOptions) -> None:
    """Read the plan, write what the target understands."""
    note_of_target = exporter_named(options.to).note
    folder = Path(options.output or f"{options.to}-export")
    if options.output is None:
        check_place(folder, Product.FOLDER)
    plan = read_plan(options.plan)
    # Garbled options are refused before anything is written.
    part = plan_selection(plan)
    with progress_of(options) as progress:
        tell = partial(note, quiet=options.quiet)
        choices = ExportChoices(
            shards=options.shards,
            traces=options.traces,
            caches=options.caches,
            cold_check=options.cold_check,
            config=options.config,
            trace_before=options.trace_before,
            drop_copies=options.drop_copies,
            progress=progress,
            tell=tell,
        )
        if starts_cold(options.to, choices):
            note(run_words.COLD, quiet=options.quiet)
        files = exported_folder(plan, options.to, choices)
    if options.output == STDOUT or Path(plan.path).resolve() == (folder / IN_FOLDER).resolve():
        files = tuple(file for file in files if file[0] != IN_FOLDER)
    if options.output == STDOUT:
        if len(files) != 1:
            raise OptionError(f"{options.to} writes {len(files)} files", remedy="name a folder with -o")
        write_stdout(str(files[0][1]))
        places = [STDOUT]
    else:
        places = write_folder(folder, files, force=options.force)
    note(f"{options.to}: {note_of_target}", quiet=options.quiet)
    handed = simulated(plan.to_simulate(), choices)
    summary = ExportSummary.from_attributes(handed, files=places)
    result = CommandResult("export", summary, blocks=lambda _: _export_blocks(handed, places, options))
    emit(with_selection(result, part), options, to_stderr=options.output == STDOUT, redirect=False)


def _export_blocks(handed: Simulated, places: list[str], options: ExportOptions) -> list[Block]:
    """Return how much is simulated, and how much less that is than the whole run; the files; what is next."""
    sentence = f"{counted(handed.launches, 'launch')} for {options.to}"
    if handed.beside:
        sentence += f", and {handed.beside:,} beside them for the caches' sake, which have no weight"
    if handed.speedup is not None:
        less = handed.speedup >= 1
        times = ratio(handed.speedup if less else 1 / handed.speedup)
        sentence += f": {times} {'less' if less else 'more'} than the whole run"
    sentence += "."
    if handed.checked < options.cold_check:
        sentence += f" {run_words.all_checked(options.cold_check, handed.checked)}"
    page = next((place for place in places if place.endswith("README.txt")), None)
    action = "run them" if page is None else f"run them as {page} says"
    following = CommandLine(
        f"kernelpoint estimate {shlex.quote(options.plan)} RESULTS", f"Next: {action}, then "
    )
    return [sentence, *map(Preformatted, places), following]


def run_run(options: RunOptions) -> None:
    """Go on with the run of the plan, or begin it; show how far it is, and what it came to."""
    with progress_of(options) as meter:
        request = _asked_of_run(options, meter)
        # Before notes of what it would come to.
        running.refuse_what_cannot_run(request)
        part = plan_selection(request.plan)
        wants_warm = request.target is not None and not options.accept_cold
        if wants_warm and request.to == "csv" and kind_of_caches(request.told_caches) == "cold":
            note(run_words.ALONE, quiet=options.quiet)
        elif wants_warm and request.to in NEEDED and starts_cold(request.to, request.choices):
            note(run_words.COLD, quiet=options.quiet)
        if (checkable_launches := len(checkable(request.plan))) < request.choices.cold_check:
            note(run_words.all_checked(request.choices.cold_check, checkable_launches), quiet=options.quiet)
        try:
            ran = (running.write_job_array if options.slurm else running.run)(
                request, lambda progress: _show_run(progress, options, meter)
            )
        except KeyboardInterrupt:
            meter.close()
            if request.folder.exists():
                message = f"what is finished is kept in {request.folder}; the same command goes on"
                note(message, quiet=options.quiet)
            raise
    of_folder = options_of(EstimateOptions, options, plan=str(request.folder))
    result = run_words.run_result(ran, request, of_folder, f"kernelpoint {shlex.join(sys.argv[1:])}")
    emit(with_selection(result, part), options, redirect=False)
    if ran.job_array is None and not ran.begun:
        assert ran.found is not None
        if ran.given_up and (options.assume_like is None or ran.found.main.share_missing):
            raise CheckFailedError(run_words.given_up_text(ran, request))
        _check(ran.found, options)


def _check(estimate: PlanEstimate, options: RunOptions | EstimateOptions) -> None:
    """Raise CheckFailedError where strata have no result, or the total is not as narrow as asked for."""
    target = options.target
    if estimate.main.is_incomplete:
        raise CheckFailedError(f"incomplete: {estimate_words.missing_text(estimate.main)}")
    if target is not None and not estimate.is_within(target, accept_cold=options.accept_cold):
        raise CheckFailedError(estimate_words.unmet_text(estimate, target))


def _asked_of_run(options: RunOptions, progress: ProgressMeter) -> running.RunRequest:
    if not options.simulator:
        remedy = "give --simulator 'accel-sim.out -trace {list} -config ... -config ...', {list} as it is"
        raise OptionError("how launches are simulated is not said", remedy=remedy)
    path = Path(options.plan)
    is_run = (path / "run.json").is_file()
    folder_beside = path if is_run else Path("plan" if options.plan == "-" else path).with_suffix(".run")
    folder = folder_beside if options.output is None else Path(options.output)
    if options.output is None and not is_run:
        check_place(folder, Product.FOLDER)
    # The same whatever folder the run is gone on with from.
    traces, config = (path and str(Path(path).absolute()) for path in (options.traces, options.config))
    plan, is_csv = read_plan(str(path / "rounds" / "1") if is_run else options.plan), options.to == "csv"
    return running.RunRequest(
        plan,
        folder,
        options.to,
        options.simulator,
        options.target,
        options.jobs,
        None if options.timeout is None else parse_duration(options.timeout, "timeout"),
        ExportChoices(
            traces=traces,
            caches=None if is_csv else options.caches,
            cold_check=options.cold_check,
            config=config,
            progress=progress,
        ),
        told_caches=(options.caches if is_csv else None) or "cold",
        assume_like=None if options.assume_like is None else _assumed_group(plan, options),
    )


def _assumed_group(plan: PlanFile, options: RunOptions) -> str:
    """Return the key of the kernel group that --assume-like means, the largest of several, which is noted.

    Raises OptionError: none is meant that the plan estimates by itself.
    """
    kernel = options.assume_like
    time_ns: defaultdict[str, float] = defaultdict(float)
    for stratum in plan.strata:
        if not is_pool_key(stratum.key) and stratum.key != WHOLE_WORKLOAD_KEY:
            time_ns[stratum.key] += stratum.size * stratum.mean_ns
    keys = sorted(time_ns, key=lambda key: -time_ns[key])
    try:
        place, other_fits = choose_kernel([key_parts(key) for key in keys], kernel)
    except OptionError as error:
        message = f"--assume-like {kernel}: no kernel group that the plan estimates by itself"
        names = listed([shortened(readable_name(key_parts(key).name)) for key in keys], most=3)
        remedy = f"give #1 to #{len(keys)}, or a part of a name: {names}" if keys else "there is none"
        raise OptionError(message, remedy=remedy) from error
    if other_fits:
        fits = f"--assume-like {kernel!r} fits {other_fits + 1} groups; the largest is taken: {keys[place]}"
        note(fits, quiet=options.quiet)
    return keys[place]


def _show_run(progress: running.RunProgress, options: RunOptions, meter: ProgressMeter) -> None:
    """Show the line in place on a terminal, failures above it; elsewhere a line for each launch."""
    news = run_words.news_line(progress, options.target)
    if news is not None and (not meter.is_shown or "failed" in news):
        meter.close()
        note(news, quiet=options.quiet)
    meter.draw(run_words.progress_line(progress, options.target, tty.width({}, sys.stderr) - 1))


def run_align(options: AlignOptions) -> None:
    """Read the plan, its profile and the trace's list, match them, show, check the share in both."""
    plan = plan_before("align", options, "trace")
    trace = read_trace_list(options.trace)
    with progress_of(options) as progress:
        alignment = align(plan, trace, process=options.process, device=options.device, progress=progress)
    notes(alignment.notes, quiet=options.quiet)
    emit(with_selection(alignment_result(alignment, options.format), plan_selection(plan)), options)
    matched, launches = len(alignment.ids), len(alignment.signature)
    if not matched or (options.fail_below is not None and matched < options.fail_below * launches):
        sentence = f"{matched:,} of {counted(launches, 'launch')} of the profile are in the trace"
        below = (
            f", fewer than {share(options.fail_below)}" if matched and options.fail_below is not None else ""
        )
        raise CheckFailedError(sentence + below)


def run_estimate(options: EstimateOptions) -> None:
    """Read the plan and the results, estimate, show, and write what to simulate next."""
    with progress_of(options) as progress:
        estimate = estimated(options, progress)
        larger = None if options.top_up is None else missing_to_target(estimate, options, progress)
    if larger is not None and options.top_up is not None:
        write_plan(larger.text, options.top_up, quiet=options.quiet)
    result = with_selection(
        estimate_words.estimate_result(estimate, larger, options), plan_selection(estimate.plan)
    )
    emit(result, options, to_stderr=options.top_up == STDOUT)
    _check(estimate, options)


def run_project(options: ProjectOptions) -> None:
    """Read, project every kernel, draw one."""
    rule = ProjectionRule(options.stability, options.window, artifact=options.artifact)
    logs = _with_given_values(read_interval_logs(options.logs, options.source), options)
    index = _chosen_log(logs, options.kernel, quiet=options.quiet)
    projections = [project(log, rule) for log in logs]
    for lack in Lack:
        lacking = [projection for projection in projections if lack in projection.lacks]
        if lacking:
            of_kernels = f" ({len(lacking)} of {len(logs)} kernels)" if len(logs) > 1 else ""
            note(what_to_give(lack, lacking, options) + of_kernels, quiet=options.quiet)
    unrecorded = unrecorded_text(logs)
    notes([unrecorded] if unrecorded else [], quiet=options.quiet)
    rows = [
        summarise_projection(*kernel) for kernel in zip(launch_numbers(logs), logs, projections, strict=True)
    ]
    lacks = [lack for lack in Lack if any(lack in projection.lacks for projection in projections)]
    result = CommandResult(
        "project",
        rows,
        blocks=lambda canvas: projection_blocks(logs, projections, rows, index, options, canvas),
        warnings=(*lacks, *(["launches-unrecorded"] if unrecorded else [])),
    )
    emit(result, options)


_MOST_DIGITS = 18
Logs = Sequence[IntervalLog]


def _with_given_values(logs: Logs, options: ProjectOptions) -> list[IntervalLog]:
    """Return the logs with the values given on the command line in place of the log's own.

    The tracer's instructions are the most there can be, so that a simulator's own count comes before them.

    Raises OptionError: a value is no number above 0, no kernel is meant, or it could mean several.
    """
    traced: Sequence[int | None] = [None] * len(logs)
    if options.instructions_from is not None:
        traced = instructions_of_traces(options.instructions_from, logs)
    instructions = _by_kernel("--instructions", options.instructions, logs, is_total=True)
    ctas = _by_kernel("--ctas", options.ctas, logs, is_total=True)
    ctas_per_core = _by_kernel("--ctas-per-sm", options.ctas_per_sm, logs, is_total=False)
    logs_with_values = []
    for log, traced_one, *numbers in zip(logs, traced, instructions, ctas, ctas_per_core, strict=True):
        numbers[0] = numbers[0] or log.facts.instructions or traced_one
        values = zip(("instructions", "ctas", "ctas_per_core", "cores"), [*numbers, options.sms], strict=True)
        values_known: dict[str, Any] = {name: value for name, value in values if value is not None}
        logs_with_values.append(replace(log, facts=replace(log.facts, **values_known)))
    return logs_with_values


def _by_kernel(flag: str, texts: Sequence[str], logs: Logs, *, is_total: bool) -> list[int | None]:
    """Return the number given for each kernel by "N" or "KERNEL=N", None without one; the last one wins.

    `is_total`: of a whole kernel, so that a bare number needs a log of one kernel.
    """
    numbers: list[int | None] = [None] * len(logs)
    for text in texts:
        kernel, _, number = text.rpartition("=")
        is_whole = number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS
        if not is_whole or int(number) == 0:
            raise OptionError(f"{flag} {text}: a number above 0 is meant, or KERNEL=N")
        if not kernel and is_total and len(logs) > 1:
            message = f"{flag} {text}: the log has {len(logs)} kernels"
            raise OptionError(message, remedy=f"say whose it is by part of its name or #1: KERNEL={number}")
        for index in _meant(flag, kernel, logs) if kernel else range(len(logs)):
            numbers[index] = int(number)
    return numbers


def _meant(flag: str, kernel: str, logs: Logs) -> list[int]:
    """Return the kernels of "#3" (its number), or whose name contains the text."""
    if kernel.startswith("#") and kernel[1:].isdecimal():
        number = int(kernel[1:])
        meant = [index for index, launch in enumerate(launch_numbers(logs)) if launch == number]
    else:
        meant = [place for place, log in enumerate(logs) if kernel in log.name]
    if not meant:
        message = f"{flag} {kernel!r}: no kernel has this number, or this in its name (case counts)"
        raise OptionError(message, remedy="`kernelpoint project LOG` lists them")
    return meant


def _chosen_log(logs: Logs, kernel: str | None, *, quiet: bool) -> int:
    """Return the kernel meant by `--kernel`, of several the one with most cycles, which is said on stderr.

    Raises OptionError: none is meant.
    """
    meant = list(range(len(logs))) if kernel is None else _meant("--kernel", kernel, logs)
    longest = max(meant, key=lambda index: int(logs[index].cycle[-1]))
    if kernel is not None and len(meant) > 1:
        title = f"#{launch_numbers(logs)[longest]} {logs[longest].name}"
        note(f"--kernel {kernel!r} fits {len(meant)} kernels; the longest is shown: {title}", quiet=quiet)
    return longest
