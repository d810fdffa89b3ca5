"""Drift: said of kernels that grow or fall over the run, and of no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from benchmarks.drift import DRIFTING, INDEPENDENT, PERIODIC, Durations, share_said
from sampling.profile.launch_table import LaunchTable
from sampling.reduction.duration_counts import count_durations
from sampling.reduction.group_by import GroupBy
from sampling.reduction.grouping import Grouping
from sampling.reduction.region import Region
from sampling.reduction.run_order.drift import Drift, find_drift
from sampling.reduction.run_order.ordered_launches import OrderedLaunches
from sampling.reduction.run_order.run_order import run_order

Look = Callable[..., Drift | None]


@pytest.fixture(scope="module")
def look(launch_table: Callable[..., LaunchTable]) -> Look:
    def looked(
        names: Sequence[str], durations: Sequence[int], region: Region | None = None, **columns: object
    ) -> Drift | None:
        pooled = bool(columns.pop("pooled", False))
        profile = launch_table(names, durations, **columns)
        grouping = Grouping(GroupBy.NAME, pooled)
        return run_order(profile, count_durations(profile, grouping, region)).drift

    return looked


@pytest.mark.parametrize(
    "durations", [*INDEPENDENT.values(), *PERIODIC.values()], ids=[*INDEPENDENT, *PERIODIC]
)
def test_what_has_no_trend_does_not_drift(durations: Durations) -> None:
    """At most one profile in a hundred, of 20 kernels each, by the level asked for; most are far below."""
    assert share_said(durations, 50) <= 0.02


@pytest.mark.parametrize("durations", DRIFTING.values(), ids=DRIFTING)
def test_what_drifts_is_seen(durations: Durations) -> None:
    assert share_said(durations, 20) == 1


def test_many_short_kernels_raise_no_more_false_alarms() -> None:
    """Of 100 kernels of 20 launches every second profile has one whose ranks follow the order by chance."""
    rng = np.random.default_rng(5)
    group, rows = np.tile(np.arange(100), 20), np.arange(2000)
    said = sum(
        find_drift(
            OrderedLaunches(
                id=rows,
                label=group,
                group=group,
                duration_ns=(1e6 * rng.lognormal(0, 1, 2000)).astype(np.int64),
                sequence=np.array([0]),
                edges=np.array([0, 2000]),
            )
        )
        is not None
        for _ in range(100)
    )
    assert said <= 2


@pytest.mark.parametrize("last", [1.15, 0.9])
def test_little_change_is_no_drift_however_clear(look: Look, last: float) -> None:
    assert look(["k"] * 200, np.linspace(100_000, 100_000 * last, 200).astype(int).tolist()) is None


def test_the_largest_kernel_that_drifts_is_named_with_the_time_of_all(look: Look) -> None:
    rng = np.random.default_rng(0)
    names = ["small", "large", "even"] * 200
    durations = rng.permutation(600) + 500_000
    durations[::3] = 1000 + 10 * np.arange(200)
    durations[1::3] = 508_000 - 2_347 * np.arange(200)
    drift = look(names, durations.tolist())
    assert drift is not None
    assert (drift.kernels, drift.time_ns) == (2, int(durations[::3].sum() + durations[1::3].sum()))
    # The medians of ten launches: between the fifth and the sixth of either end.
    assert drift.from_ns == pytest.approx(508_000 - 2_347 * 4.5)
    assert drift.to_ns == pytest.approx(508_000 - 2_347 * 194.5)
    assert drift.trend == pytest.approx(-1)
    assert drift.middle_id == 301


def test_processes_and_devices_are_looked_at_apart(look: Look) -> None:
    """A slower second GPU is no drift, though a pooled group has its launches last."""
    rng = np.random.default_rng(1)
    durations = np.concatenate([rng.integers(100, 120, 200), rng.integers(1000, 1200, 200)]).tolist()
    places = {"device": [0] * 200 + [1] * 200}
    assert look(["k"] * 400, durations, pooled=True, **places) is None
    assert look(["k"] * 400, durations, pooled=True) is not None


def test_the_region_and_its_ids_are_kept(look: Look) -> None:
    """Of a rise and a fall the region has the fall alone, and ids stay those of the profile."""
    durations = [1000 + 10 * step for step in range(100)] + [2000 - 10 * step for step in range(100)]
    names = [f"k{step % 2}" for step in range(200)]
    drift = look(names, durations, Region(launches=(100, 200), include=("k0",)))
    assert drift is not None
    assert drift.to_ns < drift.from_ns
    assert 148 <= drift.middle_id <= 152
    assert look(["k"] * 19, list(range(1000, 20_000, 1000))) is None
    assert look(["k"] * 20, list(range(1000, 21_000, 1000))) is not None
