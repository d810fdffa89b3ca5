"""A miss-rate curve: how `scale mrc` counts the misses, and what it says of them in every form."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from scalemodel.errors import OptionError
from scalemodel.miss_rate import CurveOptions, Method, MissRateCurve
from tui.charts.quantities import share
from tui.options.scale import ScaleMrcOptions
from tui.output.markdown import Block
from tui.output.writer import Canvas
from tui.terminal.tables import Column, table

_RATE_NOT_GIVEN = 0.01
_CONFIDENCE = 0.95
_LEAST_BAR = 8
_BAR = ("\N{FULL BLOCK}", "#")


def curve_options(options: ScaleMrcOptions) -> CurveOptions:
    """Return how to count.

    Raises
    ------
    OptionError : more than one way is asked for.
    """
    return CurveOptions(
        _method(options),
        _RATE_NOT_GIVEN if options.rate is None else options.rate,
        _CONFIDENCE if options.confidence is None else options.confidence,
        options.mpki_unit,
        options.instructions,
    )


def _method(options: ScaleMrcOptions) -> Method:
    asked = {
        "--exact": (options.exact, Method.EXACT),
        "--rate": (options.rate is not None, Method.SHARDS),
        "--statstack": (options.statstack, Method.STAT_STACK),
    }
    given = {flag: method for flag, (is_given, method) in asked.items() if is_given}
    if len(given) > 1:
        raise OptionError(f"{' and '.join(given)} are given", remedy="give one of them")
    return next(iter(given.values()), Method.EXACT)


def curve_results(curve: MissRateCurve, sizes: Sequence[int | None]) -> dict[str, Any]:
    """Return the curve as the contract's `scale mrc` has it.

    Parameters
    ----------
    sizes : the system size of each capacity, None where capacities have none.
    """
    none: list[float | None] = [None] * len(sizes)
    return {
        "size": list(sizes),
        "capacity_bytes": curve.capacity_bytes.tolist(),
        "mpki": none if curve.mpki is None else curve.mpki.tolist(),
        "low": none if curve.low is None else curve.low.tolist(),
        "high": none if curve.high is None else curve.high.tolist(),
        "miss_ratio": curve.miss_ratio.tolist(),
        "unit": curve.unit.value,
        "method": curve.method.value,
        "rate": curve.rate,
        "confidence": curve.confidence,
        "accesses": curve.accesses,
        "cold_misses": curve.cold,
        "instructions": curve.instructions,
        "line_bytes": curve.line_bytes,
    }


def curve_rows(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row a capacity, as `scale predict --mpki-from` reads them."""
    names = ("size", "capacity_bytes", "mpki", "low", "high", "miss_ratio")
    kept = {name: results[name] for name in ("unit", "method", "rate", "line_bytes")}
    return [
        {**dict(zip(names, values, strict=True)), **kept}
        for values in zip(*(results[name] for name in names), strict=True)
    ]


def curve_text(curve: MissRateCurve, sizes: Sequence[int | None], width: int, canvas: Canvas) -> str:
    """Return the curve as a table with bars, and below it how the misses were counted."""
    values = curve.miss_ratio if curve.mpki is None else curve.mpki
    columns = _columns(curve, sizes)
    room = max(width - max(map(len, table(columns).split("\n"))) - 2, _LEAST_BAR)
    most = float(values.max()) or 1.0
    bars = [_BAR[canvas.ascii_only] * round(float(value) / most * room) for value in values]
    sentences = [
        line for text in _sentences(curve) for line in textwrap.wrap(text, width, break_on_hyphens=False)
    ]
    return "\n".join([table([*columns, Column("", bars, to_right=False)]), "", *sentences])


def curve_blocks(curve: MissRateCurve, sizes: Sequence[int | None]) -> list[Block]:
    """Return the same without bars."""
    return [_columns(curve, sizes), *_sentences(curve)]


def _columns(curve: MissRateCurve, sizes: Sequence[int | None]) -> list[Column]:
    values = curve.miss_ratio if curve.mpki is None else curve.mpki
    shown = {
        "miss ratio" if curve.mpki is None else "MPKI": values,
        "low": curve.low if curve.method is Method.SHARDS else None,
        "high": curve.high if curve.method is Method.SHARDS else None,
    }
    columns = [Column("capacity", [_capacity(int(each)) for each in curve.capacity_bytes])]
    if sizes[0] is not None:
        columns.insert(0, Column("size", [str(size) for size in sizes]))
    columns += [
        Column(name, [f"{value:.4g}" for value in column])
        for name, column in shown.items()
        if column is not None
    ]
    return columns


def _sentences(curve: MissRateCurve) -> Iterator[str]:
    """Yield where the working set comes to fit, and how the misses were counted."""
    order = np.argsort(curve.capacity_bytes, kind="stable")
    capacity, misses = curve.capacity_bytes[order], curve.misses[order]
    if capacity.size > 1:
        step = int(np.argmax(misses[:-1] - misses[1:]))
        fallen = 1 - misses[step + 1] / misses[step] if misses[step] else 0.0
        if fallen > 0:
            yield (
                f"The largest fall is between {_capacity(int(capacity[step]))} and "
                f"{_capacity(int(capacity[step + 1]))}, by {share(float(fallen))}: so much of the working "
                "set comes to fit there."
            )
    unit = f"per thousand {curve.unit} instructions" if curve.mpki is not None else "per access"
    level = 100 * (curve.confidence or 0)
    how = {
        Method.EXACT: "all counted",
        Method.SHARDS: f"of {share(curve.rate)} of the lines, low to high is {level:.0f} %",
        Method.STAT_STACK: "estimated from reuse distances",
    }[curve.method]
    yield (
        f"Misses {unit}, {how}; {curve.accesses:,} access{'' if curve.accesses == 1 else 'es'}, "
        f"{curve.cold:,.0f} of them the first to their "
        f"line; lines of {curve.line_bytes} bytes, least recently used, fully associative."
    )


def _capacity(capacity: int) -> str:
    for name, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if capacity >= factor:
            return f"{capacity / factor:.4g} {name}"
    return f"{capacity} B"
