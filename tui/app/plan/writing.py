"""Saving and exporting from a view: where to is asked for, the files are written in a worker."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path

from textual import on, work
from textual.worker import get_current_worker

from sampling.simulators.registry import exporter_names
from tui.app.frame.view import ViewScreen
from tui.app.overrides_file import decisions_file
from tui.app.plan.details import PlanDetails
from tui.app.plan.files import write_plan
from tui.app.plan.prompt import FileWritten, PlaceGiven, PlanPrompt, PromptLeft
from tui.app.planning import CancelledError, throttled
from tui.app.state import decisions


class WritingScreen(ViewScreen):
    """A view with a `PlanPrompt` and a plan that can be written.

    Attributes
    ----------
    saved : the file that the plan was written to last; None before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.saved: Path | None = None
        self._place: PlaceGiven | None = None

    @property
    @abstractmethod
    def details(self) -> PlanDetails | None:
        """The plan to write; None until it is drawn."""

    @abstractmethod
    def focus_again(self) -> None:
        """Give the focus to what had it before a place was asked for."""

    def has_plan(self) -> bool:
        """Return whether there is a plan to write; say it where there is none yet."""
        is_there = self.session.doing is None and self.details is not None
        if not is_there:
            self.app.say("the plan is being made; ask again once it is there")
        return is_there

    def action_save(self) -> None:
        """Ask for a file for the plan."""
        self._ask(None)

    def action_export(self) -> None:
        """Ask for a folder for what an exporter makes of the plan."""
        self._ask(exporter_names()[0])

    def action_export_to(self, target: str) -> None:
        """Ask for a folder for what this exporter makes of the plan."""
        self._ask(target)

    def _ask(self, target: str | None) -> None:
        if self.has_plan():
            self.query_one(PlanPrompt).ask(target)

    @on(PlaceGiven)
    def _write_there(self, event: PlaceGiven) -> None:
        self._leave_prompt()
        if self.details is not None:
            self._place = event
            self._write(self.details, event.path, event.target)

    def ask_again(self, problem: str) -> None:
        """Ask for another place, as nothing could be written to the last one."""
        if self._place is not None:
            self.query_one(PlanPrompt).ask_again(self._place.path, self._place.target, problem)

    @on(PromptLeft)
    def _leave_prompt(self) -> None:
        self.query_one(PlanPrompt).close()
        self.focus_again()

    @work(thread=True, exit_on_error=False, group="files")
    def _write(self, details: PlanDetails, path: Path, target: str | None) -> None:
        worker = get_current_worker()
        progress = throttled(lambda *_: None, lambda: worker.is_cancelled)
        try:
            words = write_plan(details, path, target, progress)
            self.post_message(FileWritten(words, path if target is None else None))
        except CancelledError:
            return

    @on(FileWritten)
    def _say_written(self, event: FileWritten) -> None:
        if event.plan is not None:
            self.saved = event.plan
            if decisions(self.session.overrides) and not decisions_file(self.session).exists():
                self.app.name_decisions(event.plan)
        self.app.say(event.words)
