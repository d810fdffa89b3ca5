"""The actions of the app as data: bindings, footer, help and palette are made from it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Flag
from typing import NamedTuple

from textual.binding import Binding, BindingType

from tui.app.state import KEYS


class Shown(Flag):
    """Where an action is listed, beside the help of its view, which lists them all."""

    HELP = 0
    FOOTER = 1
    PALETTE = 2
    BOTH = FOOTER | PALETTE


#: Keys as a person reads them, where Textual has another name.
_KEY_LABELS = {
    "question_mark": "?",
    "f1": "F1",
    "slash": "/",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "full_stop": ".",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "escape": "esc",
    "backspace": "bksp",
    "delete": "del",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


class Action(NamedTuple):
    """One thing the user can do."""

    #: As Textual calls it: the method is ``action_NAME``; ``{key}`` stands for the key pressed.
    name: str
    #: As Textual names them, by commas.
    keys: str
    #: In footer and palette.
    title: str
    #: In help and palette.
    description: str
    shown: Shown = Shown.HELP
    #: What stands for the keys where that is not simply all of them.
    label: str = ""
    #: Whether it does nothing where no profile is open.
    needs_profile: bool = False

    @property
    def display(self) -> str:
        """The keys as a person reads them; footer and palette have the first."""
        return self.label or " ".join(
            _KEY_LABELS.get(key, key.replace("ctrl+", "^")) for key in self.keys.split(",")
        )

    @property
    def first_key(self) -> str:
        """The first of its keys, as a person reads it."""
        return self.display.split(" ", maxsplit=1)[0]


Actions = tuple[Action, ...]
"""What can be done in a scope: everywhere, in every view, in one, or in a pane, list or form of one."""

# What several scopes have.

_ALL_ROWS = 10**9


def _moves(row: str) -> Actions:
    """Return the moves through a list of such rows."""
    return (
        Action("move(1)", "j,down", "Down", f"the next {row}"),
        Action("move(-1)", "k,up", "Up", f"the {row} before"),
        Action(f"move(-{_ALL_ROWS})", "g,home", "First", f"the first {row}"),
        Action(f"move({_ALL_ROWS})", "G,end", "Last", f"the last {row}"),
    )


_PAGES = (
    Action("page(1)", "pagedown,ctrl+f", "Page", "a page down"),
    Action("page(-1)", "pageup,ctrl+b", "Page", "a page up"),
)
_SORT = Action("sort", "s", "Sort", "sort by the next column", Shown.BOTH)
_REVERSE = Action("reverse", "R", "Reverse", "the same order the other way round", Shown.PALETTE)
_LOG = Action("log", "x", "Log", "logarithmic or linear durations", Shown.PALETTE)
_UNDO_OPTION = Action(
    "app.undo", "u", "Undo", "take the last change of the plan's options back", Shown.PALETTE
)

_HELP = Action("app.help", "question_mark,f1", "Help", "what the keys do here", Shown.BOTH)
_COPY = Action("copy_pane", "y", "Copy", "copy the pane's text to the terminal's clipboard", Shown.BOTH)
_WRITE = Action("write_pane", "w", "Write", "write the pane's text to a new file here", Shown.BOTH)

# The scopes.

APP = (
    Action(
        "app.quit", "q,ctrl+q", "Quit", "leave; the plan's command line stays behind", Shown.BOTH, label="q"
    ),
    Action("app.suspend_process", "ctrl+z", "Suspend", "back to the shell, where fg goes on"),
    _HELP,
)
TABLE = (
    *_moves("kernel group"),
    *_PAGES,
    Action(
        "app.view('Split tree')",
        "enter,right,l",
        "Tree",
        "how this group is split",
        Shown.PALETTE,
        label="enter l",
    ),
)
GROUPS = (
    Action("search", "slash", "Filter", "show only groups whose key contains a text", Shown.BOTH),
    Action("clear_search", "escape", "Show all", "show all groups again", Shown.PALETTE),
    _SORT,
    _REVERSE,
    _LOG._replace(shown=Shown.BOTH),
    Action(
        "ranks", "P", "Ranks", "the ranks of the run: who computes longest, who waits for whom", Shown.PALETTE
    ),
)
TREE = (
    Action("walk('step')", "right_square_bracket,right", "Step", "take the decision ahead", Shown.BOTH),
    Action("walk('back')", "left_square_bracket,left", "Back", "undo the last step", Shown.PALETTE),
    Action(
        "walk('next_group')", "right_curly_bracket", "Next group", "to the next kernel group", Shown.PALETTE
    ),
    Action(
        "walk('previous_group')",
        "left_curly_bracket",
        "Last group",
        "to the kernel group before",
        Shown.PALETTE,
    ),
    Action("walk('finish_group')", "e", "End of group", "take all decisions on this group", Shown.PALETTE),
    Action("walk('finish')", "E", "End of all", "take all decisions on all groups", Shown.PALETTE),
    Action("look(1)", "j,down", "Down", "look at the decision after"),
    Action("look(-1)", "k,up", "Up", "look at the decision before"),
    Action("decide('split')", "plus,equals_sign", "Split", "split the node in focus", Shown.BOTH),
    Action("decide('keep')", "minus", "Keep", "keep the node in focus whole", Shown.BOTH),
    Action("undo_decision", "u", "Undo", "take your last decision back", Shown.PALETTE),
    Action("method", "m", "Method", "the trees of another method, to look at", Shown.PALETTE),
    _LOG,
)
SHEET = (
    *_moves("size"),
    Action("across(-1)", "h,left", "Left", "the cell before"),
    Action("across(1)", "l,right", "Right", "the next cell"),
    Action(
        "edit", "enter", "Edit", "change the number; enter takes it, esc leaves it as it was", Shown.FOOTER
    ),
)
SCALE = (
    Action("open_file", "o", "Open", "read a CSV or TOML, or the logs of two GPUs", Shown.BOTH),
    Action("edit_text", "E,ctrl+e", "Editor", "all that is asked, as a TOML in your editor", Shown.BOTH),
    Action("save", "S", "Save", "save what is asked to a new TOML", Shown.PALETTE),
    Action("next('benchmark')", "b", "Benchmark", "the next benchmark of the file", Shown.PALETTE),
    Action("next('rule')", "r", "Rule", "the next rule, or all of them", Shown.PALETTE),
    Action("next('confidence')", "i", "Interval", "intervals of 80, 90 or 95 %", Shown.PALETTE),
    Action("assume", "a", "Assume", "assume f_mem where it is needed and not known, or not", Shown.PALETTE),
)
WORDS = (
    Action("scroll_down", "j,down", "Down", "a line down"),
    Action("scroll_up", "k,up", "Up", "a line up"),
)
COMPARE = (
    Action("run", "r", "Run", "compare all methods anew", Shown.BOTH),
    Action("cancel", "c,escape", "Cancel", "compare no further; what is there stays", Shown.PALETTE),
    Action("take", "enter,p", "Take", "plan by the method under the cursor", Shown.BOTH),
    _UNDO_OPTION,
    Action("sort", "s", "Sort", "best first, or sort by the next figure", Shown.PALETTE),
    _REVERSE,
    Action("reasons", "e", "Why not", "why methods cannot run, and what would help", Shown.PALETTE),
    *_moves("method"),
    *_PAGES,
)
FORM = (
    *_moves("option"),
    Action("edit", "enter", "Edit", "type a value; a choice goes on by one"),
    Action("step(1)", "plus,right,l", "More", "the next value"),
    Action("step(-1)", "minus,left,h", "Less", "the value before"),
    Action("give_up", "escape", "As planned", "drop a refused value"),
)
LIST = (*_moves("row"), *_PAGES)
BINDS = (*_moves("option"), Action("take", "enter", "Take", "take this step", Shown.FOOTER))
PLAN = (
    Action("binding", "b", "What binds", "what makes the plan dear; enter takes a step there", Shown.BOTH),
    Action("budget", "B", "Budget", "the smallest epsilon that a time of simulation allows", Shown.BOTH),
    _UNDO_OPTION,
    Action("next_detail", "t", "More", "trade-off, strata, launches, findings, what binds", Shown.BOTH),
    Action("save", "S", "Save", "save the plan to a new file", Shown.BOTH),
    Action("export", "e", "Export", "hand the plan to a simulator or tool", Shown.BOTH),
    Action("results", "o,r", "Results", "the total, from a simulator's results", Shown.BOTH),
    Action("leave_details", "escape", "Options", "back to the options"),
)
RESULTS = (
    Action("ask", "o", "Open", "other results, or another target", Shown.BOTH),
    Action("save", "S", "Save", "save the larger plan to a new file", Shown.BOTH),
    Action("export", "e", "Export", "hand what is new in the larger plan to a simulator", Shown.BOTH),
    Action("turn", "t", "More", "kernel groups, what to simulate next, or the roofline", Shown.BOTH),
    Action("back", "escape", "Back", "stop reading; else back to the plan", Shown.BOTH),
)
RANGES = (
    *_moves("range"),
    *_PAGES,
    Action("open", "l,right", "Open", "show what lies in the range"),
    Action("close", "h,left", "Close", "hide it; then to the range around"),
    Action("screen.zoom_to", "enter", "Zoom", "zoom to the range", Shown.FOOTER),
    Action("screen.steps", "s", "Steps", "ranges that differ in a number alone apart, or one", Shown.PALETTE),
    Action("screen.choose", "space", "Region", "all views show the range; again: all", Shown.BOTH),
)
TIMELINE = (
    Action("zoom(0.5)", "plus,equals_sign", "Zoom", "show the middle half", Shown.BOTH, label="+"),
    Action("zoom(2)", "minus", "Out", "show twice as much", Shown.BOTH),
    Action("pan(-1)", "h,left", "Left", "back in the run"),
    Action("pan(1)", "l,right", "Right", "on in the run"),
    Action("group(1)", "j,down", "Next group", "the next kernel group"),
    Action("group(-1)", "k,up", "Last group", "the kernel group before"),
    Action("whole", "0", "Whole", "show all launches of the group", Shown.PALETTE),
    Action("leave", "escape", "Back", "show all; then give the region back"),
    Action("by", "t", "Time", "by the order of the launches, or by time", Shown.BOTH),
    _LOG,
)
DIFFERENCE = (
    Action("ask", "o", "Before", "name the recording, or the part of one, before", Shown.BOTH),
    *_moves("kernel"),
    *_PAGES,
    _SORT,
    _REVERSE,
    _LOG._replace(shown=Shown.BOTH),
    Action("cancel", "escape", "Cancel", "stop reading; what is there stays", Shown.PALETTE),
)
MATRIX = (
    *_moves("program"),
    *_PAGES,
    Action("across(-1)", "h,left", "Left", "the configuration before"),
    Action("across(1)", "l,right", "Right", "the next configuration"),
)
SPEEDUPS = (
    Action("ask", "o", "Open", "add a configuration, NAME=RESULTS; or open a study.toml", Shown.BOTH),
    Action("kernels", "enter", "Kernels", "the kernels that gain and lose most there", Shown.BOTH),
    Action("roofline", "t", "Roofline", "the program's configurations below their roof", Shown.PALETTE),
    Action("reload", "r", "Reload", "read all results anew", Shown.BOTH),
    Action("export", "e", "Next", "what would tell: to a simulator, or the command that runs it", Shown.BOTH),
    Action(
        "leave", "escape", "Back", "stop reading; else from kernels or roofline to the bars", Shown.PALETTE
    ),
)
COMPARING = (
    Action("app.difference", "o", "Difference", "compare with another recording: view 7", Shown.PALETTE),
)
VIEW = (
    Action("app.focus_next", "tab", "Pane", "to the other pane"),
    _COPY,
    _WRITE,
    Action("copy_command", "Y", "Command", "copy the command line that prints the same", Shown.BOTH),
    Action("findings", "f", "Findings", "every finding in full, and what to do about it", Shown.BOTH),
    Action(
        "filters",
        "F",
        "Filters",
        "which launches count, and what a kernel group is",
        Shown.PALETTE,
        needs_profile=True,
    ),
    Action("app.back", "escape", "Back", "to the view one came from, where nothing is open to close"),
    Action("app.command_palette", "ctrl+p", "Palette", "find an action by name"),
)
# What stands over a view: pages of text, those of two kinds, and the filters.
SCROLL = (
    *WORDS,
    Action("scroll_home", "g,home", "Start", "the first line"),
    Action("scroll_end", "G,end", "End", "the last line"),
)
PAGE = (
    Action("dismiss", "escape,q", "Back", "back to where one came from"),
    _HELP,
    _COPY,
    _WRITE,
    Action("say_why_no_command", "Y", "Command", "how a command prints this page"),
)
FINDINGS = (
    Action("dismiss", "f", "Back", "back to the view"),
    Action(
        "apply('{key}')",
        ",".join(KEYS),
        "Apply",
        "set the option that the finding with this key names",
        label=f"{KEYS[0]}-{KEYS[-1]}",
    ),
    Action("undo", "u", "Undo", "take the last change of the plan's options back"),
)
RANKS = (Action("dismiss", "P", "Back", "back to the view"),)
FILTERS = (
    Action("leave", "escape,q,F", "Back", "back to the view"),
    Action("as_given", "u", "As given", "the filters of the command line again"),
    _HELP,
)
# Keys of view 3 that work wherever a view has no other use for them.
PLANNED = (
    Action("app.in_plan('save')", "S", "Save", "save the plan to a new file"),
    Action("app.in_plan('export')", "e", "Export", "hand the plan to a simulator"),
    Action("app.in_plan('results')", "r", "Results", "a simulator's results"),
)


def bindings(*scopes: Iterable[Action]) -> list[BindingType]:
    """Return the key bindings of these scopes; the footer has the first key of an action."""
    return [
        Binding(
            key,
            action.name.format(key=key),
            action.title,
            show=position == 0 and Shown.FOOTER in action.shown,
            key_display=action.first_key,
            tooltip=action.description,
        )
        for scope in scopes
        for action in scope
        for position, key in enumerate(action.keys.split(","))
    ]
