"""Every action of the app in one table: bindings, footer, help and palette are made from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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


class Action(NamedTuple):
    """One thing the user can do."""

    #: Where its keys work.
    scope: str
    #: As Textual calls it: the method is ``action_NAME``; ``{key}`` stands for the key pressed.
    name: str
    #: As Textual names them, by commas.
    keys: str
    #: The keys as a person reads them; the footer shows the first word.
    display: str
    #: In the footer.
    title: str
    #: In help and palette.
    description: str
    show: bool = False
    palette: bool = False
    #: Whether it does nothing where no profile is open.
    needs_profile: bool = False

    @property
    def first_key(self) -> str:
        """The first of its keys, as a person reads it."""
        return self.display.split(" ", maxsplit=1)[0]


#: A line an action: marks (f in the footer, p in the palette, r where a profile is open), name, keys, the
#: keys as read, title, description. Scopes stand in brackets; "+ moves", "+ pages" are the keys of a table.
_TABLE = """
[app]
fp app.quit | q,ctrl+q | q | Quit | leave; the plan's command line stays behind
-- app.suspend_process | ctrl+z | ^z | Suspend | back to the shell, where fg goes on
fp app.help | question_mark,f1 | ? F1 | Help | what the keys do here
[table]
+ moves kernel group
+ pages
-p app.view('Split tree') | enter,right,l | enter l | Tree | how this group is split
[groups]
fp search | slash | / | Filter | show only groups whose key contains a text
-p clear_search | escape | esc | Show all | show all groups again
fp sort | s | s | Sort | sort by the next column
-p reverse | R | R | Reverse | the same order the other way round
fp log | x | x | Log | logarithmic or linear durations
-p ranks | P | P | Ranks | the ranks of the run: who computes longest, who waits for whom
[tree]
fp walk('step') | right_square_bracket,right | ] right | Step | take the decision ahead
-p walk('back') | left_square_bracket,left | [ left | Back | undo the last step
-p walk('next_group') | right_curly_bracket | } | Next group | to the next kernel group
-p walk('previous_group') | left_curly_bracket | { | Last group | to the kernel group before
-p walk('finish_group') | e | e | End of group | take all decisions on this group
-p walk('finish') | E | E | End of all | take all decisions on all groups
-- look(1) | j,down | j down | Down | look at the decision after
-- look(-1) | k,up | k up | Up | look at the decision before
fp decide('split') | plus,equals_sign | + = | Split | split the node in focus
fp decide('keep') | minus | - | Keep | keep the node in focus whole
-p undo_decision | u | u | Undo | take your last decision back
-p method | m | m | Method | the trees of another method, for study
-p log | x | x | Log | logarithmic or linear durations
[sheet]
+ moves size
-- across(-1) | h,left | h left | Left | the cell before
-- across(1) | l,right | l right | Right | the next cell
f- edit | enter | enter | Edit | change the number; enter takes it, esc leaves it as it was
[scale]
fp open_file | o | o | Open | read a CSV or TOML, or the logs of two GPUs
fp edit_text | E,ctrl+e | E ^e | Editor | all that is asked, as a TOML in your editor
-p save | S | S | Save | save what is asked to a new TOML
-p next('benchmark') | b | b | Benchmark | the next benchmark of the file
-p next('rule') | r | r | Rule | the next rule, or all of them
-p next('confidence') | i | i | Interval | intervals of 80, 90 or 95 %
-p assume | a | a | Assume | assume f_mem where it is needed and not known, or not
[words]
-- scroll_down | j,down | j down | Down | a line down
-- scroll_up | k,up | k up | Up | a line up
[compare]
fp run | r | r | Run | compare all methods anew
-p cancel | c,escape | c esc | Cancel | compare no further; what is there stays
fp take | enter,p | enter p | Take | plan by the method under the cursor
-p app.undo | u | u | Undo | take the last change of the plan's options back
-p sort | s | s | Sort | best first, or sort by the next figure
-p reverse | R | R | Reverse | the same order the other way round
-p reasons | e | e | Why not | why methods cannot run, and what would help
+ moves method
+ pages
[form]
+ moves option
-- edit | enter | enter | Edit | type a value; a choice goes on by one
-- step(1) | plus,right,l | + right l | More | the next value
-- step(-1) | minus,left,h | - left h | Less | the value before
-- give_up | escape | esc | As planned | drop a refused value
[list]
+ moves row
+ pages
[binds]
+ moves option
f- take | enter | enter | Take | take this step
[plan]
fp binding | b | b | What binds | what makes the plan dear; enter takes a step there
fp budget | B | B | Budget | the smallest epsilon that a time of simulation allows
-p app.undo | u | u | Undo | take the last change of the plan's options back
fp next_detail | t | t | More | trade-off, strata, launches, findings, what binds
fp save | S | S | Save | save the plan to a new file
fp export | e | e | Export | hand the plan to a simulator or tool
fp results | o,r | o r | Results | the total, from a simulator's results
-- leave_details | escape | esc | Options | back to the options
[results]
fp ask | o | o | Open | other results, or another target
fp save | S | S | Save | save the larger plan to a new file
fp export | e | e | Export | hand what is new in the larger plan to a simulator
fp turn | t | t | More | kernel groups, or what to simulate next
fp back | escape | esc | Back | stop reading; else back to the plan
[ranges]
+ moves range
+ pages
-- open | l,right | l right | Open | show what lies in the range
-- close | h,left | h left | Close | hide it; then to the range around
f- screen.zoom_to | enter | enter | Zoom | zoom to the range
fp screen.choose | space | space | Region | all views show the range; again: all
[timeline]
fp zoom(0.5) | plus,equals_sign | + | Zoom | show the middle half
fp zoom(2) | minus | - | Out | show twice as much
-- pan(-1) | h,left | h left | Left | back in the run
-- pan(1) | l,right | l right | Right | on in the run
-- group(1) | j,down | j down | Next group | the next kernel group
-- group(-1) | k,up | k up | Last group | the kernel group before
-p whole | 0 | 0 | Whole | show all launches of the group
-- leave | escape | esc | Back | show all; then give the region back
fp by | t | t | Time | by the order of the launches, or by time
-p log | x | x | Log | logarithmic or linear durations
[difference]
fp ask | o | o | Before | name the recording, or the part of one, before
+ moves kernel
+ pages
fp sort | s | s | Sort | sort by the next column
-p reverse | R | R | Reverse | the same order the other way round
fp log | x | x | Log | logarithmic or linear durations
-p cancel | escape | esc | Cancel | stop reading; what is there stays
[comparing]
-p app.difference | o | o | Difference | compare with another recording: view 7
[view]
-- app.focus_next | tab | tab | Pane | to the other pane
fp copy_pane | y | y | Copy | copy the pane's text to the terminal's clipboard
fp write_pane | w | w | Write | write the pane's text to a new file here
fp copy_command | Y | Y | Command | copy the command line that prints the same
fp findings | f | f | Findings | every finding in full, and what to do about it
-pr filters | F | F | Filters | which launches count, and what a kernel group is
[planned]
-- app.in_plan('save') | S | S | Save | save the plan to a new file
-- app.in_plan('export') | e | e | Export | hand the plan to a simulator
-- app.in_plan('results') | r | r | Results | a simulator's results
[app]
-- app.back | escape | esc | Back | to the view one came from, where nothing is open to close
-- app.command_palette | ctrl+p | ^p | Palette | find an action by name
"""

_ALL = 10**9
_MOVES = (
    ("move(1)", "j,down", "j down", "Down", "the next {}"),
    ("move(-1)", "k,up", "k up", "Up", "the {} before"),
    (f"move(-{_ALL})", "g,home", "g home", "First", "the first {}"),
    (f"move({_ALL})", "G,end", "G end", "Last", "the last {}"),
)
_PAGES = (
    ("page(1)", "pagedown,ctrl+f", "pgdn ^f", "Page", "a page down"),
    ("page(-1)", "pageup,ctrl+b", "pgup ^b", "Page", "a page up"),
)


def _read(table: str) -> Iterator[Action]:
    scope = ""
    for line in table.strip().splitlines():
        mark, _, rest = line.partition(" ")
        kind, _, noun = rest.partition(" ")
        if line.startswith("["):
            scope = line.strip("[]")
        elif mark == "+":
            for name, keys, display, title, words in _MOVES if kind == "moves" else _PAGES:
                yield Action(scope, name, keys, display, title, words.format(noun))
        else:
            name, keys, display, title, words = rest.split(" | ")
            yield Action(scope, name, keys, display, title, words, "f" in mark, "p" in mark, "r" in mark)


ACTIONS: tuple[Action, ...] = tuple(_read(_TABLE))


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
            show=action.show and place == 0,
            key_display=action.first_key,
            tooltip=action.description,
        )
        for action in actions_of(*scopes)
        for place, key in enumerate(action.keys.split(","))
    ]
