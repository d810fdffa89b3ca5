"""The lines that are always visible: what is open, what was found, what the plan costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sampling.plan.study import Study
from sampling.reduction.region import Region
from sampling.text import counted
from tui.app.overrides_file import options_on_leaving
from tui.app.state import Session, decisions
from tui.charts import quantities
from tui.options.command_line import command_line, printed_plan_name
from tui.scale import status as scale_status
from tui.terminal.printable import printable
from tui.terminal.tables import shortened
from tui.text import facts
from tui.text.binding import binding_forms, hours_forms
from tui.text.selection import filter_words, left_out_words, part_of_study

_LEAST_NAME = 20

MOST_LAUNCHES_UNASKED = 200_000
"""What takes many plans is found unasked for no larger a profile: it may take minutes."""


def workload_lines(session: Session, study: Study) -> list[str]:
    """Return what is open, the longest form first."""
    counts = study.counts
    launches, groups = quantities.count(counts.launches), quantities.count(len(counts.groups))
    total = quantities.duration(counts.total_duration_ns)
    names = ", ".join(Path(profile).name for profile in session.profiles)
    device = facts.device_name(study)
    part = part_of_study(study)
    if not part.is_whole:
        filters = filter_words(part.region)
        selected = (
            f"{names}, {launches} of {counted(study.profile.launches, 'launch', 'launches')} by {filters}"
        )
        return [
            f"{selected}{left_out_words(part)}: {groups} kernel groups, {total} of kernel time",
            f"{selected}: {groups} groups, {total}",
            selected,
            f"part of {names}",
        ]
    text = f"{names}: {launches} launches in {groups} kernel groups, {total} of kernel time"
    forms = [text, f"{names}: {launches} launches, {groups} groups, {total}", names]
    return forms if device is None else [f"{text} on {device}", *forms]


def findings_lines(study: Study) -> list[str]:
    """Return the findings' codes, the longest form first; the gravest ones are marked."""
    found = [f"{item.code}!" if item.severity == "warning" else item.code for item in study.findings]
    if not found:
        return ["[f] Findings: none"]
    return [f"[f] Findings: {', '.join(found)}", f"[f] Findings: {len(found)}, first {found[0]}"]


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
        return ["What binds: [3] [b] finds out which option makes the plan dear", "What binds: [3] [b]"]
    return ["What binds: being found"]


def plan_lines(session: Session, study: Study) -> list[str]:
    """Return what the plan costs and promises, the longest form first; split decisions are always named.

    Where a slowdown is known, so are the hours of one machine.
    """
    forms = []
    for hours in hours_forms(session.hours):
        forms += _plan_forms(session, study, hours)
    return sorted(dict.fromkeys(forms), key=len, reverse=True) if session.hours else forms


def _plan_forms(session: Session, study: Study, hours: str) -> list[str]:
    row, who = facts.design_row(study), _who(session, study)
    cost = f"{_drawn(study)}, {quantities.ratio(row['speedup'])}{hours}"
    asked = f"{who}, epsilon {row['epsilon']:g}"
    forms = [f"Plan: {asked}: {cost}", f"{asked}: {cost}", f"{who}: {cost}"]
    if row["bound"] is not None:
        promised, total, group = (
            None if row[name] is None else quantities.share(row[name])
            for name in ("bound_with_noise", "bound", "group_bound")
        )
        bounds = [f"{what} {bound}" for what, bound in (("total", total), ("group", group)) if bound]
        said = [f"simulated {promised}", *bounds] if promised else bounds
        forms[:0] = [
            f"Plan: {asked}: {cost} expected; bounds: {', '.join(said)}",
            f"{asked}: {cost}; {', '.join(said)}",
            f"{asked}: {cost}; {', '.join(said[:2])}",
            f"{asked}: {cost}; {said[0]}",
            f"{who}: {cost}; {', '.join(said[:2])}",
            f"{who}: {cost}; {said[0]}",
        ]
    else:
        forms[:0] = [
            f"Plan: {asked}: {cost}; no bound",
            f"{asked}: {cost}; no bound",
            f"{who}: {cost}; no bound",
        ]
    whole = []
    if who == row["method"]:
        whole = ["Plan: " + facts.design_line(study).replace("\n", f"{hours}; ", 1).replace("\n", "; ")]
    return [*whole, *forms]


def _who(session: Session, study: Study) -> str:
    """Return the plan's method, and how many split decisions are the user's."""
    taken = decisions(session.overrides)
    return f"{study.design.method} + {taken} of yours" if taken else study.design.method


def _drawn(study: Study) -> str:
    samples = quantities.count(study.design.samples)
    # The only place in a narrow window that says that filters leave some out.
    kept = "" if study.counts.region == Region() else "selected "
    return f"{samples} of {counted(study.counts.launches, f'{kept}launch', f'{kept}launches')}"


def status_lines(session: Session, study: Study) -> list[str]:
    """Return what the plan costs, what is computed, or why it did not change; the longest form first.

    Why it did not change is said until the next key.
    """
    if session.doing is not None:
        return [f"Plan: {session.doing}"]
    if session.problem is not None and not session.is_problem_read:
        problem = session.problem.partition("; ")[0]
        return [f"Plan unchanged: {session.problem}", f"Plan unchanged: {problem}"]
    return plan_lines(session, study)


def farewell(session: Session) -> str | None:
    """Return what stays in the terminal, split decisions written to a file; None if nothing was loaded."""
    if session.study is None:
        return None if session.scale is None else scale_status.farewell(session.scale)
    study = session.study
    speedup = quantities.ratio(study.speedup) + (" expected" if study.design.random else "")
    speedup += hours_forms(session.hours)[0]
    line = f"{_who(session, study)}, epsilon {study.design.target.epsilon:g}: {_drawn(study)}, {speedup}"
    try:
        options = options_on_leaving(session)
    except OSError as error:
        return f"{line}   (split decisions not written: {error.filename}: {error.strerror})"
    options = replace(options, output=printed_plan_name(options))
    return f"{line}   {command_line('sample', options, always=('method',))}"
