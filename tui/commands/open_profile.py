"""`open`: the app on a profile, or on two; what is printed where there is no terminal."""

from __future__ import annotations

import sys
from dataclasses import replace

from tui.options.choices import Theme
from tui.options.commands import OpenOptions
from tui.options.shared import SlowdownOptions
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import note

_DIFFERENCE = "Difference"


def run(options: OpenOptions) -> None:
    """Open the app if a person can see and steer it, else print the summary or the difference."""
    if options.difference:
        _show_difference(options)
    else:
        show(options.profiles, options, insist=options.app, mouse=not options.no_mouse, theme=options.theme)


def show(
    profiles: tuple[str, ...], options: SlowdownOptions, *, insist: bool, mouse: bool, theme: Theme
) -> None:
    """Open the app on these files, or print their summary."""
    if terminal.is_interactive():
        from tui.app.running import run_app, session_of

        run_app(session_of(profiles, options), mouse=mouse, theme=theme)
        return
    if insist:
        _refuse_without_terminal()
    # Imported here, because it imports the engine, which the app's first paint must not wait for.
    from tui.commands import summary

    summary.show(profiles, options)
    note(_why_no_app("summary"), quiet=options.quiet)


def _show_difference(options: OpenOptions) -> None:
    """Open the app on the second profile, beside the first, or print what changed."""
    before, after = _two_profiles(options)
    if terminal.is_interactive():
        from tui.app.running import run_app, session_of
        from tui.options.parts import file_and_part, with_part

        path, part = file_and_part(after)
        session = replace(session_of((path,), with_part(options, part)), before=before)
        run_app(session, mouse=not options.no_mouse, view=_DIFFERENCE, theme=options.theme)
        return
    if options.app:
        _refuse_without_terminal()
    from tui.commands import difference
    from tui.options.command_line import options_of
    from tui.options.difference import DifferenceOptions

    difference.run(options_of(DifferenceOptions, options, before=before, after=after))
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

    raise OptionError("--app: there is no terminal to open the app in", remedy="over SSH, use `ssh -t`")


def _why_no_app(instead: str) -> str:
    if terminal.is_terminal(sys.stdout) and terminal.is_terminal(sys.stderr):
        what = "profile as a file" if instead == "summary" else "profiles as files"
        return f"keys cannot be read from standard input, so this is the {instead}; give the {what}"
    return f"no terminal, so this is the {instead}; `ssh -t` opens the app"
