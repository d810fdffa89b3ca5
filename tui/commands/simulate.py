"""The commands between a plan and the whole run's cost."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import to_builtins

from sampling.errors import OptionError
from sampling.estimation.total import PlanEstimate
from sampling.plan.plan_file import IN_FOLDER, read_plan
from sampling.plan.sensitivity import parse_duration
from sampling.projection import IntervalLog, Lack, ProjectionRule, project, summarise_projection
from sampling.running.loop import run
from sampling.running.request import RunProgress, RunRequest, choose_assumed_group, split_caches
from sampling.running.slurm import write_job_array
from sampling.simulators.alignment import align
from sampling.simulators.export import ExportChoices, checkable, simulated
from sampling.simulators.interval_logs import (
    ExtraFacts,
    complete_facts,
    number_kernels,
    read_interval_logs,
    select_kernels,
)
from sampling.simulators.measured_run import caches_kind
from sampling.simulators.registry import (
    exported_folder,
    find_exporter,
    find_run_rules,
    read_trace_list,
    starts_cold,
)
from sampling.study.study_file import is_study
from sampling.text import counted
from tui.charts.quantities import share
from tui.commands.running import interruptible, progress_width, show_progress
from tui.engine.plan_files import estimated, missing_to_target, plan_before
from tui.options.command_line import options_of
from tui.options.files import Product, check_place
from tui.options.simulate import (
    AlignOptions,
    EstimateOptions,
    ExportOptions,
    ProjectOptions,
    RooflineOptions,
    RunOptions,
)
from tui.output.files import write_folder
from tui.output.writer import STDOUT, CommandResult, emit, write_product, write_stdout
from tui.terminal.diagnostics import CheckFailedError, ProgressMeter, note, notes
from tui.text import estimate as estimate_words
from tui.text import run as run_words
from tui.text import simulation as words
from tui.text.profile import plan_selection, with_selection


def run_export(options: ExportOptions) -> None:
    """Read the plan, write what the target understands."""
    note_of_target = find_exporter(options.to).note
    folder = Path(options.output or f"{options.to}-export")
    if options.output is None:
        check_place(folder, Product.FOLDER)
    plan = read_plan(options.plan)
    # Garbled options are refused before anything is written.
    part = plan_selection(plan)
    with ProgressMeter(quiet=options.quiet) as progress:
        tell = partial(note, quiet=options.quiet)
        choices = ExportChoices(
            shards=options.shards,
            traces=options.traces,
            caches=options.caches,
            cold_check=options.cold_check,
            config=options.config,
            simulator_log=options.simulator_log,
            trace_before=options.trace_before,
            drop_copies=options.drop_copies,
            metric_set=options.metric_set,
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
        paths = [STDOUT]
    else:
        paths = write_folder(folder, files, force=options.force)
    note(f"{options.to}: {note_of_target}", quiet=options.quiet)
    result = run_words.export_result(simulated(plan.to_simulate(), choices), paths, options)
    emit(with_selection(result, part), options, to_stderr=options.output == STDOUT, redirect=False)


def run_run(options: RunOptions) -> None:
    """Go on with the run of the plan or study, or begin it; show how far it is, and what it came to."""
    if is_study(options.plan):
        # One plan needs none of this.
        from tui.commands.study_run import run_study_file

        run_study_file(options)
        return
    with ProgressMeter(quiet=options.quiet) as meter:
        request = _run_request(options, meter)
        # Before notes of what it would come to.
        request.check()
        part = plan_selection(request.plan)
        wants_warm = request.target is not None and not options.accept_cold
        if wants_warm and find_run_rules(request.simulator).is_told_ids:
            if caches_kind(request.caches_of_command) == "cold":
                note(run_words.ALONE, quiet=options.quiet)
        elif wants_warm and starts_cold(request.simulator, request.choices):
            note(run_words.COLD, quiet=options.quiet)
        if (checkable_count := len(checkable(request.plan))) < request.choices.cold_check:
            note(run_words.all_checked(request.choices.cold_check, checkable_count), quiet=options.quiet)
        with interruptible(request.folder, options, meter):
            ran = (write_job_array if options.slurm else run)(
                request, lambda progress: _show_run(progress, options, meter)
            )
    of_folder = options_of(EstimateOptions, options, plan=str(request.folder))
    result = run_words.run_result(ran, request, of_folder, f"kernelpoint {shlex.join(sys.argv[1:])}")
    emit(with_selection(result, part), options, redirect=False)
    if ran.job_array is None and not ran.begun_folders:
        assert ran.estimate is not None
        if ran.given_up and (options.assume_like is None or ran.estimate.main.share_missing):
            raise CheckFailedError(run_words.given_up_text(ran, request))
        _check(ran.estimate, options)


def _check(estimate: PlanEstimate, options: RunOptions | EstimateOptions) -> None:
    """Raise CheckFailedError where strata have no result, or the total is not as narrow as asked for."""
    target = options.target
    if estimate.main.is_incomplete:
        raise CheckFailedError(f"incomplete: {estimate_words.missing_text(estimate.main)}")
    if target is not None and not estimate.is_within(target, accept_cold=options.accept_cold):
        raise CheckFailedError(estimate_words.unmet_text(estimate, target))


def _run_request(options: RunOptions, progress: ProgressMeter) -> RunRequest:
    rules = find_run_rules(options.to)
    if not options.simulator:
        remedy = f"give --simulator '{rules.example}'"
        remedy += f", {rules.placeholder} as it is" if rules.placeholder else ""
        raise OptionError("how launches are simulated is not said", remedy=remedy)
    place = Path(options.plan)
    is_run = (place / "run.json").is_file()
    default = place if is_run else Path("plan" if options.plan == "-" else place).with_suffix(".run")
    folder = default if options.output is None else Path(options.output)
    if options.output is None and not is_run:
        check_place(folder, Product.FOLDER)
    # The same whatever folder the run is gone on with from.
    traces, config = (path and str(Path(path).absolute()) for path in (options.traces, options.config))
    plan = read_plan(str(place / "rounds" / "1") if is_run else options.plan)
    assume_like, timeout = options.assume_like, options.timeout
    if assume_like is not None:
        assume_like, further = choose_assumed_group(plan, assume_like)
        if further:
            fits = f"--assume-like {options.assume_like!r} fits {further + 1} groups; the largest is taken"
            note(f"{fits}: {assume_like}", quiet=options.quiet)
    caches, caches_of_command = split_caches(options.to, options.caches)
    return RunRequest(
        plan,
        folder,
        options.to,
        options.simulator,
        options.target,
        options.jobs,
        None if timeout is None else parse_duration(timeout, "timeout"),
        ExportChoices(
            traces=traces,
            caches=caches,
            cold_check=options.cold_check,
            config=config,
            progress=progress,
        ),
        caches_of_command=caches_of_command,
        assume_like=assume_like,
    )


def _show_run(progress: RunProgress, options: RunOptions, meter: ProgressMeter) -> None:
    news = run_words.news_line(progress, options.target)
    line = run_words.progress_line(progress, options.target, progress_width())
    show_progress(news, line, options, meter)


def run_align(options: AlignOptions) -> None:
    """Read the plan, its profile and the trace's list, match them, show, check the share in both."""
    plan = plan_before("align", options, "trace")
    trace = read_trace_list(options.trace)
    with ProgressMeter(quiet=options.quiet) as progress:
        alignment = align(plan, trace, process=options.process, device=options.device, progress=progress)
    notes(alignment.notes, quiet=options.quiet)
    emit(with_selection(words.alignment_result(alignment, options.format), plan_selection(plan)), options)
    matched, launches = len(alignment.ids), len(alignment.signature)
    if not matched or (options.fail_below is not None and matched < options.fail_below * launches):
        message = f"{matched:,} of {counted(launches, 'launch')} of the profile are in the trace"
        below = (
            f", fewer than {share(options.fail_below)}" if matched and options.fail_below is not None else ""
        )
        raise CheckFailedError(message + below)


def run_estimate(options: EstimateOptions) -> None:
    """Read the plan and the results, estimate, show, and write what to simulate next."""
    with ProgressMeter(quiet=options.quiet) as progress:
        estimate = estimated(options, progress)
        larger = None if options.top_up is None else missing_to_target(estimate, options, progress)
    if larger is not None and options.top_up is not None:
        write_product("plan", larger.text, options.top_up, quiet=options.quiet)
    result = with_selection(
        estimate_words.estimate_result(estimate, larger, options), plan_selection(estimate.plan)
    )
    emit(result, options, to_stderr=options.top_up == STDOUT)
    _check(estimate, options)


def run_roofline(options: RooflineOptions) -> None:
    """Read the plan and its counters, place the run and its kernels below the roof, show."""
    # Not at the head: no other command needs it.
    from sampling.estimation.roofline import summarise_roofline
    from tui.text.roofline import roofline_blocks

    with ProgressMeter(quiet=options.quiet) as progress:
        estimate = estimated(options_of(EstimateOptions, options), progress)
    summary = summarise_roofline(estimate, options.peak, options.kernels)
    notes = estimate_words.counter_notes(estimate)
    result = CommandResult(
        "roofline",
        summary,
        blocks=lambda canvas: roofline_blocks(summary, notes, canvas, options.width, options.height),
        rows=to_builtins([summary.run, *summary.kernels]),
        warnings=estimate.notes,
    )
    emit(with_selection(result, plan_selection(estimate.plan)), options)


def run_project(options: ProjectOptions) -> None:
    """Read, project every kernel, draw one."""
    rule = ProjectionRule(options.stability, options.window, artifact=options.artifact)
    facts = ExtraFacts(
        options.instructions, options.ctas, options.ctas_per_sm, options.sms, options.instructions_from
    )
    logs = complete_facts(read_interval_logs(options.logs, options.source), facts)
    index = _chosen_log(logs, options.kernel, quiet=options.quiet)
    projections = [project(log, rule) for log in logs]
    for lack in Lack:
        lacking = [projection for projection in projections if lack in projection.lacks]
        if lacking:
            kernels = f" ({len(lacking)} of {len(logs)} kernels)" if len(logs) > 1 else ""
            note(words.what_to_give(lack, lacking, options) + kernels, quiet=options.quiet)
    unrecorded = words.unrecorded_text(logs)
    notes([unrecorded] if unrecorded else [], quiet=options.quiet)
    rows = [summarise_projection(*row) for row in zip(number_kernels(logs), logs, projections, strict=True)]
    lacks = [lack for lack in Lack if any(lack in projection.lacks for projection in projections)]
    result = CommandResult(
        "project",
        rows,
        blocks=lambda canvas: words.projection_blocks(logs, projections, rows, index, options, canvas),
        warnings=(*lacks, *(["launches-unrecorded"] if unrecorded else [])),
    )
    emit(result, options)


def _chosen_log(logs: Sequence[IntervalLog], kernel: str | None, *, quiet: bool) -> int:
    """Return the kernel meant by `--kernel`, of several the one with most cycles, which is said on stderr.

    Raises OptionError: none is meant.
    """
    meant = list(range(len(logs))) if kernel is None else select_kernels(logs, kernel)
    longest = max(meant, key=lambda index: int(logs[index].cycle[-1]))
    if kernel is not None and len(meant) > 1:
        label = f"#{number_kernels(logs)[longest]} {logs[longest].name}"
        note(f"--kernel {kernel!r} fits {len(meant)} kernels; the longest is shown: {label}", quiet=quiet)
    return longest
