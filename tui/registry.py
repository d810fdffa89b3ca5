"""The commands: a new one is one function in `tui.commands` and one line here.

A name of two words is a command of a family: `scale predict` is `predict` of `scale`. Command `trade-off` has
its options in the class `TradeOffOptions`, and `run_trade_off` does it; `scale predict` has `run_predict`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from tui import __version__

if TYPE_CHECKING:
    from tui.options.shared import OutputOptions


class Command(NamedTuple):
    """A command's name, its heading in the help, where its options and its function are, and a line of help.

    Its modules, of `tui.options` and of `tui.commands`, are imported for the command that is named alone.
    """

    name: str
    panel: str
    options_in: str
    function_in: str
    help: str
    #: A line that may be typed, of commands with many options.
    example: str = ""

    @property
    def run(self) -> Callable[[OutputOptions], None]:
        """What runs it."""
        module, name = import_module(f"tui.commands.{self.function_in}"), self.name.split()[-1]
        run: Callable[[OutputOptions], None] = getattr(module, f"run_{name.replace('-', '_')}")
        return run

    @property
    def options(self) -> type[OutputOptions]:
        """The class of its options."""
        module, name = import_module(f"tui.options.{self.options_in}"), self.name.replace("-", " ").title()
        options: type[OutputOptions] = getattr(module, f"{name.replace(' ', '')}Options")
        return options


_LOOK, _PLAN, _SIMULATE, _COMPARE, _OTHER = "Look", "Plan", "Simulate", "Compare", "Other"

_COMMANDS = (
    Command("open", _LOOK, "look", "opening", "Open the app on a profile."),
    Command("summary", _LOOK, "look", "look", "One screen: what dominates, what a plan costs."),
    Command("info", _LOOK, "look", "look", "What is in a profile, and what to watch out for."),
    Command("groups", _LOOK, "look", "look", "The kernel groups."),
    Command("histogram", _LOOK, "look", "look", "Durations of one kernel group, drawn."),
    Command("timeline", _LOOK, "look", "look", "When a kernel group's launches run, and how long they take."),
    Command("ranges", _LOOK, "look", "look", "Named ranges as a tree, and found iterations."),
    Command("layers", _LOOK, "look", "look", "The layers of a network: how alike, what one is worth."),
    Command("ranks", _LOOK, "look", "look", "The ranks of a run: who computes longest, who waits."),
    Command("tree", _LOOK, "look", "look", "How a kernel group is split, decision by decision."),
    Command(
        "report",
        _LOOK,
        "look",
        "files",
        "One file for a colleague: a profile, or a study.",
        "report run.sqlite --plan plan.json --results run.log -o report.html",
    ),
    Command(
        "sample",
        _PLAN,
        "plan",
        "plan",
        "Choose the launches to simulate: the plan.",
        "sample run.sqlite --epsilon 0.03 -o plan.json",
    ),
    Command("trade-off", _PLAN, "plan", "plan", "What a plan costs at one epsilon after another."),
    Command("compare", _PLAN, "plan", "plan", "All methods on one profile."),
    Command("judge", _PLAN, "plan", "plan", "A plan's error on a profile."),
    Command("methods", _PLAN, "plan", "plan", "The methods and their options."),
    Command(
        "export",
        _SIMULATE,
        "simulate",
        "simulate",
        "Hand a plan to a simulator.",
        "export plan.json --to accel-sim --traces traces --config gpgpusim.config -o simulate",
    ),
    Command(
        "run",
        _SIMULATE,
        "simulate",
        "simulate",
        "Simulate a plan, or a study, until enough is known.",
        "run plan.json --traces traces --target 0.03 --jobs 8 --simulator 'accel-sim.out -trace {list} ...'",
    ),
    Command("align", _SIMULATE, "simulate", "simulate", "Whether a trace has a plan's launches."),
    Command(
        "estimate",
        _SIMULATE,
        "simulate",
        "simulate",
        "The whole run's cycles, from results.",
        "estimate plan.json run.log --target 0.03 --top-up more.json",
    ),
    Command(
        "roofline", _SIMULATE, "simulate", "simulate", "The whole run below its roofline, from counters."
    ),
    Command(
        "speedup",
        _SIMULATE,
        "simulate",
        "speedup",
        "Which configuration is faster, and how surely.",
        "speedup plan.json base=base.log gto=gto.log --target 0.005",
    ),
    Command("study new", _SIMULATE, "simulate", "study", "Write a study: programs on configurations."),
    Command("project", _SIMULATE, "simulate", "simulate", "Where a kernel's simulation can stop."),
    Command(
        "difference",
        _COMPARE,
        "look",
        "look",
        "What changed between two recordings (also: diff).",
        "difference before.sqlite after.sqlite --fail-above 0.02",
    ),
    Command("baseline save", _COMPARE, "look", "look", "Keep what `difference` needs of a recording."),
    Command("demo", _OTHER, "look", "demo", "Try it on bundled sample data."),
    Command("convert", _OTHER, "look", "files", "Write a profile as Parquet."),
    Command("schema", _OTHER, "plan", "schema", "The JSON schema of what a command writes."),
    Command("mcp", _OTHER, "plan", "mcp", "Serve what only reads to an agent, over stdio (MCP)."),
    Command("scale open", _OTHER, "scale", "scale", "Open the app on a table of sizes."),
    Command("scale predict", _OTHER, "scale", "scale", "The IPC of a big GPU from two small ones."),
    Command("scale validate", _OTHER, "scale", "scale", "How well each rule predicts what was measured."),
    Command("scale derive", _OTHER, "scale", "scale", "The small GPUs to simulate, from the big one."),
    Command("scale mrc", _OTHER, "scale", "scale", "The miss-rate curve of an address trace."),
)
COMMANDS: dict[str, Command] = {command.name: command for command in _COMMANDS}

#: The families of commands, with their one-line help.
FAMILIES: dict[str, str] = {
    "scale": "From two small simulated GPUs to a big one.",
    "study": "Programs on configurations of a simulator.",
    "baseline": "What later recordings are compared with, as in CI.",
}

#: Other first words for commands.
ALIASES: dict[str, str] = {"diff": "difference"}

#: What a first word may be, to be a command.
FIRST_WORDS = (*dict.fromkeys(name.split()[0] for name in COMMANDS), *ALIASES)

#: What a second word may be, after the name of a family.
SECOND_WORDS = {
    family: tuple(name.split()[1] for name in COMMANDS if name.startswith(f"{family} "))
    for family in FAMILIES
}


def command_named(arguments: list[str]) -> str | None:
    """Return the command that these arguments begin with, by two words of them or by one; None if none."""
    names = (" ".join(arguments[:words]) for words in (2, 1))
    return next((name for name in names if name in COMMANDS), None)


def versions() -> str:
    """Return the versions of the tool, Python, numpy and Textual, without importing them."""
    import platform
    from importlib.metadata import version

    python, versions = platform.python_version(), {name: version(name) for name in ("numpy", "textual")}
    numpy, textual = versions["numpy"], versions["textual"]
    return f"kernelpoint {__version__} (Python {python}, numpy {numpy}, textual {textual})"
