"""What tells the layers of a profile, names, launches or the loop found; and which launches they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest

from sampling.errors import NotApplicableError
from sampling.profile.profile import Profile
from sampling.reduction import layers as module
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.grouping import Grouping
from sampling.reduction.layers import Layers, find_layers
from sampling.reduction.region import Region
from tests.sampling.conftest import profile_with_ranges

LAYER = ["norm", "qkv", "attention", "projection", "mlp"]
STEP = ["embed", *LAYER * 6, "head"]
Events = list[tuple[str, int, int]]


def layers_of(profile: Profile, **region: object) -> Layers | None:
    """Return the layers of a region."""
    return find_layers(profile, count_durations(profile, Grouping(), Region(**region)))  # type: ignore[arg-type]


def ids_of(layers: Layers) -> list[tuple[int, int, int, int, int]]:
    """Return family, iteration, number, first and last id of each."""
    columns = layers.family, layers.step, layers.number, layers.ids[layers.first], layers.ids[layers.stop - 1]
    return list(zip(*(column.tolist() for column in columns), strict=True))


def expected(
    steps: int, *, launches: int = len(STEP), layers: int = 6, first: int = 1
) -> list[tuple[int, ...]]:
    """Return the same of layers of five launches, ``first`` launches behind the begin of each step."""
    places = product(range(steps), range(layers))
    begins = [(step, number, step * launches + first + number * 5) for step, number in places]
    return [(0, step, number, begin, begin + 4) for step, number, begin in begins]


def steps(count: int, launches: int = len(STEP)) -> Events:
    """Return ranges of so many steps, each launch called at the time of its id."""
    return [(f"step {step}", step * launches, (step + 1) * launches) for step in range(count)]


def with_ranges(names: Sequence[str], ranges: Events) -> Profile:
    """Return launches called one each nanosecond."""
    return profile_with_ranges(range(len(names)), ranges, names=names, durations=[5] * len(names))


def test_within_steps_launches_tell_them_and_ids_are_those_of_the_whole_profile() -> None:
    profile = with_ranges(STEP * 4, steps(4))
    found = layers_of(profile)
    assert found is not None
    assert found.source == "launches"
    assert found.iterations is not None
    assert found.iterations.iterations == 4
    assert ids_of(found) == expected(4)
    assert found.time_ns.tolist() == [25] * 24
    # Of a region only what it keeps counts.
    of_two = layers_of(profile, launches=(len(STEP), 3 * len(STEP)))
    assert of_two is not None
    assert [row[3] for row in ids_of(of_two)] == [row[3] for row in expected(4) if row[1] in {1, 2}]


def test_a_step_of_another_number_of_layers_is_left_out() -> None:
    names = STEP * 2 + ["embed", *LAYER * 5, "head"] + STEP
    ends = np.cumsum([0, len(STEP), len(STEP), len(STEP) - 5, len(STEP)]).tolist()
    ranges = [(f"step {step}", *ends[step : step + 2]) for step in range(4)]
    found = layers_of(with_ranges(names, ranges))
    assert found is not None
    assert len(found.first) == 18
    assert found.in_step.sum() == 3 * len(STEP)


@pytest.mark.parametrize("inner", ["", ".mlp"])
def test_names_that_differ_in_one_number_tell_them_whatever_their_launches(inner: str) -> None:
    # No two layers have a launch in common.
    names = ["embed", *(f"k{number}" for number in range(30)), "head"]
    in_layers = [
        (f"model.layers.{number}{inner}", step * 32 + 1 + 5 * number, step * 32 + 6 + 5 * number)
        for step in range(3)
        for number in range(6)
    ]
    found = layers_of(with_ranges(names * 3, [*steps(3, 32), *in_layers]))
    assert found is not None
    assert found.source == "ranges"
    assert ids_of(found) == expected(3, launches=32)
    assert found.names[:6] == tuple(f"model.layers.{number}" for number in range(6))


def test_without_steps_the_whole_run_is_one() -> None:
    found = layers_of(with_ranges(STEP, []))
    assert found is not None
    assert found.iterations is None
    assert ids_of(found) == expected(1)


def test_iterations_in_which_nothing_repeats_are_layers_themselves() -> None:
    found = layers_of(with_ranges(LAYER * 7, []))
    assert found is not None
    assert found.source == "loop"
    assert ids_of(found) == expected(1, layers=7, first=0)


def test_layers_of_several_kinds_count_before_a_loop_of_fewer_launches(
    launch_table: Callable[..., Profile],
) -> None:
    # Here and there a launch is copied first: the loop found has fewer of the launches.
    names = ["embed"]
    for number in range(6):
        names += [*LAYER[:3], f"copy {number}", *LAYER[3:]] if number in {1, 3, 4} else LAYER
    found = layers_of(launch_table([*names, "head"], [7] * 35))
    assert found is not None
    assert found.source == "launches"
    assert [row[3] for row in ids_of(found)] == [1, 6, 12, 17, 23, 29]
    assert [row[4] for row in ids_of(found)] == [5, 11, 16, 22, 28, 33]


def test_by_kernels_where_sizes_differ(launch_table: Callable[..., Profile]) -> None:
    # Keys and values grow from layer to layer, and a launch more, elsewhere in each, leaves no loop.
    layer, names = [*LAYER, "gate", "up", "down"], ["embed"]
    for number in range(6):
        names += [*layer[: number + 1], f"copy {number}", *layer[number + 1 :]]
    found = layers_of(launch_table([*names, "head"], [7] * 56, grid_x=np.arange(1, 57)))
    assert found is not None
    assert found.source == "kernels"
    assert [row[3:] for row in ids_of(found)] == [(1 + 9 * number, 9 + 9 * number) for number in range(6)]


def test_every_process_and_device_has_its_own(launch_table: Callable[..., Profile]) -> None:
    device = np.repeat([0, 1], len(STEP))
    found = layers_of(launch_table(STEP * 2, [7] * 2 * len(STEP), device=device))
    assert found is not None
    assert [row[3] for row in ids_of(found)] == [row[3] for row in expected(2)]


@pytest.mark.parametrize(
    "names",
    [["k"] * 50, [f"k{number}" for number in range(50)], ["a", "b"] * 3 + [f"k{i}" for i in range(50)]],
)
def test_there_may_be_none(names: list[str]) -> None:
    assert layers_of(with_ranges(names, [])) is None


def test_among_more_launches_than_are_looked_at_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LAUNCHES", len(STEP) - 1)
    with pytest.raises(NotApplicableError, match=f"up to {len(STEP) - 1} launches, not {len(STEP)}"):
        layers_of(with_ranges(STEP, []))
