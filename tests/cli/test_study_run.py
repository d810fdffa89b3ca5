"""`run` of a study: its answer is that of `speedup`, with what failed; what stops it, what is refused."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from sampling.running.study_summary import StudyRunSummary
from tests.cli.conftest import JSON, Kernelpoint
from tests.small_study import Bench, make_bench

PROJECT = Path(__file__).resolve().parents[2]
WARM = ("--caches", "warm")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = make_bench(tmp_path)
    bench.study()
    return bench


def test_it_answers_as_speedup_and_progress_is_a_line_a_launch(
    kernelpoint: Kernelpoint, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bench.folder)
    words = ("run", "study.toml", *WARM, "--target", "0.05")
    run = kernelpoint(*words)
    assert run.code == 0, run.err
    lines = run.err.splitlines()
    assert len([line for line in lines if " done; " in line]) == len(bench.calls())
    assert lines[0].startswith("kernelpoint: base of bfs: launch ")
    assert " done; cells 0 of 6; " in lines[0]
    assert " done; cells 6 of 6; " in lines[-1]
    assert " within 5.0 %, asked 5 %; " in lines[-1]
    speedup = kernelpoint("speedup", "study.toml", "--target", "0.05")
    assert run.out == f"{speedup.out}Next: kernelpoint speedup study.toml --groups\n"
    # A target that is met lacks no launch.
    assert "without a result" not in run.out
    again = kernelpoint(*words, *JSON, "--quiet")
    assert again.err == ""
    summary = msgspec.convert(again.results, StudyRunSummary)
    assert (summary.target_met, summary.failed, summary.job_array) == (True, [], None)
    assert (
        again.results.items()
        >= kernelpoint("speedup", "study.toml", "--target", "0.05", *JSON).results.items()
    )
    rows = kernelpoint(*words, "--format", "csv").csv
    assert [row["program"] for row in rows] == ["bfs"] * 3 + ["heat"] * 3


def test_what_failed_is_told_and_leaves_with_4(kernelpoint: Kernelpoint, bench: Bench) -> None:
    bench.study('[ "$program $1 $(($2 % 3))" != "heat gto 1" ] || { echo deadlock >&2; exit 134; }')
    run = kernelpoint("run", bench.folder / "study.toml", *WARM, "--target", "0.05", "--jobs", "2")
    assert run.code == 4
    said = " ".join(run.out.split())
    assert "GIVEN UP: gto of heat: gemm, " in said
    assert "3 launches failed (ended by SIGABRT: deadlock) and none ran; so it has no speedup" in said
    assert "kernelpoint: gto of heat: gemm is given up: 3 launches failed and none ran; cells " in run.err
    assert "error: incomplete: " in run.err


def test_cold_launches_keep_no_target_unless_they_may(kernelpoint: Kernelpoint, bench: Bench) -> None:
    words = ("run", bench.folder / "study.toml", "--target", "0.08", "--jobs", "2")
    run = kernelpoint(*words)
    assert run.code == 4
    assert run.err.startswith("kernelpoint: launches start cold here, and speedups of these keep no target: ")
    assert "not within the 8.0 % asked for of the whole run: launches started cold" in run.err
    accepted = kernelpoint(*words, "--accept-cold")
    assert (accepted.code, accepted.err) == (0, "")


def test_a_job_array_is_named_with_what_is_typed_when_it_has_ended(
    kernelpoint: Kernelpoint, bench: Bench
) -> None:
    run = kernelpoint("run", bench.folder / "study.toml", *WARM, "--slurm")
    assert run.code == 0, run.err
    said = " ".join(run.out.split())
    assert (
        f"launches to simulate: sbatch {bench.folder}/study.run/slurm.sh When the array has ended: " in said
    )
    assert "Nothing is compared yet" in said
    assert bench.calls() == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--simulator", "true {id}"),
            "--simulator is not for a study: its [configurations.NAME] says `simulator`",
        ),
        (("--to", "csv"), "--to is not for a study"),
        (("--traces", "."), "--traces is not for a study: its [programs.NAME] says `traces`; leave it out"),
        (("-o", "run"), "--output is not for a study: its runs are in a folder beside it"),
        (("--cold-check", "4"), "--cold-check is not for a study"),
        (("--assume-like", "#1"), "--assume-like is not for a study"),
        (("--target", "0"), "--target is a fraction between 0 and 1, not 0"),
        (("--timeout", "soon"), "--timeout is a duration above 0"),
        (("--caches", "hot"), "--caches is warm, loads, own, cold or after:N, not hot"),
    ],
)
def test_what_a_study_says_itself_is_refused(
    kernelpoint: Kernelpoint, bench: Bench, words: tuple[str, ...], message: str
) -> None:
    assert message in kernelpoint("run", bench.folder / "study.toml", *words).failed(2)
    assert bench.calls() == []


def test_an_interruption_keeps_what_is_finished(bench: Bench) -> None:
    bench.study('[ "$(wc -l < FOLDER/calls)" -lt 5 ] || sleep 60'.replace("FOLDER", str(bench.folder)))
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from tui.cli import main; main()"
    )
    words = ("run", str(bench.folder / "study.toml"), *WARM)
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=PROJECT, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 20
    while len(bench.calls()) < 5:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=10)
    assert process.returncode == 130
    assert f"what is finished is kept in {bench.folder}/study.run; the same command goes on\n" in said
    assert len(list((bench.folder / "study.run").rglob("launch-*.csv"))) == 4
