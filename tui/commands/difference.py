"""`difference`: two profiles, or two parts of one, kernel by kernel."""

from __future__ import annotations

from tui.engine.differing import found_difference
from tui.engine.studies import progress_of
from tui.options.difference import DifferenceOptions
from tui.output.writer import emit
from tui.terminal.diagnostics import CheckFailedError, note
from tui.text.difference import compared_parts, difference_answer, growth_text, slower_text, sorted_difference
from tui.text.selection import stated


def run(options: DifferenceOptions) -> None:
    """Read both, compare, show, check the growth."""
    with progress_of(options) as progress:
        found = found_difference(options, progress)
    found = sorted_difference(found, options.sort, reverse=options.reverse)
    answer = stated(difference_answer(found, options), compared_parts(found))
    for text in answer.warnings:
        note(text, quiet=options.quiet)
    emit(answer, options)
    if options.fail_above is not None and found.is_above(options.fail_above):
        raise CheckFailedError(growth_text(found, options.fail_above))
    if options.fail_kernel_above is not None and (slower := slower_text(found, options.fail_kernel_above)):
        raise CheckFailedError(slower)
