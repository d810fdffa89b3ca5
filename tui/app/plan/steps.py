"""Steps taken in view 3: an option that binds a step looser, or the epsilon of a budget; `u` undoes them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, NamedTuple

from sampling.plan.binding import Relaxation, Value
from tui.app.plan.option_fields import OPTION_FIELDS
from tui.options.commands import SampleOptions
from tui.text.binding import option_label, value_text


class _Taken(NamedTuple):
    before: SampleOptions
    after: SampleOptions
    words: str


class Steps:
    """The steps taken so far, the latest last."""

    def __init__(self) -> None:
        self._taken: list[_Taken] = []

    def take(self, options: SampleOptions, step: Relaxation) -> tuple[SampleOptions, str]:
        """Return the options with one of them a step looser, and what to say of it."""
        label, before, after = option_label(step), value_text(step.before), value_text(step.after)
        changed = with_value(options, step.option, step.after)
        self.note(options, changed, f"{label} is {before} again")
        return changed, f"{label} is {after} now, not {before}; u takes it back"

    def note(self, before: SampleOptions, after: SampleOptions, words: str) -> None:
        """Take note of a step.

        Parameters
        ----------
        words : what to say once it is taken back.
        """
        self._taken.append(_Taken(before, after, words))

    def undo(self, options: SampleOptions) -> tuple[SampleOptions, str] | None:
        """Return the options with the last step taken back, and what to say of it; None where none is left.

        Steps that were refused, or whose options were changed since, are left alone.
        """
        while self._taken:
            step = self._taken.pop()
            names = [
                option.name
                for option in fields(options)
                if getattr(step.before, option.name) != getattr(step.after, option.name)
            ]
            if names and all(getattr(options, name) == getattr(step.after, name) for name in names):
                given: dict[str, Any] = {name: getattr(step.before, name) for name in names}
                return replace(options, **given), step.words
        return None


def with_value(options: SampleOptions, name: str, value: Value) -> SampleOptions:
    """Return the options with this one; a default is not given, as in the form."""
    field = next((field for field in OPTION_FIELDS if field.name == name), None)
    if field is None:
        changes: dict[str, Any] = {name: value}
        return replace(options, **changes)
    return field.taken(options, value if isinstance(value, str) else repr(value))
