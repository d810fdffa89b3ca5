"""View 5: larger systems, predicted from a table of small ones or from what simulators printed of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import Worker, get_current_worker

from scalemodel.measurements import MpkiUnit, Scaling
from tui.app.actions import APP, SCALE, SHEET, VIEW, WORDS, bindings
from tui.app.frame.line import Line, PaneTitle
from tui.app.frame.page import PaneText
from tui.app.frame.panes import Chart
from tui.app.frame.prompt import PathInput
from tui.app.frame.view import ViewScreen
from tui.app.overrides_file import printed_options
from tui.app.state import Session
from tui.charts.size_plot import prediction_chart
from tui.options.command_line import command_line
from tui.options.files import home_expanded
from tui.options.scale import ScalePredictOptions
from tui.output.writer import Canvas
from tui.scale import sheet as words
from tui.scale.sheet import CELLS, GAP, WRONG_MARK, OpenTables, ScaleSheet, SheetResult, SheetRow
from tui.terminal.printable import printable

_LONGEST_CELL = 40
_LEAST_FIELD = 6
_HEADING = Style(underline=True)
_CURSOR = Style(reverse=True)
_RESTING = Style(underline=True, bold=True)
_WRONG = Style(bold=True, color="red")
_WARNING = "warning:"


# -- the table --------------------------------------------------------------------------------------------


class CellInput(Input):
    """The cell that is being typed in: every printable key is text.

    `done` is given the text, None to leave the cell as it was, and by how many cells and rows to go on.
    """

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "leave", "As it was", key_display="esc"),
        Binding("enter", "take(0, 0)", "Take", key_display="enter"),
        Binding("tab", "take(1, 0)", "Next cell", key_display="tab"),
        Binding("shift+tab", "take(-1, 0)", "Cell before", show=False),
        Binding("down", "take(0, 1)", "Next row", show=False),
        Binding("up", "take(0, -1)", "Row before", show=False),
    ]

    def __init__(self, text: str, done: Callable[[str | None, int, int], None], *, selected: bool) -> None:
        super().__init__(text, compact=True, select_on_focus=selected, max_length=_LONGEST_CELL)
        self.cursor_blink = False
        self._done = done

    def action_take(self, cells: int, rows: int) -> None:
        """Keep the text, and go on."""
        self._done(self.value, cells, rows)

    def action_leave(self) -> None:
        """Leave the cell as it was."""
        self._done(None, 0, 0)


@dataclass
class CellEdited(Message):
    """A cell, one of `CELLS`, has another text."""

    row: int
    cell: str
    text: str


@dataclass
class CellReached(Message):
    """The cursor is on another cell."""


class ScaleTable(Widget, can_focus=True):
    """Rows of a sheet; the columns to type in, then as many others as there is room for.

    Attributes
    ----------
    cursor : (row, column); the column is one of those to type in.
    types_digits : whether a digit starts editing; otherwise digits may open other views.
    """

    BINDINGS = bindings(SHEET)

    cursor: reactive[tuple[int, int]] = reactive((0, 0))
    types_digits: reactive[bool] = reactive(False, bindings=True)

    def __init__(self) -> None:
        super().__init__()
        self._sheet, self._result = ScaleSheet(), SheetResult()
        self._columns: list[words.SheetColumn] = []
        self._top = 0
        self._field: CellInput | None = None

    def show(self, sheet: ScaleSheet, result: SheetResult) -> None:
        """Show another sheet, or other predictions."""
        if len(sheet.rows) != len(self._sheet.rows):
            self.leave()
        self._sheet, self._result = sheet, result
        self.cursor = self.validate_cursor(self.cursor)
        self._arrange()
        self.refresh(layout=True)

    @property
    def row(self) -> int:
        """The row of the cursor; -1 in a sheet without rows."""
        return self.cursor[0] if self._sheet.rows else -1

    @property
    def cell(self) -> str:
        """The column of the cursor, one of `CELLS`."""
        return CELLS[self.cursor[1]]

    @property
    def is_whole(self) -> bool:
        """Whether all rows are visible."""
        return len(self._sheet.rows) < self.size.height

    def validate_cursor(self, cursor: tuple[int, int]) -> tuple[int, int]:
        """Keep the cursor within the sheet."""
        row, column = cursor
        return min(max(row, 0), max(len(self._sheet.rows) - 1, 0)), min(max(column, 0), len(CELLS) - 1)

    def watch_cursor(self) -> None:
        """Show where it is."""
        self._scroll()
        self.refresh()
        self.post_message(CellReached())

    def on_resize(self) -> None:
        """Other columns may have room now."""
        self._arrange()
        self.refresh()

    def _arrange(self) -> None:
        self._columns = words.sheet_columns(self._sheet, self._result, self.size.width)
        self._scroll()
        self._place_field()

    def _scroll(self) -> None:
        rows, row = max(self.size.height - 1, 1), self.cursor[0]
        self._top = min(max(self._top, row - rows + 1), row, max(len(self._sheet.rows) - rows, 0))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """A row for the headings, and one for each size."""
        return 1 + max(len(self._sheet.rows), 1)

    def render_line(self, y: int) -> Strip:
        """Headings, or one size: wrong cells are marked, and the cursor is reversed with the focus."""
        base, row = self.rich_style, self._top + y - 1
        segments: list[Segment] = []
        if y == 0:
            headings = (" " * GAP).join(column.fitted(column.heading) for column in self._columns)
            segments.append(Segment(headings, base + _HEADING))
        elif row >= len(self._sheet.rows):
            segments.append(Segment("n adds a row" if not self._sheet.rows and y == 1 else "", base))
        else:
            for place, column in enumerate(self._columns):
                text = column.cells[row]
                style = _WRONG if text.endswith(WRONG_MARK) else Style()
                if (row, place) == self.cursor:
                    style += _CURSOR if self.has_focus else _RESTING
                segments += [
                    Segment(" " * GAP * (place > 0), base),
                    Segment(column.fitted(text), base + style),
                ]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def on_focus(self) -> None:
        """Draw the cursor in its other style."""
        self.refresh()

    on_blur = on_focus

    def action_move(self, cells: int, rows: int) -> None:
        """Move by this many cells to the right and rows down."""
        row, column = self.cursor
        self.cursor = (row + rows, column + cells)

    def action_edge(self, rows: int) -> None:
        """Go to the first row, or to the last."""
        self.cursor = (0 if rows < 0 else len(self._sheet.rows), self.cursor[1])

    def action_edit(self) -> None:
        """Type in the cell; its text is selected, so that the first key replaces it."""
        if self._sheet.rows:
            self._open(self._sheet.rows[self.row].texts[self.cell], selected=True)

    def action_begin(self, key: str) -> None:
        """Type in the cell anew, from this digit or point on."""
        if self._sheet.rows:
            self._open("." if key == "full_stop" else key, selected=False)

    def action_clear_cell(self) -> None:
        """Empty the cell."""
        if self._sheet.rows:
            self.post_message(CellEdited(self.row, self.cell, ""))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """A digit starts editing only where digits do not open views; the footer shows which."""
        return action != "begin" or self.types_digits

    def on_click(self, event: events.Click) -> None:
        """The cursor goes where the mouse is."""
        left = 0
        for place, column in enumerate(self._columns[: len(CELLS)]):
            if left <= event.x < left + column.width + GAP and event.y > 0:
                self.cursor = (self._top + event.y - 1, place)
            left += column.width + GAP

    def _open(self, text: str, *, selected: bool) -> None:
        self._scroll()
        self._field = CellInput(text, self._done, selected=selected)
        self.mount(self._field)
        self._place_field()
        self._field.focus()

    def _place_field(self) -> None:
        """Put the field where the cell is: as wide as it, or wider where there is room."""
        if self._field is None or not self._columns:
            return
        row, place = self.cursor
        left = sum(column.width + GAP for column in self._columns[:place])
        width = max(self._columns[place].width, _LEAST_FIELD)
        self._field.styles.offset = (max(min(left, self.size.width - width), 0), row - self._top + 1)
        self._field.styles.width = width

    def take(self) -> None:
        """Keep what is typed, if something is."""
        if self._field is not None:
            self._done(self._field.value, 0, 0)

    def leave(self) -> None:
        """Type no more."""
        if self._field is not None:
            field, self._field = self._field, None
            # The table takes the focus before its field goes: else another pane would get it.
            if field.has_focus:
                self.focus()
            field.remove()

    def _done(self, text: str | None, cells: int, rows: int) -> None:
        """Keep the text and move on; in the next cell typing continues."""
        row, column = self.cursor
        if self._field is None:
            return
        self.leave()
        if text is None:
            return
        if text.strip() != self._sheet.rows[row].texts[CELLS[column]]:
            self.post_message(CellEdited(row, CELLS[column], text))
        place = row * len(CELLS) + column + cells
        if cells and 0 <= place < len(self._sheet.rows) * len(CELLS):
            self.cursor = divmod(place, len(CELLS))
            self.action_edit()
        else:
            self.cursor = (row + rows, column)


# -- the question in a row, and the words -----------------------------------------------------------------


class PromptInput(PathInput):
    """The answer to a question of one row; `answered` is given it, None where it is given up."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "answer(False)", "Leave", key_display="esc"),
        Binding("enter", "answer(True)", "Take", key_display="enter"),
    ]

    answered: Callable[[str | None], None]

    def action_answer(self, takes: bool) -> None:
        """Keep the text, or leave things as they were."""
        self.answered(self.value.strip() if takes else None)


class Prompt(Horizontal):
    """A question of one row, visible while it is asked."""

    DEFAULT_CSS = "Prompt { height: 1; display: none; }"

    def __init__(self) -> None:
        super().__init__()

    def compose(self) -> ComposeResult:
        """The question and its field."""
        yield Line()
        yield PromptInput(compact=True)

    def ask(self, question: str, text: str, answered: Callable[[str | None], None], *, is_path: bool) -> None:
        """Ask, with an answer to begin with; tab completes it where it is a path."""
        line, field = self.query_one(Line), self.query_one(PromptInput)
        line.styles.width = len(question) + 1
        line.show([question])
        field.value, field.completes, field.answered = text, is_path, answered
        self.display = True
        field.focus()


class ScaleWords(VerticalScroll):
    """Lines that are wrapped again when the width changes; a warning is bold."""

    BINDINGS = bindings(WORDS)

    def __init__(self) -> None:
        super().__init__()
        self._write: Callable[[int], Sequence[str]] = lambda _: ()

    def compose(self) -> ComposeResult:
        """The text."""
        yield Static(markup=False)

    def show(self, write: Callable[[int], Sequence[str]]) -> None:
        """Show other words, given for a width, from their start."""
        self._write = write
        self.scroll_home(animate=False)
        self.on_resize()

    def on_resize(self) -> None:
        """Write for this width."""
        text, is_warning = Text(no_wrap=True), False
        for line in self._write(max(self.size.width, 1)):
            is_warning = line.startswith(_WARNING) or (is_warning and line.startswith("  "))
            shown = printable(line)
            text.append(f"{shown}\n", "bold" if is_warning else "")
        self.query_one(Static).update(text)


# -- the view ---------------------------------------------------------------------------------------------


@dataclass
class SheetsRead(Message):
    """What was typed has been read, with notes on what was left out."""

    typed: str
    sheets: Sequence[ScaleSheet]
    told: Sequence[str] = ()


class ScaleScreen(ViewScreen):
    """The table of sizes, the chart of what is predicted, and the words about it."""

    OF_PROFILE = False
    NAME = "Scale model"
    SUMMARY = "the IPC of a big GPU from two small ones"
    SCOPES = (APP, SHEET, SCALE, VIEW)
    BINDINGS = bindings(APP, SCALE, VIEW)
    AUTO_FOCUS = "ScaleTable"
    ABOUT: ClassVar[str] = (
        "A row is a system size, in SMs or chiplets. Sizes with an IPC are simulated, the scale models; the "
        "others are targets, to be predicted; m marks a row otherwise, as a target that was simulated too. "
        "MPKI over the sizes is the miss-rate curve: where it falls to less than half, the working set comes "
        "to fit the cache. At such a cliff IPC gains what f_mem says, the share of cycles in which all warps "
        "of an SM wait for memory, of the largest scale model. What is wrong is marked with an exclamation "
        "mark. Where no profile is open, a digit begins to type in a cell; where one is, it opens a view, "
        "and enter begins to type. o opens a table, or the logs of two GPUs apart by a blank, which "
        "are predicted launch by launch."
    )

    def __init__(self) -> None:
        super().__init__()
        self._result = SheetResult()
        self._path: str | None = None

    def compose_panes(self) -> ComposeResult:
        """The table, the chart, the words."""
        with Container(id="scale-panes"):
            with Vertical(id="scale-table-pane", classes="pane scale-pane -current"):
                yield PaneTitle()
                yield ScaleTable()
                yield Line(id="scale-status")
                yield Prompt()
            with Vertical(id="scale-chart-pane", classes="pane scale-pane"):
                yield PaneTitle()
                yield Chart(id="scale-chart")
            with Vertical(id="scale-words-pane", classes="pane scale-pane"):
                yield PaneTitle()
                yield ScaleWords()

    def on_mount(self) -> None:
        """Keep showing whether there is more to scroll to."""
        pane = self.query_one(ScaleWords)
        self.watch(pane, "scroll_y", self._show_titles_soon)
        self.watch(pane, "virtual_size", self._show_titles_soon)

    def on_resize(self) -> None:
        """Other rows may be visible now."""
        self._show_titles_soon()

    @property
    def tables(self) -> OpenTables:
        """The tables; the bundled example until others are read or typed."""
        return self.session.scale or words.made_up_tables()

    def follow(self, shown: Session | None, session: Session) -> None:
        """Show what differs from what is shown: predict again, and show it in every pane."""
        self.query_one(ScaleTable).types_digits = not session.profiles
        if shown is not None and shown.scale is session.scale:
            return
        tables, chart = self.tables, self.query_one(Chart)
        result = self._result = words.result_of(tables)
        self.query_one(ScaleTable).show(tables.sheet, result)
        if (answer := result.answer) is None:
            chart.say(f"No prediction: {result.problem}")
        else:
            chart.show(partial(prediction_chart, answer.measurements, answer.outcome))
        self.query_one(ScaleWords).show(partial(words.result_lines, result))
        self._show_titles_soon()
        self._show_status()

    def _show_titles_soon(self) -> None:
        # Which rows are visible is known only after the layout.
        self.call_after_refresh(self._show_titles)

    def _show_titles(self) -> None:
        tables, result = self.tables, self._result
        table, pane = self.query_one(ScaleTable), self.query_one(ScaleWords)
        titles = {
            "table": words.table_title(tables, None if table.is_whole else table.row),
            "chart": words.chart_title(tables, result.answer),
            "words": words.words_title(result, has_more=pane.scroll_y < pane.max_scroll_y),
        }
        for name, (left, right) in titles.items():
            self.query_one(f"#scale-{name}-pane PaneTitle", PaneTitle).show(left, right)

    def _show_status(self) -> None:
        table = self.query_one(ScaleTable)
        self._tell(words.status_lines(self.tables, self._result, table.row, table.cell))

    def _tell(self, forms: Sequence[str]) -> None:
        self.query_one("#scale-status", Line).show(forms)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The pane that has the focus is the one to see where there is room for one."""
        pane = next((each for each in event.widget.ancestors_with_self if each.has_class("scale-pane")), None)
        for each in self.query(".scale-pane"):
            each.set_class(each is pane, "-current")
        table = self.query_one(ScaleTable)
        if table not in event.widget.ancestors_with_self:
            table.take()

    @on(CellReached)
    def _say_of_cell(self) -> None:
        self._show_status()
        self._show_titles_soon()

    @on(CellEdited)
    def _edit(self, event: CellEdited) -> None:
        self._change_sheet(self.tables.sheet.with_cell(event.row, event.cell, event.text))

    def _change_sheet(self, sheet: ScaleSheet) -> None:
        self.app.change(scale=self.tables.edited(sheet))

    def action_new_row(self) -> None:
        """Add a blank row below, and go there."""
        table = self.query_one(ScaleTable)
        place = table.row + 1
        self._change_sheet(self.tables.sheet.spliced(place, 0, SheetRow()))
        table.cursor = (place, 0)
        table.focus()

    def action_remove_row(self) -> None:
        """Remove the row of the cursor."""
        row = self.query_one(ScaleTable).row
        if row >= 0:
            self._change_sheet(self.tables.sheet.spliced(row, 1))

    def action_mark(self) -> None:
        """Give the row of the cursor its next role."""
        sheet, row = self.tables.sheet, self.query_one(ScaleTable).row
        if row >= 0 and not sheet.rows[row].is_blank:
            self._change_sheet(sheet.spliced(row, 1, sheet.rows[row].with_next_role()))

    def action_undo(self) -> None:
        """Take the last edit back."""
        if self.tables.before is None:
            self.app.say("nothing was edited")
        else:
            self.app.change(scale=self.tables.undone())

    def action_empty(self) -> None:
        """Go to an empty table."""
        self.app.change(scale=self.tables.opened([ScaleSheet()]))
        self.query_one(ScaleTable).cursor = (0, 0)
        self.query_one(ScaleTable).focus()

    def action_next(self, what: str) -> None:
        """Go to the next benchmark of the file, or change what is asked of it."""
        tables, sheet = self.tables, self.tables.sheet
        if what == "benchmark" and len(tables.sheets) == 1:
            self.app.say("there is one benchmark alone")
        elif what == "benchmark":
            self.app.change(scale=replace(tables, place=(tables.place + 1) % len(tables.sheets)))
        elif what == "scaling":
            self._change_sheet(replace(sheet, scaling=words.next_of(list(Scaling), sheet.scaling)))
        elif what == "unit":
            self._change_sheet(replace(sheet, mpki_unit=words.next_of(list(MpkiUnit), sheet.mpki_unit)))
        else:
            level = words.next_of(words.CONFIDENCES, tables.confidence)
            other = {
                "rule": tables.with_next_rule(),
                "confidence": replace(tables, confidence=level),
                "f_mem": replace(tables, assume_f_mem=not tables.assume_f_mem),
            }
            self.app.change(scale=other[what])

    def action_ask_peak(self) -> None:
        """Ask for the peak IPC of an SM."""
        self._path = None
        prompt, peak = self.query_one(Prompt), self.tables.sheet.peak
        prompt.ask("peak IPC of an SM:", peak, self._take_peak, is_path=False)

    def action_open_file(self) -> None:
        """Ask for a file, or for the logs of runs."""
        sheet = self.tables.sheet
        path = "" if self.tables.is_made_up or sheet.runs else sheet.file
        self._path = None
        self.query_one(Prompt).ask("file (tab completes):", path, self._read_file, is_path=True)

    def _close_prompt(self) -> None:
        self._path = None
        self.query_one(ScaleTable).focus()
        self.query_one(Prompt).display = False
        self._show_status()

    def _take_peak(self, text: str | None) -> None:
        if text is not None:
            self._change_sheet(replace(self.tables.sheet, peak=text))
        self._close_prompt()

    def _read_file(self, text: str | None) -> None:
        if text is None:
            self._close_prompt()
        elif text in {"", "-"}:
            self._refuse(["the name of a CSV or TOML is meant; esc leaves", "a CSV or TOML is meant"])
        else:
            self._path = text
            self._tell([f"reading {text}"])
            self._read(text)

    @work(thread=True, exclusive=True, exit_on_error=False, group="scale-file")
    def _read(self, text: str) -> None:
        worker = get_current_worker()
        told: list[str] = []
        paths = words.files_typed(str(home_expanded(text)) if text.startswith("~") else text)
        sheets = words.read_sheets(paths, tell=told.append)
        if not worker.is_cancelled:
            self.post_message(SheetsRead(text, sheets, told))

    @on(SheetsRead)
    def _take_sheets(self, event: SheetsRead) -> None:
        if self._path == event.typed:
            self.app.change(scale=self.tables.opened(event.sheets))
            self._close_prompt()
            if event.told:
                self.app.say("; ".join(event.told))

    def worker_failed(self, worker: Worker[Any], error: Exception) -> None:
        """Say why a file cannot be used beside its name, which can be corrected."""
        if not isinstance(error, words.UNREADABLE):
            super().worker_failed(worker, error)
        elif self._path is not None:
            self._path = None
            self._refuse([str(error), str(error.message)])

    def _refuse(self, forms: Sequence[str]) -> None:
        """Say why a file cannot be used."""
        self._tell(forms)

    def action_findings(self) -> None:
        """Go to the words: all that was found is there."""
        self.query_one(ScaleWords).focus()

    def action_copy_pane(self) -> None:
        """Copy the pane's text, where there is a prediction."""
        if self._has_answer():
            super().action_copy_pane()

    def action_write_pane(self) -> None:
        """Write the pane's text, where there is a prediction."""
        if self._has_answer():
            super().action_write_pane()

    def action_copy_command(self) -> None:
        """Copy the command line, where there is a prediction."""
        if self._has_answer():
            super().action_copy_command()

    def _has_answer(self) -> bool:
        result = self._result
        if result.answer is None:
            self.app.say(f"no prediction: {result.problem}", failed=True)
        return result.answer is not None

    def own_text(self) -> PaneText:
        """What `scale predict` prints; in the chart's pane, with a chart as large as there."""
        answer = self._result.answer
        if answer is None:
            return PaneText("kernelpoint-scale", "")
        canvas = Canvas(self.app.size.width, color=False)
        return PaneText("kernelpoint-scale", answer.text(self._sized(answer.asked), canvas) + "\n")

    def command(self) -> str:
        """`scale predict` of the file, or of the numbers themselves if they were edited."""
        given, answer = printed_options(self.session), self._result.answer
        asked = ScalePredictOptions() if answer is None else answer.command
        kept = replace(asked, ascii=given.ascii, color=given.color, quiet=given.quiet, seed=given.seed)
        return command_line("scale predict", self._sized(kept))

    def _sized(self, options: ScalePredictOptions) -> ScalePredictOptions:
        """Return the options; for the chart's pane, with the chart's size."""
        chart = self.query_one(Chart)
        if self.focused is not chart or not chart.size.area:
            return options
        return replace(options, width=chart.size.width, height=chart.size.height)
