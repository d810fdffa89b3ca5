"""The drawn split tree."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import in_ascii
from tui.charts.grid import MARKER, PROPOSED, SELECTED, plain
from tui.charts.tree import tree

GOLDEN = Path(__file__).parent / "golden"


@dataclass(frozen=True)
class Node:
    path: str
    verdict: str
    launches: int = 1_952
    mean_ns: float = 66_600.0
    std_ns: float = 27_306.0
    threshold_ns: int | None = 71_000
    samples_old: int = 63
    tau_old_ns: float = 4.2e6
    samples_new: tuple[int, ...] | None = (2, 15)
    tau_new_ns: float | None = 1.1e6
    reason: str = "2 + 15 samples cost 1,100,000 ns, 63 of the whole 4,200,000 ns: less"
    overridden: bool = False

    @property
    def depth(self) -> int:
        return len(self.path)


def leaf(path: str, launches: int, mean_ns: float) -> Node:
    return Node(
        path,
        "keep",
        launches,
        mean_ns,
        mean_ns / 50,
        threshold_ns=None,
        samples_old=1,
        tau_old_ns=mean_ns,
        samples_new=None,
        tau_new_ns=None,
        reason="1 sample suffices without a split",
    )


TREE = (
    Node("", "split"),
    leaf("L", 1_200, 52_000.0),
    Node("R", "split", 752, 96_000.0, 18_000.0, 100_000, 15, 1.44e6, (3, 2), 4.9e5),
    Node("RL", "split", 500, 84_000.0, 3_000.0, 83_000, 3, 2.5e5, (2, 2), 3.3e5, overridden=True),
    leaf("RLL", 240, 82_000.0),
    leaf("RLR", 260, 86_000.0),
    Node("RR", "keep", 252, 120_000.0, 2_500.0, 121_000, 2, 2.4e5, (1, 2), 3.6e5, "it costs more"),
)


def grown(splits: set[str], path: str = "") -> list[Node]:
    """A tree in pre-order in which the nodes of these paths are split."""
    if path not in splits:
        return [leaf(path, 1, 1e3)]
    return [Node(path, "split"), *grown(splits, path + "L"), *grown(splits, path + "R")]


paths = st.sets(st.text("LR", max_size=7), max_size=30)


def test_a_row_has_the_numbers_of_its_decision() -> None:
    rows = [" ".join(row.split()) for row in plain(tree(TREE, 120)).split("\n")]
    assert rows[0] == "node launches mean CoV samples tau old tau new decision"
    assert rows[1] == "root 1,952 66.6 us 0.41 63 -> 2+15 4.20 ms 1.10 ms split at 71.0 us"
    assert rows[2] == "├─ L A 1,200 52.0 us 0.02 1 52.0 us - keep: 1 sample suffices without a split"


def test_a_reason_is_given_whole_where_there_is_room() -> None:
    assert "split at 71.0 us: 2 + 15 samples cost" in plain(tree(TREE, 200))
    assert "samples cost" not in plain(tree(TREE, 120))
    assert "keep: it costs more" in plain(tree(TREE, 120))


def test_overridden_nodes_are_marked_and_the_mark_explained() -> None:
    grid = tree(TREE, 80)
    rows = plain(grid).split("\n")
    assert [("!" in row) for row in rows] == [False, False, False, False, True, False, False, False, True]
    assert rows[4].endswith("! split at 83.0 us")
    assert (grid.style[4] == MARKER).any()
    assert "!" not in plain(tree(TREE[:3], 80))


def test_nodes_below_the_depth_are_counted() -> None:
    rows = plain(tree(TREE, 80, max_depth=1)).split("\n")
    assert [row[:8].rstrip() for row in rows[:4]] == ["node", "root", "├─ L A", "└─ R"]
    assert rows[4:] == ["   └─ ... 4 nodes below"]
    assert plain(tree(TREE, 80, max_depth=2)).split("\n")[5].strip() == "│  └─ ... 2 nodes below"
    assert "1 node below" in plain(tree(TREE[:5], 80, max_depth=2))


@given(paths, st.integers(1, 250), st.none() | st.integers(0, 8), st.booleans())
def test_every_row_has_room_and_every_node_is_there(
    splits: set[str], width: int, max_depth: int | None, ascii_only: bool
) -> None:
    nodes = grown(splits)
    grid = in_ascii(ascii_only, tree, nodes, width, max_depth=max_depth)
    text = plain(grid)
    assert grid.width == width
    assert text.isascii() or not ascii_only
    if width >= 80:
        drawn = [node for node in nodes if max_depth is None or node.depth <= max_depth]
        below = [int(row.split("... ")[1].split()[0]) for row in text.split("\n") if " below" in row]
        assert len(drawn) + sum(below) == len(nodes)
        assert grid.height == 1 + len(drawn) + len(below)


@given(paths)
def test_leaves_are_lettered_from_left_to_right(splits: set[str]) -> None:
    nodes = grown(splits)
    text = plain(in_ascii(True, tree, nodes, 120)).split("\n")[1:]
    keeps = [row for node, row in zip(nodes, text, strict=True) if node.verdict == "keep"]
    column = next(i for i, glyph in enumerate(keeps[0]) if glyph == "#")
    symbols = "#o*x+%@=&$~^ABCDEFGHIJKLMNPQRSTUVWYZ"
    assert [row[column] for row in keeps] == [symbols[i % len(symbols)] for i in range(len(keeps))]


def test_a_deep_tree_gives_its_branches_away_before_its_numbers() -> None:
    nodes = grown({"L" * depth for depth in range(20)})
    rows = plain(tree(nodes, 80)).split("\n")
    assert rows[20].startswith("L" * 19 + " ")
    assert rows[20].endswith("1,952  66.6 us  4.20 ms  1.10 ms  split at 71.0 us")


@pytest.mark.parametrize(("width", "ascii_only"), [(80, False), (40, True)])
def test_golden(width: int, ascii_only: bool) -> None:
    """As in golden/; run once with UPDATE_GOLDEN=1 to write them anew, and read the difference."""
    text = plain(in_ascii(ascii_only, tree, TREE, width)) + "\n"
    path = GOLDEN / f"tree-{width}-{'ascii' if ascii_only else 'unicode'}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


def test_the_proposed_node_is_the_last_row_and_no_cluster_yet() -> None:
    rows = plain(tree(TREE[:4], 80, proposed=TREE[4])).split("\n")
    assert "RLL" in rows[5]
    assert "? keep" in rows[5]
    assert rows[5][:14].split()[-1] == "RLL", "no symbol"
    assert rows[-2:] == ["! decided by the user", "? proposed, decided on next"]
    assert "! split" in rows[4]
    assert "?" not in plain(tree(TREE, 80))
    grid = tree([], 80, proposed=TREE[0])
    assert (grid.style[1] == PROPOSED).any()
    assert "!? split" in plain(tree([], 80, proposed=Node("", "split", overridden=True)))


def test_the_marked_node_stands_out_without_colour() -> None:
    grid = tree(TREE, 80, marked="RL")
    rows = plain(grid).split("\n")
    assert [row.startswith("> ") for row in rows] == [row.strip(" └├─>│").startswith("RL ") for row in rows]
    assert (grid.style[4] == SELECTED).sum() == len("   ├─ RL") - len("   ├─ ")
    assert [row[2:] for row in rows] == plain(tree(TREE, 78)).split("\n")


@given(paths, st.integers(0, 20), st.integers(1, 8), st.integers(60, 200))
def test_some_rows_are_those_of_the_whole(splits: set[str], first: int, most: int, width: int) -> None:
    nodes = grown(splits)
    part = plain(in_ascii(True, tree, nodes, width, rows=(first, first + most))).split("\n")
    assert part[0].startswith("node")
    assert len(part) - 1 == len(nodes[first : first + most])
    for row, node in zip(part[1:], nodes[first : first + most], strict=True):
        assert (node.path or "root") in row
