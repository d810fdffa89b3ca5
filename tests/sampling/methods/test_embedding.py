"""The method embedding: representatives and K by hand, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from sampling.errors import NotApplicableError
from sampling.methods import embedding
from sampling.methods.method import Picks
from sampling.reduction.launch_list import LaunchList
from tests.launch_lists import launches_of


def launch_list(metrics: dict[str, Any], duration_ns: Any = None) -> LaunchList:
    """Return launches with ids from 100 on and these metrics."""
    launches = len(next(iter(metrics.values())))
    return launches_of(["k"] * launches, metrics, duration_ns=duration_ns, first_id=100)


def vectors(table: Any, duration_ns: Any = None) -> LaunchList:
    """Return launches whose vectors are the rows of a table, as an npy file names them."""
    table = np.asarray(table, dtype=np.float64)
    return launch_list({f"vector_{index}": column for index, column in enumerate(table.T)}, duration_ns)


def picks_of(launches: LaunchList, **options: Any) -> Picks:
    """Return what embedding picks."""
    return embedding.pick(launches, embedding.Options(**options), np.random.default_rng(0), None)


def blobs(seed: int, centres: int, launches: int) -> NDArray[Any]:
    """Return (launches, 3) vectors about some centres."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(0, 10.0, size=(centres, 3))
    return centre[rng.integers(0, centres, launches)] + rng.normal(0, 0.5, (launches, 3))


def test_clusters_and_their_nearest_launches_by_hand() -> None:
    # About 0, 10 and 100; the means are 1, 10 and 103: launches 1, 4 and 7 are nearest.
    values = [0.0, 1.0, 2.0, 9.0, 10.0, 11.0, 100.0, 102.0, 107.0]
    picks = picks_of(vectors(np.array(values)[:, None]), k=3)
    assert (picks.row.tolist(), picks.weight.tolist()) == ([1, 4, 7], [3, 3, 3])
    assert picks.stratum.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert picks.details["representatives"] == [101, 104, 107]
    # Of 0, 4, 1, 1, 1 the mean is 1.4, of all launches; 50 and 52 are equally near to 51: the first is taken.
    picks = picks_of(vectors(np.array([0.0, 52.0, 4.0, 1.0, 50.0, 1.0, 1.0])[:, None]), k=2)
    assert (picks.row.tolist(), picks.weight.tolist()) == ([1, 3], [2, 5])


@pytest.mark.parametrize("seed", range(2))
def test_silhouette_chooses_the_k_that_scikit_learn_scores_best(seed: int) -> None:
    table = blobs(seed, 5, 150)
    scores = {
        k: silhouette_score(table, KMeans(k, n_init=20, random_state=0).fit_predict(table))
        for k in range(2, 13)
    }
    picks = picks_of(vectors(table), k_max=12)
    assert picks.details["k"] == max(scores, key=lambda k: scores[k])
    assert max(picks.details["silhouettes"]) == pytest.approx(max(scores.values()), abs=1e-9)
    fitted = KMeans(picks.details["k"], n_init=20, random_state=0).fit(table)
    for centre in fitted.cluster_centers_:
        assert int(np.argmin(((table - centre) ** 2).sum(axis=1))) in picks.row
    assert picks.notes == ()


def test_which_columns_are_the_vector() -> None:
    metrics = {
        "vector_0": [1.0, 2.0, 9.0],
        "e0": [5.0, 5.0, 1.0],
        "instructions": [3.0, 1.0, 2.0],
        "cycles": [1.0, 2.0, 3.0],
        "tensor_0": [8.0, 1.0, 1.0],
    }
    assert picks_of(launch_list(metrics), k=2).details["columns"] == ["vector_0"]
    assert picks_of(launch_list(metrics), k=2, columns="e").details["columns"] == ["e0"]
    assert picks_of(launch_list(metrics), k=2, columns="tensor_").details["columns"] == ["tensor_0"]
    del metrics["vector_0"]
    picks = picks_of(launch_list(metrics), k=2)
    assert picks.details["columns"] == ["e0", "instructions"]
    assert any("left out of the vectors: cycles" in note for note in picks.notes)


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        (
            {"vector_0": [1.0, 2.0, np.nan], "vector_1": [np.nan, 2.0, 3.0]},
            {},
            "2 of 3 lack numbers of it, launch 100 'vector_1'",
        ),
        ({"cycles": [1.0, 2.0, 3.0]}, {}, "the profile has no numbers to make it of"),
        ({"e0": [1.0, 2.0, 3.0]}, {"columns": "f"}, "no numbers whose names begin with 'f'"),
    ],
)
def test_launches_without_their_whole_vector_are_refused(
    metrics: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(NotApplicableError, match=message) as caught:
        picks_of(launch_list(metrics), **options)
    assert "`features`" in str(caught.value.remedy)


def test_many_vectors_are_learned_from_some_and_each_goes_to_the_nearest_centre(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedding, "LEARNED_FROM", 200)
    table = blobs(5, 4, 3000) + 1e6
    for options in ({"k": 4}, {"k_max": 6}):
        picks = picks_of(vectors(table), **options)
        labels = KMeans(4, n_init=10, random_state=0).fit_predict(table)
        pairs = set(zip(picks.stratum.tolist(), labels.tolist(), strict=True))
        assert len(pairs) == len(set(picks.stratum.tolist())) == 4
        assert picks.weight.sum() == 3000
        assert picks.notes == ("centres are learned from 200 launches drawn at random",)
