"""`demo`: the app on bundled sample data, or, with --run, the way from a plan to the total."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tui.commands.opening import check_insisted, open_app, show
from tui.options.command_line import options_of
from tui.options.files import reading, sample_baseline, sample_profile, sample_study
from tui.options.look import DemoOptions
from tui.options.simulate import RunOptions, SpeedupOptions
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import note

# What brings the engine or the app is imported where it is used.


def run_demo(options: DemoOptions) -> None:
    """Do what `open` does, on the sample data that comes with the program, or run its plan."""
    check_insisted(options)
    paths = sample, before, study = [str(path()) for path in (sample_profile, sample_baseline, sample_study)]
    with reading(paths):
        if options.run:
            _run_sample(sample, options)
        elif terminal.is_interactive():
            from tui.app.running import open_session
            from tui.app.views import FIRST_VIEW

            session = open_session((sample,), options)
            compared = SpeedupOptions(plan=study)
            open_app(replace(session, before=before, speedups=compared, invites=True), options, FIRST_VIEW)
        else:
            show((sample,), options)


def _run_sample(sample: str, options: DemoOptions) -> None:
    """Plan the sample, have the launches simulated by what is no simulator, and say what all of them take."""
    from sampling import make_plan, read_profile, write_plan
    from sampling.estimation.total import estimate_plan
    from sampling.plan.plan_file import read_plan
    from sampling.simulators.results import read_result_files
    from sampling.text import counted
    from tui.commands.simulate import run_run
    from tui.engine import made_up_simulator

    profile = read_profile(sample)
    plan = make_plan(profile, options.request)
    launches = counted(profile.launches, "launch", "launches")
    note(
        f"{plan.samples:,} of {launches} of {Path(sample).name} go to a made-up simulator: 1.4 cycles a "
        "nanosecond, up to 10 % more or less by kernel, 3 % by launch",
        quiet=options.quiet,
    )
    with TemporaryDirectory(prefix="kernelpoint-") as scratch:
        place = Path(scratch, "plan.json")
        write_plan(plan, place)
        command = shlex.join([sys.executable, str(made_up_simulator.__file__), "{id}"])
        run_run(
            options_of(
                RunOptions,
                options,
                plan=str(place),
                to="csv",
                simulator=command,
                caches="whole",
                target=options.request.epsilon,
                jobs=2,
                output=str(place.with_suffix(".run")),
            )
        )
        ran = read_plan(str(place.with_suffix(".run")))
        logs = sorted(map(str, place.with_suffix(".run").glob("results/*.csv")))
        estimated = estimate_plan(ran, read_result_files(ran, logs)).main.total
    columns = profile.load(("name", "duration_ns"))
    names = [profile.kernels.names.full(code) for code in range(len(profile.kernels.names))]
    rows = zip(columns["name"].tolist(), columns["duration_ns"].tolist(), strict=True)
    cycles = sum(
        made_up_simulator.cycles_of(names[code], launch_id, duration_ns)
        for launch_id, (code, duration_ns) in enumerate(rows)
    )
    note(
        f"all {launches} take {cycles:,} cycles by it: the estimate is off by "
        f"{100 * abs(estimated / cycles - 1):.2g} %, {100 * options.request.epsilon:g} % was asked for",
        quiet=options.quiet,
    )
