"""View 4: all methods on this workload, what each saves and how wrong it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from msgspec import structs
from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container
from textual.worker import Worker

from sampling.errors import SamplingError
from sampling.methods.registry import check_settings, method_named, method_names
from sampling.parallel import Progress
from sampling.plan.comparison import ComparedMethod
from sampling.plan.sensitivity import machine_hours
from sampling.profile.profile import Profile
from sampling.text import counted
from tui.app.actions import APP, COMPARE, COMPARING, VIEW, bindings
from tui.app.planning import printed_options
from tui.app.session_app import in_words, start
from tui.app.state import Session
from tui.app.view import PaneText, TableScreen
from tui.app.widgets import Chart, Note, Rows, Runs, Table, Written, marked, titled
from tui.app.wording import MOST_LAUNCHES_UNASKED
from tui.charts import quantities
from tui.charts.grid import AXIS, PLAIN, fitted
from tui.engine.planning import comparison_of
from tui.options.choices import CompareSort
from tui.options.command_line import command_line, error_text, options_of, with_flags
from tui.options.plan import CompareOptions
from tui.output.writer import Canvas, canvas_text
from tui.terminal.printable import table
from tui.text.methods import (
    Blocks,
    blocks,
    cannot_run_text,
    comparison_blocks,
    comparison_columns,
    comparison_scatter,
    falls,
    method_mark,
    promises,
)

CANNOT_RUN = ""
"""The name of the row for all methods that cannot run."""

_MARK_CELLS = 2
_ERRORS = frozenset({CompareSort.MEAN, CompareSort.P95, CompareSort.MAX})


@dataclass(frozen=True, slots=True)
class Findings:
    """What is known so far of a comparison: what `compare` would be given, its methods, the rows so far."""

    options: CompareOptions
    methods: tuple[str, ...]
    rows: tuple[ComparedMethod, ...] = ()
    #: What methods have to say, by method; what feature files have, by "".
    notes: tuple[tuple[str, str], ...] = ()
    #: What the method under way does, in words.
    doing: str = ""
    #: "done", "cancelled" or "failed", and why; "" while it runs.
    ending: str = ""
    problem: str = ""

    @property
    def running(self) -> str:
        """The method under way and what it does; nothing if none is."""
        return "" if self.ending else f"{self.methods[len(self.rows)]}: {self.doing}"


def compare_methods(profile: Profile, findings: Findings, progress: Progress) -> Iterator[Findings]:
    """Compare methods one after the other; yield what is known after each, and at the end.

    Raises SamplingError or OSError, the engine's, of features or options.
    """
    current, options = findings, findings.options
    check_settings(options.request.set)
    comparison = comparison_of(profile, options.profiles, options, progress)
    for method in current.methods:
        progress(0, 0, "designing")
        compared = comparison.compare(method)
        flagged = () if compared.design is None else tuple(map(with_flags, compared.design.notes))
        row = compared.record(" ".join(options.profiles), compared.reason and with_flags(compared.reason))
        notes = *current.notes, *((method, note) for note in flagged)
        current = replace(current, rows=(*current.rows, row), notes=notes)
        if len(current.rows) < len(current.methods):
            yield replace(current, doing="designing")
    of_files = tuple(("", with_flags(report.sentence)) for report in comparison.reports)
    yield replace(current, notes=(*current.notes, *of_files), ending="done")


# What is said.


def comparison_options(session: Session) -> CompareOptions:
    """Return what `compare` is to be given; in the app all files are one workload."""
    return options_of(CompareOptions, printed_options(session), one_workload=len(session.profiles) > 1)


def order_words(sort: CompareSort, *, reverse: bool) -> str:
    """Return what the table is sorted by, to be put behind what it lists."""
    if sort is CompareSort.BEST:
        return ", worst first" if reverse else ", best first"
    words = f" by {sort.value}{' error' if sort in _ERRORS else ''}"
    if reverse and sort is CompareSort.METHOD:
        return f"{words}, Z to A"
    first = "largest" if falls(sort, reverse=reverse) else "smallest"
    return f"{words}, {first} first" if reverse else words


def standing(findings: Findings | None, session: Session) -> str:
    """Return how far the comparison is, and the key that starts, cancels or repeats it."""
    if findings is None:
        return "[r] starts"
    far = f"{len(findings.rows)} of {len(findings.methods)}"
    if findings.options != comparison_options(session):
        return "of the plan before; [r] compares anew"
    if not findings.ending:
        return f"{far}, [c] cancel"
    if findings.ending == "done":
        return f"{counted(findings.options.repeats, 'draw')} each, [r] again"
    return f"{findings.ending} after {far}, [r] anew"


def what_to_say(findings: Findings, row: ComparedMethod | None, session: Session) -> str:
    """Return why the comparison failed; else what there is to say of one method."""
    if findings.problem or row is None:
        return findings.problem
    if not row.applicable:
        return str(row.reason)
    method, draft = method_named(row.method), session.draft
    sentences = [f"{row.method}: {method.source}"]
    slowdown, epsilon = session.options.slowdown, findings.options.request.epsilon
    promised = row.promised_error
    if slowdown is not None and draft is not None and row.speedup:
        machine_time = quantities.hours(machine_hours(draft.counts.total_duration_ns / row.speedup, slowdown))
        sentences.append(f"{machine_time} of one machine, simulated {slowdown:g} times slower")
    if promised is not None and promised > epsilon:
        wide, target = quantities.share(promised), quantities.share(epsilon)
        sentences.append(f"promises the simulated total within {wide}, not within the {target} asked for")
    # The notes on feature files are shown for the methods that used them.
    told_of = {row.method, *([""] if method.needs else [])}
    return "; ".join([*sentences, *(note for of, note in findings.notes if of in told_of)])


def write_comparison(blocks: Blocks, running: str, order: tuple[CompareSort, bool], width: int) -> Written:
    """Return the heading and what writes the rows: methods that can run, the one under way, then the others.

    A method's letter stands before its figures, with the columns that have room, or before words.
    """
    room, heading, (sort, reverse) = width - _MARK_CELLS, "method", order
    rows: list[tuple[str, int]] = []
    if blocks.can_run:
        # The mark in the head may take a cell.
        fitting = comparison_columns(blocks.can_run, room - 1)
        columns = marked(fitting, [sort.value], falls=falls(sort, reverse=reverse))
        wide = table(columns).split("\n")
        heading, *figures = wide if len(wide[0]) <= room else table(columns, gap=" ").split("\n")
        rows += [(text, PLAIN) for text in figures]
    rows += [(running, AXIS)] * bool(running)
    rows += [(str(row.reason), AXIS) for row in blocks.cannot_run]
    methods = list_methods(blocks, running)

    def write(row: int) -> Runs:
        mark = (" ", PLAIN) if methods[row] == CANNOT_RUN else method_mark(methods[row])
        text, style = rows[row]
        return [mark, (f" {fitted(text, room)}", style)]

    return fitted(" " * _MARK_CELLS + heading, width), write


def list_methods(blocks: Blocks, running: str) -> list[str]:
    """Return the method of each row; of several of one plan the first."""
    doing = [running.partition(":")[0]] if running else []
    without = [row.method for row in blocks.cannot_run]
    return [*(block.methods[0] for block in blocks.can_run), *doing, *without]


class CompareScreen(TableScreen[CompareSort]):
    """The table of methods over their scatter."""

    NAME = "Compare"
    SUMMARY = "all methods on this workload: what each saves, how wrong it is"
    SCOPES = (APP, COMPARE, COMPARING, VIEW)
    BINDINGS = bindings(APP, COMPARE, COMPARING, VIEW)
    AUTO_FOCUS = "Table"
    orders = CompareSort.BEST, CompareSort.SPEEDUP, CompareSort.MEAN, CompareSort.DRAWN
    order = CompareSort.BEST, False
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
        self._table, self._scatter = Table[str](), Chart(id="scatter")
        self._words = Note(id="method-words")
        self.findings: Findings | None = None
        self._explained = False
        #: The row that stands for all methods that cannot run.
        self._without: ComparedMethod = ComparedMethod(
            profile="", method=CANNOT_RUN, applicable=False, reason="", seconds=0
        )
        self._worker: Worker[None] | None = None

    def compose_panes(self) -> ComposeResult:
        panes = titled("methods", self._table, self._words), titled("scatter", self._scatter)
        yield Container(*panes, id="panes")

    def follow(self, previous: Session | None, session: Session) -> None:
        """Compare a small workload at once; say if the shown comparison was made by other options."""
        if session.draft is None:
            return
        if previous is None and session.draft.counts.launches <= MOST_LAUNCHES_UNASKED:
            self.action_run()
        else:
            self._show()

    def action_run(self) -> None:
        draft = self.session.draft
        if draft is None:
            return
        findings = Findings(comparison_options(self.session), method_names(), doing="designing")
        self._take(findings)
        task = partial(compare_methods, draft.profile, findings)
        say = in_words(self._say_doing)
        self._worker = start(self, task, self._take, say, self._fail, group="compare")

    def _say_doing(self, doing: str) -> None:
        if self.findings is not None:
            self._take(replace(self.findings, doing=doing))

    def _take(self, findings: Findings) -> None:
        self.findings = findings
        self._show()

    def _fail(self, error: SamplingError | OSError) -> None:
        if self.findings is not None and not self.findings.ending:
            self._take(replace(self.findings, ending="failed", problem=error_text(error)))

    @property
    def _rows(self) -> list[ComparedMethod]:
        """The rows in the order that they came in."""
        return [] if self.findings is None else list(self.findings.rows)

    @on(Rows.Resized)
    def _show(self) -> None:
        """Show all that is known."""
        findings, session, (sort, reverse), blocks_now = (
            self.findings,
            self.session,
            self.order,
            Blocks((), ()),
        )
        if findings is not None:
            promise = promises(
                findings.rows, findings.options.request.epsilon, findings.options.request.confidence
            )
            blocks_now = blocks(findings.rows, sort, promise, reverse=reverse)
        if blocks_now.cannot_run and not self._explained:
            reason = f"[e] {cannot_run_text(blocks_now.cannot_run)}"
            self._without = structs.replace(self._without, reason=reason)
            blocks_now = Blocks(blocks_now.can_run, (self._without,))
        launches = 0 if session.draft is None else session.draft.counts.launches
        words = f"r compares {len(method_names())} methods on {quantities.count(launches)} launches"
        if launches > MOST_LAUNCHES_UNASKED:
            words += "; this may take minutes, c cancels it"
        running = "" if findings is None else findings.running
        keys = list_methods(blocks_now, running)
        write = partial(write_comparison, blocks_now, running, self.order)
        self._table.show(keys, write, self._follower(blocks_now, keys), words)
        beyond = self._table.row_count - self._table.page
        hint = f"; {beyond} below" if beyond > 0 and self._table.size.height else ""
        title = f"[4] Methods{order_words(sort, reverse=reverse)}"
        self.entitle("methods", title, standing(findings, session) + hint)
        self._follow_cursor()

    def _follower(self, blocks: Blocks, keys: list[str]) -> str | None:
        """Return the method that the cursor goes to: the one it was on, or what stands for it now."""
        before, without = self._table.key, [row.method for row in blocks.cannot_run]
        before = next((block.methods[0] for block in blocks.can_run if before in block.methods), before)
        could_not_run = {CANNOT_RUN, *(row.method for row in self._rows if not row.applicable)}
        return without[0] if before not in keys and before in could_not_run and without else before

    @on(Rows.Moved)
    def _follow_cursor(self) -> None:
        """Say what there is to say of the method under the cursor, and mark it in the scatter."""
        rows, selected, figures = self._rows, self._table.key, ""
        row = next((row for row in (*rows, self._without) if row.method == selected), None)
        self._words.show("" if self.findings is None else what_to_say(self.findings, row, self.session))
        if row is not None and row.applicable:
            figures = f"{selected} {quantities.ratio(row.speedup)}, {quantities.share(row.error_mean)}"
        self.entitle("scatter", "[tab] Speedup against error", figures)
        if rows:
            marked_method = None if row is None else selected
            self._scatter.show(partial(comparison_scatter, rows, selected=marked_method))
        else:
            self._scatter.say("no method is compared yet")

    def action_cancel(self) -> None:
        if self.findings is None or self.findings.ending or self._worker is None:
            raise SkipAction
        self._worker.cancel()
        self._take(replace(self.findings, ending="cancelled"))

    def sort_by(self, sort: CompareSort, *, reverse: bool) -> None:
        self.order = sort, reverse
        self._show()

    def action_reasons(self) -> None:
        self._explained = not self._explained
        self._show()

    def action_take(self) -> None:
        if method := self._table.key:
            self.app.action_method(method)

    # What is copied.

    def _shown_options(self) -> CompareOptions:
        """Return the options of the command that prints the pane in focus."""
        options = self.findings.options if self.findings else comparison_options(self.session)
        sort, reverse = self.order
        options = replace(options, sort=sort, reverse=reverse, reasons=self._explained, scatter=False)
        if self.focused is not self._scatter:
            return options
        width, height = self._scatter.printed_size
        return replace(options, scatter=True, width=width, height=height)

    def own_text(self) -> PaneText:
        options, canvas, text = self._shown_options(), Canvas(self.size.width, color=False), ""
        if self._rows:
            text = canvas_text(comparison_blocks(self._rows, options, canvas), canvas) + "\n"
        return PaneText(f"kernelpoint-compare{'-scatter' if text and options.scatter else ''}", text)

    def command(self) -> str:
        """`compare` of the methods done so far, as the table has them, by the options they were asked by."""
        options, methods = self._shown_options(), tuple(row.method for row in self._rows)
        if methods and methods != method_names():
            options = replace(options, methods=",".join(methods))
        return command_line("compare", options)
