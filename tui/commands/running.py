"""What is shown while launches are simulated, of one plan or of a study."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tui.options.simulate import RunOptions
from tui.terminal import tty
from tui.terminal.diagnostics import ProgressMeter, note


def show_progress(news: str | None, line: str, options: RunOptions, meter: ProgressMeter) -> None:
    """Show a line in place on a terminal, failures above it; elsewhere the news, a line for each launch."""
    if news is not None and (not meter.is_shown or "failed" in news):
        meter.close()
        note(news, quiet=options.quiet)
    meter.draw(line)


def progress_width() -> int:
    """Return the columns that a line which is shown in place may have."""
    return tty.width({}, sys.stderr) - 1


@contextmanager
def interruptible(folder: Path, options: RunOptions, meter: ProgressMeter) -> Iterator[None]:
    """Say where a run that is interrupted goes on from."""
    try:
        yield
    except KeyboardInterrupt:
        meter.close()
        if folder.exists():
            note(f"what is finished is kept in {folder}; the same command goes on", quiet=options.quiet)
        raise
