"""View 4: all methods on this workload, what each saves and how wrong it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from threading import Event, Thread
from typing import ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from sampling.errors import SamplingError
from sampling.methods.registry import check_settings, method_named, method_names
from sampling.plan.nearby import hours
from sampling.plan.study import Study
from sampling.profile.profile import Profile
from sampling.strata.target import Target
from sampling.text import counted
from tui.app.actions import APP, COMPARE, COMPARING, VIEW, bindings
from tui.app.frame.chart import Chart
from tui.app.frame.heads import marked, next_in, sorted_by_head
from tui.app.frame.line import PaneTitle
from tui.app.frame.page import PaneText
from tui.app.frame.rows import Rows, Runs
from tui.app.frame.view import ViewScreen
from tui.app.frame.wording import MOST_LAUNCHES_UNASKED
from tui.app.frame.words import Words
from tui.app.overrides_file import printed_options
from tui.app.planning import CancelledError, in_words, throttled
from tui.app.state import Session, decisions
from tui.charts import quantities
from tui.charts.grid import AXIS, PLAIN, Grid, blank, fitted, put
from tui.engine.planning import comparison_of
from tui.engine.studies import grouping_of, target_of
from tui.options.choices import CompareSort
from tui.options.command_line import command_line, error_text, options_of, with_flags
from tui.options.plan import CompareOptions
from tui.output.writer import Canvas
from tui.terminal.printable import Column, table
from tui.text.compare import (
    Blocks,
    Row,
    blocks,
    cannot_run_text,
    comparison_columns,
    comparison_row,
    comparison_scatter,
    comparison_text,
    falls,
    method_mark,
    promises,
    scatter_text,
)
from tui.text.facts import draws_text

CANNOT_RUN = ""
"""Stands for all methods that cannot run, where they are one line."""
THREAD = "kernelpoint-compare"
"""The name of the thread that compares."""

_MARK_CELLS = 2
_IN_TURN = (CompareSort.BEST, CompareSort.SPEEDUP, CompareSort.MEAN, CompareSort.DRAWN)
_ERRORS = frozenset({CompareSort.MEAN, CompareSort.P95, CompareSort.MAX})


class Ending(StrEnum):
    """Why a comparison has ended."""

    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Findings:
    """What is known so far.

    Attributes
    ----------
    asked : what `compare` would be given.
    methods : all that are compared, in this order.
    rows : of those done, as `compare` lists them.
    notes : what methods have to say, by method; what feature files have, by "".
    doing : the running method and what it does, in words; None if none runs.
    ending : None while it runs.
    problem : why it failed.
    """

    asked: CompareOptions
    methods: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    doing: tuple[str, str] | None = None
    ending: Ending | None = None
    problem: str | None = None


Know = Callable[[Findings], Findings]
"""How a step of the comparison changes what is known."""


def compare_methods(
    profile: Profile,
    asked: CompareOptions,
    methods: Sequence[str],
    tell: Callable[[Know], None],
    is_cancelled: Callable[[], bool],
) -> None:
    """Compare methods one after the other, and tell of each step how it changes what is known.

    Raises
    ------
    CancelledError : it was cancelled.
    SamplingError, OSError : the engine's, of features or options.
    """
    method = methods[0]

    def say(words: str) -> None:
        doing = method, words
        tell(lambda known: replace(known, doing=doing))

    progress = throttled(in_words(say), is_cancelled)
    check_settings(asked.set)
    comparison = comparison_of(profile, asked.profiles, asked, progress)
    for method in methods:
        say("designing")
        progress(0, 0, "designing")
        compared = comparison.compare(method, grouping_of(asked, method))
        notes = () if compared.design is None else tuple(map(with_flags, compared.design.notes))
        tell(partial(_with_row, comparison_row(" ".join(asked.profiles), compared), notes))
    of_files = tuple(("", with_flags(report.sentence)) for report in comparison.reports)
    tell(lambda known: replace(known, notes=(*known.notes, *of_files), doing=None, ending=Ending.DONE))


def _with_row(row: Row, notes: Sequence[str], known: Findings) -> Findings:
    told = tuple((row["method"], note) for note in notes)
    return replace(known, rows=(*known.rows, row), notes=(*known.notes, *told), doing=None)


# What is said.


def is_compared_unasked(study: Study) -> bool:
    """Return whether a workload is small enough to be compared as soon as the view is opened."""
    return study.counts.launches <= MOST_LAUNCHES_UNASKED


def asked_of(session: Session) -> CompareOptions:
    """Return what `compare` is to be given; in the app all files are one workload."""
    return options_of(CompareOptions, printed_options(session), one_workload=len(session.profiles) > 1)


def blocks_of(findings: Findings | None, sort: CompareSort, *, reverse: bool = False) -> Blocks:
    """Return the methods done so far: those that can run, in order, and those that cannot."""
    if findings is None:
        return Blocks((), ())
    promise = promises(findings.rows, findings.asked.epsilon, findings.asked.confidence)
    return blocks(findings.rows, sort, promise, reverse=reverse)


def order_words(sort: CompareSort, *, reverse: bool) -> str:
    """Return what the table is sorted by, to be put behind what it lists."""
    if sort is CompareSort.BEST:
        return ", worst first" if reverse else ", best first"
    words = f" by {sort.value}{' error' if sort in _ERRORS else ''}"
    if not reverse:
        return words
    if sort is CompareSort.METHOD:
        return f"{words}, Z to A"
    return f"{words}, {'largest' if falls(sort, reverse=reverse) else 'smallest'} first"


def standing(findings: Findings | None, session: Session) -> str:
    """Return how far the comparison is, and the key that starts, cancels or repeats it."""
    if findings is None:
        return "[r] starts"
    is_stale = findings.asked != asked_of(session)
    far = f"{len(findings.rows)} of {len(findings.methods)}"
    if findings.ending is None:
        return f"{far}, of the plan before; [r] anew" if is_stale else f"{far}, [c] cancel"
    if is_stale:
        return "of the plan before; [r] compares anew"
    if findings.ending is Ending.DONE:
        return f"{draws_text(findings.asked.repeats)} each, [r] again"
    return f"{findings.ending.value} after {far}, [r] anew"


def invitation(session: Session) -> str:
    """Return what the key `r` will do."""
    study = session.study
    if study is None:
        return ""
    text = (
        f"r compares {len(method_names())} methods on {quantities.count(study.counts.launches)} launches, "
        f"the plan of each drawn {asked_of(session).repeats} times"
    )
    return text if is_compared_unasked(study) else f"{text}; this may take minutes, and c cancels it"


def what_to_say(findings: Findings | None, row: Row | None, session: Session) -> str:
    """Return why it failed; else what there is to say of one method."""
    if findings is not None and findings.problem is not None:
        return findings.problem
    if findings is None or row is None:
        return ""
    if row["method"] == CANNOT_RUN:
        without = [each for each in findings.rows if not each["applicable"]]
        return f"{cannot_run_text(without)}; e says why, and what would help"
    if not row["applicable"]:
        return str(row["reason"])
    method, study = method_named(row["method"]), session.study
    said = [f"{row['method']}: {method.source}"]
    slowdown, epsilon, bound = session.options.slowdown, findings.asked.epsilon, row["bound_with_noise"]
    if slowdown is not None and study is not None and row["speedup"]:
        taken = quantities.hours(hours(study.counts.total_duration_ns / row["speedup"], slowdown))
        said.append(f"{taken} of one machine, simulated {slowdown:g} times slower")
    if same := [each["method"] for each in findings.rows if each["same_as"] == row["method"]]:
        said.append(f"its plan is also that of {' and '.join(same)}")
    if bound is not None and bound > epsilon:
        wide, asked = quantities.share(bound), quantities.share(epsilon)
        said.append(f"bounds the simulated total by {wide}, not by the {asked} asked for")
    root = next((each for each in findings.rows if each["method"] == "root" and each["applicable"]), row)
    beyond = _beyond_root(target_of(findings.asked))
    if "min_samples" in method.target_fields and beyond and (root["speedup"] or 0) > (row["speedup"] or 0):
        said.append(beyond)
    decided = decisions(session.overrides)
    if decided and row["method"] == session.options.method:
        said.append(f"here without your {counted(decided, 'split decision', 'split decisions')}")
    # The notes on feature files are shown for the methods that used them.
    told_of = {row["method"], *([""] if method.needs else [])}
    return "; ".join([*said, *(note for of, note in findings.notes if of in told_of)])


def _beyond_root(target: Target) -> str:
    """Return what is asked of joint only, and the options that ask it; nothing if root is asked the same."""
    asked = (
        (target.min_samples > 1, f"draws at least {target.min_samples} a stratum", "min-samples"),
        (target.noise_floor > 0, "allows for noise in simulation", "noise-floor"),
    )
    given = [(what, option) for is_asked, what, option in asked if is_asked]
    if not given:
        return ""
    whats, options = zip(*given, strict=True)
    return f"unlike root it {' and '.join(whats)} ({', '.join(options)})"


def scatter_title(row: Row | None) -> tuple[str, str]:
    """Return the name of the scatter, and the two figures of the method under the cursor if it has any."""
    figures = ""
    if row is not None and row["applicable"]:
        speedup, error = quantities.ratio(row["speedup"]), quantities.share(row["error_mean"])
        figures = f"{row['method']} {speedup}, {error}"
    return "[tab] Speedup against error", figures


def draw_scatter(rows: list[Row], selected: str | None, width: int, height: int) -> Grid:
    """Return the scatter of the methods so far, the one under the cursor marked."""
    if not rows:
        grid = blank(width, height)
        put(grid, 0, 0, fitted("no method is compared yet", width))
        return grid
    return comparison_scatter(rows, width, height, selected=selected)


# The table.


@dataclass(frozen=True, slots=True)
class CompareLine:
    """One method, or several of one plan: letter and style as in the scatter, and figures or words.

    ``method`` is the first of them, or `CANNOT_RUN`.
    """

    method: str
    symbol: str
    style: int
    text: str
    has_figures: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """What the table shows.

    Attributes
    ----------
    found : the methods done.
    doing : a method under way, and what it does.
    explained : whether those that cannot run have a line each, with the reason, instead of one in all.
    sort, reverse : the order of those that can.
    """

    found: Blocks = Blocks((), ())
    doing: tuple[str, str] | None = None
    explained: bool = False
    sort: CompareSort = CompareSort.BEST
    reverse: bool = False

    @property
    def methods(self) -> list[str]:
        """The method of each line; of several of one plan the first."""
        return [
            *(each.methods[0] for each in self.found.can_run),
            *(() if self.doing is None else (self.doing[0],)),
            *(row["method"] for row in self.cannot_run),
        ]

    @property
    def cannot_run(self) -> Sequence[Row]:
        """A row a method that cannot run, or one for all of them."""
        rows = self.found.cannot_run
        if self.explained or not rows:
            return rows
        return [{"method": CANNOT_RUN, "applicable": False, "reason": f"[e] {cannot_run_text(rows)}"}]

    def place_of(self, method: str | None) -> int:
        """Return the line that stands for a method; the first if none does."""
        methods = self.methods
        without = [CANNOT_RUN, *(row["method"] for row in self.found.cannot_run)]
        first = next((each.methods[0] for each in self.found.can_run if method in each.methods), method)
        if first not in methods and method in without and self.cannot_run:
            first = self.cannot_run[0]["method"]
        return methods.index(first) if first in methods else 0


def compare_lines(shown: Shown, width: int) -> tuple[str, list[CompareLine]]:
    """Return the heading and the lines, none wider than `width`."""
    room = width - _MARK_CELLS
    heading, figures = "method", list[str]()
    if shown.found.can_run:
        down = falls(shown.sort, reverse=shown.reverse)
        # The mark in the head may take a cell.
        columns: list[Column] = marked(
            comparison_columns(shown.found.can_run, room - 1),
            [shown.sort.value],
            falls=down,
        )
        wide = table(columns).split("\n")
        heading, *figures = wide if len(wide[0]) <= room else table(columns, gap=" ").split("\n")

    def line(method: str, text: str, *, has_figures: bool = False) -> CompareLine:
        mark = (" ", PLAIN) if method == CANNOT_RUN else method_mark(method)
        return CompareLine(method, *mark, fitted(text, room), has_figures)

    lines = [
        line(each.methods[0], text, has_figures=True)
        for each, text in zip(shown.found.can_run, figures, strict=True)
    ]
    if shown.doing is not None:
        lines.append(line(shown.doing[0], ": ".join(shown.doing)))
    for row in shown.cannot_run:
        method, reason = row["method"], row["reason"] or ""
        lines.append(line(method, reason if reason.startswith(method) else f"{method}: {reason}"))
    return fitted(" " * _MARK_CELLS + heading, width), lines


class CompareTable(Rows):
    """Methods that can run, with the columns that have room, and those that cannot; a text before."""

    def __init__(self) -> None:
        super().__init__()
        self._shown = Shown()
        self._written: tuple[int, str, list[CompareLine]] | None = None

    def show(self, shown: Shown, words: str) -> None:
        """Show these methods, the cursor on the one it was on; `words` where there is none."""
        place = shown.place_of(self.highlighted)
        self._shown, self._written = shown, None
        self.fill(len(shown.methods), place, words)

    @property
    def methods(self) -> list[str]:
        """The methods of the lines, from the top; of several of one plan the first."""
        return self._shown.methods

    @property
    def highlighted(self) -> str | None:
        """The method under the cursor; None in an empty table."""
        return self.methods[self.cursor] if self.row_count else None

    def _lines(self, width: int) -> tuple[str, list[CompareLine]]:
        """Return the heading and the lines, made once a width."""
        if self._written is None or self._written[0] != width:
            self._written = width, *compare_lines(self._shown, width)
        return self._written[1:]

    def heading(self, width: int) -> str:
        """The heads of the columns that have room."""
        return self._lines(width)[0]

    def runs(self, row: int, width: int) -> Runs:
        """A method's letter, then its figures or words."""
        line = self._lines(width)[1][row]
        return [(line.symbol, line.style), (f" {line.text}", PLAIN if line.has_figures else AXIS)]


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
        self.findings: Findings | None = None
        self._sort, self._reverse = CompareSort.BEST, False
        self._explained = False
        self._cancelled = Event()
        self._drawn: tuple[list[Row], str | None] | None = None

    def compose_panes(self) -> ComposeResult:
        """The table with what there is to say of a method, and the scatter."""
        with Container(id="panes"):
            with Vertical(id="methods-pane", classes="pane"):
                yield PaneTitle()
                yield CompareTable()
                yield Words(id="method-words")
            with Vertical(id="scatter-pane", classes="pane"):
                yield PaneTitle()
                yield Chart(id="scatter")

    def follow(self, shown: Session | None, session: Session) -> None:
        """Compare a small workload at once; say if the shown comparison was made by other options."""
        if session.study is not None and shown is None and is_compared_unasked(session.study):
            self.action_run()
        elif session.study is not None:
            self._show()

    def on_unmount(self) -> None:
        """Cancel the running comparison."""
        self._cancelled.set()

    def action_run(self) -> None:
        """Compare anew, by the options as they are now.

        The thread is a daemon: a method that reports no progress cannot be stopped, and leaving the app must
        not wait for it. What it finds after it is cancelled is dropped.
        """
        study, session = self.session.study, self.session
        if study is None:
            return
        self._cancelled.set()
        cancelled = self._cancelled = Event()
        methods = method_names()
        asked = asked_of(session)
        self.findings = Findings(asked, methods, doing=(methods[0], "designing"))

        def tell(know: Know) -> None:
            if not cancelled.is_set():
                self.call_later(self.know, cancelled, know)

        def work() -> None:
            try:
                compare_methods(study.profile, asked, methods, tell, cancelled.is_set)
            except CancelledError:
                return
            except (SamplingError, OSError) as error:
                problem = error_text(error)
                tell(lambda known: replace(known, doing=None, ending=Ending.FAILED, problem=problem))
            except Exception as error:
                if not cancelled.is_set():
                    self.call_later(self.app.fail, error)

        Thread(target=copy_context().run, args=(work,), name=THREAD, daemon=True).start()
        self._show()

    def know(self, cancelled: Event, know: Know) -> None:
        """Take over what the thread found, if it is the running one."""
        if cancelled is self._cancelled and not cancelled.is_set() and self.findings is not None:
            self.findings = know(self.findings)
            self._show()

    @on(Rows.Moved)
    def _follow_cursor(self) -> None:
        self._show_words()
        self._show_scatter()

    @on(Rows.Resized)
    def _show(self) -> None:
        """Show all that is known."""
        findings, session = self.findings, self.session
        doing = None if findings is None else findings.doing
        table = self.query_one(CompareTable)
        sort, reverse = self._sort, self._reverse
        shown = Shown(blocks_of(findings, sort, reverse=reverse), doing, self._explained, sort, reverse)
        table.show(shown, invitation(session))
        beyond = table.row_count - table.page
        more = f"; {beyond} below" if beyond > 0 and table.size.height else ""
        title = self.query_one("#methods-pane PaneTitle", PaneTitle)
        title.show(f"[4] Methods{order_words(sort, reverse=reverse)}", standing(findings, session) + more)
        self._show_words()
        self._show_scatter()

    def _rows(self) -> list[Row]:
        """Return the rows in the order that they came in."""
        return [] if self.findings is None else list(self.findings.rows)

    def _highlighted(self) -> Row | None:
        method = self.query_one(CompareTable).highlighted
        if method == CANNOT_RUN:
            return {"method": CANNOT_RUN, "applicable": False}
        return next((row for row in self._rows() if row["method"] == method), None)

    def _show_words(self) -> None:
        """Show why it failed, else the sentence about the method under the cursor."""
        words = what_to_say(self.findings, self._highlighted(), self.session)
        self.query_one("#method-words", Words).show(words)

    def _show_scatter(self) -> None:
        row = self._highlighted()
        self.query_one("#scatter-pane PaneTitle", PaneTitle).show(*scatter_title(row))
        rows, selected = self._rows(), None if row is None else row["method"]
        if (rows, selected) != self._drawn:
            self._drawn = (rows, selected)
            self.query_one(Chart).show(partial(draw_scatter, rows, selected))

    def action_cancel(self) -> None:
        """Stop comparing; results so far stay. Where nothing is compared, leave the key to others."""
        if self.findings is None or self.findings.ending is not None:
            raise SkipAction
        self._cancelled.set()
        self.findings = replace(self.findings, doing=None, ending=Ending.CANCELLED)
        self._show()

    def action_sort(self) -> None:
        """Sort by the next figure; what clicks alone ask for is not among them."""
        self._order(next_in(_IN_TURN, self._sort), reverse=False)

    def action_reverse(self) -> None:
        """Sort by the same figure the other way round."""
        self._order(self._sort, reverse=not self._reverse)

    @on(Rows.HeadClicked)
    def _sort_by_head(self, event: Rows.HeadClicked) -> None:
        order = sorted_by_head(event.heading, self._sort, is_reverse=self._reverse)
        if order is not None:
            self._order(order[0], reverse=order[1])

    def _order(self, sort: CompareSort, *, reverse: bool) -> None:
        self._sort, self._reverse = sort, reverse
        self._show()

    def action_reasons(self) -> None:
        """Say why methods cannot run, or name them only."""
        self._explained = not self._explained
        self._show()

    def action_move(self, rows: int) -> None:
        """Move the cursor, from the scatter too."""
        self.query_one(CompareTable).move(rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by as many methods as are visible."""
        self.query_one(CompareTable).action_page(pages)

    def action_take(self) -> None:
        """Plan by the method under the cursor."""
        method = self.query_one(CompareTable).highlighted
        if method:
            self.app.action_method(method)

    def own_text(self) -> PaneText:
        """The table with the reasons of methods that do not apply, or the scatter as it stands."""
        rows = self._rows()
        canvas = Canvas(self.size.width, color=False)
        if not rows:
            return PaneText("kernelpoint-compare", "")
        if self._is_scatter_meant():
            text = scatter_text(rows, canvas, *self.query_one(Chart).printed_size)
            return PaneText("kernelpoint-compare-scatter", text + "\n")
        return PaneText("kernelpoint-compare", comparison_text(rows, self._asked(), canvas) + "\n")

    def _asked(self) -> CompareOptions:
        """Return the options of the command that prints the table."""
        options = asked_of(self.session) if self.findings is None else self.findings.asked
        return replace(options, sort=self._sort, reverse=self._reverse, reasons=self._explained)

    def command(self) -> str:
        """`compare` of the methods done so far, as the table has them, by the options they were asked by."""
        asked, methods = self._asked(), tuple(row["method"] for row in self._rows())
        if methods and methods != method_names():
            asked = replace(asked, methods=",".join(methods))
        if self._is_scatter_meant():
            width, height = self.query_one(Chart).printed_size
            asked = replace(asked, scatter=True, width=width, height=height)
        return command_line("compare", asked)

    def _is_scatter_meant(self) -> bool:
        return self.focused is self.query_one(Chart)
