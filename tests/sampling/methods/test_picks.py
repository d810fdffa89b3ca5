"""What holds of every method that picks launches by what is known of each; and the first instructions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampling.features.metric_names import CHARACTERISTICS
from sampling.methods import baselines
from sampling.methods.registry import method_named, method_names, method_options
from sampling.reduction.launch_list import BlockVectors, Features
from tests.launch_lists import launches_of

ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from([0, 1, 6, 90, 1e5]), st.sampled_from([32, 64])),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("name", sorted({*method_names(random=False)} - {"single-iteration", "layers"}))
@settings(max_examples=25)
@given(rows=ROWS, seed=st.integers(0, 3))
def test_every_launch_is_represented_once(name: str, rows: list[tuple[str, float, int]], seed: int) -> None:
    names, counts, threads = zip(*rows, strict=True)
    metrics = {CHARACTERISTICS[0][0]: counts, "instructions": counts, "vector_0": counts}
    offsets, warps = np.arange(len(rows) + 1), np.array(threads, dtype=np.int64)
    features = Features(
        {metric: np.array(values, dtype=np.float64) for metric, values in metrics.items()},
        block_vectors=BlockVectors(offsets, np.array(counts, dtype=np.float64), warps),
    )
    launches = launches_of(names, grid_x=[1] * len(rows), block_x=threads, features=features, by_name=True)
    pick, options = method_named(name).pick, method_options(name)
    assert pick is not None
    picks, again = (pick(launches, options, np.random.default_rng(seed), None) for _ in range(2))
    assert len(set(picks.labels)) == len(picks.labels) == picks.stratum.max() + 1
    assert (np.diff(picks.row) > 0).all()
    if name != "first-instructions":
        assert sorted(picks.stratum[picks.row].tolist()) == list(range(len(picks.labels)))
        assert picks.weight.tolist() == np.bincount(picks.stratum)[picks.stratum[picks.row]].tolist()
    assert (picks.stratum == again.stratum).all()
    assert (picks.row == again.row).all()


@given(counts=st.lists(st.integers(0, 1000), min_size=1, max_size=50), limit=st.integers(1, 20_000))
def test_the_first_instructions_estimate_cycles_as_instructions_over_ipc(
    counts: list[int], limit: int
) -> None:
    done, taken = 0, 0
    while taken < len(counts) and done < limit:
        done += counts[taken]
        taken += 1
    cycles = np.arange(7.0, 7.0 + len(counts))
    launches = launches_of(["k"] * len(counts), {"instructions": counts})
    options = baselines.FirstOptions(limit)
    picks = baselines.pick_first(launches, options, np.random.default_rng(0), None)
    assert picks.row.tolist() == list(range(taken))
    expected = sum(counts) / (done / cycles[:taken].sum()) if done else cycles.sum()
    assert picks.estimate(cycles) == pytest.approx(expected, rel=1e-12)
    assert picks.details["instructions_done"] == done
