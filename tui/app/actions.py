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
TREE = "tree"
PLAN = "plan"
RESULTS = "results"
FORM = "form"
LIST = "list"
BINDS = "binds"
COMPARE = "compare"
SCALE = "scale"
SHEET = "sheet"
WORDS = "words"
TIMELINE = "timeline"
RANGES = "ranges"
DIFFERENCE = "difference"
COMPARING = "comparing"
PLANNED = "planned"
"""Keys of view 3 that work wherever a view has no other use for them."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing the user can do.

    Attributes
    ----------
    scope : where its keys work.
    name : as Textual calls it: the method is ``action_NAME``; ``{key}`` stands for the key pressed.
    keys : as Textual names them, by commas.
    display : the keys as a person reads them; the footer shows the first word.
    title : in the footer.
    description : in help and palette.
    show : whether it is in the footer.
    palette : whether it is in the palette.
    needs_profile : whether it does nothing where no profile is open.
    """

    scope: str
    name: str
    keys: str
    display: str
    title: str
    description: str
    show: bool = False
    palette: bool = True
    needs_profile: bool = False

    @property
    def first_key(self) -> str:
        """The first of its keys, as a person reads it."""
        return self.display.split(" ", maxsplit=1)[0]


_ALL = 10**9
"""More rows than any table has."""


def _moves(scope: str, noun: str) -> tuple[Action, ...]:
    """Return the keys that move the cursor of a table, where `action_move` takes rows."""
    steps = (
        ("1", "j,down", "j down", "Down", f"the next {noun}"),
        ("-1", "k,up", "k up", "Up", f"the {noun} before"),
        (f"-{_ALL}", "g,home", "g home", "First", f"the first {noun}"),
        (str(_ALL), "G,end", "G end", "Last", f"the last {noun}"),
    )
    return tuple(
        Action(scope, f"move({rows})", keys, display, title, description, palette=False)
        for rows, keys, display, title, description in steps
    )


def _pages(scope: str) -> tuple[Action, ...]:
    """Return the keys that move it by a page, where `action_page` takes pages."""
    return (
        Action(scope, "page(1)", "pagedown,ctrl+f", "pgdn ^f", "Page", "a page down", palette=False),
        Action(scope, "page(-1)", "pageup,ctrl+b", "pgup ^b", "Page", "a page up", palette=False),
    )


ACTIONS: tuple[Action, ...] = (
    Action(
        APP, "app.quit", "q,ctrl+q", "q", "Quit", "leave; the plan's command line stays behind", show=True
    ),
    Action(
        APP,
        "app.suspend_process",
        "ctrl+z",
        "^z",
        "Suspend",
        "back to the shell, where fg goes on",
        palette=False,
    ),
    Action(APP, "app.help", "question_mark,f1", "? F1", "Help", "what the keys do here", show=True),
    *_moves(TABLE, "kernel group"),
    *_pages(TABLE),
    Action(TABLE, "app.view('Split tree')", "enter,right,l", "enter l", "Tree", "how this group is split"),
    Action(GROUPS, "search", "slash", "/", "Filter", "show only groups whose key contains a text", show=True),
    Action(GROUPS, "clear_search", "escape", "esc", "Show all", "show all groups again"),
    Action(GROUPS, "sort", "s", "s", "Sort", "sort by the next column", show=True),
    Action(GROUPS, "reverse", "R", "R", "Reverse", "the same order the other way round"),
    Action(GROUPS, "log", "x", "x", "Log", "logarithmic or linear durations", show=True),
    Action(
        TREE, "step", "right_square_bracket,right", "] right", "Step", "take the decision ahead", show=True
    ),
    Action(TREE, "step_back", "left_square_bracket,left", "[ left", "Back", "undo the last step"),
    Action(TREE, "next_group", "right_curly_bracket", "}", "Next group", "to the next kernel group"),
    Action(TREE, "previous_group", "left_curly_bracket", "{", "Last group", "to the kernel group before"),
    Action(TREE, "finish_group", "e", "e", "End of group", "take all decisions on this group"),
    Action(TREE, "finish", "E", "E", "End of all", "take all decisions on all groups"),
    Action(TREE, "node_down", "j,down", "j down", "Down", "look at the decision after", palette=False),
    Action(TREE, "node_up", "k,up", "k up", "Up", "look at the decision before", palette=False),
    Action(TREE, "split_node", "plus,equals_sign", "+ =", "Split", "split the node in focus", show=True),
    Action(TREE, "keep_node", "minus", "-", "Keep", "keep the node in focus whole", show=True),
    Action(TREE, "undo_decision", "u", "u", "Undo", "take your last decision back"),
    Action(TREE, "method", "m", "m", "Method", "the trees of another method, for study"),
    Action(TREE, "log", "x", "x", "Log", "logarithmic or linear durations"),
    Action(SHEET, "move(0, 1)", "j,down", "j down", "Down", "the next size", palette=False),
    Action(SHEET, "move(0, -1)", "k,up", "k up", "Up", "the size before", palette=False),
    Action(SHEET, "move(-1, 0)", "h,left", "h left", "Left", "the cell before", palette=False),
    Action(SHEET, "move(1, 0)", "l,right", "l right", "Right", "the next cell", palette=False),
    Action(SHEET, "edge(-1)", "g,home", "g home", "First", "the first size", palette=False),
    Action(SHEET, "edge(1)", "G,end", "G end", "Last", "the last size", palette=False),
    Action(
        SHEET,
        "edit",
        "enter",
        "enter",
        "Edit",
        "type in the cell; tab goes on, esc leaves",
        show=True,
        palette=False,
    ),
    Action(
        SHEET,
        "begin('{key}')",
        "0,1,2,3,4,5,6,7,8,9,full_stop",
        "0-9 .",
        "Type",
        "type in the cell, where no profile is open (else a view's key)",
        show=True,
        palette=False,
    ),
    Action(SHEET, "clear_cell", "backspace", "bksp", "Clear", "empty the cell", palette=False),
    Action(SCALE, "new_row", "n", "n", "Row", "add a size below", show=True),
    Action(SCALE, "remove_row", "D,delete", "D del", "Remove", "remove the size"),
    Action(SCALE, "mark", "m", "m", "Mark", "simulated, target, both, or a point of the curve"),
    Action(SCALE, "undo", "u", "u", "Undo", "take the last edit back"),
    Action(SCALE, "empty", "N", "N", "Empty", "an empty table, to type in"),
    Action(SCALE, "open_file", "o", "o", "Open", "read a CSV or TOML", show=True),
    Action(SCALE, "next('benchmark')", "b", "b", "Benchmark", "the next benchmark of the file"),
    Action(SCALE, "next('rule')", "r", "r", "Rule", "the next rule, or all of them"),
    Action(SCALE, "next('confidence')", "i", "i", "Interval", "intervals of 80, 90 or 95 %"),
    Action(
        SCALE, "next('f_mem')", "a", "a", "Assume", "assume f_mem where it is needed and not known, or not"
    ),
    Action(SCALE, "next('scaling')", "s", "s", "Scaling", "strong or weak scaling, or of chiplets"),
    Action(SCALE, "next('unit')", "t", "t", "Unit", "MPKI of thread or of warp instructions"),
    Action(SCALE, "ask_peak", "p", "p", "Peak", "the most IPC of an SM, which bounds a cliff's gain"),
    Action(WORDS, "scroll_down", "j,down", "j down", "Down", "a line down", palette=False),
    Action(WORDS, "scroll_up", "k,up", "k up", "Up", "a line up", palette=False),
    Action(COMPARE, "run", "r", "r", "Run", "compare all methods anew", show=True),
    Action(COMPARE, "cancel", "c,escape", "c esc", "Cancel", "compare no further; what is there stays"),
    Action(COMPARE, "take", "enter,p", "enter p", "Take", "plan by the method under the cursor", show=True),
    Action(COMPARE, "app.undo", "u", "u", "Undo", "take the last change of the plan's options back"),
    Action(COMPARE, "sort", "s", "s", "Sort", "best first, or sort by the next figure"),
    Action(COMPARE, "reverse", "R", "R", "Reverse", "the same order the other way round"),
    Action(COMPARE, "reasons", "e", "e", "Why not", "why methods cannot run, and what would help"),
    *_moves(COMPARE, "method"),
    *_pages(COMPARE),
    *_moves(FORM, "option"),
    Action(FORM, "edit", "enter", "enter", "Edit", "type a value; a choice goes on by one", palette=False),
    Action(FORM, "step(1)", "plus,right,l", "+ right l", "More", "the next value", palette=False),
    Action(FORM, "step(-1)", "minus,left,h", "- left h", "Less", "the value before", palette=False),
    Action(FORM, "give_up", "escape", "esc", "As planned", "drop a refused value", palette=False),
    Action(LIST, "scroll_down", "j,down", "j down", "Down", "a row down", palette=False),
    Action(LIST, "scroll_up", "k,up", "k up", "Up", "a row up", palette=False),
    Action(LIST, "scroll_home", "g,home", "g home", "First", "the first row", palette=False),
    Action(LIST, "scroll_end", "G,end", "G end", "Last", "the last row", palette=False),
    Action(LIST, "page_down", "pagedown,ctrl+f", "pgdn ^f", "Page", "a page down", palette=False),
    Action(LIST, "page_up", "pageup,ctrl+b", "pgup ^b", "Page", "a page up", palette=False),
    *_moves(BINDS, "option"),
    Action(BINDS, "take", "enter", "enter", "Take", "take this step", palette=False, show=True),
    Action(
        PLAN,
        "binding",
        "b",
        "b",
        "What binds",
        "what makes the plan dear; enter takes a step there",
        show=True,
    ),
    Action(
        PLAN, "budget", "B", "B", "Budget", "the smallest epsilon that a time of simulation allows", show=True
    ),
    Action(PLAN, "app.undo", "u", "u", "Undo", "take the last change of the plan's options back"),
    Action(
        PLAN, "next_detail", "t", "t", "More", "trade-off, strata, launches, findings, what binds", show=True
    ),
    Action(PLAN, "save", "S", "S", "Save", "save the plan to a new file", show=True),
    Action(PLAN, "export", "e", "e", "Export", "hand the plan to a simulator or tool", show=True),
    Action(PLAN, "results", "o,r", "o r", "Results", "the total, from a simulator's results", show=True),
    Action(PLAN, "leave_details", "escape", "esc", "Options", "back to the options", palette=False),
    Action(RESULTS, "ask", "o", "o", "Open", "other results, or another target", show=True),
    Action(RESULTS, "save", "S", "S", "Save", "save the larger plan to a new file", show=True),
    Action(
        RESULTS, "export", "e", "e", "Export", "hand what is new in the larger plan to a simulator", show=True
    ),
    Action(RESULTS, "turn", "t", "t", "More", "kernel groups, or what to simulate next", show=True),
    Action(RESULTS, "back", "escape", "esc", "Back", "stop reading; else back to the plan", show=True),
    *_moves(RANGES, "range"),
    *_pages(RANGES),
    Action(RANGES, "open", "l,right", "l right", "Open", "show what lies in the range", palette=False),
    Action(RANGES, "close", "h,left", "h left", "Close", "hide it; then to the range around", palette=False),
    Action(RANGES, "zoom_to", "enter", "enter", "Zoom", "zoom to the range", palette=False, show=True),
    Action(RANGES, "choose", "space", "space", "Region", "all views show the range; again: all", show=True),
    Action(TIMELINE, "zoom_in", "plus,equals_sign", "+", "Zoom", "show the middle half", show=True),
    Action(TIMELINE, "zoom_out", "minus", "-", "Out", "show twice as much", show=True),
    Action(TIMELINE, "pan(-1)", "h,left", "h left", "Left", "back in the run", palette=False),
    Action(TIMELINE, "pan(1)", "l,right", "l right", "Right", "on in the run", palette=False),
    Action(TIMELINE, "group(1)", "j,down", "j down", "Next group", "the next kernel group", palette=False),
    Action(TIMELINE, "group(-1)", "k,up", "k up", "Last group", "the kernel group before", palette=False),
    Action(TIMELINE, "whole", "0", "0", "Whole", "show all launches of the group"),
    Action(TIMELINE, "leave", "escape", "esc", "Back", "show all; then give the region back", palette=False),
    Action(TIMELINE, "by", "t", "t", "Time", "by the order of the launches, or by time", show=True),
    Action(TIMELINE, "log", "x", "x", "Log", "logarithmic or linear durations"),
    Action(
        DIFFERENCE, "ask", "o", "o", "Before", "name the recording, or the part of one, before", show=True
    ),
    *_moves(DIFFERENCE, "kernel"),
    *_pages(DIFFERENCE),
    Action(DIFFERENCE, "sort", "s", "s", "Sort", "sort by the next column", show=True),
    Action(DIFFERENCE, "reverse", "R", "R", "Reverse", "the same order the other way round"),
    Action(DIFFERENCE, "log", "x", "x", "Log", "logarithmic or linear durations", show=True),
    Action(DIFFERENCE, "cancel", "escape", "esc", "Cancel", "stop reading; what is there stays"),
    Action(COMPARING, "app.difference", "o", "o", "Difference", "compare with another recording: view 7"),
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
    Action(
        VIEW,
        "filters",
        "F",
        "F",
        "Filters",
        "which launches count, and what a kernel group is",
        needs_profile=True,
    ),
    Action(PLANNED, "app.in_plan('save')", "S", "S", "Save", "save the plan to a new file", palette=False),
    Action(
        PLANNED, "app.in_plan('export')", "e", "e", "Export", "hand the plan to a simulator", palette=False
    ),
    Action(PLANNED, "app.in_plan('results')", "r", "r", "Results", "a simulator's results", palette=False),
    # Last, so that whatever else the key closes in a view goes first.
    Action(
        APP,
        "app.back",
        "escape",
        "esc",
        "Back",
        "to the view one came from, where nothing is open to close",
        palette=False,
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
            action.name.format(key=key),
            action.title,
            show=action.show and is_first,
            key_display=action.first_key,
            tooltip=action.description,
        )
        for action in actions_of(*scopes)
        for key, is_first in zip(action.keys.split(","), chain([True], repeat(False)), strict=False)
    ]
