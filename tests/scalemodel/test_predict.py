"""Predictions: cliffs, regions, brackets, intervals, more than two models, and every refusal."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OptionError
from scalemodel.cliff import CurveReading, curve_steps, read_curve
from scalemodel.measurements import Measurements, MpkiUnit, Scaling, collect_measurements
from scalemodel.predict import Outcome, Prediction, predict
from scalemodel.rules import RULES, ModelPair, additive, published

# C = 0.9; the cliff lies between 32 and 64, r = 0.1.
IPC = ((8, 100.0), (16, 180.0))
CLIFF = ((8, 10.0), (16, 10.0), (32, 10.0), (64, 1.0), (128, 1.0), (256, 1.0))
FLAT = tuple((size, 3.0) for size, _ in CLIFF)
Q90 = 0.065


def one(measurements: Measurements, target: int, **options: Any) -> Prediction:
    """Return the only prediction of one target."""
    (prediction,) = predict(measurements, [target], **options).predictions
    return prediction


def codes(outcome: Outcome | CurveReading) -> list[str]:
    return [finding.code for finding in outcome.findings]


def trend_of(target: int, cliff: int | None = None) -> float:
    """Return the additive trend of the two models."""
    ipc = additive(ModelPair(*IPC[0], *IPC[1]), target, cliff).ipc
    assert ipc is not None
    return ipc


def bounds(prediction: Prediction) -> tuple[float, float]:
    assert prediction.low is not None
    assert prediction.high is not None
    return prediction.low, prediction.high


def test_the_default_is_additive_at_90_per_cent() -> None:
    outcome = predict(collect_measurements(IPC, FLAT), [32, 64])
    assert outcome.confidence == 0.9
    assert [prediction.method for prediction in outcome.predictions] == ["additive"] * 2
    for prediction, k in zip(outcome.predictions, (1, 2), strict=True):
        assert prediction.ipc == pytest.approx(trend_of(prediction.target))
        assert bounds(prediction) == pytest.approx(
            (
                trend_of(prediction.target) * math.exp(-Q90 * k),
                trend_of(prediction.target) * math.exp(Q90 * k),
            )
        )
        assert prediction.region == "trend"
        assert prediction.note == ""
    assert outcome.correction == pytest.approx(0.9)
    assert outcome.back_cast == {}
    assert outcome.warnings == ()


# -- the cliff ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [64, 100, 256])
def test_the_gain_at_the_cliff_and_beyond(target: int) -> None:
    prediction = one(collect_measurements(IPC, CLIFF, [(16, 0.6)]), target)
    trend, k = trend_of(target, 64), math.log2(target / 16)
    assert prediction.ipc == pytest.approx(trend / 0.4)
    assert bounds(prediction) == pytest.approx(
        (trend / (1 - 0.6 * 0.9) * math.exp(-Q90 * k), trend / 0.4 * math.exp(Q90 * k))
    )
    assert prediction.note == ("" if target <= 128 else "beyond the calibrated range")


def test_between_the_sizes_of_a_cliff_there_is_a_bracket_alone() -> None:
    prediction = one(collect_measurements(IPC, CLIFF, [(16, 0.6)]), 48)
    k = math.log2(3)
    assert prediction.ipc is None
    assert bounds(prediction) == pytest.approx(
        (trend_of(48) * math.exp(-Q90 * k), trend_of(48) / 0.4 * math.exp(Q90 * k))
    )
    assert "bracket, no point" in prediction.note
    assumed = one(collect_measurements(IPC, CLIFF), 64, assume_f_mem=True)
    assert (assumed.ipc, assumed.note[:19]) == (pytest.approx(2 * trend_of(64)), "f_mem assumed, 0.5;")
    assert bounds(assumed) == pytest.approx((trend_of(64), 10 * trend_of(64)))
    unknown = one(collect_measurements(IPC, CLIFF), 48, assume_f_mem=True)
    assert unknown.ipc is None
    assert bounds(unknown) == pytest.approx((trend_of(48), trend_of(48) * 10))


def test_an_unknown_f_mem_gives_a_bracket() -> None:
    outcome = predict(collect_measurements(IPC, CLIFF), [64, 128])
    for prediction in outcome.predictions:
        trend = trend_of(prediction.target, 64)
        assert prediction.ipc is None
        assert bounds(prediction) == pytest.approx((trend, 10 * trend))
        assert prediction.note == "bracket, no interval: f_mem is not known"
    assert codes(outcome) == ["f-mem-missing"]
    assert outcome.warnings == outcome.findings


def test_a_cliff_between_the_models_takes_their_gain_for_no_trend() -> None:
    curve = ((8, 10.0), (16, 1.0), (32, 1.0), (64, 1.0))
    steep = collect_measurements([(8, 100.0), (16, 400.0)], curve)
    outcome = predict(steep, [32, 64], rules=["additive", "published", "equations", "power-law"])
    for prediction in outcome.predictions:
        if prediction.method == "power-law":
            assert prediction.ipc == pytest.approx(400 * (prediction.target / 16) ** 2)
            continue
        k = math.log2(prediction.target / 16)
        assert prediction.ipc == pytest.approx(25 * prediction.target)
        assert math.log(bounds(prediction)[1] / (25 * prediction.target)) == pytest.approx(2 * Q90 * k)
        assert prediction.note == "interval not calibrated"
    assert codes(outcome) == ["cliff-between-models"]
    assert outcome.correction == 1
    assert outcome.classification.scaling == "super-linear"
    assert "comes to fit the last-level cache between 8 and 16 SMs" in outcome.classification.reason


@pytest.mark.parametrize("f_mem", [0.5, None])
def test_models_that_gain_already_gain_nothing_more_at_the_cliff(f_mem: float | None) -> None:
    steep = ((8, 100.0), (16, 220.0))
    outcome = predict(collect_measurements(steep, CLIFF), [48, 64, 128], f_mem=f_mem)
    alone = predict(collect_measurements(steep, FLAT), [48, 64, 128])
    assert outcome.predictions == alone.predictions
    assert (outcome.cliff, codes(outcome)) == (None, ["superlinear-already"])
    # Within 2 % of linear it is none: 1/(1 - f) counts.
    slight = predict(collect_measurements(((8, 100.0), (16, 203.9)), CLIFF), [64], f_mem=0.5)
    assert slight.cliff is not None


@pytest.mark.parametrize(
    ("gain", "scaling", "words"),
    [
        (1.1, Scaling.STRONG, "IPC of an SM falls by 45 % a doubling, the benchmarks' by at most 11 %"),
        (2.5, Scaling.WEAK, "IPC of an SM rises by 25 % a doubling, the benchmarks' by at most 2 %"),
        (2.5, Scaling.CHIPLET, None),
        (1.78, Scaling.STRONG, None),
    ],
)
def test_an_efficiency_no_benchmark_has_widens_the_interval(
    gain: float, scaling: Scaling, words: str | None
) -> None:
    sizes = (4, 8) if scaling is Scaling.CHIPLET else (8, 16)
    measured = collect_measurements(zip(sizes, (100.0, 100 * gain), strict=True), scaling=scaling)
    prediction = one(measured, 2 * sizes[1])
    assert prediction.ipc is not None
    low, high = bounds(prediction)
    if words is None:
        assert math.log(high / prediction.ipc) == pytest.approx(Q90)
        return
    # From nothing more lost, or gained, to twice what the trend loses or gains.
    assert f"beyond the calibrated range: {words}" in prediction.note
    assert prediction.is_beyond
    ends = (200 * gain, prediction.ipc**2 / (200 * gain))
    assert (low, high) == pytest.approx((min(ends), max(ends)))


# -- three models and more ------------------------------------------------------------------------------


def test_three_models_give_the_geometric_mean_of_their_pairs() -> None:
    points = (*IPC, (32, 300.0))
    outcome = predict(collect_measurements(points, FLAT), [128], rules=["additive", "published", "linear"])
    pairs = [ModelPair(*points[0], *points[1]), ModelPair(*points[1], *points[2])]
    by_method = {prediction.method: prediction for prediction in outcome.predictions}
    for name, rule in (("additive", additive), ("published", published)):
        first, second = (rule(pair, 128, None).ipc for pair in pairs)
        assert first is not None
        assert second is not None
        assert by_method[name].ipc == pytest.approx(math.sqrt(first * second))
    # Lines: 100 + 10 (128 - 8) and 180 + 7.5 (128 - 16).
    assert by_method["linear"].ipc == pytest.approx(math.sqrt(1300 * 1020))


@pytest.mark.parametrize(("confidence", "multiple"), [(0.8, 1.09), (0.9, 1.37), (0.95, 2.5)])
def test_the_back_cast_sets_the_interval_of_three_models(confidence: float, multiple: float) -> None:
    predicted = trend_of(32)
    for actual, worst in ((predicted * 1.1, math.log(1.1)), (predicted * 1.001, 0.03)):
        measured = collect_measurements((*IPC, (32, actual)), FLAT)
        outcome = predict(measured, [128], confidence=confidence)
        (prediction,) = outcome.predictions
        assert outcome.back_cast["additive"] == pytest.approx(abs(math.log(actual / predicted)))
        assert prediction.ipc is not None
        # k counts from the largest model, 32.
        assert math.log(bounds(prediction)[1] / prediction.ipc) == pytest.approx(multiple * 2 * worst)


# -- refusals and defined answers -----------------------------------------------------------------------


@pytest.mark.parametrize("scaling", [Scaling.WEAK, Scaling.CHIPLET])
@pytest.mark.parametrize("option", [{"f_mem": 0.5}, {"assume_f_mem": True}, {"curve_is_modelled": True}])
def test_a_cliff_asked_for_where_there_is_none(scaling: Scaling, option: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=f"under {scaling} scaling there is no cliff"):
        predict(collect_measurements(IPC, scaling=scaling), [32], **option)


# -- classification -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [2, 4])
def test_the_class_goes_by_what_a_doubling_gains(ratio: int) -> None:
    for gain, expected in ((1.95, "sub-linear"), (1.97, "linear"), (2.03, "linear"), (2.05, "super-linear")):
        ipc = [(8, 100.0), (8 * ratio, 100.0 * gain ** math.log2(ratio))]
        classification = predict(collect_measurements(ipc, FLAT), [64]).classification
        assert classification.scaling == expected
        assert f"{gain / 2 - 1:+.1%} for a doubling" in classification.reason


# -- what a double does not hold ------------------------------------------------------------------------


SIZES = st.integers(1, 130) | st.integers(1, 10**9)
MPKI = st.floats(0, 30) | st.floats(0, 1.7e308) | st.just(0.0)


@given(
    ipc=st.dictionaries(SIZES, st.floats(1e-12, 1e12) | st.floats(1, 1000), min_size=2, max_size=4),
    mpki=st.dictionaries(SIZES, MPKI, max_size=6),
    times=st.lists(st.integers(1, 10**6), min_size=1, max_size=3),
    f_mem=st.none() | st.floats(0, 1, exclude_max=True),
    peak=st.none() | st.floats(1e-12, 1e12),
    assume_f_mem=st.booleans(),
)
def test_whatever_is_measured_all_numbers_are_finite_and_in_order(
    ipc: dict[int, float],
    mpki: dict[int, float],
    times: list[int],
    f_mem: float | None,
    peak: float | None,
    assume_f_mem: bool,
) -> None:
    targets = [min(max(ipc) * each, 10**9) for each in times]
    try:
        measured = collect_measurements(ipc.items(), mpki.items(), peak_ipc_per_sm=peak)
    except OptionError as error:
        assert "above the peak" in error.message  # noqa: PT017
        return
    outcome = predict(
        measured, targets, rules=tuple(RULES), f_mem=f_mem, assume_f_mem=assume_f_mem, confidence=0.95
    )
    for each in outcome.predictions:
        known = [value for value in (each.low, each.ipc, each.high) if value is not None]
        assert all(math.isfinite(value) and value > 0 for value in known)
        assert all(first <= second * (1 + 1e-9) for first, second in pairwise(known))
        assert known or each.note
    assert outcome.cliff is None or outcome.cliff.ratio is None or math.isfinite(outcome.cliff.ratio)


@pytest.mark.parametrize(
    ("scaling", "sizes", "target", "is_beyond"),
    [
        (Scaling.STRONG, (8, 16), 128, False),
        (Scaling.STRONG, (8, 16), 129, True),
        (Scaling.STRONG, (8, 24), 64, True),
        (Scaling.STRONG, (8, 16, 32), 128, False),
        (Scaling.STRONG, (8, 16, 32), 256, True),
        (Scaling.CHIPLET, (4, 8), 16, False),
        (Scaling.CHIPLET, (4, 8), 32, True),
    ],
)
def test_what_is_beyond_the_calibration_is_marked(
    scaling: Scaling, sizes: tuple[int, ...], target: int, is_beyond: bool
) -> None:
    measured = collect_measurements([(size, 10.0 * size) for size in sizes], scaling=scaling)
    prediction = one(measured, target)
    assert prediction.is_beyond is ("beyond the calibrated range" in prediction.note) is is_beyond
    assert prediction.low is not None
    assert one(measured, target, rules=["linear"]).is_beyond is False


def with_curve(
    *curve: tuple[int, float], unit: MpkiUnit = MpkiUnit.THREAD, scaling: Scaling = Scaling.STRONG
) -> Measurements:
    """Return two models of 8 and 16, and a curve."""
    return collect_measurements([(8, 100.0), (16, 200.0)], curve, mpki_unit=unit, scaling=scaling)


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


def test_the_papers_cliff() -> None:
    dct = with_curve((8, 6.167), (16, 6.179), (32, 6.163), (64, 5.524), (128, 0.1005))
    reading = reading_of(dct, 32, 64, 128)
    assert reading.cliff is not None
    assert (reading.cliff.smaller, reading.cliff.larger) == (64, 128)
    assert reading.cliff.ratio == pytest.approx(54.97, abs=0.01)
    assert reading.inner is None
    assert codes(reading) == []


@pytest.mark.parametrize(("unit", "drop"), [(MpkiUnit.THREAD, 1.0), (MpkiUnit.WARP, 32.0)])
def test_the_drop_must_be_worth_it(unit: MpkiUnit, drop: float) -> None:
    assert fired(1.1 * drop, 0.1 * drop, unit=unit)
    assert fired(3.3 * drop, 2.3 * drop, unit=unit) is False
    assert not fired(1.09 * drop, 0.1 * drop, unit=unit)
    # 1.4 - 0.4 is 0.9999999999999999 in doubles, and a drop of 1 all the same.
    assert fired(1.4 * drop, 0.4 * drop, unit=unit)


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


def test_only_the_first_cliff_above_the_models_is_applied() -> None:
    reading = reading_of(with_curve((16, 40.0), (32, 10.0), (64, 9.0), (128, 1.0)), 256)
    assert reading.cliff is not None
    assert reading.cliff.larger == 32
    assert codes(reading) == ["short-curve", "second-cliff"]
    assert "between 64 and 128 SMs" in reading.findings[1].message


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


MPKI = st.floats(0, 100)


@pytest.mark.parametrize("times", range(2, 65))
def test_exactly_the_threshold_is_no_cliff_whatever_the_sizes(times: int) -> None:
    """2^log2(n) in doubles is below n for some n, as 5."""
    assert not fired(2.0 * times, 2.0, larger=16 * times)
    assert fired(2.0001 * times, 2.0, larger=16 * times)
