"""The numbers of groups, histogram, tree, compare and convert, and which kernel is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

Run = Any
Kernelpoint = Callable[..., Run]
Rows = list[dict[str, Any]]


def results(kernelpoint: Kernelpoint, *words: object) -> Any:
    run = kernelpoint(*words, "--format", "json")
    assert run.code == 0, run.err
    return run.results


@pytest.fixture(scope="module")
def groups(kernelpoint: Kernelpoint, resnet: Path) -> Rows:
    """All groups of the resnet sample."""
    rows: Rows = results(kernelpoint, "groups", resnet)
    return rows


def test_groups_agree_with_the_totals(kernelpoint: Kernelpoint, resnet: Path, groups: Rows) -> None:
    info = results(kernelpoint, "info", resnet)
    sample = results(kernelpoint, "sample", resnet)
    assert len(groups) == info["kernel_groups"]
    assert len({row["name"] for row in groups}) == info["names"]
    assert len({row["key"] for row in groups}) == len(groups)
    assert sum(row["launches"] for row in groups) == info["launches"]
    assert sum(row["total_duration_ns"] for row in groups) == info["total_duration_ns"]
    assert sum(row["share"] for row in groups) == pytest.approx(1)
    own, pooled = ([row for row in groups if row["pooled"] is which] for which in (False, True))
    strata = results(kernelpoint, "sample", resnet, "--list", "strata")
    assert sum(row["clusters"] for row in own) == sum(not row["pooled"] for row in strata)
    assert sum(row["samples"] for row in own) == sum(row["samples"] for row in strata if not row["pooled"])
    assert {(row["clusters"], row["samples"]) for row in pooled} == {(None, None)}
    share = pytest.approx(sum(row["share"] for row in pooled))
    assert sample["pooled"] == {"groups": len(pooled), "share": share}
    for row in groups:
        assert row["min_ns"] <= row["mean_ns"] <= row["max_ns"]
        assert row["mean_ns"] == pytest.approx(row["total_duration_ns"] / row["launches"])
        assert row["cov"] == pytest.approx(row["std_ns"] / row["mean_ns"])


def test_summary_shows_the_ten_largest(kernelpoint: Kernelpoint, resnet: Path, groups: Rows) -> None:
    assert results(kernelpoint, "summary", resnet)["groups"] == groups[:10]


@pytest.mark.parametrize(
    ("sort", "column", "upwards"),
    [
        ("total", "total_duration_ns", False),
        ("launches", "launches", False),
        ("mean", "mean_ns", False),
        ("cov", "cov", False),
        ("clusters", "clusters", False),
        ("samples", "samples", False),
        ("name", "name", True),
    ],
)
def test_groups_are_sorted_and_cut(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows, sort: str, column: str, upwards: bool
) -> None:
    rows = results(kernelpoint, "groups", resnet, "--sort", sort)
    # A group that is pooled has none of its own.
    values = [0 if row[column] is None else row[column] for row in rows]
    assert values == sorted(values, reverse=not upwards)
    assert sorted(rows, key=lambda row: row["rank"]) == groups, "the rank is that of the total, always"
    assert results(kernelpoint, "groups", resnet, "--sort", sort, "--top", "3") == rows[:3]


@pytest.mark.parametrize("sort", ["total", "launches", "mean", "cov", "name"])
def test_groups_the_other_way_round(kernelpoint: Kernelpoint, resnet: Path, sort: str) -> None:
    figure = {"total": "total_duration_ns", "mean": "mean_ns"}.get(sort, sort)
    there, back = (
        [row[figure] for row in results(kernelpoint, "groups", resnet, "--sort", sort, *words)]
        for words in ((), ("--reverse",))
    )
    assert there != back == there[::-1]


def test_the_heads_of_the_groups_are_what_they_can_be_sorted_by(
    kernelpoint: Kernelpoint, resnet: Path
) -> None:
    heads = kernelpoint("groups", resnet, "--top", "1").out.splitlines()[0].split()
    assert heads[-2:] == ["kernel", "group"]
    for head in (*heads[:-2], "kernel group"):
        assert kernelpoint("groups", resnet, "--sort", head, "--top", "1").code == 0, head
    for old, new in (("clusters", "strata"), ("samples", "drawn")):
        assert len({kernelpoint("groups", resnet, "--sort", word).out for word in (old, new)}) == 1


def test_more_than_all_groups_are_all(kernelpoint: Kernelpoint, resnet: Path, groups: Rows) -> None:
    assert results(kernelpoint, "groups", resnet, "--top", "1000") == groups


def test_the_largest_group_is_shown_without_a_choice(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows
) -> None:
    run = kernelpoint("histogram", resnet, "--format", "json")
    assert run.results["key"] == groups[0]["key"]
    assert run.err == ""


@pytest.mark.parametrize("command", ["histogram", "tree"])
def test_a_rank_chooses_the_group(kernelpoint: Kernelpoint, resnet: Path, groups: Rows, command: str) -> None:
    for row in (groups[2], groups[-1]):
        run = kernelpoint(command, resnet, "--kernel", f"#{row['rank']}", "--format", "json")
        first = run.results[0] if command == "tree" else run.results
        assert first["key"] == row["key"]
        assert run.err == ""


@pytest.mark.parametrize("command", ["histogram", "tree"])
def test_a_part_of_the_key_chooses_the_largest_that_has_it(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows, command: str
) -> None:
    part = "volta_sgemm_128x64_nn <<<"
    fitting = [row for row in groups if part in row["key"]]
    assert len(fitting) > 1
    run = kernelpoint(command, resnet, "--kernel", part, "--format", "json")
    first = run.results[0] if command == "tree" else run.results
    assert first["key"] == fitting[0]["key"]
    assert f"fits {len(fitting)} groups" in run.err
    assert fitting[0]["key"] in run.err


def test_case_counts_only_where_it_tells_groups_apart(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows
) -> None:
    part = "VOLTA_SGEMM_128X64_NN <<<"
    fitting = [row for row in groups if part.lower() in row["key"]]
    run = kernelpoint("histogram", resnet, "--kernel", part, "--format", "json")
    assert run.results["key"] == fitting[0]["key"]
    assert f"fits {len(fitting)} groups" in run.err
    # Templates of one kernel may differ in case alone: what is written is looked for first.
    named = [row["key"] for row in groups if "T1" in row["key"]]
    assert kernelpoint("histogram", resnet, "--kernel", "T1", "--format", "json").results["key"] == named[0]


@pytest.mark.parametrize(
    ("typed", "said"), [("5%", "fractions are meant, not per cent: 0.05"), ("five", "'five' is no number")]
)
def test_what_is_no_number_says_what_is_meant(
    kernelpoint: Kernelpoint, resnet: Path, typed: str, said: str
) -> None:
    assert said in kernelpoint("sample", resnet, "--epsilon", typed).failed(2)


def test_the_whole_key_chooses_its_group_silently(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows
) -> None:
    run = kernelpoint("histogram", resnet, "--kernel", groups[7]["key"], "--format", "json")
    assert run.results["key"] == groups[7]["key"]
    assert run.err == ""


@pytest.mark.parametrize("scale", [(), ("--log",)])
@pytest.mark.parametrize("kernel", ["#1", "#9", "#16"])
def test_histogram_counts_every_launch_once(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows, kernel: str, scale: tuple[str, ...]
) -> None:
    shown = results(kernelpoint, "histogram", resnet, "--kernel", kernel, *scale)
    row = groups[int(kernel[1:]) - 1]
    edges_ns, counts, clusters = shown["edges_ns"], shown["counts"], shown["clusters"]
    assert len(edges_ns) == len(counts) + 1
    assert all(low < high for low, high in pairwise(edges_ns))
    assert edges_ns[0] <= row["min_ns"]
    assert edges_ns[-1] >= row["max_ns"]
    assert sum(counts) == row["launches"]
    assert len(clusters) == row["clusters"]
    assert (clusters[0]["low_ns"], clusters[-1]["high_ns"]) == (row["min_ns"], row["max_ns"])
    assert all(left["high_ns"] < right["low_ns"] for left, right in pairwise(clusters))
    for cluster in clusters:
        assert sum(cluster["counts"]) == cluster["launches"]
    columns = zip(*(cluster["counts"] for cluster in clusters), strict=True)
    assert [sum(column) for column in columns] == counts


def test_histogram_has_the_bins_asked_for(kernelpoint: Kernelpoint, resnet: Path) -> None:
    for width in (1, 7, 100):
        shown = results(kernelpoint, "histogram", resnet, "--width", width)
        assert 1 <= len(shown["counts"]) <= width
        assert sum(shown["counts"]) == 100


def test_histogram_is_drawn_as_large_as_asked(kernelpoint: Kernelpoint, resnet: Path) -> None:
    small = kernelpoint("histogram", resnet, "--width", "50", "--height", "8").out.splitlines()
    large = kernelpoint("histogram", resnet, "--width", "120", "--height", "30").out.splitlines()
    assert max(map(len, small)) <= 50 < max(map(len, large)) <= 120
    assert len(small) <= 9 < len(large) <= 31


@pytest.mark.parametrize("method", ["root", "stem", "allegro"])
def test_tree_is_a_flat_pre_order_of_consistent_nodes(
    kernelpoint: Kernelpoint, gpt2: Path, method: str
) -> None:
    words = ("--group-by", "name", "--epsilon", "0.01", "--method", method)
    nodes = results(kernelpoint, "tree", gpt2, *words)
    whole = results(kernelpoint, "groups", gpt2, "--group-by", "name")[0]
    assert nodes[0]["launches"] == whole["launches"]
    assert nodes[0]["mean_ns"] == pytest.approx(whole["mean_ns"])
    assert nodes[0]["path"] == ""
    assert [node["index"] for node in nodes] == list(range(len(nodes)))
    for node in nodes:
        assert node["depth"] == len(node["path"])
        assert node["reason"]
        if node["verdict"] == "keep":
            assert node["left"] is node["right"] is None
            continue
        left, right = nodes[node["left"]], nodes[node["right"]]
        assert node["left"] == node["index"] + 1, "pre-order"
        assert node["right"] > node["left"]
        assert (left["path"], right["path"]) == (node["path"] + "L", node["path"] + "R")
        assert left["launches"] + right["launches"] == node["launches"]
        assert left["mean_ns"] < right["mean_ns"]
        assert left["mean_ns"] <= node["threshold_ns"] < right["mean_ns"]
        total_ns = sum(child["mean_ns"] * child["launches"] for child in (left, right))
        assert total_ns == pytest.approx(node["mean_ns"] * node["launches"])
    if method == "root":
        assert len(nodes) > 1


def test_the_threshold_is_the_largest_duration_on_the_left(kernelpoint: Kernelpoint, resnet: Path) -> None:
    nodes = results(kernelpoint, "tree", resnet, "--kernel", "#9")
    words = ("histogram", resnet, "--kernel", "#9", "--method", "root")
    clusters = results(kernelpoint, *words)["clusters"]
    assert len(nodes) == 3
    assert nodes[0]["threshold_ns"] == clusters[0]["high_ns"]
    assert [node["launches"] for node in nodes[1:]] == [cluster["launches"] for cluster in clusters]


def test_max_depth_cuts_the_drawing_alone(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    words = ("tree", gpt2, "--group-by", "name", "--epsilon", "0.01")
    shallow = kernelpoint(*words, "--max-depth", "1")
    assert shallow.code == 0
    assert len(shallow.out) < len(kernelpoint(*words).out)
    assert results(kernelpoint, *words, "--max-depth", "1") == results(kernelpoint, *words)


def test_compare_has_every_method_once_in_the_order_asked(kernelpoint: Kernelpoint, resnet: Path) -> None:
    names = [row["name"] for row in results(kernelpoint, "methods")]
    rows = results(kernelpoint, "compare", resnet, "--repeats", "5")
    assert [row["method"] for row in rows] == names
    asked = results(kernelpoint, "compare", resnet, "--methods", "random,root", "--repeats", "5")
    assert [row["method"] for row in asked] == ["random", "root"]
    for row in rows:
        assert row["profile"] == str(resnet)
        if not row["applicable"]:
            assert "--features" in row["reason"]
            continue
        assert row["error_mean"] <= row["error_max"]
        assert row["error_p95"] <= row["error_max"]
    same = {row["method"]: row for row in asked}
    for row in rows:
        if row["method"] in same:
            assert same[row["method"]] | {"seconds": 0} == row | {"seconds": 0}


def test_compare_judges_the_design_that_sample_plans(kernelpoint: Kernelpoint, resnet: Path) -> None:
    # By probability, `compare` judges over all numbers of launches that may be drawn, `sample` one plan.
    fixed = ("--set", "random.launches=9")
    rows = results(kernelpoint, "compare", resnet, "--repeats", "5", *fixed)
    assert [row["method"] for row in rows if row["applicable"]] == [
        "joint",
        "root",
        "stem",
        "allegro",
        "random",
        "single-iteration",
    ]
    for row in rows:
        if not row["applicable"]:
            continue
        sample = results(kernelpoint, "sample", resnet, "--method", row["method"], "--judge", "5", *fixed)
        assert row["strata"] == sample["strata"]
        assert row["samples"] == sample["samples"]
        assert row["bound"] == pytest.approx(sample["bound"])
        assert row["error_mean"] == pytest.approx(sample["judged"]["error_mean"])


@pytest.fixture(scope="module", params=["resnet", "resnet_csv", "gpt2"])
def original_and_parquet(
    kernelpoint: Kernelpoint, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """A profile, and the same as Parquet."""
    original: Path = request.getfixturevalue(request.param)
    parquet = tmp_path_factory.mktemp("converted") / "launches.parquet"
    assert kernelpoint("convert", original, "-o", parquet).code == 0
    return original, parquet


@pytest.mark.parametrize(
    "words",
    [
        ("groups",),
        ("groups", "--group-by", "short-name"),
        ("histogram", "--kernel", "#9"),
        ("tree", "--kernel", "#9"),
        ("sample",),
        ("sample", "--launches", "500:3000", "--exclude", "sgemm"),
    ],
    ids=" ".join,
)
def test_every_command_says_the_same_of_the_parquet(
    kernelpoint: Kernelpoint, original_and_parquet: tuple[Path, Path], words: tuple[str, ...]
) -> None:
    original, parquet = original_and_parquet
    command, *options = words
    assert results(kernelpoint, command, parquet, *options) == results(
        kernelpoint, command, original, *options
    )


def test_the_parquet_gives_the_same_plan(
    kernelpoint: Kernelpoint, original_and_parquet: tuple[Path, Path]
) -> None:
    plans = [kernelpoint("sample", path, "-o", "-").json for path in original_and_parquet]
    assert plans[0]["strata"] == plans[1]["strata"]
    infos = [results(kernelpoint, "info", path) for path in original_and_parquet]
    for name in (
        "launches",
        "names",
        "kernel_groups",
        "total_duration_ns",
        "processes",
        "streams",
        "span_ns",
    ):
        assert infos[0][name] == infos[1][name]
    comparisons = [
        results(kernelpoint, "compare", path, "--repeats", "3", "--methods", "root,random")
        for path in original_and_parquet
    ]
    for row in (*comparisons[0], *comparisons[1]):
        del row["profile"], row["seconds"]
    assert comparisons[0] == comparisons[1]


def test_a_plan_of_the_original_fits_the_parquet(
    kernelpoint: Kernelpoint, original_and_parquet: tuple[Path, Path], tmp_path: Path
) -> None:
    original, parquet = original_and_parquet
    path = tmp_path / "plan.json"
    shown = kernelpoint("sample", original, "-o", path, "--format", "json").results
    assert results(kernelpoint, "judge", path, parquet)["error"] == pytest.approx(shown["error"])


def test_convert_keeps_what_the_filters_keep(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows, tmp_path: Path
) -> None:
    target = tmp_path / "part.parquet"
    run = kernelpoint("convert", resnet, "-o", target, "--include", "volta_sgemm", "--format", "json")
    kept = sum(row["launches"] for row in groups if "volta_sgemm" in row["name"])
    assert run.results["launches"] == kept
    assert results(kernelpoint, "info", target)["launches"] == kept


def test_nothing_of_the_commands_own_options_leaks_between_runs(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows
) -> None:
    assert results(kernelpoint, "groups", resnet, "--epsilon", "0.01") != groups
    assert json.dumps(results(kernelpoint, "groups", resnet, "--quiet")) == json.dumps(groups)
