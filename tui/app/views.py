"""The views: a new one is one module in `tui.app.screens` and one line here."""

from __future__ import annotations

from dataclasses import dataclass

from tui.app.screens.compare import CompareScreen
from tui.app.screens.groups import GroupsScreen
from tui.app.screens.plan import PlanScreen
from tui.app.screens.scale import ScaleScreen
from tui.app.screens.split_tree import SplitTreeScreen
from tui.app.screens.view import ViewScreen


@dataclass(frozen=True, slots=True)
class View:
    """A view's key, its name, the screen that shows it, and whether that shows a workload."""

    key: str
    screen: type[ViewScreen]
    needs_profile: bool = True

    @property
    def name(self) -> str:
        """Its name, as in the tabs."""
        return self.screen.NAME


VIEWS: tuple[View, ...] = (
    View("1", GroupsScreen),
    View("2", SplitTreeScreen),
    View("3", PlanScreen),
    View("4", CompareScreen),
    View("5", ScaleScreen, needs_profile=False),
)
FIRST_VIEW = VIEWS[0].name


def view_named(name: str) -> View:
    """Return the view of a name, which there is."""
    return next(view for view in VIEWS if view.name == name)
