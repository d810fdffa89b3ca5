"""Cliffs of the miss-rate curve: both conditions at their edges, and what is said of the others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemodel.cliff import CurveReading, curve_steps, read_curve
from scalemodel.measurements import Measurements, MpkiUnit, Scaling, measurements_of


def with_curve(
    *curve: tuple[int, float], unit: MpkiUnit = MpkiUnit.THREAD, scaling: Scaling = Scaling.STRONG
) -> Measurements:
    """Return two models of 8 and 16, and a curve."""
    return measurements_of([(8, 100.0), (16, 200.0)], curve, mpki_unit=unit, scaling=scaling)


def reading_of(
    measurements: Measurements, *targets: int, models: tuple[int, ...] = (8, 16), modelled: bool = False
) -> CurveReading:
    """Read the curve up to the targets."""
    return read_curve(measurements, models, targets, curve_is_modelled=modelled)


def fired(
    before: float, after: float, *, larger: int = 32, modelled: bool = False, unit: MpkiUnit = MpkiUnit.THREAD
) -> bool:
    """Return whether the curve from 16 on has a cliff."""
    steps = curve_steps(with_curve((16, before), (larger, after), unit=unit), curve_is_modelled=modelled)
    return steps[0].fired


def codes(reading: CurveReading) -> list[str]:
    return [finding.code for finding in reading.findings]


def test_the_papers_cliff() -> None:
    dct = with_curve((8, 6.167), (16, 6.179), (32, 6.163), (64, 5.524), (128, 0.1005))
    reading = reading_of(dct, 32, 64, 128)
    assert reading.cliff is not None
    assert (reading.cliff.smaller, reading.cliff.larger) == (64, 128)
    assert reading.cliff.ratio == pytest.approx(54.97, abs=0.01)
    assert reading.inside is None
    assert codes(reading) == []


def test_the_ratio_must_be_above_two_for_a_doubling() -> None:
    assert not fired(4.0, 2.0)
    assert fired(4.0001, 2.0)


@pytest.mark.parametrize(("larger", "limit"), [(64, 4.0), (128, 8.0), (48, 3.0)])
def test_other_steps_have_the_threshold_for_each_doubling(larger: int, limit: float) -> None:
    assert not fired(limit * 2 * (1 - 1e-9), 2.0, larger=larger)
    assert fired(limit * 2 * (1 + 1e-9), 2.0, larger=larger)


def test_a_modelled_curve_must_fall_more_steeply() -> None:
    assert not fired(5.0, 2.0, modelled=True)
    assert fired(5.0001, 2.0, modelled=True)
    assert fired(4.9, 2.0)


@pytest.mark.parametrize(("unit", "drop"), [(MpkiUnit.THREAD, 1.0), (MpkiUnit.WARP, 32.0)])
def test_the_drop_must_be_worth_it(unit: MpkiUnit, drop: float) -> None:
    assert fired(1.1 * drop, 0.1 * drop, unit=unit)
    assert fired(3.3 * drop, 2.3 * drop, unit=unit) is False
    assert not fired(1.09 * drop, 0.1 * drop, unit=unit)


def test_a_drop_of_one_is_one_whatever_the_decimals() -> None:
    # 1.4 - 0.4 is 0.9999999999999999 in doubles.
    assert 1.4 - 0.4 < 1
    assert fired(1.4, 0.4)


def test_no_misses_left_is_a_cliff_without_a_ratio() -> None:
    step = curve_steps(with_curve((16, 1.0), (32, 0.0)))[0]
    assert step.fired
    assert (step.ratio, step.left, step.near) == (None, 0.0, False)
    assert not fired(0.9, 0.0)


def test_no_misses_at_all_are_no_cliff() -> None:
    step = curve_steps(with_curve((16, 0.0), (32, 0.0)))[0]
    assert not step.fired
    assert not step.near
    assert (step.ratio, step.left) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("after", "near", "cliff"),
    [
        (6.7, False, False),
        (6.6, True, False),
        (5.1, True, False),
        (4.9, True, True),
        (4.01, True, True),
        (3.99, False, True),
    ],
)
def test_near_cliffs_are_said_whether_they_fired_or_not(after: float, near: bool, cliff: bool) -> None:
    reading = reading_of(with_curve((16, 10.0), (32, after)), 32)
    assert ("near-cliff" in codes(reading)) is near
    assert (reading.cliff is not None) is cliff
    verdict = "taken as a cliff" if cliff else "taken as no cliff"
    assert all(verdict in finding.message for finding in reading.findings)


def test_what_is_near_is_said_beside_what_a_cliff_needs() -> None:
    (near,) = reading_of(with_curve((16, 64.0), (128, 9.0)), 128).findings
    assert "7.11 times less, 1.92 per doubling, where a cliff needs more than 2: taken as no" in near.message
    (near,) = reading_of(with_curve((16, 19.0), (32, 10.0)), 32).findings
    assert "1.9 times less, where a cliff needs more than 2: taken as no cliff" in near.message
    (near,) = reading_of(with_curve((16, 24.0), (32, 10.0)), 32, modelled=True).findings
    assert "2.4 times less, where a cliff needs more than 2.5: taken as no cliff" in near.message


@pytest.mark.parametrize("after", [0.0, 0.01, 0.35])
def test_a_steep_fall_that_is_too_small_is_said(after: float) -> None:
    reading = reading_of(with_curve((16, 0.99), (32, after)), 32)
    assert reading.cliff is None
    assert codes(reading) == ["near-cliff"]
    assert "taken as no cliff, as it falls by less than 1 MPKI" in reading.findings[0].message
    assert ("which leaves none" in reading.findings[0].message) is (after == 0)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        # 10 to 4 is a cliff; to 5 it is not.
        (3.9, 4.9, False),
        (3.9, 5.0, True),
        (4.0, 4.0, False),
    ],
)
def test_the_curves_own_error_may_decide(low: float, high: float, said: bool) -> None:
    measured = replace(with_curve((16, 10.0), (32, 4.0)), mpki_bounds=((32, low, high),))
    reading = reading_of(measured, 32)
    assert reading.cliff is not None
    assert ("curve-error" in codes(reading)) is said
    if said:
        text = reading.findings[-1].message
        assert "taken as a cliff; the curve's own sampling error could change this" in text


def test_the_error_of_the_smaller_size_may_make_a_cliff() -> None:
    flat = with_curve((16, 10.0), (32, 7.0))
    assert codes(reading_of(flat, 32)) == []
    doubtful = replace(flat, mpki_bounds=((16, 9.0, 14.5), (32, 6.5, 7.5)))
    reading = reading_of(doubtful, 32)
    assert (reading.cliff, codes(reading)) == (None, ["curve-error"])
    assert "from 9 to 14.5 and from 6.5 to 7.5: taken as no cliff" in reading.findings[0].message
    assert codes(reading_of(replace(doubtful, scaling=Scaling.WEAK), 32)) == []


def test_nearness_is_for_a_doubling_too() -> None:
    # 3 times less over two doublings is 1.73 for each.
    assert curve_steps(with_curve((16, 9.0), (64, 3.0)))[0].near
    assert not curve_steps(with_curve((16, 9.0), (64, 4.5)))[0].near


@pytest.mark.parametrize("scaling", [Scaling.WEAK, Scaling.CHIPLET])
def test_there_is_no_cliff_where_the_work_grows(scaling: Scaling) -> None:
    falling = with_curve((8, 20.0), (16, 8.0), (32, 0.1), scaling=scaling)
    reading = reading_of(falling, 32)
    assert (reading.cliff, reading.inside) == (None, None)
    assert codes(reading) == ["curve-ignored"]
    assert codes(reading_of(with_curve((8, 3.0), (16, 3.0), scaling=scaling), 32)) == []


def test_only_the_first_cliff_above_the_models_is_applied() -> None:
    reading = reading_of(with_curve((16, 40.0), (32, 10.0), (64, 9.0), (128, 1.0)), 256)
    assert reading.cliff is not None
    assert reading.cliff.larger == 32
    assert codes(reading) == ["short-curve", "second-cliff"]
    assert "between 64 and 128 SMs" in reading.findings[1].message


def test_a_cliff_beyond_the_targets_concerns_nobody() -> None:
    curve = with_curve((8, 41.0), (16, 40.0), (32, 39.0), (64, 2.0))
    assert reading_of(curve, 32).cliff is None
    assert reading_of(curve, 33).cliff is not None


def test_a_cliff_between_the_models_is_said() -> None:
    reading = reading_of(with_curve((8, 10.0), (16, 1.0), (32, 0.9)), 32)
    assert reading.cliff is None
    assert reading.inside is not None
    assert codes(reading) == ["cliff-between-models"]
    assert "not calibrated" in reading.findings[0].message


def test_a_cliff_below_the_models_is_past() -> None:
    reading = reading_of(with_curve((4, 10.0), (8, 1.0), (16, 0.9), (32, 0.9)), 32)
    assert (reading.cliff, reading.inside, reading.findings) == (None, None, ())


def test_a_step_over_the_largest_model_is_not_placed() -> None:
    reading = reading_of(with_curve((8, 40.0), (32, 1.0)), 32)
    assert reading.cliff is not None
    assert codes(reading) == ["cliff-not-placed"]
    assert reading.findings[0].remedy == "give the MPKI at 16 SMs"


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        ([], ["no-curve"]),
        ([(16, 3.0)], ["no-curve"]),
        ([(8, 3.0), (16, 3.0), (32, 3.0)], ["short-curve"]),
        ([(32, 3.0), (64, 3.0)], ["short-curve"]),
        ([(16, 3.0), (64, 3.0)], []),
        ([(8, 3.0), (128, 3.0)], []),
    ],
)
def test_where_the_curve_does_not_reach_is_said(curve: list[tuple[int, float]], expected: list[str]) -> None:
    assert codes(reading_of(with_curve(*curve), 32, 64)) == expected


def test_the_largest_model_alone_needs_no_curve() -> None:
    assert codes(reading_of(with_curve(), 16)) == []


MPKI = st.floats(0, 100)


@given(before=MPKI, after=MPKI, smaller=st.integers(1, 100), more=st.integers(1, 100))
def test_a_cliff_of_warps_is_that_of_threads(before: float, after: float, smaller: int, more: int) -> None:
    def step(factor: float, unit: MpkiUnit, *, modelled: bool = False) -> bool:
        curve = with_curve((smaller, before * factor), (smaller + more, after * factor), unit=unit)
        return curve_steps(curve, curve_is_modelled=modelled)[0].fired

    assert step(32, MpkiUnit.WARP) == step(1, MpkiUnit.THREAD)
    # What a modelled curve shows, a measured one shows too.
    assert step(1, MpkiUnit.THREAD) or not step(1, MpkiUnit.THREAD, modelled=True)


@pytest.mark.parametrize("times", range(2, 65))
def test_exactly_the_threshold_is_no_cliff_whatever_the_sizes(times: int) -> None:
    """2^log2(n) in doubles is below n for some n, as 5."""
    assert not fired(2.0 * times, 2.0, larger=16 * times)


@pytest.mark.parametrize("rest", [5e-324, 1e-300, 9e-13])
def test_next_to_no_misses_left_are_none_left(rest: float) -> None:
    (step,) = curve_steps(with_curve((16, 1.0), (32, rest)))
    assert step.fired
    assert step.ratio is None
    assert not step.near


def test_a_curve_may_come_to_miss_where_it_did_not() -> None:
    (step,) = curve_steps(with_curve((16, 0.0), (32, 3.0)))
    assert (step.ratio, step.left, step.fired) == (0.0, 1.0, False)


def test_near_a_cliff_with_few_misses_says_why_there_is_none() -> None:
    few, many = (reading_of(with_curve((8, m), (16, m), (32, m / 2)), 32) for m in (0.5, 6.0))
    assert codes(few) == codes(many) == ["near-cliff"]
    assert "no cliff, as it falls by less than 1 MPKI" in few.findings[0].message
    assert "no cliff, which" in many.findings[0].message


def test_models_beyond_a_cliff_between_them_are_named() -> None:
    curve = with_curve((4, 30.0), (8, 9.0), (16, 2.0), (32, 2.0), (64, 2.0))
    two = reading_of(curve, 64, models=(4, 8, 16, 32))
    assert two.inside is not None
    assert two.inside.smaller == 8
    (finding,) = two.findings
    assert finding.remedy == "name 16 and 32 SMs alone as the simulated sizes"
    one = reading_of(curve, 64, models=(8, 16))
    assert [each.remedy for each in one.findings] == ["simulate two sizes from 16 SMs on"]
