"""What is said of the layers of a network: how much they are alike, and what drawing some is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sampling.plan.layer_summary import LayerFamily, LayerSummary
from sampling.text import counted
from tui.charts.quantities import count, duration, share
from tui.options.command_line import command_line, options_of
from tui.options.files import PLAN_NAME
from tui.options.look import LayersOptions
from tui.options.plan import SampleOptions
from tui.output.blocks import Block, CommandLine
from tui.output.writer import CommandResult
from tui.terminal.printable import Column

NO_LAYERS = (
    "no layers: no block of launches comes three times or more within an iteration and holds two thirds of "
    "its launches, and no ranges or operators have names that differ in one number, as model.layers.7 does"
)
_TOLD_BY = {
    "ranges": "by the names of ranges",
    "operators": "by the names of operators",
    "launches": "by their launches",
    "kernels": "by their kernels, whatever their sizes",
    "loop": "by the order of the launches; no block repeats within one, so they are taken for layers",
}


def layers_result(summary: LayerSummary, options: LayersOptions) -> CommandResult:
    """Return the answer in every form; a family is a row."""
    blocks = tuple(_blocks(summary, options))
    return CommandResult("layers", summary, lambda _: blocks, summary.families)


def _blocks(summary: LayerSummary, options: LayersOptions) -> Iterator[Block]:
    if summary.source is None:
        yield f"{NO_LAYERS[0].upper()}{NO_LAYERS[1:]}."
        return
    place, noun = "the run", "iteration" if summary.source == "loop" else "block"
    if summary.iterations is not None or summary.source in ("ranges", "operators"):
        noun = "layer"
    if summary.iterations is not None:
        name = f" {summary.iteration_name}" if summary.iteration_name else ""
        place = f"each of {summary.iterations:,} iterations{name}"
        place = f"the iteration{name}" if summary.iterations == 1 else place
    layers = " and ".join(
        f"{counted(family.layers, noun)} of {_launches(family)} launches" for family in summary.families
    )
    steps = "; layers, or steps that have no names" if noun == "block" else ""
    yield f"{layers} in {place}, told {_TOLD_BY[summary.source]}{steps}."
    for family in summary.families:
        yield _errors(family, summary.confidence, noun)
    outside = f"{summary.launches_outside:,} of {counted(summary.all_launches, 'launch')}"
    yield f"In no layer: {outside} of the recording, {share(summary.share_outside)} of its time."
    yield ""
    yield _table(summary.families, "of the run" if summary.iterations is None else "of an iteration")
    yield ""
    sampled = command_line("sample", options_of(SampleOptions, options, output=PLAN_NAME))
    yield CommandLine(f"{sampled} --layers {options.draw}")


def _launches(family: LayerFamily) -> str:
    if family.least_launches == family.most_launches:
        return count(family.launches)
    return f"{count(family.launches)} ({count(family.least_launches)} to {count(family.most_launches)})"


def _errors(family: LayerFamily, confidence: float, noun: str) -> str:
    """Return how far one layer for all is off, and some drawn ones."""
    off = f"off by {share(family.mean_error)} in the mean, {share(family.worst_error)} at worst"
    sure = f"in {100 * confidence:.4g} % of draws"
    return (
        f"One {noun} times {family.all_layers:,} is {off} (the first: {share(family.first_error)}). "
        f"{counted(family.draws, noun)} drawn at random are off by at most {share(family.drawn_error)} "
        f"{sure}; the interval that they show, {share(family.half_width)} to either side, holds in "
        f"{share(family.coverage)}."
    )


def _table(families: Sequence[LayerFamily], part: str) -> tuple[Column, ...]:
    """Return a row a family; ``part``: what its share is of."""
    return (
        Column("layers", [count(family.all_layers) for family in families]),
        Column("launches", [_launches(family) for family in families]),
        Column("mean", [duration(family.mean_ns) for family in families]),
        Column("CoV", [share(family.cv) for family in families]),
        Column("first", [duration(family.first_ns) for family in families]),
        Column("last", [duration(family.last_ns) for family in families]),
        Column(part, [share(family.share) for family in families]),
    )
