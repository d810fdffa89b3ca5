"""The commands: a new one is one module in `tui.commands` and one line here.

A name of two words is a command of a family: `scale predict` is `predict` of `scale`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from tui.options.shared import OutputOptions


@dataclass(frozen=True, slots=True)
class Command:
    """A command's options, the module whose ``run(options)`` does it, and its one-line help.

    Attributes
    ----------
    place : the module of `tui.options` that holds its options, a colon, their class; imported for the command
        that is named, not for all.
    """

    place: str
    module: str
    help: str

    @property
    def options(self) -> type[OutputOptions]:
        """The class of its options."""
        module, _, name = self.place.partition(":")
        options: type[OutputOptions] = getattr(import_module(f"tui.options.{module}"), name)
        return options


COMMANDS: dict[str, Command] = {
    "open": Command("commands:OpenOptions", "tui.commands.open_profile", "Open the app on a profile."),
    "summary": Command(
        "commands:SummaryOptions", "tui.commands.summary", "One screen: what dominates, what a plan costs."
    ),
    "info": Command(
        "commands:InfoOptions", "tui.commands.info", "What is in a profile, and what to watch out for."
    ),
    "groups": Command("commands:GroupsOptions", "tui.commands.groups", "The kernel groups."),
    "ranges": Command(
        "ranges:RangesOptions", "tui.commands.ranges", "Named ranges as a tree, and found iterations."
    ),
    "histogram": Command(
        "commands:HistogramOptions", "tui.commands.histogram", "Durations of one kernel group, drawn."
    ),
    "timeline": Command(
        "commands:TimelineOptions",
        "tui.commands.timeline",
        "When a kernel group's launches run, and how long they take.",
    ),
    "tree": Command(
        "commands:TreeOptions", "tui.commands.tree", "How a kernel group is split, decision by decision."
    ),
    "sample": Command(
        "commands:SampleOptions", "tui.commands.sample", "Choose the launches to simulate: the plan."
    ),
    "trade-off": Command(
        "commands:TradeOffOptions",
        "tui.commands.trade_off",
        "What a plan costs at one epsilon after another.",
    ),
    "compare": Command("commands:CompareOptions", "tui.commands.compare", "All methods on one profile."),
    "judge": Command("commands:JudgeOptions", "tui.commands.judge", "A plan's error on a profile."),
    "difference": Command(
        "difference:DifferenceOptions",
        "tui.commands.difference",
        "Two profiles, or two parts of one, kernel by kernel (also: diff).",
    ),
    "align": Command(
        "commands:AlignOptions", "tui.commands.align", "Whether a trace has the launches of a plan's profile."
    ),
    "estimate": Command(
        "estimate:EstimateOptions",
        "tui.commands.estimate",
        "The whole run's cycles, from results.",
    ),
    "report": Command(
        "report:ReportOptions", "tui.commands.report", "One file for a colleague: the profile and its plan."
    ),
    "methods": Command("shared:OutputOptions", "tui.commands.methods", "The methods and their options."),
    "export": Command("commands:ExportOptions", "tui.commands.export", "Hand a plan to a simulator."),
    "run": Command(
        "commands:RunOptions", "tui.commands.run", "Simulate a plan until its total is known well enough."
    ),
    "project": Command(
        "commands:ProjectOptions", "tui.commands.project", "Where a kernel's simulation can stop."
    ),
    "convert": Command("commands:ConvertOptions", "tui.commands.convert", "Write a profile as Parquet."),
    "demo": Command("commands:DemoOptions", "tui.commands.demo", "The same on bundled sample data."),
    "scale open": Command(
        "scale:ScaleOpenOptions", "tui.commands.scale_open", "Open the app on a table of sizes."
    ),
    "scale predict": Command(
        "scale:ScalePredictOptions",
        "tui.commands.scale_predict",
        "The IPC of a big GPU from two small ones.",
    ),
    "scale validate": Command(
        "scale:ScaleValidateOptions",
        "tui.commands.scale_validate",
        "How well each rule predicts what was measured.",
    ),
    "scale derive": Command(
        "scale:ScaleDeriveOptions",
        "tui.commands.scale_derive",
        "The small GPUs to simulate, from the big one's configuration.",
    ),
    "scale mrc": Command(
        "scale:ScaleMrcOptions", "tui.commands.scale_mrc", "The miss-rate curve of an address trace."
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
