"""Remedies of findings that were applied: each changes options as typing them would."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, NamedTuple

from tui.options.changes import change_text, changed
from tui.options.commands import SampleOptions

if TYPE_CHECKING:
    from sampling.plan.findings.finding import Finding

KEYS = "abcde"
"""The keys of the first findings that have a remedy to apply."""


class _Applied(NamedTuple):
    words: str
    before: SampleOptions
    after: SampleOptions


def remedy_keys(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    """Return by its key each finding whose remedy can be applied."""
    return dict(zip(KEYS, (finding for finding in findings if finding.changes), strict=False))


class Remedies:
    """The remedies applied so far, the latest last."""

    def __init__(self) -> None:
        self._applied: list[_Applied] = []

    def __len__(self) -> int:
        return len(self._applied)

    def apply(self, options: SampleOptions, finding: Finding) -> tuple[SampleOptions, str]:
        """Return the options with a finding's remedy, and what to say of it."""
        words, after = change_text(finding.changes), changed(options, finding.changes)
        self._applied.append(_Applied(words, options, after))
        return after, f"{words} is set, for {finding.code}; f, then u takes it back"

    def undo(self, options: SampleOptions) -> tuple[SampleOptions, str] | None:
        """Return the options with the last remedy taken back, and what to say; None where none is left.

        Remedies that were refused, or whose options were changed since, are left alone.
        """
        while self._applied:
            last = self._applied.pop()
            names = [
                option.name
                for option in fields(options)
                if getattr(last.before, option.name) != getattr(last.after, option.name)
            ]
            if names and all(getattr(options, name) == getattr(last.after, name) for name in names):
                before = {name: getattr(last.before, name) for name in names}
                return replace(options, **before), f"{last.words} is taken back"
        return None
