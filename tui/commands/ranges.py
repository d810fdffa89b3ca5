"""`ranges`: the named ranges of a profile as a tree, and the iterations that are found."""

from __future__ import annotations

from tui.engine.ranges import found_ranges
from tui.engine.studies import progress_of
from tui.options.ranges import RangesOptions
from tui.output.writer import emit
from tui.terminal.diagnostics import note
from tui.text.ranges import NO_RANGES, ranges_answer


def run(options: RangesOptions) -> None:
    """Read, add up, show."""
    with progress_of(options) as progress:
        found = found_ranges(options, progress)
    if not len(found.listed):
        note(NO_RANGES, quiet=options.quiet)
    emit(ranges_answer(found, options), options)
