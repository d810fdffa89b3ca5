"""What low and high of a prediction are, and where the intervals were calibrated."""

from __future__ import annotations

from typing import Any

import pytest

from scalemodel.interval import Bounds, calibrated_up_to
from scalemodel.measurements import Measurements, Scaling, measurements_of
from scalemodel.predict import Prediction, predict

IPC = ((8, 100.0), (16, 180.0))
CLIFF = ((8, 10.0), (16, 10.0), (32, 10.0), (64, 1.0), (128, 1.0), (256, 1.0))
BEYOND = "beyond the calibrated range"


def one(measurements: Measurements, target: int, **options: Any) -> Prediction:
    (prediction,) = predict(measurements, [target], **options).predictions
    return prediction


@pytest.mark.parametrize(
    ("curve", "f_mem", "target", "kind"),
    [
        ((), None, 16, Bounds.SIMULATED),
        ((), None, 64, Bounds.INTERVAL),
        (CLIFF, 0.5, 32, Bounds.INTERVAL),
        (CLIFF, 0.5, 48, Bounds.BRACKET),
        (CLIFF, 0.5, 64, Bounds.INTERVAL),
        (CLIFF, None, 48, Bounds.BRACKET),
        (CLIFF, None, 64, Bounds.BRACKET),
        (((8, 10.0), (16, 1.0)), None, 32, Bounds.NOT_CALIBRATED),
    ],
)
def test_what_low_and_high_are(curve: Any, f_mem: float | None, target: int, kind: Bounds) -> None:
    assert one(measurements_of(IPC, curve), target, f_mem=f_mem).bounds is kind


def test_three_models_have_back_cast_intervals_and_baselines_none() -> None:
    three = measurements_of((*IPC, (32, 330.0)))
    assert one(three, 64).bounds is Bounds.BACK_CAST
    assert one(three, 64, rules=["linear"]).bounds is Bounds.NONE
    inside = measurements_of((*IPC, (32, 330.0)), [(8, 10.0), (16, 10.0), (32, 2.0)])
    assert one(inside, 64).bounds is Bounds.NOT_CALIBRATED
    # 8, 16 -> 32 has no prediction, so there is no interval.
    failed = measurements_of([(8, 100.0), (16, 60.0), (32, 130.0), (64, 260.0)])
    prediction = one(failed, 128, rules=["published"], simulated=(8, 16, 32))
    assert (prediction.low, prediction.bounds) == (None, Bounds.NONE)


@pytest.mark.parametrize(
    ("scaling", "models", "largest"),
    [
        (Scaling.STRONG, (8, 16), 128),
        (Scaling.WEAK, (8, 16), 128),
        (Scaling.STRONG, (8, 16, 32), 128),
        (Scaling.CHIPLET, (4, 8), 16),
        (Scaling.STRONG, (8, 16, 32, 64), 0),
        (Scaling.WEAK, (8, 16, 32, 64, 128), 0),
        (Scaling.CHIPLET, (8, 16), 0),
        (Scaling.STRONG, (16, 32), 0),
        (Scaling.STRONG, (8, 24), 0),
        (Scaling.STRONG, (8, 32), 0),
        (Scaling.STRONG, (4, 8), 0),
    ],
)
def test_what_the_public_benchmarks_have(scaling: Scaling, models: tuple[int, ...], largest: int) -> None:
    assert calibrated_up_to(scaling, models) == largest


@pytest.mark.parametrize(
    ("scaling", "sizes", "target", "is_beyond"),
    [
        (Scaling.STRONG, (8, 16), 128, False),
        (Scaling.STRONG, (8, 16), 100, False),
        (Scaling.STRONG, (8, 16), 129, True),
        (Scaling.STRONG, (8, 16), 1024, True),
        (Scaling.STRONG, (8, 24), 64, True),
        (Scaling.STRONG, (16, 32), 64, True),
        (Scaling.STRONG, (8, 16, 32), 128, False),
        (Scaling.STRONG, (8, 16, 32), 256, True),
        (Scaling.CHIPLET, (4, 8), 16, False),
        (Scaling.CHIPLET, (4, 8), 32, True),
    ],
)
def test_what_is_beyond_the_calibration_is_marked(
    scaling: Scaling, sizes: tuple[int, ...], target: int, is_beyond: bool
) -> None:
    measured = measurements_of([(size, 10.0 * size) for size in sizes], scaling=scaling)
    prediction = one(measured, target)
    assert prediction.is_beyond is is_beyond
    assert (BEYOND in prediction.note) is is_beyond
    # The numbers are as they were: it is a mark and no other interval.
    assert prediction.low is not None
    assert one(measured, target, rules=["linear"]).is_beyond is False


def test_a_bracket_is_beyond_only_where_the_interval_widens_it() -> None:
    curve = [(8, 10.0), (16, 10.0), (32, 10.0), (512, 0.1), (1024, 0.1)]
    known, unknown = measurements_of(IPC, curve, [(16, 0.5)]), measurements_of(IPC, curve)
    for target in (256, 512, 1024):
        assert one(known, target).is_beyond
        assert not one(unknown, target).is_beyond
    inside = measurements_of(IPC, [(8, 10.0), (16, 1.0)])
    assert one(inside, 1024).note == "interval not calibrated"


def test_an_f_mem_of_zero_contradicts_a_cliff() -> None:
    outcome = predict(measurements_of(IPC, CLIFF), [64], f_mem=0.0)
    (finding,) = outcome.warnings
    assert finding.code == "f-mem-zero"
    assert "f_mem is 0" in finding.message
    assert predict(measurements_of(IPC, CLIFF), [64], f_mem=0.01).warnings == ()
    assert [each.code for each in predict(measurements_of(IPC), [64], f_mem=0.0).warnings] == ["no-curve"]
