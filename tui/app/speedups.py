"""View 8: programs on configurations; who is faster, how surely, by which kernels, what to simulate next."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Input

from sampling.errors import OptionError, ProfileError, SamplingError
from sampling.parallel import Progress
from sampling.text import counted
from tui.app.actions import APP, MATRIX, SPEEDUPS, VIEW, bindings
from tui.app.chart_page import ChartPage
from tui.app.plan_panes import PlanPrompt
from tui.app.planning import failure_words, printed_speedups
from tui.app.session_app import in_words, start
from tui.app.speedup_details import (
    NO_ROOFLINE,
    Cell,
    SpeedupsState,
    export_larger,
    read_state,
    target_of_plan,
    with_kernels,
    with_larger,
)
from tui.app.speedup_panes import BarTable, Matrix, SpeedupsForm, options_typed
from tui.app.state import Session
from tui.app.view import Page, PaneText, ViewScreen
from tui.app.widgets import HeaderLine, ListingTable, Note, Rows, titled, written
from tui.options.command_line import command_line
from tui.options.files import PLAN_NAME
from tui.options.simulate import SpeedupOptions
from tui.output.writer import Canvas, canvas_text
from tui.terminal.printable import printable_lines, shortened
from tui.text.study import marks_text, run_command

_INVITATION = (
    "Nothing is compared yet. [o] asks for a plan and what simulators wrote of its launches, configuration "
    "by configuration: base=base.log gto=gto.log; or for a study.toml, which says where the plans and the "
    "results of several programs are. `kernelpoint open study.toml` opens one at once."
)

_LONGEST_DOING = 44


class SpeedupsScreen(ViewScreen):
    """Sentences over the table of programs and configurations, and the bars or kernels of its cells."""

    OF_PROFILE = False
    NAME = "Speedups"
    SUMMARY = "programs on configurations: which is faster, how surely, what to simulate next"
    SCOPES = (APP, MATRIX, SPEEDUPS, VIEW)
    BINDINGS = bindings(APP, SPEEDUPS, VIEW)
    AUTO_FOCUS = "Matrix"
    ABOUT: ClassVar[str] = (
        "A speedup is the base's cycles over the configuration's, of launches that both have results of: "
        "above 1 the configuration is faster. Beside it stands how far its interval reaches to either side; "
        "the intervals of a program hold all together. faster and slower: all of the interval is above 1, or "
        "below; the same: all of it is as near to 1 as counts for nothing; not told apart: more launches "
        "would tell. A bar goes from 1 to the speedup, its whiskers are its interval. The means are of these "
        "programs: the geometric and the harmonic one of their speedups, and total work of all their cycles. "
        "enter lists the kernels of a cell that gain and lose most, each with its own interval. e draws a "
        "larger plan that tells what is open, or copies the command that simulates more of a study. Tables "
        "that hold operations, bytes and time beside the cycles have a roofline (t), a point a "
        "configuration; no simulator prints them all."
    )

    def is_of_workload(self, session: Session) -> bool:
        """Return whether the open plan is compared: the programs of a study are others."""
        return session.speedups is None or Path(session.speedups.plan).suffix != ".toml"

    def __init__(self) -> None:
        super().__init__()
        #: What is compared; None until something is.
        self.state: SpeedupsState | None = None
        self._wanted: SpeedupOptions | None = None
        self._doing = self._problem = ""
        self._page, self._matrix, self._note = Page(self._words), Matrix(), Note(id="cell")
        self._bars, self._kernels, self._roofline = BarTable(), ListingTable(), ChartPage()
        self._form, self._prompt = SpeedupsForm(), PlanPrompt(self._write, lambda *_: None)

    def compose_panes(self) -> ComposeResult:
        yield Container(
            titled("words", self._page),
            titled("matrix", self._matrix),
            self._note,
            titled("bars", self._bars),
            titled("cell-kernels", self._kernels),
            titled("cell-roofline", self._roofline),
            id="speedup-panes",
        )
        yield self._form
        yield self._prompt

    def on_mount(self) -> None:
        for page, name in product((self._page, self._roofline), ("scroll_y", "virtual_size")):
            self.watch(page, name, self._show_titles_soon, init=False)

    def follow(self, previous: Session | None, session: Session) -> None:
        """Read what is to be compared, where that is something else."""
        if session.speedups is not None and session.speedups is not self._wanted:
            self._read(session.speedups)
        elif previous is None:
            self._show()

    @property
    def is_settled(self) -> bool:
        """Whether nothing is being read, compared or drawn."""
        return not self._doing

    is_ready = is_settled

    @property
    def _cell(self) -> Cell | None:
        """The cell at the cursor; None on the base, or where nothing is compared."""
        return self._bars.key if self.state is None or self.state.is_single else self._matrix.cell

    @property
    def _shows_kernels(self) -> bool:
        return self.has_class("-kernels")

    @property
    def _shows_roofline(self) -> bool:
        return self.has_class("-roofline")

    # What is read and computed.

    def _work(
        self,
        words: str,
        task: Callable[[Progress], Iterator[SpeedupsState]],
        take: Callable[[SpeedupsState], object],
        failed: Callable[[SamplingError | OSError], object],
    ) -> None:
        self._say_doing(words)
        start(self, task, take, in_words(self._say_doing), failed, group="speedups")

    def _read(self, options: SpeedupOptions) -> None:
        self._wanted, self._problem = options, ""
        self._work("reading results", partial(read_state, options), self._take, self._refuse)
        self._show()

    def _take(self, state: SpeedupsState) -> None:
        is_first, self.state, self._doing, self._problem = self.state is None, state, "", ""
        self._show()
        if is_first and not self._form.display:
            self._focus_cells()
        if self._shows_kernels:
            self._compare_kernels(state)

    def _refuse(self, error: SamplingError | OSError) -> None:
        """Say over what is there why nothing else is."""
        words = failure_words(error)
        if isinstance(error, ProfileError):
            # A study says where its files are from the root on, which takes rows.
            words = words.replace(f"{Path.cwd()}/", "")
        self._doing, self._problem = "", f"{words} ([r] reads again, [o] other results)"
        self._show()

    def _compare_kernels(self, state: SpeedupsState) -> None:
        """Compare the kernels of all programs, those of the cell first, unless they are there."""
        program = state.program(self._cell)
        if program is not None and program.speedups is not None and program.name not in state.kernels:
            task = partial(with_kernels, state, program.name)
            self._work("comparing kernels", task, self._take_kernels, self._refuse)

    def _take_kernels(self, state: SpeedupsState) -> None:
        self.state = state
        if len(state.kernels) == sum(1 for _ in state.answer.study.compared):
            self._doing = ""
        self._show_cell()

    def _take_larger(self, state: SpeedupsState) -> None:
        self.state, self._doing = state, ""
        self._show()
        if state.larger is None:
            self.app.say("every speedup is told: there is nothing more to simulate")
        else:
            self.app.say(f"{state.larger.path} written: {state.larger.size}")
            self._prompt.ask_for(target_of_plan(state))

    def _fail_larger(self, error: SamplingError | OSError) -> None:
        self._say_doing("")
        self.app.say(f"no larger plan: {failure_words(error)}", failed=True)

    # What is shown.

    def _words(self, width: int) -> Text:
        canvas, sentences = Canvas(width, color=False), [_INVITATION]
        if self.state is not None:
            sentences = list(self.state.sentences)
        elif self._wanted is not None:
            reading = "Reading" if self._doing else "Not read:"
            sentences = [f"{reading} the results of {self._wanted.plan}"] * (not self._problem)
        text = Text(printable_lines(canvas_text(sentences, canvas)))
        if self._problem:
            problem = printable_lines(canvas_text([f"! {self._problem}"], canvas))
            text = Text("\n" if text else "").join([Text(problem, "bold red"), text])
        return text

    def _show(self) -> None:
        state = self.state
        self.set_class(state is None, "-empty")
        self.set_class(state is not None and state.is_single, "-single")
        self._page.write_anew()
        if state is not None:
            cell = self._cell
            self._matrix.show(state.labels, state.rows)
            self._bars.show(state.bar_cells, partial(written, state.bars), cell or self._matrix.cell)
            # No more rows than there are, and two for the title and the headings.
            self.query_one("#matrix-pane").styles.max_height = len(state.rows) + 2
            if state.is_single:
                self.query_one("#bars-pane").styles.max_height = len(state.bar_cells) + 2
            if not self.session.profiles:
                self.query_one(HeaderLine).show([state.options.plan, Path(state.options.plan).name])
        self._arrange()
        self._show_cell()

    def on_resize(self) -> None:
        self._arrange()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if event.widget in (self._matrix, self._bars, self._kernels, self._roofline):
            self.set_class(event.widget is not self._matrix, "-lower")

    def _arrange(self) -> None:
        """Give the sentences as many rows as they take, a quarter of the window at most."""
        lines = len(self._words(self.size.width).split("\n")) if self.state is not None else 0
        self._page.styles.height = min(lines, max(self.size.height // 4, 2)) if lines else "1fr"

    def _show_cell(self) -> None:
        """Show what is told of the cell, and its kernels where they are wanted."""
        state, cell = self.state, self._cell
        if state is not None:
            text = state.note(cell)
            self._note.set_class(not text, "-blank")
            self._note.show(text)
            if self._shows_kernels:
                self._kernels.show_listing(*state.kernel_table(cell, self._doing))
            if self._shows_roofline:
                self._roofline.show(partial(state.roofline_blocks, cell))
        self._show_titles_soon()

    def _focus_cells(self) -> None:
        (self._bars if self.state is not None and self.state.is_single else self._matrix).focus()

    def _say_doing(self, words: str) -> None:
        self._doing = words
        self._show_titles()

    @on(Rows.Resized)
    def _show_titles_soon(self) -> None:
        # Which rows are visible is known only after the layout.
        self.call_after_refresh(self._show_titles)

    def _show_titles(self) -> None:
        state, doing = (
            self.state,
            f"{shortened(self._doing, _LONGEST_DOING)}; esc cancels" * bool(self._doing),
        )
        if state is None:
            plan = "Speedups" if self._wanted is None else Path(self._wanted.plan).name
            self.entitle("words", f"[8] {plan}", doing or "[o] open")
            return
        study, more = state.answer.study, "tab j more" * (self._page.scroll_y < self._page.max_scroll_y)
        sizes = [(len(study.programs), "program"), (len(study.configurations), "configuration")]
        size = ", ".join(counted(number, noun) for number, noun in sizes)
        name = f"[8] {Path(state.options.plan).name}"
        self.entitle("words", name, *((doing,) if doing else (f"{size}  {more}".rstrip(), more)))
        place, marks = self._matrix.place, marks_text()
        self.entitle("matrix", f"[tab] Over {study.base}", f"{marks}  {place}".rstrip(), place)
        sure = "together" if study.simultaneous else "sure"
        keys = "[enter] kernels" + "  [t] roofline" * bool(state.rooflines)
        name = f"[tab] Intervals, {100 * study.confidence:.4g} % {sure}"
        self.entitle("bars", name, f"{keys}  {self._bars.place}", keys, "[enter] kernels")
        title = f"[tab] Kernels: {state.title(self._cell)}"
        self.entitle("cell-kernels", title, f"[esc] bars  {self._kernels.place}".rstrip(), "[esc] bars")
        more = "  j more" * (self._roofline.scroll_y < self._roofline.max_scroll_y)
        self.entitle("cell-roofline", "[t] Roofline of the configurations", f"[esc] bars{more}", "[esc] bars")

    @on(Rows.Moved)
    def _move(self) -> None:
        """Have the other table follow the one that the cursor moved in."""
        state = self.state
        if state is None or self._kernels.has_focus:
            self._show_titles_soon()
            return
        if not self._bars.has_focus:
            self._bars.go_to(self._matrix.cell)
        elif (cell := self._bars.key) is not None:
            self._matrix.go_to(cell)
        if self._shows_kernels and not self._doing:
            self._compare_kernels(state)
        self._show_cell()

    # What is done.

    def action_ask(self) -> None:
        """Ask for results and their plan, or a study; behind what is compared stands what is added."""
        options, opened = self.session.speedups, self.session.plan
        plan, results = PLAN_NAME if opened is None else opened.path, ""
        if options is not None:
            plan, results = options.plan, "".join(f"{shlex.quote(text)} " for text in options.results)
        if self.state is not None and self.state.larger is not None:
            plan = str(self.state.larger.path)
        self._prompt.close()
        self._form.ask({"results": results, "plan": plan})

    @on(Input.Submitted, "SpeedupsForm PromptInput")
    def _take_answers(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            options = options_typed(self._form.answers, self.session.speedups)
        except OptionError as error:
            self._form.refuse(str(error))
        else:
            self._form.close()
            self.app.change(speedups=options)

    def action_reload(self) -> None:
        if self._wanted is None:
            self.action_ask()
        else:
            self._read(self._wanted)

    def action_kernels(self) -> None:
        """Show the kernels of the cell."""
        if self.state is None:
            self._say_nothing()
            return
        self.remove_class("-roofline")
        self.add_class("-kernels")
        if not self._doing:
            self._compare_kernels(self.state)
        self._show_cell()
        self._kernels.focus()

    def action_roofline(self) -> None:
        """Show the configurations of the cell's program below their roof."""
        if self.state is None:
            self._say_nothing()
        elif not self.state.rooflines:
            self.app.say(NO_ROOFLINE)
        else:
            self.remove_class("-kernels")
            self.add_class("-roofline")
            self._show_cell()
            self._roofline.focus()

    def action_leave(self) -> None:
        """Cancel what is under way; else go back to the bars."""
        if self._doing:
            self.workers.cancel_group(self, "speedups")
            self._doing = ""
            self._show()
            self.app.say("cancelled; what is there stays, and r reads anew")
        elif self._shows_kernels or self._shows_roofline:
            self.remove_class("-kernels", "-roofline")
            self._focus_cells()
        else:
            raise SkipAction

    def _say_nothing(self) -> None:
        """Say why nothing can be done yet."""
        self.app.say(
            f"{self._doing}; esc cancels" if self._doing else "nothing is compared; o asks for results"
        )

    def action_export(self) -> None:
        """Hand what would tell to a simulator; of a study, copy the command that runs it."""
        state = self.state
        if state is None or self._doing:
            self._say_nothing()
        elif state.answer.is_of_study:
            line = run_command(state.options)
            self.app.copy_to_clipboard(line)
            self.app.say(f"{line} simulates more; sent to the clipboard")
        elif state.larger is None:
            task = partial(with_larger, state)
            self._work("drawing what would tell", task, self._take_larger, self._fail_larger)
        else:
            self._prompt.ask_for(target_of_plan(state))

    def _write(self, path: Path, target: str | None, traces: str, progress: Progress) -> str:
        """Write what an exporter makes of the larger plan."""
        state = self.state
        if state is None or state.larger is None or target is None:
            return ""
        return export_larger(state, state.larger.path, target, path, traces, progress)

    def action_findings(self) -> None:
        """Show the findings; without a profile, go to the sentences."""
        if self.session.draft is None:
            self._page.focus()
        else:
            super().action_findings()

    # What is copied.

    def _printing(self, state: SpeedupsState) -> SpeedupOptions:
        """Return the options of the command that prints what is shown."""
        return replace(printed_speedups(self.session, state.options), groups=self._shows_kernels)

    def own_text(self) -> PaneText:
        state, width = self.state, self.app.size.width
        if self._shows_roofline:
            return PaneText("kernelpoint-roofline", self._roofline.printed(width))
        text = "" if state is None else state.text(self._printing(state), width)
        return PaneText("kernelpoint-speedup", text)

    def command(self) -> str:
        return "" if self.state is None else command_line("speedup", self._printing(self.state))

    def action_copy_command(self) -> None:
        if self.state is None:
            self._say_nothing()
        elif self._shows_roofline:
            self.app.say(
                "`kernelpoint roofline PLAN RESULTS` prints one configuration, no command all of them"
            )
        else:
            super().action_copy_command()
