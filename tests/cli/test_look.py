"""What the commands that look show: groups, ranges, histogram, tree and info, and of which kernel."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import JSON, Kernelpoint, results

Rows = list[dict[str, Any]]
RICH = ("--group-by", "name", "--epsilon", "0.01")


@pytest.fixture(scope="module")
def groups(kernelpoint: Kernelpoint, resnet: Path) -> Rows:
    """All groups of the resnet sample."""
    rows: Rows = results(kernelpoint, "groups", resnet)
    return rows


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
        *(("clusters", "clusters"), ("samples", "samples"), ("name", "name")),
    ],
)
def test_groups_are_sorted_and_cut(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows, sort: str, column: str
) -> None:
    words = ("groups", resnet, "--sort", sort)
    rows = results(kernelpoint, *words)
    # A group that is pooled has none of its own.
    values = [0 if row[column] is None else row[column] for row in rows]
    assert values == sorted(values, reverse=sort != "name")
    back = [0 if row[column] is None else row[column] for row in results(kernelpoint, *words, "--reverse")]
    assert back == values[::-1] or sort in {"clusters", "samples"}
    assert sorted(rows, key=lambda row: row["rank"]) == groups, "the rank is that of the total, always"
    assert results(kernelpoint, *words, "--top", "3") == rows[:3]
    filtered = [row for row in rows if "sgemm" in row["key"]]
    assert results(kernelpoint, *words, "--filter", "SGEmm", "--top", "4") == filtered[:4]


def test_the_heads_of_the_groups_are_what_they_can_be_sorted_by(
    kernelpoint: Kernelpoint, resnet: Path
) -> None:
    heads = kernelpoint("groups", resnet, "--top", "1").out.splitlines()[0].split()
    assert heads[-2:] == ["kernel", "group"]
    for head in (*heads[:-2], "kernel group"):
        assert kernelpoint("groups", resnet, "--sort", head, "--top", "1").code == 0, head
    for old, new in (("clusters", "strata"), ("samples", "drawn")):
        assert len({kernelpoint("groups", resnet, "--sort", word).out for word in (old, new)}) == 1
    assert "'no such kernel'" in kernelpoint("groups", resnet, "--filter", "no such kernel").failed(4)


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


def test_figures_so_far_become_those_of_the_plan(
    kernelpoint: Kernelpoint, resnet: Path, groups: Rows
) -> None:
    plan = results(kernelpoint, "sample", resnet, "--method", "root", "--judge", "0")
    words = ("tree", resnet, "--decisions", "1000", "--kernel")
    last = " ".join(kernelpoint(*words, f"#{len(groups)}").out.split())
    ((speedup, samples, strata),) = re.findall(
        r"All groups split: speedup ([\d.]+)x, (\d+) samples in (\d+) strata", last
    )
    assert float(speedup) == pytest.approx(plan["speedup"], rel=0.01)
    assert (int(strata), int(samples)) == (plan["strata"], plan["samples"])
    first = " ".join(kernelpoint(*words, "#1").out.split())
    assert "If splitting ended here: speedup" in first


def test_a_node_is_looked_at(kernelpoint: Kernelpoint, resnet: Path) -> None:
    words = ("tree", resnet, "--kernel", "#9")
    nodes = results(kernelpoint, *words)
    for name, node in zip(("root", "L", "R"), nodes, strict=True):
        text = kernelpoint(*words, "--node", name).out
        assert f"\n{name}: {node['launches']} launch" in text
        assert "decided: " in text
        (marked,) = (line for line in text.split("\n") if line.startswith("> "))
        assert name in marked
        assert results(kernelpoint, *words, "--node", name) == nodes
    later = kernelpoint(*words, "--node", "R", "--decisions", "1").failed(2)
    assert "--node R: the tree has no such node so far" in later


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
    named = [row for row in results(kernelpoint, "ranges", gpt2) if row["source"] == "named"]
    assert [row["path"] for row in named] == [f"ProfilerStep#{step}" for step in range(87)]
    for row in (named[0], named[50]):
        chosen = results(kernelpoint, "info", gpt2, "--range", row["path"])
        assert (chosen["launches"], chosen["total_duration_ns"]) == (row["launches"], row["duration_ns"])
    assert sum(row["share"] for row in named) <= 1
    assert all(after["first"] > before["last"] for before, after in pairwise(named))
    by_time = results(kernelpoint, "ranges", gpt2, "--sort", "time")
    steps = [row["duration_ns"] for row in by_time if row["source"] == "named"]
    assert steps == sorted((row["duration_ns"] for row in named), reverse=True)
    part = [
        row for row in results(kernelpoint, "ranges", gpt2, "--launches", "100:200") if "#" in row["path"]
    ]
    assert [(row["first"], row["last"]) for row in part] == [(100, 159), (160, 199)]
    assert sum(row["share"] for row in part) == pytest.approx(1)


def test_iterations_are_found_and_selected_by_their_ids(kernelpoint: Kernelpoint, resnet: Path) -> None:
    rows = results(kernelpoint, "ranges", resnet)
    assert {row["source"] for row in rows} == {"found"}
    assert (rows[0]["path"], rows[0]["depth"], rows[0]["times"]) == ("iterations", 0, 100)
    window = f"{rows[8]['first']}:{rows[8]['last'] + 1}"
    assert f"7: --launches {window}" in kernelpoint("ranges", resnet, "--top", "101").out
    chosen = results(kernelpoint, "info", resnet, "--launches", window)
    assert (chosen["launches"], chosen["total_duration_ns"]) == (rows[8]["launches"], rows[8]["duration_ns"])
    assert "and 98 ranges of no more time: --top N" in kernelpoint("ranges", resnet, "--top", "3").out
    assert "and 100 deeper ranges: --depth N" in kernelpoint("ranges", resnet, "--depth", "0").out
    assert len(results(kernelpoint, "ranges", resnet, "--top", "3")) == 3


def test_no_ranges_at_all_are_an_empty_list_and_a_note(kernelpoint: Kernelpoint, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"name": list("abc"), "duration_ns": [5, 6, 7]}), path)
    run = kernelpoint("ranges", path, *JSON)
    assert (run.code, run.results) == (0, [])
    assert run.err.startswith("kernelpoint: there are no named ranges with launches, and no sequence of")
    assert kernelpoint("ranges", path).out.startswith("there are no named ranges")
    assert kernelpoint("ranges", path, "--quiet", "--format", "csv").stderr == b""
