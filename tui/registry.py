"""The commands: a new one is one module in `tui.commands` and one line here.

A name of two words is a command of a family: `scale predict` is `predict` of `scale`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tui.options import commands as options
from tui.options import scale as scale_options


@dataclass(frozen=True, slots=True)
class Command:
    """A command's options, the module whose ``run(options)`` does it, and its one-line help."""

    options: type[options.OutputOptions]
    module: str
    help: str


COMMANDS: dict[str, Command] = {
    "open": Command(options.OpenOptions, "tui.commands.open_profile", "Open the app on a profile."),
    "summary": Command(
        options.SummaryOptions, "tui.commands.summary", "One screen: what dominates, what a plan costs."
    ),
    "info": Command(
        options.InfoOptions, "tui.commands.info", "What is in a profile, and what to watch out for."
    ),
    "groups": Command(options.GroupsOptions, "tui.commands.groups", "The kernel groups."),
    "histogram": Command(
        options.HistogramOptions, "tui.commands.histogram", "Durations of one kernel group, drawn."
    ),
    "tree": Command(
        options.TreeOptions, "tui.commands.tree", "How a kernel group is split, decision by decision."
    ),
    "sample": Command(
        options.SampleOptions, "tui.commands.sample", "Choose the launches to simulate: the plan."
    ),
    "trade-off": Command(
        options.TradeOffOptions, "tui.commands.trade_off", "What a plan costs at one epsilon after another."
    ),
    "compare": Command(options.CompareOptions, "tui.commands.compare", "All methods on one profile."),
    "judge": Command(options.JudgeOptions, "tui.commands.judge", "A plan's error on a profile."),
    "methods": Command(options.OutputOptions, "tui.commands.methods", "The methods and their options."),
    "export": Command(options.ExportOptions, "tui.commands.export", "Hand a plan to a simulator."),
    "project": Command(
        options.ProjectOptions, "tui.commands.project", "Where a kernel's simulation can stop."
    ),
    "convert": Command(options.ConvertOptions, "tui.commands.convert", "Write a profile as Parquet."),
    "demo": Command(options.DemoOptions, "tui.commands.demo", "The same on bundled sample data."),
    "scale open": Command(
        scale_options.ScaleOpenOptions, "tui.commands.scale_open", "Open the app on a table of sizes."
    ),
    "scale predict": Command(
        scale_options.ScalePredictOptions,
        "tui.commands.scale_predict",
        "The IPC of a big GPU from two small ones.",
    ),
    "scale validate": Command(
        scale_options.ScaleValidateOptions,
        "tui.commands.scale_validate",
        "How well each rule predicts what was measured.",
    ),
    "scale derive": Command(
        scale_options.ScaleDeriveOptions,
        "tui.commands.scale_derive",
        "The small GPUs to simulate, from the big one's configuration.",
    ),
    "scale mrc": Command(
        scale_options.ScaleMrcOptions, "tui.commands.scale_mrc", "The miss-rate curve of an address trace."
    ),
}

#: The families of commands, with their one-line help.
FAMILIES: dict[str, str] = {"scale": "From two small simulated GPUs to a big one."}

#: What a first word may be, to be a command.
FIRST_WORDS = tuple(dict.fromkeys(name.split()[0] for name in COMMANDS))

#: What a second word may be, after the name of a family.
SECOND_WORDS = {
    family: tuple(name.split()[1] for name in COMMANDS if name.startswith(f"{family} "))
    for family in FAMILIES
}


def command_named(arguments: list[str]) -> str | None:
    """Return the command that these arguments begin with, by two words of them or by one; None if none."""
    names = (" ".join(arguments[:words]) for words in (2, 1))
    return next((name for name in names if name in COMMANDS), None)
