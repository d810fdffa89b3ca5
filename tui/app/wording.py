"""The lines that are always visible: what is open, what was found, what the plan costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sampling.plan.draft import Draft
from sampling.reduction.region import Region
from sampling.text import counted
from tui.app.planning import decisions_file, printed_options, printed_speedups
from tui.app.state import Session, decisions
from tui.charts import quantities
from tui.options.command_line import command_line
from tui.options.files import PLAN_NAME
from tui.output.blocks import Phrase, Phrases, Tone, toned, words
from tui.scale import questions as scale_questions
from tui.text.plan import hours_forms, offered, option_label, value_text, verdict
from tui.text.profile import survey_selection

MOST_LAUNCHES_UNASKED = 200_000
"""What takes many plans is found unasked for no larger a profile: it may take minutes."""


def workload_lines(session: Session, draft: Draft) -> list[str]:
    """Return what is open, the longest form first; how much of it there is stands in a row of its own."""
    names = ", ".join(Path(profile).name for profile in session.profiles)
    return [names] if survey_selection(draft).is_whole else [f"part of {names}", names]


def plan_lines(session: Session, draft: Draft) -> list[Phrases]:
    """Return what the plan costs and promises, the longest form first; split decisions are always named.

    Where a slowdown is known, so are the hours of one machine. Whether the error is at most what was asked
    for is said in words and in a tone.
    """
    design, decision_count = draft.design, decisions(session.overrides)
    yours = f" with {counted(decision_count, 'split')} of yours" if decision_count else ""
    target = f"{100 * design.target.epsilon:.4g} %"
    promised = None if design.promise is None else design.promise.error
    error, comparison, (_, tone) = "no bound on the error", "", verdict(design)
    if promised is not None:
        error = f"error <= {quantities.share(promised)}"
        comparison = (
            f" (asked {target})" if promised <= design.target.epsilon else f", not the {target} asked"
        )
    samples, brief_samples = _drawn(draft), _drawn(draft, briefly=True)
    forms = []
    for hours in hours_forms(session.hours):
        cost = f"{quantities.ratio(design.speedup)}{hours}"
        forms += [
            f"Plan: {samples} by {design.method}{yours}, {cost}, {error}{comparison}",
            f"{brief_samples}{yours}, {cost}, {error}{comparison}",
        ]
    forms.append(f"{brief_samples}{yours}, {quantities.ratio(design.speedup)}, {error}")
    return [toned(form, error, tone) for form in sorted(forms, key=len, reverse=True)]


def with_faster(session: Session, lines: list[Phrases]) -> list[Phrases]:
    """Return the lines of the plan, where there is room with the one step that makes it fastest."""
    if not session.binding or session.doing is not None:
        return lines
    best = max(session.binding, key=lambda step: step.speedup or 0.0)
    way = f"{option_label(best)} {value_text(best.after)}"
    if best.option == "group_by":
        way = f"grouped by {value_text(best.after)}"
    faster = Phrase(f"   Cheaper if: {way} {offered(best)}")
    return [(*lines[0], faster), *lines]


def _drawn(draft: Draft, *, briefly: bool = False) -> str:
    """Return how many launches are drawn; briefly where the row above says of what."""
    samples = quantities.count(draft.design.samples)
    if briefly:
        return f"{samples} of {quantities.count(draft.counts.launches)}"
    adjective = "" if draft.counts.region == Region() else "selected "
    return f"{samples} of {counted(draft.counts.launches, f'{adjective}launch', f'{adjective}launches')}"


def status_lines(session: Session, draft: Draft) -> list[Phrases]:
    """Return what the plan costs, what is computed, or why it did not change; the longest form first.

    Why it did not change is said until the next key.
    """
    if session.doing is not None:
        return [words(f"Plan: {session.doing}")]
    if session.problem is not None and not session.is_problem_read:
        problem = session.problem.partition("; ")[0]
        unchanged = Phrase("Plan unchanged", Tone.BAD)
        return [(unchanged, Phrase(f": {reason}")) for reason in (session.problem, problem)]
    return plan_lines(session, draft)


def farewell(session: Session) -> str | None:
    """Return what stays in the terminal; None if nothing was loaded."""
    scale = None if session.scale is None else scale_questions.farewell(session.scale)
    lines = [scale if session.draft is None else _plan_farewell(session, session.draft)]
    if session.speedups is not None:
        lines.append(command_line("speedup", printed_speedups(session, session.speedups)))
    return "\n".join(filter(None, lines)) or None


def _plan_farewell(session: Session, draft: Draft) -> str:
    """Return what the plan costs, and in a line of its own the command that makes it, to be pasted as it is.

    It names the file of the split decisions where they were saved; a file is not written unasked.
    """
    speedup = quantities.ratio(draft.speedup) + (" expected" if draft.design.random else "")
    speedup += hours_forms(session.hours)[0]
    decision_count = decisions(session.overrides)
    planner = (
        f"{draft.design.method} with {counted(decision_count, 'split')} of yours"
        if decision_count
        else draft.design.method
    )
    line = f"{planner}, epsilon {draft.design.target.epsilon:g}: {_drawn(draft)}, {speedup}"
    options = printed_options(session).with_request(overrides=None)
    if decision_count and (saved := decisions_file(session)).exists():
        options = options.with_request(overrides=str(saved))
    elif decision_count:
        lost = counted(decision_count, "split decision of yours was", "split decisions of yours were")
        line += f"; {lost} not saved (S and Y do), and not in the command"
    options = replace(options, output=PLAN_NAME)
    return f"{line}\n{command_line('sample', options, always=('method',))}"
