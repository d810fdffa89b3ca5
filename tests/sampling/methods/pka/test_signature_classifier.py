"""Naive Bayes of distinct rows with counts against scikit-learn's of the launches themselves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from sampling.methods.pka.two_level import Inputs, SignatureClassifier


def of_launches(
    known: Inputs, group: NDArray[np.int64], count: NDArray[np.int64], asked: Inputs
) -> NDArray[np.int64]:
    """Return the groups that scikit-learn gives when every launch is a row of its own."""
    names = np.unique(known.name)

    def rows(inputs: Inputs) -> NDArray[np.float64]:
        return np.column_stack([inputs.name[:, None] == names, inputs.numbers]).astype(float)

    scaler = StandardScaler().fit(np.repeat(rows(known), count, axis=0))
    model = GaussianNB().fit(scaler.transform(np.repeat(rows(known), count, axis=0)), np.repeat(group, count))
    found: NDArray[np.int64] = model.predict(scaler.transform(rows(asked)))
    return found


# These differed while the variance that is added was that of the distinct rows.
@pytest.mark.parametrize("seed", [*range(20), 75, 401, 880])
def test_counts_are_as_good_as_launches(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = int(rng.integers(2, 7))
    known = Inputs(rng.integers(0, 2, kinds), rng.integers(0, 4, (kinds, 2)).astype(float))
    group = rng.integers(0, 2, kinds)
    count = rng.choice([1, 2, 50, 1000], kinds)
    asked = Inputs(rng.integers(0, 2, 4), rng.integers(0, 4, (4, 2)).astype(float))
    if (group == group[0]).all():
        return
    ours = SignatureClassifier("naive-bayes", known, group, count, 0).predict(asked)
    assert ours.tolist() == of_launches(known, group, count, asked).tolist()


def test_equal_rows_are_of_the_most_frequent_group() -> None:
    """Nothing tells these groups apart; scikit-learn alone would divide 0 by 0 and warn."""
    known = Inputs(np.array([3, 3, 3]), np.ones((3, 2)))
    model = SignatureClassifier("naive-bayes", known, np.array([0, 1, 2]), np.array([2, 5, 4]), 0)
    assert model.predict(Inputs(np.array([3, 8]), np.zeros((2, 2)))).tolist() == [1, 1]
