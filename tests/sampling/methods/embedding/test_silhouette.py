"""The mean silhouette, against scikit-learn's of all launches one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import silhouette_score

from sampling.methods import embedding
from sampling.methods.embedding import compared_rows, mean_silhouette
from sampling.methods.pka.distinct_rows import distinct_rows


@given(
    values=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=40),
    of_value=st.lists(st.integers(0, 3), min_size=20, max_size=20),
)
def test_equal_launches_count_as_often_as_there_are(
    values: list[tuple[int, int]], of_value: list[int]
) -> None:
    table = np.array(values, dtype=np.float64)
    rows = distinct_rows(list(table.T), len(table))
    group = np.array([of_value[int(x * 4 + y)] for x, y in rows.values])
    labels = group[rows.row_of]
    assume(2 <= len(set(labels.tolist())) <= len(labels) - 1)
    found = mean_silhouette(compared_rows(rows, np.random.default_rng(0)), group)
    assert found == pytest.approx(silhouette_score(table, labels), abs=1e-12)


def test_by_hand() -> None:
    # 0 and 1 against 4: a = 1, b = 4 and 3; the launch alone in its cluster has 0.
    rows = distinct_rows([np.array([0.0, 1.0, 4.0])], 3)
    compared = compared_rows(rows, np.random.default_rng(0))
    assert mean_silhouette(compared, np.array([0, 0, 1])) == pytest.approx((3 / 4 + 2 / 3 + 0) / 3)
    assert mean_silhouette(compared, np.array([2, 2, 2])) == -1
    assert mean_silhouette(compared, np.array([0, 1, 2])) == 0


def test_of_many_vectors_some_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "COMPARED", 300)
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 5000)
    table = rng.normal(size=(5000, 2)) + 6 * group[:, None]
    rows = distinct_rows(list(table.T), len(table))
    compared = compared_rows(rows, np.random.default_rng(1))
    assert compared.count.sum() == 300
    # The standard deviation of one launch's silhouette is about 0.2, of 300 about 0.012.
    assert mean_silhouette(compared, group) == pytest.approx(silhouette_score(table, group), abs=0.05)
