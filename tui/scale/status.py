"""The lines of view 5 that stay in sight: what is open, what is asked, what was found."""

from __future__ import annotations

from pathlib import Path

from scalemodel.errors import OptionError
from tui.options.command_line import command_line
from tui.scale.desk import ScaleDesk
from tui.scale.sheet import ALL_RULES
from tui.scale.sheet_options import SheetAnswer

Title = tuple[str, str]
"""The name of a pane, and what stands at the right end of its row."""


def table_title(desk: ScaleDesk, row: int | None) -> Title:
    """Return what is open, and which of how many.

    Parameters
    ----------
    row : where the cursor is, if not all rows are in sight.
    """
    rows, sheets = len(desk.sheet.rows), len(desk.sheets)
    right = [] if row is None else [f"row {row + 1} of {rows}"]
    right += [f"[b] {desk.place + 1} of {sheets}"] if sheets > 1 else []
    source, name = desk.source, desk.sheet.name
    if source is None:
        return "[5] Sizes, as typed", ", ".join(right)
    if desk.is_made_up:
        made_up = "Sizes, from made-up numbers" if desk.is_edited else "Made-up numbers, no real GPU"
        return f"[5] {made_up}", ", ".join(right or ["[N] empty", "[o] open"])
    file = Path(source.file).name
    named = f"{file}: {name}" if name else file
    return f"[5] {named}{', edited' if desk.is_edited else ''}", ", ".join(right)


def chart_title(desk: ScaleDesk, answer: SheetAnswer | None) -> Title:
    """Return which rule is drawn, and where the cliff is."""
    if answer is None:
        return "[tab] Chart: no prediction", ""
    measurements, outcome = answer.pairs[0]
    cliff, unit = outcome.cliff, measurements.scaling.unit
    where = "no cliff" if cliff is None else f"cliff {cliff.smaller} to {cliff.larger} {unit}"
    return f"[tab] Chart: {_rule(desk)}, {_level(desk)}", where


def words_title(answer: SheetAnswer | None, wrong: int, *, has_more: bool) -> Title:
    """Return how much there is to read.

    Parameters
    ----------
    wrong : how many cells are.
    has_more : whether there is more below what is in sight.
    """
    more = ["j more"] if has_more else []
    if answer is None:
        return "[f] What is wrong", ", ".join([_counted(wrong, "wrong cell")] * bool(wrong) + more)
    outcome = answer.pairs[0][1]
    warnings = len(outcome.warnings)
    counted = ((warnings, "warning"), (len(outcome.findings) - warnings, "note"))
    counts = [_counted(number, what) for number, what in counted if number]
    return f"[f] In words: {outcome.classification.scaling}", ", ".join(counts + more)


def settings_lines(desk: ScaleDesk) -> list[str]:
    """Return what is asked, with the keys that change it, the longest form first."""
    sheet, how = desk.sheet, desk.how
    scaling, rule, level = f"[s] {sheet.scaling}", f"[r] {_rule(desk)}", f"[i] {_level(desk)}"
    unit = f"[t] MPKI per {sheet.mpki_unit}"
    f_mem = f"[a] f_mem {'assumed' if how.assume_f_mem else 'as known'}"
    peak = f"[p] peak {sheet.peak}" if sheet.peak else "[p] no peak"
    forms = (
        (f"{scaling} scaling", unit, rule, level, f_mem, peak),
        (scaling, unit, rule, level, f_mem, peak),
        (scaling, f"[t] per {sheet.mpki_unit}", rule, level, f_mem, peak),
        (scaling, rule, level, f_mem),
        (scaling, rule, level),
    )
    return ["  ".join(form) for form in forms]


def _rule(desk: ScaleDesk) -> str:
    return "all rules" if desk.how.rule == ALL_RULES else desk.how.rule


def _level(desk: ScaleDesk) -> str:
    return f"{100 * desk.how.confidence:.0f} %"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def farewell(desk: ScaleDesk) -> str | None:
    """Return the largest target's prediction and the command that gives it; None of numbers as bundled."""
    if desk.is_made_up and not desk.is_edited:
        return None
    try:
        answer = desk.answer()
    except OptionError:
        # A wrong cell has been said beside the table.
        return None
    measurements, outcome = answer.pairs[0]
    line = command_line("scale predict", answer.command)
    last = max(outcome.predictions, key=lambda each: each.target)
    if last.ipc is None:
        return line
    return f"{last.target} {measurements.scaling.unit}: IPC {last.ipc:.4g} by {last.method}   {line}"
