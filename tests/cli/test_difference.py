"""`difference`: two recordings, or two parts of one, in every form, the checks of CI, and baselines."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import JSON, Kernelpoint
from tests.own_folders import PROJECT
from tests.small_recordings import kineto_of_steps


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
    assert keys("--sort", "relative") == ["void gemm", "norm", "old", "ne|w`"]
    assert keys("--sort", "relative", "--reverse") == ["norm", "void gemm", "old", "ne|w`"]
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
    assert lines[:2] == [
        "Compared as recorded: the launches are not the same ones in the same order.",
        "The run's kernels take 19.6 % more (40.7 us -> 48.6 us).",
    ]
    assert [line.split() for line in lines[3:6]] == [
        ["the", "run", "before", "after", "change", "interval"],
        ["kernel", "time", "40.7", "us", "48.6", "us", "+19.6", "%", "+19.5", "to", "+19.7", "%"],
        ["launches", "42", "42", "0", "%", "-"],
    ]
    why = "Why: longer launches +8.00 us, kernels gone -70 ns, new kernels +30 ns; kernels: "
    assert lines[7] == f"{why}1 new, 1 gone, 2 in both."
    assert lines[11].split() == ["change", "before", "after", "launches", "relative", "interval", "kernel"]
    assert lines[12].split()[:2] == ["+8.00", "us"]
    assert lines[12].endswith("gemm 8x1x1")
    assert lines[13].split() == ["-70", "ns", "70", "ns", "-", "1", "gone", "-", "old", "1x1x1"]
    assert lines[14] == "and 2 more kernels, +30 ns together"
    assert "assume that either run goes on as it did" in " ".join(lines[15:])
    whole = kernelpoint("difference", before, after).out
    assert "norm (1 other shape)" in whole
    # Where there is no room for both, the kernel is named.
    narrow = kernelpoint("difference", before, after, COLUMNS="60").out
    assert "norm\n" in narrow


@pytest.mark.parametrize(("most", "code"), [("0.19", 4), ("0.2", 0), ("0", 4)])
def test_a_total_that_grew_is_4(
    kernelpoint: Kernelpoint, before: Path, after: Path, most: str, code: int
) -> None:
    run = kernelpoint("difference", before, after, "-q", "--fail-above", most)
    assert run.code == code
    said = f"error: the kernel time of the run grew by 19.6 %, above {100 * float(most):.1f} % "
    said += "(+19.5 to +19.7 %, 40.7 us -> 48.6 us)\n"
    assert run.err == (f"kernelpoint: {said}" if code else "")
    assert kernelpoint("difference", after, before, "--fail-above", most).code == 0
    for flag in ("--fail-above", "--fail-elapsed-above", "--confidence"):
        assert f"{flag} is a fraction" in kernelpoint("difference", before, after, flag, "95").failed(2)


def test_a_kernel_that_surely_takes_longer_is_4(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    """Of two that grew, one has launches too few or too varied to tell."""
    for name, gemm_ns, norm in (("before", 100, [100] * 10), ("after", 120, [90, 130] * 6)):
        rows = [f"gemm,{gemm_ns + each % 3}" for each in range(40)]
        rows += [f"norm,{ns}" for ns in norm]
        (tmp_path / name).write_text("\n".join(["name,duration_ns", *rows, ""]))
    words = (
        "difference",
        tmp_path / "before",
        tmp_path / "after",
        "-q",
        "--as-recorded",
        "--fail-kernel-above",
    )
    run = kernelpoint(*words, "0.1")
    assert run.code == 4
    assert "error: kernel gemm <<<?, ?>>> process 0 device 0 grew by 19.8 %, above 10.0 % (+19." in run.err
    assert kernelpoint(*words, "0.25").code == 0


def test_growth_that_the_interval_holds_is_no_failure(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    """Launches take longer for a while, then less: so much can the rest of a run differ too."""
    for name, slow in (("before", 20), ("after", 25)):
        durations = [100 + (each % 3) + 60 * (each < slow) for each in range(80)]
        (tmp_path / name).write_text("\n".join(["name,duration_ns", *(f"gemm,{ns}" for ns in durations), ""]))
    words = ("difference", tmp_path / "before", tmp_path / "after", "--as-recorded")
    found = kernelpoint(*words, *JSON).results
    assert found["ratio"] > 1.03
    assert found["low"] < 1 < found["high"]
    assert "may be chance" in kernelpoint(*words).out
    for gate in ("--fail-above", "--fail-kernel-above"):
        assert kernelpoint(*words, "-q", gate, "0").code == 0
    # As exact durations have no interval, the figure itself counts.
    exact = [tmp_path / str(ns) for ns in (100, 103)]
    for path in exact:
        path.write_text("name,duration_ns\n" + f"gemm,{path.name}\n" * 20)
    assert kernelpoint("difference", *exact, *JSON).results["low"] is None
    assert kernelpoint("difference", *exact, "-q", "--fail-above", "0.02").code == 4


# --- iterations, checks for CI, baselines ---


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kineto_of_steps(tmp_path_factory.mktemp("s") / "few.json", [60, 61, 62])


@pytest.fixture(scope="module")
def slower(few: Path) -> Path:
    return kineto_of_steps(few.with_name("slower.json"), [80, 81, 80, 82], ahead=2, every=150)


def test_recordings_of_other_numbers_of_steps_are_compared_per_step(
    kernelpoint: Kernelpoint, few: Path, slower: Path
) -> None:
    run = kernelpoint("difference", few, slower, *JSON)
    assert run.results["basis"] == "iterations"
    assert (run.results["launches_before"], run.results["launches_after"]) == (9, 14)
    per = run.results["per_iteration"]
    assert per["iterations"] == {"before": 3, "after": 4}
    assert per["kernel_ns"]["before"] == 101_000
    assert per["kernel_ns"]["after"] == 120_750
    assert run.results["ratio"] == per["kernel_ns"]["ratio"] == pytest.approx(120.75 / 101)
    assert per["elapsed_ns"]["ratio"] == pytest.approx(149 / 199)
    assert per["busy"]["before"] < per["busy"]["after"]
    assert per["copies_ns"] == {"before": 0, "after": 0, "ratio": None, "low": None, "high": None}
    lines = kernelpoint("difference", few, slower, COLUMNS="100").out.splitlines()
    assert lines[0] == "Compared per iteration: 3 before, 4 after, named ProfilerStep#*, of 3 launches."
    assert lines[1] == "Left out after: 2 launches ahead of the first."
    assert lines[2].startswith(
        "An iteration takes 25.1 % less (199 us -> 149 us); its kernels take 19.6 % more"
    )
    assert "told by how much iterations differ" in lines[-2]


def test_what_of_the_change_is_idle_time_comes_in_words_and_figures(
    kernelpoint: Kernelpoint, few: Path, tmp_path: Path
) -> None:
    """By hand: steps of 200 us, of which kernels take 70, 71 and 72, and of 150 us; the last has no end."""
    shorter = kineto_of_steps(tmp_path / "shorter.json", [60, 61, 62, 63], every=150)
    idle = kernelpoint("difference", few, shorter, *JSON).results["per_iteration"]["idle"]
    assert [idle["idle_ns"][side] for side in ("before", "after")] == [129_500, 79_000]
    assert idle["host_ns"] == idle["idle_ns"]
    assert [idle[f"{name}_ns"]["before"] for name in ("copy", "turnaround", "synchronising")] == [0, 0, 0]
    assert (idle["idle_ns"]["ratio"], idle["idle_ns"]["low"]) == (pytest.approx(79 / 129.5), None)
    more = kineto_of_steps(tmp_path / "more.json", [60, 61, 62, 63, 64])
    for words, said in (
        ((few, shorter), "The GPU is idle 50.5 us less an iteration: the host's 50.5 us."),
        ((shorter, few, "--as-recorded"), "The GPU is idle 22.0 us more: the host's 22.0 us."),
        (
            (few, more, "--as-recorded"),
            "The GPU is idle 255 us more: the host's 255 us.",
        ),
    ):
        run = kernelpoint("difference", *words, COLUMNS="100")
        assert said in run.out.splitlines()
        assert [line.split()[:3] for line in run.out.splitlines() if "of it" in line] == [
            ["of", "it", "host"]
        ]
        assert said in kernelpoint("difference", *words, "--format", "markdown").out
    # A recording without its calls, and a baseline that was saved of one.
    trace = json.loads(few.read_text())
    trace["traceEvents"] = [event for event in trace["traceEvents"] if event["cat"] != "cuda_runtime"]
    without, place = tmp_path / "without.json", tmp_path / "baseline.json"
    without.write_text(json.dumps(trace))
    assert kernelpoint("baseline", "save", place, without).code == 0
    for side in (without, place):
        said = "Why the GPU is idle is not compared: API calls are not recorded before."
        assert said in kernelpoint("difference", side, few, COLUMNS="100").out.splitlines()
        assert kernelpoint("difference", side, few, *JSON).results["per_iteration"]["idle"] is None


@pytest.mark.parametrize(
    ("gates", "said"),
    [
        (("--fail-above", "0.1"), "the kernel time of an iteration grew by 19.6 %, above 10.0 % ("),
        (("--fail-above", "0.25"), None),
        (("--fail-elapsed-above", "0"), None),
        (("--fail-kernel-above", "0.2"), "kernel norm <<<8x1x1, 32x1x1>>>"),
        (("--fail-above", "0", "--fail-kernel-above", "0.2"), "; and 1 more check: `--format junit`"),
    ],
)
def test_gates_are_of_an_iteration(
    kernelpoint: Kernelpoint, few: Path, slower: Path, gates: Sequence[str], said: str | None
) -> None:
    run = kernelpoint("difference", few, slower, "-q", *gates)
    assert run.code == (0 if said is None else 4)
    assert (said or "") in run.err
    assert kernelpoint("difference", slower, few, "-q", "--fail-elapsed-above", "0.1").code == 4


def test_other_work_fails_a_gate_unless_it_is_wanted(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, launches in zip(paths, (50, 54), strict=True):
        path.write_text(
            "name,duration_ns\n" + "".join(f"k{place},{100 + place}\n" for place in range(launches))
        )
    words = ("difference", *paths)
    reason = "B holds 1.08 times the launches of A: not the same work"
    assert kernelpoint(*words).out.startswith(f"Compared as recorded: {reason}.")
    assert kernelpoint(*words).code == 0
    for gate in ("--fail-above", "--fail-elapsed-above", "--fail-kernel-above"):
        run = kernelpoint(*words, gate, "0.9", "-q")
        if "elapsed" in gate:
            assert "--fail-elapsed-above needs the start of every launch" in run.failed(1)
            continue
        assert run.code == 4
        assert f"error: {reason}; --as-recorded compares them all the same" in run.err
        assert kernelpoint(*words, gate, "0.9", "--as-recorded").code == 0


def test_junit_says_what_fails(kernelpoint: Kernelpoint, few: Path, slower: Path, tmp_path: Path) -> None:
    gates = ("--fail-above", "0.1", "--fail-kernel-above", "0.2", "--fail-elapsed-above", "0.1")
    run = kernelpoint("difference", few, slower, "--format", "junit", *gates)
    assert run.code == 4
    root = ET.fromstring(run.out)
    (suite,) = root
    assert (root.tag, suite.get("tests"), suite.get("failures")) == ("testsuites", "4", "2")
    cases = {case.get("name"): [child.tag for child in case] for case in suite}
    assert cases["kernel time"] == ["failure"]
    assert cases["elapsed time"] == cases["compared"] == ["system-out"]
    (kernel,) = cases.keys() - {"compared", "kernel time", "elapsed time"}
    assert str(kernel).startswith("kernel norm <<<8x1x1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert str(failure.get("message")).startswith(
        "the kernel time of an iteration grew by 19.6 %, above 10.0 %"
    )
    without = ET.fromstring(kernelpoint("difference", few, slower, "--format", "junit").out)
    assert without.get("failures") == "0"
    place = tmp_path / "report.xml"
    assert kernelpoint("difference", few, slower, "--format", "junit", "-o", place).out == ""
    assert ET.parse(place).getroot().get("tests") == "3"


def test_github_annotates_what_fails(kernelpoint: Kernelpoint, few: Path, slower: Path) -> None:
    gates = ("--fail-above", "0.1", "--fail-kernel-above", "0.2")
    run = kernelpoint("difference", few, slower, "--format", "github", *gates)
    assert run.code == 4
    lines = run.out.splitlines()
    assert lines[0].startswith("::notice title=compared::Compared per iteration: 3 before, 4 after, named ")
    start = "::error title=kernel time::the kernel time of an iteration grew by 19.6 %25, above 10.0 %25 ("
    assert lines[1].startswith(start)
    assert lines[2].startswith("::notice title=elapsed time::")
    assert lines[3].startswith("::error title=kernel norm <<<8x1x1%2C 32x1x1>>>")
    assert len(lines) == 4


def test_a_baseline_takes_the_place_of_a_recording(
    kernelpoint: Kernelpoint, few: Path, slower: Path, tmp_path: Path
) -> None:
    place = tmp_path / "baseline.json"
    run = kernelpoint("baseline", "save", place, few)
    size = f"{place.stat().st_size / 1000:.2f} kB"
    assert " ".join(run.out.split()).startswith(f"{place}: 9 launches are a baseline of {size}.")
    assert run.out.splitlines()[-1] == f"Next: kernelpoint difference {place} AFTER --fail-above 0.02"
    for words in ((), ("--as-recorded",), ("--fail-above", "0.1"), ("--pool-devices",)):
        there, kept = (kernelpoint("difference", path, slower, *words, *JSON) for path in (few, place))
        assert kept.code == there.code
        expected = there.results | {"before": str(place)}
        assert kept.results == expected
    printed = kernelpoint("baseline", "save", "-", few)
    assert printed.out == place.read_text()
    assert "9 launches are a baseline" in printed.err


def test_a_baseline_is_compared_as_it_was_saved(
    kernelpoint: Kernelpoint, few: Path, slower: Path, tmp_path: Path
) -> None:
    place = tmp_path / "norm.json"
    assert kernelpoint("baseline", "save", place, few, "--include", "norm", "--group-by", "name").code == 0
    said = kernelpoint("difference", place, slower, "--group-by", "name").failed(2)
    assert f"{place} was saved with include=['norm']; give the same, or save it again" in said
    words = ("--include", "norm")
    said = kernelpoint("difference", place, slower, *words).failed(2)
    assert "the baseline was saved with --group-by name, and kernels are compared by launch" in said
    found = kernelpoint("difference", place, slower, *words, "--group-by", "name", *JSON).results
    assert [kernel["key"].split()[0] for kernel in found["kernels"]] == ["norm"]
    assert "a baseline has no parts" in kernelpoint("difference", f"{place}@:3", slower, *words).failed(2)
    assert f"{place}: a baseline" in kernelpoint("info", place).failed(3)
    place.write_text(place.read_text().replace('"launches":3', '"launches":"3"', 1))
    assert f"error: {place}: no baseline" in kernelpoint("difference", place, slower, *words, "-q").failed(3)


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


def shown_runs() -> list[tuple[str, list[str]]]:
    """The commands of the page about CI, and what it shows below each."""
    page = (PROJECT / "docs" / "guide" / "ci.md").read_text()
    (*blocks,) = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    runs = [run.splitlines() for block in blocks for run in block.split("$ kernelpoint ")[1:]]
    return [(command, output) for command, *output in runs]


def test_the_page_about_ci_shows_what_the_commands_print(
    kernelpoint: Kernelpoint, sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sample_data").symlink_to(sample_data)
    monkeypatch.chdir(tmp_path)
    codes = []
    for command, output in shown_runs():
        run = kernelpoint(*shlex.split(command))
        said = [*run.out.splitlines(), *run.err.splitlines()]
        gate = [f"exit code {run.code}"] if "--fail-above" in command else []
        codes.append(run.code)
        assert [*said, *gate] == output
    assert codes == [0, 4, 0, 0]
