"""`estimate`: the whole run's cycles and other totals, from a simulator's results of a plan's launches."""

from __future__ import annotations

from tui.engine.estimating import estimated, larger_plan
from tui.engine.studies import progress_of
from tui.options.estimate import EstimateOptions
from tui.output.writer import STDOUT, emit, write_plan
from tui.terminal.diagnostics import CheckFailedError
from tui.text.estimate import estimate_answer, missing_text, unmet_text
from tui.text.selection import part_of_plan, stated


def run(options: EstimateOptions) -> None:
    """Read the plan and the results, estimate, show, and write what to simulate next."""
    with progress_of(options) as progress:
        found = estimated(options, progress)
    larger = larger_plan(found, options)
    if larger is not None and options.top_up is not None:
        write_plan(larger.text, options.top_up, quiet=options.quiet)
    answer = stated(estimate_answer(found, larger, options), part_of_plan(found.plan))
    emit(answer, options, to_stderr=options.top_up == STDOUT)
    main = found.main
    if main.is_incomplete:
        raise CheckFailedError(f"incomplete: {missing_text(main)}")
    if options.target is not None and not found.is_within(options.target, accept_cold=options.accept_cold):
        raise CheckFailedError(unmet_text(found, options.target))
