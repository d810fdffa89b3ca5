"""What the commands that look show: groups, ranges, histogram, tree and info, and of which kernel."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sampling.readers import nsys_tables
from tests import small_recordings
from tests.cli.conftest import JSON, Kernelpoint, cycles_of, drawn_of, results
from tui.commands import look
from tui.commands.schema import output_schema

Rows = list[dict[str, Any]]
RICH = ("--group-by", "name", "--epsilon", "0.01")


@pytest.fixture(scope="module")
def groups(kernelpoint: Kernelpoint, resnet: Path) -> Rows:
    """All groups of the resnet sample."""
    rows: Rows = results(kernelpoint, "groups", resnet, "--plan")
    return rows


def test_without_plan_groups_are_the_same_and_nothing_is_planned(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = {"clusters", "samples", "pooled"}
    monkeypatch.setattr("sampling.plan.draft.make_design", None)
    plain = results(kernelpoint, "groups", resnet)
    assert plain == [{key: row[key] for key in row if key not in planned} for row in groups]
    run = kernelpoint("groups", resnet, "--epsilon", "0.01", "-m", "root", "--no-pool")
    assert run.err.splitlines() == [
        f"kernelpoint: {flag}: not used without --plan" for flag in ("--epsilon", "--no-pool")
    ]
    assert {"strata", "drawn"}.isdisjoint(run.out.partition("\n")[0].split())
    refused = kernelpoint("groups", resnet, "--sort", "drawn").failed(2)
    assert "--sort drawn: nothing is drawn; give --plan too" in refused


def test_groups_agree_with_the_totals(kernelpoint: Kernelpoint, resnet: Path, groups: Rows) -> None:
    info = results(kernelpoint, "info", resnet)
    assert len(groups) == len({row["key"] for row in groups}) == info["kernel_groups"]
    assert len({row["name"] for row in groups}) == info["names"]
    for name in ("launches", "total_duration_ns"):
        assert sum(row[name] for row in groups) == info[name]
    own, pooled = ([row for row in groups if row["pooled"] is which] for which in (False, True))
    strata = results(kernelpoint, "sample", resnet, "--list", "strata")
    assert sum(row["clusters"] for row in own) == sum(not row["pooled"] for row in strata)
    assert sum(row["samples"] for row in own) == sum(row["samples"] for row in strata if not row["pooled"])
    assert {(row["clusters"], row["samples"]) for row in pooled} == {(None, None)}
    share = pytest.approx(sum(row["share"] for row in pooled))
    assert results(kernelpoint, "sample", resnet)["pooled"] == {"groups": len(pooled), "share": share}
    assert sum(row["share"] for row in groups) == pytest.approx(1)
    for row in groups:
        assert row["min_ns"] <= row["mean_ns"] <= row["max_ns"]
        assert row["mean_ns"] == pytest.approx(row["total_duration_ns"] / row["launches"])
        assert row["cov"] == pytest.approx(row["std_ns"] / row["mean_ns"])
    assert results(kernelpoint, "summary", resnet)["groups"] == groups[:10]


@pytest.mark.parametrize(
    ("sort", "column"),
    [
        *(("total", "total_duration_ns"), ("launches", "launches"), ("mean", "mean_ns"), ("cov", "cov")),
        *(("strata", "clusters"), ("drawn", "samples"), ("name", "name")),
    ],
)
def test_groups_are_sorted_and_cut(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows, sort: str, column: str
) -> None:
    words = ("groups", resnet, "--plan", "--sort", sort)
    rows = results(kernelpoint, *words)
    # A group that is pooled has none of its own.
    values = [0 if row[column] is None else row[column] for row in rows]
    assert values == sorted(values, reverse=sort != "name")
    back = [0 if row[column] is None else row[column] for row in results(kernelpoint, *words, "--reverse")]
    assert back == values[::-1] or sort in {"strata", "drawn"}
    assert sorted(rows, key=lambda row: row["rank"]) == groups, "the rank is that of the total, always"
    assert results(kernelpoint, *words, "--top", "3") == rows[:3]
    filtered = [row for row in rows if "sgemm" in row["key"]]
    assert results(kernelpoint, *words, "--filter", "SGEmm", "--top", "4") == filtered[:4]


@pytest.mark.parametrize("command", ["histogram", "tree"])
def test_a_kernel_is_chosen_by_rank_or_a_part_of_its_key(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows, command: str
) -> None:
    def shown(*words: str) -> tuple[str, str]:
        run = kernelpoint(command, resnet, *words, *JSON)
        first = run.results[0] if command == "tree" else run.results
        return first["key"], run.err

    assert shown() == (groups[0]["key"], "")
    assert shown("--kernel", "#3") == (groups[2]["key"], "")
    assert shown("--kernel", groups[7]["key"]) == (groups[7]["key"], "")
    part = "volta_sgemm_128x64_nn <<<"
    fitting = [row["key"] for row in groups if part in row["key"]]
    assert len(fitting) > 1
    for word in (part, part.upper()):
        key, said = shown("--kernel", word)
        assert key == fitting[0]
        assert f"fits {len(fitting)} groups" in said
    # Templates of one kernel may differ in case alone: what is written is looked for first.
    assert shown("--kernel", "T1")[0] == next(row["key"] for row in groups if "T1" in row["key"])


@pytest.mark.parametrize("scale", [(), ("--log",)])
@pytest.mark.parametrize("kernel", ["#1", "#9"])
def test_histogram_counts_every_launch_once(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows, kernel: str, scale: tuple[str, ...]
) -> None:
    shown = results(kernelpoint, "histogram", resnet, "--kernel", kernel, *scale)
    row = groups[int(kernel[1:]) - 1]
    edges_ns, counts, clusters = shown["edges_ns"], shown["counts"], shown["clusters"]
    assert len(edges_ns) == len(counts) + 1
    assert all(low < high for low, high in pairwise(edges_ns))
    assert edges_ns[0] <= row["min_ns"] <= row["max_ns"] <= edges_ns[-1]
    assert sum(counts) == row["launches"]
    assert len(clusters) == row["clusters"]
    assert (clusters[0]["low_ns"], clusters[-1]["high_ns"]) == (row["min_ns"], row["max_ns"])
    assert all(left["high_ns"] < right["low_ns"] for left, right in pairwise(clusters))
    assert all(sum(cluster["counts"]) == cluster["launches"] for cluster in clusters)
    columns = zip(*(cluster["counts"] for cluster in clusters), strict=True)
    assert [sum(column) for column in columns] == counts


def test_a_histogram_is_as_large_as_asked(kernelpoint: Kernelpoint, resnet: Path) -> None:
    for width in (1, 7, 100):
        shown = results(kernelpoint, "histogram", resnet, "--width", width)
        assert 1 <= len(shown["counts"]) <= width
    small = kernelpoint("histogram", resnet, "--width", "50", "--height", "8").out.splitlines()
    large = kernelpoint("histogram", resnet, "--width", "120", "--height", "30").out.splitlines()
    assert max(map(len, small)) <= 50 < max(map(len, large)) <= 120
    assert len(small) <= 9 < len(large) <= 31


@pytest.mark.parametrize("method", ["root", "stem"])
def test_tree_is_a_flat_pre_order_of_consistent_nodes(
    kernelpoint: Kernelpoint, gpt2: Path, method: str
) -> None:
    words = ("tree", gpt2, *RICH, "--method", method)
    nodes = results(kernelpoint, *words)
    whole = results(kernelpoint, "groups", gpt2, "--group-by", "name")[0]
    assert (nodes[0]["path"], nodes[0]["launches"]) == ("", whole["launches"])
    assert nodes[0]["mean_ns"] == pytest.approx(whole["mean_ns"])
    assert [node["index"] for node in nodes] == list(range(len(nodes)))
    assert len(nodes) > 2
    for node in nodes:
        assert node["depth"] == len(node["path"])
        assert node["reason"]
        if node["verdict"] == "keep":
            assert node["left"] is node["right"] is None
            continue
        left, right = nodes[node["left"]], nodes[node["right"]]
        assert node["left"] == node["index"] + 1, "pre-order"
        assert (left["path"], right["path"]) == (node["path"] + "L", node["path"] + "R")
        assert left["launches"] + right["launches"] == node["launches"]
        assert left["mean_ns"] <= node["threshold_ns"] < right["mean_ns"]
        total_ns = sum(child["mean_ns"] * child["launches"] for child in (left, right))
        assert total_ns == pytest.approx(node["mean_ns"] * node["launches"])
    # The first decisions are the first nodes, whose children are those decided so far.
    for taken in {0, 1, 2, len(nodes) - 1, len(nodes) + 5}:
        expected = [
            node | {side: node[side] if (node[side] or taken) < taken else None for side in ("left", "right")}
            for node in nodes[:taken]
        ]
        assert results(kernelpoint, *words, "--decisions", taken) == expected
    assert results(kernelpoint, *words, "--max-depth", "1") == nodes
    assert len(kernelpoint(*words, "--max-depth", "1").out) < len(kernelpoint(*words).out)


def test_the_next_decision_is_proposed_with_its_threshold(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    for taken, node in enumerate(results(kernelpoint, "tree", gpt2, *RICH)[:3]):
        assert node["verdict"] == "split"
        text = kernelpoint("tree", gpt2, *RICH, "--decisions", taken).out
        at, name = f"{node['threshold_ns'] / 1000:.3g} us", node["path"] or "root"
        assert f"decision{'s' * (taken != 1)}, next {name}\n" in text
        assert f"┊ split at {at}" in text
        assert f"{name}: {node['launches']:,} launches" in text
        assert f"proposed: split; {node['reason']}" in " ".join(text.split())
        (row,) = (line for line in text.split("\n") if line.startswith("> "))
        assert f" {name} " in row
        assert f"? split at {at}" in row
        assert f"\n{name}: split" not in text, "it is not decided"


def test_decisions_of_the_users_are_told_ahead(kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path) -> None:
    key = results(kernelpoint, "tree", gpt2, *RICH)[0]["key"]
    path, plan = tmp_path / "overrides.json", tmp_path / "plan.json"
    decided = [{"key": key, "path": "", "decision": "keep"}]
    path.write_text(json.dumps({"method": "root", "overrides": decided}))
    text = kernelpoint("tree", gpt2, *RICH, "--overrides", path, "--decisions", "0").out
    for said in (
        "next: keep; decided by the user (keep); the rule: split",
        *("!? keep", "┊ keep; a split would be at", "! decided by the user"),
    ):
        assert said in text
    # They may have been made in another method's trees.
    said = f"--overrides {path}: decided in the trees of root, and used in those of stem"
    words = ("sample", gpt2, "--group-by", "name", "--method")
    assert said in kernelpoint(*words, "stem", "--overrides", path).err
    assert said not in kernelpoint(*words, "stem", "--overrides", path, "--quiet").err
    assert kernelpoint(*words, "root", "--overrides", path, "-o", plan).code == 0
    assert "decided in the trees of root" in kernelpoint(*words, "stem", "--overrides", plan).err
    # The default method has no trees of its own: whose the cuts are does not matter.
    assert "decided" not in kernelpoint(*words, "joint", "--overrides", plan).err


def test_named_ranges_hold_the_launches_that_selecting_them_keeps(
    kernelpoint: Kernelpoint, gpt2: Path
) -> None:
    (together,) = (row for row in results(kernelpoint, "ranges", gpt2) if row["source"] == "named")
    assert (together["path"], together["times"]) == ("ProfilerStep#*", 87)
    apart = results(kernelpoint, "ranges", gpt2, "--steps")
    named = [row for row in apart if row["source"] == "named"]
    assert together["launches"] == sum(row["launches"] for row in named)
    assert results(kernelpoint, "timeline", gpt2)["ranges"] == [together]
    assert results(kernelpoint, "timeline", gpt2, "--steps")["ranges"] == named
    assert [row["path"] for row in named] == [f"ProfilerStep#{step}" for step in range(87)]
    for row in (together, named[0], named[50]):
        chosen = results(kernelpoint, "info", gpt2, "--range", row["path"])
        assert (chosen["launches"], chosen["total_duration_ns"]) == (row["launches"], row["duration_ns"])
    assert sum(row["share"] for row in named) <= 1
    assert all(after["first"] > before["last"] for before, after in pairwise(named))
    by_time = results(kernelpoint, "ranges", gpt2, "--steps", "--sort", "time")
    steps = [row["duration_ns"] for row in by_time if row["source"] == "named"]
    assert steps == sorted((row["duration_ns"] for row in named), reverse=True)
    part = [
        row
        for row in results(kernelpoint, "ranges", gpt2, "--steps", "--launches", "100:200")
        if "#" in row["path"]
    ]
    assert [(row["first"], row["last"]) for row in part] == [(100, 159), (160, 199)]
    assert sum(row["share"] for row in part) == pytest.approx(1)


def test_iterations_are_found_and_selected_by_their_ids(kernelpoint: Kernelpoint, resnet: Path) -> None:
    rows = results(kernelpoint, "ranges", resnet)
    assert {row["source"] for row in rows} == {"found"}
    assert (rows[0]["path"], rows[0]["depth"], rows[0]["times"]) == ("iterations", 0, 100)
    window = f"{rows[8]['first']}:{rows[8]['last'] + 1}"
    assert f"7: --launches {window}" in kernelpoint("ranges", resnet, "--top", "101").out
    # All iterations follow each other here, so that the selection of the whole holds nothing else.
    assert re.search(r"iterations: --launches 0:5600\n", kernelpoint("ranges", resnet).out)
    chosen = results(kernelpoint, "info", resnet, "--launches", window)
    assert (chosen["launches"], chosen["total_duration_ns"]) == (rows[8]["launches"], rows[8]["duration_ns"])
    assert "and 98 more ranges: --top N" in kernelpoint("ranges", resnet, "--top", "3").out
    assert "and 100 more ranges: --top N" in kernelpoint("ranges", resnet, "--depth", "0").out
    assert len(results(kernelpoint, "ranges", resnet, "--top", "3")) == 3


def test_no_ranges_at_all_are_an_empty_list_and_a_note(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"name": list("abc"), "duration_ns": [5, 6, 7]}), path)
    run = kernelpoint("ranges", path, *JSON)
    assert (run.code, run.results) == (0, [])
    assert run.err.startswith("kernelpoint: there are no named ranges with launches, and no sequence of")
    assert kernelpoint("ranges", path).out.startswith("there are no named ranges")
    assert kernelpoint("ranges", path, "--quiet", "--format", "csv").stderr == b""


# -- The ranks of a run --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unlike_ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks of one kernel that one of them runs once more, and a kernel of the second alone."""
    folder = tmp_path_factory.mktemp("unlike")
    for rank, names in (
        (0, ["gemm"] * 30 + ["relu"] * 40),
        (1, ["gemm"] * 31 + ["relu"] * 40 + ["loss"] * 30),
    ):
        durations = [
            {"gemm": 1000 + place % 7, "relu": 500, "loss": 900}[name] for place, name in enumerate(names)
        ]
        table = pa.table({"name": names, "duration_ns": durations})
        pq.write_table(table, folder / f"rank{rank}.parquet")
    return folder


def test_a_kernel_of_several_ranks_is_looked_at_once(kernelpoint: Kernelpoint, unlike_ranks: Path) -> None:
    rows = results(kernelpoint, "groups", unlike_ranks)
    launches = {"gemm": 61, "relu": 80, "loss": 30}
    assert [(row["name"], row["launches"], row["device"]) for row in rows] == [
        (name, launches[name], None) for name in launches
    ]
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    for rank, row in enumerate(rows, start=1):
        histogram = results(kernelpoint, "histogram", unlike_ranks, "-k", f"#{rank}")
        assert (histogram["key"], sum(histogram["counts"])) == (row["key"], row["launches"])
        timeline = results(kernelpoint, "timeline", unlike_ranks, "-k", f"#{rank}")
        assert timeline["key"] == row["key"]
        assert sum(part["launches"] for part in timeline["bins"]) == row["launches"]
    summary = results(kernelpoint, "summary", unlike_ranks)["groups"]
    assert [(row["key"], row["launches"]) for row in summary] == [
        (row["key"], row["launches"]) for row in rows
    ]
    plan = results(kernelpoint, "groups", unlike_ranks, "--plan")
    assert [row["samples"] for row in summary] == [
        sum(row["samples"] for row in plan if row["name"] == name) for name in launches
    ]
    said = "on 2 GPUs, each planned by itself: --each-rank shows one, and its strata"
    assert said in kernelpoint("histogram", unlike_ranks).out
    assert said in kernelpoint("timeline", unlike_ranks).out
    assert said not in kernelpoint("histogram", unlike_ranks, "-k", "#3").out, "it is of one GPU"
    assert "2 GPUs together: --each-rank lists them apart" in kernelpoint("groups", unlike_ranks).out


def test_a_plan_has_ranks_apart_and_says_so(kernelpoint: Kernelpoint, unlike_ranks: Path) -> None:
    plan = results(kernelpoint, "groups", unlike_ranks, "--plan")
    apart = results(kernelpoint, "groups", unlike_ranks, "--each-rank")
    assert [row["key"] for row in plan] == [row["key"] for row in apart]
    assert len(plan) == 5
    said = "#1, #2 are the plan's groups, one for each GPU"
    assert said in kernelpoint("groups", unlike_ranks, "--plan").out
    tree = kernelpoint("tree", unlike_ranks, "-k", "#2")
    assert said in tree.err
    assert tree.out.startswith("#2 gemm <<<?, ?>>> rank 0")
    for words in (("groups",), ("groups", "--each-rank"), ("groups", "--plan", "--pool-devices")):
        assert said not in kernelpoint(words[0], unlike_ranks, *words[1:]).out
    of_one = results(kernelpoint, "histogram", unlike_ranks, "-k", "#2", "--each-rank")
    assert sum(of_one["counts"]) == 30


def test_a_rank_that_has_less_to_do_is_named(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    for rank, duration_ns in ((0, 1000), (1, 700), (7, 1000)):
        pq.write_table(
            pa.table({"name": ["gemm"], "duration_ns": [duration_ns]}), tmp_path / f"rank{rank}.parquet"
        )
    shown = kernelpoint("ranks", tmp_path).out
    assert shown.startswith("3 ranks. Rank 1 gpu0 computes shortest, 30.0 % below the median.")
    assert (
        "No rank alone is enough: 3 times the time of rank 0 gpu0, the nearest, is within 11.1 % of"
        in " ".join(shown.split())
    )


def test_ranks_stand_beside_each_other_and_the_best_is_the_next_to_plan(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    durations = {0: (1000, 50), 1: (1100, 20), 7: (1010, 45)}
    for rank, (compute, reduce) in durations.items():
        names = ["gemm", "ncclDevKernel_AllReduce_Sum"]
        table = {"name": names, "duration_ns": [compute, reduce], "start_ns": [0, compute]}
        pq.write_table(pa.table(table), tmp_path / f"rank{rank}.parquet")
    shown = " ".join(kernelpoint("ranks", tmp_path).out.split())
    assert shown.startswith("3 ranks. Rank 1 gpu0 computes longest, 8.9 % above the median.")
    assert "Waiting for other ranks in collective communication takes 0.0 % to 2.9 % of their" in shown
    assert (
        "Simulating rank 7 gpu0 alone is enough: 3 times its time is within 1.9 % of the time of all 3"
        in shown
    )
    assert "kernel time x3 vs all computing vs median comm. waiting" in shown
    assert f"Next: kernelpoint sample {tmp_path} --process 7 -o plan.json" in shown
    labelled = kernelpoint("groups", tmp_path, "--each-rank").out
    assert "gemm rank 7" in labelled
    apart = results(kernelpoint, "groups", tmp_path, "--each-rank")
    assert apart[0]["key"].endswith(" rank 1 device 0")
    rows = results(kernelpoint, "ranks", tmp_path, "--rank", "0:2,7")
    selection = kernelpoint("ranks", tmp_path, "--rank", "0:2,7", *JSON).json["selection"]
    assert selection["filters"]["process"] == ["0:2", 7]
    assert [(row["rank"], row["waiting_ns"]) for row in rows] == [(0, 30), (1, 0), (7, 25)]
    assert kernelpoint("ranks", tmp_path, "--rank", "1:7").out.startswith("Selection: 2 of 6 launches")
    refused = kernelpoint("ranks", tmp_path, "--rank", "1:")
    assert refused.err.strip().endswith("--process 1:: numbers are meant, or A:B for A up to, not with, B")


# -- Which launches count: the filters, the plans they make, and what is said of what they leav -------------


LEAST = ("--min-duration", "5000")
#: Every command that reads a profile, with what makes it quick or writes.
OF_A_PROFILE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("info", "groups", "ranges", "layers", "ranks", "histogram", "timeline", "tree"), ()),
    **dict.fromkeys(("open", "summary"), ("--method", "root")),
    "sample": ("--judge", "5"),
    "trade-off": ("--epsilons", "0.05"),
    "compare": ("--methods", "root", "--repeats", "3"),
    "convert": ("-o", "x.parquet"),
    "report": ("-o", "x.html", "--method", "random", "--force"),
}
#: Their table says nothing of the selection: a chart alone, a page, or another command's name.
UNSAID = {"open", "timeline", "report"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small recording, of which many plans are made quickly."""
    return small_recordings.nsys_sqlite(tmp_path_factory.mktemp("small"), "2023.4")


@pytest.fixture(scope="module")
def short(small: Path) -> tuple[int, int]:
    """How many of its launches are short, and how many are not."""
    with closing(sqlite3.connect(small)) as connection:
        query = "SELECT SUM(end - start < 5000), SUM(end - start >= 5000) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        found: tuple[int, int] = connection.execute(query).fetchone()
    assert min(found) > 0
    return found


@pytest.fixture
def check(kernelpoint: Kernelpoint, short: tuple[int, int]) -> Callable[[Sequence[object]], None]:
    """Check what is said in words and in JSON of the short launches being left out."""
    left, kept = short

    def check(words: Sequence[object]) -> None:
        head, _, rest = kernelpoint(*words).out.partition("\n\n")
        said = f"Selection: {kept} of {left + kept} launches, by --min-duration 5000 (leaves out {left} "
        assert " ".join(head.split()).startswith(said)
        assert rest
        assert max(map(len, head.splitlines())) <= 80
        answer = kernelpoint(*words, *JSON).json
        jsonschema.validate(answer, output_schema(str(words[0])))
        selection, left_out = answer["selection"], answer["selection"]["left_out"]
        assert selection["filters"] == {"min_duration_ns": 5000}
        assert (selection["launches"], selection["of_launches"]) == (kept, left + kept)
        assert left_out["launches"] == left
        whole_ns = left_out["total_duration_ns"] + selection["total_duration_ns"]
        assert left_out["share"] == left_out["total_duration_ns"] / whole_ns

    return check


@pytest.mark.parametrize("command", sorted(OF_A_PROFILE.keys() - UNSAID))
def test_what_is_left_out_of_a_profile_is_said(
    check: Callable[..., None], kernelpoint: Kernelpoint, small: Path, here: Path, command: str
) -> None:
    check((command, small, *LEAST, *OF_A_PROFILE[command]))
    words = (command, small, *OF_A_PROFILE[command])
    assert "Selection" not in kernelpoint(*words).out
    assert "selection" not in kernelpoint(*words, *JSON).json


def test_what_is_left_out_of_a_plan_is_said(
    check: Callable[..., None], kernelpoint: Kernelpoint, small: Path, here: Path
) -> None:
    plan = here / "plan.json"
    assert kernelpoint("sample", small, *LEAST, "-o", plan).code == 0
    check(("judge", plan, small, "--repeats", "5"))
    check(("estimate", plan, cycles_of(plan, here / "cycles.csv")))
    check(("export", plan, "--to", "csv", "-o", here / "export", "--force"))


def test_it_is_said_of_each_of_several_profiles(
    kernelpoint: Kernelpoint, small: Path, resnet: Path, short: tuple[int, int]
) -> None:
    words = ("difference", f"{small}@:100", small, *LEAST)
    heads = kernelpoint(*words).out.splitlines()[:4]
    assert heads[0].startswith("Selection of before: ")
    assert heads[2].startswith("Selection of after: ")
    answer = kernelpoint(*words, *JSON).json
    jsonschema.validate(answer, output_schema("difference"))
    before, after = answer["selection"]["before"], answer["selection"]["after"]
    assert before["filters"] == {"launches": ":100", "min_duration_ns": 5000}
    assert before["launches"] == answer["results"]["launches_before"]
    assert after["left_out"]["launches"] == short[0]
    compared = kernelpoint("compare", small, resnet, *LEAST, *OF_A_PROFILE["compare"], *JSON).json
    jsonschema.validate(compared, output_schema("compare"))
    assert list(compared["selection"]) == [str(small), str(resnet)]


#: Each filter with a value that leaves some launches, and with one that leaves none.
VALUES = {
    "--device": ("0", "7"),
    "--process": ("0", "987654321"),
    "--include": ("gemm|elementwise", "no such kernel"),
    "--exclude": ("communication", "."),
    "--launches": ("100:900", "99999999:"),
    "--time": ("0:90000000000", "9999999999999:"),
    "--range": ("ProfilerStep#3", "no such range"),
    "--min-duration": ("2000", "9999999999"),
}
FILTERS = {flag: some for flag, (some, _) in VALUES.items()}


def test_every_filter_is_named_as_it_is_typed(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    words = [word for pair in FILTERS.items() for word in pair]
    head = " ".join(kernelpoint("groups", gpt2, *words).out.partition("\n\n")[0].split())
    typed = shlex.split(head.partition(", by ")[2].partition(" (leaves out")[0])
    assert dict(zip(typed[::2], typed[1::2], strict=True)) == FILTERS
    again = kernelpoint("groups", gpt2, *typed, *JSON).json
    assert set(again["selection"]["filters"]) == {
        *("device", "process", "include", "exclude", "launches", "time", "range", "min_duration_ns")
    }
    # So do the commands to go on with.
    words += ["--method", "root", "--seed", "7", "--epsilon", "0.1"]
    for line in results(kernelpoint, "summary", gpt2, *words, "--quiet", "--ascii")["next"]:
        copied = shlex.split(line)
        assert {*FILTERS, "--seed", "--epsilon"} <= set(copied)
        assert copied[copied.index("--range") + 1] == "ProfilerStep#3"
        assert not {"--quiet", "--ascii", "--format"} & set(copied)


@pytest.mark.parametrize("flag", VALUES)
@pytest.mark.parametrize("command", ["info", "sample", "convert", "difference"])
def test_the_filter_that_leaves_nothing_is_named(
    kernelpoint: Kernelpoint, small: Path, here: Path, command: str, flag: str
) -> None:
    more = {"convert": ("-o", "x.parquet"), "difference": (small,)}
    said = kernelpoint(command, small, *more.get(command, ()), flag, VALUES[flag][1]).failed(4)
    assert f"{flag} " in said
    assert "leaves no launch" in said
    assert not any(here.iterdir())


def test_ranks_that_take_no_time_are_not_off_by_any(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "zeros.csv"
    path.write_text("name,duration_ns,process\na,0,0\na,0,1\n")
    shown = kernelpoint("ranks", path).out
    assert "2 times its time is within 0.1 % of the time of all 2," in " ".join(shown.split())
    assert "100.0 %" not in shown


def test_launches_without_a_start_are_in_the_order_of_calls_and_in_no_time(
    kernelpoint: Kernelpoint, tmp_path: Path
) -> None:
    path, untimed = tmp_path / "launches.csv", {0: "", 3: "", 7: "", 30: "", 31: ""}
    rows = [
        f"{'odd' if row >= 30 else 'k'},100,{untimed.get(row, 10_000 + 1_000 * row)}" for row in range(32)
    ]
    path.write_text("\n".join(["name,duration_ns,start_ns", *rows]) + "\n")
    by_time = results(kernelpoint, "timeline", path, "--by", "time", "--kernel", "#1")["bins"]
    assert sum(row["launches"] for row in by_time) == 27
    by_launch = results(kernelpoint, "timeline", path, "--bins", "30", "--kernel", "#1")["bins"]
    assert [row["start_ns"] for row in by_launch] == [
        None if row in untimed else 1_000 * (row - 1) for row in range(30)
    ]
    for words in ((), ("--by", "time"), ("--format", "markdown")):
        assert kernelpoint("timeline", path, "--kernel", "#1", *words).code == 0
    assert "none was recorded" in kernelpoint("timeline", path, "--kernel", "odd", "--by", "time").failed(1)
    assert results(kernelpoint, "info", path, "--time", "0:5000")["launches"] == 4
    assert "no-times" in kernelpoint("info", path, *JSON).json["warnings"]


@pytest.mark.parametrize("words", [("--range", "ProfilerStep#7"), ("--time", "9000000:30000000")])
@pytest.mark.parametrize("command", OF_A_PROFILE)
def test_every_command_that_reads_a_profile_takes_them(
    kernelpoint: Kernelpoint, gpt2: Path, here: Path, command: str, words: tuple[str, str]
) -> None:
    run = kernelpoint(command, gpt2, *words, *OF_A_PROFILE[command], *JSON)
    assert run.code == 0, run.err
    kept = results(kernelpoint, "info", gpt2, *words)["launches"]
    if command in {"summary", "open", "convert", "sample"}:
        assert run.results["launches"] == kept
    if command == "groups":
        assert sum(row["launches"] for row in run.results) == kept


@pytest.mark.parametrize(
    "words",
    [
        ("--range", "ProfilerStep#7"),
        ("--range", "ProfilerStep#1", "--time", "900000:", "--exclude", "gemm"),
        ("--time", "9000000:30000000", "--launches", "1500:", "--min-duration", "4000"),
    ],
)
def test_a_plan_is_judged_on_the_launches_it_was_made_of(
    kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = tmp_path / "plan.json"
    shown = results(kernelpoint, "sample", gpt2, *words, "-o", path)
    plan = json.loads(path.read_text())
    for flag, value in zip(words[::2], words[1::2], strict=True):
        assert plan["options"][flag[2:].replace("-", "_")] in (value, [value], 4000)
    assert plan["profile"]["launches"] == shown["launches"] < plan["profile"]["files"][0]["launches"]
    assert min(each["duration_ns"] for each in drawn_of(path)) >= 4000 * ("--min-duration" in words)
    judged = results(kernelpoint, "judge", path, gpt2, "--repeats", "20")
    assert judged["total_duration_ns"] == shown["total_duration_ns"]
    assert judged["error"] == pytest.approx(shown["error"])


def test_a_range_that_is_not_there_is_4_with_those_that_are(
    kernelpoint: Kernelpoint, gpt2: Path, resnet: Path
) -> None:
    said = kernelpoint("summary", gpt2, "--range", "backward").failed(4)
    assert "--range 'backward'" in said
    assert "'ProfilerStep#0', 'ProfilerStep#1'" in said
    assert "no range in this profile" in kernelpoint("summary", resnet, "--range", "x").failed(4)


def test_what_the_profile_does_not_record_is_1_and_says_what_does(
    kernelpoint: Kernelpoint, resnet_csv: Path, gpt2: Path, tmp_path: Path
) -> None:
    said = kernelpoint("summary", resnet_csv, "--range", "x").failed(1)
    assert all(name in said for name in ("nsys-csv", "Kineto", "nsys SQLite"))
    assert "--range" in kernelpoint("summary", gpt2, resnet_csv, "--range", "Step").failed(1)
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"name": ["k"], "duration_ns": [5]}), path)
    assert "start_ns" in kernelpoint("summary", path, "--time", "0:5").failed(1)


def test_info_says_why_the_device_is_idle(kernelpoint: Kernelpoint, resnet: Path) -> None:
    """Shares add up, of the device and of all; the table says the same in words."""
    info = results(kernelpoint, "info", resnet)
    idle, (device,) = info["idle"], info["devices"]
    assert idle == device["idle"]
    assert device["busy_ns"] + idle["idle_ns"] == device["span_ns"] == info["span_ns"]
    assert set(idle["causes"]) == {"host", "copy", "turnaround", "dependency", "unknown"}
    assert sum(idle["causes"].values()) == pytest.approx(1)
    assert idle["share"] == pytest.approx(1 - info["busy"][0])
    assert [gap["duration_ns"] for gap in idle["gaps"]] == sorted(
        (gap["duration_ns"] for gap in idle["gaps"]), reverse=True
    )
    words = " ".join(kernelpoint("info", resnet).out.split())
    assert f"idle {100 * idle['share']:.1f} %: " in words
    assert "elapsed" in words
    summary = results(kernelpoint, "summary", resnet)
    assert summary["span_ns"] == info["span_ns"]
    assert summary["idle"]["causes"] == idle["causes"]
    assert summary["copies"] == info["copies"]


@pytest.mark.parametrize("command", ["sample", "groups", "summary", "ranges", "timeline"])
def test_what_is_not_asked_is_not_read(
    command: str, kernelpoint: Kernelpoint, resnet: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """API calls and copies are not, of many launches also by a summary."""
    monkeypatch.setattr(look, "_MOST_CAUSES", 100)
    monkeypatch.setattr(nsys_tables, "make_activity", None)
    words = ("-o", tmp_path / "plan.json") if command == "sample" else ()
    # Equal runs are done once: this one is to be no other's.
    assert kernelpoint(command, resnet, *words, RUN_OF="what is not asked").code == 0


@pytest.mark.parametrize("command", ["summary", "info", "groups", "histogram", "tree", "sample"])
def test_what_lasts_cycles_is_not_said_in_time(
    kernelpoint: Kernelpoint, command: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.csv"
    rows = [f"k{place % 3},{5_000 * (1 + place % 3) + 13 * (place % 17)}" for place in range(600)]
    path.write_text("\n".join(["name,cycles", *rows, ""]))
    more = ("--kernel", "#1") if command in {"histogram", "tree"} else ()
    run = kernelpoint(command, path, "--columns", "name=name,duration_ns=cycles", "-q", *more)
    assert run.code == 0
    assert re.search(r"\d [kM]cycles", run.out)
    assert re.search(r"\d (?:ns|us|ms)\b|GPU time|per ns|kcycles of kernel time", run.out) is None
    # The next profile is in time again.
    path.write_text("\n".join(["name,duration_ns", *rows, ""]))
    assert "cycles " not in kernelpoint("info", path, "-q").out
