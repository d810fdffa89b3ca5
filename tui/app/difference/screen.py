"""View 7: what changed between a recording before and the open one, kernel by kernel."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.worker import get_current_worker

from sampling.difference.difference import Difference
from sampling.errors import OptionError, ProfileError, SamplingError
from sampling.profile.profile import Profile
from tui.app.actions import APP, DIFFERENCE, VIEW, bindings
from tui.app.difference.comparing import (
    DifferenceFailed,
    DifferenceProgress,
    DifferenceReady,
    tell_difference,
)
from tui.app.difference.panes import DifferenceTable, KernelHighlighted
from tui.app.difference.presenter import (
    INVITATION,
    asked_of,
    chart_title,
    draw_kernel,
    printed_text,
    sides_lines,
    table_title,
)
from tui.app.difference.prompt import BeforeGiven, BeforeLeft, BeforePrompt
from tui.app.frame.by_wheel import HeadClicked
from tui.app.frame.chart import Chart
from tui.app.frame.heads import next_in, sorted_by_head
from tui.app.frame.line import Line, PaneTitle
from tui.app.frame.page import PaneText
from tui.app.frame.view import ViewScreen
from tui.app.planning import failure_words
from tui.app.state import Session
from tui.options.choices import DifferenceSort
from tui.options.command_line import command_line
from tui.options.difference import DifferenceOptions
from tui.options.parts import file_and_part
from tui.output.writer import Canvas
from tui.text.difference import sorted_difference

_WORKERS = "difference"


class DifferenceScreen(ViewScreen):
    """The table of kernels over the two histograms of one of them."""

    # Its own text says which launches of either recording count.
    OF_PROFILE = False
    NAME = "Difference"
    SUMMARY = "two recordings, or two parts of one, kernel by kernel"
    SCOPES = (APP, DIFFERENCE, VIEW)
    BINDINGS = bindings(APP, DIFFERENCE, VIEW)
    AUTO_FOCUS = "DifferenceTable"
    ABOUT: ClassVar[str] = (
        "What is open is after; o asks for what is before, another recording or a part of this one. Kernels "
        "are matched by name, grid and block, and by name alone where the shapes changed. mean is the ratio "
        "of mean durations, after over before, with its interval, which takes launches as independent; share "
        "is a kernel's part of all changes, taken without their signs. A plus marks a kernel that appeared, "
        "a minus one that vanished. Both histograms have the same axis of durations. Filters are of both "
        "recordings; launch ids and a named range that are set for the open one are of it alone."
    )

    def __init__(self) -> None:
        super().__init__()
        self._found: Difference | None = None
        self._order = DifferenceSort.CHANGE, False
        self._listed: Difference | None = None
        self._shown_asked: DifferenceOptions | None = None
        self._wanted: tuple[DifferenceOptions, Profile] | None = None
        self._typed = ""
        self._doing = ""
        self._generation = 0

    def compose_panes(self) -> ComposeResult:
        """The table, the histograms, what is compared, the question."""
        ascii_only = self.session.ascii_only
        with Container(id="panes"):
            with Vertical(id="kernels-pane", classes="pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield DifferenceTable(ascii_only=ascii_only)
            with Vertical(id="two-pane", classes="pane"):
                yield PaneTitle(ascii_only=ascii_only)
                chart = Chart(id="two")
                # The command prints the table: there is nothing of the chart's own to copy.
                chart.can_focus = False
                yield chart
        yield Line(ascii_only=ascii_only, id="sides")
        yield BeforePrompt(ascii_only=ascii_only)

    def follow(self, shown: Session | None, session: Session) -> None:
        """Compare anew where other launches count, or another recording is before."""
        if session.study is None or session.before is None:
            self._show()
            return
        try:
            wanted = asked_of(self.app.planned, session.before)
        except OptionError as error:
            self._typed = session.before
            self._refuse(error)
            return
        if self._wanted is None or self._wanted[0] != wanted or self._wanted[1] is not session.study.profile:
            self._start(session.before, wanted, session.study.profile)
        elif shown is None or shown.log != session.log:
            self._show_chart()

    @property
    def is_settled(self) -> bool:
        """Whether nothing is being read or compared."""
        return not self._doing

    # Comparing.

    def _start(self, typed: str, asked: DifferenceOptions, profile: Profile) -> None:
        self._generation += 1
        self._typed, self._wanted, self._doing = typed, (asked, profile), "reading"
        self._show_doing()
        self._compare(self._generation, asked, self._read_already(asked, profile))

    def _read_already(self, asked: DifferenceOptions, profile: Profile) -> dict[str, Profile]:
        """Return what need not be read again: the open one, and the one that was before."""
        read = {file_and_part(asked.after)[0]: profile}
        last = self._shown_asked
        if self._found is not None and last is not None and last.columns == asked.columns:
            read.setdefault(file_and_part(last.before)[0], self._found.parts[0].profile)
        return read

    @work(thread=True, exclusive=True, exit_on_error=False, group=_WORKERS)
    def _compare(self, generation: int, asked: DifferenceOptions, read: dict[str, Profile]) -> None:
        worker = get_current_worker()
        tell_difference(generation, asked, read, self.post_message, lambda: worker.is_cancelled)

    @on(DifferenceProgress)
    def _take_progress(self, event: DifferenceProgress) -> None:
        if event.generation == self._generation and self._doing:
            self._doing = event.words
            self._show_doing()

    @on(DifferenceReady)
    def _take_difference(self, event: DifferenceReady) -> None:
        if event.generation != self._generation or self._wanted is None:
            return
        was_read = self._found is None or event.found.parts[0].profile is not self._found.parts[0].profile
        self._found, self._shown_asked, self._doing = event.found, self._wanted[0], ""
        self._close_prompt()
        self._show()
        before, after = (part.profile for part in event.found.parts)
        if was_read and before is not after:
            for text in before.notes:
                self.app.say(text)
        self.app.change(before=self._typed)

    @on(DifferenceFailed)
    def _take_failure(self, event: DifferenceFailed) -> None:
        if event.generation == self._generation:
            self._refuse(event.error)

    def _refuse(self, error: SamplingError | OSError) -> None:
        """Say why they cannot be compared, over the name, which can be corrected."""
        self._doing = ""
        self._want_what_is_shown()
        self._show()
        words = failure_words(error)
        # Of a long path its end is enough: it stands whole in the field below.
        near = words.replace(error.path, Path(error.path).name) if isinstance(error, ProfileError) else words
        forms = {words, words.partition("; ")[0], near, near.partition("; ")[0]}
        self.query_one(BeforePrompt).ask(self._typed, sorted(forms, key=len, reverse=True))

    def _want_what_is_shown(self) -> None:
        """Forget a recording that could not be compared; the session's own is not tried again unchanged."""
        if self._typed != self.session.before and self._found is not None and self._shown_asked is not None:
            self._wanted = self._shown_asked, self._found.parts[1].profile

    # What is shown.

    def _show(self) -> None:
        """Show all that is known."""
        table = self.query_one(DifferenceTable)
        if self._found is None:
            table.say(INVITATION)
        else:
            sort, reverse = self._order
            self._listed = sorted_difference(self._found, sort, reverse=reverse)
            table.show(self._listed, self._order)
            # No more rows than there are kernels, and two for the title and the headings.
            self.query_one("#kernels-pane").styles.max_height = len(self._found.kernels) + 2
        if self._shown_asked is not None:
            self.query_one("#sides", Line).show(sides_lines(self._shown_asked))
        self._show_doing()
        self._show_chart()

    def _show_doing(self) -> None:
        doing = f"{self._doing}; esc cancels" if self._doing else ""
        sort, reverse = self._order
        title = table_title(self._found, doing, sort, reverse=reverse)
        self.query_one("#kernels-pane PaneTitle", PaneTitle).show(*title)
        if self._doing:
            self.query_one(BeforePrompt).tell([doing])

    @on(KernelHighlighted)
    def _show_chart(self) -> None:
        found, session = self._listed, self.session
        if found is None:
            self.query_one("#two-pane PaneTitle", PaneTitle).show("Durations before and after")
            return
        kernel = self.query_one(DifferenceTable).cursor
        self.query_one("#two-pane PaneTitle", PaneTitle).show(*chart_title(found, kernel, log=session.log))
        self.query_one(Chart).show(partial(draw_kernel, found, kernel, session.log, session.ascii_only))

    # What is done.

    def action_ask(self) -> None:
        """Ask for the recording before."""
        self.query_one(BeforePrompt).ask(self._typed or self.session.before or "")

    @on(BeforeGiven)
    def _take_answer(self, event: BeforeGiven) -> None:
        study = self.session.study
        if study is None:
            return
        self._typed = event.text
        try:
            asked = asked_of(self.app.planned, event.text)
        except OptionError as error:
            self._refuse(error)
        else:
            self._start(event.text, asked, study.profile)

    @on(BeforeLeft)
    def _leave(self) -> None:
        self._cancel()
        self._close_prompt()

    def _close_prompt(self) -> None:
        prompt = self.query_one(BeforePrompt)
        if prompt.display:
            prompt.close()
            self.query_one(DifferenceTable).focus()

    def action_cancel(self) -> None:
        """Read no further; what is there stays. Where nothing is read, leave the key to others."""
        if not self._doing:
            raise SkipAction
        self._cancel()

    def _cancel(self) -> None:
        if self._doing:
            self.workers.cancel_group(self, _WORKERS)
            self._generation += 1
            self._doing = ""
            self._want_what_is_shown()
            self._show_doing()
            self.app.say("cancelled; what is there stays")

    def action_move(self, rows: int) -> None:
        """Move the cursor."""
        self.query_one(DifferenceTable).move(rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by as many kernels as are visible."""
        table = self.query_one(DifferenceTable)
        table.move(pages * table.page)

    def action_sort(self) -> None:
        """Sort by the next column."""
        self._sort(next_in(tuple(DifferenceSort), self._order[0]), reverse=False)

    def action_reverse(self) -> None:
        """Sort by the same the other way round."""
        sort, reverse = self._order
        self._sort(sort, reverse=not reverse)

    @on(HeadClicked)
    def _sort_by_head(self, event: HeadClicked) -> None:
        sort, reverse = self._order
        order = sorted_by_head(event.heading, sort, is_reverse=reverse)
        if order is not None:
            self._sort(order[0], reverse=order[1])

    def _sort(self, sort: DifferenceSort, *, reverse: bool) -> None:
        if self._found is not None:
            self._order = sort, reverse
            self._show()

    def action_log(self) -> None:
        """Change between logarithmic and linear durations."""
        self.app.change(log=not self.session.log)

    def own_text(self) -> PaneText:
        """What `difference` prints."""
        found, asked = self._listed, self._asked()
        if found is None or asked is None:
            return PaneText("kernelpoint-difference", "")
        canvas = Canvas(self.app.size.width, ascii_only=self.session.ascii_only, color=False)
        return PaneText("kernelpoint-difference", printed_text(found, asked, canvas))

    def command(self) -> str:
        """`difference` of the same two, with the same filters."""
        asked = self._asked()
        return "" if asked is None else command_line("difference", asked)

    def _asked(self) -> DifferenceOptions | None:
        """Return the options of the table as it is shown; None before anything is compared."""
        sort, reverse = self._order
        return self._shown_asked and replace(self._shown_asked, sort=sort, reverse=reverse)

    def action_copy_command(self) -> None:
        """Copy the command line, once two recordings are compared."""
        if self._shown_asked is None:
            self.app.say("nothing is compared yet; o asks for the recording before")
        else:
            super().action_copy_command()
