"""Every plan that is written is read again: of all methods and samples, by all options, topped up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sampling.methods.registry import method_names
from sampling.plan.plan_file import read_plan
from tests.cli.conftest import Kernelpoint, cycles_of

SAMPLES = (
    "resnet50-like.sqlite",
    "gpt2-like.json.gz",
    "resnet50-like-gpu-trace.csv",
    "recorded/h100-gpt-ranks",
)
#: What a method needs of every launch of the resnet sample; "counts" are made by the test.
FEATURES = {
    **dict.fromkeys(("pks", "two-level", "tbpoint"), "resnet50-like-ncu-raw.csv.gz"),
    "photon": "resnet50-like-blocks.csv.gz",
    **dict.fromkeys(("sieve", "first-instructions", "embedding"), "counts"),
}
WAYS = {
    "by name": ("--group-by", "name"),
    "devices pooled": ("--pool-devices",),
    "each rank": ("--each-rank",),
    "a window": ("--launches", "100:3000"),
    "no short ones": ("--min-duration", "5000"),
    "no communication": ("--exclude", "communication"),
    "no pool": ("--no-pool", "--min-samples", "3"),
    "fine": ("--epsilon", "0.002"),
    "coarse": ("--method", "root", "--epsilon", "0.9"),
    "by a cost": ("--features", "counts", "--cost", "instructions"),
    "overrides": ("--method", "root", "--overrides", "decisions"),
    "weights of instructions": (
        "--method",
        "sieve",
        "--features",
        "counts",
        "--set",
        "sieve.weights=instructions",
    ),
    "drawn in clusters": ("--method", "embedding", "--features", "counts", "--set", "embedding.draw=random"),
    "often the same": ("--method", "random", "--set", "random.probability=0.9"),
}


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("method", [name for name in method_names() if name not in FEATURES])
def test_of_every_sample_by_durations(
    kernelpoint: Kernelpoint, sample_data: Path, tmp_path: Path, method: str, sample: str
) -> None:
    path = tmp_path / "plan.json"
    run = kernelpoint("sample", sample_data / sample, "--method", method, "-o", path)
    if method in {"single-iteration", "layers"} and run.code == 1:
        # They need ranges, or iterations or layers to be found.
        assert "iteration" in run.err
        return
    assert run.code == 0, run.err
    assert read_plan(str(path)).text() == path.read_text()


@pytest.mark.parametrize("method", FEATURES)
def test_of_every_method_by_features(
    kernelpoint: Kernelpoint, sample_data: Path, resnet: Path, counts: Path, tmp_path: Path, method: str
) -> None:
    features = counts if FEATURES[method] == "counts" else sample_data / FEATURES[method]
    path = tmp_path / "plan.json"
    words = ("sample", resnet, "--method", method, "--features", features, "-o", path)
    assert kernelpoint(*words).code == 0
    assert read_plan(str(path)).text() == path.read_text()


@pytest.mark.parametrize("way", WAYS)
def test_however_it_was_made(
    kernelpoint: Kernelpoint, resnet: Path, counts: Path, tmp_path: Path, way: str
) -> None:
    key = kernelpoint("groups", resnet, "--format", "json").results[0]["key"]
    decisions = tmp_path / "decisions.json"
    decisions.write_text(json.dumps({"overrides": [{"key": key, "path": "", "decision": "split"}]}))
    places = {"counts": counts, "decisions": decisions}
    path, larger = tmp_path / "plan.json", tmp_path / "larger.json"
    words = ("sample", resnet, *(places.get(word, word) for word in WAYS[way]), "-o", path)
    assert kernelpoint(*words).code == 0
    plan = read_plan(str(path))
    assert plan.text() == path.read_text()
    if plan.is_random and way != "drawn in clusters":
        results = cycles_of(path, tmp_path / "cycles.csv", spread=20)
        words = ("estimate", path, results, "--target", "1e-5", "--accept-cold", "--top-up", larger)
        assert kernelpoint(*words).code == 4
        assert read_plan(str(larger)).topped_up is not None


def test_what_an_export_keeps_of_it(kernelpoint: Kernelpoint, plan_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    assert kernelpoint("export", plan_file, "--to", "csv", "-o", folder).code == 0
    assert read_plan(str(folder)).strata == read_plan(str(plan_file)).strata
