"""The lines that are always visible: what is open, what was found, what the plan costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sampling.plan.study import Study
from sampling.reduction.region import Region
from sampling.text import counted
from tui.app.overrides_file import decisions_file, printed_options
from tui.app.state import Session, decisions
from tui.charts import quantities
from tui.options.command_line import command_line, printed_plan_name
from tui.scale import sheet as scale_sheet
from tui.terminal.printable import printable
from tui.terminal.tables import shortened
from tui.text import facts
from tui.text.promise import binding_forms, hours_forms, verdict
from tui.text.selection import part_of_study
from tui.text.tones import Phrase, Tone, Words, toned, words

_LEAST_NAME = 20

MOST_LAUNCHES_UNASKED = 200_000
"""What takes many plans is found unasked for no larger a profile: it may take minutes."""


def workload_lines(session: Session, study: Study) -> list[str]:
    """Return what is open, the longest form first; how much of it there is stands in a row of its own."""
    names = ", ".join(Path(profile).name for profile in session.profiles)
    return [names] if part_of_study(study).is_whole else [f"part of {names}", names]


def group_key(study: Study, index: int, cells: int, *, ascii_only: bool) -> str:
    """Return a group's key in at most `cells` cells; its name is shortened before its grid and block."""
    group = study.counts.groups[index]
    whole = printable(group.key, ascii_only=ascii_only)
    if len(whole) <= cells:
        return whole
    launched = group.key.removeprefix(group.name)
    if len(study.sequences) == 1:
        launched = launched.partition(" process ")[0]
    room = cells - len(launched)
    if room < _LEAST_NAME:
        return shortened(group.key, cells, ascii_only=ascii_only)
    return shortened(group.name, room, ascii_only=ascii_only) + launched


def binding_lines(session: Session, study: Study) -> list[str]:
    """Return what binds the plan, or how to learn it, the longest form first."""
    if session.binding is not None:
        forms = binding_forms(
            session.binding, study.design, study.counts.total_duration_ns, session.options.slowdown
        )
        return [*(f"{form}; [3] [b] takes one" for form in forms[:1] if session.binding), *forms]
    if study.counts.launches > MOST_LAUNCHES_UNASKED:
        return ["Faster if: [3] [b] finds out which option makes the plan dear", "Faster if: [3] [b]"]
    return ["Faster if: being found"]


def plan_lines(session: Session, study: Study) -> list[Words]:
    """Return what the plan costs and promises, the longest form first; split decisions are always named.

    Where a slowdown is known, so are the hours of one machine. Whether the promise is within epsilon is said
    in a word and in its tone.
    """
    forms = []
    for hours in hours_forms(session.hours):
        forms += _plan_forms(session, study, hours)
    if session.hours:
        forms = sorted(dict.fromkeys(forms), key=len, reverse=True)
    said, tone = verdict(study.design)
    return [toned(form, said, tone) for form in forms]


def _plan_forms(session: Session, study: Study, hours: str) -> list[str]:
    row, who, (met, _) = facts.design_row(study), _who(session, study), verdict(study.design)
    cost = f"{_drawn(study)}, {quantities.ratio(row['speedup'])}{hours}"
    asked = f"{who}, epsilon {row['epsilon']:g}"
    few = f"{_drawn(study, briefly=True)}, {quantities.ratio(row['speedup'])}{hours}"
    forms = [f"Plan: {asked}: {cost}", f"{asked}: {cost}", f"{who}: {cost}"]
    if row["bound"] is not None:
        promised, total, group = (
            None if row[name] is None else quantities.share(row[name])
            for name in ("bound_with_noise", "bound", "group_bound")
        )
        bounds = [f"{what} {bound}" for what, bound in (("total", total), ("group", group)) if bound]
        said = [f"simulated {promised}", *bounds] if promised else bounds
        said[0] = f"{said[0]} {met}"
        forms[:0] = [
            f"Plan: {asked}: {cost} expected; bounds: {', '.join(said)}",
            f"{asked}: {cost}; {', '.join(said)}",
            f"{asked}: {cost}; {', '.join(said[:2])}",
            f"{asked}: {few}; {', '.join(said[:2])}",
            f"{asked}: {cost}; {said[0]}",
            f"{asked}: {few}; {said[0]}",
            f"{who}: {cost}; {', '.join(said[:2])}",
            f"{who}: {cost}; {said[0]}",
        ]
    else:
        forms[:0] = [
            f"Plan: {asked}: {cost}; {met}",
            f"{asked}: {cost}; {met}",
            f"{asked}: {few}; {met}",
            f"{who}: {cost}; {met}",
        ]
    whole = []
    if who == row["method"]:
        line = facts.design_line(study).replace("\npromise: ", f"\npromise {met}: ")
        whole = ["Plan: " + line.replace("\n", f"{hours}; ", 1).replace("\n", "; ")]
    return [*whole, *forms]


def _who(session: Session, study: Study) -> str:
    """Return the plan's method, and how many split decisions are the user's."""
    taken = decisions(session.overrides)
    return f"{study.design.method} + {taken} of yours" if taken else study.design.method


def _drawn(study: Study, *, briefly: bool = False) -> str:
    """Return how many launches are drawn; briefly where the row above says of what."""
    samples = quantities.count(study.design.samples)
    if briefly:
        return f"{samples} of {quantities.count(study.counts.launches)}"
    kept = "" if study.counts.region == Region() else "selected "
    return f"{samples} of {counted(study.counts.launches, f'{kept}launch', f'{kept}launches')}"


def status_lines(session: Session, study: Study) -> list[Words]:
    """Return what the plan costs, what is computed, or why it did not change; the longest form first.

    Why it did not change is said until the next key.
    """
    if session.doing is not None:
        return [words(f"Plan: {session.doing}")]
    if session.problem is not None and not session.is_problem_read:
        problem = session.problem.partition("; ")[0]
        unchanged = Phrase("Plan unchanged", Tone.BAD)
        return [(unchanged, Phrase(f": {why}")) for why in (session.problem, problem)]
    return plan_lines(session, study)


def farewell(session: Session) -> str | None:
    """Return what stays in the terminal; None if nothing was loaded.

    What the plan costs is a line, and the command that makes it another, to be pasted as it is. It names the
    file of the split decisions where they were saved; a file is not written unasked.
    """
    if session.study is None:
        return None if session.scale is None else scale_sheet.farewell(session.scale)
    study = session.study
    speedup = quantities.ratio(study.speedup) + (" expected" if study.design.random else "")
    speedup += hours_forms(session.hours)[0]
    line = f"{_who(session, study)}, epsilon {study.design.target.epsilon:g}: {_drawn(study)}, {speedup}"
    options, taken = replace(printed_options(session), overrides=None), decisions(session.overrides)
    if taken and (saved := decisions_file(session)).exists():
        options = replace(options, overrides=str(saved))
    elif taken:
        lost = counted(taken, "split decision of yours was", "split decisions of yours were")
        line += f"; {lost} not saved (S and Y do), and not in the command"
    kept = () if session.plan is None else (session.plan.path,)
    options = replace(options, output=printed_plan_name(options, kept))
    return f"{line}\n{command_line('sample', options, always=('method',))}"
