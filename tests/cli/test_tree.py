"""`tree` decision by decision: what is proposed next, and what splitting so far would cost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Any
Kernelpoint = Callable[..., Run]
RICH = ("--group-by", "name", "--epsilon", "0.01")


def nodes_of(kernelpoint: Kernelpoint, *words: object) -> list[dict[str, Any]]:
    run = kernelpoint("tree", *words, "--format", "json")
    assert run.code == 0, run.err
    results: list[dict[str, Any]] = run.results
    return results


def child_so_far(child: int | None, taken: int) -> int | None:
    return child if child is not None and child < taken else None


@pytest.mark.parametrize("method", ["root", "stem", "allegro"])
def test_the_first_decisions_are_the_first_nodes(kernelpoint: Kernelpoint, gpt2: Path, method: str) -> None:
    words = (gpt2, *RICH, "--method", method)
    whole = nodes_of(kernelpoint, *words)
    assert len(whole) > 2
    for taken in {0, 1, 2, len(whole) - 1, len(whole), len(whole) + 5}:
        expected = [
            node | {side: child_so_far(node[side], taken) for side in ("left", "right")}
            for node in whole[:taken]
        ]
        assert nodes_of(kernelpoint, *words, "--decisions", taken) == expected


def test_the_next_decision_is_proposed_with_its_threshold(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    whole = nodes_of(kernelpoint, gpt2, *RICH)
    for taken in (0, 1, 2):
        node = whole[taken]
        assert node["verdict"] == "split"
        text = kernelpoint("tree", gpt2, *RICH, "--decisions", taken).out
        at = f"{node['threshold_ns'] / 1000:.3g} us"
        name = node["path"] or "root"
        assert f"decision{'s' * (taken != 1)}, next {name}\n" in text
        assert f"┊ split at {at}" in text
        assert f"{name}: {node['launches']:,} launches" in text
        assert f"proposed: split; {node['reason']}" in " ".join(text.split())
        rows = [line for line in text.split("\n") if line.startswith("> ")]
        assert len(rows) == 1
        assert f" {name} " in rows[0]
        assert f"? split at {at}" in rows[0]
        assert f"\n{name}: split" not in text, "it is not decided"


def test_figures_so_far_become_those_of_the_plan(kernelpoint: Kernelpoint, resnet: Path) -> None:
    plan = kernelpoint("sample", resnet, "--method", "root", "--format", "json", "--judge", "0").results
    groups = kernelpoint("groups", resnet, "--format", "json").results
    words = ("tree", resnet, "--decisions", "1000", "--kernel")
    last = " ".join(kernelpoint(*words, f"#{len(groups)}").out.split())
    speedup, samples, strata = re.findall(
        r"All groups split: speedup ([\d.]+)x, (\d+) samples in (\d+) strata", last
    )[0]
    assert float(speedup) == pytest.approx(plan["speedup"], rel=0.01)
    assert int(strata) == plan["strata"]
    assert int(samples) == plan["samples"]
    first = " ".join(kernelpoint(*words, "#1").out.split())
    assert "If splitting ended here: speedup" in first
    assert "of any kernel group's" in first


def test_a_node_is_looked_at(kernelpoint: Kernelpoint, resnet: Path) -> None:
    words = ("tree", resnet, "--kernel", "#9")
    nodes = nodes_of(kernelpoint, *words[1:])
    for name, node in zip(("root", "L", "R"), nodes, strict=True):
        text = kernelpoint(*words, "--node", name).out
        assert f"\n{name}: {node['launches']} launch" in text
        assert "decided: " in text
        (marked,) = (line for line in text.split("\n") if line.startswith("> "))
        assert name in marked
        assert nodes_of(kernelpoint, *words[1:], "--node", name) == nodes
    later = kernelpoint(*words, "--node", "R", "--decisions", "1")
    later.failed(2)
    assert "--node R: the tree has no such node so far" in later.err
    kernelpoint(*words, "--node", "X").failed(2)
    kernelpoint(*words, "--decisions", "-1").failed(2)


def test_decisions_of_the_users_are_told_ahead(kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path) -> None:
    key = nodes_of(kernelpoint, gpt2, *RICH)[0]["key"]
    path = tmp_path / "overrides.json"
    path.write_text(json.dumps({"overrides": [{"key": key, "path": "", "decision": "keep"}]}))
    text = kernelpoint("tree", gpt2, *RICH, "--overrides", path, "--decisions", "0").out
    assert "next: keep; decided by the user (keep); the rule: split" in text
    assert "!? keep" in text
    assert "┊ keep; a split would be at" in text
    assert "! decided by the user" in text


@pytest.mark.parametrize("columns", [40, 60, 80, 132])
@pytest.mark.parametrize("words", [("--decisions", "2"), ("--decisions", "99"), ("--node", "LL"), ()])
def test_it_keeps_to_the_width(
    kernelpoint: Kernelpoint, gpt2: Path, words: tuple[str, ...], columns: int
) -> None:
    run = kernelpoint("tree", gpt2, *RICH, *words, COLUMNS=str(columns))
    assert max(map(len, run.out.splitlines())) <= columns
    assert kernelpoint("tree", gpt2, *RICH, *words, "--ascii").stdout.isascii()


def test_a_logarithmic_axis(kernelpoint: Kernelpoint, gpt2: Path) -> None:
    linear, log = (kernelpoint("tree", gpt2, *RICH, *words).out for words in ((), ("--log",)))
    assert linear != log
    assert linear.split("\n\n")[1:] == log.split("\n\n")[1:], "only the histogram differs"


def test_decisions_made_in_another_methods_trees_are_said(
    kernelpoint: Kernelpoint, gpt2: Path, tmp_path: Path
) -> None:
    rows = json.loads(kernelpoint("groups", gpt2, "--format", "json").out)["results"]
    path = tmp_path / "overrides.json"
    decided = [{"key": rows[0]["key"], "path": "", "decision": "keep"}]
    path.write_text(json.dumps({"method": "root", "overrides": decided}))
    said = f"--overrides {path}: decided in the trees of root, and used in those of stem"
    words = ("sample", gpt2, "--method", "stem", "--overrides")
    assert said in kernelpoint(*words, path).err
    assert said not in kernelpoint(*words, path, "--quiet").err
    assert "decided in the trees" not in kernelpoint("tree", gpt2, "--overrides", path).err
    plan = tmp_path / "plan.json"
    kernelpoint("sample", gpt2, "--method", "root", "--overrides", path, "-o", plan)
    assert "decided in the trees of root" in kernelpoint(*words, plan).err
    # The default method has no trees of its own: whose the cuts are does not matter.
    assert "decided" not in kernelpoint("sample", gpt2, "--overrides", plan).err
