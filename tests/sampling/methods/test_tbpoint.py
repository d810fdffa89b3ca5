"""TBPoint: fresh scikit-learn runs as the oracle, the representative, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering
from sklearn.preprocessing import StandardScaler

from sampling.errors import NotApplicableError
from sampling.features.metric_names import CHARACTERISTICS
from sampling.methods import pks
from sampling.methods.method import Picks
from sampling.reduction.launch_list import LaunchList
from tests.launch_lists import launches_of

COLUMNS = tuple(spellings[0] for spellings in CHARACTERISTICS)


def launch_list(features: NDArray[np.float64], cycles: NDArray[np.float64]) -> LaunchList:
    """Return launches whose first characteristics are the columns of ``features`` (n, columns)."""
    metrics = dict(zip(COLUMNS, np.array(features, dtype=np.float64).T, strict=False))
    return launches_of(["k"] * len(features), {**metrics, "cycles": cycles}, first_id=100)


def picks_of(launches: LaunchList, **options: Any) -> Picks:
    """Return what tbpoint picks."""
    return pks.pick_tbpoint(launches, pks.TBPointOptions(**options), np.random.default_rng(0), None)


def fresh_run(
    table: NDArray[np.float64], cycles: NDArray[np.float64], threshold: float
) -> tuple[float, list[int], list[int]]:
    """Return projected error, representatives and sizes by scikit-learn at one threshold, loop by loop."""
    rows = StandardScaler().fit_transform(table)
    clustering = AgglomerativeClustering(None, linkage="average", distance_threshold=threshold)
    labels = clustering.fit_predict(rows)
    representatives, sizes = [], []
    for label in dict.fromkeys(labels.tolist()):
        members = np.flatnonzero(labels == label)
        distance = np.linalg.norm(rows[members] - rows[members].mean(axis=0), axis=1)
        representatives.append(int(members[np.flatnonzero(distance <= distance.min() + 1e-9)[0]]))
        sizes.append(len(members))
    error = abs(np.dot(sizes, cycles[representatives]) - cycles.sum()) / cycles.sum()
    return float(error), representatives, sizes


@pytest.mark.parametrize("seed", range(5))
def test_one_tree_cut_at_each_threshold_equals_fresh_runs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    centre = rng.normal(0, 2, size=(8, 3))
    table = centre[rng.integers(0, 8, 200)] + rng.normal(0, 0.12, size=(200, 3))
    table[150:] = table[rng.integers(0, 20, 50)]  # repeated launches weigh in average distances
    cycles = rng.lognormal(5, 1, 200)
    fresh = [fresh_run(table, cycles, hundredths / 100) for hundredths in range(20, 0, -1)]
    errors = [error for error, _, _ in fresh]
    assert len({len(sizes) for _, _, sizes in fresh}) > 10
    picks = picks_of(launch_list(table, cycles), error=1e-12)
    assert picks.details["projected_errors"] == pytest.approx(errors)
    chosen = int(np.argmin(errors))
    _, representatives, sizes = fresh[chosen]
    assert picks.details["threshold"] == pytest.approx((20 - chosen) / 100)
    assert picks.details["representatives"] == [row + 100 for row in representatives]
    assert np.bincount(picks.stratum).tolist() == sizes
    assert picks.row.tolist() == sorted(representatives)
    weight_of = dict(zip(representatives, sizes, strict=True))
    assert picks.weight.tolist() == [weight_of[row] for row in picks.row.tolist()]
    assert any("none of the thresholds" in note for note in picks.notes)


def test_representative_is_nearest_to_the_mean_of_all_launches() -> None:
    # Far apart: 1,000 and 0 to 3. Within the near ones the mean is 1.4: 1 is nearest, twice there.
    values = np.array([1000.0, 0.0, 3.0, 1.0, 2.0, 1.0])
    picks = picks_of(launch_list(values[:, None], np.ones(6)))
    assert picks.row.tolist() == [0, 3]
    assert picks.weight.tolist() == [1, 5]
    # The mean of 0, 2, 0, 2 is as near to either: the first is taken. With 2 once more, it is 2.
    values = np.array([2.0, 0.0, 2.0, 0.0, 1000.0])
    assert picks_of(launch_list(values[:, None], np.ones(5))).row.tolist() == [0, 4]
    values = np.array([0.0, 2.0, 2.0, 0.0, 2.0, 1000.0])
    assert picks_of(launch_list(values[:, None], np.ones(6))).row.tolist() == [1, 5]


def test_more_than_20000_launches_are_refused() -> None:
    assert len(picks_of(launch_list(np.ones((20_000, 1)), np.ones(20_000))).row) == 1
    with pytest.raises(NotApplicableError, match="at most 20,000") as caught:
        picks_of(launch_list(np.ones((20_001, 1)), np.ones(20_001)))
    assert "memory" in caught.value.message
    assert caught.value.remedy is not None
    assert "`launches=A:B`" in caught.value.remedy
    # Metrics would not help, so their lack is not what is said.
    with pytest.raises(NotApplicableError, match="at most 20,000"):
        picks_of(launch_list(np.full((20_001, 1), np.nan), np.ones(20_001)))


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(st.integers(0, 6), st.sampled_from([1, 2, 400])), min_size=1, max_size=40),
    seed=st.integers(0, 3),
)
def test_every_launch_is_represented(rows: list[tuple[int, int]], seed: int) -> None:
    cycles = np.random.default_rng(seed).lognormal(3, 1, len(rows))
    picks = picks_of(launch_list(np.array(rows), cycles))
    assert picks.weight.sum() == len(rows)
    assert (np.diff(picks.row) > 0).all()
    assert sorted(picks.stratum[picks.row].tolist()) == list(range(len(picks.labels)))
    assert picks.weight.tolist() == [int((picks.stratum == picks.stratum[row]).sum()) for row in picks.row]
    assert len(set(zip(rows, picks.stratum.tolist(), strict=True))) == len(set(rows))
    first = [int(np.argmax(picks.stratum == stratum)) for stratum in range(len(picks.labels))]
    assert first == sorted(first)
