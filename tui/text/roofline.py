"""A roofline in words, as a table and as a chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from sampling.estimation.roofline import RooflineSummary
from sampling.record import Bounds, Quantity
from sampling.text import counted, listed
from tui.charts.quantities import UNKNOWN, share, si
from tui.charts.roofline import RUN_SIGN, roofline_chart
from tui.output.blocks import Block, Listing
from tui.output.writer import Canvas
from tui.terminal.printable import Column, names
from tui.text.estimate import bottleneck_sentence
from tui.text.labels import group_places, key_parts, label_kernels, place_lines

if TYPE_CHECKING:
    from tui.charts.grid import Grid

_HEIGHT = 18


def quantity_text(quantity: Quantity, unit: str = "") -> str:
    """Return a figure with its interval, as ``1.95k (1.90k to 2.00k)``."""
    if quantity.value is None:
        return UNKNOWN
    text = si(quantity.value, unit)
    if quantity.low is None or quantity.high is None:
        return f"{text} (no interval)"
    if quantity.low == quantity.high:
        return text
    return f"{text} ({si(quantity.low)} to {si(quantity.high)})"


def _place_sentences(summary: RooflineSummary, subject: str) -> Iterator[str]:
    """Yield where a run stands below its roof, and what is not in it; ``subject``: what the run is called."""
    run, roof = summary.run, summary.roof_at(summary.run.intensity.value)
    if run.performance.value is None:
        yield f"{subject} has no place yet: strata have no result; `kernelpoint estimate` says of which."
        return
    performance = quantity_text(run.performance, "FLOP/s")
    intensity = quantity_text(run.intensity, "FLOP/byte")
    yield f"{subject} does {performance} at {intensity} of device memory."
    if summary.peak_operations and summary.peak_bytes:
        reached = (
            f"{share((run.performance.value or 0) / roof)} of the roof there" if roof else "no operation"
        )
        peak, ridge = summary.peak_operations, si(summary.peak_operations / summary.peak_bytes, "FLOP/byte")
        below = si(summary.peak_bytes, "B/s")
        yield f"That is {reached}: {si(peak, 'FLOP/s')} from {ridge} on, {below} before."
    else:
        yield "The ceilings are not known: `kernelpoint roofline --peak 67T,3.35T` takes them."
    yield from uncounted_lines(summary)


def uncounted_lines(summary: RooflineSummary) -> list[str]:
    """Return which operations were not counted, if any."""
    return [f"Not counted, so not in it: {listed(summary.uncounted, 3)}."] if summary.uncounted else []


def roofline_blocks(
    summary: RooflineSummary, notes: Sequence[str], canvas: Canvas, width: int | None, height: int | None
) -> Iterator[Block | Grid]:
    """Yield what bounds the run, where it stands below its roof, chart, largest kernels, and notes."""
    yield from [sentence] if (sentence := bottleneck_sentence(summary.bounds)) else []
    yield from _place_sentences(summary, "The whole run")
    if not canvas.is_page:
        yield roofline_chart(summary, width or canvas.width, height or _HEIGHT)
        yield f"FLOP/s over FLOP/byte; {RUN_SIGN} is the whole run, 1 and so on the kernels below"
    keys = [kernel.key for kernel in summary.kernels]
    places = group_places([*map(key_parts, keys)])
    figures = [
        Column("", [str(number) for number in range(1, len(keys) + 1)]),
        Column("time", [share(kernel.share) for kernel in summary.kernels]),
        Column("FLOP/s", [quantity_text(kernel.performance) for kernel in summary.kernels]),
        Column("FLOP/byte", [quantity_text(kernel.intensity) for kernel in summary.kernels]),
    ]
    yield from [Listing(figures, "kernel group", label_kernels(map(key_parts, keys), places))] if keys else []
    yield from place_lines(places)
    if keys and (others := summary.kernel_groups - len(keys)):
        yield f"and {counted(others, 'smaller group')}: `--kernels {summary.kernel_groups}`"
    yield from notes


def configuration_blocks(
    program: str, rooflines: Mapping[str, RooflineSummary], canvas: Canvas, width: int, height: int
) -> Iterator[Block | Grid]:
    """Yield where a program stands on its configurations, below the roof of the first: chart and figures."""
    (base, first), *others = rooflines.items()
    yield from _place_sentences(first, f"{program} on {base}")
    points = [structs.replace(summary.run, key=name) for name, summary in others]
    if not canvas.is_page:
        yield roofline_chart(structs.replace(first, kernels=points), width, height)
    yield f"FLOP/s over FLOP/byte; {RUN_SIGN} is {base}, 1 and so on the configurations below"
    runs = [summary.run for summary in rooflines.values()]
    yield [
        Column("", [RUN_SIGN, *(str(number) for number in range(1, len(runs)))]),
        Column("FLOP/s", [quantity_text(run.performance) for run in runs]),
        Column("FLOP/byte", [quantity_text(run.intensity) for run in runs]),
        Column(
            "bound by", [_largest_bound(summary.bounds) for summary in rooflines.values()], to_right=False
        ),
        names("configuration", list(rooflines)),
    ]


def _largest_bound(bounds: Bounds) -> str:
    """Return what bounds most of the time, and how much."""
    value, kind = max(((part.value or 0.0, kind) for kind, part in bounds.items()), default=(0.0, ""))
    return f"{kind} {share(value)}" if value else UNKNOWN
