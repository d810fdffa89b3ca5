"""The commands that open the app, or print what takes its place; the first paint waits for no engine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tui.options.choices import Theme
from tui.options.files import reading, sample_profile
from tui.options.look import DemoOptions, OpenOptions
from tui.options.shared import SlowdownOptions
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import note

if TYPE_CHECKING:
    from tui.engine.plan_files import OpenedPlan


_DIFFERENCE, _PLAN = "Difference", "Plan"


def run_open(options: OpenOptions) -> None:
    """Open the app if a person can see and steer it, else print the summary or the difference."""
    plan, others = _plan_named(options)
    if plan is not None:
        _show_plan(options, plan, others)
    elif options.difference:
        _show_difference(options)
    else:
        show(options.profiles, options, insist=options.app, mouse=not options.no_mouse, theme=options.theme)


def show(
    profiles: tuple[str, ...],
    options: SlowdownOptions,
    *,
    insist: bool,
    mouse: bool,
    theme: Theme,
    plan: OpenedPlan | None = None,
) -> None:
    """Open the app on these files, or print their summary.

    Parameters
    ----------
    plan : the file that the options are from; None where they are the user's.
    """
    if terminal.is_interactive():
        from tui.app.running import run_app, session_of
        from tui.app.views import FIRST_VIEW

        session = replace(session_of(profiles, options), plan=plan)
        run_app(session, mouse=mouse, theme=theme, view=FIRST_VIEW if plan is None else _PLAN)
        return
    if insist:
        _refuse_without_terminal()
    # Imported here, because it imports the engine, which the app's first paint must not wait for.
    from tui.commands.look import show_summary

    if plan is not None:
        from tui.engine.plan_files import check_files

        check_files(plan)
    show_summary(profiles, options)
    note(_why_no_app("summary"), quiet=options.quiet)


def _plan_named(options: OpenOptions) -> tuple[str | None, tuple[str, ...]]:
    """Return the plan file that is to be opened, None where none is, and the other files."""
    if options.plan is not None:
        return options.plan, options.profiles
    if options.profiles:
        from tui.options.files import is_plan

        if is_plan(options.profiles[0]):
            return options.profiles[0], options.profiles[1:]
    return None, options.profiles


def _show_plan(options: OpenOptions, path: str, others: tuple[str, ...]) -> None:
    """Open the app on a plan, or print its summary, or what a simulator's results come to.

    Parameters
    ----------
    others : the profile where the plan is an option, else the results.
    """
    from tui.engine.plan_files import open_plan, options_of_plan, refuse_what_the_plan_says
    from tui.options.command_line import options_of
    from tui.options.files import input_files, reading

    if options.difference:
        from sampling.errors import OptionError

        raise OptionError("--difference compares profiles", remedy="open the plan by itself")
    given, results = (others, ()) if options.plan is not None else ((), others)
    if results and not terminal.is_interactive() and not options.app:
        from tui.commands.simulate import run_estimate
        from tui.options.simulate import EstimateOptions

        refuse_what_the_plan_says(path, options)
        run_estimate(options_of(EstimateOptions, options, plan=path, results=results))
        note(_why_no_app("estimate"), quiet=options.quiet)
        return
    opened = open_plan(path, given, results)
    asked = options_of_plan(opened, options)
    with reading([path, *input_files(asked)]):
        show(
            opened.profiles,
            asked,
            insist=options.app,
            mouse=not options.no_mouse,
            plan=opened,
            theme=options.theme,
        )


def _show_difference(options: OpenOptions) -> None:
    """Open the app on the second profile, beside the first, or print what changed."""
    before, after = _two_profiles(options)
    if terminal.is_interactive():
        from tui.app.running import run_app, session_of
        from tui.options.look import file_and_part, with_part

        path, part = file_and_part(after)
        session = replace(session_of((path,), with_part(options, part)), before=before)
        run_app(session, mouse=not options.no_mouse, view=_DIFFERENCE, theme=options.theme)
        return
    if options.app:
        _refuse_without_terminal()
    from tui.commands.look import run_difference
    from tui.options.command_line import options_of
    from tui.options.look import DifferenceOptions

    run_difference(options_of(DifferenceOptions, options, before=before, after=after))
    note(_why_no_app("difference"), quiet=options.quiet)


def _two_profiles(options: OpenOptions) -> tuple[str, str]:
    if len(options.profiles) != 2:
        from sampling.errors import OptionError

        raise OptionError(
            f"--difference compares two profiles, and {len(options.profiles)} are given",
            remedy="`kernelpoint open A B --difference`, where either may be FILE@RANGE",
        )
    return options.profiles[0], options.profiles[1]


def _refuse_without_terminal() -> None:
    from sampling.errors import OptionError

    why, remedy = terminal.why_no_app()
    raise OptionError(f"--app: {why}", remedy=remedy)


def _why_no_app(instead: str) -> str:
    what = "profiles as files" if instead == "difference" else "profile as a file"
    return terminal.instead_of_app(instead, f"the {what}")


def run_demo(options: DemoOptions) -> None:
    """Do what `open` does, on the sample data that comes with the program."""
    sample = str(sample_profile())
    with reading([sample]):
        show((sample,), options, insist=options.app, mouse=not options.no_mouse, theme=options.theme)
