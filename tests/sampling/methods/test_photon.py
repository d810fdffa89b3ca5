"""Photon between kernels: what is kept, what a launch matches, and whose weight it adds to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import NotApplicableError
from sampling.methods import photon
from sampling.methods.method import Picks
from sampling.reduction.launch_list import BlockVectors, Features, LaunchList
from tests.launch_lists import launches_of

Launch = tuple[Sequence[float], int]


def block_vectors(rows: Sequence[Launch]) -> BlockVectors:
    """Return the vectors of launches given as (counts, warps)."""
    lengths = [len(counts) for counts, _ in rows]
    return BlockVectors(
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        counts=np.array([count for counts, _ in rows for count in counts], dtype=np.float64),
        warps=np.array([warps for _, warps in rows], dtype=np.int64),
    )


def launch_list(rows: Sequence[Launch], threads: Sequence[int] = (), features: bool = True) -> LaunchList:
    """Return launches of one kernel, two blocks each where ``threads`` a block are given."""
    block = np.array(threads or [0] * len(rows), dtype=np.int64)
    given = Features(block_vectors=block_vectors(rows)) if features else None
    return launches_of(["kernel"] * len(rows), grid_x=2 * (block > 0), block_x=block, features=given)


def picked(rows: Sequence[Launch], distance: float = 0.05, threads: Sequence[int] = ()) -> Picks:
    """Return Photon's picks of launches given as (counts, warps)."""
    return photon.pick(launch_list(rows, threads), photon.Options(distance), np.random.default_rng(0), None)


def scanned(rows: Sequence[Launch], distance: float) -> tuple[list[int], list[int]]:
    """Return the kept launches and which of them each launch matches, by a plain scan."""
    blocks = max(len(counts) for counts, _ in rows)
    vectors = np.zeros((len(rows), blocks))
    for index, (counts, _) in enumerate(rows):
        vectors[index, : len(counts)] = counts
    kept: list[int] = []
    matched = []
    for index, (_, warps) in enumerate(rows):
        norm = np.linalg.norm(vectors[index])
        best = None
        for place, other in enumerate(kept):
            apart = np.linalg.norm(vectors[index] - vectors[other])
            near = apart == 0 if norm == 0 else apart / norm < distance
            if near and (best is None or abs(warps - rows[other][1]) < abs(warps - rows[kept[best]][1])):
                best = place
        if best is None:
            best = len(kept)
            kept.append(index)
        matched.append(best)
    return kept, matched


def check_against_scan(rows: Sequence[Launch], distance: float) -> None:
    """Picks equal those of the plain scan."""
    kept, matched = scanned(rows, distance)
    picks = picked(rows, distance)
    assert picks.row.tolist() == kept
    assert picks.stratum.tolist() == matched
    assert picks.weight.tolist() == np.bincount(matched).tolist()


# Few and small numbers, so that vectors repeat, differ in trailing zeros, tie and lie near the threshold.


@given(
    seed=st.integers(0, 10_000),
    spread=st.sampled_from([0.003, 0.02, 0.05, 0.3]),
    blocks=st.integers(1, 12),
    distance=st.sampled_from([0.02, 0.05, 0.3]),
)
def test_a_plain_scan_finds_the_same_among_clouds_of_vectors(
    seed: int, spread: float, blocks: int, distance: float
) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 10**6, (4, blocks))[rng.integers(0, 4, 80)] * rng.normal(1, spread, (80, blocks))
    lengths, warps = rng.integers(max(1, blocks - 2), blocks + 1, 80), rng.integers(1, 40, 80)
    vectors = [np.abs(np.rint(row[:length])).tolist() for row, length in zip(counts, lengths, strict=True)]
    check_against_scan(list(zip(vectors, warps.tolist(), strict=True)), distance)


def test_vectors_taken_a_few_at_a_time_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    base = rng.integers(50, 150, 3)
    rows = [
        ((base * rng.normal(1, 0.06, 3)).round().tolist(), int(warps)) for warps in rng.integers(1, 30, 400)
    ]
    monkeypatch.setattr(photon, "MOST_ROWS", 3)
    monkeypatch.setattr(photon, "MOST_CELLS", 40)
    assert 10 < len(scanned(rows, 0.05)[0]) < 390
    check_against_scan(rows, 0.05)


@pytest.mark.parametrize(
    ("rows", "features", "message"),
    [
        ([((1,), 1)] * 3, False, "3 of 3 lack them; .*`features`.*NVBit"),
        ([((1,), 1), ((), 1), ((), 1)], True, "2 of 3 lack them"),
        ([((1,), 1), ((2,), 0)], True, "its warps or its grid and block; 1 of 2"),
        ([((1,), 1), ((np.nan,), 1)], True, "negative or no number"),
    ],
)
def test_missing_or_wrong_vectors_are_refused(rows: list[Launch], features: bool, message: str) -> None:
    launches = launch_list(rows, features=features)
    with pytest.raises(NotApplicableError, match=message):
        photon.pick(launches, photon.Options(), np.random.default_rng(0), None)


def test_too_many_unlike_launches_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is unlike all others: comparing grows with their square."""
    monkeypatch.setattr(photon, "MOST_COMPARISONS", 100)
    with pytest.raises(NotApplicableError, match=r"12 distinct vectors.*photon\.distance"):
        picked([([float(2**index), 1.0], 4) for index in range(12)])


def test_exactly_five_per_cent_is_no_match() -> None:
    assert picked([((105,), 1), ((100,), 1)]).row.tolist() == [0, 1]
    assert picked([((104.999,), 1), ((100,), 1)]).row.tolist() == [0]
    # Large counts, where a product of matrices would not tell 5 % from a little less.
    for large in (10**9, 123_456_789, 987_654_321_987):
        assert picked([((21 * large,), 1), ((20 * large,), 1)]).row.tolist() == [0, 1]
