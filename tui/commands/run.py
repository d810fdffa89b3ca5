"""`run`: a plan exported, simulated, estimated and topped up, until its total is known well enough."""

from __future__ import annotations

import shlex
import sys
from dataclasses import fields
from pathlib import Path

from sampling import running
from sampling.errors import OptionError
from sampling.estimation.total import PlanEstimate
from sampling.plan.budget import written_seconds
from sampling.plan.plan_file import read_plan
from sampling.running import NEEDED
from sampling.simulators.export import ExportChoices
from sampling.simulators.registry import starts_cold
from tui.engine.studies import progress_of
from tui.options.commands import RunOptions
from tui.options.estimate import EstimateOptions
from tui.options.places import check_folder
from tui.options.shared import OutputOptions
from tui.output.writer import emit
from tui.terminal import tty
from tui.terminal.diagnostics import CheckFailedError, ProgressMeter, note
from tui.text.estimate import missing_text, unmet_text
from tui.text.running import COLD, news_line, progress_line, run_answer
from tui.text.selection import part_of_plan, stated


def run(options: RunOptions) -> None:
    """Go on with the run of the plan, or begin it; show how far it is, and what it came to."""
    with progress_of(options) as meter:
        asked = _asked(options, meter)
        part = part_of_plan(asked.plan)
        wants_warm = asked.target is not None and not options.accept_cold
        if wants_warm and asked.to in NEEDED and starts_cold(asked.to, asked.choices):
            note(COLD, quiet=options.quiet)
        try:
            ran = (running.write_job_array if options.slurm else running.run)(
                asked, lambda now: _show(now, options, meter)
            )
        except KeyboardInterrupt:
            meter.close()
            note(f"what is finished is kept in {asked.folder}; the same command goes on", quiet=options.quiet)
            raise
    same = {each.name: getattr(options, each.name) for each in fields(OutputOptions)}
    of_folder = EstimateOptions(
        **same, plan=str(asked.folder), target=options.target, accept_cold=options.accept_cold
    )
    answer = run_answer(ran, asked, of_folder, f"kernelpoint {shlex.join(sys.argv[1:])}")
    emit(stated(answer, part), options, redirect=False)
    if ran.job_array is None and not ran.begun:
        _check(ran.found, options)


def _check(found: PlanEstimate | None, options: RunOptions) -> None:
    assert found is not None
    target = options.target
    if found.main.is_incomplete:
        raise CheckFailedError(f"incomplete: {missing_text(found.main)}")
    if target is not None and not found.is_within(target, accept_cold=options.accept_cold):
        raise CheckFailedError(unmet_text(found, target))


def _asked(options: RunOptions, progress: ProgressMeter) -> running.Asked:
    if not options.simulator:
        raise OptionError(
            "how launches are simulated is not said",
            remedy="give --simulator 'accel-sim.out -trace {list} -config ... -config ...', {list} as it is",
        )
    given = Path(options.plan)
    is_run = (given / "run.json").is_file()
    beside = given if is_run else Path("plan" if options.plan == "-" else given).with_suffix(".run")
    folder = beside if options.output is None else Path(options.output)
    if options.output is None and not is_run:
        check_folder(folder)
    # The same whatever folder the run is gone on with from.
    traces, config = (
        None if each is None else str(Path(each).absolute()) for each in (options.traces, options.config)
    )
    return running.Asked(
        read_plan(str(given / "rounds" / "1") if is_run else options.plan),
        folder,
        options.to,
        options.simulator,
        options.target,
        options.jobs,
        None if options.timeout is None else written_seconds(options.timeout, "timeout"),
        ExportChoices(
            traces=traces,
            caches=options.caches,
            cold_check=options.cold_check,
            config=config,
            progress=progress,
        ),
    )


def _show(now: running.Now, options: RunOptions, meter: ProgressMeter) -> None:
    """Show the line in place on a terminal, failures above it; elsewhere a line for each launch."""
    news = news_line(now, options.target)
    if news is not None and (not meter.is_shown or "failed" in news):
        meter.close()
        note(news, quiet=options.quiet)
    meter.draw(progress_line(now, options.target, tty.width({}, sys.stderr) - 1))
