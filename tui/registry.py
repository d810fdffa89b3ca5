"""The commands: a new one is one function in `tui.commands` and one line here.

A name of two words is a command of a family: `scale predict` is `predict` of `scale`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from tui.options.shared import OutputOptions


@dataclass(frozen=True, slots=True)
class Command:
    """A command's options, the function of these that does it, and its one-line help.

    Attributes
    ----------
    panel : under which heading the help lists it.
    place : the module of `tui.options` that holds its options, a colon, their class; imported for the command
        that is named, not for all.
    function : the module of `tui.commands` that it is in, a colon, its name.
    """

    panel: str
    place: str
    function: str
    help: str

    @property
    def run(self) -> Callable[[OutputOptions], None]:
        """What runs it; imported for the command that is named."""
        module, _, name = self.function.partition(":")
        run: Callable[[OutputOptions], None] = getattr(import_module(f"tui.commands.{module}"), name)
        return run

    @property
    def options(self) -> type[OutputOptions]:
        """The class of its options."""
        module, _, name = self.place.partition(":")
        options: type[OutputOptions] = getattr(import_module(f"tui.options.{module}"), name)
        return options


_LOOK, _PLAN, _SIMULATE, _COMPARE, _OTHER = "Look", "Plan", "Simulate", "Compare", "Other"

COMMANDS: dict[str, Command] = {
    "open": Command(_LOOK, "look:OpenOptions", "opening:run_open", "Open the app on a profile."),
    "summary": Command(
        _LOOK, "look:SummaryOptions", "look:run_summary", "One screen: what dominates, what a plan costs."
    ),
    "info": Command(
        _LOOK, "look:InfoOptions", "look:run_info", "What is in a profile, and what to watch out for."
    ),
    "groups": Command(_LOOK, "look:GroupsOptions", "look:run_groups", "The kernel groups."),
    "histogram": Command(
        _LOOK, "look:HistogramOptions", "look:run_histogram", "Durations of one kernel group, drawn."
    ),
    "timeline": Command(
        _LOOK,
        "look:TimelineOptions",
        "look:run_timeline",
        "When a kernel group's launches run, and how long they take.",
    ),
    "ranges": Command(
        _LOOK, "look:RangesOptions", "look:run_ranges", "Named ranges as a tree, and found iterations."
    ),
    "tree": Command(
        _LOOK, "look:TreeOptions", "look:run_tree", "How a kernel group is split, decision by decision."
    ),
    "report": Command(
        _LOOK, "look:ReportOptions", "files:run_report", "One file for a colleague: the profile and its plan."
    ),
    "sample": Command(
        _PLAN, "plan:SampleOptions", "plan:run_sample", "Choose the launches to simulate: the plan."
    ),
    "trade-off": Command(
        _PLAN, "plan:TradeOffOptions", "plan:run_trade_off", "What a plan costs at one epsilon after another."
    ),
    "compare": Command(_PLAN, "plan:CompareOptions", "plan:run_compare", "All methods on one profile."),
    "judge": Command(_PLAN, "plan:JudgeOptions", "plan:run_judge", "A plan's error on a profile."),
    "methods": Command(_PLAN, "shared:OutputOptions", "plan:run_methods", "The methods and their options."),
    "export": Command(
        _SIMULATE, "simulate:ExportOptions", "simulate:run_export", "Hand a plan to a simulator."
    ),
    "run": Command(
        _SIMULATE,
        "simulate:RunOptions",
        "simulate:run_run",
        "Simulate a plan until its total is known well enough.",
    ),
    "align": Command(
        _SIMULATE,
        "simulate:AlignOptions",
        "simulate:run_align",
        "Whether a trace has the launches of a plan's profile.",
    ),
    "estimate": Command(
        _SIMULATE,
        "simulate:EstimateOptions",
        "simulate:run_estimate",
        "The whole run's cycles, from results.",
    ),
    "project": Command(
        _SIMULATE, "simulate:ProjectOptions", "simulate:run_project", "Where a kernel's simulation can stop."
    ),
    "difference": Command(
        _COMPARE,
        "look:DifferenceOptions",
        "look:run_difference",
        "Two profiles, or two parts of one, kernel by kernel (also: diff).",
    ),
    "demo": Command(_OTHER, "look:DemoOptions", "opening:run_demo", "The same on bundled sample data."),
    "convert": Command(_OTHER, "look:ConvertOptions", "files:run_convert", "Write a profile as Parquet."),
    "scale open": Command(
        _OTHER, "scale:ScaleOpenOptions", "scale:run_open", "Open the app on a table of sizes."
    ),
    "scale predict": Command(
        _OTHER, "scale:ScalePredictOptions", "scale:run_predict", "The IPC of a big GPU from two small ones."
    ),
    "scale validate": Command(
        _OTHER,
        "scale:ScaleValidateOptions",
        "scale:run_validate",
        "How well each rule predicts what was measured.",
    ),
    "scale derive": Command(
        _OTHER,
        "scale:ScaleDeriveOptions",
        "scale:run_derive",
        "The small GPUs to simulate, from the big one's configuration.",
    ),
    "scale mrc": Command(
        _OTHER, "scale:ScaleMrcOptions", "scale:run_mrc", "The miss-rate curve of an address trace."
    ),
}

#: The families of commands, with their one-line help.
FAMILIES: dict[str, str] = {"scale": "From two small simulated GPUs to a big one."}

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
