"""Characteristics: which metrics count, standardising, principal axes, and distinct rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from sampling.errors import NotApplicableError
from sampling.features.metric_names import CHARACTERISTICS, is_cost
from sampling.methods import pks
from sampling.methods.clusters import distinct_rows
from sampling.methods.pks import characteristics, principal_components, standardise
from sampling.reduction.launch_list import Features, LaunchList
from tests.launch_lists import launches_of

NAN = float("nan")
LOADS, STORES = CHARACTERISTICS[0][0], CHARACTERISTICS[1][0]

TABLES = st.integers(1, 4).flatmap(
    lambda columns: st.lists(
        st.tuples(*[st.sampled_from([-3.0, 0.0, 1.0, 2.5, 1e6])] * columns), min_size=1, max_size=40
    )
)


def launch_list(metrics: dict[str, list[float]], units: dict[str, str] | None = None) -> LaunchList:
    """Return launches of one kernel with these metrics."""
    launches = len(next(iter(metrics.values())))
    features = Features({name: np.array(values) for name, values in metrics.items()}, units or {})
    return launches_of(["k"] * launches, features=features)


def columns_of(table: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the columns of a table by name."""
    return {f"m{index}": column for index, column in enumerate(table.T)}


def test_published_columns_come_in_the_papers_order_under_any_spelling() -> None:
    columns, _, (note,) = characteristics(
        launch_list({"Grid Size": [1, 2], "Executed Instructions": [3, 4], "other": [5, 6], LOADS: [7, 8]}),
        "published",
    )
    assert columns == (LOADS, "Executed Instructions", "Grid Size")
    assert note.startswith("3 of the 12 published characteristics are used; the profile lacks l1tex")
    assert STORES in note
    assert "smsp__inst_executed.sum" not in note


@pytest.mark.parametrize(
    ("choice", "metrics", "complete"),
    [
        (
            "published",
            {LOADS: [1, 2, NAN, 4], STORES: [1, NAN, NAN, float("inf")]},
            [0],
        ),
        ("published", {"other": [1, 2]}, []),
        (
            "all",
            {"a": [1, 1, 1, NAN], "b": [1, 1, NAN, NAN], "c": [1, NAN, NAN, NAN]},
            [0, 1],
        ),
        ("all", {"cycles": [1, 2]}, []),
    ],
)
def test_a_launch_is_complete_with_all_published_or_half_of_all(
    choice: str, metrics: dict[str, list[float]], complete: list[int]
) -> None:
    assert np.flatnonzero(characteristics(launch_list(metrics), choice)[1]).tolist() == complete


@pytest.mark.parametrize(("loads", "advised"), [([1, NAN, NAN], True), ([NAN, 1, NAN], False)])
def test_lacking_launches_are_counted_and_the_remedy_names_the_command(
    loads: list[float], advised: bool
) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(NotApplicableError, match="2 of 3 launches lack them") as caught:
        pks.pick(launch_list({LOADS: loads}), pks.Options(), rng, None)
    assert caught.value.remedy is not None
    assert f"record {len(CHARACTERISTICS) + 1} metrics" in caught.value.remedy
    assert "`kernelpoint methods`" in caught.value.remedy
    assert "`features`" in caught.value.remedy
    assert ("two-level" in caught.value.remedy) is advised


def test_columns_of_low_variation_are_dropped_and_mean_zero_stays() -> None:
    table = np.array(
        [[1000.0, 1000.0, -1.0, 0.0, 7.0], [1000.0, 1000.0, 1.0, 0.0, 7.0], [1000.4, 1020.0, 0.0, 0.0, 7.0]]
    )
    # Coefficients of variation: 1.9e-4, 9.4e-3, infinite, none, 0.
    _, kept, left_out, _ = standardise(columns_of(table))
    assert (kept, left_out) == (["m1", "m2"], ["m0", "m3", "m4"])


@given(rows=TABLES)
def test_distinct_rows_are_those_of_the_table_in_order(rows: list[tuple[float, ...]]) -> None:
    table = np.array(rows)
    distinct = distinct_rows(list(table.T), len(table))
    assert (distinct.values[distinct.row_of] == table).all()
    assert [tuple(row) for row in distinct.values.tolist()] == list(dict.fromkeys(rows))
    assert distinct.first.tolist() == [rows.index(row) for row in dict.fromkeys(rows)]
    assert distinct.count.tolist() == [rows.count(row) for row in dict.fromkeys(rows)]


@given(rows=TABLES)
def test_standardising_equals_scikit_learns_on_all_launches(rows: list[tuple[float, ...]]) -> None:
    table = np.array(rows)
    rows_found, names, _, _ = standardise(columns_of(table))
    kept = [int(name[1:]) for name in names]
    expected = StandardScaler().fit_transform(table[:, kept]) if kept else np.zeros((len(table), 0))
    assert np.allclose(rows_found.values[rows_found.row_of], expected)
    assert len(rows_found) == (len(np.unique(table[:, kept], axis=0)) if kept else 1)


@pytest.mark.parametrize("seed", range(6))
def test_principal_components_equal_scikit_learns_on_all_launches(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Few hidden dimensions and a little noise, so that components are dropped; rows repeat unevenly.
    mixed = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 7)) + rng.normal(0, 0.02, size=(60, 7))
    table = mixed[rng.integers(0, 60, 500) // rng.integers(1, 4, 500)]
    scores = principal_components(standardise(columns_of(table))[0])
    pca = PCA(0.9995, svd_solver="full")
    expected = pca.fit_transform(StandardScaler().fit_transform(table))
    assert 1 < scores.values.shape[1] == pca.n_components_ <= 7
    assert np.allclose(np.abs(scores.values[scores.row_of]), np.abs(expected), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        *(("Duration", "ns"), ("Elapsed Cycles", "cycle"), ("Executed Ipc Active", "inst/cycle")),
        *(
            ("Issued Ipc Active", None),
            ("IPC", None),
            ("duration_us", None),
            ("gpu__time_duration.sum", None),
        ),
        *(("SM Frequency", "hertz"), ("dram__bytes.sum.per_second", "byte/s"), ("Memory Throughput", "%")),
        *(("smsp__cycles_active.avg", None), ("time", None), ("x", "ns"), ("x", "GB/s"), ("x", "Gbps")),
        *((name, None) for name in ("latency", "runtime_us", "timestamp", "start_ns", "bandwidth_gbps")),
        *((name, None) for name in ("kernelTime", "cycle_count", "GB/s", "dram_utilization", "stall_memory")),
        *((name, "%") for name in ("Max Bandwidth", "One or More Eligible", "No Eligible", "Memory [%]")),
        *((name, "%") for name in ("SM [%]", "Compute (SM) [%]", "Achieved Occupancy")),
        *((name, None) for name in ("Issued Warp Per Scheduler", "Active Warps Per Scheduler")),
        ("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "inst"),
        *(("smsp__pcsamp_warps_issue_stalled_wait", "warp"), ("smsp__pcsamp_sample_count", None)),
    ],
)
def test_times_cycles_and_rates_are_what_a_launch_costs(name: str, unit: str | None) -> None:
    assert is_cost(name, unit)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        *(("life_time_count", None), ("timer_count", None), ("sector_hit_rate", "%"), ("L2 Hit Rate", "%")),
        *(("device__attribute_num_l2s", None), ("s", None), ("blocks", None), ("instructions", "inst")),
        *(("flops", None), ("Theoretical Active Warps per SM", "warp"), ("Theoretical Occupancy", "%")),
        *(("Avg. Active Threads Per Warp", None), ("Shared Memory Configuration Size", "byte")),
    ],
)
def test_counts_and_shares_of_counts_are_no_costs(name: str, unit: str | None) -> None:
    assert not is_cost(name, unit)
