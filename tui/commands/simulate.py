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
from sampling.projection import IntervalLog, Lack, ProjectionRule, project
from sampling.reduction.grouping import choose_kernel
from sampling.reduction.plan_groups import is_pool_key
from sampling.simulators.accel_sim_traces import instructions_of_traces
from sampling.simulators.alignment import align, read_trace_list
from sampling.simulators.export import ExportChoices, Simulated, checkable, simulated
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
from tui.output.writer import STDOUT, Answer, emit, named, write_plan, write_stdout
from tui.terminal import tty
from tui.terminal.diagnostics import CheckFailedError, ProgressMeter, note, notes
from tui.text import estimate as estimate_words
from tui.text import run as run_words
from tui.text import simulation as words
from tui.text.labels import key_parts
from tui.text.profile import part_of_plan, with_selection

_CHOICES = ("shards", "traces", "caches", "cold_check", "config", "trace_before", "drop_copies")


def run_export(options: ExportOptions) -> None:
    """Read the plan, write what the target understands."""
    note_of_target = exporter_named(options.to).note
    folder = Path(options.output or f"{options.to}-export")
    if options.output is None:
        check_place(folder, Product.FOLDER)
    plan = read_plan(options.plan)
    # Garbled options are refused before anything is written.
    part = part_of_plan(plan)
    with progress_of(options) as progress:
        tell = partial(note, quiet=options.quiet)
        choices = ExportChoices(**named(options, *_CHOICES), progress=progress, tell=tell)
        if starts_cold(options.to, choices):
            note(run_words.COLD, quiet=options.quiet)
        files = exported_folder(plan, options.to, choices)
    if options.output == STDOUT or Path(plan.path).resolve() == (folder / IN_FOLDER).resolve():
        files = tuple(file for file in files if file[0] != IN_FOLDER)
    if options.output == STDOUT:
        if len(files) != 1:
            raise OptionError(f"{options.to} writes {len(files)} files", remedy="name a folder with -o")
        write_stdout(str(files[0][1]))
        written = [STDOUT]
    else:
        written = write_folder(folder, files, force=options.force)
    note(f"{options.to}: {note_of_target}", quiet=options.quiet)
    found = simulated(plan.to_simulate(), choices)
    results = {"files": written, "launches": found.launches, "beside": found.beside, "speedup": found.speedup}
    answer = Answer("export", results, blocks=lambda _: _export_blocks(found, written, options))
    emit(with_selection(answer, part), options, to_stderr=options.output == STDOUT, redirect=False)


def _export_blocks(found: Simulated, written: list[str], options: ExportOptions) -> list[Block]:
    """Return how much is simulated, and how much less that is than the whole run; the files; what is next."""
    said = f"{counted(found.launches, 'launch')} for {options.to}"
    if found.beside:
        said += f", and {found.beside:,} beside them for the caches' sake, which have no weight"
    if found.speedup is not None:
        less = found.speedup >= 1
        times = ratio(found.speedup if less else 1 / found.speedup)
        said += f": {times} {'less' if less else 'more'} than the whole run"
    said += "."
    if found.checked < options.cold_check:
        said += f" {run_words.all_checked(options.cold_check, found.checked)}"
    page = next((each for each in written if each.endswith("README.txt")), None)
    how = "run them" if page is None else f"run them as {page} says"
    following = CommandLine(
        f"kernelpoint estimate {shlex.quote(options.plan)} RESULTS", f"Next: {how}, then "
    )
    return [said, *map(Preformatted, written), following]


def run_run(options: RunOptions) -> None:
    """Go on with the run of the plan, or begin it; show how far it is, and what it came to."""
    with progress_of(options) as meter:
        asked = _asked_of_run(options, meter)
        # Before notes of what it would come to.
        running.refuse_what_cannot_run(asked)
        part = part_of_plan(asked.plan)
        wants_warm = asked.target is not None and not options.accept_cold
        if wants_warm and asked.to == "csv" and kind_of_caches(asked.told_caches) == "cold":
            note(run_words.ALONE, quiet=options.quiet)
        elif wants_warm and asked.to in NEEDED and starts_cold(asked.to, asked.choices):
            note(run_words.COLD, quiet=options.quiet)
        if (most := len(checkable(asked.plan))) < asked.choices.cold_check:
            note(run_words.all_checked(asked.choices.cold_check, most), quiet=options.quiet)
        try:
            ran = (running.write_job_array if options.slurm else running.run)(
                asked, lambda now: _show_run(now, options, meter)
            )
        except KeyboardInterrupt:
            meter.close()
            if asked.folder.exists():
                kept = f"what is finished is kept in {asked.folder}; the same command goes on"
                note(kept, quiet=options.quiet)
            raise
    of_folder = options_of(EstimateOptions, options, plan=str(asked.folder))
    answer = run_words.run_answer(ran, asked, of_folder, f"kernelpoint {shlex.join(sys.argv[1:])}")
    emit(with_selection(answer, part), options, redirect=False)
    if ran.job_array is None and not ran.begun:
        assert ran.found is not None
        if ran.given_up and (options.assume_like is None or ran.found.main.share_missing):
            raise CheckFailedError(run_words.given_up_text(ran, asked))
        _check(ran.found, options)


def _check(found: PlanEstimate, options: RunOptions | EstimateOptions) -> None:
    """Raise CheckFailedError where strata have no result, or the total is not as narrow as asked for."""
    target = options.target
    if found.main.is_incomplete:
        raise CheckFailedError(f"incomplete: {estimate_words.missing_text(found.main)}")
    if target is not None and not found.is_within(target, accept_cold=options.accept_cold):
        raise CheckFailedError(estimate_words.unmet_text(found, target))


def _asked_of_run(options: RunOptions, progress: ProgressMeter) -> running.RunRequest:
    if not options.simulator:
        remedy = "give --simulator 'accel-sim.out -trace {list} -config ... -config ...', {list} as it is"
        raise OptionError("how launches are simulated is not said", remedy=remedy)
    given = Path(options.plan)
    is_run = (given / "run.json").is_file()
    beside = given if is_run else Path("plan" if options.plan == "-" else given).with_suffix(".run")
    folder = beside if options.output is None else Path(options.output)
    if options.output is None and not is_run:
        check_place(folder, Product.FOLDER)
    # The same whatever folder the run is gone on with from.
    traces, config = (each and str(Path(each).absolute()) for each in (options.traces, options.config))
    plan, is_csv = read_plan(str(given / "rounds" / "1") if is_run else options.plan), options.to == "csv"
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
    wanted = options.assume_like
    time_ns: defaultdict[str, float] = defaultdict(float)
    for stratum in plan.strata:
        if not is_pool_key(stratum.key) and stratum.key != WHOLE_WORKLOAD_KEY:
            time_ns[stratum.key] += stratum.size * stratum.mean_ns
    keys = sorted(time_ns, key=lambda key: -time_ns[key])
    try:
        place, others = choose_kernel([key_parts(key) for key in keys], wanted)
    except OptionError as error:
        what = f"--assume-like {wanted}: no kernel group that the plan estimates by itself"
        names = listed([shortened(readable_name(key_parts(key).name)) for key in keys], limit=3)
        remedy = f"give #1 to #{len(keys)}, or a part of a name: {names}" if keys else "there is none"
        raise OptionError(what, remedy=remedy) from error
    if others:
        fits = f"--assume-like {wanted!r} fits {others + 1} groups; the largest is taken: {keys[place]}"
        note(fits, quiet=options.quiet)
    return keys[place]


def _show_run(now: running.RunProgress, options: RunOptions, meter: ProgressMeter) -> None:
    """Show the line in place on a terminal, failures above it; elsewhere a line for each launch."""
    news = run_words.news_line(now, options.target)
    if news is not None and (not meter.is_shown or "failed" in news):
        meter.close()
        note(news, quiet=options.quiet)
    meter.draw(run_words.progress_line(now, options.target, tty.width({}, sys.stderr) - 1))


def run_align(options: AlignOptions) -> None:
    """Read the plan, its profile and the trace's list, match them, show, check the share in both."""
    plan = plan_before("align", options, "trace")
    trace = read_trace_list(options.trace)
    with progress_of(options) as progress:
        found = align(plan, trace, process=options.process, device=options.device, progress=progress)
    notes(found.notes, quiet=options.quiet)
    emit(with_selection(words.alignment_answer(found, options.format), part_of_plan(plan)), options)
    both, launches = len(found.ids), len(found.signature)
    if not both or (options.fail_below is not None and both < options.fail_below * launches):
        of = f"{both:,} of {counted(launches, 'launch')} of the profile are in the trace"
        below = f", fewer than {share(options.fail_below)}" if both and options.fail_below is not None else ""
        raise CheckFailedError(of + below)


def run_estimate(options: EstimateOptions) -> None:
    """Read the plan and the results, estimate, show, and write what to simulate next."""
    with progress_of(options) as progress:
        found = estimated(options, progress)
        larger = None if options.top_up is None else missing_to_target(found, options, progress)
    if larger is not None and options.top_up is not None:
        write_plan(larger.text, options.top_up, quiet=options.quiet)
    answer = with_selection(estimate_words.estimate_answer(found, larger, options), part_of_plan(found.plan))
    emit(answer, options, to_stderr=options.top_up == STDOUT)
    _check(found, options)


def run_project(options: ProjectOptions) -> None:
    """Read, project every kernel, draw one."""
    rule = ProjectionRule(options.stability, options.window, artifact=options.artifact)
    logs = _with_given_values(read_interval_logs(options.logs, options.source), options)
    chosen = _chosen_log(logs, options.kernel, quiet=options.quiet)
    projections = [project(log, rule) for log in logs]
    for lack in Lack:
        lacking = [projection for projection in projections if lack in projection.lacks]
        if lacking:
            some = f" ({len(lacking)} of {len(logs)} kernels)" if len(logs) > 1 else ""
            note(words.what_to_give(lack, lacking, options) + some, quiet=options.quiet)
    unrecorded = words.unrecorded_text(logs)
    notes([unrecorded] if unrecorded else [], quiet=options.quiet)
    rows = [
        words.projection_row(*each) for each in zip(words.numbers_of(logs), logs, projections, strict=True)
    ]
    lacks = [lack for lack in Lack if any(lack in found.lacks for found in projections)]
    answer = Answer(
        "project",
        rows,
        blocks=lambda canvas: words.projection_blocks(logs, projections, rows, chosen, options, canvas),
        warnings=(*lacks, *(["launches-unrecorded"] if unrecorded else [])),
    )
    emit(answer, options)


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
    found = []
    for log, traced_one, *given in zip(logs, traced, instructions, ctas, ctas_per_core, strict=True):
        given[0] = given[0] or log.facts.instructions or traced_one
        values = zip(("instructions", "ctas", "ctas_per_core", "cores"), [*given, options.sms], strict=True)
        known: dict[str, Any] = {name: value for name, value in values if value is not None}
        found.append(replace(log, facts=replace(log.facts, **known)))
    return found


def _by_kernel(flag: str, given: Sequence[str], logs: Logs, *, is_total: bool) -> list[int | None]:
    """Return the number given for each kernel by "N" or "KERNEL=N", None without one; the last one wins.

    `is_total`: of a whole kernel, so that a bare number needs a log of one kernel.
    """
    found: list[int | None] = [None] * len(logs)
    for text in given:
        kernel, _, number = text.rpartition("=")
        is_whole = number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS
        if not is_whole or int(number) == 0:
            raise OptionError(f"{flag} {text}: a number above 0 is meant, or KERNEL=N")
        if not kernel and is_total and len(logs) > 1:
            what = f"{flag} {text}: the log has {len(logs)} kernels"
            raise OptionError(what, remedy=f"say whose it is by part of its name or #1: KERNEL={number}")
        for index in _meant(flag, kernel, logs) if kernel else range(len(logs)):
            found[index] = int(number)
    return found


def _meant(flag: str, wanted: str, logs: Logs) -> list[int]:
    """Return the kernels of "#3" (its number), or whose name contains the text."""
    if wanted.startswith("#") and wanted[1:].isdecimal():
        number = int(wanted[1:])
        meant = [place for place, each in enumerate(words.numbers_of(logs)) if each == number]
    else:
        meant = [place for place, log in enumerate(logs) if wanted in log.name]
    if not meant:
        what = f"{flag} {wanted!r}: no kernel has this number, or this in its name (case counts)"
        raise OptionError(what, remedy="`kernelpoint project LOG` lists them")
    return meant


def _chosen_log(logs: Logs, wanted: str | None, *, quiet: bool) -> int:
    """Return the kernel meant by `--kernel`, of several the one with most cycles, which is said on stderr.

    Raises OptionError: none is meant.
    """
    meant = list(range(len(logs))) if wanted is None else _meant("--kernel", wanted, logs)
    chosen = max(meant, key=lambda index: int(logs[index].cycle[-1]))
    if wanted is not None and len(meant) > 1:
        shown = f"#{words.numbers_of(logs)[chosen]} {logs[chosen].name}"
        note(f"--kernel {wanted!r} fits {len(meant)} kernels; the longest is shown: {shown}", quiet=quiet)
    return chosen
