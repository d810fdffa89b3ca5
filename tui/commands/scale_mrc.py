"""`scale mrc`: the miss-rate curve of an address trace, by cache capacity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from scalemodel.errors import OptionError
from scalemodel.miss_rate import CurveOptions, Method, MissRateCurve, miss_rate_curve
from scalemodel.traces import TraceFormat, read_address_trace
from tui.charts.quantities import share
from tui.options.scale import ScaleMrcOptions, capacities_of
from tui.output.markdown import Block
from tui.output.writer import Answer, emit
from tui.terminal.diagnostics import note
from tui.terminal.printable import is_ascii, wrapped
from tui.terminal.tables import Column, table

_RATE_NOT_GIVEN = 0.01
_CONFIDENCE = 0.95
_LEAST_BAR = 8
_BAR = ("\N{FULL BLOCK}", "#")


def run(options: ScaleMrcOptions) -> None:
    """Read the trace, count the misses at each capacity."""
    if options.seed < 0:
        raise OptionError(f"--seed is 0 or more, not {options.seed}")
    tell = partial(note, quiet=options.quiet)
    counting = curve_options(options)
    sizes, capacities = zip(*capacities_of(options.capacity), strict=True)
    if options.confidence is not None and counting.method is not Method.SHARDS:
        tell("--confidence is not used, as it is of the bounds with --rate; leave it out")
    trace = read_address_trace(
        options.traces,
        trace_format=None if options.source is None else TraceFormat(options.source.value),
        line_bytes=options.line_bytes,
        with_local=options.with_local,
        tell=lambda why: tell(f"--with-local is not used, as {why}; leave it out"),
    )
    capacity_bytes = np.array(capacities, dtype=np.int64)
    curve = miss_rate_curve(trace, capacity_bytes, counting, np.random.default_rng(options.seed))
    if curve.instructions is None:
        tell(
            f"the trace does not say how many {curve.unit} instructions it was recorded over, so there is no "
            "MPKI; give --instructions"
        )
    results = curve_results(curve, sizes)
    emit(
        Answer(
            "scale mrc",
            results,
            lambda canvas: curve_text(curve, sizes, options.width or canvas.width),
            rows=curve_rows(results),
            blocks=lambda _: curve_blocks(curve, sizes),
            warnings=("instructions-unknown",) if curve.instructions is None else (),
        ),
        options,
    )


def curve_options(options: ScaleMrcOptions) -> CurveOptions:
    """Return how to count; raise OptionError where more than one way is asked for."""
    asked = {
        "--exact": (options.exact, Method.EXACT),
        "--rate": (options.rate is not None, Method.SHARDS),
        "--statstack": (options.statstack, Method.STAT_STACK),
    }
    given = {flag: method for flag, (is_given, method) in asked.items() if is_given}
    if len(given) > 1:
        raise OptionError(f"{' and '.join(given)} are given", remedy="give one of them")
    return CurveOptions(
        next(iter(given.values()), Method.EXACT),
        _RATE_NOT_GIVEN if options.rate is None else options.rate,
        _CONFIDENCE if options.confidence is None else options.confidence,
        options.mpki_unit,
        options.instructions,
    )


def curve_results(curve: MissRateCurve, sizes: Sequence[int | None]) -> dict[str, Any]:
    """Return the curve as the contract's `scale mrc` has it.

    Parameters
    ----------
    sizes : the system size of each capacity, None where capacities have none.
    """
    none: list[float | None] = [None] * len(sizes)
    known = {"mpki": curve.mpki, "low": curve.low, "high": curve.high}
    return {
        "size": list(sizes),
        "capacity_bytes": curve.capacity_bytes.tolist(),
        **{name: none if values is None else values.tolist() for name, values in known.items()},
        "miss_ratio": curve.miss_ratio.tolist(),
        "unit": curve.unit.value,
        "method": curve.method.value,
        "rate": curve.rate,
        "confidence": curve.confidence,
        "accesses": curve.accesses,
        "cold_misses": curve.counts.cold,
        "instructions": curve.instructions,
        "line_bytes": curve.line_bytes,
    }


def curve_rows(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row a capacity, as `scale predict --mpki-from` reads them."""
    columns = ("size", "capacity_bytes", "mpki", "low", "high", "miss_ratio")
    kept = {name: results[name] for name in ("unit", "method", "rate", "line_bytes")}
    return [
        {**dict(zip(columns, values, strict=True)), **kept}
        for values in zip(*(results[name] for name in columns), strict=True)
    ]


def curve_text(curve: MissRateCurve, sizes: Sequence[int | None], width: int) -> str:
    """Return the curve as a table with bars, and below it how the misses were counted."""
    columns, *sentences = curve_blocks(curve, sizes)
    assert not isinstance(columns, str)
    values = curve.miss_ratio if curve.mpki is None else curve.mpki
    room = max(width - max(map(len, table(columns).split("\n"))) - 2, _LEAST_BAR)
    most = float(values.max()) or 1.0
    bars = [_BAR[is_ascii()] * round(float(value) / most * room) for value in values]
    lines = [line for text in sentences for line in wrapped(str(text), width)]
    return "\n".join([table([*columns, Column("", bars, to_right=False)]), "", *lines])


def curve_blocks(curve: MissRateCurve, sizes: Sequence[int | None]) -> list[Block]:
    """Return the same without bars."""
    is_sampled = curve.method is Method.SHARDS
    shown = {
        "miss ratio" if curve.mpki is None else "MPKI": curve.miss_ratio
        if curve.mpki is None
        else curve.mpki,
        "low": curve.low if is_sampled else None,
        "high": curve.high if is_sampled else None,
    }
    columns = [] if sizes[0] is None else [Column("size", [str(size) for size in sizes])]
    columns.append(Column("capacity", [_capacity(int(each)) for each in curve.capacity_bytes]))
    columns += [
        Column(name, [f"{value:.4g}" for value in column])
        for name, column in shown.items()
        if column is not None
    ]
    return [columns, *_sentences(curve)]


def _sentences(curve: MissRateCurve) -> Iterator[str]:
    """Yield where the working set comes to fit, and how the misses were counted."""
    order = np.argsort(curve.capacity_bytes, kind="stable")
    capacity, misses = curve.capacity_bytes[order], curve.counts.misses[order]
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
        f"{curve.counts.cold:,.0f} of them the first to their "
        f"line; lines of {curve.line_bytes} bytes, least recently used, fully associative."
    )


def _capacity(capacity: int) -> str:
    for name, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if capacity >= factor:
            return f"{capacity / factor:.4g} {name}"
    return f"{capacity} B"
