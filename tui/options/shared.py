"""The frozen options that several commands take: output, region, plan. The app's state holds them.

One field is one option, see `tui.options.field`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from msgspec import structs

from sampling.plan.request import Part, PlanRequest
from sampling.text import NumberKind
from tui.options.choices import ColorMode, OutputFormat
from tui.options.field import (
    OUTPUT_PANEL,
    CommandOptions,
    argument,
    option,
    output_option,
    request_field,
)
from tui.options.files import InputFile, Product

SELECTION_PANEL = "Which launches"
Texts = tuple[str, ...]
PLAN_PANEL = "Plan"
PANELS = {
    Part.SEED: OUTPUT_PANEL,
    **dict.fromkeys((Part.SELECTION, Part.READING), SELECTION_PANEL),
    **dict.fromkeys((Part.PROMISE, Part.METHOD), PLAN_PANEL),
}
"""The headings of the help that the options of a plan's request stand below."""


# Options of several commands, each below another class.
NO_CACHE = option("Read large files anew, and keep nothing of them for the next time.", panel=SELECTION_PANEL)
SCHEDULER = option(
    "A Dask scheduler, whose workers read the files, at the same paths, and look at their launches.",
    panel=SELECTION_PANEL,
    metavar="ADDRESS",
)
DETAILS = option("Tell every figure, not only the answer.", panel=OUTPUT_PANEL)
KERNEL = option("#RANK, or part of the key; the largest group if not given.", "-k", metavar="KERNEL")
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
