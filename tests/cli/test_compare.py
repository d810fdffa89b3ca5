"""`compare` over several profiles, with features of one or of each, and what its table leaves out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tui.options.choices import CompareSort
from tui.text.methods import blocks, promises

Kernelpoint = Callable[..., Any]
Rows = list[dict[str, Any]]


def rows_of(kernelpoint: Kernelpoint, *words: object) -> Rows:
    run = kernelpoint("compare", *words, "--repeats", "5", "--format", "json")
    assert run.code == 0, run.err
    rows: Rows = run.results
    return rows


@pytest.fixture
def counts(resnet: Path, tmp_path: Path) -> Path:
    """An instruction count for every launch of the resnet sample, by launch id."""
    path = tmp_path / "counts.csv"
    path.write_text("id,instructions\n" + "".join(f"{index},{index % 7 + 1}\n" for index in range(5600)))
    return path


def test_each_profile_is_a_workload_and_means_come_last(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path
) -> None:
    rows = rows_of(kernelpoint, resnet, gpt2, "--methods", "root,joint")
    assert [(row["profile"], row["method"]) for row in rows[:4]] == [
        (str(resnet), "root"),
        (str(resnet), "joint"),
        (str(gpt2), "root"),
        (str(gpt2), "joint"),
    ]
    assert [row["method"] for row in rows[4:]] == ["root", "joint"]
    for mean, first, second in zip(rows[4:], rows[:2], rows[2:4], strict=True):
        assert mean["profile"] == "mean of 2 (harmonic speedup, arithmetic error)"
        assert mean["speedup"] == pytest.approx(2 / (1 / first["speedup"] + 1 / second["speedup"]))
        assert mean["error_mean"] == pytest.approx((first["error_mean"] + second["error_mean"]) / 2)
        assert mean["bound"] is None
    geometric = rows_of(kernelpoint, resnet, gpt2, "--methods", "root", "--mean", "geometric")[-1]
    assert geometric["profile"] == "mean of 2 (geometric speedup, geometric error)"
    assert geometric["speedup"] == pytest.approx((rows[0]["speedup"] * rows[2]["speedup"]) ** 0.5)


def test_several_files_may_be_one_workload(kernelpoint: Kernelpoint, resnet: Path, gpt2: Path) -> None:
    (row,) = rows_of(kernelpoint, resnet, gpt2, "--methods", "root", "--one-workload")
    assert row["profile"] == f"{resnet} {gpt2}"
    alone = rows_of(kernelpoint, resnet, gpt2, "--methods", "root")
    assert row["strata"] == alone[0]["strata"] + alone[1]["strata"]


def test_features_may_be_said_to_be_of_one_profile(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path, counts: Path
) -> None:
    words = (resnet, gpt2, "--methods", "sieve")
    rows = rows_of(kernelpoint, *words, "--features", f"{resnet}={counts}")
    assert [row["applicable"] for row in rows] == [True, False, True]
    assert rows[2]["profile"].startswith("mean of 1 ")
    for_all = kernelpoint("compare", *words, "--features", counts)
    assert "--features PROFILE=FILE" in for_all.failed(2)


def test_methods_are_named_once_however_often_and_with_blanks(kernelpoint: Kernelpoint, resnet: Path) -> None:
    rows = rows_of(kernelpoint, resnet, "--methods", "root, allegro,root")
    assert [row["method"] for row in rows] == ["root", "allegro"]
    assert "names no method" in kernelpoint("compare", resnet, "--methods", " , ").failed(2)
    assert "did you mean 'pks'" in kernelpoint("compare", resnet, "--methods", "PKS").failed(2)


def test_what_a_method_has_to_say_is_said(kernelpoint: Kernelpoint, resnet: Path) -> None:
    words = ("compare", resnet, "--methods", "single-iteration", "--repeats", "5")
    settings = ("first=56", "last=111", "iterations=100")
    options = [word for setting in settings for word in ("--set", f"single-iteration.{setting}")]
    run = kernelpoint(*words, *options, "--format", "json")
    (said,) = run.json["warnings"]
    assert said.startswith("single-iteration: one iteration: ")
    assert said in run.err


def test_a_method_that_lacks_features_says_so_below_the_table(kernelpoint: Kernelpoint, resnet: Path) -> None:
    out = kernelpoint("compare", resnet, "--methods", "root,sieve", "--repeats", "5").out
    table, below = out.split("\n\ncannot run: ")
    assert "sieve" not in table
    assert below == "sieve\n(--reasons says why)\n"
    words = ("compare", resnet, "--methods", "root,sieve", "--repeats", "5", "--reasons")
    explained = kernelpoint(*words).out.split("\n\ncannot run:\n")
    assert explained[0] == table
    assert explained[1].startswith("- sieve needs the instruction count")
    assert "--features" in explained[1]
    alone = kernelpoint("compare", resnet, "--methods", "sieve").out
    assert "speedup" not in alone


def test_the_table_fits_80_columns(kernelpoint: Kernelpoint, resnet: Path, counts: Path) -> None:
    out = kernelpoint("compare", resnet, "--features", counts, "--repeats", "5").out
    assert "first-instructions" in out
    assert max(map(len, out.splitlines())) <= 80
    assert " speedup simulated " in out, "the promise beside the cost"


def test_the_best_method_is_first_and_data_stay_as_asked(kernelpoint: Kernelpoint, resnet: Path) -> None:
    """The table is in the order of `promises`, and says so."""
    words = ("compare", resnet, "--methods", "random,joint,single-iteration,root,stem", "--repeats", "5")
    rows = rows_of(kernelpoint, *words[1:])
    assert [row["method"] for row in rows] == ["random", "joint", "single-iteration", "root", "stem"]
    figures = {row["method"]: row for row in rows}
    assert figures["single-iteration"]["bound_with_noise"] is None
    lines = kernelpoint(*words).out.splitlines()
    shown = [line.split()[0] for line in lines[1 : lines.index("")]]
    assert shown == ["joint", "root", "stem", "random", "single-iteration"]
    assert "Best first: the simulated total bounded by 5.0 % (column simulated), and the" in lines


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
        ("speedup", "speedup", -1),
        ("mean", "error_mean", 1),
        ("error", "error_mean", 1),
        ("drawn", "samples", 1),
        ("within", "within_epsilon", -1),
        ("p95", "error_p95", 1),
    ],
)
def test_the_table_can_be_sorted(
    kernelpoint: Kernelpoint, resnet: Path, sort: str, figure: str, sign: int
) -> None:
    words = ("compare", resnet, "--methods", "joint,root,stem,random", "--repeats", "5")
    rows = sorted(rows_of(kernelpoint, *words[1:]), key=lambda row: sign * row[figure])
    lines = kernelpoint(*words, "--sort", sort).out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [row["method"] for row in rows]
    back = sorted(rows_of(kernelpoint, *words[1:]), key=lambda row: -sign * row[figure])
    lines = kernelpoint(*words, "--sort", sort, "--reverse").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [row["method"] for row in back]


def test_the_heads_of_the_table_are_what_it_can_be_sorted_by(kernelpoint: Kernelpoint, resnet: Path) -> None:
    words = ("compare", resnet, "--methods", "joint,single-iteration", "--repeats", "5")
    run = kernelpoint(*words, COLUMNS="200")
    for head in run.out.splitlines()[0].split():
        assert kernelpoint(*words, "--sort", head).code == 0, head
    lines = kernelpoint(*words, "--sort", "bound", "--reverse").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["joint", "single-iteration"], "without a bound: last"


def test_methods_that_come_to_one_plan_share_a_row(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path
) -> None:
    """By launch, Allegro and STEM draw the same numbers from the same groups here."""
    words = ("--methods", "allegro,root,stem", "--repeats", "5")
    rows = rows_of(kernelpoint, resnet, *words)
    assert [row["same_as"] for row in rows] == [None, None, "allegro"]
    known = ("strata", "samples", "speedup", "bound", "error_mean", "bound_with_noise")
    assert [rows[0][name] for name in known] == [rows[2][name] for name in known]
    out = kernelpoint("compare", resnet, *words).out
    assert "\nallegro, stem " in out
    assert len(out.split("\n\n")[0].splitlines()) == 3
    chart = kernelpoint("compare", resnet, *words, "--scatter").out
    assert chart.splitlines()[-1].split() == ["D", "allegro,", "stem", "B", "root"]
    # STEM's own groups are names.
    several = rows_of(kernelpoint, resnet, *words, "--group-by", "published")
    assert {row["same_as"] for row in several} == {None}
    means = rows_of(kernelpoint, resnet, gpt2, *words)[-3:]
    assert [row["same_as"] for row in means] == [None, None, "allegro"]


def test_standard_input_is_read_once(kernelpoint: Kernelpoint) -> None:
    assert "can be read once only" in kernelpoint("compare", "-", "--features", "-").failed(2)
    assert "can be read once only" in kernelpoint(
        "sample", "-", "--method", "sieve", "--features", "-"
    ).failed(2)


def test_what_did_not_fit_is_said_before_the_method_finds_fault(
    kernelpoint: Kernelpoint, resnet: Path, tmp_path: Path
) -> None:
    path = tmp_path / "few.csv"
    path.write_text("id,instructions\n0,5\n1,6\n9999,7\n")
    run = kernelpoint("sample", resnet, "--method", "sieve", "--features", path)
    assert run.code == 1
    joined, error = run.err.splitlines()
    assert "few.csv" in joined
    assert "matches no launch" in joined
    assert error.startswith("kernelpoint: error: sieve needs the instruction count")


def test_a_scatter_is_drawn_instead_of_the_table_as_large_as_asked(
    kernelpoint: Kernelpoint, resnet: Path
) -> None:
    words = ("compare", resnet, "--methods", "root,joint,sieve", "--repeats", "5", "--scatter")
    run = kernelpoint(*words, "--width", "50", "--height", "12")
    assert run.out.count("\n") == 12
    assert 40 < max(map(len, run.out.splitlines())) <= 50
    assert run.out.splitlines()[-1] == "B root    A joint", "in the order asked for, each with its own letter"
    assert run.err == "kernelpoint: not applicable, so not in the chart: sieve\n"
    as_wide_as_the_terminal = kernelpoint(*words, COLUMNS="100").out
    assert 90 < max(map(len, as_wide_as_the_terminal.splitlines())) <= 100
    # The data are the same; how long each took is not.
    with_scatter, without = (kernelpoint(*given, "--format", "csv").csv for given in (words, words[:-1]))
    assert [{**row, "seconds": ""} for row in with_scatter] == [{**row, "seconds": ""} for row in without]


def test_a_scatter_has_its_methods_where_the_numbers_are(kernelpoint: Kernelpoint, resnet: Path) -> None:
    """Who is faster stands further right, who is more wrong higher up."""
    methods = ("compare", resnet, "--methods", "root,joint,allegro,random", "--repeats", "5")
    rows = kernelpoint(*methods, "--format", "json").results
    lines = kernelpoint(*methods, "--scatter").out.splitlines()
    letters = dict(zip("ABDE", ("joint", "root", "allegro", "random"), strict=True))
    place = {
        name: (line.index(letter, 7), -number)
        for letter, name in letters.items()
        for number, line in enumerate(lines[1:17])
        if letter in line[7:]
    }
    assert set(place) == set(letters.values())
    for axis, figure in enumerate(("speedup", "error_mean")):
        ordered = sorted(rows, key=lambda row: row[figure])
        places = [place[row["method"]][axis] for row in ordered]
        assert places == sorted(places)


def test_each_profile_has_its_scatter_and_the_means_too(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path
) -> None:
    words = (resnet, gpt2, "--methods", "root,joint", "--repeats", "5", "--scatter", "--height", "8")
    charts = kernelpoint("compare", *words).out.split("\n\n")
    titles = charts[::2]
    assert [title.strip() for title in titles[:2]] == [str(resnet), str(gpt2)]
    assert titles[2].startswith("mean of 2 ")
    assert all("mean error over speedup" in chart for chart in charts[1::2])


def test_means_over_some_of_the_profiles_stand_beside_the_others_over_the_same(
    kernelpoint: Kernelpoint, resnet: Path, gpt2: Path, counts: Path
) -> None:
    words = (resnet, gpt2, resnet, "--methods", "root,sieve", "--features", f"{resnet}={counts}")
    rows = rows_of(kernelpoint, *words)
    assert [row["applicable"] for row in rows] == [True, True, True, False, True, True, True, True, True]
    every, partial, sieve = rows[6:]
    assert (every["method"], every["profile"]) == ("root", "mean of 3 (harmonic speedup, arithmetic error)")
    assert [partial["method"], sieve["method"]] == ["root", "sieve"]
    over = f"mean of 2 of 3 (harmonic speedup, arithmetic error): {resnet}, {resnet}"
    assert partial["profile"] == sieve["profile"] == over
    assert partial["speedup"] == pytest.approx(rows[0]["speedup"])
    assert sieve["speedup"] == pytest.approx(rows[1]["speedup"])
    text = " ".join(kernelpoint("compare", *words, "--repeats", "5").out.split())
    assert f"{resnet}, {resnet}" in text


def test_why_a_mean_is_not_given_is_said_of_that_mean_alone(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    """Over the workloads that sieve applies to, the mean of random is there."""
    even, *uneven = (tmp_path / f"{name}.parquet" for name in ("even", "one", "two"))
    for path, durations_ns in ((even, [5] * 80), (uneven[0], [1, 99] * 40), (uneven[1], [1, 50] * 40)):
        pq.write_table(pa.table({"name": ["k"] * 80, "duration_ns": durations_ns}), path)
    counted = tmp_path / "counts.csv"
    counted.write_text("id,instructions\n" + "".join(f"{index},{index % 7 + 1}\n" for index in range(80)))
    files = [word for path in uneven for word in ("--features", f"{path}={counted}")]
    words = (even, *uneven, "--methods", "random,sieve", "--set", "random.launches=2", *files)
    run = kernelpoint("compare", *words, "--mean", "geometric", "--format", "json")
    every, partial, _ = run.results[6:]
    assert (every["method"], every["error_mean"]) == ("random", None)
    assert partial["method"] == "random"
    assert partial["error_mean"] > 0
    said = [text for text in run.json["warnings"] if "geometric" in text]
    why = f"random: its error is 0 on {even}, so a geometric mean over 3 would be 0 whatever the others are"
    assert said == [f"{why}; not given"]


def test_a_geometric_mean_with_an_error_of_zero_is_not_given(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    even, uneven = tmp_path / "even.parquet", tmp_path / "uneven.parquet"
    for path, durations_ns in ((even, [5] * 80), (uneven, [1, 99] * 40)):
        pq.write_table(pa.table({"name": ["k"] * 80, "duration_ns": durations_ns}), path)
    words = (even, uneven, "--methods", "random", "--set", "random.launches=2", "--mean", "geometric")
    run = kernelpoint("compare", *words, "--format", "json")
    mean = run.results[-1]
    assert mean["error_mean"] is None
    assert mean["speedup"] > 1
    assert run.json["warnings"] == [
        f"random: its error is 0 on {even}, so a geometric mean would be 0 whatever the others are; not given"
    ]
