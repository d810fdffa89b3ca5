"""Every action of the app in one table: bindings, footer, help and palette are made from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat

from textual.binding import Binding, BindingType

APP = "app"
VIEW = "view"
GROUPS = "groups"
TABLE = "table"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing the user can do.

    Attributes
    ----------
    scope : where its keys work.
    name : as Textual calls it: the method is ``action_NAME``.
    keys : as Textual names them, by commas.
    display : the keys as a person reads them; the first word of it stands in the footer.
    title : in the footer.
    description : in help and palette.
    show : whether the footer has it.
    palette : whether the palette has it.
    """

    scope: str
    name: str
    keys: str
    display: str
    title: str
    description: str
    show: bool = False
    palette: bool = True


ACTIONS: tuple[Action, ...] = (
    Action(
        APP, "app.quit", "q,ctrl+q", "q", "Quit", "leave; the plan's command line stays behind", show=True
    ),
    Action(APP, "app.help", "question_mark,f1", "? F1", "Help", "what the keys do here", show=True),
    Action(TABLE, "cursor_down", "j,down", "j down", "Down", "the next kernel group", palette=False),
    Action(TABLE, "cursor_up", "k,up", "k up", "Up", "the kernel group before", palette=False),
    Action(TABLE, "scroll_top", "g,home", "g home", "First", "the first kernel group", palette=False),
    Action(TABLE, "scroll_bottom", "G,end", "G end", "Last", "the last kernel group", palette=False),
    Action(TABLE, "page_down", "pagedown,ctrl+f", "pgdn ^f", "Page", "a page down", palette=False),
    Action(TABLE, "page_up", "pageup,ctrl+b", "pgup ^b", "Page", "a page up", palette=False),
    Action(GROUPS, "search", "slash", "/", "Filter", "show only groups whose key contains a text", show=True),
    Action(GROUPS, "clear_search", "escape", "esc", "Show all", "show all groups again"),
    Action(GROUPS, "sort", "s", "s", "Sort", "sort by the next column", show=True),
    Action(GROUPS, "log", "x", "x", "Log", "logarithmic or linear durations", show=True),
    Action(VIEW, "app.focus_next", "tab", "tab", "Pane", "to the other pane", palette=False),
    Action(
        VIEW, "copy_pane", "y", "y", "Copy", "copy the pane's text to the terminal's clipboard", show=True
    ),
    Action(VIEW, "write_pane", "w", "w", "Write", "write the pane's text to a new file here", show=True),
    Action(
        VIEW, "copy_command", "Y", "Y", "Command", "copy the command line that prints the same", show=True
    ),
    Action(
        VIEW, "findings", "f", "f", "Findings", "every finding in full, and what to do about it", show=True
    ),
    Action(APP, "app.command_palette", "ctrl+p", "^p", "Palette", "find an action by name", palette=False),
)


def actions_of(*scopes: str) -> Iterator[Action]:
    """Yield the actions of these scopes, in the table's order."""
    return (action for action in ACTIONS if action.scope in scopes)


def bindings(*scopes: str) -> list[BindingType]:
    """Return the key bindings of these scopes; the footer has the first key of an action."""
    return [
        Binding(
            key,
            action.name,
            action.title,
            show=action.show and is_first,
            key_display=action.display.split(" ", maxsplit=1)[0],
            tooltip=action.description,
        )
        for action in actions_of(*scopes)
        for key, is_first in zip(action.keys.split(","), chain([True], repeat(False)), strict=False)
    ]
