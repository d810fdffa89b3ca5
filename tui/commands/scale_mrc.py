"""`scale mrc`: the miss-rate curve of an address trace, by cache capacity."""

from __future__ import annotations

from functools import partial

import numpy as np

from scalemodel.errors import OptionError
from scalemodel.miss_rate import Method, miss_rate_curve
from scalemodel.traces import TraceFormat, read_address_trace
from tui.options.scale import ScaleMrcOptions, capacities_of
from tui.output.writer import Answer, emit
from tui.scale.models import curve_blocks, curve_options, curve_results, curve_rows, curve_text
from tui.terminal.diagnostics import note


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
