"""The entries of the palette: actions of all views with their keys, views, options, exporters, methods."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tui.app.actions import APP, COMPARING, VIEW, Action, actions_of
from tui.app.views import VIEWS, View

_EVERYWHERE = frozenset({APP, VIEW, COMPARING})
_PLAN = "Plan"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the palette.

    Attributes
    ----------
    title : what it is called, its view before it and its key behind it.
    help : what it does.
    action : as Textual calls it.
    view : the view that is opened first; None: it runs where the user is.
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
            yield from _of_view(view, has_profile=has_profile)


def _usable(scopes: Collection[str], *, has_profile: bool) -> Iterator[Action]:
    for action in actions_of(*scopes):
        if action.palette and (has_profile or not action.needs_profile):
            yield action


def _of_action(action: Action, view: str | None, *, opens: bool = False) -> Entry:
    title = action.title if view is None else f"{view}: {action.title}"
    return Entry(f"{title}  {action.first_key}", action.description, action.name, view if opens else None)


def _of_view(view: View, *, has_profile: bool) -> Iterator[Entry]:
    """Yield the actions of another view than the present one."""
    own = [scope for scope in view.screen.SCOPES if scope not in _EVERYWHERE]
    for action in _usable(own, has_profile=has_profile):
        yield _of_action(action, view.name, opens=True)


def _of_plan() -> Iterator[Entry]:
    """Yield what changes or writes the plan: its options, where it goes, the methods that make it."""
    # They import numpy, which the palette of a workload that is still being read does without.
    from sampling.methods.registry import method_named, method_names
    from sampling.simulators.registry import exporter_names
    from tui.app.plan.options import OPTION_FIELDS

    for field in OPTION_FIELDS:
        yield Entry(f"Option: {field.label}", field.help, f"option({field.name!r})", _PLAN)
    for name in exporter_names():
        yield Entry(f"Export: {name}", f"hand the plan to {name}", f"export_to({name!r})", _PLAN)
    for name in method_names():
        yield Entry(
            f"Method: {name}", f"plan by {name}: {method_named(name).source}", f"app.method({name!r})"
        )
