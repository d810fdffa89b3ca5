"""`demo`: the bundled sample, in the app or as a summary."""

from __future__ import annotations

from tui.bundled import sample_profile
from tui.commands import open_profile
from tui.options import DemoOptions


def run(options: DemoOptions) -> None:
    """Do what `open` does, on the sample data that comes with the program."""
    open_profile.show((str(sample_profile()),), options, insist=options.app, mouse=not options.no_mouse)
