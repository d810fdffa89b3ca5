"""Waves, launch by launch, and how well rules predict what was simulated too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import AnalysisError, OptionError
from scalemodel.measurements import Measurements, Scaling, collect_measurements
from scalemodel.runs import SimulatedRun
from scalemodel.validate import Validation, validate
from scalemodel.waves import Limit, predict_by_waves


def line(name: str, *ipc: float) -> Measurements:
    """Return a benchmark at 8, 16, 32, ... SMs under weak scaling."""
    return collect_measurements(
        [(8 * 2**step, value) for step, value in enumerate(ipc)], name=name, scaling=Scaling.WEAK
    )


# -- the bundled sample, made up, which is here always ----------------------------------------------------


# -- constructed ----------------------------------------------------------------------------------------


def test_chiplets_and_sms_are_not_counted_together() -> None:
    chiplets = collect_measurements([(8, 1.0), (16, 2.0), (32, 4.0)], name="c", scaling=Scaling.CHIPLET)
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
    inside = collect_measurements([(8, 100.0), (16, 200.0), (32, 900.0)], curve, name="in")
    outside = collect_measurements([(8, 100.0), (16, 200.0), (32, 390.0)], curve, name="out")
    validation = validate([inside, outside], rules=["additive"])
    assert validation.scores["additive"][32].within_interval == 0.5
    assert validation.scores["additive"][32].n == 0
    assert [finding.code for finding in validation.findings["in"]] == ["f-mem-missing"]
    assumed = validate([inside, outside], rules=["additive"], assume_f_mem=True)
    assert assumed.scores["additive"][32].n == 2


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


def one(ctas: int, small: float, large: float, target: int) -> tuple[float, str]:
    blocks, name = np.array([ctas]), np.array(["k"])
    smaller, larger = (
        SimulatedRun(size, "", np.array([0]), name, name, blocks, np.array([cycles]))
        for size, cycles in ((8, small), (16, large))
    )
    found = predict_by_waves(smaller, larger, target)
    return float(found.cycles[0]), found.limit[0]


@pytest.mark.parametrize(
    ("ctas", "small", "large", "target", "cycles", "limit"),
    [
        # 128 blocks are 16, 8 and 4 waves: 100 + 50 m before, so 300 at 4.
        (128, 900, 500, 32, 300, Limit.NOTHING),
        # ... and 2 waves of 64 SMs.
        (128, 900, 500, 64, 200, Limit.NOTHING),
        # One wave at 8 SMs already.
        (8, 300, 280, 32, 280, Limit.FEW_BLOCKS),
        # Two waves at 8, one from 16 on.
        (16, 500, 300, 32, 300, Limit.FEW_BLOCKS),
        (128, 500, 510, 32, 510, Limit.NO_GAIN),
        # By the line -300 is left of 500: no launch gains more than its waves do.
        (128, 2100, 500, 32, 250, Limit.SUPERLINEAR),
    ],
)
def test_by_hand(ctas: int, small: float, large: float, target: int, cycles: float, limit: Limit) -> None:
    assert one(ctas, small, large, target) == (pytest.approx(cycles), limit)


@given(
    ctas=st.integers(1, 10**6), small=st.floats(1, 1e12), ratio=st.floats(0.1, 3), doublings=st.integers(1, 4)
)
def test_no_launch_gets_longer_or_gains_more_than_its_waves(
    ctas: int, small: float, ratio: float, doublings: int
) -> None:
    large, target = small * ratio, 16 << doublings
    cycles, _ = one(ctas, small, large, target)
    waves = [-(-ctas // size) for size in (16, target)]
    assert large * waves[1] / waves[0] * (1 - 1e-12) <= cycles <= large
