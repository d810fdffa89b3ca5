"""Principal Kernel Selection and TBPoint: the paper's tables from constructed inputs, and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from sampling.errors import NotApplicableError
from sampling.features.metric_names import CHARACTERISTICS
from sampling.methods import pks
from sampling.methods.clusters import DistinctRows, distinct_rows, k_means_groupings, reproducible_learning
from sampling.methods.method import Picks
from sampling.methods.pks import characteristics, principal_components, standardise
from sampling.reduction.launch_list import LaunchList
from tests.launch_lists import launches_of

NAN = float("nan")
CYCLES = "gpc__cycles_elapsed.avg"
COLUMNS = tuple(spellings[0] for spellings in CHARACTERISTICS)
LOADS, STORES = COLUMNS[:2]
TABLES = st.integers(1, 4).flatmap(
    lambda columns: st.lists(
        st.tuples(*[st.sampled_from([-3.0, 0.0, 1.0, 2.5, 1e6])] * columns), min_size=1, max_size=40
    )
)


def launch_list(features: Any, cycles: Any = None, duration_ns: Any = None) -> LaunchList:
    """Return launches whose first characteristics are the columns of ``features`` (n, columns)."""
    metrics = dict(zip(COLUMNS, np.array(features, dtype=np.float64).T, strict=False))
    if cycles is not None:
        metrics[CYCLES] = cycles
    return launches_of(["k"] * len(features), metrics, duration_ns=duration_ns)


def picks_of(launches: LaunchList, seed: int = 0, **options: Any) -> Picks:
    """Return what pks picks."""
    return pks.pick(launches, pks.Options(**options), np.random.default_rng(seed), None)


def linked(launches: LaunchList, **options: Any) -> Picks:
    """Return what tbpoint picks."""
    return pks.pick_tbpoint(launches, pks.TBPointOptions(**options), np.random.default_rng(0), None)


def check_against_paper(
    features: Any, cycles: Any, ids: list[int], sizes: list[int], error: float, speedup: float
) -> Picks:
    """Check ids, group sizes, error and speedup in cycles, the latter two as printed."""
    picks = picks_of(launch_list(features, cycles))
    assert picks.row.tolist() == picks.details["representatives"] == ids
    assert picks.weight.tolist() == np.bincount(picks.stratum).tolist() == sizes
    assert picks.details["projected_error"] == pytest.approx(error, abs=5e-5)
    assert abs(picks.estimate(cycles) - cycles.sum()) / cycles.sum() == pytest.approx(error, abs=5e-5)
    assert cycles.sum() / cycles[picks.row].sum() == pytest.approx(speedup, abs=0.05)
    assert (picks.details["k"], picks.details["truth"]) == (len(ids), CYCLES)
    return picks


def test_gaussian_208() -> None:
    cycles = np.array([1000.0] + [434_600 / 413] * 413)
    # The launches shrink step by step, so K could be larger; K = 1 is within 5 %.
    features = np.column_stack([np.arange(414, 0, -1.0), np.arange(414, 0, -1.0) ** 2])
    picks = check_against_paper(features, cycles, [0], [414], 0.0496, 435.6)
    assert picks.notes[0].startswith("2 of the 12 published characteristics")


def test_histogram() -> None:
    features = np.tile([[1.0, 1.0], [101.0, 1.0], [1.0, 101.0], [101.0, 101.0]], (20, 1))
    cycles = np.tile([1000.0, 2000.0, 4000.0, 8000.0], 20)
    picks = check_against_paper(features, cycles, [0, 1, 2, 3], [20] * 4, 0, 20)
    assert picks.details["projected_error"] == 0


def test_fdtd2d() -> None:
    cycles = np.full(1500, (1 - 6.257e-4 - 7.805e-4) / 1498)
    cycles[[0, 2]] = 6.257e-4, 7.805e-4
    features = np.tile([[1.0, 8.0], [1.0, 8.0], [5.0, 3.0]], (500, 1))
    picks = check_against_paper(features, cycles, [0, 2], [1000, 500], 0.01595, 711.1)
    assert picks.details["projected_errors"][0] == pytest.approx(0.061, abs=5e-4)


def test_gramschmidt() -> None:
    part = np.searchsorted([479, 927, 1375, 1823], np.arange(2048), side="right")
    features, table = np.zeros((2048, 3, 2)), np.empty((2048, 3))
    features[:, 0, 1] = -60
    features[:, 2, 0] = np.array([100, 75, 50, 25, 0])[part]
    table[:, 0], table[:, 1] = 518.2465, 150
    table[:, 2] = np.array([12000, 4000, 2200, 900, 150])[part]
    cycles, ids = table.ravel(), [0, 1, 2, 1439, 2783, 4127]
    others = np.setdiff1d(np.arange(6144), ids)
    cycles[others] *= (498.2 - 1) * cycles[ids].sum() / cycles[others].sum()
    sizes = [2048, 2273, 479, 448, 448, 448]
    picks = check_against_paper(features.reshape(-1, 2), cycles, ids, sizes, 0.0490, 498.2)
    assert np.round(picks.details["projected_errors"][:5], 3).tolist() == [0.677, 0.830, 0.825, 0.472, 0.108]


@pytest.mark.parametrize("seed", range(3))
def test_rounding_does_not_choose_between_equally_good_groups(seed: int) -> None:
    # The six kinds of gramschmidt, turned by an angle: 75 with 50 is as good as 50 with 25.
    values = np.array([[0.0, -60], [0, 0], [100, 0], [75, 0], [50, 0], [25, 0]]) / 30
    turn = np.array([[np.cos(seed), -np.sin(seed)], [np.sin(seed), np.cos(seed)]])
    first, count = np.array([0, 1, 2, 1439, 2783, 4127]), np.array([2048, 2273, 479, 448, 448, 448])
    rows = DistinctRows((values - values.mean(axis=0)) @ turn, np.arange(6), first, count)
    *_, groups = k_means_groupings(rows, 5, 10, np.random.default_rng(seed))
    assert groups.representative.tolist() == [0, 1, 2, 1439, 2783]
    assert groups.size.tolist() == [2048, 2273, 479, 448, 896]


@pytest.mark.parametrize("seed", range(8))
def test_of_equally_good_groups_those_of_the_earliest_launches_are_taken(seed: int) -> None:
    # Three groups of five evenly spaced rows: 0 1|2 3|4, 0 1|2|3 4 and 0|1 2|3 4 are equally good.
    rows = standardise({"a": np.array([0.0, 3.0, 1.0, 4.0, 2.0])})[0]
    *_, groups = k_means_groupings(principal_components(rows), 3, 10, np.random.default_rng(seed))
    # Their first launches are 0 1 3, 0 1 4 and 0 1 2: only in the last is the third launch a new kind.
    assert groups.representative.tolist() == [0, 1, 2]


def test_fewest_groups_below_the_threshold_else_least_error() -> None:
    launches = launch_list(np.tile([[1.0], [100.0], [10_000.0]], (10, 1)), np.tile([10.0, 30.0, 1000.0], 10))
    met = picks_of(launches)
    # One group: 30 * 10; two: 20 * 10 + 10 * 1000; three: all right. The total is 10,400.
    assert met.details["projected_errors"] == pytest.approx([1 - 300 / 10_400, 200 / 10_400])
    assert picks_of(launches, error=200 / 10_400).details["k"] == 3
    unmet = picks_of(launches, error=1e-3, k_max=2)
    assert unmet.details["k"] == 2
    assert "none of the numbers of groups" in unmet.notes[-1]


@pytest.mark.parametrize("seed", range(2))
def test_errors_equal_those_of_the_plain_pipeline(seed: int) -> None:
    """Well separated kinds, each of a few distinct rows, by scikit-learn alone, on all launches."""
    rng = np.random.default_rng(seed)
    centre = rng.permutation(np.arange(4))[:, None] * [100.0, 0, 0] + rng.uniform(100, 140, (4, 3))
    variants = centre[:, None] + rng.normal(0, 0.5, size=(4, 5, 3))
    kind = rng.integers(0, 4, 300)
    table = variants[kind, rng.integers(0, 5, 300)]
    cycles = np.array([50.0, 300.0, 40.0, 500.0])[kind] * np.linspace(1, 1.001, 300)
    scores, expected = PCA(0.9995).fit_transform(StandardScaler().fit_transform(table)), []
    for k in range(1, 5):
        with reproducible_learning():
            labels = KMeans(k, n_init=20, random_state=1).fit_predict(scores)
        _, first, size = np.unique(labels, return_index=True, return_counts=True)
        expected.append(float(abs(np.dot(size, cycles[first]) - cycles.sum()) / cycles.sum()))
    picks = picks_of(launch_list(table, cycles), error=0.002)
    assert picks.details["projected_errors"] == pytest.approx(expected)
    assert len(set(zip(kind.tolist(), picks.stratum.tolist(), strict=True))) == 4


# Characteristics.


@pytest.mark.parametrize(
    ("metrics", "complete"),
    [({LOADS: [1, 2, NAN, 4], STORES: [1, NAN, NAN, float("inf")]}, [0]), ({"other": [1, 2]}, [])],
)
def test_a_launch_is_complete_with_all_published_that_any_has(
    metrics: dict[str, list[float]], complete: list[int]
) -> None:
    launches = launches_of("k" * len(next(iter(metrics.values()))), metrics)
    assert np.flatnonzero(characteristics(launches)[1]).tolist() == complete


@pytest.mark.parametrize(("loads", "advised"), [([1, NAN, NAN], True), ([NAN, 1, NAN], False)])
def test_lacking_launches_are_counted_and_the_remedy_names_the_command(
    loads: list[float], advised: bool
) -> None:
    with pytest.raises(NotApplicableError, match="2 of 3 launches lack them") as caught:
        picks_of(launches_of("kkk", {LOADS: loads}))
    assert "`kernelpoint methods`" in str(caught.value.remedy)
    assert ("two-level" in str(caught.value.remedy)) is advised


@given(rows=TABLES)
def test_distinct_rows_and_standardising_equal_those_of_all_launches(rows: list[tuple[float, ...]]) -> None:
    table = np.array(rows)
    distinct = distinct_rows(list(table.T), len(table))
    assert (distinct.values[distinct.row_of] == table).all()
    assert [tuple(row) for row in distinct.values.tolist()] == list(dict.fromkeys(rows))
    assert distinct.first.tolist() == [rows.index(row) for row in dict.fromkeys(rows)]
    assert distinct.count.tolist() == [rows.count(row) for row in dict.fromkeys(rows)]
    scaled, found, _ = standardise({str(index): column for index, column in enumerate(table.T)})
    kept = [int(name) for name in found["columns"]]
    expected = StandardScaler().fit_transform(table[:, kept]) if kept else np.zeros((len(table), 0))
    assert np.allclose(scaled.values[scaled.row_of], expected)
    assert len(scaled) == (len(np.unique(table[:, kept], axis=0)) if kept else 1)


@pytest.mark.parametrize("seed", range(4))
def test_principal_components_equal_scikit_learns_on_all_launches(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Few hidden dimensions and a little noise, so that components are dropped; rows repeat unevenly.
    mixed = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 7)) + rng.normal(0, 0.02, size=(60, 7))
    table = mixed[rng.integers(0, 60, 500) // rng.integers(1, 4, 500)]
    scores = principal_components(standardise(dict(zip("abcdefg", table.T, strict=True)))[0])
    pca = PCA(0.9995, svd_solver="full")
    expected = pca.fit_transform(StandardScaler().fit_transform(table))
    assert 1 < scores.values.shape[1] == pca.n_components_ <= 7
    assert np.allclose(np.abs(scores.values[scores.row_of]), np.abs(expected), atol=1e-6)


# TBPoint.


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


@pytest.mark.parametrize("seed", range(3))
def test_one_tree_cut_at_each_threshold_equals_fresh_runs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    centre = rng.normal(0, 2, size=(8, 3))
    table = centre[rng.integers(0, 8, 200)] + rng.normal(0, 0.12, size=(200, 3))
    table[150:] = table[rng.integers(0, 20, 50)]  # repeated launches weigh in average distances
    cycles = rng.lognormal(5, 1, 200)
    fresh = [fresh_run(table, cycles, hundredths / 100) for hundredths in range(20, 0, -1)]
    errors = [error for error, _, _ in fresh]
    assert len({len(sizes) for _, _, sizes in fresh}) > 10
    picks = linked(launch_list(table, cycles), error=1e-12)
    assert picks.details["projected_errors"] == pytest.approx(errors)
    chosen = int(np.argmin(errors))
    _, representatives, sizes = fresh[chosen]
    assert picks.details["threshold"] == pytest.approx((20 - chosen) / 100)
    assert picks.details["representatives"] == representatives
    assert np.bincount(picks.stratum).tolist() == sizes
    assert any("none of the thresholds" in note for note in picks.notes)


def test_more_than_20000_launches_are_refused() -> None:
    assert len(linked(launch_list(np.ones((20_000, 1)), np.ones(20_000))).row) == 1
    # Metrics would not help, so their lack is not what is said.
    with pytest.raises(NotApplicableError, match=r"memory, so it takes at most 20,000; .*`launches=A:B`"):
        linked(launch_list(np.full((20_001, 1), np.nan), np.ones(20_001)))


def test_cutcp() -> None:
    order = np.array([0, 1, 2, 2, 1, 2, 0, 2, 1, 2, 2])
    features = np.array([[1.0, 5.0], [4.0, 2.0], [9.0, 7.0]])[order]
    check_against_paper(features, np.array([300.0, 200.0, 100.0])[order], [0, 1, 2], [2, 3, 6], 0, 3)


def test_columns_of_low_variation_are_dropped_and_mean_zero_stays() -> None:
    table = np.array([[1000, 1000, -1, 0, 7], [1000, 1000, 1, 0, 7], [1000.4, 1020, 0, 0, 7]])
    # Coefficients of variation: 1.9e-4, 9.4e-3, infinite, none, 0.
    _, found, _ = standardise(dict(zip("abcde", table.T, strict=True)))
    assert found == {"columns": ["b", "c"], "columns_left_out": ["a", "d", "e"]}
