"""Finds entries of the palette by what is typed, and hands them to Textual's palette."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

if TYPE_CHECKING:
    from textual.app import SystemCommand

_WORD_BREAKS = re.compile(r"[^a-z0-9]+")


def closeness(title: str, explanation: str, typed: str) -> int:
    """Return how well an entry fits, from 5, what is typed is its name, down to 0, it does not fit.

    4: all words are words of its title, 3: all begin one, 2: all are within it, 1: in its explanation.

    Parameters
    ----------
    typed : words; each must be found, in any case and order.
    """
    tokens, name = typed.casefold().split(), title.casefold()
    words = _WORD_BREAKS.split(name)
    # "Plan: Save  S" is called Save.
    if name.partition(": ")[2].partition("  ")[0] == " ".join(tokens):
        return 5
    if all(token in words for token in tokens):
        return 4
    if all(any(word.startswith(token) for word in words) for token in tokens):
        return 3
    if all(token in name for token in tokens):
        return 2
    whole = f"{name} {explanation.casefold()}"
    return 1 if all(token in whole for token in tokens) else 0


def found(commands: Sequence[SystemCommand], typed: str) -> list[SystemCommand]:
    """Return the commands that fit, the closest first, equally close ones in their order."""
    close = [(closeness(each.title, each.help, typed), each) for each in commands]
    return [each for near, each in sorted(close, key=lambda pair: -pair[0]) if near]


class EntryProvider(Provider):
    """The app's own commands, in its order; Textual's own provider sorts them by name."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for title, explanation, callback, _ in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(Content(title), callback, text=title, help=_plain(explanation))

    async def search(self, query: str) -> Hits:
        """Those that fit what is typed; where none does, those with its letters in their order."""
        commands = list(self.app.get_system_commands(self.screen))
        hits = found(commands, query) or self._with_letters(commands, query)
        for place, (title, explanation, callback, _) in enumerate(hits):
            # The palette sorts by score.
            yield Hit(
                1 / (1 + place), self._marked(title, query), callback, text=title, help=_plain(explanation)
            )

    def _with_letters(self, commands: Sequence[SystemCommand], query: str) -> list[SystemCommand]:
        match = self.matcher(query).match
        scored = [(match(each.title), each) for each in commands]
        return [each for score, each in sorted(scored, key=lambda pair: -pair[0]) if score > 0]

    def _marked(self, title: str, query: str) -> Content:
        """Return the title with what was typed marked."""
        shown = Content(title)
        for token in query.casefold().split():
            start = title.casefold().find(token)
            if start >= 0 and self.match_style is not None:
                shown = shown.stylize(self.match_style, start, start + len(token))
        return shown


def _plain(text: str) -> str:
    """Return a text that Textual's markup shows as it is."""
    return text.replace("[", r"\[")
