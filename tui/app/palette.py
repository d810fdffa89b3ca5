"""The palette: actions of all views with their keys, views, options, exporters, methods, found by name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui.app.actions import APP, COMPARING, VIEW, actions_of
from tui.app.views import views_that_open

_EVERYWHERE = frozenset({APP, VIEW, COMPARING})


class Entry(NamedTuple):
    """One line of the palette: its view before its title and its key behind it, what it does, the action.

    The view is opened first; where that is None, the action runs where the user is.
    """

    title: str
    help: str
    action: str
    view: str | None = None


def entries(here: str | None, scopes: Collection[str], *, has_profile: bool) -> Iterator[Entry]:
    """Yield what can be done, that of the present view first.

    `here` is the name of the present view, None while a workload is read or over a page; `scopes` are those
    of the actions that can be run where the user is.
    """

    def of_actions(scopes: Sequence[str], view: str | None, opened: str | None = None) -> Iterator[Entry]:
        for action in actions_of(*scopes):
            # Help is of a view.
            is_usable = (has_profile or not action.needs_profile) and (here or action.name != "app.help")
            if action.palette and is_usable:
                title = action.title if view is None else f"{view}: {action.title}"
                yield Entry(f"{title}  {action.first_key}", action.description, action.name, opened)

    yield from of_actions([scope for scope in scopes if scope not in _EVERYWHERE], here)
    yield from of_actions([scope for scope in scopes if scope in _EVERYWHERE], None)
    views = views_that_open(has_profile=has_profile)
    for view in views:
        name = f"View {view.key}: {view.name}  {view.key}"
        yield Entry(name, view.screen.SUMMARY, f"app.view({view.name!r})")
    if has_profile:
        yield from _of_plan()
    for view in views:
        if view.name != here:
            of_view = [scope for scope in view.screen.SCOPES if scope not in _EVERYWHERE]
            yield from of_actions(of_view, view.name, view.name)


def _of_plan() -> Iterator[Entry]:
    """Yield what changes or writes the plan: its options, where it goes, the methods that make it."""
    # They import numpy, which the palette of a workload that is still being read does without.
    from sampling.methods.registry import method_named, method_names
    from sampling.simulators.registry import exporter_names
    from tui.app.option_form import OPTION_FIELDS

    for field in OPTION_FIELDS:
        yield Entry(f"Option: {field.label}", field.help, f"option({field.name!r})", "Plan")
    for name in exporter_names():
        yield Entry(f"Export: {name}", f"hand the plan to {name}", f"export_to({name!r})", "Plan")
    for name in method_names():
        yield Entry(
            f"Method: {name}", f"plan by {name}: {method_named(name).source}", f"app.method({name!r})"
        )


class EntryProvider(Provider):
    """The app's own commands, in its order; Textual's own provider sorts them by name."""

    async def discover(self) -> Hits:
        for title, explanation, callback, _ in self.app.get_system_commands(self.screen):
            # Textual's markup is to show brackets as they are.
            yield DiscoveryHit(Content(title), callback, text=title, help=explanation.replace("[", r"\["))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, explanation, callback, _ in self.app.get_system_commands(self.screen):
            if (score := matcher.match(title)) > 0:
                shown = matcher.highlight(title.replace("[", r"\["))
                yield Hit(score, shown, callback, text=title, help=explanation.replace("[", r"\["))
