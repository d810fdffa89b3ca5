"""View 5: larger systems, predicted from a table of small ones or from what simulators printed of two."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding
from textual.containers import Container, VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Input, Static

from sampling.errors import OptionError, ProfileError, SamplingError
from sampling.parallel import Progress
from tui.app.actions import APP, SCALE, SHEET, VIEW, WORDS, bindings
from tui.app.planning import printed_options
from tui.app.prompt import Prompt, PromptField
from tui.app.session_app import start
from tui.app.state import Session
from tui.app.view import PaneText, ViewScreen
from tui.app.widgets import Chart, Line, Rows, titled
from tui.charts.size_plot import prediction_chart
from tui.options.command_line import command_line, error_text
from tui.options.files import files_named, is_there
from tui.options.scale import ScalePredictOptions
from tui.output.files import write_text
from tui.output.writer import Canvas
from tui.scale import questions as scale
from tui.scale.questions import CELLS, GAP, TEXT_NAME, OpenQuestion, OpenQuestions, ScaleAnswer
from tui.terminal.printable import printable

_LONGEST_CELL = 40
_LEAST_FIELD = 8
_CURSOR = Style(reverse=True)
_RESTING = Style(underline=True, bold=True)


class CellInput(Input):
    """The cell that is being typed in: every printable key is text."""

    BINDINGS = [Binding("escape", "leave", "As it was", key_display="esc")]  # noqa: RUF012

    class Left(Message):
        """The cell stays as it was."""

    def __init__(self, text: str) -> None:
        super().__init__(text, compact=True, max_length=_LONGEST_CELL)
        self.cursor_blink = False

    def action_leave(self) -> None:
        self.post_message(self.Left())


@dataclass
class CellTyped(Message):
    """Enter was pressed in a cell, one of `CELLS`, of a size."""

    size: int
    cell: str
    text: str


class ScaleTable(Rows):
    """The sizes of a question; the numbers to change, then as many other columns as there is room for.

    Attributes
    ----------
    column : of the cursor, one of those with numbers.
    """

    BINDINGS = bindings(SHEET)

    def __init__(self) -> None:
        super().__init__()
        self.column = 0
        self._question: OpenQuestion | None = None
        self._answer: ScaleAnswer | None = None
        self._columns: list[scale.SizeColumn] = []
        self._field: CellInput | None = None

    def show(self, question: OpenQuestion, answer: ScaleAnswer | None) -> None:
        """Show another question, or other predictions."""
        self.close_field()
        self._question, self._answer = question, answer
        self._arrange()
        self.fill(len(question.question.sizes), self.cursor)
        self.refresh(layout=True)

    @property
    def cell(self) -> tuple[int, str]:
        """The size and the column, one of `CELLS`, of the cursor."""
        assert self._question is not None
        return self._question.question.sizes[self.cursor], CELLS[self.column]

    def go(self, row: int, column: int) -> None:
        """Put the cursor on a cell, or on the nearest one."""
        self.close_field()
        self.column = min(max(column, 0), len(CELLS) - 1)
        self._put(row)
        self.post_message(self.Moved())

    def on_resize(self) -> None:
        self._arrange()
        super().on_resize()

    def _arrange(self) -> None:
        if self._question is not None:
            self._columns = scale.size_columns(self._question, self._answer, self.size.width)
        self._place_field()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return 1 + max(self.row_count, 1)

    def heading(self, width: int) -> str:  # noqa: ARG002 - columns are those of the widget's
        return (" " * GAP).join(column.fitted(column.heading) for column in self._columns)

    def render_line(self, y: int) -> Strip:
        """Headings, or one size; the cursor is reversed with the focus."""
        row = self._first + y - 1
        if y == 0 or not 0 <= row < self.row_count:
            return super().render_line(y)
        base, segments = self.rich_style, list[Segment]()
        for place, column in enumerate(self._columns):
            style = Style()
            if (row, place) == (self.cursor, self.column):
                style = _CURSOR if self.has_focus else _RESTING
            text = column.fitted(column.cells[row])
            segments += [Segment(" " * GAP * (place > 0), base), Segment(text, base + style)]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def on_focus(self) -> None:
        self.refresh()

    on_blur = on_focus

    def action_across(self, cells: int) -> None:
        self.go(self.cursor, self.column + cells)

    def action_edit(self) -> None:
        """Type in the cell."""
        if self._question is not None:
            self._field = CellInput(self._question.cell_text(*self.cell))
            self.mount(self._field)
            self._place_field()
            self._field.focus()

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
        width = -GAP
        # Columns behind it are covered whole or not at all: the end of a number reads as another one.
        for column in self._columns[self.column :]:
            if width + GAP < _LEAST_FIELD:
                width += GAP + column.width
        width = max(width, _LEAST_FIELD)
        self._field.styles.offset = (
            max(min(left, self.size.width - width), 0),
            self.cursor - self._first + 1,
        )
        self._field.styles.width = width

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(CellTyped(*self.cell, event.value))

    @on(CellInput.Left)
    def close_field(self) -> None:
        """Type no more."""
        if self._field is not None:
            field, self._field = self._field, None
            # The table takes the focus before its field goes: else another pane would get it.
            if field.has_focus:
                self.focus()
            field.remove()


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


class SavePrompt(Prompt):
    """Asks where the question goes."""

    FIELDS = (PromptField("place", "Save as: "),)

    def hint(self, name: str) -> Sequence[str]:  # noqa: ARG002 - it has one
        return "A new TOML, as `scale predict` reads it; tab completes, esc leaves", "A new TOML"


class ScaleScreen(ViewScreen):
    """The table of sizes, the chart of what is predicted, and the words about it."""

    OF_PROFILE = False
    NAME = "Scale model"
    SUMMARY = "the IPC of a big GPU from two small ones"
    SCOPES = (APP, SHEET, SCALE, VIEW)
    BINDINGS = bindings(APP, SCALE, VIEW)
    AUTO_FOCUS = "ScaleTable"
    ABOUT: ClassVar[str] = (
        "A row is a system size, in SMs or chiplets: simulated, the scale models, or a target, to be "
        "predicted; measured is a target that was simulated too. enter changes a number where the cursor is; "
        "E opens all of them, and what else is asked, as a TOML in the editor that VISUAL or EDITOR names. "
        "MPKI over the sizes is the miss-rate curve: where it falls to less than half, the working set comes "
        "to fit the cache. At such a cliff IPC gains what f_mem says, the share of cycles in which all warps "
        "of an SM wait for memory, of the largest scale model. o opens a table, or the logs of two GPUs "
        "apart by a blank, which are predicted launch by launch."
    )

    def __init__(self) -> None:
        super().__init__()
        self._answer: ScaleAnswer | SamplingError = SamplingError("nothing is asked yet")
        #: What was written in the editor and could not be read.
        self._draft: str | None = None

    def compose_panes(self) -> ComposeResult:
        table = ScaleTable(), Line(id="scale-status"), FilePrompt(), SavePrompt()
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
    def questions(self) -> OpenQuestions:
        """The questions; the bundled example until others are read."""
        return self.session.scale or scale.made_up_questions()

    @property
    def prediction(self) -> ScaleAnswer | None:
        """What is predicted; None where nothing can be."""
        return self._answer if isinstance(self._answer, ScaleAnswer) else None

    def follow(self, before: Session | None, session: Session) -> None:
        """Show what differs from what is shown: predict again, and show it in every pane."""
        if before is not None and before.scale is session.scale:
            return
        questions, chart = self.questions, self.query_one(Chart)
        self._answer = scale.answer(questions)
        self.query_one(ScaleTable).show(questions.shown, self.prediction)
        if isinstance(self._answer, SamplingError):
            chart.say(f"No prediction: {error_text(self._answer)}")
        else:
            chart.show(partial(prediction_chart, self._answer.measurements, self._answer.outcome))
        self.query_one(ScaleWords).show(partial(scale.answer_lines, self._answer))
        self._show_titles_soon()
        self._show_status()

    def _show_titles_soon(self) -> None:
        # Which rows are visible is known only after the layout.
        self.call_after_refresh(self._show_titles)

    def _show_titles(self) -> None:
        questions, prediction = self.questions, self.prediction
        table, pane = self.query_one(ScaleTable), self.query_one(ScaleWords)
        row = None if table.row_count <= table.page else table.cursor
        self.entitle("scale-table", *scale.table_title(questions, row))
        self.entitle("scale-chart", *scale.chart_title(questions, prediction))
        has_more = pane.scroll_y < pane.max_scroll_y
        self.entitle("scale-words", *scale.words_title(prediction, has_more=has_more))

    def _show_status(self) -> None:
        self._say(scale.status_lines(self.questions, self._answer))

    def _say(self, forms: Sequence[str]) -> None:
        self.query_one("#scale-status", Line).show(forms)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        pane = next(
            (ancestor for ancestor in event.widget.ancestors_with_self if ancestor.has_class("scale-pane")),
            None,
        )
        for other_pane in self.query(".scale-pane"):
            other_pane.set_class(other_pane is pane, "-current")
        table = self.query_one(ScaleTable)
        if table not in event.widget.ancestors_with_self:
            table.close_field()

    @on(Rows.Moved)
    def _show_place(self) -> None:
        self._show_titles_soon()

    # A number is changed where the cursor is.

    @on(CellTyped)
    def _change_cell(self, event: CellTyped) -> None:
        """Take what is typed; where that cannot be, say why, and the field stays open."""
        try:
            changed = self.questions.shown.with_cell(event.size, event.cell, event.text)
        except OptionError as error:
            self._say([f"! {error}", f"! {error.message}"])
        else:
            self._change_question(changed)
            self.query_one(ScaleTable).close_field()

    @on(CellInput.Left)
    def _forget_refusal(self) -> None:
        self._show_status()

    def _change_question(self, question: OpenQuestion) -> None:
        self._draft = None
        if question != self.questions.shown:
            self.app.change(scale=self.questions.with_shown(question))
        else:
            self._show_status()

    def action_edit_text(self) -> None:
        """Open the question as a TOML in the user's editor, and read it again."""
        text = self._draft or self.questions.shown.question.toml()
        try:
            edited = self._edited(text)
        except SuspendNotSupported:
            self.app.say("this terminal cannot be left for an editor; S saves a TOML", failed=True)
        except (OSError, subprocess.CalledProcessError, UnicodeDecodeError) as error:
            self.app.say(f"nothing is changed: {error}; EDITOR names the editor", failed=True)
        else:
            self._take_text(text, edited)

    def _edited(self, text: str) -> str:
        """Return a text as the user's editor left it."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        with tempfile.TemporaryDirectory(prefix="kernelpoint-") as folder:
            path = Path(folder) / TEXT_NAME
            path.write_text(text, encoding="utf-8")
            with self.app.suspend():
                subprocess.run([*shlex.split(editor), str(path)], check=True)  # noqa: S603 - the user's own
            return path.read_text(encoding="utf-8")

    def _take_text(self, before: str, text: str) -> None:
        if text == before:
            return
        try:
            question = self.questions.shown.with_text(text)
        except ProfileError as error:
            self._draft = text
            self.app.say(f"{error}; E goes on with it", failed=True)
        else:
            self._change_question(question)

    def action_save(self) -> None:
        self.query_one(SavePrompt).ask({"place": TEXT_NAME})

    @on(Input.Submitted, "#place")
    def _save(self, event: Input.Submitted) -> None:
        prompt, path = self.query_one(SavePrompt), Path(event.value.strip())
        try:
            if not event.value.strip() or is_there(path):
                raise OptionError(f"{path} exists" if event.value.strip() else "the name of a file is meant")
            write_text(self.questions.shown.question.toml(), path)
        except (OSError, OptionError) as error:
            prompt.refuse(f"not written: {error}")
        else:
            self._close_prompts()
            self.app.say(f"written to {path}; kernelpoint scale predict {shlex.quote(str(path))} reads it")

    # What is asked, and of which file.

    def action_next(self, setting: str) -> None:
        questions = self.questions
        if setting == "benchmark" and len(questions.questions) == 1:
            self.app.say("there is one benchmark alone")
            return
        changes = {
            "benchmark": questions.with_next_benchmark,
            "rule": questions.with_next_rule,
            "confidence": questions.with_next_confidence,
        }
        self._draft = None
        self.app.change(scale=changes[setting]())

    def action_assume(self) -> None:
        self.app.change(scale=replace(self.questions, assume_f_mem=not self.questions.assume_f_mem))

    def action_open_file(self) -> None:
        questions = self.questions
        has_file = not questions.is_made_up and not questions.shown.runs
        self.query_one(FilePrompt).ask({"file": questions.shown.file if has_file else ""})

    @on(Prompt.Left)
    def _close_prompts(self) -> None:
        self.workers.cancel_group(self, "scale")
        self.query_one(ScaleTable).focus()
        for prompt in self.query(Prompt):
            prompt.close()

    @on(Input.Submitted, "#file")
    def _read_file(self, event: Input.Submitted) -> None:
        text, prompt = event.value.strip(), self.query_one(FilePrompt)
        if text in {"", "-"}:
            prompt.refuse("the name of a CSV or TOML is meant")
        else:

            def read(_: Progress) -> Iterator[tuple[Sequence[OpenQuestion], list[str]]]:
                notes: list[str] = []
                yield scale.open_questions(files_named(text), tell=notes.append), notes

            def refuse(error: Exception) -> None:
                prompt.refuse(error_text(error))

            prompt.say([f"reading {text}"])
            start(self, read, self._take_questions, failed=refuse, group="scale")

    def _take_questions(self, result: tuple[Sequence[OpenQuestion], list[str]]) -> None:
        questions, notes = result
        self._draft = None
        self.app.change(scale=self.questions.with_questions(questions))
        self._close_prompts()
        if notes:
            self.app.say("; ".join(notes))

    # What is copied.

    def action_copy_command(self) -> None:
        if isinstance(self._answer, SamplingError):
            self.app.say(f"no prediction: {error_text(self._answer)}", failed=True)
        else:
            super().action_copy_command()

    def own_text(self) -> PaneText:
        """What `scale predict` prints; in the chart's pane, with a chart as large as there."""
        prediction = self.prediction
        if prediction is None:
            return PaneText("kernelpoint-scale", "")
        canvas = Canvas(self.app.size.width, color=False)
        return PaneText("kernelpoint-scale", prediction.text(self._sized(prediction.command), canvas) + "\n")

    def command(self) -> str:
        """`scale predict` of the file, or of the numbers themselves if they were edited."""
        printing, prediction = printed_options(self.session), self.prediction
        options = ScalePredictOptions() if prediction is None else prediction.command
        options = replace(options, ascii=printing.ascii, color=printing.color, quiet=printing.quiet)
        options = options.with_request(seed=printing.request.seed)
        return command_line("scale predict", self._sized(options))

    def _sized(self, options: ScalePredictOptions) -> ScalePredictOptions:
        """Return the options; for the chart's pane, with the chart's size."""
        chart = self.query_one(Chart)
        if self.focused is not chart or not chart.size.area:
            return options
        return replace(options, width=chart.size.width, height=chart.size.height)
