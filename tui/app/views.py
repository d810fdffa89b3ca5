"""The views, a module of `tui.app` and a line here each; the palette, which names what can be done there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from tui.app.actions import APP, COMPARING, VIEW, Actions, Shown

if TYPE_CHECKING:
    from tui.app.view import ViewScreen


class View(NamedTuple):
    """A view's key, its name as in the tabs, where its screen is, and whether that shows a workload."""

    key: str
    name: str
    #: MODULE:CLASS in `tui.app`; imported when it is opened, so that no view waits for the others.
    place: str
    needs_profile: bool = True

    @property
    def screen(self) -> type[ViewScreen]:
        """The class of its screen."""
        module, _, name = self.place.partition(":")
        screen: type[ViewScreen] = getattr(import_module(f"tui.app.{module}"), name)
        return screen

    def open(self) -> ViewScreen:
        """Return its screen."""
        return self.screen()


VIEWS: tuple[View, ...] = (
    View("1", "Groups", "groups:GroupsScreen"),
    View("2", "Split tree", "split_tree:SplitTreeScreen"),
    View("3", "Plan", "plan:PlanScreen"),
    View("4", "Compare", "compare:CompareScreen"),
    View("5", "Scale model", "scale:ScaleScreen", needs_profile=False),
    View("6", "Timeline", "timeline:TimelineScreen"),
    View("7", "Difference", "difference:DifferenceScreen"),
    View("8", "Speedups", "speedups:SpeedupsScreen", needs_profile=False),
)
FIRST_VIEW = VIEWS[0].name


def views_that_open(*, has_profile: bool) -> tuple[View, ...]:
    """Return the views that can be opened, where a profile is open or where none is."""
    return tuple(view for view in VIEWS if has_profile or not view.needs_profile)


def view_named(name: str) -> View:
    """Return the view with this name, which must exist."""
    return next(view for view in VIEWS if view.name == name)


# The palette: what can be done, in which view.

_EVERYWHERE = (APP, VIEW, COMPARING)


class Entry(NamedTuple):
    """One line of the palette: its view before its title and its key behind it, what it does, the action.

    The view is opened first; where that is None, the action runs where the user is.
    """

    title: str
    help: str
    action: str
    view: str | None = None


def entries(current: str | None, scopes: Sequence[Actions], *, has_profile: bool) -> Iterator[Entry]:
    """Yield what can be done, that of the present view first.

    `current` is the name of the present view, None while a workload is read or over a page; `scopes` are the
    actions that can be run where the user is.
    """

    def list_actions(
        scopes: Iterable[Actions], view: str | None, opened: str | None = None
    ) -> Iterator[Entry]:
        for action in chain.from_iterable(scopes):
            # Help is of a view.
            is_usable = (has_profile or not action.needs_profile) and (current or action.name != "app.help")
            if Shown.PALETTE in action.shown and is_usable:
                title = action.title if view is None else f"{view}: {action.title}"
                yield Entry(f"{title}  {action.first_key}", action.description, action.name, opened)

    yield from list_actions([scope for scope in scopes if scope not in _EVERYWHERE], current)
    yield from list_actions([scope for scope in scopes if scope in _EVERYWHERE], None)
    views = views_that_open(has_profile=has_profile)
    for view in views:
        name = f"View {view.key}: {view.name}  {view.key}"
        yield Entry(name, view.screen.SUMMARY, f"app.view({view.name!r})")
    if has_profile:
        yield from _of_plan()
    for view in views:
        if view.name != current:
            of_view = [scope for scope in view.screen.SCOPES if scope not in _EVERYWHERE]
            yield from list_actions(of_view, view.name, view.name)


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
