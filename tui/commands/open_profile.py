"""`open`: the app on a profile; its summary where there is no terminal."""

from __future__ import annotations

import sys

from tui.options.commands import OpenOptions
from tui.options.shared import SlowdownOptions
from tui.terminal import tty as terminal
from tui.terminal.diagnostics import note


def run(options: OpenOptions) -> None:
    """Open the app if a person can see and steer it, else print the summary."""
    show(options.profiles, options, insist=options.app, mouse=not options.no_mouse)


def show(profiles: tuple[str, ...], options: SlowdownOptions, *, insist: bool, mouse: bool) -> None:
    """Open the app on these files, or print their summary."""
    if terminal.is_interactive():
        from tui.app.running import run_app, session_of

        run_app(session_of(profiles, options), mouse=mouse)
        return
    if insist:
        from sampling.errors import OptionError

        raise OptionError("--app: there is no terminal to open the app in", remedy="over SSH, use `ssh -t`")
    # Imported here, because it imports the engine, which the app's first paint must not wait for.
    from tui.commands import summary

    summary.show(profiles, options)
    note(_why_no_app(), quiet=options.quiet)


def _why_no_app() -> str:
    if terminal.is_terminal(sys.stdout) and terminal.is_terminal(sys.stderr):
        return "keys cannot be read from standard input, so this is the summary; give the profile as a file"
    return "no terminal, so this is the summary; `ssh -t` opens the app"
