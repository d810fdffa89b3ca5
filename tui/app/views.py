"""The views: a new one is one module of `tui.app`, with its screen, and one line here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tui.app.frame.view import ViewScreen


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
    View("3", "Plan", "plan.screen:PlanScreen"),
    View("4", "Compare", "compare:CompareScreen"),
    View("5", "Scale model", "scale:ScaleScreen", needs_profile=False),
    View("6", "Timeline", "timeline:TimelineScreen"),
    View("7", "Difference", "difference:DifferenceScreen"),
)
FIRST_VIEW = VIEWS[0].name


def views_that_open(*, has_profile: bool) -> tuple[View, ...]:
    """Return the views that can be opened, where a profile is open or where none is."""
    return tuple(view for view in VIEWS if has_profile or not view.needs_profile)


def view_named(name: str) -> View:
    """Return the view with this name, which must exist."""
    return next(view for view in VIEWS if view.name == name)
