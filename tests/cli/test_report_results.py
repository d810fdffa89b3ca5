"""`report --results`: what `estimate` says of the same plan and the same results, with its refusals."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sampling.text import counted
from tui.charts import quantities

Kernelpoint = Callable[..., Any]

# Of two kernels, one with two lengths of launches; the simulator is slower on one of them.
QUICK = ("--method", "root", "--judge", "0", "--seed", "3", "--confidence", "0.9")


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("simulated") / "launches.csv"
    rows = [
        f"gemm<{number % 2}>,{20_000 + 97 * (number % 31) + 60_000 * (number % 4 == 0)}\n"
        for number in range(400)
    ]
    path.write_text("name,duration_ns\n" + "".join(rows))
    return path


@pytest.fixture(scope="module")
def plan(kernelpoint: Kernelpoint, profile: Path) -> Path:
    path = profile.with_name("plan.json")
    assert kernelpoint("sample", profile, *QUICK, "-o", path).code == 0
    return path


@pytest.fixture(scope="module")
def simulated(plan: Path) -> Path:
    """Cycles of every launch of the plan, spread by one in ten."""
    launches = [each for stratum in json.loads(plan.read_text())["strata"] for each in stratum["launches"]]
    path = plan.with_name("cycles.csv")
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "cycles"])
        for number, launch in enumerate(launches):
            writer.writerow([launch["id"], round(launch["duration_ns"] * (1.4 + 0.1 * (number % 3)))])
    return path


def section(path: Path, title: str) -> str:
    """A section of a Markdown report, without the marks that keep its words from meaning things."""
    text = path.read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def test_totals_are_those_of_estimate(
    kernelpoint: Kernelpoint, profile: Path, plan: Path, simulated: Path, tmp_path: Path
) -> None:
    path = tmp_path / "report.md"
    run = kernelpoint("report", profile, *QUICK, "--results", simulated, "-o", path)
    assert run.code == 0, run.err
    known = kernelpoint("estimate", plan, simulated, "--groups", "--format", "json").results
    shown = section(path, "Simulated")
    total = known["metrics"][0]
    assert f"{total['total']:,.0f}, within " in shown
    assert f"({total['low']:,.0f} to {total['high']:,.0f}; 90 % sure)" in shown
    assert len(known["groups"]) == 2
    for group in known["groups"]:
        simulated_share, per_ns = quantities.share(group["simulated_share"]), f"{group['per_ns']:.4g}"
        assert f"| {simulated_share} | {quantities.share(group['profiled_share'])} | {per_ns} |" in shown
    assert "To simulate next" not in shown


def test_a_target_says_what_to_run_next_and_exits_like_estimate(
    kernelpoint: Kernelpoint, profile: Path, plan: Path, simulated: Path, tmp_path: Path
) -> None:
    path, asked = tmp_path / "report.md", ("--target", "0.001")
    run = kernelpoint("report", profile, *QUICK, "--results", simulated, *asked, "-o", path)
    assert (run.code, run.err.count("\n")) == (4, 1)
    assert "not within 0.1 %" in run.err
    larger = plan.with_name("larger.json")
    known = kernelpoint("estimate", plan, simulated, *asked, "--top-up", larger, "--format", "json").results
    shown = section(path, "Simulated")
    assert f"next: {counted(len(known['next']), 'launch', 'launches')}, " in shown
    assert f"| {known['next'][0]['id']} |" in shown

    # Results of a larger plan need that plan, which no options make.
    whole = kernelpoint(
        "report", profile, *QUICK, "--results", simulated, "--plan", larger, "-o", tmp_path / "larger.md"
    )
    assert whole.code == 0, whole.err
    drawn = sum(len(stratum["launches"]) for stratum in json.loads(larger.read_text())["strata"])
    shown = section(tmp_path / "larger.md", "Simulated")
    assert f"from {drawn - 1} of " in shown, "one of them has no result"
    assert f"The plan is that of `{larger}`." in shown


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--results", "{}/missing.csv"), 3, "missing.csv"),
        (("--results", "{}/launches.csv"), 3, "launches.csv"),
        (("--results", "{}/none-of-it.csv"), 3, "none-of-it.csv"),
        (("--results", "{}/cycles.csv", "--plan", "{}/launches.csv"), 3, "launches.csv"),
        (("--target", "0.05"), 2, "--target is about results, and none are given"),
        (("--plan", "{}/plan.json"), 2, "--plan is about results, and none are given"),
        (("--against", "{}/cycles.csv"), 2, "--against is about results, and none are given"),
    ],
)
def test_wrong_files_are_refused_and_nothing_is_written(
    kernelpoint: Kernelpoint,
    profile: Path,
    simulated: Path,
    tmp_path: Path,
    words: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    simulated.with_name("none-of-it.csv").write_text("id,cycles\n100000,5\n")
    filled = [word.replace("{}", str(simulated.parent)) for word in words]
    charts = tmp_path / "charts"
    run = kernelpoint("report", profile, *QUICK, *filled, "-o", tmp_path / "report.md", "--svg", charts)
    assert said in run.failed(code)
    assert list(tmp_path.iterdir()) == []


def test_a_plan_of_another_profile_is_refused(
    kernelpoint: Kernelpoint, profile: Path, plan: Path, simulated: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.csv"
    other.write_text(profile.read_text().replace("gemm", "gemv"))
    path = tmp_path / "report.md"
    run = kernelpoint("report", other, *QUICK, "--results", simulated, "--plan", plan, "-o", path)
    assert "it was made from another profile" in run.failed(1)
    assert not path.exists()
