"""Five real designs of one program: what `speedup` says of them, and the truth beside it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Kernelpoint

DESIGNS = ("base", "gto", "dram150", "l1lat30", "l2lat120")
CHANGES = {
    "gto": ("-gpgpu_scheduler", "lrr", "gto"),
    "dram150": ("-dram_latency", "100", "150"),
    "l1lat30": ("-gpgpu_l1_latency", "20", "30"),
    "l2lat120": ("-gpgpu_l2_rop_latency", "160", "120"),
}


@pytest.fixture(scope="module")
def words(runs: Path, kernelpoint: Kernelpoint, tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """The command on a plan of another size's cycles, of two launches a stratum at least."""
    folder, plan = runs / "torch-32-design", tmp_path_factory.mktemp("plan") / "plan.json"
    if not folder.is_dir():
        pytest.skip("the runs of five designs (sim/torch-32-design) are not here")
    asked = ("--min-samples", 2, "--judge", 0, "-o", plan)
    assert kernelpoint("sample", runs / "torch-8.table.csv", *asked).code == 0
    return ["speedup", plan, *(f"{name}={folder / name}.log.gz" for name in DESIGNS)]


@pytest.fixture(scope="module")
def truth(runs: Path) -> dict[str, float]:
    """Speedups of the whole runs, of which every launch was simulated."""
    path = runs / "torch-32-design" / "design.csv"
    if not path.is_file():
        pytest.skip("the runs of five designs (sim/torch-32-design) are not here")
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    totals = {name: sum(float(row[name]) for row in rows) for name in DESIGNS}
    return {name: totals["base"] / totals[name] for name in DESIGNS}


def cells_of(kernelpoint: Kernelpoint, *words: object) -> list[dict[str, Any]]:
    run = kernelpoint(*words, "--format", "json")
    assert run.code == 0, run.err
    (program,) = run.results["programs"]
    cells: list[dict[str, Any]] = program["cells"]
    return cells


def test_the_truth_is_inside_every_interval(
    kernelpoint: Kernelpoint, words: list[object], truth: dict[str, float]
) -> None:
    base, *cells = cells_of(kernelpoint, *words)
    assert base["configuration"] == "base"
    for cell in cells:
        assert cell["low"] <= truth[cell["configuration"]] <= cell["high"]
        assert cell["high"] / cell["low"] < 1.07
        # Never the wrong sign.
        if cell["verdict"] != "not told apart":
            assert (cell["verdict"] == "faster") == (truth[cell["configuration"]] > 1)
    for cell in cells_of(kernelpoint, *words, "--all-pairs")[1:]:
        assert cell["low"] <= truth[cell["configuration"]] / truth[cell["base"]] <= cell["high"]


def test_sentences_and_the_options_that_differ(kernelpoint: Kernelpoint, words: list[object]) -> None:
    run = kernelpoint(*words)
    assert run.code == 0, run.err
    said = " ".join(run.out.split())
    first = said.partition(" configuration ")[0]
    assert first.endswith("22 of 131 launches, 95 % for all together.")
    assert "l1lat30 is 2.5 % slower than base (" in first
    assert "l2lat120 is 12.8 % faster than base (" in first
    assert "launches more would tell" in first
    for name, (option, before, after) in CHANGES.items():
        assert f"{name} {option} {after} instead of {before}" in said


def test_two_runs_of_one_design_are_the_simulators_own_noise(
    kernelpoint: Kernelpoint, words: list[object], tmp_path: Path
) -> None:
    base = str(words[2]).partition("=")[2]
    same = kernelpoint(*words[:2], f"a={base}", f"b={base}")
    assert same.out.startswith("the results of b and a are the same files.")
    # The same run, as it was printed another time.
    import gzip

    (again := tmp_path / "again.log").write_bytes(b"\n" + gzip.decompress(Path(base).read_bytes()))
    said = " ".join(kernelpoint(*words[:2], f"a={base}", f"b={again}").out.split())
    assert "b and a have the same options: what differs is the simulator's own noise" in said
    assert "not told apart" not in said
