"""Predictions: regions, brackets, intervals, more than two models, and every refusal."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemodel.errors import OptionError
from scalemodel.interval import Bounds, calibration
from scalemodel.measurements import Measurements, MpkiUnit, Scaling, measurements_of
from scalemodel.predict import Outcome, Prediction, Region, ScalingClass, predict
from scalemodel.rules import RULES, ModelPair, additive, published

# IPC of 8 and 16 SMs with C = 0.9; the cliff lies between 32 and 64, r = 0.1.
IPC = ((8, 100.0), (16, 180.0))
CLIFF = ((8, 10.0), (16, 10.0), (32, 10.0), (64, 1.0), (128, 1.0), (256, 1.0))
FLAT = tuple((size, 3.0) for size, _ in CLIFF)
Q90 = 0.065


def one(measurements: Measurements, target: int, **options: Any) -> Prediction:
    """Return the only prediction of one target."""
    (prediction,) = predict(measurements, [target], **options).predictions
    return prediction


def codes(outcome: Outcome) -> list[str]:
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
    outcome = predict(measurements_of(IPC, FLAT), [32, 64])
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


@pytest.mark.parametrize(("confidence", "q"), [(0.8, 0.037), (0.9, 0.065), (0.95, 0.12)])
@pytest.mark.parametrize("rule", ["additive", "published", "equations"])
def test_half_widths_of_the_three_levels(confidence: float, q: float, rule: str) -> None:
    for target in (32, 100, 128):
        prediction = one(measurements_of(IPC, FLAT), target, confidence=confidence, rules=[rule])
        low, high = bounds(prediction)
        assert prediction.ipc is not None
        k = math.log2(target / 16)
        assert math.log(high / prediction.ipc) == pytest.approx(q * k)
        assert math.log(prediction.ipc / low) == pytest.approx(q * k)


@pytest.mark.parametrize("confidence", [0.5, 0.99, 1.0, 0.0, math.nan])
def test_no_other_level_was_calibrated(confidence: float) -> None:
    with pytest.raises(OptionError, match=r"calibrated at 0\.8, 0\.9 and 0\.95"):
        calibration(confidence)


def test_a_level_in_per_cent_gets_the_fraction() -> None:
    with pytest.raises(OptionError, match=r"a fraction, not 95; give 0\.95"):
        predict(measurements_of(IPC), [32], confidence=95)


def test_rules_come_target_by_target() -> None:
    outcome = predict(measurements_of(IPC, FLAT), [64, 32, 64], rules=["linear", "additive", "linear"])
    assert [(it.target, it.method) for it in outcome.predictions] == [
        (64, "linear"),
        (64, "additive"),
        (32, "linear"),
        (32, "additive"),
    ]


@pytest.mark.parametrize("rule", list(RULES))
def test_the_largest_model_is_as_simulated(rule: str) -> None:
    prediction = one(measurements_of(IPC, CLIFF, [(16, 0.5)]), 16, rules=[rule])
    assert prediction == Prediction(
        16, rule, 180.0, 180.0, 180.0, Region.LARGEST, "as simulated", Bounds.SIMULATED
    )


@pytest.mark.parametrize("rule", ["proportional", "linear", "power-law", "logarithmic"])
def test_baselines_have_no_interval_and_know_no_cliff(rule: str) -> None:
    measured = measurements_of(IPC, CLIFF, [(16, 0.5)])
    before, beyond = one(measured, 32, rules=[rule]), one(measured, 128, rules=[rule])
    assert (before.low, before.high, beyond.low, beyond.high) == (None,) * 4
    assert "knows no cliff" not in before.note
    assert "knows no cliff" in beyond.note
    flat = one(measurements_of(IPC, FLAT), 128, rules=[rule])
    assert flat.ipc == beyond.ipc


def test_proportional_from_either_model() -> None:
    measured = measurements_of((*IPC, (32, 330.0)), FLAT)
    smallest = one(measured, 64, rules=["proportional"])
    largest = one(measured, 64, rules=["proportional"], proportional_from="largest")
    assert (smallest.ipc, smallest.note) == (pytest.approx(800), "from size 8")
    assert (largest.ipc, largest.note) == (pytest.approx(660), "from size 32")


# -- the cliff ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "region"),
    [
        (17, Region.TREND),
        (32, Region.TREND),
        (33, Region.BETWEEN),
        (63, Region.BETWEEN),
        (64, Region.AT),
        (65, Region.BEYOND),
        (256, Region.BEYOND),
    ],
)
@pytest.mark.parametrize("f_mem", [0.5, None])
def test_regions_of_the_cliff(target: int, region: Region, f_mem: float | None) -> None:
    assert one(measurements_of(IPC, CLIFF), target, f_mem=f_mem).region is region


@pytest.mark.parametrize("target", [64, 100, 256])
def test_the_gain_at_the_cliff_and_beyond(target: int) -> None:
    prediction = one(measurements_of(IPC, CLIFF, [(16, 0.6)]), target)
    trend, k = trend_of(target, 64), math.log2(target / 16)
    assert prediction.ipc == pytest.approx(trend / 0.4)
    assert bounds(prediction) == pytest.approx(
        (trend / (1 - 0.6 * 0.9) * math.exp(-Q90 * k), trend / 0.4 * math.exp(Q90 * k))
    )
    assert prediction.note == ("" if target <= 128 else "beyond the calibrated range")


def test_the_equations_at_and_beyond_the_cliff() -> None:
    measured = measurements_of(IPC, CLIFF, [(16, 0.6)])
    at, beyond = (one(measured, target, rules=["equations"]).ipc for target in (64, 256))
    assert at == pytest.approx(180 * 4 / 0.4)  # Eq. 3
    assert beyond == pytest.approx(180 * 4 / 0.4 * 4 * 0.9)  # Eq. 4


def test_the_published_rule_restarts_at_the_cliff() -> None:
    prediction = one(measurements_of(IPC, CLIFF, [(16, 0.6)]), 256, rules=["published"])
    # C = 0.9; M = 3 to the cliff at 64, M = 3 from it.
    assert prediction.ipc == pytest.approx(180 * 16 * (2 - 1 / 0.9) ** 6 / 0.4)


def test_f_mem_given_counts_before_f_mem_measured_at_the_largest_model() -> None:
    measured = measurements_of(IPC, CLIFF, [(8, 0.9), (16, 0.6)])
    assert one(measured, 64).ipc == pytest.approx(trend_of(64) / 0.4)
    assert one(measured, 64, f_mem=0.2).ipc == pytest.approx(trend_of(64) / 0.8)
    assert one(measured, 64, f_mem=0.0).ipc == pytest.approx(trend_of(64))


def test_between_the_sizes_of_a_cliff_there_is_a_bracket_alone() -> None:
    prediction = one(measurements_of(IPC, CLIFF, [(16, 0.6)]), 48)
    k = math.log2(3)
    assert prediction.ipc is None
    assert bounds(prediction) == pytest.approx(
        (trend_of(48) * math.exp(-Q90 * k), trend_of(48) / 0.4 * math.exp(Q90 * k))
    )
    assert "bracket, no point" in prediction.note
    unknown = one(measurements_of(IPC, CLIFF), 48, assume_f_mem=True)
    assert unknown.ipc is None
    assert bounds(unknown) == pytest.approx((trend_of(48), trend_of(48) * 10))


def test_an_unknown_f_mem_gives_a_bracket() -> None:
    outcome = predict(measurements_of(IPC, CLIFF), [64, 128])
    for prediction in outcome.predictions:
        trend = trend_of(prediction.target, 64)
        assert prediction.ipc is None
        assert bounds(prediction) == pytest.approx((trend, 10 * trend))
        assert prediction.note == "bracket, no interval: f_mem is not known"
    assert codes(outcome) == ["f-mem-missing"]
    assert outcome.warnings == outcome.findings


def test_the_peak_closes_the_bracket_from_above() -> None:
    prediction = one(measurements_of(IPC, CLIFF, peak_ipc_per_sm=20.0), 64)
    assert bounds(prediction) == pytest.approx((trend_of(64, 64), 20 * 64))
    far = one(measurements_of(IPC, CLIFF, peak_ipc_per_sm=2000.0), 64)
    assert bounds(far) == pytest.approx((trend_of(64, 64), 10 * trend_of(64, 64)))


def test_no_misses_left_and_no_peak_leave_the_bracket_open() -> None:
    gone = (*CLIFF[:3], (64, 0.0))
    prediction = one(measurements_of(IPC, gone), 64)
    assert (prediction.low, prediction.high) == (pytest.approx(trend_of(64)), None)
    assert "open at the top" in prediction.note
    with_peak = one(measurements_of(IPC, gone, peak_ipc_per_sm=20.0), 64)
    assert with_peak.high == pytest.approx(20 * 64)


def test_an_assumed_f_mem_is_marked() -> None:
    prediction = one(measurements_of(IPC, CLIFF), 64, assume_f_mem=True)
    assert prediction.ipc == pytest.approx(2 * trend_of(64))
    assert bounds(prediction) == pytest.approx((trend_of(64), 10 * trend_of(64)))
    assert prediction.note.startswith("f_mem assumed, 0.5;")
    known = one(measurements_of(IPC, CLIFF, [(16, 0.6)]), 64, assume_f_mem=True)
    assert "assumed" not in known.note


def test_an_assumed_f_mem_stays_in_its_bracket() -> None:
    ideal = measurements_of([(8, 100.0), (16, 200.0)], CLIFF, peak_ipc_per_sm=1.25 * 12.5)
    prediction = one(ideal, 64, assume_f_mem=True)
    assert prediction.ipc == prediction.high == pytest.approx(1000)
    assert prediction.note.startswith("f_mem assumed, 0.2, the most the bracket allows")


def test_a_trend_above_the_peak_is_said() -> None:
    rising = ((8, 100.0), (16, 203.0))
    prediction = one(measurements_of(rising, FLAT, peak_ipc_per_sm=13.0), 128)
    assert "above the peak of 1664" in prediction.note
    # At a cliff it leaves nothing to gain.
    at_cliff = one(measurements_of(rising, CLIFF, peak_ipc_per_sm=13.0), 64, assume_f_mem=True)
    assert at_cliff.low == at_cliff.ipc == at_cliff.high
    assert "f_mem assumed, 0, the most the bracket allows" in at_cliff.note
    assert "above the peak of 832" in at_cliff.note


def test_a_cliff_between_the_models_takes_their_gain_for_no_trend() -> None:
    curve = ((8, 10.0), (16, 1.0), (32, 1.0), (64, 1.0))
    steep = measurements_of([(8, 100.0), (16, 400.0)], curve)
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
    assert outcome.classification.scaling is ScalingClass.SUPER_LINEAR
    assert "comes to fit the last-level cache between 8 and 16 SMs" in outcome.classification.reason


def test_a_cliff_between_three_models_leaves_the_last() -> None:
    curve = ((8, 10.0), (16, 1.0), (32, 1.0), (64, 1.0))
    measured = measurements_of([(8, 100.0), (16, 400.0), (32, 760.0)], curve)
    prediction = one(measured, 64)
    assert prediction.ipc == pytest.approx(1520)
    assert math.log(bounds(prediction)[1] / 1520) == pytest.approx(2 * Q90)
    outcome = predict(measured, [64])
    assert (outcome.correction, outcome.back_cast) == (1, {})
    # A baseline knows no cliff: both lines, 100 + 37.5 (64 - 8) and 400 + 22.5 (64 - 16).
    assert one(measured, 64, rules=["linear"]).ipc == pytest.approx(math.sqrt(2200 * 1480))


def test_a_modelled_curve_needs_more_for_a_cliff() -> None:
    curve = ((16, 9.0), (32, 4.0), (64, 4.0))
    assert predict(measurements_of(IPC, curve), [32]).cliff is not None
    assert predict(measurements_of(IPC, curve), [32], curve_is_modelled=True).cliff is None


@pytest.mark.parametrize("f_mem", [0.5, None])
def test_models_that_gain_already_gain_nothing_more_at_the_cliff(f_mem: float | None) -> None:
    steep = ((8, 100.0), (16, 220.0))
    outcome = predict(measurements_of(steep, CLIFF), [48, 64, 128], f_mem=f_mem)
    alone = predict(measurements_of(steep, FLAT), [48, 64, 128])
    assert outcome.predictions == alone.predictions
    assert (outcome.cliff, codes(outcome)) == (None, ["superlinear-already"])
    # Within 2 % of linear it is none: 1/(1 - f) counts.
    slight = predict(measurements_of(((8, 100.0), (16, 203.9)), CLIFF), [64], f_mem=0.5)
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
    measured = measurements_of(zip(sizes, (100.0, 100 * gain), strict=True), scaling=scaling)
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
    outcome = predict(measurements_of(points, FLAT), [128], rules=["additive", "published", "linear"])
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
        measured = measurements_of((*IPC, (32, actual)), FLAT)
        outcome = predict(measured, [128], confidence=confidence)
        (prediction,) = outcome.predictions
        assert outcome.back_cast["additive"] == pytest.approx(abs(math.log(actual / predicted)))
        assert prediction.ipc is not None
        # k counts from the largest model, 32.
        assert math.log(bounds(prediction)[1] / prediction.ipc) == pytest.approx(multiple * 2 * worst)


def test_the_back_cast_is_the_worst_of_all_models() -> None:
    ideal = measurements_of([(8, 100.0), (16, 200.0), (32, 440.0), (64, 880.0), (128, 1760.0)], FLAT)
    outcome = predict(ideal, [256], rules=["additive", "proportional"])
    # 8, 16 -> 32: 400 of 440. 16, 32 -> 64: C = 1.1, 960 of 880, less off. 32, 64 -> 128: right.
    assert outcome.back_cast["additive"] == pytest.approx(math.log(1.1))
    assert outcome.back_cast["proportional"] == pytest.approx(math.log(1.1))


def test_a_rule_that_fails_to_back_cast_has_no_interval() -> None:
    measured = measurements_of([(8, 100.0), (16, 90.0), (32, 160.0)], FLAT)
    outcome = predict(measured, [64], rules=["published", "additive"])
    none, some = outcome.predictions
    assert (none.ipc, none.low, none.high) == (None, None, None)
    assert "no prediction" in none.note
    assert outcome.back_cast["published"] is None
    assert "saturated" in some.note
    assert some.low is not None


def test_the_models_may_be_chosen() -> None:
    measured = measurements_of([(8, 100.0), (16, 180.0), (32, 300.0), (64, 500.0)], FLAT)
    outcome = predict(measured, [64], simulated=[16, 8])
    assert outcome.models == (8, 16)
    assert outcome.predictions[0].ipc == pytest.approx(trend_of(64))
    assert predict(measured, [64]).models == (8, 16, 32, 64)


# -- refusals and defined answers -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ipc", "message"),
    [([], "no size is simulated"), ([(8, 1.0)], "one size alone is simulated, which shows no trend")],
)
def test_less_than_two_models_show_no_trend(ipc: list[tuple[int, float]], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        predict(measurements_of(ipc, FLAT), [32])


def test_targets_below_the_largest_model_are_refused() -> None:
    with pytest.raises(OptionError, match="the target of 12 SMs is below the largest scale model, 16 SMs"):
        predict(measurements_of(IPC), [32, 12])


@pytest.mark.parametrize("target", [0, -8, 10**10])
def test_a_target_is_a_size(target: int) -> None:
    with pytest.raises(OptionError, match="a size is a whole number from 1"):
        predict(measurements_of(IPC), [target])


def test_something_must_be_asked() -> None:
    with pytest.raises(OptionError, match="no target is given"):
        predict(measurements_of(IPC), [])
    with pytest.raises(OptionError, match="no scale rule is given"):
        predict(measurements_of(IPC), [32], rules=[])
    with pytest.raises(OptionError, match="did you mean 'power-law'"):
        predict(measurements_of(IPC), [32], rules=["powerlaw"])


def test_a_chosen_model_needs_an_ipc_and_counts_once() -> None:
    measured = measurements_of(IPC, FLAT, name="dct")
    with pytest.raises(OptionError, match="dct: there is no IPC at size 32"):
        predict(measured, [64], simulated=[8, 32])
    with pytest.raises(OptionError, match="named twice"):
        predict(measured, [64], simulated=[8, 8])


@pytest.mark.parametrize("f_mem", [1.0, -0.1, 52.0, math.nan])
def test_f_mem_is_a_fraction(f_mem: float) -> None:
    with pytest.raises(OptionError, match="f_mem is a fraction") as caught:
        predict(measurements_of(IPC, CLIFF), [64], f_mem=f_mem)
    assert ("0.52" in str(caught.value)) is (f_mem == 52.0)


@pytest.mark.parametrize("scaling", [Scaling.WEAK, Scaling.CHIPLET])
@pytest.mark.parametrize("option", [{"f_mem": 0.5}, {"assume_f_mem": True}, {"curve_is_modelled": True}])
def test_a_cliff_asked_for_where_there_is_none(scaling: Scaling, option: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=f"under {scaling} scaling there is no cliff"):
        predict(measurements_of(IPC, scaling=scaling), [32], **option)


@pytest.mark.parametrize("scaling", [Scaling.WEAK, Scaling.CHIPLET])
def test_without_cliffs_the_trend_goes_on(scaling: Scaling) -> None:
    outcome = predict(measurements_of(IPC, CLIFF, [(16, 0.6)], scaling=scaling), [64, 128])
    assert {prediction.region for prediction in outcome.predictions} == {Region.TREND}
    assert [prediction.ipc for prediction in outcome.predictions] == pytest.approx(
        [trend_of(64), trend_of(128)]
    )
    assert codes(outcome) == ["curve-ignored"]
    assert outcome.warnings == ()


def test_an_f_mem_without_a_cliff_is_said_to_be_unused() -> None:
    outcome = predict(measurements_of(IPC, FLAT), [64], f_mem=0.5)
    assert codes(outcome) == ["f-mem-unused"]
    assert outcome.predictions[0].ipc == pytest.approx(trend_of(64))


def test_what_published_does_wrong_is_said() -> None:
    measured = measurements_of([(8, 100.0), (16, 110.0)], FLAT)
    falling = one(measured, 64, rules=["published"])
    assert falling.ipc == pytest.approx(2.645, abs=0.001)
    assert "falls with size from 16 on" in falling.note
    assert "below the IPC of 16 SMs" in falling.note
    assert one(measured, 64).note.startswith("beyond the calibrated range: IPC of an SM falls by 45 %")
    negative = one(measurements_of([(8, 100.0), (16, 90.0)], FLAT), 64, rules=["published"])
    assert (negative.ipc, negative.low, negative.high) == (None, None, None)
    assert "no prediction: 2 - 1/C is" in negative.note


@given(
    ipc=st.tuples(st.floats(1, 1000), st.floats(1, 1000)),
    target=st.integers(17, 400),
    mpki=st.lists(st.floats(0, 50), min_size=6, max_size=6),
    f_mem=st.none() | st.floats(0, 0.99),
    assume_it=st.booleans(),
    unit=st.sampled_from(MpkiUnit),
)
def test_a_point_lies_in_its_interval_and_wider_ones_hold_narrower(
    ipc: tuple[float, float],
    target: int,
    mpki: list[float],
    f_mem: float | None,
    assume_it: bool,
    unit: MpkiUnit,
) -> None:
    curve = list(zip((8, 16, 32, 64, 128, 256), mpki, strict=True))
    measured = measurements_of(zip((8, 16), ipc, strict=True), curve, mpki_unit=unit)
    before: tuple[float, float] | None = None
    for confidence in (0.8, 0.9, 0.95):
        prediction = one(measured, target, confidence=confidence, f_mem=f_mem, assume_f_mem=assume_it)
        low, high = prediction.low, prediction.high
        assert low is not None
        if prediction.ipc is not None:
            assert low <= prediction.ipc * (1 + 1e-12)
            assert prediction.ipc <= (math.inf if high is None else high) * (1 + 1e-12)
        if before is not None and high is not None:
            assert low <= before[0]
            assert high >= before[1]
        before = None if high is None else (low, high)
        assert (prediction.ipc is None) is (
            prediction.region is Region.BETWEEN
            or (prediction.region in {Region.AT, Region.BEYOND} and f_mem is None and not assume_it)
        )


@given(f_mem=st.floats(0, 0.98), more=st.floats(0.001, 0.01), target=st.integers(64, 256))
def test_more_stalls_gain_more_at_the_cliff(f_mem: float, more: float, target: int) -> None:
    measured = measurements_of(IPC, CLIFF)
    less_ipc, more_ipc = (one(measured, target, f_mem=it).ipc for it in (f_mem, f_mem + more))
    assert less_ipc is not None
    assert more_ipc is not None
    assert more_ipc > less_ipc


# -- classification -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        (1.5, "sub-linear"),
        (1.95, "sub-linear"),
        (1.97, "linear"),
        (2.0, "linear"),
        (2.03, "linear"),
        (2.05, "super-linear"),
    ],
)
@pytest.mark.parametrize("ratio", [2, 4])
def test_the_class_goes_by_what_a_doubling_gains(gain: float, expected: str, ratio: int) -> None:
    ipc = [(8, 100.0), (8 * ratio, 100.0 * gain ** math.log2(ratio))]
    classification = predict(measurements_of(ipc, FLAT), [64]).classification
    assert classification.scaling == expected
    assert f"{gain / 2 - 1:+.1%} for a doubling" in classification.reason


def test_the_reason_is_in_words() -> None:
    cliff = predict(measurements_of(IPC, CLIFF, [(16, 0.6)]), [128]).classification
    assert cliff.scaling is ScalingClass.SUPER_LINEAR
    assert "comes to fit the last-level cache between 32 and 64 SMs: MPKI 10 to 1" in cliff.reason
    slow = predict(measurements_of(IPC, CLIFF), [32]).classification
    assert slow.scaling is ScalingClass.SUB_LINEAR
    assert "too little work to fill the larger system" in slow.reason
    ideal = [(8, 100.0), (16, 200.0)]
    flat = predict(measurements_of(ideal, FLAT), [32]).classification
    assert "MPKI stays at 3, so cache size does not matter" in flat.reason
    falling = predict(measurements_of(ideal, [(8, 4.0), (16, 3.0), (32, 2.9)]), [32]).classification
    assert "MPKI goes from 4 to 3" in falling.reason
    chiplets = predict(measurements_of(ideal, scaling=Scaling.CHIPLET), [32]).classification
    assert chiplets.reason.startswith("by the scale models alone, from 8 to 16 chiplets")
    assert "within the 2% taken as linear" in chiplets.reason
    assert "beyond the 2% taken as linear" in slow.reason


def test_a_change_that_no_number_tells_is_still_told() -> None:
    outcome = predict(measurements_of([(10**9 - 2, 1.0), (10**9 - 1, 2.0)]), [10**9])
    assert "by more than +1000% for a doubling" in outcome.classification.reason


# -- what a double does not hold ------------------------------------------------------------------------


def test_an_absurd_back_cast_gives_no_interval_and_says_so() -> None:
    measured = measurements_of([(1, 82.0), (2, 0.00195), (3, 499448954.0)])
    prediction = one(measured, 221321)
    assert prediction.ipc is not None
    assert (prediction.low, prediction.high) == (None, None)
    assert "no interval: the rule is too far off at a model that it predicts" in prediction.note


@pytest.mark.parametrize("factor", [1.0001, 100.0])
def test_an_interval_is_at_most_a_million_times_wide_either_way(factor: float) -> None:
    """90 %: 1.37 k |ln(actual / predicted)|, here with k = 3 and a third model off by the factor."""
    off = math.exp(math.log(1e6) / (1.37 * 3))
    third = 400.0 * off / factor
    prediction = one(measurements_of([(4, 100.0), (8, 200.0), (16, third)]), 128)
    assert prediction.ipc is not None
    low, high = bounds(prediction)
    back_cast = abs(math.log(third / 400))
    assert math.log(high / prediction.ipc) == pytest.approx(1.37 * 3 * back_cast)
    assert math.log(prediction.ipc / low) == pytest.approx(1.37 * 3 * back_cast)
    beyond = one(measurements_of([(4, 100.0), (8, 200.0), (16, 400.0 * off * 1.0001)]), 128)
    assert beyond.ipc is not None
    assert beyond.low is beyond.high is None


def test_a_subnormal_mpki_leaves_the_bracket_open() -> None:
    curve = [(8, 5e5), (16, 5e5), (32, 1e-320)]
    prediction = one(measurements_of([(8, 100.0), (16, 200.0)], curve), 32)
    assert (prediction.ipc, prediction.high) == (None, None)
    assert prediction.low == pytest.approx(400)
    assert "open at the top" in prediction.note


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
        measured = measurements_of(ipc.items(), mpki.items(), peak_ipc_per_sm=peak)
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
