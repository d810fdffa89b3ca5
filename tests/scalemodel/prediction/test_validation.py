"""Validation: the figures of the methods on the published measurements, and the intervals' coverage."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from scalemodel.errors import AnalysisError, OptionError
from scalemodel.inputs.benchmark_table import read_benchmarks
from scalemodel.measurements import Measurements, Scaling, measurements_of
from scalemodel.prediction.interval import BENCHMARKS, TARGETS, TARGETS_OF_THREE, targets_held
from scalemodel.prediction.rules import RULES
from scalemodel.prediction.validation import Validation, validate

FILES = {Scaling.STRONG: "strong.csv", Scaling.WEAK: "weak.csv", Scaling.CHIPLET: "mcm.csv"}
LEVELS = (0.8, 0.9, 0.95)


@pytest.fixture(scope="session")
def published_sets(shared_data: Path) -> dict[Scaling, tuple[Measurements, ...]]:
    """The benchmarks of the paper's artifact that are at hand."""
    folder = shared_data / "scale-model"
    return {scaling: read_benchmarks(str(folder / name), scaling=scaling) for scaling, name in FILES.items()}


def line(name: str, *ipc: float) -> Measurements:
    """Return a benchmark at 8, 16, 32, ... SMs under weak scaling."""
    return measurements_of(
        [(8 * 2**step, value) for step, value in enumerate(ipc)], name=name, scaling=Scaling.WEAK
    )


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
    flat = [
        Measurements(it.name, it.sizes, it.ipc, (None,) * 5, it.f_mem)
        for it in published_sets[Scaling.STRONG]
    ]
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


# -- the bundled sample, made up, which is here always ----------------------------------------------------


def test_the_figures_of_the_sample_by_hand(sample_data: Path) -> None:
    """Each rule of docs/methods.md, 10 Scale model, from four IPC of a benchmark; the cliff gains 1/0.55."""
    benchmarks = read_benchmarks(str(sample_data / "scale-model-example.csv"))
    errors: dict[tuple[str, int], list[float]] = {}
    for benchmark in benchmarks:
        small, large = benchmark.ipc[:2]
        assert small is not None
        assert large is not None
        c = large / small / 2
        for size, actual in zip(benchmark.sizes[2:], benchmark.ipc[2:], strict=True):
            assert actual is not None
            k = math.log2(size / 16)
            m = k * (k + 1) / 2
            gain = 1 / 0.55 if benchmark.name == "made-up cliff" and size == 128 else 1.0
            predicted = {
                "additive": large / 16 * size / (1 + m * (1 / c - 1)) * gain,
                "published": large / 16 * size * (2 - 1 / c) ** m * gain,
                "equations": large / 16 * size * (c if gain == 1 else 1) * gain,
                "proportional": small / 8 * size,
                "linear": large + (large - small) / 8 * (size - 16),
            }
            for rule, ipc in predicted.items():
                errors.setdefault((rule, size), []).append(abs(ipc / actual - 1))
    scores = validate(benchmarks).scores
    for (rule, size), each in errors.items():
        assert scores[rule][size].mean == pytest.approx(sum(each) / 3)
        assert scores[rule][size].max == pytest.approx(max(each))
        assert scores[rule][size].n == 3


@pytest.mark.parametrize("rule", ["additive", "published"])
def test_the_intervals_hold_the_sample(sample_data: Path, rule: str) -> None:
    benchmarks = read_benchmarks(str(sample_data / "scale-model-example.csv"))
    checks = validate(benchmarks, rules=[rule]).checks
    assert [check.is_within for check in checks] == [True] * 9


# -- constructed ----------------------------------------------------------------------------------------


def test_chiplets_and_sms_are_not_counted_together() -> None:
    chiplets = measurements_of([(8, 1.0), (16, 2.0), (32, 4.0)], name="c", scaling=Scaling.CHIPLET)
    with pytest.raises(
        OptionError, match=r"sizes of a are SMs and sizes of c are chiplets; validate them apart"
    ):
        validate([line("a", 1, 2, 4), chiplets])


def score_table(
    validation: Validation, rule: str
) -> dict[int, tuple[float | None, float | None, str | None, int]]:
    return {target: (it.mean, it.max, it.worst, it.n) for target, it in validation.scores[rule].items()}


def test_mean_maximum_and_worst() -> None:
    # Both ideal from 8 to 16, so 400 is predicted at 32: 0 % and 25 % off; at 64 one is left.
    benchmarks = [line("a", 100, 200, 400), line("b", 100, 200, 320, 1000)]
    validation = validate(benchmarks, rules=["additive", "linear"])
    for rule in ("additive", "linear"):
        assert score_table(validation, rule) == {
            32: (pytest.approx(0.125), pytest.approx(0.25), "b", 2),
            64: (pytest.approx(0.2), pytest.approx(0.2), "b", 1),
        }
    additive, linear = validation.scores["additive"], validation.scores["linear"]
    assert (additive[32].within_interval, additive[64].within_interval) == (0.5, 0.0)
    assert linear[32].within_interval is None
    assert [check.benchmark for check in validation.checks] == ["a", "a", "b", "b", "b", "b"]


def test_a_benchmark_without_a_prediction_is_named() -> None:
    benchmarks = [line("a", 100, 200, 400), line("stuck", 100, 90, 95)]
    score = validate(benchmarks, rules=["published"]).scores["published"][32]
    assert (score.n, score.without, score.mean) == (1, ("stuck",), pytest.approx(0))
    alone = validate(benchmarks[1:], rules=["published"]).scores["published"][32]
    assert (alone.mean, alone.max, alone.worst, alone.n) == (None, None, None, 0)
    assert alone.within_interval is None


def test_a_bracket_counts_as_held_or_not() -> None:
    curve = [(8, 10.0), (16, 10.0), (32, 1.0)]
    inside = measurements_of([(8, 100.0), (16, 200.0), (32, 900.0)], curve, name="in")
    outside = measurements_of([(8, 100.0), (16, 200.0), (32, 390.0)], curve, name="out")
    validation = validate([inside, outside], rules=["additive"])
    assert validation.scores["additive"][32].within_interval == 0.5
    assert validation.scores["additive"][32].n == 0
    assert [finding.code for finding in validation.findings["in"]] == ["f-mem-missing"]
    assumed = validate([inside, outside], rules=["additive"], assume_f_mem=True)
    assert assumed.scores["additive"][32].n == 2


def test_an_open_bracket_holds_what_is_above_it() -> None:
    curve = [(8, 10.0), (16, 10.0), (32, 0.0)]
    measured = measurements_of([(8, 100.0), (16, 200.0), (32, 9000.0)], curve, name="a")
    assert validate([measured], rules=["additive"]).scores["additive"][32].within_interval == 1.0


def test_the_two_smallest_of_each_are_the_models() -> None:
    other = measurements_of([(4, 50.0), (8, 100.0), (16, 200.0)], name="b", scaling=Scaling.WEAK)
    validation = validate([line("a", 100, 200, 400), other])
    assert {outcome.name: outcome.models for outcome in validation.outcomes} == {"a": (8, 16), "b": (4, 8)}
    assert list(validation.scores) == list(RULES)
    assert list(validation.scores["additive"]) == [16, 32]


def test_models_by_name() -> None:
    validation = validate([line("a", 100, 200, 400, 800)], simulated=[16, 32], rules=["additive"])
    assert list(validation.scores["additive"]) == [64]
    with pytest.raises(OptionError, match="b: there is no IPC at size 16"):
        validate([line("a", 1, 2, 3), measurements_of([(8, 1.0), (32, 2.0)], name="b")], simulated=[8, 16])


def test_nothing_to_check() -> None:
    some = validate([line("a", 100, 200, 400), line("short", 100, 200)])
    assert [finding.code for finding in some.findings["short"]] == ["nothing-to-check"]
    assert some.scores["additive"][32].n == 1
    with pytest.raises(AnalysisError, match="no benchmark has an IPC above its scale models"):
        validate([line("short", 100, 200)])
    with pytest.raises(AnalysisError, match="nothing to check"):
        validate([])
    with pytest.raises(OptionError, match="two benchmarks are named 'a'"):
        validate([line("a", 1, 2, 3), line("a", 1, 2, 3)])
    with pytest.raises(OptionError, match="a: one size alone is simulated"):
        validate([line("a", 1)])
