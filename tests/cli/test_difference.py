"""`difference`: two profiles, or two parts of one, in every form, and the check of the total."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import JSON, Kernelpoint


def write(path: Path, launches: Sequence[tuple[str, int, int]], device: int = 0) -> Path:
    """Write launches as name, grid, duration."""
    names, grids, durations = (list(column) for column in zip(*launches, strict=True))
    count = len(names)
    ones = [1] * count
    columns = {"name": names, "duration_ns": durations, "device": [device] * count}
    columns |= {f"grid_{axis}": grids if axis == "x" else ones for axis in "xyz"}
    columns |= {f"block_{axis}": ones for axis in "xyz"}
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    launches = [("void gemm<float>(float*)", 8, 1000 + index % 7) for index in range(40)]
    return write(
        tmp_path_factory.mktemp("d") / "before.parquet", [*launches, ("norm", 4, 500), ("old", 1, 70)]
    )


@pytest.fixture(scope="module")
def after(before: Path) -> Path:
    launches = [("void gemm<float>(float*)", 8, 1200 + index % 7) for index in range(40)]
    return write(before.with_name("after.parquet"), [*launches, ("norm", 5, 500), ("ne|w`", 1, 30)], device=1)


def test_kernels_sorted_otherwise(kernelpoint: Kernelpoint, before: Path, after: Path) -> None:
    def keys(*words: str) -> list[str]:
        kernels = kernelpoint("difference", before, after, *words, *JSON).results["kernels"]
        return [kernel["name"].split("<")[0] for kernel in kernels]

    assert keys() == ["void gemm", "old", "ne|w`", "norm"]
    assert keys("--reverse") == ["norm", "ne|w`", "old", "void gemm"]
    assert keys("--sort", "before") == ["void gemm", "norm", "old", "ne|w`"]
    assert keys("--sort", "after", "--reverse") == ["old", "ne|w`", "norm", "void gemm"]
    assert keys("--sort", "launches") == ["void gemm", "old", "ne|w`", "norm"]
    assert keys("--sort", "kernel") == ["ne|w`", "norm", "old", "void gemm"]
    # Kernels of one side alone have no ratio.
    assert keys("--sort", "mean") == ["void gemm", "norm", "old", "ne|w`"]
    assert keys("--sort", "mean", "--reverse") == ["norm", "void gemm", "old", "ne|w`"]
    assert keys("--sort", "before", "--top", "2") == ["void gemm", "norm"]


def test_what_changed_stands_first(kernelpoint: Kernelpoint, before: Path, after: Path) -> None:
    run = kernelpoint("difference", before, after, *JSON)
    assert run.results["total_after_ns"] - run.results["total_before_ns"] == 40 * 200 - 40
    gemm, old, new, norm = run.results["kernels"]
    assert gemm["key"] == "void gemm<float>(float*) <<<8x1x1, 1x1x1>>>"
    assert (gemm["change_ns"], gemm["status"], gemm["matched_by"]) == (8000, "both", "launch")
    assert 1 < gemm["low"] < gemm["ratio"] < gemm["high"] < 1.3
    assert (old["status"], new["status"]) == ("vanished", "appeared")
    assert new["before"] == {"launches": 0, "total_ns": 0, "mean_ns": None, "share": 0}
    assert [old["ratio"], new["ratio"], norm["low"]] == [None] * 3
    assert (norm["key"], norm["matched_by"], norm["change_ns"]) == ("norm", "name", 0)
    assert run.json["warnings"] == [
        "processes or devices differ, so kernels are matched without them",
        "1 kernel is matched by name alone, for grids or blocks differ after from before",
    ]
    assert all(text in run.err for text in run.json["warnings"])


def test_diff_is_the_same_command_and_open_prints_it(
    kernelpoint: Kernelpoint, before: Path, after: Path
) -> None:
    long, short = (kernelpoint(word, before, after, "-q") for word in ("difference", "diff"))
    assert (short.code, short.stdout, short.stderr) == (0, long.stdout, b"")
    assert "kernelpoint difference" in kernelpoint("diff", "--help").out
    assert "diff A B" not in kernelpoint("diff", before).failed(2)
    expected = kernelpoint("difference", f"{before}@:20", after, "--include", "gemm", *JSON)
    run = kernelpoint("open", f"{before}@:20", after, "--difference", "--include", "gemm", *JSON)
    assert (run.code, run.json) == (0, expected.json)
    assert "no terminal, so this is the difference; `ssh -t` opens the app" in run.err
    assert kernelpoint(before, after, "--difference", "-q").stderr == b""
    for files in (1, 3):
        said = kernelpoint("open", *[before] * files, "--difference").failed(2)
        assert f"--difference compares two profiles, and {files} are given" in said
    assert "no terminal" in kernelpoint("open", before, before, "--difference", "--app").failed(2)


def test_the_table_says_what_the_figures_are(kernelpoint: Kernelpoint, before: Path, after: Path) -> None:
    lines = kernelpoint("difference", before, after, "--top", "2", COLUMNS="120").out.splitlines()
    assert lines[0] == (
        "The kernel time grew 1.196x (1.195-1.197, +7.96 us), from 40.7 us to 48.6 us; kernels: 1 new, "
        "1 gone, 2 in both."
    )
    assert lines[1] == "Why: longer launches +8.00 us, kernels gone -70 ns, new kernels +30 ns."
    assert lines[5].split() == ["change", "before", "after", "launches", "mean", "interval", "kernel"]
    assert lines[6].split()[:2] == ["+8.00", "us"]
    assert lines[6].endswith("gemm 8x1x1")
    assert lines[7].split() == ["-70", "ns", "70", "ns", "-", "1", "gone", "-", "old", "1x1x1"]
    assert lines[8] == "and 2 more kernels, +30 ns together"
    assert "assume that either run goes on as it did" in " ".join(lines[9:])
    whole = kernelpoint("difference", before, after).out
    assert "norm (1 other shape)" in whole
    # Where there is no room for both, the kernel is named.
    narrow = kernelpoint("difference", before, after, COLUMNS="70").out
    assert "norm\n" in narrow


@pytest.mark.parametrize(("most", "code"), [("0.19", 4), ("0.2", 0), ("0", 4)])
def test_a_total_that_grew_is_4(
    kernelpoint: Kernelpoint, before: Path, after: Path, most: str, code: int
) -> None:
    run = kernelpoint("difference", before, after, "-q", "--fail-above", most)
    assert run.code == code
    assert run.out.startswith("The kernel time grew 1.196x")
    said = f"error: the total kernel time grew by 19.6 %, above {100 * float(most):.1f} %"
    said += " (1.195-1.197, +7.96 us)\n"
    assert run.err == (f"kernelpoint: {said}" if code else "")
    assert kernelpoint("difference", after, before, "--fail-above", most).code == 0
    for flag in ("--fail-above", "--confidence"):
        assert f"{flag} is a fraction" in kernelpoint("difference", before, after, flag, "95").failed(2)


def test_a_kernel_that_surely_takes_longer_is_4(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    """Of two that grew, one has launches too few or too varied to tell."""
    for name, gemm_ns, norm_ns in (("before", 100, 100), ("after", 120, 130)):
        rows = [f"gemm,{gemm_ns + each % 3}" for each in range(40)]
        rows += [f"norm,{norm_ns + 90 * (each % 2)}" for each in range(12)]
        (tmp_path / name).write_text("\n".join(["name,duration_ns", *rows, ""]))
    words = ("difference", tmp_path / "before", tmp_path / "after", "-q", "--fail-kernel-above")
    run = kernelpoint(*words, "0.1")
    assert run.code == 4
    assert "error: 1 kernel takes more than 10 % longer a launch, most of all gemm" in run.err
    assert kernelpoint(*words, "0.25").code == 0


def test_growth_that_the_interval_holds_is_no_failure(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    """Launches take longer for a while, then less: so much can the rest of a run differ too."""
    for name, slow in (("before", 20), ("after", 25)):
        durations = [100 + (each % 3) + 60 * (each < slow) for each in range(80)]
        (tmp_path / name).write_text("\n".join(["name,duration_ns", *(f"gemm,{ns}" for ns in durations), ""]))
    words = ("difference", tmp_path / "before", tmp_path / "after")
    found = kernelpoint(*words, *JSON).results
    assert found["ratio"] > 1.03
    assert found["low"] < 1 < found["high"]
    for gate in ("--fail-above", "--fail-kernel-above"):
        assert kernelpoint(*words, "-q", gate, "0").code == 0
    # As exact durations have no interval, the figure itself counts.
    exact = [tmp_path / str(ns) for ns in (100, 103)]
    for path in exact:
        path.write_text("name,duration_ns\n" + f"gemm,{path.name}\n" * 20)
    assert kernelpoint("difference", *exact, *JSON).results["low"] is None
    assert kernelpoint("difference", *exact, "-q", "--fail-above", "0.02").code == 4


def test_regions_are_of_both_sides(kernelpoint: Kernelpoint, before: Path, after: Path) -> None:
    found = kernelpoint("difference", before, after, "--include", "gemm", "--launches", "0:10", *JSON).results
    assert [kernel["before"]["launches"] for kernel in found["kernels"]] == [10]
    assert found["launches_after"] == 10
    said = kernelpoint("difference", before, after, "--include", "^old$").failed(4)
    assert "--include '^old$' leaves no launch" in said
    assert "this is said of the second profile" in said


def test_two_parts_of_one_file(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    sides = [f"{gpt2}@ProfilerStep#{step}" for step in (1, 2)]
    found = kernelpoint("difference", *sides, *JSON).results
    for side, step in (("before", 1), ("after", 2)):
        alone = kernelpoint("info", gpt2, "--range", f"ProfilerStep#{step}", *JSON).results
        assert found[f"total_{side}_ns"] == alone["total_duration_ns"]
        assert found[f"launches_{side}"] == alone["launches"]
    by_ids = kernelpoint("difference", f"{gpt2}@:100", f"{gpt2}@100:250", *JSON).results
    assert (by_ids["launches_before"], by_ids["launches_after"]) == (100, 150)
    from_stdin = kernelpoint(
        "difference", *JSON, "--", "-@:100", "-@100:250", stdin=gpt2.read_bytes()
    ).results
    assert from_stdin["kernels"] == by_ids["kernels"]
