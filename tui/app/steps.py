"""Steps that keys take in the plan's options, which `u` takes back; and the keys of findings' remedies."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tui.options.commands import SampleOptions

if TYPE_CHECKING:
    from sampling.plan.findings import Finding

KEYS = "abcde"
"""The keys of the first findings that have a remedy to apply."""


def remedy_keys(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    """Return by its key each finding whose remedy can be applied."""
    return dict(zip(KEYS, (finding for finding in findings if finding.changes), strict=False))


class _Taken(NamedTuple):
    before: SampleOptions
    after: SampleOptions
    words: str


class Steps:
    """The steps taken so far, the latest last."""

    def __init__(self) -> None:
        self._taken: list[_Taken] = []

    def __len__(self) -> int:
        return len(self._taken)

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
