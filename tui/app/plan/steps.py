"""Steps taken from the list of what binds: each sets one option, as typing its value in the form would."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sampling.plan.binding import Relaxation, Value
from tui.app.plan.option_fields import OPTION_FIELDS
from tui.options.commands import SampleOptions
from tui.text.binding import option_label, value_text


class Steps:
    """The steps taken so far, the latest last."""

    def __init__(self) -> None:
        self._taken: list[Relaxation] = []

    def take(self, options: SampleOptions, step: Relaxation) -> tuple[SampleOptions, str]:
        """Return the options with one of them a step looser, and what to say of it."""
        self._taken.append(step)
        before, after = value_text(step.before), value_text(step.after)
        words = f"{option_label(step)} is {after} now, not {before}; u takes it back"
        return _with_value(options, step.option, step.after), words

    def undo(self, options: SampleOptions) -> tuple[SampleOptions, str] | None:
        """Return the options with the last step taken back, and what to say of it; None where none is left.

        Steps that were refused, or whose option was changed since, are left alone.
        """
        while self._taken:
            step = self._taken.pop()
            if _with_value(options, step.option, step.after) == options:
                words = f"{option_label(step)} is {value_text(step.before)} again"
                return _with_value(options, step.option, step.before), words
        return None


def _with_value(options: SampleOptions, name: str, value: Value) -> SampleOptions:
    """Return the options with this one; a default is not given, as in the form."""
    field = next((field for field in OPTION_FIELDS if field.name == name), None)
    if field is None:
        changes: dict[str, Any] = {name: value}
        return replace(options, **changes)
    return field.taken(options, value if isinstance(value, str) else repr(value))
