"""`embedding` from the command line: plans of both draws, judged, estimated, and what cannot be done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sampling.plan.plan_file import read_plan
from sampling.readers.registry import read_profile
from tests.cli.conftest import Kernelpoint
from tests.cli.test_estimate import launches_of, results_of

JSON = ("--format", "json")


@pytest.fixture
def vectors(resnet: Path, tmp_path: Path) -> Path:
    """Vectors of the sample's launches: four clusters by how long they last."""
    duration_ns = read_profile([str(resnet)]).load(("duration_ns",))["duration_ns"]
    cluster = np.digitize(duration_ns, [8_000, 30_000, 90_000])
    assert set(cluster.tolist()) == {0, 1, 2, 3}
    noise = np.random.default_rng(0).normal(0, 0.1, (len(cluster), 6))
    path = tmp_path / "vectors.npy"
    np.save(path, (np.eye(6)[cluster] * 5 + noise).astype(np.float32))
    return path


def sampled(kernelpoint: Kernelpoint, resnet: Path, vectors: Path, *words: Any) -> Any:
    run = kernelpoint(
        "sample", resnet, "--method", "embedding", "--features", vectors, "--judge", "200", *words, *JSON
    )
    assert run.code == 0, run.err
    return run.results


def test_the_nearest_stand_for_their_clusters_without_an_interval(
    kernelpoint: Kernelpoint, resnet: Path, vectors: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    results = sampled(kernelpoint, resnet, vectors, "-o", plan)
    assert (results["strata"], results["samples"], results["bound"]) == (4, 4, None)
    assert results["details"]["k"] == 4
    assert sorted(results["details"]["representatives"]) == sorted(each["id"] for each in launches_of(plan))
    assert not read_plan(str(plan)).is_random
    run = kernelpoint("estimate", plan, results_of(plan, tmp_path / "cycles.csv"), *JSON)
    assert (run.results["metrics"][0]["low"], run.results["metrics"][0]["high"]) == (None, None)


def test_random_draws_have_a_bound_and_an_interval(
    kernelpoint: Kernelpoint, resnet: Path, vectors: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    random = ("--set", "embedding.draw=random", "--set", "embedding.k=4", "-o", plan)
    results = sampled(kernelpoint, resnet, vectors, *random)
    assert results["bound"] == pytest.approx(0.05, rel=0.1)
    assert results["judged"]["within_epsilon"] >= 0.9
    assert results["details"]["representatives"] is None
    back = read_plan(str(plan))
    assert back.is_random
    assert sum(stratum.size for stratum in back.strata) == back.launches == 5600
    table = results_of(plan, tmp_path / "cycles.csv", spread=1)
    run = kernelpoint("estimate", plan, table, "--groups", *JSON)
    (cycles,) = run.results["metrics"]
    assert cycles["low"] < cycles["total"] < cycles["high"]
    assert len(run.results["groups"]) == 4
    judged = kernelpoint("judge", plan, resnet, *JSON)
    assert judged.results["error"] == pytest.approx(results["error"])
    assert judged.results["within_epsilon"] is None
    assert "its clusters are told by features, which the plan does not hold" in judged.err


def test_intervals_of_the_clusters_cover_the_total(
    kernelpoint: Kernelpoint, resnet: Path, vectors: Path, tmp_path: Path
) -> None:
    duration_ns = read_profile([str(resnet)]).load(("duration_ns",))["duration_ns"].astype(np.int64)
    noise = np.arange(len(duration_ns)) * 7919 % 21 - 10
    truth = int((duration_ns * (300 + 9 * noise) // 100).sum())
    covered = 0
    for seed in range(12):
        plan = tmp_path / f"plan{seed}.json"
        random = ("--set", "embedding.draw=random", "--set", "embedding.k=4", "--judge", "0")
        sampled(kernelpoint, resnet, vectors, *random, "--seed", seed, "-o", plan)
        table = results_of(plan, tmp_path / f"cycles{seed}.csv", spread=9)
        (cycles,) = kernelpoint("estimate", plan, table, *JSON).results["metrics"]
        covered += cycles["low"] <= truth <= cycles["high"]
    # Of 12 intervals at 95 %, fewer than 10 cover once in 50 times.
    assert covered >= 10


def test_what_needs_the_vectors_again_is_refused_in_words(
    kernelpoint: Kernelpoint, resnet: Path, vectors: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    random = ("--set", "embedding.draw=random", "--set", "embedding.k=4")
    sampled(kernelpoint, resnet, vectors, *random, "--epsilon", "0.2", "-o", plan)
    table = results_of(plan, tmp_path / "cycles.csv", spread=5)
    more = kernelpoint("estimate", plan, table, "--target", "0.0001", "--top-up", tmp_path / "more.json")
    assert more.code == 1
    assert "clusters told by features cannot be topped up" in more.err
    traded = kernelpoint("trade-off", resnet, "--method", "embedding")
    assert traded.code == 2
    assert "features of single launches" in traded.err


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((5599, 2)), "5,599 rows for 5,600 launches, and it has nothing but their order"),
        (np.full((5600, 1), "a"), "not rows of numbers"),
        (np.full((5600, 2), np.nan), "5,600 of 5,600 launches lack numbers of it"),
    ],
)
def test_wrong_files(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path, array: Any, message: str
) -> None:
    path = tmp_path / "wrong.npy"
    np.save(path, array)
    run = kernelpoint("sample", resnet, "--method", "embedding", "--features", path)
    assert run.code in {1, 3}
    assert message in " ".join(run.err.split())
    assert "Traceback" not in run.err


def test_what_binds_a_plan_by_vectors_is_not_known(
    kernelpoint: Kernelpoint, resnet: Path, vectors: Path
) -> None:
    random = ("--set", "embedding.draw=random", "--set", "embedding.k=4")
    words = ("--method", "embedding", "--features", vectors, *random)
    run = kernelpoint("summary", resnet, *words)
    assert run.code == 0, run.err
    assert "What would be faster is not known, for embedding goes by features of single launches" in " ".join(
        run.out.split()
    )
    run = kernelpoint("sample", resnet, *words, "--binding", "--judge", "0", *JSON)
    assert run.results["binding"] == []
