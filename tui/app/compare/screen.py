"""View 4: all methods on this workload, what each saves and how wrong it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from sampling.errors import SamplingError
from sampling.methods.registry import method_names
from tui.app.actions import APP, COMPARE, COMPARING, VIEW, bindings
from tui.app.compare.comparing import ComparisonEnded, MethodCompared, MethodProgress, start_comparing
from tui.app.compare.orders import next_sort
from tui.app.compare.panes import CompareTable, CompareWords, MethodHighlighted, PageChanged
from tui.app.compare.presenter import (
    CANNOT_RUN,
    Ending,
    Findings,
    Shown,
    asked_of,
    blocks_of,
    compare_command,
    draw_scatter,
    invitation,
    is_compared_unasked,
    printed_by,
    scatter_title,
    table_title,
    what_to_say,
)
from tui.app.frame.by_wheel import HeadClicked
from tui.app.frame.chart import Chart
from tui.app.frame.heads import sorted_by_head
from tui.app.frame.line import PaneTitle
from tui.app.frame.page import PaneText
from tui.app.frame.view import ViewScreen
from tui.app.state import Session
from tui.options.choices import CompareSort
from tui.options.commands import CompareOptions
from tui.options.flags import error_text
from tui.output.writer import Canvas
from tui.text.compare import Row, comparison_text, scatter_text


class CompareScreen(ViewScreen):
    """The table of methods over their scatter."""

    NAME = "Compare"
    SUMMARY = "all methods on this workload: what each saves, how wrong it is"
    SCOPES = (APP, COMPARE, COMPARING, VIEW)
    BINDINGS = bindings(APP, COMPARE, COMPARING, VIEW)
    AUTO_FOCUS = "CompareTable"
    ABOUT: ClassVar[str] = (
        "Every method plans this workload by the same options, and each plan is drawn 100 times. Drawn is "
        "how many launches it simulates; simulated is what it promises of the simulated total, bound of the "
        "profiled total, group of any kernel group; mean, p95 and max are the errors of the draws, within is "
        "the share of them within epsilon. Best first: the promises that are kept (simulated within "
        "epsilon, and the draws), by speedup; then wider bounds; then none, by mean error. Methods of one "
        "plan share a row. In the scatter right is faster and down is less wrong; letters side by side share "
        "a place. No method takes your split decisions."
    )

    def __init__(self) -> None:
        super().__init__()
        self._findings: Findings | None = None
        self._sort, self._reverse = CompareSort.BEST, False
        self._explained = False
        self._generation = 0
        self._cancel: Callable[[], None] | None = None
        self._drawn: tuple[list[Row], str | None] | None = None

    def compose_panes(self) -> ComposeResult:
        """The table with what there is to say of a method, and the scatter."""
        ascii_only = self.session.ascii_only
        with Container(id="panes"):
            with Vertical(id="methods-pane", classes="pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield CompareTable(ascii_only=ascii_only)
                yield CompareWords(ascii_only=ascii_only)
            with Vertical(id="scatter-pane", classes="pane"):
                yield PaneTitle(ascii_only=ascii_only)
                yield Chart(id="scatter")

    def follow(self, shown: Session | None, session: Session) -> None:
        """Compare a small workload at once; say if the shown comparison was made by other options."""
        study = session.study
        if study is None:
            return
        if shown is None and is_compared_unasked(study):
            self._start()
        else:
            self._show()

    def on_unmount(self) -> None:
        """Cancel the running comparison."""
        self._stop()

    @property
    def findings(self) -> Findings | None:
        """What is known of the methods; None before anything is compared."""
        return self._findings

    def _start(self) -> None:
        study = self.session.study
        if study is None:
            return
        self._stop()
        self._generation += 1
        methods = method_names()
        self._findings = Findings(asked_of(self.session), methods, doing=(methods[0], "designing"))
        self._cancel = start_comparing(
            study.profile, self._findings.asked, methods, self._generation, self.post_message
        )
        self._show()

    def _stop(self) -> None:
        if self._cancel is not None:
            self._cancel()
            self._cancel = None

    def _is_wanted(self, generation: int) -> bool:
        """Return whether a message is of the running thread, neither cancelled nor replaced since."""
        findings = self._findings
        return generation == self._generation and findings is not None and findings.ending is None

    def _know(self, generation: int, change: Callable[[Findings], Findings]) -> None:
        """Take over what the thread found."""
        if self._findings is not None and self._is_wanted(generation):
            self._findings = change(self._findings)
            self._show()

    @on(MethodProgress)
    def _take_progress(self, event: MethodProgress) -> None:
        if self._findings is None or not self._is_wanted(event.generation):
            return
        shown, doing = self._findings.doing, (event.method, event.words)
        self._findings = replace(self._findings, doing=doing)
        if shown is None or shown[0] != event.method:
            self._show()
        else:
            self.query_one(CompareTable).tell(event.words)

    @on(MethodCompared)
    def _take_row(self, event: MethodCompared) -> None:
        notes = tuple((event.row["method"], note) for note in event.notes)
        self._know(
            event.generation,
            lambda known: replace(
                known, rows=(*known.rows, event.row), notes=(*known.notes, *notes), doing=None
            ),
        )

    @on(ComparisonEnded)
    def _take_end(self, event: ComparisonEnded) -> None:
        error = event.error
        if error is not None and not isinstance(error, SamplingError | OSError):
            self.app.fail(error)
            return
        notes = tuple(("", note) for note in event.notes)
        self._know(
            event.generation,
            lambda known: replace(
                known,
                notes=(*known.notes, *notes),
                doing=None,
                ending=Ending.DONE if error is None else Ending.FAILED,
                problem=None if error is None else error_text(error),
            ),
        )

    @on(MethodHighlighted)
    def _follow_cursor(self) -> None:
        self._show_words()
        self._show_scatter()

    @on(PageChanged)
    def _show(self) -> None:
        """Show all that is known."""
        findings, session = self._findings, self.session
        doing = None if findings is None else findings.doing
        table = self.query_one(CompareTable)
        sort, reverse = self._sort, self._reverse
        shown = Shown(blocks_of(findings, sort, reverse=reverse), doing, self._explained, sort, reverse)
        table.show(shown, invitation(session))
        beyond = len(table.methods) - table.page
        more = f"; {beyond} below" if beyond > 0 and table.size.height else ""
        left, right = table_title(findings, session, sort, reverse=reverse)
        self.query_one("#methods-pane PaneTitle", PaneTitle).show(left, right + more)
        self._show_words()
        self._show_scatter()

    def _rows(self) -> list[Row]:
        """Return the rows in the order that they came in."""
        return [] if self._findings is None else list(self._findings.rows)

    def _highlighted(self) -> Row | None:
        method = self.query_one(CompareTable).highlighted
        if method == CANNOT_RUN:
            return {"method": CANNOT_RUN, "applicable": False}
        return next((row for row in self._rows() if row["method"] == method), None)

    def _show_words(self) -> None:
        """Show why it failed, else the sentence about the method under the cursor."""
        words = what_to_say(self._findings, self._highlighted(), self.session)
        self.query_one(CompareWords).show(words)

    def _show_scatter(self) -> None:
        row = self._highlighted()
        self.query_one("#scatter-pane PaneTitle", PaneTitle).show(*scatter_title(row))
        rows, selected = self._rows(), None if row is None else row["method"]
        if (rows, selected) != self._drawn:
            self._drawn = (rows, selected)
            self.query_one(Chart).show(partial(draw_scatter, rows, selected, self.session.ascii_only))

    def action_run(self) -> None:
        """Compare anew, by the options as they are now."""
        self._start()

    def action_cancel(self) -> None:
        """Stop comparing; results so far stay. Where nothing is compared, leave the key to others."""
        findings = self._findings
        if findings is None or findings.ending is not None:
            raise SkipAction
        self._stop()
        self._findings = replace(findings, doing=None, ending=Ending.CANCELLED)
        self._show()

    def action_sort(self) -> None:
        """Sort by the next figure."""
        self._sort, self._reverse = next_sort(self._sort), False
        self._show()

    def action_reverse(self) -> None:
        """Sort by the same figure the other way round."""
        self._reverse = not self._reverse
        self._show()

    @on(HeadClicked)
    def _sort_by_head(self, event: HeadClicked) -> None:
        order = sorted_by_head(event.heading, self._sort, is_reverse=self._reverse)
        if order is not None:
            self._sort, self._reverse = order
            self._show()

    def action_reasons(self) -> None:
        """Say why methods cannot run, or name them only."""
        self._explained = not self._explained
        self._show()

    def action_move(self, rows: int) -> None:
        """Move the cursor."""
        self.query_one(CompareTable).move(rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by as many methods as are visible."""
        table = self.query_one(CompareTable)
        table.move(pages * table.page)

    def action_take(self) -> None:
        """Plan by the method under the cursor."""
        method = self.query_one(CompareTable).highlighted
        if method:
            self.app.action_method(method)

    def own_text(self) -> PaneText:
        """The table with the reasons of methods that do not apply, or the scatter as it stands."""
        rows, ascii_only = self._rows(), self.session.ascii_only
        if not rows:
            return PaneText("kernelpoint-compare", "")
        canvas = Canvas(self.size.width, ascii_only=ascii_only, color=False)
        if self._is_scatter_meant():
            text = scatter_text(rows, canvas, *self.query_one(Chart).printed_size)
            return PaneText("kernelpoint-compare-scatter", text + "\n")
        return PaneText("kernelpoint-compare", comparison_text(rows, self._asked(), canvas) + "\n")

    def _asked(self) -> CompareOptions:
        """Return the options of the command that prints the table."""
        findings = self._findings
        options = asked_of(self.session) if findings is None else findings.asked
        return printed_by(options, self._sort, reverse=self._reverse, explained=self._explained)

    def command(self) -> str:
        """`compare` of the methods done so far, as the table has them, by the options they were asked by."""
        scatter = self.query_one(Chart).printed_size if self._is_scatter_meant() else None
        return compare_command(self._asked(), self._rows(), scatter)

    def _is_scatter_meant(self) -> bool:
        return self.focused is self.query_one(Chart)
