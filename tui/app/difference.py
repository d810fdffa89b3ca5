"""View 7: what changed between a recording before and the open one, kernel by kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Input

from sampling.arrays import IntArray
from sampling.difference.comparison import Difference
from sampling.difference.matching import Status
from sampling.difference.recordings import ProfilePart
from sampling.errors import OptionError, ProfileError, SamplingError
from sampling.parallel import Progress
from sampling.profile.profile import Profile
from sampling.text import counted
from tui.app.actions import APP, DIFFERENCE, VIEW, bindings
from tui.app.planning import failure_words, printed_options
from tui.app.prompt import Prompt, PromptField
from tui.app.session_app import in_words, start
from tui.app.state import Session
from tui.app.view import PaneText, TableScreen
from tui.app.widgets import Chart, Line, Rows, Table, marked, order_mark, titled, written
from tui.charts import quantities
from tui.charts.grid import PLAIN, Grid, blank, cluster_style, fitted, put
from tui.charts.histogram import Side, two_histograms
from tui.charts.waterfall import waterfall
from tui.engine.looking import found_difference
from tui.options.choices import DifferenceSort
from tui.options.command_line import command_line, options_of
from tui.options.files import home_expanded
from tui.options.look import DifferenceOptions, file_and_part, part_in_name
from tui.output.blocks import Listing
from tui.output.writer import Canvas
from tui.terminal.printable import Column, table
from tui.text.difference import (
    basis_sentences,
    causes_in_words,
    compared_parts,
    difference_result,
    figure_columns,
    idle_sentences,
    kernel_labels,
    kernel_time_words,
    paths_apart,
    quantity_columns,
    sorted_difference,
)
from tui.text.labels import group_places
from tui.text.profile import with_selection

MOST_ROWS = 2_000
"""The most kernels of the table: more would make it slow."""

_INVITATION = (
    "Nothing is compared yet. [o] asks for the recording before: a file, a range or launch ids of it "
    "(run.sqlite@step 3, run.sqlite@0:5000), or with @step 3 a part of the open one. What is open is after."
)
_LEAST_LABEL = 20
# In a window that is less high the last quantity gives way.
_HIGH, _FEW_ROWS = 36, 4
_DROPPED_FIRST = ("launches", "change", "interval", "before", "status", "after", "share")
_HEADS = {DifferenceSort.CHANGE: ("change", "share")}
# A kernel of one side alone has that side's colour in the histograms.
_STATUSES = {
    Status.BOTH: ("both", " ", PLAIN),
    Status.APPEARED: ("new", "+", cluster_style(1)),
    Status.VANISHED: ("gone", "-", cluster_style(0)),
}


def difference_options(session: Session, before: str) -> DifferenceOptions:
    """Return what `difference` is asked: the recording named before, and what is open after.

    `before` is FILE, FILE@RANGE or FILE@A:B; without FILE the open one is meant. Which launches of the open
    one count is said behind its name; its other filters are of both.

    Raises OptionError: no file is named, or several are open as one workload.
    """
    if len(session.profiles) != 1:
        raise OptionError(
            f"{counted(len(session.profiles), 'file')} are open as one workload, and a difference takes one "
            "a side",
            remedy="open the folder they are in, or one of them",
        )
    opened = session.profiles[0]
    if before in {"", "-"} or before.startswith("-@"):
        raise OptionError("the name of a file is meant, FILE, FILE@RANGE or FILE@A:B")
    if before.startswith("@") and not Path(before).exists():
        before = opened + before
    elif before.startswith("~"):
        before = str(home_expanded(before))
    options = options_of(DifferenceOptions, printed_options(session), before=before)
    after, options = part_in_name(opened, options)
    return options_of(DifferenceOptions, options, after=after)


def kernel_table(difference: Difference, sort: DifferenceSort, *, reverse: bool = False) -> Listing:
    """Return the first kernels, the column that they are sorted by marked, which always has room."""
    kernels = difference.kernels[:MOST_ROWS]
    # Each kernel's change is a share of all changes without their signs.
    total_change_ns = max(int(np.abs(difference.change_ns).sum()), 1)
    shares = [
        f"{'+' if ns > 0 else ''}{quantities.share(ns / total_change_ns)}"
        for ns in difference.change_ns.tolist()
    ]
    named = {column.heading: column for column in figure_columns(difference, MOST_ROWS)}
    columns = [
        Column("status", [_STATUSES[kernel.status][0] for kernel in kernels], to_right=False),
        *(named[name] for name in ("before", "after", "launches", "relative", "interval", "change")),
        Column("share", shares[: len(kernels)]),
        Column("kernel", ()),
    ]
    falls = (sort is DifferenceSort.KERNEL) == reverse
    *figures, kernel = marked(columns, _HEADS.get(sort, (sort.value,)), falls=falls)
    label = kernel_labels(difference, group_places(difference.kernels))
    mark = order_mark(falls=falls)
    dropped = [
        figure.heading
        for name in _DROPPED_FIRST
        for figure in figures
        if figure.heading.startswith(name) and not figure.heading.rstrip().endswith(mark)
    ]
    return Listing(figures, kernel.heading, label, dropped, _LEAST_LABEL)


def sides_lines(options: DifferenceOptions) -> list[str]:
    """Return what is compared with what, the longest form first."""
    short = [Path(name).name for name in (options.before, options.after)]
    if short[0] == short[1]:
        short = paths_apart(options, _LEAST_LABEL)
    return [f"Before: {before}; after: {after}" for before, after in ((options.before, options.after), short)]


def draw_quantities(difference: Difference, width: int, height: int) -> Grid:
    """Return what an iteration takes before and after, or the run, and what of the change is idle time."""
    grid, lines = blank(width, height), table(quantity_columns(difference)).split("\n")
    if forms := idle_sentences(difference):
        sentence = next((form for form in forms if len(form) <= width), forms[-1])
        lines = [*lines[: height - 1], sentence]
    for row, line in enumerate(lines[:height]):
        put(grid, row, 0, fitted(line, width), PLAIN)
    return grid


def draw_kernel(difference: Difference, kernel: int, log: bool, width: int, height: int) -> Grid:
    """Return the durations of a kernel before, over those after."""

    def side(word: str, distinct: tuple[IntArray, IntArray] | None) -> Side:
        durations_ns, launches = np.zeros((2, 0), dtype=np.int64) if distinct is None else distinct
        caption = "no launches"
        if distinct is None:
            caption = "no histogram, as a saved baseline keeps totals alone"
        if len(launches):
            mean = quantities.duration(float(np.dot(durations_ns, launches) / launches.sum()))
            caption = f"{counted(int(launches.sum()), 'launch', 'launches')}, mean {mean}"
        return Side(f"{word}: {caption}", durations_ns, launches)

    before, after = difference.distinct(kernel)
    return two_histograms((side("before", before), side("after", after)), width, height, log=log)


class BeforePrompt(Prompt):
    """Asks for the recording before."""

    FIELDS = (PromptField("before", "Before: "),)

    def hint(self, name: str) -> Sequence[str]:  # noqa: ARG002 - it has one
        return (
            "Before what is open: FILE, FILE@RANGE, FILE@A:B, @RANGE of it; tab completes, esc leaves",
            "Before: FILE, FILE@RANGE or FILE@A:B",
        )


class DifferenceScreen(TableScreen[DifferenceSort]):
    """The table of kernels over the two histograms of one of them."""

    # Its own text says which launches of either recording count.
    OF_PROFILE = False
    NAME = "Difference"
    SUMMARY = "two recordings, or two parts of one, per iteration and kernel by kernel"
    SCOPES = (APP, DIFFERENCE, VIEW)
    BINDINGS = bindings(APP, DIFFERENCE, VIEW)
    AUTO_FOCUS = "Table"
    orders = tuple(DifferenceSort)
    order = DifferenceSort.CHANGE, False
    ABOUT: ClassVar[str] = (
        "What is open is after; o asks for what is before, another recording or a part of this one. Compared "
        "are complete iterations where both have them, else the same launches one by one, else all as they "
        "were recorded. Kernels are matched by name, grid and block, and by name alone where the shapes "
        "changed. relative is how much more time a kernel takes, with its interval; as recorded it is of one "
        "launch. share is a kernel's part of all changes, taken without their signs. A plus marks a kernel "
        "that appeared, a minus one that vanished. Both histograms have the same axis of durations. Filters "
        "are of both recordings; launch ids and a named range that are set for the open one are of it alone."
    )

    def __init__(self) -> None:
        super().__init__()
        self._table, self._chart, self._prompt = Table[str](), Chart(id="two"), BeforePrompt()
        self._per, self._why = Chart(id="per"), Chart(id="why")
        # The command prints the table: there is nothing of the charts' own to copy.
        self._chart.can_focus = self._per.can_focus = self._why.can_focus = False
        # What is shown and was asked for; what is wanted, of which profile, as it was typed.
        self._found: Difference | None = None
        self._sorted: Difference | None = None
        self._asked: DifferenceOptions | None = None
        self._wanted: tuple[DifferenceOptions, Profile] | None = None
        self._typed = ""
        self._doing = ""

    def compose_panes(self) -> ComposeResult:
        yield titled("per", self._per)
        reason = titled("why", self._why)
        yield Container(reason, titled("kernels", self._table), titled("two", self._chart), id="panes")
        yield Line(id="sides")
        yield self._prompt

    def follow(self, previous: Session | None, session: Session) -> None:
        """Compare anew where other launches count, or another recording is before."""
        if session.draft is None or session.before is None:
            self._show()
            return
        try:
            options = difference_options(self.app.planned, session.before)
        except OptionError as error:
            self._typed = session.before
            self._refuse(error)
            return
        if self._wanted is None or self._wanted[0] != options or self._wanted[1] is not session.draft.profile:
            self._start(session.before, options, session.draft.profile)
        elif previous is None or previous.log != session.log:
            self._show_chart()

    @property
    def is_settled(self) -> bool:
        """Whether nothing is being read or compared."""
        return not self._doing

    # Comparing.

    def _start(self, typed: str, options: DifferenceOptions, profile: Profile) -> None:
        self._typed, self._wanted = typed, (options, profile)
        self._say_doing("reading")
        # What need not be read again: the open one, and the one that was before.
        profiles = {file_and_part(options.after)[0]: profile}
        last = self._asked
        if self._found is not None and last is not None and last.request.columns == options.request.columns:
            side = self._found.sides[0]
            if isinstance(side, ProfilePart):
                profiles.setdefault(file_and_part(last.before)[0], side.profile)

        def compared(progress: Progress) -> Iterator[Difference]:
            # What there is to note goes to stderr, which is the screen's.
            yield found_difference(replace(options, quiet=True), progress, profiles)

        say = in_words(self._say_doing)
        start(self, compared, self._take_difference, say, self._refuse, group="difference")

    def _take_difference(self, difference: Difference) -> None:
        if self._wanted is None:
            return
        before, last = difference.sides[0], self._found
        self._found, self._asked, self._doing = difference, self._wanted[0], ""
        self._prompt.close()
        self._show()
        is_new = last is None or before is not last.sides[0]
        if isinstance(before, ProfilePart) and before.profile is not self._wanted[1] and is_new:
            for text in before.profile.notes:
                self.app.say(text)
        self.app.change(before=self._typed)

    def _refuse(self, error: SamplingError | OSError) -> None:
        """Say why they cannot be compared, over the name, which can be corrected."""
        self._doing = ""
        self._want_what_is_shown()
        self._show()
        words = failure_words(error)
        if isinstance(error, ProfileError):
            # Of a long path its end is enough: it stands whole in the field below.
            words = words.replace(error.path, Path(error.path).name)
        self._prompt.ask({"before": self._typed}, words)

    def _want_what_is_shown(self) -> None:
        """Forget a recording that could not be compared; the session's own is not tried again unchanged."""
        if self._typed != self.session.before and self._found is not None and self._asked is not None:
            side = self._found.sides[1]
            assert isinstance(side, ProfilePart)
            self._wanted = self._asked, side.profile

    # What is shown.

    def _show(self, *, keeps_cursor: bool = True) -> None:
        """Show all that is known; the cursor stays on its kernel if it is there, or goes to the top."""
        difference, (sort, reverse) = self._found, self.order
        if difference is None:
            self._table.fill(0, words=_INVITATION)
        else:
            self._sorted = difference = sorted_difference(difference, sort, reverse=reverse)
            listing, kernels = kernel_table(difference, sort, reverse=reverse), difference.kernels

            def mark(row: int) -> tuple[str, int]:
                # A kernel of one side alone is in the colour of that side.
                return _STATUSES[kernels[row].status][1:]

            keys = [kernel.key for kernel in kernels[:MOST_ROWS]]
            key = self._table.key if keeps_cursor else None
            self._table.show(keys, lambda width: written(listing, width, mark), key)
            causes = causes_in_words(difference)
            self._per.show(partial(draw_quantities, difference))
            rows = len(quantity_columns(difference)[0].cells) + bool(idle_sentences(difference))
            is_high = self.app.size.height >= _HIGH
            self.query_one("#per-pane").styles.height = (rows if is_high else min(rows, _FEW_ROWS)) + 2
            self.entitle("per", next(basis_sentences(difference)))
            self.entitle("why", "Why the kernel time changed")
            before_ns = round(difference.per_iteration.kernel_ns.before or 0)
            self._why.show(partial(waterfall, before_ns, causes))
            # The totals and the title, beside the causes.
            self.query_one("#why-pane").styles.height = len(causes) + 3
            # No more rows than there are kernels, and two for the title and the headings.
            self.query_one("#kernels-pane").styles.max_height = len(kernels) + 2
        if self._asked is not None:
            self.query_one("#sides", Line).show(sides_lines(self._asked))
        self._say_doing(self._doing)
        self._show_chart()

    def _say_doing(self, doing: str) -> None:
        """Say what is under way, over the table and over the question."""
        self._doing = doing
        words = f"{doing}; esc cancels" if doing else ""
        title, right, (sort, reverse) = "[7] Kernels by change", words, self.order
        if self._found is not None:
            kernels, by = len(self._found.kernels), sort.value
            if reverse:
                by += ", Z to A" if sort is DifferenceSort.KERNEL else ", smallest first"
            title = f"[7] Kernels by {by}: kernel time {kernel_time_words(self._found)}"
            listed = f"{MOST_ROWS:,} of " if kernels > MOST_ROWS else ""
            right = words or listed + counted(kernels, "kernel")
        self.entitle("kernels", title, right)
        if words:
            self._prompt.say([words])

    @on(Rows.Moved)
    def _show_chart(self) -> None:
        difference, kernel, log = self._sorted, self._table.cursor, self.session.log
        if difference is None:
            self.entitle("two", "Durations before and after")
            return
        self.entitle(
            "two", f"{kernel + 1}. {difference.kernels[kernel].key}", f"[x] {'log' if log else 'linear'}"
        )
        self._chart.show(partial(draw_kernel, difference, kernel, log))

    # What is done.

    def action_ask(self) -> None:
        self._prompt.ask({"before": self._typed or self.session.before or ""})

    @on(Input.Submitted)
    def _take_answer(self, event: Input.Submitted) -> None:
        event.stop()
        draft, text = self.session.draft, event.value.strip()
        if draft is None:
            return
        self._typed = text
        try:
            options = difference_options(self.app.planned, text)
        except OptionError as error:
            self._refuse(error)
        else:
            self._start(text, options, draft.profile)

    def action_cancel(self) -> None:
        if not self._doing:
            raise SkipAction
        self._cancel()

    @on(Prompt.Left)
    def _cancel(self) -> None:
        if self._doing:
            self.workers.cancel_group(self, "difference")
            self._want_what_is_shown()
            self._say_doing("")
            self.app.say("cancelled; what is there stays")

    def sort_by(self, sort: DifferenceSort, *, reverse: bool) -> None:
        if self._found is not None:
            self.order = sort, reverse
            self._show(keeps_cursor=False)

    # What is copied.

    @property
    def _as_shown(self) -> DifferenceOptions | None:
        """The options of the table as it is shown; None before anything is compared."""
        sort, reverse = self.order
        return self._asked and replace(self._asked, sort=sort, reverse=reverse)

    def own_text(self) -> PaneText:
        difference, options, text = self._sorted, self._as_shown, ""
        if difference is not None and options is not None:
            answer = difference_result(difference, options, following=False)
            text = (
                with_selection(answer, compared_parts(difference)).drawn(
                    Canvas(self.app.size.width, color=False)
                )
                + "\n"
            )
        return PaneText("kernelpoint-difference", text)

    def command(self) -> str:
        return "" if self._as_shown is None else command_line("difference", self._as_shown)

    def action_copy_command(self) -> None:
        if self._asked is None:
            self.app.say("nothing is compared yet; o asks for the recording before")
        else:
            super().action_copy_command()
