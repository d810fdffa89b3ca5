"""Split trees: their form, overrides, undo, and all groups at once; `test_root` derives every decision."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.errors import OverrideError
from sampling.methods import allegro, root
from sampling.reduction.duration_counts import DurationCounts
from sampling.splitting.tree import SplitTree, TreeGrower, Verdict, split_groups
from sampling.strata.target import Target
from tests.sampling.methods.test_root import Part, pairs_of, size_of_equation_3, sizes_of_problem_1

VARIANTS = ("exact", "script", "paper")
CountsOf = Callable[..., DurationCounts]

RULES = {
    **{variant: root.RootRule(Target(), root.Options(variant)) for variant in VARIANTS},  # type: ignore[arg-type]
    "of up to five parts": root.RootRule(Target(), root.Options(k_max=5)),
    "allegro": allegro.SampleCountRule(Target(), allegro.Options()),
    "allegro at 2": allegro.SampleCountRule(Target(0.01), allegro.Options(threshold=2, floor=1)),
}


def durations_of(counts: DurationCounts, start: int, stop: int) -> list[int]:
    """Return every launch's duration of some pairs."""
    return np.repeat(counts.duration_ns[start:stop], counts.count[start:stop]).tolist()


def check_form(tree: SplitTree, counts: DurationCounts) -> None:
    """Hold the nodes against the definition of a flat pre-order tree."""
    low, high = int(counts.offsets[tree.group]), int(counts.offsets[tree.group + 1])
    leaves = [(leaf.start, leaf.stop) for leaf in tree.leaves]
    assert [low, *(stop for _, stop in leaves)] == [*(start for start, _ in leaves), high]
    by_path = {node.path: node for node in tree.nodes}
    assert len(by_path) == len(tree.nodes)
    assert [node.path for node in tree.nodes] == sorted(by_path)
    for index, node in enumerate(tree.nodes):
        assert node.index == index
        assert node.depth == len(node.path)
        durations = durations_of(counts, node.start, node.stop)
        assert node.launches == len(durations)
        assert node.mean_ns == pytest.approx(np.mean(durations))
        assert node.std_ns == pytest.approx(np.std(durations))
        if node.verdict is Verdict.KEEP:
            assert (node.left, node.right) == (None, None)
            continue
        left, right = by_path[node.path + "L"], by_path[node.path + "R"]
        assert (node.left, node.right) == (left.index, right.index)
        assert left.index == index + 1
        assert (left.start, left.stop, right.stop) == (node.start, right.start, node.stop)
        assert node.threshold_ns == counts.duration_ns[left.stop - 1] < counts.duration_ns[right.start]
        assert node.samples_new is not None


@pytest.mark.parametrize("rule", RULES)
@given(durations=st.lists(st.one_of(st.integers(0, 5), st.integers(1, 5000)), min_size=1, max_size=80))
def test_the_tree_is_flat_in_pre_order_and_its_leaves_part_the_pairs(
    rule: str, durations: list[int], counts_of: CountsOf
) -> None:
    counts = counts_of({"k": durations})
    check_form(TreeGrower(counts, 0, RULES[rule]).run(), counts)


@given(data=st.data(), durations=st.lists(st.integers(1, 5000), min_size=1, max_size=60))
def test_undo_takes_back_exactly_the_last_decision(
    data: st.DataObject, durations: list[int], counts_of: CountsOf
) -> None:
    counts = counts_of({"k": durations})
    rule = RULES["allegro at 2"]
    grower = TreeGrower(counts, 0, rule)
    history = [grower.tree]
    for step in data.draw(st.lists(st.booleans(), max_size=40)):
        if step:
            if grower.step() is not None:
                history.append(grower.tree)
        else:
            assert grower.undo() == (len(history) > 1)
            history = history[:-1] or history
        assert grower.tree == history[-1]
    assert grower.run() == TreeGrower(counts, 0, rule).run()


def test_a_decision_may_split_into_the_number_of_parts_that_costs_least(counts_of: CountsOf) -> None:
    """Four tight modes, of which the two shortest hardly matter: three parts cost least."""
    modes = [10, 1_000, 20_000, 300_000]
    counts = counts_of({"k": [mode + step for mode in modes for step in (-1, 0, 1) for _ in range(40)]})
    tree = TreeGrower(counts, 0, RULES["of up to five parts"]).run()
    check_form(tree, counts)
    pairs, found = pairs_of(counts, 0), {}
    for number in range(2, 6):
        ways = (
            [Part(pairs[low:high]) for low, high in itertools.pairwise((0, *cuts, len(pairs)))]
            for cuts in itertools.combinations(range(1, len(pairs)), number - 1)
        )
        parts = min(ways, key=lambda way: sum(part.size * part.variance for part in way))
        sizes = [max(1, size) for size in sizes_of_problem_1(parts, 0.05)]
        found[number] = float(sum(m * part.mean for m, part in zip(sizes, parts, strict=True)))
    best = min(found, key=lambda number: found[number])
    first = tree.nodes[0]
    assert first.tau_old_ns == pytest.approx(size_of_equation_3(Part(pairs), 0.05) * float(Part(pairs).mean))
    assert first.tau_new_ns == pytest.approx(found[best])
    assert len(first.samples_new or ()) == best == 3


@pytest.fixture(scope="module")
def two_modes(counts_of: CountsOf) -> DurationCounts:
    """Return a group that ROOT splits once, and one whose durations are all equal."""
    return counts_of({"two": [100, 101, 102] * 50 + [900, 905, 910] * 50, "one": [7] * 10})


def test_a_users_decisions_replace_the_rules_and_reach_the_strata(two_modes: DurationCounts) -> None:
    rule, key = RULES["exact"], two_modes.groups[0].key
    (node,) = TreeGrower(two_modes, 0, rule, {"": Verdict.KEEP}).run().nodes
    assert (node.verdict, node.overridden) == (Verdict.KEEP, True)
    assert node.reason.startswith("decided by the user (keep); the rule: split, ")
    leaves = TreeGrower(two_modes, 0, rule).run().leaves
    tree = TreeGrower(two_modes, 0, rule, {leaves[0].path: Verdict.SPLIT}).run()
    check_form(tree, two_modes)
    assert [node.path for node in tree.nodes if node.overridden] == [leaves[0].path]
    assert len(tree.leaves) == len(leaves) + 1
    whole, _ = split_groups(two_modes, rule, {key: {"": Verdict.KEEP}})
    assert whole.group.tolist() == [0, 1]
    more, _ = split_groups(two_modes, rule, {key: {"": Verdict.SPLIT, "L": Verdict.SPLIT}})
    assert more.group.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("group", "overrides"),
    [(0, {"LLLLL": Verdict.KEEP}), (0, {"": Verdict.KEEP, "L": Verdict.SPLIT}), (1, {"": Verdict.SPLIT})],
)
def test_an_override_of_no_node_and_a_split_of_equal_durations_are_refused(
    group: int, overrides: dict[str, Verdict], two_modes: DurationCounts
) -> None:
    with pytest.raises(OverrideError, match=f"#{group + 1}: '{two_modes.groups[group].key}"):
        TreeGrower(two_modes, group, RULES["exact"], overrides).run()


@pytest.mark.parametrize("name", RULES)
@given(groups=st.lists(st.lists(st.integers(0, 3000), min_size=1, max_size=80), min_size=1, max_size=4))
def test_groups_split_at_once_are_split_as_one_by_one(
    name: str, groups: list[list[int]], counts_of: CountsOf
) -> None:
    counts = counts_of({f"k{index}": durations for index, durations in enumerate(groups)})
    clusters, samples = split_groups(counts, RULES[name])
    leaves = sorted(
        (leaf.start, leaf.stop, leaf.samples_old)
        for group in range(len(counts.groups))
        for leaf in TreeGrower(counts, group, RULES[name]).run().leaves
    )
    found = zip(clusters.start.tolist(), clusters.stop.tolist(), samples.tolist(), strict=True)
    assert list(found) == leaves
