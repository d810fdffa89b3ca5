"""Two-level profiling: exact labels, classifiers held against plain scikit-learn, and what is reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from sampling.features.metric_names import CHARACTERISTICS
from sampling.methods import two_level
from sampling.methods.method import Picks
from sampling.reduction.launch_list import LaunchList
from tests.launch_lists import launches_of

NAN = float("nan")
LOADS = CHARACTERISTICS[0][0]


def launch_list(
    names: Sequence[str], grid_x: Any, loads: Any, duration_ns: Any, tensor: Any = None
) -> LaunchList:
    """Return launches; those beyond the ``loads`` lack them."""
    metrics = {LOADS: np.concatenate([loads, np.full(len(names) - len(loads), NAN)])}
    if tensor is not None:
        metrics["tensor_m"] = tensor
    return launches_of(names, metrics, grid_x=grid_x, block_x=[32] * len(names), duration_ns=duration_ns)


def picks_of(listed: LaunchList, seed: int = 0, **options: Any) -> Picks:
    """Return what two-level picks."""
    return two_level.pick(listed, two_level.Options(**options), np.random.default_rng(seed), None)


def test_equal_name_grid_and_block_take_the_same_group() -> None:
    names, grids = ["a", "b", "a", "b", "b", "a", "b"], [1, 1, 2, 1, 1, 2, 1]
    picks = picks_of(launch_list(names, grids, [10, 500, 10], [5, 900, 5, 900, 900, 5, 900]))
    assert picks.stratum.tolist() == [0, 1, 0, 1, 1, 0, 1]
    assert (picks.row.tolist(), picks.weight.tolist()) == ([0, 1], [3, 4])
    assert (picks.details["classifier"], picks.details["share_classified"]) == (None, 0)
    assert picks.details["share_matched_exactly"] == 4 / 7


def separable(seed: int, detailed: int, others: int) -> tuple[LaunchList, NDArray[np.int64]]:
    """Return launches whose group is the size of their grid, which no two share, and that group.

    The first half of the others has a name that the detailed ones lack.
    """
    rng = np.random.default_rng(seed)
    total = detailed + others
    large = rng.integers(0, 2, total)
    large[0] = 0
    large[1] = 1
    grid = np.where(large, 1_000_000, 100) + rng.permutation(total)
    names = np.array(["a", "b"])[rng.integers(0, 2, total)]
    names[detailed : detailed + others // 2] = "c"
    loads = np.where(large, 500.0, 10.0)[:detailed]
    return launch_list(names.tolist(), grid, loads, np.where(large, 900, 5)), large


@pytest.mark.parametrize("classifier", ["best", "sgd", "naive-bayes", "mlp"])
def test_other_grids_are_classified_and_unseen_names_counted(classifier: str) -> None:
    launches, large = separable(1, 60, 40)
    picks = picks_of(launches, classifier=classifier)
    assert picks.stratum.tolist() == large.tolist()
    tried = ("sgd", "naive-bayes", "mlp") if classifier == "best" else (classifier,)
    assert picks.details["holdout_accuracy"] == dict.fromkeys(tried, 1)
    assert picks.details["classifier"] == tried[0]
    assert picks.details["share_classified"] == 0.4
    assert picks.details["share_matched_exactly"] == 0
    assert picks.details["share_name_unseen"] == 0.2
    assert picks.weight.tolist() == np.bincount(large).tolist()


# These differed while the variance that is added was that of the distinct rows.
@pytest.mark.parametrize("seed", [*range(8), 75, 401, 880])
def test_counts_are_as_good_as_launches(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = int(rng.integers(2, 7))
    known = np.column_stack([rng.integers(0, 2, kinds), rng.integers(0, 4, (kinds, 2)).astype(float)])
    group = rng.integers(0, 2, kinds)
    count = rng.choice([1, 2, 50, 1000], kinds)
    asked = np.column_stack([rng.integers(0, 2, 4), rng.integers(0, 4, (4, 2)).astype(float)])
    if (group == group[0]).all():
        return
    names = np.unique(known[:, 0])

    def rows(inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack([inputs[:, :1] == names, inputs[:, 1:]]).astype(float)

    # The same by scikit-learn, every launch a row of its own.
    scaler = StandardScaler().fit(np.repeat(rows(known), count, axis=0))
    model = GaussianNB().fit(scaler.transform(np.repeat(rows(known), count, axis=0)), np.repeat(group, count))
    ours = two_level.classifier("naive-bayes", known, group, count, 0)(asked)
    assert ours.tolist() == model.predict(scaler.transform(rows(asked))).tolist()
