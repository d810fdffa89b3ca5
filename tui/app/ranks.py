"""The ranks of the run beside each other, as `kernelpoint ranks` prints them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.text import Text

from sampling.parallel import Progress
from sampling.plan.draft import Draft
from sampling.reduction.ranks import RankTimes, rank_times
from tui.app.actions import PAGE, RANKS, SCROLL, bindings
from tui.app.session_app import ExplainedScreen, in_words, start
from tui.app.view import Page, PageScreen
from tui.options.command_line import options_of
from tui.options.look import RanksOptions
from tui.options.plan import SampleOptions
from tui.output.writer import Canvas
from tui.text.ranks import ranks_result


class RanksScreen(PageScreen, ExplainedScreen):
    """Who computes longest, who waits, which rank stands for all; they are looked at while it is open."""

    NAME = "Ranks"
    SCOPES = (RANKS, PAGE, SCROLL)
    BINDINGS = bindings(RANKS)
    ABOUT: ClassVar[str] = (
        "The ranks of the run beside each other: how long each one computes and communicates, who waits for "
        "whom, and whether one rank stands for all, so that it is enough to simulate that one."
    )
    WHY_NO_COMMAND = "`kernelpoint ranks PROFILE` prints this page"

    def __init__(self, draft: Draft, options: SampleOptions) -> None:
        super().__init__(self.NAME)
        self._draft, self._options = draft, options_of(RanksOptions, options)
        self._found: RankTimes | None = None
        self._doing = ""

    def on_mount(self) -> None:
        start(self, self._look, self._take, in_words(self._say), group="ranks")

    def _look(self, progress: Progress) -> Iterator[RankTimes]:
        yield rank_times(self._draft.profile, self._draft.counts.region, progress)

    def _take(self, rank_times: RankTimes) -> None:
        self._found = rank_times
        self.query_one(Page).write_anew()

    def _say(self, words: str) -> None:
        self._doing = words
        self.query_one(Page).write_anew()

    def write(self, width: int) -> Text:
        """What the command prints, or what is being done."""
        if self._found is None:
            return Text(self._doing)
        answer = ranks_result(self._draft.profile, self._found, self._options)
        return Text(answer.drawn(Canvas(width, color=False)))
