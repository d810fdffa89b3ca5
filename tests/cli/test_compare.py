"""`compare` over several profiles, its table, its chart, and what makes no difference to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import JSON, Kernelpoint, results
from tui.options.choices import CompareSort
from tui.text.methods import blocks, promises

FEW = ("--repeats", "5")
PICKS = ("first=56", "last=111", "iterations=100")
ONE_ITERATION = [word for setting in PICKS for word in ("--set", f"single-iteration.{setting}")]
Rows = list[dict[str, Any]]


def compared(kernelpoint: Kernelpoint, *words: object) -> Rows:
    rows: Rows = results(kernelpoint, "compare", *words, *FEW)
    return rows


def shown(kernelpoint: Kernelpoint, *words: object) -> list[str]:
    """The methods of the table, in its order."""
    lines = kernelpoint("compare", *words, *FEW).out.partition("\n\n")[0].splitlines()
    return [line.split()[0] for line in lines[1:]]


def test_each_profile_is_a_workload_and_means_come_last(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path
) -> None:
    words = (resnet, gpt2, "--methods", "root,joint")
    rows = compared(kernelpoint, *words)
    assert [row["method"] for row in rows] == ["root", "joint"] * 3
    assert [row["profile"] for row in rows[:4]] == [str(resnet)] * 2 + [str(gpt2)] * 2
    for mean, first, second in zip(rows[4:], rows[:2], rows[2:4], strict=True):
        assert mean["profile"] == "mean of 2 (harmonic speedup, arithmetic error)"
        assert mean["speedup"] == pytest.approx(2 / (1 / first["speedup"] + 1 / second["speedup"]))
        assert mean["error_mean"] == pytest.approx((first["error_mean"] + second["error_mean"]) / 2)
        assert mean["bound"] is None
    geometric = compared(kernelpoint, *words, "--mean", "geometric")[-2]
    assert geometric["profile"] == "mean of 2 (geometric speedup, geometric error)"
    assert geometric["speedup"] == pytest.approx((rows[0]["speedup"] * rows[2]["speedup"]) ** 0.5)
    charts = kernelpoint("compare", *words, *FEW, "--scatter", "--height", "8").out.split("\n\n")
    assert [title.strip() for title in charts[:4:2]] == [str(resnet), str(gpt2)]
    assert charts[4].startswith("mean of 2 ")
    # As one workload.
    one, _ = compared(kernelpoint, *words, "--one-workload")
    assert one["profile"] == f"{resnet} {gpt2}"
    assert one["strata"] == rows[0]["strata"] + rows[2]["strata"]


def test_every_method_is_judged_as_sample_plans_it(kernelpoint: Kernelpoint, resnet: Path) -> None:
    # By probability, `compare` judges over all numbers of launches that may be drawn, `sample` one plan.
    fixed = ("--set", "random.launches=9")
    rows = compared(kernelpoint, resnet, *fixed)
    assert [row["method"] for row in rows] == [row["name"] for row in results(kernelpoint, "methods")]
    can = [row for row in rows if row["applicable"]]
    assert [row["method"] for row in can] == [
        "joint",
        "root",
        "stem",
        "allegro",
        "random",
        "single-iteration",
    ]
    for row in can:
        sample = results(kernelpoint, "sample", resnet, "--method", row["method"], "--judge", "5", *fixed)
        assert (row["strata"], row["samples"]) == (sample["strata"], sample["samples"])
        assert row["bound"] == pytest.approx(sample["bound"])
        assert row["error_mean"] == pytest.approx(sample["judged"]["error_mean"])
        assert row["error_mean"] <= row["error_max"]


def test_methods_are_named_once_however_often_and_with_blanks(kernelpoint: Kernelpoint, resnet: Path) -> None:
    rows = compared(kernelpoint, resnet, "--methods", "root, allegro,root")
    assert [row["method"] for row in rows] == ["root", "allegro"]
    assert "names no method" in kernelpoint("compare", resnet, "--methods", " , ").failed(2)
    assert "did you mean 'pks'" in kernelpoint("compare", resnet, "--methods", "PKS").failed(2)


def test_what_a_method_has_to_say_or_lacks_is_said(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    run = kernelpoint("compare", resnet, "--methods", "single-iteration", *FEW, *ONE_ITERATION, *JSON)
    (said,) = run.json["warnings"]
    assert said.startswith("single-iteration: one iteration: ")
    assert said in run.err
    words = ("compare", resnet, "--methods", "root,sieve", *FEW)
    table, below = kernelpoint(*words).out.split("\n\ncannot run: ")
    assert "sieve" not in table
    assert below == "sieve\n(--reasons says why)\n"
    explained = kernelpoint(*words, "--reasons").out.split("\n\ncannot run:\n")
    assert explained[0] == table
    assert explained[1].startswith("- sieve needs the instruction count")
    assert "speedup" not in kernelpoint("compare", resnet, "--methods", "sieve").out
    # What did not fit is said before the method finds fault.
    few = tmp_path / "few.csv"
    few.write_text("id,instructions\n0,5\n1,6\n9999,7\n")
    run = kernelpoint("sample", resnet, "--method", "sieve", "--features", few)
    joined, error = run.err.splitlines()
    assert "few.csv" in joined
    assert "1 row of no launch" in joined
    assert error.startswith("kernelpoint: error: sieve needs the instruction count")


def test_the_best_method_is_first_and_data_stay_as_asked(
    kernelpoint: Kernelpoint, resnet: Path, counts: Path
) -> None:
    """The table is in the order of `promises`, and says so."""
    words = (resnet, "--methods", "random,joint,single-iteration,root,stem")
    rows = compared(kernelpoint, *words)
    assert [row["method"] for row in rows] == ["random", "joint", "single-iteration", "root", "stem"]
    assert rows[2]["bound_with_noise"] is None
    assert shown(kernelpoint, *words) == ["joint", "root", "stem", "random", "single-iteration"]
    text = kernelpoint("compare", *words, *FEW, "--features", counts).out
    assert "Best first: the simulated total bounded by 5.0 % (column simulated), and the" in text
    assert max(map(len, text.splitlines())) <= 80
    assert " speedup simulated " in text, "the promise beside the cost"


def _row(
    method: str, bound: float | None, speedup: float, within: float | None = 1.0, error: float = 0.0
) -> dict[str, Any]:
    figures = {"bound_with_noise": bound, "speedup": speedup, "within_epsilon": within, "error_mean": error}
    return {"method": method, "applicable": True, "same_as": None, **figures}


def test_best_is_what_keeps_its_promise_then_what_is_bounded_least_then_what_was_least_wrong() -> None:
    rows = [
        _row("picks", None, 900.0, None, 0.08),
        _row("random", 3.8, 1_000.0, 0.02),
        _row("dear", 0.04, 10.0),
        _row("root", 0.06, 50.0),
        _row("exact picks", None, 2.0, None, 0.01),
        _row("misses", 0.03, 800.0, 0.9),
        _row("cheap", 0.05, 20.0, 0.95),
        _row("unjudged", 0.05, 15.0, None),
    ]
    promise = promises(rows, 0.05, 0.95)
    found = [each.label for each in blocks(rows, CompareSort.BEST, promise).can_run]
    assert found == ["cheap", "unjudged", "dear", "misses", "root", "random", "exact picks", "picks"]
    other_profile = [_row("cheap", 0.07, 20.0), _row("dear", 0.04, 10.0)]
    everywhere = promises([*rows, *other_profile], 0.05, 0.95)
    assert [everywhere[method] for method in ("cheap", "dear")] == [0.07, 0.0]


@pytest.mark.parametrize(
    ("sort", "figure", "sign"),
    [
        *(("speedup", "speedup", -1), ("mean", "error_mean", 1), ("error", "error_mean", 1)),
        *(("drawn", "samples", 1), ("within", "within_epsilon", -1), ("p95", "error_p95", 1)),
    ],
)
def test_the_table_can_be_sorted(
    kernelpoint: Kernelpoint, resnet: Path, sort: str, figure: str, sign: int
) -> None:
    words = (resnet, "--methods", "joint,root,stem,random")
    for more, way in (((), sign), (("--reverse",), -sign)):
        rows = sorted(compared(kernelpoint, *words), key=lambda row: way * row[figure])
        assert shown(kernelpoint, *words, "--sort", sort, *more) == [row["method"] for row in rows]


def test_the_heads_of_the_table_are_what_it_can_be_sorted_by(kernelpoint: Kernelpoint, resnet: Path) -> None:
    words = (resnet, "--methods", "joint,single-iteration")
    for head in kernelpoint("compare", *words, *FEW, COLUMNS="200").out.splitlines()[0].split():
        assert kernelpoint("compare", *words, *FEW, "--sort", head).code == 0, head
    by_bound = shown(kernelpoint, *words, "--sort", "bound", "--reverse")
    assert by_bound == ["joint", "single-iteration"], "without a bound: last"


def test_methods_that_come_to_one_plan_share_a_row(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path
) -> None:
    """By launch, Allegro and STEM draw the same numbers from the same groups here."""
    words = ("--methods", "allegro,root,stem")
    rows = compared(kernelpoint, resnet, *words)
    assert [row["same_as"] for row in rows] == [None, None, "allegro"]
    for name in ("strata", "samples", "speedup", "bound", "error_mean", "bound_with_noise"):
        assert rows[0][name] == rows[2][name]
    out = kernelpoint("compare", resnet, *words, *FEW).out
    assert "\nallegro, stem " in out
    assert len(out.split("\n\n")[0].splitlines()) == 3
    chart = kernelpoint("compare", resnet, *words, *FEW, "--scatter").out
    assert chart.splitlines()[-1].split() == ["D", "allegro,", "stem", "B", "root"]
    # STEM's own groups are names.
    several = compared(kernelpoint, resnet, *words, "--group-by", "published")
    assert {row["same_as"] for row in several} == {None}
    means = compared(kernelpoint, resnet, gpt2, *words)[-3:]
    assert [row["same_as"] for row in means] == [None, None, "allegro"]


def test_a_scatter_is_drawn_instead_of_the_table_as_large_as_asked(
    kernelpoint: Kernelpoint, resnet: Path
) -> None:
    words = ("compare", resnet, "--methods", "root,joint,sieve", *FEW, "--scatter")
    run = kernelpoint(*words, "--width", "50", "--height", "12")
    assert run.out.count("\n") == 12
    assert 40 < max(map(len, run.out.splitlines())) <= 50
    assert run.out.splitlines()[-1] == "B root    A joint", "in the order asked for, each with its own letter"
    assert run.err == "kernelpoint: not applicable, so not in the chart: sieve\n"
    assert 90 < max(map(len, kernelpoint(*words, COLUMNS="100").out.splitlines())) <= 100
    # The data are the same; how long each took is not.
    drawn, listed = (kernelpoint(*given, "--format", "csv") for given in (words, words[:-1]))
    assert "not in the chart" not in drawn.err
    assert [{**row, "seconds": ""} for row in drawn.csv] == [{**row, "seconds": ""} for row in listed.csv]


def test_means_over_some_of_the_profiles_name_them(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path, counts: Path
) -> None:
    words = (resnet, gpt2, resnet, "--methods", "root,sieve", "--features", f"{resnet}={counts}")
    rows = compared(kernelpoint, *words)
    assert [row["applicable"] for row in rows] == [True, True, True, False, True, True, True, True, True]
    over = f"mean of 2 of 3 (harmonic speedup, arithmetic error): {resnet}, {resnet}"
    assert [row["method"] for row in rows if row["profile"] == over] == ["root", "sieve"]
    assert "--features PROFILE=FILE" in kernelpoint("compare", *words[:-1], counts).failed(2)


# What makes no difference: the command with RESNET, GPT2 and COUNTS, and the notes that say so.
UNUSED = {
    "compare RESNET --methods joint --set root.k_max=3": ["--set root.k_max=3: not used by joint"],
    "compare RESNET --methods joint --mean geometric": [
        "--mean: it sums up several workloads, and there is one; not used"
    ],
    "compare RESNET --methods joint --number-locale de_DE": [
        "--number-locale: there are no files of --features; not used"
    ],
    "compare RESNET --methods joint --width 60 --height 9": [
        "--width, --height: of the chart of --scatter; not used"
    ],
    "compare RESNET --methods joint --scatter --format csv --width 60": [
        "--scatter, --width: --format csv draws nothing; not used"
    ],
    "compare RESNET --methods joint,root --features COUNTS": [
        "--features: joint, root look at durations alone; not used"
    ],
    "compare RESNET --methods joint,sieve --features COUNTS": [],
    "compare RESNET --methods joint,root --set root.k_max=3 --group-epsilon 0.1": [],
    "compare RESNET --methods stem,root --group-epsilon 0.1": [
        "--group-epsilon: for the method joint alone; not used"
    ],
    "compare RESNET --methods joint,stem --set root.k_max=3": [
        "--set root.k_max=3: not used by any of joint, stem"
    ],
    "compare RESNET GPT2 --methods root --mean geometric": [],
    "compare RESNET GPT2 --methods root --mean geometric --one-workload": [
        "--mean: it sums up several workloads, and there is one; not used"
    ],
    "compare RESNET --methods root --scatter --width 60": [],
    "compare RESNET --methods random --set random.like=joint --set root.k_max=3 --min-samples 3": [
        "--set root.k_max=3: not used by random"
    ],
    "sample RESNET --method random --set random.like=root --set root.k_max=3 --min-samples 3": [
        "--min-samples: for the method joint alone; not used"
    ],
    "sample RESNET --features COUNTS": [],
    "sample RESNET --method single-iteration --noise-floor 0.1": [
        "--noise-floor: for methods that draw at random; not used"
    ],
    "tree RESNET --method root --group-epsilon 0.2 --no-pool --noise-floor 0.1": [
        "--group-epsilon, --no-pool: for the method joint alone; not used"
    ],
}


@pytest.mark.parametrize("line", UNUSED)
def test_what_makes_no_difference_is_said(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path, counts: Path, line: str
) -> None:
    places = {"RESNET": resnet, "GPT2": gpt2, "COUNTS": counts}
    words = [places.get(word, word) for word in line.split()]
    words += FEW if words[0] == "compare" else ONE_ITERATION if "single-iteration" in words else ()
    run = kernelpoint(*words)
    assert run.code == 0, run.err
    notes = [note for note in run.err.splitlines() if "not used" in note]
    assert notes == [f"kernelpoint: {note}" for note in UNUSED[line]]
    assert "not used" not in kernelpoint(*words, "--quiet").err


def test_a_method_that_does_not_plan_by_a_cost_is_told_it(
    kernelpoint: Kernelpoint, resnet: Path, counts: Path
) -> None:
    words = ("sample", resnet, "-m", "root", "--judge", "0", "--features", counts)
    told = "--cost: root does not plan by it; it is told what its plan costs"
    assert told in kernelpoint(*words, "--cost", "instructions").err
    assert "--cost" not in kernelpoint(*words).err
