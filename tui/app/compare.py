"""View 4: all methods on this workload, what each saves and how wrong it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container
from textual.worker import Worker

from sampling.errors import SamplingError
from sampling.methods.registry import check_settings, method_named, method_names
from sampling.parallel import Progress
from sampling.plan.nearby import hours
from sampling.profile.profile import Profile
from sampling.text import counted
from tui.app.actions import APP, COMPARE, COMPARING, VIEW, bindings
from tui.app.planning import in_words, printed_options, start
from tui.app.state import Session
from tui.app.view import PaneText, TableScreen
from tui.app.widgets import Chart, Rows, Runs, Words, marked, titled
from tui.app.wording import MOST_LAUNCHES_UNASKED
from tui.charts import quantities
from tui.charts.grid import AXIS, PLAIN, fitted
from tui.engine.planning import comparison_of
from tui.engine.studies import grouping_of
from tui.options.choices import CompareSort
from tui.options.command_line import command_line, error_text, options_of, with_flags
from tui.options.plan import CompareOptions
from tui.output.writer import Canvas, canvas_text
from tui.terminal.printable import table
from tui.text.methods import (
    Blocks,
    Row,
    blocks,
    cannot_run_text,
    comparison_blocks,
    comparison_columns,
    comparison_row,
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

    asked: CompareOptions
    methods: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    #: What methods have to say, by method; what feature files have, by "".
    notes: tuple[tuple[str, str], ...] = ()
    #: What the method under way does, in words.
    doing: str = ""
    #: "done", "cancelled" or "failed", and why; "" while it runs.
    ending: str = ""
    problem: str = ""

    @property
    def running(self) -> tuple[str, str] | None:
        """The method under way and what it does; None if none is."""
        return None if self.ending else (self.methods[len(self.rows)], self.doing)


def compare_methods(profile: Profile, begun: Findings, progress: Progress) -> Iterator[Findings]:
    """Compare methods one after the other; yield what is known after each, and at the end.

    Raises SamplingError or OSError, the engine's, of features or options.
    """
    known, asked = begun, begun.asked
    check_settings(asked.set)
    comparison = comparison_of(profile, asked.profiles, asked, progress)
    for method in known.methods:
        progress(0, 0, "designing")
        compared = comparison.compare(method, grouping_of(asked, method))
        said = () if compared.design is None else tuple(map(with_flags, compared.design.notes))
        row = comparison_row(" ".join(asked.profiles), compared)
        notes = *known.notes, *((method, note) for note in said)
        known = replace(known, rows=(*known.rows, row), notes=notes)
        if len(known.rows) < len(known.methods):
            yield replace(known, doing="designing")
    of_files = tuple(("", with_flags(report.sentence)) for report in comparison.reports)
    yield replace(known, notes=(*known.notes, *of_files), ending="done")


# What is said.


def asked_of(session: Session) -> CompareOptions:
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
    if findings.asked != asked_of(session):
        return "of the plan before; [r] compares anew"
    if not findings.ending:
        return f"{far}, [c] cancel"
    if findings.ending == "done":
        return f"{counted(findings.asked.repeats, 'draw')} each, [r] again"
    return f"{findings.ending} after {far}, [r] anew"


def what_to_say(findings: Findings, row: Row | None, session: Session) -> str:
    """Return why the comparison failed; else what there is to say of one method."""
    if findings.problem or row is None:
        return findings.problem
    if not row["applicable"]:
        return str(row["reason"])
    method, study = method_named(row["method"]), session.study
    said = [f"{row['method']}: {method.source}"]
    slowdown, epsilon, bound = session.options.slowdown, findings.asked.epsilon, row["bound_with_noise"]
    if slowdown is not None and study is not None and row["speedup"]:
        taken = quantities.hours(hours(study.counts.total_duration_ns / row["speedup"], slowdown))
        said.append(f"{taken} of one machine, simulated {slowdown:g} times slower")
    if bound is not None and bound > epsilon:
        wide, asked = quantities.share(bound), quantities.share(epsilon)
        said.append(f"bounds the simulated total by {wide}, not by the {asked} asked for")
    # The notes on feature files are shown for the methods that used them.
    told_of = {row["method"], *([""] if method.needs else [])}
    return "; ".join([*said, *(note for of, note in findings.notes if of in told_of)])


class CompareTable(Rows):
    """Methods that can run, with the columns that have room, the one under way, and those that cannot."""

    def __init__(self) -> None:
        super().__init__()
        self._found = Blocks((), ())
        self._under_way: tuple[str, str] | None = None
        self._order = CompareSort.BEST, False
        #: The method of each line; of several of one plan the first.
        self.methods: list[str] = []
        self._written: tuple[int, str, list[tuple[str, bool]]] | None = None

    def show(
        self, found: Blocks, running: tuple[str, str] | None, order: tuple[CompareSort, bool], words: str
    ) -> None:
        """Show these methods, the cursor on the one it was on; `words` where there is none.

        Those that cannot run stand in `found`, each with its reason, or one row for all.
        """
        before, self._written = self.highlighted, None
        was_without = before in {row["method"] for row in self._found.cannot_run}
        self._found, self._under_way, self._order = found, running, order
        first_of = {method: each.methods[0] for each in found.can_run for method in each.methods}
        without = [row["method"] for row in found.cannot_run]
        doing = [] if running is None else [running[0]]
        self.methods = [*dict.fromkeys(first_of.values()), *doing, *without]
        wanted = before and first_of.get(before, before)
        if wanted not in self.methods and was_without and without:
            wanted = without[0]
        self.fill(len(self.methods), self.methods.index(wanted) if wanted in self.methods else 0, words)

    @property
    def highlighted(self) -> str | None:
        """The method under the cursor; None in an empty table."""
        return self.methods[self.cursor] if self.row_count else None

    def _lines(self, width: int) -> tuple[str, list[tuple[str, bool]]]:
        """Return the heading and the lines, each with whether it has figures; made once a width."""
        if self._written is not None and self._written[0] == width:
            return self._written[1:]
        room, heading, figures = width - _MARK_CELLS, "method", list[str]()
        if self._found.can_run:
            sort, reverse = self._order
            # The mark in the head may take a cell.
            fitting = comparison_columns(self._found.can_run, room - 1)
            columns = marked(fitting, [sort.value], falls=falls(sort, reverse=reverse))
            wide = table(columns).split("\n")
            heading, *figures = wide if len(wide[0]) <= room else table(columns, gap=" ").split("\n")
        lines = [(fitted(text, room), True) for text in figures]
        if self._under_way is not None:
            lines.append((fitted(": ".join(self._under_way), room), False))
        lines += [(fitted(str(row["reason"]), room), False) for row in self._found.cannot_run]
        self._written = width, fitted(" " * _MARK_CELLS + heading, width), lines
        return self._written[1:]

    def heading(self, width: int) -> str:
        return self._lines(width)[0]

    def runs(self, row: int, width: int) -> Runs:
        """A method's letter, then its figures or words."""
        method, (text, has_figures) = self.methods[row], self._lines(width)[1][row]
        mark = (" ", PLAIN) if method == CANNOT_RUN else method_mark(method)
        return [mark, (f" {text}", PLAIN if has_figures else AXIS)]


class CompareScreen(TableScreen[CompareSort]):
    """The table of methods over their scatter."""

    NAME = "Compare"
    SUMMARY = "all methods on this workload: what each saves, how wrong it is"
    SCOPES = (APP, COMPARE, COMPARING, VIEW)
    BINDINGS = bindings(APP, COMPARE, COMPARING, VIEW)
    AUTO_FOCUS = "CompareTable"
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
        self.findings: Findings | None = None
        self._explained = False
        #: The row that stands for all methods that cannot run.
        self._without: Row = {"method": CANNOT_RUN, "applicable": False, "reason": ""}
        self._worker: Worker[None] | None = None

    def compose_panes(self) -> ComposeResult:
        methods = titled("methods", CompareTable(), Words(id="method-words"))
        yield Container(methods, titled("scatter", Chart(id="scatter")), id="panes")

    def follow(self, shown: Session | None, session: Session) -> None:
        """Compare a small workload at once; say if the shown comparison was made by other options."""
        if session.study is None:
            return
        if shown is None and session.study.counts.launches <= MOST_LAUNCHES_UNASKED:
            self.action_run()
        else:
            self._show()

    def action_run(self) -> None:
        study = self.session.study
        if study is None:
            return
        begun = Findings(asked_of(self.session), method_names(), doing="designing")
        self._take(begun)
        task = partial(compare_methods, study.profile, begun)
        self._worker = start(self, task, self._take, in_words(self._say_doing), group=COMPARE)

    def _say_doing(self, doing: str) -> None:
        if self.findings is not None:
            self._take(replace(self.findings, doing=doing))

    def _take(self, findings: Findings) -> None:
        self.findings = findings
        self._show()

    def worker_failed(self, worker: Worker[Any], error: Exception) -> None:
        if worker.group != COMPARE or not isinstance(error, SamplingError | OSError):
            super().worker_failed(worker, error)
        elif worker is self._worker and self.findings is not None and not self.findings.ending:
            self._take(replace(self.findings, ending="failed", problem=error_text(error)))

    @property
    def _rows(self) -> list[Row]:
        """The rows in the order that they came in."""
        return [] if self.findings is None else list(self.findings.rows)

    @on(Rows.Resized)
    def _show(self) -> None:
        """Show all that is known."""
        findings, session, (sort, reverse) = self.findings, self.session, self.order
        found = Blocks((), ())
        if findings is not None:
            promise = promises(findings.rows, findings.asked.epsilon, findings.asked.confidence)
            found = blocks(findings.rows, sort, promise, reverse=reverse)
        if found.cannot_run and not self._explained:
            reason = f"[e] {cannot_run_text(found.cannot_run)}"
            self._without = {"method": CANNOT_RUN, "applicable": False, "reason": reason}
            found = Blocks(found.can_run, (self._without,))
        table, running = self.query_one(CompareTable), None if findings is None else findings.running
        launches = 0 if session.study is None else session.study.counts.launches
        words = f"r compares {len(method_names())} methods on {quantities.count(launches)} launches"
        if launches > MOST_LAUNCHES_UNASKED:
            words += "; this may take minutes, c cancels it"
        table.show(found, running, self.order, words)
        beyond = table.row_count - table.page
        more = f"; {beyond} below" if beyond > 0 and table.size.height else ""
        title = f"[4] Methods{order_words(sort, reverse=reverse)}"
        self.entitle("methods", title, standing(findings, session) + more)
        self._follow_cursor()

    @on(Rows.Moved)
    def _follow_cursor(self) -> None:
        """Say what there is to say of the method under the cursor, and mark it in the scatter."""
        rows, selected, chart = self._rows, self.query_one(CompareTable).highlighted, self.query_one(Chart)
        row = next((each for each in (*rows, self._without) if each["method"] == selected), None)
        words = "" if self.findings is None else what_to_say(self.findings, row, self.session)
        self.query_one("#method-words", Words).show(words)
        figures = ""
        if row is not None and row["applicable"]:
            speedup, error = quantities.ratio(row["speedup"]), quantities.share(row["error_mean"])
            figures = f"{selected} {speedup}, {error}"
        self.entitle("scatter", "[tab] Speedup against error", figures)
        if rows:
            chart.show(partial(comparison_scatter, rows, selected=None if row is None else selected))
        else:
            chart.say("no method is compared yet")

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
        method = self.query_one(CompareTable).highlighted
        if method:
            self.app.action_method(method)

    # What is copied.

    def _asked(self) -> CompareOptions:
        """Return the options of the command that prints the pane in focus."""
        asked, (sort, reverse) = self.findings.asked if self.findings else asked_of(self.session), self.order
        asked = replace(asked, sort=sort, reverse=reverse, reasons=self._explained, scatter=False)
        if self.focused is not self.query_one(Chart):
            return asked
        width, height = self.query_one(Chart).printed_size
        return replace(asked, scatter=True, width=width, height=height)

    def own_text(self) -> PaneText:
        asked, canvas, text = self._asked(), Canvas(self.size.width, color=False), ""
        if self._rows:
            text = canvas_text(comparison_blocks(self._rows, asked, canvas), canvas) + "\n"
        return PaneText(f"kernelpoint-compare{'-scatter' if text and asked.scatter else ''}", text)

    def command(self) -> str:
        """`compare` of the methods done so far, as the table has them, by the options they were asked by."""
        asked, methods = self._asked(), tuple(row["method"] for row in self._rows)
        if methods and methods != method_names():
            asked = replace(asked, methods=",".join(methods))
        return command_line("compare", asked)
