"""The commands that open the app, or print what takes its place; the first paint waits for no engine."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sampling.errors import OptionError, PlanFileError
from tui.options.command_line import options_of
from tui.options.files import input_files, is_configuration, is_plan, reading
from tui.options.look import DemoOptions, OpenOptions
from tui.options.shared import AppOptions
from tui.options.simulate import SpeedupOptions
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import PROGRAM, note

if TYPE_CHECKING:
    from tui.app.state import Session
    from tui.engine.plan_files import OpenedPlan

# What brings the engine or the app is imported where it is used.


def run_open(options: OpenOptions) -> None:
    """Open the app if a person can see and steer it, else print what takes its place."""
    check_insisted(options)
    path, others = options.plan, options.profiles
    # As `is_study` says, which brings the engine.
    if path is None and others and Path(others[0]).suffix == ".toml":
        _show_study(options, others[0], others[1:])
        return
    if path is None and others and is_plan(others[0]):
        path, others = others[0], others[1:]
    if path is None and (later := next(filter(is_plan, others[1:]), None)) is not None:
        paths = [path_typed for path_typed in others if path_typed != later]
        results, profile = (
            f"`{PROGRAM} {shlex.join(words)}`" for words in ([later, *paths], [*paths, "--plan", later])
        )
        remedy = f"swap them: {results} for its results, {profile} for its profile"
        raise PlanFileError(f"no plan, and {later} is one", path=paths[0], remedy=remedy)
    if path is not None:
        _show_plan(options, path, others)
    elif options.difference:
        _show_difference(options)
    else:
        show(options.profiles, options)


def check_insisted(options: AppOptions) -> None:
    """Raise OptionError where the app is insisted on and cannot be shown."""
    if options.app and not terminal.is_interactive():
        reason, remedy = terminal.why_no_app()
        raise OptionError(f"--app: {reason}", remedy=remedy)


def show(
    paths: tuple[str, ...],
    options: OpenOptions | DemoOptions,
    plan: OpenedPlan | None = None,
    speedups: SpeedupOptions | None = None,
) -> None:
    """Open the app on these files, or print their summary.

    `plan`: the file that the options are from; None where they are the user's.
    `speedups`: what is compared on the plan; the app begins with it.
    """
    if terminal.is_interactive():
        from tui.app.running import open_session
        from tui.app.views import FIRST_VIEW

        session = replace(open_session(paths, options), plan=plan, speedups=speedups)
        view = FIRST_VIEW if plan is None else "Plan" if speedups is None else "Speedups"
        open_app(session, options, view)
        return
    from tui.commands.look import show_summary

    show_summary(paths, options, plan=plan)
    note(terminal.instead_of_app("summary", "the profile as a file"), quiet=options.quiet)


def _show_plan(options: OpenOptions, path: str, others: tuple[str, ...]) -> None:
    """Open the app on a plan, or print its summary, or what a simulator's results come to.

    `others`: the profile where the plan is an option, else the results.
    """
    from tui.engine.plan_files import open_plan, options_of_plan, refuse_what_the_plan_says

    if options.difference:
        raise OptionError("--difference compares profiles", remedy="open the plan by itself")
    profiles, results = (others, ()) if options.plan is not None else ((), others)
    if any(map(is_configuration, results)):
        _show_configurations(options, path, results)
        return
    if results and not terminal.is_interactive():
        from tui.commands.simulate import run_estimate
        from tui.options.simulate import EstimateOptions

        refuse_what_the_plan_says(path, options)
        run_estimate(options_of(EstimateOptions, options, plan=path, results=results))
        note(terminal.instead_of_app("estimate", "the profile as a file"), quiet=options.quiet)
        return
    opened = open_plan(path, profiles, results)
    opened_options = options_of_plan(opened, options)
    with reading([path, *input_files(opened_options)]):
        show(opened.profiles, opened_options, opened)


def _show_configurations(options: OpenOptions, path: str, results: tuple[str, ...]) -> None:
    """Open the app on a plan, comparing configurations on it, or print what they come to."""
    from tui.engine.plan_files import open_plan, options_of_plan, refuse_what_the_plan_says
    from tui.engine.speedups import parse_configurations

    if not terminal.is_interactive():
        refuse_what_the_plan_says(path, options)
        _print_speedups(options, path, results)
        return
    speedups = SpeedupOptions(plan=path, results=results)
    # Refused before the app takes the terminal, so that it is seen.
    parse_configurations(results)
    opened = open_plan(path)
    opened_options = options_of_plan(opened, options)
    with reading([*input_files(speedups), *input_files(opened_options)]):
        show(opened.profiles, opened_options, opened, speedups)


def _show_study(options: OpenOptions, path: str, others: tuple[str, ...]) -> None:
    """Open the app on a study, or print what its results come to."""
    from sampling.plan.request import flags
    from tui.engine.plan_files import typed_name

    if options.difference:
        raise OptionError("--difference compares profiles", remedy="open the study by itself")
    if others:
        message = f"{path} is a study, which says itself where plans and results are"
        raise OptionError(message, remedy=f"leave {others[0]} out")
    if (name := typed_name(options)) is not None:
        flag, *_ = flags(name)
        remedy = f"open a profile: `{PROGRAM} open PROFILE {flag} ...`"
        raise OptionError(f"{flag} is said by the plans of {path}", remedy=remedy)
    if not terminal.is_interactive():
        _print_speedups(options, path)
        return
    from sampling.study.study_file import read_study
    from tui.app.running import open_session

    # Refused before the app takes the terminal, so that it is seen.
    read_study(path)
    with reading([path]):
        session = replace(open_session((), options), speedups=SpeedupOptions(plan=path))
        open_app(session, options, "Speedups")


def _print_speedups(options: OpenOptions, path: str, results: tuple[str, ...] = ()) -> None:
    from tui.commands.speedup import show_speedups

    show_speedups(options_of(SpeedupOptions, options, plan=path, results=results))
    note(terminal.instead_of_app("comparison", "the file by its name"), quiet=options.quiet)


def _show_difference(options: OpenOptions) -> None:
    """Open the app on the second profile, beside the first, or print what changed."""
    from tui.options.look import DifferenceOptions, file_and_part, with_part

    if len(options.profiles) != 2:
        message = f"--difference compares two profiles, and {len(options.profiles)} are given"
        raise OptionError(
            message, remedy="`kernelpoint open A B --difference`, where either may be FILE@RANGE"
        )
    before, after = options.profiles
    if terminal.is_interactive():
        from tui.app.running import open_session

        path, part = file_and_part(after)
        session = replace(open_session((path,), with_part(options, part)), before=before)
        open_app(session, options, "Difference")
        return
    from tui.commands.look import run_difference

    run_difference(options_of(DifferenceOptions, options, before=before, after=after))
    note(terminal.instead_of_app("difference", "the profiles as files"), quiet=options.quiet)


def open_app(session: Session, options: AppOptions, view: str) -> None:
    """Show the app until it is left, beginning with a view."""
    from tui.app.running import run_app

    run_app(session, mouse=not options.no_mouse, view=view)
