"""The options of commands: a field of a frozen dataclass each, with flag, help and range; those of several.

The app's state holds them. One field is one option.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import Field, dataclass, field, fields, replace
from enum import Enum
from inspect import get_annotations
from typing import Any, ClassVar, Self, dataclass_transform

from msgspec import structs

from sampling.plan.request import NAMES, Part, PlanRequest
from sampling.plan.request import option as option_of
from sampling.text import NumberKind
from tui.options.choices import ColorMode, OutputFormat
from tui.options.files import InputFile, Product

OUTPUT_PANEL = "Output"
SELECTION_PANEL = "Which launches"
Texts = tuple[str, ...]
PLAN_PANEL = "Plan"
READING_PANEL = "How files are read"
PANELS = {
    Part.SEED: OUTPUT_PANEL,
    Part.SELECTION: SELECTION_PANEL,
    Part.READING: READING_PANEL,
    **dict.fromkeys((Part.PROMISE, Part.METHOD), PLAN_PANEL),
}
"""The headings of the help that the options of a plan's request stand below."""

MOST_COLUMNS, MOST_ROWS = 10_000, 1_000
"""What a chart is drawn for at most: larger than any screen, and small beside the memory of a profile."""
# What stands for a value in the help, where an option does not say it, by its type.
_METAVARS = {"InputFile": "FILE", "float": "X", "int": "N"}
# What an option or argument is that is not given, by its type; of any other type there may be several.
_OF_TYPE = {"bool": False, "str": "", "InputFile": "", "PartOfFile": ""}
# What names a file to read, and the sign that may stand beside its name.
_READS = {"InputFile": "", "FeatureFile": "=", "PartOfFile": "@"}
_UNSAID: dict[str, Any] = {
    **dict.fromkeys(("panel", "metavar", "least", "most", "parameter", "typed", "product")),
    "request": False,
    "fraction": False,
    "kind": NumberKind.FRACTION,
}


def option(text: str, *flags: str, default: Any = ..., **about: Any) -> Any:
    """Return a field that is an option: its help, and flags besides `--name-of-the-field`.

    Without a long one among the flags, the field's own name is the first. Without a default of its own it is
    None where the type allows that, False for a flag, and () for what may be repeated. `about` may say

    - panel: the heading of the help that it stands below; that of its class if not given.
    - metavar: what stands for the value in the help.
    - least, most, fraction: its range; a fraction is from 0 to below 1.
    - kind: what a number with a point counts, for what is said where it is typed in per cent.
    - parameter, typed: the engine's parameter that it sets, and what is typed for it; by default the field's
      name and its flag.
    - product: what is written to the place that it names.
    """
    return field(default=default, metadata=_UNSAID | {"help": text, "flags": flags} | about)


def argument(text: str, metavar: str, *, required: bool = True, product: Enum | None = None) -> Any:
    """Return a field that is an argument: its help, its name in the help, `product` as of an option."""
    about = {"help": text, "argument": True, "metavar": metavar, "required": required, "product": product}
    return field(default=..., metadata=about)


def request_field(unset: PlanRequest | None = None) -> Any:
    """Return the field that holds what is asked of a plan; ``unset``: where a command has other defaults.

    What the command line offers of it is said with the class, as ``asks``.
    """
    return field(
        default=unset or PlanRequest(), metadata=_UNSAID | {"request": True, "flags": (), "reads": None}
    )


@dataclass_transform(frozen_default=True)
class CommandOptions:
    """A frozen dataclass of the options of a command, all given by name.

    What `dataclass` writes anew for every class is written once here: it took a tenth of a command's time.
    `panel`: the heading of the help that its own ones stand below. `asks`: which options of a plan's request
    the command offers beside those of the classes above it, by their name or by the part that they are of.
    """

    #: The options of a `PlanRequest` that the command offers, in its order.
    request_names: ClassVar[tuple[str, ...]] = ()
    #: Their help, of those that mean something more special to the command.
    request_help: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls, panel: str = "Options", asks: Collection[str | Part] = ()) -> None:
        offered = {name for above in cls.__bases__ for name in getattr(above, "request_names", ())}
        cls.request_names = tuple(
            name for name in NAMES if name in offered or name in asks or option_of(name).part in asks
        )
        for name, kind in get_annotations(cls).items():
            option = cls.__dict__.get(name)
            if not isinstance(option, Field) or option.metadata.get("request"):
                continue
            about, default = dict(option.metadata), option.default
            about["reads"] = next((sign for word, sign in _READS.items() if word in kind), None)
            if default is ...:
                default = None if "None" in kind else _OF_TYPE.get(kind, ())
            if not about.get("argument"):
                if not any(flag.startswith("--") for flag in about["flags"]):
                    about["flags"] = (f"--{name.replace('_', '-')}", *about["flags"])
                metavar = next((word for part, word in _METAVARS.items() if part in kind), None)
                about |= {"panel": about["panel"] or panel, "metavar": about["metavar"] or metavar}
            setattr(cls, name, field(default=default, metadata=about))
        dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, **values: Any) -> None:
        options: Any = self
        defaults = {option.name: option.default for option in fields(options)}
        if stray := values.keys() - defaults.keys():
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(stray))}")
        vars(self).update(defaults | values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of {type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


def output_option(text: str, metavar: str, product: Enum) -> Any:
    """Return the field of ``-o``."""
    return option(text, "-o", "--output", panel=OUTPUT_PANEL, metavar=metavar, product=product)


def width_option(text: str, **about: Any) -> Any:
    """Return the field of ``--width``; the help says what it counts."""
    return option(f"{text} At most {MOST_COLUMNS:,}.", least=1, most=MOST_COLUMNS, **about)


def height_option(text: str, **about: Any) -> Any:
    """Return the field of ``--height``; the help says what it counts."""
    return option(f"{text} At most {MOST_ROWS:,}.", least=1, most=MOST_ROWS, **about)


# Options of several commands, each below another class.
NO_CACHE = option("Read large files anew, and keep nothing of them for the next time.", panel=READING_PANEL)
SCHEDULER = option(
    "A Dask scheduler, whose workers read the files, at the same paths, and look at their launches.",
    panel=READING_PANEL,
    metavar="ADDRESS",
)
DETAILS = option("Tell every figure, not only the answer.", panel=OUTPUT_PANEL)
KERNEL = option("#RANK of `groups`, or part of the key; else the largest group.", "-k", metavar="KERNEL")
STEPS = option("List ranges whose names differ in a number alone apart: step by step.")
BINDING = option(
    "Say what each option alone, relaxed one step, would give; makes several plans.", panel=PLAN_PANEL
)


class OutputOptions(CommandOptions, panel=OUTPUT_PANEL, asks=[Part.SEED]):
    """What every command takes."""

    format: OutputFormat = option("How to write the results.", default=OutputFormat.TABLE)
    output: str | None = output_option("Where the results go; `-` is stdout.", "PATH", Product.RESULTS)
    force: bool = option(
        "Replace what is kept otherwise: a file of another kind, an export, a plan that was topped up."
    )
    quiet: bool = option("No progress and no notes on stderr.", "-q")
    request: PlanRequest = request_field()
    ascii: bool = option("Draw with ASCII alone.")
    color: ColorMode = option("When to colour.", default=ColorMode.AUTO)

    def with_request(self, **changes: Any) -> Self:
        """Return the options with other values of what is asked of the plan."""
        return replace(self, request=structs.replace(self.request, **changes))


class WindowOptions(OutputOptions):
    """How the app looks and is steered."""

    no_mouse: bool = option("Leave the mouse to the terminal.")


class AppOptions(WindowOptions):
    """A command that opens the app where it can."""

    app: bool = option("Insist on the app: refuse where there is no terminal.")


class RegionOptions(OutputOptions, panel=SELECTION_PANEL, asks=[Part.SELECTION, Part.READING]):
    """Which launches count, and what a kernel group is."""

    no_cache: bool = NO_CACHE
    scheduler: str | None = SCHEDULER


class ProfileOptions(RegionOptions):
    """A command that reads one workload."""

    profiles: tuple[InputFile, ...] = argument("Profile files; several are one workload.", "PROFILE")


class PlanningOptions(RegionOptions, asks=[Part.PROMISE]):
    """What is asked of a plan."""


class MethodOptions(PlanningOptions, asks=[Part.METHOD]):
    """A plan, and the method that makes it."""


class SlowdownOptions(MethodOptions, panel=PLAN_PANEL):
    """A plan, and how slow its simulation is."""

    slowdown: float | None = option(
        "Seconds of simulation for a second on the GPU: the plan in hours of one machine.",
        kind=NumberKind.OTHER,
    )


class BudgetOptions(SlowdownOptions, panel=PLAN_PANEL):
    """A plan that is to fit a time of simulation."""

    budget: str | None = option(
        "Find the smallest epsilon whose simulation fits: 90m, 24h, 3d; needs --slowdown.", metavar="TIME"
    )
