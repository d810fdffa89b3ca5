"""The widgets of view 3: the plan's figures, tables and findings, and the rows that ask where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from sampling.plan.study import Study
from sampling.simulators.registry import exporter_names
from tui.app.actions import LIST, bindings
from tui.app.frame.field import FieldWords, PathInput
from tui.app.frame.line import Line, fitting, toned_segments
from tui.app.frame.page import Page, findings_toned
from tui.app.plan.details import why_not_there
from tui.app.plan.presenter import Figure
from tui.app.session_app import SessionApp
from tui.charts.grid import fitted
from tui.options.command_line import PLAN_NAME, free_name
from tui.options.files import home_expanded, place_for
from tui.output.blocks import Listing, words

_LABEL = 10
_NOTHING = Listing((), "", lambda *_: "")


class PlanFigures(Widget, can_focus=True):
    """Names and values; of each value the longest wording that has room."""

    COMPONENT_CLASSES = {"plan-figures--value", *Line.COMPONENT_CLASSES}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.figures: list[Figure] = []

    def show(self, figures: list[Figure]) -> None:
        """Show these."""
        if figures != self.figures:
            self.figures = figures
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One figure."""
        width = self.size.width
        if y >= len(self.figures):
            return Strip.blank(width, self.rich_style)
        name, forms = self.figures[y]
        room = max(width - _LABEL - 1, 0)
        value = fitting(tuple(map(words, forms)), room)
        bold = self.get_component_rich_style("plan-figures--value", partial=True)
        segments = [
            Segment(f" {name}".ljust(_LABEL + 1)[:width], self.rich_style),
            *toned_segments(self, value, self.rich_style + bold),
        ]
        return Strip(segments).adjust_cell_length(width, self.rich_style)


class PlanList(ScrollView, can_focus=True):
    """Strata or launches; only visible rows are made into text, so that even millions can be scrolled."""

    BINDINGS = bindings(LIST)
    COMPONENT_CLASSES = {"plan-list--head"}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self._listing = _NOTHING
        self._words = ""

    def show(self, listing: Listing) -> None:
        """Show another table from its start."""
        self._listing, self._words = listing, ""
        self._measure()
        self.scroll_home(animate=False)
        self.refresh()

    def say(self, words: str) -> None:
        """Show a text in place of a table."""
        self._listing, self._words = _NOTHING, words
        self._measure()
        self.refresh()

    @property
    def place(self) -> str:
        """Which rows are visible, of how many."""
        rows, first = len(self._listing), self.scroll_offset.y
        last = min(first + self.size.height - 1, rows)
        return f"{first + 1:,}-{last:,} of {rows:,}" if rows else ""

    def _measure(self) -> None:
        self.virtual_size = Size(self.size.width, len(self._listing) + 1)

    def on_resize(self, _: events.Resize) -> None:
        """The last column takes the room there is."""
        self._measure()

    def render_line(self, y: int) -> Strip:
        """The headings, then one row."""
        width, style = self.size.width, self.rich_style
        number = self.scroll_offset.y + y - 1
        text = ""
        if not len(self._listing):
            text = fitted(self._words, width) if y == 0 else ""
        elif y == 0:
            style += self.get_component_rich_style("plan-list--head", partial=True)
            text = self._listing.head(width)
        elif number < len(self._listing):
            text = self._listing.row(number, width)
        return Strip([Segment(set_cell_size(text, width), style)], width)


class PlanFindings(Page):
    """Every finding's sentence and remedy, in the words of the commands."""

    def __init__(self) -> None:
        super().__init__(self._text)
        self._study: Study | None = None

    def show(self, study: Study) -> None:
        """Show another study's findings."""
        self._study = study
        self.write_anew()

    def _text(self, width: int) -> Text:
        if self._study is None or not width:
            return Text()
        return findings_toned(self._study, width)


@dataclass
class PlaceGiven(Message):
    """The user gave a file for the plan or, where an exporter is the target, a folder."""

    path: Path
    target: str | None


class PlaceInput(PathInput):
    """The field for the name."""

    BINDINGS = [  # noqa: RUF012
        Binding("escape", "screen.leave_prompt", "Leave it", key_display="esc"),
        Binding("up", "target(-1)", "Target", show=False),
        Binding("down", "target(1)", "Target", show=False),
    ]

    def action_target(self, by: int) -> None:
        """Choose another target."""
        self.screen.query_one(PlanPrompt).turn(by)


class PlanPrompt(Vertical):
    """Asks where the plan goes; the row above the field says what is wrong with it, until the next key."""

    app: SessionApp

    def __init__(self) -> None:
        super().__init__()
        self._target: str | None = None
        self._proposed = ""
        self.display = False

    def compose(self) -> ComposeResult:
        """The words over the field."""
        yield FieldWords()
        with Horizontal():
            yield Static()
            yield PlaceInput(compact=True, select_on_focus=False)

    def ask(self, target: str | None) -> None:
        """Ask for a file for the plan, or for a folder for what an exporter makes of it."""
        self._target = target
        self._propose(self._free_name())

    def ask_again(self, path: Path, target: str | None, problem: str) -> None:
        """Ask for another place than one that could not be written; the path stays, to be edited."""
        self._target = target
        self._propose(str(path))
        self._refuse(f"not written: {problem}")

    def close(self) -> None:
        """Ask no more."""
        self.display = False

    def _free_name(self) -> str:
        return free_name(place_for(PLAN_NAME if self._target is None else f"{self._target}-export"))

    def _propose(self, name: str) -> None:
        field = self.query_one(PlaceInput)
        self._proposed = field.value = name
        field.cursor_position = len(name)
        self._explain()
        self.display = True
        field.focus()

    def _explain(self) -> None:
        what, does, brief = "Save the plan to a new file", "saves", "Save to a new file"
        if self._target is not None:
            among = ", up and down change it" if len(exporter_names()) > 1 else ""
            what, does, brief = f"Export for {self._target}{among}", "writes", f"For {self._target}"
        forms = [f"{what}; {tab}enter {does}, esc leaves" for tab in ("tab completes, ", "")]
        self.query_one(FieldWords).show([*forms, brief])
        self.query_one("Horizontal Static", Static).update("File: " if self._target is None else "Folder: ")

    def _refuse(self, problem: str) -> None:
        self.query_one(FieldWords).refuse(problem)
        self.app.until_next_key(self, self._explain)

    def turn(self, by: int) -> None:
        """Choose another target; a name that was not edited goes with it."""
        if self._target is not None:
            names, typed = exporter_names(), self.query_one(PlaceInput).value
            self._target = names[(names.index(self._target) + by) % len(names)]
            if typed == self._proposed:
                self._propose(self._free_name())
            self._explain()

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        name = event.value.strip()
        path = home_expanded(name)
        problem = why_not_there(name, path, is_folder=self._target is not None)
        if problem is None:
            self.post_message(PlaceGiven(path, self._target))
        else:
            self._refuse(problem)
