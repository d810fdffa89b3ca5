"""View 5: larger systems, predicted from a table of small ones or from what simulators printed of two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widgets import Input, Static

from sampling.parallel import Progress
from scalemodel.measurements import MpkiUnit, Scaling
from tui.app.actions import APP, SCALE, SHEET, VIEW, WORDS, bindings
from tui.app.planning import printed_options
from tui.app.prompt import Prompt, PromptField
from tui.app.session_app import start
from tui.app.state import Session
from tui.app.view import PaneText, ViewScreen
from tui.app.widgets import Chart, Line, Rows, titled
from tui.charts.size_plot import prediction_chart
from tui.options.command_line import command_line
from tui.options.files import files_named
from tui.options.scale import ScalePredictOptions
from tui.output.writer import Canvas
from tui.scale import sheet as words
from tui.scale.sheet import CELLS, GAP, WRONG_MARK, OpenTables, ScaleSheet, SheetResult, SheetRow
from tui.terminal.printable import printable

_CONFIDENCES = (0.8, 0.9, 0.95)
_LONGEST_CELL = 40
_LEAST_FIELD = 6
_CURSOR = Style(reverse=True)
_RESTING = Style(underline=True, bold=True)
_WRONG = Style(bold=True, color="red")


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
        self._done(self.value, cells, rows)

    def action_leave(self) -> None:
        self._done(None, 0, 0)


@dataclass
class CellEdited(Message):
    """A cell, one of `CELLS`, has another text."""

    row: int
    cell: str
    text: str


class ScaleTable(Rows):
    """Rows of a sheet; the columns to type in, then as many others as there is room for.

    Attributes
    ----------
    column : of the cursor, one of those to type in.
    types_digits : whether a digit starts editing; otherwise digits may open other views.
    """

    BINDINGS = bindings(SHEET)

    types_digits: reactive[bool] = reactive(False, bindings=True)

    def __init__(self) -> None:
        super().__init__()
        self.column = 0
        self._sheet, self._result = ScaleSheet(), SheetResult()
        self._columns: list[words.SheetColumn] = []
        self._field: CellInput | None = None

    def show(self, sheet: ScaleSheet, result: SheetResult) -> None:
        """Show another sheet, or other predictions."""
        if len(sheet.rows) != len(self._sheet.rows):
            self.leave()
        self._sheet, self._result = sheet, result
        self._arrange()
        self.fill(len(sheet.rows), self.cursor, "n adds a row")
        self.refresh(layout=True)

    @property
    def at(self) -> tuple[int, str]:
        """The row of the cursor, -1 in a sheet without rows, and its column, one of `CELLS`."""
        return self.cursor if self.row_count else -1, CELLS[self.column]

    def go(self, row: int, column: int) -> None:
        """Put the cursor on a cell, or on the nearest one."""
        self.column = min(max(column, 0), len(CELLS) - 1)
        self._put(row)
        self.post_message(self.Moved())

    def on_resize(self) -> None:
        self._arrange()
        super().on_resize()

    def _arrange(self) -> None:
        self._columns = words.sheet_columns(self._sheet, self._result, self.size.width)
        self._place_field()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return 1 + max(self.row_count, 1)

    def heading(self, width: int) -> str:  # noqa: ARG002 - columns are those of the widget's
        return (" " * GAP).join(column.fitted(column.heading) for column in self._columns)

    def render_line(self, y: int) -> Strip:
        """Headings, or one size: wrong cells are marked, and the cursor is reversed with the focus."""
        row = self._first + y - 1
        if y == 0 or not 0 <= row < self.row_count:
            return super().render_line(y)
        base, segments = self.rich_style, list[Segment]()
        for place, column in enumerate(self._columns):
            text = column.cells[row]
            style = _WRONG if text.endswith(WRONG_MARK) else Style()
            if (row, place) == (self.cursor, self.column):
                style += _CURSOR if self.has_focus else _RESTING
            segments += [Segment(" " * GAP * (place > 0), base), Segment(column.fitted(text), base + style)]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def on_focus(self) -> None:
        self.refresh()

    on_blur = on_focus

    def action_across(self, cells: int) -> None:
        self.go(self.cursor, self.column + cells)

    @property
    def _text(self) -> str:
        row, cell = self.at
        return self._sheet.rows[row].texts[cell]

    def action_edit(self, begun: str | None = None) -> None:
        """Type in the cell, in place of its text where something is typed already."""
        if self.row_count:
            self._field = CellInput(begun or self._text, self._done, selected=begun is None)
            self.mount(self._field)
            self._place_field()
            self._field.focus()

    def action_begin(self, key: str) -> None:
        self.action_edit("." if key == "full_stop" else key)

    def action_clear_cell(self) -> None:
        if self.row_count:
            self.post_message(CellEdited(*self.at, ""))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "begin" or self.types_digits

    def on_click(self, event: events.Click) -> None:
        left = 0
        for place, column in enumerate(self._columns[: len(CELLS)]):
            if left <= event.x < left + column.width + GAP and event.y > 0:
                self.go(self._first + event.y - 1, place)
            left += column.width + GAP

    def _place_field(self) -> None:
        """Put the field where the cell is: as wide as it, or wider where there is room."""
        if self._field is None or not self._columns:
            return
        left = sum(column.width + GAP for column in self._columns[: self.column])
        width = max(self._columns[self.column].width, _LEAST_FIELD)
        row = self.cursor - self._first + 1
        self._field.styles.offset = (max(min(left, self.size.width - width), 0), row)
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
        if self._field is None:
            return
        self.leave()
        if text is None:
            return
        if text.strip() != self._text:
            self.post_message(CellEdited(*self.at, text))
        place = self.cursor * len(CELLS) + self.column + cells
        if cells and 0 <= place < self.row_count * len(CELLS):
            self.go(*divmod(place, len(CELLS)))
            self.action_edit()
        else:
            self.go(self.cursor + rows, self.column)


class ScaleWords(VerticalScroll):
    """Lines that are wrapped again when the width changes; a warning is bold."""

    BINDINGS = bindings(WORDS)
    write: Callable[[int], Sequence[str]] = staticmethod(lambda _: ())

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    def show(self, write: Callable[[int], Sequence[str]]) -> None:
        """Show other words, given for a width, from their start."""
        self.write = write
        self.scroll_home(animate=False)
        self.on_resize()

    def on_resize(self) -> None:
        text, is_warning = Text(no_wrap=True), False
        for line in self.write(max(self.size.width, 1)):
            is_warning = line.startswith("warning:") or (is_warning and line.startswith("  "))
            text.append(f"{printable(line)}\n", "bold" if is_warning else "")
        self.query_one(Static).update(text)


class FilePrompt(Prompt):
    """Asks for a table, or for the logs of runs."""

    FIELDS = (PromptField("file", "File: ", takes_several=True),)

    def hint(self, name: str) -> Sequence[str]:  # noqa: ARG002 - it has one
        return "A CSV or TOML, or the logs of two GPUs; tab completes, esc leaves", "A CSV or TOML"


class PeakPrompt(Prompt):
    """Asks for the peak IPC of an SM."""

    FIELDS = (PromptField("peak", "Peak IPC of an SM: ", is_path=False),)

    def hint(self, name: str) -> Sequence[str]:  # noqa: ARG002 - it has one
        return ("The most instructions a cycle; empty where it is not known",)


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

    def compose_panes(self) -> ComposeResult:
        table = ScaleTable(), Line(id="scale-status"), FilePrompt(), PeakPrompt()
        panes = {"table": table, "chart": (Chart(),), "words": (ScaleWords(),)}
        with Container(id="scale-panes"):
            for name, contents in panes.items():
                pane = titled(f"scale-{name}", *contents)
                pane.set_class(name == "table", "-current").add_class("scale-pane")
                yield pane

    def on_mount(self) -> None:
        pane = self.query_one(ScaleWords)
        self.watch(pane, "scroll_y", self._show_titles_soon)
        self.watch(pane, "virtual_size", self._show_titles_soon)

    def on_resize(self) -> None:
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
        row = None if table.row_count <= table.page else table.cursor
        self.entitle("scale-table", *words.table_title(tables, row))
        self.entitle("scale-chart", *words.chart_title(tables, result.answer))
        has_more = pane.scroll_y < pane.max_scroll_y
        self.entitle("scale-words", *words.words_title(result, has_more=has_more))

    def _show_status(self) -> None:
        table = self.query_one(ScaleTable)
        forms = words.status_lines(self.tables, self._result, *table.at)
        self.query_one("#scale-status", Line).show(forms)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        pane = next((each for each in event.widget.ancestors_with_self if each.has_class("scale-pane")), None)
        for each in self.query(".scale-pane"):
            each.set_class(each is pane, "-current")
        table = self.query_one(ScaleTable)
        if table not in event.widget.ancestors_with_self:
            table.take()

    @on(Rows.Moved)
    def _say_of_cell(self) -> None:
        self._show_status()
        self._show_titles_soon()

    @on(CellEdited)
    def _edit(self, event: CellEdited) -> None:
        self._change_sheet(self.tables.sheet.with_cell(event.row, event.cell, event.text))

    def _change_sheet(self, sheet: ScaleSheet) -> None:
        self.app.change(scale=self.tables.edited(sheet))

    def action_new_row(self) -> None:
        table = self.query_one(ScaleTable)
        place = table.at[0] + 1
        self._change_sheet(self.tables.sheet.spliced(place, 0, SheetRow()))
        table.go(place, 0)
        table.focus()

    def action_remove_row(self) -> None:
        row = self.query_one(ScaleTable).at[0]
        if row >= 0:
            self._change_sheet(self.tables.sheet.spliced(row, 1))

    def action_mark(self) -> None:
        sheet, row = self.tables.sheet, self.query_one(ScaleTable).at[0]
        if row >= 0 and not sheet.rows[row].is_blank:
            self._change_sheet(sheet.spliced(row, 1, sheet.rows[row].with_next_role()))

    def action_undo(self) -> None:
        if self.tables.before is None:
            self.app.say("nothing was edited")
        else:
            self.app.change(scale=self.tables.undone())

    def action_empty(self) -> None:
        self.app.change(scale=self.tables.opened([ScaleSheet()]))
        self.query_one(ScaleTable).go(0, 0)
        self.query_one(ScaleTable).focus()

    def action_next(self, what: str) -> None:
        tables, sheet = self.tables, self.tables.sheet
        if what == "benchmark" and len(tables.sheets) == 1:
            self.app.say("there is one benchmark alone")
            return
        unit = words.next_of(list(MpkiUnit), sheet.mpki_unit)
        other = {
            "benchmark": replace(tables, place=(tables.place + 1) % len(tables.sheets)),
            "scaling": tables.edited(replace(sheet, scaling=words.next_of(list(Scaling), sheet.scaling))),
            "unit": tables.edited(replace(sheet, mpki_unit=unit)),
            "rule": tables.with_next_rule(),
            "confidence": replace(tables, confidence=words.next_of(_CONFIDENCES, tables.confidence)),
            "f_mem": replace(tables, assume_f_mem=not tables.assume_f_mem),
        }
        self.app.change(scale=other[what])

    def action_ask_peak(self) -> None:
        self.query_one(PeakPrompt).ask({"peak": self.tables.sheet.peak})
        self.query_one("#peak", Input).action_select_all()

    def action_open_file(self) -> None:
        sheet = self.tables.sheet
        self.query_one(FilePrompt).ask({"file": "" if self.tables.is_made_up or sheet.runs else sheet.file})

    @on(Prompt.Left)
    def _close_prompts(self) -> None:
        self.workers.cancel_group(self, "scale")
        self.query_one(ScaleTable).focus()
        for prompt in self.query(Prompt):
            prompt.close()

    @on(Input.Submitted, "#peak")
    def _take_peak(self, event: Input.Submitted) -> None:
        self._change_sheet(replace(self.tables.sheet, peak=event.value.strip()))
        self._close_prompts()

    @on(Input.Submitted, "#file")
    def _read_file(self, event: Input.Submitted) -> None:
        text, prompt = event.value.strip(), self.query_one(FilePrompt)
        if text in {"", "-"}:
            prompt.refuse("the name of a CSV or TOML is meant")
        else:

            def read(_: Progress) -> Iterator[tuple[Sequence[ScaleSheet], list[str]]]:
                told: list[str] = []
                yield words.read_sheets(files_named(text), tell=told.append), told

            prompt.say([f"reading {text}"])
            start(
                self, read, self._take_sheets, failed=lambda error: prompt.refuse(str(error)), group="scale"
            )

    def _take_sheets(self, read: tuple[Sequence[ScaleSheet], list[str]]) -> None:
        self.app.change(scale=self.tables.opened(read[0]))
        self._close_prompts()
        if read[1]:
            self.app.say("; ".join(read[1]))

    def action_findings(self) -> None:
        self.query_one(ScaleWords).focus()

    def action_copy_command(self) -> None:
        if self._result.answer is None:
            self.app.say(f"no prediction: {self._result.problem}", failed=True)
        else:
            super().action_copy_command()

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
