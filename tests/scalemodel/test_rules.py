"""The seven rules: the example of the methods, the step-by-step rule, least squares, and their limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalemodel.rules import (
    ModelPair,
    additive,
    equations,
    linear,
    logarithmic,
    power_law,
    proportional,
    published,
)

# IPC 100 -> 110 at twice the size.
SATURATING = ModelPair(8, 100.0, 16, 110.0)
# C of the paper's bfs under strong scaling.

IPC = st.floats(1e-3, 1e6)


def pair_of(correction: float, *, small: int = 8, ratio: int = 2, ipc: float = 100.0) -> ModelPair:
    """Return two models with C = correction for each doubling."""
    gain = ratio * correction ** math.log2(ratio)
    return ModelPair(small, ipc, small * ratio, ipc * gain)


def value(rule: object, pair: ModelPair, target: int, cliff: int | None = None) -> float:
    """Return a rule's IPC, which must be there."""
    trend = rule(pair, target) if cliff is None else rule(pair, target, cliff)  # type: ignore[operator]
    ipc = trend.ipc
    assert ipc is not None
    return float(ipc)


def test_the_example_of_the_methods() -> None:
    targets = (32, 64, 128)
    assert [value(published, SATURATING, target) for target in targets] == pytest.approx(
        [40, 2.645, 0.032], rel=0.01
    )
    assert [round(value(additive, SATURATING, target)) for target in targets] == [121, 127, 149]


def test_three_doublings_cost_six_times_the_first() -> None:
    # C = 0.8: 2 - 1/C = 0.75 and 1/C - 1 = 0.25; M = 1, 3, 6.
    pair = pair_of(0.8)
    ideal = [pair.proportional_ipc(size) for size in (32, 64, 128)]
    assert [value(published, pair, size) for size in (32, 64, 128)] == pytest.approx(
        [ipc * 0.75**m for ipc, m in zip(ideal, (1, 3, 6), strict=True)]
    )
    assert [value(additive, pair, size) for size in (32, 64, 128)] == pytest.approx(
        [ipc / (1 + 0.25 * m) for ipc, m in zip(ideal, (1, 3, 6), strict=True)]
    )


def test_the_equations_as_printed() -> None:
    pair = ModelPair(8, 100.0, 16, 180.0)  # C = 0.9
    assert value(equations, pair, 64) == pytest.approx(180 * 4 * 0.9)  # Eq. 2
    assert value(equations, pair, 64, 64) == pytest.approx(180 * 4)  # Eq. 3, without 1/(1 - f)
    assert value(equations, pair, 256, 64) == pytest.approx(180 * 4 * 4 * 0.9)  # Eq. 4


@given(
    small=st.integers(1, 40), more=st.integers(1, 40), ipc=st.tuples(IPC, IPC), target=st.integers(81, 500)
)
def test_the_baselines_are_least_squares_through_two_points(
    small: int, more: int, ipc: tuple[float, float], target: int
) -> None:
    pair = ModelPair(small, ipc[0], small + more, ipc[1])
    sizes = np.array([small, small + more], dtype=float)
    through = np.linalg.solve(np.vander(sizes, 2), np.array(ipc))
    expected_linear = float(np.polyval(through, target))
    logs = np.linalg.solve(np.vander(np.log(sizes), 2), np.array(ipc))
    expected_logarithmic = float(np.polyval(logs, math.log(target)))
    power = np.linalg.solve(np.vander(np.log(sizes), 2), np.log(ipc))
    expected_power = math.exp(min(700.0, float(np.polyval(power, math.log(target)))))
    scale = max(ipc) * target
    for rule, expected in ((linear, expected_linear), (logarithmic, expected_logarithmic)):
        if expected > 1e-6 * scale:
            assert value(rule, pair, target) == pytest.approx(expected, rel=1e-6)
        elif expected < -1e-6 * scale:
            assert rule(pair, target).ipc is None
    if 1e-200 < expected_power < 1e200:
        assert value(power_law, pair, target) == pytest.approx(expected_power, rel=1e-6)


@pytest.mark.parametrize("rule", [additive, published, equations, power_law, linear, proportional])
@given(ipc=IPC, target=st.integers(17, 10_000))
def test_ideal_models_scale_on_ideally(rule: object, ipc: float, target: int) -> None:
    pair = ModelPair(8, ipc, 16, 2 * ipc)
    assert value(rule, pair, target) == pytest.approx(ipc * target / 8)


@pytest.mark.parametrize("ipc", [100.0, 99.0, 60.0])
def test_published_has_no_prediction_where_ipc_does_not_grow(ipc: float) -> None:
    trend = published(ModelPair(8, 100.0, 16, ipc), 32)
    assert trend.ipc is None
    assert "no prediction: 2 - 1/C is" in trend.remark
    saturated = additive(ModelPair(8, 100.0, 16, ipc), 32)
    assert saturated.ipc is not None
    assert "saturated: IPC does not grow" in saturated.remark
