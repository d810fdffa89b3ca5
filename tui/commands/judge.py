"""`judge`: a plan's error on the profile it was made from, or on another recording of its program."""

from __future__ import annotations

from sampling.plan.judge import judge_plan
from sampling.plan.plan_file import read_plan
from tui.charts.quantities import share_above
from tui.engine.studies import open_judged, progress_of
from tui.options.choices import AlignBy
from tui.options.commands import JudgeOptions
from tui.output.writer import Answer, emit
from tui.terminal.diagnostics import CheckFailedError, note
from tui.text.judgement import judgement_results, judgement_text, judgement_warnings
from tui.text.selection import part_of_plan, stated


def run(options: JudgeOptions) -> None:
    """Read both, judge the plan on the profile, show."""
    plan = read_plan(options.plan)
    with progress_of(options) as progress:
        judged = judge_plan(
            plan,
            open_judged(plan, options, progress),
            repeats=options.repeats,
            seed=options.seed,
            names_may_differ=options.align is AlignBy.ORDER,
            progress=progress,
        )
    results, warnings = judgement_results(plan, judged, options), tuple(judgement_warnings(judged))
    for text in warnings:
        note(text, quiet=options.quiet)
    answer = Answer(
        "judge",
        results,
        lambda canvas: judgement_text(results, canvas.width, details=options.details),
        warnings=warnings,
    )
    emit(stated(answer, part_of_plan(plan)), options)
    if options.fail_above is not None and results["error"] > options.fail_above:
        raise CheckFailedError(f"the plan's error is {share_above(results['error'], options.fail_above)}")
