"""Validation: the figures of the methods on the bundled and on constructed measurements."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from scalemodel.errors import AnalysisError, OptionError
from scalemodel.inputs import read_benchmarks
from scalemodel.measurements import Measurements, Scaling, measurements_of
from scalemodel.rules import RULES
from scalemodel.validate import Validation, validate


def line(name: str, *ipc: float) -> Measurements:
    """Return a benchmark at 8, 16, 32, ... SMs under weak scaling."""
    return measurements_of(
        [(8 * 2**step, value) for step, value in enumerate(ipc)], name=name, scaling=Scaling.WEAK
    )


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
