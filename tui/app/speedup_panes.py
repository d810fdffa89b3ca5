"""The widgets of view 8: programs by configurations, a bar of every cell, what is to be compared."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.strip import Strip

from sampling.errors import OptionError
from sampling.estimation.speedup import Verdict
from sampling.study.study_file import is_study
from tui.app.actions import LIST, MATRIX, bindings
from tui.app.prompt import Prompt, PromptField
from tui.app.speedup_details import Cell
from tui.app.widgets import Rows, Table
from tui.engine.speedups import parse_configurations
from tui.options.files import home_expanded
from tui.options.simulate import SpeedupOptions
from tui.terminal.printable import cell_width, shortened
from tui.text.study import TableCell

_GAP = 2
_LONGEST_LABEL, _LEAST_NAME = 20, 8
_CURSOR = Style(reverse=True)
_RESTING = Style(underline=True, bold=True)


class Matrix(Rows):
    """Programs and means by configurations; the cursor is on a cell.

    Attributes
    ----------
    column : of the cursor.
    columns : those in sight.
    """

    BINDINGS = bindings(MATRIX)
    COMPONENT_CLASSES = {f"matrix--{verdict.name.lower()}" for verdict in Verdict}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.column, self.columns = 0, range(0)
        self._labels: Sequence[str] = ()
        self._programs: Sequence[tuple[str, Sequence[TableCell]]] = ()
        self._cell_width = self._name_width = 0

    def show(self, labels: Sequence[str], rows: Sequence[tuple[str, Sequence[TableCell]]]) -> None:
        """Show other cells; the cursor stays where it is, if there is a cell."""
        self._labels, self._programs = labels, rows
        texts = [cell.text for _, cells in rows for cell in cells]
        longest = (min(cell_width(label), _LONGEST_LABEL) for label in labels)
        self._cell_width = max((*map(len, texts), *longest), default=1)
        self.row_count = len(rows)
        self.go_to(self.cell)

    @property
    def cell(self) -> Cell:
        """Where the cursor is."""
        return self.cursor, self.column

    @property
    def place(self) -> str:
        """Which programs and configurations are in sight, of how many; nothing where all are."""
        places = [super().place] if self.row_count > self.page else []
        if len(self.columns) < len(self._labels):
            places.append(f"columns {self.columns.start + 1}-{self.columns.stop} of {len(self._labels)}")
        return ", ".join(places)

    def go_to(self, cell: Cell) -> None:
        """Put the cursor on a cell, or the nearest one, and tell nobody."""
        self.column = max(min(cell[1], len(self._labels) - 1), 0)
        self._put(cell[0])
        self._arrange()

    def _arrange(self) -> None:
        """Scroll to the side as little as shows the cursor."""
        width = self.size.width
        longest = max((cell_width(name) for name, _ in self._programs), default=0)
        self._name_width = min(longest, max(width // 3, _LEAST_NAME))
        number = max((width - self._name_width) // (self._cell_width + _GAP), 1)
        left = min(max(self.columns.start, self.column - number + 1), self.column)
        left = max(min(left, len(self._labels) - number), 0)
        self.columns = range(left, min(left + number, len(self._labels)))
        self.refresh()

    def on_resize(self) -> None:
        self._arrange()
        super().on_resize()

    def heading(self, width: int) -> str:  # noqa: ARG002 - columns are those of the widget's
        labels = (self._padded(self._labels[column]) for column in self.columns)
        return " " * self._name_width + "".join(f"{' ' * _GAP}{label}" for label in labels)

    def _padded(self, text: str) -> str:
        text = shortened(text, self._cell_width)
        return " " * (self._cell_width - cell_width(text)) + text

    def render_line(self, y: int) -> Strip:
        """Headings, or one program; the cursor is reversed with the focus."""
        row = self._first + y - 1
        if y == 0 or not 0 <= row < self.row_count:
            return super().render_line(y)
        base, (name, cells) = self.rich_style, self._programs[row]
        name = shortened(name, self._name_width)
        segments = [Segment(name + " " * (self._name_width - cell_width(name)), base)]
        for column in self.columns:
            verdict, style = cells[column].verdict, Style()
            if verdict is not None:
                style = self.get_component_rich_style(f"matrix--{verdict.name.lower()}", partial=True)
            if (row, column) == self.cell:
                style = _CURSOR if self.has_focus else _RESTING
            segments += [
                Segment(" " * _GAP, base),
                Segment(self._padded(cells[column].text), base + style),
            ]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def on_focus(self) -> None:
        self.refresh()

    on_blur = on_focus

    def action_across(self, cells: int) -> None:
        self.go_to((self.cursor, self.column + cells))
        self.post_message(self.Moved())

    def on_click(self, event: events.Click) -> None:
        place = (event.x - self._name_width) // (self._cell_width + _GAP)
        if event.y > 0 and 0 <= place < len(self.columns):
            self.go_to((self._first + event.y - 1, self.columns[place]))
            self.post_message(self.Moved())


class BarTable(Table[Cell | None]):
    """A bar of every cell, and of the base."""

    BINDINGS = bindings(LIST)


class SpeedupsForm(Prompt):
    """Asks for the results of configurations, and the plan they are of; or for a study."""

    FIELDS = (
        PromptField("results", "Results: ", takes_several=True),
        PromptField("plan", "Plan:    "),
    )
    HINTS: ClassVar = {
        "results": ("NAME=RESULTS of each configuration, the base first; tab completes", "NAME=RESULTS ..."),
        "plan": ("The plan that was simulated; or a study.toml, without results", "A plan, or a study.toml"),
    }

    def hint(self, name: str) -> Sequence[str]:
        return tuple(f"{form}; esc leaves" for form in self.HINTS[name])


def options_typed(answers: dict[str, str], before: SpeedupOptions | None) -> SpeedupOptions:
    """Return the options of the command that compares the same; OptionError where that cannot be."""
    plan = answers["plan"].strip()
    try:
        results = tuple(shlex.split(answers["results"]))
    except ValueError as error:
        raise OptionError(f"{answers['results']}: {str(error).lower()}", remedy="close the quotes") from error
    if plan in {"", "-"}:
        raise OptionError("the name of a plan file is meant, or of a study.toml")
    if is_study(plan) and results:
        remedy = "leave the results empty; r reads a changed file anew"
        raise OptionError(f"{plan} says itself where results are", remedy=remedy)
    if not is_study(plan):
        if not results:
            raise OptionError(
                "no results are named", remedy="give base=RESULTS NAME=RESULTS, or a study.toml"
            )
        parse_configurations(results)
    plan = str(home_expanded(plan))
    return replace(before or SpeedupOptions(plan=plan), plan=plan, results=results)
