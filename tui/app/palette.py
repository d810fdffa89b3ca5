"""The palette: actions of all views with their keys, views, options, exporters, methods, found by words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui.app.actions import APP, COMPARING, VIEW, Action, actions_of
from tui.app.views import VIEWS

if TYPE_CHECKING:
    from textual.app import SystemCommand

_EVERYWHERE = frozenset({APP, VIEW, COMPARING})
_PLAN = "Plan"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the palette: its view before its title and its key behind it, what it does, the action.

    The view is opened first; where that is None, the action runs where the user is.
    """

    title: str
    help: str
    action: str
    view: str | None = None


def entries(here: str | None, scopes: Collection[str], *, has_profile: bool) -> Iterator[Entry]:
    """Yield what can be done, that of the present view first.

    Parameters
    ----------
    here : the name of the present view; None while a workload is read, or over a page.
    scopes : those of the actions that can be run where the user is.
    has_profile : whether a workload is open.
    """
    own = [scope for scope in scopes if scope not in _EVERYWHERE]
    yield from (_of_action(action, here) for action in _usable(own, has_profile=has_profile))
    everywhere = [scope for scope in scopes if scope in _EVERYWHERE]
    for action in _usable(everywhere, has_profile=has_profile):
        # Help is of a view.
        if here is not None or action.name != "app.help":
            yield _of_action(action, None)
    views = [view for view in VIEWS if has_profile or not view.needs_profile]
    for view in views:
        yield Entry(
            f"View {view.key}: {view.name}  {view.key}", view.screen.SUMMARY, f"app.view({view.name!r})"
        )
    if has_profile:
        yield from _of_plan()
    for view in views:
        if view.name != here:
            of_view = [scope for scope in view.screen.SCOPES if scope not in _EVERYWHERE]
            for action in _usable(of_view, has_profile=has_profile):
                yield _of_action(action, view.name, opens=True)


def _usable(scopes: Collection[str], *, has_profile: bool) -> Iterator[Action]:
    for action in actions_of(*scopes):
        if action.palette and (has_profile or not action.needs_profile):
            yield action


def _of_action(action: Action, view: str | None, *, opens: bool = False) -> Entry:
    title = action.title if view is None else f"{view}: {action.title}"
    return Entry(f"{title}  {action.first_key}", action.description, action.name, view if opens else None)


def _of_plan() -> Iterator[Entry]:
    """Yield what changes or writes the plan: its options, where it goes, the methods that make it."""
    # They import numpy, which the palette of a workload that is still being read does without.
    from sampling.methods.registry import method_named, method_names
    from sampling.simulators.registry import exporter_names
    from tui.app.option_form import OPTION_FIELDS

    for field in OPTION_FIELDS:
        yield Entry(f"Option: {field.label}", field.help, f"option({field.name!r})", _PLAN)
    for name in exporter_names():
        yield Entry(f"Export: {name}", f"hand the plan to {name}", f"export_to({name!r})", _PLAN)
    for name in method_names():
        yield Entry(
            f"Method: {name}", f"plan by {name}: {method_named(name).source}", f"app.method({name!r})"
        )


def found(commands: Sequence[SystemCommand], typed: str) -> list[SystemCommand]:
    """Return the commands that have all the words typed, in any order; those of such titles first."""
    tokens = typed.casefold().split()

    def distance(command: SystemCommand) -> int:
        title = command.title.casefold()
        # "Plan: Save  S" is called Save.
        if title.partition(": ")[2].partition("  ")[0] == " ".join(tokens):
            return 0
        words = [word for word in re.split(r"[^a-z0-9]+", title) if word.startswith(tuple(tokens))]
        if all(any(word.startswith(token) for word in words) for token in tokens):
            return 1
        return 2 if all(token in f"{title} {command.help.casefold()}" for token in tokens) else 3

    return [each for each in sorted(commands, key=distance) if distance(each) < 3]


class EntryProvider(Provider):
    """The app's own commands, in its order; Textual's own provider sorts them by name."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for title, explanation, callback, _ in self.app.get_system_commands(self.screen):
            # Textual's markup is to show brackets as they are.
            yield DiscoveryHit(Content(title), callback, text=title, help=explanation.replace("[", r"\["))

    async def search(self, query: str) -> Hits:
        """Those that fit what is typed, what was typed marked; the palette sorts by score."""
        commands = list(self.app.get_system_commands(self.screen))
        for place, (title, explanation, callback, _) in enumerate(found(commands, query)):
            shown = Content(title)
            for token in query.casefold().split():
                start = title.casefold().find(token)
                if start >= 0 and self.match_style is not None:
                    shown = shown.stylize(self.match_style, start, start + len(token))
            help_ = explanation.replace("[", r"\[")
            yield Hit(1 / (1 + place), shown, callback, text=title, help=help_)
