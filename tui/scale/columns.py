"""The columns of the table of sizes: what was typed, and beside it what is predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui.charts.grid import LETTERS, fitted
from tui.charts.quantities import UNKNOWN
from tui.scale.open_tables import SheetAnswer
from tui.scale.sheet import CELLS, Role, ScaleSheet, SheetRow, WrongCell, number_in, size_in
from tui.scale.text import ipc_text, prediction_row, signed_share

GAP = 2
WRONG_MARK = "!"
_MOST_TYPED = 9
_HEADINGS = {"size": "size", "ipc": "IPC", "mpki": "MPKI", "f_mem": "f_mem"}
_DROPPED_FIRST = ("low to high", "error", "predicted")


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """One column: its cells are as wide as its width, or shorter.

    Attributes
    ----------
    heading : what it is called.
    cells : a text a row.
    width : in terminal cells.
    to_right : whether texts stand at its right end.
    """

    heading: str
    cells: Sequence[str]
    width: int
    to_right: bool = True

    def fitted(self, text: str) -> str:
        """Return the heading or a cell, as wide as the column."""
        return text.rjust(self.width) if self.to_right else text.ljust(self.width)


def sheet_columns(
    sheet: ScaleSheet,
    answer: SheetAnswer | None,
    wrong: Sequence[WrongCell],
    width: int,
    *,
    ascii_only: bool = False,
) -> list[SheetColumn]:
    """Return the columns that fit in `width` cells: those to type in first, by the order of `CELLS`.

    Parameters
    ----------
    answer : None where nothing can be predicted.
    wrong : cells to mark, with a sign that follows their text.
    """
    marked = {(each.row, each.cell) for each in wrong}
    columns = [_typed(sheet, cell, marked, ascii_only=ascii_only) for cell in CELLS]
    roles = [
        _role_text(row) + (WRONG_MARK if (place, "role") in marked else "")
        for place, row in enumerate(sheet.rows)
    ]
    columns.append(_column("role", roles, to_right=False))
    columns += _predicted(sheet, answer)
    for heading in _DROPPED_FIRST:
        if sum(column.width + GAP for column in columns) - GAP <= width:
            break
        columns = [column for column in columns if not column.heading.endswith(heading)]
    return columns


def _typed(
    sheet: ScaleSheet, cell: str, marked: set[tuple[int | None, str]], *, ascii_only: bool
) -> SheetColumn:
    """Return a column of what was typed, with room for a mark behind each text."""
    texts = []
    for place, row in enumerate(sheet.rows):
        text = row.texts[cell]
        # A wrong text is shown as it was typed: rounded, it might look right.
        if (place, cell) in marked:
            texts.append(fitted(text, _MOST_TYPED, ascii_only=ascii_only) + WRONG_MARK)
        else:
            texts.append(_short(text) + " ")
    return _column(_HEADINGS[cell] + " ", texts)


def _column(heading: str, texts: Sequence[str], *, to_right: bool = True) -> SheetColumn:
    return SheetColumn(heading, texts, max(map(len, (heading, *texts))), to_right)


def _short(text: str) -> str:
    """Return a cell's number; of one too long to show, as many digits as there is room for."""
    return text if len(text) <= _MOST_TYPED else f"{number_in(text):.4g}"[:_MOST_TYPED]


def _role_text(row: SheetRow) -> str:
    """Return a row's role in a word; a target that was simulated too is a measured one."""
    if row.is_blank:
        return ""
    if row.role is Role.CURVE:
        return "curve" if row.mpki else "unused"
    return "measured" if row.role is Role.TARGET and row.ipc else row.role.value


def _predicted(sheet: ScaleSheet, answer: SheetAnswer | None) -> list[SheetColumn]:
    """Return what the first rule says of each row, its interval, and its error where that is known.

    Where there are several rules, the headings have the letter of the first, as the chart has it.
    """
    rows = {} if answer is None else _by_size(answer)
    texts = [_prediction_texts(rows.get(size_in(row) or 0), row) for row in sheet.rows]
    mark = "" if answer is None else _rule_mark(answer)
    columns = [
        _column(f"{mark}predicted", [text[0] for text in texts]),
        _column(f"{mark}low to high", [text[1] for text in texts]),
    ]
    if any(text[2] for text in texts):
        columns.append(_column(f"{mark}error", [text[2] for text in texts]))
    return columns


def _rule_mark(answer: SheetAnswer) -> str:
    outcome = answer.pairs[0][1]
    rules = {prediction.method for prediction in outcome.predictions}
    return f"{LETTERS[0]} " if len(rules) > 1 else ""


def _by_size(answer: SheetAnswer) -> dict[int, Mapping[str, float | None]]:
    measurements, outcome = answer.pairs[0]
    rows: dict[int, Mapping[str, float | None]] = {}
    for prediction in outcome.predictions:
        rows.setdefault(prediction.target, prediction_row(measurements, prediction))
    return rows


def _prediction_texts(found: Mapping[str, float | None] | None, row: SheetRow) -> tuple[str, str, str]:
    if not row.is_target or row.is_blank:
        return "", "", ""
    if found is None:
        return UNKNOWN, "", ""
    ipc, error = found["ipc"], found["error"]
    return (
        UNKNOWN if ipc is None else ipc_text(ipc),
        _range_text(found["low"], found["high"]),
        "" if error is None else signed_share(error),
    )


def _range_text(low: float | None, high: float | None) -> str:
    if low is None:
        return ""
    return f"from {ipc_text(low)}" if high is None else f"{ipc_text(low)} to {ipc_text(high)}"
