"""What view 5 predicts from the open sheet, or why it cannot, and what it says about that."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from scalemodel.errors import OptionError
from tui.scale.desk import ScaleDesk
from tui.scale.sheet import ScaleSheet
from tui.scale.sheet_check import WrongCell, wrong_cells
from tui.scale.sheet_options import SheetAnswer, place_text
from tui.scale.status import settings_lines
from tui.scale.text import words_lines


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What came of a sheet.

    Attributes
    ----------
    answer : what is predicted; None where nothing can be.
    problem : why nothing is.
    wrong : the cells that no prediction can be made from.
    """

    answer: SheetAnswer | None = None
    problem: OptionError | None = None
    wrong: tuple[WrongCell, ...] = ()


def outcome_of(desk: ScaleDesk) -> Outcome:
    """Return what comes of the open sheet; it takes a millisecond or two."""
    wrong = wrong_cells(desk.sheet)
    try:
        return Outcome(desk.answer(), None, wrong)
    except OptionError as error:
        return Outcome(None, error, wrong)


def status_lines(desk: ScaleDesk, outcome: Outcome, row: int, cell: str) -> list[str]:
    """Return what is wrong with the cell under the cursor, else with another; else what is asked.

    It is said in the longest form first.
    """
    here = [each for each in outcome.wrong if (each.row, each.cell) == (row, cell)]
    wrong = next(iter((*here, *outcome.wrong)), None)
    if wrong is not None:
        place = place_text(desk.sheet, wrong)
        return [f"{place}: {wrong.message}; {wrong.remedy}", f"{place}: {wrong.message}", wrong.message]
    if outcome.problem is not None:
        return [str(outcome.problem), outcome.problem.message]
    return settings_lines(desk)


def outcome_lines(sheet: ScaleSheet, outcome: Outcome, width: int) -> list[str]:
    """Return the words about a prediction, or all that is wrong, in lines of a width."""
    answer = outcome.answer
    if answer is not None:
        return words_lines(answer.pairs, answer.asked, width)
    said = [f"{place_text(sheet, each)}: {each.message}; {each.remedy}." for each in outcome.wrong]
    return [
        line
        for text in said or [f"{outcome.problem}."]
        for line in textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)
    ]
