"""What `scale mrc` says of a miss-rate curve, without the command line."""

from __future__ import annotations

import numpy as np

from scalemodel.measurements import MpkiUnit
from scalemodel.miss_rate import Method, MissRateCurve
from tui.scale.models import curve_results, curve_rows, curve_text


def test_the_text_names_the_largest_fall_and_the_rows_have_each_capacity() -> None:
    misses = np.array([80.0, 20.0])
    curve = MissRateCurve(
        capacity_bytes=np.array([2**20, 2**21]),
        misses=misses,
        misses_low=misses,
        misses_high=misses,
        accesses=100,
        cold=10.0,
        instructions=1000,
        unit=MpkiUnit.THREAD,
        method=Method.EXACT,
        rate=1.0,
        confidence=None,
        sampled_lines=None,
        line_bytes=128,
    )
    text = curve_text(curve, [8, 16], 80)
    assert "between 1 MiB and 2 MiB, by 75.0 %" in text
    assert "all counted; 100 accesses, 10 of them the first" in " ".join(text.split())
    rows = curve_rows(curve_results(curve, [8, 16]))
    assert [(row["size"], row["mpki"]) for row in rows] == [(8, 80.0), (16, 20.0)]
