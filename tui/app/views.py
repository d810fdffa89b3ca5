"""The views: a new one is one module in `tui.app.screens` and one line here."""

from __future__ import annotations

from dataclasses import dataclass

from tui.app.screens.groups import GroupsScreen
from tui.app.screens.view import ViewScreen


@dataclass(frozen=True, slots=True)
class View:
    """A view's key, its name in a word, and the screen that shows it."""

    key: str
    name: str
    screen: type[ViewScreen]


VIEWS: tuple[View, ...] = (View("1", "Groups", GroupsScreen),)
