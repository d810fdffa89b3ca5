"""Findings: what is odd about the workload, and what to do about it."""

from __future__ import annotations

from rich.text import Text

from sampling.plan.study import Study
from tui.app.frame.page import PageScreen
from tui.output.writer import Canvas
from tui.text import facts


class FindingsScreen(PageScreen):
    """Every finding's sentence and remedy, in the words of the commands."""

    BINDINGS = [("f", "dismiss", "Back")]  # noqa: RUF012

    WHY_NO_COMMAND = "`kernelpoint info PROFILE` prints the findings, below what is in the profile"

    def __init__(self, study: Study, *, ascii_only: bool) -> None:
        super().__init__("Findings", ascii_only=ascii_only)
        self._study = study

    def write(self, width: int) -> Text:
        """One paragraph a finding."""
        return Text(facts.findings_text(self._study, Canvas(width, self._ascii_only, color=False)))
