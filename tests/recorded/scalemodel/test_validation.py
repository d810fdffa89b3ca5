"""The figures of the methods on the published measurements, and the coverage of their intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from scalemodel.inputs import read_questions
from scalemodel.measurements import Measurements, Scaling
from scalemodel.rules import BENCHMARKS, TARGETS, TARGETS_OF_THREE, targets_held
from scalemodel.validate import validate

FILES = {Scaling.STRONG: "strong.csv", Scaling.WEAK: "weak.csv", Scaling.CHIPLET: "mcm.csv"}


LEVELS = (0.8, 0.9, 0.95)


@pytest.fixture(scope="session")
def published_sets(shared_data: Path) -> dict[Scaling, tuple[Measurements, ...]]:
    """The benchmarks of the paper's artifact that are at hand."""
    folder = shared_data / "scale-model"
    return {
        scaling: tuple(each.measurements for each in read_questions(str(folder / name), scaling=scaling))
        for scaling, name in FILES.items()
    }


# Mean and maximum in per cent; None where the methods give none. Targets ascending.
FIGURES: list[tuple[Scaling, str, list[tuple[float, float | None]]]] = [
    (Scaling.STRONG, "published", [(2.35, 8.7), (3.24, 10.3), (4.03, 17.0)]),
    (Scaling.STRONG, "additive", [(2.23, 7.2), (2.43, 7.7), (2.96, 6.9)]),
    (Scaling.WEAK, "published", [(1.76, None), (1.27, None), (2.08, None)]),
    (Scaling.WEAK, "additive", [(1.74, None), (1.14, None), (1.65, None)]),
    (Scaling.CHIPLET, "published", [(1.97, None)]),
    # The worst of all 21 benchmarks is bfs, which is at hand.
    (Scaling.STRONG, "proportional", [(5.03, 18.2), (10.55, 52.8), (23.47, 113.6)]),
]


@pytest.mark.parametrize(("scaling", "rule", "expected"), FIGURES)
def test_the_figures_of_the_methods(
    published_sets: dict[Scaling, tuple[Measurements, ...]],
    scaling: Scaling,
    rule: str,
    expected: list[tuple[float, float | None]],
) -> None:
    scores = validate(published_sets[scaling]).scores[rule]
    assert list(scores) == ([16] if scaling is Scaling.CHIPLET else [32, 64, 128])
    for score, (mean, largest) in zip(scores.values(), expected, strict=True):
        assert score.mean is not None
        assert score.max is not None
        assert 100 * score.mean == pytest.approx(mean, abs=0.0051)
        if largest is not None:
            assert 100 * score.max == pytest.approx(largest, abs=0.051)
        assert score.n == len(published_sets[scaling])
        assert score.without == ()


@pytest.mark.parametrize(
    ("rule", "largest", "worst"),
    [
        ("published", 17.0, "bfs"),
        ("equations", 67.8, "bfs"),
        ("linear", 68.0, "bfs"),
        ("proportional", 113.6, "bfs"),
    ],
)
def test_the_papers_largest_errors_at_128_sms(
    published_sets: dict[Scaling, tuple[Measurements, ...]], rule: str, largest: float, worst: str
) -> None:
    score = validate(published_sets[Scaling.STRONG]).scores[rule][128]
    assert score.max is not None
    assert 100 * score.max == pytest.approx(largest, abs=0.051)
    assert score.worst == worst


def test_the_cliff_of_dct_is_found_alone_and_worth_it(
    published_sets: dict[Scaling, tuple[Measurements, ...]],
) -> None:
    validation = validate(published_sets[Scaling.STRONG], rules=["published"])
    cliffs = {outcome.name: outcome.cliff for outcome in validation.outcomes if outcome.cliff}
    assert list(cliffs) == ["dct"]
    assert (cliffs["dct"].smaller, cliffs["dct"].larger) == (64, 128)
    (check,) = (it for it in validation.checks if it.benchmark == "dct" and it.prediction.target == 128)
    assert check.prediction.ipc is not None
    assert check.prediction.ipc / check.actual - 1 == pytest.approx(-0.033, abs=0.0005)
    # Without the cliff it is 54 % short.
    flat = [replace(it, mpki={}) for it in published_sets[Scaling.STRONG]]
    score = validate(flat, rules=["published"]).scores["published"][128]
    assert (score.worst, score.max) == ("dct", pytest.approx(0.54, abs=0.005))


def test_the_classes_that_two_models_and_a_curve_show(
    published_sets: dict[Scaling, tuple[Measurements, ...]],
) -> None:
    # Table II of the paper, by the measured targets, has unet and btree (-1.4 and -1.1 %) as sub-linear.
    classes = {
        outcome.name: str(outcome.classification.scaling)
        for outcome in validate(published_sets[Scaling.STRONG]).outcomes
    }
    linear = dict.fromkeys(("unet", "res50", "btree", "pf", "at", "bs", "gemm", "lbm"), "linear")
    assert classes == {**linear, "bfs": "sub-linear", "sr": "sub-linear", "dct": "super-linear"}


@pytest.mark.parametrize("rule", ["additive", "published", "equations"])
@pytest.mark.parametrize("level", LEVELS)
def test_the_intervals_hold_what_they_say(
    published_sets: dict[Scaling, tuple[Measurements, ...]], rule: str, level: float
) -> None:
    within = []
    for benchmarks in published_sets.values():
        within += [check.is_within for check in validate(benchmarks, rules=[rule], confidence=level).checks]
    assert len(within) == TARGETS
    assert sum(map(len, published_sets.values())) == BENCHMARKS
    assert sum(map(bool, within)) == targets_held(rule, level, of_three=False)
    assert sum(map(bool, within)) / len(within) >= level


@pytest.mark.parametrize("rule", ["additive", "published", "equations"])
@pytest.mark.parametrize("level", LEVELS)
def test_coverage_of_a_benchmark_left_out(
    published_sets: dict[Scaling, tuple[Measurements, ...]], rule: str, level: float
) -> None:
    errors: dict[tuple[Scaling, str], list[float]] = {}
    for scaling, benchmarks in published_sets.items():
        validation = validate(benchmarks, rules=[rule])
        largest = {outcome.name: outcome.models[-1] for outcome in validation.outcomes}
        for check in validation.checks:
            assert check.prediction.ipc is not None
            doublings = math.log2(check.prediction.target / largest[check.benchmark])
            error = abs(math.log(check.actual / check.prediction.ipc)) / doublings
            errors.setdefault((scaling, check.benchmark), []).append(error)
    held, limits = [], []
    for left_out, its_errors in errors.items():
        others = sorted(error for name, them in errors.items() if name != left_out for error in them)
        rank = math.ceil(level * (len(others) + 1))
        limits.append(others[min(rank, len(others)) - 1])
        held += [error <= limits[-1] for error in its_errors]
    # A constant taken from the other benchmarks alone holds for the one left out, and ours is not below it:
    # it was taken from all 21, 6 and 5.
    assert sum(held) / len(held) >= level - 0.025
    ours = {0.8: 0.037, 0.9: 0.065, 0.95: 0.12}[level]
    if (rule, level) == ("equations", 0.9):
        # Taken from the others it would be 0.074: ours holds 40 of the 44, and has no room to spare.
        assert max(limits) == pytest.approx(0.0743, abs=5e-5)
    else:
        assert max(limits) <= ours


@pytest.mark.parametrize("rule", ["additive", "published", "equations"])
@pytest.mark.parametrize("level", LEVELS)
def test_coverage_with_three_models(
    published_sets: dict[Scaling, tuple[Measurements, ...]], rule: str, level: float
) -> None:
    within = []
    for scaling in (Scaling.STRONG, Scaling.WEAK):
        validation = validate(published_sets[scaling], rules=[rule], confidence=level, simulated=(8, 16, 32))
        within += [check.is_within for check in validation.checks]
    assert len(within) == TARGETS_OF_THREE
    assert sum(map(bool, within)) == targets_held(rule, level, of_three=True)
    if rule != "equations":  # it holds less than the level, which is said beside its intervals
        # One in 28 is 3.6 %.
        assert sum(map(bool, within)) / len(within) >= level - 0.036
