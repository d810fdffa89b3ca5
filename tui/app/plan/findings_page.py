"""The findings beside the plan: a page that scrolls."""

from __future__ import annotations

from rich.text import Text

from sampling.plan.study import Study
from tui.app.frame.page import Page
from tui.output.writer import Canvas
from tui.text import facts


class PlanFindings(Page):
    """Every finding's sentence and remedy, in the words of the commands."""

    def __init__(self, *, ascii_only: bool) -> None:
        super().__init__(self._text)
        self._ascii_only = ascii_only
        self._study: Study | None = None

    def show(self, study: Study) -> None:
        """Show another study's findings."""
        self._study = study
        self.write_anew()

    def _text(self, width: int) -> Text:
        if self._study is None or not width:
            return Text()
        return Text(facts.findings_text(self._study, Canvas(width, self._ascii_only, color=False)))
