"""Results opened from view 3: those that were open before, or those of a plan file that was opened."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from tui.app.plan.details import PlanDetails
from tui.app.plan.results.asked import Answers
from tui.app.plan.results.screen import ResultsScreen
from tui.engine.results_beside import results_beside


def opened_again(details: PlanDetails, before: ResultsScreen | None, saved: Path | None) -> ResultsScreen:
    """Return the screen with what was open before; results to come are of the plan that was saved since.

    Of a plan file that was opened, the results named with it are read, and those beside it are proposed.

    Parameters
    ----------
    saved : the file that a plan was written to last; None if none was since `before`.
    """
    opened, is_read_now = details.session.plan, False
    answers, known = Answers(target=f"{details.session.options.epsilon:g}"), None
    if before is not None:
        answers, known = before.answers, before.known
    elif opened is not None:
        is_read_now = bool(opened.results)
        results = opened.results or results_beside(opened.path)
        answers = replace(answers, plan=opened.path, results=shlex.join(results))
    if saved is not None:
        answers = replace(answers, plan=str(saved))
    return ResultsScreen(details, answers, known, is_read_now=is_read_now)
