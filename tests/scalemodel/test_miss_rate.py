"""The miss-rate curve: units, bounds, what is known and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from scalemodel.errors import AnalysisError, OptionError
from scalemodel.measurements import MpkiUnit
from scalemodel.miss_rate import CurveOptions, Method, MissRateCurve, miss_rate_curve
from scalemodel.trace_file import AddressTrace

LINE = 128
# 100 lines, touched ten times over by 640,000 thread instructions in 20,000 warp instructions.
CYCLIC = AddressTrace(np.tile(np.arange(100, dtype=np.uint64), 10), LINE, 640_000, 20_000)


def curve_of(
    trace: AddressTrace = CYCLIC,
    capacity_bytes: tuple[int, ...] = (LINE, 99 * LINE, 100 * LINE),
    **options: object,
) -> MissRateCurve:
    return miss_rate_curve(
        trace,
        np.array(capacity_bytes, dtype=np.int64),
        CurveOptions(**options),  # type: ignore[arg-type]
        np.random.default_rng(0),
    )


def mpki_of(curve: MissRateCurve) -> NDArray[np.float64]:
    """Return the curve's MPKI, which it has."""
    assert curve.mpki is not None
    return curve.mpki


def test_mpki_is_misses_per_thousand_thread_instructions() -> None:
    curve = curve_of()
    assert curve.misses.tolist() == [1000, 1000, 100]
    assert mpki_of(curve).tolist() == pytest.approx([1000 * 1000 / 640_000] * 2 + [1000 * 100 / 640_000])
    assert curve.miss_ratio.tolist() == [1, 1, 0.1]
    assert (curve.accesses, curve.cold, curve.line_bytes) == (1000, 100, LINE)
    assert (curve.unit, curve.method, curve.rate, curve.confidence) == (
        MpkiUnit.THREAD,
        Method.EXACT,
        1,
        None,
    )
    assert curve.capacity_bytes.tolist() == [LINE, 99 * LINE, 100 * LINE]


def test_the_unit_travels_with_the_numbers() -> None:
    thread, warp = curve_of(), curve_of(unit=MpkiUnit.WARP)
    assert (warp.unit, warp.instructions) == (MpkiUnit.WARP, 20_000)
    assert (mpki_of(warp) / mpki_of(thread)).tolist() == [MpkiUnit.WARP.threads] * 3


def test_an_exact_curve_is_its_own_bounds() -> None:
    curve = curve_of()
    assert curve.low is not None
    assert curve.high is not None
    assert curve.low.tolist() == curve.high.tolist() == mpki_of(curve).tolist()


def test_instructions_that_are_given_must_be_the_traces_own() -> None:
    stated = CYCLIC.thread_instructions
    assert stated is not None
    assert mpki_of(curve_of(instructions=stated)).tolist() == mpki_of(curve_of()).tolist()
    with pytest.raises(
        OptionError, match=f"500 thread .* the trace states {stated:,}; leave their number out"
    ):
        curve_of(instructions=500)
    assert curve_of(replace(CYCLIC, thread_instructions=None), instructions=500).instructions == 500


def test_without_instructions_there_is_a_miss_ratio_and_no_mpki() -> None:
    for unit in MpkiUnit:
        curve = curve_of(AddressTrace(CYCLIC.line, LINE), unit=unit)
        assert (curve.mpki, curve.low, curve.high) == (None, None, None)
        assert curve.miss_ratio.tolist() == [1, 1, 0.1]
        assert curve_of(AddressTrace(CYCLIC.line, LINE), unit=unit, instructions=10**6).mpki is not None


def test_instructions_of_the_other_unit_do_not_stand_in() -> None:
    assert curve_of(replace(CYCLIC, warp_instructions=None), unit=MpkiUnit.WARP).mpki is None
    assert curve_of(replace(CYCLIC, thread_instructions=None)).mpki is None


def test_a_sampled_curve_says_how_it_was_sampled() -> None:
    rng = np.random.default_rng(1)
    trace = AddressTrace((20_000 * rng.beta(1, 3, 100_000)).astype(np.uint64), LINE, 10**7, 10**6)
    capacity = (2_000 * LINE, 8_000 * LINE)
    exact = mpki_of(curve_of(trace, capacity))
    curve = curve_of(trace, capacity, method=Method.SHARDS, rate=0.2, confidence=0.99)
    assert (curve.method, curve.rate, curve.confidence) == (Method.SHARDS, 0.2, 0.99)
    assert curve.low is not None
    assert curve.high is not None
    assert ((curve.low < mpki_of(curve)) & (mpki_of(curve) < curve.high)).all()
    assert ((curve.low < exact) & (exact < curve.high)).all()
    assert curve.sampled_lines is not None
    assert abs(curve.sampled_lines - 0.2 * np.unique(trace.line).size) < 300
    assert curve.cold == pytest.approx(curve.sampled_lines / 0.2)


def test_a_sample_depends_on_the_generator_alone() -> None:
    trace = AddressTrace(np.random.default_rng(2).integers(0, 5000, 40_000).astype(np.uint64), LINE, 10**6)
    capacity, options = np.array([1000 * LINE]), CurveOptions(Method.SHARDS, rate=0.1)
    one, same, other = (
        miss_rate_curve(trace, capacity, options, np.random.default_rng(seed)).misses[0] for seed in (3, 3, 4)
    )
    assert one == same != other


def test_stat_stack_states_no_bounds() -> None:
    curve = curve_of(method=Method.STAT_STACK)
    assert (curve.low, curve.high, curve.misses_low, curve.confidence) == (None, None, None, None)
    assert (curve.method, curve.rate) == (Method.STAT_STACK, 1)
    assert curve.misses.tolist() == [1000, 1000, 100]


def test_a_part_of_a_line_holds_nothing_and_the_order_stays() -> None:
    curve = curve_of(capacity_bytes=(100 * LINE + 1, 100 * LINE - 1, 2**62, LINE))
    assert curve.misses.tolist() == [100, 1000, 100, 1000]


@pytest.mark.parametrize(
    ("capacity", "message"),
    [((), "no cache capacity"), ((1000, 127), "at least one line"), ((-5,), "at least")],
)
def test_capacities_that_hold_nothing_are_refused(capacity: tuple[int, ...], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        curve_of(capacity_bytes=capacity)


def test_a_trace_without_an_access_is_refused() -> None:
    with pytest.raises(AnalysisError, match="no access"):
        curve_of(AddressTrace(np.zeros(0, dtype=np.uint64), LINE, 10, 10))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0.0}, "sampling rate"),
        ({"rate": 1.5}, "sampling rate"),
        ({"rate": float("nan")}, "sampling rate"),
        ({"confidence": 1.0}, "confidence"),
        ({"instructions": 0}, "number of instructions"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        CurveOptions(**options)  # type: ignore[arg-type]
