"""View 5: the IPC of larger systems, predicted from a table of small ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.message import Message
from textual.worker import Worker, get_current_worker

from scalemodel.errors import ScaleModelError
from tui.app.actions import APP, SCALE, SHEET, VIEW, bindings
from tui.app.frame.chart import Chart
from tui.app.frame.copying import PaneText
from tui.app.frame.line import Line, PaneTitle
from tui.app.frame.view import ViewScreen
from tui.app.overrides_file import printed_options
from tui.app.scale.fields import Prompt, PromptAnswered
from tui.app.scale.table import CellEdited, CellReached, ScaleTable
from tui.app.scale.words import ScaleWords
from tui.app.state import Session
from tui.charts.size_plot import prediction_chart
from tui.options.command_line import command_line
from tui.options.places import home_expanded
from tui.options.scale import ScalePredictOptions
from tui.output.writer import Canvas
from tui.scale import status
from tui.scale.open_tables import HowToPredict, OpenTables, SheetSource, made_up_tables, read_sheets
from tui.scale.sheet import ScaleSheet, next_role
from tui.scale.text import predict_text


@dataclass
class SheetsRead(Message):
    """A file has been read, with notes on what was left out."""

    sources: Sequence[SheetSource]
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
        "and enter begins to type."
    )

    def __init__(self) -> None:
        super().__init__()
        self._result = status.SheetResult()
        self._asking: Callable[[str], None] = self._read_file
        self._path: str | None = None

    def compose_panes(self) -> ComposeResult:
        """The table, the chart, the words."""
        ascii_only = self.session.ascii_only
        with Container(id="scale-panes"):
            with Vertical(id="scale-table-pane", classes="pane scale-pane -current"):
                yield PaneTitle(ascii_only=ascii_only)
                yield ScaleTable(ascii_only=ascii_only)
                yield Line(ascii_only=ascii_only, id="scale-status")
                yield Prompt(ascii_only=ascii_only)
            with Vertical(id="scale-chart-pane", classes="pane scale-pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield Chart(id="scale-chart")
            with Vertical(id="scale-words-pane", classes="pane scale-pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield ScaleWords()

    def on_mount(self) -> None:
        """Keep showing whether there is more to scroll to."""
        words = self.query_one(ScaleWords)
        self.watch(words, "scroll_y", self._show_titles_soon)
        self.watch(words, "virtual_size", self._show_titles_soon)

    def on_resize(self) -> None:
        """Other rows may be visible now."""
        self._show_titles_soon()

    @property
    def tables(self) -> OpenTables:
        """The tables; the bundled example until others are read or typed."""
        return self.session.scale or made_up_tables()

    def follow(self, shown: Session | None, session: Session) -> None:
        """Show what differs from what is shown."""
        self.query_one(ScaleTable).types_digits = not session.profiles
        if shown is None or shown.scale is not session.scale:
            self._show(self.tables)

    def _show(self, tables: OpenTables) -> None:
        """Predict again, and show it in every pane."""
        result = self._result = status.result_of(tables)
        answer, chart = result.answer, self.query_one(Chart)
        self.query_one(ScaleTable).show(tables.sheet, answer, result.wrong)
        if answer is None:
            chart.say(f"No prediction: {result.problem}")
        else:
            chart.show(partial(prediction_chart, *answer.pairs[0], ascii_only=self.session.ascii_only))
        self.query_one(ScaleWords).show(partial(status.result_lines, tables.sheet, result))
        self._show_titles_soon()
        self._show_status()

    def _show_titles_soon(self) -> None:
        # Which rows are visible is known only after the layout.
        self.call_after_refresh(self._show_titles)

    def _show_titles(self) -> None:
        tables, result = self.tables, self._result
        table, words = self.query_one(ScaleTable), self.query_one(ScaleWords)
        has_more = words.scroll_y < words.max_scroll_y
        titles = (
            ("table", status.table_title(tables, None if table.is_whole else table.row)),
            ("chart", status.chart_title(tables, result.answer)),
            ("words", status.words_title(result.answer, len(result.wrong), has_more=has_more)),
        )
        for pane, (left, right) in titles:
            self.query_one(f"#scale-{pane}-pane PaneTitle", PaneTitle).show(left, right)

    def _show_status(self) -> None:
        table = self.query_one(ScaleTable)
        self._tell(status.status_lines(self.tables, self._result, table.row, table.cell))

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

    def _change_how(self, how: HowToPredict) -> None:
        self.app.change(scale=self.tables.asked(how))

    def action_new_row(self) -> None:
        """Add a blank row below, and go there."""
        table = self.query_one(ScaleTable)
        place = table.row + 1
        self._change_sheet(self.tables.sheet.with_new_row(place))
        table.cursor = (place, 0)
        table.focus()

    def action_remove_row(self) -> None:
        """Remove the row of the cursor."""
        row = self.query_one(ScaleTable).row
        if row >= 0:
            self._change_sheet(self.tables.sheet.without_row(row))

    def action_mark(self) -> None:
        """Give the row of the cursor its next role."""
        sheet, row = self.tables.sheet, self.query_one(ScaleTable).row
        if row >= 0 and not sheet.rows[row].is_blank:
            self._change_sheet(sheet.with_role(row, next_role(sheet.rows[row])))

    def action_undo(self) -> None:
        """Take the last edit back."""
        if self.tables.before is None:
            self.app.say("nothing was edited")
        else:
            self.app.change(scale=self.tables.undone())

    def action_empty(self) -> None:
        """Go to an empty table."""
        self.app.change(scale=self.tables.emptied())
        self.query_one(ScaleTable).cursor = (0, 0)
        self.query_one(ScaleTable).focus()

    def action_next_benchmark(self) -> None:
        """Go to the next benchmark of the file."""
        if len(self.tables.sheets) > 1:
            self.app.change(scale=self.tables.next())
        else:
            self.app.say("there is one benchmark alone")

    def action_next_rule(self) -> None:
        """Predict by the next rule."""
        self._change_how(self.tables.how.with_next_rule())

    def action_next_confidence(self) -> None:
        """Draw intervals of the next level."""
        self._change_how(self.tables.how.with_next_confidence())

    def action_assume(self) -> None:
        """Assume an f_mem where it is needed and not known, or do not."""
        self._change_how(self.tables.how.with_other_f_mem())

    def action_next_scaling(self) -> None:
        """Change what grows with the system."""
        self._change_sheet(self.tables.sheet.with_next_scaling())

    def action_next_unit(self) -> None:
        """Change whose instructions the MPKI counts."""
        self._change_sheet(self.tables.sheet.with_next_unit())

    def action_ask_peak(self) -> None:
        """Ask for the peak IPC of an SM."""
        self._ask("peak IPC of an SM:", self.tables.sheet.peak, self._take_peak)

    def action_open_file(self) -> None:
        """Ask for a file."""
        source = self.tables.source
        path = "" if source is None or self.tables.is_made_up else source.file
        self._ask("file (tab completes):", path, self._read_file)

    def _ask(self, question: str, text: str, answered: Callable[[str], None]) -> None:
        self._asking, self._path = answered, None
        self.query_one(Prompt).ask(question, text, is_path=answered == self._read_file)

    @on(PromptAnswered)
    def _take_answer(self, event: PromptAnswered) -> None:
        if event.text is None:
            self._close_prompt()
        else:
            self._asking(event.text)

    def _close_prompt(self) -> None:
        self._path = None
        self.query_one(ScaleTable).focus()
        self.query_one(Prompt).close()
        self._show_status()

    def _take_peak(self, text: str) -> None:
        self._change_sheet(replace(self.tables.sheet, peak=text))
        self._close_prompt()

    def _read_file(self, text: str) -> None:
        if text in {"", "-"}:
            self._refuse(["the name of a CSV or TOML is meant; esc leaves", "a CSV or TOML is meant"])
            return
        self._path = str(home_expanded(text)) if text.startswith("~") else text
        self._tell([f"reading {text}"])
        self._read(self._path)

    @work(thread=True, exclusive=True, exit_on_error=False, group="scale-file")
    def _read(self, path: str) -> None:
        worker = get_current_worker()
        told: list[str] = []
        sources = read_sheets([path], tell=told.append)
        if not worker.is_cancelled:
            self.post_message(SheetsRead(sources, told))

    @on(SheetsRead)
    def _take_sheets(self, event: SheetsRead) -> None:
        if self._path == event.sources[0].file:
            self.app.change(scale=self.tables.opened(event.sources))
            self._close_prompt()
            if event.told:
                self.app.say("; ".join(event.told))

    def worker_failed(self, worker: Worker[Any], error: Exception) -> None:
        """Say why a file cannot be used beside its name, which can be corrected."""
        if not isinstance(error, ScaleModelError):
            super().worker_failed(worker, error)
        elif self._path is not None:
            self._path = None
            self._refuse([str(error), error.message])

    def _refuse(self, forms: Sequence[str]) -> None:
        """Say until the next key why a file cannot be used."""
        self._tell(forms)
        self.app.until_next_key(self, self._show_status)

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
        canvas = Canvas(self.app.size.width, self.session.ascii_only, color=False)
        return PaneText(
            "kernelpoint-scale", predict_text(answer.pairs, self._sized(answer.asked), canvas) + "\n"
        )

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
