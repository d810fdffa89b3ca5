"""`demo`: the bundled sample, in the app or as a summary."""

from __future__ import annotations

from tui.commands import open_profile
from tui.engine.bundled import sample_profile
from tui.options.commands import DemoOptions
from tui.options.input_files import reading


def run(options: DemoOptions) -> None:
    """Do what `open` does, on the sample data that comes with the program."""
    sample = str(sample_profile())
    with reading([sample]):
        open_profile.show(
            (sample,), options, insist=options.app, mouse=not options.no_mouse, theme=options.theme
        )
