"""`speedup`: which configuration is faster, in sentences and every form; what stops it, what is refused."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sampling.plan.plan_file import read_plan
from tests.cli.conftest import JSON, Kernelpoint, drawn_of, results

Written = Callable[..., str]


@pytest.fixture(scope="module")
def plan(kernelpoint: Kernelpoint, resnet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two launches a stratum at least."""
    path = tmp_path_factory.mktemp("speedup") / "plan.json"
    assert kernelpoint("sample", resnet, "--min-samples", 2, "--judge", 0, "-o", path).code == 0
    return path


@pytest.fixture(scope="module")
def written(plan: Path) -> Written:
    """NAME=FILE of results that are so many times as fast as three cycles a nanosecond, launch by launch."""
    folder = plan.parent

    def write(name: str, faster: float = 1, spread: float = 0, caches: str = "", left_out: int = 0) -> str:
        random = np.random.default_rng(len(name))
        head = "id,cycles,caches" if caches else "id,cycles"
        rows = []
        for launch in drawn_of(plan)[left_out:]:
            cycles = 3 * launch["duration_ns"] / faster * random.lognormal(0, spread)
            rows.append(f"{launch['id']},{cycles!r}" + (f",{caches}" if caches else ""))
        path = folder / f"{name}-{faster}-{spread}-{caches}-{left_out}.csv"
        path.write_text("\n".join([head, *rows, ""]))
        return f"{name}={path}"

    return write


def words_of(kernelpoint: Kernelpoint, *words: object) -> str:
    return " ".join(kernelpoint("speedup", *words).out.split())


def test_the_first_sentences_say_who_is_faster(
    kernelpoint: Kernelpoint, plan: Path, written: Written
) -> None:
    words = [written("base"), written("gto", 1.01, 0.001), written("l2half", 1.001, 0.001)]
    words += [written("dram", 0.95, 0.005), written("alike", caches="unknown"), written("far", 2.0, 0.01)]
    said = words_of(kernelpoint, plan, *words)
    document = json.loads(plan.read_text())
    drawn, launches = len(drawn_of(plan)), document["profile"]["launches"]
    first = said.partition(" configuration ")[0]
    assert "gto is 1.0 % faster than base (" in first
    assert "dram is 5." in first
    assert " % slower than base (4." in first
    assert "far is 2" in first
    assert "x faster than base (" in first
    assert "l2half and base are the same within 0.5 %" in first
    assert "alike and base are the same within 0.5 %: no drawn launch differs" in first
    assert first.endswith(f"{drawn} of {launches:,} launches, 95 % for all together.")
    assert "Next:" not in said


def test_every_figure_is_in_json_and_a_row_a_cell(
    kernelpoint: Kernelpoint, plan: Path, written: Written
) -> None:
    words = ("speedup", plan, written("base"), written("gto", 1.01, 0.001), written("slow", 0.9, 0.01))
    found = results(kernelpoint, *words)
    (program,) = found["programs"]
    base, gto, slow = program["cells"]
    assert (base["verdict"], base["speedup"]) == ("base", 1)
    assert [gto["verdict"], slow["verdict"]] == ["faster", "slower"]
    for cell in (gto, slow):
        assert cell["low"] < cell["speedup"] < cell["high"]
        assert cell["speedup"] == pytest.approx(base["cycles"] / cell["cycles"], rel=1e-12)
        # Symmetric in the logarithm.
        assert cell["speedup"] ** 2 == pytest.approx(cell["low"] * cell["high"])
    assert (found["means"], found["simultaneous"], found["confidence"]) == (None, True, 0.95)
    assert [one["options_changed"] for one in found["configurations"]] == [None] * 3
    assert (found["groups"], found["next"], found["target_met"]) == ([], [], None)
    rows = kernelpoint(*words, "--format", "csv").csv
    assert [row["configuration"] for row in rows] == ["base", "gto", "slow"]
    assert float(rows[1]["speedup"]) == gto["speedup"]
    groups = results(kernelpoint, *words, "--groups")["groups"]
    assert {row["configuration"] for row in groups} == {"gto", "slow"}
    assert all(row["low"] <= row["speedup"] <= row["high"] for row in groups)
    assert " of all cycles " in words_of(kernelpoint, *words[1:], "--groups")
    pairs = results(kernelpoint, *words, "--all-pairs")["programs"][0]["cells"]
    assert [(cell["base"], cell["configuration"]) for cell in pairs[3:]] == [("gto", "slow")]


def test_bars_have_whiskers_and_an_ascii_twin(kernelpoint: Kernelpoint, plan: Path, written: Written) -> None:
    words = ("speedup", plan, written("base"), written("gto", 1.2, 0.03), written("slow", 0.8, 0.1))
    (gto,) = [line for line in kernelpoint(*words).out.splitlines() if line.startswith("gto  ")]
    bar = gto.partition("faster")[2]
    assert bar.index("│") < bar.index("█") < bar.index("├") < bar.index("●") < bar.index("┤")
    text = kernelpoint(*words, "--ascii").out
    assert text.isascii()
    (slow,) = [line for line in text.splitlines() if line.startswith("slow  ")]
    bar = slow.partition("slower")[2]
    assert bar.index("[") < bar.index("o") < bar.index("]") < bar.rindex("=") < bar.index("|")
    assert "●" in kernelpoint(*words, "--format", "markdown").out


def test_the_figure_is_a_file_or_stdout(
    kernelpoint: Kernelpoint, plan: Path, written: Written, here: Path
) -> None:
    words = ("speedup", plan, written("base"), written("gto", 1.2, 0.03), "--svg")
    run = kernelpoint(*words, "figure.svg")
    assert (run.code, run.err) == (0, "kernelpoint: figure written to figure.svg\n")
    cell = results(kernelpoint, *words[:-1])["programs"][0]["cells"][1]
    figure = Path("figure.svg").read_text()
    assert (
        f"<title>plan, gto: {cell['speedup']:.4f} ({cell['low']:.4f} to {cell['high']:.4f})</title>" in figure
    )
    piped = kernelpoint(*words, "-")
    assert (piped.out, piped.err) == (figure, run.out)
    # One of the last time is replaced.
    assert kernelpoint(*words, "figure.svg").code == 0
    assert "--svg and --top-up are both for stdout" in kernelpoint(*words, "-", "--top-up", "-").failed(2)


def test_the_same_file_twice_is_said_to_be_that(
    kernelpoint: Kernelpoint, plan: Path, written: Written
) -> None:
    path = written("base").partition("=")[2]
    said = words_of(kernelpoint, plan, f"a={path}", f"b={path}")
    assert said.startswith("the results of b and a are the same files. ")
    assert results(kernelpoint, "speedup", plan, f"a={path}", f"b={path}")["programs"][0]["cells"][1][
        "remark"
    ] == ("the same files")


def test_what_is_open_says_what_would_tell_and_writes_it(
    kernelpoint: Kernelpoint, plan: Path, written: Written, here: Path
) -> None:
    words = (plan, written("base"), written("open", 1.003, 0.02))
    run = kernelpoint("speedup", *words)
    assert run.code == 0
    said = " ".join(run.out.split())
    assert "open is not told apart from base (" in said
    assert " launches more would tell" in said
    following = shlex.split(said.partition("Next: kernelpoint ")[2])
    assert following[-2:] == ["--top-up", "more.json"]
    more = kernelpoint(*following)
    assert more.code == 0
    assert "more.json)" in more.out
    larger = read_plan("more.json")
    before = {launch["id"] for launch in drawn_of(plan)}
    added = {launch.id for launch in larger.drawn} - before
    assert added
    assert larger.topped_up is not None
    assert larger.topped_up.target is None
    found = kernelpoint("speedup", *words, "--top-up", "again.json", *JSON).results
    assert {launch["id"] for launch in found["next"]} == added
    assert {launch["program"] for launch in found["next"]} == {"plan"}


def test_gates_stop_with_4(kernelpoint: Kernelpoint, plan: Path, written: Written) -> None:
    words = ("speedup", plan, written("base"), written("slow", 0.9, 0.01))
    run = kernelpoint(*words, "--target", "0.0001", *JSON)
    assert run.code == 4
    assert run.results["target_met"] is False
    assert "not within the 0.01 % asked for: that of slow reaches" in run.err
    assert results(kernelpoint, *words, "--target", "0.2")["target_met"] is True
    run = kernelpoint(*words, "--fail-slower", "0.05")
    assert run.code == 4
    assert "slower than base by more than 5.0 %: slow 9." in run.err or "slow 10." in run.err
    assert kernelpoint(*words, "--fail-slower", "0.2").code == 0


def test_results_of_a_part_and_of_other_caches(
    kernelpoint: Kernelpoint, plan: Path, written: Written
) -> None:
    base = written("base")
    run = kernelpoint("speedup", plan, base, written("part", 1.1, 0.01, left_out=5))
    assert run.code == 4
    said = " ".join(run.out.split())
    assert "part has no speedup over base: no ratio yet" in said
    assert "5 drawn launches without a result of both leave the comparison of part and base" in said
    cold, warm = written("cold", caches="cold"), written("warm", caches="warm")
    error = kernelpoint("speedup", plan, warm, cold).failed(1)
    assert "cold and warm are not compared: of cold its launches began cold" in error
    run = kernelpoint("speedup", plan, cold, written("chill", 1.1, caches="cold"), "--target", "0.2")
    assert run.code == 4
    assert run.out.startswith("COLD: launches began with empty caches")
    words = ("speedup", plan, cold, written("chill", 1.1, caches="cold"))
    assert kernelpoint(*words, "--target", "0.2", "--accept-cold").code == 0


def test_several_files_and_the_folder_of_a_run(
    kernelpoint: Kernelpoint, plan: Path, written: Written, tmp_path: Path
) -> None:
    name, _, path = written("gto", 1.1, 0.01).partition("=")
    head, *rows = Path(path).read_text().splitlines()
    for number, part in enumerate((rows[:20], rows[20:])):
        (tmp_path / f"part-{number}.csv").write_text("\n".join([head, *part, ""]))
    whole = results(kernelpoint, "speedup", plan, written("base"), f"{name}={path}")["programs"]
    parts = [f"{name}={tmp_path / f'part-{number}.csv'}" for number in (0, 1)]
    assert results(kernelpoint, "speedup", plan, written("base"), *parts)["programs"] == whole
    assert (
        results(kernelpoint, "speedup", plan, written("base"), f"{name}={tmp_path}/part-*")["programs"]
        == whole
    )
    folder = tmp_path / "run"
    simulator = ("--to", "csv", "--simulator", "expr {id} + 1000")
    assert kernelpoint("run", plan, *simulator, "--jobs", "4", "-o", folder).code == 0
    cells = results(kernelpoint, "speedup", plan, f"a={folder}", f"b={folder}")["programs"][0]["cells"]
    assert cells[1]["remark"] == "the same files"
    total = results(kernelpoint, "estimate", plan, folder)["metrics"][0]["total"]
    assert cells[0]["cycles"] == total


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a.csv", "b=c.csv"), "'a.csv' names no configuration; give NAME=a.csv"),
        (("a=a.csv", "a=b.csv"), "a is compared with nothing; give BASE=RESULTS NAME=RESULTS"),
        (("a=a.csv", "b=b.csv", "--target", "0"), "--target is a fraction between 0 and 1, not 0"),
    ],
)
def test_garbled_words_are_refused(
    kernelpoint: Kernelpoint, plan: Path, words: tuple[str, ...], said: str
) -> None:
    assert said in kernelpoint("speedup", plan, *words).failed(2)


def test_picked_launches_have_no_interval(kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path) -> None:
    picked = tmp_path / "picked.json"
    kernelpoint("sample", gpt2, "--method", "single-iteration", "--judge", 0, "-o", picked)
    for name, cycles in (("a", 8), ("b", 4)):
        rows = [f"{launch['id']},{cycles}" for launch in drawn_of(picked)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,cycles", *rows, ""]))
    words = ("speedup", picked, f"a={tmp_path / 'a.csv'}", f"b={tmp_path / 'b.csv'}")
    said = " ".join(kernelpoint(*words).out.split())
    assert said.startswith(
        "b is 2x faster than a by the weights of launches that were picked, so there is no interval"
    )
    cell = results(kernelpoint, *words)["programs"][0]["cells"][1]
    assert (cell["speedup"], cell["low"], cell["verdict"]) == (2, None, None)
