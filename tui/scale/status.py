"""What view 5 says beside its table and chart: what is open, what is asked, what was found or is wrong."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

from sampling.text import counted
from scalemodel.errors import OptionError
from tui.options.command_line import command_line
from tui.scale.open_tables import ALL_RULES, OpenTables, SheetAnswer
from tui.scale.sheet import ScaleSheet, WrongCell, place_text, wrong_cells
from tui.scale.text import words_lines

Title = tuple[str, str]
"""The name of a pane, and what stands at the right end of its row."""


@dataclass(frozen=True, slots=True, eq=False)
class SheetResult:
    """What the open sheet predicts, or why it predicts nothing.

    Attributes
    ----------
    answer : what is predicted; None where nothing can be.
    problem : why nothing is.
    wrong : the cells that no prediction can be made from.
    """

    answer: SheetAnswer | None = None
    problem: OptionError | None = None
    wrong: tuple[WrongCell, ...] = ()


def result_of(tables: OpenTables) -> SheetResult:
    """Predict from the open sheet; it takes a millisecond or two."""
    wrong = wrong_cells(tables.sheet)
    try:
        return SheetResult(tables.answer(), None, wrong)
    except OptionError as error:
        return SheetResult(None, error, wrong)


def table_title(tables: OpenTables, row: int | None) -> Title:
    """Return what is open, and which of how many.

    Parameters
    ----------
    row : where the cursor is, if not all rows are in sight.
    """
    rows, sheets = len(tables.sheet.rows), len(tables.sheets)
    right = [] if row is None else [f"row {row + 1} of {rows}"]
    right += [f"[b] {tables.place + 1} of {sheets}"] if sheets > 1 else []
    source, name = tables.source, tables.sheet.name
    if source is None:
        return "[5] Sizes, as typed", ", ".join(right)
    if tables.is_made_up:
        made_up = "Sizes, from made-up numbers" if tables.is_edited else "Made-up numbers, no real GPU"
        return f"[5] {made_up}", ", ".join(right or ["[N] empty", "[o] open"])
    file = Path(source.file).name
    named = f"{file}: {name}" if name else file
    return f"[5] {named}{', edited' if tables.is_edited else ''}", ", ".join(right)


def chart_title(tables: OpenTables, answer: SheetAnswer | None) -> Title:
    """Return which rule is drawn, and where the cliff is."""
    if answer is None:
        return "[tab] Chart: no prediction", ""
    measurements, outcome = answer.pairs[0]
    cliff, unit = outcome.cliff, measurements.scaling.unit
    where = "no cliff" if cliff is None else f"cliff {cliff.smaller} to {cliff.larger} {unit}"
    return f"[tab] Chart: {_rule(tables)}, {_level(tables)}", where


def words_title(answer: SheetAnswer | None, wrong: int, *, has_more: bool) -> Title:
    """Return how much there is to read.

    Parameters
    ----------
    wrong : how many cells are.
    has_more : whether there is more below what is in sight.
    """
    more = ["j more"] if has_more else []
    if answer is None:
        return "[f] What is wrong", ", ".join([counted(wrong, "wrong cell")] * bool(wrong) + more)
    outcome = answer.pairs[0][1]
    warnings = len(outcome.warnings)
    numbers = ((warnings, "warning"), (len(outcome.findings) - warnings, "note"))
    counts = [counted(number, what) for number, what in numbers if number]
    return f"[f] In words: {outcome.classification.scaling}", ", ".join(counts + more)


def status_lines(tables: OpenTables, result: SheetResult, row: int, cell: str) -> list[str]:
    """Return what is wrong with the cell under the cursor, else with another; else what is asked.

    It is said in the longest form first.
    """
    here = [each for each in result.wrong if (each.row, each.cell) == (row, cell)]
    wrong = next(iter((*here, *result.wrong)), None)
    if wrong is not None:
        place = place_text(tables.sheet, wrong)
        return [f"{place}: {wrong.message}; {wrong.remedy}", f"{place}: {wrong.message}", wrong.message]
    if result.problem is not None:
        return [str(result.problem), result.problem.message]
    return settings_lines(tables)


def result_lines(sheet: ScaleSheet, result: SheetResult, width: int) -> list[str]:
    """Return the words about a prediction, or all that is wrong, in lines of a width."""
    answer = result.answer
    if answer is not None:
        return words_lines(answer.pairs, answer.asked, width)
    said = [f"{place_text(sheet, each)}: {each.message}; {each.remedy}." for each in result.wrong]
    return [
        line
        for text in said or [f"{result.problem}."]
        for line in textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)
    ]


def settings_lines(tables: OpenTables) -> list[str]:
    """Return what is asked, with the keys that change it, the longest form first."""
    sheet, how = tables.sheet, tables.how
    scaling, rule, level = f"[s] {sheet.scaling}", f"[r] {_rule(tables)}", f"[i] {_level(tables)}"
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


def _rule(tables: OpenTables) -> str:
    return "all rules" if tables.how.rule == ALL_RULES else tables.how.rule


def _level(tables: OpenTables) -> str:
    return f"{100 * tables.how.confidence:.0f} %"


def farewell(tables: OpenTables) -> str | None:
    """Return the largest target's prediction and the command that gives it; None of numbers as bundled."""
    if tables.is_made_up and not tables.is_edited:
        return None
    try:
        answer = tables.answer()
    except OptionError:
        # A wrong cell has been said beside the table.
        return None
    measurements, outcome = answer.pairs[0]
    line = command_line("scale predict", answer.command)
    last = max(outcome.predictions, key=lambda each: each.target)
    if last.ipc is None:
        return line
    return f"{last.target} {measurements.scaling.unit}: IPC {last.ipc:.4g} by {last.method}\n{line}"
